"""DP.B6: powers stay bounded exactly if ρ ≤ 1 and the eigenvalues of modulus 1 are semisimple."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...constructions.algebra._matrices import Matrix, matrix
from ...constructions.algebra._matrices import product as product_of
from .._verdict import Verdict
from ..spectra._eigenvalues import Spectrum, eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases

CLAIM = Claim("DP.B6", "Stable exactly if ρ ≤ 1 and semisimple on the unit circle", "exhaustive")
PERIOD = 12
"""Integer matrices with n ≤ 3 and finitely many powers: A^(n+12) = A^n, as roots of unity of degree ≤ 3 have φ(m) ≤ 2."""
Case = tuple[Matrix, str]
"""A matrix and the criterion by which it is called stable, `repaired` or `printed`."""


def verify(effort: Effort = QUICK) -> Verdict:
    """The powers of a matrix stay bounded exactly if its spectral radius is at most 1 and no Jordan block on the circle is long.

    Statement: sup ‖A^t‖ over t ≥ 0 is finite if and only if ρ(A) ≤ 1 and each eigenvalue of modulus 1 has Jordan blocks of
        size 1 only.
    Direction: tight, necessary and sufficient
    Hypotheses: A square real matrix.
    Arithmetic: exact
    Source: DP, Appendix B.6, repaired
    Method: The integer matrices of a finite set: their powers are bounded exactly if finitely many, that is if
        A^(n+12) = A^n, which is decided by multiplication; the criterion is decided by exact eigenvalues and Jordan blocks.
        The criterion as printed, ρ ≤ 1, must go wrong on the same set.
    Example:
        >>> print(verify().line())
        holds on 625 cases: no violation, as claimed
    """
    in_space = effort.pick(0, 3_000)
    return check_all_cases(
        CLAIM,
        cases=((A, "repaired") for A in integer_matrices(in_space)),
        check=violation,
        of="2 × 2 matrices with entries from -2 to 2"
        + f", and {in_space:,} of 3 × 3 with -1, 0, 1" * (in_space > 0),
        broken=((A, "printed") for A in integer_matrices(0)),
    )


def integer_matrices(in_space: int) -> Iterator[Matrix]:
    """All 2 × 2 with entries from -2 to 2; of the 3 × 3 with entries -1, 0, 1 every 5th until there are so many."""
    for a, b, c, d in product(range(-2, 3), repeat=4):
        yield matrix([[a, b], [c, d]])
    for number in range(0, 5 * in_space, 5):
        digits = [number // 3**i % 3 - 1 for i in range(9)]
        yield matrix([digits[:3], digits[3:6], digits[6:]])


def violation(case: Case) -> Any:
    """The matrix where the criterion and its powers disagree; None where they agree."""
    A, criterion = case
    found = eigenvalue_report(A)
    stable = criteria(found)[criterion]
    if stable is has_finitely_many_powers(A):
        return None
    return {"matrix": A, "called stable": stable, "eigenvalues": list(map(str, found.eigenvalues))}


def criteria(found: Spectrum) -> dict[str, bool | None]:
    """Both criteria on one spectrum."""
    return {"repaired": found.is_stable, "printed": found.within_disc}


def has_finitely_many_powers(A: Matrix) -> bool:
    """Is A^(n+12) = A^n? For integer A with n ≤ 3 this says whether the powers stay bounded."""
    powers = [A]
    while len(powers) < len(A) + PERIOD:
        powers.append(product_of(powers[-1], A))
    return powers[-1] == powers[len(A) - 1]
