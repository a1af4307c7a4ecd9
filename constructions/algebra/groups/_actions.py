"""A group acting on points, from a group automaton: regular where that can be had, else as the automaton gives it.

Letters act from the left: `letters[x, p]` is x·p. In a regular action the points are the group elements, point 0
is the identity, and right multiplications commute with all letters; subgroups are then found from points alone.

Block systems of a transitive action: the smaller actions from which heads are built.

In a regular action they are the left cosets of subgroups; otherwise the partitions that all letters respect.
The search is exhaustive over subgroups with two generators for small groups, and over a fixed sample beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np

from ...automata._automaton import Automaton, Indices, breadth_first
from ._permutations import cycle_counts, cycle_lengths, minimal_blocks, orbits


@dataclass(frozen=True, eq=False)
class TransitiveAction:
    """A transitive action of the transition group.

    Attributes:
        letters: int array `[letters, points]`, the permutation of each letter.
        states: the automaton's state at each point, `[points]`; point 0 belongs to the start state.
        regular: whether the points are the elements of the group.
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
        """Compute the action of the letters on classes of points that they respect, `[letters, classes]`.

        Args:
            classes: class of each point, int array `[points]`.
        """
        _, first, inverse = np.unique(classes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[inverse.reshape(-1)[self.letters[:, first[order]]]], dtype=np.int64)

    def follow(self, table: Indices, start: int = 0) -> Indices:
        """Compute where the word that leads to each point leads from `start`, `[points]`.

        Args:
            table: int array `[letters, anything]`; `table[x, i]` is where letter x takes i.
            start: the index at which all words begin.
        """
        result = np.empty(self.size, dtype=np.int64)
        result[0] = start
        for points, parents, letters in self.levels:
            result[points] = table[letters, result[parents]]
        return result

    def right(self, point: int) -> Indices:
        """Right multiplication p ↦ p·k by the element k at `point`, `[points]` (regular actions only).

        Args:
            point: index of a point.
        """
        return self.follow(self.letters, point)

    @cached_property
    def table(self) -> Indices:
        """Multiplication table `[g, k]` = g·k of a regular action."""
        result = np.empty((self.size, self.size), dtype=np.int64)
        result[0] = np.arange(self.size)
        for points, parents, letters in self.levels:
            result[points] = self.letters[letters[:, None], result[parents]]
        return result

    @cached_property
    def rows(self) -> list[list[int]]:
        """The multiplication table as lists, for loops over single elements."""
        rows: list[list[int]] = self.table.tolist()
        return rows


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
    """Choose a transitive action of the transition group of a group automaton.

    The action is regular if the automaton already is a word problem, or if the group has at most `max_group` elements and its
    table fits into memory. Otherwise it is the action on the states.

    Args:
        automaton: a group automaton whose states are all reachable.
        max_group: the largest order of a group whose elements are listed.
    """
    order = np.array(breadth_first(automaton.transitions, automaton.start), dtype=np.int64)
    position = np.empty(len(automaton.states), dtype=np.int64)
    position[order] = np.arange(len(order))
    natural = TransitiveAction(position[automaton.transitions[:, order]], order, regular=False)
    if _is_regular(natural):
        return TransitiveAction(natural.letters, order, regular=True)
    return _list_group(natural, max_group) or natural


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


