"""Arithmetics by their names: sets of values with a zero, rounding modes, and orders of operations.

Standard library only; used by `equivalent.py` and `impossible.py`. Parts that are usual are left out of a name, so each
has one. VALUES: a float format, `int:LOW..HIGH`, `fixed:BITS:FRACTION`, or an ascending list of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from ._exact import Invalid, need, show_value

Round: TypeAlias = Callable[[Fraction], Fraction]
# the same of n/d, given as integers n and d > 0 that may have common divisors
Ratio: TypeAlias = Callable[[int, int], Fraction]

# precision in bits, exponent of the least normal number, largest finite number
FORMATS = {
    "fp64": (53, -1022, Fraction((2**53 - 1) * 2**971)),
    "fp32": (24, -126, Fraction((2**24 - 1) * 2**104)),
    "fp16": (11, -14, Fraction(65504)),
    "bf16": (8, -126, Fraction((2**8 - 1) * 2**120)),
    "fp8_e4m3": (4, -6, Fraction(448)),
    "fp8_e5m2": (3, -14, Fraction(57344)),
    "fp6_e2m3": (4, 0, Fraction(15, 2)),
    "fp6_e3m2": (3, -2, Fraction(28)),
    "fp4_e2m1": (2, 0, Fraction(6)),
}
SATURATING = ("fp8_e4m3", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1")


def nearest_even(n: int, d: int) -> int:
    """n/d to the nearest whole number, ties to the even one."""
    q, rest = divmod(n, d)  # n/d = q + rest/d, 0 ≤ rest < d
    return q + (2 * rest > d or (2 * rest == d and q % 2))


# n/d to a whole number, d > 0; // rounds down, so -(-n // d) rounds up
WHOLE: dict[str, Callable[[int, int], int]] = {
    "rne": nearest_even,
    "tie_low": lambda n, d: -((d - 2 * n) // (2 * d)),  # up from n/d - 1/2
    "rz": lambda n, d: -(-n // d) if n < 0 else n // d,
    "ru": lambda n, d: -(-n // d),
    "rd": lambda n, d: n // d,
}
ORDERS = ("bias", "tree", "fma")
ZERO = Fraction(0)


def dyadic(m: int, e: int) -> Fraction:
    """m 2^e."""
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


class Arithmetic:
    """`kind`: exact, per_step or per_op; `order` of per_op; `ratio` rounds n/d once; `format` of floats, else None.

    `listed`: of a list of values, the comparisons that a rounding takes, and the bits of the longest value; else 0, 0.
    """

    def __init__(self, text: Any) -> None:
        need(type(text) is str, "arithmetic: not a string")
        self.name, self.kind, self.order = text, "exact", "left"
        self.mode = "rne"
        self.format: tuple[int, int, Fraction] | None = None
        self.ratio: Ratio = Fraction
        self.listed = 0, 0
        if text == "exact":
            return
        self.kind, *parts = text.split(":")
        need(self.kind in ("per_step", "per_op") and parts, f"arithmetic: {show_value(text)} is not known")
        # how many parts the name of the set of values has
        width = {"int": 2, "fixed": 3}.get(parts[0], 1)
        values, parts = ":".join(parts[:width]), parts[width:]
        listed = values[:1] in "-0123456789"
        if self.kind == "per_op" and parts[:1] and parts[0] in ORDERS:
            self.order = parts.pop(0)
        # the usual mode is left out of a name; ties of a listed set go down, for it has no even members
        self.mode = usual = "tie_low" if listed else "rne"
        if parts[:1] and parts[0] in WHOLE and parts[0] not in ("rne", usual):
            self.mode = parts.pop(0)
        # a format that saturates anyway may not say so
        saturate = parts == ["sat"] and values in FORMATS and values not in SATURATING
        need(saturate or not parts, f"arithmetic: {show_value(text)} is not how it is written")
        self.format = FORMATS.get(values)
        if listed:
            numbers = listed_values(values)
            self.ratio = round_to_listed(numbers, self.mode)
            # each comparison halves the list, and two more are with the neighbours
            bits = max(x.numerator.bit_length() + x.denominator.bit_length() for x in numbers)
            self.listed = len(numbers).bit_length() + 2, bits
        else:
            self.ratio = ratio_rounding(values, self.mode, saturate)

    def round(self, x: Fraction) -> Fraction:
        """A number, rounded once."""
        return self.ratio(x.numerator, x.denominator)

    def product(self, x: Fraction, y: Fraction) -> Fraction:
        """x y, rounded once."""
        return self.ratio(x.numerator * y.numerator, x.denominator * y.denominator)

    def sum(self, x: Fraction, y: Fraction) -> Fraction:
        """x + y, rounded once."""
        return self.ratio(
            x.numerator * y.denominator + y.numerator * x.denominator, x.denominator * y.denominator
        )

    def operations(self, terms: list[tuple[int, Fraction, Fraction]], b: Fraction, width: int) -> Fraction:
        """Σ a h + b of per_op, for terms (column, a, h) of `width` columns, others zero; b a value of the arithmetic."""
        total = b if self.order == "bias" else ZERO
        if self.order == "fma":
            for _, a, h in terms:
                d = a.denominator * h.denominator  # a h + total is rounded once
                total = self.ratio(
                    a.numerator * h.numerator * total.denominator + total.numerator * d, d * total.denominator
                )
        elif self.order == "tree":
            # zeros keep their places in the tree, so columns are kept by number
            sums = {k: self.product(a, h) for k, a, h in terms}
            while width > 1:  # neighbours in pairs, the last of an odd number alone
                width = (width + 1) // 2
                pairs = {k // 2 for k in sums}
                sums = {k: self.sum(sums.get(2 * k, ZERO), sums.get(2 * k + 1, ZERO)) for k in pairs}
            total = sums.get(0, ZERO)
        else:
            for _, a, h in terms:
                total = self.sum(total, self.product(a, h))  # product and sum are both rounded
        return total if self.order == "bias" else self.sum(total, b)


def rounding(values: str, mode: str, saturate: bool) -> Round:
    """The rounding to a named set of values that has a zero; `Invalid` where a number becomes infinite."""
    ratio = ratio_rounding(values, mode, saturate)
    return lambda x: ratio(x.numerator, x.denominator)


def ratio_rounding(values: str, mode: str, saturate: bool) -> Ratio:
    """The same, for n/d."""
    if values in FORMATS:
        return float_rounding(values, mode, saturate or values in SATURATING)
    if values[:1] in "-0123456789":
        return round_to_listed(listed_values(values), mode)
    grid = re.fullmatch(r"int:(-[1-9][0-9]{0,14}|0)\.\.([1-9][0-9]{0,14}|0)", values)
    fixed = re.fullmatch(r"fixed:([1-9][0-9]?):(0|[1-9][0-9]{0,2})", values)
    if grid:
        low, high, parts = int(grid[1]), int(grid[2]), 1
    elif fixed:
        # two's complement: BITS bits, of which FRACTION are behind the point
        high = 2 ** (int(fixed[1]) - 1) - 1
        low, parts = -high - 1, 2 ** int(fixed[2])
    else:
        raise Invalid(f"arithmetic: {show_value(values)} is no format, grid with a zero, or list of numbers")
    whole = WHOLE[mode]
    # values are multiples of 1/parts; grids saturate
    return lambda n, d: Fraction(min(max(whole(n * parts, d), low), high), parts)


def float_rounding(values: str, mode: str, saturate: bool) -> Ratio:
    """To a float format: overflow goes to the largest number where the mode rounds inward, or by saturation."""
    precision, least, largest = FORMATS[values]
    whole = WHOLE[mode]
    # 2^top ≤ largest < 2^(top+1)
    top = int(largest).bit_length() - 1

    def to_float(n: int, d: int) -> Fraction:
        size = abs(n)
        exponent = size.bit_length() - d.bit_length()
        # the difference of lengths is e or e + 1, where 2^e ≤ |n/d| < 2^(e+1)
        below = size < d << exponent if exponent >= 0 else size << -exponent < d
        exponent = max(exponent - below, least)
        # values there are multiples of 2^unit; subnormals, and 0, have the least e
        unit = exponent - precision + 1
        y = dyadic(whole(n, d << unit) if unit >= 0 else whole(n << -unit, d), unit)
        if exponent < top:
            return y  # |n/d| < 2^top, and 2^top is a number of the format
        # whether the mode rounds a number of this sign toward zero, so that it stays below infinity
        inward = saturate or mode in ("rz", "ru" if n < 0 else "rd")
        need(abs(y) <= largest or inward, "a number overflows")
        return min(max(y, -largest), largest)

    return to_float


def listed_values(values: str) -> list[Fraction]:
    """The numbers of a finite set, written as an ascending list in lowest terms."""
    need(
        all(re.fullmatch(r"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?", part) for part in values.split(",")),
        "arithmetic: not a list of numbers",
    )
    numbers = [Fraction(part) for part in values.split(",")]
    written = ",".join(str(x) for x in numbers)
    need(written == values and numbers == sorted(set(numbers)), "arithmetic: the list is not ascending")
    need(ZERO in numbers, "arithmetic: a set without a zero")
    return numbers


def round_to_listed(numbers: list[Fraction], mode: str) -> Ratio:
    """To a finite set of numbers, which ascend."""
    pairs = [(x.numerator, x.denominator) for x in numbers]

    def to_member(n: int, d: int) -> Fraction:
        # the first number that is at least n/d, or else the last
        least, most = 0, len(pairs) - 1
        while least < most:
            middle = (least + most) // 2
            p, q = pairs[middle]
            least, most = (middle + 1, most) if p * d < n * q else (least, middle)
        # low and high are the neighbours of n/d, or the end of the list that it lies beyond
        p, q = pairs[least]
        if least == 0 or p * d <= n * q:
            return numbers[least]
        low, high = numbers[least - 1], numbers[least]
        if mode == "tie_low":
            # whether n/d lies nearer to p/q than to the number below, r/s: 2 n/d > p/q + r/s
            r, s = pairs[least - 1]
            up = 2 * n * q * s > d * (p * s + r * q)
        else:
            up = {"ru": True, "rd": False, "rz": n < 0}[mode]
        return high if up else low

    return to_member
