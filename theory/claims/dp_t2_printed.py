"""DP.T2.printed: gated resets in the printed cascade erase the state that the next component reads."""

from __future__ import annotations

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._printed_cascades import refute_printed_cascades, replay_witness, write_shortest
from .g_t4 import random_automaton

CLAIM = Claim(
    "DP.T2.printed",
    "Gated resets in the cascade as printed",
    "refuted",
    uses=("DP.T2",),
    repair="A reset by the gate 0 erases the old state, so it serves where no later component reads it; elsewhere the "
    "state is doubled, or a layer with a buffer of two places keeps it.",
    seconds=3,
    formal=("Cascades.gated_reset_forgets", "Cascades.printed_wiring"),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Any automaton is followed by the cascade with resets by the gate 0, each component reading new states.

    Statement: The cascade of permutation-reset automata follows the automaton when every reset is the gate 0 and an
        additive term, and each component reads the states of those before it after the letter.
    Direction: sufficient
    Hypotheses: A cascade with at least two levels.
    Arithmetic: exact
    Source: DP, Theorem 2, which takes its wiring from G, Theorem 4
    Method: Gated cascades of random automata are wired as printed; a shortest wrong word is searched breadth first and
        replayed in exact numbers, from what is written of it and of its automaton.
    Example:
        >>> print(verify().line())
        refuted: computed 20 of 20 cascades wrong, claimed 0 cascades wrong
    """
    generator, count = effort.generator(), effort.pick(20, 300)
    found = refute_printed_cascades(lambda: random_automaton(generator), count, gated=True)
    wrong = [x for x in found if x.word is not None]
    return refute_by_witness(
        CLAIM,
        write_shortest(found),
        lambda witness: replay_witness(witness, gated=True),
        computed=f"{len(wrong)} of {count} cascades wrong",
        claimed="0 cascades wrong",
        evidence={"cascades": count, "seed": effort.seed},
    )
