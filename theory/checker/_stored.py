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
# units of work, by what was measured: an entry of a step, a term of it, one whose product and sum are rounded, an entry of a
# code of which the distance is found, a comparison with a number of a list of values
ENTRY, TERM, OPERATIONS, APART, LISTED = 150, 5, 200, 20, 5


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

    @cached_property
    def scaled_rows(self) -> list[list[tuple[int, list[tuple[int, int]], int]]]:
        """For each letter and entry a common denominator E, its terms [(place, E a), ...] and E b."""
        found = []
        for row in self.rows:
            scaled = [self.scale([*(a for _, a in terms), b]) for terms, b in row]
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
        return [self.scale(code) for code in self.codes]

    @cached_property
    def bits(self) -> int:
        """The greatest size of an entry's weights and of a code, as they are scaled."""
        rows = (size(E, [*(a for _, a in terms), b]) for row in self.scaled_rows for E, terms, b in row)
        # what is rounded is compared with each number of a list of values
        return max([*rows, *(size(C, code) for C, code in self.scaled_codes), self.arithmetic.listed[1]])

    @cached_property
    def work(self) -> list[int]:
        """The units of work of a step by each letter, with small numbers."""
        rounded = LISTED * self.arithmetic.listed[0]
        entry, term = ENTRY + rounded, TERM
        if self.arithmetic.kind == "per_op":  # a product and a sum
            term = OPERATIONS + 2 * rounded
        return [entry * len(row) + term * sum(len(terms) for terms, _ in row) for row in self.rows]

    @cached_property
    def rough(self) -> list[int]:
        """How many entries each letter rounds: not those that only move or change the sign of one number, or are B's alone."""
        return [
            sum(
                bool(terms) and not (len(terms) == 1 and abs(terms[0][1]) == 1 and b == 0) for terms, b in row
            )
            for row in self.rows
        ]

    def scale(self, numbers: Sequence[Fraction]) -> Scaled:
        """Numbers over their common denominator, which counts as work."""
        scaled = common(numbers)
        self.budget.spend(APART * (1 + len(numbers)), size(*scaled))
        return scaled

    def begin(self, state: Vector, x: int) -> Scaled:
        """The state over its common denominator, when the work of a step by a letter has been counted."""
        D, whole = common(state)
        self.budget.spend(self.work[x], size(D, whole) + self.bits)
        return D, whole

    def sums(self, state: Vector, x: int) -> list[tuple[int, int]]:
        """A(x) h + B(x): for each entry n and d of the number n/d, which may have common divisors."""
        D, whole = self.begin(state, x)
        return [(sum([a * whole[k] for k, a in terms]) + b * D, E * D) for E, terms, b in self.scaled_rows[x]]

    def exactly(self, state: Vector, x: int) -> Vector:
        """A(x) h + B(x)."""
        return tuple(Fraction(n, d) for n, d in self.sums(state, x))

    def step(self, state: Vector, x: int) -> Vector:
        """The same, rounded as the arithmetic does."""
        if self.arithmetic.kind == "per_op":
            return self.step_by_operations(state, x)
        # exact and per_step: the sum is exact, and rounded once (not at all for exact); a sum of 0 needs no rounding, for 0 is
        # a value of every arithmetic
        ratio = self.arithmetic.ratio
        return tuple(ratio(n, d) if n else ZERO for n, d in self.sums(state, x))

    def step_by_operations(self, state: Vector, x: int) -> Vector:
        """A step of which each operation is rounded."""
        self.begin(state, x)
        after = []
        for (terms, b), (columns, n) in zip(self.rows[x], self.columns[x], strict=True):
            # in every order a product of 0 is 0, and to add it to a value of the arithmetic changes nothing, rounded or not: such
            # terms are left out, and where none is left b, a value too, is the sum; the columns matter to sums by pairs, where
            # zeros keep their places
            numbers = [(k, a, state[at]) for k, (at, a) in zip(columns, terms, strict=True) if state[at]]
            after.append(self.arithmetic.operations(numbers, b, n) if numbers else b)
        return tuple(after)

    def nearest(self, state: Vector) -> int:
        """The first of the nearest codes; the state itself where it is a code, for no distance is less than 0."""
        if state in self.places:
            return self.places[state]
        sizes = self.distances(common(state), range(len(self.codes)))
        # `index` finds the first of those at the least distance
        return sizes.index(min(sizes))

    def distances(self, point: Scaled, codes: Sequence[int]) -> list[Fraction]:
        """The squares of the distances of a point from some codes."""
        # so long are the numbers of which a distance has the squares
        bits = 2 * (size(*point) + self.bits)
        self.budget.spend(APART * (len(point[1]) + 10) * len(codes), bits)
        return [distance(point, self.scaled_codes[c]) for c in codes]


def common(numbers: Sequence[Fraction]) -> Scaled:
    """The least common denominator D of some numbers, and each of them times D."""
    D = lcm(*(x.denominator for x in numbers))
    return D, [x.numerator * (D // x.denominator) for x in numbers]


def size(denominator: int, whole: Sequence[int]) -> int:
    """The bits of the largest of some numbers, and of their common denominator."""
    return denominator.bit_length() + max(map(int.bit_length, whole), default=0)


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


def distance(x: Scaled, y: Scaled) -> Fraction:
    """‖x - y‖²."""
    (D, x_whole), (C, y_whole) = x, y
    # a/D - b/C = (C a - D b) / (C D)
    return Fraction(sum([(C * a - D * b) ** 2 for a, b in zip(x_whole, y_whole, strict=True)]), (C * D) ** 2)


def right(machine: Machine, answers: str, x: int, before: int, after: int) -> Any:
    """The right answer: the state, or the output (of a Mealy machine, on the letter in the state before)."""
    if answers == "states":
        return after
    return machine.outputs[x][before] if type(machine.outputs[0]) is list else machine.outputs[after]
