"""Numbers of a field Q(2cos 2π/N) of high degree, as sums of cosines: Σ c_j cos(2πj/N) with rational c_j.

Polynomials of degree 1,000 with coefficients of hundreds of digits are no way to write cos(2π/997). Here a certificate writes
[k] for cos(2πk/N), and sums and products of such numbers follow from

- cos a · cos b = (cos(a + b) + cos(a - b))/2, cos(-a) = cos a, cos(π - a) = -cos a, cos(π/2) = 0,
- where 3 divides N: cos(60° + a) = cos a - cos(60° - a), cos 60° = 1/2.

By these rules each number gets the terms 1 and cos(2πj/N) with 0 < j < N/4, or 0 < j < N/6 where 3 divides N.

*What is proved with them.* Numbers with the same terms are equal. Numbers with different terms may be equal too, as the rules leave
relations such as Σ cos(2πj/p) = 0 out; such numbers are taken for different ones. That can make a checker refuse a right
certificate. It cannot make it accept a wrong one: that a code goes to a code, and that two things agree, is shown by equal terms, and
where it matters that two numbers differ, both stand in the certificate, as [k] with 0 < k < N/2 and irrational, or as a
rational; cos is injective there. Signs are decided by bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import Any

from ._exact import Element, Field, Invalid, Number, bits_of, integer, need, show_value

MAX_PRECISION = 2**14
SLACK = 64  # bits that a cosine is computed with beyond those that are asked for
Terms = dict[int, int]


class CosineField(Field):
    """Q(2cos 2π/N) for N a multiple of 4."""

    def __init__(self, conductor: int, degree: int, spend: Callable[..., None]) -> None:
        self.spend, self.conductor, self.degree = spend, conductor, degree
        self.folds: dict[int, Terms] = {}
        self.cosines: dict[tuple[int, int], int] = {}
        self.pis: dict[int, int] = {}

    def read(self, x: Any, where: str) -> Number:
        """[k]: the number cos(2πk/N), irrational, 0 < k < N/2."""
        if type(x) is not list or len(x) != 1:
            raise Invalid(
                f"{where}: {show_value(x)} is not a number of the field: it has the form [k], k an integer"
            )
        k = integer(x[0], 1, self.conductor // 2 - 1, where)
        # rational are cos 60°, cos 90° and cos 120° alone (Niven)
        need(
            k * 4 != self.conductor and k * 6 not in (self.conductor, 2 * self.conductor),
            f"{where}: this cosine is rational",
        )
        return self.cosine_of(k)

    def fold(self, k: int) -> Terms:
        """2cos(2πk/N) as Σ c_j 2cos(2πj/N), j = 0 for the rational number 1 in place of 2cos 0."""
        if k not in self.folds:
            self.folds[k] = self.folded(k)
        return self.folds[k]

    def folded(self, k: int) -> Terms:
        """The rules of the text."""
        N = self.conductor
        k %= N
        k, sign = min(k, N - k), 1
        if 4 * k > N:
            k, sign = N // 2 - k, -1
        if 4 * k == N:
            return {}
        if k == 0:
            return {0: 2 * sign}
        if N % 3 or 6 * k < N:
            return {k: sign}
        if 6 * k == N:
            return {0: sign}
        return {k - N // 6: sign, N // 3 - k: -sign}

    def total(self, denominator: int, terms: Terms) -> Number:
        """(c_0 + Σ c_j 2cos(2πj/N)) / denominator; int or Fraction where only c_0 is there."""
        terms = {j: c for j, c in terms.items() if c}  # an own copy
        divisor = gcd(denominator, *terms.values())
        if not terms or (len(terms) == 1 and 0 in terms):
            rational = Fraction(terms.get(0, 0), denominator)
            return rational.numerator if rational.denominator == 1 else rational
        return CosineSum(
            self, denominator // divisor, tuple(sorted((j, c // divisor) for j, c in terms.items()))
        )

    def proportional(self, numbers: list[Number]) -> bool:
        """Whether all are rational multiples of the first, by their terms; no zeros are among them."""

        def shape(x: Number) -> tuple[tuple[int, Fraction], ...]:
            terms = x.terms if isinstance(x, CosineSum) else ((0, 1),)
            return tuple((j, Fraction(c, terms[0][1])) for j, c in terms)

        return len({shape(x) for x in numbers}) == 1

    def cosine_of(self, k: int) -> Number:
        """cos(2πk/N)."""
        return self.total(2, self.fold(k))

    def pi(self, bits: int) -> int:
        """An integer within 2^20 of 2^bits π: Machin's 16 arctan(1/5) - 4 arctan(1/239)."""
        if bits not in self.pis:
            total = 0
            for factor, n in ((16, 5), (-4, 239)):
                # arctan(1/n) = 1/n - 1/(3n³) + ...; each of the fewer than `bits` terms is cut off by less than 2
                power, k = (factor << bits) // n, 1
                while power not in (0, -1):
                    total += power // k if k % 4 == 1 else -(power // k)
                    power //= n * n
                    k += 2
            self.pis[bits] = total
        return self.pis[bits]

    def cosine(self, k: int, bits: int) -> int:
        """The integer m with m - 1 < 2^bits cos(2πk/N) < m + 1, for 0 ≤ k ≤ N/4.

        With x = 2πk/N ≤ π/2 and w = bits + 64, all numbers in units of 2^-w: x is known to 2 units, x² to 8. A term of the
        series, t_i = t_(i-1) x²/(2i(2i - 1)), is known to 7 units for i = 1, as x²/2 < 5/4, and to 4 for i > 1, as
        x²/12 < 1/4. Terms fall to a quarter or less, so that fewer than w are not 0, and the sum is known to 4w + 10 units,
        which is less than 2^63, and so is what is left out.
        """
        if (k, bits) not in self.cosines:
            need(bits <= MAX_PRECISION, "two numbers are too close to tell which is larger")
            w = bits + SLACK
            self.spend(w, w)
            x = 2 * k * self.pi(w + 32) // (self.conductor << 32)
            square, term, total, i = x * x >> w, 1 << w, 1 << w, 0
            while term:
                i += 1
                term = (term * square >> w) // (2 * i * (2 * i - 1))
                total += -term if i % 2 else term
            self.cosines[k, bits] = (total + (1 << SLACK - 1)) >> SLACK
        return self.cosines[k, bits]


