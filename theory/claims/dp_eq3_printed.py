"""DP.eq3.printed: a product written with the index rising to the right is another matrix."""

from __future__ import annotations

from ...constructions.algebra._householder import product_of, swap
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from .dp_eq3 import flatten_token

CLAIM = Claim(
    "DP.eq3.printed",
    "A token's transition is C_1 C_2···C_n",
    "refuted",
    uses=("DP.eq3",),
    repair="The first factor is applied first, so it stands on the right: C_n···C_1, the index rising to the left.",
    formal=("Affine.printed_order",),
)
SWAPS = ((0, 1), (1, 2))


def verify(effort: Effort = QUICK) -> Verdict:
    """Two swaps that do not commute give the 3-cycle or its inverse, by the order.

    Statement: The transition of a token whose m factors are applied one after the other is
        ∏_{j=1}^m (I - β_j k_j k_jᵀ), read from left to right.
    Direction: tight, an equality, as printed
    Hypotheses: States are multiplied from the left.
    Arithmetic: exact, integers
    Source: DP, equation 3
    Method: Keys e_0 - e_1, then e_1 - e_2, β = 1: the micro-steps send e_0 to e_2, the printed product to e_1.
    Example:
        >>> print(verify().line())
        refuted: computed e_0 goes to e_2, claimed e_0 goes to e_1
    """
    made, printed = images(SWAPS)
    return refute_by_witness(
        CLAIM,
        SWAPS,
        lambda witness: images(witness)[0] != images(witness)[1],
        computed=f"e_0 goes to e_{made}",
        claimed=f"e_0 goes to e_{printed}",
    )


def images(swaps: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Where e_0 goes by the micro-steps, and by the product as printed."""
    factors = [swap(i, j) for i, j in swaps]
    A, _ = flatten_token(factors, [((0,),)] * len(factors), "rising to the right")
    return [row[0] for row in product_of(factors, 3)].index(1), [row[0] for row in A].index(1)
