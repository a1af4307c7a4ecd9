"""H.A5inv: A_5 over its involutions with one reflection a token."""

from __future__ import annotations

from ...constructions._construct import construct
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import decide_values
from ._parts import construct_table, defect

CLAIM = Claim(
    "H.A5inv", "A_5 over its 15 involutions with one reflection a token", "proved", uses=("DP.T4", "H.rank")
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Read over its fifteen involutions, A_5 takes one layer with one reflection a token.

    Statement: A half-turn R of space is a product of two reflections, but -R is one. The layer whose letters are -R for the
        fifteen half-turns of the icosahedron reaches the 120 matrices ±Q of the icosahedral group and follows A_5 by
        the decoding Q ↦ det(Q)·Q.
    Direction: sufficient
    Hypotheses: Every letter is an involution; over all 60 elements two reflections are needed.
    Arithmetic: exact, in Q(√5)
    Source: H
    Method: Constructed and proved by the stand-alone checker; letters, layers, factors, dimensions and reachable states
        are counted, and the factors of the construction over all elements.
    Example:
        >>> print(verify().line())
        proved: 15, 1, 1, 3, 120, 2, as claimed
    """
    lrnn = construct_table("A5[involutions]", "H.A5inv")
    everything = construct("A5", max_layers=1)
    reason = defect(lrnn)
    figures = (len(lrnn.automaton.letters), lrnn.depth, lrnn.householders, lrnn.dim, len(lrnn.decode))
    return decide_values(
        CLAIM,
        computed=(*figures, everything.householders) if reason is None else reason,
        claimed=(15, 1, 1, 3, 120, 2),
        evidence={
            "order": "letters, layers, factors, dimension, reachable states, factors over all elements"
        },
    )
