"""GH factors and the exact factorisations: right products in the right order, with exactly as many factors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra._cyclotomic import real_cyclotomic_field
from mirrormata.constructions.algebra._householder import (
    GHFactor,
    contraction_factors,
    gh_factor,
    orthogonal_factors,
    permutation_factors,
    product_of,
    swap,
)
from mirrormata.constructions.algebra._matrices import (
    Matrix,
    identity,
    is_contraction,
    is_orthogonal,
    matrix,
    product,
    rank,
    scale_matrix,
    subtract,
    transpose,
)
from mirrormata.constructions.algebra.groups._permutations import cycle_counts, cycle_lengths
from mirrormata.constructions.heads._representations import signed_permutation_factors
from mirrormata.constructions.theorems._rotations import icosahedral_rotations, reflection, rotation
from mirrormata.foundation._errors import NotRealisableError
from mirrormata.tests.constructions.exact_simulation import factor_matrix, multiplied, unit

RATIONALS = st.fractions(-3, 3, max_denominator=5)


def dense(factors: Iterable[GHFactor], n: int) -> Any:
    """C_k···C_1 by definition, the first factor applied first."""
    result = unit(n)
    for factor in factors:
        result = multiplied(factor_matrix(factor.beta, factor.vector, n), result)
    return result


def signed_matrix(image: Sequence[int], negative: Sequence[int]) -> Any:
    """Column i is ±e_{image(i)}."""
    n = len(image)
    return tuple(
        tuple((-1 if negative[i] else 1) if image[i] == j else 0 for i in range(n)) for j in range(n)
    )


def cycles(image: Sequence[int]) -> int:
    seen: set[int] = set()
    count = 0
    for first in range(len(image)):
        count += first not in seen
        point = first
        while point not in seen:
            seen.add(point)
            point = image[point]
    return count


def rank_mod_prime(rows: Any) -> int:
    """Rank over the rationals of a small integer matrix, by floating point: the entries are 0, ±1."""
    return int(np.linalg.matrix_rank(np.array(rows, dtype=float)))


def check_permutation(image: Sequence[int]) -> None:
    n = len(image)
    factors = permutation_factors(image)
    assert len(factors) == n - cycles(image)
    vectors = np.eye(n, dtype=int)
    for factor in factors:  # each is a swap with v = e_i - e_j, applied in this order
        (i, a), (j, b) = factor.vector
        assert (factor.beta, a, b) == (1, 1, -1)
        vectors[[i, j]] = vectors[[j, i]]
    assert (vectors[image, range(n)] == 1).all()  # column i is e_{image(i)}
    assert vectors.sum() == n


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, pytest.param(7, marks=pytest.mark.long)])
def test_every_permutation(n: int) -> None:
    images = list(itertools.permutations(range(n)))
    for image in images:
        check_permutation(image)
    if n:
        counted = cycle_counts(np.array(images))
        assert counted.tolist() == [cycles(image) for image in images]
        assert all(len(cycle_lengths(np.array(image))) == cycles(image) for image in images[:200])


def test_permutation_products_multiply_out() -> None:
    for image in itertools.permutations(range(4)):
        expected = signed_matrix(image, [0] * 4)
        assert dense(permutation_factors(image), 4) == expected
        assert product_of(permutation_factors(image), 4) == expected
    order_matters = permutation_factors((1, 2, 0))
    assert dense(reversed(order_matters), 3) == transpose(dense(order_matters, 3)) != dense(order_matters, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_signed_permutation(n: int) -> None:
    for image in itertools.permutations(range(n)):
        for negative in itertools.product((0, 1), repeat=n):
            A = signed_matrix(image, negative)
            factors = signed_permutation_factors(list(image), list(negative))
            assert dense(factors, n) == A
            assert len(factors) == rank_mod_prime(np.array(A) - np.eye(n))
            assert all(f.beta * f.norm_squared == 2 and isinstance(f.beta, int) for f in factors)
            assert all(abs(x) == 1 for f in factors for _, x in f.vector)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "below"), [(5, 35), (6, 310)])
def test_rank_is_below_the_displaced_points_less_one(n: int, below: int) -> None:
    count = 0
    for image in itertools.permutations(range(n)):
        displaced = sum(i != p for i, p in enumerate(image))
        if displaced:
            needed = len(permutation_factors(image))
            assert needed == rank_mod_prime(np.array(signed_matrix(image, [0] * n)) - np.eye(n))
            assert needed <= displaced - 1
            count += needed < displaced - 1
    assert count == below


@st.composite
def factors(draw: st.DrawFn, n: int) -> GHFactor:
    vector = draw(st.lists(RATIONALS, min_size=n, max_size=n))
    assume(any(vector))
    beta = draw(st.fractions(-1, 3, max_denominator=4).filter(bool))
    return gh_factor(beta, enumerate(vector))


@given(st.lists(factors(4), max_size=4))
@settings(deadline=None, max_examples=40)
def test_rank_of_a_product_less_the_identity(chosen: list[GHFactor]) -> None:
    A = product_of(chosen, 4)
    assert dense(chosen, 4) == A
    assert rank(subtract(A, identity(4))) <= len(chosen)


@given(st.lists(RATIONALS, min_size=3, max_size=3), st.fractions(-1, 3, max_denominator=6), st.data())
@settings(deadline=None)
def test_canonical_form_is_the_same_matrix(
    vector: list[Fraction], beta: Fraction, data: st.DataObject
) -> None:
    if not any(vector) or beta == 0:
        with pytest.raises(ValueError, match="leave it out"):
            gh_factor(beta, enumerate(vector))
        return
    factor = gh_factor(beta, dict(enumerate(vector)))
    expected = factor_matrix(beta, list(enumerate(vector)), 3)
    assert factor.matrix(3) == expected
    entries: list[Any] = [x for _, x in factor.vector]
    assert all(isinstance(x, int) and x != 0 for x in entries)
    assert np.gcd.reduce(entries) == 1
    assert entries[0] > 0
    assert [i for i, _ in factor.vector] == [i for i, x in enumerate(vector) if x]
    # any other scale of the vector gives the equal factor, also an irrational one
    c = data.draw(st.fractions(-3, 3, max_denominator=4).filter(bool))
    assert gh_factor(beta / c**2, {i: c * x for i, x in enumerate(vector)}) == factor
    root = real_cyclotomic_field(5).twice_cos(1)
    assert gh_factor(beta / (root * root), {i: root * x for i, x in enumerate(vector)}) == factor
    # norm at most 1, decided from the factor and from the matrix
    assert factor.is_contraction() == is_contraction(factor.matrix(3))
    assert factor.eigenvalue == 1 - beta * sum(x * x for x in vector)
    H = matrix([[1, 2], [3, Fraction(-1, 2)], [0, 5]])
    assert factor.apply(H) == product(factor.matrix(3), H)


def test_canonical_form_over_a_number_field() -> None:
    root = real_cyclotomic_field(8).twice_cos(1)
    factor = gh_factor(1, [(0, root), (1, 1), (2, 0)])
    assert factor.vector[0] == (0, 1)
    assert [i for i, _ in factor.vector] == [0, 1]
    assert factor.matrix(2) == factor_matrix(1, [(0, root), (1, 1)], 2)
    assert gh_factor(factor.beta, factor.vector) == factor
    assert gh_factor(1, [(0, -root), (1, -1)]) == factor


@st.composite
def rational_orthogonal(draw: st.DrawFn, sizes: st.SearchStrategy[int]) -> Matrix:
    """(I - S)(I + S)⁻¹ with S skew (Cayley), its columns permuted and signed: determinant ±1, any rank of A - I."""
    n = draw(sizes)
    S = [[Fraction(0)] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        S[i][j] = draw(st.one_of(st.just(Fraction(0)), RATIONALS))
        S[j][i] = -S[i][j]
    plus = [[S[i][j] + int(i == j) for j in range(n)] for i in range(n)]
    minus = matrix([[int(i == j) - S[i][j] for j in range(n)] for i in range(n)])
    A = product(minus, inverse(plus))
    image = draw(st.permutations(range(n)))
    negative = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return product(A, signed_matrix(image, negative)) if draw(st.booleans()) else A


def inverse(A: list[list[Fraction]]) -> Matrix:
    """By Gauss–Jordan elimination; A = I + S is invertible for skew S."""
    n = len(A)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(A)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return matrix([row[n:] for row in rows])


@given(rational_orthogonal(st.integers(1, 5)))
@settings(deadline=None, max_examples=40)
def test_orthogonal_matrices_by_cartan_and_dieudonne(A: Matrix) -> None:
    assert is_orthogonal(A)
    found = orthogonal_factors(A)
    assert dense(found, len(A)) == A
    assert len(found) == rank(subtract(A, identity(len(A))))
    assert all(f.beta * f.norm_squared == 2 for f in found)


@pytest.mark.parametrize("m", [3, 5, 7, 8, 12])
def test_plane_rotations_and_reflections(m: int) -> None:
    for i in range(m):
        for A, count in ((rotation(i, m), 2 if i else 0), (reflection(i, m), 1)):
            found = orthogonal_factors(A)
            assert dense(found, 2) == A
            assert len(found) == count


def test_icosahedral_rotations() -> None:
    rotations = icosahedral_rotations()
    assert len(rotations) == 60 == len(set(rotations.values()))
    images = list(rotations)
    rng = np.random.default_rng(1)
    for a, b in rng.integers(0, 60, (60, 2)):
        p, q = images[a], images[b]
        composed = tuple(p[q[i]] for i in range(5))
        assert product(rotations[p], rotations[q]) == rotations[composed]
    for p, A in list(rotations.items())[::4]:
        found = orthogonal_factors(A)
        assert dense(found, 3) == A
        assert len(found) == (0 if p == (0, 1, 2, 3, 4) else 2)
        half_turn = p != (0, 1, 2, 3, 4) and all(p[p[i]] == i for i in range(5))
        assert (rank(subtract(scale_matrix(-1, A), identity(3))) == 1) == half_turn


def test_matrices_that_are_not_orthogonal_are_refused() -> None:
    with pytest.raises(ValueError, match="not orthogonal"):
        orthogonal_factors(((1, 1), (0, 1)))
    with pytest.raises(ValueError, match="not orthogonal"):
        orthogonal_factors(scale_matrix(Fraction(1, 2), identity(2)))


@given(rational_orthogonal(st.just(3)), rational_orthogonal(st.just(3)), st.data())
@settings(deadline=None, max_examples=40)
def test_contractions_with_rational_singular_values(U: Matrix, V: Matrix, data: st.DataObject) -> None:
    values = [data.draw(st.fractions(0, 1, max_denominator=4)) for _ in range(3)]
    D = matrix([[values[i] if i == j else 0 for j in range(3)] for i in range(3)])
    A = product(U, product(D, V))
    found = contraction_factors(A)
    assert dense(found, 3) == A
    assert len(found) <= 6  # at most 2n, where G.P1.2 has 3n
    assert all(f.is_contraction() for f in found)
    assert is_contraction(A)
    doubled = scale_matrix(2, A)
    if max(values) > Fraction(1, 2):
        with pytest.raises(NotRealisableError, match="norm"):
            contraction_factors(doubled)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_extreme_contractions(n: int) -> None:
    zero = scale_matrix(0, identity(n))
    found = contraction_factors(zero)
    assert len(found) == n  # the axis projections
    assert dense(found, n) == zero
    assert contraction_factors(identity(n)) == ()
    assert dense(contraction_factors(scale_matrix(-1, identity(n))), n) == scale_matrix(-1, identity(n))


def test_irrational_contractions_are_refused() -> None:
    with pytest.raises(NotRealisableError, match="irrational"):
        contraction_factors(((Fraction(1, 2), Fraction(1, 2)), (0, Fraction(1, 2))))
    with pytest.raises(NotRealisableError, match="rational entries"):
        contraction_factors(rotation(1, 5))


def test_swaps() -> None:
    assert swap(3, 1) == swap(1, 3) == gh_factor(1, {1: 1, 3: -1})
    assert swap(0, 2).matrix(3) == ((0, 0, 1), (0, 1, 0), (1, 0, 0))
    assert swap(0, 1).eigenvalue == -1
    with pytest.raises(ValueError, match="leave it out"):
        gh_factor(0, {0: 1})
