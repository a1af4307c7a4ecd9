"""Moves of clusters that no random word showed: the model reads a shortest word to the cluster, and the letter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.errors import LimitError
from ...theory.arithmetic.rounding import Floats
from ..learned.learned import Learned
from .extraction_clusters import Clusters, flat
from .states import side_by_side

SLICE = 256
"""So many words run side by side."""


def with_unseen_moves(
    learned: Learned, points: Floats, moves: Indices, found: Clusters, max_unseen: int
) -> Clusters:
    """One vote and one answer for each cluster and letter without any; `points`, `moves` as `observed` gives them.

    The state after the letter belongs to the cluster of the nearest point, if that is within the clusters' radius.
    Otherwise the move stays without a vote.
    """
    unseen = np.argwhere(found.votes.sum(axis=2) == 0)
    if len(unseen) > max_unseen:
        raise LimitError(
            f"{learned.name}: {len(unseen):,} letters of {found.votes.shape[1]:,} clusters are unseen, and each takes a run, "
            f"more than {max_unseen:,}: ask for more or longer words, or raise max_unseen"
        )
    _, first = np.unique(found.label, return_index=True)
    to_cluster = [word_to(moves, point) for point in first.tolist()]
    by_length = defaultdict(list)
    for letter, cluster in unseen.tolist():
        by_length[len(to_cluster[cluster])].append((letter, cluster))
    known = found.space.of(points)
    centre = known.mean(axis=0)
    known = known - centre
    norms = np.einsum("pe,pe->p", known, known)
    votes, said = found.votes.copy(), found.said.copy()
    for pairs in by_length.values():
        for i in range(0, len(pairs), SLICE):
            some = pairs[i : i + SLICE]
            states, answers = _ends(learned, [[*to_cluster[cluster], letter] for letter, cluster in some])
            letters, clusters = np.array(some).T
            point, distance = _nearest(known, norms, found.space.of(states) - centre)
            near = distance <= found.radius
            votes[letters[near], clusters[near], found.label[point[near]]] = 1
            said[letters, clusters, answers] = 1
    return replace(found, votes=votes, said=said)


def word_to(moves: Indices, point: int) -> list[int]:
    """The letters read from the start to a point."""
    word = []
    while point:
        point, letter, _ = moves[point - 1].tolist()
        word.append(letter)
    return word[::-1]


def _ends(learned: Learned, words: Sequence[Sequence[int]]) -> tuple[Floats, Indices]:
    """States `[words, entries]` and answers after words of one length, -1 where nothing is asked."""
    *_, last = side_by_side(learned.target, learned.stepper, np.array(words))
    x, states, _, asked, _ = last
    return flat(learned.head_states(states)), np.where(asked, learned.stepper.decode(states, x), -1)


def _nearest(known: Floats, norms: Floats, points: Floats) -> tuple[Indices, Floats]:
    """For each of `points` the number of the nearest `known` one, and how far it is: from the difference, see `spanning_tree`."""
    index = (norms - 2 * points @ known.T).argmin(axis=1)
    return index, np.sqrt(((points - known[index]) ** 2).sum(axis=1))
