"""A Mamba-like selective diagonal layer: every channel has V states with decays of their own.

Its Δ, B and C are projections of the layer's input, before the convolution, and it has as many channels as its heads have rows. The
layer of the paper is in `mamba.py`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import selective_scan
from ...kernels.scans._segments import KEPT_EVERY
from ...kernels.scans._selective import selective_decays
from .._config import ModelConfig
from .._families import Family
from ._seeded import STATE_WORK, InitialState, SeededLinear, ShortProjection, State


class Selective(nn.Module):
    """h ← a ⊙ h + Δ B(x) u, y = C(x)·h + D u, gated by SiLU; a = exp(-Δ exp(A)), or 2a - 1 for the range (-1, 1).

    u: heads · head_dim channels; each has `value_dim` states.

    Args:
        config: a configuration of the family `mamba_like`.

    Source: the recurrence of arXiv 2312.00752; the range (-1, 1) arXiv 2411.12537.
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
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens: `state["H"]` `[replicas, batch, channels, states]`.
        """
        state, after = state or {}, State()
        u = self.input(x, state, "input", after)
        step = F.softplus(self.step(x).float())
        write = self.write(x)
        y, after["H"] = selective_scan(
            u, step, self.rate.exp(), write if self.config.additive else torch.zeros_like(write), self.read(x),
            self.initial(x, state), signed=self.config.range == (-1, 1),
        )  # fmt: skip
        y = (y + self.skip[:, None, None] * u) * F.silu(self.gate(x))
        result: Tensor = self.output(y.to(x.dtype))
        return result, after

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x): a diagonal matrix per channel.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since a transition depends on its token alone.

        Returns:
            `[replicas, batch, tokens, channels, states, states]`, in float64.
        """
        step = F.softplus(self.step(x).float())
        return torch.diag_embed(
            selective_decays(step, self.rate.exp(), self.config.range == (-1, 1)).double()
        )


def count_states(config: ModelConfig) -> int:
    """h of every channel, which plain torch writes out for every token."""
    return config.heads * config.head_dim * config.value_dim


def count_kept_states(config: ModelConfig, kernels: bool) -> int:
    """h of every channel, kept for the gradients; Triton's kernels keep every eighth token's and compute the others again."""
    return count_states(config) // (KEPT_EVERY if kernels else 1)


def count_work(config: ModelConfig, tokens: int) -> float:
    """Operations of a token for all states."""
    return STATE_WORK * count_states(config)


FAMILIES = (
    Family(
        "mamba_like",
        Selective,
        "h ← a ⊙ h + Δ B(x) u for each channel, y = C(x)·h + D u, with Δ, B and C of x",
        "a = exp(-Δ exp(A)), or 2a - 1 for the range (-1, 1)",
        ("heads", "head_dim", "value_dim", "range", "additive", "conv", "key_activation", "initial"),
        written_out=count_states,
        kept=count_kept_states,
        work=count_work,
    ),
)
