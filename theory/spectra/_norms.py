"""`norm_at_most_one`: ‖A‖₂ ≤ 1 decided exactly, with a certificate either way.

‖A‖ ≤ 1 where M = I - AᵀA is positive semidefinite. Elimination writes M = L·diag(D)·Lᵀ with L unit lower triangular:
M is semidefinite where every entry of D is ≥ 0 and beside a zero pivot only zeros remain. Where that fails, a vector
with xᵀMx < 0, that is ‖Ax‖ > ‖x‖, falls out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import floordiv, truediv
from typing import Any

from ...constructions.algebra._cyclotomic import Algebraic, Number, sign, simplest
from ...constructions.algebra._matrices import divide
from ...foundation._errors import LimitError
from ._matrix import ExactMatrix, SparseRow, exact_matrix, sparse_row

MAX_DIM = 64


@dataclass(frozen=True)
class NormVerdict:
    """Whether ‖A‖₂ ≤ 1, and why.

    Attributes:
        holds: whether ‖A‖₂ ≤ 1.
        pivots: where it holds, the entries of D, all ≥ 0, with I - AᵀA = L·diag(D)·Lᵀ.
        lower: where it holds, the rows of L.
        witness: where it does not, a vector x with ‖Ax‖ > ‖x‖.
        excess: where it does not, ‖Ax‖² - ‖x‖² > 0.
    """

    holds: bool
    pivots: tuple[Number, ...] | None = None
    lower: tuple[SparseRow, ...] | None = None
    witness: tuple[Number, ...] | None = None
    excess: Number | None = None

    def __bool__(self) -> bool:
        """‖A‖₂ ≤ 1."""
        return self.holds

    @property
    def is_isometry(self) -> bool:
        """Whether ‖Ax‖ = ‖x‖ for all x, that is, whether every pivot is 0."""
        return self.pivots is not None and not any(self.pivots)

    def replay(self, A: Any) -> bool:
        """Check by multiplication alone that the certificate proves the verdict for A.

        Args:
            A: the matrix.
        """
        M = gram_defect(exact_matrix(A, square=False))
        if not self.holds:
            x = self.witness
            return x is not None and len(x) == M.n and sign(form := _form(M, x)) < 0 and -form == self.excess
        if self.pivots is None or self.lower is None or not len(self.pivots) == len(self.lower) == M.n:
            return False
        L = ExactMatrix(self.lower, M.n)
        unit = all(dict(row).get(i) == 1 and max(dict(row)) == i for i, row in enumerate(L.rows))
        D = ExactMatrix(tuple(sparse_row({i: d}) for i, d in enumerate(self.pivots)), M.n)
        return unit and all(sign(d) >= 0 for d in self.pivots) and (L @ D @ transpose(L)).rows == M.rows


def norm_at_most_one(A: Any, *, max_dim: int = MAX_DIM, name: str = "the matrix") -> NormVerdict:
    """Decide exactly whether ‖A‖₂ ≤ 1.

    Args:
        A: a matrix of exact numbers or of floats, whose exact values are used.
        max_dim: the largest number of columns of a block of AᵀA that depend on each other (a permutation of any size has
            none).
        name: the name to use in error messages.

    Raises:
        InputError: it is not a finite matrix.
        LimitError: a block is larger than `max_dim`.

    Examples:
        >>> from mirrormata.theory import norm_at_most_one
        >>> norm_at_most_one([[1, 1], [0, 1]]).holds
        False
    """
    M = gram_defect(exact_matrix(A, name, square=False))
    pivots: list[Number] = [0] * M.n
    lower: list[dict[int, Number]] = [{i: 1} for i in range(M.n)]
    for block in _blocks(M):
        if len(block) > max_dim:
            raise LimitError(
                f"{name}: {len(block)} dependent columns, norms are decided up to {max_dim}: raise `max_dim`"
            )
        dense, scale = _scale_block(M, block)
        failure = _eliminate(dense, floordiv if M.is_rational else truediv)
        found = len(block) if failure is None else failure[0]
        previous: Number = 1
        for k in range(found):
            pivot = _number(dense[k][k])
            pivots[block[k]] = divide(divide(pivot, previous), scale)
            if pivot != 0:
                for i in range(k + 1, len(block)):
                    lower[block[i]][block[k]] = divide(_number(dense[k][i]), pivot)
                previous = pivot
        if failure is not None:
            k, j = failure
            x = _triangular(lower, block, k)
            if j is not None:  # s_kk = 0 ≠ s_kj: (t·b_k + b_j)ᵀM(t·b_k + b_j) = 2t·s_kj + s_jj = -1
                off, corner = (
                    divide(divide(_number(s), previous), scale) for s in (dense[k][j], dense[j][j])
                )
                y, t = _triangular(lower, [*block[:k], block[j]], k), divide(-(corner + 1), 2 * off)
                x = {i: t * x.get(i, 0) + y.get(i, 0) for i in sorted({**x, **y})}
            witness = tuple(simplest(x.get(i, 0)) for i in range(M.n))
            return NormVerdict(False, witness=witness, excess=simplest(-_form(M, witness)))
    return NormVerdict(True, tuple(pivots), tuple(sparse_row(row) for row in lower))


def gram_defect(A: ExactMatrix) -> ExactMatrix:
    """I - AᵀA."""
    gram = (transpose(A) @ A).rows
    rows = [{j: -x for j, x in row} for row in gram]
    for i, row in enumerate(rows):
        row[i] = row.get(i, 0) + 1
    return ExactMatrix(tuple(sparse_row(row) for row in rows), A.width)


def transpose(A: ExactMatrix) -> ExactMatrix:
    """Aᵀ."""
    columns: list[dict[int, Number]] = [{} for _ in range(A.width)]
    for i, row in enumerate(A.rows):
        for j, x in row:
            columns[j][i] = x
    return ExactMatrix(tuple(tuple(column.items()) for column in columns), A.n)


def _form(M: ExactMatrix, x: Sequence[Number]) -> Number:
    total: Number = 0
    for i, row in enumerate(M.rows):
        for j, m in row:
            total = total + x[i] * m * x[j]
    return simplest(total)


def _blocks(M: ExactMatrix) -> list[list[int]]:
    """Index sets that the symmetric M keeps apart, each ascending."""
    seen = [False] * M.n
    blocks = []
    for first in range(M.n):
        if seen[first]:
            continue
        seen[first] = True
        block = [first]
        for i in block:  # grows while it is read
            for j, _ in M.rows[i]:
                if not seen[j]:
                    seen[j] = True
                    block.append(j)
        blocks.append(sorted(block))
    return blocks


def _scale_block(M: ExactMatrix, block: list[int]) -> tuple[list[list[Any]], int]:
    """The block times a positive integer: of integers as flint's where M is rational."""
    from flint import fmpz

    place = {i: k for k, i in enumerate(block)}
    rows: list[list[Any]] = [[Fraction(0)] * len(block) for _ in block]
    for i in block:
        for j, x in M.rows[i]:
            rows[place[i]][place[j]] = x if isinstance(x, Algebraic) else Fraction(x)
    if not M.is_rational:
        return rows, 1
    scale = lcm(*(x.denominator for row in rows for x in row))
    return [[fmpz(int(x * scale)) for x in row] for row in rows], scale


