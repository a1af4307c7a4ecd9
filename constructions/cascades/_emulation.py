"""Running a cascade, and testing that it emulates its transformation semigroup.

A proof, level by level, that a cascade emulates its semigroup from every joint state, however many there are.

The joint states are all combinations of tiles, so the tiles on a level are independent of those above it. Hence it
is enough to follow, from the top, what can occur on each level: the level letter, the input letter, and the sets P
of the old and T of the new chain there. Below the last level these are points, and T must be P·x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ...foundation._text import refuse_truth
from ..automata._automaton import Indices
from ._automata import Cascade, CascadeLevel, places
from ._holonomy import Holonomy

EXHAUSTIVE_LIMIT = 200_000
SAMPLES = 20_000

_BATCH = 1 << 15


@dataclass(frozen=True)
class EmulationFailure:
    """A joint state and an input letter after which the cascade represents a wrong point.

    Attributes:
        state: the joint state, one tile per component.
        letter: index of the input letter.
        expected: the point to which the letter takes the point of the joint state.
        covered: the point of the new joint state.
        named: the point that the last level gives.
    """

    state: tuple[int, ...]
    letter: int
    expected: int
    covered: int
    named: int


@dataclass(frozen=True)
class EmulationCheck:
    """The result of testing pairs of a joint state and an input letter, all of them or samples.

    Attributes:
        kind: `exhaustive`, or `sampled`.
        joint_states: number of joint states of the cascade.
        letters: number of input letters.
        checked: number of pairs of a joint state and a letter that were tested.
        failure: the first failure; None if there is none.
    """

    kind: Literal["exhaustive", "sampled"]
    joint_states: int
    letters: int
    checked: int
    failure: EmulationFailure | None

    def __bool__(self) -> NoReturn:
        raise refuse_truth(self, "failure")


def emulate(cascade: Cascade, word: ArrayLike, start: int = 0) -> Indices:
    """Run the cascade on words and return the points after each letter, `[..., T]`.

    The points are those that the last level gives; no map of the semigroup is applied.

    Args:
        cascade: the cascade.
        word: indices of input letters, int array `[..., T]`.
        start: index of the point at which the run begins.

    Examples:
        >>> from mirrormata import automaton_from_spec
        >>> from mirrormata.constructions import cascade, emulate
        >>> emulate(cascade(automaton_from_spec("T3")), [0, 1, 2])
        array([1, 0, 0])
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
    """Test whether every step of the cascade agrees with the step of the letter on the points.

    If there are at most `exhaustive_limit` pairs of a joint state and an input letter, all are tested. Otherwise `samples` joint
    states are drawn uniformly, and each is tested with every letter (`prove_emulation` covers all joint states). Each initial
    state must represent its point.

    Args:
        cascade: the cascade.
        exhaustive_limit: the largest number of pairs of a joint state and a letter that are all tested.
        samples: the number of joint states that are drawn if there are more pairs.
        seed: the seed of the samples.
    """
    letters = len(cascade.letter_of)
    exhaustive = cascade.joint_states * max(letters, 1) <= exhaustive_limit
    count = cascade.joint_states if exhaustive else samples
    found: EmulationFailure | None = None
    checked = 0
    # the initial joint states must lie over their points
    covered = cascade.point_of(cascade.initial)
    for point in np.flatnonzero(covered != np.arange(len(covered))).tolist():
        state = tuple(cascade.initial[point].tolist())
        found = EmulationFailure(state, -1, point, int(covered[point]), point)
        break
    batches = _all_states(cascade) if exhaustive else _draw_states(cascade, samples, seed)
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
        # mixed radix, the last component fastest
        for column in reversed(range(len(cascade.degrees))):
            rest, states[:, column] = np.divmod(rest, cascade.degrees[column])
        yield states


def _draw_states(cascade: Cascade, samples: int, seed: int) -> Iterator[Indices]:
    generator = np.random.default_rng(seed)
    for first in range(0, samples, _BATCH):
        rows = min(_BATCH, samples - first)
        yield generator.integers(0, cascade.degrees, size=(rows, len(cascade.degrees)))


@dataclass(frozen=True)
class CascadeProof:
    """The outcome of `prove_emulation`.

    Attributes:
        cases: the number of situations that occur on each level from the top, and last of those below the last
            level.
        failure: None if the proof is complete; otherwise a line about the first situation that is wrong.
    """

    cases: tuple[int, ...]
    failure: str | None

    def __bool__(self) -> bool:
        """Is the proof complete?"""
        return self.failure is None


