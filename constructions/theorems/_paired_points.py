"""Signed permutations from actions whose points come in pairs that every letter keeps: the points of a pair are +e_i and -e_i.

A permutation of the points that commutes with all letters, moves every point, and is its own inverse pairs the points. The
hyperoctahedral groups on 2n points are an example, and their subgroups such as Z_2 wr Z_n: n axes instead of 2n points. Nothing here
lists the elements of the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..algebra.groups._actions import (
    MAX_TABLE,
    BlockSystem,
    TransitiveAction,
    first_appearance,
    spanning_levels,
)
from ..algebra.groups._permutations import cycle_counts
from ..automata._automaton import Indices
from ..heads._candidates import HeadCandidate, Marks
from ..heads._representations import SignedPermutationPlan

MAX_SIGNED_DIM = 64
"""Most axes of signed permutations."""
SOME_LETTERS = 20
"""Letters that are looked at together."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Points in pairs, as the two ends of axes.

    Attributes:
        positive: the point that is the positive end of each axis, int array `[axes]`; point 0 is that of axis 0.
        axis: the axis of each point, int array `[points]`.
        is_negative: whether a point is the negative end of its axis, bool array `[points]`.
    """

    positive: Indices
    axis: Indices
    is_negative: Indices

    @property
    def count(self) -> int:
        """The number of axes."""
        return len(self.positive)

    def signed(self, letters: Indices) -> tuple[Indices, Indices]:
        """For each letter the axis to which it takes each axis, and 1 where it does so with the sign -, both `[letters, axes]`.

        Args:
            letters: permutations of the points that keep the pairs, `[letters, points]`.
        """
        images = letters[:, self.positive]
        return self.axis[images], self.is_negative[images].astype(np.int64)


def list_axes(letters: Indices) -> list[Axes]:
    """The ways in which the points of a transitive action are ends of axes that every letter permutes.

    Args:
        letters: permutations of the points, `[letters, points]`, that take point 0 to every other one.
    """
    size = letters.shape[1]
    if size % 2:
        return []
    # what commutes with the letters keeps what those keep that fix point 0
    fixed = (letters[letters[:, 0] == 0] == np.arange(size)).all(axis=0)
    partners = np.flatnonzero(fixed)[1:]
    # row i: what commutes with the letters and takes point 0 to partners[i] takes their words along
    maps = np.empty((len(partners), size), dtype=np.int64)
    maps[:, 0] = partners
    if not len(maps):
        return []
    for points, parents, chosen in spanning_levels(letters):
        maps[:, points] = letters[chosen, maps[:, parents]]
    maps = maps[maps[np.arange(len(maps)), partners] == 0]
    # some letters at a time: the first ones leave few maps
    for first in range(0, len(letters), SOME_LETTERS):
        if len(maps):
            some = letters[first : first + SOME_LETTERS]
            maps = maps[(maps[:, some] == some[:, maps].swapaxes(0, 1)).all(axis=(1, 2))]
    found = []
    for pair in maps:
        if (pair[pair] == np.arange(size)).all():
            least = np.minimum(pair, np.arange(size))
            axis = first_appearance(least)
            positive = np.unique(axis, return_index=True)[1].astype(np.int64)
            found.append(Axes(positive, axis, np.arange(size) != positive[axis]))
    return found


def count_signed_factors(image: Indices, negative: Indices) -> Indices:
    """rank(A - I) of signed permutations: n less the cycles whose signs multiply to +1, `[letters]`.

    Args:
        image: where each axis goes, `[letters, n]`.
        negative: 1 where the sign is -, `[letters, n]`.
    """
    n = negative.shape[1]
    ends = np.concatenate([image + n * negative, image + n * (1 - negative)], axis=1)
    return np.asarray(n - cycle_counts(ends) + cycle_counts(image), dtype=np.int64)


def paired_candidates(systems: list[BlockSystem], *, three_axes: bool) -> Iterator[HeadCandidate]:
    """For each block system whose blocks are ends of axes the signed permutations of these.

    Where the group has a table, only those whose axes are no block system of the list: `signed_candidates` has the others.

    Args:
        systems: block systems of one action.
        three_axes: whether to list those of three axes, or all others.
    """
    for system in systems:
        few = system.count <= 2 * MAX_SIGNED_DIM and (system.count == 6) == three_axes
        # a group's elements in pairs are the cosets of a subgroup with one generator
        if few and not (_has_table(system.action) and system.count == system.action.size):
            for axes in list_axes(system.letters):
                if not _is_listed(system, axes, systems):
                    yield _paired_candidate(system, axes)


def _has_table(action: TransitiveAction) -> bool:
    return action.regular and action.size <= MAX_TABLE


def _is_listed(system: BlockSystem, axes: Axes, systems: list[BlockSystem]) -> bool:
    action = system.action
    if not _has_table(action):
        return False
    known = [other for other in systems if other.count == axes.count]
    coarse = BlockSystem(action, first_appearance(axes.axis[system.labels]))
    return any((other.character == coarse.character).all() for other in known)


def _paired_candidate(system: BlockSystem, axes: Axes) -> HeadCandidate:
    image, negative = axes.signed(system.letters)
    n = axes.count

    def plan(marks: Marks) -> SignedPermutationPlan:
        return SignedPermutationPlan(image, negative, (tuple((b, v + 1) for v, b in enumerate(marks)),))

    return HeadCandidate(
        theorem="DP.T4" if n == 3 else "G.T3",
        name=name_axes(n),
        cost=int(count_signed_factors(image, negative).max(initial=0)),
        dim=n,
        degree=1,
        find_classes=lambda: system.kernel_classes,
        mark_count=n if system.action.regular else 1,
        mark=lambda b: system.mark(int(axes.positive[b])),
        plan=plan,
    )


def name_axes(n: int) -> str:
    """What signed permutations of n axes are called."""
    return f"signed permutations of {n:,} axes" if n > 1 else "a sign"
