"""FLA's checkpoints of every type in `layers` as models of ours, and back, weight for weight."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ...foundation._files import is_file
from .._config import ModelConfig
from .._evaluation import length_text
from .._model import Model
from .._model_file import Imported, automaton_model, read_model_config, save_model
from ..tasks._automaton import AutomatonTask
from ..tasks._task import TaskSettings
from ._equivalent import as_fla_wiring
from ._export import FlaCheckpoint
from ._folder import check_read, drop_tied, read_config, read_tensors
from ._hybrid import HYBRIDS, HybridPart, read_hybrid
from ._layer import FlaLayer, load_layers
from ._model import HARMLESS
from ._task import AUTOMATON, FlaTask, read_task


def read_fla_model(folder: str | Path) -> Model:
    """An FLA checkpoint as a model of ours, whose letters and classes are all tokens.

    Args:
        folder: a folder with `config.json` and `model.safetensors`, or its index.

    Returns:
        A model of one seed on the CPU, in float32, or in float64 where a tensor is; both hold narrower weights exactly.

    Raises:
        InputError: another model type, an entry of the configuration that is unknown or not supported, pickled weights, or tensors
            that are missing, too many, or of another shape; one line that names the entry or the tensor.
    """
    layers = load_layers()
    config = read_config(folder, layers)
    layer, file = layers[config["model_type"]], str(Path(folder) / "config.json")
    ours = layer.model_config(layer.read_entries(config, file), file)
    tensors, places = read_tensors(folder)
    groups = layer.groups(ours)
    wanted = {tensor: shape for group in groups for tensor, shape in group.theirs.items()}
    if ours.tied:
        drop_tied(tensors, f"{layer.stream.prefix}.embeddings.weight", file)
    check_read(wanted, tensors, places, str(folder), layer.model_type)
    dtype = torch.float64 if any(x.dtype == torch.float64 for x in tensors.values()) else torch.float32
    model = Model(ours).to(dtype)
    with torch.no_grad():
        own = dict(model.named_parameters())
        for group in groups:
            flat = torch.cat([tensors[tensor].to(dtype).reshape(-1) for tensor in group.theirs])
            parts = torch.split(flat, [own[name].numel() for name in group.ours])
            for part, name in zip(parts, group.ours, strict=True):
                own[name].copy_(part.view(own[name].shape))
    return model


def layer_of(model: Model) -> FlaLayer:
    """The record of the FLA type that has a model's family; `InputError` where FLA has none."""
    family = model.config.family
    found = [layer for layer in load_layers().values() if layer.family == family]
    if not found:
        known = ", ".join(sorted({layer.family for layer in load_layers().values()}))
        raise InputError(
            f"model: family is {family}; FLA has no such layer. Exported are deltaproduct, {known}"
        )
    return found[0]


