"""The eigenvalues of an exact matrix as isolated roots, and what is decided of each: real, its sign, its place to the circle.

The characteristic polynomial has the multiplicities, the minimal polynomial the sizes of the largest Jordan blocks:
the exponent of (x - λ) in it is that of λ. Over Q both are factored into irreducible polynomials. Over Q(2cos 2π/N)
they are split by greatest common divisors alone, which is enough, since all roots of one part then share both
figures.

The roots of each square-free part are isolated: each ball holds exactly one, and every root is in a ball. Two maps
send roots to roots: conjugation, as coefficients are real, and, where the polynomial is reciprocal, the inversion
λ → 1/λ̄ in the unit circle. If the image of a ball meets that ball alone, the image of its root can only be the root
itself: it is real, or on the circle. If it does not meet it, it is not. In between more bits are taken, up to a
limit; what is undecided then is `unknown`. No root on the circle is ever taken for one because it is near.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd as gcd_from_math
from typing import Any, Literal

from ...constructions.algebra._cyclotomic import Algebraic, Number, enclosure, sign, simplest
from ._matrix import (
    ExactMatrix,
    Polynomial,
    characteristic_polynomial,
    cycles_and_paths,
    gcd,
    minimal_polynomial,
    quotient,
    square_free,
    value_at,
)


@dataclass(frozen=True)
class Part:
    """Eigenvalues that are the simple roots of the monic `polynomial` and share their `multiplicity` and largest Jordan block.

    `block`: size of the largest Jordan block. `order`: m where all roots are primitive m-th roots of unity, else None.
    `reciprocal`: True where 1/λ is a root with every root λ; where it is False no root lies on the unit circle.
    """

    polynomial: Polynomial
    multiplicity: int
    block: int
    order: int | None
    reciprocal: bool

    @property
    def degree(self) -> int:
        """Number of roots."""
        return len(self.polynomial) - 1

    @cached_property
    def is_rational(self) -> bool:
        """True where all coefficients are rational."""
        return not any(isinstance(c, Algebraic) for c in self.polynomial)

    @cached_property
    def integral(self) -> Any:
        """A rational polynomial times its common denominator, as `flint.fmpz_poly`."""
        return _flint(self.polynomial).numer()


def parts_of(A: ExactMatrix) -> tuple[Part, ...]:
    """All eigenvalues of a square matrix."""
    if A.is_monomial and A.is_rational:
        return _monomial_parts(A)
    return _rational_parts(A) if A.is_rational else _field_parts(A)


def _flint(polynomial: Polynomial) -> Any:
    from flint import fmpq, fmpq_poly

    return fmpq_poly([fmpq(c.numerator, c.denominator) for c in polynomial])  # type: ignore[union-attr]


def _numbers(polynomial: Any) -> Polynomial:
    return tuple(simplest(Fraction(int(c.p), int(c.q))) for c in polynomial.coeffs())


def _irreducible(polynomial: Any, multiplicity: int, block: int) -> Part:
    """The part of an irreducible rational polynomial.

    A root λ on the circle has λ̄ = 1/λ among its conjugates, so that the polynomial is a multiple of its reversal.
    """
    integral = polynomial.numer()
    coefficients = [int(c) for c in integral.coeffs()]
    backwards = coefficients[::-1]
    reciprocal = coefficients in (backwards, [-c for c in backwards])
    order = int(integral.is_cyclotomic()) or None
    return Part(_numbers(polynomial), multiplicity, block, order, reciprocal)


def _rational_parts(A: ExactMatrix) -> tuple[Part, ...]:
    matrix = A.flint()
    factors = matrix.charpoly().factor()[1]
    minimal = matrix.minpoly() if any(m > 1 for _, m in factors) else None
    parts = []
    for factor, multiplicity in factors:
        monic = factor / factor.leading_coefficient()
        block = 1 if multiplicity == 1 else _exponent(minimal, monic)
        parts.append(_irreducible(monic, int(multiplicity), block))
    return tuple(parts)


def _exponent(polynomial: Any, factor: Any) -> int:
    count = 0
    while polynomial % factor == 0:
        polynomial, count = polynomial // factor, count + 1
    return count


def _monomial_parts(A: ExactMatrix) -> tuple[Part, ...]:
    """A cycle of length r and product w has the simple eigenvalues of x^r - w; paths are nilpotent blocks."""
    cycles, paths = cycles_and_paths(A)
    found: dict[Polynomial, list[Any]] = {}
    for (length, weight), times in Counter(cycles).items():
        if weight == 0:
            continue
        polynomial = _flint((-weight, *(0,) * (length - 1), 1))
        for factor, _ in polynomial.factor()[1]:
            monic = factor / factor.leading_coefficient()
            found.setdefault(_numbers(monic), [monic, 0])[1] += times
    parts = [_irreducible(monic, multiplicity, 1) for monic, multiplicity in found.values()]
    if paths:
        parts.append(Part((0, 1), sum(paths), max(paths), None, False))
    return tuple(parts)


def _field_parts(A: ExactMatrix) -> tuple[Part, ...]:
    dense = A.dense()
    by_multiplicity = square_free(characteristic_polynomial(dense))
    minimal: list[tuple[Polynomial, int]] = []
    if any(m > 1 for _, m in by_multiplicity):
        minimal = square_free(minimal_polynomial(dense))
    parts: list[Part] = []
    for polynomial, multiplicity in by_multiplicity:
        if multiplicity == 1:
            parts += _split(polynomial, 1, 1, A.conductor)
            continue
        for other, block in minimal:
            common = gcd(polynomial, other)
            if len(common) > 1:
                parts += _split(common, multiplicity, block, A.conductor)
    return tuple(parts)


def _split(polynomial: Polynomial, multiplicity: int, block: int, conductor: int) -> list[Part]:
    """A square-free polynomial over the field into rational irreducible parts, roots of unity and others."""
    parts: list[Part] = []
    if not any(isinstance(c, Algebraic) for c in polynomial):
        factors = _flint(polynomial).factor()[1]
        return [_irreducible(f / f.leading_coefficient(), multiplicity, block) for f, _ in factors]
    for root in (0, 1, -1):
        if value_at(polynomial, root) == 0:
            linear: Polynomial = (-root, 1)
            polynomial = quotient(polynomial, linear)
            parts.append(Part(linear, multiplicity, block, {1: 1, -1: 2}.get(root), root != 0))
    mirrored = gcd(polynomial, polynomial[::-1])
    rest = quotient(polynomial, mirrored)
    for order in (m for m in range(3, 2 * conductor + 1) if 2 * conductor % m == 0):
        if len(mirrored) == 1:
            break
        unity = gcd(mirrored, _cyclotomic(order))
        if len(unity) > 1:
            parts.append(Part(unity, multiplicity, block, order, True))
            mirrored = quotient(mirrored, unity)
    for factor, reciprocal in ((mirrored, True), (rest, False)):
        if len(factor) > 1:
            parts.append(Part(factor, multiplicity, block, None, reciprocal))
    return parts


def _cyclotomic(order: int) -> Polynomial:
    from flint import fmpz_poly

    return tuple(int(c) for c in fmpz_poly.cyclotomic(order).coeffs())


Kind = Literal["real", "non-real", "unknown"]
Sign = Literal["negative", "zero", "positive", "none", "unknown"]
Circle = Literal["inside", "on", "outside", "unknown"]
Interval = tuple[Fraction, Fraction]
START_BITS = 64


@dataclass(frozen=True)
class Eigenvalue:
    """An eigenvalue: its enclosure, and its exactly decided properties.

    Attributes:
        real: rational bounds of its real part.
        imaginary: rational bounds of its imaginary part.
        modulus: rational bounds of |λ|.
        multiplicity: the algebraic multiplicity.
        block: size of its largest Jordan block; 1 if it is semisimple.
        kind: whether it is real, if that is decided.
        sign: its sign; `none` if it is not real.
        circle: whether it lies inside, on or outside the unit circle, if that is decided.
        exact: its value, if it is rational or was found in the field of the entries; otherwise None.
        turn: k/m in lowest terms where λ = e^(2πik/m), else None (over Q(2cos 2π/N) only m that divide 2N are
            looked for).
        polynomial: a polynomial with exact real coefficients, constant first, of which it is a simple root; over Q the
            minimal polynomial.
    """

    real: Interval
    imaginary: Interval
    modulus: Interval
    multiplicity: int
    block: int
    kind: Kind
    sign: Sign
    circle: Circle
    exact: Number | None
    turn: Fraction | None
    polynomial: Polynomial

    @property
    def radius(self) -> Fraction:
        """Half the longer side of the box that encloses it."""
        return max(self.real[1] - self.real[0], self.imaginary[1] - self.imaginary[0]) / 2

    @property
    def centre(self) -> tuple[Fraction, Fraction]:
        """The middle of the box that encloses it."""
        return sum(self.real, Fraction(0)) / 2, sum(self.imaginary, Fraction(0)) / 2

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 9) -> str:
        """Write it exactly if it is a short rational number or a root of unity, and otherwise rounded to some digits.

        Args:
            digits: decimal digits, at least 1.
        """
        if self.exact is not None and not isinstance(self.exact, Algebraic) and len(str(self.exact)) <= 18:
            return str(self.exact)
        if self.turn is not None and self.turn.denominator > 2:
            return f"e^(2πi·{self.turn})"
        x, y = (float(c) for c in self.centre)
        if self.kind == "real":
            return f"{x:.{digits}g}"
        return f"{x:.{digits}g} {'-' if y < 0 else '+'} {abs(y):.{digits}g}i"


def eigenvalues_of(part: Part, *, bits: int, max_bits: int) -> list[Eigenvalue]:
    """The roots of one part, decided as far as `max_bits` of working precision allow, enclosed to about `bits` bits."""
    if part.degree == 1:
        return [_linear(part, bits)]
    if part.order is not None:
        return _roots_of_unity(part, part.order, bits, max_bits)
    return _isolate_roots(part, bits, max_bits)


def _linear(part: Part, bits: int) -> Eigenvalue:
    value = -part.polynomial[0]
    size = sign(value)
    beyond = sign(size * value - 1)
    low, high = enclosure(value, bits)
    circle: tuple[Circle, ...] = ("inside", "on", "outside")
    signs: tuple[Sign, ...] = ("negative", "zero", "positive")
    turn = None if beyond else Fraction(int(size < 0), 2)
    return Eigenvalue(
        (low, high), (Fraction(0), Fraction(0)), (low, high) if size >= 0 else (-high, -low), part.multiplicity,
        part.block, "real", signs[size + 1], circle[beyond + 1], value, turn, part.polynomial,
    )  # fmt: skip


def _roots_of_unity(part: Part, order: int, bits: int, max_bits: int) -> list[Eigenvalue]:
    from flint import acb, acb_poly, ctx, fmpq

    turns = [k for k in range(1, order) if gcd_from_math(k, order) == 1]
    working = bits + 16
    while True:
        with ctx.workprec(working):
            balls = {k: acb(fmpq(2 * k, order)).exp_pi_i() for k in turns}
            if len(turns) != part.degree:
                # over a field some of the primitive roots are roots of the part: those that cannot be excluded
                polynomial = acb_poly(_coefficient_balls(part.polynomial, working))
                balls = {k: z for k, z in balls.items() if polynomial(z).contains(0)}
        if len(balls) == part.degree:
            break
        if 2 * working > max_bits:
            return _isolate_roots(part, bits, max_bits)
        working *= 2
    one = (Fraction(1), Fraction(1))
    return [
        Eigenvalue(
            bounds(z.real, working), bounds(z.imag, working), one, part.multiplicity, part.block, "non-real",
            "none", "on", None, Fraction(k, order), part.polynomial,
        )
        for k, z in balls.items()
    ]  # fmt: skip


def _isolate_roots(part: Part, bits: int, max_bits: int) -> list[Eigenvalue]:
    from flint import ctx

    working = max(START_BITS, bits)
    while True:
        balls = isolating_balls(part, working)
        with ctx.workprec(working):
            decided = None if balls is None else [_decisions(balls, i, part) for i in range(part.degree)]
        if decided is not None and not any("unknown" in d for d in decided):
            break
        if 2 * working > max_bits:
            break
        working *= 2
    if balls is None or decided is None:
        return [_enclose_unlocated_roots(part, bits)] * part.degree
    with ctx.workprec(working):
        return [_locate_root(part, z, d, working) for z, d in zip(balls, decided, strict=True)]


def _locate_root(part: Part, z: Any, decided: tuple[Kind, Sign, Circle], bits: int) -> Eigenvalue:
    kind, signed, circle = decided
    one, zero = (Fraction(1), Fraction(1)), (Fraction(0), Fraction(0))
    modulus = one if circle == "on" else bounds(abs(z), bits)
    return Eigenvalue(
        bounds(z.real, bits), zero if kind == "real" else bounds(z.imag, bits),
        (max(modulus[0], Fraction(0)), modulus[1]), part.multiplicity, part.block, kind, signed, circle, None, None,
        part.polynomial,
    )  # fmt: skip


def _enclose_unlocated_roots(part: Part, bits: int) -> Eigenvalue:
    """No root could be isolated: all are within Cauchy's bound, 1 + the largest |coefficient| of the monic polynomial."""
    reach = 1 + max(max(map(abs, enclosure(c, bits))) for c in part.polynomial[:-1])
    around = (-reach, reach)
    return Eigenvalue(
        around, around, (Fraction(0), reach), part.multiplicity, part.block, "unknown", "unknown",
        "unknown" if part.reciprocal or reach > 1 else "inside", None, None, part.polynomial,
    )  # fmt: skip