def count_listed(points: int, max_group: int) -> int:
    """The most elements that are listed of a group on some points: at most `max_group`, and fewer where they would take too much memory.

    Args:
        points: the number of points.
        max_group: the largest order of a group whose elements are listed.
    """
    return min(max_group, MAX_LISTED_IMAGES // points)


def _list_group(natural: TransitiveAction, max_group: int) -> TransitiveAction | None:
    """All elements as permutations of the points, by right cosets of nothing: a plain breadth-first closure."""
    size = natural.size
    max_group = count_listed(size, max_group)
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


MAX_LISTED_IMAGES = 20_000_000
"""Elements times points up to which the elements of a group are listed."""
EXHAUSTIVE_PAIRS = 4_500
SAMPLED_PAIRS = 200
MAX_TABLE = 1_500
MAX_LISTED_ABELIAN = 100
"""Order of an abelian group up to which its smaller actions are listed."""
MAX_SAMPLED_BLOCKS = 2_000
MAX_MARKS = 150_000
"""Points times blocks up to which the images of all blocks are computed in a group that is too large for a table."""


@dataclass(frozen=True, eq=False)
class BlockSystem:
    """A partition of the points that every letter respects.

    `members` is, for a regular action, the subgroup whose elements are the points of block 0.

    Attributes:
        action: the action whose points it divides.
        labels: the block of each point, `[points]`, numbered by first appearance (block 0 holds point 0).
    """

    action: TransitiveAction
    labels: Indices

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.labels.max()) + 1

    @cached_property
    def representatives(self) -> Indices:
        """First point of each block."""
        return np.unique(self.labels, return_index=True)[1].astype(np.int64)

    @cached_property
    def letters(self) -> Indices:
        """The letters as permutations of the blocks, `[letters, blocks]`."""
        return self.labels[self.action.letters[:, self.representatives]]

    @cached_property
    def cost(self) -> int:
        """Largest number of swaps that a letter needs on the blocks: n - #cycles."""
        return int((self.count - cycle_counts(self.letters)).max(initial=0))

    @cached_property
    def images(self) -> Indices:
        """For a regular action with a table: every element as a permutation of the blocks, `[points, blocks]`."""
        return self.labels[self.action.table[:, self.representatives]]

    @cached_property
    def character(self) -> Indices:
        """For a regular action with a table: the number of blocks that each element fixes, `[points]`."""
        return np.asarray((self.images == np.arange(self.count)).sum(axis=1), dtype=np.int32)

    @cached_property
    def kernel_classes(self) -> Indices:
        """Class of each point modulo the elements that fix all blocks; the labels themselves if the group is not listed or is large."""
        if not self.action.regular or (
            self.action.size > MAX_TABLE and self.action.size * self.count > MAX_MARKS
        ):
            return self.labels
        if self.action.size > MAX_TABLE:
            images = np.stack([self.mark(b) for b in range(self.count)], axis=1)
        else:
            images = self.images
        return np.unique(images, axis=0, return_inverse=True)[1].reshape(-1)

    def mark(self, block: int) -> Indices:
        """Compute the block to which each element carries a given block, `[points]`.

        Args:
            block: number of a block.
        """
        if block == 0:
            return self.labels
        return self.labels[self.action.right(int(self.representatives[block]))]


def block_systems(action: TransitiveAction, more: Sequence[Indices] = ()) -> list[BlockSystem]:
    """List the block systems of an action, including the points themselves, one for each permutation character, fewest blocks first.

    Args:
        action: a transitive action.
        more: partitions to list beside those that are found here, each as the class of every point, `[points]`; the letters
            respect them.
    """
    if action.size > MAX_LISTED_ABELIAN and is_abelian(action):
        # what a smaller action of an abelian group tells apart, cycles of its cyclic quotients tell apart with no more swaps
        return [BlockSystem(action, np.arange(action.size))]
    if action.regular and action.size <= MAX_TABLE:
        partitions = coset_partitions(action)
    elif action.regular:
        partitions = _sample_cosets(action)
    else:
        partitions = join_partitions(action)
    systems: dict[bytes, BlockSystem] = {}
    for labels in [*partitions, *more, np.arange(action.size)]:
        system = BlockSystem(action, first_appearance(labels))
        if system.count == 1:
            continue
        if action.regular and action.size <= MAX_TABLE:
            key = system.character.tobytes()
        else:
            key = system.labels.astype(np.int32).tobytes()
        systems.setdefault(key, system)
    return sorted(systems.values(), key=lambda s: s.count)


def is_abelian(action: TransitiveAction) -> bool:
    """Whether a regular action is that of an abelian group: any two of a few letters that generate it commute."""
    if not action.regular:
        return False
    points, generators = action.letters[:, 0], generating_letters(action)
    products = action.letters[generators][:, points[generators]]
    return bool((products == products.T).all())


def generating_letters(action: TransitiveAction) -> list[int]:
    """A few letters that generate the group of a regular action: none lies in the subgroup of those before it."""
    chosen: list[int] = []
    subgroup_label = np.arange(action.size)
    for x, point in enumerate(action.letters[:, 0].tolist()):
        if subgroup_label[point] != 0:
            chosen.append(x)
            subgroup_label = orbits(action.letters[chosen])
    return chosen


