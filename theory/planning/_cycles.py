"""The cycles of a map of the states, which several bounds and equations begin with."""

from __future__ import annotations

import numpy as np

from ...constructions.automata._automaton import Indices

Cycle = tuple[int, ...]


def proper_cycles(row: Indices) -> list[Cycle]:
    """Cycles of two points or more of any map, each from its least point, in the order of these."""
    core = row
    for _ in range(len(row).bit_length()):  # f^(2^i): from len(row) steps on only cycles are left
        core = core[core]
    lasting = core[core]
    images = row.tolist()
    seen: set[int] = set()
    cycles = []
    for point in np.unique(lasting[row[lasting] != lasting]).tolist():
        cycle = []
        while point not in seen:
            seen.add(point)
            cycle.append(point)
            point = images[point]
        if cycle:
            cycles.append(tuple(cycle))
    return cycles
