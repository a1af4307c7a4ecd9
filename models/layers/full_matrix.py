"""The reference layer: any matrix as a token's transition, token by token in plain torch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._config import ModelConfig
from .._families import Family
from ._seeded import (
    LINEAR_OPTIONS,
    InitialState,
    ReadOut,
    SeededLinear,
    ShortProjection,
    State,
    make_value_projection,
    split_heads,
)


class FullMatrix(nn.Module):
    """H ← A(x) H + k vᵀ, o = qᵀ H, with ‖A‖₂ ≤ 1; the range (0, 1) makes A symmetric positive semi-definite.

    A = M / max(1, √(‖M‖₁ ‖M‖_∞)), a bound of the spectral norm that needs no singular values; for the range (0, 1) M is N Nᵀ.
    `direct`: A = M, whatever its norm.

    Args:
        config: a configuration of the family `matrix`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.query = ShortProjection(config, heads * K, config.key_activation)
        self.key = ShortProjection(config, heads * K, config.key_activation)
        self.value = make_value_projection(config, heads * V)
        self.matrix = SeededLinear(config.width, heads * K * K, bias=True)
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
        config = self.config
        tokens = x.shape[2]
        q = split_heads(self.query(x, state, "query", after), config.heads)
        k = split_heads(self.key(x, state, "key", after), config.heads)
        A = self._matrices(x).to(q.dtype)
        H = self.initial(x, state)
        v = None
        if self.value is not None:
            v = split_heads(self.value(x, state, "value", after), config.heads)
        outputs = []
        for t in range(tokens):
            H = A[:, :, t] @ H.to(A.dtype)
            if v is not None:
                H = H + k[:, :, t, :, :, None] * v[:, :, t, :, None, :]
            outputs.append(torch.einsum("sbhk,sbhkv->sbhv", q[:, :, t], H))
        after["H"] = H
        y: Tensor = self.read_out(torch.stack(outputs, 2), x)
        return y, after

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return split_heads(self.query(x, {}, "query", {}), self.config.heads)

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix A(x) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since a transition depends on its token alone.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        return self._matrices(x).double()

    def _matrices(self, x: Tensor) -> Tensor:
        K = self.config.head_dim
        M: Tensor = split_heads(self.matrix(x), self.config.heads, K)
        if self.config.strength == "direct":
            return M
        if self.config.range == (0, 1):
            M = M @ M.mT
        size = M.abs()
        bound = (size.sum(-1).amax(-1) * size.sum(-2).amax(-1)).sqrt()
        return M / bound.clamp(min=1)[..., None, None]


def count_matrix_entries(config: ModelConfig, kernels: bool = False) -> int:
    """A(x) of every head, which is written out for every token, with kernels too."""
    return config.heads * config.head_dim**2


def count_work(config: ModelConfig, tokens: int) -> float:
    """Operations of a token for each head: A H 2 K² V, k vᵀ and qᵀ H 2 K V each; for the range (0, 1) N Nᵀ, 2 K³, unless A is M itself."""
    K, V = config.head_dim, config.value_dim
    square = 2 * K**3 if config.range == (0, 1) and config.strength != "direct" else 0
    return config.heads * (2 * K * K * V + 4 * K * V + square)


FAMILIES = (
    Family(
        "matrix",
        FullMatrix,
        "H ← A(x) H + k vᵀ with any matrix of norm at most 1",
        "any of absolute value at most 1; for the range (0, 1) real, from 0 to 1",
        LINEAR_OPTIONS,
        written_out=count_matrix_entries,
        kept=count_matrix_entries,
        work=count_work,
    ),
)
