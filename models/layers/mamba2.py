"""Mamba-2: one decay for each head, written and read by vectors B and C that groups of heads share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import rank_one_scan, rms_normalise
from .._config import ModelConfig
from .._families import Family
from ._seeded import (
    InitialState,
    SeededLinear,
    ShortProjection,
    State,
    count_diagonal_work,
    fold_replicas,
    split_heads,
    state_problems,
)
from ._wiring import HeadDecays

SETTINGS: Mapping[str, bool | int | float | str] = MappingProxyType(
    {"groups": 1, "conv_bias": True, "norm_eps": 1e-5}
)


class Mamba2(nn.Module):
    """H ← α H + Δ B uᵀ, y = Cᵀ H + D u, with Δ = softplus(W_Δ x + b) and α = exp(-exp(A) Δ), or 2α - 1 for the range (-1, 1).

    u (`value_dim` entries of each head), B and C (`head_dim` entries of each of the `groups`) are one projection of x with one short
    convolution and SiLU. The outputs are gated by SiLU(z), then go through RMSNorm group by group. heads · value_dim / width is what
    Mamba-2 calls the expansion, usually 2.

    Args:
        config: a configuration of the family `mamba2`.

    Source: arXiv 2405.21060; flash-linear-attention 0.6, `Mamba2`. The range (-1, 1): arXiv 2411.12537.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.groups = int(config.options["groups"])
        channels = heads * V
        self.sizes = [channels, self.groups * K, self.groups * K]
        self.input = ShortProjection(
            config, sum(self.sizes), config.key_activation, bias=bool(config.options["conv_bias"])
        )
        self.gate = SeededLinear(config.width, channels)
        self.step = SeededLinear(config.width, heads)
        self.decays = HeadDecays(heads)
        self.skip = nn.Parameter(torch.ones(1, heads))
        self.initial = InitialState(config, heads, K, V)
        self.norm = nn.Parameter(torch.ones(1, channels)) if config.output_norm else None
        self.output = SeededLinear(channels, config.width)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens: `state["H"]` `[replicas, batch, heads, K, V]`.
        """
        state, after = state or {}, State()
        replicas, batch = x.shape[:2]
        u, write, read = self._inputs(x, state, after)
        steps, alpha = self._gates(x)
        w = alpha.expand(*alpha.shape[:-1], self.config.head_dim)
        nothing = torch.zeros_like(read)
        additive = self.config.additive
        o, final = rank_one_scan(
            fold_replicas(read), fold_replicas(w), fold_replicas(nothing), fold_replicas(nothing),
            fold_replicas(write) if additive else None, fold_replicas((steps * u).to(u.dtype)) if additive else None,
            fold_replicas(self.initial(x, state)), scale=1.0, output_final_state=True,
        )  # fmt: skip
        assert o is not None
        assert final is not None
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        return self._finish(o.view(replicas, batch, *o.shape[1:]), u, x), after

    def queries(self, x: Tensor) -> Tensor:
        """C, the queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self._inputs(x, {}, {})[2]

    def read_out(self, o: Tensor, x: Tensor) -> Tensor:
        """Lead the heads' outputs into the stream, beside what skips the recurrence. There must be no convolution.

        Args:
            o: Cᵀ H of the heads, `[replicas, batch, tokens, heads, V]`.
            x: the mixer's input, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, width]`.
        """
        return self._finish(o, self._inputs(x, {}, {})[0], x)

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x) = α I of each token and head.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since a decay depends on its token alone.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        eye = torch.eye(self.config.head_dim, dtype=torch.float64, device=x.device)
        return self._gates(x)[1].double()[..., None] * eye

    def _inputs(self, x: Tensor, state: State, after: State) -> tuple[Tensor, Tensor, Tensor]:
        """u `[R,B,T,H,V]`, B and C `[R,B,T,H,K]`."""
        u, write, read = self.input(x, state, "input", after).split(self.sizes, -1)
        heads = self.config.heads
        write, read = (
            split_heads(y, self.groups).repeat_interleave(heads // self.groups, -2) for y in (write, read)
        )
        return split_heads(u, heads), write, read

    def _gates(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Δ and α, `[R,B,T,H,1]`."""
        steps, alpha = self.decays(self.step(x)[..., None])
        return steps, alpha if self.config.range == (0, 1) else 2 * alpha - 1

    def _finish(self, o: Tensor, u: Tensor, x: Tensor) -> Tensor:
        y = (o + self.skip[:, None, None, :, None] * u).flatten(3) * F.silu(self.gate(x))
        if self.norm is not None:
            rows = split_heads(y, self.groups)
            weight = split_heads(self.norm, self.groups)
            y = rms_normalise(rows, weight, eps=float(self.config.options["norm_eps"])).flatten(3)
        result: Tensor = self.output(y.to(x.dtype))
        return result


def _problems(config: ModelConfig) -> Iterator[str]:
    yield from state_problems(config)
    groups = config.options["groups"]
    assert isinstance(groups, int)
    if groups < 1 or config.heads % groups:
        yield f"options.groups is {groups}: it must divide heads, which is {config.heads}"
    if not 0 <= float(config.options["norm_eps"]) < 1:
        yield f"options.norm_eps is {config.options['norm_eps']}: a number from 0, below 1, is needed"


def count_inputs(config: ModelConfig, kernels: bool = False) -> int:
    """A token's B and C for each head, and its u, z and outputs."""
    return config.heads * (2 * config.head_dim + 3 * config.value_dim)


FAMILIES = (
    Family(
        "mamba2",
        Mamba2,
        "H ← α H + Δ B uᵀ for each head, y = Cᵀ H + D u",
        "α = exp(-exp(A) Δ) in (0, 1), or 2α - 1 for the range (-1, 1)",
        (
            "heads", "head_dim", "value_dim", "range", "additive", "conv", "key_activation", "output_norm", "initial", "options",
        ),
        ("sigmoid",),
        settings=SETTINGS,
        problems=_problems,
        kept=count_inputs,
        work=count_diagonal_work,
    ),
)  # fmt: skip
