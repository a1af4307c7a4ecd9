"""The read-out margin along a run, token by token, for a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.lrnn import LRNN
from ..arithmetic.rounding import Floats
from .bookkeeping import follow
from .stepper import LRNNStepper
from .words import words_of

MAX_TOKENS = 20_000
"""Tokens of each sequence that a picture follows."""


def margin_series(
    lrnn: LRNN, letters: Any, dtype: str, start: int | None = None, max_tokens: int = MAX_TOKENS
) -> tuple[Indices, Floats]:
    """Positions 1..T and the least margin over all sequences after each, in the arithmetic of `LRNNStepper`.

    `letters` as for `run`; only the first `max_tokens` of each sequence are followed. The margin is that of
    `Readout`: negative where some sequence decodes to a wrong state.
    """
    words = words_of(letters, lrnn.automaton)
    part: NDArray[Any] = words.part(0, min(words.length, max_tokens))
    stepper = LRNNStepper(lrnn, dtype, start)
    current = np.full(words.sequences, lrnn.decode[stepper.start_row, 0])
    right = follow(lrnn.automaton.transitions, part, current)
    states = stepper.initial(words.sequences)
    margins = np.empty(part.shape[1])
    for t in range(part.shape[1]):
        states = stepper.step(states, part[:, t].astype(np.int64))
        margins[t] = stepper.readout.observe(states, right[:, t])[1]
    return np.arange(1, part.shape[1] + 1), margins
