"""Congruences against a list of all partitions, and own.congruences: sizes, certificates, runs, refusals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._congruences import (
    grow_congruence,
    is_congruence,
    join_partitions,
    list_congruences,
    meet_partitions,
    merged_pair,
    minimal_congruences,
    number_classes,
    permutation_congruence,
    quotient_automaton,
    refines,
    reset_congruence,
)
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.theorems import own_congruences
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.constructions.theorems.own_congruences import CongruenceSearch
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.running._run import run


def partitions(size: int) -> Iterator[Indices]:
    """All partitions of so many states, classes numbered by their first states."""
    waiting = [[0]]
    while waiting:
        labels = waiting.pop()
        if len(labels) == size:
            yield np.array(labels)
        else:
            waiting += [[*labels, c] for c in range(max(labels) + 2)]


def random_maps(seed: int) -> Indices:
    """One to three letters on two to six states: uniform maps, or resets and steps along a path."""
    draw = np.random.default_rng(seed)
    n, k = int(draw.integers(2, 7)), int(draw.integers(1, 4))
    if seed % 3:
        return draw.integers(0, n, (k, n))
    step = np.clip(np.arange(n) + 1, 0, n - 1)
    return np.stack([step if draw.integers(2) else np.full(n, draw.integers(n)) for _ in range(k)])


def keys(found: list[Indices]) -> set[bytes]:
    listed = {c.astype(np.int64).tobytes() for c in found}
    assert len(listed) == len(found)
    return listed


@pytest.mark.parametrize("seed", range(60))
def test_the_lattice_is_that_of_all_partitions(seed: int) -> None:
    maps = random_maps(seed)
    size = maps.shape[1]
    every = [p for p in partitions(size) if is_congruence(maps, p)]
    proper = [p for p in every if int(p.max()) < size - 1]
    assert keys(list_congruences(maps, 1_000)) == keys(proper)
    least = [p for p in proper if not any(q is not p and refines(q, p) for q in proper)]
    minimal = minimal_congruences(maps)
    assert keys(minimal) == keys(least)
    for avoided in minimal:
        pair = np.array([merged_pair(avoided)])
        grown = grow_congruence(maps, minimal, pair)
        assert is_congruence(maps, grown)
        assert grown[pair[0, 0]] != grown[pair[0, 1]]
        above = [q for q in every if refines(grown, q) and (q != grown).any()]
        assert all(q[pair[0, 0]] == q[pair[0, 1]] for q in above)
    for p in every[:12]:
        for q in every[-12:]:
            meet, join = meet_partitions(p, q), join_partitions(p, q)
            assert is_congruence(maps, meet)
            assert is_congruence(maps, join)
            assert [r for r in every if refines(p, r) and refines(q, r) and not refines(join, r)] == []
            assert [r for r in every if refines(r, p) and refines(r, q) and not refines(r, meet)] == []


@pytest.mark.parametrize("seed", range(60))
def test_the_finest_quotients_of_resets_and_of_permutations(seed: int) -> None:
    maps = random_maps(seed)
    every = [p for p in partitions(maps.shape[1]) if is_congruence(maps, p)]

    def letters_of(labels: Indices) -> Indices:
        first = np.unique(labels, return_index=True)[1]
        return labels[maps[:, first]]

    def permutes(labels: Indices) -> bool:
        return all(len(set(row)) == len(row) for row in letters_of(labels).tolist())

    def resets(labels: Indices) -> bool:
        moving = (maps != np.arange(maps.shape[1])).any(axis=1)
        return all(len(set(row)) == 1 for row in letters_of(labels)[moving].tolist())

    for finest, suits in ((permutation_congruence(maps), permutes), (reset_congruence(maps), resets)):
        assert suits(finest)
        assert all(refines(finest, p) for p in every if suits(p))


def of_values(modulus: int, base: int) -> Automaton:
    """The value of a number modulo `modulus`, its digits read from the left."""
    rows = {v: {str(d): (base * v + d) % modulus for d in range(base)} for v in range(modulus)}
    return Automaton.from_transitions(rows, start=0, name=f"value mod {modulus} base {base}")


def grid(size: int) -> Automaton:
    """A square with walls; a step into a wall stays."""
    places, most = range(size), size - 1
    rows = {
        (x, y): {
            "L": (max(x - 1, 0), y), "R": (min(x + 1, most), y), "U": (x, max(y - 1, 0)), "D": (x, min(y + 1, most)),
        }
        for x in places
        for y in places
    }  # fmt: skip
    return Automaton.from_transitions(rows, start=(0, 0), name=f"grid {size}")


def certified(found: Realisation) -> None:
    result = check(full_certificate(found))
    assert result.verdict == "valid", result.reason
    words = random_words(found.automaton, 5, 4, 300)
    assert "bf16" in found.formats
    assert run(found, words, dtype="bf16").errors == 0


SIZES = {  # heads, factors, dimension
    "boxes:3,2": (automaton_from_spec("boxes:3,2"), 2, 1, 1),
    "boxes:5,4": (automaton_from_spec("boxes:5,4"), 4, 1, 1),
    "grid 5": (grid(5), 2, 4, 4),
    "grid 8": (grid(8), 2, 7, 7),
    "mod 6, bits": (of_values(6, 2), 2, 1, 3),
    "mod 12, bits": (of_values(12, 2), 2, 2, 3),
    "mod 30, digits": (of_values(30, 10), 2, 2, 3),
    "mod 60, digits": (of_values(60, 10), 2, 2, 3),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    automaton, heads, factors, dim = SIZES[name]
    made = construct(automaton, theorem="own.congruences", exactness="integer")
    assert (made.depth, made.heads, made.householders, made.dim) == (1, heads, factors, dim)
    certified(made)
    default = construct(automaton)
    assert default.theorem == "own.congruences" or (default.work or 0) < (made.work or 0)
    assert default.work is not None
    assert made.work is not None
    assert default.work <= made.work


def test_points_that_are_kept() -> None:
    """A start that does not reach all states needs initial states of its own for the others."""
    maps = np.array([[1, 0, 3, 2, 5, 4], [0, 1, 0, 1, 0, 1]])
    a = Automaton(
        tuple(range(6)), ("a", "b"), maps, 0, np.arange(6).astype(object), "kept", keeps_points=True
    )
    with pytest.raises(
        NotRealisableError, match=r"^kept: own.congruences needs every state to be reachable from the start"
    ):
        construct(a, theorem="own.congruences")
    reached = Automaton(
        tuple(range(4)), ("a", "b", "c"), np.array([[1, 0, 3, 2], [2, 3, 2, 3], [0, 1, 0, 1]]), 0,
        np.arange(4).astype(object), "kept", keeps_points=True,
    )  # fmt: skip
    certified(construct(reached, theorem="own.congruences"))


def test_numbers_of_a_field_and_integers() -> None:
    """A quotient that is a group takes the fewest factors, or integers where they are asked for."""
    rows = {
        (v, b): {"a": ((v + 1) % 7, b), "b": (v, 0), "c": ((v + 3) % 7, 1)}
        for v in range(7)
        for b in range(2)
    }
    a = Automaton.from_transitions(rows, start=(0, 0), name="Z7 and a switch")
    field, integer = (construct(a, theorem="own.congruences", exactness=e) for e in ("any", "integer"))
    assert (field.exactness, field.householders, field.heads) == ("algebraic", 2, 2)
    assert (integer.exactness, integer.householders, integer.heads) == ("integer", 6, 2)
    assert construct(a, exactness="integer").exactness == "integer"
    for made in (field, integer):
        assert check(full_certificate(made)).verdict == "valid"


def test_the_quotient_automaton() -> None:
    a = of_values(12, 2)
    quotient = quotient_automaton(a, np.arange(12) % 4)
    assert quotient.transitions.tolist() == [
        [2 * v % 4 for v in range(4)],
        [(2 * v + 1) % 4 for v in range(4)],
    ]
    assert (quotient.letters, quotient.start) == (a.letters, 0)
    assert number_classes(np.array([5, 5, 2, 5, 7, 2])).tolist() == [0, 0, 1, 0, 2, 1]


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    maps = automaton_from_spec("boxes:3,2").transitions
    with pytest.raises(LimitError, match=r"more than 5 congruences.*`max_congruences`"):
        list_congruences(maps, 5)
    with pytest.raises(LimitError, match=r"36 pairs of states under 6 letters: .*`max_moves`"):
        minimal_congruences(maps, 100)
    # fewer congruences are tried, and the natural ones suffice here
    problem = Problem(automaton_from_spec("boxes:3,2"), Limits(congruences=5))
    assert len(CongruenceSearch(problem).candidates()) == 5
    monkeypatch.setattr(own_congruences, "MAX_MINIMAL", 5)
    with pytest.raises(
        LimitError, match=r"^boxes:3,2: own.congruences: 6 minimal congruences .* limit is 5$"
    ):
        construct("boxes:3,2", theorem="own.congruences")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [("T3", "no two proper congruences"), ("even_pairs", "whose quotients take one layer")],
)
def test_refusals(spec: str, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=f"^{spec}: own.congruences: .*{reason}"):
        construct(spec, theorem="own.congruences")
