"""Heads for groups whose elements are not listed: permutations, with or without signs, of sets of the automaton's states.

The letters permute the sets of an orbit (`algebra/groups/_set_actions.py`), or sets of blocks of states. The initial state has one value for
each orbit of the start state's stabiliser on the sets, so that no state has two codes.
"""

from __future__ import annotations

import numpy as np

from ...foundation._text import count_noun
from ..algebra.groups._permutations import cycle_counts
from ..algebra.groups._set_actions import SetAction
from ..automata._automaton import Indices
from ..heads._candidates import HeadCandidate, HeadSearch, Marks
from ..heads._representations import SignedPermutationPlan
from ._paired_points import MAX_SIGNED_DIM, Axes, count_signed_factors, list_axes, name_axes


def set_candidates(search: HeadSearch, *, three_axes: bool) -> list[HeadCandidate]:
    """Heads by actions on sets of states, for an action that is not regular.

    Args:
        search: the group.
        three_axes: whether to list signed permutations of three axes, or all other heads.
    """
    found = []
    for system, action in search.set_actions:
        if not three_axes:
            found.append(_permutation_candidate(system.labels, action))
        if action.count <= 2 * MAX_SIGNED_DIM and (action.count == 6) == three_axes:
            offers = (_signed_candidate(system.labels, action, axes) for axes in list_axes(action.letters))
            found += [candidate for candidate in offers if candidate is not None]
    return found


def _permutation_candidate(labels: Indices, action: SetAction) -> HeadCandidate:
    n = action.count
    pairs = action.pairs
    unsigned = np.zeros_like(action.letters)

    def plan(marks: Marks) -> SignedPermutationPlan:
        seed = ((int(s), v + 1) for v, mark in enumerate(marks) for s in np.flatnonzero(pairs[0] == mark))
        return SignedPermutationPlan(action.letters, unsigned, (tuple(seed),))

    return HeadCandidate(
        theorem="G.T3",
        name=f"permutations of {count_noun(n, 'point')}",
        cost=int((n - cycle_counts(action.letters)).max(initial=0)),
        dim=n,
        degree=1,
        find_classes=lambda: _classes(pairs)[labels],
        mark_count=int(pairs.max()) + 1,
        mark=lambda mark: _classes(pairs == mark)[labels],
        plan=plan,
        moved=int((action.letters != np.arange(n)).sum(axis=1).max(initial=0)),
    )


def _signed_candidate(labels: Indices, action: SetAction, axes: Axes) -> HeadCandidate | None:
    """Signed permutations of pairs of sets; None where the only vector that the start state's stabiliser fixes is 0."""
    pairs = action.pairs
    opposite = pairs[0, _partners(axes)]
    # an orbit that contains the other end of one of its axes has the value 0; of an orbit and its opposite one the first is marked
    orbits_of = [o for o in range(int(pairs.max()) + 1) if o < opposite[np.flatnonzero(pairs[0] == o)[0]]]
    if not orbits_of:
        return None
    image, negative = axes.signed(action.letters)

    def plan(marks: Marks) -> SignedPermutationPlan:
        seed = [
            (int(axes.axis[s]), -v - 1 if axes.is_negative[s] else v + 1)
            for v, mark in enumerate(marks)
            for s in np.flatnonzero(pairs[0] == orbits_of[mark])
        ]
        return SignedPermutationPlan(image, negative, (tuple(seed),))

    return HeadCandidate(
        theorem="DP.T4" if axes.count == 3 else "G.T3",
        name=name_axes(axes.count),
        cost=int(count_signed_factors(image, negative).max(initial=0)),
        dim=axes.count,
        degree=1,
        find_classes=lambda: _classes(np.where(np.isin(pairs, orbits_of), pairs, -1))[labels],
        mark_count=len(orbits_of),
        mark=lambda mark: _classes(pairs == orbits_of[mark])[labels],
        plan=plan,
    )


def _partners(axes: Axes) -> Indices:
    """The other end of the axis of each point."""
    ends = np.empty((2, axes.count), dtype=np.int64)
    points = np.arange(len(axes.axis))
    ends[axes.is_negative.astype(np.int64), axes.axis] = points
    return np.asarray(ends[1 - axes.is_negative.astype(np.int64), axes.axis], dtype=np.int64)


def _classes(rows: Indices) -> Indices:
    """Equal rows have one class."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
