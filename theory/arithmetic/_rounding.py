"""Floating-point formats, and rounding once to them from the exact value.

Stored numbers are Python or numpy float64 values that lie in the format: each is a subset of float64, so a value of
a narrow format needs no type of its own. Overflow goes to ±inf where the format has an infinity; `fp8_e4m3` (the
"fn" variant) has none and saturates at ±448, so that no number ever becomes nan; so do the OCP formats of six and four
bits. Rounding modes are in `MODES`; without one it is to nearest even. Grids and finite sets: `_value_sets.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, ldexp, nan, trunc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.algebra._cyclotomic import Algebraic, Number, enclosure, simplest
from ...foundation._arguments import show_value
from ...foundation._errors import InputError

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

    Attributes:
        name: the dtype's name.
        precision: significant bits, the leading one included.
        min_exponent: the exponent e such that 2^e is the smallest normal number.
        max_finite: the largest finite value.
        saturating: whether overflow gives ±max_finite instead of ±inf.
    """

    name: str
    precision: int
    min_exponent: int
    max_finite: Fraction
    saturating: bool = False

    @property
    def overflow(self) -> float:
        """The value to which a positive number that is too large for the format is rounded."""
        return float(self.max_finite) if self.saturating else inf

    @property
    def tie_beyond(self) -> Fraction:
        """Half a step above the largest value: in nearest rounding what is less stays finite."""
        return self.max_finite + Fraction(2) ** (binary_exponent(self.max_finite) - self.precision)

    @property
    def smallest(self) -> Fraction:
        """The smallest positive (subnormal) value."""
        return Fraction(2) ** (self.min_exponent - self.precision + 1)

    @cached_property
    def grids(self) -> dict[int, tuple[Any, ...]]:
        """What `snap_to_grid` needs, by the bytes of the carrying type: masks of its exponent, 2^e, and 1.5·2^k."""
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
    """Return the float format of a dtype.

    Args:
        dtype: a name or alias, such as `bf16` or `float32`.

    Raises:
        InputError: the dtype is unknown; the message lists the known ones.
    """
    if isinstance(dtype, FloatFormat):
        return dtype
    found = FORMATS.get(ALIASES.get(dtype, dtype)) if isinstance(dtype, str) else None
    if found is None:
        raise InputError(
            f"dtype {show_value(dtype)}: not a format; the formats are {', '.join(FORMATS)} "
            f"(also written {', '.join(ALIASES)})"
        )
    return found


def round_fraction(x: Fraction | int, fmt: str | FloatFormat, mode: str = "rne") -> float:
    """Round a rational number once to a format, including its subnormals; by default to nearest, ties to even.

    Zero gives +0.0; a number that underflows to zero keeps its sign; overflow as in the module's text.

    Args:
        x: an exact rational number.
        fmt: the format that results are rounded to.
        mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
    """
    f = float_format(fmt)
    x = Fraction(x)
    if mode != "rne":
        return _round_fraction_directed(x, f, mode)
    if x == 0:
        return 0.0
    size = abs(x)
    quantum = max(binary_exponent(size), f.min_exponent) - f.precision + 1
    steps = round(size / Fraction(2) ** quantum)  # Python rounds a Fraction to the nearest int, ties to even
    if steps * Fraction(2) ** quantum > f.max_finite:
        return f.overflow if x > 0 else -f.overflow
    rounded = ldexp(steps, quantum)
    return rounded if x > 0 else -abs(rounded)


def _round_fraction_directed(x: Fraction, f: FloatFormat, mode: str) -> float:
    if x == 0:
        return 0.0
    quantum = Fraction(2) ** (max(binary_exponent(abs(x)), f.min_exponent) - f.precision + 1)
    size = whole_number(x / quantum, mode) * quantum
    if abs(size) > f.max_finite:
        return _overflow_value(f, mode, x < 0, exact_tie=abs(x) == f.tie_beyond)
    return float(size) if x > 0 else -abs(float(size))


def binary_exponent(size: Fraction) -> int:
    """e with 2^e ≤ size < 2^(e+1)."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent - (size < Fraction(2) ** exponent)


def whole_number(x: Fraction, mode: str) -> int:
    """x rounded to an integer."""
    if mode == "rne":
        return round(x)
    if mode == "tie_low":
        return ceil(x - Fraction(1, 2))
    if mode == "rz":
        return trunc(x)
    return ceil(x) if check_mode(mode) == "ru" else floor(x)


def _overflow_value(f: FloatFormat, mode: str, negative: bool, exact_tie: bool) -> float:
    """What a number becomes whose rounding, with the exponent unbounded, is beyond the format."""
    largest = float(f.max_finite)
    inward = mode in ("rz", "ru" if negative else "rd")
    inward = inward or (mode == "tie_low" and exact_tie and not negative)
    size = largest if inward else f.overflow
    return -size if negative else size


def check_mode(mode: str) -> str:
    """The mode itself; an unknown one is an `InputError` that lists them."""
    if mode not in MODES:
        raise InputError(f"rounding mode {mode!r}: not one of {', '.join(MODES)}")
    return mode


def round_number(x: Number, fmt: str | FloatFormat, mode: str = "rne") -> float:
    """Round an exact number once to a format, by default to nearest, ties to even.

    An irrational number is neither a value of the format nor a tie, since these are rational. So its enclosure is refined until both ends round
    to the same value.

    Args:
        x: an exact number, rational or algebraic.
        fmt: the format that results are rounded to.
        mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).

    Examples:
        >>> from fractions import Fraction
        >>> from mirrormata.theory import round_number
        >>> round_number(Fraction(1, 3), "bf16")
        0.333984375
    """
    f = float_format(fmt)
    x = simplest(x)
    if not isinstance(x, Algebraic):
        return round_fraction(x, f, mode)
    bits = f.precision + 16
    while True:
        lower, upper = enclosure(x, bits)
        low, high = round_fraction(lower, f, mode), round_fraction(upper, f, mode)
        if low == high:
            return low if x.sign() > 0 else -abs(low)
        bits *= 2


def round_array(values: Any, fmt: str | FloatFormat, mode: str = "rne") -> Floats:
    """Round each float64 once to a format, by default to nearest, ties to even; the result is a new float64 array.

    Signs of zeros are kept, nan stays nan, ±inf overflows like any large number.

    Args:
        values: float64 numbers, of any shape.
        fmt: the format that results are rounded to.
        mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).

    Examples:
        >>> from mirrormata.theory import round_array
        >>> round_array([1 / 3, 2.0], "fp8_e4m3")
        array([0.34375, 2.     ])
    """
    f = float_format(fmt)
    given = np.asarray(values, dtype=np.float64)
    if mode != "rne":
        return _round_array_directed(given, f, mode)
    if f.precision == 53:
        return given.copy()
    x = np.atleast_1d(given)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded: Floats = np.copysign(snap_to_grid(x, f), x)
        fits = np.abs(rounded) <= float(f.max_finite)
        if not fits.all():
            large = ~fits  # overflow and nan
            rounded[large] = np.where(np.isnan(x[large]), nan, np.copysign(f.overflow, x[large]))
    return rounded.reshape(given.shape)


def _round_array_directed(given: Floats, f: FloatFormat, mode: str) -> Floats:
    check_mode(mode)
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
    whole = {"rne": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}[check_mode(mode)]
    return np.asarray(whole(x))


def snap_to_grid(x: NDArray[Any], fmt: FloatFormat) -> NDArray[Any]:
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
