"""The mixer of FLA's `DeltaNet` and `GatedDeltaProduct` layers, on our kernel for products of factors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ....kernels import delta_product
from ..._config import ModelConfig
from ...layers._seeded import (
    InitialState,
    SeededLinear,
    ShortProjection,
    State,
    fold_replicas,
    split_heads,
)
from ...layers._wiring import GatedReadOut, HeadDecays, unit_vectors, widen
from ...layers.delta_product import multiply_factors


class FactorMixer(nn.Module):
    """H ← α H, then H ← (I - β_j k_j k_jᵀ) H + β_j k_j v_jᵀ for j = 1, ..., n_h; o = qᵀ H / √K, with α = exp(-exp(A) softplus(W_a x + b)).

    Queries, keys and values go through a short convolution, if there is one, and SiLU (queries and keys also through another function or
    none). Queries and keys are divided by √(‖·‖² + ε), or by the sum of their absolute values.

    Args:
        config: a configuration of the family `fla_delta_net` or `fla_gated_deltaproduct`.

    Source: flash-linear-attention 0.6, `DeltaNet` and `GatedDeltaProduct`; arXiv 2406.06484, 2502.10297.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        product = config.family == "fla_gated_deltaproduct"
        self.count = factors = config.householders if product else 1
        gated = product and config.gated
        self.activation = str(config.options.get("activation", "silu"))
        silu = self.activation == "silu"
        self.query = ShortProjection(config, heads * K, "silu" if silu else "none")
        self.key = ShortProjection(config, factors * heads * K, "silu" if silu else "none")
        self.value = ShortProjection(config, factors * heads * V, "silu")
        self.beta = (
            SeededLinear(config.width, factors * heads) if config.options.get("use_beta", True) else None
        )
        self.decay = SeededLinear(config.width, heads) if gated else None
        self.decays = HeadDecays(heads) if gated else None
        self.initial = InitialState(config, heads, K, V)
        gate = SeededLinear(config.width, heads * V) if config.output_gate else None
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
        q, k, v, beta, alpha = self.controls(x, state, after)
        o, final = delta_product(
            fold_replicas(q).to(v.dtype), fold_replicas(k).flatten(1, 2).to(v.dtype), fold_replicas(v).flatten(1, 2),
            fold_replicas(beta).flatten(1, 2), a=None if alpha is None else fold_replicas(alpha),
            householders=self.count, initial_state=fold_replicas(self.initial(x, state)),
            output_final_state=True, scale=1.0,
        )  # fmt: skip
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        y: Tensor = self.read_out(o.view(replicas, batch, *o.shape[1:]), x)
        return y, after

    def controls(
        self, x: Tensor, state: State, after: State
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:
        """The inputs of the recurrence.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for convolutions; empty at the start of a word.
            after: receives the state of the convolutions after the tokens.

        Returns:
            q `[R,B,T,H,K]` (over √K), k `[R,B,T,n_h,H,K]`, v `[R,B,T,n_h,H,V]`, β `[R,B,T,n_h,H]`, and the gate `[R,B,T,H]` or None.
        """
        heads, factors = self.config.heads, self.count
        q = self._normed(split_heads(self.query(x, state, "query", after), heads))
        k = self._normed(split_heads(self.key(x, state, "key", after), factors, heads))
        v = split_heads(self.value(x, state, "value", after), factors, heads)
        if self.beta is None:
            beta = torch.ones_like(widen(k[..., 0]))
        else:
            beta = widen(self.beta(x)).sigmoid().reshape(*x.shape[:3], factors, heads)
        alpha = None
        if self.decay is not None and self.decays is not None:
            alpha = self.decays(self.decay(x)[..., None])[1][..., 0]
        return q * self.config.head_dim**-0.5, k, v, beta * (1 - self.config.range[0]), alpha

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix A(x) of each token, which is the product of its factors and the gate.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        return multiply_factors(*self.factors(x, state))

    def factors(self, x: Tensor, state: State | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """The factors whose products `transitions` returns.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            β `[R,B,T,n_h,H]`, keys `[R,B,T,n_h,H,K]`, gates `[R,B,T,H]`.
        """
        _, k, _, beta, alpha = self.controls(x, state or {}, {})
        return beta, k, torch.ones_like(beta[:, :, :, 0]) if alpha is None else alpha

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self.controls(x, {}, {})[0]

    def _normed(self, y: Tensor) -> Tensor:
        """Queries or keys as the recurrence takes them."""
        if self.activation == "relu":
            y = F.relu(y)
        elif self.activation == "elu":
            y = F.elu(y) + 1
        if self.config.options.get("key_norm", "l2") == "sum":
            return F.normalize(y, p=1.0, dim=-1, eps=1e-6)
        return unit_vectors(y, float(self.config.options["key_eps"]))
