"""Clusters of a model's states: components of the minimal spanning tree below a length, and how well moves agree on them.

A head that adds up what it reads, and whose states no answer needs, wanders without bound. Then states of one class lie
further apart than classes in the space of all heads, and only a head that carries the states shows clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._errors import LimitError
from ...theory.arithmetic._rounding import Floats
from ...theory.running._words import random_words
from ..learned._learned import Learned
from ._budget import Clock
from ._states import run_beside_automaton

POINTS = 1_024
"""At most about so many states decide which directions are principal ones."""
_NOISE = 1e-3
"""Singular values below this part of the largest are taken for that."""
_CANCELLED = 1e-6
"""Squared distances below this part of the largest squared norm lose more than about ten of 16 digits."""


def observe_states(
    learned: Learned, words: int, length: int, seed: int, max_points: int, clock: Clock | None = None
) -> tuple[Floats, Indices, Indices]:
    """States `[points, entries]`, the start first; moves `[observed, 3]` point, letter, point; the answers.

    Move i leads to point i + 1, and points come by the lengths of their words. `OutOfBudgetError` where a clock's time is over.
    """
    if words * length + 1 > max_points:
        raise LimitError(
            f"{learned.name}: {words} words of {length} letters give {words * length + 1:,} states to cluster, more than "
            f"{max_points:,}: ask for fewer, or raise max_points"
        )
    target = learned.target
    letters = random_words(target.automaton, words, length, seed)
    rows = [flatten_heads(learned.head_states(learned.stepper.initial(1)))]
    before = np.zeros(words, dtype=np.int64)
    moves, answers = [], []
    for t, (x, states, _, asked, _) in enumerate(run_beside_automaton(target, learned.stepper, letters)):
        if clock is not None:
            clock.look()
        given = np.where(asked, learned.stepper.decode(states, x), -1)
        after = 1 + t * words + np.arange(words)
        rows.append(flatten_heads(learned.head_states(states)))
        moves.append(np.stack([before, x, after], axis=1))
        answers.append(given)
        before = after
    return np.concatenate(rows), np.concatenate(moves), np.concatenate(answers)


def flatten_heads(states: Sequence[Floats]) -> Floats:
    """States of all heads side by side, `[sequences, entries]`."""
    return np.concatenate([H.reshape(len(H), -1) for H in states], axis=1)


@dataclass(frozen=True, eq=False)
class Space:
    """Where points are compared: all `columns` given, or from `centre` along the columns of `basis`."""

    name: str
    columns: slice
    centre: Floats | None = None
    basis: Floats | None = None

    def of(self, points: Floats) -> Floats:
        """Points `[points, entries]` in this space."""
        mine = points[:, self.columns]
        if self.centre is None or self.basis is None:
            return mine
        result: Floats = (mine - self.centre) @ self.basis
        return result


@dataclass(frozen=True, eq=False)
class Clusters:
    """`label` of each point, the first is the start's. `space`: where they were found. `radius`, and how wide its `gap` is.

    `votes` `[letters, clusters, clusters]` counts moves, `said` `[letters, clusters, answers]` answers (the last: not asked).
    """

    space: Space
    label: Indices
    radius: float
    gap: float
    votes: Indices
    said: Indices

    @cached_property
    def share(self) -> float:
        """The share of moves and answers that agree with the majority of their cluster and letter."""
        agreed = self.votes.max(axis=2).sum() + self.said.max(axis=2).sum()
        return float(agreed / max(self.votes.sum() + self.said.sum(), 1))

    @property
    def complete(self) -> bool:
        """All agree, and every cluster was left with every letter."""
        return self.share == 1 and bool((self.votes.sum(axis=2) > 0).all())


def clusters_of(
    learned: Learned,
    points: Floats,
    moves: Indices,
    answers: Indices,
    radius: float | None,
    most: int,
    clock: Clock | None = None,
) -> Clusters:
    """The first on which all agree: of all heads' states together, or of one head's on its principal directions.

    Heads come by their gaps of singular values, the widest first. If there is none, that of the largest `share`. With
    a given `radius` only all heads together; once a clock's time is over, no further head.
    """
    shape = (len(learned.letters), len(learned.target.names) + 1)
    best = _clusters(Space("all heads", slice(None)), points, moves, answers, shape, radius, most)
    if radius is not None or best.share == 1:
        return best
    found = []
    end = 0
    for head in learned.heads:
        columns = slice(end, end + head.H0.size)
        end = columns.stop
        centre, basis, gap = find_principal_directions(points[:, columns])
        found.append((gap, Space(f"{head.name}, {basis.shape[1]} directions", columns, centre, basis)))
    for _, space in sorted(found, key=lambda f: -f[0]):
        if clock is not None and clock.is_over:
            break
        one = _clusters(space, points, moves, answers, shape, None, most)
        if one.share > best.share:
            best = one
        if best.share == 1:
            break
    return best


def _clusters(
    space: Space,
    points: Floats,
    moves: Indices,
    answers: Indices,
    shape: tuple[int, int],
    radius: float | None,
    most: int,
) -> Clusters:
    edges = spanning_tree(space.of(points))
    used, gap = widest_gap(edges, most) if radius is None else (radius, np.nan)
    label = components(len(points), edges, used)
    letters, said_apart = shape
    k = int(label.max()) + 1
    votes = np.zeros((letters, k, k), dtype=np.int64)
    said = np.zeros((letters, k, said_apart), dtype=np.int64)
    np.add.at(votes, (moves[:, 1], label[moves[:, 0]], label[moves[:, 2]]), 1)
    np.add.at(said, (moves[:, 1], label[moves[:, 0]], answers), 1)
    return Clusters(space, label, used, gap, votes, said)


def find_principal_directions(points: Floats) -> tuple[Floats, Floats, float]:
    """Mean and principal directions, as columns, before the widest gap of the singular values; and that gap, a quotient."""
    centre = points.mean(axis=0)
    centred = points - centre
    few = centred[:: -(-len(points) // POINTS)]
    squares, U = np.linalg.eigh(few @ few.T)
    s = np.sqrt(np.maximum(squares[::-1], 0))[: min(few.shape)]
    s = np.maximum(s, max(_NOISE * s[0], 1e-300))
    quotients = np.append(s[:-1], s[-1]) / np.append(s[1:], s[-1])  # 1 after the last: none is left out
    r = int(quotients.argmax()) + 1
    return centre, few.T @ (U[:, ::-1][:, :r] / s[:r]), float(quotients[r - 1])


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
