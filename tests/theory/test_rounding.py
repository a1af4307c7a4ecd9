"""Rounding once to a format, against numpy, ml_dtypes and the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.constructions.algebra._cyclotomic import real_cyclotomic_field
from mirrormata.foundation._errors import InputError
from mirrormata.theory.arithmetic._rounding import (
    ALIASES,
    FORMATS,
    MODES,
    OCP_FORMATS,
    FloatFormat,
    float_format,
    round_array,
    round_fraction,
    round_number,
)
from mirrormata.theory.arithmetic._value_sets import all_values

STORED: dict[str, Any] = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "fp8_e5m2": ml_dtypes.float8_e5m2,
    "fp6_e2m3": ml_dtypes.float6_e2m3fn,
    "fp6_e3m2": ml_dtypes.float6_e3m2fn,
    "fp4_e2m1": ml_dtypes.float4_e2m1fn,
}
TORCH = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8_e4m3": torch.float8_e4m3fn,
    "fp8_e5m2": torch.float8_e5m2,
}
NAMED: dict[str, FloatFormat] = {**FORMATS, **OCP_FORMATS}
BITS = {"fp6_e2m3": 6, "fp6_e3m2": 6, "fp4_e2m1": 4}


def finite_values(name: str) -> Any:
    """All finite values of a narrow format in ascending order, one zero, by their bit patterns."""
    width = np.uint16 if np.dtype(STORED[name]).itemsize == 2 else np.uint8
    bits = BITS.get(name, 8 * np.dtype(width).itemsize)
    patterns = np.arange(2**bits, dtype=np.uint32).astype(width)
    with np.errstate(invalid="ignore"):
        values = patterns.view(STORED[name]).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


@pytest.mark.parametrize("name", STORED)
def test_values_are_fixed_and_figures_are_those_of_the_format(name: str) -> None:
    values = finite_values(name)
    fmt = NAMED[name]
    assert np.array_equal(round_array(values, fmt), values)
    assert np.array_equal(all_values(fmt), values)
    assert Fraction(values[-1]) == fmt.max_finite
    assert Fraction(values[values > 0][0]) == fmt.smallest


@pytest.mark.parametrize("name", STORED)
def test_midpoints_and_a_hair_beside_them(name: str) -> None:
    values = finite_values(name)
    low, high = values[:-1], values[1:]
    middle = (low + high) / 2  # exact: one bit more than the format
    grid = np.arange(len(values)) - np.flatnonzero(values == 0)[0]  # bit patterns with signs: even ones win
    even = np.where(grid[:-1] % 2 == 0, low, high)
    fmt = NAMED[name]
    assert np.array_equal(round_array(middle, fmt), even)
    assert np.array_equal(round_array(np.nextafter(middle, np.inf), fmt), high)
    assert np.array_equal(round_array(np.nextafter(middle, -np.inf), fmt), low)


@pytest.mark.parametrize("name", STORED)
def test_every_mode_between_all_neighbours(name: str) -> None:
    """All values, all midpoints, a quarter step and a hair beside every value and every midpoint."""
    values, fmt = finite_values(name), NAMED[name]
    low, high = values[:-1], values[1:]
    middle, quarter = (low + high) / 2, (high - low) / 4
    up, down = np.inf, -np.inf
    inside = [np.nextafter(low, up), low + quarter, np.nextafter(middle, down), middle]
    inside += [np.nextafter(middle, up), high - quarter, np.nextafter(high, down)]
    for place, x in enumerate(inside):
        expected = {
            "rd": low,
            "ru": high,
            "rz": np.where(x < 0, high, low),
            "tie_low": low if place < 4 else high,
        }
        for mode, nearest in expected.items():
            got = round_array(x, fmt, mode)
            assert np.array_equal(got, nearest), (mode, place)
            assert (np.signbit(got) == np.signbit(x)).all()
    for mode in MODES:
        assert np.array_equal(round_array(values, fmt, mode), values)


@pytest.mark.parametrize("name", STORED)
def test_casts_of_libraries(name: str) -> None:
    """ml_dtypes and torch on the CPU, at all values, midpoints and quarter steps, which float32 holds exactly."""
    values, fmt = finite_values(name), NAMED[name]
    step = np.diff(values)
    points = np.concatenate([values, *(values[:-1] + step * part for part in (0.25, 0.5, 0.75))])
    points = points[points == points.astype(np.float32)]
    assert len(points) > 3.9 * len(step)
    ours = round_array(points, fmt)
    assert np.array_equal(ours, points.astype(np.float32).astype(STORED[name]).astype(np.float64))
    if name in TORCH:
        assert np.array_equal(
            ours, torch.tensor(points, dtype=torch.float32).to(TORCH[name]).double().numpy()
        )


@pytest.mark.parametrize("name", [*NAMED])
def test_overflow_in_every_mode(name: str) -> None:
    fmt = NAMED[name]
    largest, tie = fmt.max_finite, fmt.tie_beyond
    hair = Fraction(1, 10**400)
    beyond = float(largest) if fmt.saturating else np.inf
    table: dict[str, tuple[Any, ...]] = {
        "rne": (largest, beyond, beyond, beyond, -beyond),
        "tie_low": (largest, largest, beyond, beyond, -beyond),
        "rz": (largest, largest, largest, largest, -largest),
        "ru": (beyond, beyond, beyond, beyond, -largest),
        "rd": (largest, largest, largest, largest, -beyond),
    }
    for mode, expected in table.items():
        points = [largest + hair, tie, tie + hair, 10 * largest, -10 * largest]
        assert [round_fraction(x, fmt, mode) for x in points] == [float(v) for v in expected], mode
        assert round_fraction(-tie, fmt, mode) == (-float(largest) if mode in ("rz", "ru") else -beyond)
        if name != "fp64":
            shown = [float(tie), float(10 * largest), -float(10 * largest)]
            assert round_array(shown, fmt, mode).tolist() == [float(expected[i]) for i in (1, 3, 4)], mode


@given(st.floats(allow_nan=False), st.sampled_from(sorted(NAMED)), st.sampled_from(sorted(MODES)))
def test_arrays_and_fractions_agree_in_every_mode(x: float, name: str, mode: str) -> None:
    got = float(round_array(x, NAMED[name], mode))
    if np.isfinite(x):
        assert got == round_fraction(Fraction(x), NAMED[name], mode)
    else:
        assert got == np.copysign(NAMED[name].overflow, x) or name == "fp64"


@pytest.mark.parametrize("name", STORED)
def test_fraction_rounding_agrees_with_the_vectorised_one(name: str) -> None:
    values = finite_values(name)[:: 53 if len(finite_values(name)) > 300 else 1]
    middle = (values[:-1] + values[1:]) / 2
    tiny = Fraction(1, 10**60)
    for x in [*values.tolist(), *middle.tolist()]:
        assert round_fraction(Fraction(x), NAMED[name]) == round_array(x, NAMED[name])
        for beside in (Fraction(x) - tiny, Fraction(x) + tiny):
            toward = np.nextafter(x, np.inf if beside > Fraction(x) else -np.inf)
            assert round_fraction(beside, NAMED[name]) == round_array(toward, NAMED[name])


@pytest.mark.parametrize(
    ("name", "stored"), [("fp16", np.float16), ("fp32", np.float32), ("fp64", np.float64)]
)
def test_random_bit_patterns_against_numpy(name: str, stored: Any) -> None:
    patterns = np.random.default_rng(0).integers(0, 2**64, size=200_000, dtype=np.uint64)
    values = patterns.view(np.float64)
    with np.errstate(all="ignore"):
        near = values[np.isfinite(values)] * 2.0 ** np.random.default_rng(1).integers(-20, 20)
        small = np.ldexp(np.frexp(values)[0], np.arange(len(values)) % 300 - 170)
        for x in (values, near, small):
            expected = x.astype(stored).astype(np.float64)
            got = round_array(x, name)
            assert np.array_equal(got, expected, equal_nan=True)
            zero = expected == 0
            assert np.array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


def test_one_rounding_not_two() -> None:
    x = Fraction(1) + Fraction(1, 2**8) + Fraction(1, 2**40)
    assert round_array(float(x), "bf16") == round_fraction(x, "bf16") == 1.0078125
    assert float(np.float64(float(x)).astype(ml_dtypes.bfloat16)) != 1.0078125  # why it is done here


def test_overflow() -> None:
    for name, fmt in FORMATS.items():
        largest = fmt.max_finite
        half_step = (
            largest - Fraction(round_fraction(largest * (1 - Fraction(1, 2**fmt.precision)), fmt))
        ) / 2
        beyond = largest + half_step
        tie = np.copysign(fmt.overflow, 1.0) if name != "fp8_e4m3" else 448.0
        assert round_fraction(beyond - Fraction(1, 10**30), name) == float(largest)
        assert round_fraction(beyond, name) == tie
        assert round_fraction(-(10**400), name) == -fmt.overflow
    assert round_array([464.0, 465.0, -1e9, np.inf, -np.inf], "fp8_e4m3").tolist() == [
        448,
        448,
        -448,
        448,
        -448,
    ]
    assert round_array([65519.0, 65520.0, -1e308, np.inf], "fp16").tolist() == [
        65504,
        np.inf,
        -np.inf,
        np.inf,
    ]
    assert np.isnan(round_array([np.nan], "bf16")[0])


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(FORMATS)))
def test_every_float_both_ways(x: float, name: str) -> None:
    got = float(round_array(x, name))
    assert got == round_fraction(Fraction(x), name)
    assert round_array(got, name) == got


@given(st.fractions(), st.sampled_from(sorted(FORMATS)))
def test_rounding_is_nearest(x: Fraction, name: str) -> None:
    got = round_fraction(x, name)
    if np.isfinite(got) and abs(x) <= FORMATS[name].max_finite:
        for other in (np.nextafter(got, np.inf), np.nextafter(got, -np.inf)):
            neighbour = round_array(other, name) if name != "fp64" else other
            assert abs(Fraction(got) - x) <= abs(Fraction(float(neighbour)) - x) or not np.isfinite(neighbour)


def test_algebraic_numbers() -> None:
    field = real_cyclotomic_field(8)
    root_two = field.twice_cos(1)
    assert round_number(root_two, "fp64") == np.sqrt(2)
    assert round_number(-root_two, "bf16") == -1.4140625
    # so near a midpoint of bf16 that float64 cannot see on which side
    convergent = field.element([1])
    for _ in range(60):
        convergent = convergent * (root_two - 1)
    midpoint = Fraction(1) + Fraction(1, 2**8)
    assert round_number(convergent + midpoint, "bf16") == 1.0078125
    assert round_number(midpoint - convergent, "bf16") == 1.0
    assert round_number(3, "fp8_e5m2") == 3.0
    assert round_number(Fraction(1, 3), "fp32") == float(np.float32(1 / 3))


def test_names() -> None:
    assert float_format("bfloat16") is FORMATS["bf16"]
    assert float_format("e4m3").saturating
    assert all(target in FORMATS for target in ALIASES.values())
    with pytest.raises(InputError, match="fp8_e5m2"):
        float_format("fp4")
    with pytest.raises(AttributeError):
        FORMATS["bf16"].precision = 9  # type: ignore[misc]
    assert isinstance(FORMATS["bf16"], FloatFormat)
