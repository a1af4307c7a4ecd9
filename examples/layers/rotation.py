"""Planes that a token turns by an angle of its own, with a decay, as the complex states of Mamba-3 do (arXiv 2603.15569)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mirrormata.models import ModelConfig, RecurrentLayer


class Rotation(RecurrentLayer):
    """h ← r(x) R(θ(x)) h + B(x): a plane for each head, turned by θ(x) and shortened by r(x) in (0, 1)."""

    summary = "h ← r(x) R(θ(x)) h + B(x), a plane for each head"
    eigenvalues = "r e^{±iθ}, with r in (0, 1)"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        heads = config.heads
        self.angle = nn.Linear(config.width, heads)
        self.decay = nn.Linear(config.width, heads)
        self.value = nn.Linear(config.width, 2 * heads)
        self.output = nn.Linear(2 * heads, config.width)

    def state_shape(self) -> tuple[int, int, int]:
        """Two rows, one column."""
        return self.config.heads, 2, 1

    def transitions(self, x: Tensor) -> Tensor:
        """r (cos θ, -sin θ; sin θ, cos θ)."""
        angle, r = torch.pi * self.angle(x), (self.decay(x) + 4).sigmoid()
        c, s = r * angle.cos(), r * angle.sin()
        return torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)

    def additions(self, x: Tensor) -> Tensor:
        """A vector of the plane."""
        value: Tensor = self.value(x)
        return value.reshape(*x.shape[:2], -1, 2, 1)

    def read_out(self, x: Tensor, H: Tensor) -> Tensor:
        """All planes, by a linear map."""
        y: Tensor = self.output(H.flatten(2))
        return y
