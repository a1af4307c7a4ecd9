"""All reachable states of a head at once, as sparse rows `row -> {column of all codes side by side: value}`.

A GH factor touches only the rows in the support of its vector, so that a letter made of thousands of swaps of
one-hot states costs as little as it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from .householder import GHFactor
from .lrnn import Head, Sparse, Transition
from .real_cyclotomic import Number

Rows: TypeAlias = list[dict[int, Number]]


def stacked(head: Head) -> Rows:
    """Codes side by side: entry (i, j) of code c stands in row i, column c·value_dim + j."""
    rows: Rows = [{} for _ in range(head.dim)]
    for c, code in enumerate(head.codes):
        for i, j, x in code:
            rows[i][c * head.value_dim + j] = x
    return rows


def apply_factor(rows: Rows, factor: GHFactor) -> None:
    """rows ← (I - β v vᵀ) rows, in place; v⊙a in place of the right v where the factor has a mask."""
    sums: dict[int, Number] = {}
    for i, v in factor.reading:
        for column, x in rows[i].items():
            sums[column] = sums.get(column, 0) + v * x
    for i, v in factor.vector:
        row, scale = rows[i], v * factor.beta
        for column, s in sums.items():
            x = row.get(column, 0) - scale * s
            if x == 0:
                row.pop(column, None)
            else:
                row[column] = x


def gated(rows: Rows, gate: Number) -> Rows:
    """gate·rows, a copy."""
    if gate == 0:
        return [{} for _ in rows]
    return (
        [{c: gate * x for c, x in row.items()} for row in rows] if gate != 1 else [dict(row) for row in rows]
    )


def apply_transition(head: Head, transition: Transition, rows: Rows) -> Rows:
    """The rows after one letter; the given rows stay as they are.

    Heads over a number field form the matrix A first: far fewer products where codes outnumber dimensions.
    """
    matrix = transition.matrix
    if matrix is None and head.field > 1:
        unit: Rows = [{i: transition.gate} if transition.gate != 0 else {} for i in range(head.dim)]
        for factor in transition.factors:
            apply_factor(unit, factor)
        matrix = tuple((i, k, a) for i, row in enumerate(unit) for k, a in row.items())
    if matrix is not None:
        result: Rows = [{} for _ in range(head.dim)]
        for i, k, a in matrix:
            for column, x in rows[k].items():
                total = result[i].get(column, 0) + a * x
                if total == 0:
                    result[i].pop(column, None)
                else:
                    result[i][column] = total
    else:
        result = gated(rows, transition.gate)
        for factor in transition.factors:
            apply_factor(result, factor)
    add(result, transition.additive, len(head.codes), head.value_dim)
    return result


def image_of(head: Head, value: Sparse, transition: int) -> Sparse:
    """A(x) H + B(x) for any exact state H, by one transition's factors."""
    alone = replace(head, codes=(value,))
    return codes_of(apply_transition(alone, head.transitions[transition], stacked(alone)), 1, head.value_dim)[
        0
    ]


def add(rows: Rows, additive: Sparse, codes: int, value_dim: int) -> None:
    """Add the same sparse matrix to every code, in place."""
    for i, j, b in additive:
        for c in range(codes):
            column = c * value_dim + j
            x = rows[i].get(column, 0) + b
            if x == 0:
                rows[i].pop(column, None)
            else:
                rows[i][column] = x


def codes_of(rows: Rows, codes: int, value_dim: int) -> list[Sparse]:
    """Back from rows to one sparse matrix a code."""
    entries: list[list[tuple[int, int, Number]]] = [[] for _ in range(codes)]
    for i, row in enumerate(rows):
        for column, x in row.items():
            entries[column // value_dim].append((i, column % value_dim, x))
    return [tuple(sorted(code, key=_place)) for code in entries]


def _place(entry: tuple[int, int, Number]) -> tuple[int, int]:
    return entry[0], entry[1]


def dense(code: Sparse, dim: int, value_dim: int) -> Sequence[Sequence[Number]]:
    """A sparse matrix as dense rows."""
    rows: list[list[Number]] = [[0] * value_dim for _ in range(dim)]
    for i, j, x in code:
        rows[i][j] = x
    return rows
