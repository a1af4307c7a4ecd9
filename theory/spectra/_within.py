"""What a matrix within a stated distance has: the least rank(A - I), and a norm of at most 1.

A matrix that was rounded, or is a mean, is known up to a distance R in the spectral norm. Both questions have exact answers:
the least rank of A - I among matrices within R is the number of singular values of A - I above R (Eckart and Young), and a matrix
of norm at most 1 lies within R where ‖A‖ ≤ 1 + R. Nothing is compared in floats.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from ...constructions.algebra._cyclotomic import Number, sign
from ...constructions.algebra._matrices import divide
from ._matrix import ExactMatrix, characteristic_polynomial, sparse_row
from ._norms import NormVerdict, norm_at_most_one, transpose


def rank_within(A: ExactMatrix, distance: Fraction) -> int:
    """The least rank(B - I) of all B with ‖B - A‖₂ at most a distance.

    The characteristic polynomial of (A - I)ᵀ(A - I) - R² has real roots only, so by Descartes' rule it has as many positive ones as its
    coefficients change their sign.

    Args:
        A: a square matrix.
        distance: R, at least 0.

    Returns:
        The number of singular values of A - I above R.

    Examples:
        >>> from mirrormata.theory import exact_matrix
        >>> rank_within(exact_matrix([[-1, 0], [0, 1 + 2**-40]]), Fraction(1, 2**30))
        1
    """
    moved = A.minus_identity()
    gram = transpose(moved) @ moved
    rows = [dict(row) for row in gram.rows]
    for i, row in enumerate(rows):
        row[i] = row.get(i, 0) - distance**2
    shifted = ExactMatrix(tuple(sparse_row(row) for row in rows), A.width)
    signs = [s for s in map(sign, _characteristic(shifted)) if s]
    return sum(a != b for a, b in pairwise(signs))


def norm_within(A: ExactMatrix, distance: Fraction, *, max_dim: int, name: str) -> NormVerdict:
    """Whether some B with ‖B - A‖₂ at most a distance R has ‖B‖₂ ≤ 1: whether ‖A‖₂ ≤ 1 + R.

    Args:
        A: a square matrix.
        distance: R, at least 0.
        max_dim: as `norm_at_most_one` takes it.
        name: the name to use in error messages.

    Returns:
        The verdict about A / (1 + R).

    Raises:
        LimitError: a block is larger than `max_dim`.
    """
    if not distance:
        return norm_at_most_one(A, max_dim=max_dim, name=name)
    rows = tuple(tuple((j, divide(x, 1 + distance)) for j, x in row) for row in A.rows)
    return norm_at_most_one(ExactMatrix(rows, A.width), max_dim=max_dim, name=name)


def _characteristic(A: ExactMatrix) -> tuple[Number, ...]:
    if not A.is_rational:
        return characteristic_polynomial(A.dense())
    return tuple(Fraction(int(c.p), int(c.q)) for c in A.flint().charpoly().coeffs())