def fla_tensors(model: Model) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A model as FLA's configuration and tensors, bit for bit.

    Args:
        model: a model of one seed, of a family with FLA's wiring.

    Returns:
        The entries of `config.json`, and the tensors by FLA's names, on the CPU.

    Raises:
        InputError: the model has several seeds, or FLA has no such layer or option; the line names the field and the reason.
    """
    if len(model.seeds) != 1:
        raise InputError(f"the model has {len(model.seeds)} seeds: choose one with `select`")
    layer = layer_of(model)
    config: dict[str, Any] = {
        "architectures": [layer.architecture], "model_type": layer.model_type, "dtype": "float32",
        "bos_token_id": None, "eos_token_id": None, "pad_token_id": None,
    }  # fmt: skip
    if next(model.parameters()).dtype == torch.float64:
        config |= {"dtype": "float64"}
    config |= layer.to_entries(model.config)
    state = {name: value.detach().cpu() for name, value in model.state_dict().items()}
    tensors: dict[str, Tensor] = {}
    for group in layer.groups(model.config):
        flat = torch.cat([state.pop(name).reshape(-1) for name in group.ours])
        parts = torch.split(flat, [math.prod(shape) for shape in group.theirs.values()])
        for part, (name, shape) in zip(parts, group.theirs.items(), strict=True):
            tensors[name] = part.reshape(shape).clone()
    assert not state, sorted(state)
    return config, tensors


def import_model(
    folder: str | Path, output: str | Path, *, spec: str | None = None, product: str = "left"
) -> tuple[Model, AutomatonTask]:
    """Write an FLA checkpoint as a model folder, which `eval`, `compare`, `prove` and `train` read.

    Args:
        folder: the checkpoint, with a `task.json` that says which tokens are letters and answers.
        output: the model folder to write.
        spec: the automaton whose letters and answers these are; by default the one that `task.json` names.
        product: `left` or `right`: how the elements of a group are multiplied.

    Returns:
        The model, whose letters are those of the task, and the task.

    Raises:
        InputError: the checkpoint cannot be read, or its letters or answers are not the automaton's.
    """
    model, task, contract = _with_task(read_fla_model(folder), folder, spec, product)
    save_model(output, model, contract, imported=_origin(folder))
    return model, task


def read_as_model(folder: str | Path, kind: str) -> tuple[Model, str]:
    """A checkpoint that runs as a model of ours, and what of it that is; empty for the whole.

    Args:
        folder: the checkpoint.
        kind: its model type.

    Raises:
        InputError: it cannot be read (`read_fla_model`, `read_hybrid`).
    """
    if kind not in HYBRIDS:
        return read_fla_model(folder), ""
    found = read_hybrid(folder)
    return found.model, found.part


def import_hybrid(
    folder: str | Path,
    output: str | Path,
    *,
    layers: int | None = None,
    spec: str | None = None,
    product: str = "left",
) -> tuple[HybridPart, AutomatonTask]:
    """Write the first recurrent layers of a hybrid checkpoint as a model folder, which says that it is a part.

    Args:
        folder: the checkpoint, with a `task.json` that says which tokens are letters and answers.
        output: the model folder to write.
        layers: how many layers are read, at least 1; None for all that can be.
        spec: the automaton whose letters and answers these are; by default the one that `task.json` names.
        product: `left` or `right`: how the elements of a group are multiplied.

    Returns:
        What was read, with the model that was written, and the task.

    Raises:
        InputError: the checkpoint cannot be read (`read_hybrid`), or its letters or answers are not the automaton's.
    """
    part = read_hybrid(folder, layers)
    model, task, contract = _with_task(part.model, folder, spec, product)
    save_model(output, model, contract, part=part.part, imported=_origin(folder))
    return replace(part, model=model), task


def _with_task(
    read: Model, folder: str | Path, spec: str | None, product: str
) -> tuple[Model, AutomatonTask, dict[str, Any]]:
    """A model of all tokens as one whose letters and answers are those of the checkpoint's `task.json`, the task, and its contract."""
    task = read_task(folder, read.config.classes)
    known = dict(task.settings or {})
    if spec is not None and spec != known.get("spec"):
        known = {"spec": spec, "product": product}
    if not known:
        raise InputError(
            f"{Path(folder) / 'task.json'}: names no automaton; say by `spec` which one has these letters and answers"
        )
    settings = TaskSettings(**known)
    labels = (
        "state"
        if task.answers_to(AutomatonTask(settings).automaton, str(folder)).kind == "states"
        else "output"
    )
    settings = TaskSettings(
        **{
            **known,
            "labels": labels,
            "bos": task.bos is not None,
            "supervision": known.get("supervision") or "per_prefix",
            "end": "",
        }
    )
    automaton_task = AutomatonTask(settings)
    number = {label_text(x): i for i, x in enumerate(automaton_task.sampler.classes)}
    meaning = [-1] * read.config.classes
    for token, text in task.answer_tokens.items():
        if text not in number:
            raise InputError(
                f"{folder}: its answer {text!r} is no {labels} of {automaton_task.automaton.name}: {', '.join(list(number)[:12])}"
            )
        meaning[token] = number[text]
    if missing := sorted(set(number) - set(task.answers)):
        raise InputError(
            f"{folder}: task.json names no token for the {labels} {missing[0]!r} of {automaton_task.automaton.name}"
        )
    tokens = (*task.letters.values(), *(() if task.bos is None else (task.bos,)))
    fields = {name: getattr(read.config, name) for name in ModelConfig.__struct_fields__}
    config = ModelConfig(**{**fields, "letters": len(tokens), "tokens": tokens, "meaning": tuple(meaning)})
    model = Model(config).to(next(read.parameters()).dtype)
    model.load_state_dict(read.state_dict())
    protocol = automaton_task.protocol
    contract = automaton_task.contract(
        protocol.train_lengths, tuple(length_text(x) for x in protocol.test_lengths)
    )
    return model, automaton_task, contract.as_json()


