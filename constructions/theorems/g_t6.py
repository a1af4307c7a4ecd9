"""G.T6: cyclic groups in two layers, one reflection per token and head; or in integers, by swaps of corners.

Layer 1 tells the parity of the tokens with the current one counted. Layer 2 reflects a vector of the plane at a mirror that
depends on the letter and on that parity; two reflections make a rotation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation._errors import NotRealisableError
from .._lrnn import LRNN
from .._realisation import Transition
from ..algebra._householder import swap
from ..automata._automaton import Automaton
from ..heads._candidates import MAX_DEGREE
from ..heads._layered import HeadRule, Label, assemble_layers
from ._construction import Build, Construction, Problem
from ._two_layers import FLIP, ONE, mirrors, residues


def cyclic_two_layers(automaton: Automaton, *, max_degree: int = MAX_DEGREE, max_group: int = 5_000) -> LRNN:
    """Realise a cyclic group Z_m in two layers with one reflection per token and head (G.T6); algebraic unless m = 2.

    Args:
        automaton: an automaton with a cyclic transition group.
        max_degree: the largest degree of a number field.
        max_group: the largest group whose elements are listed.
    """
    weights, m = _cyclic(automaton, max_group)
    mirror = mirrors(m, max_degree)

    def turn(label: Label) -> Transition:
        w, p = label
        return mirror((1 - 2 * w) if p else (1 + 2 * w))

    return _after_parity(
        automaton, weights, HeadRule(2, ONE, turn), f"reflections of the plane at multiples of π/{m}"
    )


def cyclic_corners(automaton: Automaton, *, max_group: int = 5_000) -> LRNN:
    """The integer form of G.T6: layer 2 reflects the corners of the m-gon, j ↦ c - j, by disjoint swaps."""
    weights, m = _cyclic(automaton, max_group)

    def reflect(label: Label) -> Transition:
        w, p = label
        c = (-w if p else w) % m
        return Transition(tuple(swap(j, (c - j) % m) for j in range(m) if j < (c - j) % m))

    return _after_parity(
        automaton, weights, HeadRule(m, ONE, reflect), f"reflections of {m} corners by swaps"
    )


def _after_parity(automaton: Automaton, weights: list[int], rule: HeadRule, what: str) -> LRNN:
    """Layer 1: the parity of the tokens. Layer 2: `rule`, its labels (element of Z_m, 1 where the count is odd)."""
    return assemble_layers(
        automaton,
        [[HeadRule(1, (), lambda _: FLIP)], [rule]],
        lambda _, x, states: (weights[x], int(states[0] == ONE)),
        theorem="G.T6",
        construction=f"parity of the tokens, then {what}",
    )


def _cyclic(automaton: Automaton, max_group: int) -> tuple[list[int], int]:
    found = residues(automaton, max_group)
    if found is None:
        raise NotRealisableError(
            f"{automaton.name}: this construction needs a cyclic transition group and all states reachable; "
            "leave `theorem` out"
        )
    return found


def _plane(problem: Problem) -> LRNN:
    limits = problem.limits
    return cyclic_two_layers(problem.automaton, max_degree=limits.degree, max_group=limits.group)


def _corners(problem: Problem) -> LRNN:
    return cyclic_corners(problem.automaton, max_group=problem.limits.group)


def _forms(_: Problem, exactness: str) -> Sequence[Build]:
    return (_corners, _plane) if exactness == "integer" else (_plane, _corners)


CONSTRUCTION = Construction(
    source="G.T6",
    title="cyclic groups in two layers, one reflection a token, or swaps of corners in integers",
    order=50,
    examples=("mod:12", "Z5", "parity", "tomita:6"),
    refusals={"S3": "needs a cyclic transition group", "T3": "needs a cyclic", "Z2^2": "needs a cyclic"},
    forms=_forms,
)
