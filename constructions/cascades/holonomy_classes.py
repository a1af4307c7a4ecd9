"""Equivalence of image sets under subduction: the strongly connected components of the letters' action.

P ≤ R ("P is subduced by R") iff P lies in R·s for a word s, the empty one included. Sets that subduce each other
have one size and reach each other.
"""

from __future__ import annotations

from ..automaton import Indices
from .image_sets import ImageSets


def equivalence_classes(sets: ImageSets) -> list[list[int]]:
    """The classes of sets with more than one point, each set after every class that it can reach by letters.

    Ordered by size and, within a size, sinks first; members ascending. Iterative (Tarjan's algorithm).
    """
    sizes = sets.sizes
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
                    path += [(node, position), (following, 0)]
                    break
                if on_stack[following]:
                    low[node] = min(low[node], number[following])
            else:
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
    inside = sets.is_subset(by_size, index) & (sets.sizes[by_size] < sets.sizes[index])
    remaining = by_size[inside]
    tiles: list[int] = []
    while remaining.size and sets.sizes[remaining[0]] > sets.sizes[remaining[-1]]:
        tile = int(remaining[0])  # nothing larger is left, so it is maximal
        tiles.append(tile)
        remaining = remaining[~sets.is_subset(remaining, tile)]
    return tiles + [int(tile) for tile in remaining]  # of one size: all maximal
