"""Cascades as LRNNs of several layers: certified, exact by an independent run, and wrong where wired as printed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import INTEGER_RANGES
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.cascades._layers import (
    MOST_LABELS,
    Coordinates,
    cascade_lrnn,
    few_coordinates,
    one_hot,
)
from mirrormata.constructions.certificates._table import certificate, lrnn_from_certificate
from mirrormata.tests.constructions.cascade_zoo import (
    BY_HAND,
    FILES,
    GROUPS,
    KNOWN,
    OPTIONS,
    RANDOM,
    SPECS,
    automaton,
    automaton_of,
    cascade_of,
    document,
    drawn,
    layered,
    levels,
    printed,
)
from mirrormata.tests.theory.certificate_simulation import CertificateSimulation, automaton_states, wrong_word
from mirrormata.theory._check import check

NAMED = [*KNOWN, *FILES, *SPECS, *GROUPS, *BY_HAND]
WIRED_WRONG = [
    "T3", "T4", "mod_arith:3", "dyck1:4", "gridworld:5", "tomita:3", "microbug", "full_t3", "random_4",
]  # fmt: skip


def random_words(letters: int, count: int, length: int, seed: int = 0) -> list[list[int]]:
    return np.random.default_rng(seed).integers(0, letters, size=(count, length)).tolist()  # type: ignore[no-any-return]


def rightly_built(lrnn: LRNN, words: int, length: int, *, every_start: bool = False) -> None:
    """Valid, integer, in all formats; read back identically; equal to the automaton by an independent run."""
    given = certificate(lrnn)
    result = check(given)
    assert result.verdict == "valid", result.reason
    assert check(lrnn) == result
    assert lrnn.exactness == "integer"
    assert all(type(x) is int for head in lrnn.all_heads for x in head.numbers)
    assert lrnn.formats == tuple(INTEGER_RANGES)
    assert lrnn.norm == "at most 1"
    assert certificate(lrnn_from_certificate(given)) == given
    automaton = lrnn.automaton
    simulation = CertificateSimulation(given)
    states = len(automaton.states)
    assert {row[0] for row in given["decode"]} == set(range(states))
    for number, word in enumerate(random_words(len(automaton.letters), words, length)):
        starts = range(states) if every_start else [(automaton.start + number) % states]
        for start in starts:
            right = automaton_states(given, word, start)
            assert simulation.states(word, simulation.row_of(start)) == right, (word, start)


@pytest.mark.parametrize("name", NAMED)
def test_named_automata(name: str) -> None:
    shallow = levels(name) < 8
    for option in OPTIONS if shallow else ["few"]:
        rightly_built(layered(name, option), 6 if shallow else 3, 40)


@pytest.mark.parametrize("block", range(6))
def test_random_automata(block: int) -> None:
    for name in RANDOM[block::6]:
        if levels(name):
            option = ("few", "few", "one_hot", "gated", "gated one_hot")[len(name) % 5]
            rightly_built(layered(name, option), 3, 30)


@pytest.mark.long
@pytest.mark.parametrize("option", OPTIONS)
def test_random_automata_in_all_forms(option: str) -> None:
    for name in RANDOM:
        if levels(name):
            rightly_built(layered(name, option), 4, 40, every_start=True)


@pytest.mark.parametrize("seed", range(4))
def test_awkward_automata_from_every_start(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        a = drawn(draw)
        rightly_built(
            cascade_lrnn(a, cascade(a), **draw.choice(list(OPTIONS.values()))), 1, 25, every_start=True
        )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_awkward_automata(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(150):
        a = drawn(draw, most=7)
        rightly_built(
            cascade_lrnn(a, cascade(a), **draw.choice(list(OPTIONS.values()))), 2, 30, every_start=True
        )


@pytest.mark.parametrize("name", ["T3", "tomita:4", "microbug", "gridworld:5"])
def test_all_short_words_from_every_start(name: str) -> None:
    given = document(name)
    simulation = CertificateSimulation(given)
    k, n = given["automaton"]["letters"], given["automaton"]["states"]
    for number in range(k**5):
        word = [number // k**i % k for i in range(5)]
        for row in range(n):
            start = given["decode"][row][0]
            assert simulation.states(word, row) == automaton_states(given, word, start)


def test_outputs_of_mealy_and_moore_machines() -> None:
    table = np.array([[1, 1, 2], [0, 2, 2]])
    moore = Automaton((0, 1, 2), ("a", "b"), table, 0, object_array(["u", "v", "u"]), "moore")
    rightly_built(cascade_lrnn(moore, cascade(moore)), 5, 30)
    outputs = np.array([["x", "x", "y"], ["y", "x", "x"]], dtype=object)
    mealy = Automaton((0, 1, 2), ("a", "b"), table, 0, outputs, "mealy")
    lrnn = cascade_lrnn(mealy, cascade(mealy))
    given = certificate(lrnn)
    assert check(lrnn).verdict == "valid"
    for x, row in enumerate(given["automaton"]["transitions"]):
        for q, after in enumerate(row):
            assert given["outputs"][x][after] == given["automaton"]["outputs"][x][q]
    assert certificate(lrnn_from_certificate(given)) == given


def test_resets_by_the_gate_need_no_factors() -> None:
    lrnn = layered("mod_arith:5", "gated")
    gates = [t for head in lrnn.all_heads for t in head.transitions if t.gate == 0]
    assert gates
    assert all(not t.factors for t in gates)
    assert all(t.gate == 1 for head in lrnn.all_heads if head.points for t in head.transitions)
    assert all(t.gate == 1 for head in layered("mod_arith:5").all_heads for t in head.transitions)


@pytest.mark.parametrize("name", ["T3", "T4", "mod_arith:3", "mod_arith:5", "tomita:4"])
def test_one_hot_counts_of_factors(name: str) -> None:
    """2n for the resets of a doubled head of n points, n else, at most n - 1 for permutations."""
    lrnn = layered(name, "one_hot")
    assert any(head.points for head in lrnn.all_heads)
    for head in lrnn.all_heads:
        n = head.points or head.dim
        assert head.dim == (2 * n if head.points else n)
        for t, images in zip(head.transitions, head.code_transitions, strict=True):
            if t.additive:
                assert len(t.factors) == head.dim
                assert t.additive[0][2] == 1
            else:
                assert len(t.factors) < n
                assert len(set(images.tolist())) == len(images)
    few = layered(name)
    assert all(a.dim <= b.dim for a, b in zip(few.all_heads, lrnn.all_heads, strict=True))
    assert sum(head.dim for head in few.all_heads) < sum(head.dim for head in lrnn.all_heads)


@pytest.mark.parametrize("name", WIRED_WRONG)
def test_wired_as_printed_it_is_refuted(name: str) -> None:
    lrnn = printed(name)
    assert check(lrnn).verdict == "invalid"
    given = certificate(lrnn)
    found = wrong_word(given, random_words(given["automaton"]["letters"], 60, 12, seed=5))
    assert found is not None
    word, start = found
    row = next(r for r, code in enumerate(given["decode"]) if code[0] == start)
    assert CertificateSimulation(given).states(word, row)[-1] != automaton_states(given, word, start)[-1]
    assert wrong_word(document(name), random_words(given["automaton"]["letters"], 60, 12, seed=5)) is None


def test_wired_as_printed_random_automata_are_refuted() -> None:
    """Refuted by the checker wherever a short word shows it, which is nearly everywhere."""
    several = [name for name in RANDOM if levels(name) > 1]
    refuted, shown = set(), set()
    for name in several:
        if check(printed(name)).verdict == "invalid":
            refuted.add(name)
        given = certificate(printed(name))
        if wrong_word(given, random_words(given["automaton"]["letters"], 30, 12)) is not None:
            shown.add(name)
    assert (len(several), len(refuted)) == (149, 149)
    assert shown <= refuted
    assert len(shown) == 144


def signed_points(coordinates: Coordinates, points: int) -> list[tuple[int, ...]]:
    """Each point's code as a dense vector."""
    vectors = []
    for p in range(points):
        vector = [0] * coordinates.dim
        for i, _, x in coordinates.code(p):
            assert type(x) is int
            vector[i] = x
        vectors.append(tuple(vector))
    return vectors


