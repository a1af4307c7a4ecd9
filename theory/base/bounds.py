"""Lower bounds where they are known, by theory or by counting out all maps of words, and none where there is none.

The library and the checker are asked both, and certificates that say more than is true must be refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from .._check import check
from ..checker import bound as checker
from ..planning._bounds import Bound, bound_certificate, bounds

Found = dict[tuple[str, str], int]
RANK, OPEN, REAL = ("householders", "H.rank"), ("beta", "H.openβ"), ("layers_beyond_real", "G.T2")
TURNING, SINGLE = ("layers_beyond_nonnegative", "G.T1"), ("single_factor_layers", "G.T2")
TRIANGULAR, PAIRS, SIZE = ("triangular_layers", "G.T2"), ("householders", "CK.S5"), ("state_size", "PD.N-1")
RANKS, LAYERS = ("state_size", "own.ranks"), ("layers", "own.LMI")
KNOWN: tuple[tuple[str, Found], ...] = (
    ("flipflop", {}),
    ("tomita:4", {SIZE: 3, LAYERS: 2}),
    ("tomita:7", {SIZE: 2, RANKS: 3, LAYERS: 2}),
    ("even_pairs", {SIZE: 2, LAYERS: 2}),
    ("boxes:3,2", {RANKS: 2}),
    ("gridworld:5", {SIZE: 4}),
    (
        "random:states=12,letters=2,seed=1",
        {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2, SIZE: 10, LAYERS: 2},
    ),
    ("parity", {RANK: 1, OPEN: 2, TURNING: 1}),
    ("mod:3", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2}),
    ("mod:4", {RANK: 2, OPEN: 2, TURNING: 1, TRIANGULAR: 2, SINGLE: 2}),
    ("mod:6", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2}),
    ("mod:8", {RANK: 2, OPEN: 2, TURNING: 1, TRIANGULAR: 3, SINGLE: 2}),
    ("mod:5", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2}),
    ("S3[transpositions]", {RANK: 1, OPEN: 2, TURNING: 1, REAL: 1}),
    # all conjugates of a five-cycle under A_5 are conjugate in A_5: the theorem needs an odd permutation
    ("A5[generators]", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2}),
    ("S5[generators]", {RANK: 2, PAIRS: 4, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2}),
    ("T3", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2, SIZE: 2, LAYERS: 2}),
    ("T4", {RANK: 2, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2, SIZE: 3, LAYERS: 2}),
)
BY_HAND: dict[str, list[tuple[int, ...]]] = {
    "turns and mirrors of a square, which keep neighbours, and a merging letter": [
        (1, 2, 3, 0),
        (0, 3, 2, 1),
        (0, 0, 2, 3),
    ],
    "all permutations, and a letter that merges two pairs": [(1, 2, 3, 0), (1, 0, 2, 3), (0, 0, 1, 1)],
    "all even permutations, and a merging letter": [(1, 2, 0, 3), (1, 0, 3, 2), (0, 0, 2, 3)],
    "all maps": [(1, 2, 3, 0), (1, 0, 2, 3), (0, 0, 2, 3)],
    "a swap, and a swap beside a letter that merges": [(1, 0, 2), (0, 0, 2)],
}
RANDOM = 120


def cases() -> Iterator[tuple[str, str | None]]:
    """Known automata, random ones, certificates, and what the searches build on."""
    for spec, known in KNOWN:
        yield from of_one(spec, automaton_from_spec(spec), known)
    for name, rows_by_hand in BY_HAND.items():
        n = len(rows_by_hand[0])
        automaton = Automaton(
            tuple(range(n)), tuple("abc"[: len(rows_by_hand)]), np.array(rows_by_hand), 0, np.arange(n).astype(object), name,
        ).trim()  # fmt: skip
        yield from of_one(name, automaton, count_bounds(automaton.transitions.tolist()))
    # five points and a parity: the square of the first letter, of order ten, and its conjugates are five-cycles
    turn = [5 * (1 - j) + (i + 1) % 5 for j in range(2) for i in range(5)]
    swap = [5 * j + (1, 0, 2, 3, 4)[i] for j in range(2) for i in range(5)]
    ten = Automaton(
        tuple(range(10)), ("a", "b"), np.array([turn, swap]), 0, np.arange(10).astype(object), "ten points"
    )
    yield from of_one(ten.name, ten, {RANK: 2, PAIRS: 4, OPEN: 2, TURNING: 1, REAL: 1, SINGLE: 2})
    draw = np.random.default_rng(11)
    for i in range(RANDOM):
        n, letters = int(draw.integers(2, 5)), int(draw.integers(1, 4))
        rows = np.stack(
            [draw.permutation(n) if draw.random() < 0.5 else draw.integers(0, n, n) for _ in range(letters)]
        )
        automaton = Automaton(
            tuple(range(n)), tuple("abc"[:letters]), rows, 0, np.arange(n).astype(object), f"random {i}"
        ).trim()  # fmt: skip
        yield from of_one(automaton.name, automaton, count_bounds(automaton.transitions.tolist()))
    yield from false_certificates()
    yield from words_and_cycles()


def of_one(name: str, automaton: Automaton, known: Found) -> Iterator[tuple[str, str | None]]:
    """The library's bounds, the checker's, and the certificate, which has the equations of own.LMI too."""
    found = bounds(automaton)
    figures = {(b.figure, b.reason): b.at_least for b in found}
    if LAYERS not in known and name not in dict(KNOWN):
        figures.pop(LAYERS, None)  # that the equations add up is what the certificate's checker says
    yield f"bounds of {name}", None if figures == known else f"{figures}, not {known}"
    mine = (
        checker.bounds(found[0].automaton.transitions.tolist(), len(found[0].automaton.states))
        if found
        else []
    )
    theirs = {(b["figure"], b["reason"]): b["at_least"] for b in mine}
    searched = {figure: at_least for figure, at_least in known.items() if figure != LAYERS}
    yield f"the checker's bounds of {name}", None if theirs == searched else f"{theirs}, not {searched}"
    for bound in found:
        yield f"evidence for {bound.reason} of {name}", _find_unproved(bound)
    if found:
        said = check(bound_certificate(found))
        yield f"the certificate of {name}", None if said.verdict == "valid" else said.reason


def count_bounds(delta: list[list[int]]) -> Found:
    """The bounds of an automaton of few states, from all maps of words: which of them turn states, and how."""
    n = len(delta[0])
    maps = {tuple(range(n))}
    waiting = list(maps)
    for f in waiting:
        for row in delta:
            g = tuple(row[q] for q in f)
            if g not in maps:
                maps.add(g)
                waiting.append(g)
    by_letter = {length for row in delta for length in find_cycle_lengths(row)}
    by_word = {length for f in maps for length in find_cycle_lengths(f)}
    found: Found = {}
    if by_letter:
        found[RANK] = 2 if max(by_letter) > 2 else 1
    if by_word:
        found |= {OPEN: 2, TURNING: 1}
    if not by_word <= {2, 4, 8}:
        found[REAL] = 1
    elif by_word and max(by_word) > 2:
        found[TRIANGULAR] = {4: 2, 8: 3}[max(by_word)]
    if by_letter and max(by_letter) > 2:
        found[SINGLE] = 2
    everything = n > 1 and len(maps) == n**n and any(len(set(row)) == n - 1 for row in delta)
    size = n - 1 if everything else _count_independent(maps) - 1 if n > 2 else 0
    if size > 1 or everything:
        found[SIZE] = size
    if (most := _count_ranks(delta)) > max(size, 1):
        found[RANKS] = most
    return found


def _count_independent(maps: set[tuple[int, ...]]) -> int:
    """The rank over Q of the vector of ones and the indicators of the preimages of all maps with two images."""
    n = len(next(iter(maps)))
    rows = {(1,) * n} | {tuple(int(q == f[0]) for q in f) for f in maps if len(set(f)) == 2}
    basis: list[list[Fraction]] = []
    for row in rows:
        left = [Fraction(x) for x in row]
        for other in basis:
            pivot = next(i for i, x in enumerate(other) if x)
            left = [x - left[pivot] / other[pivot] * y for x, y in zip(left, other, strict=True)]
        if any(left):
            basis.append(left)
    return len(basis)


def _count_ranks(delta: list[list[int]]) -> int:
    """How often the number of images can fall along a word, by all maps with all numbers of falls; one more for no reset."""
    start = (tuple(range(len(delta[0]))), 0)
    seen, waiting = {start}, [start]
    for f, falls in waiting:
        for row in delta:
            g = tuple(row[q] for q in f)
            after = (g, falls + (len(set(g)) < len(set(f))))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return max(falls + (len(set(f)) > 1) for f, falls in seen)


def find_cycle_lengths(f: Any) -> set[int]:
    """The lengths of a map's cycles of two points or more: how often it is applied until a point is back."""
    lengths = set()
    for point in range(len(f)):
        q, steps = f[point], 1
        while q != point and steps <= len(f):
            q, steps = f[q], steps + 1
        if q == point and steps > 1:
            lengths.add(steps)
    return lengths


