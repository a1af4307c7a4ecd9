"""`Stepper`: what runs one token after another; a constructed LRNN in a float format, and in exact numbers.

Arithmetic of `LRNNStepper`, named `per_step:<dtype>`: each letter's matrix Ã(x) is the exact product of its factors
(times the gate), rounded entry by entry once to the dtype; so are H_0 and B. Then
H_t = rnd(Σ_j Ã_ij H_{t-1,j} + B̃_i), the product-sum exact and rounded once, to nearest even. Entries of Ã that are
zero contribute nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automaton import Indices
from ...constructions.errors import InputError
from ...constructions.lrnn import LRNN, Head, Sparse
from ..arithmetic.rounding import FloatFormat, Floats, float_format
from .head_steps import ExactHead, FloatHead
from .readout import Readout
from .weights import HeadWeights


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
        self.engines = [FloatHead(head, self.fmt) for head in self.heads]
        self.weights: list[HeadWeights] = [engine.weights for engine in self.engines]
        self.readout = Readout(lrnn)

    def initial(self, sequences: int) -> list[Floats]:
        """H_0 of each head, rounded to the format."""
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """One token: the exact product-sums, rounded once."""
        x = np.asarray(letters, dtype=np.int64)
        return [engine.step(H, x) for engine, H in zip(self.engines, states, strict=True)]

    def decode(self, states: Sequence[Floats], letters: ArrayLike | None = None) -> Indices:
        """States of the nearest joint codes; -1 where a state is not finite."""
        return self.readout.decode(states)


class ExactStepper:
    """A one-layer LRNN in exact numbers: the factors are applied, exactly, to the state itself.

    States are those of `ExactHead`, one a head; equality is that of exact numbers. Decoding looks the matrices up
    among the codes; -1 where one is none of them, or where they do not go together.
    """

    numbers_states = True
    """A state is its number in this run."""

    def __init__(self, lrnn: LRNN, start: int | None = None) -> None:
        self.lrnn = lrnn
        self.start_row = starting_row(lrnn, start)
        self.engines = [ExactHead(head) for head in only_layer(lrnn)]
        self._states = {tuple(row[1:]): row[0] for row in lrnn.decode.tolist()}

    def again(self) -> ExactStepper:
        """A run of its own, in which no matrix has been met: a state's number means nothing to another."""
        return ExactStepper(self.lrnn, int(self.lrnn.decode[self.start_row, 0]))

    @property
    def values(self) -> list[list[Sparse]]:
        """For each head the exact matrices that have occurred."""
        return [engine.values for engine in self.engines]

    def initial(self, sequences: int) -> list[Indices]:
        """The exact H_0 of each head."""
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Indices], letters: ArrayLike) -> list[Indices]:
        """One token, exactly."""
        x = np.asarray(letters, dtype=np.int64)
        return [engine.step(numbers, x) for engine, numbers in zip(self.engines, states, strict=True)]

    def decode(self, states: Sequence[Indices], letters: ArrayLike | None = None) -> Indices:
        """Exact look-up of the codes."""
        codes = [engine.codes(numbers) for engine, numbers in zip(self.engines, states, strict=True)]
        joint = zip(*(c.tolist() for c in codes), strict=True)
        return np.array([self._states.get(key, -1) for key in joint], dtype=np.int64)


def only_layer(lrnn: LRNN) -> tuple[Head, ...]:
    """The heads of a one-layer LRNN; `InputError` for more layers."""
    if len(lrnn.layers) != 1:
        raise InputError(f"{lrnn.automaton.name}: the LRNN has {len(lrnn.layers)} layers: use LayeredStepper")
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