def isolating_balls(part: Part, bits: int) -> list[Any] | None:
    """A ball around each root, pairwise disjoint; None where these bits do not isolate them."""
    from flint import acb_poly, arb, ctx

    with ctx.workprec(bits):
        if part.is_rational:
            balls = [z for z, _ in part.integral.complex_roots()]
        else:
            polynomial = acb_poly(_coefficient_balls(part.polynomial, 4 * bits))
            try:
                balls = polynomial.roots(tol=arb(2) ** -bits, maxprec=4 * bits)
            except ValueError:
                return None
        apart = all(not z.overlaps(w) for i, z in enumerate(balls) for w in balls[:i])
        return balls if apart and len(balls) == part.degree else None


def _coefficient_balls(polynomial: Polynomial, bits: int) -> list[Any]:
    from flint import arb, ctx, fmpq

    with ctx.workprec(bits):
        return [
            c.ball(bits) if isinstance(c, Algebraic) else arb(fmpq(c.numerator, c.denominator))
            for c in polynomial
        ]


def _decisions(balls: Sequence[Any], i: int, part: Part) -> tuple[Kind, Sign, Circle]:
    from flint import acb

    z = balls[i]
    is_real = is_fixed(balls, i, lambda w: acb(w.real, -w.imag))
    kind: Kind = "unknown" if is_real is None else "real" if is_real else "non-real"
    signed: Sign = "none" if kind == "non-real" else "unknown"
    if kind == "real" and not z.real.contains(0):
        signed = "positive" if z.real > 0 else "negative"
    on_circle: bool | None = False
    if part.reciprocal:
        on_circle = is_fixed(balls, i, lambda w: 1 / acb(w.real, -w.imag))
    if on_circle:
        return kind, signed, "on"
    circle: Circle = "unknown"
    if on_circle is False and abs(z) < 1:
        circle = "inside"
    elif on_circle is False and abs(z) > 1:
        circle = "outside"
    return kind, signed, circle


def is_fixed(balls: Sequence[Any], i: int, image: Callable[[Any], Any]) -> bool | None:
    """Does a map that permutes the roots fix the i-th? None where the balls do not tell."""
    moved = image(balls[i])
    met = [j for j, z in enumerate(balls) if not moved.is_finite() or moved.overlaps(z)]
    if met == [i]:
        return True
    return None if i in met else False


def bounds(ball: Any, bits: int) -> Interval:
    """All bounds known for an automaton, in a fixed order, each found by the stand-alone checker too; empty if there is none.

    Unreachable states do not count, unless they were kept as points. Words are searched to a fixed extent
    (`checker.bound.SEARCH`), so that a bound may be missed on large monoids; none is ever wrong.

    Raises:
        DisagreementError: the checker does not find the same.
    """
    from flint import ctx

    ends = []
    with ctx.workprec(bits + 32):
        for end in (ball.lower(), ball.upper()):
            mantissa, exponent = (int(part) for part in end.man_exp())
            ends.append(Fraction(mantissa) * Fraction(2) ** exponent)
    return ends[0], ends[1]
