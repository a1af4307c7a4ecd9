"""Who watches a training: told of its steps, metrics and tests while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TrainingWatcher:
    """Does nothing; a subclass shows what it is told. Only the process that writes the files tells it."""

    def begin(self, seeds: Sequence[int], step: int, steps: int) -> None:
        """The models are there, and the steps begin.

        Args:
            seeds: the seed of each model.
            step: the step from which the training goes on, 0 for a new one.
            steps: the number of the last step.
        """

    def on_step(self, step: int) -> None:
        """A step is done.

        Args:
            step: its number, from 1.
        """

    def on_metrics(self, line: dict[str, Any]) -> None:
        """A line of `metrics.jsonl` was written.

        Args:
            line: figures of a step, with lists by seed: `step`, `loss`, `accuracy`, `tokens_per_second` and others; or
                `step` and `test`, the accuracies of a test by length.
        """

    def on_test(self, share: float) -> None:
        """The final test goes on.

        Args:
            share: how much of it is done, from 0 to 1.
        """
