"""Bounds for one vector a state: oracles by all maps of words, by points on a line, and equations that are no proof."""

from __future__ import annotations

import random
from copy import deepcopy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.tests.constructions.random_automata import automata, automaton_of
from mirrormata.theory.checker import _one_vector as checker
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker.bound import check
from mirrormata.theory.claims.own_ranks import is_on_a_line
from mirrormata.theory.planning._bounds import bound_certificate, bounds, reached_bounds
from mirrormata.theory.planning._gram_equations import Equation, NoGram, find_equations
from mirrormata.theory.planning._one_vector import find_splitting_words, most_ranks


def all_maps(automaton: Automaton) -> set[tuple[int, ...]]:
    """All maps of words, by composing until nothing is new."""
    rows = automaton.transitions.tolist()
    seen = {tuple(range(len(rows[0])))}
    waiting = list(seen)
    for f in waiting:
        for row in rows:
            g = tuple(row[q] for q in f)
            if g not in seen:
                seen.add(g)
                waiting.append(g)
    return seen


def rank_of(rows: list[list[int]]) -> int:
    """The rank over Q, by sympy."""
    import sympy

    return int(sympy.Matrix(rows).rank())


@given(automata(max_states=5, max_letters=3, keep_points=True))
@settings(deadline=None, max_examples=80)
def test_splitting_words_are_as_many_as_all_maps_have(automaton: Automaton) -> None:
    n = len(automaton.states)
    if n < 3:
        return
    different = np.arange(len(automaton.transitions))
    words = find_splitting_words(automaton.transitions, different)
    rows = [[1] * n, *([int(q == f[0]) for q in f] for f in all_maps(automaton) if len(set(f)) == 2)]
    assert len(words) == rank_of(rows) - 1
    check_words(automaton, words)


def check_words(automaton: Automaton, words: list[tuple[int, ...]]) -> None:
    """Each word has two images, and the preimages of the least are independent with the vector of ones."""
    n = len(automaton.states)
    rows = [[1] * n]
    for word in words:
        ends = [int(automaton.trace([list(word)], start=q)[0, -1]) for q in range(n)]
        assert len(set(ends)) == 2
        rows.append([int(end == min(ends)) for end in ends])
    assert rank_of(rows) == len(words) + 1


@pytest.mark.parametrize(
    "spec",
    ["dyck:2,2", "gridworld:9", "random:states=20,letters=2,seed=1", "random:states=30,letters=3,seed=4"],
)
def test_words_of_larger_automata_replay(spec: str) -> None:
    automaton = automaton_from_spec(spec).trim()
    bound = next(b for b in bounds(automaton) if b.reason == "PD.N-1")
    assert bound.at_least == len(automaton.states) - 1
    check_words(automaton, [tuple(word) for word in bound.data["words"]])


@given(automata(max_states=5, max_letters=3, keep_points=True))
@settings(deadline=None, max_examples=80)
def test_ranks_along_words(automaton: Automaton) -> None:
    """The word's prefixes have the ranks that are claimed, and no more falls are possible in any word."""
    n = len(automaton.states)
    bound, word = most_ranks(automaton.transitions, np.arange(len(automaton.transitions)))
    image, counts = list(range(n)), [n]
    for x in word:
        image = [int(automaton.transitions[x, q]) for q in image]
        counts.append(len(set(image)))
    assert bound == len(set(counts)) - 1 + (counts[-1] > 1)
    best = max(
        (
            len(set(path)) - 1 + (path[-1] > 1)
            for path in rank_paths(automaton)
        ),
        default=0,
    )  # fmt: skip
    assert bound <= best


