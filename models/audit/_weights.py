"""`audit_weights`: what the transitions of a trained model do on a text: signs, rotations, memory, measured by layer, head and class of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._arguments import (
    require_callback,
    require_count,
    require_list,
    require_number,
    require_path,
)
from ...foundation._errors import InputError, LimitError
from ...foundation._files import is_file
from ...foundation._text import count_noun
from .._families import find_family
from .._model import Model
from .._model_file import load_model, read_model_config
from ..fla._conversion import read_as_model
from ..fla._folder import load_fla, read_config
from ..fla._hybrid import HYBRIDS
from ..fla._layer import load_layers
from ..fla._model import DEFAULTS, FlaModel, is_fla
from ..fla._task import read_task
from ..tasks._asked_in_text import AskedInText
from ..tasks._contract import read_contract
from ..tasks._kinds import task_from_settings
from ..tasks._language import LanguageTask
from ..tasks._tokens import TokenTask
from ._facts import BOUNDS, Eigen, Raw, effective_ranks
from ._measured import AuditedLayer, AuditSettings, Kind, WeightsAudit
from ._reading import (
    MOST_TOKENS,
    Reading,
    letter_reading,
    read_byte_windows,
    read_task_words,
    read_with_tokenizer,
)
from ._running import LayerRun, run_window
from ._steps import DiagonalSteps, FactorSteps, Steps

BYTES = (256, 257)
"""Numbers of letters of models of bytes: without and with a letter for the end of a file."""
MEMORY_EVERY = 4
"""Every fourth place from which products begin is one from which memory is measured."""
Text: TypeAlias = "str | PathLike[str] | bytes | Indices | None"


def audit_weights(
    model: str | PathLike[str] | Model,
    text: Text = None,
    *,
    words: int = 8,
    length: int = 512,
    seed: int = 0,
    products: Sequence[int] = (1, 2, 4, 8, 16),
    starts: int = 256,
    horizon: int = 256,
    lasting: float = 64,
    progress: Callable[[float], None] | None = None,
) -> WeightsAudit:
    """Measure what the transitions of a trained model do on a text, by layer, head and class of tokens.

    The model runs in its own dtype; β, keys, gates and transitions are then taken to float64, in which products, eigenvalues and singular
    values are computed. Eigenvalues of products of m factors are those of an m × m matrix where m is below the dimension of a head.

    Args:
        model: a model folder, an FLA checkpoint, or a `Model` of one seed; with linear heads.
        text: a file, or its bytes, for a model of bytes, or of tokens where the folder has a `tokenizer.json`; or words of letters, int
            `[words, tokens]`. None for random words of the model's task (of a `Model`: uniform ones).
        words: the number of words, or the largest number of windows, evenly spaced, of a text, at least 1.
        length: the number of letters of each word, or of tokens of each window, at least 1. A window begins with the model's first state.
        seed: the seed of random words, at least 0.
        products: the numbers n of tokens of the products whose eigenvalues are looked at, at least 1 each.
        starts: at about how many tokens products begin, evenly spaced over all words; with n = 1, up to four factors or diagonals, all
            tokens are looked at. Memory is measured from every fourth of them.
        horizon: the largest number of tokens of a product whose norm is looked at for the memory, at least 1. Numbers of tokens above half a
            window are left out.
        lasting: the half-life in tokens from which on a negative or non-real eigenvalue counts as lasting, above 0.
        progress: called with the fraction of the work that is done.

    Returns:
        The figures of all layers.

    Raises:
        InputError: a file is wrong, the family has no linear heads, or `text` is not what the model reads.
        LimitError: there are more than `MOST_TOKENS` tokens, or the transitions of one word are too large.

    Examples:
        >>> from mirrormata import construct
        >>> from mirrormata.models import from_construction
        >>> found = audit_weights(from_construction(construct("parity")), words=1, length=64)
        >>> found.layers[0].all.strength.largest
        2.0
    """
    for name, value, least in (("words", words, 1), ("length", length, 1), ("seed", seed, 0), ("starts", starts, 1), ("horizon", horizon, 1)):  # fmt: skip
        require_count(name, value, least)
    counts = [require_count("products", n, 1) for n in require_list("products", products, "a list of numbers of tokens")]  # fmt: skip
    require_number("lasting", lasting, "a number above 0")
    if not counts or lasting <= 0:
        raise InputError("`products` is empty" if not counts else f"`lasting` {lasting}: it must be above 0")
    require_callback("progress", progress, "a function of the fraction that is done")
    if words * length > MOST_TOKENS:
        raise LimitError(
            f"`words` {words:,} of `length` {length:,}: at most {MOST_TOKENS:,} tokens are read; lower one of the two"
        )
    source, reading, name = _open(model, text, words, length, seed)
    tokens = reading.tokens.shape[1]
    half = max(tokens // 2, 1)
    used = tuple(sorted({n for n in counts if n <= half}))
    if not used:
        raise InputError(
            f"`products` {min(counts)}: words of {tokens:,} tokens have products of up to {half:,}; give a smaller number, or a longer text"
        )
    settings = AuditSettings(
        used, tuple(sorted(set(counts) - set(used))), starts, min(horizon, half), lasting
    )
    gathered: list[list[_Window]] = []
    for i, word in enumerate(reading.tokens):
        for run in run_window(source, word, name):
            if len(gathered) == run.layer:
                gathered.append([])
            gathered[run.layer].append(_measure(run, reading.classes[i], settings, len(reading.tokens)))
            if progress is not None:
                count = source.layers if isinstance(source, FlaModel) else source.config.layers
                progress((i + (run.layer + 1) / count) / len(reading.tokens))
    layers = tuple(_layer(i, windows, reading, settings) for i, windows in enumerate(gathered))
    present = np.bincount(reading.classes.reshape(-1), minlength=len(reading.names)).tolist()
    dtype = source.dtype if isinstance(source, FlaModel) else str(next(source.parameters()).dtype)
    return WeightsAudit(
        name,
        f"the model in {dtype.removeprefix('torch.')} on the CPU; products, eigenvalues and singular values in float64",
        reading.text,
        int(reading.tokens.size),
        {label: n for label, n in zip(reading.names, present, strict=True) if n},
        settings,
        layers,
    )


def _open(
    model: str | PathLike[str] | Model, text: Text, words: int, length: int, seed: int
) -> tuple[Model | FlaModel, Reading, str]:
    """The model, what it reads, and its name."""
    if isinstance(model, Model):
        _check_model(model, "model")
        return model, _read_given(text, model.config.letters, words, length, seed, "`model`"), "model"
    folder = require_path("model", model, "a model folder, an FLA checkpoint, or a Model")
    if is_fla(folder):
        return _open_fla(folder, text, words, length, seed)
    loaded, _ = load_model(folder)
    _check_model(loaded, folder)
    letters = loaded.config.letters
    part = read_model_config(Path(folder) / "config.json").part
    if text is not None:
        reading = (
            _read_given(text, letters, words, length, seed, folder)
            if letters in BYTES or isinstance(text, np.ndarray)
            else _read_as_trained(text, folder, letters, words, length)
        )
        return loaded, _of_part(reading, part), folder
    contract = read_contract(Path(folder) / "task.json")
    task = task_from_settings(contract.settings)
    if isinstance(task, LanguageTask):
        raise InputError(f"{folder}: it was trained on text: give `text`, a file of text")
    return loaded, _of_part(read_task_words(task, contract.alphabet, words, length, seed), part), folder


def _read_as_trained(
    text: str | PathLike[str] | bytes, folder: str, letters: int, words: int, length: int
) -> Reading:
    """A text for a model whose letters are more than bytes: bytes and the letters of planted heads, or tokens of token files."""
    task = task_from_settings(read_contract(Path(folder) / "task.json").settings)
    if isinstance(task, AskedInText):
        return read_byte_windows(text, words, length)
    if not isinstance(task, TokenTask):
        raise _no_bytes(folder, letters)
    place = Path(task.settings.spec.partition(":")[2])
    if not is_file(place / "tokenizer.json"):
        raise InputError(
            f"{place / 'tokenizer.json'}: no such file, and the tokens of {folder} are those of this tokenizer: put the token files back there, "
            "or make them again by `mirrormata tokenize`"
        )
    return read_with_tokenizer(place, text, letters, words, length)


def _no_bytes(name: str, letters: int) -> InputError:
    return InputError(
        f"{name}: it reads {letters:,} letters, which are no bytes: leave out `text`, so that random words of its task are read"
    )


def _of_part(reading: Reading, part: str) -> Reading:
    """The reading, with what of a checkpoint the model is."""
    return replace(reading, text=f"{reading.text}. A part {part}") if part else reading


def _check_model(model: Model, name: str) -> None:
    if len(model.seeds) != 1:
        raise InputError(f"{name}: the model has {len(model.seeds)} seeds: choose one with `select`")
    if find_family(model.config.family).baseline:
        raise InputError(
            f"{name}: {model.config.family} has no linear heads, so it has no transitions to measure; give a model of a linear family"
        )


def _read_given(text: Text, letters: int, words: int, length: int, seed: int, name: str) -> Reading:
    """A text or words for a model of so many letters."""
    if text is None:
        drawn = np.random.Generator(np.random.PCG64(seed)).integers(0, letters, (words, length))
        return letter_reading(
            drawn, [str(x) for x in range(letters)], f"{words:,} uniform random words of {count_noun(length, 'letter')}, seed {seed}"
        )  # fmt: skip
    if isinstance(text, np.ndarray):
        if text.ndim != 2 or not np.issubdtype(text.dtype, np.integer) or not text.size:
            raise InputError(
                f"`text` is an array of shape {text.shape} and type {text.dtype}: words of letters are int [words, tokens]"
            )
        if text.size > MOST_TOKENS:
            raise LimitError(f"`text`: {count_noun(text.size, 'letter')}; at most {MOST_TOKENS:,} are read")
        if text.min() < 0 or text.max() >= letters:
            raise InputError(
                f"`text` has letters from {text.min()} to {text.max()}; those of {name} are 0 to {letters - 1}"
            )
        return letter_reading(
            text,
            [str(x) for x in range(letters)],
            f"{len(text):,} given words of {count_noun(text.shape[1], 'letter')}",
        )
    if letters not in BYTES:
        raise _no_bytes(name, letters)
    return read_byte_windows(text, words, length)


def _open_fla(
    folder: str, text: Text, words: int, length: int, seed: int
) -> tuple[Model | FlaModel, Reading, str]:
    kind = read_config(folder, (*DEFAULTS, *load_layers(), *HYBRIDS))["model_type"]
    if kind in DEFAULTS:
        config, tensors = load_fla(folder)
        # it reads BOS by itself, before its first token
        reading, bos = _read_checkpoint(
            folder, config["vocab_size"], text, words, length, seed, with_bos=False
        )
        return FlaModel(config, tensors, dtype="fp32", bos=bos), reading, folder
    model, part = read_as_model(folder, kind)
    reading, _ = _read_checkpoint(folder, model.config.letters, text, words, length, seed, with_bos=True)
    return model, _of_part(reading, part), folder


def _read_checkpoint(
    folder: str, vocabulary: int, text: Text, words: int, length: int, seed: int, *, with_bos: bool
) -> tuple[Reading, int | None]:
    """What a checkpoint reads, and the token BOS of its random words, which begins them if `with_bos`."""
    if text is None:
        if not is_file(Path(folder) / "task.json"):
            raise InputError(
                f"{folder}: give `text`, since it has no task.json that says which of its tokens are letters"
            )
        task = read_task(folder, vocabulary)
        drawn = np.random.Generator(np.random.PCG64(seed)).integers(0, len(task.letters), (words, length))
        names, tokens = list(task.letters), list(task.letters.values())
        if with_bos and task.bos is not None:
            drawn = np.concatenate([np.full((words, 1), len(names)), drawn], axis=1)
            names, tokens = [*names, "BOS"], [*tokens, task.bos]
        said = f"{words:,} uniform random words of {count_noun(length, 'letter')}, seed {seed}"
        return replace(letter_reading(drawn, names, said), tokens=np.array(tokens)[drawn]), task.bos
    if isinstance(text, np.ndarray) or (vocabulary in BYTES and not is_file(Path(folder) / "tokenizer.json")):
        return _read_given(text, vocabulary, words, length, seed, folder), None
    return read_with_tokenizer(Path(folder), text, vocabulary, words, length), None


@dataclass(frozen=True, eq=False)
class _Window:
    """The arrays of one window in one layer, as `Raw` has them, and what the transitions are."""

    kind: Kind
    dim: int
    raw: Raw


def _measure(run: LayerRun, classes: Indices, settings: AuditSettings, windows: int) -> _Window:
    steps = run.steps
    tokens, _, dim = steps.shape
    wanted = max(1, -(-settings.starts // windows))
    # products begin where the longest of them still end within the window
    places = tokens - max(*settings.products, settings.horizon) + 1
    starts = np.unique(np.linspace(0, places - 1, min(wanted, places)).round().astype(np.int64))
    clipped = steps.without_signs()
    lengths = steps.memory_lengths(starts[::MEMORY_EVERY], settings.horizon, BOUNDS)
    factors = isinstance(steps, FactorSteps)
    between = within = gate = None
    if isinstance(steps, FactorSteps):
        after, within = steps.key_angles()
        between = np.concatenate([after, np.full((1, steps.shape[1]), np.nan)])
        gate = steps.gate[:, None]
    elif isinstance(steps, DiagonalSteps):
        gate = steps.entries.swapaxes(1, 2)
    kind: Kind = "factors" if factors else "diagonal" if isinstance(steps, DiagonalSteps) else "matrix"
    return _Window(
        kind,
        dim,
        Raw(
            classes,
            steps.strength if isinstance(steps, FactorSteps) else None,
            gate,
            between,
            within if factors and within is not None and within.shape[1] else None,
            _eigen(steps, starts, classes, settings),
            None if clipped is None else _eigen(clipped, starts, classes, settings),
            classes[starts[::MEMORY_EVERY]],
            np.where(lengths == 0, np.inf, lengths),
            effective_ranks(run.states),
        ),
    )


def _eigen(
    steps: Steps, starts: Indices, classes: Indices, settings: AuditSettings
) -> dict[int, tuple[Indices, Eigen]]:
    found = {}
    for n in settings.products:
        at = np.arange(steps.shape[0]) if n == 1 and steps.closed else starts
        found[n] = classes[at], Eigen.of(steps.eigenvalues(at, n), n)
    return found


def _layer(number: int, windows: list[_Window], reading: Reading, settings: AuditSettings) -> AuditedLayer:
    first, raws = windows[0], [w.raw for w in windows]
    kind = first.kind
    if any(w.kind != kind for w in windows):  # matrices that happened to be diagonal in one window
        kind = "matrix"
        raws = [replace(raw, gate=None, control=None) for raw in raws]

    def join(values: Sequence[Any], axis: int = 0) -> Any:
        return None if values[0] is None else np.concatenate(values, axis=axis)

    def join_eigen(found: Sequence[Any]) -> Any:
        if found[0] is None:
            return None
        return {
            n: (
                np.concatenate([f[n][0] for f in found]),
                Eigen(
                    np.concatenate([f[n][1].least for f in found]),
                    np.concatenate([f[n][1].turning for f in found]),
                ),
            )
            for n in settings.products
        }

    raw = Raw(
        join([r.classes for r in raws]), join([r.strength for r in raws]), join([r.gate for r in raws]),
        join([r.between for r in raws]), join([r.within for r in raws]), join_eigen([r.eigen for r in raws]),
        join_eigen([r.control for r in raws]), join([r.memory_classes for r in raws]),
        join([r.memory for r in raws], 1), join([r.ranks for r in raws]),
    )  # fmt: skip
    heads = raw.ranks.shape[1]
    seen = sorted(set(raw.classes.tolist()))
    return AuditedLayer(
        number + 1,
        kind,
        raw.strength.shape[1] if raw.strength is not None else 0,
        first.dim,
        raw.part(settings.lasting),
        tuple(raw.part(settings.lasting, head=h) for h in range(heads)),
        {reading.names[c]: raw.part(settings.lasting, kind=c) for c in seen},
    )