@dataclass(frozen=True, eq=False)
class _Situations:
    """Int arrays `[situations]`: level letters, input letters, sets of the old and of the new chain."""

    level_letter: Indices
    letter: Indices
    old: Indices
    new: Indices

    def distinct(self) -> _Situations:
        numbers = np.zeros(len(self.letter), dtype=np.int64)
        for row in (self.level_letter, self.letter, self.old, self.new):
            # rows are distinct by all their numbers, taken in one after another
            _, numbers = np.unique(numbers * (int(row.max(initial=0)) + 1) + row, return_inverse=True)
            numbers = numbers.reshape(-1)
        kept = np.unique(numbers, return_index=True)[1]
        return _Situations(self.level_letter[kept], self.letter[kept], self.old[kept], self.new[kept])


def prove_emulation(cascade: Cascade) -> CascadeProof:
    """Prove or refute that every letter takes every joint state to one that represents the right point.

    The proof also covers that the last level gives this point. It is equivalent to an exhaustive check of all pairs of a joint state
    and a letter, but its cost grows only with the number of level letters.

    Args:
        cascade: the cascade.
    """
    skeleton = cascade.holonomy
    letters = np.arange(len(cascade.letter_of))
    # at first both chains are at the set of all points
    top = np.zeros_like(letters)
    current = _Situations(cascade.letter_of, letters, top, top)
    cases = []
    for number, level in enumerate(cascade.levels):
        cases.append(len(current.letter))
        height = len(cascade.levels) - number
        current = _below(skeleton, level, height, current)
        # the chains must go down a level each time
        for name, sets in (("old", current.old), ("new", current.new)):
            if (skeleton.height_of[sets] >= height).any():
                return CascadeProof(tuple(cases), f"level {number + 1}: the {name} chain does not go down")
        if (current.level_letter < 0).any():
            return CascadeProof(tuple(cases), f"level {number + 1}: a letter of the next level is missing")
    cases.append(len(current.letter))
    # below the last level sets are points
    points = skeleton.points_of_singletons
    expected = skeleton.maps[current.letter, points[current.old]]
    named = current.level_letter if cascade.levels else expected
    wrong = np.flatnonzero((points[current.new] != expected) | (named != expected))
    if not wrong.size:
        return CascadeProof(tuple(cases), None)
    i = int(wrong[0])
    return CascadeProof(
        tuple(cases),
        f"letter {int(current.letter[i])} takes point {int(points[current.old[i]])} to {int(expected[i])}, "
        f"the cascade to {int(points[current.new[i]])} (and the last level names {int(named[i])})",
    )


def _below(skeleton: Holonomy, level: CascadeLevel, height: int, above: _Situations) -> _Situations:
    """All situations on the next level, for every combination of the old tiles that matter."""
    place = places(level.classes, len(skeleton.classes))
    # the component that the old chain meets, the one that the new chain meets, and the one that is read
    met = np.where(skeleton.height_of[above.old] == height, place[skeleton.class_of[above.old]], -1)
    entered = np.where(skeleton.height_of[above.new] == height, place[skeleton.class_of[above.new]], -1)
    read = level.reads[above.level_letter].astype(np.int64)
    matter = np.stack([met, entered, read])
    # a component that matters twice is counted once
    matter[1][matter[1] == matter[0]] = -1
    matter[2][(matter[2] == matter[0]) | (matter[2] == matter[1])] = -1
    # -1 takes the last degree, 1
    degrees = np.array([*level.degrees, 1])[matter]
    rows = np.repeat(np.arange(len(met)), degrees.prod(axis=0))
    # the rank of a row among those of its situation, in mixed radix one tile for each component
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    tiles = np.full((len(level.degrees) + 1, len(rows)), -1, dtype=np.int64)
    for component, degree in zip(matter, degrees, strict=True):
        rank, chosen = np.divmod(rank, degree[rows])
        tiles[component[rows], np.arange(len(rows))] = chosen
    level_letter, old, new = above.level_letter[rows], above.old[rows], above.new[rows]
    read, met, entered = read[rows], met[rows], entered[rows]
    column = np.where(read < 0, 0, tiles[read, np.arange(len(rows))])
    following = level.next_letter[level_letter, column].astype(np.int64)
    # the old chain goes on by the old tile
    down = met >= 0
    old[down] = skeleton.tile(old[down], tiles[met[down], np.flatnonzero(down)])
    # the new chain by the tile that the component's action makes of it
    for component, table in enumerate(level.actions):
        here = np.flatnonzero(entered == component)
        action = level.action_of[component, level_letter[here]]
        new[here] = skeleton.tile(new[here], table[action, tiles[component, here]].astype(np.int64))
    return _Situations(following, above.letter[rows], old, new).distinct()
