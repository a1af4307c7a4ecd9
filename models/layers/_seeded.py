"""What mixers are made of: layers for many models side by side, short projections of tokens, β and gates in their ranges.

Such models of one shape are replicas, each drawn from a seed of its own. Every parameter has a leading dimension, one entry a
replica, and nothing mixes them; activations are `[replicas, batch, tokens, width]`. Training is bistable in this subject, so one
process trains many replicas: the same work for a GPU as one larger batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import rms_normalise, short_convolution
from .._config import ModelConfig

LINEAR_OPTIONS = (
    "heads", "head_dim", "value_dim", "range", "additive", "conv", "key_activation", "strength", "output_gate", "output_norm",
    "initial",
)  # fmt: skip
"""Entries of `ModelConfig` that mixers of keys, values and queries read."""
WIDEST = 256
"""Rows and columns of a state that the kernels take."""


# Why not torch.func.stack_module_state and vmap, which would take the leading dimension out of every layer? Tried on all
# families with torch 2.13: `delta_product` and `l2_normalise` are autograd functions without `setup_context`, which
# vmap refuses; torch's LSTM has no batching rule; `rank_one_scan` and `diagonal_scan` have none either, so vmap calls them
# seed by seed, which takes twice the time of this file for Mamba and fails for GLA. The rules that one could register
# would do what `fold_replicas` does below: take replicas for sequences. And where vmap runs, its outputs are equal bit for bit for
# some families and differ in the last places for others, so trainings would not be repeated exactly.


class SeededLinear(nn.Module):
    """`x Wᵀ + b` for each seed; weight `[replicas, out, in]`."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1, outputs, inputs))
        nn.init.uniform_(self.weight, -(inputs**-0.5), inputs**-0.5)
        self.bias = nn.Parameter(torch.zeros(1, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """`[replicas, batch, tokens, in]` to `[replicas, batch, tokens, out]`."""
        replicas, batch, tokens, _ = x.shape
        if replicas == 1:
            return F.linear(x, self.weight[0], None if self.bias is None else self.bias[0])
        rows = x.reshape(replicas, batch * tokens, -1)
        weight = self.weight.transpose(1, 2)
        y = torch.bmm(rows, weight) if self.bias is None else torch.baddbmm(self.bias[:, None], rows, weight)
        return y.view(replicas, batch, tokens, -1)


class SeededEmbedding(nn.Module):
    """A row for each letter; weight `[replicas, letters, width]`."""

    def __init__(self, letters: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, letters, width))

    def forward(self, letters: Tensor) -> Tensor:
        """Letters `[replicas or 1, batch, tokens]` to `[replicas, batch, tokens, width]`."""
        replicas, count = self.weight.shape[:2]
        first = count * torch.arange(replicas, device=letters.device)  # where each seed's rows begin
        return F.embedding(letters + first[:, None, None], self.weight.flatten(0, 1))


class SeededRMSNorm(nn.Module):
    """Root-mean-square norm over the last dimension; weight `[replicas, width]`, or `[replicas, ...]` for heads."""

    def __init__(self, *shape: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, *shape))
        self.eps = eps

    def forward(self, x: Tensor, *, cast: bool = True) -> Tensor:
        """`[replicas, batch, tokens, ...]` in its dtype, or the one that autocast gives to linear maps if it is to be cast."""
        narrow = cast and torch.is_autocast_enabled(x.device.type)
        return rms_normalise(
            x, self.weight, eps=self.eps, dtype=torch.get_autocast_dtype(x.device.type) if narrow else None
        )


