"""Sums of cosines in the stand-alone checkers: their rules and bounds, and certificates of large rotations and their corruptions."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import construct
from mirrormata.constructions.certificates._table import lrnn_from_certificate
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.checker import horizon
from mirrormata.theory.checker._budget import Budget
from mirrormata.theory.checker._cosines import CosineField, CosineSum
from mirrormata.theory.checker._exact import Invalid, Number, bounds, number, sign
from mirrormata.theory.checker._plane import Plane

CONDUCTORS = [212, 404, 360, 420, 512]


def field_of(conductor: int) -> CosineField:
    field = Budget({}).field(conductor)
    assert isinstance(field, CosineField)
    return field


@given(
    st.sampled_from(CONDUCTORS),
    st.lists(st.tuples(st.integers(-999, 999), st.fractions(-3, 3, max_denominator=5)), max_size=5),
    st.sampled_from([32, 64, 200]),
)
def test_sums_products_and_bounds(conductor: int, terms: list[tuple[int, Fraction]], bits: int) -> None:
    field = field_of(conductor)
    with mpmath.workdps(90):
        total: Number = 0
        product: Number = 1
        wanted, multiplied = mpmath.mpf(0), mpmath.mpf(1)
        for k, c in terms:
            cosine, near = field.cosine_of(k), mpmath.cos(2 * mpmath.pi * k / conductor)
            total, product = total + cosine * c, product * (cosine + c)
            wanted += near * c.numerator / c.denominator
            multiplied *= near + mpmath.mpf(c.numerator) / c.denominator
        for x, real in ((total, wanted), (product, multiplied)):
            low, high = bounds(x, bits)
            slack = mpmath.mpf(10) ** -80
            assert mpmath.mpf(low.numerator) / low.denominator <= real + slack
            assert mpmath.mpf(high.numerator) / high.denominator >= real - slack
            if isinstance(x, CosineSum):
                size = 2 + sum(abs(Fraction(c, x.denominator)) for _, c in x.terms)
                assert high - low <= 4 * size / 2**bits
                assert sign(x) == (1 if real > 0 else -1)


@pytest.mark.parametrize("bits", [16, 100, 1000])
def test_pi_and_cosines(bits: int) -> None:
    field = field_of(404)
    with mpmath.workdps(400):
        assert abs(mpmath.mpf(field.pi(bits)) - mpmath.pi * mpmath.mpf(2) ** bits) < 2**20
        for k in range(102):
            exact = mpmath.cos(2 * mpmath.pi * k / 404) * mpmath.mpf(2) ** bits
            assert abs(field.cosine(k, bits) - exact) < 1


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ([1, 2], "form"), ([], "form"), ({}, "form"), (None, "form"), ([0], "integer from 1"), ([180], "integer from 1"), ([-3], "integer"),
        ([True], "integer"), (["1"], "integer"), ([1.0], "integer"), ([60], "rational"), ([90], "rational"), ([120], "rational"),
        ("2/4", "lowest terms"),
    ],
)  # fmt: skip
def test_numbers_have_one_form(written: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        number(written, field_of(360), "here")


def test_a_hidden_zero_is_refused_and_ends() -> None:
    """Σ cos(2πj/101) + 1/2 over j = 1, ..., 50 is 0, which the rules do not see; its sign is never decided."""
    field = field_of(404)
    total: Number = Fraction(1, 2)
    for j in range(1, 51):
        total = total + field.cosine_of(4 * j)
    assert total != 0
    with pytest.raises(Invalid, match=r"too close|units of work"):
        sign(total)


def test_planes() -> None:
    field = field_of(212)

    def matrix(*angles: int) -> list[tuple[int, int, Number]]:
        return [(i, j, field.cosine_of(k - 53 * i)) for j, k in enumerate(angles) for i in range(2)]

    plane = Plane(field, [matrix(4 * k) for k in range(53)], 1)
    assert plane.images(matrix(8, 8 + 53)) == [(k + 2) % 53 for k in range(53)]
    assert plane.images(matrix(8, 8 - 53)) == [(2 - k) % 53 for k in range(53)]
    assert plane.images(matrix(1, 1 + 53)) == [None] * 53
    assert plane.images(matrix(8, 9)) is None
    assert plane.images(matrix(8)) is None
    assert Plane(field, [[(0, 0, field.cosine_of(4))]], 1).images(matrix(0, 53)) is None


@cache
def certificate(spec: str) -> dict[str, Any]:
    return full_certificate(construct(spec))


@pytest.mark.parametrize("spec", ["mod:83", "dihedral:59", "mod:997", "Z89"])
def test_certificates_of_rotations(spec: str) -> None:
    document = certificate(spec)
    head = document["layers"][0]["heads"][0]
    assert document["summary"]["householders"] == 2
    assert head["field"] > 200
    found = check(document)
    assert found.verdict == "valid"
    assert found.kind == "horizon"
    if spec != "mod:997":
        again = lrnn_from_certificate(document)
        assert full_certificate(again)["layers"] == document["layers"]


def test_two_layers_of_single_reflections() -> None:
    found = construct("mod:83", theorem="G.T6")
    assert (found.depth, found.householders) == (2, 1)
    assert check(found).verdict == "valid"


@pytest.mark.parametrize("spec", ["mod:83", "dihedral:59"])
def test_every_change_of_a_leaf_is_noticed(spec: str) -> None:
    document = certificate(spec)
    draw = random.Random(spec)
    paths = leaves(document)
    few = [p for p in paths if "codes" not in p and "transitions" not in p and "decode" not in p]
    for path in [*draw.sample(few, min(40, len(few))), *draw.sample(paths, 160)]:
        changed = replaced(document, path, corrupted(value_at(document, path), draw))
        with pytest.raises(Invalid):
            horizon.check(changed)


def test_changes_of_structure_are_noticed() -> None:
    document = certificate("mod:83")
    head = document["layers"][0]["heads"][0]
    small = {**head, "codes": head["codes"][:3]}
    cases = [c for c in structural({"layers": [{"heads": [small]}]}) if c[1]]
    draw = random.Random(5)
    for _, _, changed in draw.sample(cases, 30):
        part = changed.get("layers")
        if part == [{"heads": [small]}]:
            continue
        with pytest.raises(Invalid):
            horizon.check({**document, "layers": part})


def test_vectors_that_are_not_canonical() -> None:
    document = certificate("mod:83")
    heads = ("layers", 0, "heads", 0)
    factors = document["layers"][0]["heads"][0]["transitions"][1]["factors"]
    place = next(i for i, (_, v) in enumerate(factors) if isinstance(v[0][1], list))
    beta, v = factors[place]
    path = (*heads, "transitions", 1, "factors", place)
    half = 332 // 2
    turned = [[i, [half - x[0]]] for i, x in v]
    for wrong, reason in (
        ([beta, turned], "norm 1 and a positive start"),
        ([beta, [[0, v[0][1]], [1, v[0][1]]]], "norm 1"),
        (["1/2", [[0, v[0][1]], [1, v[1][1]]]], "does not go to a code"),
    ):
        with pytest.raises(Invalid, match=reason):
            horizon.check(replaced(document, path, wrong))
    # the direction (1, 1) is written with integers, not as (cos 45°, sin 45°)
    with pytest.raises(Invalid, match="with integers"):
        horizon.check(_with_diagonal(document, path))


def _with_diagonal(document: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """N = 664 has cos 45°, which is [83] there; all other numbers keep their values with twice the k."""

    def doubled(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: doubled(v) for k, v in x.items()}
        if isinstance(x, list):
            return [2 * x[0]] if len(x) == 1 and type(x[0]) is int else [doubled(v) for v in x]
        return x

    head = {**doubled(document["layers"][0]["heads"][0]), "field": 664}
    wide = {**document, "layers": [{"heads": [head]}]}
    assert horizon.check(wide)
    changed: dict[str, Any] = replaced(wide, path, [2, [[0, [83]], [1, [83]]]])
    return changed