def rank_paths(automaton: Automaton) -> list[tuple[int, ...]]:
    """For each map of words and each set of ranks on the way to it, these ranks."""
    rows = automaton.transitions.tolist()
    n = len(rows[0])
    start: tuple[tuple[int, ...], tuple[int, ...]] = (tuple(range(n)), (n,))
    seen, waiting = {start}, [start]
    for f, path in waiting:
        for row in rows:
            g = tuple(row[q] for q in f)
            rank = len(set(g))
            after = (g, path if rank == path[-1] else (*path, rank))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return [path for _, path in seen]


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
def test_no_bound_of_two_for_three_states_on_a_line(rows: list[list[int]]) -> None:
    automaton = automaton_of(rows, keeps_points=True)
    sizes = [b.at_least for b in bounds(automaton) if b.figure == "state_size"]
    if is_on_a_line(rows):
        assert max(sizes, default=1) == 1


@pytest.mark.parametrize(
    ("rows", "there"),
    [
        ([[0, 1, 2]], True),
        ([[1, 2, 0]], False),  # a cycle of three has no place on a line
        ([[1, 0, 2]], True),  # 2 stands between 0 and 1
        ([[0, 0, 1]], False),  # merges two, and is no reset
        ([[1, 1, 1], [0, 1, 2]], True),
        ([[2, 1, 0], [1, 0, 2]], False),  # two mirrors with different centres
    ],
)
def test_three_places_on_a_line(rows: list[list[int]], there: bool) -> None:
    assert is_on_a_line(rows) == there
    if there:
        return
    for t in (Fraction(k, 7) for k in range(-30, 31)):
        places = [Fraction(0), Fraction(1), t]
        affine = all((places[row[1]] - places[row[0]]) * t == places[row[2]] - places[row[0]] for row in rows)
        assert not affine or t in (0, 1)


def test_constructions_are_not_below() -> None:
    for spec in ("boxes:3,2", "boxes:5,4", "dyck1:4", "gridworld:6", "starladder:abab", "tomita:5"):
        for bound in reached_bounds(construct(spec)):
            assert isinstance(bound.reached, int)
            assert bound.reached >= bound.at_least
    assert {(b.figure, b.optimal) for b in reached_bounds(construct("boxes:5,4"))} == {("state_size", True)}
    bracket = construct("dyck1:4", theorem="own.LMI")
    assert ("state_size", True) in {(b.figure, b.optimal) for b in reached_bounds(bracket)}


def document_of(spec: str) -> dict[str, Any]:
    """The certificate of own.LMI alone."""
    found = [b for b in bounds(automaton_from_spec(spec)) if b.reason == "own.LMI"]
    return bound_certificate(found)


@pytest.mark.parametrize(
    "spec", ["tomita:3", "tomita:4", "tomita:7", "even_pairs", "T3", "random:states=9,letters=3,seed=2"]
)
def test_equations_that_do_not_hold_are_refused(spec: str) -> None:
    document = document_of(spec)
    assert check(document).endswith("layers >= 2")
    entry = document["bounds"][0]["evidence"]
    draw = random.Random(spec)
    changes = 0
    for i, equation in enumerate(entry["equations"]):
        n = len(equation["x"])
        q, r = draw.sample(range(n), 2)
        for name in ("x", "y"):
            for moved in ({q: 1}, {q: 1, r: -1}, {q: -2, r: 2}):
                wrong = deepcopy(document)
                for place, by in moved.items():
                    wrong["bounds"][0]["evidence"]["equations"][i][name][place] += by
                if not is_proof(wrong):  # of sum zero still, it can be another proof
                    refused(wrong)
                    changes += 1
        for name, value in (("times", equation["times"] + 1), ("times", -equation["times"]), ("times", 0),
                            ("letter", (equation["letter"] + 1) % len(document["labels"]["letters"])),
                            ("after", [*equation["after"], 0]), ("after", [0] * (len(equation["after"]) + 1))):  # fmt: skip
            wrong = deepcopy(document)
            wrong["bounds"][0]["evidence"]["equations"][i][name] = value
            refused(wrong)
    assert changes
    for wrong_entry in (
        {"pair": entry["pair"][::-1]},
        {"pair": [0, 0]},
        {"scale": 2 * entry["scale"]},
        {"scale": 0},
    ):
        wrong = deepcopy(document)
        wrong["bounds"][0]["evidence"] |= wrong_entry
        refused(wrong)
    doubled = deepcopy(document)
    doubled["bounds"][0]["evidence"]["scale"] *= 2
    for equation in doubled["bounds"][0]["evidence"]["equations"]:
        equation["times"] *= 2
    refused(doubled, "common divisor")
    three = deepcopy(document)
    three["bounds"][0]["at_least"] = 3
    refused(three, "at_least: it is 2")


