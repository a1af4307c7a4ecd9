"""FLA's RWKV-7: our layer `rwkv7` in blocks with LayerNorms, and MLPs with a token shift and squared ReLU."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ....foundation._errors import InputError
from ..._config import ModelConfig
from ..._families import Family
from ...layers._seeded import ReadsBefore, SeededLinear, State, count_scan_work
from ...layers._wiring import widen
from ...layers.rwkv7 import RANKS, RWKV7, SETTINGS, count_kept, low_ranks, rwkv7_problems
from .._layer import (
    EPS,
    KEY_EPS,
    LAYERS,
    POSITIVE,
    SWITCH,
    WHOLE,
    Entries,
    FlaLayer,
    Group,
    Kind,
    Stream,
    check_stream,
    one_of,
    or_null,
    same,
)


class SeededLayerNorm(nn.Module):
    """(x - mean) / √(variance + ε) ⊙ w + b along the last dimension, for each seed; w and b `[replicas, width]`.

    Args:
        width: entries of x, at least 1.
        eps: ε, at least 0.
    """

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, width))
        self.bias = nn.Parameter(torch.zeros(1, width))
        self.eps = eps

    def forward(self, x: Tensor, *, cast: bool = True) -> Tensor:
        """`[replicas, batch, tokens, width]` in its dtype, or the one that autocast gives to linear maps if it is to be cast."""
        wide = widen(x)
        y = F.layer_norm(wide, wide.shape[-1:], eps=self.eps)
        y = y * self.weight[:, None, None] + self.bias[:, None, None]
        narrow = cast and torch.is_autocast_enabled(x.device.type)
        return y.to(torch.get_autocast_dtype(x.device.type) if narrow else x.dtype)


class ShiftedMLP(ReadsBefore):
    """x_t ↦ W max(0, U (x_t + μ ⊙ (x_{t-1} - x_t)))², with zeros before the first token.

    Args:
        width: entries of x, at least 1.
        hidden: rows of U, at least 1.

    Source: arXiv 2503.14456; flash-linear-attention 0.6, `RWKV7FeedForward`.
    """

    KEPT: Final = "mlp_shift"

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.mix = nn.Parameter(1 - torch.arange(width)[None] / width)
        self.input = SeededLinear(width, hidden)
        self.output = SeededLinear(hidden, width)

    def begin(self, x: Tensor) -> State:
        """A token of zeros before x, `[replicas, batch, tokens, width]`."""
        return State({self.KEPT: x.new_zeros(*x.shape[:2], 1, x.shape[3])})

    def forward(self, x: Tensor, state: State, after: State) -> Tensor:
        """Apply the map to every token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; empty at the start of a word.
            after: receives the last token.

        Returns:
            A tensor of the shape of x.
        """
        before = state.get(self.KEPT)
        before = self.begin(x)[self.KEPT] if before is None else before.to(x.dtype)
        whole = torch.cat([before, x], 2)
        after[self.KEPT] = whole[:, :, -1:]
        mixed = x + (whole[:, :, :-1] - x) * self.mix[:, None, None].to(x.dtype)
        y: Tensor = self.output(F.relu(self.input(mixed)).square())
        return y


FAMILIES = (
    Family(
        "fla_rwkv7",
        RWKV7,
        "the layers of rwkv7 in blocks with LayerNorms and MLPs of squared ReLU, as in flash-linear-attention",
        "real, negative ones too: the matrix is similar to diag(w) less a symmetric one of rank one",
        ("heads", "head_dim", "value_dim", "range", "additive", "initial", "options"),
        ("sigmoid",),
        looks_back=True,
        settings={**SETTINGS, "key_eps": KEY_EPS},
        problems=rwkv7_problems,
        kept=count_kept,
        work=count_scan_work,
        norm=SeededLayerNorm,
        mlp=ShiftedMLP,
        embedding_norm=True,
    ),
)
_ENTRIES: Final = ("decay_low_rank_dim", "a_low_rank_dim", "gate_low_rank_dim", "v_low_rank_dim")
"""FLA's names of `RANKS`."""


