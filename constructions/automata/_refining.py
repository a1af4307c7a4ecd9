"""The coarsest partition of points that maps respect, by Moore's rounds and then by Hopcroft's algorithm.

A round of Moore's splits all classes by the classes of all images, vectorised; a few rounds do for most automata. Where one round
follows another, as along a chain of states, Hopcroft's algorithm goes on: it looks at the smaller part of each class that was split,
so that for n points and k maps it takes k n log n steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
MOORE_ROUNDS = 12


def refine_partition(classes: Indices, maps: Indices, rounds: int = MOORE_ROUNDS) -> Indices:
    """The coarsest partition finer than a given one in which points of one class go to one class by each map.

    Args:
        classes: the class of each point, 0, 1, ..., int array `[points]`.
        maps: int array `[maps, points]`; the entries are points.
        rounds: the number of Moore's rounds, at least 0, before Hopcroft's algorithm.

    Returns:
        Ints `[points]`, numbered by first appearance.
    """
    count = int(classes.max(initial=-1)) + 1
    for _ in range(rounds):
        signature = np.vstack([classes[None], classes[maps]])
        finer = np.unique(signature, axis=1, return_inverse=True)[1].reshape(-1)
        if int(finer.max(initial=-1)) + 1 == count:
            return _by_first_appearance(finer)
        classes, count = finer, int(finer.max()) + 1
    return _by_first_appearance(_hopcroft(classes, maps))


def _hopcroft(classes: Indices, maps: Indices) -> Indices:
    block_of: list[int] = classes.tolist()
    blocks: list[set[int]] = [set() for _ in range(max(block_of, default=-1) + 1)]
    for point, block in enumerate(block_of):
        blocks[block].add(point)
    inverses = [_inverse(row) for row in maps]
    # invariant: for each map, a class splits no other one if neither it, nor a class of which it is a part, is waiting
    waiting = set(range(len(blocks)))
    while waiting:
        splitter = list(blocks[waiting.pop()])
        for inverse in inverses:
            # the points of each class that this map takes into the splitter
            touched: dict[int, list[int]] = {}
            for q in splitter:
                for p in inverse[q]:
                    touched.setdefault(block_of[p], []).append(p)
            for block, points in touched.items():
                members = blocks[block]
                if len(points) == len(members):
                    continue
                part = set(points)
                if 2 * len(part) > len(members):
                    part = members - part
                # the smaller part becomes a new class; looking at it tells as much as looking at both
                members -= part
                for p in part:
                    block_of[p] = len(blocks)
                waiting.add(len(blocks))
                blocks.append(part)
    return np.array(block_of, dtype=np.int64)


def _inverse(row: Indices) -> list[list[int]]:
    """The points that a map takes to each point."""
    found: list[list[int]] = [[] for _ in row]
    for p, q in enumerate(row.tolist()):
        found[q].append(p)
    return found


def _by_first_appearance(classes: Indices) -> Indices:
    _, first, inverse = np.unique(classes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]
