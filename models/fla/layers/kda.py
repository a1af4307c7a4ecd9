"""FLA's Kimi Delta Attention, as our family `kda`."""

from __future__ import annotations

from typing import Any

from ..._config import ModelConfig
from .._layer import (
    KEY_EPS,
    POSITIVE,
    STREAM_ENTRIES,
    SWITCH,
    WHOLE,
    Entries,
    FlaLayer,
    Group,
    common_groups,
    one_of,
    or_null,
    refuse_unless,
    same,
    stream_to_entries,
    stream_to_model,
    whole_ratio,
)
from .._sizes import ratio_of


def _to_model(e: Entries) -> dict[str, Any]:
    return stream_to_model(e) | {
        "heads": e["num_v_heads"] or e["num_heads"], "head_dim": e["head_dim"],
        "value_dim": whole_ratio(e, "head_dim", "expand_v"), "range": (-1, 1) if e["allow_neg_eigval"] else (0, 1),
        "options": {"key_heads": e["num_heads"], "key_eps": KEY_EPS, "norm_eps": float(e["norm_eps"])},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    refuse_unless(config, {"key_activation": ("silu", "FLA's layer has no other")})
    return stream_to_entries(config) | {
        "num_heads": config.options["key_heads"] or config.heads, "num_v_heads": config.heads, "head_dim": config.head_dim,
        "expand_v": ratio_of(config.value_dim, config.head_dim), "safe_gate": False, "lower_bound": None,
        "allow_neg_eigval": config.range == (-1, 1),
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    D, heads, K, V = config.width, config.heads, config.head_dim, config.value_dim
    keys, values = (int(config.options["key_heads"]) or heads) * K, heads * V
    return [
        *common_groups(config, {"q": keys, "k": keys, "v": values}, gate=False),
        same("b_proj.weight", (heads, D), "beta.weight"),
        same("f_proj.0.weight", (V, D), "decay.down.weight"),
        same("f_proj.1.weight", (heads * K, V), "decay.up.weight"),
        same("A_log", (heads,), "decays.rate"),
        same("dt_bias", (heads * K,), "decays.bias"),
        same("g_proj.0.weight", (V, D), "read_out.gate.down.weight"),
        same("g_proj.1.weight", (values, V), "read_out.gate.up.weight"),
        same("g_proj.1.bias", (values,), "read_out.gate.up.bias"),
    ]


LAYER = FlaLayer(
    "kda",
    "KDAForCausalLM",
    {
        **STREAM_ENTRIES, "num_heads": (16, WHOLE), "num_v_heads": (None, or_null(WHOLE)), "head_dim": (128, WHOLE),
        "expand_v": (1.0, POSITIVE), "use_short_conv": (True, SWITCH), "allow_neg_eigval": (False, SWITCH),
        "safe_gate": (False, one_of(False)), "lower_bound": (None, one_of(None)),
    },
    "kda",
    _to_model,
    _to_entries,
    _mixer,
)  # fmt: skip