class SeededConv(nn.Module):
    """A short causal convolution, each channel by itself; weight `[replicas, width, taps]`, the last tap is the present."""

    def __init__(self, width: int, taps: int, *, bias: bool = False) -> None:
        super().__init__()
        self.taps = taps
        self.weight = nn.Parameter(torch.empty(1, width, taps))
        nn.init.uniform_(self.weight, -(taps**-0.5), taps**-0.5)
        self.bias = nn.Parameter(torch.zeros(1, width)) if bias else None

    def forward(self, x: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
        """`[replicas, batch, tokens, width]` and the last taps - 1 inputs before it; the same of the present ones."""
        y = short_convolution(x, self.weight, before)
        if self.bias is not None:
            y = y + self.bias[:, None, None].to(y.dtype)
        if before is None:
            before = x.new_zeros(*x.shape[:2], self.taps - 1, x.shape[3])
        kept = torch.cat([before.to(x.dtype), x[:, :, 1 - self.taps :]], 2)
        return y, kept[:, :, 1 - self.taps :]


State: TypeAlias = dict[str, Tensor]
"""What a mixer carries from token to token, by name; every tensor begins with `[replicas, batch]`."""


class ReadsFirst(nn.Module):
    """A mixer that reads what the first layer leaves of the same tokens: `forward(x, state, first)`, where the first layer fills `first`."""

    def read_first(self) -> None:
        """Make the parameters that only later layers have."""
        raise NotImplementedError(f"{type(self).__name__} has to define `read_first`")


class ReadsBefore(nn.Module):
    """An MLP that reads the token before too: `forward(x, state, after)`, with what it keeps under names that no mixer has."""

    def begin(self, x: Tensor) -> State:
        """What it keeps before the first token, for the tokens x `[replicas, batch, tokens, width]`."""
        raise NotImplementedError(f"{type(self).__name__} has to define `begin`")


class ShortProjection(nn.Module):
    """A linear map, the short convolution where the model has one, an activation."""

    def __init__(
        self,
        config: ModelConfig,
        outputs: int,
        activation: Literal["silu", "none"] = "none",
        *,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.linear = SeededLinear(config.width, outputs)
        self.conv = SeededConv(outputs, config.conv, bias=bias) if config.conv else None
        self.activation = activation

    def forward(self, x: Tensor, state: State, name: str, after: State) -> Tensor:
        """`[replicas, batch, tokens, width]` to `[replicas, batch, tokens, outputs]`; the convolution's past in and out."""
        y: Tensor = self.linear(x)
        if self.conv is not None:
            y, after[name] = self.conv(y, state.get(name))
        return F.silu(y) if self.activation == "silu" else y


def make_value_projection(config: ModelConfig, outputs: int) -> ShortProjection | None:
    """The projection of the values, with SiLU behind a convolution, as usual; None without the additive path."""
    if not config.additive:
        return None
    return ShortProjection(config, outputs, "silu" if config.conv else "none")


def write_out_initial_state(mixer: Any, x: Tensor) -> State:
    """A mixer's state before the first token, written out: H, and zeros before each convolution's first input."""
    state = State(H=mixer.initial(x, {}))
    for name, projection in mixer.named_children():
        if isinstance(projection, ShortProjection) and projection.conv is not None:
            channels, taps = projection.conv.weight.shape[1:]
            state[name] = x.new_zeros(*x.shape[:2], taps - 1, channels)
    return state


class InitialState(nn.Module):
    """The state before the first token: zero, or learned, the same for every sequence."""

    def __init__(self, config: ModelConfig, *shape: int) -> None:
        super().__init__()
        self.shape = shape
        self.value = None
        if config.initial == "learned":
            self.value = nn.Parameter(torch.randn(1, *shape) * config.head_dim**-0.5)

    def forward(self, x: Tensor, state: State) -> Tensor:
        """The state `[replicas, batch, *shape]` to go on from, for the tokens x `[replicas, batch, ...]`; float32 at least."""
        if "H" in state:
            return state["H"]
        dtype = torch.promote_types(x.dtype, torch.float32)
        if self.value is None:
            return torch.zeros(*x.shape[:2], *self.shape, device=x.device, dtype=dtype)
        return self.value.to(dtype)[:, None].expand(*x.shape[:2], *self.shape)


class ReadOut(nn.Module):
    """The way from a mixer's outputs by head to the residual stream: norm, gate, output projection.

    Args:
        config: `width`, `output_norm` and `output_gate`.
        heads: the number of heads of the mixer, at least 1.
        values: entries of a head's output, at least 1.
    """

    def __init__(self, config: ModelConfig, heads: int, values: int) -> None:
        super().__init__()
        self.norm = SeededRMSNorm(heads, values) if config.output_norm else None
        self.gate = SeededLinear(config.width, heads * values) if config.output_gate else None
        self.linear = SeededLinear(heads * values, config.width)

    def forward(self, o: Tensor, x: Tensor) -> Tensor:
        """Lead the heads' outputs into the stream.

        Args:
            o: the heads' outputs, `[replicas, batch, tokens, heads, values]`.
            x: the mixer's input, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, width]`.
        """
        if self.norm is not None:
            o = self.norm(o)
        y = o.flatten(3)
        if self.gate is not None:
            y = y * F.silu(self.gate(x))
        result: Tensor = self.linear(y)
        return result


def projection_to_fraction(z: Tensor, config: ModelConfig) -> Tensor:
    """A fraction from 0 to 1: σ(z), which float32 rounds to 1 from 17 on, or `hard_sigmoid`, 0 up to -3, 1 from 3 on and a line between."""
    return F.hardsigmoid(z) if config.strength == "hard_sigmoid" else z.sigmoid()


def projection_to_decay(z: Tensor, config: ModelConfig) -> Tensor:
    """Decays from 0 to 1, or from -1 to 1: the fraction that z stands for, shifted; `direct`: z itself."""
    z = z.float()
    if config.strength == "direct":
        return z
    s = projection_to_fraction(z, config)
    return s if config.range == (0, 1) else 2 * s - 1


def projection_to_beta(z: Tensor, config: ModelConfig) -> Tensor:
    """β with 1 - β in the range: the fraction that z stands for, or twice it; `direct`: z itself."""
    z = z.float()
    if config.strength == "direct":
        return z
    return projection_to_fraction(z, config) * (1 - config.range[0])


def fold_replicas(x: Tensor) -> Tensor:
    """`[replicas, batch, ...]` to `[replicas·batch, ...]`: kernels see replicas as more sequences."""
    return x.flatten(0, 1)


def split_heads(x: Tensor, *sizes: int) -> Tensor:
    """The last dimension cut into `(*sizes, rest)`: factors, heads, entries."""
    return x.reshape(*x.shape[:-1], *sizes, -1)


def state_problems(config: ModelConfig) -> Iterator[str]:
    """What is wrong where a state of keys and values is wider than the kernels take."""
    if max(config.head_dim, config.value_dim) > WIDEST:
        yield f"head_dim {config.head_dim}, value_dim {config.value_dim}: at most {WIDEST}; take more heads"


CHUNK_ROWS = 64
"""Factors of a chunk in plain torch, and in the kernels for heads of 64 to 128 entries."""


def count_factor_work(config: ModelConfig, tokens: int) -> float:
    """Operations of `delta_product` for a token, by chunks of C = n_h R factors of R tokens, for each head.

    The products of `kernels/delta/_torch_chunk.py`, a product and a sum for each of their terms:

        K Kᵀ                      2 C² K
        (I + L)⁻¹ B [V | K]       C² (K + V)         forward substitution meets half of the C² entries
        U = U0 - W S0             2 C K V
        S1 = S0 + Kᵀ U            2 C K V
        Q S0                      2 R K V
        Q Kᵀ and its product with U        2 R C K + 2 R C V
    """
    K, V, factors = config.head_dim, config.value_dim, config.householders
    R = min(max(1, CHUNK_ROWS // factors), tokens)
    C = R * factors
    chunk = 2 * C * C * K + C * C * (K + V) + 4 * C * K * V + 2 * R * K * V + 2 * R * C * (K + V)
    chunks = -(-tokens // R)  # the last is filled up with zeros
    return config.heads * chunks * chunk / tokens


def count_scan_work(config: ModelConfig, tokens: int) -> float:
    """Operations of `rank_one_scan` for a token, for each head: diag(w) H K V, zᵀ H, u sᵀ, k vᵀ and qᵀ H 2 K V each."""
    return config.heads * 9 * config.head_dim * config.value_dim


def count_diagonal_work(config: ModelConfig, tokens: int) -> float:
    """Operations of H ← diag(w) H + k vᵀ, o = qᵀ H for a token, for each head: K V, and 2 K V each of the two products."""
    return config.heads * 5 * config.head_dim * config.value_dim


STATE_WORK = 7
"""Operations of a selective layer's token for every state h of a channel: Δ A and its exponential, a h, (Δ u) B, their sum, and 2 of C·h."""


def count_key_values(config: ModelConfig, kernels: bool = False) -> int:
    """A token's queries, and the keys and values of every factor, for each head."""
    return config.heads * (config.head_dim + config.householders * (config.head_dim + config.value_dim))
