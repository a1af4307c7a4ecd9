"""What changes from step to step: the learning rate, and the length of the words."""

from __future__ import annotations

import math

from .sampling import LENGTHS, generator


def learning_rate(step: int, steps: int, peak: float, final: float, warmup: float) -> float:
    """Linear from 0 to `peak` over the fraction `warmup` of all steps, then a cosine to `final` at the last step."""
    rising = max(round(warmup * steps), 1)
    if step < rising:
        return peak * (step + 1) / rising
    share = (step - rising + 1) / max(steps - rising, 1)
    return final + (peak - final) * (1 + math.cos(math.pi * share)) / 2


def word_length(step: int, steps: int, lengths: tuple[int, int], curriculum: float) -> int:
    """Uniform in `lengths`, one length a batch, the same for all seeds.

    The longest grows linearly from the shortest to its own over the fraction `curriculum` of all steps.
    """
    low, high = lengths
    growing = curriculum * steps
    if step < growing:
        high = low + round((high - low) * step / growing)
    return int(generator(LENGTHS, step).integers(low, high + 1))
