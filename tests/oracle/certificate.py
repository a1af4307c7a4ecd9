"""A certificate of one layer, kind `table` or `horizon`, as a `Layer` and a `Machine`: written from docs/certificates.md.

Irrational numbers, polynomials in θ = 2cos(2π/N), become fractions within 2^-500 or so of them. That is enough to round
them rightly unless a number lies as close as that to a tie, for which there is no reason.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from .search import Head, Layer, Machine, moore

_BITS = 640


def _shorter(x: Fraction) -> Fraction:
    return Fraction(round(x * 2**_BITS), 2**_BITS)


@cache
def _pi() -> Fraction:
    """Machin's formula."""

    def arctangent(k: int) -> Fraction:
        total, power, n = Fraction(0), Fraction(1, k), 1
        while power > Fraction(1, 2 ** (_BITS + 8)):
            total += power / n if n % 4 == 1 else -power / n
            power, n = power / (k * k), n + 2
        return total

    return _shorter(16 * arctangent(5) - 4 * arctangent(239))


@cache
def theta(n: int) -> Fraction:
    """2cos(2π/n), by its power series."""
    if n <= 2:
        return Fraction(2 if n == 1 else -2)
    x = 2 * _pi() / n
    total, term, k = Fraction(0), Fraction(1), 0
    while abs(term) > Fraction(1, 2 ** (_BITS + 8)):
        total += term
        k += 2
        term = -_shorter(term * x * x) / (k * (k - 1)) if k > 2 else -_shorter(x * x) / 2
        term = _shorter(term)
    return _shorter(2 * total)


def number(entry: Any, field: int) -> Fraction:
    """An entry of a certificate."""
    if isinstance(entry, list):
        return _shorter(sum((Fraction(x) * theta(field) ** i for i, x in enumerate(entry)), Fraction(0)))
    return Fraction(entry)


def _dense(entries: Any, rows: int, columns: int, field: int) -> list[list[Fraction]]:
    made = [[Fraction(0)] * columns for _ in range(rows)]
    for i, j, x in entries:
        made[i][j] = number(x, field)
    return made


def _matrix(transition: Any, n: int, field: int) -> list[list[Fraction]]:
    """C_k···C_1·gate, the first factor applied first."""
    if "matrix" in transition:
        A = _dense(transition["matrix"], n, n, field)
    else:
        A = [[Fraction(i == j) for j in range(n)] for i in range(n)]
        for beta, vector, *mask in transition["factors"]:
            v = [(i, number(x, field)) for i, x in vector]
            w = [(i, x) for i, x in v if not mask or i in mask[0]]
            along = [sum(x * A[i][j] for i, x in w) for j in range(n)]
            for i, x in v:
                A[i] = [y - number(beta, field) * x * z for y, z in zip(A[i], along, strict=True)]
    gate = number(transition.get("gate", 1), field)
    return [[gate * x for x in row] for row in A]


def read_certificate(document: Any) -> tuple[Layer, Machine]:
    """The layer decodes to the automaton's states, and the machine answers with them."""
    (layer,) = document["layers"]
    heads, codes = [], []
    for head in layer["heads"]:
        n, d, field = head["dim"], head["value_dim"], head["field"]
        codes.append([_dense(code, n, d, field) for code in head["codes"]])
        A = [_matrix(t, n, field) for t in head["transitions"]]
        B = [_dense(t.get("additive", []), n, d, field) for t in head["transitions"]]
        heads.append(Head(A, B, codes[-1][document["decode"][0][1 + len(heads)]]))
    rows = document["decode"]
    joint = [[codes[h][c] for h, c in enumerate(row[1:])] for row in rows]
    automaton = document["automaton"]
    letters = len(automaton["transitions"])
    decode = [[row[0]] * letters for row in rows]
    states = range(automaton["states"])
    return Layer(heads, joint, decode), moore(automaton["transitions"], automaton["start"], states)
