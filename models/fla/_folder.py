"""FLA checkpoint folders, `config.json` and `model.safetensors`: written whole or not at all; pickled weights are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor

from ...foundation._errors import InputError
from ...foundation._files import (
    is_file,
    is_folder,
    is_there,
    read_json,
    whole_folder,
    write_bytes,
    write_text,
)
from ...theory.arithmetic._rounding import Floats
from ._export import FlaCheckpoint
from ._layer import Shape, load_layers
from ._model import DEFAULTS, check_tensors, check_tied, complete_config

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
_METADATA = {"format": "pt", "mirrormata": "mirrormata-fla/1"}
"""Of the weights that `save_fla` writes; transformers reads the first entry."""
HYBRID_TYPES = ("qwen3_next", "olmo_hybrid")
"""Model types of transformers that `_hybrid.py` reads."""
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth")


def save_fla(folder: str | Path, checkpoint: FlaCheckpoint) -> None:
    """Write the checkpoint, through a folder beside it; one that this function wrote is replaced.

    Args:
        folder: the folder to write.
        checkpoint: a checkpoint, as `fla_checkpoint` makes it.

    Raises:
        InputError: the place is taken by anything else, another checkpoint included.
    """
    with whole_folder(folder, "exported checkpoint", _is_exported) as place:
        write_text(place / "config.json", json.dumps(checkpoint.config, indent=2) + "\n")
        write_text(
            place / "task.json", json.dumps(checkpoint.task.as_json(), indent=1, ensure_ascii=False) + "\n"
        )
        write_bytes(place / "model.safetensors", save(checkpoint.tensors, metadata=_METADATA))


def _is_exported(folder: Path) -> bool:
    """Whether `save_fla` wrote the weights; a training of FLA that saves there again writes no such mark."""
    try:
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            return (file.metadata() or {}) == _METADATA
    except (SafetensorError, OSError):
        return False


def load_fla(folder: str | Path) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Read a checkpoint's files: the configuration, and all tensors of one file or of those that its index names.

    Args:
        folder: a folder with `config.json` and `model.safetensors`, or its index.

    Returns:
        The configuration with FLA's defaults, and the tensors by name, as float64.

    Raises:
        InputError: another model type, pickled weights, a file that is not whole, or tensors that are missing, too many, of
            another shape, or of a type that is not a float; one line that names file and tensor.
    """
    place = Path(folder)
    config = complete_config(read_config(folder, DEFAULTS), str(place / "config.json"))
    read, places = read_tensors(folder)
    tensors = {name: value.double().numpy() for name, value in read.items()}
    check_tensors(config, {k: v.shape for k, v in tensors.items()}, places, str(place))
    if bad := next((name for name, value in tensors.items() if not np.isfinite(value).all()), None):
        raise InputError(f"{places[bad]}: {bad!r} has entries that are not finite: the training diverged")
    check_tied(config, tensors, str(place / "config.json"))
    return config, tensors


def read_config(folder: str | Path, kinds: Collection[str]) -> dict[str, Any]:
    """The `config.json` of a checkpoint of one of these model types; `InputError` for another."""
    place = Path(folder)
    if is_there(place) and not is_folder(place):
        raise InputError(f"{folder}: is a file, the checkpoint's folder is needed")
    config = read_json(place / "config.json")
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(kind, str) or kind not in kinds:
        *others, last = kinds
        names = f"{', '.join(others)} and {last}" if others else last
        hint = import_hint(folder, kind)
        fla = "" if set(kinds) <= set(HYBRID_TYPES) else "FLA's "
        raise InputError(f"{place / 'config.json'}: model_type is {kind!r}; read are {fla}{names}{hint}")
    return config


def import_hint(folder: str | Path, kind: Any) -> str:
    """What makes a model folder of a checkpoint of this model type, behind a semicolon; empty where nothing does."""
    if isinstance(kind, str) and kind in load_layers():
        return f"; `import_model({str(folder)!r})` makes a model folder of it"
    if kind in HYBRID_TYPES:
        return f"; `import_hybrid({str(folder)!r})` makes a model folder of its first layers"
    return ""


