"""Cascades of permutation-reset automata (G.T4), as tables.

A joint state holds one tile per component. Walked from the top it names a chain: the set of all points, a tile of
it, a tile of that, down to a single point; components that the chain does not meet may hold any tile. A level
reads, besides its letter, the old tile of at most one component, and makes of it the next level's letter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..automata._automaton import Indices
from ._holonomy import Holonomy

Table = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CascadeLevel:
    """The components of one level of a cascade. They do not read each other, so they become heads of one layer.

    Attributes:
        classes: for each component, its class in the holonomy decomposition.
        degrees: for each component, its number of tiles.
        actions: for each component its distinct actions, `[actions, tiles]`; each is a permutation or a
            constant.
        action_of: `[components, letters]`, the action of each level letter on each component.
        reads: `[letters]`, the component on whose old tile the letter of the next level depends; -1 for none.
        next_letter: `[letters, width]`, the next level's letter for each old tile of that component (column 0
            if none is read, -1 if there is no such tile). On the last level it is the new point, and a component
            that is read there is permuted, so that its new tile determines the old one.
    """

    classes: tuple[int, ...]
    degrees: tuple[int, ...]
    actions: tuple[Table, ...]
    action_of: Table
    reads: Table
    next_letter: Table

    @property
    def letters(self) -> int:
        """Number of level letters."""
        return len(self.reads)

    def kind(self, component: int, action: int) -> str:
        """`identity`, `permutation` or `reset`.

        Args:
            component: index of a component of the level.
            action: index into the component's `actions`.
        """
        row = self.actions[component][action].tolist()
        if row == list(range(len(row))):
            return "identity"
        return "permutation" if len(set(row)) == len(row) else "reset"

    def step(self, tiles: Indices, letters: Indices) -> tuple[Indices, Indices]:
        """Compute the new tiles `[..., components]` and the letters of the next level (on the last level points) `[...]`.

        Args:
            tiles: the tile of each component, int array `[..., components]`.
            letters: indices of level letters, int array `[...]`.
        """
        new = np.empty_like(tiles)
        for c, table in enumerate(self.actions):
            new[..., c] = table[self.action_of[c, letters], tiles[..., c]]
        read = self.reads[letters]
        # the tile before the letter, of the component that the letter reads
        old = np.take_along_axis(tiles, np.maximum(read, 0)[..., None], axis=-1)[..., 0]
        following = self.next_letter[letters, np.where(read < 0, 0, old)]
        return new, following.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Cascade:
    """A cascade for a transformation semigroup, with its covering map onto the points.

    A joint state `[..., components]` lists the tiles of the components of all levels, from the top level down.

    Attributes:
        holonomy: the holonomy decomposition from which it was built.
        levels: the levels, from the top down; none for a single point.
        letter_of: int array `[input letters]`, the letter of the first level for each input letter.
        initial: int array `[points, components]`, a joint state for each point.
    """

    holonomy: Holonomy
    levels: tuple[CascadeLevel, ...]
    letter_of: Indices
    initial: Indices

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """The number of tiles of every component, from the top level down."""
        return tuple(d for level in self.levels for d in level.degrees)

    @property
    def joint_states(self) -> int:
        """Number of joint states, the product of all degrees; each of them is a state of some point."""
        return math.prod(self.degrees)

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """For each level its columns in a joint state."""
        ends = np.cumsum([0, *(len(level.degrees) for level in self.levels)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    def point_of(self, states: Indices) -> Indices:
        """The covering map: joint states `[..., components]` to points `[...]`.

        Args:
            states: joint states, int array `[..., components]`.
        """
        return self.holonomy.points_of_singletons[self.chains(states)[-1]]

    def chains(self, states: Indices) -> list[Indices]:
        """For each level, the set that the chain of each joint state reaches below it, `[...]`, the top set first.

        Args:
            states: joint states, int array `[..., components]`.
        """
        skeleton = self.holonomy
        chains = [np.zeros(states.shape[:-1], dtype=np.int64)]
        # the level of height h belongs to chains whose set has height h; others pass by
        for height, level, columns in zip(
            range(len(self.levels), 0, -1), self.levels, self.columns, strict=True
        ):
            sets = chains[-1].copy()
            met = skeleton.height_of[sets] == height
            component = places(level.classes, len(skeleton.classes))[skeleton.class_of[sets[met]]]
            tiles = np.take_along_axis(states[..., columns][met], component[:, None], axis=1)[:, 0]
            sets[met] = skeleton.tile(sets[met], tiles)
            chains.append(sets)
        return chains

    def step(self, states: Indices, letters: Indices) -> tuple[Indices, Indices]:
        """Compute the joint states after input letters, and the points that the last level gives.

        Args:
            states: joint states, int array `[..., components]`.
            letters: indices of input letters, int array `[...]`.
        """
        new = np.empty_like(states)
        running = self.letter_of[letters]
        # a single point: nothing to step
        if not self.levels:
            running = np.zeros_like(running)
        for level, columns in zip(self.levels, self.columns, strict=True):
            new[..., columns], running = level.step(states[..., columns], running)
        return new, running


def places(classes: tuple[int, ...], count: int) -> Indices:
    """For each class its place in a level's components, -1 where it is on another level."""
    places = np.full(count, -1, dtype=np.int64)
    places[list(classes)] = np.arange(len(classes))
    return places
