"""Facts about the eigenvalues of a rational matrix, decided by polynomials with rational coefficients alone.

A polynomial is a list of coefficients, the constant first, without zeros at the end; the zero polynomial is empty. Real
roots are counted by Sturm's theorem. Roots inside and outside the unit circle are those left and right of the imaginary
axis after z = (1 + w) / (1 - w), counted by Cauchy's index (Gantmacher, The Theory of Matrices, chapter XV).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Polynomial = list[Fraction]
Rows = Sequence[Sequence[Fraction]]


def _trim(p: Polynomial) -> Polynomial:
    while p and not p[-1]:
        p.pop()
    return p


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    if not p or not q:
        return []
    product = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            product[i + j] += x * y
    return _trim(product)


def _plus(p: Polynomial, q: Polynomial, factor: Fraction) -> Polynomial:
    size = max(len(p), len(q))
    return _trim(
        [(p[i] if i < len(p) else Fraction(0)) + factor * (q[i] if i < len(q) else 0) for i in range(size)]
    )


def _divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    rest, quotient = list(p), [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    while len(rest) >= len(q):
        shift, factor = len(rest) - len(q), rest[-1] / q[-1]
        quotient[shift] = factor
        for i, y in enumerate(q):
            rest[shift + i] -= factor * y
        rest.pop()
        _trim(rest)
    return _trim(quotient), rest


def _derivative(p: Polynomial) -> Polynomial:
    return [i * x for i, x in enumerate(p)][1:]


def _common(p: Polynomial, q: Polynomial) -> Polynomial:
    while q:
        p, q = q, _divide(p, q)[1]
    return [x / p[-1] for x in p]


def square_free(p: Polynomial) -> Polynomial:
    """Its roots, each once."""
    return _divide(p, _common(p, _derivative(p)))[0] if len(p) > 1 else p


def _changes(signs: Sequence[Fraction]) -> int:
    present = [x for x in signs if x]
    return sum(x * y < 0 for x, y in pairwise(present))


def _chain(p: Polynomial, q: Polynomial) -> list[Polynomial]:
    chain = [p, q]
    while chain[-1]:
        chain.append([-x for x in _divide(chain[-2], chain[-1])[1]])
    return chain[:-1]


def _at_infinity(chain: list[Polynomial], sign: int) -> list[Fraction]:
    return [p[-1] * sign ** (len(p) - 1) for p in chain]


def distinct_real_roots(p: Polynomial) -> tuple[int, int]:
    """How many real roots there are, and how many of them are negative; each counted once."""
    if len(p) < 2:
        return 0, 0
    chain = _chain(p, _derivative(p))
    low, high = _changes(_at_infinity(chain, -1)), _changes(_at_infinity(chain, 1))
    if p[0]:
        return low - high, low - _changes([q[0] for q in chain])
    beside = _divide(p, [Fraction(0), Fraction(1)])[0]  # without the root 0, once
    real, negative = distinct_real_roots(beside)
    return real + bool(beside[0]), negative


def real_roots(p: Polynomial) -> int:
    """With multiplicity: the distinct ones of p, of gcd(p, p'), and so on."""
    total = 0
    while len(p) > 1:
        total += distinct_real_roots(p)[0]
        p = _common(p, _derivative(p))
    return total


def circle_counts(p: Polynomial) -> tuple[int, int, int]:
    """Roots inside, on and outside the unit circle, with multiplicity."""
    degree = len(p) - 1
    moved: Polynomial = []
    for i, x in enumerate(p):  # (1 - w)^n p((1 + w) / (1 - w))
        term = [x]
        for _ in range(i):
            term = _times(term, [Fraction(1), Fraction(1)])
        for _ in range(degree - i):
            term = _times(term, [Fraction(1), Fraction(-1)])
        moved = _plus(moved, term, Fraction(1))
    on = degree - (len(moved) - 1)  # the root -1 has gone to infinity
    left, middle, right = _axis_counts(moved)
    return left, on + middle, right


def _axis_counts(p: Polynomial) -> tuple[int, int, int]:
    """Roots left of, on and right of the imaginary axis, with multiplicity."""
    turned = [(1, 0, -1, 0)[i % 4] * x for i, x in enumerate(p)]  # the real part of p(iy)
    sides = [(0, 1, 0, -1)[i % 4] * x for i, x in enumerate(p)]  # and the imaginary part
    real, imaginary = _trim(turned), _trim(sides)
    if not real or not imaginary:
        common = imaginary or real
        index, degree = 0, 0
    else:
        common = _common(real, imaginary)
        real, imaginary = _divide(real, common)[0], _divide(imaginary, common)[0]
        degree = len(p) - len(common)
        # the polynomial of higher degree first: its quotient by the other one stays bounded at infinity
        if len(real) >= len(imaginary):
            chain, sign = _chain(real, imaginary), 1
        else:
            chain, sign = _chain(imaginary, real), -1
        index = sign * (_changes(_at_infinity(chain, -1)) - _changes(_at_infinity(chain, 1)))
    # what is common has roots that lie symmetrically about the axis, on it those that are real as y
    on = real_roots(common)
    beside = (len(common) - 1 - on) // 2
    left = (degree - index) // 2
    return left + beside, on, degree - left + beside


def characteristic_polynomial(A: Rows) -> Polynomial:
    """det(λ - A), by Faddeev and LeVerrier."""
    n = len(A)
    coefficients, M = [Fraction(1)], [[Fraction(0)] * n for _ in range(n)]
    for k in range(1, n + 1):
        M = [
            [sum((A[i][m] * M[m][j] for m in range(n)), Fraction(0)) + (coefficients[-1] if i == j else 0) for j in range(n)]
            for i in range(n)
        ]
        trace = sum((A[i][m] * M[m][i] for i in range(n) for m in range(n)), Fraction(0))
        coefficients.append(-trace / k)
    return coefficients[::-1]


def minimal_polynomial(A: Rows) -> Polynomial:
    """The first linear dependence among 1, A, A², …"""
    n = len(A)
    power = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    reduced: list[tuple[int, list[Fraction], Polynomial]] = []  # pivot, row, how it is made of powers
    for k in range(n + 1):
        row, made = [x for r in power for x in r], [*[Fraction(0)] * k, Fraction(1)]
        for pivot, other, of in reduced:
            factor = row[pivot] / other[pivot]
            row = [x - factor * y for x, y in zip(row, other, strict=True)]
            made = [x - factor * (of[i] if i < len(of) else 0) for i, x in enumerate(made)]
        if not any(row):
            return made
        reduced.append((next(i for i, x in enumerate(row) if x), row, made))
        power = [[sum((x * power[m][j] for m, x in enumerate(r)), Fraction(0)) for j in range(n)] for r in A]
    raise AssertionError("every matrix is a root of its characteristic polynomial")


@dataclass(frozen=True)
class Facts:
    """Counts with multiplicity, but for `negative`: whether there is a negative eigenvalue."""

    real: int
    negative: bool
    inside: int
    on: int
    outside: int
    stable: bool
    norm_at_most_one: bool


def facts(A: Rows) -> Facts:
    p = characteristic_polynomial(A)
    inside, on, outside = circle_counts(p)
    least = minimal_polynomial(A)
    simple = circle_counts(least)[1] == circle_counts(square_free(least))[1]
    negative = distinct_real_roots(p)[1] > 0
    return Facts(real_roots(p), negative, inside, on, outside, outside == 0 and simple, norm_at_most_one(A))


def norm_at_most_one(A: Rows) -> bool:
    """Is I - AᵀA positive semidefinite? By its elimination."""
    n = len(A)
    M = [[Fraction(i == j) - sum(row[i] * row[j] for row in A) for j in range(n)] for i in range(n)]
    for k in range(n):
        if M[k][k] < 0 or (M[k][k] == 0 and any(M[k][k:])):
            return False
        for i in range(k + 1, n):
            if M[k][k]:
                factor = M[i][k] / M[k][k]
                M[i] = [x - factor * y for x, y in zip(M[i], M[k], strict=True)]
    return True
