"""The training's batches, made one step ahead in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from ..tasks.automaton import Task
from ..tasks.sampling import Batch
from .experiment import TrainSettings
from .schedule import word_length


def training_batches(
    task: Task,
    settings: TrainSettings,
    lengths: tuple[int, int],
    steps: Sequence[int],
    device: torch.device,
    share: tuple[int, int] = (0, 1),
) -> Iterator[tuple[Tensor, Tensor]]:
    """Letters and labels `[seeds, words, tokens]` of each step, on the device.

    `share` (i, n): the i-th of n processes, which takes every n-th word; labels are those of all words' `IGNORED`
    pattern, so the caller counts them over all processes.
    """

    def made(step: int) -> Batch:
        length = word_length(step, settings.steps, lengths, settings.curriculum, settings.curriculum_from)
        words = settings.batch * lengths[1] // length if settings.even_tokens else settings.batch
        return task.batches(settings.seeds, step, words, length)

    first, every = share
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(made, steps[0]) if steps else None
        for step in steps:
            assert following is not None
            batch = following.result()
            following = thread.submit(made, step + 1) if step + 1 <= steps[-1] else None
            letters, labels = (
                torch.from_numpy(np.ascontiguousarray(x[:, first::every]))
                for x in (batch.letters, batch.labels)
            )
            if device.type == "cuda":
                letters, labels = letters.pin_memory(), labels.pin_memory()
            yield tuple(x.to(device, non_blocking=True).to(torch.int64) for x in (letters, labels))  # type: ignore[misc]
