"""Numbers of fields of high degree as sums of cosines: the laws of a field, their values, and equality beyond equal terms."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from flint import fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import construct
from mirrormata.constructions.algebra._closed_forms import number_text
from mirrormata.constructions.algebra._conductors import conductor_degree
from mirrormata.constructions.algebra._cyclotomic import (
    Algebraic,
    CosineField,
    CosineSum,
    RealCyclotomicField,
    enclosure,
    real_cyclotomic_field,
    simplest,
)
from mirrormata.constructions.algebra._householder import gh_factor, product_of
from mirrormata.constructions.heads._representations import PlanePlan
from mirrormata.constructions.theorems._rotations import reflection, rotation

CONDUCTORS = [212, 404, 360, 420, 512, 1080]


def field_of(conductor: int) -> CosineField:
    field = real_cyclotomic_field(conductor)
    assert isinstance(field, CosineField)
    return field


def value(x: Algebraic) -> mpmath.mpf:
    assert isinstance(x, CosineSum)
    terms = (
        mpmath.mpf(c.numerator) / c.denominator * mpmath.cos(2 * mpmath.pi * j / x.field.conductor)
        for j, c in x.terms.items()
    )
    return mpmath.fsum(terms)


@st.composite
def sums(draw: st.DrawFn, count: int) -> list[CosineSum]:
    field = field_of(draw(st.sampled_from(CONDUCTORS)))
    number = st.fractions(-5, 5, max_denominator=6)
    term = st.tuples(st.integers(-3 * field.conductor, 3 * field.conductor), number)
    found = []
    for _ in range(count):
        total = CosineSum(field, {})
        for k, c in draw(st.lists(term, max_size=4)):
            total = total + field.cos(k) * c
        found.append(total)
    return found


def test_which_fields_have_sums_of_cosines() -> None:
    for conductor in range(1, 300):
        large = conductor % 4 == 0 and conductor_degree(conductor) > 40
        assert isinstance(real_cyclotomic_field(conductor), CosineField) == large


@given(sums(3))
def test_field_laws(three: list[CosineSum]) -> None:
    a, b, c = three
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert not (a - a)
    assert a * 1 == a
    assert 0 + a == a
    assert 2 - a == -(a - 2)


@given(sums(2))
def test_values_are_those_of_real_numbers(pair: list[CosineSum]) -> None:
    a, b = pair
    with mpmath.workdps(60):
        for x, wanted in (
            (a + b, value(a) + value(b)),
            (a * b, value(a) * value(b)),
            (a - b, value(a) - value(b)),
        ):
            assert mpmath.almosteq(value(x), wanted, abs_eps=mpmath.mpf(10) ** -50)
        low, high = enclosure(a, 80)
        near = mpmath.mpf(10) ** -50
        assert mpmath.mpf(low.numerator) / low.denominator <= value(a) + near
        assert value(a) - near <= mpmath.mpf(high.numerator) / high.denominator
        assert (a < b) == (value(a) < value(b) and a != b)


@given(sums(2))
def test_polynomials_multiply_alike(pair: list[CosineSum]) -> None:
    """The dense polynomials of the same field, made without sums of cosines, as an oracle."""
    a, b = pair
    dense = RealCyclotomicField(a.field.conductor)
    x, y = (dense.element(z.coefficients) for z in pair)
    assert (x * y).poly == (a * b).poly
    assert (x + y).poly == (a + b).poly
    assert a.field.element(a.coefficients) == a


@pytest.mark.parametrize("conductor", CONDUCTORS)
def test_every_cosine(conductor: int) -> None:
    field = field_of(conductor)
    for k in range(-conductor, conductor + 1):
        x = field.cos(k)
        assert math.isclose(float(value(x)), math.cos(2 * math.pi * k / conductor), abs_tol=1e-12)
        assert math.isclose(float(value(field.sin(k))), math.sin(2 * math.pi * k / conductor), abs_tol=1e-12)
        assert x.angle == min(k % conductor, -k % conductor)
        assert all(4 * j < conductor and (conductor % 3 or 6 * j < conductor) for j in x.terms)


def test_equal_numbers_with_different_terms() -> None:
    """Σ cos(2πj/101) over j = 1, ..., 50 is -1/2, which the terms do not show."""
    field = field_of(404)
    total = CosineSum(field, {})
    for j in range(1, 51):
        total = total + field.cos(4 * j)
    assert len(total.terms) == 50
    assert total == Fraction(-1, 2)
    assert (total + Fraction(1, 2)).is_zero()
    assert not total + Fraction(1, 2)
    left, right = total - field.cos(4), field.cos(8) * 0 - field.cos(4) - Fraction(1, 2)
    assert left == right
    assert hash(left) == hash(right)
    assert left.terms != right.terms
    assert total != Fraction(-1, 2) + Fraction(1, 10**30)


@given(sums(1))
def test_inverses(one: list[CosineSum]) -> None:
    (a,) = one
    if a.field.conductor == 212 and a:
        assert a * a.inverse() == 1


def test_errors_and_texts() -> None:
    field = field_of(404)
    with pytest.raises(ValueError, match="different fields"):
        field.cos(1) + field_of(212).cos(1)
    with pytest.raises(ValueError, match="different fields"):
        real_cyclotomic_field(5).cos(1) + field.cos(1)
    assert field.cos(1) != real_cyclotomic_field(5).cos(1)
    with pytest.raises(ZeroDivisionError):
        CosineSum(field, {}).inverse()
    with pytest.raises(ValueError, match="automorphism"):
        field.cos(1).conjugate(2)
    assert field.cos(3).conjugate(7) == field.cos(21)
    assert number_text(field.cos(4)) == "cos(2π/101)"
    assert number_text(field.sin(4), sine=True) == "sin(2π/101)"
    assert str(field.cos(4) + Fraction(1, 2)) == "1/2 + cos(2π·4/404)"
    assert simplest(field_of(360).cos(60)) == Fraction(1, 2)
    assert field.modulus.degree() == field.degree == 100
    assert isinstance(field.cos(1).poly, fmpq_poly)


def test_vectors_of_norm_1() -> None:
    field = field_of(404)
    v = {0: -field.cos(3), 1: field.sin(3)}
    factor = gh_factor(2, v)
    assert factor.beta == 2
    assert [x for _, x in factor.vector] == [field.cos(3), -field.sin(3)]
    # a multiple of a rational vector is written with integers
    assert gh_factor(2, {0: field.cos(3), 2: -field.cos(3) * 2}).vector == ((0, 1), (2, -2))


@pytest.mark.parametrize("m", [64, 97, 101, 90])
def test_planes_are_rotations_and_reflections(m: int) -> None:
    """The factors and codes found by angles against products of exact matrices."""
    letters = tuple((a, turn) for a in (0, 1, 2, m // 2, m - 1) for turn in (1, -1))
    plan = PlanePlan(m, letters, whole=True)
    for (a, turn), factors in zip(letters, plan.factors(), strict=True):
        wanted = rotation(a, m) if turn > 0 else reflection(a, m)
        got = product_of(factors, 2)
        assert all(
            abs(float(enclosure(x, 300)[0] - enclosure(y, 300)[0])) < 1e-12
            for row, other in zip(got, wanted, strict=True)
            for x, y in zip(row, other, strict=True)
        )
        assert len(factors) == (1 if turn < 0 else 2 if a else 0)
    orbit = plan.orbit()
    assert len(orbit.codes) == 2 * m
    assert len(set(orbit.codes)) == 2 * m


@pytest.mark.parametrize("spec", ["mod:97", "dihedral:53", "Z101"])
def test_constructions_close(spec: str) -> None:
    """Each code goes to the code that the tables say, by exact multiplication."""
    lrnn = construct(spec)
    (head,) = lrnn.only_layer.heads
    assert (lrnn.householders, head.dim) == (2, 2)
    letters = range(0, len(head.transitions), max(1, len(head.transitions) // 7))
    for x in letters:
        A = product_of(head.transitions[x].factors, 2)
        for c in range(0, len(head.codes), max(1, len(head.codes) // 9)):
            entries = {(i, j): v for i, j, v in head.codes[c]}
            image = {
                (i, j): sum((A[i][k] * entries.get((k, j), 0) for k in range(2)), start=0)
                for i in range(2)
                for j in range(head.value_dim)
            }
            after = {(i, j): v for i, j, v in head.codes[int(head.code_transitions[x, c])]}
            assert all(v == after.get(place, 0) for place, v in image.items())
