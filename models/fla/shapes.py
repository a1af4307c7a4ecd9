"""The configuration of an FLA checkpoint, the tensors that it asks for, by name and shape, and what is wrong with those there are."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from ...constructions.errors import InputError
from ...constructions.files import read_json

DEFAULTS: dict[str, dict[str, Any]] = {
    "delta_net": {
        "hidden_size": 2048, "num_heads": 16, "num_hidden_layers": 24, "expand_k": 1.0, "expand_v": 1.0,
        "use_gate": False, "use_beta": True, "vocab_size": 32000,
    },
    "gated_deltaproduct": {
        "hidden_size": 2048, "num_heads": 6, "num_hidden_layers": 21, "head_dim": 256, "expand_v": 2.0,
        "use_output_gate": True, "use_forget_gate": False, "num_householder": 1, "vocab_size": 32000,
    },
}  # fmt: skip
"""What FLA 0.6 takes where a configuration says nothing, by model type."""
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "attn": (None,), "attnres_block_size": (None,), "hidden_act": ("swish",),
}  # fmt: skip
"""Entries that change what a model computes and are read with these values only."""
_WHOLE = (
    "hidden_size", "num_heads", "num_hidden_layers", "head_dim", "num_householder", "vocab_size", "conv_size",
)  # fmt: skip
_POSITIVE = ("expand_k", "expand_v", "norm_eps")
_SWITCHES = (
    "use_gate", "use_beta", "use_short_conv", "conv_bias", "use_output_gate", "use_forget_gate", "allow_neg_eigval",
    "tie_word_embeddings",
)  # fmt: skip
_CHOICES = {"qk_activation": ("silu", "relu", "elu", "identity"), "qk_norm": ("l2", "sum")}
_OR_NONE = {"intermediate_size": _WHOLE, "hidden_ratio": _POSITIVE}
"""Entries that may also be null, with the kind that they have else."""
_READ = {
    "model_type", "num_v_heads", *_ALLOWED, *_WHOLE, *_POSITIVE, *_SWITCHES, *_CHOICES, *_OR_NONE,
}  # fmt: skip


def is_fla(folder: str | Path) -> bool:
    """Whether a folder has a Hugging Face `config.json`, which no model folder of ours has."""
    place = Path(folder) / "config.json"
    if not place.is_file():
        return False
    config = read_json(place)
    return isinstance(config, dict) and "model_type" in config


def completed_config(
    config: Mapping[str, Any], name: str = "the checkpoint's configuration"
) -> dict[str, Any]:
    """The configuration with FLA's defaults; `name`: of its file.

    `InputError`, one line, for an entry of another type than FLA's (`"false"` is a text, not a switch), numbers out of
    range, choices that FLA does not have or that are not read here, and an entry that is one of FLA's but for a slip of
    the pen, since it would be passed over. Entries that say nothing of what the model computes are not looked at.
    """
    full = {**DEFAULTS[config["model_type"]], **config}
    problems = [
        f"{entry} is {value!r}; {needed} is needed"
        for entry, value in full.items()
        if (needed := _needed(entry, value)) is not None
    ]
    if not problems:
        allowed = {**_ALLOWED, "num_v_heads": (None, full["num_heads"])}
        problems = [
            f"{entry} is {full[entry]!r}, which is not read here"
            for entry, known in allowed.items()
            if full.get(entry, known[0]) not in known
        ]
    for entry in config:
        near = get_close_matches(str(entry), _READ, 1, 0.87) if entry not in _READ else []
        problems += [f"{entry!r} is no entry of FLA's; did you mean {name!r}?" for name in near]
    if not problems:
        key, value = _channels(full)
        for what, size in (("keys", key), ("values", value)):
            if size % full["num_heads"]:
                problems.append(
                    f"its {what} have {size} channels, which is no multiple of num_heads {full['num_heads']}"
                )
    if problems:
        raise InputError(f"{name}: {'; '.join(problems)}")
    return full


def _needed(entry: str, value: Any) -> str | None:
    """What an entry must be, in words, where its value is not that; None where it fits or nothing is asked of it."""
    for kinds, fits, needed in (
        (_WHOLE, type(value) is int and value >= 1, "a whole number from 1"),
        (_POSITIVE, _is_positive(value), "a finite number above 0"),
        (_SWITCHES, type(value) is bool, "true or false, without quotes,"),
    ):
        if entry in kinds and not fits:
            return needed
        if _OR_NONE.get(entry) is kinds and not (fits or value is None):
            return f"{needed}, or null,"
    if entry in _CHOICES and not (isinstance(value, str) and value in _CHOICES[entry]):
        return f"one of {', '.join(_CHOICES[entry])}"
    return None


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")


def _channels(config: Mapping[str, Any]) -> tuple[int, int]:
    """Channels of the keys of one factor and of its values, over all heads."""
    if config["model_type"] == "gated_deltaproduct":
        key = config["num_heads"] * config["head_dim"]
        return key, round(key * config["expand_v"])
    return round(config["hidden_size"] * config["expand_k"]), round(
        config["hidden_size"] * config["expand_v"]
    )


def check_tied(config: Mapping[str, Any], tensors: Mapping[str, Any], name: str) -> None:
    """`InputError` where the configuration ties the read-out to the embeddings and the weights have another read-out.

    FLA would run the model with the embeddings then, and pass over what is in the file.
    """
    head = tensors.get("lm_head.weight")
    if head is None or not config.get("tie_word_embeddings", False):
        return
    if not np.array_equal(head, tensors["model.embeddings.weight"]):
        raise InputError(
            f"{name}: tie_word_embeddings is true, but 'lm_head.weight' is not 'model.embeddings.weight': set it to "
            "false, or leave 'lm_head.weight' out"
        )


def expected_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor of a checkpoint with this (completed) configuration."""
    product, D, heads = (
        config["model_type"] == "gated_deltaproduct",
        config["hidden_size"],
        config["num_heads"],
    )
    factors = config["num_householder"] if product else 1
    key, value = _channels(config)
    width = config.get("intermediate_size")
    if width is None:
        width = 256 * -(-int(D * (config.get("hidden_ratio") or 4) * 2 / 3) // 256)
    channels = {"q": key, "k": key * factors, "v": value * factors}
    layer: dict[str, tuple[int, ...]] = {"attn_norm.weight": (D,), "mlp_norm.weight": (D,)}
    for name in ("gate", "up"):
        layer[f"mlp.{name}_proj.weight"] = (width, D)
    layer["mlp.down_proj.weight"] = (D, width)
    for name, size in channels.items():
        layer[f"attn.{name}_proj.weight"] = (size, D)
        if config.get("use_short_conv", True):
            layer[f"attn.{name}_conv1d.weight"] = (size, 1, config.get("conv_size", 4))
            if config.get("conv_bias", False):
                layer[f"attn.{name}_conv1d.bias"] = (size,)
    if product or config["use_beta"]:
        layer["attn.b_proj.weight"] = (heads * factors, D)
    if product and config["use_forget_gate"]:
        layer |= {"attn.a_proj.weight": (heads, D), "attn.A_log": (heads,), "attn.dt_bias": (heads,)}
    if config["use_output_gate"] if product else config["use_gate"]:
        layer["attn.g_proj.weight"] = (value, D)
    layer |= {"attn.o_norm.weight": (value // heads,), "attn.o_proj.weight": (D, value)}
    every = {"model.embeddings.weight": (config["vocab_size"], D), "model.norm.weight": (D,)}
    every["lm_head.weight"] = (config["vocab_size"], D)
    for i in range(config["num_hidden_layers"]):
        every |= {f"model.layers.{i}.{name}": shape for name, shape in layer.items()}
    return every


def check_tensors(
    config: Mapping[str, Any], found: Mapping[str, tuple[int, ...]], places: Mapping[str, str], name: str
) -> None:
    """`InputError` for the first tensor that is missing, of another shape, or not of the (completed) configuration.

    `found`: shapes by name; `places`: the file of each; `name`: of the checkpoint.
    """
    wanted = expected_shapes(config)
    if config.get("tie_word_embeddings", False) and "lm_head.weight" not in found:
        del wanted["lm_head.weight"]
    for tensor, shape in wanted.items():
        if tensor not in found:
            raise InputError(
                f"{name}: has no tensor {tensor!r} of shape {list(shape)}, which its config.json asks for: "
                "save the whole model with save_pretrained"
            )
        if tuple(found[tensor]) != shape:
            raise InputError(
                f"{places.get(tensor, name)}: {tensor!r} has the shape {list(found[tensor])}, its config.json asks for "
                f"{list(shape)}: weights and config.json must be of one model"
            )
    if more := next((tensor for tensor in found if tensor not in wanted), None):
        raise InputError(
            f"{places.get(more, name)}: {more!r} of shape {list(found[more])} is no tensor of a {config['model_type']} "
            "with this config.json: weights and config.json must be of one model"
        )
