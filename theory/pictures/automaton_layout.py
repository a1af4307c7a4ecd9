"""Where the states of a drawn automaton go: in layers from the start, or on a circle."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Automaton, breadth_first

Points = NDArray[np.float64]


def reading_order(automaton: Automaton) -> list[int]:
    """All states: breadth first from the start, then from the first state that is not reached, and so on."""
    order: list[int] = []
    seen: set[int] = set()
    for root in [automaton.start, *range(len(automaton.states))]:
        if root not in seen:
            new = [q for q in breadth_first(automaton.transitions, root) if q not in seen]
            order += new
            seen.update(new)
    return order


def layered_positions(automaton: Automaton, layer_gap: float, state_gap: float) -> Points:
    """Centres `[states, 2]`, layers from left to right with the start in the first (Sugiyama's method).

    Edges that lead back in `reading_order` are reversed for the layout, so that the start is its only source.
    """
    from fast_sugiyama import from_edges

    rank = {q: i for i, q in enumerate(reading_order(automaton))}
    pairs: list[tuple[int, int]] = []
    for row in automaton.transitions:
        pairs += [
            (min(rank[q], rank[r]), max(rank[q], rank[r])) for q, r in enumerate(row.tolist()) if q != r
        ]
    n = len(automaton.states)
    centres = np.zeros((n, 2))
    placed = np.zeros(n, dtype=bool)
    names = {i: q for q, i in rank.items()}
    below = 0.0
    edges = list(dict.fromkeys(pairs))
    layouts = [
        {int(i): xy for i, xy in layout[0] if int(i) < n}
        for layout in (from_edges(edges, vertex_spacing=100, dummy_size=30) if edges else [])
    ]
    for layout in sorted(layouts, key=min):
        members = [names[i] for i in sorted(layout)]
        across = np.array([layout[i][0] for i in sorted(layout)], dtype=float)
        down = np.array([layout[i][1] for i in sorted(layout)], dtype=float)
        _, layers = np.unique(-down, return_inverse=True)
        centres[members, 0] = layers.reshape(-1) * layer_gap
        centres[members, 1] = below - (across.max() - across) / 100 * state_gap
        placed[members] = True
        below = float(centres[members, 1].min()) - 1.5 * state_gap
    width, height = np.ptp(centres, axis=0)
    if height > 1.5 * width > 0:
        centres[:, 0] *= min(1.8, height / (1.5 * width))
    lonely = np.flatnonzero(~placed)
    centres[lonely, 0] = np.arange(len(lonely)) * layer_gap
    centres[lonely, 1] = below
    return centres


def circular_positions(automaton: Automaton, gap: float) -> Points:
    """Centres `[states, 2]` on a circle, clockwise in `reading_order` with the start on the left."""
    order = reading_order(automaton)
    n = len(order)
    radius = 0.0 if n == 1 else gap / (2 * math.sin(math.pi / n))
    angles = math.pi - 2 * math.pi * np.arange(n) / n
    centres = np.zeros((n, 2))
    centres[order] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres
