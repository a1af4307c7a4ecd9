"""The decoder of a proof: the nearest code, decided without any tolerance.

Codes are float64 numbers (exact numbers rounded once). The code nearest to a state has the least exact Frobenius
distance, over all heads together; ties go to the first row. Float64 arithmetic decides where it provably can: a
state nearer to a row than half that row's distance to the rows with other answers is read rightly; what is left is
compared in rational numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ..arithmetic.rounding import Floats
from ..running.readout import HUGE, TINY, close_rows, nearest_exactly

SAFE = 1 - 2.0**-20
"""Shrinks a margin by far more than the float64 errors of distances, which are below entries · 2^-52 of them."""
ENTRIES = 4_000_000
"""Differences computed at once."""
DOUBTFUL = 256
"""States decoded at once until a wrong one is found."""
LISTED = 4
"""Answers with at most so many codes are compared with these alone."""


class CodeReader:
    """`codes` `[rows, entries]`; `answers` `[rows, 1]`, or `[rows, letters]` where the last letter matters."""

    def __init__(self, codes: Floats, answers: Indices) -> None:
        self.codes, self.answers = codes, answers
        self.by_letter = answers.shape[1] > 1
        self.margins = np.full(answers.shape, np.nan)
        self._norms = np.einsum("ce,ce->c", codes, codes)
        self._huge = bool((np.abs(codes) > HUGE).any())
        texts = np.ascontiguousarray(codes + 0.0).view(np.dtype((np.void, 8 * codes.shape[1])))
        self._distinct = len(np.unique(texts)) == len(codes)
        self._own = [_rows_of(column) for column in answers.T]

    def first_wrong(self, states: Floats, letters: Indices, expected: Indices) -> int:
        """The first place where the nearest code's answer is not the expected one, or -1.

        A state that is not finite is wrong.
        """
        doubtful: NDArray[np.bool_] = np.logical_not(np.isfinite(states).all(axis=1))
        good = np.flatnonzero(~doubtful)
        columns = letters if self.by_letter else np.zeros(len(states), dtype=np.int64)
        for column in np.unique(columns[good]).tolist() if self.by_letter else [0]:
            here = good[columns[good] == column] if self.by_letter else good
            doubtful[here] = ~self._surely(states[here], column, expected[here])
        left = np.flatnonzero(doubtful)
        for start in range(0, len(left), DOUBTFUL):
            part = left[start : start + DOUBTFUL]
            wrong = part[self.decode(states[part], columns[part]) != expected[part]]
            if wrong.size:
                return int(wrong[0])
        return -1

    def decode(self, states: Floats, letters: Indices) -> Indices:
        """The answers of the nearest codes `[batch]`; -1 for a state that is not finite."""
        found = np.full(len(states), -1, dtype=np.int64)
        size = max(ENTRIES // len(self.codes), 1)
        for start in range(0, len(states), size):
            part = states[start : start + size]
            finite = np.isfinite(part).all(axis=1)
            with np.errstate(all="ignore"):
                scores = part @ (-2 * self.codes.T) + self._norms  # |x - c|² - |x|²
                close = close_rows(part, scores, float(self._norms.max()))
            row = close.argmax(axis=1)
            for i in np.flatnonzero(finite & (close.sum(axis=1) != 1)).tolist():
                rows = np.flatnonzero(close[i])
                row[i] = rows[nearest_exactly(part[i], self.codes[rows])]
            columns = letters[start : start + size] if self.by_letter else 0
            answers = self.answers[row, columns]
            found[start : start + size] = np.where(finite, answers, -1)
        return found

    def _surely(self, states: Floats, column: int, expected: Indices) -> NDArray[np.bool_]:
        """Where a state lies within the safe margin of a code with the expected answer."""
        own = self._own[column]
        if not len(states):
            return np.zeros(0, dtype=bool)
        if own is None:
            size = max(ENTRIES // len(self.codes), 1)
            parts = [states[i : i + size] @ (-2 * self.codes.T) for i in range(0, len(states), size)]
            rows = np.concatenate([(p + self._norms).argmin(axis=1) for p in parts])
            right = self.answers[rows, column] == expected
            sure: NDArray[np.bool_] = right & self._within(states, rows, column)
            return sure
        possible = (expected >= 0) & (expected < len(own))
        candidates = own[np.where(possible, expected, 0)]
        sure = np.zeros(len(states), dtype=bool)
        for rows in candidates.T:
            sure |= possible & (rows >= 0) & self._within(states, np.maximum(rows, 0), column)
        return sure

    def _within(self, states: Floats, rows: Indices, column: int) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            difference = states - self.codes[rows]
            distance = np.sqrt(np.einsum("be,be->b", difference, difference))
        sure: NDArray[np.bool_] = (difference == 0).all(axis=1) & self._distinct
        left = np.flatnonzero(~sure)
        needed = np.unique(rows[left][np.isnan(self.margins[rows[left], column])])
        if needed.size:
            self._find_margins(needed, column)
        sure[left] = distance[left] < self.margins[rows[left], column] * SAFE
        return sure

    def _find_margins(self, rows: Indices, column: int) -> None:
        answers = self.answers[:, column]
        size = max(ENTRIES // max(self.codes.size, 1), 1)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            with np.errstate(all="ignore"):
                squares = ((self.codes[part, None] - self.codes[None]) ** 2).sum(axis=2)
            squares[answers[part, None] == answers[None]] = np.inf
            margins = np.sqrt(squares.min(axis=1)) / 2
            self.margins[part, column] = 0 if self._huge else np.where(margins > TINY, margins, 0)


def _rows_of(answers: Indices) -> Indices | None:
    """For each answer its rows, -1 behind fewer; None where one has too many."""
    known = np.flatnonzero(answers >= 0)
    if not known.size:
        return None
    counts = np.bincount(answers[known])
    if counts.max() > LISTED:
        return None
    table = np.full((len(counts), counts.max()), -1, dtype=np.int64)
    order = known[np.argsort(answers[known], kind="stable")]
    sorted_answers = answers[order]
    first = np.searchsorted(sorted_answers, sorted_answers)
    table[sorted_answers, np.arange(len(order)) - first] = order
    return table
