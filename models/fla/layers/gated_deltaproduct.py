"""FLA's GatedDeltaProduct: several factors a token, with a gate on the state before them or without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._config import ModelConfig
from ..._families import Family
from ...layers._seeded import count_factor_work, count_key_values, state_problems
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
    same,
    stream_to_entries,
    stream_to_model,
    whole_ratio,
)
from .._sizes import ratio_of
from ._factors import FactorMixer


def _problems(config: ModelConfig) -> Iterator[str]:
    yield from state_problems(config)
    for option in ("norm_eps", "key_eps"):
        if not 0 <= float(config.options[option]) < 1:
            yield f"options.{option} is {config.options[option]}: a number from 0, below 1, is needed"


FAMILIES = (
    Family(
        "fla_gated_deltaproduct",
        FactorMixer,
        "H ← α (Π_j (I - β_j k_j k_jᵀ)) H + what the factors write, wired as in flash-linear-attention",
        "of a factor 1 - β‖k‖², in the range; of a product of n_h factors any of a norm of at most 1",
        ("heads", "head_dim", "value_dim", "householders", "gated", "range", "conv", "output_gate", "output_norm", "initial", "options"),
        ("sigmoid",),
        settings={"key_eps": KEY_EPS, "norm_eps": 1e-6},
        example={"householders": 2, "gated": True},
        problems=_problems,
        kept=count_key_values,
        work=count_factor_work,
    ),
)  # fmt: skip


def _to_model(e: Entries) -> dict[str, Any]:
    return stream_to_model(e) | {
        "heads": e["num_heads"], "head_dim": e["head_dim"], "value_dim": whole_ratio(e, "head_dim", "expand_v"),
        "householders": e["num_householder"], "gated": e["use_forget_gate"], "output_gate": e["use_output_gate"],
        "range": (-1, 1) if e["allow_neg_eigval"] else (0, 1),
        "options": {"key_eps": KEY_EPS, "norm_eps": float(e["norm_eps"])},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    return stream_to_entries(config) | {
        "num_heads": config.heads, "head_dim": config.head_dim, "expand_v": ratio_of(config.value_dim, config.head_dim),
        "num_householder": config.householders, "use_forget_gate": config.gated, "use_output_gate": config.output_gate,
        "allow_neg_eigval": config.range == (-1, 1),
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    heads, n = config.heads, config.householders
    keys = heads * config.head_dim
    channels = {"q": keys, "k": n * keys, "v": n * heads * config.value_dim}
    return [
        *common_groups(config, channels, gate=config.output_gate),
        *(decay_groups(config) if config.gated else ()),
        same("b_proj.weight", (n * heads, config.width), "beta.weight"),
    ]


LAYER = FlaLayer(
    "gated_deltaproduct",
    "GatedDeltaProductForCausalLM",
    {
        **STREAM_ENTRIES, "num_hidden_layers": (21, LAYERS), "num_heads": (6, WHOLE), "head_dim": (256, WHOLE),
        "expand_v": (2.0, POSITIVE), "num_householder": (1, WHOLE), "use_forget_gate": (False, SWITCH),
        "use_output_gate": (True, SWITCH), "use_short_conv": (True, SWITCH), "allow_neg_eigval": (False, SWITCH),
        "num_v_heads": (None, one_of(None)),  # FLA's model does not hand it to its layer
    },
    "fla_gated_deltaproduct",
    _to_model,
    _to_entries,
    _mixer,
)  # fmt: skip
