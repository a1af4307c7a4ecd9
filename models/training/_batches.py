"""The batches of a training: the words of each step, made one step ahead in a thread, and their division into parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..tasks._sampling import IGNORED, Array, Batch
from ..tasks._task import Task
from ._experiment import TrainSettings
from ._optimizing import longest_length, word_length


def training_batches(
    task: Task,
    settings: TrainSettings,
    lengths: tuple[int, int],
    steps: Sequence[int],
    device: torch.device,
    share: tuple[int, int] = (0, 1),
) -> Iterator[TrainingBatch]:
    """The words of each step, on the device.

    `share` (i, n): the i-th of n processes, which takes every n-th word; labels are those of all words' `IGNORED`
    pattern, so the caller counts them over all processes.
    """

    def draw_batch(step: int) -> tuple[Batch, Array]:
        length_at = longest_length if task.own_lengths else word_length
        length = length_at(step, settings.steps, lengths, settings.curriculum, settings.curriculum_from)
        words = settings.batch * lengths[1] // length if settings.even_tokens else settings.batch
        batch = task.batches(settings.seeds, step, words, length, lengths[0] if task.own_lengths else None)
        return batch, (batch.labels != IGNORED).sum((1, 2))

    first, every = share
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(draw_batch, steps[0]) if steps else None
        for step in steps:
            assert following is not None
            batch, asked = following.result()
            following = thread.submit(draw_batch, step + 1) if step + 1 <= steps[-1] else None
            letters, labels = (
                torch.from_numpy(np.ascontiguousarray(x[:, first::every]))
                for x in (batch.letters, batch.labels)
            )
            if device.type == "cuda":
                letters, labels = letters.pin_memory(), labels.pin_memory()
            letters, labels = (x.to(device, non_blocking=True).to(torch.int64) for x in (letters, labels))
            yield TrainingBatch(letters, labels, batch.letters.shape[1], asked)


class TrainingBatch(NamedTuple):
    """The words of a step.

    Attributes:
        letters: int `[replicas, words, tokens]`, on the device.
        labels: int of the same shape, `IGNORED` where there is no label.
        words: the number of words of each seed, over all processes.
        asked: the number of labels of each seed, over all processes, int `[replicas]`.
    """

    letters: Tensor
    labels: Tensor
    words: int
    asked: Array
