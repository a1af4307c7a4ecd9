"""Causal check: put the snapped head in the learned one's place, leave the rest as it is, and measure again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...constructions.automaton import Indices
from ...theory.arithmetic.rounding import Floats
from ...theory.running.words import random_words
from ..learned.learned import AffineStepper, Learned
from .snap import SnappedHead
from .states import Sampling, side_by_side

MOST_ALONE = 6
"""Heads that are replaced alone, the first ones."""
WORDS = 64
"""At most so many of the words are run, the first ones."""
ENTRIES = 2**24
"""Numbers of states that are read at once."""


@dataclass(frozen=True)
class Causal:
    """Accuracy over all letters and the first failure (None: none) with `replaced` heads snapped, in float64."""

    replaced: str
    accuracy: float
    first_failure: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def causal_check(
    learned: Learned,
    snapped: Sequence[SnappedHead],
    sampling: Sampling,
    progress: Callable[[float], None] | None = None,
) -> list[Causal]:
    """With no head replaced, each alone (at most `MOST_ALONE`), and all; empty where the model has no read-out of given states.

    All runs share the words, and learned and snapped heads are followed once: a run is a choice among them.
    `progress` is told the share that is done.
    """
    if learned.read is None or not snapped:
        return []
    names = [s.head.name for s in snapped]
    sets: list[tuple[str, set[str]]] = [("none", set()), *((name, {name}) for name in names[:MOST_ALONE])]
    if len(names) > 1:
        sets.append(("all", set(names)))
    start = learned.target.automaton.start
    replacements = {s.head.name: s.replacement(start) for s in snapped}
    heads = (*learned.heads, *replacements.values())
    number = {name: len(learned.heads) + i for i, name in enumerate(replacements)}
    choices = [
        [number[h.name] if h.name in chosen else i for i, h in enumerate(learned.heads)] for _, chosen in sets
    ]
    letters = random_words(learned.target.automaton, sampling.words, sampling.length, sampling.seed)[:WORDS]
    wrong, asked = _wrong(learned, AffineStepper(heads, learned.read), choices, letters, progress)
    return [_causal(label, here, asked) for (label, _), here in zip(sets, wrong, strict=True)]


def _wrong(
    learned: Learned,
    stepper: AffineStepper,
    choices: Sequence[Sequence[int]],
    letters: Indices,
    progress: Callable[[float], None] | None,
) -> tuple[Any, Any]:
    """Which answers are wrong, `[choices, tokens, words]`, and where something is asked, `[tokens, words]`."""
    words, tokens = letters.shape
    target, read = learned.target, stepper.read
    held = sum(head.H0.size for head in stepper.heads) * words
    at_once = max(1, min(tokens, ENTRIES // held))
    followed = side_by_side(target, stepper, letters)
    wrong = np.zeros((len(choices), tokens, words), dtype=bool)
    asked = np.zeros((tokens, words), dtype=bool)
    wanted = np.zeros((tokens, words), dtype=np.int64)
    for first in range(0, tokens, at_once):
        block: list[list[Floats]] = []
        here = slice(first, min(first + at_once, tokens))
        for t, (_, states, *answers, _) in zip(range(here.start, here.stop), followed, strict=False):
            block.append(states)
            wanted[t], asked[t] = answers
        read_letters = letters[:, here].T.reshape(-1)
        together = [np.concatenate([s[h] for s in block]) for h in range(len(stepper.heads))]
        for i, choice in enumerate(choices):
            given = read([together[h] for h in choice], read_letters).reshape(-1, words)
            wrong[i, here] = asked[here] & (given != wanted[here])
        if progress is not None:
            progress(here.stop / tokens)
    return wrong, asked


def _causal(label: str, wrong: Any, asked: Any) -> Causal:
    """Tokens are weighed alike, however many of their words are asked."""
    counted = asked.sum(1)
    there = counted > 0
    accuracy = float((1 - wrong.sum(1)[there] / counted[there]).mean()) if there.any() else 1.0
    failed = np.flatnonzero(wrong.any(1))
    return Causal(label, accuracy, int(failed[0]) + 1 if failed.size else None)
