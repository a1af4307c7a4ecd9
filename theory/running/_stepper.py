"""`Stepper`: what runs one token after another; a constructed LRNN in a float format, and in exact numbers.

Arithmetic of `LRNNStepper`, named `per_step:<dtype>`: each letter's matrix Ã(x) is the exact product of its factors
(times the gate), rounded entry by entry once to the dtype; so are H_0 and B. Then
H_t = rnd(Σ_j Ã_ij H_{t-1,j} + B̃_i), the product-sum exact and rounded once, to nearest even. Entries of Ã that are
zero contribute nothing.

Several layers, one token after another: each layer's codes are read off and tell the next layer's letter.

One head, one token: in a float format, and in exact numbers.

The float arithmetic, named `per_step:<dtype>`, is described in `stepper.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...constructions._head import Head, image_of
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation, Sparse
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text
from ...foundation._arguments import require_count
from ...foundation._errors import InputError
from ...foundation._text import shorten_list
from .._kinds import kind_of, require_run
from ..arithmetic._exact_sum import exact_product_sum
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ._readout import HeadCodes, Readout
from ._weights import HeadWeights, Rounding, head_weights


class FloatHead:
    """A head in a float format; states are float64 arrays `[sequences, dim, value_dim]`."""

    def __init__(self, head: Head, fmt: FloatFormat) -> None:
        self.head, self.fmt = head, fmt
        self.weights: HeadWeights = head_weights(head, fmt)

    def initial(self, code: int, sequences: int) -> Floats:
        """A code rounded to the format."""
        H = Rounding(self.fmt).dense(self.head.codes[code], self.head.dim, self.head.value_dim)
        return np.repeat(H[None], sequences, axis=0)

    def step(self, H: Floats, letters: Indices) -> Floats:
        """rnd(Ã(x) H + B̃(x)) for letters of the layer `[sequences]`."""
        weights, x = self.weights, self.head.action_of(letters)
        # column k of every row is k, so row k of H goes to all rows alike
        if weights.is_dense:
            gathered = [H[:, k, None, :] for k in range(weights.dim)]
        else:
            # for each k, sequence and row i the row of H that the k-th entry of row i of its letter meets
            rows = np.arange(len(H))[:, None]
            gathered = [H[rows, columns.take(x, axis=0)] for columns in weights.columns]
        values = [v.take(x, axis=0)[:, :, None] for v in weights.values]
        extra = None if weights.additive is None else weights.additive.take(x, axis=0)
        # Σ_k value_k · H_k + B, rounded once
        return exact_product_sum(list(zip(values, gathered, strict=True)), self.fmt, extra)


class ExactHead:
    """A head in exact numbers; states are int arrays `[sequences]` that number the exact matrices in `values`.

    A matrix is numbered when it first occurs and each (matrix, transition) is computed once, by the factors.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.values: list[Sparse] = []
        self._numbers: dict[Sparse, int] = {}
        self._images: Indices = np.zeros((0, len(head.transitions)), dtype=np.int64)
        self._code_of: list[int] = []
        self._codes = {code: c for c, code in enumerate(head.codes)}

    def initial(self, code: int, sequences: int) -> Indices:
        """An exact code."""
        return np.full(sequences, self._number(self.head.codes[code]), dtype=np.int64)

    def step(self, numbers: Indices, letters: Indices) -> Indices:
        """A(x) H + B(x), exactly, for letters of the layer `[sequences]`."""
        x = self.head.action_of(letters)
        # -1: this matrix has not met this letter yet
        images: Indices = self._images[numbers, x]
        for s in np.flatnonzero(images < 0).tolist():
            images[s] = self._image(int(numbers[s]), int(x[s]))
        return images

    def codes(self, numbers: Indices) -> Indices:
        """The codes that the matrices are; -1 for one that is none."""
        found: Indices = np.array(self._code_of, dtype=np.int64)[numbers]
        return found

    def _number(self, value: Sparse) -> int:
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
            self._code_of.append(self._codes.get(value, -1))
            # a row for the new matrix in the table of images
            if number >= len(self._images):
                more = np.full((max(number + 1, 16), self._images.shape[1]), -1, dtype=np.int64)
                self._images = np.concatenate([self._images, more])
        return number

    def _image(self, number: int, transition: int) -> int:
        if self._images[number, transition] < 0:
            value = image_of(self.head, self.values[number], transition)
            self._images[number, transition] = self._number(value)
        return int(self._images[number, transition])


