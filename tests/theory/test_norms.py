"""‖A‖₂ ≤ 1: against the elimination of the constructions and numpy, with certificates that replay."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra._cyclotomic import Number, real_cyclotomic_field
from mirrormata.constructions.algebra._matrices import is_contraction, matrix
from mirrormata.foundation._errors import LimitError
from mirrormata.theory.spectra._norms import norm_at_most_one

cosine = real_cyclotomic_field(5).cos(1)
entries: st.SearchStrategy[Number] = st.sampled_from(
    [0, 0, 0, 1, -1, Fraction(3, 5), Fraction(4, 5), Fraction(-4, 5), Fraction(1, 2), cosine]
)
matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda s: st.lists(st.lists(entries, min_size=s[1], max_size=s[1]), min_size=s[0], max_size=s[0])
)


@settings(max_examples=300)
@given(matrices)
def test_as_the_constructions_decide_and_replayed(A: list[list[Number]]) -> None:
    verdict = norm_at_most_one(A)
    assert verdict.holds == is_contraction(matrix(A))
    assert verdict.replay(A)
    if verdict.witness is not None:
        x = verdict.witness
        image = [sum((a * b for a, b in zip(row, x, strict=True)), start=Fraction(0)) for row in A]
        assert sum((y * y for y in image), start=Fraction(0)) > sum((c * c for c in x), start=Fraction(0))


@pytest.mark.parametrize("n", [1, 4, 12, 30])
def test_random_floats_against_singular_values(n: int) -> None:
    A = np.random.default_rng(n).standard_normal((n, n))
    A /= np.linalg.norm(A, 2)
    for scale, holds in ((1 - 1e-9, True), (1 + 1e-9, False)):
        verdict = norm_at_most_one(A * scale)
        assert verdict.holds is holds
        assert n > 12 or verdict.replay(A * scale)


def test_a_hair_too_long() -> None:
    """theory: PT.R1's key, ‖k‖² = 1 + 1.5e-4: I - kkᵀ is a contraction still, I - 2kkᵀ is none."""
    k = (Fraction(1987, 8192), Fraction(1987, 2048))
    for beta, holds in ((1, True), (2, False)):
        assert norm_at_most_one(_factor(beta, k)).holds is holds


def _factor(beta: int, k: tuple[Fraction, Fraction]) -> list[list[Fraction]]:
    return [[Fraction(i == j) - beta * k[i] * k[j] for j in range(2)] for i in range(2)]


def test_isometries_are_told() -> None:
    rotation = [[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]]
    assert norm_at_most_one(rotation).is_isometry
    assert not norm_at_most_one([[Fraction(1, 2)]]).is_isometry
    assert not norm_at_most_one([[2]]).is_isometry


def test_changed_certificates_do_not_replay() -> None:
    A = [[Fraction(1, 2), Fraction(1, 4)], [0, Fraction(1, 3)]]
    good = norm_at_most_one(A)
    assert good.replay(A)
    assert not good.replay([[Fraction(1, 2), Fraction(1, 4)], [0, Fraction(1, 2)]])
    assert good.pivots is not None
    assert not replace(good, pivots=(good.pivots[0], -good.pivots[1])).replay(A)
    assert not replace(good, pivots=good.pivots[:1]).replay(A)
    assert not replace(good, lower=(((0, 1),), ((1, 1),))).replay(A)
    bad = norm_at_most_one([[2, 0], [0, 1]])
    assert bad.replay([[2, 0], [0, 1]])
    assert not bad.replay([[1, 0], [0, 1]])
    assert not replace(bad, witness=(0, 1)).replay([[2, 0], [0, 1]])
    assert not replace(bad, holds=True).replay([[2, 0], [0, 1]])


def test_a_zero_pivot_beside_something() -> None:
    """I - AᵀA = [[0, -1], [-1, -1]]: no negative pivot is met, and yet it is indefinite."""
    A: Any = [[1, 1], [0, 1]]
    verdict = norm_at_most_one(A)
    assert not verdict.holds
    assert verdict.replay(A)


def test_permutations_of_any_size_and_the_limit() -> None:
    A = np.eye(500, dtype=np.int64)[np.random.default_rng(0).permutation(500)]
    assert norm_at_most_one(A, max_dim=2).is_isometry
    with pytest.raises(LimitError, match=r"3 dependent columns.*`max_dim`"):
        norm_at_most_one(np.ones((3, 3)), max_dim=2)
