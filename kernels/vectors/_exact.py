"""Binary formats, and which numbers they hold: integers and fractions with a power of two below, never floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Number = int | Fraction
"""An exact number. Its denominator is a power of two wherever it is an entry of a word."""
Exact = NDArray[np.object_]
"""An array of exact numbers."""


@dataclass(frozen=True)
class Span:
    """The bits that a set of numbers needs.

    Attributes:
        precision: significant bits of the number that has most, from its leading one to its last one.
        low: the smallest exponent of a last one.
        high: the largest exponent of a leading one.
    """

    precision: int = 0
    low: int = 0
    high: int = 0

    def join(self, other: Span) -> Span:
        """The bits that both sets together need."""
        if not other.precision:
            return self
        if not self.precision:
            return other
        return Span(
            max(self.precision, other.precision), min(self.low, other.low), max(self.high, other.high)
        )


def span_of(numbers: Iterable[Any]) -> Span:
    """The bits that these numbers need; zeros need none.

    Args:
        numbers: integers and fractions.

    Raises:
        ValueError: a denominator is no power of two, so that no binary format holds the number.
    """
    found = Span()
    for x in set(numbers):
        if x == 0:
            continue
        top, below = abs(x.numerator), x.denominator
        if below & (below - 1):
            raise ValueError(f"{x} is no binary fraction")
        last = (top & -top).bit_length() - 1
        scale = below.bit_length() - 1
        found = found.join(Span(top.bit_length() - last, last - scale, top.bit_length() - 1 - scale))
    return found


@dataclass(frozen=True)
class Format:
    """A binary floating-point format with subnormal numbers and infinities.

    Attributes:
        name: as contracts name it.
        precision: significant bits, the leading one included.
        low: the exponent of the smallest normal number.
        high: the exponent of the largest power of two.
    """

    name: str
    precision: int
    low: int
    high: int

    @property
    def largest(self) -> Fraction:
        """The largest number of the format."""
        return (2 - Fraction(1, 2 ** (self.precision - 1))) * Fraction(2) ** self.high

    def holds(self, span: Span) -> bool:
        """Whether all numbers that need these bits are numbers of the format."""
        if not span.precision:
            return True
        smallest = self.low - self.precision + 1
        return span.precision <= self.precision and span.high <= self.high and span.low >= smallest

    def round(self, x: Any) -> Any:
        """The nearest number of the format, ties to even; an infinity beyond the largest. Infinities and NaN stay."""
        if isinstance(x, float) or x == 0:
            return x
        exact = Fraction(x)
        top = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        if Fraction(2) ** top > abs(exact):  # invariant: 2^top <= |x| < 2^(top + 1)
            top -= 1
        unit = Fraction(2) ** (max(top, self.low) - self.precision + 1)
        rounded = round(exact / unit) * unit  # Python rounds ties of fractions to even
        if abs(rounded) > self.largest:
            return inf if rounded > 0 else -inf
        return int(rounded) if rounded.denominator == 1 else rounded


FORMATS = MappingProxyType({
    one.name: one
    for one in (
        Format("bf16", 8, -126, 127),
        Format("fp16", 11, -14, 15),
        Format("tf32", 11, -126, 127),
        Format("fp32", 24, -126, 127),
        Format("fp64", 53, -1022, 1023),
    )
})  # fmt: skip
"""The formats by their names; tf32 is what matrix units read of float32 unless they are told otherwise."""


def exact_array(rows: Any) -> Exact:
    """Nested lists of exact numbers as an array of them."""
    return np.array(rows, dtype=object)


def zeros(*shape: int) -> Exact:
    """An array of exact zeros."""
    return np.zeros(shape, dtype=object) + 0  # `np.zeros` of objects are Python's integers


def in_float64(numbers: Exact) -> NDArray[np.float64]:
    """Exact numbers of float64, infinities and NaN as float64."""
    return numbers.astype(np.float64)


def round_array(numbers: Exact, target: Format) -> Exact:
    """Every number rounded once to a format."""
    rounded = np.empty(numbers.shape, dtype=object)
    known: dict[Any, Any] = {}
    for place, x in np.ndenumerate(numbers):
        if isinstance(x, float):
            rounded[place] = x
            continue
        if x not in known:
            known[x] = target.round(x)
        rounded[place] = known[x]
    return rounded


LN2 = Fraction(0xB17217F7D1CF79ABC9E3B39803F2F6AF40F343267298B62D8A0D175B8BAAFA2B, 2**256)
"""The logarithm of 2, cut after 256 bits."""
