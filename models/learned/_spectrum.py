"""`model_letter_spectrum`: eigenvalues of a trained model's transitions, where each letter has a transition of its own.

Where a mixer says its gate and factors, a transition is their product in exact numbers: rounded entry by entry, a product of one factor
would not be symmetric, and its equal eigenvalues would come out as several, some of them not real.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...constructions.algebra._cyclotomic import Number
from ...constructions.algebra._householder import GHFactor, product_of
from ...foundation._errors import InputError
from ...foundation._text import count_noun
from ...theory.arithmetic._rounding import Floats
from ...theory.spectra._model import ModelSpectrum, model_spectrum
from .._families import find_family
from .._model import Model
from .._model_file import load_model
from ..tasks._contract import read_contract
from ._learned import LearnedHead
from ._model import merge_equal_heads, watch_mixers


def model_letter_spectrum(
    model: Model, labels: Sequence[str], tokens: Sequence[int], name: str, **limits: Any
) -> ModelSpectrum:
    """Spectra of all heads of a model of one layer, equal heads once.

    The model runs in float64. Of a layer with factors, β, keys and gates are its numbers, and their product is exact.

    Args:
        model: a model of one seed.
        labels: the texts of letters.
        tokens: the model's number of each letter.
        name: of the model, for errors and the result.
        **limits: as `model_spectrum` takes them.

    Returns:
        The spectra of all heads.

    Raises:
        InputError: a letter has no transition of its own, or the family has no transitions.
        LimitError: a limit was reached.
    """
    config = model.config
    family = find_family(config.family)
    if family.baseline:
        raise InputError(f"{name}: {config.family} has no linear heads, so its letters have no matrices")
    if len(model.seeds) != 1:
        raise InputError(f"{name}: the model has {len(model.seeds)} seeds: choose one with `select`")
    if config.layers > 1 or config.conv or family.looks_back:
        why = [count_noun(config.layers, "layer")] if config.layers > 1 else []
        why += ["a short convolution"] if config.conv else []
        why += ["a token shift"] if family.looks_back else []
        raise InputError(
            f"{name}: it has {' and '.join(why)}, so transitions depend on earlier letters and have no spectrum by letter; `audit` measures "
            "their eigenvalues on a text or on random words, and `compare` shows the means of each letter"
        )
    found: list[Tensor] = []
    parts: list[Any] = []

    def seen(_: int, mixer: Any, x: Tensor, state: Any) -> None:
        found.append(mixer.transitions(x, state)[0, :, 0])  # [letters, heads, n, n]
        if hasattr(mixer, "factors"):
            parts.extend(y[0, :, 0].double().numpy() for y in mixer.factors(x, state))

    wide = copy.deepcopy(model).double().eval()
    with torch.no_grad(), watch_mixers(wide, seen):
        wide(torch.tensor(list(tokens))[None, :, None])
    A = found[0].numpy()
    if not np.isfinite(A).all():
        raise InputError(f"{name}: it has transitions that are not finite: the training diverged")
    nothing = np.zeros((len(tokens), A.shape[2], 1))
    heads = [
        LearnedHead(f"head 1.{h + 1}", A[:, h], nothing, nothing[0], None, None, 0.0, (h,))
        for h in range(A.shape[1])
    ]
    spectra = []
    for head in merge_equal_heads(heads):
        matrices: Any = head.A
        if parts:
            beta, keys, gate = (
                y[:, ..., head.copies[0], :] if y.ndim == 4 else y[..., head.copies[0]] for y in parts
            )
            matrices = [multiply_exactly(*letter) for letter in zip(beta, keys, gate, strict=True)]
        one = model_spectrum(
            dict(zip(labels, matrices, strict=True)), name=f"{name}, {head.name}", **limits
        )  # fmt: skip
        spectra.append(replace(one.heads[0], name=head.name))
    return ModelSpectrum(name, tuple(spectra), one.notes, one.within)


def multiply_exactly(beta: Floats, keys: Floats, gate: float) -> list[list[Number]]:
    """(I - β_n k_n k_nᵀ)···(I - β_1 k_1 k_1ᵀ) g, of floats `[n_h]`, `[n_h, n]` and g, in exact numbers."""
    factors = [
        GHFactor(Fraction(strength), tuple((i, Fraction(x)) for i, x in enumerate(key) if x))
        for strength, key in zip(beta.tolist(), keys.tolist(), strict=True)
    ]
    return [[Fraction(float(gate)) * a for a in row] for row in product_of(factors, keys.shape[-1])]


def folder_spectrum(folder: str, **limits: Any) -> ModelSpectrum:
    """Spectra of all heads of a model folder; see `model_letter_spectrum`.

    Args:
        folder: the model folder.
        **limits: as `model_spectrum` takes them.

    Returns:
        The spectra of all heads, by the letters of the task, BOS left out.

    Raises:
        InputError: a file is wrong, or a letter has no transition of its own.
        LimitError: a limit was reached.
    """
    model, _ = load_model(folder)
    contract = read_contract(Path(folder) / "task.json")
    count = model.config.letters
    labels = list(contract.alphabet)
    if len(labels) != count:  # bytes and tokens are numbers
        labels = [str(i) for i in range(count)]
    elif contract.bos:
        labels = labels[:-1]
    return model_letter_spectrum(model, labels, range(len(labels)), folder, **limits)
