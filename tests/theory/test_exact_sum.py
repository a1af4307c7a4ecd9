"""Exact dot products with one rounding, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.foundation._errors import InputError
from mirrormata.theory.arithmetic._exact_sum import exact_dot, exact_sum
from mirrormata.theory.arithmetic._rounding import FORMATS, FloatFormat, round_array, round_fraction


def expected(A: Any, h: Any, b: Any, fmt: str) -> Any:
    """Row by row in rationals."""
    rows = []
    for i in range(len(A)):
        total = sum((Fraction(x) * Fraction(y) for x, y in zip(A[i], h, strict=True)), Fraction(b[i]))
        rows.append(round_fraction(total, fmt))
    return np.array(rows)


def values_of(fmt: FloatFormat, small: int, large: int) -> st.SearchStrategy[float]:
    """Values of a format with exponents from a short range, so that terms interact, often with equal bits."""
    p = fmt.precision
    low, high = max(small, fmt.min_exponent), min(large, int(fmt.max_finite).bit_length() - 1)
    mantissas = st.one_of(
        st.integers(0, 2**p - 1),
        st.sampled_from([0, 1, 2 ** (p - 1), 2 ** (p - 1) + 1, 2**p - 1, 3 * 2 ** (p - 2)]),
    )
    exponents = st.integers(low - p + 1, high - p)
    made = st.builds(
        lambda m, e, s: float(s * m * Fraction(2) ** e), mantissas, exponents, st.sampled_from([1, -1])
    )
    return made.map(lambda x: float(round_array(x, fmt)))


@st.composite
def problems(draw: st.DrawFn) -> tuple[str, Any, Any, Any]:
    name = draw(st.sampled_from(sorted(FORMATS)))
    fmt = FORMATS[name]
    terms = draw(st.integers(1, 8))
    span = draw(st.sampled_from([2, 12, 60, 200]))
    value = values_of(fmt, -span, span)
    h = draw(st.lists(value, min_size=terms, max_size=terms))
    A = draw(st.lists(st.lists(value, min_size=terms, max_size=terms), min_size=3, max_size=3))
    b = draw(st.lists(value, min_size=3, max_size=3))
    if terms > 1 and draw(st.booleans()):  # cancellation: the last product undoes the first
        for row in A:
            row[-1] = -row[0]
        h[-1] = h[0]
    return name, np.array(A), np.array(h), np.array(b)


@settings(max_examples=250, deadline=None)
@given(problems())
def test_random_sums(problem: tuple[str, Any, Any, Any]) -> None:
    name, A, h, b = problem
    got = exact_dot(A, h[:, None], name, b[:, None])[:, 0]
    assert np.array_equal(got, expected(A, h, b, name))
    without = exact_dot(A, h[:, None], name)[:, 0]
    assert np.array_equal(without, expected(A, h, np.zeros(3), name))


@pytest.mark.parametrize("name", FORMATS)
def test_ties_broken_by_a_far_smaller_term(name: str) -> None:
    p = FORMATS[name].precision
    half = 2.0**-p  # half a unit in the last place of 1
    tiny = float(FORMATS[name].smallest)
    for first in (1.0, 1.0 + 2.0 ** (1 - p)):
        even = first if first == 1.0 else first + 2 * half
        for sign, up in ((0.0, even), (1.0, first + 2 * half), (-1.0, first)):
            A = np.array([[first, half, sign * tiny]])
            got = exact_dot(A, np.ones((3, 1)), name)[0, 0]
            assert got == up
            assert exact_dot(-A[:, ::-1], np.ones((3, 1)), name)[0, 0] == -up


def test_ties_of_fp64_with_several_small_terms() -> None:
    half = 2.0**-53
    for rest in (
        [half, 2.0**-110, -(2.0**-170)],
        [half, -(2.0**-110), 2.0**-170],
        [half, 2.0**-110, -(2.0**-110)],
    ):
        for terms in ([1.0, *rest], [*rest, 1.0], [1.0 + 2 * half, *rest]):
            exact = sum((Fraction(t) for t in terms), Fraction(0))
            got = exact_sum([np.array([t]) for t in terms], FORMATS["fp64"])[0]
            assert got == round_fraction(exact, "fp64")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_fp64_over_its_whole_range(pairs: list[tuple[float, float]]) -> None:
    A = np.array([[x for x, _ in pairs]])
    h = np.array([[y] for _, y in pairs])
    assert exact_dot(A, h, "fp64")[0, 0] == expected(A, h[:, 0], [0.0], "fp64")[0]


def test_batches_zeros_and_wild_values() -> None:
    rng = np.random.default_rng(3)
    A = round_array(rng.normal(size=(7, 4, 5)), "bf16")
    h = round_array(rng.normal(size=(7, 5, 2)), "bf16")
    got = exact_dot(A, h, "bf16")
    assert got.shape == (7, 4, 2)
    for s in range(7):
        for k in range(2):
            assert np.array_equal(got[s, :, k], expected(A[s], h[s, :, k], np.zeros(4), "bf16"))
    assert not np.signbit(exact_dot([[1.0, -1.0]], [[1.0], [1.0]], "bf16"))[0, 0]
    assert not np.signbit(exact_dot([[-1.0]], [[0.0]], "fp64"))[0, 0]
    assert exact_dot(np.zeros((2, 0)), np.zeros((0, 3)), "fp32").shape == (2, 3)
    for name in ("fp64", "bf16"):
        wild = exact_dot([[np.inf, 1.0, 2.0], [np.inf, -np.inf, 0.0], [1.0, 2.0, 3.0]], np.ones((3, 1)), name)
        assert wild[0, 0] == np.inf
        assert np.isnan(wild[1, 0])
        assert wild[2, 0] == 6.0
    assert exact_dot([[60000.0, 60000.0]], [[1.0], [1.0]], "fp16")[0, 0] == np.inf
    assert exact_dot([[-448.0, -448.0]], [[1.0], [1.0]], "fp8_e4m3")[0, 0] == -448.0


def test_values_of_another_format_are_refused() -> None:
    with pytest.raises(InputError, match="h has entries that are no values of bf16"):
        exact_dot([[1.0]], [[0.1]], "bf16")


def test_products_beyond_the_fast_path_of_fp64() -> None:
    half = exact_dot([[2.0**-537, 2.0**-537]], [[2.0**-538], [2.0**-538]], "fp64")
    assert half[0, 0] == 2.0**-1074  # each product alone rounds to zero
    assert exact_dot([[1e200, -1e200, 1.0]], [[1e200], [1e200], [1.0]], "fp64")[0, 0] == 1.0
    assert exact_dot([[1.5e308, 1.5e308, -1.5e308]], np.ones((3, 1)), "fp64")[0, 0] == 1.5e308
    assert exact_dot([[1e200]], [[1e200]], "fp64")[0, 0] == np.inf
