"""Levels of the holonomy decomposition for many small transition tables at once.

The same number as `holonomy(...).levels`, from its definition: the longest chain of image sets with more than one
point, each strictly below the one before under subduction. A set of image sets is one 64-bit word, so at most 6 states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
MAX_STATES = 6
_ROWS_AT_ONCE = 5_000
_ONE = np.uint64(1)


def levels_of_tables(tables: NDArray[np.integer]) -> NDArray[np.int64]:
    """The number of levels of each table of `[tables, letters, states]`; `ValueError` for more than 6 states."""
    if tables.shape[2] > MAX_STATES:
        raise ValueError(f"{tables.shape[2]} states; sets of sets fit in 64 bits up to {MAX_STATES} states")
    parts = [
        _levels(tables[i : i + _ROWS_AT_ONCE].astype(np.uint64)) for i in range(0, len(tables), _ROWS_AT_ONCE)
    ]
    return np.concatenate(parts)


def _levels(tables: Words) -> NDArray[np.int64]:
    states = tables.shape[2]
    everything = (1 << states) - 1
    masks = np.arange(1 << states, dtype=np.uint64)
    large = [m for m in range(1 << states) if m.bit_count() > 1]
    successors = np.bitwise_or.reduce(_ONE << _moved_sets(tables), axis=1)
    images = _images(successors, large, everything)
    subsets = np.array(
        [sum(1 << r for r in large if r & m == r) for m in range(1 << states)], dtype=np.uint64
    )
    below = np.where(_has(images[:, None], masks), images[:, None] & (subsets | successors), np.uint64(0))
    for k in large:
        below |= -_has(below, np.uint64(k)) & below[:, k : k + 1]
    above = np.zeros_like(below)
    for k in large:
        above |= _has(below[:, k : k + 1], masks) << np.uint64(k)
    strictly_below = below & ~above
    levels = np.zeros(len(tables), dtype=np.int64)
    high = images
    while (top := _has(high, np.uint64(everything))).any():
        levels += top.astype(np.int64)
        higher = (strictly_below & high[:, None] != 0).astype(np.uint64)
        high = np.bitwise_or.reduce(higher << masks, axis=1)
    return levels


def _has(sets: Words, member: Words | np.uint64) -> Words:
    """1 where a set of masks has the member, else 0."""
    found: Words = sets >> member & _ONE
    return found


def _moved_sets(tables: Words) -> Words:
    """The image of every set of states under every letter, `[tables, letters, sets]`; sets are bit masks."""
    count, letters, states = tables.shape
    moved = np.zeros((count, letters, 1 << states), dtype=np.uint64)
    for q in range(states):
        moved[:, :, 1 << q : 2 << q] = moved[:, :, : 1 << q] | _ONE << tables[:, :, q : q + 1]
    return moved


def _images(successors: Words, large: list[int], everything: int) -> Words:
    """The sets with more than one point that words make of all points; one set of masks for each table."""
    kept = np.uint64(sum(1 << m for m in large))
    images = np.full(len(successors), np.uint64(1 << everything)) & kept
    while True:
        before = images
        for m in reversed(large):
            images = images | -_has(images, np.uint64(m)) & successors[:, m] & kept
        if (images == before).all():
            return images
