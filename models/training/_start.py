"""Trainings that begin at given weights: those of a trained model, of a construction, or of a model with a construction's heads in it.

With noise and frozen parts. So one sees whether gradient descent keeps an exact solution, returns to it from nearby, or leaves it for another.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from ...foundation._errors import InputError
from ...foundation._files import is_folder, shown_path
from .._config import ModelConfig
from .._kinds import from_construction
from .._model import Block, Model
from .._model_file import Imported, is_model_folder, load_model, read_model_config
from ..planting._planted import plant_heads

PARTS = ("embedding", "mixers", "mlps", "norms", "read_out")
"""Parts of a model that can be frozen."""
NOISE = 4
"""The first number of the seed of noise, as `TRAINING` is of words'."""


class StartSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The entries of the section `[start]`.

    Attributes:
        path: a model folder, or the certificate of a construction in one layer; its configuration is that of the training. Empty for
            random weights.
        noise: standard deviation of normal noise that is added to every weight, as a fraction of the root mean square of the weights of
            its tensor that are not zero; each seed has its own. At least 0.
        frozen: parts that are not trained: `embedding`, `mixers`, `mlps`, `norms`, `read_out`.
        plant: the certificate of a construction whose heads are put into the first layer of the model of `path`, see `plant_heads`; the
            task is then `asked_in_text:` and the automaton. Empty for none.
        blank: whether the new heads, tokens and classes get random weights in place of the construction's, each seed its own: the control
            of a planting.
    """

    path: str = ""
    noise: float = 0.0
    frozen: list[str] = []
    plant: str = ""
    blank: bool = False


def read_start(start: StartSettings, seed: int = 0) -> Model:
    """The model at which a training begins.

    Args:
        start: the settings; `path` is not empty.
        seed: that of the random weights of blank heads.

    Returns:
        A model of one seed, on the CPU.

    Raises:
        InputError: there is no such model or certificate, or its layers read one another through tables, which have no gradient.
    """
    place = Path(start.path)
    if is_folder(place):
        model, _ = load_model(place)
    else:
        made = from_construction(place)
        if not isinstance(made, Model):
            raise InputError(
                f"{shown_path(place)}: a chain of sets is no model that is trained; start at a construction in one layer"
            )
        model = made
    if model.config.tables:
        raise InputError(
            f"{shown_path(place)}: its layers read one another through tables, which have no gradient; start at a construction in one layer"
        )
    return (
        plant_heads(model, start.plant, blank=seed if start.blank else None).model if start.plant else model
    )


def origin_of(start: StartSettings) -> tuple[str, Imported | None]:
    """What of which checkpoint the model is at which a training begins, as its folder says it; nothing where it has no such folder.

    Args:
        start: the settings.

    Returns:
        The entries `part` and `imported` of the folder's `config.json`.
    """
    place = Path(start.path)
    if not start.path or not is_model_folder(place):
        return "", None
    known = read_model_config(place / "config.json")
    return known.part, known.imported


def check_start(start: Model, path: str, letters: int, classes: int) -> None:
    """`InputError` where the model's letters or labels are not those of the task.

    Args:
        start: the model at which a training begins.
        path: where it is from.
        letters: the number of letters of the task, BOS and an end letter included.
        classes: the number of labels of the task.
    """
    config = start.config
    own = max(config.meaning) + 1 if config.meaning else config.classes
    if config.letters != letters or own != classes:
        raise InputError(
            f"{path}: it reads {config.letters} letters and knows {own} labels, and the task has {letters} and {classes}; a construction has "
            'no BOS and its labels are states: bos = false, labels = "state"'
        )


@torch.no_grad()
def begin_at(model: Model, start: StartSettings) -> None:
    """Give every seed the weights of a model, with noise of its own.

    Args:
        model: the seeds' models, of the configuration of the model that `read_start` reads.
        start: the settings.
    """
    noise = start.noise
    own = [read_start(start, seed).state_of(0) for seed in (model.seeds if start.blank else model.seeds[:1])]
    names = {id(value): name for name, value in model.named_parameters()}
    for parameter in model.parameters():
        name = names[id(parameter)]
        before, mark, after = name.partition(".by_seed.")
        if mark:  # of a module that each seed has by itself
            place, _, rest = after.partition(".")
            given = own[int(place) % len(own)]
            value = _with_noise(given[f"{before}.by_seed.0.{rest}"], noise, model.seeds[int(place)], name)
            parameter.copy_(_as_placed(value, parameter))
            continue
        if isinstance(parameter, DTensor):  # FSDP has one seed
            value = _with_noise(own[0][name], noise, model.seeds[0], name)
            parameter.copy_(_as_placed(value, parameter))
            continue
        for i, seed in enumerate(model.seeds):
            parameter[i] = _with_noise(own[i % len(own)][name], noise, seed, name)[0]


def _as_placed(value: Tensor, parameter: Tensor) -> Tensor:
    """A whole value, divided among the processes as the parameter is."""
    if not isinstance(parameter, DTensor):
        return value
    return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)


def _with_noise(value: Tensor, noise: float, seed: int, name: str) -> Tensor:
    """value + noise · r · N(0, 1), r the root mean square of its entries that are not zero; a function of seed and name."""
    there = value[value != 0]
    if not noise or not there.numel():
        return value
    generator = torch.Generator().manual_seed(hash_of(NOISE, seed, name))
    drawn = torch.randn(value.shape, generator=generator, dtype=torch.float32)
    return value + noise * float(there.square().mean().sqrt()) * drawn.to(value.dtype)


def hash_of(*parts: object) -> int:
    """A number below 2^63 that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big") >> 1


def freeze_parts(model: Model, parts: list[str]) -> None:
    """Leave parts of a model as they are: they get no gradient, and the optimizer does not know them.

    Args:
        model: the model.
        parts: names in `PARTS`.

    Raises:
        InputError: everything would be frozen.
    """
    for part in parts:
        for module in modules_of(model, part):
            module.requires_grad_(False)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise InputError(f"start.frozen is {parts}: nothing is left to train; freeze less")


def modules_of(model: Model, part: str) -> list[nn.Module]:
    blocks = [block for block in model.blocks if isinstance(block, Block)]
    found: dict[str, list[nn.Module | None]] = {
        "embedding": [model.embedding],
        "mixers": [block.mixer for block in blocks],
        "mlps": [block.mlp for block in blocks],
        "norms": [
            model.embedding_norm,
            model.norm,
            *(n for block in blocks for n in (block.mixer_norm, block.mlp_norm)),
        ],
        "read_out": [model.embedding if model.head is None else model.head],
    }
    return [module for module in found[part] if module is not None]


def label_logits(logits: Tensor, config: ModelConfig, labels: int) -> Tensor:
    """Logits of labels, where several classes can stand for a label: log Σ exp over its classes; those that stand for none are left out.

    Args:
        logits: `[..., classes]`.
        config: that of the model, whose `meaning` has the label of each class.
        labels: how many labels there are.

    Returns:
        `[..., labels]`.
    """
    if not config.meaning:
        return logits
    places = [[i for i, label in enumerate(config.meaning) if label == wanted] for wanted in range(labels)]
    if all(len(own) == 1 for own in places):
        return logits[..., torch.tensor([own[0] for own in places], device=logits.device)]
    return torch.stack([torch.logsumexp(logits[..., own], -1) for own in places], -1)
