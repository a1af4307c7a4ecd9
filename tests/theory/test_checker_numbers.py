"""The checkers' numbers against other programs: fields, signs, formats of numbers, rounding, distances."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz_poly

from mirrormata.constructions.algebra._conductors import minimal_polynomial
from mirrormata.constructions.algebra._cyclotomic import Algebraic, enclosure, real_cyclotomic_field
from mirrormata.constructions.certificates._parts import number_json
from mirrormata.tests.theory.certified import ROUNDED, document
from mirrormata.theory.checker import horizon, table
from mirrormata.theory.checker._cyclotomic import cyclotomic
from mirrormata.theory.checker._exact import (
    Element,
    Field,
    Invalid,
    Number,
    bounds,
    integer,
    number,
    show_value,
    sign,
)
from mirrormata.theory.checker._head import Head


@pytest.mark.parametrize("n", [*range(2, 211), 385, 420, 1155, 1260, 1999])
def test_cyclotomic_polynomials(n: int) -> None:
    assert cyclotomic(n) == [int(c) for c in fmpz_poly.cyclotomic(n).coeffs()]


@pytest.mark.parametrize("n", [*range(1, 151), 420, 997])
def test_minimal_polynomials(n: int) -> None:
    field = Field(n)
    assert field.modulus == minimal_polynomial(n)
    assert field.degree == len(field.modulus) - 1


@pytest.mark.parametrize("n", [5, 7, 8, 9, 10, 11, 12, 13, 15, 16, 24, 60, 97, 120, 210, 420])
def test_theta_is_the_largest_root(n: int) -> None:
    field = Field(n)
    for bits in (1, 2, 10, 64, 200, 400):
        with ctx.workprec(2 * bits + 200):
            scaled = 2 * arb.cos_pi_fmpq(fmpq(2, n)) * arb(2) ** bits
            floor = scaled.floor().unique_fmpz()
        assert floor is not None
        assert field.theta(bits) == int(floor)


def pair(field: Field, coefficients: list[Fraction]) -> tuple[Number, Any]:
    """The same number in the checker and in flint's field."""
    exact = real_cyclotomic_field(field.conductor).element(coefficients)
    return number(number_json(exact), field, "here"), exact


@pytest.mark.parametrize("n", [5, 7, 8, 12, 36, 60, 97])
def test_arithmetic_agrees_with_flint(n: int) -> None:
    field = Field(n)
    draw = random.Random(n)

    def element() -> tuple[Number, Any]:
        size = field.degree if draw.random() < 0.8 else 1
        return pair(
            field,
            [Fraction(draw.randrange(-9, 10), draw.randrange(1, 8)) for _ in range(size)],
        )

    for _ in range(40):
        (a, x), (b, y) = element(), element()
        for mine, theirs in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (a * b - b * a + a, x)):
            written = number_json(theirs)
            assert number(written, field, "here") == mine
            assert sign(mine) == (
                theirs.sign() if isinstance(theirs, Algebraic) else (theirs > 0) - (theirs < 0)
            )
            low, high = bounds(mine, 100)
            lower, upper = enclosure(theirs, 200)
            assert low <= lower <= upper <= high


def test_a_product_that_is_rational_becomes_rational() -> None:
    field = Field(5)
    theta = Element(field, 1, (0, 1))
    assert theta * theta + theta == 1
    assert type(theta * theta + theta) is int
    assert theta * Fraction(1, 2) + (theta * theta) * Fraction(1, 2) == Fraction(1, 2)


GOOD: list[Any] = [0, -7, 10**400, "1/2", "-3/4", [0, 1], ["1/2", "-2/3"], [0, -1]]
BAD: list[Any] = [
    True, None, 1.0, "1", "1/1", "2/4", "0/3", "1/-2", "1/0", " 1/2", "1/2 ", "+1/2", "01/2", "1/02", "½", "١/٢", "",
    [], [1], [0, 0], [1, 0], [0, 1, 0], [1, 1, 1], [[1], 1], [True, 1], [0, "2/4"], [0, 1.0], {}, {"a": 1},
    "1/" + "7" * 5_000, "7" * 5_000 + "/3",
]  # fmt: skip


def test_one_form_for_each_number() -> None:
    field = Field(5)
    for x in GOOD:
        number(x, field, "here")
    for x in BAD:
        with pytest.raises(Invalid, match=r"^here") as info:
            number(x, field, "here")
        assert len(str(info.value)) < 200


def test_values_in_messages_are_short() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for x in (10**5_000, -(10**5_000), "x" * 10_000, deep, {"a": deep}, "\ud800θ", 1.5, None):
        assert len(show_value(x)) <= 60
        assert show_value(x).isascii()
        with pytest.raises(Invalid):
            integer(x, 0, 5, "here")


