"""Model folders: `config.json`, `model.safetensors`, `task.json`; written whole or not at all, never unpickled.

`load_model` reads the model of any task; `automaton_model` reads one whose task is an automaton's, with that task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import torch
from msgspec import Meta
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from ..foundation._errors import InputError
from ..foundation._files import (
    is_file,
    is_folder,
    is_there,
    path_of,
    read_json,
    shown_path,
    whole_folder,
    write_bytes,
    write_text,
)
from ._config import ModelConfig
from ._families import rename_family
from ._model import Model, model_on_meta
from ._records import record_of
from .tasks._asked_in_text import AskedInText
from .tasks._automaton import AutomatonTask
from .tasks._contract import read_contract
from .tasks._kinds import task_from_settings
from .tasks._language import LanguageTask

FORMAT = "mirrormata-model/1"


class Imported(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where an imported model comes from.

    Attributes:
        source: the path of the checkpoint, as it was given.
        type: its model type.
        entries: the entries of its configuration that do not describe its layers, as they were.
        files: the names of its files that were not read, such as those of a tokenizer.
    """

    source: str
    type: str
    entries: dict[str, Any] = {}
    files: tuple[str, ...] = ()


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `config.json` holds: the format, the model's shape, and the seed that its weights were first drawn from.

    `weights` says that they are a moving average of a training's weights; without the entry they are those after its last step. `part`
    says what of a checkpoint the model is, where it is not the whole. `imported` says which checkpoint of another library it was.
    """

    format: str
    model: ModelConfig
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    weights: Literal["last", "average"] = "last"
    part: str = ""
    imported: Imported | None = None


def read_model_config(path: str | Path) -> ModelFile:
    """Read the `config.json` of a model folder, of an earlier version too.

    Raises:
        InputError: the file is missing, of another format, or has an entry that is wrong; one line that names it.
    """
    data = _json(Path(path))
    if data.get("format") != FORMAT:
        if "format" not in data and "model_type" in data:
            place = str(Path(path).parent)
            raise InputError(
                f"{path}: is that of a checkpoint, and a model folder is needed; `import_model({place!r})` makes one of FLA's types, and "
                f"`import_hybrid({place!r})` one of the first layers of a hybrid model"
            )
        raise InputError(
            f"{path}: its format is {data.get('format')!r}, not {FORMAT!r}: it is no model of this version; give a folder that "
            "`train` or `export model` wrote"
        )
    if "model" in data:
        data = {**data, "model": rename_family(data["model"])}
    return record_of(data, ModelFile, str(path))


def save_model(
    folder: str | Path,
    model: Model,
    task: Mapping[str, Any],
    weights: Literal["last", "average"] = "last",
    part: str = "",
    imported: Imported | None = None,
) -> None:
    """Write the model of one seed as a folder, by way of a temporary folder; an existing model is replaced.

    Args:
        folder: the folder to write.
        model: a model with one seed (`Model.select`).
        task: the description of letters and classes for `task.json`, as `TaskContract.as_json` gives it.
        weights: `average` for a moving average of a training's weights, `last` for those after its last step, or of no training.
        part: what of a checkpoint the model is, in words; empty where it is the whole.
        imported: which checkpoint of another library it was; None for none.

    Raises:
        InputError: the model has several seeds, or the path exists but is not a model folder.
    """
    if len(model.seeds) != 1:
        raise InputError(f"{folder}: the model has {len(model.seeds)} seeds: choose one with `select`")
    with whole_folder(folder, "model", is_model_folder) as place:
        document = {"format": FORMAT, "seed": model.seeds[0], "model": model.config.as_json()}
        if weights != "last":
            document["weights"] = weights
        if part:
            document["part"] = part
        if imported is not None:
            document["imported"] = msgspec.to_builtins(imported)
        write_text(place / "config.json", json.dumps(document, indent=2) + "\n")
        write_text(place / "task.json", json.dumps(dict(task), indent=2, ensure_ascii=False) + "\n")
        tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
        write_bytes(place / "model.safetensors", save(tensors, metadata={"format": FORMAT}))


def is_model_folder(folder: Path) -> bool:
    """Whether the `config.json` of a folder says that it is a model of this package, of whatever version."""
    path = folder / "config.json"
    config = read_json(path) if is_file(path) else None
    return isinstance(config, dict) and str(config.get("format")).startswith("mirrormata-model/")


def load_model(folder: str | Path) -> tuple[Model, dict[str, Any]]:
    """Read a model folder.

    Args:
        folder: a folder with `config.json`, `model.safetensors` and `task.json`.

    Returns:
        The model on the CPU, in the dtype of its file, and the contents of `task.json`.

    Raises:
        InputError: a file is missing or wrong; the message names the file and the entry or tensor.
    """
    place = path_of(folder, "folder")
    _require_model_folder(place)
    config = read_model_config(place / "config.json")
    weights = place / "model.safetensors"
    tensors = _read_tensors(weights)
    _check_shapes(_shapes_of(config.model, len(tensors), place / "config.json"), tensors, weights)
    model = Model(config.model, [config.seed])
    _fill(model, tensors, weights)
    return model, _json(place / "task.json")


def _require_model_folder(place: Path) -> None:
    """`InputError` for a place that is no model folder, with the one that may be meant."""
    if is_file(place / "config.json"):
        return
    seeds = (
        sorted(place.glob("seed-*/config.json"), key=lambda path: (len(path.parent.name), path))
        if is_folder(place)
        else []
    )
    if seeds:
        why = f"holds the models of a training; give that of one seed, such as {seeds[0].parent}"
    elif is_file(place / "settings.json"):
        why = "holds a training that is not finished, so there is no model yet: train to the end first"
    elif is_folder(place):
        why = "has no config.json; a model folder has config.json, task.json and model.safetensors"
    else:
        why = "is a file, and a model folder is needed" if is_there(place) else "no such folder"
    raise InputError(f"{shown_path(place)}: {why}")


def load_weights(model: Model, path: Path) -> None:
    """Fill a model from a safetensors file; `InputError` for other names, shapes, or a file that is cut short."""
    tensors = _read_tensors(path)
    _check_shapes({k: tuple(v.shape) for k, v in model.state_dict().items()}, tensors, path)
    _fill(model, tensors, path)


def _shapes_of(config: ModelConfig, tensors: int, path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the configuration's tensors, with no memory taken for them.

    `tensors`: how many there are in the file; a block has at least one.
    """
    if config.layers > tensors:
        raise InputError(
            f"{path}: model: {config.layers:,} layers, and model.safetensors has {tensors:,} tensors"
        )
    try:
        own = model_on_meta(config).state_dict()
    except (RuntimeError, OverflowError):  # sizes whose product no int64 holds
        raise InputError(
            f"{path}: model: its sizes make tensors that no memory holds; write those that it was saved with"
        ) from None
    return {name: tuple(value.shape) for name, value in own.items()}


