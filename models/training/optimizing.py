"""AdamW with weight decay of linear maps only, clipping of each seed by its own norm, and a small start."""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor, nn

from ..layers.seeded import SeededEmbedding, SeededLinear
from ..model import Model

_BY_SEED = re.compile(r"\.by_seed\.([0-9]+)\.")


def adamw(
    model: Model, lr: float, betas: tuple[float, float], weight_decay: float, *, capturable: bool = False
) -> torch.optim.AdamW:
    """Norms, biases, embeddings, rates and initial states do not decay. `capturable`: its steps can be recorded in a graph."""
    linear = {id(m.weight) for m in model.modules() if isinstance(m, SeededLinear)}
    linear |= {
        id(p)
        for m in model.modules()
        if isinstance(m, nn.LSTM)
        for n, p in m.named_parameters()
        if "weight" in n
    }
    parameters = list(model.parameters())
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
        elif isinstance(module, SeededEmbedding):
            module.weight.mul_(deviation)


def set_learning_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """For the next steps; a rate that lies on the device stays where it is, since graphs read it there."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr


def gradient_norms(model: nn.Module, seeds: int) -> Tensor:
    """Norm of each seed's gradient, `[seeds]`."""
    squares = []
    for seed, gradient in _gradients(model):
        if seed is None:
            squares.append(gradient.flatten(1).float().square().sum(1))
        else:
            one = torch.zeros(seeds, device=gradient.device)
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
