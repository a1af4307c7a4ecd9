"""Dense exact matrices against sympy, over the rationals and over number fields."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra._cyclotomic import Algebraic, real_cyclotomic_field
from mirrormata.constructions.algebra._matrices import (
    Matrix,
    divide,
    dot,
    identity,
    is_contraction,
    is_orthogonal,
    is_positive_semidefinite,
    kernel,
    matrix,
    product,
    rank,
    reduce_rows,
    scale_matrix,
    subtract,
    transpose,
)
from mirrormata.constructions.theorems._rotations import reflection, rotation

NUMBERS = st.one_of(st.just(0), st.integers(-3, 3), st.fractions(-2, 2, max_denominator=4))


@st.composite
def matrices(draw: st.DrawFn, rows: int | None = None, columns: int | None = None) -> Matrix:
    m, n = rows or draw(st.integers(1, 4)), columns or draw(st.integers(1, 4))
    return matrix(draw(st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=m, max_size=m)))


def to_sympy(A: Matrix) -> sympy.Matrix:
    def entry(x: Any) -> Any:
        if not isinstance(x, Algebraic):
            return sympy.Rational(x.numerator, x.denominator)
        theta = 2 * sympy.cos(2 * sympy.pi / x.field.conductor)
        return sum(
            sympy.Rational(c.numerator, c.denominator) * theta**i for i, c in enumerate(x.coefficients)
        )

    return sympy.Matrix([[entry(x) for x in row] for row in A])


@given(matrices(3, 2), matrices(2, 4), matrices(3, 2), NUMBERS)
@settings(deadline=None, max_examples=30)
def test_arithmetic_is_that_of_sympy(A: Matrix, B: Matrix, C: Matrix, c: int | Fraction) -> None:
    assert to_sympy(product(A, B)) == to_sympy(A) * to_sympy(B)
    assert to_sympy(subtract(A, C)) == to_sympy(A) - to_sympy(C)
    assert to_sympy(transpose(A)) == to_sympy(A).T
    assert to_sympy(scale_matrix(c, A)) == sympy.Rational(c.numerator, c.denominator) * to_sympy(A)
    assert dot(A[0], C[0]) == sum(x * y for x, y in zip(A[0], C[0], strict=True))


@given(matrices())
@settings(deadline=None, max_examples=50)
def test_reduced_rows_rank_and_kernel_are_those_of_sympy(A: Matrix) -> None:
    expected, pivots = to_sympy(A).rref()
    rows, found = reduce_rows(A)
    assert found == list(pivots)
    assert (
        [list(to_sympy(matrix(rows)).row(i)) for i in range(len(rows))]
        == [list(expected.row(i)) for i in range(len(pivots))]
        if rows
        else not pivots
    )
    assert rank(A) == to_sympy(A).rank()
    basis = kernel(A)
    assert len(basis) == len(A[0]) - rank(A)
    for x in basis:
        assert all(y == (0,) for y in product(A, tuple((c,) for c in x)))
    if basis:
        assert rank(basis) == len(basis)


@given(matrices(3, 3), st.booleans())
@settings(deadline=None, max_examples=50)
def test_positive_semidefinite_by_principal_minors(A: Matrix, square: bool) -> None:
    S = product(transpose(A), A) if square else matrix(
        [[divide(A[i][j] + A[j][i], 2) for j in range(3)] for i in range(3)]
    )  # fmt: skip
    found = is_positive_semidefinite(S)
    assert found or not square
    # a symmetric matrix is PSD iff all its principal minors are non-negative
    symbolic = to_sympy(S)
    chosen = [[i for i in range(3) if mask >> i & 1] for mask in range(1, 8)]
    assert found == all(symbolic.extract(rows, rows).det() >= 0 for rows in chosen)


def test_positive_semidefinite_needs_more_than_leading_minors() -> None:
    assert not is_positive_semidefinite(((0, 0), (0, -1)))
    assert not is_positive_semidefinite(((0, 1), (1, 5)))
    assert is_positive_semidefinite(((0, 0), (0, 0)))
    theta = real_cyclotomic_field(8).twice_cos(1)  # √2
    assert is_positive_semidefinite(((theta, 1), (1, theta)))
    assert not is_positive_semidefinite(((1, theta), (theta, 1)))
    assert is_positive_semidefinite(((1, theta), (theta, 2)))


@given(matrices(3, 2))
@settings(max_examples=50, deadline=None)
def test_contractions_by_singular_values(A: Matrix) -> None:
    gram = to_sympy(product(transpose(A), A))
    trace, determinant = gram.trace(), gram.det()
    # both eigenvalues of the gram matrix are at most 1
    largest_at_most_one = trace <= 2 and 1 - trace + determinant >= 0
    assert is_contraction(A) == bool(largest_at_most_one)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 7, 8, 12])
def test_rotations_and_reflections_form_the_dihedral_group(m: int) -> None:
    for i in range(m):
        R, S = rotation(i, m), reflection(i, m)
        assert is_orthogonal(R)
        assert is_orthogonal(S)
        assert is_contraction(R)
        assert is_contraction(S)
        assert product(S, S) == identity(2)
        assert rank(subtract(R, identity(2))) == (2 if i else 0)
        assert rank(subtract(S, identity(2))) == 1
        for j in range(m):
            assert product(R, rotation(j, m)) == rotation(i + j, m)
            assert product(R, reflection(j, m)) == reflection(i + j, m)
            assert product(S, rotation(j, m)) == reflection(i - j, m)
            assert product(S, reflection(j, m)) == rotation(i - j, m)
    if m > 1:
        assert not is_contraction(scale_matrix(Fraction(101, 100), rotation(1, m)))
        assert not is_orthogonal(scale_matrix(-2, rotation(1, m)))
        # counter-clockwise: the sign of the angle is part of the convention
        assert m == 2 or rotation(1, m)[1][0] > 0
