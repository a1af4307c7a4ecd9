"""The configuration of an FLA checkpoint, the tensors that it asks for, by name and shape, and what is wrong with those there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
_NUMBERS = ("hidden_size", "num_heads", "num_hidden_layers", "head_dim", "num_householder", "vocab_size")


def is_fla(folder: str | Path) -> bool:
    """Whether a folder has a Hugging Face `config.json`, which no model folder of ours has."""
    place = Path(folder) / "config.json"
    if not place.is_file():
        return False
    config = read_json(place)
    return isinstance(config, dict) and "model_type" in config


def completed_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with FLA's defaults; `InputError` for numbers that are none, and for switches that are not read."""
    full = {**DEFAULTS[config["model_type"]], **config}
    for name in _NUMBERS:
        if name in full and (type(full[name]) is not int or full[name] < 1):
            raise InputError(
                f"the checkpoint's configuration has {name} {full[name]!r}; a whole number from 1 is needed"
            )
    allowed = {**_ALLOWED, "num_v_heads": (None, full["num_heads"])}
    wrong = [
        f"{name} {full[name]!r}" for name, known in allowed.items() if full.get(name, known[0]) not in known
    ]
    if wrong:
        raise InputError(f"the checkpoint's configuration has {', '.join(wrong)}, which is not read here")
    return full


def expected_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor of a checkpoint with this (completed) configuration."""
    product, D, heads = (
        config["model_type"] == "gated_deltaproduct",
        config["hidden_size"],
        config["num_heads"],
    )
    factors = config["num_householder"] if product else 1
    key = heads * config["head_dim"] if product else round(D * config["expand_k"])
    value = round(key * config["expand_v"]) if product else round(D * config["expand_v"])
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