def _to_model(e: Entries) -> dict[str, Any]:
    D, K, heads, layers = e["hidden_size"], e["head_dim"], e["num_heads"], e["num_hidden_layers"]
    if K is None and heads is None:
        raise InputError("head_dim and num_heads are both null: one of them is needed")
    K = D // heads if K is None else K
    if D % K or heads not in (None, D // K):
        raise InputError(f"hidden_size {D} must be num_heads {heads or 'and'} times head_dim {K}")
    values = e["value_dim"]
    if values not in (None, D, [D] * layers):
        raise InputError(
            f"value_dim is {values}; read is hidden_size {D}, for all {layers} layers: FLA's own class makes no other"
        )
    hidden = e["intermediate_size"]
    if hidden is None:  # the ratio, up to a multiple of 32
        hidden = 32 * -(-int(D * (e["hidden_ratio"] or 4)) // 32)
    eps = float(e["norm_eps"])
    ranks = {ours: e[theirs] or 0 for ours, theirs in zip(RANKS, _ENTRIES, strict=True)}
    return {
        "letters": e["vocab_size"], "classes": e["vocab_size"], "width": D, "layers": layers, "norm_eps": eps,
        "tied": e["tie_word_embeddings"], "head_bias": False, "mlp": hidden / D, "heads": D // K, "head_dim": K,
        "value_dim": K, "range": (0, 1),
        # with FLA's own norms, which are kernels, it also has another one for κ
        "options": {**ranks, "norm_eps": eps, "key_eps": KEY_EPS if e["fuse_norm"] else 0.0},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    check_stream(config, {"range": ((0, 1), "FLA's layer knows no other")})
    D, K = config.width, config.head_dim
    if config.heads * K != D or config.value_dim != K:
        raise InputError(
            f"model: heads {config.heads} times head_dim {K}, and times value_dim {config.value_dim}, must be width {D}, as in FLA's layer"
        )
    if config.layers == 1 or K == 1:  # its first weights would be divided by 0
        raise InputError(
            f"model: layers {config.layers}, head_dim {K}; FLA's class of this type can only be made with at least 2 of both"
        )
    if not round(config.mlp * D):
        raise InputError("model: mlp is 0; FLA's blocks have an MLP")
    if config.options["key_eps"] not in (0, KEY_EPS):
        raise InputError(
            f"model: options.key_eps is {config.options['key_eps']}; FLA's model of this type has {KEY_EPS} or 0 there"
        )
    if config.options["norm_eps"] != config.norm_eps:
        raise InputError(
            f"model: options.norm_eps is {config.options['norm_eps']}; FLA's model of this type has norm_eps {config.norm_eps} there"
        )
    ranks = {theirs: config.options[ours] or None for ours, theirs in zip(RANKS, _ENTRIES, strict=True)}
    return {
        "hidden_size": D, "num_hidden_layers": config.layers, "vocab_size": config.classes, "norm_eps": config.norm_eps,
        "tie_word_embeddings": config.tied, "hidden_act": "sqrelu", "hidden_ratio": 4,
        "intermediate_size": round(config.mlp * D), "head_dim": config.head_dim, "num_heads": config.heads,
        "value_dim": [D] * config.layers, **ranks, "norm_first": True, "norm_bias": True, "attn": None,
        "fuse_norm": config.options["key_eps"] != 0,
    }  # fmt: skip


def _low_rank(
    config: ModelConfig, theirs: str, ours: str, rank: int, outputs: int, bias: bool = True
) -> list[Group]:
    groups = [
        same(f"{theirs}.lora.0.weight", (rank, config.width), f"{ours}.down.weight"),
        same(f"{theirs}.lora.2.weight", (outputs, rank), f"{ours}.up.weight"),
    ]
    return [*groups, same(f"{theirs}.lora.2.bias", (outputs,), f"{ours}.up.bias")] if bias else groups


def _mixer(config: ModelConfig) -> list[Group]:
    D, heads, keys, values = (
        config.width,
        config.heads,
        config.heads * config.head_dim,
        config.heads * config.value_dim,
    )
    decay, rate, gate, _ = low_ranks(config)
    mixed = {"r": "query", "w": "decay", "k": "key", "v": "value", "a": "rate", "g": "gate"}
    return [
        *(same(f"x_{theirs}", (1, 1, D), f"mix.{ours}") for theirs, ours in mixed.items()),
        same("k_k", (keys,), "removal"),
        same("k_a", (keys,), "mixing"),
        same("r_k", (heads, config.head_dim), "bonus"),
        same("r_proj.weight", (keys, D), "query.weight"),
        same("k_proj.weight", (keys, D), "key.weight"),
        same("v_proj.weight", (values, D), "value.weight"),
        same("o_proj.weight", (D, values), "output.weight"),
        *_low_rank(config, "w_lora", "decay", decay, keys),
        *_low_rank(config, "a_lora", "rate", rate, keys),
        *_low_rank(config, "g_lora", "gate", gate, values, bias=False),
        same("g_norm.weight", (values,), "norm_weight"),
        same("g_norm.bias", (values,), "norm_bias"),
    ]


def _later(config: ModelConfig) -> list[Group]:
    """How far values are mixed with those of the first layer."""
    return _low_rank(config, "v_lora", "value_mixture", low_ranks(config)[3], config.heads * config.value_dim)


def _mlp(D: int, hidden: int) -> list[Group]:
    return [
        same("ffn.x_k", (D,), "mlp.mix"),
        same("ffn.key.weight", (hidden, D), "mlp.input.weight"),
        same("ffn.value.weight", (D, hidden), "mlp.output.weight"),
    ]


_VALUES: Final = Kind(
    "null, a whole number from 1, or one for each layer", lambda x: x is None or WHOLE.fits(x) or _is_list(x)
)


def _is_list(x: Any) -> bool:
    return isinstance(x, list) and bool(x) and all(map(WHOLE.fits, x))


LAYER = FlaLayer(
    "rwkv7",
    "RWKV7ForCausalLM",
    {
        "hidden_size": (2048, WHOLE), "num_hidden_layers": (24, LAYERS), "vocab_size": (32000, WHOLE), "norm_eps": (1e-5, EPS),
        "tie_word_embeddings": (False, SWITCH), "hidden_act": ("sqrelu", one_of("sqrelu")), "hidden_ratio": (4, or_null(POSITIVE)),
        "intermediate_size": (None, or_null(WHOLE)), "head_dim": (64, or_null(WHOLE)), "num_heads": (None, or_null(WHOLE)),
        "value_dim": (None, _VALUES), "decay_low_rank_dim": (64, or_null(WHOLE)), "gate_low_rank_dim": (128, or_null(WHOLE)),
        "a_low_rank_dim": (64, or_null(WHOLE)), "v_low_rank_dim": (16, or_null(WHOLE)), "norm_first": (True, one_of(True)),
        "norm_bias": (True, one_of(True)), "fuse_norm": (True, SWITCH), "attn": (None, one_of(None)),
    },
    "fla_rwkv7",
    _to_model,
    _to_entries,
    _mixer,
    Stream(mlp=_mlp, mlp_norm="ffn_norm", embedding_norm="pre_norm", biases=True),
    later=_later,
)  # fmt: skip
