"""FLA's gated linear attention: decays σ(z)^(1/16), of z of low rank; keys are not normed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ....kernels import rank_one_scan
from ..._config import ModelConfig
from ..._families import Family
from ...layers._seeded import (
    InitialState,
    SeededLinear,
    ShortProjection,
    State,
    count_diagonal_work,
    count_key_values,
    fold_replicas,
    split_heads,
    state_problems,
)
from ...layers._wiring import GatedReadOut, LowRank, widen
from .._layer import (
    POSITIVE,
    STREAM_ENTRIES,
    SWITCH,
    WHOLE,
    Entries,
    FlaLayer,
    Group,
    by_heads,
    common_groups,
    one_of,
    or_null,
    same,
    stream_to_entries,
    stream_to_model,
    whole_ratio,
)
from .._sizes import ratio_of

RANK: Final = 16
"""The rank of what makes the decays; FLA's models do not set another."""
ROOT: Final = 16.0
"""A decay is the 16th root of σ(z)."""


class WiredGla(nn.Module):
    """H ← diag(w) H + k vᵀ, o = qᵀ H / √K, with w = σ(W₂ W₁ x + b)^(1/16); neighbouring heads may share w, k and v.

    Args:
        config: a configuration of the family `fla_gla`.

    Source: flash-linear-attention 0.6, `GatedLinearAttention`; arXiv 2312.06635.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.key_heads = int(config.options["key_heads"]) or heads
        activation: Any = "silu" if config.conv else "none"
        self.query = ShortProjection(config, heads * K, activation)
        self.key = ShortProjection(config, self.key_heads * K, activation)
        self.value = ShortProjection(config, self.key_heads * V, activation)
        self.decay = LowRank(config.width, RANK, self.key_heads * K, bias=True)
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
        q, w, k, v = self.controls(x, state, after)
        w = w.to(q.dtype)
        nothing = torch.zeros_like(w)
        o, final = rank_one_scan(
            fold_replicas(q), fold_replicas(w), fold_replicas(nothing), fold_replicas(nothing), fold_replicas(k),
            fold_replicas(v), fold_replicas(self.initial(x, state)), scale=1.0, output_final_state=True,
        )  # fmt: skip
        assert o is not None
        assert final is not None
        after["H"] = final.view(replicas, batch, *final.shape[1:])
        y: Tensor = self.read_out(o.view(replicas, batch, *o.shape[1:]), x)
        return y, after

    def controls(self, x: Tensor, state: State, after: State) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The inputs of the recurrence.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens, for convolutions; empty at the start of a word.
            after: receives the state of the convolutions after the tokens.

        Returns:
            q (over √K), w, k `[R,B,T,H,K]` and v `[R,B,T,H,V]`.
        """
        config = self.config
        q = split_heads(self.query(x, state, "query", after), config.heads) * config.head_dim**-0.5
        k = self._share(self.key(x, state, "key", after))
        v = self._share(self.value(x, state, "value", after))
        return q, self._decays(x), k, v

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """The transition matrix diag(w) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since decays depend on their token alone.

        Returns:
            `[replicas, batch, tokens, heads, K, K]`, in float64.
        """
        return torch.diag_embed(self._decays(x).double())

    def queries(self, x: Tensor) -> Tensor:
        """The queries of tokens. They depend on no other tokens, so there must be no convolution.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            `[replicas, batch, tokens, heads, K]`.
        """
        return self.controls(x, {}, {})[0]

    def _decays(self, x: Tensor) -> Tensor:
        return torch.exp(F.logsigmoid(widen(self._share(self.decay(x)))) / ROOT)

    def _share(self, y: Tensor) -> Tensor:
        """By heads, where neighbouring ones share keys, values and decays."""
        heads = split_heads(y, self.key_heads)
        group = self.config.heads // self.key_heads
        return heads if group == 1 else heads.repeat_interleave(group, -2)


def _problems(config: ModelConfig) -> Iterator[str]:
    yield from state_problems(config)
    shared = config.options["key_heads"]
    assert isinstance(shared, int)
    if shared < 0 or (shared and config.heads % shared):
        yield f"options.key_heads is {shared}: it must divide heads, which is {config.heads}; 0 for as many"
    if not 0 <= float(config.options["norm_eps"]) < 1:
        yield f"options.norm_eps is {config.options['norm_eps']}: a number from 0, below 1, is needed"


FAMILIES = (
    Family(
        "fla_gla",
        WiredGla,
        "H ← diag(w) H + k vᵀ, wired as in flash-linear-attention",
        "the entries of w = σ(z)^(1/16), in (0, 1)",
        ("heads", "head_dim", "value_dim", "conv", "output_gate", "output_norm", "initial", "options"),
        ("sigmoid",),
        settings={"key_heads": 0, "norm_eps": 1e-6},
        example={"range": (0, 1)},
        problems=_problems,
        kept=count_key_values,
        work=count_diagonal_work,
    ),
)


def _to_model(e: Entries) -> dict[str, Any]:
    return stream_to_model(e) | {
        "heads": e["num_heads"], "head_dim": by_heads(e, "keys", whole_ratio(e, "hidden_size", "expand_k")),
        "value_dim": by_heads(e, "values", whole_ratio(e, "hidden_size", "expand_v")), "output_gate": e["use_output_gate"],
        "range": (0, 1), "options": {"key_heads": e["num_kv_heads"] or e["num_heads"], "norm_eps": float(e["norm_eps"])},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    return stream_to_entries(config) | {
        "num_heads": config.heads, "num_kv_heads": config.options["key_heads"] or config.heads,
        "expand_k": ratio_of(config.heads * config.head_dim, config.width), "expand_v": ratio_of(config.heads * config.value_dim, config.width),
        "use_output_gate": config.output_gate, "use_gk": True, "use_gv": False, "feature_map": None, "clamp_min": None,
        "elementwise_affine": True, "fuse_norm": True,
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    D, K, V = config.width, config.head_dim, config.value_dim
    shared = int(config.options["key_heads"]) or config.heads
    channels = {"q": config.heads * K, "k": shared * K, "v": shared * V}
    norm = "g_norm_swish_gate" if config.output_gate else "g_norm"
    return [
        *common_groups(config, channels, gate=config.output_gate, norm=norm),
        same("gk_proj.0.weight", (RANK, D), "decay.down.weight"),
        same("gk_proj.1.weight", (shared * K, RANK), "decay.up.weight"),
        same("gk_proj.1.bias", (shared * K,), "decay.up.bias"),
    ]


LAYER = FlaLayer(
    "gla",
    "GLAForCausalLM",
    {
        **STREAM_ENTRIES, "num_heads": (4, WHOLE), "num_kv_heads": (None, or_null(WHOLE)), "expand_k": (0.5, POSITIVE),
        "expand_v": (1.0, POSITIVE), "use_short_conv": (False, SWITCH), "use_output_gate": (True, SWITCH),
        "feature_map": (None, one_of(None)), "clamp_min": (None, one_of(None)), "elementwise_affine": (True, one_of(True)),
        "fuse_norm": (True, one_of(True)),  # without it FLA's norm has another name
    },
    "fla_gla",
    _to_model,
    _to_entries,
    _mixer,
    ignored=frozenset({"use_gk", "use_gv"}),  # FLA's model does not look at them
)  # fmt: skip
