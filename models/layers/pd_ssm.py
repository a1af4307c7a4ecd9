"""PD-SSM: a matrix with a single one in each column, chosen by the token, times a diagonal, in plain torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._config import ModelConfig
from .._families import Family
from ._own import run_recurrence
from ._seeded import (
    LINEAR_OPTIONS,
    InitialState,
    ReadOut,
    SeededLinear,
    ShortProjection,
    State,
    fold_replicas,
    make_value_projection,
    projection_to_decay,
    split_heads,
)

SETTINGS: Mapping[str, bool | int | float | str] = MappingProxyType({"dictionary": 8})


class PDSSM(nn.Module):
    """H ← P(x) diag(d) H + k vᵀ, o = qᵀ H: P has a one in each column, where a mixture of the dictionary's matrices is largest.

    The gradient of P is that of a softmax down the columns. d is in the range; the paper's d is complex, and this one is real. All states are
    computed at once by joining neighbouring tokens, so that a product of transitions is a matrix.

    Args:
        config: a configuration of the family `pd_ssm`; the option `dictionary` is the number of matrices of each head.

    Source: arXiv 2509.22284.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V, matrices = config.heads, config.head_dim, config.value_dim, _matrices(config)
        self.query = ShortProjection(config, heads * K, config.key_activation)
        self.key = ShortProjection(config, heads * K, config.key_activation)
        self.value = make_value_projection(config, heads * V)
        orders = torch.rand(heads, matrices, K).argsort(-1)
        # near permutations, so that no entry of the state is lost at the start
        near = 2 * F.one_hot(orders, K).float() + torch.randn(heads, matrices, K, K) / 2
        self.dictionary = nn.Parameter(near[None])
        self.choice = SeededLinear(config.width, heads * matrices)
        self.decay = SeededLinear(config.width, heads * K, bias=True)
        if config.strength != "direct":
            assert self.decay.bias is not None
            # near .95 (.9 in the range (-1, 1)), as the decays of other families
            self.decay.bias.data.fill_(3.0 if config.strength == "sigmoid" else 2.7)
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
        replicas, heads = x.shape[0], self.config.heads
        q = split_heads(self.query(x, state, "query", after), heads)
        k = split_heads(self.key(x, state, "key", after), heads)
        A, H = self._matrices(x), self.initial(x, state)
        dtype = torch.promote_types(A.dtype, H.dtype)
        B = None
        if self.value is not None:
            v = split_heads(self.value(x, state, "value", after), heads)
            B = fold_replicas((k[..., None] * v[..., None, :]).to(dtype))
        states = run_recurrence(fold_replicas(A.to(dtype)), B, fold_replicas(H.to(dtype)))
        states = states.view(replicas, -1, *states.shape[1:])
        after["H"] = states[:, :, -1] if x.shape[2] else H
        o = torch.einsum("rbthk,rbthkv->rbthv", q.to(dtype), states)
        y: Tensor = self.read_out(o.to(q.dtype), x)
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
        """The transition matrix P(x) diag(d) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since a transition depends on its token alone.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        return self._matrices(x).double()

    def _matrices(self, x: Tensor) -> Tensor:
        heads, K = self.config.heads, self.config.head_dim
        weights = split_heads(self.choice(x), heads).softmax(-1)
        mixture = torch.einsum("rbthm,rhmij->rbthij", weights, self.dictionary.to(weights.dtype))
        soft = mixture.softmax(-2)
        hard = F.one_hot(mixture.argmax(-2), K).mT.to(soft.dtype)
        # the difference is 0, and has the gradient of the softmax
        P = hard + (soft - soft.detach())
        d = split_heads(projection_to_decay(self.decay(x), self.config), heads)
        result: Tensor = P * d.to(P.dtype)[..., None, :]
        return result


def _matrices(config: ModelConfig) -> int:
    return int(config.options["dictionary"])


def _problems(config: ModelConfig) -> Iterator[str]:
    if _matrices(config) < 1:
        yield f"options.dictionary is {_matrices(config)}: at least 1 is needed"


def count_matrix_entries(config: ModelConfig) -> int:
    """A(x) of every head, which is written out for every token."""
    return config.heads * config.head_dim**2


def count_kept(config: ModelConfig, kernels: bool) -> int:
    """The softmax, P, A(x), the products of neighbours, which are as many again, and what is added and the states."""
    return config.heads * (4 * config.head_dim**2 + 2 * config.head_dim * config.value_dim)


def count_work(config: ModelConfig, tokens: int) -> float:
    """Operations of a token for each head: the mixture of the dictionary's matrices 2 m K², A H 2 K² V, k vᵀ and qᵀ H 2 K V each."""
    K, V = config.head_dim, config.value_dim
    return config.heads * (2 * _matrices(config) * K * K + 2 * K * K * V + 4 * K * V)


FAMILIES = (
    Family(
        "pd_ssm",
        PDSSM,
        "H ← P(x) diag(d) H + k vᵀ, P with a single one in each column",
        "0, and roots of products of entries of d, which are in the range: complex ones too",
        (*LINEAR_OPTIONS, "options"),
        ("sigmoid", "hard_sigmoid", "direct"),
        settings=SETTINGS,
        problems=_problems,
        written_out=count_matrix_entries,
        kept=count_kept,
        work=count_work,
    ),
)
