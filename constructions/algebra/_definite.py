"""How many last letters decide the state of an automaton, and which letters act alike."""

from __future__ import annotations

import numpy as np

from ..automata._automaton import Indices


def deciding_length(maps: Indices) -> int | None:
    """The least m ≥ 1 such that every word of m maps sends all points to one; None if there is none.

    Two points are equivalent of order 0 if they are equal, and of order j + 1 if every map sends them to points equivalent of
    order j. Words of j maps merge exactly the points that are equivalent of order j.

    Args:
        maps: int array `[maps, points]`, at least one map and two points.
    """
    classes, count = np.arange(maps.shape[1]), maps.shape[1]
    for length in range(1, maps.shape[1]):
        classes = np.unique(classes[maps], axis=1, return_inverse=True)[1].reshape(-1)
        fewer = int(classes.max()) + 1
        if fewer == 1:
            return length
        if fewer == count:
            return None
        count = fewer
    return None


def number_maps(transitions: Indices) -> tuple[tuple[int, ...], Indices]:
    """The different maps that move a state, in the order in which letters first have them.

    Args:
        transitions: int array `[letters, states]`.

    Returns:
        The number of each letter's map, -1 for a letter that moves no state; and the maps, int array `[maps, states]`.
    """
    kinds: dict[bytes, int] = {}
    idle = np.arange(transitions.shape[1])
    numbers = [
        kinds.setdefault(row.tobytes(), len(kinds)) if (row != idle).any() else -1 for row in transitions
    ]
    return tuple(numbers), transitions[[numbers.index(kind) for kind in range(len(kinds))]]
