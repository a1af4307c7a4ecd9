"""RWKV-7 with its wiring: token shift, gates of low rank, the bonus of the present token, group norm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn

from ...kernels import rank_one_scan
from .._config import ModelConfig
from .._families import Family
from ._seeded import (
    InitialState,
    ReadsFirst,
    SeededLinear,
    State,
    count_scan_work,
    fold_replicas,
    split_heads,
    state_problems,
)
from ._wiring import LowRank, unit_vectors, widen

LEAST_LOG_DECAY = 0.6065306597126334
"""1/√e: w = exp(-σ/√e) is at least 0.545."""
RANKS = ("decay_rank", "rate_rank", "gate_rank", "value_rank")
SETTINGS: Mapping[str, bool | int | float | str] = MappingProxyType(
    {**dict.fromkeys(RANKS, 0), "norm_eps": 1e-5, "key_eps": 0.0}
)
MIXED = {"query": 0.2, "decay": 0.9, "key": 0.7, "value": 0.7, "rate": 0.9, "gate": 0.2}
"""The parts that read x_t + μ ⊙ (x_{t-1} - x_t), with the exponent by which μ falls along the entries at the start."""


class RWKV7(ReadsFirst):
    """H ← (diag(w) - c (a ⊙ κ) κᵀ) H + k vᵀ, o = rᵀ H, c = 1 or 2 by the range; w = exp(-σ(·)/√e), a = σ(·), ‖κ‖ = 1.

    Every part reads a mixture of the token and the one before. Outputs go through a group norm, the present token's values are added once
    more with the weight Σ r ⊙ k ⊙ ρ, and a gate of low rank multiplies them. In later layers values are mixed with those of the first one.

    Args:
        config: a configuration of the family `rwkv7`. Its ranks are 0 for those of flash-linear-attention, which grow with the width.

    Source: arXiv 2503.14456; flash-linear-attention 0.6, `RWKV7Attention`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width, heads, K, V = config.width, config.heads, config.head_dim, config.value_dim
        place = torch.arange(width) / width
        self.mix = nn.ParameterDict({name: 1 - place[None] ** power for name, power in MIXED.items()})
        self.query = SeededLinear(width, heads * K)
        self.key = SeededLinear(width, heads * K)
        self.value = SeededLinear(width, heads * V) if config.additive else None
        self.value_mixture: LowRank | None = None
        decay_rank, rate_rank, gate_rank, _ = low_ranks(config)
        self.decay = LowRank(width, decay_rank, heads * K, activation="tanh", bias=True)
        self.rate = LowRank(width, rate_rank, heads * K, bias=True)
        self.gate = LowRank(width, gate_rank, heads * V, activation="sigmoid")
        assert self.decay.up.bias is not None
        assert self.rate.up.bias is not None
        self.decay.up.bias.data[0] = torch.linspace(-5.5, 0.5, heads * K)  # decays from .998 to .69
        self.rate.up.bias.data.fill_(-0.19)
        self.removal = nn.Parameter(torch.full((1, heads, K), 0.71))
        self.mixing = nn.Parameter(torch.full((1, heads, K), 1.02))
        self.bonus = nn.Parameter(torch.full((1, heads, K), -0.04)) if config.additive else None
        self.norm_weight = nn.Parameter(torch.ones(1, heads, V))
        self.norm_bias = nn.Parameter(torch.zeros(1, heads, V))
        self.initial = InitialState(config, heads, K, V)
        self.output = SeededLinear(heads * V, width)

    def read_first(self) -> None:
        """Make the projection that says how far values are mixed with those of the first layer; about two thirds at the start."""
        if self.value is None:
            return
        config = self.config
        outputs = config.heads * config.value_dim
        self.value_mixture = LowRank(config.width, low_ranks(config)[3], outputs, bias=True)
        assert self.value_mixture.up.bias is not None
        self.value_mixture.up.bias.data.fill_(0.73)

    def forward(
        self, x: Tensor, state: State | None = None, first: State | None = None
    ) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.
            first: the first layer leaves its values of these tokens here, later layers find them.

        Returns:
            Outputs of the shape of x, and the state after the tokens: `state["H"]` `[replicas, batch, heads, K, V]`, and `state["shift"]`, the last
            token's input.
        """
        state, after = state or {}, State()
        replicas, batch = x.shape[:2]
        r, w, u, z, k, v = self.controls(x, state, after)
        if v is not None and first is not None:
            v = self._mix_values(v, x, state, first)
        dtype = r.dtype
        o, final = rank_one_scan(
            fold_replicas(r), fold_replicas(w), fold_replicas(u).to(dtype), fold_replicas(z).to(dtype),
            None if v is None else fold_replicas(k).to(dtype), None if v is None else fold_replicas(v).to(dtype),
            fold_replicas(self.initial(x, state)), scale=1.0, output_final_state=True,
        )  # fmt: skip
        assert o is not None
        assert final is not None
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        o = widen(o.view(replicas, batch, *o.shape[1:]))
        # a head is a group of the norm, whose ε grows with its rows
        eps = self.config.head_dim * float(self.config.options["norm_eps"])
        o = o - o.mean(-1, keepdim=True)
        o = o * (o.square().mean(-1, keepdim=True) + eps).rsqrt()
        o = o * self.norm_weight[:, None, None] + self.norm_bias[:, None, None]
        if v is not None:
            assert self.bonus is not None
            o = o + (r * k * self.bonus[:, None, None]).sum(-1, keepdim=True) * v
        y = o.flatten(3) * self.gate(self._mixture("gate", x, state))
        result: Tensor = self.output(y.to(x.dtype))
        return result, after

    def begin(self, x: Tensor) -> State:
        """The whole state before the first token, written out: H, and a token of zeros.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.
        """
        return State(H=self.initial(x, {}), shift=x.new_zeros(*x.shape[:2], 1, x.shape[3]))

    def controls(
        self, x: Tensor, state: State, after: State
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None]:
        """The inputs of the recurrence, as `rank_one_scan` takes it.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for the token shift; empty at the start of a word.
            after: receives the last token's input.

        Returns:
            r, w, u, z, k `[R,B,T,H,K]` and v `[R,B,T,H,V]` or None.
        """
        heads = self.config.heads
        mixed = {name: self._mixture(name, x, state) for name in MIXED if name != "gate"}
        after["shift"] = torch.cat([_before(x, state), x], 2)[:, :, -1:]
        r, k = split_heads(self.query(mixed["query"]), heads), split_heads(self.key(mixed["key"]), heads)
        v = None if self.value is None else split_heads(self.value(mixed["value"]), heads)
        z = widen(self.decay(mixed["decay"])).sigmoid()
        w = torch.exp(-LEAST_LOG_DECAY * split_heads(z, heads))
        a = split_heads(widen(self.rate(mixed["rate"])).sigmoid(), heads)
        eps = float(self.config.options["key_eps"])
        removed = unit_vectors(k * self.removal[:, None, None].to(k.dtype), eps)
        written = k * (1 + (a - 1) * self.mixing[:, None, None])
        return r, w, (self.config.range[0] - 1) * a * removed, removed, written, v

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix A(x) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        _, w, u, z, _, _ = self.controls(x, state or {}, {})
        return torch.diag_embed(w.double()) + u.double()[..., None] * z.double()[..., None, :]

    def _mix_values(self, v: Tensor, x: Tensor, state: State, first: State) -> Tensor:
        if self.value_mixture is None:
            first["value"] = v
            return v
        part = split_heads(self.value_mixture(self._mixture("value", x, state)), self.config.heads)
        return torch.lerp(v, first["value"].to(v.dtype), part.sigmoid().to(v.dtype))

    def _mixture(self, name: str, x: Tensor, state: State) -> Tensor:
        """x_t + μ ⊙ (x_{t-1} - x_t)."""
        shifted = torch.cat([_before(x, state), x], 2)[:, :, :-1]
        mixed: Tensor = x + (shifted - x) * self.mix[name][:, None, None].to(x.dtype)
        return mixed


def _before(x: Tensor, state: State) -> Tensor:
    """The input of the token before x, `[R,B,1,width]`; zeros at the start of a word."""
    if "shift" in state:
        return state["shift"].to(x.dtype)
    return x.new_zeros(*x.shape[:2], 1, x.shape[3])


def low_ranks(config: ModelConfig) -> tuple[int, int, int, int]:
    """Those of decays, of a, of the gate, and of the mixture of values; multiples of 32 that grow with the root of the width, where they are not given."""
    factor, root = config.head_dim / 64, config.width**0.5
    sizes = (2.5 * root * factor, 2.5 * root * factor, 5 * root, 1.7 * root * factor)
    usual = [max(32, round(x / 32) * 32) for x in sizes]
    found = [int(config.options[name]) or other for name, other in zip(RANKS, usual, strict=True)]
    return found[0], found[1], found[2], found[3]


def rwkv7_problems(config: ModelConfig) -> Iterator[str]:
    """What is wrong with the sizes and the settings."""
    yield from state_problems(config)
    for name in RANKS:
        if float(config.options[name]) < 0:
            yield f"options.{name} is {config.options[name]}: a number from 1 is needed, or 0 for the usual one"
    for name in ("norm_eps", "key_eps"):
        if not 0 <= float(config.options[name]) < 1:
            yield f"options.{name} is {config.options[name]}: a number from 0, below 1, is needed"


def count_kept(config: ModelConfig, kernels: bool = False) -> int:
    """The six mixtures of inputs, and queries, decays, a, κ, keys and values of each head."""
    return 6 * config.width + config.heads * (6 * config.head_dim + config.value_dim)


FAMILIES = (
    Family(
        "rwkv7",
        RWKV7,
        "H ← (diag(w) - c (a ⊙ κ) κᵀ) H + k vᵀ, c = 1 or 2 by the range, with token shift",
        "real, negative ones too: the matrix is similar to diag(w) less a symmetric one of rank one",
        ("heads", "head_dim", "value_dim", "range", "additive", "initial", "options"),
        ("sigmoid",),
        looks_back=True,
        settings=SETTINGS,
        problems=rwkv7_problems,
        kept=count_kept,
        work=count_scan_work,
    ),
)
