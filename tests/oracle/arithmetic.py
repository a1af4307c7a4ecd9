"""The arithmetic models of docs/arithmetic.md: what one token does to a state, in rational numbers.

A matrix is a list of rows. `Arithmetic(name)` reads the names of that page but for `kernel`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from .values import INF, NAN, Grid, Listed, Number, Rounding, is_finite, read_values

Matrix = Sequence[Sequence[Number]]
State = tuple[tuple[Number, ...], ...]
ORDERS = ("left", "bias", "tree", "fma")


def _sign(x: Number) -> int:
    return (x > 0) - (x < 0)


def exact_sum(terms: Sequence[Number]) -> Number:
    """The sum; infinities of both signs, or a nan, give nan."""
    odd = {x for x in terms if not isinstance(x, Fraction)}
    if not odd:
        return sum(terms, Fraction(0))
    if len(odd) > 1 or any(math.isnan(x) for x in odd):
        return NAN
    return odd.pop()


def exact_product(x: Number, y: Number) -> Number:
    """The product; zero times infinity is nan."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    if x != x or y != y or _sign(x) * _sign(y) == 0:  # noqa: PLR0124 - only nan differs from itself
        return NAN
    return INF * (_sign(x) * _sign(y))


class Arithmetic:
    """`exact`, `cast:VALUES`, `per_step:VALUES[:MODE]` or `per_op:VALUES[:ORDER][:MODE]`, with `sat` or `inf` at the end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind, *words = name.split(":")
        self.order = "left"
        self.rounding: Rounding | None = None
        if self.kind == "exact":
            return
        values, rest = read_values(words)
        if rest and rest[0] in ORDERS:
            self.order = rest.pop(0)
        mode = "tie_low" if isinstance(values, Listed) or self.kind == "cast" else "rne"
        if rest and rest[0] not in ("sat", "inf"):
            mode = rest.pop(0)
        saturates = isinstance(values, Grid | Listed) or not values.has_infinity or self.kind == "cast"
        self.rounding = Rounding(values, mode, saturates or rest == ["sat"])

    def round(self, x: Number) -> Number:
        return x if self.rounding is None else self.rounding(x)

    def round_matrix(self, matrix: Matrix) -> State:
        return tuple(tuple(self.round(x) for x in row) for row in matrix)

    def affine(self, A: Matrix, H: Matrix, B: Matrix) -> State:
        """The state after a token: of A H + B, with A and B rounded already."""
        columns = list(zip(*H, strict=True))
        return tuple(
            tuple(self.row(row, column, b) for column, b in zip(columns, bias, strict=True))
            for row, bias in zip(A, B, strict=True)
        )

    def row(self, a: Sequence[Number], h: Sequence[Number], b: Number) -> Number:
        """One entry of the new state: a·h + b."""
        if self.kind != "per_op":
            terms = [exact_product(x, y) for x, y in zip(a, h, strict=True)]
            return self.round(exact_sum([*terms, b]))
        if self.order == "fma":
            return self._fused(a, h, b)
        products = [self.round(exact_product(x, y)) for x, y in zip(a, h, strict=True)]
        if self.order == "bias":
            return self._from_left([b, *products])
        if self.order == "left":
            return self._from_left([*products, b])
        while len(products) > 1:
            pairs = [products[i : i + 2] for i in range(0, len(products), 2)]
            products = [self._from_left(pair) for pair in pairs]
        return self._from_left([*products, b])

    def _from_left(self, terms: Sequence[Number]) -> Number:
        total, *rest = terms
        for term in rest:
            total = self.round(exact_sum([total, term]))
        return total

    def _fused(self, a: Sequence[Number], h: Sequence[Number], b: Number) -> Number:
        total: Number = Fraction(0)
        for x, y in zip(a, h, strict=True):
            total = self.round(exact_sum([exact_product(x, y), total]))
        return self.round(exact_sum([total, b]))


def cast_states(A: Matrix, B: Matrix, H: Matrix, arithmetic: Arithmetic) -> Iterator[State]:
    """H_0, H_1, … on the powers of one letter in the model `cast`: cast(Σ_j cast(A^j B) + cast(A^k H_0))."""
    exact = Arithmetic("exact")
    zero = [[Fraction(0)] * len(row) for row in H]
    power, driven = tuple(map(tuple, H)), tuple(map(tuple, B))
    written = [list(row) for row in zero]
    while True:
        cast = arithmetic.round_matrix(power)
        yield arithmetic.round_matrix(
            [[x + y for x, y in zip(u, v, strict=True)] for u, v in zip(cast, written, strict=True)]
        )
        for row, cast_row in zip(written, arithmetic.round_matrix(driven), strict=True):
            for i, x in enumerate(cast_row):
                row[i] += x
        power, driven = exact.affine(A, power, zero), exact.affine(A, driven, zero)


def is_state(H: Matrix) -> bool:
    """No entry has overflowed."""
    return all(is_finite(x) for row in H for x in row)
