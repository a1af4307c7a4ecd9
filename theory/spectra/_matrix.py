"""Square or rectangular matrices of exact numbers by their non-zero entries; floats are the dyadic rationals they are.

All numbers of one matrix lie in one field, Q or Q(2cos 2π/N): numbers of several fields are lifted to a common one. Of a
matrix the characteristic and the minimal polynomial are computed, as tuples of coefficients, constant first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from ...constructions.algebra._cyclotomic import Algebraic, Number, real_cyclotomic_field, simplest
from ...constructions.algebra._matrices import Matrix, divide, dot, product, rank
from ...foundation._errors import InputError

SparseRow = tuple[tuple[int, Number], ...]
MAX_NAMED = 3
"""Most wrong entries that one message names."""


@dataclass(frozen=True)
class ExactMatrix:
    """A matrix of exact numbers, stored by its non-zero entries.

    Attributes:
        rows: for each row its non-zero entries `(column, value)` by column.
        width: number of columns.
    """

    rows: tuple[SparseRow, ...]
    width: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @cached_property
    def is_rational(self) -> bool:
        """True where every entry is rational."""
        return not any(isinstance(x, Algebraic) for row in self.rows for _, x in row)

    @cached_property
    def is_dyadic(self) -> bool:
        """True where every entry is a fraction over a power of two, as floats and their products are."""
        return self.is_rational and all(
            (below := Fraction(x).denominator) & (below - 1) == 0  # type: ignore[arg-type]  # rational
            for row in self.rows
            for _, x in row
        )

    @cached_property
    def conductor(self) -> int:
        """N where the entries lie in Q(2cos 2π/N); 1 for rationals."""
        return max(
            (x.field.conductor for row in self.rows for _, x in row if isinstance(x, Algebraic)), default=1
        )

    @cached_property
    def is_monomial(self) -> bool:
        """True where no row and no column has two non-zero entries, as in permutations and their partial maps."""
        columns = [j for row in self.rows for j, _ in row]
        return all(len(row) <= 1 for row in self.rows) and len(set(columns)) == len(columns)

    def dense(self) -> Matrix:
        """All entries, row by row."""
        result = []
        for row in self.rows:
            entries: list[Number] = [0] * self.width
            for j, x in row:
                entries[j] = x
            result.append(tuple(entries))
        return tuple(result)

    def flint(self) -> Any:
        """A rational matrix as `flint.fmpq_mat`."""
        from flint import fmpq, fmpq_mat

        result = fmpq_mat(self.n, self.width)
        for i, row in enumerate(self.rows):
            for j, x in row:
                result[i, j] = fmpq(x.numerator, x.denominator)  # type: ignore[union-attr]
        return result

    def minus_identity(self) -> ExactMatrix:
        """A - I."""
        rows = []
        for i, row in enumerate(self.rows):
            entries = dict(row)
            entries[i] = entries.get(i, 0) - 1
            rows.append(sparse_row(entries))
        return ExactMatrix(tuple(rows), self.width)

    def reflection_rank(self) -> int:
        """rank(A - I), the least number of GH factors that A can be a product of (H.rank)."""
        moved = self.minus_identity()
        if (
            self.is_monomial
        ):  # a kernel vector of A - I is constant up to the weights along a cycle of weight 1
            return self.n - sum(weight == 1 for _, weight in cycles_and_paths(self)[0])
        return int(moved.flint().rank()) if self.is_rational else rank(moved.dense())

    def __matmul__(self, other: ExactMatrix) -> ExactMatrix:
        """A·B."""
        dense = 8 * sum(len(row) for row in self.rows) > self.n * self.width
        if dense and self.is_rational and other.is_rational:
            return from_flint(self.flint() * other.flint())
        rows = []
        for row in self.rows:
            entries: dict[int, Number] = {}
            for k, a in row:
                for j, b in other.rows[k]:
                    entries[j] = entries.get(j, 0) + a * b
            rows.append(sparse_row(entries))
        return ExactMatrix(tuple(rows), other.width)


def sparse_row(entries: dict[int, Number]) -> SparseRow:
    """The non-zero entries in their simplest form, by column."""
    found = ((j, simplest(entries[j])) for j in sorted(entries))
    return tuple((j, x) for j, x in found if x != 0)


def from_flint(A: Any) -> ExactMatrix:
    """A `flint.fmpq_mat` as an `ExactMatrix`."""
    rows = [
        tuple((j, simplest(Fraction(int(x.p), int(x.q)))) for j, x in enumerate(row) if x != 0)
        for row in A.tolist()
    ]
    return ExactMatrix(tuple(rows), int(A.ncols()))


def exact_matrix(A: Any, name: str = "the matrix", *, square: bool = True) -> ExactMatrix:
    """Make a matrix of exact entries from `int`, `Fraction`, `Algebraic`, `Decimal`, or floats, whose exact values are used.

    Args:
        A: rows of numbers (nested sequences, a numpy array, a tensor) or an `ExactMatrix`.
        name: the name to use in error messages.
        square: whether the matrix must be square.

    Raises:
        InputError: rows have different lengths, the matrix is not square although it must be, or entries are not finite real
            numbers; the message names their places.
    """
    if isinstance(A, ExactMatrix):
        return A
    try:
        rows = [list(row) for row in A]
    except TypeError:
        raise InputError(f"{name}: rows of numbers are needed, not {type(A).__name__}") from None
    width = len(rows[0]) if rows else 0
    ragged = [i for i, row in enumerate(rows) if len(row) != width]
    if not width or ragged or (square and width != len(rows)):
        shape = f"row {ragged[0]} has {len(rows[ragged[0]])} entries, row 0 has {width}" if ragged else ""
        raise InputError(
            f"{name}: must be {'square' if square else 'a matrix'}: {shape or f'{len(rows)} × {width}'}"
        )
    wrong: list[str] = []
    numbers: list[list[Number]] = [[0] * width for _ in rows]
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            number = exact_number(x)
            if number is None:
                wrong.append(f"entry ({i}, {j}) is {str(x)[:40]}")
            else:
                numbers[i][j] = number
    if wrong:
        more = f" and {len(wrong) - MAX_NAMED} more" if len(wrong) > MAX_NAMED else ""
        raise InputError(f"{name}: entries must be finite real numbers: {'; '.join(wrong[:MAX_NAMED])}{more}")
    numbers = in_one_field(numbers)
    return ExactMatrix(tuple(sparse_row(dict(enumerate(row))) for row in numbers), width)


def exact_number(x: Any) -> Number | None:
    """The number itself, exactly; None for what is not a finite real number."""
    if isinstance(x, int | Fraction | Algebraic):
        return simplest(int(x) if isinstance(x, bool) else x)
    if isinstance(x, np.integer | np.bool_):
        return int(x)
    try:
        if isinstance(x, float | np.floating | Decimal):
            return simplest(Fraction(*x.as_integer_ratio()))
        if isinstance(x, str | bytes | complex | np.complexfloating):
            return None
        return simplest(Fraction(float(x)))  # scalars of other float formats: every one of them is a float64
    except (TypeError, ValueError, OverflowError):
        return None


def in_one_field(numbers: list[list[Number]]) -> list[list[Number]]:
    """The same numbers, the irrational ones lifted to one field."""
    conductors = {x.field.conductor: None for row in numbers for x in row if isinstance(x, Algebraic)}
    if len(conductors) < 2:
        return numbers
    common = lcm(*conductors)
    return [[_lift_number(x, common) if isinstance(x, Algebraic) else x for x in row] for row in numbers]


def _lift_number(x: Algebraic, conductor: int) -> Algebraic:
    field = real_cyclotomic_field(conductor)
    theta = field.twice_cos(conductor // x.field.conductor)
    value = field.element([0])
    for c in reversed(x.coefficients):
        value = value * theta + c
    return value


def cycles_and_paths(A: ExactMatrix) -> tuple[list[tuple[int, Number]], list[int]]:
    """Of a monomial matrix: its cycles as (length, product of the entries), and the lengths of its paths.

    On a cycle of length r with product w, A^r is w times the identity; a path is a nilpotent Jordan block.
    """
    below: dict[int, tuple[int, Number]] = {j: (i, x) for i, row in enumerate(A.rows) for j, x in row}
    # e_j goes to x·e_i; a path begins where nothing arrives
    arrives = {i for i, _ in below.values()}
    seen = [False] * A.n
    paths, cycles = [], []
    for first in (*(j for j in range(A.n) if j not in arrives), *range(A.n)):
        if seen[first]:
            continue
        length, at = 0, first
        product: Number = 1
        while not seen[at]:
            seen[at] = True
            length += 1
            if at not in below:
                break
            at, x = below[at]
            product = product * x
        if first in arrives:
            cycles.append((length, simplest(product)))
        else:
            paths.append(length)
    return cycles, paths


def lift_to_one_field(matrices: Iterable[ExactMatrix]) -> tuple[ExactMatrix, ...]:
    """The same matrices, all of one field, so that they can be multiplied."""
    found = list(matrices)
    if len({A.conductor for A in found} - {1}) < 2:
        return tuple(found)
    common = lcm(*(A.conductor for A in found))
    return tuple(
        ExactMatrix(
            tuple(
                tuple((j, _lift_number(x, common) if isinstance(x, Algebraic) else x) for j, x in row)
                for row in A.rows
            ),
            A.width,
        )
        for A in found
    )


Polynomial = tuple[Number, ...]


def characteristic_polynomial(A: Matrix) -> Polynomial:
    """det(xI - A) by Faddeev and Le Verrier: exact in any field of characteristic 0."""
    n = len(A)
    coefficients: list[Number] = [1]
    M = A
    for k in range(1, n + 1):
        trace: Number = 0
        for i in range(n):
            trace = trace + M[i][i]
        c = divide(-trace, k)
        coefficients.append(c)
        if k < n:
            M = product(
                A, tuple(tuple(x + c if i == j else x for j, x in enumerate(r)) for i, r in enumerate(M))
            )
    return tuple(simplest(c) for c in reversed(coefficients))


def minimal_polynomial(A: Matrix) -> Polynomial:
    """The monic polynomial of least degree that vanishes at A: it must kill every basis vector."""
    result: Polynomial = (1,)
    for i in range(len(A)):
        rest: list[Number] = [int(i == j) for j in range(len(A))]
        result = multiply_polynomials(result, _annihilator(A, _apply_polynomial(result, A, rest)))
    return result


def _apply_polynomial(polynomial: Polynomial, A: Matrix, v: Sequence[Number]) -> list[Number]:
    total: list[Number] = [0] * len(v)
    for c in reversed(polynomial):
        total = [simplest(dot(row, total) + c * x) for row, x in zip(A, v, strict=True)]
    return total


def _annihilator(A: Matrix, v: Sequence[Number]) -> Polynomial:
    """The monic p of least degree with p(A)v = 0: the first linear relation among v, Av, A²v, ..."""
    known: list[tuple[int, list[Number], list[Number]]] = []
    power = list(v)
    for degree in range(len(A) + 1):
        vector = list(power)
        relation: list[Number] = [*([0] * degree), 1]
        for pivot, row, combination in known:
            if vector[pivot] != 0:
                factor = vector[pivot]
                vector = [simplest(x - factor * y) for x, y in zip(vector, row, strict=True)]
                padded = combination + [0] * (degree + 1 - len(combination))
                relation = [simplest(x - factor * y) for x, y in zip(relation, padded, strict=True)]
        pivot = next((j for j, x in enumerate(vector) if x != 0), -1)
        if pivot < 0:
            return make_monic(tuple(relation))
        scale = vector[pivot]
        known.append((pivot, [divide(x, scale) for x in vector], [divide(x, scale) for x in relation]))
        power = [simplest(dot(row, power)) for row in A]
    raise AssertionError("n + 1 vectors of dimension n are dependent")


def square_free(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Monic parts with simple roots, each with the multiplicity of its roots; parts of degree 0 are left out."""
    derivative = tuple(k * c for k, c in enumerate(polynomial))[1:]
    repeated = gcd(polynomial, derivative)
    distinct = quotient(polynomial, repeated)
    parts, multiplicity = [], 1
    while len(distinct) > 1:
        common = gcd(distinct, repeated)
        part = quotient(distinct, common)
        if len(part) > 1:
            parts.append((make_monic(part), multiplicity))
        distinct, repeated, multiplicity = common, quotient(repeated, common), multiplicity + 1
    return parts


