"""What every checker needs, with the standard library only: values of the right form, and exact numbers.

Numbers are `int`, `Fraction`, or `Element`: irrational members of a field Q(θ), θ = 2cos(2π/N).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any, TypeAlias

from ._cyclotomic import cyclotomic

MAX_CONDUCTOR = 40_000
MAX_DENSE_DEGREE = 40  # of fields whose numbers are polynomials in θ; those of others are in `_cosines.py`
MAX_DIGITS = 4_000
MAX_BITS = 2**19  # bits to which θ is computed, times the degree of its field


class Invalid(Exception):  # noqa: N818 (a verdict, not an error)
    """The certificate does not prove what it says; the message is the reason."""


def need(condition: object, reason: str) -> None:
    """Raise `Invalid(reason)` unless the condition holds."""
    if not condition:
        raise Invalid(reason)


def show_value(x: Any) -> str:
    """A value in a message, short whatever it is."""
    if type(x) in (list, dict):
        return "a list" if type(x) is list else "an object"
    if type(x) is int and abs(x) >= 10**30:
        return "a huge integer"
    text = ascii(x)
    return text if len(text) <= 60 else f"{text[:57]}..."


def integer(x: Any, low: int, high: int, where: str) -> int:
    """x itself, an integer (no bool) in [low, high]."""
    if type(x) is not int or not low <= x <= high:
        raise Invalid(f"{where}: {show_value(x)} is not an integer from {low} to {high}")
    return x


def array(x: Any, where: str, length: int | None = None) -> list[Any]:
    """x itself, a list, of the given length if one is given."""
    if type(x) is not list:
        raise Invalid(f"{where}: not a list")
    need(length is None or len(x) == length, f"{where}: {len(x)} entries, not {length}")
    return x


def record(x: Any, keys: set[str], where: str) -> dict[str, Any]:
    """x itself, an object with exactly these keys."""
    if type(x) is not dict or set(x) != keys:
        raise Invalid(f"{where}: the keys must be {sorted(keys)}")
    return x


def same(x: Any, y: Any) -> bool:
    """Equality that keeps true, 1 and 1.0 apart."""
    if type(x) is list and type(y) is list:
        return len(x) == len(y) and all(same(a, b) for a, b in zip(x, y, strict=True))
    return type(x) is type(y) and bool(x == y)


class Field:
    """Q(θ), θ = 2cos(2π/N): the minimal polynomial from the cyclotomic one, and rational bounds of θ."""

    def __init__(self, conductor: int, spend: Callable[..., None] = lambda steps, bits=0: None) -> None:
        self.spend = spend  # counts steps with numbers of so many bits
        self.products: dict[tuple[Any, Any], Number] = {}
        self.thetas: dict[int, int] = {}
        self.conductor = conductor
        if conductor <= 2:
            # θ = 2cos(2π/N) is 2 for N = 1 and -2 for N = 2, with the polynomials x - 2 and x + 2
            self.modulus = [-2 if conductor == 1 else 2, 1]
        else:  # Φ(x) = x^h Ψ(x + 1/x), and x^j + x^-j = C_j(x + 1/x) with C_{j+1} = θ C_j - C_{j-1}
            phi = cyclotomic(conductor)
            half = (len(phi) - 1) // 2
            self.modulus = [phi[half]] + [0] * half
            before, now = [2], [0, 1]  # C_0 = 2 and C_1 = θ
            for j in range(1, half + 1):
                self.modulus = [
                    m + phi[half + j] * c for m, c in zip(self.modulus, [*now, *[0] * half], strict=False)
                ]
                # θ C_j - C_{j-1}
                following = [0, *now]
                for i, c in enumerate(before):
                    following[i] -= c
                before, now = now, following
        self.degree = len(self.modulus) - 1

    @cached_property
    def powers(self) -> list[list[int]]:
        """θ^i reduced, for all i below twice the degree; made only once numbers are multiplied."""
        # so many numbers are made and kept, as long as those of the modulus
        self.spend(20 * self.degree**2 * (1 + self.degree // 360))
        power = [1] + [0] * (self.degree - 1)
        powers = []
        for _ in range(2 * self.degree):
            powers.append(power)
            # θ·θ^i: shifted by one; the modulus is monic, so subtracting its multiple removes θ^degree
            power = [c - power[-1] * m for c, m in zip([0, *power[:-1]], self.modulus, strict=False)]
        return powers

    def cosine_of(self, k: int) -> Number:
        """cos(2πk/N)."""
        twice = self.chebyshev
        while len(twice) <= k:
            # C_k = θ C_{k-1} - C_{k-2}; θ times a reduced polynomial needs one subtraction of the modulus
            self.spend(self.degree, twice[-1][0].bit_length())
            shifted, last = [0, *twice[-1][:-1]], twice[-1][-1]
            twice.append(
                [c - last * m - d for c, m, d in zip(shifted, self.modulus, twice[-2], strict=False)]
            )
        return self.element(2, twice[k])

    @cached_property
    def chebyshev(self) -> list[list[int]]:
        """2cos(2πk/N) for k = 0, 1 and so far as they were needed, as polynomials in θ."""
        rest = [0] * (self.degree - 1)
        return [[2, *rest], [0, 1, *rest[1:]] if rest else [-self.modulus[0]]]

    def theta(self, bits: int) -> int:
        """The integer m with m/2^bits ≤ θ < (m+1)/2^bits, where the degree is above 1 (N = 5 or N ≥ 7)."""
        if bits in self.thetas:
            return self.thetas[bits]
        need(bits * self.degree <= MAX_BITS, "two numbers are too close to tell which is larger")
        self.spend(
            bits * self.degree * (1 + bits * bits * self.degree // 90_000)
        )  # its numbers have bits·degree bits
        # 2cos(4π/N) < 2 - (44/7N)² < θ < 2: no other root of the minimal polynomial lies above the left end
        low = (2 << bits) - -(-(1936 << bits) // (49 * self.conductor**2))
        high = 2 << bits
        # invariant: low ≤ 2^bits θ < high, since in between the polynomial changes its sign at θ alone
        while high - low > 1:
            middle, value = (low + high) // 2, 0
            # in the end 2^(bits·degree) Ψ(middle / 2^bits), a whole number with the sign of Ψ
            for i, c in enumerate(reversed(self.modulus)):
                value = value * middle + (c << (bits * i))
            low, high = (middle, high) if value <= 0 else (low, middle)
        self.thetas[bits] = low
        return low

    def read(self, x: Any, where: str) -> Number:
        """Parse a list of at least two coefficients of 1, θ, θ², ..."""
        if type(x) is not list or not 2 <= len(x) <= self.degree:
            raise Invalid(f"{where}: {show_value(x)} is not a number of the field")
        need(list not in map(type, x), f"{where}: a coefficient is a list")
        found = [number(c, self, where) for c in x]
        parts = [Fraction(c) for c in found if not isinstance(c, Element)]  # none is, as none is a list
        # trailing coefficients of zero are left out, so that each number has one form
        need(parts[-1] != 0, f"{where}: the last coefficient is zero")
        parts += [Fraction(0)] * (self.degree - len(parts))
        common = 1
        for c in parts:
            common = lcm(common, c.denominator)
            self.spend(1, common.bit_length())
        return self.element(common, [int(c * common) for c in parts])

    def element(self, denominator: int, coefficients: list[int]) -> Number:
        """The number Σ c_i θ^i / denominator, as int or Fraction where it is rational."""
        divisor = gcd(denominator, *coefficients)
        if any(coefficients[1:]):
            return Element(self, denominator // divisor, tuple(c // divisor for c in coefficients))
        return (
            coefficients[0] // divisor if denominator == divisor else Fraction(coefficients[0], denominator)
        )


class Element:
    """An irrational number of a field: integer coefficients over one positive denominator."""

    __slots__ = ("bits", "coefficients", "denominator", "field", "key")

    def __init__(self, field: Field, denominator: int, coefficients: tuple[int, ...]) -> None:
        self.field, self.denominator, self.coefficients = field, denominator, coefficients
        self.key: tuple[int, tuple[Any, ...]] = (denominator, coefficients)
        self.bits = denominator.bit_length() + max(map(int.bit_length, coefficients))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self.key == other.key

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, Element):
            other = Fraction(other)
            padded = (other.numerator,) + (0,) * (self.field.degree - 1)
            other = Element(self.field, other.denominator, padded)
        self.field.spend(self.field.degree, self.bits + other.bits)
        # x/p + y/q = (xq + yp)/(pq); `element` cancels
        p, q = self.denominator, other.denominator
        sums = [a * q + b * p for a, b in zip(self.coefficients, other.coefficients, strict=True)]
        return self.field.element(p * q, sums)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return Element(self.field, self.denominator, tuple(-c for c in self.coefficients))

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __rsub__(self, other: Number) -> Number:
        return -self + other

    def __mul__(self, other: Number) -> Number:
        field = self.field
        if not isinstance(other, Element):
            other = Fraction(other)
            field.spend(field.degree, self.bits + bits_of(other))
            return field.element(
                self.denominator * other.denominator, [c * other.numerator for c in self.coefficients]
            )
        pair = (self.key, other.key)
        if pair not in field.products:
            field.spend(2 * field.degree**2, self.bits + other.bits)
            # the product of the polynomials; what has a degree
            # too high is replaced by powers of θ in reduced form
            raw = [0] * (2 * field.degree)
            for i, x in enumerate(self.coefficients):
                if x:
                    for j, y in enumerate(other.coefficients, start=i):
                        raw[j] += x * y
            reduced = raw[: field.degree]
            for c, power in zip(raw[field.degree :], field.powers[field.degree :], strict=True):
                if c:
                    reduced = [r + c * p for r, p in zip(reduced, power, strict=True)]
            field.products[pair] = field.element(self.denominator * other.denominator, reduced)
        return field.products[pair]

    __rmul__ = __mul__

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational bounds of the number, from θ to the given number of bits, by interval Horner steps."""
        theta, low, high, shift = self.field.theta(bits), 0, 0, 0
        self.field.spend(
            4 * self.field.degree * (1 + (bits * self.field.degree + self.bits) * bits // 45_000)
        )
        # invariant: the Horner value at θ lies in [low, high] / 2^shift
        for c in reversed(self.coefficients):
            # [low, high] · [θ-, θ+] lies between the least and the greatest of the four corners
            corners = [x * m for x in (low, high) for m in (theta, theta + 1)]
            shift += bits
            low, high = min(corners) + (c << shift), max(corners) + (c << shift)
        return Fraction(low, self.denominator << shift), Fraction(high, self.denominator << shift)


Number: TypeAlias = int | Fraction | Element


def key_of(x: Number) -> Any:
    """Hashable, and equal for numbers that are written alike."""
    return x.key if isinstance(x, Element) else Fraction(x)


def bits_of(x: Number) -> int:
    """The bits of a number: of its denominator and its largest coefficient."""
    if isinstance(x, Element):
        return x.bits
    return x.bit_length() if isinstance(x, int) else x.numerator.bit_length() + x.denominator.bit_length()


def bounds(x: Number, bits: int) -> tuple[Fraction, Fraction]:
    """Rational bounds of any number; equal for rationals."""
    return x.bounds(bits) if isinstance(x, Element) else (Fraction(x), Fraction(x))


def sign(x: Number) -> int:
    """-1, 0 or 1; an irrational number is not zero, so refining its bounds ends."""
    bits = 64
    while True:
        low, high = bounds(x, bits)  # which refuses what would take too long
        if low > 0 or high < 0 or low == high:
            return (low > 0) - (high < 0)
        bits *= 2


def number(x: Any, field: Field, where: str) -> Number:
    """Parse an integer, "p/q" in lowest terms, or the list that stands for an irrational number of the field."""
    if type(x) is int:
        return x
    if type(x) is str:
        need(
            len(x) <= MAX_DIGITS and re.fullmatch(r"-?[1-9][0-9]*/[1-9][0-9]*", x),
            f"{where}: {show_value(x)} is not a number",
        )
        p, q = (int(part) for part in x.split("/"))
        need(q > 1 and gcd(p, q) == 1, f"{where}: {show_value(x)} is not in lowest terms")
        return Fraction(p, q)
    return field.read(x, where)
