"""The transition monoid: known sizes, laws, limits, and a brute-force oracle on random automata."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mirrormata.constructions._inspection import inspect_automaton, is_synchronising, reset_word
from mirrormata.constructions.algebra.monoids import _generation as monoid_generation
from mirrormata.constructions.algebra.monoids._generation import KeyIndex, RowKeys
from mirrormata.constructions.algebra.monoids._monoid import (
    TransitionMonoid,
    determining_points,
    letters_commute,
)
from mirrormata.constructions.algebra.monoids._solvable import subgroups_solvable
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import LimitError


def automaton_of(rows: list[list[int]], name: str = "test") -> Automaton:
    table = np.array(rows, dtype=np.int64) if rows else np.zeros((0, 1), dtype=np.int64)
    n = table.shape[1]
    return Automaton(
        tuple(range(n)),
        tuple(f"x{i}" for i in range(len(rows))),
        table,
        0,
        np.arange(n).astype(object),
        name,
    )


def full_transformations(n: int) -> Automaton:
    cycle = [(i + 1) % n for i in range(n)]
    return automaton_of([cycle, [1, 0, *range(2, n)], [0, 0, *range(2, n)]], f"T{n}")


def word_problem(n: int) -> Automaton:
    """S_n acting on itself from the left, all elements as letters."""
    group = list(itertools.permutations(range(n)))
    place = {g: i for i, g in enumerate(group)}
    return automaton_of([[place[tuple(g[j] for j in h)] for h in group] for g in group], f"S{n}")


def brute_monoid(automaton: Automaton) -> set[tuple[int, ...]]:
    maps = [tuple(row) for row in automaton.transitions.tolist()]
    found = {tuple(range(len(automaton.states)))}
    todo = list(found)
    while todo:
        f = todo.pop()
        for x in maps:
            g = tuple(x[q] for q in f)
            if g not in found:
                found.add(g)
                todo.append(g)
    return found


def then(f: tuple[int, ...], g: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(g[q] for q in f)


def brute_index_period(f: tuple[int, ...]) -> tuple[int, int]:
    powers = [tuple(range(len(f)))]
    while True:
        g = then(powers[-1], f)
        if g in powers:
            return powers.index(g), len(powers) - powers.index(g)
        powers.append(g)


def brute_subgroups_solvable(monoid: set[tuple[int, ...]]) -> bool:
    from sympy.combinatorics import Permutation, PermutationGroup

    for e in monoid:
        if then(e, e) != e:
            continue
        image = sorted(set(e))
        members = [
            f
            for f in monoid
            if then(e, f) == f and then(f, e) == f and sorted({f[q] for q in image}) == image
        ]
        rows = [[image.index(f[q]) for q in image] for f in members]
        if not PermutationGroup([Permutation(row) for row in rows]).is_solvable:
            return False
    return True


@st.composite
def automata(draw: st.DrawFn, most_states: int = 5, most_letters: int = 3) -> Automaton:
    n = draw(st.integers(1, most_states))
    k = draw(st.integers(0 if n == 1 else 1, most_letters))
    letter = st.one_of(
        st.lists(st.integers(0, n - 1), min_size=n, max_size=n), st.permutations(list(range(n)))
    )
    return automaton_of([draw(letter) for _ in range(k)])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_all_maps_of_n_points(n: int) -> None:
    monoid = TransitionMonoid.of(full_transformations(n))
    assert monoid.size == n**n
    assert len(np.unique(monoid.elements, axis=0)) == n**n
    assert len(monoid.idempotents) == sum(math.comb(n, r) * r ** (n - r) for r in range(1, n + 1))
    assert len(monoid.resets) == n
    assert not monoid.is_group
    assert not monoid.is_aperiodic
    assert monoid.has_resets
    assert monoid.is_synchronising


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_group_word_problem(n: int) -> None:
    automaton = word_problem(n)
    monoid = TransitionMonoid.of(automaton)
    assert monoid.size == math.factorial(n)
    assert list(determining_points(automaton.transitions, automaton.start)) == [0]
    assert monoid.is_group
    assert list(monoid.idempotents) == [0]
    index, period = monoid.index_and_period
    assert not index.any()
    orders = [math.lcm(*brute_cycles(g)) for g in itertools.permutations(range(n))]
    assert sorted(period.tolist()) == sorted(orders)


def brute_cycles(g: tuple[int, ...]) -> list[int]:
    return [next(k for k in range(1, len(g) + 1) if power(g, k, i) == i) for i in range(len(g))]


def power(g: tuple[int, ...], k: int, i: int) -> int:
    for _ in range(k):
        i = g[i]
    return i


@settings(max_examples=150, deadline=None)
@given(automata())
def test_against_brute_force(automaton: Automaton) -> None:
    brute = brute_monoid(automaton)
    monoid = TransitionMonoid.of(automaton)
    rows = [tuple(row) for row in monoid.elements.tolist()]
    assert len(rows) == len(brute)
    assert set(rows) == brute
    assert [rows[i] for i in monoid.idempotents] == [f for f in rows if then(f, f) == f]
    index, period = monoid.index_and_period
    for i in range(0, len(rows), max(1, len(rows) // 40)):
        assert (index[i], period[i]) == brute_index_period(rows[i])
    aperiodic = all(brute_index_period(f)[1] == 1 for f in brute)
    commutative = all(
        then(f, g) == then(g, f) for f in rows[1 : 1 + len(automaton.letters)] for g in rows[:200]
    )
    synchronising = any(len(set(f)) == 1 for f in brute)
    seen = inspect_automaton(automaton)
    assert monoid.is_aperiodic == seen.aperiodic == aperiodic
    assert monoid.is_commutative == letters_commute(automaton) == seen.commutative == commutative
    assert monoid.has_resets == seen.synchronising == is_synchronising(automaton) == synchronising
    assert monoid.is_group == seen.group == all(len(set(f)) == len(f) for f in brute)
    if len(brute) < 400:
        assert seen.solvable == brute_subgroups_solvable(brute)
    assert seen.monoid == len(brute)


@settings(max_examples=80, deadline=None)
@given(automata(), st.data())
def test_words_products_and_table(automaton: Automaton, data: st.DataObject) -> None:
    monoid = TransitionMonoid.of(automaton)
    assert monoid.word(0) == ()
    element = st.integers(0, monoid.size - 1)
    i, j = data.draw(element), data.draw(element)
    for q in range(len(automaton.states)):
        current = q
        for x in automaton.word(list(monoid.word(i))):
            current = int(automaton.transitions[x, current])
        assert current == monoid.elements[i, q]
    assert monoid.element(list(monoid.word(i))) == i
    ij = int(monoid.product(i, j))
    assert monoid.elements[ij].tolist() == monoid.elements[j][monoid.elements[i]].tolist()
    for x, row in enumerate(automaton.transitions):
        assert monoid.elements[monoid.right[i, x]].tolist() == row[monoid.elements[i]].tolist()
    assert monoid.find(monoid.elements).tolist() == list(range(monoid.size))


def test_words_are_shortlex() -> None:
    monoid = TransitionMonoid.of(full_transformations(4))
    keys = [[int(x[1:]) for x in map(str, monoid.word(i))] for i in range(monoid.size)]
    assert keys == sorted(keys, key=lambda word: (len(word), word))
    reached: dict[tuple[int, ...], int] = {tuple(range(4)): 0}
    frontier = list(reached)
    length = 0
    while frontier:
        length += 1
        new = []
        for f in frontier:
            for row in monoid.automaton.transitions.tolist():
                g = then(f, tuple(row))
                if g not in reached:
                    reached[g] = length
                    new.append(g)
        frontier = new
    assert all(len(keys[i]) == reached[tuple(row)] for i, row in enumerate(monoid.elements.tolist()))


def test_find_refuses_maps_that_only_agree_on_the_base() -> None:
    automaton = word_problem(3)
    monoid = TransitionMonoid.of(automaton)
    stranger = monoid.elements[3].copy()
    stranger[[1, 2]] = stranger[[2, 1]]
    assert int(monoid.find(stranger)) == -1


@settings(max_examples=100, deadline=None)
@given(automata(most_states=6))
def test_base_determines_every_element(automaton: Automaton) -> None:
    base = determining_points(automaton.transitions, automaton.start)
    brute = brute_monoid(automaton)
    assert base[0] == automaton.start
    assert len({tuple(f[b] for b in base) for f in brute}) == len(brute)


def test_subgroups_of_a_monoid_that_is_no_group() -> None:
    """A_5 and A_4 x Z_5 (order 60, solvable) as groups of maps of rank 5 and 9, with a letter of lower rank."""
    for rows, points, solvable in (
        ([[1, 2, 3, 4, 0], [1, 0, 3, 2, 4]], 5, False),
        ([[1, 2, 0, 3, 5, 6, 7, 8, 4], [1, 0, 3, 2, 4, 5, 6, 7, 8]], 9, True),
    ):
        # the last point is sent into the others, so that no letter is a permutation
        automaton = automaton_of([[*row, row[0]] for row in rows])
        monoid = TransitionMonoid.of(automaton)
        assert monoid.size == 61
        assert not monoid.is_group
        assert subgroups_solvable(monoid) is solvable
        assert len(automaton.states) == points + 1
        assert inspect_automaton(automaton).solvable is solvable


def test_seven_points_in_time() -> None:
    begin = time.perf_counter()
    assert TransitionMonoid.of(full_transformations(7)).size == 823_543
    assert time.perf_counter() - begin < 20


@pytest.mark.parametrize("n", [8, 60])
def test_stops_at_the_limit_with_the_figure(n: int) -> None:
    with pytest.raises(LimitError, match=r"more than 1,000,000 elements.*`max_size`"):
        TransitionMonoid.of(full_transformations(n))


def test_limits_are_exact() -> None:
    assert TransitionMonoid.of(full_transformations(4), max_size=256).size == 256
    with pytest.raises(LimitError, match="more than 255 elements"):
        TransitionMonoid.of(full_transformations(4), max_size=255)
    with pytest.raises(LimitError, match="MiB allowed"):
        TransitionMonoid.of(full_transformations(6), max_bytes=1 << 20)


def test_one_letter_of_astronomical_order_stops_at_once() -> None:
    primes = [p for p in range(2, 60) if all(p % d for d in range(2, p))]
    starts = np.cumsum([0, *primes])
    row = [int(o) + (i + 1) % p for p, o in zip(primes, starts, strict=False) for i in range(p)]
    with pytest.raises(LimitError, match="1,922,760,350,154,212,639,070 elements"):
        TransitionMonoid.of(automaton_of([row]))


@settings(max_examples=80, deadline=None)
@given(automata(most_states=8))
def test_reset_word_resets(automaton: Automaton) -> None:
    word = reset_word(automaton)
    assert (word is not None) == is_synchronising(automaton)
    if word is not None:
        states = np.arange(len(automaton.states))
        for x in automaton.word(list(word)):
            states = automaton.transitions[x, states]
        assert len(set(states.tolist())) == 1


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_cerny_automata_need_the_square(n: int) -> None:
    automaton = automaton_of([[(i + 1) % n for i in range(n)], [1, *range(1, n)]])
    shortest = TransitionMonoid.of(automaton).reset_word()
    assert shortest is not None
    assert len(shortest) == (n - 1) ** 2
    greedy = reset_word(automaton)
    assert greedy is not None
    assert len(greedy) >= (n - 1) ** 2


def test_synchronising_on_large_automata() -> None:
    generator = np.random.default_rng(0)
    n = 4_000
    rows = generator.integers(0, n, (2, n))
    assert is_synchronising(automaton_of(rows.tolist())) is True
    half = n // 2
    apart = np.hstack([rows[:, :half] % half, half + rows[:, half:] % half])
    assert is_synchronising(automaton_of(apart.tolist())) is False
    core = rows.copy()
    core[:, :2] = [[1, 0], [0, 1]]
    assert is_synchronising(automaton_of(core.tolist())) is False
    assert is_synchronising(automaton_of([generator.permutation(n).tolist()])) is False


def test_key_index_with_crowded_keys() -> None:
    index = KeyIndex()
    keys = np.arange(5_000, dtype=np.uint64) * np.uint64(1 << 40)
    for part in np.split(keys, 50):
        assert (index.find(part) == -1).all()
        index.add(part)
    assert index.find(keys).tolist() == list(range(5_000))
    assert (index.find(keys + np.uint64(1)) == -1).all()


def test_row_keys_tell_rows_apart() -> None:
    generator = np.random.default_rng(1)
    rows = np.unique(generator.integers(0, 2, (20_000, 90)).astype(np.uint8), axis=0)
    wide = RowKeys(90, 90)
    assert not wide.is_exact
    assert len(np.unique(wide.of(rows))) == len(rows)
    narrow = RowKeys(8, 8)
    assert narrow.is_exact
    every = np.array(list(itertools.product(range(4), repeat=8)), dtype=np.uint8)
    assert len(np.unique(narrow.of(every))) == len(every)


@pytest.mark.parametrize("entries", [1, 1 << 22])
def test_key_collisions_are_noticed(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    """With weak keys under the first seeds the result is still right."""
    made: list[int] = []

    class WeakKeys(RowKeys):
        def __init__(self, width: int, values: int, seed: int = 0) -> None:
            super().__init__(width, values, seed)
            self.is_exact = False
            self.modulus = 97 if seed < 2 else 2**61
            made.append(seed)

        def of(self, rows: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
            return super().of(rows) % np.uint64(self.modulus)

    monkeypatch.setattr(monoid_generation, "RowKeys", WeakKeys)
    monkeypatch.setattr(monoid_generation, "_ENTRIES_AT_ONCE", entries)
    assert TransitionMonoid.of(full_transformations(4)).size == 256
    assert made == [0, 1, 2]
