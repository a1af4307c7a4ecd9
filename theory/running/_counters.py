"""`CounterStepper`: a counter of tokens with all its layers, in a float format; the lower layers of block delay.

A head's matrix is the exact product of its factors, rounded entry by entry once to the dtype, and its state the exact product-sum,
rounded once; its code is the nearest one. The codes of all layers tell the phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...constructions._delay import Counter, CounterHead
from ...constructions.algebra._householder import product_of
from ...constructions.automata._automaton import Indices
from ..arithmetic._exact_sum import exact_product_sum
from ..arithmetic._rounding import FloatFormat, Floats, round_number


class _Counting:
    """A counter's head in a format."""

    def __init__(self, head: CounterHead, fmt: FloatFormat, exact: bool) -> None:
        def rounded(rows: Sequence[Sequence[Any]]) -> list[list[float]]:
            return [[round_number(x, fmt) for x in row] for row in rows]

        self.fmt, self.exact = fmt, exact
        self.codes = np.array(rounded(head.codes))
        self.matrices = np.array([rounded(product_of(factors, head.dim)) for factors in head.transitions])

    def step(self, H: Floats, reads: Indices) -> Floats:
        """A H, rounded once."""
        A = self.matrices[reads]
        if self.exact:
            return np.asarray((A @ H[:, :, None])[:, :, 0])
        return exact_product_sum([(A[:, :, k], H[:, k, None]) for k in range(H.shape[1])], self.fmt)

    def nearest(self, H: Floats) -> Indices:
        """Index of the nearest code."""
        distances = (self.codes**2).sum(axis=1) - 2 * H @ self.codes.T
        return np.asarray(distances.argmin(axis=1), dtype=np.int64)


class CounterStepper:
    """A counter in a format; its states are one array `[sequences, dim]` for each head.

    Args:
        counter: the counter.
        fmt: the format.
        exact: whether nothing is rounded in it.
    """

    def __init__(self, counter: Counter, fmt: FloatFormat, exact: bool) -> None:
        self.heads = [[_Counting(head, fmt, exact) for head in layer.heads] for layer in counter.layers]
        # the codes of some layers are one number; by it what the next layer reads, and in the end the phase
        self.reads: list[Indices] = []
        number, size = np.zeros(counter.period, dtype=np.int64), 1
        for layer in counter.layers:
            self.reads.append(np.zeros(size, dtype=np.int64))
            # what the layer reads at each phase, by the number that the codes of the layers below make then
            self.reads[-1][number] = layer.reads
            for head in layer.heads:
                number, size = number * len(head.codes) + head.code_at, size * len(head.codes)
        self.phases = np.zeros(size, dtype=np.int64)
        # the phase by the codes of all layers
        self.phases[number] = np.arange(counter.period)

    def initial(self, sequences: int) -> tuple[Floats, ...]:
        """The states at phase 0.

        Args:
            sequences: the number of words side by side.
        """
        return tuple(np.repeat(head.codes[:1], sequences, axis=0) for heads in self.heads for head in heads)

    def step(self, states: tuple[Floats, ...]) -> tuple[tuple[Floats, ...], Indices]:
        """The states after one more token, and the phase that they tell, int array `[sequences]`.

        Args:
            states: what `initial` or `step` returned.
        """
        found: list[Floats] = []
        number = np.zeros(len(states[0]), dtype=np.int64)
        for reads, heads in zip(self.reads, self.heads, strict=True):
            # mixed radix, as in `reads`: which layer's letter comes next depends on all codes so far
            read = reads[number]
            for head in heads:
                H = head.step(states[len(found)], read)
                found.append(H)
                number = number * len(head.codes) + head.nearest(H)
        return tuple(found), self.phases[number]
