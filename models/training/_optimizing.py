"""Updates: AdamW with weight decay of linear maps only, clipping of each seed by its own norm, a small start, the schedules.

The learning rate and the length of the words are functions of the step.
"""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor, nn

from .._model import Model
from ..layers._seeded import SeededEmbedding, SeededLinear
from ..tasks._sampling import LENGTHS, generator

_BY_SEED = re.compile(r"\.by_seed\.([0-9]+)\.")


def adamw(
    model: Model, lr: float, betas: tuple[float, float], weight_decay: float, *, capturable: bool = False
) -> torch.optim.AdamW:
    """Norms, biases, embeddings, rates and initial states do not decay. `capturable`: its steps can be recorded in a graph."""
    linear = {id(m.weight) for m in model.modules() if isinstance(m, SeededLinear | nn.Linear)}
    linear |= {
        id(p)
        for m in model.modules()
        if isinstance(m, nn.LSTM)
        for n, p in m.named_parameters()
        if "weight" in n
    }
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if id(p) in linear], "weight_decay": weight_decay},
        {"params": [p for p in parameters if id(p) not in linear], "weight_decay": 0.0},
    ]
    rate = torch.tensor(lr, device=parameters[0].device) if capturable else lr
    return torch.optim.AdamW(
        [g for g in groups if g["params"]], lr=rate, betas=betas, fused=True, capturable=capturable
    )


@torch.no_grad()
def start_small(model: nn.Module, deviation: float) -> None:
    """Scale a new model's linear maps and embeddings to the standard deviation `deviation`; each keeps its seed's draw.

    With the layers' own sizes, large groups stay at two letters: embeddings and MLP learn pairs by heart before transitions
    move. Published training of these models starts at 0.02 (`initializer_range` of Hugging Face's and FLA's configurations).
    """
    for module in model.modules():
        if isinstance(module, SeededLinear):
            module.weight.mul_(
                deviation * math.sqrt(3 * module.weight.shape[2])
            )  # uniform in ±inputs^-1/2 before
        elif isinstance(module, nn.Linear):  # of a user's layer
            module.weight.mul_(deviation * math.sqrt(3 * module.weight.shape[1]))
        elif isinstance(module, SeededEmbedding):
            module.weight.mul_(deviation)


def set_learning_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Set the rate of the next steps; one that lies on the device stays where it is, since graphs read it there."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr


def gradient_norms(model: nn.Module, replicas: int) -> Tensor:
    """Norm of each seed's gradient, `[replicas]`."""
    squares = []
    for seed, gradient in _gradients(model):
        if seed is None:
            squares.append(gradient.flatten(1).float().square().sum(1))
        else:
            one = torch.zeros(replicas, device=gradient.device)
            one[seed] = gradient.float().square().sum()
            squares.append(one)
    return torch.stack(squares).sum(0).sqrt()


def clip_by_seed(model: nn.Module, norms: Tensor, largest: float) -> None:
    """Scale each seed's gradient down to `largest`; one seed's size does not touch another's."""
    scale = (largest / (norms + 1e-6)).clamp(max=1)
    for seed, gradient in _gradients(model):
        if seed is None:
            gradient.mul_(scale.view(-1, *(1,) * (gradient.ndim - 1)).to(gradient.dtype))
        else:
            gradient.mul_(scale[seed].to(gradient.dtype))


def _gradients(model: nn.Module) -> list[tuple[int | None, Tensor]]:
    """Gradients, and for a module that each seed has by itself that seed's place."""
    found = []
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            own = _BY_SEED.search(f".{name}")
            found.append((int(own[1]) if own else None, parameter.grad))
    return found


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
    """Uniform in `lengths`, one length a batch, the same for all replicas.

    Over the fraction `curriculum` of all steps the longest grows by the same factor each step, from `curriculum_from`, or,
    where that is 0, from the shortest; from 2 where there is one length only. One length is that of all words. Short words
    come first because a prefix of few letters says most about a letter, and among many positions it hardly counts.
    """
    high = longest_length(step, steps, lengths, curriculum, curriculum_from)
    return int(generator(LENGTHS, step).integers(min(lengths[0], high), high + 1))


def longest_length(
    step: int, steps: int, lengths: tuple[int, int], curriculum: float, curriculum_from: int = 0
) -> int:
    """The longest length at a step, up to which `word_length` draws."""
    low, high = lengths
    growing = curriculum * steps
    if step < growing:
        first = min(curriculum_from or (low if low < high else 2), high)
        high = round(first * (high / first) ** (step / growing))
    return high
