"""DP.C1.printed: S_5 is not the full symmetry group of the dodecahedron, which has elements of order 10."""

from __future__ import annotations

from ...constructions.algebra._matrices import scale_matrix
from ...constructions.theorems._rotations import icosahedral_rotations
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from .dp_c1 import list_orders, order

CLAIM = Claim(
    "DP.C1.printed",
    "S_5 is the full symmetry group of the dodecahedron",
    "refuted",
    uses=("DP.C1",),
    repair="That group is A_5 × Z_2; S_5 has the same order, 120, but no element of order 10.",
)
FIVEFOLD = (1, 2, 3, 4, 0)


def verify(effort: Effort = QUICK) -> Verdict:
    """A rotation of the dodecahedron by 2π/5 times -I has order 10, which no permutation of five points has.

    Statement: The full symmetry group of the dodecahedron is isomorphic to S_5.
    Direction: sufficient, as printed
    Hypotheses: None.
    Arithmetic: exact, in Q(√5)
    Source: DP, Appendix C.1
    Method: The witness is an element of A_5, and with it -I times its rotation; the replay multiplies out the order of
        that matrix, 10, and looks for an element of this order in the listed S_5.
    Example:
        >>> print(verify().line())
        refuted: computed an element of order 10, claimed orders [1, 2, 3, 4, 5, 6]
    """
    return refute_by_witness(
        CLAIM,
        {"minus the rotation of": FIVEFOLD},
        lambda witness: refutes(witness["minus the rotation of"]),
        computed=f"an element of order {order(scale_matrix(-1, icosahedral_rotations()[FIVEFOLD]))}",
        claimed=f"orders {list(list_orders('S5'))}",
    )


def refutes(sigma: tuple[int, ...]) -> bool:
    """Is -R(σ) a symmetry of an order that S_5 does not have?"""
    rotations = icosahedral_rotations()
    return sigma in rotations and order(scale_matrix(-1, rotations[sigma])) not in list_orders("S5")
