"""Clusters of a model's states: components of the minimal spanning tree below a length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.errors import LimitError
from ...theory.arithmetic.rounding import Floats
from ...theory.running.words import random_words
from ..learned.learned import Learned
from .states import side_by_side

_CANCELLED = 1e-6
"""Squared distances below this part of the largest squared norm lose more than about ten of 16 digits."""


def observed(
    learned: Learned, words: int, length: int, seed: int, max_points: int
) -> tuple[Floats, Indices, Indices]:
    """States `[points, entries]`, the start first; moves `[observed, 3]` point, letter, point; the answers."""
    if words * length + 1 > max_points:
        raise LimitError(
            f"{learned.name}: {words} words of {length} letters give {words * length + 1:,} states to cluster, more than "
            f"{max_points:,}: ask for fewer, or raise --max-points"
        )
    target = learned.target
    letters = random_words(target.automaton, words, length, seed)
    rows = [_flat(learned.head_states(learned.stepper.initial(1)))]
    before = np.zeros(words, dtype=np.int64)
    moves, answers = [], []
    for t, (x, states, _, asked, _) in enumerate(side_by_side(target, learned.stepper, letters)):
        given = np.where(asked, learned.stepper.decode(states, x), -1)
        after = 1 + t * words + np.arange(words)
        rows.append(_flat(learned.head_states(states)))
        moves.append(np.stack([before, x, after], axis=1))
        answers.append(given)
        before = after
    return np.concatenate(rows), np.concatenate(moves), np.concatenate(answers)


def _flat(states: Sequence[Floats]) -> Floats:
    return np.concatenate([H.reshape(len(H), -1) for H in states], axis=1)


def spanning_tree(points: Floats) -> list[tuple[float, int, int]]:
    """Edges of the minimal spanning tree (Prim), shortest first.

    Distances come from one matrix of scalar products, which costs seconds where differences of `[points, entries]` cost
    minutes. Cancellation takes the digits of short ones, so these are found from the differences.
    """
    n = len(points)
    centred = points - points.mean(axis=0)
    products = centred @ centred.T
    norms = products.diagonal().copy()
    short = _CANCELLED * norms.max()
    nearest, parent = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    outside = np.ones(n, dtype=bool)
    edges, at = [], 0
    for _ in range(n - 1):
        outside[at] = False
        squares = norms + norms[at] - 2 * products[at]
        close = np.flatnonzero(outside & (squares <= short))
        squares[close] = ((points[close] - points[at]) ** 2).sum(axis=1)
        distance = np.sqrt(np.maximum(squares, 0))
        closer = outside & (distance < nearest)
        nearest[closer], parent[closer] = distance[closer], at
        at = int(np.where(outside, nearest, np.inf).argmin())
        edges.append((float(nearest[at]), int(parent[at]), at))
    return sorted(edges)


def widest_gap(edges: Sequence[tuple[float, int, int]], most: int) -> tuple[float, float]:
    """Between the two successive lengths of the largest quotient, lengths below 1e-9 of the longest taken for that."""
    lengths = np.array([e[0] for e in edges])
    if not lengths.size or lengths[-1] == 0:
        return 0.0, np.inf
    clipped = np.maximum(np.concatenate([[0.0], lengths]), 1e-9 * lengths[-1])
    first = max(0, len(lengths) - most)
    quotients = clipped[first + 1 :] / clipped[first:-1]
    i = first + int(quotients.argmax())
    return float(np.sqrt(clipped[i] * clipped[i + 1])), float(quotients.max())


def components(n: int, edges: Sequence[tuple[float, int, int]], radius: float) -> Indices:
    """Clusters numbered in the order of the points."""
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for length, a, b in edges:
        if length <= radius:
            first, second = sorted((find(a), find(b)))
            root[second] = first
    _, label = np.unique([find(i) for i in range(n)], return_inverse=True)
    return np.asarray(label, dtype=np.int64).reshape(-1)