def read_tensors(
    folder: str | Path, wanted: Callable[[str], bool] = lambda name: True
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The wanted tensors of one file or of those that its index names, and the file of each.

    Files without a wanted tensor need not be there. `InputError` for pickled weights, a file that is not whole, and a type that is not a float.
    """
    tensors: dict[str, Tensor] = {}
    places: dict[str, str] = {}
    for path in _weight_files(Path(folder), wanted):
        try:
            with safe_open(path, framework="pt") as file:
                for name in filter(wanted, file.keys()):
                    tensor = file.get_tensor(name)
                    if tensor.dtype not in _FLOATS:
                        raise InputError(
                            f"{path}: {name!r} has the type {str(tensor.dtype).removeprefix('torch.')}; float64, float32, "
                            "float16 or bfloat16 is needed: save the model without quantisation"
                        )
                    tensors[name], places[name] = tensor, str(path)
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{path}: not a whole safetensors file ({error}); fetch or save it again"
            ) from None
    return tensors, places


def check_read(
    wanted: Mapping[str, Shape],
    tensors: Mapping[str, Tensor],
    places: Mapping[str, str],
    name: str,
    kind: str,
) -> None:
    """`InputError` for the first tensor that is missing, of another shape, not of the configuration, or not finite.

    `wanted`: names and shapes; `places`: the file of each tensor; `name`: of the checkpoint; `kind`: its model type.
    """
    found = {tensor: tuple(value.shape) for tensor, value in tensors.items()}
    for tensor, shape in wanted.items():
        if tensor not in found:
            raise InputError(
                f"{name}: has no tensor {tensor!r} of shape {list(shape)}, which its config.json asks for: save the whole model "
                "with save_pretrained"
            )
        if found[tensor] != shape:
            raise InputError(
                f"{places[tensor]}: {tensor!r} has the shape {list(found[tensor])}, its config.json asks for {list(shape)}: weights and "
                "config.json must be of one model"
            )
    if more := next((tensor for tensor in found if tensor not in wanted), None):
        raise InputError(
            f"{places[more]}: {more!r} of shape {list(found[more])} is no tensor of a {kind} with this config.json: weights and "
            "config.json must be of one model"
        )
    for tensor, value in tensors.items():
        if not bool(torch.isfinite(value).all()):
            raise InputError(
                f"{places[tensor]}: {tensor!r} has entries that are not finite: the training diverged"
            )


def drop_tied(tensors: dict[str, Tensor], embedding: str, file: str) -> None:
    """Take a read-out that is tied to the embedding out; `InputError` where it is not the embedding. `file`: the configuration's."""
    tied = tensors.pop("lm_head.weight", None)
    if tied is not None and not (embedding in tensors and torch.equal(tied, tensors[embedding])):
        raise InputError(
            f"{file}: tie_word_embeddings is true, but 'lm_head.weight' is not {embedding!r}: set it to false, or leave "
            "'lm_head.weight' out"
        )


def _weight_files(place: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """`model.safetensors`, or the files that `model.safetensors.index.json` names."""
    if is_file(place / "model.safetensors"):
        return [place / "model.safetensors"]
    index = place / "model.safetensors.index.json"
    if is_file(index):
        try:
            every = read_json(index)["weight_map"]
            names = sorted({file for name, file in every.items() if wanted(name)}, key=str)
        except (KeyError, TypeError, AttributeError):
            raise InputError(f'{index}: has no "weight_map" of files') from None
        if any(not isinstance(name, str) or Path(name).name != name for name in names):
            raise InputError(f"{index}: names a file outside its folder")
        if missing := [name for name in names if not is_file(place / name)]:
            raise InputError(f"{index}: names {missing[0]}, which is not in its folder; fetch it too")
        return [place / name for name in names]
    if pickled := next((name for name in _PICKLED if is_there(place / name)), None):
        raise InputError(
            f"{place / pickled}: pickled weights can run any code and are not read; save the model as safetensors "
            "(save_pretrained does)"
        )
    raise InputError(f"{place}: has no model.safetensors: save the model with save_pretrained")
