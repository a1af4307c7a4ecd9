"""What changes from step to step: the learning rate, and the length of the words."""

from __future__ import annotations

import math

from ..tasks.sampling import LENGTHS, generator


def learning_rate(step: int, steps: int, peak: float, final: float, warmup: float) -> float:
    """Linear from 0 to `peak` over the fraction `warmup` of all steps, then a cosine to `final` at the last step."""
    rising = max(round(warmup * steps), 1)
    if step < rising:
        return peak * (step + 1) / rising
    share = (step - rising + 1) / max(steps - rising, 1)
    return final + (peak - final) * (1 + math.cos(math.pi * share)) / 2


def word_length(
    step: int, steps: int, lengths: tuple[int, int], curriculum: float, curriculum_from: int = 0
) -> int:
    """Uniform in `lengths`, one length a batch, the same for all seeds.

    Over the fraction `curriculum` of all steps the longest grows by the same factor each step, from `curriculum_from`, or,
    where that is 0, from the shortest; from 2 where there is one length only. One length is that of all words. Short words
    come first because a prefix of few letters says most about a letter, and among many positions it hardly counts.
    """
    low, high = lengths
    growing = curriculum * steps
    if step < growing:
        first = min(curriculum_from or (low if low < high else 2), high)
        high = round(first * (high / first) ** (step / growing))
    return int(generator(LENGTHS, step).integers(min(low, high), high + 1))
