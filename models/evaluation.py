"""Tests of a model: accuracy at every position, words right so far, first failures, the longest length that works.

A test word's prefixes are test words too: one long run, carried chunk by chunk with the model's states, answers for
all lengths, since all models are causal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import torch

from .contract import scaled_accuracy
from .model import Model, States
from .sampling import IGNORED, Array
from .tasks import Span, Task

GOOD = 0.9
"""Accuracy that counts as working: the papers' `longest length ≥ 90 %`."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was seen at every position, for every seed.

    `right` `[seeds, length]`: words with the right label there, of `asked` `[length]`, those that have a label.
    `first_failure` `[seeds, words]`: letters read before the first wrong label; the length where there is none.
    """

    seeds: tuple[int, ...]
    words: int
    chance: float
    right: Array
    asked: Array
    first_failure: Array

    @property
    def length(self) -> int:
        """Letters of the words."""
        return len(self.asked)

    def accuracy(self, lengths: int | Span) -> list[float | None]:
        """By seed: of the last label of words of this length, or of all lengths in the span alike; None: not asked."""
        low, high = (lengths, lengths) if isinstance(lengths, int) else lengths
        asked = self.asked[low - 1 : high]
        there = asked > 0
        if not there.any():
            return [None] * len(self.seeds)
        shares = self.right[:, low - 1 : high][:, there] / asked[there]
        return [float(x) for x in shares.mean(1)]

    def exact(self, length: int) -> list[float]:
        """By seed: the fraction of words with every label right up to this length."""
        return [float(x) for x in (self.first_failure >= length).mean(1)]

    def longest(self, least: float = GOOD) -> list[int]:
        """By seed: the longest length up to which the accuracy at every position is at least this."""
        shares = self.right / np.maximum(self.asked, 1)
        good = (shares >= least) | (self.asked == 0)
        return [self.length if row.all() else int(np.argmin(row)) for row in good]

    def as_json(self, lengths: Sequence[int | Span]) -> dict[str, Any]:
        """Figures by seed at these lengths, and curves at up to 20 positions an octave."""
        positions = sorted(
            {
                min(self.length, round(2 ** (i / 20)))
                for i in range(1 + math.ceil(20 * math.log2(self.length)))
            }
        )
        accuracy = {length_text(x): self.accuracy(x) for x in lengths}
        failures = [sorted(int(x) for x in row if x < self.length) for row in self.first_failure]
        return {
            "seeds": list(self.seeds),
            "words": self.words,
            "length": self.length,
            "chance": self.chance,
            "accuracy": accuracy,
            "scaled_accuracy": {
                key: [None if x is None else scaled_accuracy(x, self.chance) for x in row]
                for key, row in accuracy.items()
            },
            "exact": {length_text(x): self.exact(x if isinstance(x, int) else x[1]) for x in lengths},
            "longest_90": self.longest(),
            "first_failure": [
                {"words": len(row), "least": row[0] + 1, "median": median(row) + 1} if row else None
                for row in failures
            ],
            "curve": {
                "positions": positions,
                "accuracy": _columns([self.accuracy(p) for p in positions]),
                "exact": _columns([self.exact(p) for p in positions]),
            },
        }


def evaluate(
    model: Model,
    task: Task,
    length: int,
    *,
    words: int = 256,
    seed: int = 0,
    chunk: int = 1024,
    autocast: torch.dtype | None = None,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """All seeds of a model on the same `words` random words of `length` letters.

    `chunk`: tokens that are in memory at once; states are carried from one to the next. Words depend on `seed` alone.
    """
    device = next(model.parameters()).device
    seeds = len(model.seeds)
    right, asked = np.zeros((seeds, length), dtype=np.int64), np.zeros(length, dtype=np.int64)
    failure = np.full((seeds, words), length, dtype=np.int64)
    states: States | None = None
    done = 0
    was_training = model.training
    model.eval()
    for batch in task.stream(seed, words, length):
        first = done == 0 and task.bos
        for start in range(0, batch.letters.shape[1], chunk):
            letters = torch.from_numpy(np.ascontiguousarray(batch.letters[:, start : start + chunk]))
            with torch.no_grad(), torch.autocast(device.type, autocast, enabled=autocast is not None):
                logits, states = model(letters.to(device, torch.int64)[None], states)
            labels = batch.labels[:, start : start + chunk]
            if first and start == 0:
                logits, labels = logits[:, :, 1:], labels[:, 1:]
            tokens = labels.shape[1]
            there = labels != IGNORED
            # a seed whose logits are not finite answers nothing
            finite = torch.isfinite(logits).all(-1).cpu().numpy()
            good = (logits.argmax(-1).cpu().numpy() == labels) & finite
            right[:, done : done + tokens] = (good & there).sum(1)
            asked[done : done + tokens] = there.sum(0)
            wrong = ~good & there
            at = np.where(wrong.any(2), done + wrong.argmax(2), length)
            failure = np.minimum(failure, at)
            done += tokens
            if progress is not None:
                progress(done / length)
    model.train(was_training)
    return Evaluation(model.seeds, words, 1 / max(task.classes, 1), right, asked, failure)


def length_text(length: int | Span) -> str:
    """512, or 40-256."""
    return str(length) if isinstance(length, int) else f"{length[0]}-{length[1]}"


def longest_of(lengths: Sequence[int | Span]) -> int:
    """How long test words must be."""
    return max(x if isinstance(x, int) else x[1] for x in lengths)


def _columns(rows: list[list[Any]]) -> list[list[Any]]:
    """By seed instead of by position; four digits are enough for a curve."""
    return [[None if x is None else round(x, 4) for x in column] for column in zip(*rows, strict=True)]
