"""FLA's DeltaNet: one factor a token, no gate on the state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._config import ModelConfig
from ..._families import Family
from ...layers._seeded import count_factor_work, count_key_values, state_problems
from .._layer import (
    KEY_EPS,
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
    same,
    stream_to_entries,
    stream_to_model,
    whole_ratio,
)
from .._sizes import ratio_of
from ._factors import FactorMixer

ACTIVATIONS = ("silu", "relu", "elu", "identity")
NORMS = ("l2", "sum")


def _problems(config: ModelConfig) -> Iterator[str]:
    yield from state_problems(config)
    for option, choices in (("activation", ACTIVATIONS), ("key_norm", NORMS)):
        if config.options[option] not in choices:
            yield f"options.{option} is {config.options[option]!r}: choose {', '.join(choices)}"
    for option in ("norm_eps", "key_eps"):
        if not 0 <= float(config.options[option]) < 1:
            yield f"options.{option} is {config.options[option]}: a number from 0, below 1, is needed"


FAMILIES = (
    Family(
        "fla_delta_net",
        FactorMixer,
        "H ← (I - β k kᵀ) H + β k vᵀ, wired as in flash-linear-attention",
        "1 and 1 - β‖k‖², real: in the range, where keys are normed by l2",
        (
            "heads",
            "head_dim",
            "value_dim",
            "range",
            "conv",
            "output_gate",
            "output_norm",
            "initial",
            "options",
        ),
        ("sigmoid",),
        settings={
            "activation": "silu",
            "key_norm": "l2",
            "use_beta": True,
            "key_eps": KEY_EPS,
            "norm_eps": 1e-6,
        },
        problems=_problems,
        kept=count_key_values,
        work=count_factor_work,
    ),
)


def _to_model(e: Entries) -> dict[str, Any]:
    K = by_heads(e, "keys", whole_ratio(e, "hidden_size", "expand_k"))
    V = by_heads(e, "values", whole_ratio(e, "hidden_size", "expand_v"))
    return stream_to_model(e) | {
        "heads": e["num_heads"], "head_dim": K, "value_dim": V, "output_gate": e["use_gate"],
        "range": (-1, 1) if e["allow_neg_eigval"] else (0, 1),
        "options": {
            "activation": e["qk_activation"], "key_norm": e["qk_norm"], "use_beta": e["use_beta"], "key_eps": KEY_EPS,
            "norm_eps": float(e["norm_eps"]),
        },
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    return stream_to_entries(config) | {
        "num_heads": config.heads, "expand_k": ratio_of(config.heads * config.head_dim, config.width),
        "expand_v": ratio_of(config.heads * config.value_dim, config.width), "use_gate": config.output_gate,
        "use_beta": config.options["use_beta"], "qk_activation": config.options["activation"],
        "qk_norm": config.options["key_norm"], "allow_neg_eigval": config.range == (-1, 1),
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    heads, keys = config.heads, config.heads * config.head_dim
    channels = {"q": keys, "k": keys, "v": heads * config.value_dim}
    groups = common_groups(config, channels, gate=config.output_gate)
    if config.options["use_beta"]:
        groups.append(same("b_proj.weight", (heads, config.width), "beta.weight"))
    return groups


LAYER = FlaLayer(
    "delta_net",
    "DeltaNetForCausalLM",
    {
        **STREAM_ENTRIES, "num_heads": (16, WHOLE), "expand_k": (1.0, POSITIVE), "expand_v": (1.0, POSITIVE),
        "use_gate": (False, SWITCH), "use_beta": (True, SWITCH), "use_short_conv": (True, SWITCH),
        "allow_neg_eigval": (False, SWITCH), "qk_activation": ("silu", one_of(*ACTIVATIONS)), "qk_norm": ("l2", one_of(*NORMS)),
    },
    "fla_delta_net",
    _to_model,
    _to_entries,
    _mixer,
    ignored=frozenset({"use_output_norm"}),  # FLA's layer has the norm in any case
)  # fmt: skip
