"""The loss of a training."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from .._config import ModelConfig
from ..tasks._sampling import IGNORED
from ._start import label_logits


def sum_losses(
    logits: Tensor, labels: Tensor, config: ModelConfig, classes: int, smoothing: float, asked: Tensor
) -> tuple[Tensor, Tensor]:
    """The cross-entropy of each seed's labels, over the number of labels that are asked for.

    Args:
        logits: `[replicas, words, tokens, classes of the model]`.
        labels: int `[replicas, words, tokens]`, `IGNORED` where nothing is asked.
        config: that of the model, whose classes may stand for labels.
        classes: the number of labels of the task.
        smoothing: the probability that the target spreads over all labels, from 0 to 1.
        asked: by what each seed's sum is divided, `[replicas]`.

    Returns:
        The losses `[replicas]`, and the logits of the labels.
    """
    logits = label_logits(logits, config, classes)
    by_token = F.cross_entropy(
        logits.to(torch.promote_types(logits.dtype, torch.float32)).flatten(0, 2),
        labels.flatten(),
        ignore_index=IGNORED,
        reduction="none",
        label_smoothing=smoothing,
    )
    return by_token.view(len(asked), -1).sum(1) / asked, logits
