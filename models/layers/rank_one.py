"""Layers with transitions diag(w) + u zᵀ: GLA (u = 0), a simpler RWKV-7 and Complex KDA."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...kernels import l2_normalise, rank_one_scan
from .._config import ModelConfig
from .._families import Family
from ._seeded import (
    LINEAR_OPTIONS,
    InitialState,
    ReadOut,
    SeededLinear,
    ShortProjection,
    State,
    count_diagonal_work,
    count_key_values,
    count_scan_work,
    fold_replicas,
    make_value_projection,
    projection_to_beta,
    projection_to_decay,
    split_heads,
    state_problems,
)

_RWKV7_DECAY = 0.6065306597126334
"""1/√e: w = exp(-σ/√e) is at least 0.545 (arXiv 2503.14456)."""


class RankOne(nn.Module):
    """H ← (diag(w) + u zᵀ) H + k vᵀ, o = qᵀ H, with w, u, z of the family:

    - `gla`: w in the range, u = 0.
    - `rwkv7_like`: w = exp(-σ/√e), u = -c κ̂, z = a ⊙ κ̂, a in (0, 1), c = 1 or 2 by the range; the key written is
      k ⊙ (1 + (a - 1) ⊙ α) with α learned. RWKV-7 itself (`rwkv7.py`) has the transposed matrix, u = -c a ⊙ κ̂ and z = κ̂, and reads the token before too.
    - `complex_kda`: (I - β k kᵀ) diag(w): u = -β k, z = k ⊙ w, w and 1 - β in the range; β k vᵀ is written.

    Args:
        config: a configuration of the family `gla`, `rwkv7_like` or `complex_kda`.

    Source: arXiv 2312.06635 (GLA), arXiv 2503.14456 (RWKV-7).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.query = ShortProjection(config, heads * K, config.key_activation)
        self.key = ShortProjection(config, heads * K, config.key_activation)
        self.value = make_value_projection(config, heads * V)
        self.decay = SeededLinear(config.width, heads * K, bias=True)
        if config.family != "rwkv7_like" and config.strength != "direct":
            assert self.decay.bias is not None
            # decays begin near .95 (.9 in the range (-1, 1)), so that states last
            self.decay.bias.data.fill_(3.0 if config.strength == "sigmoid" else 2.7)
        if config.family == "rwkv7_like":
            self.rate = SeededLinear(config.width, heads * K, bias=True)
            self.removal = nn.Parameter(torch.ones(1, heads * K))
            self.mixing = nn.Parameter(torch.ones(1, heads * K))
        elif config.family == "complex_kda":
            self.beta = SeededLinear(config.width, heads)
        self.initial = InitialState(config, heads, K, V)
        self.read_out = ReadOut(config, heads, V)

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
        q, w, u, z, k, v = self.controls(x, state, after)
        if v is None:
            k = None
        dtype = q.dtype
        o, final = rank_one_scan(
            fold_replicas(q), fold_replicas(w).to(dtype), fold_replicas(u).to(dtype), fold_replicas(z).to(dtype),
            None if k is None else fold_replicas(k).to(dtype), None if v is None else fold_replicas(v).to(dtype),
            fold_replicas(self.initial(x, state)), scale=1.0, output_final_state=True,
        )  # fmt: skip
        assert o is not None
        assert final is not None
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        y: Tensor = self.read_out(o.view(replicas, batch, *o.shape[1:]), x)
        return y, after

    def controls(
        self, x: Tensor, state: State, after: State
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """The inputs of the recurrence, as `rank_one_scan` takes it.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for convolutions; empty at the start of a word.
            after: receives the state of the convolutions after the tokens.

        Returns:
            q, w, u, z, k `[R,B,T,H,K]` and v `[R,B,T,H,V]`; k and v may be None.
        """
        config = self.config

        def by_head(y: Tensor) -> Tensor:
            return split_heads(y, config.heads)

        q = by_head(self.query(x, state, "query", after))
        k = by_head(self.key(x, state, "key", after))
        v = None if self.value is None else by_head(self.value(x, state, "value", after))
        strength = 1 - config.range[0]
        if config.family == "gla":
            w = by_head(projection_to_decay(self.decay(x), config))
            return q, w, torch.zeros_like(w), torch.zeros_like(w), k, v
        if config.family == "rwkv7_like":
            w = by_head(torch.exp(-(self.decay(x).float().sigmoid()) * _RWKV7_DECAY))
            a = by_head(self.rate(x).float().sigmoid())
            removed = l2_normalise(k * by_head(self.removal[:, None, None]).to(k.dtype))
            alpha = by_head(self.mixing[:, None, None])
            return q, w, -strength * removed.float(), a * removed, k * (1 + (a - 1) * alpha), v
        if config.key_norm:
            q, k = l2_normalise(q), l2_normalise(k)
        w = by_head(projection_to_decay(self.decay(x), config))
        written = projection_to_beta(self.beta(x), config)[..., None] * k
        return q, w, -written, k * w, written, v

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self.controls(x, {}, {})[0]

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


FAMILIES = (
    Family(
        "gla",
        RankOne,
        "H ← diag(w) H + k vᵀ",
        "the entries of w, in the range",
        LINEAR_OPTIONS,
        ("sigmoid", "hard_sigmoid", "direct"),
        kept=count_key_values,
        work=count_diagonal_work,
    ),
    Family(
        "rwkv7_like",
        RankOne,
        "H ← (diag(w) - c κ̂ (a ⊙ κ̂)ᵀ) H + k vᵀ, c = 1 or 2 by the range",
        "real, negative ones too: the matrix is similar to diag(w) less a symmetric one of rank one",
        tuple(option for option in LINEAR_OPTIONS if option != "strength"),
        problems=state_problems,
        kept=count_key_values,
        work=count_scan_work,
    ),
    Family(
        "complex_kda",
        RankOne,
        "H ← (I - β k kᵀ) diag(w) H + β k vᵀ",
        "those of a reflection times a diagonal matrix, both of them in the range; real or complex",
        (*LINEAR_OPTIONS, "key_norm"),
        ("sigmoid", "hard_sigmoid", "direct"),
        problems=state_problems,
        kept=count_key_values,
        work=count_scan_work,
    ),
)