def first_appearance(labels: Indices) -> Indices:
    """The same partition, its classes numbered in the order in which they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def subgroup(table: list[list[int]], generators: tuple[int, ...], order: int) -> frozenset[int] | None:
    """The subgroup generated; None where it is the whole group (it grew beyond half)."""
    members = {0}
    queue = [0]
    for g in queue:
        row = table[g]
        for s in generators:
            h = row[s]
            if h not in members:
                members.add(h)
                queue.append(h)
        if 2 * len(members) > order:
            return None
    return frozenset(members)


def conjugacy_representatives(table: Indices) -> list[int]:
    """The least element of each conjugacy class."""
    inverse = np.argmax(table == 0, axis=1)
    done = np.zeros(len(table), dtype=bool)
    representatives = []
    for g in range(len(table)):
        if not done[g]:
            representatives.append(g)
            done[table[table[:, g], inverse]] = True
    return representatives


def is_sampled(action: TransitiveAction) -> bool:
    """Whether `subgroups` tries a sample of the pairs of elements of a group with a table, not all pairs."""
    return len(conjugacy_representatives(action.table)) * action.size > EXHAUSTIVE_PAIRS


def subgroups(action: TransitiveAction) -> list[frozenset[int]]:
    """Proper subgroups with at most two generators: all up to conjugacy for small groups, a sample beyond."""
    size = action.size
    table = action.rows
    classes = conjugacy_representatives(action.table)
    found: dict[frozenset[int], None] = {}
    cyclic = {g: subgroup(table, (g,), size) for g in range(size)}
    if len(classes) * size <= EXHAUSTIVE_PAIRS:
        pairs = [(a, b) for a in classes for b in range(size)]
    else:
        draw = np.random.Generator(np.random.PCG64(0))
        pairs = [(int(a), int(b)) for a, b in draw.integers(0, size, (SAMPLED_PAIRS, 2))]
    for group in cyclic.values():
        if group is not None:
            found.setdefault(group)
    seen_pairs: set[tuple[frozenset[int], frozenset[int]]] = set()
    for a, b in pairs:
        first, second = cyclic[a], cyclic[b]
        if first is None or second is None or (first, second) in seen_pairs:
            continue
        seen_pairs.add((first, second))
        if b in first:
            continue
        joined = subgroup(table, (a, b), size)
        if joined is not None:
            found.setdefault(joined)
    return list(found)


def coset_partitions(action: TransitiveAction) -> list[Indices]:
    """The left cosets of `subgroups`, for a regular action with a table."""
    return [cosets(action, members) for members in subgroups(action)]


def cosets(action: TransitiveAction, members: frozenset[int]) -> Indices:
    """Label of each point by its left coset gK (the least point in it)."""
    return np.asarray(action.table[:, sorted(members)].min(axis=1), dtype=np.int64)


def _sample_cosets(action: TransitiveAction) -> list[Indices]:
    """Orbits of right multiplications by the letters, singly, and by a fixed sample of pairs of elements."""
    draw = np.random.Generator(np.random.PCG64(0))
    singles = [(int(p),) for p in dict.fromkeys(action.letters[:50, 0].tolist()) if p]
    sample = SAMPLED_PAIRS if action.size <= 50_000 else 0
    pairs = [(int(a), int(b)) for a, b in draw.integers(0, action.size, (sample, 2))]
    partitions = []
    for generators in [*singles, *pairs]:
        labels = orbits(np.array([action.right(g) for g in generators]))
        if 1 < len(np.unique(labels)) <= MAX_SAMPLED_BLOCKS:
            partitions.append(labels)
    return partitions


def join_partitions(action: TransitiveAction) -> list[Indices]:
    """Minimal block systems that put point 0 together with another point (a sample of points beyond 200); none for large actions."""
    if action.size * len(action.letters) > 200_000:
        return []
    others = range(1, action.size) if action.size <= 200 else np.linspace(1, action.size - 1, 60).astype(int)
    partitions: dict[bytes, Indices] = {}
    for point in others:
        labels = minimal_blocks(action.letters, int(point))
        partitions.setdefault(labels.tobytes(), labels)
    return list(partitions.values())
