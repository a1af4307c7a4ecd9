"""The layer families: `Family`, and how the records in the files of `layers` are found.

Every file there whose name begins without `_` holds one kind of mixer and, as `FAMILIES`, a record for each name that
`ModelConfig.family` may have. The rest of the package asks these records and knows no family by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from types import ModuleType
from typing import Any

from torch import nn

from ..foundation._errors import InputError
from ..foundation._registry import entry_names
from ._layer_names import find_class, installed_layers, is_layer_name

SWITCHES = ("householders", "gated")
"""Entries of a configuration that are refused, not passed over, where a family does not have them."""
PACKAGES = ("layers", "fla.layers")
"""Folders of families; a layer of the second may be read as a family of the first, and then has none of its own."""


def _no_problems(config: Any) -> Iterator[str]:
    return iter(())


def _no_numbers(config: Any, kernels: bool = False) -> int:
    return 0


@dataclass(frozen=True, eq=False)
class Family:
    """The record of a layer family, for models, training and comparison. Its functions take a `ModelConfig`.

    Attributes:
        name: the name that `ModelConfig.family` uses.
        mixer: a function that makes the `nn.Module` of a configuration. Its `forward(x, state)` takes `[replicas, batch, tokens, width]` and the
            state after the previous tokens (None at the start of a word), and gives outputs of the same shape and the state
            after them. One that is not a baseline has `initial`, an `InitialState`, and `transitions(x, state)`, the matrices
            A(x) `[replicas, batch, tokens, heads, n, n]` in float64. One whose state is not `H` alone has `begin(x)`.
        summary: the recurrence in a line.
        eigenvalues: the eigenvalues that a transition can have, in words; `range` stands for that of the configuration.
        options: entries of `ModelConfig` that the mixer reads, besides `family` and `width`. Other entries are ignored, except
            that those in `SWITCHES` are refused.
        strengths: the values of `strength` that it supports.
        baseline: whether it is not a linear recurrence, so that only its answers are compared.
        fixed_state: whether its state has the same size after every token, so that it can run token by token without end.
        looks_back: whether a token's transition depends on the token before it, without a convolution too.
        settings: the names of further entries, in the section `options` of the configuration, with their defaults.
        example: entries of a small model of this family, besides its sizes, for tests.
        problems: a function of the configuration that yields what else is wrong with it, in words.
        written_out: a function of the configuration that returns how many numbers of states or transitions plain torch writes out
            for every token of a word.
        kept: a function of the configuration, and of whether the Triton kernels run, that returns the smallest number of values that
            a training step keeps for the gradients of a token.
        norm: a function that makes a norm of the stream, of a width and an ε; None for RMSNorm.
        mlp: a function that makes the MLP of a block, of its width and hidden width; None for the gated MLP with SiLU.
        embedding_norm: whether the embedding has a norm too, where blocks have one.
        work: a function of the configuration and of the tokens of a word that returns the floating-point operations (products and sums) of a
            layer's recurrence for one token, forward, without linear maps and convolutions; None where nobody has counted them.
    """

    name: str
    mixer: Callable[[Any], nn.Module]
    summary: str
    eigenvalues: str
    options: tuple[str, ...] = ()
    strengths: tuple[str, ...] = ("sigmoid", "direct")
    baseline: bool = False
    fixed_state: bool = True
    looks_back: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    problems: Callable[[Any], Iterator[str]] = _no_problems
    written_out: Callable[[Any], int] = _no_numbers
    kept: Callable[[Any, bool], int] = _no_numbers
    norm: Callable[[int, float], nn.Module] | None = None
    mlp: Callable[[int, int], nn.Module] | None = None
    embedding_norm: bool = False
    work: Callable[[Any, int], float] | None = None


@cache
def load_families() -> Mapping[str, Family]:
    """Load every layer family: those with linear heads first, then the baselines, in the order of their files.

    Returns:
        The records, by name, of all files of `layers` and `fla.layers` whose names do not begin with `_`.

    Raises:
        InputError: a file holds no `FAMILIES`, or two files have the same name; the message names everything that is wrong.

    Examples:
        >>> list(load_families())[:3]
        ['deltaproduct', 'matrix', 'gated_deltanet']
    """
    own = __name__.rpartition(".")[0]
    found: list[Family] = []
    problems = []
    files = [(package, file) for package in PACKAGES for file in entry_names(f"{own}.{package}")]
    for package, file in files:
        records = _records_of(importlib.import_module(f"{own}.{package}.{file}"))
        if not records and package == "layers":
            problems.append(
                f"{file}.py has no FAMILIES = (Family(...), ...); add it, or begin the name with _"
            )
        known = {family.name for family in found}
        problems += [f"{file}.py: {f.name!r} is there twice; rename one" for f in records if f.name in known]
        found += records
    if problems:
        raise InputError("families: " + "; ".join(problems))
    return {family.name: family for family in sorted(found, key=lambda family: family.baseline)}


def _records_of(module: ModuleType) -> list[Family]:
    records = getattr(module, "FAMILIES", ())
    whole = isinstance(records, tuple) and all(isinstance(record, Family) for record in records)
    return list(records) if whole else []


def find_family(name: str) -> Family:
    """Find the record of a layer family.

    Args:
        name: the name that `ModelConfig.family` uses; for a user's own layer `package.module:Class`, or the name of an installed entry
            point of the group `mirrormata.layers`.

    Returns:
        Its record.

    Raises:
        InputError: there is no family with this name; the message lists the families. Or the class may not be loaded, or is no `RecurrentLayer`.

    Examples:
        >>> find_family("deltaproduct").baseline
        False
    """
    if is_layer_name(name):
        return _family_of_class(name)
    families = load_families()
    if name in families:
        return families[name]
    if (installed := installed_layers()).get(name) is not None:
        return _family_of_class(installed[name])
    near = get_close_matches(name, families, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if name.lower().replace("_", "").replace("-", "") == "deltanet":
        hint = "; DeltaNet is deltaproduct with householders = 1"
    raise InputError(f"family {name!r} is none of {', '.join(families)}{hint}")


def _family_of_class(name: str) -> Family:
    """The record that a user's class makes of itself."""
    found = find_class(name)
    describe = getattr(found, "as_family", None) if isinstance(found, type) else None
    family = describe(name) if callable(describe) else None
    if not isinstance(family, Family):
        raise InputError(f"family {name!r}: it is no subclass of mirrormata.models.RecurrentLayer")
    return family


