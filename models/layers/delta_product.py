"""DeltaProduct layers: n_h generalized Householder factors per token; DeltaNet with one; gated or not."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...kernels import delta_product, l2_normalise
from .._config import ModelConfig
from .._families import Family
from ._seeded import (
    LINEAR_OPTIONS,
    InitialState,
    ReadOut,
    SeededLinear,
    ShortProjection,
    State,
    count_factor_work,
    count_key_values,
    fold_replicas,
    projection_to_beta,
    projection_to_fraction,
    split_heads,
    state_problems,
)


class DeltaProduct(nn.Module):
    """H ← gate·H, then H ← (I - β_j k_j k_jᵀ) H + β_j k_j v_jᵀ for j = 1, ..., n_h; o = qᵀ H.

    Args:
        config: a configuration of the family `deltaproduct`.

    Source: arXiv 2502.10297; with one factor arXiv 2406.06484, gated arXiv 2412.06464.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V, factors = config.heads, config.head_dim, config.value_dim, config.householders
        self.late_silu = config.key_norm and config.key_activation == "silu"
        activation = "none" if self.late_silu else config.key_activation  # one pass over memory fewer
        self.query = ShortProjection(config, heads * K, activation)
        self.key = ShortProjection(config, factors * heads * K, activation)
        self.value = ShortProjection(config, factors * heads * V, "silu") if config.additive else None
        if self.value is not None and config.strength == "direct":
            self.value.activation = "none"
        self.beta = SeededLinear(config.width, factors * heads)
        self.decay = SeededLinear(config.width, heads, bias=True) if config.gated else None
        if self.decay is not None and config.strength != "direct":
            rate = torch.empty(1, heads).uniform_(1, 16)
            steps = torch.exp(torch.empty(heads).uniform_(math.log(1e-3), math.log(1e-1)))
            assert self.decay.bias is not None
            if config.strength == "sigmoid":
                self.rate = nn.Parameter(rate.log())
                self.decay.bias.data[0] = steps + torch.log(-torch.expm1(-steps))  # softplus gives the steps
            else:
                self.decay.bias.data = 6 * torch.exp(-rate * steps) - 3  # gates begin as with the other form
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
        q, k, v, beta, a = self.controls(x, state, after)
        o, final = delta_product(
            fold_replicas(q).to(v.dtype),
            fold_replicas(k).flatten(1, 2).to(v.dtype),
            fold_replicas(v).flatten(1, 2),
            fold_replicas(beta).flatten(1, 2),
            a=None if a is None else fold_replicas(a),
            householders=self.config.householders,
            initial_state=fold_replicas(self.initial(x, state)),
            output_final_state=True,
            scale=1.0,
        )
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
            q `[R,B,T,H,K]`, k `[R,B,T,n_h,H,K]`, v `[R,B,T,n_h,H,V]`, β `[R,B,T,n_h,H]`, and the gate `[R,B,T,H]` or None.
        """
        heads, factors = self.config.heads, self.config.householders
        q = split_heads(self.query(x, state, "query", after), heads)
        k = split_heads(self.key(x, state, "key", after), factors, heads)
        if self.value is None:
            v = k.new_zeros(*k.shape[:-1], self.config.value_dim)
        else:
            v = split_heads(self.value(x, state, "value", after), factors, heads)
        if self.config.key_norm:
            q, k = (l2_normalise(x, silu=self.late_silu) for x in (q, k))
        beta = projection_to_beta(self.beta(x), self.config).reshape(*x.shape[:3], factors, heads)
        return q, k, v, beta, self._gate(x)

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix A(x) of each token, which is the product of its factors.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        return multiply_factors(*self.factors(x, state))

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self.controls(x, {}, {})[0]

    def factors(self, x: Tensor, state: State | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """The factors whose products `transitions` returns.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            β `[R,B,T,n_h,H]`, keys `[R,B,T,n_h,H,K]`, gates `[R,B,T,H]`.
        """
        _, k, _, beta, a = self.controls(x, state or {}, {})
        return beta, k, torch.ones_like(beta[:, :, :, 0]) if a is None else a

    def _gate(self, x: Tensor) -> Tensor | None:
        if self.decay is None:
            return None
        z: Tensor = self.decay(x).float()
        if self.config.strength == "direct":
            return z
        if self.config.strength == "hard_sigmoid":
            return projection_to_fraction(z, self.config)
        return torch.exp(-self.rate[:, None, None].exp() * F.softplus(z))


def multiply_factors(beta: Tensor, keys: Tensor, gate: Tensor) -> Tensor:
    """The products (I - β_n k_n k_nᵀ) ... (I - β_1 k_1 k_1ᵀ) · gate of β `[R,B,T,n_h,H]`, keys `[R,B,T,n_h,H,K]` and gates `[R,B,T,H]`.

    The result is `[R,B,T,H,K,K]`, in float64.
    """
    beta, keys = beta.double(), keys.double()
    eye = torch.eye(keys.shape[-1], dtype=torch.float64, device=keys.device)
    A = gate.double()[..., None, None] * eye
    for j in range(keys.shape[3]):
        key = keys[:, :, :, j]
        read = torch.einsum("...i,...ij->...j", key, A)
        A = A - (beta[:, :, :, j, :, None] * key)[..., None] * read[..., None, :]
    return A


FAMILIES = (
    Family(
        "deltaproduct",
        DeltaProduct,
        "H ← g (Π_j (I - β_j k_j k_jᵀ)) H + what the factors write",
        "of a factor 1 - β‖k‖², in the range; of a product of n_h factors any of a norm of at most 1",
        (*LINEAR_OPTIONS, "key_norm", "householders", "gated"),
        ("sigmoid", "hard_sigmoid", "direct"),
        example={"householders": 2, "gated": True},
        problems=state_problems,
        kept=count_key_values,
        work=count_factor_work,
    ),
)