class Stepper(Protocol):
    """The interface of a model that tracks states token by token, for several sequences side by side."""

    def initial(self, sequences: int) -> Any:
        """Return the states before the first token.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        ...

    def step(self, states: Any, letters: Indices) -> Any:
        """Return the states after one more token.

        Args:
            states: states of the stepper; they are not changed.
            letters: letter indices, int array `[sequences]`.
        """
        ...

    def decode(self, states: Any, letters: Indices) -> Indices:
        """Return the states of the automaton that the states stand for, `[sequences]`; -1 for none.

        Args:
            states: states of the stepper.
            letters: the letters just read.
        """
        ...


class LRNNStepper:
    """A one-layer LRNN in a float format; states are a list of float64 arrays `[sequences, dim, value_dim]`, one per head.

    The arithmetic is `per_step`, see the text of the module. States are decoded by the nearest code.

    Args:
        lrnn: a realisation of one layer.
        dtype: a dtype, such as `bf16`, or a `FloatFormat`.
        start: index of the automaton's state in which the run starts; None for its start state.
    """

    def __init__(self, lrnn: LRNN, dtype: str | FloatFormat, start: int | None = None) -> None:
        self.lrnn = lrnn
        self.fmt = float_format(dtype)
        self.start_row = starting_row(lrnn, start)
        self.heads = lrnn.only_layer.heads
        self.engines = [FloatHead(head, self.fmt) for head in self.heads]
        self.weights: list[HeadWeights] = [engine.weights for engine in self.engines]
        self.readout = Readout(lrnn)

    def initial(self, sequences: int) -> list[Floats]:
        """H_0 of each head, rounded to the format.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """Read one token; each exact sum of products is rounded once.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        return [engine.step(H, x) for engine, H in zip(self.engines, states, strict=True)]

    def decode(self, states: Sequence[Floats], letters: ArrayLike | None = None) -> Indices:
        """Decode to the states of the nearest joint codes; -1 if a state is not finite.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        return self.readout.decode(states)


