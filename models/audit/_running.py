"""A model that reads words: the transitions of every token in every layer, and states, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ...theory.arithmetic._rounding import Floats
from .._model import Model
from ..fla._model import FlaModel
from ..learned._model import watch_mixers
from ._steps import DiagonalSteps, FactorSteps, MatrixSteps, Steps, diagonals_of

PIECE = 32
"""Tokens between two states that are looked at, which are also run at once."""
MAX_ENTRIES = 60_000_000
"""Largest number of numbers of the transitions of one window in all layers together, which are held in float64."""


@dataclass(frozen=True, eq=False)
class LayerRun:
    """What a window did in one layer.

    Attributes:
        layer: the number of the layer, from 0.
        steps: the transitions of all tokens.
        states: H after every `PIECE` tokens, `[states, heads, K, V]`.
    """

    layer: int
    steps: Steps
    states: Floats


def run_window(model: Model | FlaModel, tokens: Indices, name: str) -> list[LayerRun]:
    """Let a model read one window from its first state.

    Args:
        model: a model of one seed with linear heads, or an FLA checkpoint.
        tokens: int `[tokens]`.
        name: the model's name, for error messages.

    Returns:
        The layers, from below.

    Raises:
        InputError: a transition or state is not finite.
        LimitError: the transitions are more than `MAX_ENTRIES` numbers.
    """
    layers = _run_fla(model, tokens, name) if isinstance(model, FlaModel) else _run_model(model, tokens, name)
    runs = [layer.finish(i) for i, layer in enumerate(layers)]
    for run in runs:
        if not (_is_finite(run.steps) and np.isfinite(run.states).all()):
            raise InputError(
                f"{name}: layer {run.layer + 1} has transitions or states that are not finite on this text: the training diverged"
            )
    return runs


def _is_finite(steps: Steps) -> bool:
    return all(np.isfinite(value).all() for value in vars(steps).values())


@dataclass(eq=False)
class _Layer:
    """The transitions and states of one layer, piece by piece."""

    factors: list[tuple[Floats, Floats, Floats]] = field(default_factory=list)
    diagonals: list[Floats] = field(default_factory=list)
    matrices: list[Floats] = field(default_factory=list)
    states: list[Floats] = field(default_factory=list)

    def add_matrices(self, A: Floats) -> None:
        """As diagonals as long as all are such."""
        entries = None if self.matrices else diagonals_of(A)
        if entries is not None:
            self.diagonals.append(entries)
            return
        self.matrices += [d[..., None] * np.eye(d.shape[-1]) for d in self.diagonals]
        self.diagonals = []
        self.matrices.append(A)

    @property
    def size(self) -> int:
        """Numbers that are held."""
        return sum(x.size for part in self.factors for x in part) + sum(
            x.size for x in (*self.diagonals, *self.matrices, *self.states)
        )

    def finish(self, layer: int) -> LayerRun:
        """All tokens together."""
        states = np.array(self.states)
        if self.factors:
            beta, keys, gate = (np.concatenate(parts) for parts in zip(*self.factors, strict=True))
            return LayerRun(layer, FactorSteps(beta, keys, gate), states)
        if self.diagonals:
            return LayerRun(layer, DiagonalSteps(np.concatenate(self.diagonals)), states)
        return LayerRun(layer, MatrixSteps(np.concatenate(self.matrices)), states)


def _check_size(layers: list[_Layer], read: int, tokens: int, name: str) -> None:
    """After the first piece: the whole window must fit."""
    entries = sum(layer.size for layer in layers) * tokens // read
    if entries > MAX_ENTRIES:
        raise LimitError(
            f"{name}: the transitions of {tokens:,} tokens are {entries:,} numbers, more than {MAX_ENTRIES:,}: lower `length`"
        )


def _run_model(model: Model, tokens: Indices, name: str) -> list[_Layer]:
    layers = [_Layer() for _ in model.blocks]

    def seen(i: int, mixer: Any, x: Any, state: Any) -> None:
        if hasattr(mixer, "factors"):
            beta, keys, gate = (y[0, 0].double().numpy() for y in mixer.factors(x, state))
            layers[i].factors.append((beta, keys, gate))
        else:
            layers[i].add_matrices(mixer.transitions(x, state)[0, 0].double().numpy())

    states = None
    with torch.no_grad(), watch_mixers(model, seen):
        for at in _pieces(len(tokens)):
            _, states = model(torch.from_numpy(tokens[None, None, at]), states)
            for layer, state in zip(layers, states, strict=True):
                H = state["H"][0, 0].double().numpy()
                layer.states.append(H if H.ndim == 3 else H[..., None])
            if at.start == 0:
                _check_size(layers, at.stop, len(tokens), name)
    return layers


def _run_fla(model: FlaModel, tokens: Indices, name: str) -> list[_Layer]:
    layers = [_Layer() for _ in range(model.layers)]
    states = model.initial(1)
    for at in _pieces(len(tokens)):
        for token in tokens[at]:
            _, states, drives = model.forward(states, np.array([token]))
            for layer, drive in zip(layers, drives, strict=True):
                beta, keys, gate = (x.astype(np.float64) for x in (drive.beta, drive.k, drive.gate))
                layer.factors.append((beta, keys, gate))
        for layer, H in zip(layers, model.heads_of(states), strict=True):
            layer.states.append(H[0].astype(np.float64))
        if at.start == 0:
            _check_size(layers, at.stop, len(tokens), name)
    return layers


def _pieces(tokens: int) -> Iterator[slice]:
    for at in range(0, tokens, PIECE):
        yield slice(at, min(at + PIECE, tokens))
