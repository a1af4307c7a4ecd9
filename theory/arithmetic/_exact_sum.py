"""Sums of products computed exactly and rounded once, vectorised: error-free transformations in float64.

Products: those of two values of a format with at most 26 bits are float64 values; those of float64 values are
split into a rounded product and its error (Dekker, Veltkamp). Sums: two-sums are repeated over the list of terms
until nothing moves (Priest, Ogita–Rump–Oishi); the list is then an expansion of non-overlapping parts, whose tail is
folded in by rounding to odd (Boldo–Melquiond), after which one rounding to the format is the rounding of the
exact sum. An exact zero is +0.0; inf and nan among the terms act as in IEEE arithmetic.

`exact_sum` rounds to a float format, to nearest even. `round_product_sum` rounds to any set of values in any mode: its sum
is first rounded to odd in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import InputError
from ._rounding import FloatFormat, Floats, float_format, round_array, round_fraction
from ._value_sets import ValueSet, round_once, round_values

MAX_FACTOR = 2.0**995
"""Splitting a float64 into halves is exact up to here."""
MIN_PRODUCT = 2.0**-968
"""The error of a float64 product is a float64 where the product is at least this, or zero."""
MAX_TOTAL = 2.0**1000
"""No partial sum overflows where the absolute values of the terms add up to less."""


def exact_dot(A: Any, h: Any, fmt: str | FloatFormat, b: Any = None) -> Floats:
    """Compute A h (+ b), each entry as the exact sum rounded once to the format, to nearest even.

    A `[..., n, m]`, h `[..., m, d]`, b `[..., n, d]`, all with values of the format (else `InputError`); leading
    axes broadcast. Exact for all such values: the fast path covers factors up to 2^995, products that are zero or at
    least 2^-968 and totals below 2^1000, which only fp64 can leave; entries outside are computed in rationals.

    Args:
        A: `[..., n, m]`, values of the format.
        h: `[..., m, d]`, values of the format.
        fmt: the format that results are rounded to.
        b: `[..., n, d]`, values of the format, or None for 0.
    """
    f = float_format(fmt)
    A, h = np.asarray(A, dtype=np.float64), np.asarray(h, dtype=np.float64)
    extra = None if b is None else np.asarray(b, dtype=np.float64)
    for name, values in (("A", A), ("h", h), ("b", extra)):
        if values is not None and not np.array_equal(values, round_array(values, f), equal_nan=True):
            raise InputError(f"exact_dot: {name} has entries that are no values of {f.name}: round it first")
    pairs = [(A[..., :, j, None], h[..., j, None, :]) for j in range(A.shape[-1])]
    if not pairs:
        shape = (*np.broadcast_shapes(A.shape[:-2], h.shape[:-2]), A.shape[-2], h.shape[-1])
        zeros = np.zeros(shape)
        return zeros if extra is None else np.asarray(zeros + extra)
    return exact_product_sum(pairs, f, extra)


def exact_product_sum(
    pairs: Sequence[tuple[Floats, Floats]], fmt: FloatFormat, extra: Floats | None = None
) -> Floats:
    """Compute Σ x·y (+ extra) exactly and round once. The arguments must be values of the format, which is not checked.

    Args:
        pairs: pairs (x, y) of float64 arrays that broadcast.
        fmt: the format that results are rounded to.
        extra: float64 array to be added, or None.
    """
    with np.errstate(all="ignore"):
        terms: list[Floats] = [x * y for x, y in pairs]
        if fmt.precision <= 26:
            if extra is not None:
                terms.append(extra)
            return exact_sum(terms, fmt)
        outside: NDArray[np.bool_] = np.zeros((), dtype=bool)
        for (x, y), p in zip(pairs, terms, strict=True):
            outside = outside | (np.abs(x) > MAX_FACTOR) | (np.abs(y) > MAX_FACTOR)
            outside = outside | ((np.abs(p) < MIN_PRODUCT) & (x != 0) & (y != 0))
        errors = [product_error(x, y, p) for (x, y), p in zip(pairs, terms, strict=True)]
        if extra is not None:
            terms.append(extra)
        outside = outside | ~(sum((np.abs(t) for t in terms), np.zeros(())) < MAX_TOTAL)
        result = exact_sum([*errors, *terms], fmt)
    if np.any(outside):
        for at in zip(*np.nonzero(np.broadcast_to(outside, result.shape)), strict=True):
            result[at] = _rational_sum(pairs, extra, at, result.shape, fmt)
    return result


def exact_sum(terms: Sequence[Floats], fmt: FloatFormat) -> Floats:
    """Compute a sum exactly and round it once to the format.

    This is exact as long as no partial sum overflows float64.

    Args:
        terms: float64 arrays that broadcast.
        fmt: the format that results are rounded to.

    Examples:
        >>> import numpy as np
        >>> from mirrormata.theory import exact_sum, float_format
        >>> exact_sum([np.array([1e16]), np.array([1.0]), np.array([-1e16])], float_format("fp32"))
        array([1.])
    """
    with np.errstate(all="ignore"):
        parts, stable = distill_terms(terms)
        result = round_expansion(parts, fmt)
        if not stable:
            result = _repair_entries(terms, parts, result, fmt)
        if not np.isfinite(parts[-1]).all():
            plain = np.broadcast_to(sum(terms), result.shape)
            wild = ~np.isfinite(plain)
            result[wild] = round_array(plain[wild], fmt)
    return result


def two_sum(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The rounded sum s and its error e, x + y = s + e exactly (Knuth)."""
    s = x + y
    v = s - x
    return s, (x - (s - v)) + (y - v)