_WEIGHTS = re.compile(r".*\.(safetensors|bin|pt|pth)(\.index\.json)?")
_OWN = frozenset(("model_type", "architectures", "auto_map", "dtype", "torch_dtype"))
"""Harmless entries that an export writes itself, or that name files of code, which it does not write."""


def _origin(folder: str | Path) -> Imported:
    """Which checkpoint a model is read from, what its configuration says beside the layers, and the files that are not read."""
    layers = load_layers()
    config = read_config(folder, (*layers, *HYBRIDS))
    kind = config["model_type"]
    kept = (HARMLESS | layers[kind].ignored) - _OWN if kind in layers else frozenset()
    files = sorted(
        path.name
        for path in Path(folder).iterdir()
        if is_file(path)
        and path.name not in ("config.json", "task.json")
        and not _WEIGHTS.fullmatch(path.name)
    )
    entries = {entry: value for entry, value in config.items() if entry in kept}
    return Imported(str(folder), kind, entries, tuple(files))


def trained_checkpoint(folder: str | Path) -> tuple[FlaCheckpoint, float]:
    """A model folder as a checkpoint that FLA's own classes load.

    A model of a family with FLA's wiring is written weight for weight. One of the family `deltaproduct` is first written in FLA's wiring
    (`as_fla_wiring`). Of a model that `import_model` read, the entries of the configuration that do not describe its layers are kept.

    Args:
        folder: a model folder, whose task is an automaton's.

    Returns:
        The checkpoint, which `save_fla` writes; and by how much a logit on 16 random words of 64 letters differs at most in float64 from
        the model's, 0 where weights are written as they are. It is that of FLA's ε beside the lengths of keys.

    Raises:
        InputError: FLA has no such layer or option, or the task is no automaton's; the line names the field and the reason.
    """
    model, task, letters, before = automaton_model(str(folder), "export")
    difference = 0.0
    try:
        if model.config.family == "deltaproduct":
            model, given_model = as_fla_wiring(model), model
            difference = _largest_difference(given_model, model)
        config, tensors = fla_tensors(model)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    own = model.config
    tokens = own.tokens or tuple(range(own.letters))
    meaning = own.meaning or tuple(range(own.classes))
    answers: dict[str, int | list[int]] = {}
    for i, label in enumerate(task.sampler.classes):
        places = [token for token, known in enumerate(meaning) if known == i]
        answers[label_text(label)] = places[0] if len(places) == 1 else places
    given = FlaTask(
        dict(zip(letters, tokens, strict=False)),
        answers,
        tokens[before[0]] if before else None,
        _settings(task),
    )
    imported = read_model_config(Path(folder) / "config.json").imported
    if imported is not None and imported.type == config["model_type"]:
        known = HARMLESS | layer_of(model).ignored  # whatever the folder says, nothing that describes layers
        config |= {entry: value for entry, value in imported.entries.items() if entry in known - _OWN}
    if imported is None or "bos_token_id" not in imported.entries:  # `task.json` names the task's own BOS
        config |= {"bos_token_id": given.bos}
    left_out = imported.files if imported is not None else ()
    arrays = {name: np.asarray(value.numpy()) for name, value in tensors.items()}
    return FlaCheckpoint(config, arrays, given, {}, left_out), difference


@torch.no_grad()
def _largest_difference(model: Model, other: Model, words: int = 16, length: int = 64) -> float:
    """By how much a logit of the first one's classes differs at most on random words, both in float64."""
    letters = np.random.default_rng(0).integers(model.config.letters, size=(1, words, length))
    found, others = (m.select(0).double()(torch.from_numpy(letters))[0] for m in (model, other))
    return float((found - others[..., : model.config.classes]).abs().max())


def _settings(task: AutomatonTask) -> dict[str, Any]:
    """The entries that name the automaton."""
    s = task.settings
    return {name: value for name in AUTOMATON if (value := getattr(s, name)) is not None}
