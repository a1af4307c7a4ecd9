"""Gated DeltaNet with the wiring of flash-linear-attention: `deltaproduct` with `gated` has the same recurrence."""

from __future__ import annotations

import torch
from torch import Tensor

from ...kernels import delta_product
from .._config import ModelConfig
from .._families import Family
from ._seeded import SeededLinear, State, count_factor_work, fold_replicas
from ._wiring import (
    WIRED_OPTIONS,
    WIRING,
    GatedReadOut,
    HeadDecays,
    KeyValueMixer,
    count_keys,
    widen,
    wiring_problems,
)


class GatedDeltaNet(KeyValueMixer):
    """H ← α (I - β k kᵀ) H + β k vᵀ, o = qᵀ H / √K, with α = exp(-exp(A) softplus(W_a x + b)) and β = σ(W_b x), or twice it.

    With one factor and `gated`, `deltaproduct` is the same recurrence: the gate multiplies the state before the factor. What
    differs is around it: here values go through SiLU without a convolution too, queries are divided by √K, the output norm has one
    weight for all heads and its gate follows the norm.

    Args:
        config: a configuration of the family `gated_deltanet`.

    Source: arXiv 2412.06464; flash-linear-attention 0.6, `GatedDeltaNet`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.beta = SeededLinear(config.width, config.heads)
        self.decay = SeededLinear(config.width, config.heads)
        self.decays = HeadDecays(config.heads)
        gate = SeededLinear(config.width, config.heads * config.value_dim) if config.output_gate else None
        self.read_out = GatedReadOut(config, gate, "silu")

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
        q, k, v = self.project(x, state, after)
        beta, alpha = self._gates(x)
        if v is None:
            v = k.new_zeros(*k.shape[:-1], self.config.value_dim)
        o, final = delta_product(
            fold_replicas(q).to(v.dtype), fold_replicas(k).to(v.dtype), fold_replicas(v), fold_replicas(beta),
            a=fold_replicas(alpha), initial_state=fold_replicas(self.initial(x, state)), output_final_state=True, scale=1.0,
        )  # fmt: skip
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        y: Tensor = self.read_out(o.view(replicas, batch, *o.shape[1:]), x)
        return y, after

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix α (I - β k kᵀ) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        beta, k, alpha = (y.double() for y in self.factors(x, state))
        b, key = beta[:, :, :, 0, :, None, None], k[:, :, :, 0]
        eye = torch.eye(key.shape[-1], dtype=torch.float64, device=key.device)
        return alpha[..., None, None] * (eye - b * key[..., None] * key[..., None, :])

    def factors(self, x: Tensor, state: State | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """The factor and the gate of each token, whose product `transitions` returns.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            β `[R,B,T,1,H]`, keys `[R,B,T,1,H,K]`, gates `[R,B,T,H]`.
        """
        _, k, _ = self.project(x, state or {}, {})
        beta, alpha = self._gates(x)
        return beta[:, :, :, None], k[:, :, :, None], alpha

    def _gates(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """β and α, `[R,B,T,H]`."""
        beta = (1 - self.config.range[0]) * widen(self.beta(x)).sigmoid()
        return beta, self.decays(self.decay(x)[..., None])[1][..., 0]


FAMILIES = (
    Family(
        "gated_deltanet",
        GatedDeltaNet,
        "H ← α (I - β k kᵀ) H + β k vᵀ, wired as in flash-linear-attention",
        "α and α (1 - β), real: in (0, 1), or in (-1, 1) for the range (-1, 1)",
        (*WIRED_OPTIONS, "output_gate"),
        ("sigmoid",),
        settings=WIRING,
        problems=wiring_problems,
        kept=count_keys,
        work=count_factor_work,
    ),
)
