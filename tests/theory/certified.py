"""Constructions of many kinds, whose certificates the tests of certificates, checkers and horizons share."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Sparse, Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import GHFactor, gh_factor
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory._horizon import full_certificate

CASES = Path(__file__).parents[1] / "data" / "cases"


def case(name: str) -> Automaton:
    """A file of the case table."""
    return automaton_from_spec(str(CASES / name))


def by_hand(transitions: list[Transition], codes: list[Sparse], table: list[list[int]], dim: int = 1) -> LRNN:
    """A one-head LRNN over the letters a, b, ... whose code c stands for state c."""
    letters, states = tuple("abc"[: len(table)]), tuple(range(len(codes)))
    images = np.array(table)
    automaton = Automaton(states, letters, images, 0, np.array(states, dtype=object), "by hand")
    head = Head(dim, 1, tuple(transitions), tuple(codes), images)
    decode = np.stack([np.arange(len(codes))] * 2, axis=1)
    return LRNN(automaton, (Layer((head,)),), decode, "none", "by hand")


def reset() -> LRNN:
    """A flip-flop: letter a keeps the state, b and c reset it through a zero gate and an additive term."""
    first: Sparse = ((0, 0, 1),)
    second: Sparse = ((1, 0, 1),)
    letters = [Transition(), Transition(gate=0, additive=first), Transition(gate=0, additive=second)]
    return by_hand(letters, [first, second], [[0, 1], [0, 0], [1, 1]], dim=2)


def shifted_sign() -> LRNN:
    """Parity by x ← 1 - x: a gate of -1 and an additive term, x from 2 to -1."""
    codes: list[Sparse] = [((0, 0, 2),), ((0, 0, -1),)]
    return by_hand([Transition(gate=-1, additive=((0, 0, 1),)), Transition()], codes, [[1, 0], [0, 1]])


def halves() -> LRNN:
    """Parity by a sign, from 1/2 to -1/2: rational, not integer, no rounding in any format."""
    codes: list[Sparse] = [((0, 0, Fraction(1, 2)),), ((0, 0, Fraction(-1, 2)),)]
    return by_hand([Transition((gh_factor(2, {0: 1}),)), Transition()], codes, [[1, 0], [0, 1]])


def thirds() -> LRNN:
    """A swap of two rational entries by a reflection along (3, -4) of norm 5: all numbers need rounding."""
    # (I - 2vvᵀ/25) sends (7, 1)/3 to (1, 7)/3·...: the image is computed, not guessed
    x, y = Fraction(1, 3), Fraction(2, 7)
    dot = 3 * x - 4 * y
    image: Sparse = ((0, 0, x - Fraction(6, 25) * dot), (1, 0, y + Fraction(8, 25) * dot))
    mirror = Transition((GHFactor(Fraction(2, 25), ((0, 3), (1, -4))),))
    return by_hand([mirror, Transition()], [((0, 0, x), (1, 0, y)), image], [[1, 0], [0, 1]], dim=2)


def projection() -> LRNN:
    """No group: both letters kill the second coordinate, b turns the first as well; the last two codes are closest."""
    kill = gh_factor(1, {1: 1})
    turn = gh_factor(2, {0: 1})
    x: Sparse = ((0, 0, Fraction(1, 3)),)
    codes: list[Sparse] = [((0, 0, Fraction(1, 3)), (1, 0, 1)), x, ((0, 0, Fraction(-1, 3)),)]
    return by_hand([Transition((kill,)), Transition((kill, turn))], codes, [[1, 1, 2], [2, 2, 1]], dim=2)


CONSTRUCTIONS: dict[str, Callable[[], LRNN]] = {
    **{
        spec: lambda spec=spec: construct(spec)  # type: ignore[misc]
        for spec in (
            "S5", "A5", "S5[transpositions]", "A5[involutions]", "mod:60", "dihedral:7", "S4", "A4", "Q8", "Z2^3",
            "mod:12", "A4_x_Z5", "parity", "mod:9", "dihedral:5",
        )
    },
    "mod:60 integer": lambda: construct("mod:60", exactness="integer"),
    "mod:8 integer": lambda: construct("mod:8", exactness="integer"),
    "tomita:4 G.A3": lambda: construct_table("tomita:4", "G.A3"),
    "full_t3 G.A3": lambda: construct_table(case("full_t3.txt"), "G.A3"),
    "identity_only": lambda: construct(case("identity_only.txt")),
    "trivial": lambda: construct(case("trivial.txt")),
    "Mealy": lambda: construct(case("numeric_ids.dot")),
    "reset": reset,
    "shifted sign": shifted_sign,
    "halves": halves,
    "thirds": thirds,
    "projection": projection,
}  # fmt: skip
ROUNDED = (
    "A5",
    "A5[involutions]",
    "A4_x_Z5",
    "mod:60",
    "mod:9",
    "dihedral:5",
    "dihedral:7",
    "halves",
    "thirds",
    "projection",
)
"""Those with a horizon."""


@cache
def lrnn(name: str) -> LRNN:
    """The construction, made once."""
    return CONSTRUCTIONS[name]()


@cache
def document(name: str) -> dict[str, Any]:
    """Its certificate; not to be changed."""
    return full_certificate(lrnn(name))
