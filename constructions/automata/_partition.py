"""The coarsest partition of states that refines a given one and is respected by every letter, which minimising needs.

Moore's refinement takes as many rounds as the longest shortest word that tells two states apart; that is small for most automata, and as long
as a chain is. So after `MOORE_ROUNDS` rounds Hopcroft's algorithm goes on (J. Hopcroft, An n log n algorithm for minimizing states in a finite
automaton, 1971), in time n log n for each letter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
MOORE_ROUNDS = 50


def number_by_appearance(values: Iterable[Hashable]) -> Indices:
    """Each value as the number of its class, in the order in which the values first appear."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) for v in values], dtype=np.int64)


def coarsest_partition(classes: Indices, transitions: Indices, moore_rounds: int = MOORE_ROUNDS) -> Indices:
    """The coarsest refinement of a partition in which each letter takes a class into a class.

    Args:
        classes: ints `[states]`, the class of each state, from 0 on without gaps.
        transitions: ints `[letters, states]`, the next state.
        moore_rounds: how many rounds Moore's refinement runs before Hopcroft's goes on.

    Returns:
        Ints `[states]`, numbered by first appearance.
    """
    count = int(classes.max()) + 1
    for _ in range(moore_rounds):
        signature = np.vstack([classes[None], classes[transitions]])
        _, finer = np.unique(signature, axis=1, return_inverse=True)
        finer = finer.reshape(-1)
        new_count = int(finer.max()) + 1
        if new_count == count:
            return number_by_appearance(int(c) for c in classes)
        classes, count = finer, new_count
    return number_by_appearance(_refine_by_splitters(classes.tolist(), transitions))


def _refine_by_splitters(classes: list[int], transitions: Indices) -> list[int]:
    """Hopcroft's refinement of a partition: a block splits those that reach it only in part, and the smaller half is new work."""
    block_of = list(classes)
    blocks: list[set[int]] = [set() for _ in range(max(block_of) + 1)]
    for q, block in enumerate(block_of):
        blocks[block].add(q)
    before: list[dict[int, list[int]]] = []
    for row in transitions.tolist():
        sources: dict[int, list[int]] = {}
        for q, r in enumerate(row):
            sources.setdefault(r, []).append(q)
        before.append(sources)
    work = [(block, x) for block in range(len(blocks)) for x in range(len(before))]
    while work:
        block, x = work.pop()
        reached: dict[int, list[int]] = {}
        for r in blocks[block]:
            for q in before[x].get(r, ()):
                reached.setdefault(block_of[q], []).append(q)
        for old, part in reached.items():
            if len(part) == len(blocks[old]):
                continue
            # the cost is that of the smaller half, which moves to a new block
            moved = set(part) if 2 * len(part) <= len(blocks[old]) else blocks[old].difference(part)
            blocks[old].difference_update(moved)
            new = len(blocks)
            blocks.append(moved)
            for q in moved:
                block_of[q] = new
            # the smaller half is enough: where the old block still waits, its pair stands in the list as well
            work += [(new, y) for y in range(len(before))]
    return block_of
