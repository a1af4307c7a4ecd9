"""S.star-free: aperiodic automata as layers of set/reset cells with diagonal, non-negative transitions.

A level of the cascade holds points one-hot and reads the point *before* the token. An exchange of halves would remember
that, but is not diagonal. Here a reset divides the state by four and adds the new one-hot vector: w ← w/4 + e_c, a letter
that moves nothing is w ← w. Whole parts are then the current point, quarters the one before the last reset; a finite
format drops all deeper digits, so that there are finitely many states. Eigenvalues are 1 and 1/4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automaton import Automaton, Indices
from ...constructions.cascades.automata import CascadeLevel
from ...constructions.cascades.cascade import cascade
from ...constructions.errors import NotRealisableError
from ..arithmetic.arithmetic import PerStep
from ..arithmetic.names import parse_arithmetic
from ..arithmetic.rounding import Floats
from ..arithmetic.value_sets import all_values

ARITHMETIC = "per_step:fixed:4:2"
"""Four bits, two of them below the point: entries are 0, 1/4, 1 and 5/4."""


@dataclass(frozen=True, eq=False)
class DiagonalLayer:
    """w ← Q(a(x) ⊙ w + b(x)): `scale`, `added` `[letters, n]`; the components of `level` side by side from `starts`.

    `resets`: `[components, letters]`, which letters reset which component.
    """

    level: CascadeLevel
    scale: Floats
    added: Floats
    resets: Indices
    starts: tuple[int, ...]

    def following(self, w: Floats, letters: Indices) -> Indices:
        """The next layer's letters (on the last layer states) from new states `[sequences, n]` and letters."""
        read = self.level.reads[letters]
        point = np.zeros(len(letters), dtype=np.int64)
        for c, (start, degree) in enumerate(zip(self.starts, self.level.degrees, strict=True)):
            part = w[:, start : start + degree]
            whole = np.floor(part)
            before = np.where(self.resets[c, letters][:, None], part - whole, whole)
            point = np.where(read == c, before.argmax(axis=1), point)
        return self.level.next_letter[letters, point].astype(np.int64)


class DiagonalCells:
    """The layers of an aperiodic automaton, a `Stepper` that decodes to the automaton's states; saturating `per_step`.

    Raises `NotRealisableError`, which names the level, where a component of the cascade is permuted: then the
    automaton is not aperiodic. And for an automaton of one state, which needs no cells.
    """

    def __init__(self, automaton: Automaton, arithmetic: str = ARITHMETIC) -> None:
        model = parse_arithmetic(arithmetic)
        if not isinstance(model, PerStep):
            raise TypeError(f"{arithmetic} is not per_step")
        self.arithmetic, self.automaton = model, automaton
        built = cascade(automaton)
        if not built.levels:
            raise NotRealisableError(f"{automaton.name}: one state needs no cells")
        self.letter_of = built.letter_of
        self.layers = tuple(_layer(automaton, i, level) for i, level in enumerate(built.levels))
        first = built.initial[automaton.start]
        self.first = []
        for layer, columns in zip(self.layers, built.columns, strict=True):
            w = np.zeros((1, layer.scale.shape[1]))
            w[0, np.array(layer.starts) + first[columns]] = 1
            self.first.append(w)

    @property
    def eigenvalues(self) -> tuple[float, ...]:
        """The distinct diagonal entries of all letters of all layers."""
        return tuple(sorted({float(x) for layer in self.layers for x in np.unique(layer.scale)}))

    def initial(self, sequences: int) -> list[Floats]:
        """The start of each layer, `[sequences, n]`."""
        return [np.repeat(w, sequences, axis=0) for w in self.first]

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """One token."""
        running = self.letter_of[np.asarray(letters)]
        after = []
        for layer, w in zip(self.layers, states, strict=True):
            after.append(self.arithmetic.round(layer.scale[running] * w + layer.added[running]) + 0.0)
            running = layer.following(after[-1], running)
        return after

    def decode(self, states: Sequence[Floats], letters: ArrayLike) -> Indices:
        """The states that the last layer names."""
        running: Indices = self.letter_of[np.asarray(letters)]
        for layer, w in zip(self.layers, states, strict=True):
            running = layer.following(w, running)
        return running


def _layer(automaton: Automaton, number: int, level: CascadeLevel) -> DiagonalLayer:
    starts = np.cumsum([0, *level.degrees])
    scale = np.ones((level.letters, int(starts[-1])))
    added = np.zeros_like(scale)
    resets = np.zeros((len(level.degrees), level.letters), dtype=np.int64)
    for c, table in enumerate(level.actions):
        kinds = [level.kind(c, a) for a in range(len(table))]
        if "permutation" in kinds:
            raise NotRealisableError(
                f"{automaton.name}: level {number + 1} of its cascade has a group, so the automaton is not aperiodic"
            )
        part = slice(int(starts[c]), int(starts[c + 1]))
        for x, a in enumerate(level.action_of[c].tolist()):
            if kinds[a] == "reset":
                resets[c, x] = 1
                scale[x, part] = 0.25
                added[x, int(starts[c]) + int(table[a, 0])] = 1
    return DiagonalLayer(level, scale, added, resets, tuple(int(s) for s in starts[:-1]))


def words_settle(weights: Sequence[float], added: Sequence[float], arithmetic: str) -> bool:
    """Does h ← Q(a h + b), the letters read round and round, end in one state a round, from every value of the format?

    `weights`, `added`: a and b of the letters of a word, one channel. With a ≥ 0 it does, since a word is then a
    non-decreasing map of one number.
    """
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, PerStep):
        raise TypeError(f"{arithmetic} is not per_step")
    values = all_values(model.values)
    image = values
    for a, b in zip(weights, added, strict=True):
        image = model.round(a * image + b)
    late = places = np.searchsorted(values, image)
    for _ in range(len(values).bit_length()):
        late = late[late]
    return bool((places[late] == late).all())
