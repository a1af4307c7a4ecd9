"""Powers of maps: index, period, aperiodicity, for many maps at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..automaton import Indices

_ENTRIES_AT_ONCE = 1 << 22


def index_and_period(maps: NDArray[np.integer], base: Indices) -> tuple[Indices, Indices]:
    """Least i and p >= 1 with f^(i+p) = f^i, for each row f of `maps` `[maps, points]`: two arrays `[maps]`.

    `base`: points such that powers of f that agree there agree everywhere (all points are always right).
    f^0 is the identity, so a permutation has index 0 and its order as period.
    """
    index = np.zeros(len(maps), dtype=np.int64)
    period = np.ones(len(maps), dtype=np.int64)
    for part, rows, high in _high_powers(maps):
        count, points = rows.shape
        recurrent = np.zeros((count, points), dtype=bool)
        np.put_along_axis(recurrent, high.astype(np.int64), True, axis=1)
        current = np.broadcast_to(base, (count, len(base))).copy()
        row = np.arange(count)[:, None]
        tails = np.zeros(count, dtype=np.int64)
        active = np.arange(count)
        while True:
            active = active[~recurrent[active[:, None], current[active]].all(axis=1)]
            if not active.size:
                break
            current[active] = rows[active[:, None], current[active]]
            tails[active] += 1
        index[part] = tails
        period[part] = _cycle_lcm(rows, high[row, base].astype(np.int64))
    return index, period


def all_aperiodic(maps: NDArray[np.integer], base: Indices) -> bool:
    """True where every row f of `maps` `[maps, points]` has f^n = f^(n+1) for some n."""
    for _, rows, high in _high_powers(maps):
        images = high[:, base].astype(np.int64)
        if (np.take_along_axis(rows, images, axis=1) != images).any():
            return False
    return True


def _high_powers(
    maps: NDArray[np.integer],
) -> Iterator[tuple[slice, NDArray[np.integer], NDArray[np.integer]]]:
    """Blocks of rows with a power of each that is at least the number of points: its image is recurrent."""
    points = maps.shape[1]
    step = max(1, _ENTRIES_AT_ONCE // points)
    for begin in range(0, len(maps), step):
        part = slice(begin, min(begin + step, len(maps)))
        high = maps[part]
        for _ in range(max(1, (points - 1).bit_length())):
            high = np.take_along_axis(high, high.astype(np.int64), axis=1)
        yield part, maps[part], high


def _cycle_lcm(rows: NDArray[np.integer], starts: Indices) -> Indices:
    """Least common multiple of the lengths of the cycles through the recurrent points `starts` `[maps, base]`."""
    result = np.ones(len(rows), dtype=np.int64)
    row, column = np.divmod(np.arange(starts.size), starts.shape[1])
    home = starts[row, column]
    current = rows[row, home].astype(np.int64)
    length = 1
    while row.size:
        back = current == home
        closed = np.unique(row[back])
        result[closed] = np.lcm(result[closed], length)
        row, home, current = row[~back], home[~back], current[~back]
        current = rows[row, current].astype(np.int64)
        length += 1
    return result