def _find_unproved(bound: Bound) -> str | None:
    """What is wrong with the word and the cycle that are named, if they are."""
    rows = bound.automaton.transitions
    if "cycle" not in bound.data:
        return None
    cycle, image = bound.data["cycle"], np.arange(rows.shape[1])
    for x in bound.data["word"]:
        image = rows[x][image]
    wrong = [q for q, after in pairwise([*cycle, cycle[0]]) if image[q] != after]
    return f"the word does not turn {cycle}" if wrong or len(set(cycle)) != len(cycle) else None


def false_certificates() -> Iterator[tuple[str, str | None]]:
    """Bounds that are too large, of another automaton, or by a word that does not turn the states."""
    for spec in ("parity", "mod:4", "mod:3", "S5[generators]", "T3", "tomita:4", "even_pairs"):
        right = bound_certificate(bounds(automaton_from_spec(spec)))
        for i, said in enumerate(right["bounds"]):
            name = f"{said['figure']} ({said['reason']}) of {spec}"
            for change in (
                {"at_least": said["at_least"] + 1},
                {"at_least": 0},
                {"hypotheses": "none"},
                {"kind": "known"},
            ):
                wrong = deepcopy(right)
                wrong["bounds"][i] |= change
                yield f"{name}, {change}", find_accepted_error(wrong)
            if "cycle" in said["evidence"]:
                wrong = deepcopy(right)
                wrong["bounds"][i]["evidence"]["cycle"].reverse()
                if len(said["evidence"]["cycle"]) > 2:
                    yield f"{name}, the cycle turned round", find_accepted_error(wrong)
            yield from _false_equations(name, right, i)
        other = deepcopy(right)
        n = right["automaton"]["states"]
        other["automaton"]["transitions"] = [list(range(n)) for _ in right["automaton"]["transitions"]]
        other["automaton"]["sources"] = [[[q] for q in range(n)] for _ in right["automaton"]["transitions"]]
        yield f"bounds of {spec} where no letter moves a state", find_accepted_error(other)
        other = deepcopy(right)
        other["automaton"]["sources"][0].reverse()
        yield f"bounds of {spec} with the sources of another table", find_accepted_error(other)
    for spec, theirs in (("mod:4", "mod:3"), ("A5[generators]", "S5[generators]"), ("parity", "mod:4")):
        wrong = bound_certificate(bounds(automaton_from_spec(spec)))
        wrong["bounds"] = bound_certificate(bounds(automaton_from_spec(theirs)))["bounds"]
        yield f"the bounds of {theirs}, said of {spec}", find_accepted_error(wrong)


