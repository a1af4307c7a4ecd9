"""H.openβ: nothing moves and returns while every β‖v‖² < 2, and states shrink at the rate computed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.theory.claims.h_open_beta import (
    StrictSystem,
    mean_norms,
    random_system,
    returns_without_moving,
    sample_norms,
    scale_letters,
    strict_parity,
)

ZERO, ONE = Fraction(0), Fraction(1)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_strict_factors_leave_alone_what_returns(n: int) -> None:
    draw = np.random.default_rng(n)
    assert all(returns_without_moving(random_system(draw, n, int(draw.integers(1, 6)))) for _ in range(30))


def test_one_full_reflection_breaks_it() -> None:
    reflection = StrictSystem((gh_factor(2, {0: 1}),), (ZERO,))
    assert not returns_without_moving(reflection)
    shifted = StrictSystem((gh_factor(2, {0: 1}),), (ONE,))  # h ← 1 - h
    assert not returns_without_moving(shifted)
    third = StrictSystem((gh_factor(Fraction(1), {0: 1, 1: -1}), gh_factor(1, {1: 1, 2: -1})), (ZERO,) * 3)
    assert not returns_without_moving(third)  # a 3-cycle
    almost = StrictSystem((gh_factor(Fraction(255, 128), {0: 1}),), (ONE,))
    assert returns_without_moving(almost)


def test_a_translation_does_not_return() -> None:
    assert returns_without_moving(StrictSystem((gh_factor(1, {1: 1}),), (ONE, ZERO)))


def test_parity_with_infinitely_many_states() -> None:
    pairs = list(strict_parity(Fraction(199, 100), 200))
    assert [p for _, p in pairs] == [k % 2 for k in range(200)]
    assert len({h for h, _ in pairs}) == 200
    assert [p for _, p in strict_parity(Fraction(99, 100), 4)] == [0] * 4


@pytest.mark.parametrize(("size", "norms"), [(1.9921875, (0.528, 0.0777)), (1.98, (0.195, 1.44e-3))])
def test_the_state_norm_shrinks(size: float, norms: tuple[float, float]) -> None:
    letters = scale_letters(construct("S4").all_heads[0], size)
    found = mean_norms(letters, (128, 512))
    assert np.allclose(found, norms, rtol=0.02)
    assert np.isclose(np.sqrt((sample_norms(letters, 128, 400, 0) ** 2).mean()), found[0], rtol=0.02)


def test_full_reflections_keep_the_norm() -> None:
    letters = scale_letters(construct("S4").all_heads[0], 2.0)
    assert np.allclose(letters, np.rint(letters))
    assert np.allclose(mean_norms(letters, (100,)), 1)
