"""Mamba: a selective diagonal layer whose Δ, B and C come from the convolved input, Δ through a projection of low rank."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import selective_scan
from ...kernels.scans._segments import KEPT_EVERY
from ...kernels.scans._selective import selective_decays
from .._config import ModelConfig
from .._families import Family
from ._seeded import STATE_WORK, InitialState, SeededLinear, ShortProjection, State
from ._wiring import widen

SETTINGS: Mapping[str, bool | int | float | str] = MappingProxyType(
    {"expand": 2, "step_rank": 0, "conv_bias": True}
)


class Mamba(nn.Module):
    """h ← a ⊙ h + Δ B u for each channel, y = C·h + D u, gated by SiLU(z); a = exp(-Δ exp(A)), or 2a - 1 for the range (-1, 1).

    u = SiLU(conv(W_u x)) has `expand` · width channels with `value_dim` states each (`head_dim` is only the scale of a learned initial state); Δ = softplus(W₂ W₁ u + b), B and C are
    projections of u, z of x.

    Args:
        config: a configuration of the family `mamba`.

    Source: arXiv 2312.00752; flash-linear-attention 0.6, `Mamba`. The range (-1, 1): arXiv 2411.12537.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        channels, states, rank = _channels(config), config.value_dim, _step_rank(config)
        self.sizes = [rank, states, states]
        self.input = ShortProjection(
            config, channels, config.key_activation, bias=bool(config.options["conv_bias"])
        )
        self.gate = SeededLinear(config.width, channels)
        self.selection = SeededLinear(channels, rank + 2 * states)
        self.step = SeededLinear(rank, channels, bias=True)
        steps = torch.exp(torch.empty(channels).uniform_(math.log(1e-3), math.log(1e-1)))
        assert self.step.bias is not None
        self.step.bias.data[0] = steps + torch.log(-torch.expm1(-steps))  # softplus gives the steps
        self.rate = nn.Parameter(
            torch.arange(1, states + 1).float().log().expand(1, channels, states).clone()
        )
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
        step, write, read = self._select(u)
        y, after["H"] = selective_scan(
            u, step, self.rate.exp(), write if self.config.additive else torch.zeros_like(write), read,
            self.initial(x, state), signed=self.config.range == (-1, 1),
        )  # fmt: skip
        y = (y + self.skip[:, None, None] * u) * F.silu(self.gate(x))
        result: Tensor = self.output(y.to(x.dtype))
        return result, after

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x): a diagonal matrix per channel.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for the convolution; None at the start of a word.

        Returns:
            `[replicas, batch, tokens, channels, states, states]`, in float64.
        """
        step = self._select(self.input(x, state or {}, "input", {}))[0]
        return torch.diag_embed(
            selective_decays(step, self.rate.exp(), self.config.range == (-1, 1)).double()
        )

    def _select(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Δ `[R,B,T,channels]`, B and C `[R,B,T,states]`."""
        low, write, read = self.selection(u).split(self.sizes, -1)
        return F.softplus(widen(self.step(low))), write, read


def _channels(config: ModelConfig) -> int:
    return int(config.options["expand"]) * config.width


def _step_rank(config: ModelConfig) -> int:
    """Rows of W₁: as many as said, or a sixteenth of the width."""
    return int(config.options["step_rank"]) or math.ceil(config.width / 16)


def _problems(config: ModelConfig) -> Iterator[str]:
    for name, least in (("expand", 1), ("step_rank", 0)):
        value = config.options[name]
        assert isinstance(value, int)
        if value < least:
            yield f"options.{name} is {value}: at least {least} is needed"


def count_states(config: ModelConfig) -> int:
    """h of every channel, which plain torch writes out for every token."""
    return _channels(config) * config.value_dim


def count_kept_states(config: ModelConfig, kernels: bool) -> int:
    """h of every channel, kept for the gradients; Triton's kernels keep every eighth token's and compute the others again."""
    return count_states(config) // (KEPT_EVERY if kernels else 1)


def count_work(config: ModelConfig, tokens: int) -> float:
    """Operations of a token for all states."""
    return STATE_WORK * count_states(config)


FAMILIES = (
    Family(
        "mamba",
        Mamba,
        "h ← a ⊙ h + Δ B u for each channel, y = C·h + D u, with Δ, B and C of u",
        "a = exp(-Δ exp(A)) in (0, 1), or 2a - 1 for the range (-1, 1)",
        ("head_dim", "value_dim", "range", "additive", "conv", "key_activation", "initial", "options"),
        ("sigmoid",),
        settings=SETTINGS,
        problems=_problems,
        written_out=count_states,
        kept=count_kept_states,
        work=count_work,
    ),
)
