"""CK.1: orthogonal matrices of the form diagonal plus rank one are a reflection with signs, and no others."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest

from mirrormata.constructions.algebra._householder import gh_factor, product_of
from mirrormata.constructions.algebra._matrices import Matrix, identity, matrix, scale_matrix
from mirrormata.constructions.algebra._matrices import product as times
from mirrormata.constructions.theorems._rotations import reflection, rotation
from mirrormata.theory.claims._symbolic import find_unproved
from mirrormata.theory.claims.ck_1 import (
    is_diagonal_plus_rank_one,
    multiply_out,
    proof_identities,
    reflection_and_signs,
)


def signed(image: tuple[int, ...], signs: tuple[int, ...]) -> Matrix:
    n = len(image)
    return matrix([[signs[j] * int(image[j] == i) for j in range(n)] for i in range(n)])


def test_algebra_of_the_proof() -> None:
    assert find_unproved(proof_identities()) == []


@pytest.mark.parametrize("n", [1, 2, 3])
def test_signed_permutations(n: int) -> None:
    """A signed permutation is of the form where at most one 2-cycle moves, and all else is on the diagonal."""
    for image, signs in product(permutations(range(n)), product((1, -1), repeat=n)):
        A = signed(image, signs)
        moved = sum(i != j for i, j in enumerate(image))
        assert is_diagonal_plus_rank_one(A) == (moved <= 2)
        form = reflection_and_signs(A)
        assert (form is not None) == (moved <= 2)
        if form is not None:
            assert form[0].eigenvalue == -1
            assert multiply_out(*form) == A


def test_plane_and_space_over_number_fields() -> None:
    for k, m in ((1, 5), (2, 7), (1, 3)):
        for A in (rotation(k, m), reflection(k, m)):
            form = reflection_and_signs(A)
            assert form is not None
            assert multiply_out(*form) == A
    mirror = product_of([gh_factor(Fraction(2, 3), {0: 1, 1: 1, 2: 1})], 3)
    cyclic = signed((1, 2, 0), (1, 1, 1))
    assert reflection_and_signs(times(mirror, signed((0, 1, 2), (1, -1, 1)))) is not None
    assert reflection_and_signs(times(mirror, cyclic)) is None
    assert not is_diagonal_plus_rank_one(times(mirror, cyclic))


def test_form_without_orthogonality() -> None:
    assert is_diagonal_plus_rank_one(matrix([[5, 2, 6], [3, 7, 9], [1, 1, 0]]))
    assert not is_diagonal_plus_rank_one(matrix([[5, 2, 6], [3, 7, 9], [1, Fraction(2, 3), 0]]))
    assert is_diagonal_plus_rank_one(matrix([[1, 2], [3, 4]]))
    assert is_diagonal_plus_rank_one(matrix([[0, 1, 0], [1, 0, 0], [0, 0, 4]]))
    assert not is_diagonal_plus_rank_one(matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    assert not is_diagonal_plus_rank_one(matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    with pytest.raises(ValueError, match="not orthogonal"):
        reflection_and_signs(scale_matrix(2, identity(2)))
