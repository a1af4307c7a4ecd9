"""What numbers are rounded to: a float format, a uniform grid or any finite set, and rounding once to each.

Grids and finite sets saturate. Values are float64 numbers, as in `rounding`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import InputError
from ._rounding import (
    ALIASES,
    FORMATS,
    OCP_FORMATS,
    FloatFormat,
    Floats,
    binary_exponent,
    check_mode,
    round_array,
    round_fraction,
    whole_number,
    whole_numbers,
)


@dataclass(frozen=True)
class Grid:
    """The values k·quantum for the integers low ≤ k ≤ high, which saturate; nearest even means even k.

    Attributes:
        name: the set's name.
        low: the least k.
        high: the largest k.
        quantum: a power of two. `int:-4..4` has quantum 1; `fixed:BITS:FRACTION` has the two's complement
            numbers of that many bits, FRACTION of them after the point.
    """

    name: str
    low: int
    high: int
    quantum: Fraction = Fraction(1)

    def round_exact(self, x: Fraction | int, mode: str = "rne") -> float:
        """Round an exact number.

        Args:
            x: an exact number.
            mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        """
        return float(
            min(max(whole_number(Fraction(x) / self.quantum, mode), self.low), self.high) * self.quantum
        )

    def round_array(self, values: Any, mode: str = "rne") -> Floats:
        """Round each float64 once; nan stays nan.

        Args:
            values: float64 numbers, of any shape.
            mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        """
        x = np.asarray(values, dtype=np.float64) / float(self.quantum)
        return np.asarray(np.clip(whole_numbers(x, mode), self.low, self.high) * float(self.quantum) + 0.0)

    @cached_property
    def values(self) -> Floats:
        """All values in ascending order."""
        return np.asarray(np.arange(self.low, self.high + 1) * float(self.quantum), dtype=np.float64)


@dataclass(frozen=True)
class FiniteSet:
    """A finite set of float64 values, which saturates. It has no even members, so the mode `rne` does not apply.

    Attributes:
        name: the set's name.
        members: the values, ascending.
    """

    name: str
    members: tuple[float, ...]

    @cached_property
    def values(self) -> Floats:
        """All values in ascending order."""
        return np.array(self.members)

    @cached_property
    def exact(self) -> list[Fraction]:
        """The values as fractions."""
        return [Fraction(v) for v in self.members]

    def round_exact(self, x: Fraction | int, mode: str = "tie_low") -> float:
        """Round an exact number.

        Args:
            x: an exact number.
            mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        """
        x = Fraction(x)
        above = bisect_left(self.exact, x)  # the first member ≥ x
        if above == len(self.exact):
            return self.members[-1]
        if above == 0 or self.exact[above] == x:
            return self.members[above]
        low, high = self.exact[above - 1], self.exact[above]
        up = self._goes_up(mode, np.array(x - low > high - x), np.array(x < 0))
        return self.members[above if up else above - 1]

    def round_array(self, values: Any, mode: str = "tie_low") -> Floats:
        """Round each float64 once; nan stays nan.

        Args:
            values: float64 numbers, of any shape.
            mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        """
        x = np.asarray(values, dtype=np.float64)
        above = np.searchsorted(self.values, x, side="left").clip(0, len(self.members) - 1)
        below = np.maximum(above - 1, 0)
        low, high = self.values[below], self.values[above]
        inside = (low < x) & (x < high)
        # x - low > high - x, by the exact midpoint: the parser refuses sets whose midpoints are no float64
        up = self._goes_up(mode, x > low / 2 + high / 2, x < 0) | ~inside
        return np.where(np.isnan(x), nan, np.where(up, high, low))

    @staticmethod
    def _goes_up(mode: str, nearer_above: NDArray[np.bool_], negative: NDArray[np.bool_]) -> Any:
        if mode == "tie_low":
            return nearer_above
        if mode == "rne":
            raise InputError("rounding mode 'rne': a list of values has no even members; write tie_low")
        return {"rz": negative, "ru": ~(nearer_above & False), "rd": nearer_above & False}[check_mode(mode)]


ValueSet = FloatFormat | Grid | FiniteSet
"""What numbers are rounded to."""


NUMBER = r"[-+]?[0-9]{1,400}(/[0-9]{1,400}|(\.[0-9]{0,400})?(e[-+]?[0-9]{1,3})?)|[-+]?\.[0-9]{1,400}(e[-+]?[0-9]{1,3})?"
"""Texts of numbers; longer ones and larger exponents take long to write out, and are no float64 anyway."""


def shorten_text(text: str, most: int) -> str:
    """The text, the middle of a long one left out."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


