"""A layer by its stored numbers: heads side by side, joint codes, and the answers that these stand for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from ._arithmetic import Arithmetic
from ._exact import Field, array, integer, need, number, record
from .table import Machine

Vector: TypeAlias = tuple[Fraction, ...]


class Model:
    """The stored numbers: heads side by side, joint codes, and the answer of each code on each letter.

    States are flat: the entries of all heads, row by row. `rows[x]`: for each entry its terms [(place, a), ...] and b;
    `columns[x]`: for each entry the columns of its terms, and how many its head has.
    """

    def __init__(self, data: Any, letters: int, answers: int, arithmetic: Arithmetic) -> None:
        record(data, {"heads", "codes", "decode"}, "model")
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

    def step(self, state: Vector, x: int) -> Vector:
        """The same, rounded as the arithmetic does."""
        after = []
        for (terms, b), (columns, n) in zip(self.rows[x], self.columns[x], strict=True):
            # the columns matter to sums by pairs, where zeros keep their places
            numbers = [(k, a, state[place]) for k, (place, a) in zip(columns, terms, strict=True)]
            after.append(self.arithmetic.affine(numbers, b, n))
        return tuple(after)

    def nearest(self, state: Vector) -> int:
        """The first of the nearest codes; the state itself where it is a code, for no distance is less than 0."""
        if state in self.places:
            return self.places[state]
        sizes = [distance(state, code) for code in self.codes]
        # `index` finds the first of those at the least distance
        return sizes.index(min(sizes))


def value(x: Any, arithmetic: Arithmetic | None, where: str) -> Fraction:
    """A rational number, and one of the arithmetic's values if it is given."""
    result = Fraction(number(x, Field(1), where))  # type: ignore[arg-type]
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
