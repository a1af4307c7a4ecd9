"""H.rank and CK.S5: ranks and turned planes, counted."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from mirrormata.constructions.algebra._householder import product_of
from mirrormata.theory.claims.h_rank import (
    count_fewer_than_displaced,
    count_swaps,
    count_turned_planes,
    is_attained,
    random_factors,
    random_ranks,
)
from mirrormata.theory.spectra._eigenvalues import eigenvalue_report


@pytest.mark.parametrize(("n", "below"), [(3, 0), (4, 3), (5, 35), (6, 310)])
def test_permutations_need_fewer_than_displaced_points(n: int, below: int) -> None:
    assert count_fewer_than_displaced(n) == below
    assert all(is_attained(image, count_swaps(image)) for image in permutations(range(min(n, 5))))


def test_a_wrong_count_is_noticed() -> None:
    assert is_attained((1, 2, 0, 3), 2)
    assert not is_attained((1, 2, 0, 3), 3)
    assert not is_attained((1, 2, 0, 3), 1)
    assert not is_attained((1, 2, 0, 3), 2, gate=-1)


def test_rank_of_products() -> None:
    assert set(random_ranks(5, 2, 50, 0)) <= {0, 1, 2}
    assert max(random_ranks(5, 2, 50, 0, gate=Fraction(-1))) == 5
    assert max(random_ranks(5, 2, 50, 0, gate=Fraction(1, 2))) == 5


def test_three_reflections_turn_one_plane() -> None:
    draw = np.random.default_rng(1)
    for k, most in ((1, 0), (2, 1), (3, 1), (4, 2), (5, 2)):
        counts = [
            count_turned_planes(
                eigenvalue_report(product_of(random_factors(draw, 5, k, reflections=True), 5))
            )
            for _ in range(10)
        ]
        assert max(counts) == most
