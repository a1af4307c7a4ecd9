"""Running a cascade, and testing that it emulates its transformation semigroup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..automaton import Indices
from .automata import Cascade

EXHAUSTIVE_LIMIT = 200_000
SAMPLES = 20_000

_BATCH = 1 << 15


@dataclass(frozen=True)
class EmulationFailure:
    """A joint state and an input letter after which the cascade does not stand for the right point.

    `expected`: the point that the letter makes of the joint state's point; `covered`: the point of the new joint
    state; `named`: the point that the last level names.
    """

    state: tuple[int, ...]
    letter: int
    expected: int
    covered: int
    named: int


@dataclass(frozen=True)
class EmulationCheck:
    """What was tested: all pairs of a joint state and an input letter, or samples; and the first failure."""

    kind: Literal["exhaustive", "sampled"]
    joint_states: int
    letters: int
    checked: int
    failure: EmulationFailure | None


def emulate(cascade: Cascade, word: ArrayLike, start: int = 0) -> Indices:
    """Points after each letter of a word of input letter indices `[..., T]`, from a start point, by the cascade.

    The points are those that the last level names; no map of the semigroup is applied.
    """
    letters = np.asarray(word, dtype=np.int64)
    points = np.empty_like(letters)
    states = np.broadcast_to(cascade.initial[start], (*letters.shape[:-1], len(cascade.degrees)))
    for t in range(letters.shape[-1]):
        states, points[..., t] = cascade.step(states, letters[..., t])
    return points


def check_emulation(
    cascade: Cascade, *, exhaustive_limit: int = EXHAUSTIVE_LIMIT, samples: int = SAMPLES, seed: int = 0
) -> EmulationCheck:
    """Whether every step of the cascade is the letter's step on the points.

    All pairs of a joint state and an input letter where there are at most `exhaustive_limit`, else `samples` joint
    states drawn uniformly, each with every letter (`cascade_proof` covers all of them). The initial states are
    tested too: each must stand for its point.
    """
    letters = len(cascade.letter_of)
    exhaustive = cascade.joint_states * max(letters, 1) <= exhaustive_limit
    count = cascade.joint_states if exhaustive else samples
    found: EmulationFailure | None = None
    checked = 0
    covered = cascade.point_of(cascade.initial)
    for point in np.flatnonzero(covered != np.arange(len(covered))).tolist():
        state = tuple(cascade.initial[point].tolist())
        found = EmulationFailure(state, -1, point, int(covered[point]), point)
        break
    batches = _all_states(cascade) if exhaustive else _drawn_states(cascade, samples, seed)
    for states in batches:
        if found is not None:
            break
        for letter in range(letters):
            found = found or _failure(cascade, states, letter)
            checked += len(states)
    assert found is not None or checked == count * letters
    kind: Literal["exhaustive", "sampled"] = "exhaustive" if exhaustive else "sampled"
    return EmulationCheck(kind, cascade.joint_states, letters, checked, found)


def _failure(cascade: Cascade, states: Indices, letter: int) -> EmulationFailure | None:
    new, named = cascade.step(states, np.full(len(states), letter, dtype=np.int64))
    expected = cascade.holonomy.maps[letter, cascade.point_of(states)]
    covered = cascade.point_of(new)
    wrong = np.flatnonzero((covered != expected) | (named != expected))
    if not wrong.size:
        return None
    i = int(wrong[0])
    state = tuple(states[i].tolist())
    return EmulationFailure(state, letter, int(expected[i]), int(covered[i]), int(named[i]))


def _all_states(cascade: Cascade) -> Iterator[Indices]:
    for first in range(0, cascade.joint_states, _BATCH):
        rest = np.arange(first, min(first + _BATCH, cascade.joint_states))
        states = np.empty((len(rest), len(cascade.degrees)), dtype=np.int64)
        for column in reversed(range(len(cascade.degrees))):
            rest, states[:, column] = np.divmod(rest, cascade.degrees[column])
        yield states


def _drawn_states(cascade: Cascade, samples: int, seed: int) -> Iterator[Indices]:
    generator = np.random.default_rng(seed)
    for first in range(0, samples, _BATCH):
        rows = min(_BATCH, samples - first)
        yield generator.integers(0, cascade.degrees, size=(rows, len(cascade.degrees)))
