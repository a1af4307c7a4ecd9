"""Floating-point formats, uniform grids and finite sets of values, and rounding once to them from the exact value.

Stored numbers are Python or numpy float64 values that lie in the format: each is a subset of float64, so a value of
a narrow format needs no type of its own. Overflow goes to ±inf where the format has an infinity; `fp8_e4m3` (the
"fn" variant) has none and saturates at ±448, so that no number ever becomes nan; so do the OCP formats of six and four
bits, grids and finite sets. Rounding modes are in `MODES`; without one it is to nearest even.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf, ldexp, nan, trunc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..constructions.errors import InputError
from ..constructions.real_cyclotomic import Algebraic, Number, enclosure, simplest

Floats = NDArray[np.float64]

MODES: dict[str, str] = {
    "rne": "to nearest, ties to even",
    "tie_low": "to nearest, ties toward -∞",
    "rz": "toward zero",
    "ru": "toward +∞",
    "rd": "toward -∞",
}
"""The deterministic rounding modes; each is non-decreasing."""
STOCHASTIC = "sr"
"""Up or down with the probability that makes the mean right; for searches, from a generator that the caller passes."""


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format with subnormals.

    `precision`: significant bits, the leading one included. `min_exponent`: e where 2^e is the smallest normal.
    `max_finite`: the largest finite value. `saturating`: overflow gives ±max_finite in place of ±inf.
    """

    name: str
    precision: int
    min_exponent: int
    max_finite: Fraction
    saturating: bool = False

    @property
    def overflow(self) -> float:
        """What a positive number too large for the format becomes."""
        return float(self.max_finite) if self.saturating else inf

    @property
    def tie_beyond(self) -> Fraction:
        """Half a step above the largest value: in nearest rounding what is less stays finite."""
        return self.max_finite + Fraction(2) ** (_exponent(self.max_finite) - self.precision)

    @property
    def smallest(self) -> Fraction:
        """The smallest positive (subnormal) value."""
        return Fraction(2) ** (self.min_exponent - self.precision + 1)

    @cached_property
    def grids(self) -> dict[int, tuple[Any, ...]]:
        """What `snapped` needs, by the bytes of the carrying type: masks of its exponent, 2^e, and 1.5·2^k."""
        made: dict[int, tuple[Any, ...]] = {}
        for carrier, integer, exponent_bits, mantissa in (
            (np.float64, np.int64, 0x7FF << 52, 52),
            (np.float32, np.int32, 0xFF << 23, 23),
        ):
            if self.precision <= mantissa - 3:
                factor = 1.5 * 2.0 ** (mantissa - self.precision + 1)
                least = carrier(2.0**self.min_exponent)
                made[np.dtype(carrier).itemsize] = (integer, integer(exponent_bits), least, carrier(factor))
        return made


def _ieee(name: str, precision: int, max_exponent: int) -> FloatFormat:
    largest = (2 - Fraction(1, 2 ** (precision - 1))) * 2**max_exponent
    return FloatFormat(name, precision, 1 - max_exponent, largest)


FORMATS: dict[str, FloatFormat] = {
    f.name: f
    for f in (
        _ieee("fp64", 53, 1023),
        _ieee("fp32", 24, 127),
        _ieee("fp16", 11, 15),
        _ieee("bf16", 8, 127),
        FloatFormat("fp8_e4m3", 4, -6, Fraction(448), saturating=True),
        _ieee("fp8_e5m2", 3, 15),
    )
}
"""The formats by name: those in which a construction is run and certified."""

OCP_FORMATS: dict[str, FloatFormat] = {
    f.name: f
    for f in (
        FloatFormat("fp6_e2m3", 4, 0, Fraction(15, 2), saturating=True),
        FloatFormat("fp6_e3m2", 3, -2, Fraction(28), saturating=True),
        FloatFormat("fp4_e2m1", 2, 0, Fraction(6), saturating=True),
    )
}
"""The Open Compute Project's microscaling elements of six and four bits (no infinity, no nan)."""

ALIASES: dict[str, str] = {
    "float64": "fp64",
    "double": "fp64",
    "float32": "fp32",
    "float": "fp32",
    "single": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3",
    "e4m3": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "e5m2": "fp8_e5m2",
}
"""Other spellings of the names in `FORMATS`."""


def float_format(dtype: str | FloatFormat) -> FloatFormat:
    """The format of a dtype name or alias; an unknown one is an `InputError` that lists them."""
    if isinstance(dtype, FloatFormat):
        return dtype
    found = FORMATS.get(ALIASES.get(dtype, dtype))
    if found is None:
        raise InputError(
            f"dtype {dtype!r}: not a format; the formats are {', '.join(FORMATS)} "
            f"(also written {', '.join(ALIASES)})"
        )
    return found


