"""DP.B6.printed: a spectral radius of 1 does not make powers bounded: a Jordan block."""

from __future__ import annotations

from ...constructions.algebra._matrices import Matrix
from .._verdict import Verdict
from ..spectra._eigenvalues import eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from .dp_b6 import criteria, has_finitely_many_powers

CLAIM = Claim(
    "DP.B6.printed",
    "Stable exactly if ρ ≤ 1",
    "refuted",
    uses=("DP.B6",),
    repair="Eigenvalues on the unit circle must be semisimple too: [[1, 1], [0, 1]] has ρ = 1 and powers [[1, t], [0, 1]].",
    formal=("Cascades.jordan_block",),
)
JORDAN: Matrix = ((1, 1), (0, 1))


def verify(effort: Effort = QUICK) -> Verdict:
    """The powers of [[1, 1], [0, 1]] are [[1, t], [0, 1]], although the spectral radius is 1.

    Statement: A recurrence is stable if and only if every transition matrix has spectral radius at most 1.
    Direction: sufficient, as printed; the other direction is true
    Hypotheses: A square real matrix.
    Arithmetic: exact
    Source: DP, Appendix B.6
    Method: The entry t of the t-th power is derived symbolically from the recurrence of powers; the replay decides the
        spectral radius exactly and that the integer powers never repeat.
    Example:
        >>> print(verify().line())
        refuted: computed A^t has the entry t, claimed bounded powers
    """
    import sympy as sp

    t = sp.Symbol("t", integer=True, nonnegative=True)
    power = sp.Matrix([[1, t], [0, 1]])
    step = sp.Matrix(JORDAN) * power - power.subs(t, t + 1)
    if not step.is_zero_matrix or power.subs(t, 0) != sp.eye(2):
        raise AssertionError("A · A^t is not A^(t+1)")
    return refute_by_witness(
        CLAIM, JORDAN, refutes, computed=f"A^t has the entry {power[0, 1]}", claimed="bounded powers"
    )


def refutes(A: Matrix) -> bool:
    """Is an integer matrix called stable as printed, while its powers never repeat?"""
    return criteria(eigenvalue_report(A))["printed"] is True and not has_finitely_many_powers(A)