def _eliminate(rows: list[list[Any]], quotient: Any) -> tuple[int, int | None] | None:
    """Bareiss' elimination of the upper triangle, in place: exact division keeps integers integers.

    Row k holds afterwards s_k,k.. times the last non-zero pivot before it, s the Schur complement. Returns None where
    the matrix is semidefinite, else the step k at which s_kk < 0, or, with a column j, s_kk = 0 ≠ s_kj.
    """
    n = len(rows)
    previous: Any = None
    for k, row in enumerate(rows):
        pivot = row[k]
        if pivot < 0:
            return k, None
        if pivot == 0:
            j = next((j for j in range(k + 1, n) if row[j] != 0), None)
            if j is not None:
                return k, j
            continue
        for i in range(k + 1, n):
            factor, other = row[i], rows[i]
            for j in range(i, n):
                value = pivot * other[j] - factor * row[j]
                other[j] = value if previous is None else quotient(value, previous)
        previous = pivot
    return None


def _triangular(lower: list[dict[int, Number]], block: list[int], k: int) -> dict[int, Number]:
    """b_k with Lᵀb_k = e_k, by the part of L that is known: b_kᵀ M b_k = s_kk."""
    x: dict[int, Number] = {block[k]: 1}
    for s in range(k - 1, -1, -1):
        total: Number = 0
        for i in range(s + 1, k + 1):
            total = total + lower[block[i]].get(block[s], 0) * x.get(block[i], 0)
        if total != 0:
            x[block[s]] = simplest(-total)
    return x


def _number(x: Any) -> Number:
    return simplest(x if isinstance(x, Algebraic | Fraction) else int(x))