def round_fraction(x: Fraction | int, fmt: str | FloatFormat, mode: str = "rne") -> float:
    """The value of the format that x is rounded to, once, subnormals included; the nearest, ties to even, by default.

    Zero gives +0.0; a number that underflows to zero keeps its sign; overflow as in the module's text.
    """
    f = float_format(fmt)
    x = Fraction(x)
    if mode != "rne":
        return _directed_fraction(x, f, mode)
    if x == 0:
        return 0.0
    size = abs(x)
    quantum = max(_exponent(size), f.min_exponent) - f.precision + 1
    steps = round(size / Fraction(2) ** quantum)  # Python rounds a Fraction to the nearest int, ties to even
    if steps * Fraction(2) ** quantum > f.max_finite:
        return f.overflow if x > 0 else -f.overflow
    rounded = ldexp(steps, quantum)
    return rounded if x > 0 else -abs(rounded)


def _directed_fraction(x: Fraction, f: FloatFormat, mode: str) -> float:
    if x == 0:
        return 0.0
    quantum = Fraction(2) ** (max(_exponent(abs(x)), f.min_exponent) - f.precision + 1)
    size = _whole(x / quantum, mode) * quantum
    if abs(size) > f.max_finite:
        return _overflowed(f, mode, x < 0, exact_tie=abs(x) == f.tie_beyond)
    return float(size) if x > 0 else -abs(float(size))


