"""DP.T2: any automaton by gated DeltaProduct, with resets by the gate 0."""

from __future__ import annotations

import numpy as np

from ...constructions.automata._automaton import Automaton
from ...constructions.cascades._cascade import cascade
from ...constructions.cascades._layers import Wiring, cascade_lrnn
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect
from .g_t4 import random_automaton

CLAIM = Claim(
    "DP.T2",
    "Any automaton in gated DeltaProduct, resets by the gate 0",
    "supported",
    uses=("DP.L4", "G.T4"),
    seconds=3,
    formal=("CascadeLRNN.wiring_follows, for any cascade that covers the automaton",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Every finite automaton is followed by finitely many layers of gated DeltaProduct.

    Statement: The cascade of permutation-reset automata is realised with the gate 0 as the reset wherever no later
        component reads the state before it; elsewhere the reset keeps that state in a second half of the state.
    Direction: sufficient
    Hypotheses: The read-out names the old state: a reset by the gate erases it, so it serves where nobody reads it.
    Arithmetic: exact, all numbers are integers
    Source: DP, Theorem 2, with the wiring of G.T4 repaired
    Method: Random automata are constructed with gates and proved by the stand-alone checker. The same check of gated
        resets in the printed wiring must find defects. (Fewer factors a token than a permutation needs: see own.blocks.)
    Example:
        >>> print(verify().line())
        supported by 20 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(20, 300),
        draw=lambda generator: draw_wiring(generator, "repaired"),
        broken=lambda generator: draw_wiring(generator, "printed"),
        check=wrong,
        assumptions=(
            "a cascade exists for every automaton (KR)",
            "as many factors as the permutations need (fewer: own.blocks)",
        ),
    )


def draw_wiring(generator: np.random.Generator, wiring: Wiring) -> tuple[Automaton, Wiring]:
    """A random automaton, and how its cascade is to be wired."""
    return random_automaton(generator), wiring


def wrong(case: tuple[Automaton, Wiring]) -> str | None:
    """What the stand-alone checker finds wrong with an automaton's gated cascade, wired as said."""
    automaton, wiring = case
    return defect(cascade_lrnn(automaton, cascade(automaton), gated=True, wiring=wiring))
