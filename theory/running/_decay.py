"""`DecayStepper`: a decaying number (own.decay) in a float format.

Arithmetic, named `per_step:<dtype>`: h ← rnd(h/b + d), rounded once to nearest, ties to even. b is a power of 2, and float64 holds h/b + d
exactly for the formats with at most 24 bits in which a decaying number runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automata._automaton import Indices
from ...constructions.decays._decay import DecayRNN
from ...foundation._errors import InputError
from ..arithmetic._rounding import FloatFormat, Floats, float_format, round_array
from ._report import RunReport
from ._run import Progress, track
from ._words import Words


class DecayStepper:
    """A `DecayRNN` in a float format; a `Stepper` whose states are one float64 for each sequence, `[sequences]`.

    Args:
        form: the decaying number.
        dtype: one of `form.formats`, by its name or as a `FloatFormat`.

    Raises:
        InputError: the read-out is not right in this format.
    """

    def __init__(self, form: DecayRNN, dtype: str | FloatFormat) -> None:
        self.form, self.fmt = form, float_format(dtype)
        reached = form.reach(self.fmt.name) if self.fmt.name in form.formats else None
        if reached is None:
            raise InputError(
                f"{form.automaton.name}: a decaying number holds its last letters in {', '.join(form.formats)}, not in {self.fmt.name}: "
                "write one of these as `dtype`"
            )
        numbers = sorted(reached)
        self.numbers: Floats = np.array([float(h) for h in numbers])
        self.states: Indices = np.array([reached[h] for h in numbers], dtype=np.int64)
        self.digits: Floats = np.array([float(d or 0) for d in form.digits])
        self.scales: Floats = np.array([1.0 if d is None else 1 / form.base for d in form.digits])

    def initial(self, sequences: int) -> Floats:
        """H_0 = 0.

        Args:
            sequences: the number of words side by side, at least 1.
        """
        zero: Floats = np.zeros(sequences)
        return zero

    def step(self, states: Floats, letters: ArrayLike) -> Floats:
        """One token, rounded once.

        Args:
            states: states as `initial` or `step` gave them; they stay as they are.
            letters: indices of the letters just read, int array `[sequences]`.
        """
        x = np.asarray(letters, dtype=np.int64)
        return round_array(states * self.scales[x] + self.digits[x], self.fmt)

    def decode(self, states: Floats, letters: ArrayLike | None = None) -> Indices:
        """The automaton's states; -1 for a number that no word leads to.

        Args:
            states: states as `initial` or `step` gave them.
            letters: indices of the letters just read; they are not needed.
        """
        place = np.minimum(np.searchsorted(self.numbers, states), len(self.numbers) - 1)
        return np.where(self.numbers[place] == states, self.states[place], -1)


def run_decay(
    form: DecayRNN,
    words: Words,
    *,
    dtype: str,
    start: int | None,
    block: int | None,
    sequential: bool,
    progress: Progress | None,
) -> RunReport:
    """`run` of a decaying number, token by token. `start` is None, and `block` is of tables alone."""
    stepper: Any = DecayStepper(form, dtype)
    return track(stepper, form.automaton, words, dtype=stepper.fmt.name, progress=progress)
