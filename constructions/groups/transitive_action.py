"""A group acting on points, from a group automaton: regular where that can be had, else as the automaton gives it.

Letters act from the left: `letters[x, p]` is x·p. In a regular action the points are the group elements, point 0
is the identity, and right multiplications commute with all letters; subgroups are then found from points alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np

from ..automaton import Automaton, Indices, breadth_first
from .permutations import cycle_lengths, orbits


@dataclass(frozen=True, eq=False)
class TransitiveAction:
    """A transitive action of the transition group.

    `letters`: int array `[letters, points]`. `states`: the automaton's state at each point, `[points]`; point 0
    lies over the start state. `regular`: the points are the group's elements.
    """

    letters: Indices
    states: Indices
    regular: bool

    @property
    def size(self) -> int:
        """Number of points; the group's order where the action is regular."""
        return int(self.letters.shape[1])

    @cached_property
    def levels(self) -> list[tuple[Indices, Indices, Indices]]:
        """`spanning_levels` of the letters."""
        return spanning_levels(self.letters)

    def quotient(self, classes: Indices) -> Indices:
        """The letters on classes of points that they respect, `[letters, classes]`, in order of appearance."""
        _, first, inverse = np.unique(classes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[inverse.reshape(-1)[self.letters[:, first[order]]]], dtype=np.int64)

    def followed(self, table: Indices, start: int = 0) -> Indices:
        """Where each point's word leads from `start`, `[points]`; `table[x, i]` is where letter x takes i."""
        result = np.empty(self.size, dtype=np.int64)
        result[0] = start
        for points, parents, letters in self.levels:
            result[points] = table[letters, result[parents]]
        return result

    def right(self, point: int) -> Indices:
        """Right multiplication p ↦ p·k by the element k at `point`, `[points]` (regular actions only)."""
        return self.followed(self.letters, point)

    @cached_property
    def table(self) -> Indices:
        """Multiplication table `[g, k]` = g·k of a regular action."""
        result = np.empty((self.size, self.size), dtype=np.int64)
        result[0] = np.arange(self.size)
        for points, parents, letters in self.levels:
            result[points] = self.letters[letters[:, None], result[parents]]
        return result


def spanning_levels(letters: Indices) -> list[tuple[Indices, Indices, Indices]]:
    """A spanning tree from point 0 by breadth-first levels: points, their parents, the letters used."""
    count, size = letters.shape
    seen = np.zeros(size, dtype=bool)
    seen[0] = True
    frontier = np.zeros(1, dtype=np.int64)
    levels = []
    while frontier.size:
        images = letters[:, frontier].T.reshape(-1)
        fresh = np.flatnonzero(~seen[images])
        _, first = np.unique(images[fresh], return_index=True)
        chosen = fresh[np.sort(first)]
        points = images[chosen]
        if points.size:
            levels.append((points, frontier[chosen // count], chosen % count))
        seen[points] = True
        frontier = points
    return levels


def transitive_action(automaton: Automaton, max_group: int = 5_000) -> TransitiveAction:
    """The action of the transition group of a group automaton whose states are all reachable.

    Regular where the automaton already is a word problem, or where the group has at most `max_group` elements
    and fits; else the action on the states.
    """
    order = np.array(breadth_first(automaton.transitions, automaton.start), dtype=np.int64)
    position = np.empty(len(automaton.states), dtype=np.int64)
    position[order] = np.arange(len(order))
    natural = TransitiveAction(position[automaton.transitions[:, order]], order, regular=False)
    if _is_regular(natural):
        return TransitiveAction(natural.letters, order, regular=True)
    return _listed_group(natural, max_group) or natural


def _is_regular(action: TransitiveAction) -> bool:
    # The action is regular iff its centraliser is transitive; the right multiplications by the letters would
    # generate it. So take those, until they are transitive, and see that each commutes with every letter.
    rights: list[Indices] = []
    label = np.arange(action.size)
    for point in dict.fromkeys(int(p) for p in action.letters[:, 0]):
        if label[point] == 0:
            continue
        right = action.right(point)
        if not (right[action.letters] == action.letters[:, right]).all():
            return False
        rights.append(right)
        label = orbits(np.array(rights))
    return not label.any()


def _listed_group(natural: TransitiveAction, max_group: int) -> TransitiveAction | None:
    """All elements as permutations of the points, by right cosets of nothing: a plain breadth-first closure."""
    size = natural.size
    max_group = min(max_group, 20_000_000 // size)
    if any(lcm(*cycle_lengths(row)) > max_group for row in natural.letters):
        return None
    elements = [np.arange(size, dtype=np.int32)]
    index = {elements[0].tobytes(): 0}
    columns: list[list[int]] = []
    letters = natural.letters.astype(np.int32)
    for element in elements:
        images = letters[:, element]
        row = []
        for image in images:
            key = image.tobytes()
            found = index.get(key)
            if found is None:
                found = index[key] = len(elements)
                if found >= max_group:
                    return None
                elements.append(image)
            row.append(found)
        columns.append(row)
    states = natural.states[np.array([element[0] for element in elements])]
    table = np.array(columns, dtype=np.int64).reshape(len(elements), -1).T
    return TransitiveAction(table, states, regular=True)
