"""A Mamba-like selective diagonal layer: every channel has V states with decays of their own."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import diagonal_scan
from ..config import ModelConfig
from .projections import InitialState, ShortProjection, State, together
from .seeded import SeededLinear


class Selective(nn.Module):
    """h ← a ⊙ h + Δ B(x) u, y = C(x)·h + D u, gated by SiLU; a = exp(-Δ exp(A)), or 2a - 1 for the range (-1, 1).

    u: heads · head_dim channels; each has `value_dim` states.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        channels, states = config.heads * config.head_dim, config.value_dim
        self.input = ShortProjection(config, channels, config.key_activation)
        self.gate = SeededLinear(config.width, channels)
        self.step = SeededLinear(config.width, channels, bias=True)
        steps = torch.exp(torch.empty(channels).uniform_(math.log(1e-3), math.log(1e-1)))
        assert self.step.bias is not None
        self.step.bias.data[0] = steps + torch.log(-torch.expm1(-steps))  # softplus gives the steps
        self.rate = nn.Parameter(
            torch.arange(1, states + 1).float().log().expand(1, channels, states).clone()
        )
        self.write = SeededLinear(config.width, states)
        self.read = SeededLinear(config.width, states)
        self.skip = nn.Parameter(torch.ones(1, channels))
        self.initial = InitialState(config, channels, states)
        self.output = SeededLinear(channels, config.width)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """`[seeds, batch, tokens, width]` to the same; `state["H"]`: `[seeds, batch, channels, states]`."""
        state, after = state or {}, State()
        seeds, batch, tokens, _ = x.shape
        u = self.input(x, state, "input", after)
        step = F.softplus(self.step(x).float())
        a = self.decays(step)
        b = torch.zeros_like(a)
        if self.config.additive:
            b = (step * u.float())[..., None] * self.write(x).float()[..., None, :]
        h, final = diagonal_scan(
            together(a).flatten(2), together(b).flatten(2),
            together(self.initial(x, state)).flatten(1), output_final_state=True,
        )  # fmt: skip
        assert final is not None
        after["H"] = final.view(seeds, batch, *a.shape[3:])
        h = h.view(seeds, batch, tokens, *a.shape[3:])
        y = torch.einsum("sbtcn,sbtn->sbtc", h, self.read(x).float())
        y = (y + self.skip[:, None, None] * u) * F.silu(self.gate(x))
        result: Tensor = self.output(y.to(x.dtype))
        return result, after

    def decays(self, step: Tensor) -> Tensor:
        """a `[seeds, batch, tokens, channels, states]` for steps Δ `[seeds, batch, tokens, channels]`."""
        a = torch.exp(-step[..., None] * self.rate[:, None, None].exp())
        return a if self.config.range == (0, 1) else 2 * a - 1

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x): a diagonal matrix a channel, `[seeds, batch, tokens, channels, states, states]`, in float64."""
        return torch.diag_embed(self.decays(F.softplus(self.step(x).float())).double())