def _read_tensors(path: Path) -> dict[str, Tensor]:
    if not is_file(path):
        raise InputError(
            f"{path}: no such file; a model folder has config.json, task.json and model.safetensors"
        )
    try:
        return load_file(path)
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error})") from None


def _check_shapes(own: Mapping[str, tuple[int, ...]], tensors: Mapping[str, Tensor], path: Path) -> None:
    for name, shape in own.items():
        if name not in tensors:
            raise InputError(f"{path}: {name!r} is missing")
        if tuple(tensors[name].shape) != shape:
            raise InputError(
                f"{path}: {name!r} has shape {list(tensors[name].shape)}, the model's is {list(shape)}"
            )
    if foreign := sorted(set(tensors) - set(own)):
        raise InputError(f"{path}: {foreign[0]!r} is not part of the model in config.json")


def _fill(model: Model, tensors: dict[str, Tensor], path: Path) -> None:
    floats = {value.dtype for value in tensors.values() if value.is_floating_point()}
    if len(floats) > 1:
        raise InputError(f"{path}: its tensors have several dtypes: {', '.join(sorted(map(str, floats)))}")
    model.to(floats.pop() if floats else torch.float32)
    model.load_state_dict(tensors)


def _json(path: Path) -> dict[str, Any]:
    data = read_json(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: an object is needed")
    return data


def automaton_model(
    folder: str, purpose: str
) -> tuple[Model, AutomatonTask, tuple[str, ...], tuple[int, ...]]:
    """Read a model folder whose task is an automaton's.

    Args:
        folder: the model folder.
        purpose: the verb of what is done with it, for the error.

    Returns:
        The model, the task, the texts of its letters without BOS, and the letters that are read before a word (BOS, or none).

    Raises:
        InputError: a file is wrong, or the task is not an automaton's.
    """
    model, _ = load_model(folder)
    contract = read_contract(Path(folder) / "task.json")
    task = task_from_settings(contract.settings)
    if not isinstance(task, AutomatonTask):
        way = "give a model that was trained on an automaton"
        if isinstance(task, LanguageTask):
            way += "; `audit` measures the layers of a model of text on a text"
        if isinstance(task, AskedInText):
            way = "`read_planted_head` of mirrormata.models makes a model of a planted head, whose `save` writes a file for `prove`"
        raise InputError(
            f"{folder}: its task, {contract.task}, is not an automaton's, and to {purpose} an automaton's is needed; {way}"
        )
    if contract.end:
        raise InputError(
            f"{folder}: its task asks only after the letter {contract.end!r}, which the automaton does not have, so there is nothing to "
            f'{purpose} after other letters; train with end = "", for example by the protocol formal_language_prefix'
        )
    letters = contract.alphabet[:-1] if contract.bos else contract.alphabet
    return model, task, letters, (len(letters),) if contract.bos else ()