def _exponent(size: Fraction) -> int:
    """e with 2^e ≤ size < 2^(e+1)."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent - (size < Fraction(2) ** exponent)


def _whole(x: Fraction, mode: str) -> int:
    """x rounded to an integer."""
    if mode == "rne":
        return round(x)
    if mode == "tie_low":
        return ceil(x - Fraction(1, 2))
    if mode == "rz":
        return trunc(x)
    return ceil(x) if checked_mode(mode) == "ru" else floor(x)


def _overflowed(f: FloatFormat, mode: str, negative: bool, exact_tie: bool) -> float:
    """What a number becomes whose rounding, with the exponent unbounded, is beyond the format."""
    largest = float(f.max_finite)
    inward = mode in ("rz", "ru" if negative else "rd")
    inward = inward or (mode == "tie_low" and exact_tie and not negative)
    size = largest if inward else f.overflow
    return -size if negative else size


def checked_mode(mode: str) -> str:
    """The mode itself; an unknown one is an `InputError` that lists them."""
    if mode not in MODES:
        raise InputError(f"rounding mode {mode!r}: not one of {', '.join(MODES)}")
    return mode


def round_number(x: Number, fmt: str | FloatFormat) -> float:
    """The value of the format nearest to an exact number, ties to even.

    An irrational number is never a tie (ties are rational), so its enclosure is refined until both ends round
    to the same value.
    """
    f = float_format(fmt)
    x = simplest(x)
    if not isinstance(x, Algebraic):
        return round_fraction(x, f)
    bits = f.precision + 16
    while True:
        lower, upper = enclosure(x, bits)
        low, high = round_fraction(lower, f), round_fraction(upper, f)
        if low == high:
            return low if x.sign() > 0 else -abs(low)
        bits *= 2


def round_array(values: Any, fmt: str | FloatFormat, mode: str = "rne") -> Floats:
    """Each float64 rounded once to the format, by default to nearest even; a new float64 array of the same shape.

    Signs of zeros are kept, nan stays nan, ±inf overflows like any large number.
    """
    f = float_format(fmt)
    given = np.asarray(values, dtype=np.float64)
    if mode != "rne":
        return _directed_array(given, f, mode)
    if f.precision == 53:
        return given.copy()
    x = np.atleast_1d(given)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded: Floats = np.copysign(snapped(x, f), x)
        fits = np.abs(rounded) <= float(f.max_finite)
        if not fits.all():
            large = ~fits  # overflow and nan
            rounded[large] = np.where(np.isnan(x[large]), nan, np.copysign(f.overflow, x[large]))
    return rounded.reshape(given.shape)


def _directed_array(given: Floats, f: FloatFormat, mode: str) -> Floats:
    checked_mode(mode)
    if f.precision == 53:
        return given.copy()
    x = np.atleast_1d(given)
    with np.errstate(over="ignore", invalid="ignore"):
        power = (x.view(np.int64) & (0x7FF << 52)).view(np.float64)
        quantum = np.maximum(power, 2.0**f.min_exponent) * 2.0 ** (1 - f.precision)
        rounded: Floats = np.copysign(whole_numbers(x / quantum, mode) * quantum, x)
        fits = np.abs(rounded) <= float(f.max_finite)
        if not fits.all():
            large = ~fits
            beyond = x[large]
            inward = (mode == "rz") | ((mode == "ru") & (beyond < 0)) | ((mode == "rd") & (beyond > 0))
            inward |= (mode == "tie_low") & (beyond == float(f.tie_beyond))
            inward &= np.isfinite(beyond) | f.saturating
            size = np.where(inward, float(f.max_finite), f.overflow)
            rounded[large] = np.where(np.isnan(beyond), nan, np.copysign(size, beyond))
    return rounded.reshape(given.shape)


def whole_numbers(x: Floats, mode: str) -> Floats:
    """Each float64 rounded to an integer."""
    if mode == "tie_low":
        towards_zero = np.trunc(x)
        part = x - towards_zero  # exact
        return np.asarray(towards_zero + (part > 0.5) - (part <= -0.5))
    whole = {"rne": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}[checked_mode(mode)]
    return np.asarray(whole(x))


def snapped(x: NDArray[Any], fmt: FloatFormat) -> NDArray[Any]:
    """x rounded to the format's grid of values with the exponent unbounded above; ±0 may lose its sign.

    `x`: float64 or float32, with at least four bits more than the format. Adding and subtracting 1.5·2^m makes the
    last bit of the sum that of the format's value near x, so that the processor's own rounding to nearest even
    does the work, in one rounding.
    """
    integer, exponent_bits, least, factor = fmt.grids[x.itemsize]
    power: NDArray[Any] = (x.view(integer) & exponent_bits).view(x.dtype)
    np.maximum(power, least, out=power)
    power *= factor
    result: NDArray[Any] = x + power
    result -= power
    return result


@dataclass(frozen=True)
class Grid:
    """The values k·quantum for the integers low ≤ k ≤ high, saturating; nearest even means even k.

    `quantum`: a power of two. `int:-4..4` has quantum 1; `fixed:BITS:FRACTION` has the two's complement numbers of
    that many bits, FRACTION of them after the point.
    """

    name: str
    low: int
    high: int
    quantum: Fraction = Fraction(1)

    def round_exact(self, x: Fraction | int, mode: str = "rne") -> float:
        """The value that an exact number is rounded to."""
        return float(min(max(_whole(Fraction(x) / self.quantum, mode), self.low), self.high) * self.quantum)

    def round_array(self, values: Any, mode: str = "rne") -> Floats:
        """Each float64 rounded once; nan stays nan."""
        x = np.asarray(values, dtype=np.float64) / float(self.quantum)
        return np.asarray(np.clip(whole_numbers(x, mode), self.low, self.high) * float(self.quantum) + 0.0)

    @cached_property
    def values(self) -> Floats:
        """All values in ascending order."""
        return np.asarray(np.arange(self.low, self.high + 1) * float(self.quantum), dtype=np.float64)


@dataclass(frozen=True)
class FiniteSet:
    """Any finite set of float64 values, ascending, saturating; it has no even members, so no mode `rne`."""

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
        """The value that an exact number is rounded to."""
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
        """Each float64 rounded once; nan stays nan."""
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
        return {"rz": negative, "ru": ~(nearer_above & False), "rd": nearer_above & False}[checked_mode(mode)]


ValueSet = FloatFormat | Grid | FiniteSet
"""What numbers are rounded to."""


def value_set(text: str) -> ValueSet:
    """The values named by a format, `int:-4..4`, `fixed:BITS:FRACTION` or a list such as `-1,0,1/2,1`."""
    name = ALIASES.get(text, text)
    if name in FORMATS or name in OCP_FORMATS:
        return FORMATS.get(name) or OCP_FORMATS[name]
    if match := re.fullmatch(r"int:(-?\d{1,15})\.\.(-?\d{1,15})", text):
        low, high = int(match[1]), int(match[2])
        if low > high:
            raise InputError(f"values {text!r}: {low} is greater than {high}: exchange them")
        return Grid(text, low, high)
    if match := re.fullmatch(r"fixed:(\d{1,3}):(\d{1,3})", text):
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
    """The set of the given numbers (text, int, float or Fraction); each, and each midpoint, must be a float64."""
    exact = []
    for number in numbers:
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
                f"values: {x} (a value or the middle of two) has more than 52 bits: use dyadic numbers"
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
    exponents = range(target.min_exponent, _exponent(target.max_finite) + 1)
    positive = [np.arange(2 ** (p - 1)) * 2.0**lowest]
    positive += [np.arange(2 ** (p - 1), 2**p) * 2.0 ** (e - p + 1) for e in exponents]
    half = np.concatenate(positive)
    half = half[half <= largest]
    return np.concatenate([-half[:0:-1], half])
