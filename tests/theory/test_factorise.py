"""Numerical factorisation: the residual is a true bound, factors never leave norm 1, at most 3n of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mirrormata import InputError
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.algebra._matrices import is_contraction, matrix, subtract
from mirrormata.theory.claims.g_p1_2 import factorise


def distance_squared(A: object, B: object) -> Fraction:
    difference = subtract(matrix(A), matrix(B))  # type: ignore[arg-type]
    return sum((Fraction(x) ** 2 for row in difference for x in row), Fraction(0))  # type: ignore[arg-type]


@example(6, 549861, 0.5)  # a column that is a basis vector but for rounding
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]))
def test_random_contractions(n: int, seed: int, least: float) -> None:
    draw = np.random.default_rng(seed)
    U, V = (np.linalg.qr(draw.normal(size=(n, n)))[0] for _ in range(2))
    A = U @ np.diag(draw.uniform(least, 1, n)) @ V
    result = factorise(A)
    assert len(result.factors) <= 3 * n
    assert all(f.is_contraction() for f in result.factors)
    product = product_of(result.factors, n)
    assert is_contraction(product)
    exact = [[Fraction(float(x)) for x in row] for row in A]
    assert distance_squared(product, exact) <= result.residual**2
    assert result.residual < Fraction(1, 10**12)


def test_order_of_the_factors() -> None:
    A = np.array([[0.0, -0.5], [0.25, 0.0]])
    product = product_of(factorise(A).factors, 2)
    assert np.allclose([[float(x) for x in row] for row in product], A)  # type: ignore[arg-type]


def test_an_expansion_shows_in_the_residual() -> None:
    assert factorise([[2, 0], [0, 1]]).residual >= 1


def test_identity_and_zero() -> None:
    assert factorise(np.eye(3)).factors == ()
    assert factorise(np.zeros((3, 3))).residual == 0


@pytest.mark.parametrize("bad", [[[1, 2]], [], [[float("nan")]], [[float("inf")]]])
def test_bad_matrices(bad: object) -> None:
    with pytest.raises(InputError):
        factorise(bad)
