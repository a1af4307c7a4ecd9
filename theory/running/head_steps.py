"""One head, one token: in a float format, and in exact numbers.

The float arithmetic, named `per_step:<dtype>`, is described in `stepper.py`.
"""

from __future__ import annotations

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.lrnn import Head, Sparse
from ...constructions.sparse_rows import image_of
from ..arithmetic.exact_sum import exact_product_sum
from ..arithmetic.rounding import FloatFormat, Floats
from .weights import HeadWeights, Rounding, head_weights


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
        if weights.is_dense:
            gathered = [H[:, k, None, :] for k in range(weights.dim)]
        else:
            rows = np.arange(len(H))[:, None]
            gathered = [H[rows, columns.take(x, axis=0)] for columns in weights.columns]
        values = [v.take(x, axis=0)[:, :, None] for v in weights.values]
        extra = None if weights.additive is None else weights.additive.take(x, axis=0)
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
            if number >= len(self._images):
                more = np.full((max(number + 1, 16), self._images.shape[1]), -1, dtype=np.int64)
                self._images = np.concatenate([self._images, more])
        return number

    def _image(self, number: int, transition: int) -> int:
        if self._images[number, transition] < 0:
            value = image_of(self.head, self.values[number], transition)
            self._images[number, transition] = self._number(value)
        return int(self._images[number, transition])
