"""Random arithmetics, layers and automata, as the oracle takes them; all from one `random.Random`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from mirrormata.tests.oracle.arithmetic import ORDERS, Arithmetic
from mirrormata.tests.oracle.search import Head, Joint, Layer, Machine, Rounded
from mirrormata.tests.oracle.values import MODES

COARSE = ("int:-4..4", "int:-5..6", "int:-20..30", "fixed:4:2", "fixed:6:3", "-1,0,1", "-3/2,-1/4,0,1/8,1,4")
SMALL = ("fp8_e4m3", "fp8_e5m2", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1")
LARGE = ("bf16", "bf16", "fp16", "fp32", "fp64")
WITHOUT_ZERO = ("int:1..4", "-2,-1,1/2,3")


@dataclass(frozen=True)
class Case:
    """One model beside one automaton in an arithmetic.

    `layer`, `machine`: as the oracle takes them, answers being any integers. `mealy`: the right answer depends on the letter
    and the state before it; else `outputs` has one answer a state. `source`: what the package is given instead of the
    matrices. `planted`: what was made wrong, in words.
    """

    kind: str
    seed: int
    arithmetic: str
    layer: Layer
    machine: Machine
    mealy: bool
    outputs: tuple[int, ...] = ()
    planted: str = ""
    source: Any = None
    labelled: bool = field(default=False)


def arithmetic_name(draw: random.Random, values: str | None = None) -> str:
    """Any name of docs/arithmetic.md but `cast` and `kernel`."""
    if values is None:
        place = draw.random()
        if place < 0.05:
            return "exact"
        values = draw.choice(COARSE if place < 0.4 else SMALL if place < 0.7 else LARGE)
        if place > 0.985:
            values = draw.choice(WITHOUT_ZERO)
    kind = draw.choice(("per_step", "per_op"))
    order = draw.choice(ORDERS) if kind == "per_op" else "left"
    listed = "," in values
    default = "tie_low" if listed else "rne"
    mode = default if draw.random() < 0.4 else draw.choice(MODES[1:] if listed else MODES)
    name = f"{kind}:{values}"
    if order != "left":
        name += f":{order}"
    if mode != default:
        name += f":{mode}"
    if values in ("bf16", "fp16", "fp32", "fp8_e5m2") and draw.random() < 0.2:
        name += ":sat"
    return name


def number(draw: random.Random, style: int) -> Fraction:
    """A float64 number."""
    if style == 0:
        return Fraction(draw.choice((-1, 0, 0, 1)))
    if style == 1:
        return Fraction(draw.randint(-8, 8), 4)
    if style == 2:
        return Fraction(draw.choice((-2, -1, 0, 0, 1, 1, 2)))
    if style == 3:
        return Fraction(draw.randint(-300, 300), 2 ** draw.randint(6, 9))
    if style == 4:
        return Fraction(draw.gauss(0, 0.7))
    return Fraction(draw.randint(-40, 40)) * Fraction(2) ** draw.randint(-20, 14)


def matrix(draw: random.Random, rows: int, columns: int, style: int) -> list[list[Fraction]]:
    return [[number(draw, style) for _ in range(columns)] for _ in range(rows)]


def identity(n: int) -> list[list[Fraction]]:
    return [[Fraction(i == j) for j in range(n)] for i in range(n)]


def transition(draw: random.Random, n: int, style: int) -> list[list[Fraction]]:
    """A letter's matrix: any, a signed permutation, idle, or one that forgets."""
    place = draw.random()
    if place < 0.15:
        return identity(n)
    if place < 0.45:
        images = draw.sample(range(n), n)
        return [
            [Fraction(draw.choice((-1, 1, 1))) if images[i] == j else Fraction(0) for j in range(n)]
            for i in range(n)
        ]
    if place < 0.55:
        return [[x * Fraction(draw.choice((0, 0, 1)), 2) for x in row] for row in identity(n)]
    return matrix(draw, n, n, style)


def head(draw: random.Random, letters: int, n: int, d: int) -> Head:
    style = draw.randrange(6)
    A = [transition(draw, n, style) for _ in range(letters)]
    zero = [[Fraction(0)] * d for _ in range(n)]
    B = [zero if draw.random() < 0.5 else matrix(draw, n, d, draw.choice((0, style))) for _ in range(letters)]
    return Head(A, B, matrix(draw, n, d, draw.choice((0, 0, 2, style))))


