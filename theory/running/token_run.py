"""Running an LRNN one token after another, several sequences side by side, with what is observed on the way."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ..arithmetic.rounding import Floats
from .report import Tally
from .stepper import LRNNStepper

Progress = Callable[[float], None]
BUFFER_ENTRIES = 500_000
"""State entries that are kept before they are decoded together."""
TELL_AFTER = 1.0
"""Seconds after which progress is told."""
TELL_EVERY = 0.1


class TokenRun:
    """The run of an `LRNNStepper`, continued part by part; errors, norms and margins go to the tally."""

    def __init__(self, stepper: LRNNStepper, tally: Tally, sequences: int) -> None:
        self.stepper, self.tally = stepper, tally
        self.states = stepper.initial(sequences)
        entries = sum(head.dim * head.value_dim for head in stepper.heads)
        self.part_length = max(BUFFER_ENTRIES // max(entries * sequences, 1), 1)

    def place_at(self, rows: Indices) -> None:
        """Go on from the exact codes of rows of `LRNN.decode`, one a sequence."""
        self.states = self._codes(rows)

    def advance(self, part: NDArray[Any], right: Indices, done: int, rows: Indices | None = None) -> None:
        """Read letters `[sequences, T]`, T ≤ `part_length`, after `done` tokens; `right`: the states to be.

        With `rows`, the rows of `LRNN.decode` to be, a state counts as wrong unless it equals its code bit for bit.
        """
        history = self._steps(part)
        flat = [H.reshape(-1, *H.shape[2:]) for H in history]
        wanted = right.T.reshape(-1)
        decoded, margin = self.stepper.readout.observe(flat, wanted)
        wrong = decoded != wanted
        if rows is not None:
            for H, code in zip(flat, self._codes(rows.T.reshape(-1)), strict=True):
                wrong |= (code != H).any(axis=(1, 2))
        self.tally.add_errors(wrong.reshape(right.T.shape), done)
        self.tally.margin = min(self.tally.margin, margin)
        with np.errstate(all="ignore"):
            self.tally.add_norms(
                np.sqrt(sum((np.einsum("bij,bij->b", H, H) for H in flat), np.zeros(len(wanted))))
            )

    def _steps(self, part: NDArray[Any]) -> list[Floats]:
        """All states of a part, one array `[T, sequences, dim, value_dim]` a head."""
        by_token = np.ascontiguousarray(part.T).astype(np.int64)
        history = [np.empty((len(by_token), *H.shape)) for H in self.states]
        for t, x in enumerate(by_token):
            self.states = self.stepper.step(self.states, x)
            for H, kept in zip(self.states, history, strict=True):
                kept[t] = H
        return history

    def _codes(self, rows: Indices) -> list[Floats]:
        readout = self.stepper.readout
        return [codes.dense(readout.rows[rows, h]) for h, codes in enumerate(readout.codes)]


class Clock:
    """Wall-clock time since its making; tells progress once `TELL_AFTER` seconds have passed, every `TELL_EVERY` at most."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total = progress, max(total, 1)
        self._start = perf_counter()
        self._told = self._start + TELL_AFTER - TELL_EVERY

    def seconds(self) -> float:
        """Seconds so far."""
        return perf_counter() - self._start

    def tell(self, done: int) -> None:
        """Call the progress callback with the fraction done, if it is time."""
        now = perf_counter()
        if self._progress is not None and now - self._told >= TELL_EVERY:
            self._told = now
            self._progress(done / self._total)
