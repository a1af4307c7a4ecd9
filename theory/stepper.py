"""`Stepper`: what runs one token after another; a constructed LRNN in a float format, and in exact numbers.

Arithmetic of `LRNNStepper`, named `per_step:<dtype>`: each letter's matrix Ã(x) is the exact product of its factors
(times the gate), rounded entry by entry once to the dtype; so are H_0 and B. Then
H_t = rnd(Σ_j Ã_ij H_{t-1,j} + B̃_i), the product-sum exact and rounded once, to nearest even. Entries of Ã that are
zero contribute nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..constructions.automaton import Indices
from ..constructions.errors import InputError
from ..constructions.lrnn import LRNN, Head, Sparse
from ..constructions.sparse_rows import apply_transition, codes_of, stacked
from .exact_sum import exact_product_sum
from .readout import Readout
from .rounding import FloatFormat, Floats, float_format
from .weights import HeadWeights, Rounding, head_weights


class Stepper(Protocol):
    """Anything that tracks states token by token, several sequences side by side."""

    def initial(self, sequences: int) -> Any:
        """States before the first token."""
        ...

    def step(self, states: Any, letters: Indices) -> Any:
        """States after one more token; `letters`: letter indices `[sequences]`. The given states stay as they are."""
        ...

    def decode(self, states: Any, letters: Indices) -> Indices:
        """Automaton states `[sequences]`, -1 for none; `letters`: the letters just read."""
        ...


class LRNNStepper:
    """A one-layer LRNN in a float format; states are a list of float64 arrays `[sequences, dim, value_dim]`, one a head.

    The arithmetic is `per_step`, see the module's text; decoding is by the nearest code. `start`: an automaton state.
    """

    def __init__(self, lrnn: LRNN, dtype: str | FloatFormat, start: int | None = None) -> None:
        self.lrnn = lrnn
        self.fmt = float_format(dtype)
        self.start_row = starting_row(lrnn, start)
        self.heads = only_layer(lrnn)
        self.weights: list[HeadWeights] = [head_weights(head, self.fmt) for head in self.heads]
        self.readout = Readout(lrnn)

    def initial(self, sequences: int) -> list[Floats]:
        """H_0 of each head, rounded to the format."""
        rounding = Rounding(self.fmt)
        states = []
        for head, code in zip(self.heads, self.lrnn.decode[self.start_row, 1:].tolist(), strict=True):
            H = rounding.dense(head.codes[code], head.dim, head.value_dim)
            states.append(np.repeat(H[None], sequences, axis=0))
        return states

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """One token: the exact product-sums, rounded once."""
        x = np.asarray(letters, dtype=np.int64)
        return [self._step(w, H, x) for w, H in zip(self.weights, states, strict=True)]

    def _step(self, weights: HeadWeights, H: Floats, x: Indices) -> Floats:
        if weights.is_dense:
            gathered = [H[:, k, None, :] for k in range(weights.dim)]
        else:
            rows = np.arange(len(H))[:, None]
            gathered = [H[rows, columns.take(x, axis=0)] for columns in weights.columns]
        values = [v.take(x, axis=0)[:, :, None] for v in weights.values]
        extra = None if weights.additive is None else weights.additive.take(x, axis=0)
        return exact_product_sum(list(zip(values, gathered, strict=True)), self.fmt, extra)

    def decode(self, states: Sequence[Floats], letters: ArrayLike | None = None) -> Indices:
        """States of the nearest joint codes; -1 where a state is not finite."""
        return self.readout.decode(states)


class ExactStepper:
    """A one-layer LRNN in exact numbers: the factors are applied, exactly, to the state itself.

    States are int arrays `[sequences]`, one a head, that number the exact matrices in `values[head]`. A matrix is
    numbered when it first occurs and each (matrix, letter) is computed once; equality is that of exact numbers.
    Decoding looks the matrices up among the codes; -1 where one is none of them, or where they do not go together.
    """

    def __init__(self, lrnn: LRNN, start: int | None = None) -> None:
        self.lrnn = lrnn
        self.start_row = starting_row(lrnn, start)
        self.heads = only_layer(lrnn)
        self.values: list[list[Sparse]] = [[] for _ in self.heads]
        self._numbers: list[dict[Sparse, int]] = [{} for _ in self.heads]
        letters = len(lrnn.automaton.letters)
        self._images: list[Indices] = [np.zeros((0, letters), dtype=np.int64) for _ in self.heads]
        self._code_of: list[list[int]] = [[] for _ in self.heads]
        self._codes = [{code: c for c, code in enumerate(head.codes)} for head in self.heads]
        self._states = {tuple(row[1:]): row[0] for row in lrnn.decode.tolist()}

    def initial(self, sequences: int) -> list[Indices]:
        """The exact H_0 of each head."""
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        numbers = [self._number(h, self.heads[h].codes[code]) for h, code in enumerate(codes)]
        return [np.full(sequences, number, dtype=np.int64) for number in numbers]

    def step(self, states: Sequence[Indices], letters: ArrayLike) -> list[Indices]:
        """One token, exactly."""
        x = np.asarray(letters, dtype=np.int64)
        after = []
        for h, numbers in enumerate(states):
            images = self._images[h][numbers, x]
            if (images < 0).any():
                for s in np.flatnonzero(images < 0).tolist():
                    images[s] = self._image(h, int(numbers[s]), int(x[s]))
            after.append(images)
        return after

    def decode(self, states: Sequence[Indices], letters: ArrayLike | None = None) -> Indices:
        """Exact look-up of the codes."""
        codes = [np.array(self._code_of[h], dtype=np.int64)[numbers] for h, numbers in enumerate(states)]
        joint = zip(*(c.tolist() for c in codes), strict=True)
        return np.array([self._states.get(key, -1) for key in joint], dtype=np.int64)

    def _number(self, h: int, value: Sparse) -> int:
        number = self._numbers[h].setdefault(value, len(self.values[h]))
        if number == len(self.values[h]):
            self.values[h].append(value)
            self._code_of[h].append(self._codes[h].get(value, -1))
            if number >= len(self._images[h]):
                more = np.full((max(number + 1, 16), self._images[h].shape[1]), -1, dtype=np.int64)
                self._images[h] = np.concatenate([self._images[h], more])
        return number

    def _image(self, h: int, number: int, letter: int) -> int:
        if self._images[h][number, letter] < 0:
            value = image_of(self.heads[h], self.values[h][number], letter)
            found = self._number(h, value)
            self._images[h][number, letter] = found
        return int(self._images[h][number, letter])


def image_of(head: Head, value: Sparse, letter: int) -> Sparse:
    """A(x) H + B(x) in exact numbers, by the letter's factors."""
    alone = replace(head, codes=(value,))
    return codes_of(apply_transition(alone, head.transitions[letter], stacked(alone)), 1, head.value_dim)[0]


def only_layer(lrnn: LRNN) -> tuple[Head, ...]:
    """The heads of a one-layer LRNN; `InputError` for more layers."""
    if len(lrnn.layers) != 1:
        raise InputError(
            f"{lrnn.automaton.name}: the LRNN has {len(lrnn.layers)} layers; runs have one layer"
        )
    return lrnn.layers[0].heads


def starting_row(lrnn: LRNN, start: int | None) -> int:
    """Row of `LRNN.decode` at which a run from an automaton state begins; `InputError` where there is none."""
    states = lrnn.automaton.states
    if start is not None and not 0 <= start < len(states):
        raise InputError(
            f"{lrnn.automaton.name}: start {start} is not a state index; there are {len(states)} states"
        )
    if start is not None and not (lrnn.decode[:, 0] == start).any():
        raise InputError(
            f"{lrnn.automaton.name}: state {states[start]!r} is not reached by the LRNN from its start"
        )
    return lrnn.initial_code(start)
