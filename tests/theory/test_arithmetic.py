"""Arithmetic models: names, rounded once from the exact value, per step and per operation."""

from __future__ import annotations

import random
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.foundation._errors import InputError
from mirrormata.theory.arithmetic._arithmetic import (
    ORDERS,
    Cast,
    Exact,
    Kernel,
    PerOp,
    PerStep,
    fractions,
    parse_arithmetic,
    stochastic,
)
from mirrormata.theory.arithmetic._rounding import MODES
from mirrormata.theory.arithmetic._value_sets import all_values, finite_set, round_once, value_set

SETS = (
    "fp64",
    "fp32",
    "bf16",
    "fp16",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp6_e2m3",
    "fp4_e2m1",
    "int:-4..4",
    "fixed:8:4",
)


def random_values(target: Any, shape: tuple[int, ...], seed: int) -> Any:
    draw = np.random.default_rng(seed)
    return PerStep(target).round(draw.normal(size=shape) * 2.0 ** draw.integers(-3, 4, size=shape))


@pytest.mark.parametrize(
    "text",
    [
        "exact",
        "cast:bf16",
        "cast:int:-4..4",
        "cast:-1,0,1/2",
        "per_step:bf16",
        "per_step:bf16:rz",
        "per_step:fp16:ru:sat",
        "per_step:int:-4..4:tie_low",
        "per_step:fixed:8:4",
        "per_step:0,1",
        "per_op:fp32",
        "per_op:fp32:tree:rd",
        "per_op:bf16:fma",
        "kernel:recurrent:bf16",
        "kernel:chunk:fp32:cuda",
    ],
)
def test_names_round_trip(text: str) -> None:
    model = parse_arithmetic(text)
    assert model.name == text
    assert parse_arithmetic(model.name) == model


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("per_step:bfloat16:rne", "per_step:bf16"),
        ("per_op:float32:left", "per_op:fp32"),
        ("cast:1,-1,1", "cast:-1,1"),
    ],
)
def test_other_spellings(text: str, name: str) -> None:
    assert parse_arithmetic(text).name == name


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "not one of exact"),
        ("exact:bf16", "not one of exact"),
        ("per_step", "not one of exact"),
        ("per_step:bf17", "not a format"),
        ("per_step:bf16:up", "'up' is not one of rne"),
        ("per_step:bf16:sr", "stochastic"),
        ("per_step:bf16:left", "'left' is not one of rne"),
        ("per_step:fp8_e4m3:rne:inf", "no infinity"),
        ("per_step:0,1:rne", "tie_low"),
        ("cast:bf16:rz", "cast takes no"),
        ("cast:int:4..-4", "exchange them"),
        ("cast:1/3", "dyadic"),
        ("cast:,", "not a format"),
        ("per_step:fixed:99:0", "1 to 48"),
        ("kernel:parallel:bf16", "recurrent, chunk"),
        ("kernel:chunk:bf16:tpu", "not cpu or cuda"),
    ],
)
def test_wrong_names_in_one_line(text: str, place: str) -> None:
    with pytest.raises(InputError, match=place) as caught:
        parse_arithmetic(text)
    assert "\n" not in str(caught.value)
    assert repr(text) in str(caught.value)


def test_objects() -> None:
    assert isinstance(parse_arithmetic("exact"), Exact)
    assert isinstance(parse_arithmetic("cast:fp8_e4m3"), Cast)
    assert parse_arithmetic("kernel:recurrent:fp16:cpu") == Kernel("recurrent", "fp16", "cpu")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("mode", MODES)
def test_one_step_is_the_exact_sum_rounded_once(name: str, mode: str) -> None:
    target = value_set(name)
    step = PerStep(target, mode)
    A, b = random_values(target, (30, 3, 3), 1), random_values(target, (30, 3, 2), 2)
    h = random_values(target, (30, 3, 2), 3)
    if not name.startswith(("int", "fixed")):
        h[::3] *= 1 + 2.0**-12  # a matrix need not have values of the format
    got = step.affine(A, h, b)
    exact = np.matmul(fractions(A), fractions(h)) + fractions(b)
    assert np.array_equal(got, step.affine(fractions(A), h, b))
    expected = [round_once(x, target, mode) for x in exact.ravel()]
    assert got.ravel().tolist() == expected
    assert np.array_equal(step.affine(A, h), step.affine(A, h, 0 * b))


@pytest.mark.parametrize("mode", MODES)
def test_one_rounding_where_float64_cannot_see_the_sum(mode: str) -> None:
    A, h = np.array([[1.0, 2.0**-40, 1.0]]), np.array([[1.0], [2.0**-40], [2.0**-8]])
    for sign in (1, -1):
        for name in ("bf16", "fp32", "fp64", "fixed:40:30"):
            step = PerStep(value_set(name), mode)
            exact = sign * (1 + Fraction(1, 2**80) + Fraction(1, 2**8))
            assert step.affine(sign * A, h)[0, 0] == round_once(exact, step.values, mode)


OPERATIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_those_of_torch(name: str) -> None:
    ops = PerOp(value_set(name))
    x, y = random_values(ops.values, (20_000,), 4), random_values(ops.values, (20_000,), 5)
    tx, ty = (torch.tensor(v, dtype=OPERATIONS[name]) for v in (x, y))
    assert np.array_equal(ops.multiply(x, y), (tx * ty).double().numpy())
    assert np.array_equal(ops.add(x, y), (tx + ty).double().numpy())
    assert np.array_equal(ops.subtract(x, y), (tx - ty).double().numpy())


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_operations(name: str, mode: str, order: str) -> None:
    """Against the definition, one exact operation after another."""
    target = value_set(name)
    ops = PerOp(target, order, mode)
    A, b = random_values(target, (4, 2, 5), 6), random_values(target, (4, 2, 1), 7)
    h = random_values(target, (4, 5, 1), 8)
    got = ops.affine(A, h, b)

    def q(x: Fraction) -> Fraction:
        return Fraction(round_once(x, target, mode))

    for s in range(4):
        for i in range(2):
            xs = [Fraction(v) for v in A[s, i]]
            ys = [Fraction(v) for v in h[s, :, 0]]
            extra = Fraction(b[s, i, 0])
            products = [q(x * y) for x, y in zip(xs, ys, strict=True)]
            if order == "tree":
                total = q(q(q(products[0] + products[1]) + q(products[2] + products[3])) + products[4])
                total = q(total + extra)
            elif order == "fma":
                total = q(xs[0] * ys[0])
                for x, y in zip(xs[1:], ys[1:], strict=True):
                    total = q(x * y + total)
                total = q(total + extra)
            else:
                terms = [extra, *products] if order == "bias" else [*products, extra]
                total = terms[0]
                for term in terms[1:]:
                    total = q(total + term)
            assert got[s, i, 0] == float(total), (s, i)


def test_delta_rule_is_its_operations() -> None:
    ops = PerOp(value_set("bf16"))
    h, key = random_values(ops.values, (50, 3, 2), 9), random_values(ops.values, (50, 3), 10)
    beta, value = random_values(ops.values, (50,), 11), random_values(ops.values, (50, 2), 12)
    k, H, v = (torch.tensor(x, dtype=torch.bfloat16) for x in (key, h, value))
    s = (k[:, 0, None] * H[:, 0] + k[:, 1, None] * H[:, 1]) + k[:, 2, None] * H[:, 2]
    e = torch.tensor(beta, dtype=torch.bfloat16)[:, None] * (v - s)
    expected = H + k[:, :, None] * e[:, None, :]
    assert np.array_equal(ops.delta_rule(h, key, beta, value), expected.double().numpy())


def test_cast_is_to_the_nearest_ties_down_and_saturates() -> None:
    cast = parse_arithmetic("cast:int:-4..4")
    assert isinstance(cast, Cast)
    assert cast.round([0.5, -0.5, 1.5, 9.0, -9.0, 0.6]).tolist() == [0, -1, 1, 4, -4, 1]
    assert Cast(value_set("fp16")).round([1e9, -1e9]).tolist() == [65504, -65504]
    third = np.array([Fraction(1, 3), Fraction(7, 2)], dtype=object)
    assert cast.round(third).tolist() == [0, 3]
    assert cast.affine([[Fraction(1, 3)]], [[3]], [[1]]).tolist() == [[Fraction(2)]]


@given(
    st.lists(st.integers(-60, 60), min_size=1, max_size=9),
    st.fractions(-8, 8),
    st.sampled_from(sorted(MODES)),
)
def test_custom_sets(members: list[int], x: Fraction, mode: str) -> None:
    values = finite_set([Fraction(m, 8) for m in members])
    if mode == "rne":
        if len(values.members) > 1:
            with pytest.raises(InputError, match="tie_low"):
                values.round_exact((values.exact[0] + values.exact[1]) / 2, mode)
        return
    got = values.round_exact(x, mode)
    exact = values.exact
    below, above = [v for v in exact if v <= x], [v for v in exact if v >= x]
    if mode == "tie_low":
        assert got == min(exact, key=lambda v: (abs(v - x), v))
    elif not below or not above:
        assert got == (exact[0] if not below else exact[-1])
    elif mode == "ru" or (mode == "rz" and x < 0):
        assert got == above[0]
    else:
        assert got == below[-1]
    near = float(x)
    assert values.round_array(near, mode) == values.round_exact(Fraction(near), mode)
    assert np.array_equal(values.round_array(values.values, mode), values.values)


def test_every_mode_is_monotone_and_fixes_the_values() -> None:
    draw = random.Random(0)
    for name in ("fp8_e5m2", "fp4_e2m1", "fixed:5:2"):
        target = value_set(name)
        values = all_values(target)
        points = sorted([draw.uniform(-80, 80) for _ in range(500)] + [draw.gauss(0, 1) for _ in range(500)])
        for mode in MODES:
            rounded = PerStep(target, mode).round(np.array(points))
            assert (np.diff(rounded[np.isfinite(rounded)]) >= 0).all()
            assert np.array_equal(PerStep(target, mode).round(values), values)


def test_stochastic_rounding_is_right_on_average() -> None:
    target = value_set("fp8_e4m3")
    rounded = stochastic(np.full(20_000, 1.03125), target, np.random.default_rng(0))  # type: ignore[arg-type]
    assert set(rounded.tolist()) == {1.0, 1.125}
    assert abs(rounded.mean() - 1.03125) < 0.002
    assert stochastic([2.0, inf], value_set("fp16"), np.random.default_rng(0)).tolist() == [2.0, inf]  # type: ignore[arg-type]
