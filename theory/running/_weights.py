"""The weights of a constructed head as numpy: letter matrices as padded sparse rows, rounded once to a format.

A letter's matrix Ã(x) is the exact product of its factors (times the gate), rounded entry by entry. Only the
non-zero entries are kept, so a permutation of 10,000 points costs 10,000 entries a letter, not 10^8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head, Rows, apply_factor, scale_rows
from ...constructions._realisation import Sparse, Transition
from ...constructions.algebra._cyclotomic import Number
from ...constructions.automata._automaton import Indices
from ...foundation._errors import LimitError
from ..arithmetic._rounding import FloatFormat, Floats, float_format, round_number

MAX_ENTRIES = 50_000_000


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """A head's letter matrices and additive terms in one format.

    `columns`, `values`: `[width, letters, dim]`: row i of letter x has the entries `values[k, x, i]` in the columns
    `columns[k, x, i]`, k < width; rows with fewer entries are padded with zeros (column 0).
    `additive`: `[letters, dim, value_dim]`, or None where no letter adds anything.
    `exact`: True where no entry was changed by rounding.
    """

    dim: int
    value_dim: int
    columns: Indices
    values: Floats
    additive: Floats | None
    exact: bool

    @cached_property
    def is_dense(self) -> bool:
        """True where column k of every row is k, so that nothing needs to be gathered."""
        width = len(self.columns)
        return width == self.dim and bool((self.columns == np.arange(width)[:, None, None]).all())

    def dense(self, max_entries: int = MAX_ENTRIES) -> Floats:
        """The matrices `[letters, dim, dim]`; `LimitError` beyond `max_entries` entries."""
        width, letters, dim = self.columns.shape
        entries = letters * dim * dim
        if entries > max_entries:
            raise LimitError(
                f"{letters} dense matrices of {dim} × {dim} have {entries:,} entries, more than {max_entries:,}: "
                "raise `max_entries`"
            )
        result = np.zeros((letters, dim, dim))
        # entries[k, x, i] into column columns[k, x, i] of row i
        x, i = np.indices((letters, dim))
        for k in range(width):
            result[x, i, self.columns[k]] += self.values[k]
        return result


def head_weights(head: Head, dtype: str | FloatFormat, mode: str = "rne") -> HeadWeights:
    """The matrices of all letters of a head, built through sparse rows and rounded once to the format."""
    rounding = Rounding(float_format(dtype), mode)
    matrices = [letter_rows(t, head.dim) for t in head.transitions]
    fullest = max((len(row) for rows in matrices for row in rows), default=0)
    # rows more than half full are stored densely, so that nothing is gathered
    width = max(head.dim if 2 * fullest > head.dim else fullest, 1)
    letters = len(matrices)
    columns = np.zeros((width, letters, head.dim), dtype=np.int64)
    values = np.zeros((width, letters, head.dim))
    if width == head.dim:
        columns[:] = np.arange(width)[:, None, None]
    for x, rows in enumerate(matrices):
        for i, row in enumerate(rows):
            for k, (column, value) in enumerate(sorted(row.items(), key=_column)):
                place = column if width == head.dim else k
                columns[place, x, i] = column
                values[place, x, i] = rounding(value)
    additive = None
    if any(t.additive for t in head.transitions):
        additive = np.stack([rounding.dense(t.additive, head.dim, head.value_dim) for t in head.transitions])
    return HeadWeights(head.dim, head.value_dim, columns, values, additive, rounding.exact)


def letter_rows(transition: Transition, dim: int) -> Rows:
    """The exact matrix of a letter, C_k···C_1·gate, as rows `{column: value}` without zeros."""
    rows: Rows = [{} for _ in range(dim)]
    if transition.matrix is not None:
        for i, j, a in transition.matrix:
            rows[i][j] = a
    else:
        # gate · I first, then C_1, C_2, ...
        rows = scale_rows([{i: 1} for i in range(dim)], transition.gate)
    for factor in transition.factors:
        apply_factor(rows, factor)
    return rows


def dense_codes(
    head: Head, dtype: str | FloatFormat, max_entries: int = MAX_ENTRIES, *, mode: str = "rne"
) -> Floats:
    """All codes `[codes, dim, value_dim]`, rounded once to the format; `LimitError` beyond `max_entries`."""
    entries = len(head.codes) * head.dim * head.value_dim
    if entries > max_entries:
        raise LimitError(
            f"{len(head.codes):,} codes of {head.dim} × {head.value_dim} have {entries:,} entries, more than "
            f"{max_entries:,}: raise `max_entries`"
        )
    rounding = Rounding(float_format(dtype), mode)
    result = np.zeros((len(head.codes), head.dim, head.value_dim))
    for c, code in enumerate(head.codes):
        for i, j, value in code:
            result[c, i, j] = rounding(value)
    return result


def sparse_codes(head: Head, dtype: str | FloatFormat) -> tuple[Indices, Floats]:
    """All codes as places `[codes, width]` in the flattened state and their values, padded with value 0 at place 0."""
    rounding = Rounding(float_format(dtype))
    width = max((len(code) for code in head.codes), default=0)
    places: NDArray[np.int64] = np.zeros((len(head.codes), max(width, 1)), dtype=np.int64)
    values = np.zeros(places.shape)
    for c, code in enumerate(head.codes):
        for k, (i, j, value) in enumerate(code):
            # place i · d + j of the flat state
            places[c, k] = i * head.value_dim + j
            values[c, k] = rounding(value)
    return places, values


class Rounding:
    """Rounds exact numbers to a format, each distinct one once; `exact` tells whether all stayed what they were."""

    def __init__(self, fmt: FloatFormat, mode: str = "rne") -> None:
        self.fmt, self.mode = fmt, mode
        self.exact = True
        self._known: dict[Number, float] = {}

    def __call__(self, x: Number) -> float:
        """The value of the format that x is rounded to."""
        rounded = self._known.get(x)
        if rounded is None:
            rounded = self._known[x] = round_number(x, self.fmt, self.mode)
            # exact as long as every number has stayed what it was
            self.exact = self.exact and x == exact_value(rounded)
        return rounded

    def dense(self, entries: Sparse, dim: int, value_dim: int) -> Floats:
        """A sparse matrix as a dense rounded array."""
        result = np.zeros((dim, value_dim))
        for i, j, value in entries:
            result[i, j] = self(value)
        return result


def exact_value(x: float) -> Number | None:
    """The number that a float is; None for inf and nan."""
    from fractions import Fraction

    return Fraction(x) if np.isfinite(x) else None


def _column(item: tuple[int, Number]) -> int:
    return item[0]
