"""The holonomy decomposition of a transformation semigroup (Eilenberg; Egri-Nagy and Nehaniv).

Points 0, ..., n-1; letters act on the right, on points and on sets. Classes are those of mutual subduction among
the image sets with more than one point. A class's holonomy component is its tiles with the permutator group: what
the words that map a representative onto itself do to the representative's tiles.

Equivalence of image sets under subduction: the strongly connected components of the letters' action.

P ≤ R ("P is subduced by R") iff P lies in R·s for a word s, the empty one included. Sets that subduce each other
have one size and reach each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..automata._automaton import Automaton, Indices
from ._holonomy_group import order_and_name
from ._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES, ImageSets, image_sets


def equivalence_classes(sets: ImageSets) -> list[list[int]]:
    """The classes of sets with more than one point, each set after every class that it can reach by letters.

    Ordered by size and, within a size, sinks first; members ascending. Iterative (Tarjan's algorithm).
    """
    sizes = sets.sizes
    # a letter leads back only between sets of one size, since an image is never larger than its set
    stays = sizes[sets.moves] == sizes[:, None]
    successors: list[list[int]] = [
        row[kept].tolist() if size > 1 else []
        for row, kept, size in zip(sets.moves, stays, sizes.tolist(), strict=True)
    ]
    candidates = [i for i in range(sets.images) if sizes[i] > 1]
    found = _components(successors, candidates)
    return sorted(found, key=lambda members: int(sizes[members[0]]))


def _components(successors: list[list[int]], roots: list[int]) -> list[list[int]]:
    """Strongly connected components, a component after all that it reaches; members ascending."""
    number = [0] * len(successors)  # 0: not visited yet
    low = [0] * len(successors)
    on_stack = [False] * len(successors)
    stack: list[int] = []
    components: list[list[int]] = []
    counter = 0
    for root in roots:
        if number[root]:
            continue
        path = [(root, 0)]
        while path:
            node, position = path.pop()
            # position 0: the node is met for the first time; else its last successor has just been finished
            if position == 0:
                counter += 1
                number[node] = low[node] = counter
                stack.append(node)
                on_stack[node] = True
            else:
                low[node] = min(low[node], low[successors[node][position - 1]])
            row = successors[node]
            while position < len(row):
                following = row[position]
                position += 1
                if not number[following]:
                    # down to the successor, and later back here
                    path += [(node, position), (following, 0)]
                    break
                # an edge to a node whose component is still open
                if on_stack[following]:
                    low[node] = min(low[node], number[following])
            else:
                # no earlier node is reached from here: what lies above it on the stack is its component
                if low[node] == number[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = False
                        members.append(member)
                        if member == node:
                            break
                    components.append(sorted(members))
    return components


def tiles_of(sets: ImageSets, index: int, by_size: Indices) -> list[int]:
    """The tiles of a set with more than one point: its maximal proper subsets among images and singletons.

    `by_size`: all sets, larger first; the tiles come in that order. One vectorised pass per tile.
    """
    # proper subsets, larger ones first
    inside = sets.is_subset(by_size, index) & (sets.sizes[by_size] < sets.sizes[index])
    remaining = by_size[inside]
    tiles: list[int] = []
    # while more than one size is left
    while remaining.size and sets.sizes[remaining[0]] > sets.sizes[remaining[-1]]:
        tile = int(remaining[0])  # nothing larger is left, so it is maximal
        tiles.append(tile)
        remaining = remaining[~sets.is_subset(remaining, tile)]
    return tiles + [int(tile) for tile in remaining]  # of one size: all maximal


@dataclass(frozen=True, eq=False)
class HolonomyClass:
    """One class of equivalent image sets, and its holonomy component.

    Attributes:
        members: int array of set indices, the representative first.
        tiles: int array `[members, tiles]` of set indices; the tiles in a column correspond to each other under the
            fixed words from the representative to the members.
        generators: int array `[generators, tiles]`, permutations of the columns that generate the permutator
            group (Schreier generators over the spanning tree; none if it is trivial).
        height: 0 for singletons, otherwise 1 + the largest height below.
        depth: 1 + the longest chain of classes above.
    """

    members: Indices
    tiles: Indices
    generators: Indices
    height: int
    depth: int

    @property
    def representative(self) -> int:
        """Set index of the representative."""
        return int(self.members[0])

    @property
    def degree(self) -> int:
        """Number of tiles."""
        return int(self.tiles.shape[1])

    @cached_property
    def _group(self) -> tuple[int | None, str]:
        return order_and_name(self.generators)

    @property
    def order(self) -> int | None:
        """The order of the permutator group on the tiles; None if the group was too large to determine it."""
        return self._group[0]

    @property
    def name(self) -> str:
        """Name of the permutator group (see `holonomy_group`)."""
        return self._group[1]


@dataclass(frozen=True, eq=False)
class Holonomy:
    """The holonomy decomposition (skeleton) of a transformation semigroup.

    Attributes:
        maps: int array `[letters, points]`, the map of each letter.
        sets: the extended image sets.
        classes: the classes of equivalent sets, those of small sets first.
        class_of: int array `[sets]`, the class of each set; -1 for singletons.
        height_of: int array `[sets]`, the height of each set.
    """

    maps: Indices
    sets: ImageSets
    classes: tuple[HolonomyClass, ...]
    class_of: Indices
    height_of: Indices

    @property
    def levels(self) -> int:
        """Number of levels: the height of the set of all points; 0 for a single point."""
        return int(self.height_of[0])

    def by_height(self) -> tuple[tuple[int, ...], ...]:
        """Class indices level by level from the top, by height (the levels of the cascade)."""
        return self._group_by_level([self.levels - c.height for c in self.classes])

    def by_depth(self) -> tuple[tuple[int, ...], ...]:
        """Class indices level by level from the top, by depth (as SgpDec 1.2 arranges them)."""
        return self._group_by_level([c.depth - 1 for c in self.classes])

    def _group_by_level(self, levels: list[int]) -> tuple[tuple[int, ...], ...]:
        groups: list[list[int]] = [[] for _ in range(self.levels)]
        for index, level in enumerate(levels):
            groups[level].append(index)
        return tuple(tuple(group) for group in groups)

    @cached_property
    def tile_offsets(self) -> Indices:
        """Int array `[sets + 1]`: the tiles of set P are `tile_sets[tile_offsets[P]:tile_offsets[P + 1]]`."""
        degrees = np.array([0, *(c.degree for c in self.classes)], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(degrees[self.class_of + 1])])

    @cached_property
    def tile_sets(self) -> Indices:
        """All tiles as set indices, those of one set together, in the order of its class's columns."""
        flat = np.zeros(int(self.tile_offsets[-1]), dtype=np.int64)
        for c in self.classes:
            flat[self.tile_offsets[c.members][:, None] + np.arange(c.degree)] = c.tiles
        return flat

    @cached_property
    def points_of_singletons(self) -> Indices:
        """Int array `[sets]`: the point of a singleton, -1 for larger sets."""
        points = np.full(len(self.sets), -1, dtype=np.int64)
        points[self.sets.singletons] = np.arange(self.sets.points)
        return points

    def tile(self, sets: Indices, columns: Indices | int) -> Indices:
        """The tile in a column of each set (more than one point), as set indices.

        Args:
            sets: indices of sets of more than one point.
            columns: columns of their tiles; they broadcast with `sets`.
        """
        tiles: Indices = self.tile_sets[self.tile_offsets[sets] + columns]
        return tiles


def holonomy(
    automaton: Automaton, *, max_image_sets: int = MAX_IMAGE_SETS, max_set_moves: int = MAX_SET_MOVES
) -> Holonomy:
    """Compute the holonomy decomposition of an automaton's transition semigroup on its states.

    Every state is a point, even one that all letters fix.

    Args:
        automaton: the automaton.
        max_image_sets: the largest number of image sets, at least 1.
        max_set_moves: the largest number of entries in the table of their images: image sets times letters.

    Raises:
        LimitError: there are more than `max_image_sets` image sets or `max_set_moves` entries in the table of their images.
    """
    return holonomy_of_maps(automaton.transitions, max_image_sets=max_image_sets, max_set_moves=max_set_moves)


def holonomy_of_maps(
    maps: Indices, *, max_image_sets: int = MAX_IMAGE_SETS, max_set_moves: int = MAX_SET_MOVES
) -> Holonomy:
    """Compute the holonomy decomposition of the semigroup that some maps generate; see `holonomy`.

    Args:
        maps: the maps that generate it, int array `[letters, points]`.
        max_image_sets: the largest number of image sets, at least 1.
        max_set_moves: the largest number of entries in the table of their images: image sets times letters.
    """
    sets = image_sets(maps, max_image_sets=max_image_sets, max_set_moves=max_set_moves)
    members = equivalence_classes(sets)
    class_of = np.full(len(sets), -1, dtype=np.int64)
    for index, of_class in enumerate(members):
        class_of[of_class] = index
    by_size = np.argsort(-sets.sizes, kind="stable")
    ordered, tiles = [], []
    for of_class in members:
        order, table = _carry_tiles(sets, class_of, of_class[0], tiles_of(sets, of_class[0], by_size))
        ordered.append(order)
        tiles.append(table)
    below = [
        # the classes that letters or tiles lead to from this one, but not itself or singletons
        np.setdiff1d(class_of[np.concatenate([sets.moves[order].ravel(), table[0]])], [-1, index])
        for index, (order, table) in enumerate(zip(ordered, tiles, strict=True))
    ]
    heights, depths = _heights(below), _depths(below)
    classes = [
        HolonomyClass(order, table, _generators(sets, class_of, order, table), height, depth)
        for order, table, height, depth in zip(ordered, tiles, heights, depths, strict=True)
    ]
    # class -1, of singletons, takes the last entry, height 0
    height_of = np.array([*heights, 0], dtype=np.int64)[class_of]
    return Holonomy(maps, sets, tuple(classes), class_of, height_of)


def _carry_tiles(
    sets: ImageSets, class_of: Indices, representative: int, tiles: list[int]
) -> tuple[Indices, Indices]:
    """The members breadth first from the representative, and its tiles carried along the spanning tree."""
    index = class_of[representative]
    place = {representative: 0}
    order, rows = [representative], [np.array(tiles, dtype=np.int64)]
    # breadth first: the word of a member is that of an earlier one and a letter
    for position, member in enumerate(order):
        for x, moved in enumerate(sets.moves[member].tolist()):
            if class_of[moved] == index and moved not in place:
                place[moved] = len(order)
                order.append(moved)
                rows.append(sets.moves[rows[position], x])
    return np.array(order, dtype=np.int64), np.stack(rows)


def column_permutations(sources: Indices, targets: Indices) -> Indices:
    """For rows of distinct numbers with equal sets: the column in `targets` of each entry of `sources`."""
    # equal sets: the i-th smallest source is the i-th smallest target
    columns = np.empty_like(sources)
    np.put_along_axis(columns, np.argsort(sources, axis=-1), np.argsort(targets, axis=-1), axis=-1)
    return columns


def _generators(sets: ImageSets, class_of: Indices, order: Indices, tiles: Indices) -> Indices:
    """The distinct non-trivial permutations of the columns by a letter between two members."""
    place = np.full(len(sets), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    # the letters that lead from a member to a member of the class
    moved = place[sets.moves[order]]
    member, letter = np.nonzero(moved >= 0)
    # the letter moves the member's tiles to tiles of the other member, in another order of columns perhaps
    images = sets.moves[tiles[member], letter[:, None]]
    found = column_permutations(images, tiles[moved[member, letter]])
    found = found[(found != np.arange(tiles.shape[1])).any(axis=1)]
    return np.unique(found, axis=0) if len(found) else found


def _heights(below: list[Indices]) -> list[int]:
    heights: list[int] = []
    # classes below come first in the list
    for classes in below:
        heights.append(1 + max((heights[c] for c in classes.tolist()), default=0))
    return heights


def _depths(below: list[Indices]) -> list[int]:
    depths = [1] * len(below)
    # classes above come last, so their depths are final when they are met
    for index in reversed(range(len(below))):
        for c in below[index].tolist():
            depths[c] = max(depths[c], depths[index] + 1)
    return depths