def test_vectors_of_another_sum_prove_nothing() -> None:
    """Two resets, which take one layer: with x of sum 1 the equations add up, and the checker must not take them."""
    automaton = automaton_of([[0, 0], [1, 1]])
    right = document_of("tomita:4")
    first = {"times": -1, "letter": 0, "after": [], "x": [1, 0], "y": [-1, 1]}
    second = {"times": 1, "letter": 1, "after": [], "x": [0, 1], "y": [-1, 1]}
    wrong = {
        **right,
        "labels": {"automaton": "resets", "states": ["0", "1"], "letters": ["a", "b"]},
        "automaton": {
            "states": 2, "letters": 2, "transitions": automaton.transitions.tolist(),
            "sources": [[[0, 1], []], [[], [0, 1]]],
        },
        "bounds": [{**right["bounds"][0], "evidence": {"pair": [0, 1], "scale": 1, "equations": [first, second]}}],
    }  # fmt: skip
    total = np.zeros((2, 2), dtype=int)
    for times, x in ((-1, [1, 0]), (1, [0, 1])):
        total += times * (np.outer(x, [-1, 1]) + np.outer([-1, 1], x))
    assert total.tolist() == [[2, -2], [-2, 2]]  # T y = 0 for both, so this is all
    refused(wrong, "x and y must be of sum zero")


def is_proof(document: dict[str, Any]) -> bool:
    """Whether the equations add up, by the replay of the package."""
    evidence = document["bounds"][0]["evidence"]
    equations = [
        Equation(e["times"], e["letter"], tuple(e["after"]), tuple(e["x"]), tuple(e["y"]))
        for e in evidence["equations"]
    ]
    q, r = evidence["pair"]
    return NoGram((q, r), evidence["scale"], tuple(equations)).replay(document["automaton"]["transitions"])


def refused(document: dict[str, Any], reason: str = "") -> None:
    with pytest.raises(Invalid) as verdict:
        check(document)
    assert reason in str(verdict.value)


def test_equations_of_another_automaton_are_refused() -> None:
    document, other = document_of("tomita:4"), document_of("tomita:4")
    other["automaton"]["transitions"] = [[1, 0, 2, 3], [0, 1, 3, 2]]
    other["automaton"]["sources"] = [[[1], [0], [2], [3]], [[0], [1], [3], [2]]]
    refused(other)
    flipflop = bound_certificate([b for b in bounds(automaton_from_spec("parity")) if b.figure == "beta"])
    flipflop["bounds"] += document["bounds"]
    refused(flipflop)


def test_what_takes_one_layer_has_no_equations() -> None:
    for spec in ("mod:5", "dyck1:3", "gridworld:4", "boxes:3,2", "permreset:3", "flipflop"):
        assert find_equations(automaton_from_spec(spec)) is None


def test_contains_a_then_b_is_bounded_with_one_vector_a_state_alone() -> None:
    """The bound says so: with decaying states there is one layer."""
    bound = next(b for b in bounds(automaton_of([[1, 1, 2], [0, 2, 2]])) if b.reason == "own.LMI")
    assert (bound.figure, bound.at_least) == ("layers", 2)
    assert "one vector a state of the automaton if there is one layer" in bound.hypotheses


def test_large_automata_end_at_the_limits() -> None:
    maps = np.stack([np.roll(np.arange(300), 1), np.maximum(np.arange(300) - 1, 0)])
    letters = [(x, tuple(row)) for x, row in enumerate(maps.tolist())]
    assert checker.SPANNED < 300**3 * 2
    assert find_splitting_words(maps, np.arange(2)) == checker.splitting_words(letters, 300) == []
    assert checker.ranks(letters, 300) == most_ranks(maps, np.arange(2))
