"""Sums of products of float64 numbers, computed exactly and rounded once to any set of values in any mode.

`exact_sum` does it for float formats and nearest even; here the sum is first rounded to odd in float64.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .exact_sum import (
    MAX_FACTOR,
    MAX_TOTAL,
    MIN_PRODUCT,
    distilled,
    exact_product_sum,
    product_error,
    rounded_to_odd,
)
from .rounding import FloatFormat, Floats
from .value_sets import ValueSet, round_once, round_values


def rounded_product_sum(
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
        parts, stable = distilled([*errors, *terms])
        odd = parts[-1] if len(parts) == 1 else rounded_to_odd(parts[-1], parts[-2])
        plain = sum(terms, np.zeros(()))
        odd = np.where(np.isfinite(plain), odd, plain) + 0.0
        return odd, outside | (not stable)