def reflected(
    coordinates: Coordinates, permutation: tuple[int, ...], vector: tuple[int, ...]
) -> tuple[Any, ...]:
    """The vector after the factors of a permutation."""
    H = list(vector)
    for factor in coordinates.factors(permutation):
        dot = sum(x * H[i] for i, x in factor.vector)
        for i, x in factor.vector:
            H[i] -= factor.beta * x * dot  # type: ignore[assignment]
    return tuple(H)


@st.composite
def permutation_groups(draw: st.DrawFn) -> tuple[int, list[tuple[int, ...]]]:
    """Generators on up to 12 points that often move several blocks alike, or leave points fixed."""
    n = draw(st.integers(1, 12))
    permutations = []
    block = draw(st.sampled_from([1, 2, 3, 4, 6]))
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["any", "blocks", "cycle"]))
        image = list(range(n))
        if kind == "any":
            image = list(draw(st.permutations(range(n))))
        elif kind == "blocks":
            within = draw(st.permutations(range(block)))
            for b in range(n // block):
                for i, j in enumerate(within):
                    image[b * block + i] = b * block + j
        else:
            length = draw(st.integers(1, n))
            for i in range(length):
                image[i] = (i + 1) % length
        permutations.append(tuple(image))
    return n, permutations


def right_coordinates(points: int, permutations: list[tuple[int, ...]], written: list[int]) -> Coordinates:
    coordinates = few_coordinates(points, permutations, written)
    vectors = signed_points(coordinates, points)
    assert len(set(vectors)) == points
    assert all(abs(x) <= MOST_LABELS for vector in vectors for x in vector)
    assert coordinates.dim <= points
    if points > 1:
        assert 1 <= coordinates.dim < points or coordinates.dim == points > 2
    used = {i for vector in vectors for i, x in enumerate(vector) if x}
    assert used == set(range(coordinates.dim))
    for permutation in permutations:
        for p, q in enumerate(permutation):
            assert reflected(coordinates, permutation, vectors[p]) == vectors[q]
        assert len(coordinates.factors(permutation)) <= coordinates.dim
    return coordinates


@settings(max_examples=150, deadline=None)
@given(permutation_groups(), st.data())
def test_permutations_of_few_coordinates(
    group: tuple[int, list[tuple[int, ...]]], data: st.DataObject
) -> None:
    points, permutations = group
    written = data.draw(st.lists(st.integers(0, points - 1), unique=True).map(sorted))
    right_coordinates(points, permutations, written)
    hot = one_hot(points)
    vectors = signed_points(hot, points)
    assert vectors == [tuple(int(i == p) for i in range(points)) for p in range(points)]
    for permutation in permutations:
        assert [reflected(hot, permutation, v) for v in vectors] == [vectors[q] for q in permutation]


def test_known_dimensions() -> None:
    cycle4 = (1, 2, 3, 0)
    assert right_coordinates(4, [cycle4], []).dim == 2
    assert right_coordinates(3, [(1, 2, 0)], []).dim == 3
    assert right_coordinates(2, [(1, 0)], []).dim == 1
    assert right_coordinates(9, [], []).dim == 1
    assert right_coordinates(10, [], []).dim == 2
    pairs = tuple(i ^ 1 for i in range(12))
    coordinates = right_coordinates(12, [pairs], [])
    assert coordinates.dim == 2
    assert sorted(set(coordinates.scale)) == [1, 2, 3, 4]
    assert right_coordinates(8, [(1, 2, 3, 0, 5, 6, 7, 4)], []).dim == 2  # two orbits, moved alike
    assert right_coordinates(8, [(1, 2, 3, 0, 7, 4, 5, 6)], []).dim == 2  # and against each other
    assert right_coordinates(6, [(1, 0, 2, 3, 4, 5), (0, 1, 3, 2, 4, 5)], []).dim == 3  # not alike


def test_points_that_nothing_leads_to_come_last() -> None:
    coordinates = few_coordinates(5, [], [2, 4])
    assert [coordinates.code(p) for p in (2, 4, 0, 1, 3)] == [(), *(((0, 0, k),) for k in (1, 2, 3, 4))]


def test_states_of_a_head_with_many_points() -> None:
    """Twelve points, four of them set by letters: two coordinates, and integers of at most 8 in all formats."""
    lrnn = layered("eleven states set")
    assert lrnn.formats == tuple(INTEGER_RANGES)
    assert lrnn.integer_bound == MOST_LABELS
    rightly_built(lrnn, 5, 50, every_start=True)


def test_cascades_agree_with_their_emulation_on_long_words() -> None:
    from mirrormata.constructions.cascades._emulation import emulate

    for name in ("mod_arith:5", "T4", "dyck1:4"):
        word = random_words(len(automaton(name).letters), 1, 2_000, seed=9)[0]
        start = automaton(name).start
        assert (
            CertificateSimulation(document(name)).states(word)
            == emulate(cascade_of(name), word, start).tolist()
        )


def test_the_same_lrnn_twice() -> None:
    a = automaton_of([[2, 2, 1, 0], [1, 0, 3, 3]])
    assert certificate(cascade_lrnn(a, cascade(a))) == certificate(cascade_lrnn(a, cascade(a)))
