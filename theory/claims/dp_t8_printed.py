"""DP.T8.printed: the pair of RWKV-7 factors at θ = π/3 is stable, against what is printed."""

from __future__ import annotations

from .._verdict import Verdict
from ..spectra._eigenvalues import eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from ._symbolic import rwkv7_radius
from .dp_t8 import pair_product

CLAIM = Claim(
    "DP.T8.printed",
    "RWKV-7 with c = 1 is unstable at θ = π/3",
    "refuted",
    uses=("DP.T8",),
    repair="The angle is θ = π/6: the radius there is (27 + √153)/32, about 1.2303; it exceeds 1 for every θ between 0 and π/4.",
)


def verify(effort: Effort = QUICK) -> Verdict:
    """At θ = π/3 the spectral radius of the product is (11 + √57)/32, about .58.

    Statement: With k = (cos θ, sin θ), a = (0, 1), k′ its coordinates swapped, a′ = (1, 0), and θ = π/3, the product of the
        two factors I - k(k⊙a)ᵀ and I - k′(k′⊙a′)ᵀ has a spectral radius above 1.
    Direction: sufficient, as printed
    Hypotheses: diag(w) = I, c = 1.
    Arithmetic: exact
    Source: DP, Theorem 8
    Method: The radius is derived symbolically; the replay multiplies the factors in Q(√3) and encloses all eigenvalues.
    Example:
        >>> print(verify().line())
        refuted: computed spectral radius sqrt(57)/32 + 11/32, claimed above 1
    """
    import sympy as sp

    return refute_by_witness(
        CLAIM,
        {"theta as a part of 2π": "1/6"},
        lambda witness: is_stable(witness["theta as a part of 2π"]),
        computed=f"spectral radius {rwkv7_radius(sp.pi / 3)}",
        claimed="above 1",
    )


def is_stable(turn: str) -> bool:
    """Do both eigenvalues at the angle, a part 1/k of 2π, lie inside the unit circle?"""
    k = int(turn.partition("/")[2])
    found = eigenvalue_report(pair_product(48 // k))
    return all(e.circle == "inside" for e in found.eigenvalues)
