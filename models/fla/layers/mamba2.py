"""FLA's Mamba-2, as our family `mamba2`; its blocks have no MLP."""

from __future__ import annotations

import math
from typing import Any, Final

from ....foundation._errors import InputError
from ..._config import ModelConfig
from .._layer import (
    EPS,
    LAYERS,
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

_UNLIMITED: Final = ([0.0, math.inf], [0.0, {"__float__": "Infinity"}])
"""Limits of the steps that are none, as JSON and as transformers writes them."""


def _to_model(e: Entries) -> dict[str, Any]:
    channels = e["expand"] * e["hidden_size"]
    if channels % e["head_dim"] or e["num_heads"] not in (None, channels // e["head_dim"]):
        raise InputError(
            f"expand {e['expand']} times hidden_size {e['hidden_size']} is {channels}, and must be num_heads {e['num_heads']} times "
            f"head_dim {e['head_dim']}"
        )
    return {
        "letters": e["vocab_size"], "classes": e["vocab_size"], "width": e["hidden_size"], "layers": e["num_hidden_layers"],
        "norm_eps": float(e["norm_eps"]), "tied": e["tie_word_embeddings"], "head_bias": False, "mlp": 0.0,
        "conv": e["conv_kernel"], "heads": channels // e["head_dim"], "head_dim": e["state_size"], "value_dim": e["head_dim"],
        "range": (0, 1),
        "options": {"groups": e["n_groups"], "conv_bias": e["use_conv_bias"], "norm_eps": float(e["norm_eps"])},
    }  # fmt: skip


def _to_entries(config: ModelConfig) -> Entries:
    check_stream(config, {
        "output_norm": (True, "this form of FLA's layer norms its outputs"),
        "mlp": (0.0, "FLA's blocks of Mamba-2 have no MLP"), "range": ((0, 1), "FLA's layer knows no other"),
        "key_activation": ("silu", "FLA's layer has no other"),
    })  # fmt: skip
    channels = config.heads * config.value_dim
    if not config.conv:
        raise InputError("model: conv is 0; FLA's layer always has a short convolution: at least 2 is needed")
    if channels % config.width:
        raise InputError(
            f"model: heads {config.heads} times value_dim {config.value_dim} is no multiple of width {config.width}, as in FLA's layer"
        )
    if config.options["norm_eps"] != config.norm_eps:
        raise InputError(
            f"model: options.norm_eps is {config.options['norm_eps']}; FLA's model of this type has norm_eps {config.norm_eps} there"
        )
    return {
        "hidden_size": config.width, "num_hidden_layers": config.layers, "vocab_size": config.classes,
        "norm_eps": config.norm_eps, "tie_word_embeddings": config.tied, "hidden_act": "silu", "conv_kernel": config.conv,
        "use_conv_bias": config.options["conv_bias"], "use_bias": False, "n_groups": config.options["groups"],
        "state_size": config.head_dim, "head_dim": config.value_dim, "num_heads": config.heads,
        "expand": channels // config.width, "rmsnorm": True, "norm_before_gate": False, "D_has_hdim": False,
        "residual_in_fp32": True,
    }  # fmt: skip


def _mixer(config: ModelConfig) -> list[Group]:
    D, heads, channels = config.width, config.heads, config.heads * config.value_dim
    mixed = channels + 2 * int(config.options["groups"]) * config.head_dim
    groups = [
        Group(
            {"in_proj.weight": (channels + mixed + heads, D)},
            ("gate.weight", "input.linear.weight", "step.weight"),
        ),
        same("conv1d.weight", (mixed, 1, config.conv), "input.conv.weight"),
    ]
    if config.options["conv_bias"]:
        groups.append(same("conv1d.bias", (mixed,), "input.conv.bias"))
    return [
        *groups,
        same("dt_bias", (heads,), "decays.bias"),
        same("A_log", (heads,), "decays.rate"),
        same("D", (heads,), "skip"),
        same("norm.weight", (channels,), "norm"),
        same("out_proj.weight", (D, channels), "output.weight"),
    ]


LAYER = FlaLayer(
    "mamba2",
    "Mamba2ForCausalLM",
    {
        "hidden_size": (2048, WHOLE), "num_hidden_layers": (48, LAYERS), "vocab_size": (32000, WHOLE), "norm_eps": (1e-5, EPS),
        "tie_word_embeddings": (False, SWITCH), "hidden_act": ("silu", one_of("silu", "swish")), "conv_kernel": (4, WHOLE),
        "use_conv_bias": (True, SWITCH), "use_bias": (False, one_of(False)), "n_groups": (1, WHOLE), "state_size": (128, WHOLE),
        "head_dim": (64, WHOLE), "num_heads": (None, or_null(WHOLE)), "expand": (2, WHOLE), "rmsnorm": (True, one_of(True)),
        "norm_before_gate": (False, one_of(False)), "D_has_hdim": (False, one_of(False)),
        "dt_limit": (_UNLIMITED[0], Kind("no limit, [0.0, Infinity]", lambda x: list(x) in _UNLIMITED if isinstance(x, list) else False)),
    },
    "mamba2",
    _to_model,
    _to_entries,
    _mixer,
    Stream("backbone", "mixer", "norm", None, "norm_f"),
    # the first weights, and the dtype of the stream between blocks, which here is float32 at least
    frozenset({"A_init_range", "conv_init", "dt_init_floor", "dt_max", "dt_min", "residual_in_fp32"}),
)  # fmt: skip
