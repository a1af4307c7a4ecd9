"""Sets of numbers that arithmetic rounds to, and rounding once from the exact value, in rational numbers alone.

Written from docs/arithmetic.md and docs/conventions.md, to hold the package to them; nothing of the package is imported.
A number is a `Fraction`, or one of the floats inf, -inf and nan where a format has overflowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

INF, NAN = math.inf, math.nan
Number = Fraction | float
MODES = ("rne", "tie_low", "rz", "ru", "rd")


def is_finite(x: Number) -> bool:
    return isinstance(x, Fraction) or math.isfinite(x)


@dataclass(frozen=True)
class Format:
    """A binary float format: significant bits, the least exponent of a normal number, its largest number."""

    name: str
    bits: int
    least_exponent: int
    largest: Fraction
    has_infinity: bool

    def values(self) -> list[Fraction]:
        """Every finite value, ascending; for formats of a few bits."""
        quantum = Fraction(2) ** (self.least_exponent - self.bits + 1)
        found = [k * quantum for k in range(2**self.bits)]
        while 2 * quantum * (2 ** (self.bits - 1)) <= self.largest:
            quantum *= 2
            found += [k * quantum for k in range(2 ** (self.bits - 1), 2**self.bits)]
        found = [x for x in found if x <= self.largest]
        return sorted({x for y in found for x in (y, -y)})


def _format(name: str, bits: int, least: int, greatest: int, *, infinite: bool, missing: int = 0) -> Format:
    """`missing`: how many numbers of the top binade stand for NaN instead."""
    largest = (Fraction(2**bits - 1 - missing)) * Fraction(2) ** (greatest - bits + 1)
    return Format(name, bits, least, largest, infinite)


FORMATS = {
    f.name: f
    for f in (
        _format("fp64", 53, -1022, 1023, infinite=True),
        _format("fp32", 24, -126, 127, infinite=True),
        _format("fp16", 11, -14, 15, infinite=True),
        _format("bf16", 8, -126, 127, infinite=True),
        _format("fp8_e4m3", 4, -6, 8, infinite=False, missing=1),
        _format("fp8_e5m2", 3, -14, 15, infinite=True),
        _format("fp6_e2m3", 4, 0, 2, infinite=False),
        _format("fp6_e3m2", 3, -2, 4, infinite=False),
        _format("fp4_e2m1", 2, 0, 2, infinite=False),
    )
}


@dataclass(frozen=True)
class Grid:
    """The numbers k·quantum for low ≤ k ≤ high."""

    name: str
    low: int
    high: int
    quantum: Fraction

    def values(self) -> list[Fraction]:
        return [k * self.quantum for k in range(self.low, self.high + 1)]


@dataclass(frozen=True)
class Listed:
    """A list of numbers, ascending."""

    name: str
    members: tuple[Fraction, ...]

    def values(self) -> list[Fraction]:
        return list(self.members)


Values = Format | Grid | Listed


def read_values(words: Sequence[str]) -> tuple[Values, list[str]]:
    """The values at the beginning of a name split at its colons, and what follows them."""
    first, *rest = words
    if first in FORMATS:
        return FORMATS[first], rest
    if first == "int":
        low, high = (int(x) for x in rest[0].split(".."))
        return Grid(f"int:{rest[0]}", low, high, Fraction(1)), rest[1:]
    if first == "fixed":
        bits, fraction = int(rest[0]), int(rest[1])
        half = 2 ** (bits - 1)
        return Grid(f"fixed:{bits}:{fraction}", -half, half - 1, Fraction(1, 2**fraction)), rest[2:]
    members = tuple(sorted({Fraction(x) for x in first.split(",")}))
    return Listed(",".join(str(x) for x in members), members), rest


def _integer(numerator: int, denominator: int, mode: str) -> int:
    """numerator / denominator rounded to an integer; the denominator is positive."""
    below, rest = divmod(numerator, denominator)
    if rest == 0:
        return below
    if mode == "rd":
        return below
    if mode == "ru":
        return below + 1
    if mode == "rz":
        return below if numerator > 0 else below + 1
    twice = 2 * rest - denominator
    if twice == 0:
        return below if mode == "tie_low" or below % 2 == 0 else below + 1
    return below if twice < 0 else below + 1


def _scaled(x: Fraction, exponent: int) -> tuple[int, int]:
    """Numerator and denominator of x / 2^exponent."""
    if exponent >= 0:
        return x.numerator, x.denominator << exponent
    return x.numerator << -exponent, x.denominator


def _exponent(x: Fraction) -> int:
    """The integer e with 2^e ≤ |x| < 2^(e+1)."""
    n, d = abs(x.numerator), x.denominator
    e = n.bit_length() - d.bit_length()
    n, d = (n, d << e) if e >= 0 else (n << -e, d)
    return e if n >= d else e - 1


@dataclass(frozen=True)
class Rounding:
    """Rounding once to `values` by `mode`; `saturates`: beyond the largest number comes that number, not infinity."""

    values: Values
    mode: str
    saturates: bool

    @cached_property
    def _most(self) -> tuple[Fraction, Fraction]:
        v = self.values
        if isinstance(v, Format):
            return -v.largest, v.largest
        if isinstance(v, Grid):
            return v.low * v.quantum, v.high * v.quantum
        return v.members[0], v.members[-1]

    def __call__(self, x: Number) -> Number:
        if not isinstance(x, Fraction):
            if math.isnan(x) or not self.saturates:
                return x
            return self._most[0 if x < 0 else 1]
        low, high = self._most
        v = self.values
        if isinstance(v, Format):
            return self._to_format(x, v, low, high)
        if x <= low:
            return low
        if x >= high:
            return high
        if isinstance(v, Grid):
            quotient = x / v.quantum
            return _integer(quotient.numerator, quotient.denominator, self.mode) * v.quantum
        return self._to_list(x, v.members)

    def _to_format(self, x: Fraction, v: Format, low: Fraction, high: Fraction) -> Number:
        if not x:
            return x
        # as if the exponents went on for ever above; what lies beyond the largest number then has overflowed
        exponent = max(_exponent(x), v.least_exponent) - v.bits + 1
        k = _integer(*_scaled(x, exponent), self.mode)
        y = Fraction(k << exponent) if exponent >= 0 else Fraction(k, 1 << -exponent)
        if low <= y <= high:
            return y
        if self.saturates:
            return low if y < 0 else high
        if self.mode == "rz" or (self.mode == "rd" and x > 0) or (self.mode == "ru" and x < 0):
            return low if x < 0 else high
        return -INF if x < 0 else INF

    def _to_list(self, x: Fraction, members: tuple[Fraction, ...]) -> Fraction:
        below = max(y for y in members if y <= x)
        above = min(y for y in members if y >= x)
        if self.mode == "rd" or (self.mode == "rz" and x >= 0):
            return below
        if self.mode in ("ru", "rz"):
            return above
        return below if x - below <= above - x else above

    def text(self, x: Fraction) -> str:
        """The rounded number as text; `-0` where a negative number is rounded to a float format's zero."""
        y = self(x)
        if y == 0 and x < 0 and isinstance(self.values, Format):
            return "-0"
        return number_text(y)


def number_text(x: Number) -> str:
    """A fraction as `p/q` or `p`, else `inf`, `-inf` or `nan`."""
    return str(x)


def read_number(text: str) -> Number:
    return float(text) if text in ("inf", "-inf", "nan") else Fraction(text)
