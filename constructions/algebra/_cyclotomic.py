"""Exact numbers: integers, rationals and the real cyclotomic fields Q(2cos 2π/N).

An element is a polynomial in θ = 2cos(2π/N) modulo its minimal polynomial; signs are decided by ball arithmetic
whose precision grows until the ball excludes zero.

In a field of high degree, whose polynomials would be long, an element is a sum of cosines with rational coefficients instead, as
the numbers of rotations have few terms in that form: cos a · cos b = (cos(a + b) + cos(a - b))/2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import count
from math import gcd, lcm
from typing import TYPE_CHECKING, TypeAlias

from ._conductors import conductor_degree, minimal_polynomial, prime_divisors
from ._number_text import cosines_text, polynomial_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flint import arb, fmpq_poly


class RealCyclotomicField:
    """The field Q(θ), θ = 2cos(2π/N); use `real_cyclotomic_field(N)` to make it.

    `conductor` is N; `degree` is φ(N)/2 for N ≥ 3.

    Args:
        conductor: N, at least 1.
    """

    def __init__(self, conductor: int) -> None:
        self.conductor = conductor
        self.degree = conductor_degree(conductor)

    @cached_property
    def modulus(self) -> fmpq_poly:
        """The minimal polynomial of θ."""
        from flint import fmpq_poly

        return fmpq_poly([int(c) for c in minimal_polynomial(self.conductor)])

    @cached_property
    def _chebyshev(self) -> list[fmpq_poly]:
        from flint import fmpq_poly

        return [fmpq_poly([2]), fmpq_poly([0, 1]) % self.modulus]

    def __repr__(self) -> str:
        return f"real_cyclotomic_field({self.conductor})"

    def element(self, coefficients: Iterable[int | Fraction]) -> Algebraic:
        """The element Σ c_i θ^i.

        Args:
            coefficients: c_0, c_1, ..., rational.
        """
        from flint import fmpq, fmpq_poly

        exact = [fmpq(Fraction(c).numerator, Fraction(c).denominator) for c in coefficients]
        return Algebraic(self, fmpq_poly(exact) % self.modulus)

    def twice_cos(self, k: int) -> Algebraic:
        """2cos(2πk/N).

        Args:
            k: any integer.
        """
        return Algebraic(self, self._twice_cos(k))

    def _twice_cos(self, k: int) -> fmpq_poly:
        # the cosine is even and has period N in k
        k %= self.conductor
        k = min(k, self.conductor - k)
        theta = self._chebyshev[1]
        while len(self._chebyshev) <= k:
            # C_k = θ C_{k-1} - C_{k-2}
            self._chebyshev.append((theta * self._chebyshev[-1] - self._chebyshev[-2]) % self.modulus)
        return self._chebyshev[k]

    def cos(self, k: int) -> Algebraic:
        """cos(2πk/N).

        Args:
            k: any integer.
        """
        return self.twice_cos(k) / 2

    def sin(self, k: int) -> Algebraic:
        """sin(2πk/N); N must be a multiple of 4.

        Args:
            k: any integer.
        """
        if self.conductor % 4:
            raise ValueError(f"sines lie in the field only where 4 divides N, not for N = {self.conductor}")
        # sin α = cos(α - π/2), a quarter of N back
        return self.cos(k - self.conductor // 4)

    def theta_ball(self, bits: int) -> arb:
        """A ball around θ, computed with the given working precision.

        Args:
            bits: the working precision in bits.
        """
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            return 2 * arb.cos_pi_fmpq(fmpq(2, self.conductor))


@cache
def real_cyclotomic_field(conductor: int) -> RealCyclotomicField:
    """Return the field Q(2cos 2π/N). There is one object for each N.

    Args:
        conductor: N, at least 1.

    Examples:
        >>> from mirrormata.constructions import real_cyclotomic_field
        >>> real_cyclotomic_field(5).cos(1)
        real_cyclotomic_field(5).element(['0', '1/2'])
    """
    if conductor < 1:
        raise ValueError("the conductor is a positive integer")
    if conductor % 4 == 0 and conductor_degree(conductor) > MAX_DENSE_DEGREE:
        return CosineField(conductor)
    return RealCyclotomicField(conductor)


MAX_DENSE_DEGREE = 40
"""Degree up to which elements of a field are polynomials; above it, where 4 divides N, they are sums of cosines."""


@lru_cache(maxsize=1024)
def _constant(x: int | Fraction) -> fmpq_poly:
    from flint import fmpq, fmpq_poly

    return fmpq_poly([fmpq(x.numerator, x.denominator)])


class Algebraic:
    """An element of a real cyclotomic field; it can be combined with `int` and `Fraction`, and is immutable and hashable.

    Arithmetic between two fields is a `ValueError`; numbers of two fields are equal only where they are rational.

    Args:
        field: the field that it belongs to.
        poly: a rational polynomial in θ, of degree below the field's.
    """

    __slots__ = ("__dict__", "field", "poly")

    def __init__(self, field: RealCyclotomicField, poly: fmpq_poly) -> None:
        self.field = field
        self.poly = poly

    @property
    def rational(self) -> Fraction | None:
        """The same number as `Fraction`, None for an irrational one."""
        if self.poly.degree() > 0:
            return None
        return self.coefficients[0] if self.coefficients else Fraction(0)

    @cached_property
    def coefficients(self) -> tuple[Fraction, ...]:
        """Coefficients of 1, θ, θ², ...; no trailing zeros."""
        return tuple(Fraction(int(c.p), int(c.q)) for c in self.poly.coeffs())

    def _coerce(self, other: object) -> fmpq_poly | None:
        if type(other) is Algebraic:
            if other.field is not self.field:
                raise ValueError(f"numbers of different fields: {self.field} and {other.field}")
            return other.poly
        return _constant(other) if isinstance(other, int | Fraction) else None

    def __bool__(self) -> bool:
        return bool(self.poly.degree() >= 0)

    def __add__(self, other: Number) -> Algebraic:
        poly = self._coerce(other)
        return NotImplemented if poly is None else Algebraic(self.field, self.poly + poly)

    __radd__ = __add__

    def __neg__(self) -> Algebraic:
        return Algebraic(self.field, -self.poly)

    def __sub__(self, other: Number) -> Algebraic:
        poly = self._coerce(other)
        return NotImplemented if poly is None else Algebraic(self.field, self.poly - poly)

    def __rsub__(self, other: Number) -> Algebraic:
        return -(self - other)

    def __mul__(self, other: Number) -> Algebraic:
        poly = self._coerce(other)
        return (
            NotImplemented if poly is None else Algebraic(self.field, (self.poly * poly) % self.field.modulus)
        )

    __rmul__ = __mul__

    def inverse(self) -> Algebraic:
        """1 / self; `ZeroDivisionError` for zero."""
        if self.is_zero():
            raise ZeroDivisionError("division by zero in a number field")
        # a·inverse + b·modulus = 1
        _, inverse, _ = self.poly.xgcd(self.field.modulus)
        return Algebraic(self.field, inverse % self.field.modulus)

    def __truediv__(self, other: Number) -> Algebraic:
        if isinstance(other, int | Fraction):
            return self * (Fraction(1) / Fraction(other))
        return self * other.inverse() if isinstance(other, Algebraic) else NotImplemented

    def __rtruediv__(self, other: Number) -> Algebraic:
        return self.inverse() * other

    def __eq__(self, other: object) -> bool:
        if type(other) is Algebraic and other.field is not self.field:
            # a rational number is the same in every field
            return self.poly.degree() <= 0 and bool(self.poly == other.poly)
        poly = self._coerce(other)
        return NotImplemented if poly is None else bool(self.poly == poly)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # a rational number has the hash of the number that it equals
        if self.poly.degree() <= 0:
            return hash(self.coefficients[0] if self.coefficients else 0)
        # integers are hashed much faster than fractions
        return hash((int(self.poly.denom()), *map(int, self.poly.numer().coeffs())))

    def is_zero(self) -> bool:
        """True for the number 0."""
        return self.poly.degree() < 0

    def conjugate(self, k: int) -> Algebraic:
        """Return its image under the automorphism that takes θ to 2cos(2πk/N).

        Args:
            k: an integer coprime to N.

        Raises:
            ValueError: k is not coprime to N.
        """
        if gcd(k, self.field.conductor) != 1:
            raise ValueError(f"{k} is not prime to {self.field.conductor}, so it gives no automorphism")
        image, value = self.field.twice_cos(k).poly, _constant(0)
        # Horner's rule at the image of θ
        for c in reversed(self.poly.coeffs()):
            value = (value * image + c) % self.field.modulus
        return Algebraic(self.field, value)

    def ball(self, bits: int) -> arb:
        """A ball around the number, computed with the given working precision.

        Args:
            bits: the working precision in bits.
        """
        from flint import arb, ctx

        theta = self.field.theta_ball(bits)
        with ctx.workprec(bits):
            value = arb(0)
            # Horner's rule with balls: the result contains the number
            for c in reversed(self.poly.coeffs()):
                value = value * theta + arb(c)
            return value

    def sign(self) -> int:
        """-1, 0 or 1, decided exactly."""
        if self.is_zero():
            return 0
        bits = 64
        # an element that is not zero is a number that is not zero, so the ball leaves 0 out in the end
        while (value := self.ball(bits)).contains(0):
            bits *= 2
        return 1 if value > 0 else -1

    def __lt__(self, other: Number) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: Number) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: Number) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: Number) -> bool:
        return (self - other).sign() >= 0

    def __repr__(self) -> str:
        return f"real_cyclotomic_field({self.field.conductor}).element({[str(c) for c in self.coefficients]})"

    def __str__(self) -> str:
        return polynomial_text(self.coefficients, "θ")


class CosineField(RealCyclotomicField):
    """The field Q(θ) for N a multiple of 4, with sums of cosines as elements; `real_cyclotomic_field(N)` makes it.

    Args:
        conductor: N, a multiple of 4.
    """

    def element(self, coefficients: Iterable[int | Fraction]) -> CosineSum:
        """The element Σ c_i θ^i."""
        total = CosineSum(self, {})
        # Horner's rule
        for c in reversed(list(coefficients)):
            total = total * self.twice_cos(1) + c
        return total

    def twice_cos(self, k: int) -> CosineSum:
        """2cos(2πk/N)."""
        return CosineSum(self, {j: Fraction(2 * c) for j, c in self.fold(k)})

    def cos(self, k: int) -> CosineSum:
        """cos(2πk/N)."""
        return CosineSum(self, {j: Fraction(c) for j, c in self.fold(k)})

    @cached_property
    def _folds(self) -> dict[int, tuple[tuple[int, int | Fraction], ...]]:
        return {}

    def fold(self, k: int) -> tuple[tuple[int, int | Fraction], ...]:
        """cos(2πk/N) as Σ c cos(2πj/N) with (j, c) such that 0 ≤ j < N/4, and 0 ≤ j < N/6 where 3 divides N."""
        if k not in self._folds:
            self._folds[k] = self._fold(k)
        return self._folds[k]

    def _fold(self, k: int) -> tuple[tuple[int, int | Fraction], ...]:
        N = self.conductor
        k %= N
        k, sign = min(k, N - k), 1
        if 4 * k > N:
            # cos(π - a) = -cos a
            k, sign = N // 2 - k, -1
        if 4 * k == N:
            return ()
        if N % 3 or 6 * k < N:
            return ((k, sign),)
        if 6 * k == N:
            return ((0, Fraction(sign, 2)),)
        # cos(60° + a) = cos a - cos(60° - a)
        return ((k - N // 6, sign), (N // 3 - k, -sign))

    @cached_property
    def _residues(self) -> tuple[int, list[int]]:
        """A prime p that N divides p - 1 by, and cos(2πj/N) in a homomorphism to the integers modulo p, for each j."""
        from flint import fmpz

        p = (2**40 // self.conductor) * self.conductor + 1
        while not fmpz(p).is_prime():
            p += self.conductor
        # an element of order N: a power of 2, 3, ..., until no proper divisor of N is its order
        divisors = prime_divisors(self.conductor)
        roots = (pow(base, (p - 1) // self.conductor, p) for base in count(2))
        root = next(r for r in roots if all(pow(r, self.conductor // q, p) != 1 for q in divisors))
        half, powers = pow(2, -1, p), [1]
        for _ in range(self.conductor - 1):
            powers.append(powers[-1] * root % p)
        return p, [(powers[j] + powers[-j]) * half % p for j in range(self.conductor)]


class CosineSum(Algebraic):
    """A number Σ c_j cos(2πj/N) of a `CosineField`, with rational c_j and j as `CosineField.fold` gives it.

    Two numbers with different terms can be equal, by relations such as Σ cos(2πj/p) = 0 for a prime p. Comparison knows: a sum that a
    ball tells from zero is not zero, and of the others the polynomial decides.

    Args:
        field: the field.
        terms: c_j by j; zeros may be given.
    """

    __slots__ = ("terms",)
    field: CosineField

    def __init__(self, field: CosineField, terms: Mapping[int, Fraction]) -> None:
        self.field = field
        self.terms = {j: c for j, c in terms.items() if c}

    @property
    def rational(self) -> Fraction | None:
        if not self.terms:
            return Fraction(0)
        return self.terms[0] if len(self.terms) == 1 and 0 in self.terms else None

    @cached_property
    def poly(self) -> fmpq_poly:  # type: ignore[override]
        """The polynomial in θ, which can be long."""
        total = _constant(0)
        for j, c in self.terms.items():
            total += self.field._twice_cos(j) * _constant(c / 2)
        return total

    def _terms_of(self, other: object) -> Mapping[int, Fraction] | None:
        if isinstance(other, Algebraic):
            if other.field is not self.field:
                raise ValueError(f"numbers of different fields: {self.field} and {other.field}")
            assert isinstance(other, CosineSum)
            return other.terms
        return {0: Fraction(other)} if isinstance(other, int | Fraction) else None

    def __bool__(self) -> bool:
        return not self.is_zero()

    def __add__(self, other: Number) -> CosineSum:
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        total = dict(self.terms)
        for j, c in terms.items():
            total[j] = total.get(j, 0) + c
        return CosineSum(self.field, total)

    __radd__ = __add__

    def __neg__(self) -> CosineSum:
        return CosineSum(self.field, {j: -c for j, c in self.terms.items()})

    def __sub__(self, other: Number) -> CosineSum:
        return NotImplemented if self._terms_of(other) is None else self + -other

    def __rsub__(self, other: Number) -> CosineSum:
        return -self + other

    def __mul__(self, other: Number) -> CosineSum:
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        total: dict[int, Fraction] = {}
        for i, a in self.terms.items():
            for j, b in terms.items():
                # cos x · cos y = (cos(x + y) + cos(x - y))/2
                half = a * b / 2
                for k, c in (*self.field.fold(i + j), *self.field.fold(i - j)):
                    total[k] = total.get(k, 0) + half * c
        return CosineSum(self.field, total)

    __rmul__ = __mul__

    def inverse(self) -> Algebraic:
        """1 / self; `ZeroDivisionError` for zero."""
        if self.is_zero():
            raise ZeroDivisionError("division by zero in a number field")
        if self.rational is not None:
            return CosineSum(self.field, {0: 1 / self.rational})
        _, inverse, _ = self.poly.xgcd(self.field.modulus)
        inverse %= self.field.modulus
        return self.field.element([Fraction(int(c.p), int(c.q)) for c in inverse.coeffs()])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Algebraic) and other.field is not self.field:
            return self.rational is not None and self.rational == other
        terms = self._terms_of(other)
        return NotImplemented if terms is None else self.terms == terms or (self - other).is_zero()  # type: ignore[operator]

    def __hash__(self) -> int:
        if self.rational is not None:
            return hash(self.rational)
        # equal numbers have equal images under a homomorphism
        p, cosines = self.field._residues
        return sum(c.numerator * pow(c.denominator, -1, p) * cosines[j] for j, c in self.terms.items()) % p

    def is_zero(self) -> bool:
        """True for the number 0."""
        if self.rational is not None or not self.ball(128).contains(0):
            return not self.terms
        from flint import fmpz_poly

        # Σ c (ζ^j + ζ^-j)/2 is 0 where Φ divides its polynomial in ζ
        common = lcm(*(c.denominator for c in self.terms.values()))
        coefficients = [0] * self.field.conductor
        for j, c in self.terms.items():
            coefficients[j] += int(c * common)
            coefficients[-j] += int(c * common)
        phi = fmpz_poly.cyclotomic(self.field.conductor)
        return not bool((fmpz_poly(coefficients) % phi).degree() >= 0)

    def conjugate(self, k: int) -> CosineSum:
        """Return its image under the automorphism that takes θ to 2cos(2πk/N)."""
        if gcd(k, self.field.conductor) != 1:
            raise ValueError(f"{k} is not prime to {self.field.conductor}, so it gives no automorphism")
        total = CosineSum(self.field, {})
        for j, c in self.terms.items():
            total = total + self.field.cos(j * k) * c
        return total

    def ball(self, bits: int) -> arb:
        """A ball around the number, computed with the given working precision."""
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            value = arb(0)
            for j, c in self.terms.items():
                cosine = arb.cos_pi_fmpq(fmpq(2 * j, self.field.conductor))
                value += arb(fmpq(c.numerator, c.denominator)) * cosine
            return value

    @cached_property
    def angle(self) -> int | None:
        """The k from 0 to N/2 with which it is cos(2πk/N), None where it is no such cosine."""
        from flint import arb, ctx

        N = self.field.conductor
        if self.rational is not None:
            # the cosines of rational parts of a turn that are rational
            parts = {1: (0, 1), Fraction(1, 2): (1, 6), 0: (1, 4), Fraction(-1, 2): (1, 3), -1: (1, 2)}
            share, of = parts.get(self.rational, (1, 2 * N))
            return N * share // of if N * share % of == 0 else None
        with ctx.workprec(64):
            value = self.ball(64)
            if not abs(value) < 1:
                return None
            turns = value.acos() * N / (2 * arb.pi())
            # a ball around a whole number has the same floor everywhere once 1/2 is added
            nearest = (turns + arb(1) / 2).floor().unique_fmpz()
        k = None if nearest is None else int(nearest)
        return k if k is not None and self == self.field.cos(k) else None

    def __repr__(self) -> str:
        terms = {j: str(c) for j, c in self.terms.items()}
        return f"CosineSum(real_cyclotomic_field({self.field.conductor}), {terms})"

    def __str__(self) -> str:
        return cosines_text(self.terms, self.field.conductor)


Number: TypeAlias = int | Fraction | Algebraic
"""An exact real number."""


def conductor_of(numbers: Iterable[Number]) -> int:
    """N of the field that they lie in; 1 for rational ones."""
    return max((x.field.conductor for x in numbers if isinstance(x, Algebraic)), default=1)


def simplest(x: Number) -> Number:
    """The same number as `int` where it is one, else `Fraction` where it is one, else itself."""
    if type(x) is int:
        return x
    if isinstance(x, Algebraic):
        rational = x.rational
        if rational is None:
            return x
        x = rational
    return int(x) if x.denominator == 1 else x


def is_integer(x: Number) -> bool:
    """True where the number is an integer."""
    return isinstance(simplest(x), int)


def sign(x: Number) -> int:
    """-1, 0 or 1, exactly."""
    return x.sign() if isinstance(x, Algebraic) else (x > 0) - (x < 0)


def enclosure(x: Number, bits: int) -> tuple[Fraction, Fraction]:
    """Rational bounds `lower ≤ x ≤ upper`; equal for rationals, about `bits` bits apart otherwise."""
    x = simplest(x)
    if not isinstance(x, Algebraic):
        return Fraction(x), Fraction(x)
    from flint import ctx

    ball = x.ball(bits + 16)
    ends = []
    with ctx.workprec(bits + 32):  # lower() and upper() round outward at the working precision
        for end in (ball.lower(), ball.upper()):
            mantissa, exponent = (int(part) for part in end.man_exp())
            ends.append(Fraction(mantissa) * Fraction(2) ** exponent)
    return ends[0], ends[1]
