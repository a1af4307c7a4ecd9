"""A layer of matrices in exact rational numbers: its float64 entries are taken for what they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...constructions.automata._automaton import Indices
from ..arithmetic._arithmetic import PerStep
from ..arithmetic._rounding import FORMATS
from ._answers import Answers
from ._linear import LinearHead, LinearMachine
from ._npz_model import NpzModel

State = tuple[Fraction, ...]


class ExactNpzStepper:
    """States are numbers of exact matrices, in the order in which they occur; decodes to the model's outputs.

    The nearest code by exact distances, the first of several. Numbers grow with the words: for small searches.
    A state is a number that stands for a matrix met in this run, so its bits mean nothing to another run.
    """

    numbers_states = True

    def __init__(self, model: NpzModel) -> None:
        self.model = model
        self._rows = [_rows(A, B) for A, B in zip(model.A.tolist(), model.B.tolist(), strict=True)]
        self._codes = [_flat(code) for code in model.codes]
        self.values: list[State] = []
        # equal matrices have one number, whatever word led to them
        self._numbers: dict[State, int] = {}
        self._images: dict[tuple[int, int], int] = {}
        self._nearest: list[int] = []
        self._number(_flat(model.H0))

    def restart(self) -> ExactNpzStepper:
        """A run of its own, in which no matrix has been met."""
        return ExactNpzStepper(self.model)

    def initial(self, sequences: int) -> Indices:
        """H_0, number 0."""
        return np.zeros(sequences, dtype=np.int64)

    def step(self, states: Indices, letters: ArrayLike) -> Indices:
        """A(x) H + B(x), exactly."""
        pairs = zip(states.tolist(), np.asarray(letters).tolist(), strict=True)
        return np.array([self._image(s, x) for s, x in pairs], dtype=np.int64)

    def decode(self, states: Indices, letters: ArrayLike) -> Indices:
        """The outputs' indices."""
        nearest = np.array(self._nearest)[states]
        return np.asarray(self.model.decode[nearest, np.asarray(letters)])

    def _image(self, state: int, letter: int) -> int:
        if (state, letter) not in self._images:
            self._images[state, letter] = self._number(self._step_exactly(self.values[state], letter))
        return self._images[state, letter]

    def _step_exactly(self, H: State, letter: int) -> State:
        d = self.model.H0.shape[1]
        return tuple(
            # entry (i, j): Σ_k a_ik H_kj + b_ij
            sum((a * H[k * d + j] for k, a in terms), b[j])
            for terms, b in self._rows[letter]
            for j in range(d)
        )

    def _number(self, value: State) -> int:
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
            if value in self._codes:  # at distance 0, so the first such code is the nearest
                self._nearest.append(self._codes.index(value))
            else:
                distances = [sum((a - b) ** 2 for a, b in zip(value, c, strict=True)) for c in self._codes]
                self._nearest.append(distances.index(min(distances)))
        return number


def exact_regions(model: NpzModel, answers: Answers) -> LinearMachine:
    """The model as it stands, for a proof by regions in exact numbers."""
    arithmetic = PerStep(FORMATS["fp64"])
    head: LinearHead = model.head(arithmetic)
    return LinearMachine([head], arithmetic, model.reader(answers), answers)


def _rows(
    A: Sequence[Sequence[float]], B: Sequence[Sequence[float]]
) -> list[tuple[list[tuple[int, Fraction]], list[Fraction]]]:
    # float64 numbers are fractions, so nothing is rounded
    return [
        ([(k, Fraction(a)) for k, a in enumerate(row) if a], [Fraction(b) for b in added])
        for row, added in zip(A, B, strict=True)
    ]


def _flat(matrix: NDArray[np.float64]) -> State:
    return tuple(Fraction(x) for x in matrix.ravel().tolist())