def _false_equations(name: str, right: dict[str, Any], i: int) -> Iterator[tuple[str, str | None]]:
    """The equations of own.LMI with one of them changed, or left out."""
    equations = right["bounds"][i]["evidence"].get("equations", [])
    for k in range(len(equations)):
        for entry, value in (("times", equations[k]["times"] + 1), ("after", [*equations[k]["after"], 0])):
            wrong = deepcopy(right)
            wrong["bounds"][i]["evidence"]["equations"][k][entry] = value
            yield f"{name}, equation {k} with {entry} {value}", find_accepted_error(wrong)
        wrong = deepcopy(right)
        del wrong["bounds"][i]["evidence"]["equations"][k]
        yield f"{name} without equation {k}", find_accepted_error(wrong)


def find_accepted_error(document: dict[str, Any]) -> str | None:
    """That a false certificate is accepted, if it is."""
    found = check(document)
    return f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


def words_and_cycles() -> Iterator[tuple[str, str | None]]:
    """What the checker's searches build on, on small maps."""
    five, tail = (1, 2, 3, 4, 0), (1, 2, 0, 0, 3)
    facts = {
        "the cycle of a map with a tail": checker.cycles(tail) == [(0, 1, 2)],
        "a cycle of five, thrice": checker.power(five, 3) == (3, 4, 0, 1, 2),
        "the order of a swap beside a cycle of three": checker.period((1, 0, 3, 4, 2)) == 6,
        "the order of a swap beside a cycle of four": checker.period((1, 0, 3, 4, 5, 2)) == 4,
        "words of two flips: the empty one and one flip": list(checker.words([(0, (1, 0)), (1, (1, 0))], 2))
        == [((), (0, 1)), ((0,), (1, 0))],
        "a cycle of five and its cube lie in one group of order 5": not checker.split_icosahedral(
            five, (3, 4, 0, 1, 2)
        ),
    }
    for fact, right in facts.items():
        yield fact, None if right else "it is false there"
