"""Identities of factors: all proved, each false where a sign or an order is turned, and equal to numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from mirrormata.theory.claims import _symbolic as symbolic_factors
from mirrormata.theory.claims._symbolic import (
    Identity,
    equiangular_discriminant,
    equiangular_projections,
    factor,
    find_unproved,
    mirror_key,
    nonnegative_pair_identities,
    nonreal_pair,
    norm_identity,
    plane_pair,
    reflection,
    reflection_identities,
    rotation,
    rwkv7_identities,
    rwkv7_pair,
    rwkv7_radius,
    two_factor_identities,
)

Listed = Callable[[], tuple[Identity, ...]]
ALL: list[Listed] = [
    reflection_identities,
    two_factor_identities,
    nonnegative_pair_identities,
    equiangular_projections,
    rwkv7_identities,
    lambda: (norm_identity(),),
]


@pytest.mark.parametrize("listed", ALL)
def test_all_are_proved(listed: Listed) -> None:
    assert find_unproved(listed()) == []


def test_false_identities_are_not() -> None:
    a, b = sp.symbols("a b", real=True)
    wrong = [
        Identity("order", reflection(a) * reflection(b) - rotation(b - a)),
        Identity("angle", reflection(a) - factor(2, mirror_key(2 * a))),
        Identity("sign", sp.cos(a) ** 2 - sp.sin(a) ** 2 - 1),
    ]
    assert [text.partition(":")[0] for text in find_unproved(wrong)] == ["order", "angle", "sign"]


@pytest.mark.parametrize(
    ("name", "listed"), [("factor", two_factor_identities), ("rotation", reflection_identities)]
)
def test_a_turned_sign_is_noticed(name: str, listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(symbolic_factors, name)
    monkeypatch.setattr(symbolic_factors, name, lambda first, *rest: original(-first, *rest))
    assert find_unproved(listed())


def test_region_against_numerical_eigenvalues() -> None:
    generator = np.random.default_rng(0)
    seen = set()
    for b_1, b_2, c in generator.uniform((0, 0, -1), (2, 2, 1), size=(400, 3)):
        k = np.array([c, np.sqrt(1 - c * c)])
        A = (np.eye(2) - b_2 * np.outer(k, k)) @ np.diag([1 - b_1, 1])
        discriminant = (A[0, 0] + A[1, 1]) ** 2 - 4 * np.linalg.det(A)
        if abs(discriminant) > 1e-9:
            assert nonreal_pair(b_1, b_2, c * c) == (discriminant < 0)
            seen.add(discriminant < 0)
    assert seen == {True, False}
    assert nonreal_pair(Fraction(2), Fraction(2), Fraction(1, 4))
    assert not nonreal_pair(Fraction(1), Fraction(2), Fraction(1, 4))


def test_pairs_are_the_products_of_their_factors() -> None:
    A = plane_pair(sp.Rational(1, 2), 2, sp.Rational(3, 5))
    second = sp.eye(2) - 2 * sp.Matrix([sp.Rational(3, 5), sp.Rational(4, 5)]) * sp.Matrix(
        [[sp.Rational(3, 5), sp.Rational(4, 5)]]
    )
    assert second * sp.diag(sp.Rational(1, 2), 1) == A


def test_radii_of_rwkv7() -> None:
    assert sp.simplify(rwkv7_radius(sp.pi / 6) - (27 + sp.sqrt(153)) / 32) == 0
    assert sp.simplify(rwkv7_radius(sp.pi / 3) - (11 + sp.sqrt(57)) / 32) == 0
    numbers = np.array(rwkv7_pair(sp.Float(0.4)).tolist(), dtype=float)
    assert abs(np.abs(np.linalg.eigvals(numbers)).max() - float(rwkv7_radius(sp.Float(0.4)))) < 1e-12


def test_three_projections_against_numerical_eigenvalues() -> None:
    c = 2 - np.sqrt(2)
    keys = np.linalg.cholesky(np.full((3, 3), c) + (1 - c) * np.eye(3))
    N = np.eye(3)
    for k in keys:
        N = (np.eye(3) - np.outer(k, k)) @ N
    assert abs(np.linalg.eigvals(N).imag.max() - (3 - 2 * np.sqrt(2))) < 1e-12
    found = float(equiangular_discriminant(sp.Float(c)))
    assert abs(found + 4 * (3 - 2 * np.sqrt(2)) ** 2) < 1e-12
