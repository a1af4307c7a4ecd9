"""Trained FLA checkpoints where `compare`, `prove` and `spectrum` take a model: `Learned`, a `Stepper`, letter matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._errors import InputError
from ...foundation._files import is_file
from ...theory.arithmetic._rounding import Floats
from ...theory.proofs._answers import Answers
from ...theory.proofs._proof import Proof
from ...theory.proofs._prove import ProofLimits, prove
from ...theory.spectra._model import ModelSpectrum, model_spectrum
from ..learned._learned import Learned, output_target
from ..learned._spectrum import model_letter_spectrum, multiply_exactly
from ._conversion import read_as_model
from ._folder import load_fla, read_config
from ._hybrid import HYBRIDS
from ._importing import fla_heads
from ._layer import load_layers
from ._model import DEFAULTS, FlaModel
from ._task import FlaTask, read_task

DTYPES = ("fp64", "fp32", "bf16", "fp16")
ARITHMETIC = "fla:naive:"
"""What the arithmetic of an `FlaModel` is called, followed by the dtype."""


def load_fla_learned(folder: str, automaton: AutomatonLike, *, task: FlaTask | None = None) -> Learned:
    """A checkpoint compared with an automaton; it runs in float32.

    Args:
        folder: the checkpoint.
        automaton: an automaton with the letters of the task, in the same order, in any form that `as_automaton` accepts.
        task: the meaning of its tokens, by default the one in its `task.json`.

    Returns:
        Its heads, its answers, and how it runs.

    Raises:
        InputError: the checkpoint cannot be read, has other letters, or answers that are neither the automaton's states nor
            its outputs.
    """
    model, answers, letters = _model(folder, as_automaton(automaton), "fp32", task)
    model.meaning = answers.of_states(model.meaning)
    heads, note = fla_heads(model)
    count = model.heads

    def head_states(states: Any) -> list[Floats]:
        every = model.heads_of(states)
        return [every[h.copies[0] // count][:, h.copies[0] % count].astype(np.float64) for h in heads]

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        H = np.empty((len(letters), count, *heads[0].H0.shape), model.dtype)
        for head, value in zip(heads, states, strict=True):
            H[:, list(head.copies)] = value[:, None]
        return model.read(H, letters)

    return Learned(
        folder, letters, heads, output_target(answers), model, head_states,
        read if note is None else None, f"{ARITHMETIC}fp32", () if note is None else (note,),
    )  # fmt: skip


def prove_fla(
    folder: str,
    automaton: AutomatonLike,
    arithmetic: str | None = None,
    **limits: Unpack[ProofLimits],
) -> Proof:
    """`prove` for a checkpoint, with its own read-out.

    The dtype is that of weights and activations; the state is in float32 (fp64: all in float64).

    Args:
        folder: the checkpoint, with a `task.json`.
        automaton: the automaton with which it must agree on every word, in any form that `as_automaton` accepts.
        arithmetic: `fla:naive:DTYPE`, by default `fla:naive:bf16`.
        **limits: as `prove` takes them.

    Returns:
        The proof: equivalent, a shortest wrong word, or unknown.

    Raises:
        InputError: `arithmetic` is another, the checkpoint cannot be read, or its letters or answers are not the automaton's.
    """
    automaton = as_automaton(automaton)
    name = arithmetic or f"{ARITHMETIC}bf16"
    dtype = name.removeprefix(ARITHMETIC)
    if not name.startswith(ARITHMETIC) or dtype not in DTYPES:
        raise InputError(
            f"`arithmetic` {arithmetic}: an FLA checkpoint runs as FLA's naive functions do; write {ARITHMETIC}bf16 "
            f"(or {', '.join(d for d in DTYPES if d != 'bf16')})"
        )
    model, answers, _ = _model(folder, automaton, dtype, None)
    return prove(model, automaton, name, answers=answers, **limits)


def fla_spectrum(
    path: str,
    *,
    products: int = 0,
    max_dim: int = 64,
    max_letters: int = 2_000,
    max_products: int = 2_000,
    within: float = 0.0,
) -> ModelSpectrum:
    """Spectra of all heads of one layer without short convolution; see `model_spectrum`.

    Args:
        path: the checkpoint; its letters are those of `task.json`, without one all tokens.
        products: all distinct products of letters up to this length too, at least 0.
        max_dim: largest dimension of a matrix.
        max_letters: the largest number of distinct letter matrices.
        max_products: the largest number of distinct products.
        within: the distance within which ranks, norms and stability are judged.

    Returns:
        The spectra of all heads.

    Raises:
        InputError: a letter has no transition of its own, as with several layers or a convolution.
        LimitError: a limit was reached.
    """
    kind = read_config(path, (*DEFAULTS, *load_layers(), *HYBRIDS))["model_type"]
    if kind not in DEFAULTS:
        model, _ = read_as_model(path, kind)
        count = model.config.letters
        texts = {str(x): x for x in range(count)}
        if is_file(Path(path) / "task.json"):
            texts = dict(read_task(path, count).letters)
        return model_letter_spectrum(
            model, list(texts), list(texts.values()), path,
            products=products, max_dim=max_dim, max_letters=max_letters, max_products=max_products, within=within,
        )  # fmt: skip
    config, tensors = load_fla(path)
    if config["num_hidden_layers"] > 1 or config.get("use_short_conv", True):
        why = "a short convolution" if config.get("use_short_conv", True) else "several layers"
        raise InputError(
            f"{path}: it has {why}, so transitions depend on earlier letters and have no spectrum by letter; `audit` measures their "
            "eigenvalues on a text or on random words, and `import fla` writes their means, which `spectrum` reads"
        )
    labels, tokens = [str(x) for x in range(config["vocab_size"])], None
    if is_file(Path(path) / "task.json"):
        task = read_task(path, config["vocab_size"])
        labels, tokens = list(task.letters), list(task.letters.values())
    heads, _ = fla_heads(FlaModel(config, tensors, letters=tokens))
    spectra = []
    for head in heads:
        assert head.factors is not None  # of one layer without convolution
        parts = zip(head.factors.beta, head.factors.keys, head.factors.gate, strict=True)
        found = model_spectrum(
            dict(zip(labels, [multiply_exactly(*letter) for letter in parts], strict=True)), products=products, name=f"{path}, {head.name}",
            max_dim=max_dim, max_letters=max_letters, max_products=max_products,
        )  # fmt: skip
        spectra.append(replace(found.heads[0], name=head.name))
    return ModelSpectrum(path, tuple(spectra), found.notes, found.within)


def _model(
    folder: str, automaton: Automaton, dtype: str, task: FlaTask | None
) -> tuple[FlaModel, Answers, tuple[str, ...]]:
    """The model, how it is compared, and the texts of its letters."""
    config, tensors = load_fla(folder)
    known = task or read_task(folder, config["vocab_size"])
    answers = known.answers_to(automaton, folder)
    model = FlaModel(
        config, tensors, dtype=dtype, bos=known.bos, letters=list(known.letters.values()),
        meaning=known.meaning(config["vocab_size"]),
    )  # fmt: skip
    return model, answers, tuple(known.letters)
