"""`Budget`: what a training has used so far, counted and kept in its checkpoints."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..tasks._sampling import Array


@dataclass
class Budget:
    """What a training has used, over all parts of a training that was interrupted.

    Attributes:
        words: how many words each seed has seen.
        tokens: how many tokens each seed has read, with those that follow the ends of words.
        labels: how many labels each seed has learned from, one number for each seed.
        seconds: how long the steps took, in seconds.
    """

    words: int = 0
    tokens: int = 0
    labels: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, words: int, tokens: int, labels: Array) -> None:
        """Count a step.

        Args:
            words: the words of each seed.
            tokens: the tokens of each of these words.
            labels: how many labels each seed's words have, int `[seeds]`.
        """
        self.words += words
        self.tokens += words * tokens
        before = np.array(self.labels or [0] * len(labels))
        self.labels = [int(x) for x in before + labels]

    def as_text(self) -> str:
        """The text that a checkpoint keeps."""
        return json.dumps(
            {"words": self.words, "tokens": self.tokens, "labels": self.labels, "seconds": self.seconds}
        )


def budget_from_text(text: str | None) -> Budget | None:
    """The budget that a checkpoint has kept; None for one of a version that did not count, or for a text that is none."""
    try:
        found: dict[str, Any] = json.loads(text or "")
        return Budget(
            int(found["words"]),
            int(found["tokens"]),
            [int(x) for x in found["labels"]],
            float(found["seconds"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