_RENAMED = {"mamba": "mamba_like", "rwkv7": "rwkv7_like"}


def rename_family(model: Any) -> Any:
    """A model's entries from a file, in which `mamba` or `rwkv7` without options is the simpler layer that had the name in earlier versions.

    Options of a family are written out whole, and these two have some.
    """
    if isinstance(model, dict) and not model.get("options") and model.get("family") in tuple(_RENAMED):
        return {**model, "family": _RENAMED[model["family"]]}
    return model


def switch_problems(config: Any) -> Iterator[str]:
    """What a configuration asks of its family that the family does not have, each in words."""
    own, families = find_family(config.family), load_families().values()
    if config.householders != 1 and "householders" not in own.options:
        having = ", ".join(f.name for f in families if "householders" in f.options)
        yield f"householders {config.householders} is for the family {having}; {own.name} has none: leave it at 1"
    if config.gated and "gated" not in own.options:
        having = ", ".join(f.name for f in families if "gated" in f.options)
        yield f"gated is a switch of {having}; {own.name} has its own gates: leave it false"
    if config.strength not in own.strengths and not own.baseline:
        having = ", ".join(f.name for f in families if config.strength in f.strengths)
        yield (
            f"strength {config.strength} is a switch of {having}; {own.name} has another form: "
            f"choose {' or '.join(own.strengths)}"
        )
    for option, value in config.options.items():
        if option not in own.settings:
            known = ", ".join(own.settings) or "none"
            yield f"options.{option} is unknown to {own.name}; its options: {known}"
        elif type(value) is not type(own.settings[option]):
            wanted = type(own.settings[option]).__name__
            yield f"options.{option} is {value!r}: its type is {wanted}, as that of its default {own.settings[option]!r}"
            return
    yield from own.problems(config)