def product_error(x: Floats, y: Floats, p: Floats) -> Floats:
    """x·y - p for the rounded product p, exactly (Dekker); ranges in the module's constants."""
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    return x_low * y_low - (((p - x_high * y_high) - x_low * y_high) - x_high * y_low)


def _halves(x: Floats) -> tuple[Floats, Floats]:
    scaled = x * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def distill_terms(terms: Sequence[Floats]) -> tuple[list[Floats], bool]:
    """An expansion with the same exact sum, largest part last, and whether it is stable everywhere.

    Stable: each part is the rounded sum of itself and the part before it, so parts do not overlap.
    """
    parts = list(np.broadcast_arrays(*terms))
    for sweep in range(3 * len(parts) + 3):
        moved = False
        for k in range(1, len(parts)):
            s, e = two_sum(parts[k], parts[k - 1])
            if sweep:
                moved = moved or bool(((s != parts[k]) & (s == s)).any())  # noqa: PLR0124 (nan)
            parts[k], parts[k - 1] = s, e
        while len(parts) > 1 and not parts[0].any():
            del parts[0]
        if len(parts) == 1 or (sweep and not moved):
            return parts, True
        if len(parts) == 2:  # a two-sum is stable at once
            return parts, True
    return parts, False


def round_expansion(parts: Sequence[Floats], fmt: FloatFormat) -> Floats:
    """The exact sum of a stable expansion, rounded once to the format, nearest even."""
    leading = parts[-1]
    if len(parts) == 1:
        return round_array(leading + 0.0, fmt)
    if fmt.precision == 53:
        # the leading part is the sum of the last two rounded; a tie between floats is broken by what follows
        tail = parts[-2] if len(parts) == 2 else round_to_odd(parts[-2], parts[-3])
        return np.asarray(leading + tail + 0.0)
    return round_array(round_to_odd(leading, parts[-2]) + 0.0, fmt)


def round_to_odd(x: Floats, rest: Floats) -> Floats:
    """x + rest rounded to odd, for x the rounded sum of the two.

    Odd: exact where x + rest is a float64, else that neighbour whose last bit is 1; so a later rounding to at least
    two bits fewer sees on which side of every tie the sum lies.
    """
    bits = np.ascontiguousarray(x).view(np.int64)
    even = ((bits & 1) == 0) & (rest != 0) & np.isfinite(x)
    outward = np.where(np.signbit(rest) == np.signbit(x), 1, -1)  # one unit in the last place
    odd = bits + np.where(even, outward, 0)
    return np.asarray(odd.view(np.float64)).reshape(np.shape(x))


