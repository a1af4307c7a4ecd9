"""DP.T7, with corrected angles: dihedral groups D_m, m ≥ 3, in two layers, one reflection per token.

Layer 1 tells the parities of the rotations and of the reflections, with the current token counted. Layer 2 reflects a vector of
the plane at a mirror that depends on the letter and on them. DP.T7 computes the right product, so for left products the
inverses are fed and the state is that of the inverse (docs/conventions.md). The printed angles are wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from ...foundation._errors import NotRealisableError
from .._lrnn import LRNN
from .._realisation import Sparse, Transition
from ..algebra.groups._actions import transitive_action
from ..automata._automaton import Automaton
from ..heads._candidates import MAX_DEGREE
from ..heads._layered import HeadRule, Label, assemble_layers
from ._construction import Construction, Problem
from ._rotations import polygon_of
from ._two_layers import FLIP, KEEP, ONE, mirrors


def dihedral_two_layers(
    automaton: Automaton, *, max_degree: int = MAX_DEGREE, max_group: int = 5_000
) -> LRNN:
    """Realise a dihedral transition group D_m, m ≥ 3, in two layers with one reflection per token (DP.T7, corrected angles).

    Args:
        automaton: an automaton with a dihedral transition group D_m, m ≥ 3.
        max_degree: the largest degree of a number field.
        max_group: the largest group whose elements are listed.
    """
    polygon = None
    if automaton.is_permutation and len(automaton.reachable()) == len(automaton.states):
        polygon = polygon_of(transitive_action(automaton, max_group))
    if polygon is None:
        raise NotRealisableError(
            f"{automaton.name}: DP.T7 needs a dihedral transition group D_m, m ≥ 3, and all states reachable; "
            "leave `theorem` out"
        )
    symmetries, m = polygon
    # i ↦ a + i is r_a, i ↦ a - i is s_a; the right product of the inverses is the inverse of the left product
    inverses = [(-a % m, 1) if turn == 1 else (a, -1) for a, turn in symmetries]
    mirror = mirrors(m, max_degree)

    def turn_by(label: Label) -> Transition:
        (i, turn), p, _ = label
        if turn == 1:
            return mirror((1 - 2 * i) if p else (1 + 2 * i))
        return mirror((2 + 2 * i) if p else -2 * i)

    def counts(turn: int) -> Callable[[Label], Transition]:
        return lambda x: FLIP if inverses[x][1] == turn else KEEP

    # a head that no letter changes would have the one code 0, and no certificate has a head without numbers
    counted = [turn for turn in (1, -1) if any(t == turn for _, t in inverses)]

    def parities(states: tuple[Sparse, ...]) -> tuple[int, ...]:
        return tuple(int(turn in counted and states[counted.index(turn)] == ONE) for turn in (1, -1))

    rules = [[HeadRule(1, (), counts(turn)) for turn in counted], [HeadRule(2, ONE, turn_by)]]
    return assemble_layers(
        automaton,
        rules,
        lambda _, x, states: (inverses[x], *parities(states)),
        theorem="DP.T7",
        construction=f"parities of rotations and reflections, then reflections of the plane at multiples of π/{m}",
    )


def _build(problem: Problem) -> LRNN:
    limits = problem.limits
    return dihedral_two_layers(problem.automaton, max_degree=limits.degree, max_group=limits.group)


CONSTRUCTION = Construction(
    source="DP.T7",
    title="dihedral groups in two layers, one reflection a token",
    order=60,
    examples=("dihedral:6", "S3"),
    refusals={"S4": "DP.T7 needs a dihedral transition group", "mod:7": "DP.T7 needs", "T3": "DP.T7 needs"},
    build=_build,
)
