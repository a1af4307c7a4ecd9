"""Block systems of a transitive action: the smaller actions from which heads are built.

In a regular action they are the left cosets of subgroups; otherwise the partitions that all letters respect.
The search is exhaustive over subgroups with two generators for small groups, and over a fixed sample beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..automaton import Indices
from .permutations import cycle_counts, minimal_blocks, orbits
from .transitive_action import TransitiveAction

EXHAUSTIVE_PAIRS = 4_500
SAMPLED_PAIRS = 200
MAX_TABLE = 1_500
MAX_SAMPLED_BLOCKS = 2_000


@dataclass(frozen=True, eq=False)
class BlockSystem:
    """A partition of the points that every letter respects.

    `labels`: block of each point, `[points]`, numbered by first appearance (block 0 holds point 0).
    `members`: for a regular action the subgroup, the points of block 0.
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
        """Most swaps that a letter needs on the blocks: n - #cycles."""
        return int((self.count - cycle_counts(self.letters)).max(initial=0))

    @cached_property
    def images(self) -> Indices:
        """For a regular action with a table: every element as a permutation of the blocks, `[points, blocks]`."""
        return self.labels[self.action.table[:, self.representatives]]

    @cached_property
    def kernel_classes(self) -> Indices:
        """Class of each point modulo the elements that fix all blocks; the labels themselves if not regular."""
        if not self.action.regular or self.action.size > MAX_TABLE:
            return self.labels
        return np.unique(self.images, axis=0, return_inverse=True)[1].reshape(-1)

    def mark(self, block: int) -> Indices:
        """Where each element carries the given block: block of x·(representative), `[points]`."""
        if block == 0:
            return self.labels
        return self.labels[self.action.right(int(self.representatives[block]))]


def block_systems(action: TransitiveAction) -> list[BlockSystem]:
    """Block systems, fewest blocks first, one for each permutation character; the points themselves included."""
    if action.regular and action.size <= MAX_TABLE:
        partitions = _coset_partitions(action)
    elif action.regular:
        partitions = _sampled_cosets(action)
    else:
        partitions = _joined_partitions(action)
    systems: dict[bytes, BlockSystem] = {}
    for labels in [*partitions, np.arange(action.size)]:
        system = BlockSystem(action, first_appearance(labels))
        if system.count == 1:
            continue
        if action.regular and action.size <= MAX_TABLE:
            fixed = (system.images == np.arange(system.count)).sum(axis=1)
            key = fixed.astype(np.int32).tobytes()
        else:
            key = system.labels.astype(np.int32).tobytes()
        systems.setdefault(key, system)
    return sorted(systems.values(), key=lambda s: s.count)


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


def subgroups(action: TransitiveAction) -> list[frozenset[int]]:
    """Proper subgroups with at most two generators: all up to conjugacy for small groups, a sample beyond."""
    size = action.size
    table = action.table.tolist()
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


def _coset_partitions(action: TransitiveAction) -> list[Indices]:
    return [cosets(action, members) for members in subgroups(action)]


def cosets(action: TransitiveAction, members: frozenset[int]) -> Indices:
    """Label of each point by its left coset gK (the least point in it)."""
    return np.asarray(action.table[:, sorted(members)].min(axis=1), dtype=np.int64)


def _sampled_cosets(action: TransitiveAction) -> list[Indices]:
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


def _joined_partitions(action: TransitiveAction) -> list[Indices]:
    """Minimal block systems that put point 0 together with another point (a sample of points beyond 200)."""
    if action.size * len(action.letters) > 200_000:
        return []
    others = range(1, action.size) if action.size <= 200 else np.linspace(1, action.size - 1, 60).astype(int)
    partitions: dict[bytes, Indices] = {}
    for point in others:
        labels = minimal_blocks(action.letters, int(point))
        partitions.setdefault(labels.tobytes(), labels)
    return list(partitions.values())
