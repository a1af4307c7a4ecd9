"""FLA's GatedDeltaNet, as our family `gated_deltanet`."""

from __future__ import annotations

from typing import Any

from ..._config import ModelConfig
from .._layer import (
    KEY_EPS,
    LAYERS,
    POSITIVE,
    STREAM_ENTRIES,
    SWITCH,
    WHOLE,
    Entries,
    FlaLayer,
    Group,
    common_groups,
    decay_groups,
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
        "value_dim": whole_ratio(e, "head_dim", "expand_v"), "output_gate": e["use_gate"],
        "range": (-1, 1) if e["allow_neg_eigval"] else (0, 1),
        "options": {"key_heads": e["num_heads"], "key_eps": KEY_EPS, "norm_eps": float(e["norm_eps"])},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    refuse_unless(config, {"key_activation": ("silu", "FLA's layer has no other")})
    return stream_to_entries(config) | {
        "num_heads": config.options["key_heads"] or config.heads, "num_v_heads": config.heads, "head_dim": config.head_dim,
        "expand_v": ratio_of(config.value_dim, config.head_dim), "use_gate": config.output_gate, "output_gate_activation": "swish",
        "allow_neg_eigval": config.range == (-1, 1),
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    heads = config.heads
    keys = (int(config.options["key_heads"]) or heads) * config.head_dim
    channels = {"q": keys, "k": keys, "v": heads * config.value_dim}
    return [
        *common_groups(config, channels, gate=config.output_gate),
        *decay_groups(config),
        same("b_proj.weight", (heads, config.width), "beta.weight"),
    ]


LAYER = FlaLayer(
    "gated_deltanet",
    "GatedDeltaNetForCausalLM",
    {
        **STREAM_ENTRIES, "num_hidden_layers": (21, LAYERS), "num_heads": (6, WHOLE), "num_v_heads": (None, or_null(WHOLE)),
        "head_dim": (256, WHOLE), "expand_v": (2.0, POSITIVE), "use_gate": (True, SWITCH), "use_short_conv": (True, SWITCH),
        "allow_neg_eigval": (False, SWITCH), "output_gate_activation": ("swish", one_of("swish", "silu")),
    },
    "gated_deltanet",
    _to_model,
    _to_entries,
    _mixer,
)  # fmt: skip
