"""Polynomials over Q(2cos 2π/N), constant first: of a matrix the characteristic and the minimal one, and division."""

from __future__ import annotations

from collections.abc import Sequence

from ...constructions.matrices import Matrix, divide, dot, product
from ...constructions.real_cyclotomic import Number, simplest

Polynomial = tuple[Number, ...]


def characteristic_polynomial(A: Matrix) -> Polynomial:
    """det(xI - A) by Faddeev and Le Verrier: exact in any field of characteristic 0."""
    n = len(A)
    coefficients: list[Number] = [1]
    M = A
    for k in range(1, n + 1):
        trace: Number = 0
        for i in range(n):
            trace = trace + M[i][i]
        c = divide(-trace, k)
        coefficients.append(c)
        if k < n:
            M = product(
                A, tuple(tuple(x + c if i == j else x for j, x in enumerate(r)) for i, r in enumerate(M))
            )
    return tuple(simplest(c) for c in reversed(coefficients))


def minimal_polynomial(A: Matrix) -> Polynomial:
    """The monic polynomial of least degree that vanishes at A: it must kill every basis vector."""
    result: Polynomial = (1,)
    for i in range(len(A)):
        rest: list[Number] = [int(i == j) for j in range(len(A))]
        result = times(result, _annihilator(A, _applied(result, A, rest)))
    return result


def _applied(polynomial: Polynomial, A: Matrix, v: Sequence[Number]) -> list[Number]:
    total: list[Number] = [0] * len(v)
    for c in reversed(polynomial):
        total = [simplest(dot(row, total) + c * x) for row, x in zip(A, v, strict=True)]
    return total


def _annihilator(A: Matrix, v: Sequence[Number]) -> Polynomial:
    """The monic p of least degree with p(A)v = 0: the first linear relation among v, Av, A²v, ..."""
    known: list[tuple[int, list[Number], list[Number]]] = []
    power = list(v)
    for degree in range(len(A) + 1):
        vector = list(power)
        relation: list[Number] = [*([0] * degree), 1]
        for pivot, row, combination in known:
            if vector[pivot] != 0:
                factor = vector[pivot]
                vector = [simplest(x - factor * y) for x, y in zip(vector, row, strict=True)]
                padded = combination + [0] * (degree + 1 - len(combination))
                relation = [simplest(x - factor * y) for x, y in zip(relation, padded, strict=True)]
        pivot = next((j for j, x in enumerate(vector) if x != 0), -1)
        if pivot < 0:
            return monic(tuple(relation))
        scale = vector[pivot]
        known.append((pivot, [divide(x, scale) for x in vector], [divide(x, scale) for x in relation]))
        power = [simplest(dot(row, power)) for row in A]
    raise AssertionError("n + 1 vectors of dimension n are dependent")


def square_free(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Monic parts with simple roots, each with the multiplicity of its roots; parts of degree 0 are left out."""
    derivative = tuple(k * c for k, c in enumerate(polynomial))[1:]
    repeated = gcd(polynomial, derivative)
    distinct = quotient(polynomial, repeated)
    parts, multiplicity = [], 1
    while len(distinct) > 1:
        common = gcd(distinct, repeated)
        part = quotient(distinct, common)
        if len(part) > 1:
            parts.append((monic(part), multiplicity))
        distinct, repeated, multiplicity = common, quotient(repeated, common), multiplicity + 1
    return parts


def monic(polynomial: Polynomial) -> Polynomial:
    """Divided by its leading coefficient, without leading zeros."""
    degree = next((k for k in range(len(polynomial) - 1, -1, -1) if polynomial[k] != 0), -1)
    return tuple(divide(c, polynomial[degree]) for c in polynomial[: degree + 1])


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """p·q."""
    result: list[Number] = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] = result[i + j] + a * b
    return tuple(simplest(c) for c in result)


def division(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder, the remainder monic or empty; q monic."""
    rest, places = list(p), len(p) - len(q) + 1
    result: list[Number] = [0] * max(places, 1)
    for k in range(places - 1, -1, -1):
        c = result[k] = simplest(rest[k + len(q) - 1])
        if c != 0:
            for j, b in enumerate(q):
                rest[k + j] = simplest(rest[k + j] - c * b)
    return tuple(result), monic(tuple(rest[: len(q) - 1] if places > 0 else rest))


def quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    """p / q for a monic divisor q."""
    return division(p, q)[0]


def gcd(p: Polynomial, q: Polynomial) -> Polynomial:
    """The monic greatest common divisor, by Euclid; p not zero."""
    p, q = monic(p), monic(q)
    while q:
        p, q = q, division(p, q)[1]
    return p


def value_at(polynomial: Polynomial, x: Number) -> Number:
    """p(x)."""
    value: Number = 0
    for c in reversed(polynomial):
        value = value * x + c
    return simplest(value)
