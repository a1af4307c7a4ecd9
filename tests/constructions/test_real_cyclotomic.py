"""The real cyclotomic fields: field laws, and values, signs and polynomials against mpmath and sympy."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra._conductors import conductor_degree, minimal_polynomial
from mirrormata.constructions.algebra._cyclotomic import (
    Algebraic,
    enclosure,
    is_integer,
    real_cyclotomic_field,
    sign,
    simplest,
)
from mirrormata.constructions.algebra._number_text import polynomial_text

CONDUCTORS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 20, 28, 60]
RATIONALS = st.fractions(min_value=-5, max_value=5, max_denominator=9)
SCALARS = st.one_of(st.integers(-9, 9), RATIONALS)


def value(x: Any, digits: int = 60) -> mpmath.mpf:
    """The real number by definition, Σ c_i (2cos 2π/N)^i, in high precision."""
    with mpmath.workdps(digits + 20):
        if not isinstance(x, Algebraic):
            return mpmath.mpf(x.numerator) / x.denominator
        theta = 2 * mpmath.cos(2 * mpmath.pi / x.field.conductor)
        terms = [mpmath.mpf(c.numerator) / c.denominator * theta**i for i, c in enumerate(x.coefficients)]
        return mpmath.fsum(terms)


def close(x: Any, y: Any) -> bool:
    return bool(abs(x - y) < mpmath.mpf(10) ** -50)


@st.composite
def elements(draw: st.DrawFn, count: int, conductors: list[int] = CONDUCTORS) -> list[Algebraic]:
    field = real_cyclotomic_field(draw(st.sampled_from(conductors)))
    return [
        field.element(draw(st.lists(RATIONALS, min_size=1, max_size=field.degree + 2))) for _ in range(count)
    ]


@pytest.mark.parametrize("conductor", range(1, 41))
def test_minimal_polynomials_are_those_of_sympy(conductor: int) -> None:
    x = sympy.Symbol("x")
    expected = sympy.Poly(sympy.minimal_polynomial(2 * sympy.cos(2 * sympy.pi / conductor), x), x)
    found = minimal_polynomial(conductor)
    assert found == [int(c) for c in reversed(expected.all_coeffs())]
    assert real_cyclotomic_field(conductor).degree == len(found) - 1


def test_degrees_without_building_the_field() -> None:
    for conductor in range(1, 400):
        phi = sum(math.gcd(i, conductor) == 1 for i in range(1, conductor + 1))
        assert conductor_degree(conductor) == max(phi // 2, 1)
    for conductor in (1, 2, 3, 5, 12, 37, 64, 105):
        assert conductor_degree(conductor) == len(minimal_polynomial(conductor)) - 1


@given(elements(3))
@settings(deadline=None)
def test_field_laws(three: list[Algebraic]) -> None:
    a, b, c = three
    zero, one = a - a, a.field.element([1])
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a + zero == a == a * one
    assert zero.is_zero()
    assert not zero
    assert a - b == a + (-b) == -(b - a)
    if a:
        assert a * a.inverse() == one
        assert (b / a) * a == b
        assert 1 / a == a.inverse()
        assert a / a == 1
    else:
        with pytest.raises(ZeroDivisionError):
            a.inverse()
        with pytest.raises(ZeroDivisionError):
            b / a


@given(elements(2), SCALARS)
@settings(deadline=None)
def test_values_are_those_of_real_numbers(pair: list[Algebraic], scalar: int | Fraction) -> None:
    a, b = pair
    x, y, s = value(a), value(b), value(scalar)
    with mpmath.workdps(80):
        assert close(value(a + b), x + y)
        assert close(value(a - b), x - y)
        assert close(value(a * b), x * y)
        assert close(value(scalar + a), s + x)
        assert close(value(a + scalar), s + x)
        assert close(value(scalar - a), s - x)
        assert close(value(a - scalar), x - s)
        assert close(value(scalar * a), s * x)
        assert close(value(a * scalar), s * x)
        if scalar:
            assert close(value(a / scalar), x / s)
        if a:
            assert close(value(scalar / a) * x, s)


@given(elements(2), SCALARS)
@settings(deadline=None)
def test_comparisons_are_those_of_real_numbers(pair: list[Algebraic], scalar: int | Fraction) -> None:
    a, b = pair
    for x, y in ((a, b), (a, scalar), (scalar, a)):
        gap = value(x) - value(y)
        order = 0 if abs(gap) < mpmath.mpf(10) ** -45 else 1 if gap > 0 else -1
        assert (x < y) == (order < 0)
        assert (x > y) == (order > 0)
        assert (x <= y) == (order <= 0)
        assert (x >= y) == (order >= 0)
        assert (x == y) == (order == 0)
        assert sign(x - y) == order


@given(elements(1), st.sampled_from([8, 40, 200]))
@settings(deadline=None)
def test_enclosures_hold_the_value_and_are_narrow(one: list[Algebraic], bits: int) -> None:
    (a,) = one
    lower, upper = enclosure(a, bits)
    exact = value(a, 120)
    with mpmath.workdps(140):
        assert value(lower, 120) <= exact + mpmath.mpf(10) ** -110
        assert exact <= value(upper, 120) + mpmath.mpf(10) ** -110
    size = max(1, *(abs(c) for c in a.coefficients), 1) * 3 ** (a.field.degree + 1)
    assert 0 <= upper - lower <= size * Fraction(1, 2**bits)
    if len(a.coefficients) <= 1:
        assert lower == upper == a


def test_signs_of_numbers_that_are_nearly_zero() -> None:
    for conductor in (5, 7, 12, 28):
        theta = real_cyclotomic_field(conductor).twice_cos(1)
        lower, upper = enclosure(theta, 600)
        assert lower < upper
        assert sign(theta - lower) == 1
        assert sign(theta - upper) == -1
        assert sign((theta - lower) * 0) == 0


@pytest.mark.parametrize("conductor", [4, 8, 12, 20, 28, 36, 60])
def test_trigonometry(conductor: int) -> None:
    field = real_cyclotomic_field(conductor)
    step = max(1, conductor // 12)
    angles = [*range(0, conductor, step), -1, conductor + 1]
    for j in angles:
        c, s = field.cos(j), field.sin(j)
        with mpmath.workdps(80):
            angle = 2 * mpmath.pi * j / conductor
            assert close(value(c), mpmath.cos(angle))
            assert close(value(s), mpmath.sin(angle))
        assert c * c + s * s == 1
        for k in angles:
            assert field.cos(j + k) == c * field.cos(k) - s * field.sin(k)
            assert field.sin(j + k) == s * field.cos(k) + c * field.sin(k)


def test_sines_are_refused_where_four_does_not_divide() -> None:
    with pytest.raises(ValueError, match="4 divides N"):
        real_cyclotomic_field(5).sin(1)
    with pytest.raises(ValueError, match="positive"):
        real_cyclotomic_field(0)


@given(elements(1), SCALARS)
@settings(deadline=None)
def test_hash_and_equality_with_plain_numbers(one: list[Algebraic], scalar: int | Fraction) -> None:
    (a,) = one
    constant = a.field.element([scalar])
    assert constant == scalar
    assert scalar == constant
    assert hash(constant) == hash(scalar)
    names: dict[object, str] = {scalar: "found"}
    assert names[constant] == "found"
    again = a.field.element(a.coefficients)
    assert again == a
    assert hash(again) == hash(a)
    assert simplest(constant) == scalar
    assert type(simplest(constant)) is (int if Fraction(scalar).denominator == 1 else Fraction)
    assert is_integer(constant) == (Fraction(scalar).denominator == 1)
    assert (a == scalar) == (value(a) == value(scalar))


def test_two_fields_do_not_mix() -> None:
    a, b = real_cyclotomic_field(5).twice_cos(1), real_cyclotomic_field(7).twice_cos(1)
    for operation in (
        lambda: a + b, lambda: a - b, lambda: a * b, lambda: a / b, lambda: a < b, lambda: b >= a,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="different fields"):
            operation()
    assert a != b
    # equality stays transitive: a rational number is the same in every field
    assert real_cyclotomic_field(5).element([3]) == 3 == real_cyclotomic_field(7).element([3])
    assert real_cyclotomic_field(5).element([3]) == real_cyclotomic_field(7).element([3])
    assert real_cyclotomic_field(5) is real_cyclotomic_field(5)


@pytest.mark.parametrize("other", ["1", 1.5, None])
def test_other_types_are_refused_by_python_itself(other: Any) -> None:
    a = real_cyclotomic_field(5).twice_cos(1)
    for operation in (
        operator.add, operator.sub, operator.mul, operator.truediv,
    ):  # fmt: skip
        with pytest.raises(TypeError):
            operation(a, other)
        with pytest.raises(TypeError):
            operation(other, a)
    assert a != other


def test_text() -> None:
    field = real_cyclotomic_field(9)
    assert str(field.element([Fraction(1, 2), -1, 3])) == "1/2 - θ + 3θ^2"
    assert str(field.element([0, Fraction(-2, 3)])) == "-(2/3)θ"
    assert str(field.element([0])) == "0"
    assert polynomial_text((Fraction(-1), Fraction(1)), "x") == "-1 + x"
    assert eval(
        repr(field.twice_cos(1)), {"real_cyclotomic_field": real_cyclotomic_field}
    ) == field.twice_cos(1)


def test_conjugates_are_images_under_automorphisms() -> None:
    field = real_cyclotomic_field(20)
    x, y = field.element([1, 2, 0, 1]), field.element([0, Fraction(1, 3), 5])
    assert x.conjugate(1) == x
    assert field.twice_cos(3).conjugate(7) == field.twice_cos(21)
    assert (x * y + x).conjugate(3) == x.conjugate(3) * y.conjugate(3) + x.conjugate(3)
    assert x.conjugate(3) != x
    with pytest.raises(ValueError, match="5 is not prime to 20"):
        x.conjugate(5)
