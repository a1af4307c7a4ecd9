"""The parts around the recurrence that layers of flash-linear-attention share: projections, decays of a head, the gated norm.

Queries and keys may have fewer heads than values; then neighbouring heads of values share a query and a key.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import l2_normalise, rms_normalise
from .._config import ModelConfig
from ._seeded import InitialState, SeededLinear, ShortProjection, State, split_heads, state_problems

Activation: TypeAlias = Literal["silu", "sigmoid", "tanh", "none"]
WIRING: Mapping[str, bool | int | float | str] = MappingProxyType(
    {"key_heads": 0, "key_eps": 0.0, "norm_eps": 1e-5}
)
"""Settings of these families: heads of queries and keys, 0 for as many as of values; what is added to the squared lengths of
queries and keys before they are divided by their lengths (1e-6 in flash-linear-attention, with which no key has the length 1); ε of the
output norm."""
WIRED_OPTIONS = (
    "heads", "head_dim", "value_dim", "range", "additive", "conv", "key_activation", "output_norm", "initial", "options",
)  # fmt: skip
"""Entries of `ModelConfig` that these families read."""


def activate(x: Tensor, activation: Activation) -> Tensor:
    """SiLU, σ or tanh of the entries, or the entries."""
    if activation == "silu":
        return F.silu(x)
    if activation == "sigmoid":
        return x.sigmoid()
    return x.tanh() if activation == "tanh" else x


def widen(x: Tensor) -> Tensor:
    """The tensor in float32 at least: gates are computed there."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def unit_vectors(x: Tensor, eps: float) -> Tensor:
    """x / √(‖x‖² + ε) along the last dimension; without ε the kernel, whose vectors have the length 1."""
    if eps == 0:
        return l2_normalise(x)
    wide = widen(x)
    return (wide * (wide.square().sum(-1, keepdim=True) + eps).rsqrt()).to(x.dtype)


class LowRank(nn.Module):
    """x ↦ W f(V x) + b with few rows in V, for each seed.

    Args:
        inputs: entries of x, at least 1.
        rank: rows of V, at least 1.
        outputs: entries of the result, at least 1.
        activation: f.
        bias: whether there is a b.
    """

    def __init__(
        self, inputs: int, rank: int, outputs: int, *, activation: Activation = "none", bias: bool = False
    ) -> None:
        super().__init__()
        self.down = SeededLinear(inputs, rank)
        self.up = SeededLinear(rank, outputs, bias=bias)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """`[replicas, batch, tokens, inputs]` to `[replicas, batch, tokens, outputs]`."""
        y: Tensor = self.up(activate(self.down(x), self.activation))
        return y


class HeadDecays(nn.Module):
    """Steps Δ = softplus(z + b) and decays exp(-exp(A) Δ) in (0, 1), with an A for each head and a b for each of its entries.

    Args:
        heads: the number of heads, at least 1.
        entries: decays of a head, at least 1.
    """

    def __init__(self, heads: int, entries: int = 1) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.empty(1, heads).uniform_(1, 16).log())
        steps = torch.exp(torch.empty(1, heads, entries).uniform_(math.log(1e-3), math.log(1e-1)))
        self.bias = nn.Parameter(steps + torch.log(-torch.expm1(-steps)))  # softplus gives the steps

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Of z `[replicas, batch, tokens, heads, entries]` the steps and the decays, of the same shape, float32 at least."""
        steps = F.softplus(widen(z) + self.bias[:, None, None])
        return steps, torch.exp(-self.rate.exp()[:, None, None, :, None] * steps)


class GatedReadOut(nn.Module):
    """o ↦ W (norm(o) ⊙ f(gate(x))): RMSNorm of each head with one weight for all heads, a gate, the output projection.

    Args:
        config: `heads`, `value_dim`, `output_norm` and `norm_eps` of its options.
        gate: what makes the gate from the mixer's input; None for no gate.
        activation: f.
    """

    def __init__(self, config: ModelConfig, gate: nn.Module | None, activation: Activation) -> None:
        super().__init__()
        self.eps = float(config.options["norm_eps"])
        self.weight = nn.Parameter(torch.ones(1, config.value_dim)) if config.output_norm else None
        self.gate, self.activation = gate, activation
        self.linear = SeededLinear(config.heads * config.value_dim, config.width)

    def forward(self, o: Tensor, x: Tensor) -> Tensor:
        """Lead the heads' outputs into the stream.

        Args:
            o: the heads' outputs, `[replicas, batch, tokens, heads, values]`.
            x: the mixer's input, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, width]`.
        """
        if self.weight is not None:
            o = rms_normalise(o, self.weight, eps=self.eps)
        y = o.flatten(3)
        if self.gate is not None:
            y = y * activate(self.gate(x), self.activation)
        result: Tensor = self.linear(y)
        return result


class KeyValueMixer(nn.Module):
    """What mixers of queries, keys and values share: projections with short convolutions and SiLU, and the initial state.

    Args:
        config: a configuration of a family with the settings `WIRING`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.key_heads = int(config.options["key_heads"]) or heads
        self.query = ShortProjection(config, self.key_heads * K, config.key_activation)
        self.key = ShortProjection(config, self.key_heads * K, config.key_activation)
        self.value = ShortProjection(config, heads * V, "silu") if config.additive else None
        self.initial = InitialState(config, heads, K, V)

    def project(self, x: Tensor, state: State, after: State) -> tuple[Tensor, Tensor, Tensor | None]:
        """Queries, keys and values.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for convolutions; empty at the start of a word.
            after: receives the state of the convolutions after the tokens.

        Returns:
            q of the length 1/√K and k of the length 1, `[R,B,T,H,K]`, and v `[R,B,T,H,V]` or None.
        """
        config = self.config
        eps = float(config.options["key_eps"])
        q = unit_vectors(split_heads(self.query(x, state, "query", after), self.key_heads), eps)
        k = unit_vectors(split_heads(self.key(x, state, "key", after), self.key_heads), eps)
        q = self.share(q) * config.head_dim**-0.5
        v = None
        if self.value is not None:
            v = split_heads(self.value(x, state, "value", after), config.heads)
        return q, self.share(k), v

    def share(self, y: Tensor) -> Tensor:
        """`[..., key heads, entries]` to `[..., heads, entries]`: neighbouring heads get the same."""
        group = self.config.heads // self.key_heads
        return y if group == 1 else y.repeat_interleave(group, -2)

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self.project(x, {}, {})[0]


def wiring_problems(config: ModelConfig) -> Iterator[str]:
    """What is wrong with the sizes and the settings `WIRING`."""
    yield from state_problems(config)
    key_heads = config.options["key_heads"]
    assert isinstance(key_heads, int)
    if key_heads < 0 or (key_heads and config.heads % key_heads):
        yield f"options.key_heads is {key_heads}: it must divide heads, which is {config.heads}; 0 for as many"
    for name in ("key_eps", "norm_eps"):
        if name in config.options and not 0 <= float(config.options[name]) < 1:
            yield f"options.{name} is {config.options[name]}: a number from 0, below 1, is needed"


def count_keys(config: ModelConfig, kernels: bool = False) -> int:
    """A token's queries and keys of each of their heads, and the values of each head."""
    key_heads = int(config.options["key_heads"]) or config.heads
    return key_heads * 2 * config.head_dim + config.heads * config.value_dim
