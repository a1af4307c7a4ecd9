"""Planes that are turned and never shortened, as in adaptive unitary state space models (arXiv 2507.05238)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mirrormata.models import ModelConfig, RecurrentLayer


class Unitary(RecurrentLayer):
    """h ← R(θ(x)) h + B(x): rotations keep all lengths, so nothing is forgotten."""

    summary = "h ← R(θ(x)) h + B(x), a plane for each head and column"
    eigenvalues = "e^{±iθ}, of absolute value 1"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        heads, columns = config.heads, config.value_dim
        self.angle = nn.Linear(config.width, heads)
        self.start = nn.Parameter(torch.randn(heads, 2, columns))
        self.output = nn.Linear(2 * heads * columns, config.width)

    def state_shape(self) -> tuple[int, int, int]:
        """Two rows, and `value_dim` columns that turn together."""
        return self.config.heads, 2, self.config.value_dim

    def initial(self) -> Tensor:
        """A learned state, which the tokens turn."""
        return self.start

    def transitions(self, x: Tensor) -> Tensor:
        """(cos θ, -sin θ; sin θ, cos θ)."""
        angle = torch.pi * self.angle(x)
        c, s = angle.cos(), angle.sin()
        return torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)

    def read_out(self, x: Tensor, H: Tensor) -> Tensor:
        """All planes, by a linear map."""
        y: Tensor = self.output(H.flatten(2))
        return y
