"""`WeightAverage`: an exponential moving average of the weights beside a training, which tests and model folders can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

Weights = Literal["last", "average"]
"""The weights after the last step, or their moving average."""


class WeightAverage:
    """a ← d a + (1 - d) w after each step, from the initial weights on, for every parameter that is trained.

    Under FSDP each process has the average of its own shards.

    Args:
        model: the model, as it is trained: sharded already, if it will be.
        decay: d, from 0, below 1.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._averages = {name: p.detach().clone() for name, p in self._trained.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Take the weights after a step into the average."""
        for name, parameter in self._trained.items():
            self._averages[name].lerp_(parameter.detach(), 1 - self.decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averages meanwhile; the weights of before come back bit for bit, whatever happens."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self._trained.items():
            kept = parameter.detach().clone()
            parameter.copy_(self._averages[name])
            self._averages[name].copy_(kept)

    def whole_tensors(self) -> dict[str, Tensor]:
        """The averages by name; under FSDP all processes ask, and get the whole ones."""
        return {name: x.full_tensor() if isinstance(x, DTensor) else x for name, x in self._averages.items()}

    @torch.no_grad()
    def load(self, tensors: Mapping[str, Tensor]) -> str | None:
        """Go on from what `whole_tensors` gave.

        Returns:
            None, or the name of a tensor that is missing or of another shape.
        """
        for name, own in self._averages.items():
            if name not in tensors or tensors[name].shape != own.shape:
                return name
        for name, own in self._averages.items():
            value = tensors[name].to(own.device)
            own.copy_(
                distribute_tensor(value, own.device_mesh, own.placements)
                if isinstance(own, DTensor)
                else value
            )
        return None
