"""The eigenvalues of an exact matrix as roots of square-free polynomials, with multiplicities and Jordan blocks.

The characteristic polynomial has the multiplicities, the minimal polynomial the sizes of the largest Jordan blocks:
the exponent of (x - λ) in it is that of λ. Over Q both are factored into irreducible polynomials. Over Q(2cos 2π/N)
they are split by greatest common divisors alone, which is enough, since all roots of one part then share both
figures. Polynomials are tuples of coefficients, constant first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...constructions.real_cyclotomic import Algebraic, simplest
from .field import (
    Polynomial,
    characteristic_polynomial,
    gcd,
    minimal_polynomial,
    quotient,
    square_free,
    value_at,
)
from .matrix import ExactMatrix, cycles_and_paths


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
