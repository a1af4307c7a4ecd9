"""The papers' model `cast`: matrices multiplied exactly, only what is read off is cast to finitely many values.

H_k = cast(Σ_j cast(A(x_k)···A(x_{j+1}) B(x_j)) + cast(A(x_k)···A(x_1) H_0)) (arXiv 2411.12537; the sum in the bracket is
exact). `cast` is to the nearest value, ties toward -∞, saturating. The entries of A^k y are sequences
a_k = Σ c_i C(k, m_i) λ_i^{k-m_i} (G.L1). `settled` decides, exactly, whether from some k on cast(a_k) stays for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, lcm, ldexp
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic.arithmetic import Cast, fractions
from ..arithmetic.rounding import FloatFormat, Floats
from ..arithmetic.value_sets import FiniteSet, Grid

Term: TypeAlias = tuple[Fraction, int, Fraction]
"""(c, m, λ): c C(k, m) λ^{k-m}."""
Vector: TypeAlias = tuple[Fraction, ...]
Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]
MAX_INDEX = 3_000
"""Up to here a sequence is followed; beyond, it counts as not settled (eigenvalues too near to each other or to 1)."""


def cast_states(A: Any, B: Any, start: Any, arithmetic: Cast) -> Iterator[Floats]:
    """H_0, H_1, ... on the powers of one letter: A `[n, n]`, B and start `[n, d]`, exact numbers or float64."""
    A, added, first = fractions(A), fractions(B), fractions(start)
    total = np.zeros_like(first)
    yield arithmetic.round(first)
    while True:
        total = total + fractions(arithmetic.round(added))
        added, first = A @ added, A @ first
        yield arithmetic.round(total + fractions(arithmetic.round(first)))


def largest(arithmetic: Cast) -> Fraction:
    """The largest absolute value of the set."""
    values = arithmetic.values
    if isinstance(values, FloatFormat):
        return values.max_finite
    if isinstance(values, Grid):
        return max(abs(values.low), abs(values.high)) * values.quantum
    return max(abs(values.exact[0]), abs(values.exact[-1])) if isinstance(values, FiniteSet) else Fraction(0)


def value_at(terms: Sequence[Term], k: int) -> Fraction:
    """a_k."""
    return sum((c * comb(k, m) * x ** (k - m) for c, m, x in terms if k >= m), Fraction(0))


def settled(terms: Sequence[Term], k: int, arithmetic: Cast) -> float | None:
    """The value that cast(a_k), cast(a_{k+2}), ... all have, if it can be proved from index k on; else None.

    On indices of one parity each λ may be replaced by |λ|. Sizes t_i = |c_i| C(k, m_i) |λ_i|^{k-m_i} change by the factor
    |λ_i| (k+1)/(k+1-m_i), so quotients of two fall once they fall. Either the dominant term outgrows the values and
    the others; or the terms besides the constant L shrink, and L + their sum stays on one side of every midpoint.
    """
    if any(k <= m for _, m, _ in terms):
        return None
    joined: dict[tuple[Fraction, int], Fraction] = {}
    for c, m, x in terms:
        if x:
            key = (abs(x), m)
            joined[key] = joined.get(key, Fraction(0)) + (-c if x < 0 and (k - m) % 2 else c)
    limit = joined.pop((Fraction(1), 0), Fraction(0))
    sizes = sorted(((x, m, c * comb(k, m) * x ** (k - m)) for (x, m), c in joined.items() if c), reverse=True)
    if not sizes:
        return _cast(arithmetic, limit)
    x, m, lead = sizes[0]
    rest = sum((abs(t) for _, _, t in sizes[1:]), Fraction(0))
    falls = all(y * (k + 1 - m) <= x * (k + 1 - n) for y, n, _ in sizes[1:])
    if x > 1 or (x == 1 and m):
        if falls and abs(lead) - rest - abs(limit) > 2 * largest(arithmetic):
            return _cast(arithmetic, 4 * largest(arithmetic) * (1 if lead > 0 else -1))
        return None
    if any(y * (k + 1) > k + 1 - n for y, n, _ in sizes):
        return None
    reach = abs(lead) + rest
    low, middle, high = (_cast(arithmetic, limit + d) for d in (-reach, Fraction(0), reach))
    if low == high:
        return low
    if falls and abs(lead) > rest:  # the sign stays
        if lead < 0:
            return low if low == middle else None
        return high if high == middle or Fraction(middle) + Fraction(high) == 2 * limit else None
    return None


def settled_values(
    terms: Sequence[Term], arithmetic: Cast, first: int = 8
) -> tuple[int, float, float] | None:
    """An index k, and what cast(a) is for ever on the even and on the odd indices from k on; None beyond `MAX_INDEX`."""
    k = first
    while k <= MAX_INDEX:
        found = {p % 2: settled(terms, p, arithmetic) for p in (k, k + 1)}
        if found[0] is not None and found[1] is not None:
            return k, found[0], found[1]
        k = k * 3 // 2
    return None


def cast_sequence(terms: Sequence[Term], length: int, arithmetic: Cast) -> Floats:
    """cast(a_0), ..., cast(a_{length-1}); for values of at most 50 bits."""
    q, common = lcm(*(x.denominator for _, _, x in terms)), lcm(*(c.denominator for c, _, _ in terms))
    parts = [(int(c * common) * q**m, m, int(x * q)) for c, m, x in terms]
    powers, odd, scale = [1] * len(parts), np.zeros(length), common
    for k in range(length):
        total = 0
        for i, (c, m, x) in enumerate(parts):
            if k >= m:
                total += c * comb(k, m) * powers[i] if m else c * powers[i]
                powers[i] *= x
        odd[k] = odd_float(total, scale)
        scale *= q
    return arithmetic.round(odd)


def odd_float(numerator: int, denominator: int) -> float:
    """The quotient rounded to odd in 53 bits: later roundings to fewer bits are those of the exact quotient."""
    if not numerator:
        return 0.0
    size = abs(numerator)
    shift = 54 - size.bit_length() + denominator.bit_length()
    quotient, left = divmod(size << shift, denominator) if shift > 0 else divmod(size, denominator << -shift)
    extra = quotient.bit_length() - 53
    left |= quotient & ((1 << extra) - 1)
    quotient >>= extra
    exponent = extra - shift
    if exponent > 900 or exponent < -1000:  # beyond every value; or far below half of the least
        return (
            2.0**900 * (1 if numerator > 0 else -1)
            if exponent > 0
            else 2.0**-1000 * (1 if numerator > 0 else -1)
        )
    result = ldexp(quotient | (left != 0), exponent)
    return result if numerator > 0 else -result


def _cast(arithmetic: Cast, x: Fraction) -> float:
    return float(arithmetic.round(np.array(odd_float(x.numerator, x.denominator)))) + 0.0
