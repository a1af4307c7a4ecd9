"""A layer by its stored numbers: heads side by side, joint codes, and the answers that these stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, TypeAlias

from ._arithmetic import ZERO, Arithmetic
from ._budget import Budget
from ._exact import Field, array, integer, need, number, record
from .table import Machine

Vector: TypeAlias = tuple[Fraction, ...]
# D > 0 and whole numbers that stand for themselves divided by D
Scaled: TypeAlias = tuple[int, list[int]]
RATIONALS = Field(1)


class Model:
    """The stored numbers: heads side by side, joint codes, and the answer of each code on each letter.

    States are flat: the entries of all heads, row by row. `rows[x]`: for each entry its terms [(place, a), ...] and b;
    `columns[x]`: for each entry the columns of its terms, and how many its head has.
    """

    def __init__(
        self, data: Any, letters: int, answers: int, arithmetic: Arithmetic, budget: Budget | None = None
    ) -> None:
        record(data, {"heads", "codes", "decode"}, "model")
        self.budget = budget or Budget(data)
        self.arithmetic, self.letters = arithmetic, letters
        self.columns: list[list[tuple[list[int], int]]] = [[] for _ in range(letters)]
        self.rows: list[list[tuple[list[tuple[int, Fraction]], Fraction]]] = [[] for _ in range(letters)]
        self.blocks: list[list[list[list[Fraction]]]] = []
        initial: list[Fraction] = []
        need(array(data["heads"], "model.heads"), "model.heads: empty")
        for h, head in enumerate(data["heads"]):
            initial += self.read_head(head, f"model.heads[{h}]", len(initial))
        self.initial = tuple(initial)
        self.codes = [
            tuple(value(x, None, f"model.codes[{c}]") for x in array(code, f"model.codes[{c}]", len(initial)))
            for c, code in enumerate(array(data["codes"], "model.codes"))
        ]
        # in reverse, so that of equal codes the first one counts
        self.places = {code: c for c, code in reversed(list(enumerate(self.codes)))}
        self.decode: list[list[int]] = array(data["decode"], "model.decode", len(self.codes))
        need(self.codes, "model.codes: empty")
        self.rooms: dict[tuple[int, int], Fraction | None] = {}
        for row in self.decode:
            for answer in array(row, "model.decode", letters):
                integer(answer, -1, answers - 1, "model.decode")

    def read_head(self, data: Any, where: str, first: int) -> list[Fraction]:
        """A, B, H0 of one head, whose entries start at a place; gives H0, flat."""
        record(data, {"A", "B", "H0"}, where)
        n = len(array(data["H0"], f"{where}.H0"))
        need(n, f"{where}.H0: empty")
        d = len(array(data["H0"][0], f"{where}.H0"))
        H0 = matrix(data["H0"], n, d, self.arithmetic, f"{where}.H0")
        array(data["A"], f"{where}.A", self.letters), array(data["B"], f"{where}.B", self.letters)
        self.blocks.append([matrix(a, n, n, self.arithmetic, f"{where}.A") for a in data["A"]])
        for x, A in enumerate(self.blocks[-1]):
            B = matrix(data["B"][x], n, d, self.arithmetic, f"{where}.B")
            for i in range(n):
                for j in range(d):
                    # entry (i, j) of A H is Σ_k A[i,k] H[k,j]; H[k,j] lies at first + k·d + j
                    terms = [(first + k * d + j, a) for k, a in enumerate(A[i]) if a]
                    self.rows[x].append((terms, B[i][j]))
                    self.columns[x].append(([k for k, a in enumerate(A[i]) if a], n))
        return [entry for row in H0 for entry in row]

    def exactly(self, state: Vector, x: int) -> Vector:
        """A(x) h + B(x)."""
        return tuple(sum((a * state[k] for k, a in terms), b) for terms, b in self.rows[x])

    @cached_property
    def scaled_rows(self) -> list[list[tuple[int, list[tuple[int, int]], int]]]:
        """For each letter and entry a common denominator E, its terms [(place, E a), ...] and E b."""
        found = []
        for row in self.rows:
            scaled = [common([*(a for _, a in terms), b]) for terms, b in row]
            found.append(
                [
                    (E, [(k, a) for (k, _), a in zip(terms, numbers[:-1], strict=True)], numbers[-1])
                    for (E, numbers), (terms, _) in zip(scaled, row, strict=True)
                ]
            )
        return found

    @cached_property
    def scaled_codes(self) -> list[Scaled]:
        """Each code over a common denominator."""
        return [common(code) for code in self.codes]

    def step(self, state: Vector, x: int) -> Vector:
        """The same, rounded as the arithmetic does."""
        if self.arithmetic.kind == "per_op":
            return self.step_by_operations(state, x)
        # exact and per_step: the sum is exact, and rounded once (not at all for exact)
        D, whole = common(state)
        ratio = self.arithmetic.ratio
        after = []
        for E, terms, b in self.scaled_rows[x]:
            # the entry is n / (E D); where n is 0 it needs no rounding, for 0 is a value of every arithmetic
            n = sum([a * whole[k] for k, a in terms]) + b * D
            after.append(ratio(n, E * D) if n else ZERO)
        return tuple(after)

    def step_by_operations(self, state: Vector, x: int) -> Vector:
        """A step of which each operation is rounded."""
        after = []
        for (terms, b), (columns, n) in zip(self.rows[x], self.columns[x], strict=True):
            # the columns matter to sums by pairs, where zeros keep their places; in every order a term of 0 adds 0 to a value
            # of the arithmetic, which rounding then keeps, so that the sum is the same without it
            numbers = [(k, a, state[place]) for k, (place, a) in zip(columns, terms, strict=True) if state[place]]
            after.append(self.arithmetic.affine(numbers, b, n) if numbers else b)
        return tuple(after)

    def nearest(self, state: Vector) -> int:
        """The first of the nearest codes; the state itself where it is a code, for no distance is less than 0."""
        if state in self.places:
            return self.places[state]
        D, whole = common(state)
        sizes = []
        for C, code in self.scaled_codes:
            # ‖h - c‖², where the entries of h are whole numbers over D, and those of c over C
            square = sum([(C * h - D * c) ** 2 for h, c in zip(whole, code, strict=True)])
            sizes.append(Fraction(square, (C * D) ** 2))
        # `index` finds the first of those at the least distance
        return sizes.index(min(sizes))


def common(numbers: Sequence[Fraction]) -> Scaled:
    """The least common denominator D of some numbers, and each of them times D."""
    D = lcm(*(x.denominator for x in numbers))
    return D, [x.numerator * (D // x.denominator) for x in numbers]


def value(x: Any, arithmetic: Arithmetic | None, where: str) -> Fraction:
    """A rational number, and one of the arithmetic's values if it is given."""
    result = Fraction(number(x, RATIONALS, where))  # type: ignore[arg-type]
    need(
        arithmetic is None or arithmetic.round(result) == result,
        f"{where}: not a number of {arithmetic.name if arithmetic else ''}",
    )
    return result


def matrix(data: Any, n: int, m: int, arithmetic: Arithmetic, where: str) -> list[list[Fraction]]:
    """Rows of numbers."""
    return [[value(x, arithmetic, where) for x in array(row, where, m)] for row in array(data, where, n)]


def distance(x: Vector, y: Vector) -> Fraction:
    """‖x - y‖²."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


def right(machine: Machine, answers: str, x: int, before: int, after: int) -> Any:
    """The right answer: the state, or the output (of a Mealy machine, on the letter in the state before)."""
    if answers == "states":
        return after
    return machine.outputs[x][before] if type(machine.outputs[0]) is list else machine.outputs[after]
