"""PD.N-1: all maps of N states with one vector a state need dimension N - 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...constructions.spec import automaton_from_spec
from ..check import check
from ..factors.affine_relations import (
    Point,
    WholeWord,
    all_images,
    first_unrealisable,
    pushed,
    random_points,
    relations,
    simplex,
    splitting_maps,
    symbolic_relation,
)
from ..planning.bounds import bounds
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import exhaustive
from ..verifying.further import further
from ..verifying.verdict import Verdict

CLAIM = Claim("PD.N-1", "All maps of N states need dimension N - 1, with one vector a state", "exhaustive")
Case = tuple[int, int, int, tuple[int, ...]]


def verify(effort: Effort = QUICK) -> Verdict:
    """If affine letters act on N distinct state vectors as all maps of N states do, the vectors span N - 1 dimensions.

    Statement: Let p_1, ..., p_N be distinct vectors such that for every map f of the states some affine map sends each p_q
        to p_f(q). Then no relation Σ c_q p_q = 0 with Σ c_q = 0 holds but c = 0, and the dimension is N - 1 at least.
    Direction: tight, attained by 0 and the unit vectors
    Hypotheses: One vector a state; affine letters; all N^N maps, or letters that generate them. Several vectors a state,
        or a read-out that is not linear on them, are not covered: one number can hold the whole word.
    Arithmetic: exact
    Source: PD
    Method: With symbols for c, the map that sends q0 to a and the rest to b must turn the relation into
        c_q0 (p_a - p_b) = 0, for all q0, a, b and N up to 5; maps that split otherwise must fail the same check. Random
        points of dimension N - 2 always have a map that is not affine on them, while a square turns. The simplex has all
        maps. T_4's bound goes through the stand-alone checker.
    Example:
        >>> print(verify().line())
        holds on 170 cases: no violation, as claimed
    """
    sizes = range(2, 6)
    found = exhaustive(
        CLAIM,
        cases=(case for n in sizes for case in splitting_maps(n)),
        check=_other_relation,
        of=f"q0, a, b and their maps for N from {sizes[0]} to {sizes[-1]}, the relation in symbols",
        broken=_other_maps(4),
        evidence={"arithmetic_of_the_relation": "sympy symbols"},
    )
    generator, count = effort.generator(), effort.pick(30, 1_000)
    plane = [_is_beaten(random_points(generator, n, n - 2), n) for n in (3, 4, 5) for _ in range(count)]
    square: list[Point] = [(1, 0), (0, 1), (-1, 0), (0, -1)]  # type: ignore[list-item]
    turns = [tuple((q + s) % 4 for q in range(4)) for s in range(4)]
    bound = next(b for b in bounds(automaton_from_spec("T4")) if b.reason == "PD.N-1")
    return further(
        found,
        {
            "random points of dimension N - 2 with a map that is not affine": (sum(plane), len(plane)),
            "relations of a simplex, N = 2, 3, 4": ([relations(simplex(n)) for n in (2, 3, 4)], [[], [], []]),
            "maps that it lacks": (
                [first_unrealisable(simplex(n), all_images(n)) for n in (2, 3, 4)],
                [None] * 3,
            ),
            "turns that a square in two dimensions lacks": (first_unrealisable(square, turns), None),
            "bound of T_4 and its certificate": (
                [bound.at_least, check(bound.certificate()).verdict],
                [3, "valid"],
            ),
            "errors of one number that holds the word, T_3": (
                _whole_word(generator, effort.pick(40, 300)),
                0,
            ),
        },
    )


def _other_relation(case: Case) -> Any:
    """What the map makes of Σ c_q p_q, less c_q0 (p_a - p_b), where that is not 0."""
    import sympy

    q0, a, b, image = case
    c = symbolic_relation(len(image))
    wanted = [c[q0] * (int(r == a) - int(r == b)) for r in range(len(image))]
    left = [sympy.expand(x - y) for x, y in zip(pushed(c, image), wanted, strict=True)]
    return {"map": image, "left": [str(x) for x in left]} if any(x != 0 for x in left) else None


def _other_maps(n: int) -> Iterator[Case]:
    """Maps that do not send all states but q0 to one."""
    for image in all_images(n):
        if len(set(image)) > 2:
            yield 0, image[0], image[1], image


def _is_beaten(points: list[Point], n: int) -> bool:
    return first_unrealisable(points, (image for *_, image in splitting_maps(n))) is not None


def _whole_word(generator: np.random.Generator, length: int) -> int:
    """How often the state read from one number is wrong along a random word."""
    automaton = automaton_from_spec("T3")
    tracker, q, errors = WholeWord(automaton.transitions, automaton.start), automaton.start, 0
    for x in generator.integers(0, len(automaton.letters), length).tolist():
        tracker.step(x)
        q = int(automaton.transitions[x, q])
        errors += tracker.decode() != q
    return errors
