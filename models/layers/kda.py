"""Layers whose state decays row by row before a delta rule: KDA, and Gated DeltaNet-2 with gates for what is erased and written."""

from __future__ import annotations

import torch
from torch import Tensor

from ...kernels import rank_one_scan
from .._config import ModelConfig
from .._families import Family
from ._seeded import SeededLinear, State, count_scan_work, fold_replicas, split_heads
from ._wiring import (
    WIRED_OPTIONS,
    WIRING,
    GatedReadOut,
    HeadDecays,
    KeyValueMixer,
    LowRank,
    count_keys,
    widen,
    wiring_problems,
)


class RowGatedDelta(KeyValueMixer):
    """H ← (I - k eᵀ) diag(w) H + k sᵀ, o = qᵀ H / √K, with w = exp(-exp(A) softplus(W₂ W₁ x + b)) in (0, 1)^K and e, s of the family:

    - `kda`: e = β k, s = β v, β = σ(W_b x).
    - `gated_deltanet2`: e = b ⊙ k, s = g ⊙ v, with gates b = σ(W_e x) for each row and g = σ(W_s x) for each column.

    For the range (-1, 1), β and b are twice that. The output norm's gate is σ of a projection of low rank.

    Args:
        config: a configuration of the family `kda` or `gated_deltanet2`.

    Source: arXiv 2510.26692 (KDA), arXiv 2605.22791 (Gated DeltaNet-2); flash-linear-attention 0.6, `KimiDeltaAttention`, `GatedDeltaNet2`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        heads, K, V = config.heads, config.head_dim, config.value_dim
        # in the first layer the decays belong to heads of values, in the second to heads of keys
        self.decay_heads = heads if config.family == "kda" else self.key_heads
        self.decay = LowRank(config.width, V, self.decay_heads * K)
        self.decays = HeadDecays(self.decay_heads, K)
        if config.family == "kda":
            self.beta = SeededLinear(config.width, heads)
        else:
            self.erase = SeededLinear(config.width, self.key_heads * K)
            self.write = SeededLinear(config.width, heads * V) if config.additive else None
        gate = LowRank(config.width, V, heads * V, bias=True)
        self.read_out = GatedReadOut(config, gate, "sigmoid")

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
        dtype = q.dtype
        o, final = rank_one_scan(
            fold_replicas(q), fold_replicas(w), fold_replicas(u).to(dtype), fold_replicas(z).to(dtype),
            None if v is None else fold_replicas(k).to(dtype), None if v is None else fold_replicas(v).to(dtype),
            fold_replicas(self.initial(x, state)), scale=1.0, output_final_state=True,
        )  # fmt: skip
        assert o is not None
        assert final is not None
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        y: Tensor = self.read_out(o.view(replicas, batch, *o.shape[1:]), x)
        return y, after

    def controls(
        self, x: Tensor, state: State, after: State
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None]:
        """The inputs of the recurrence, as `rank_one_scan` takes it.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for convolutions; empty at the start of a word.
            after: receives the state of the convolutions after the tokens.

        Returns:
            q, w, u, z, k `[R,B,T,H,K]` and v `[R,B,T,H,V]` or None.
        """
        config = self.config
        q, k, v = self.project(x, state, after)
        w = self.decays(split_heads(self.decay(x), self.decay_heads))[1]
        largest = 1 - config.range[0]
        if config.family == "kda":
            written = (largest * widen(self.beta(x)).sigmoid())[..., None] * k
            # (I - β k kᵀ) diag(w) = diag(w) - β k (w ⊙ k)ᵀ
            return q, w, -written, w * k, written, v
        w = self.share(w)
        erased = largest * self.share(widen(split_heads(self.erase(x), self.key_heads)).sigmoid()) * k
        if v is not None:
            assert self.write is not None
            v = widen(split_heads(self.write(x), config.heads)).sigmoid() * v
        # (I - k (b ⊙ k)ᵀ) diag(w) = diag(w) - k (w ⊙ b ⊙ k)ᵀ
        return q, w, -k, w * erased, k, v

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
        "kda",
        RowGatedDelta,
        "H ← (I - β k kᵀ) diag(w) H + β k vᵀ, wired as in flash-linear-attention",
        "real, of absolute value below 1: not negative, or at most one of them for the range (-1, 1)",
        WIRED_OPTIONS,
        ("sigmoid",),
        settings=WIRING,
        problems=wiring_problems,
        kept=count_keys,
        work=count_scan_work,
    ),
    Family(
        "gated_deltanet2",
        RowGatedDelta,
        "H ← (I - k (b ⊙ k)ᵀ) diag(w) H + k (g ⊙ v)ᵀ, with gates b of rows and g of columns",
        "real, of absolute value below 1: not negative, or at most one of them for the range (-1, 1)",
        WIRED_OPTIONS,
        ("sigmoid",),
        settings=WIRING,
        problems=wiring_problems,
        kept=count_keys,
        work=count_scan_work,
    ),
)