def read_out(
    draw: random.Random, points: Sequence[Joint], letters: int, *, by_letter: bool
) -> tuple[Any, list[list[int]]]:
    """Codes and what they stand for: some of the points, their middles, and others; middles and doubles make ties."""
    codes = []
    for _ in range(draw.choice((1, 2, 3, 4, 6, 9))):
        (a,), (b,) = draw.choice(points), draw.choice(points)
        place, shift = draw.random(), Fraction(draw.randint(-4, 4), 4)
        weight = Fraction(1, 2) if place < 0.3 else Fraction(0)
        moved = shift if place > 0.7 else Fraction(0)
        middle = [
            [Fraction(float(x + weight * (y - x) + moved)) for x, y in zip(u, v, strict=True)]
            for u, v in zip(a, b, strict=True)
        ]
        codes.append([middle])
    answers = draw.choice((1, 2, 2, 3))
    rows = [[draw.randrange(answers) for _ in range(letters if by_letter else 1)] for _ in codes]
    return codes, [row if by_letter else row * letters for row in rows]


def closure(layer: Rounded, letters: int, most: int) -> tuple[list[Joint], list[list[int]]] | None:
    """All states that words reach, breadth first, and the table `[letter][state]`; None beyond `most`."""
    number_of, states = {layer.start: 0}, [layer.start]
    rows: list[list[int]] = []
    for state in states:
        row = []
        for x in range(letters):
            following = layer.step(state, x)
            if following not in number_of:
                if len(states) == most:
                    return None
                number_of[following] = len(states)
                states.append(following)
            row.append(number_of[following])
        rows.append(row)
    return states, [list(column) for column in zip(*rows, strict=True)]


def reachable(
    transitions: Sequence[Sequence[int]], start: int, outputs: Any, *, mealy: bool
) -> tuple[Machine, tuple[int, ...]]:
    """The reachable part of a machine, numbered breadth first, with its outputs by letter and (Moore) by state."""
    order, number_of = [start], {start: 0}
    for q in order:
        for row in transitions:
            if row[q] not in number_of:
                number_of[row[q]] = len(order)
                order.append(row[q])
    table = [[number_of[row[q]] for q in order] for row in transitions]
    if mealy:
        return Machine(table, 0, [[row[q] for q in order] for row in outputs]), ()
    by_state = tuple(outputs[q] for q in order)
    return Machine(table, 0, [[by_state[q] for q in row] for row in table]), by_state


def merged(transitions: Sequence[Sequence[int]], outputs: Any, *, mealy: bool) -> tuple[list[int], int]:
    """The block of each state in the coarsest partition that answers tell, and how many blocks there are."""
    states = range(len(transitions[0]))
    block = [tuple(row[q] for row in outputs) if mealy else (outputs[q],) for q in states]
    while True:
        names = {b: i for i, b in enumerate(dict.fromkeys(block))}
        numbers = [names[b] for b in block]
        finer = [(numbers[q], *(numbers[row[q]] for row in transitions)) for q in states]
        if len(set(finer)) == len(names):
            return numbers, len(names)
        block = finer


def random_machine(draw: random.Random, letters: int, *, mealy: bool) -> tuple[Machine, tuple[int, ...]]:
    n, answers = draw.randint(1, 5), draw.choice((1, 2, 3))
    table = [[draw.randrange(n) for _ in range(n)] for _ in range(letters)]
    outputs: Any = [draw.randrange(answers) for _ in range(n)]
    if mealy:
        outputs = [[draw.randrange(answers) for _ in range(n)] for _ in range(letters)]
    return reachable(table, 0, outputs, mealy=mealy)


def with_entry(draw: random.Random, layer: Layer) -> Layer:
    """One number of the matrices is another one: its sign, a hair beside it, or any."""
    (old,) = layer.heads
    A, B = [[list(row) for row in a] for a in old.A], [[list(row) for row in b] for b in old.B]
    chosen = draw.choice(A + B)
    row = draw.choice(chosen)
    i = draw.randrange(len(row))
    x = row[i]
    assert isinstance(x, Fraction)
    changed = draw.choice((-x, x + Fraction(1, 2 ** draw.randint(1, 12)), number(draw, draw.randrange(6))))
    row[i] = Fraction(float(changed))
    return replace(layer, heads=(Head(A, B, old.H0),))


def rounded(layer: Layer, arithmetic: str) -> Rounded:
    return Rounded(layer, Arithmetic(arithmetic))