class CosineSum(Element):
    """An irrational number of a field of cosines; `terms` are its (j, c), see `CosineField.total`."""

    field: CosineField

    def __init__(self, field: CosineField, denominator: int, terms: tuple[tuple[int, int], ...]) -> None:
        self.field, self.denominator, self.terms = field, denominator, terms
        self.coefficients = tuple(c for _, c in terms)
        self.key = (denominator, terms)
        self.bits = denominator.bit_length() + max(c.bit_length() for _, c in terms)

    def __add__(self, other: Number) -> Number:
        if isinstance(other, CosineSum):
            denominator, added = other.denominator, other.terms
        else:
            other = Fraction(other)  # type: ignore[arg-type]
            denominator, added = other.denominator, ((0, other.numerator),)
        self.field.spend(len(self.terms) + len(added), self.bits + denominator.bit_length())
        total = {j: c * denominator for j, c in self.terms}
        for j, c in added:
            total[j] = total.get(j, 0) + c * self.denominator
        return self.field.total(self.denominator * denominator, total)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return CosineSum(self.field, self.denominator, tuple((j, -c) for j, c in self.terms))

    def __mul__(self, other: Number) -> Number:
        field = self.field
        if not isinstance(other, CosineSum):
            other = Fraction(other)  # type: ignore[arg-type]
            field.spend(len(self.terms), self.bits + bits_of(other))
            return field.total(
                self.denominator * other.denominator, {j: c * other.numerator for j, c in self.terms}
            )
        field.spend(4 * len(self.terms) * len(other.terms), self.bits + other.bits)
        total: Terms = {}
        for i, a in self.terms:
            for j, b in other.terms:
                if i == 0 or j == 0:
                    # one of them is rational
                    total[i + j] = total.get(i + j, 0) + a * b
                    continue
                # 2cos x · 2cos y = 2cos(x + y) + 2cos(x - y)
                for k in (i + j, i - j):
                    for to, c in field.fold(k).items():
                        total[to] = total.get(to, 0) + c * a * b
        return field.total(self.denominator * other.denominator, total)

    __rmul__ = __mul__

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational bounds of the number, from cosines to the given number of bits."""
        middle, error = 0, 0
        for j, c in self.terms:
            # 2^bits · 2cos is known to two units
            middle += c * (2 * self.field.cosine(j, bits) if j else 1 << bits)
            error += 2 * abs(c) if j else 0
        scale = self.denominator << bits
        return Fraction(middle - error, scale), Fraction(middle + error, scale)
