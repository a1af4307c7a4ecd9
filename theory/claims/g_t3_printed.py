"""G.T3.printed: counting the states that a letter changes does not give the number of factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constructions._construct import construct
from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._parts import defect

CLAIM = Claim(
    "G.T3.printed",
    "k of G.T3 as the number of states that a letter changes",
    "refuted",
    uses=("G.T3",),
    repair="k counts the points that a letter moves in the permutation representation of degree n.",
    formal=("Permutations.printed_count",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """The matrices of n coordinates are products of k - 1 swaps where k is the number of states that a letter changes.

    Statement: Let the transition group act faithfully on n points. A letter that changes k states of the automaton moves
        k of the n coordinates, so k - 1 is the number of swaps of a cycle.
    Direction: tight
    Hypotheses: The transition monoid is a group.
    Arithmetic: exact
    Source: G, Theorem 3
    Method: The word problem of S_5 has 120 states, and every letter but the identity changes all of them. It is
        constructed on 5 points and proved by the stand-alone checker; the factors are counted. (As an upper bound the
        printed number is true: it is only far too large wherever n is not the number of states.)
    Example:
        >>> print(verify().line())
        refuted: computed 4 factors, claimed 119 factors
    """
    automaton = automaton_from_spec("S5")
    built = construct(automaton, theorem="G.T3")
    claimed = count_changed_states(automaton) - 1
    witness = {
        "automaton": "S5",
        "states": len(automaton.states),
        "degree": built.dim,
        "factors": built.householders,
    }
    return refute_by_witness(
        CLAIM,
        witness if built.householders != claimed else None,
        replay_witness,
        computed=f"{built.householders} factors",
        claimed=f"{claimed} factors",
    )


def count_changed_states(automaton: Automaton) -> int:
    """The most states that a letter changes."""
    return int((automaton.transitions != np.arange(len(automaton.states))).sum(axis=1).max())


def replay_witness(witness: dict[str, Any]) -> bool:
    """Is the construction anew the witness's, and does it follow the automaton?"""
    built = construct(witness["automaton"], theorem="G.T3")
    figures = (built.dim, built.householders, built.depth)
    return figures == (witness["degree"], witness["factors"], 1) and defect(built) is None