class ExactStepper:
    """A one-layer LRNN in exact numbers; the factors are applied to the state itself.

    States are those of `ExactHead`, one per head; equality is that of exact numbers. Decoding looks the matrices up
    among the codes; -1 where one is none of them, or where they do not go together.

    Args:
        lrnn: a realisation of one layer.
        start: index of the automaton's state in which the run starts; None for its start state.
    """

    numbers_states = True
    """A state is its number in this run."""

    def __init__(self, lrnn: LRNN, start: int | None = None) -> None:
        self.lrnn = lrnn
        self.start_row = starting_row(lrnn, start)
        self.engines = [ExactHead(head) for head in lrnn.only_layer.heads]
        # joint codes of one layer, each over one state
        self._states = {tuple(row[1:]): row[0] for row in lrnn.decode.tolist()}

    def restart(self) -> ExactStepper:
        """A run of its own, in which no matrix has been met: a state's number means nothing to another."""
        return ExactStepper(self.lrnn, int(self.lrnn.decode[self.start_row, 0]))

    @property
    def values(self) -> list[list[Sparse]]:
        """For each head the exact matrices that have occurred."""
        return [engine.values for engine in self.engines]

    def initial(self, sequences: int) -> list[Indices]:
        """The exact H_0 of each head.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Indices], letters: ArrayLike) -> list[Indices]:
        """Read one token, exactly.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        return [engine.step(numbers, x) for engine, numbers in zip(self.engines, states, strict=True)]

    def decode(self, states: Sequence[Indices], letters: ArrayLike | None = None) -> Indices:
        """Look the states up among the codes, exactly.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        codes = [engine.codes(numbers) for engine, numbers in zip(self.engines, states, strict=True)]
        joint = zip(*(c.tolist() for c in codes), strict=True)
        return np.array([self._states.get(key, -1) for key in joint], dtype=np.int64)


def starting_row(lrnn: LRNN, start: int | None) -> int:
    """Row of `LRNN.decode` at which a run from an automaton state begins; `InputError` where there is none."""
    states = lrnn.automaton.states
    require_start(lrnn.automaton, start)
    if start is not None and not (lrnn.decode[:, 0] == start).any():
        raise InputError(
            f"{lrnn.automaton.name}: state {states[start]!r} is not reached by the LRNN from its start"
        )
    return lrnn.initial_code(start)


def require_start(automaton: Automaton, start: Any) -> None:
    """`InputError` unless the start is None or the index of a state; it names the labels, and of a label the index."""
    if start is None:
        return
    count = len(automaton.states)
    try:
        index = require_count("start", start)
    except InputError as error:
        wanted = (
            f"{error}: the index of a state of {automaton.name}, which Automaton.state_index gives of a label"
        )
        labels = [label_text(state) for state in automaton.states]
        if isinstance(start, str) and start in labels:
            wanted += f"; that of {start!r} is {labels.index(start)}"
        else:
            wanted += f"; the states are {shorten_list(map(repr, labels))}"
        raise InputError(wanted) from None
    if index >= count:
        raise InputError(f"{automaton.name}: start {index} is not a state index; there are {count} states")


class Engine(Protocol):
    """What steps one head and reads its codes."""

    def initial(self, code: int, sequences: int) -> Any: ...
    def step(self, H: Any, letters: Indices) -> Any: ...
    def codes(self, H: Any) -> Indices: ...


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
    """An LRNN of several layers; states are a list with one array per head, the layers one after the other.

    Args:
        lrnn: a realisation of one or more layers.
        dtype: a float format (states `[sequences, dim, value_dim]`), or `exact`.
        start_row: row of `LRNN.decode` at which the run begins.
        strict: whether a head is decoded by the code that it equals bit for bit, or by its nearest code. If the codes do not
            determine a read-out, it is -1, and the sequence decodes to -1 as long as this lasts.
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

    def restart(self) -> LayeredStepper:
        """In exact numbers: a run of its own, in which no matrix has been met."""
        return LayeredStepper(self.lrnn, "exact", self.start_row)

    def initial(self, sequences: int) -> list[Any]:
        """The initial state of each head.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        codes = self.lrnn.decode[self.start_row, 1:].tolist()
        return [engine.initial(code, sequences) for engine, code in zip(self.engines, codes, strict=True)]

    def step(self, states: Sequence[Any], letters: ArrayLike) -> list[Any]:
        """Read one token, through all layers.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        after: list[Any] = []
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            # -1 stands for a letter that no read-out gives, and stays -1 in the layers below
            known = np.maximum(x, 0)
            moved = [e.step(H, known) for e, H in zip(self.engines[columns], states[columns], strict=True)]
            after.extend(moved)
            # below the last layer there is no letter; `decode` reads it out
            if len(after) < len(states):
                x = np.where(x < 0, -1, layer.read_out(known, self._codes(columns, moved)))
        return after

    def decode(self, states: Sequence[Any], letters: ArrayLike) -> Indices:
        """Return the automaton's states that the last layer gives after the letters just read; -1 for none.

        Args:
            states: the states that `initial` or `step` returned; they are not changed.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        # the codes after the token tell the next layer's letter, and at last the state
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            x = np.where(x < 0, -1, layer.read_out(np.maximum(x, 0), self._codes(columns, states[columns])))
        return x

    def _codes(self, columns: slice, states: Sequence[Any]) -> list[Indices]:
        return [e.codes(H) for e, H in zip(self.engines[columns], states, strict=True)]


def table_stepper(lrnn: LRNN, dtype: str | FloatFormat, start: int | None = None) -> Stepper:
    """The stepper of a table in a float format or `exact`, of one layer or of several, from a state's index."""
    if lrnn.is_layered:
        return LayeredStepper(lrnn, dtype, starting_row(lrnn, start))
    return ExactStepper(lrnn, start) if dtype == "exact" else LRNNStepper(lrnn, dtype, start)


def stepper_of(found: Realisation, dtype: str, start: int | None = None) -> Stepper:
    """Make the stepper that runs a realisation token by token.

    Args:
        found: a realisation, as `construct` returns it.
        dtype: a float format, or `exact`.
        start: index of the automaton's state in which the run starts; None for its start state.

    Raises:
        InputError: this kind of realisation does not support the arithmetic or the start.
    """
    require_run(found, dtype, start)
    stepper: Stepper = kind_of(found).stepper(found, dtype, start)
    return stepper