def _repair_entries(
    terms: Sequence[Floats], parts: Sequence[Floats], result: Floats, fmt: FloatFormat
) -> Floats:
    """Entries whose expansion did not settle, in rationals (never met; the guard of a loop's limit)."""
    unstable = np.zeros(result.shape, dtype=bool)
    for small, large in pairwise(parts):
        unstable |= (large + small) != large
    for at in zip(*np.nonzero(unstable), strict=True):
        values = [float(np.broadcast_to(t, result.shape)[at]) for t in terms]
        if np.isfinite(values).all():
            result[at] = round_fraction(sum((Fraction(v) for v in values), Fraction(0)), fmt)
    return result


def _rational_sum(
    pairs: Sequence[tuple[Floats, Floats]],
    extra: Floats | None,
    at: tuple[Any, ...],
    shape: tuple[int, ...],
    fmt: FloatFormat,
) -> float:
    factors = [tuple(float(np.broadcast_to(v, shape)[at]) for v in pair) for pair in pairs]
    rest = [] if extra is None else [float(np.broadcast_to(extra, shape)[at])]
    if not np.isfinite([v for pair in factors for v in pair] + rest).all():
        with np.errstate(all="ignore"):
            return float(sum(np.float64(x) * np.float64(y) for x, y in factors) + sum(rest))
    total = sum((Fraction(x) * Fraction(y) for x, y in factors), Fraction(0))
    return round_fraction(total + sum((Fraction(v) for v in rest), Fraction(0)), fmt)


def round_product_sum(
    pairs: list[tuple[Floats, Floats]], extra: Floats | None, target: ValueSet, mode: str
) -> Floats:
    """Q(Σ x·y + extra) over pairs of float64 arrays that broadcast."""
    short = all(_is_short(x) and _is_short(y) for x, y in pairs)
    if isinstance(target, FloatFormat) and mode == "rne" and (short or target.precision == 53):
        return exact_product_sum(pairs, target, extra)
    odd, outside = _odd_product_sum(pairs, extra, short)
    if isinstance(target, FloatFormat) and target.precision == 53:
        outside = np.ones(odd.shape, dtype=bool)  # there is no room for the odd bit
    result = round_values(odd, target, mode)
    for at in zip(*np.nonzero(np.broadcast_to(outside, odd.shape)), strict=True):
        terms = [[float(np.broadcast_to(v, odd.shape)[at]) for v in pair] for pair in pairs]
        rest = [] if extra is None else [float(np.broadcast_to(extra, odd.shape)[at])]
        if np.isfinite([v for pair in terms for v in pair] + rest).all():
            total = sum((Fraction(x) * Fraction(y) for x, y in terms), Fraction(0))
            total += sum((Fraction(v) for v in rest), Fraction(0))
            result[at] = round_once(total, target, mode)
    return result


def _is_short(x: Floats) -> bool:
    """True if every entry is finite with at most 26 significant bits, so that products of two are exact."""
    with np.errstate(all="ignore"):
        scaled = x * 134217729.0
        size = np.abs(x)
        in_range = (size < 2.0**480) & ((size > 2.0**-480) | (size == 0))
        return bool(((scaled - (scaled - x) == x) & in_range).all())


def _odd_product_sum(
    pairs: list[tuple[Floats, Floats]], extra: Floats | None, short: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """Σ x·y + extra rounded to odd in float64, and where that may be wrong (out of range, not settled)."""
    outside: NDArray[np.bool_] = np.zeros((), dtype=bool)
    with np.errstate(all="ignore"):
        terms = [np.asarray(x * y) for x, y in pairs]
        errors = []
        for (x, y), p in zip(pairs, terms, strict=True):
            outside = outside | (np.abs(x) > MAX_FACTOR) | (np.abs(y) > MAX_FACTOR)
            outside = outside | ((np.abs(p) < MIN_PRODUCT) & (x != 0) & (y != 0))
            if not short:
                errors.append(product_error(x, y, p))
        if extra is not None:
            terms.append(extra)
        outside = outside | ~(sum((np.abs(t) for t in terms), np.zeros(())) < MAX_TOTAL)
        parts, stable = distill_terms([*errors, *terms])
        odd = parts[-1] if len(parts) == 1 else round_to_odd(parts[-1], parts[-2])
        plain = sum(terms, np.zeros(()))
        odd = np.where(np.isfinite(plain), odd, plain) + 0.0
        return odd, outside | (not stable)
