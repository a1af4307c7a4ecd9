"""Small dense matrices of exact numbers, as tuples of rows; the sizes here are those of Householder states."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from ._cyclotomic import Number, sign, simplest

Matrix: TypeAlias = tuple[tuple[Number, ...], ...]
"""An exact matrix by rows, `[rows][columns]`."""


def matrix(rows: Sequence[Sequence[Number]]) -> Matrix:
    """Make an immutable matrix with every entry in its simplest form.

    Args:
        rows: the rows, all of one length.
    """
    return tuple(tuple(simplest(x) for x in row) for row in rows)


def identity(n: int) -> Matrix:
    """The n × n identity."""
    return tuple(tuple(int(i == j) for j in range(n)) for i in range(n))


def transpose(A: Matrix) -> Matrix:
    """Aᵀ."""
    return tuple(zip(*A, strict=True))


def dot(u: Sequence[Number], v: Sequence[Number]) -> Number:
    """Σ u_i v_i."""
    total: Number = 0
    for a, b in zip(u, v, strict=True):
        if a and b:
            total = total + a * b
    return total


def product(A: Matrix, B: Matrix) -> Matrix:
    """A·B."""
    columns = transpose(B)
    return matrix([[dot(row, column) for column in columns] for row in A])


def scale_matrix(c: Number, A: Matrix) -> Matrix:
    """c·A."""
    return matrix([[c * x for x in row] for row in A])


def subtract(A: Matrix, B: Matrix) -> Matrix:
    """A - B."""
    return matrix([[a - b for a, b in zip(r, s, strict=True)] for r, s in zip(A, B, strict=True)])


def is_orthogonal(A: Matrix) -> bool:
    """Decide exactly whether AᵀA = I.

    Args:
        A: an exact matrix `[n, n]`.

    Examples:
        >>> from mirrormata.constructions import is_orthogonal, matrix
        >>> is_orthogonal(matrix([[0, 1], [1, 0]]))
        True
    """
    return product(transpose(A), A) == identity(len(A))


def divide(a: Number, b: Number) -> Number:
    """a / b, exact also for integers."""
    return simplest(Fraction(a) / b if isinstance(a, int) else a / b)


def reduce_rows(A: Sequence[Sequence[Number]]) -> tuple[list[list[Number]], list[int]]:
    """Reduced row echelon form without zero rows, and its pivot columns."""
    rows = [list(row) for row in A]
    pivots: list[int] = []
    width = len(rows[0]) if rows else 0
    # invariant: the columns before this one are reduced, with a pivot in each row before `rank`
    for column in range(width):
        rank = len(pivots)
        found = next((i for i in range(rank, len(rows)) if rows[i][column] != 0), None)
        if found is None:
            continue
        rows[rank], rows[found] = rows[found], rows[rank]
        pivot = rows[rank][column]
        rows[rank] = [divide(x, pivot) for x in rows[rank]]
        # the pivot's column is cleared above and below
        for i, row in enumerate(rows):
            if i != rank and row[column] != 0:
                factor = row[column]
                rows[i] = [simplest(x - factor * y) for x, y in zip(row, rows[rank], strict=True)]
        pivots.append(column)
    return rows[: len(pivots)], pivots


def rank(A: Sequence[Sequence[Number]]) -> int:
    """Exact rank."""
    return len(reduce_rows(A)[1])


def kernel(A: Sequence[Sequence[Number]]) -> list[tuple[Number, ...]]:
    """A basis of {x : A x = 0}."""
    rows, pivots = reduce_rows(A)
    width = len(A[0])
    basis = []
    # one vector for each column without a pivot: 1 there, and what the rows then demand at the pivots
    for free in (j for j in range(width) if j not in pivots):
        x: list[Number] = [0] * width
        x[free] = 1
        for row, pivot in zip(rows, pivots, strict=True):
            x[pivot] = -row[free]
        basis.append(tuple(simplest(c) for c in x))
    return basis


def is_positive_semidefinite(A: Matrix) -> bool:
    """Decides xᵀA x ≥ 0 for all x, A symmetric, by exact LDLᵀ elimination."""
    rows = [list(row) for row in A]
    n = len(rows)
    for k in range(n):
        pivot = rows[k][k]
        size = sign(pivot)
        if size < 0 or (size == 0 and any(rows[k][j] != 0 for j in range(k + 1, n))):
            return False
        if size == 0:
            continue
        # Schur complement of the pivot
        for i in range(k + 1, n):
            factor = divide(rows[i][k], pivot)
            for j in range(k + 1, n):
                rows[i][j] = simplest(rows[i][j] - factor * rows[k][j])
    return True


def is_contraction(A: Matrix) -> bool:
    """Decide exactly whether ‖A‖₂ ≤ 1, that is, whether I - AᵀA is positive semidefinite.

    Args:
        A: an exact matrix `[n, n]`.

    Examples:
        >>> from fractions import Fraction
        >>> from mirrormata.constructions import is_contraction, matrix
        >>> is_contraction(matrix([[Fraction(3, 5), Fraction(4, 5)], [0, 0]]))
        True
    """
    return is_positive_semidefinite(subtract(identity(len(A[0])), product(transpose(A), A)))