def make_monic(polynomial: Polynomial) -> Polynomial:
    """Divided by its leading coefficient, without leading zeros."""
    degree = next((k for k in range(len(polynomial) - 1, -1, -1) if polynomial[k] != 0), -1)
    return tuple(divide(c, polynomial[degree]) for c in polynomial[: degree + 1])


def multiply_polynomials(p: Polynomial, q: Polynomial) -> Polynomial:
    """p·q."""
    result: list[Number] = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] = result[i + j] + a * b
    return tuple(simplest(c) for c in result)


def divide_polynomials(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder, the remainder monic or empty; q monic."""
    rest, places = list(p), len(p) - len(q) + 1
    result: list[Number] = [0] * max(places, 1)
    for k in range(places - 1, -1, -1):
        c = result[k] = simplest(rest[k + len(q) - 1])
        if c != 0:
            for j, b in enumerate(q):
                rest[k + j] = simplest(rest[k + j] - c * b)
    return tuple(result), make_monic(tuple(rest[: len(q) - 1] if places > 0 else rest))


def quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    """p / q for a monic divisor q."""
    return divide_polynomials(p, q)[0]


def gcd(p: Polynomial, q: Polynomial) -> Polynomial:
    """The monic greatest common divisor, by Euclid; p not zero."""
    p, q = make_monic(p), make_monic(q)
    while q:
        p, q = q, divide_polynomials(p, q)[1]
    return p


def value_at(polynomial: Polynomial, x: Number) -> Number:
    """p(x)."""
    value: Number = 0
    for c in reversed(polynomial):
        value = value * x + c
    return simplest(value)
