"""Many permutations and vectors at once, for block delay: their swaps by rule, the points that tell them apart,
and which row of a table each is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .automaton import Indices


def swap_table(images: Indices, width: int) -> Indices:
    """The swaps of `householder.permutation_factors` for each permutation `[perms, n]`: `[2, perms, width]`.

    Swap f of permutation p exchanges the points `[0, p, f]` and `[1, p, f]`; they are equal where there is none.
    `width` is at least the number of swaps, n - #cycles.
    """
    n = images.shape[1]
    points = np.arange(n)
    least = np.broadcast_to(points, images.shape).copy()
    power = images
    for _ in range(max(n - 1, 1).bit_length()):
        least = np.minimum(least, np.take_along_axis(least, power, axis=1))
        power = np.take_along_axis(power, power, axis=1)
    # a point's swap with the least point of its cycle comes when the walk from there reaches it
    order = np.where(least == points, n * n, least * n)
    current = least
    for step in range(1, n):
        current = np.take_along_axis(images, current, axis=1)
        order += np.where(current == points, step, 0) * (order % n == 0) * (least != points)
        if (current == least).all():
            break
    second = np.argsort(order, axis=1, kind="stable")[:, :width]
    swaps = np.zeros((2, len(images), width), dtype=np.int64)
    swaps[0, :, : second.shape[1]] = np.take_along_axis(least, second, axis=1)
    swaps[1, :, : second.shape[1]] = second
    return swaps


def marked_points(elements: Indices, states: Indices) -> tuple[int, ...]:
    """Points whose images tell the state: the first single one that does, else all less those that are not needed."""

    def tell(chosen: list[int]) -> bool:
        classes = np.unique(elements[:, chosen], axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(classes, kind="stable")
        same = classes[order[1:]] == classes[order[:-1]]
        return not (same & (states[order[1:]] != states[order[:-1]])).any()

    n = elements.shape[1]
    for point in range(n):
        if tell([point]):
            return (point,)
    kept = list(range(n))
    for point in reversed(range(n)):
        rest = [p for p in kept if p != point]
        if tell(rest):
            kept = rest
    return tuple(kept)


class RowIndex:
    """Finds integer rows `[..., n]` among the different rows of a table `[rows, n]`."""

    def __init__(self, table: Indices) -> None:
        self.table = table
        generator = np.random.default_rng(0)
        while True:
            self._weights = generator.integers(0, 2**63, size=table.shape[1], dtype=np.uint64)
            keys = self._keys(table)
            self._order = np.argsort(keys)
            self._sorted = keys[self._order]
            if (self._sorted[1:] != self._sorted[:-1]).all():
                return

    def find(self, rows: NDArray[Any]) -> Indices:
        """The index of each row; -1 where the table does not have it, exactly."""
        with np.errstate(invalid="ignore"):
            place = np.searchsorted(self._sorted, self._keys(rows.astype(np.int64)))
        found = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where((self.table[found] == rows).all(axis=-1), found, -1)

    def _keys(self, rows: Indices) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = rows.astype(np.uint64) @ self._weights
        return keys
