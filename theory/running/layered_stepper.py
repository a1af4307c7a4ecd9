"""Several layers, one token after another: each layer's codes are read off and tell the next layer's letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automaton import Indices
from ...constructions.lrnn import LRNN, Head
from ..arithmetic.rounding import FloatFormat, Floats, float_format
from .head_steps import ExactHead, FloatHead
from .readout import HeadCodes


class Engine(Protocol):
    """What steps one head and reads its codes."""

    def initial(self, code: int, sequences: int) -> Any: ...  # noqa: D102
    def step(self, H: Any, letters: Indices) -> Any: ...  # noqa: D102
    def codes(self, H: Any) -> Indices: ...  # noqa: D102


class _Float(FloatHead):
    """A float head that is read by its nearest code."""

    def __init__(self, head: Head, fmt: FloatFormat, strict: bool) -> None:
        super().__init__(head, fmt)
        self._codes, self._strict = HeadCodes(head), strict

    def codes(self, H: Floats) -> Indices:
        """The nearest codes; -1 for a state that is not finite, and if `strict` for one that is not a code."""
        nearest = self._codes.nearest(H.reshape(len(H), -1))
        good = nearest >= 0
        if self._strict:
            good &= (self._codes.dense(nearest) == H).all(axis=(1, 2))
        return np.where(good, nearest, -1)


class LayeredStepper:
    """An LRNN of several layers; states are a list with one array a head, the layers one after the other.

    `dtype`: a float format (states `[sequences, dim, value_dim]`, each head read by its nearest code, or with `strict`
    by the code that it equals bit for bit), or `exact`.
    A read-out that the codes do not tell is -1, and the sequence then decodes to -1 as long as that lasts.
    """

    numbers_states = False
    """In exact numbers true: a state is its number in this run."""

    def __init__(
        self, lrnn: LRNN, dtype: str | FloatFormat, start_row: int = 0, *, strict: bool = False
    ) -> None:
        self.lrnn, self.start_row = lrnn, start_row
        self.numbers_states = dtype == "exact"
        self.engines: list[Engine]
        if dtype == "exact":
            self.engines = [ExactHead(head) for head in lrnn.all_heads]
        else:
            self.engines = [_Float(head, float_format(dtype), strict) for head in lrnn.all_heads]

    def again(self) -> LayeredStepper:
        """In exact numbers: a run of its own, in which no matrix has been met."""
        return LayeredStepper(self.lrnn, "exact", self.start_row)

    def initial(self, sequences: int) -> list[Any]:
        """The initial state of each head."""
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Any], letters: ArrayLike) -> list[Any]:
        """One token through all layers."""
        x = np.asarray(letters, dtype=np.int64)
        after: list[Any] = []
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            known = np.maximum(x, 0)
            moved = [e.step(H, known) for e, H in zip(self.engines[columns], states[columns], strict=True)]
            after.extend(moved)
            if len(after) < len(states):
                x = np.where(x < 0, -1, layer.read_out(known, self._codes(columns, moved)))
        return after

    def decode(self, states: Sequence[Any], letters: ArrayLike) -> Indices:
        """The automaton's states that the last layer names after the letters just read; -1 for none."""
        x = np.asarray(letters, dtype=np.int64)
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            x = np.where(x < 0, -1, layer.read_out(np.maximum(x, 0), self._codes(columns, states[columns])))
        return x

    def _codes(self, columns: slice, states: Sequence[Any]) -> list[Indices]:
        return [e.codes(H) for e, H in zip(self.engines[columns], states, strict=True)]
