"""The architecture that a file describes: a configuration of ours, of FLA, or plain entries; `fit` takes it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..foundation._errors import InputError
from ..foundation._extras import needed_by
from ..foundation._files import is_file, is_folder, read_json, read_text
from ..theory.planning._architecture import Architecture, architecture_of

DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}
"""Our names of the dtypes that Hugging Face configurations name."""


def read_architecture(config: str) -> Architecture:
    """The architecture of a model, from its configuration or from options.

    Args:
        config: a model folder or an FLA checkpoint (whose `config.json` is read); a `.json` or `.toml` file of either, of an
            experiment (its section `model`), or of entries of `Architecture`; or such entries as a text, `n_h=2,heads=4,range=[-1,1]`.

    Raises:
        InputError: it is none of these, or an entry is wrong; one line that names it.
    """
    if not config.strip():
        raise InputError(
            f"`fit` {config!r} is empty: give a configuration, or entries such as layers=1,n_h=2,heads=4,head_dim=64"
        )
    place = Path(config)
    if is_folder(place):
        place = place / "config.json"
    if is_file(place):
        data = _read_toml(place) if place.suffix == ".toml" else read_json(place)
        if not isinstance(data, Mapping):
            raise InputError(f"{place}: the entries of an architecture are needed, an object")
        return architecture_of_config(data, str(place))
    if "=" in config:
        return architecture_of(_read_options(config), "the architecture")
    raise InputError(
        f"{config}: no such file or folder; give a configuration, or entries such as layers=1,n_h=2,heads=4,head_dim=64"
    )


def architecture_of_config(data: Mapping[str, Any], name: str) -> Architecture:
    """The architecture that the content of a configuration describes.

    Args:
        data: the content.
        name: the file's name, for texts.

    Raises:
        InputError: it is a model of another kind, or an entry is wrong.
    """
    if "model_type" in data:
        return _of_fla(data, name)
    if isinstance(data.get("model"), Mapping):
        return _of_model(data["model"], name)
    return architecture_of(data, name)


def _read_toml(path: Path) -> Any:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


def _read_options(text: str) -> dict[str, Any]:
    """`heads=4,range=[-1,1],gated=yes,dtype=bf16` as entries: numbers, lists, yes or no, and texts."""
    entries: dict[str, Any] = {}
    rest = text
    while rest:
        entry, equals, rest = rest.partition("=")
        if not equals:
            raise InputError(f"{text}: {entry!r} has no value; write {entry.strip()}=VALUE")
        end = rest.find("]") + 1 if rest.lstrip().startswith("[") else 0
        value, _, after = rest[end:].partition(",")
        value, rest = rest[:end] + value, after
        if entry.strip() in entries:
            raise InputError(f"{text}: {entry.strip()!r} is said twice")
        entries[entry.strip()] = _value_of(value.strip())
    return entries


def _value_of(text: str) -> Any:
    if text in ("yes", "no"):
        return text == "yes"
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _of_fla(data: Mapping[str, Any], name: str) -> Architecture:
    from .fla._model import DEFAULTS, complete_config, count_channels

    kind = data["model_type"]
    if not isinstance(kind, str) or kind not in DEFAULTS:
        raise InputError(f"{name}: model_type is {kind!r}; read are FLA's {' and '.join(DEFAULTS)}")
    full = complete_config(data, name)
    product = kind == "gated_deltaproduct"
    keys, values = count_channels(full)
    dtype = full.get("torch_dtype") or full.get("dtype")
    return Architecture(
        layers=full["num_hidden_layers"],
        heads=full["num_heads"],
        head_dim=keys // full["num_heads"],
        value_dim=values // full["num_heads"],
        householders=full["num_householder"] if product else 1,
        gated=bool(product and full["use_forget_gate"]),
        range=(-1, 1) if full.get("allow_neg_eigval", False) else (0, 1),
        conv=full.get("conv_size", 4) if full.get("use_short_conv", True) else 0,
        unit_keys=full.get("qk_norm", "l2") == "l2",
        dtype=DTYPES.get(dtype) if isinstance(dtype, str) else None,
        name=name,
    )


def _of_model(data: Mapping[str, Any], name: str) -> Architecture:
    with needed_by(f"{name}: a model folder"):
        from ._config import ModelConfig
    from ._records import record_of

    config = record_of(dict(data), ModelConfig, name)
    if config.family != "deltaproduct":
        raise InputError(
            f"{name}: its family is {config.family}; the constructions and bounds here are about deltaproduct"
        )
    return Architecture(
        layers=config.layers,
        heads=config.heads,
        head_dim=config.head_dim,
        value_dim=config.value_dim,
        householders=config.householders,
        gated=config.gated,
        range=config.range,
        conv=config.conv,
        additive=config.additive,
        unit_keys=config.key_norm and config.strength != "direct",
        name=name,
    )