NUMPY_TYPES = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8_e4m3": ml_dtypes.float8_e4m3fn, "fp8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


@pytest.mark.parametrize("dtype", horizon.FLOATS)
def test_format_constants(dtype: str) -> None:
    precision, least, largest = horizon.FLOATS[dtype]
    info: Any = ml_dtypes.finfo(NUMPY_TYPES[dtype])  # type: ignore[no-untyped-call]
    assert precision == info.nmant + 1
    assert Fraction(float(info.smallest_normal)) == Fraction(2) ** least
    assert Fraction(float(info.max)) == largest
    reach = table.FORMATS[dtype]
    kept = np.arange(0, 2 * min(reach, 2**12) + 2).astype(np.float64)
    if reach <= 2**12:
        exact = kept.astype(NUMPY_TYPES[dtype]).astype(np.float64) == kept
        assert exact[: reach + 1].all()
        assert not exact[: reach + 2].all()
    else:
        assert float(NUMPY_TYPES[dtype](reach)) == reach
        assert int(NUMPY_TYPES[dtype](reach + 1)) != reach + 1


@pytest.mark.parametrize("dtype", horizon.FLOATS)
def test_rounding_agrees_with_numpy(dtype: str) -> None:
    precision, least, largest = horizon.FLOATS[dtype]
    draw = random.Random(dtype)
    values = [
        0.0,
        1.0,
        -1.0,
        2.0**least,
        2.0 ** (least - precision + 1),
        -(2.0 ** (least - precision)),
        1e-320,
    ]
    for _ in range(400):
        exponent = draw.uniform(max(least - precision - 2, -1070), min(math.log2(largest) - 1, 1000))
        values.append(math.copysign(2.0**exponent, draw.random() - 0.5))
    for _ in range(200):  # ties and their neighbours, exact in float64
        tie = Fraction(2 * draw.randrange(2 ** min(precision, 50)) + 1, 2 ** min(precision + 1, 52))
        values += [float(tie), -float(tie), float(np.nextafter(float(tie), 1))]
    for x in values:
        narrow = x
        if dtype != "fp64":  # ml_dtypes goes through float32, whose rounding comes first
            if Fraction(float(np.float32(x))) != Fraction(x) and dtype not in ("fp32", "fp16"):
                continue
            narrow = float(np.asarray(x, dtype=np.float64).astype(NUMPY_TYPES[dtype]))
        assert horizon.round_to_format(Fraction(x), precision, least) == Fraction(narrow), x


def test_rounding_is_done_once() -> None:
    precision, least, _ = horizon.FLOATS["bf16"]
    x = 1 + Fraction(1, 2**8) + Fraction(1, 2**40)
    assert horizon.round_to_format(x, precision, least) == Fraction(1.0078125)
    assert horizon.round_to_format(1 + Fraction(1, 2**8), precision, least) == 1


def test_rounding_of_irrational_numbers() -> None:
    field = Field(60)
    theta = Element(field, 1, (0, 1, *(0,) * (field.degree - 2)))
    value = 2 * math.cos(2 * math.pi / 60)
    for dtype, kind in NUMPY_TYPES.items():
        precision, least, _ = horizon.FLOATS[dtype]
        for x, y in ((theta, value), (-theta, -value), (theta * Fraction(1, 3), value / 3)):
            nearest = float(kind(np.float64(y))) if dtype != "fp64" else float(np.float64(y))
            assert abs(horizon.round_to_format(x, precision, least) - Fraction(nearest)) <= Fraction(1, 2**50)


@pytest.mark.parametrize("up", [True, False])
def test_grid_rounds_outward(up: bool) -> None:
    field = Field(7)
    theta = Element(field, 1, (0, 1, 0))
    for x in (theta, -theta, theta * theta, Fraction(1, 3), Fraction(-1, 3), 5, 0):
        g = Fraction(horizon.grid(x, up), horizon.GRID)
        assert sign(g - x) * (1 if up else -1) >= 0
        assert sign(Fraction(1, horizon.GRID) - (g - x if up else x - g)) > 0


@pytest.mark.parametrize("name", ROUNDED)
def test_least_distance_is_that_of_all_pairs(name: str) -> None:
    raw = document(name)["layers"][0]["heads"]
    for i, data in enumerate(raw):
        head = Head(data, document(name)["automaton"]["letters"], f"head {i}")
        codes = []
        for code in head.codes:
            dense = np.zeros((head.dim, head.value_dim))
            for r, c, x in code:
                dense[r, c] = float(bounds(x, 80)[0])
            codes.append(dense)
        least = min(float(np.sum((a - b) ** 2)) for k, a in enumerate(codes) for b in codes[:k])
        found = horizon.least_distance(head, head.images())
        assert found is not None
        assert found / horizon.GRID == pytest.approx(least, rel=1e-12)