def value_set(text: str) -> ValueSet:
    """Return the set of values with a given name.

    Args:
        text: a format's name, `int:-4..4`, `fixed:BITS:FRACTION` or a list such as `-1,0,1/2,1`.

    Examples:
        >>> from mirrormata.theory import value_set
        >>> value_set("int:-4..4")
        Grid(name='int:-4..4', low=-4, high=4, quantum=Fraction(1, 1))
    """
    name = ALIASES.get(text, text)
    if name in FORMATS or name in OCP_FORMATS:
        return FORMATS.get(name) or OCP_FORMATS[name]
    if match := re.fullmatch(r"int:(-?[0-9]{1,15})\.\.(-?[0-9]{1,15})", text):
        low, high = int(match[1]), int(match[2])
        if low > high:
            raise InputError(f"values {text!r}: {low} is greater than {high}: exchange them")
        return Grid(text, low, high)
    if match := re.fullmatch(r"fixed:([0-9]{1,3}):([0-9]{1,3})", text):
        bits, fraction = int(match[1]), int(match[2])
        if not 1 <= bits <= 48:
            raise InputError(f"values {text!r}: {bits} bits; 1 to 48 are possible")
        return Grid(text, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, Fraction(1, 2**fraction))
    if re.fullmatch(r"[-+./0-9e]+(,[-+./0-9e]+)*", text) and any(c.isdigit() for c in text):
        return finite_set(text.split(","))
    raise InputError(
        f"values {text!r}: not a format ({', '.join((*FORMATS, *OCP_FORMATS))}), int:LOW..HIGH, "
        "fixed:BITS:FRACTION or a list of numbers"
    )


def finite_set(numbers: Iterable[Any], name: str | None = None) -> FiniteSet:
    """Make the set of some numbers.

    Args:
        numbers: text, int, float or Fraction; each, and each midpoint, must be a float64.
        name: the set's name; None for the numbers.

    Examples:
        >>> from mirrormata.theory import finite_set
        >>> finite_set([-1, 0, "1/2"])
        FiniteSet(name='-1,0,1/2', members=(-1.0, 0.0, 0.5))
    """
    exact = []
    for number in numbers:
        if isinstance(number, str) and not re.fullmatch(NUMBER, number):
            raise InputError(
                f"values: {number[:40]!r} is not a number of up to 400 digits, with an exponent of up to three"
            )
        try:
            exact.append(Fraction(number))
        except (ValueError, TypeError, OverflowError, ZeroDivisionError):
            raise InputError(f"values: {number!r} is not a number") from None
    exact = sorted(set(exact))
    if not exact:
        raise InputError("values: the list is empty: name at least one")
    for x in [*exact, *((low + high) / 2 for low, high in pairwise(exact))]:
        # an even last bit, so that sums rounded to odd lie on the right side
        if abs(x) > 2**1000 or Fraction(float(x)) != x or float(x).as_integer_ratio()[0].bit_length() > 52:
            raise InputError(
                f"values: {shorten_text(str(x), 40)} (a value or the middle of two) has more than 52 bits or exceeds 2^1000: use dyadic "
                "numbers"
            )
    return FiniteSet(name or ",".join(str(x) for x in exact), tuple(float(x) for x in exact))


def round_values(values: Any, target: ValueSet, mode: str) -> Floats:
    """Each number rounded once: an array of float64, or of exact numbers (dtype object)."""
    given = np.asarray(values)
    if given.dtype == object:
        rounded = [round_once(x, target, mode) for x in given.ravel().tolist()]
        return np.array(rounded, dtype=np.float64).reshape(given.shape)
    return (
        round_array(given, target, mode)
        if isinstance(target, FloatFormat)
        else target.round_array(given, mode)
    )


def round_once(x: Fraction | int, target: ValueSet, mode: str) -> float:
    """An exact number rounded once."""
    if isinstance(target, FloatFormat):
        return round_fraction(x, target, mode)
    return target.round_exact(x, mode)


def all_values(target: ValueSet) -> Floats:
    """All finite values, ascending, one zero; `InputError` for formats of more than 16 bits."""
    if not isinstance(target, FloatFormat):
        return target.values
    if target.name in ("fp64", "fp32"):
        raise InputError(f"values {target.name!r}: too many to list")
    p, largest = target.precision, float(target.max_finite)
    lowest = target.min_exponent - p + 1
    exponents = range(target.min_exponent, binary_exponent(target.max_finite) + 1)
    positive = [np.arange(2 ** (p - 1)) * 2.0**lowest]
    positive += [np.arange(2 ** (p - 1), 2**p) * 2.0 ** (e - p + 1) for e in exponents]
    half = np.concatenate(positive)
    half = half[half <= largest]
    return np.concatenate([-half[:0:-1], half])
