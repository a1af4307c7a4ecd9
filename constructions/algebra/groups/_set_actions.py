"""Smaller actions of a permutation group whose elements are not listed: on sets of points.

A subgroup of small index keeps few sets of points, and an orbit of such sets is an action on few points: S_7 on the 21 pairs of 7 points
moves the 7 sets of pairs that have a point in common. Sets are tried that are orbits of subgroups with two pseudo-random generators; those
whose own orbit is small are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np

from ...automata._automaton import Indices
from .._conductors import prime_divisors
from ._actions import first_appearance
from ._permutations import cycle_counts, cycle_lengths, orbits

ROUNDS = 40
"""Pairs of pseudo-random elements whose orbits are tried."""
MAX_POINTS = 1_000
"""Points up to which sets of them are tried."""
MAX_SET_WORK = 50_000_000
"""Sets times points times letters that are computed in all, a set counted as 100 points more."""
MAX_PAIR_WORK = 20_000_000
"""Letters times points times sets up to which the orbits of pairs of a point and a set are computed."""
SOME_LETTERS = 8
"""Letters by which orbits are sought before all letters are looked at."""
MAX_ALIKE = 2
"""Most actions that are kept whose letters have as many cycles."""
_STEPS = 12


@dataclass(frozen=True, eq=False)
class SetAction:
    """A transitive action on sets of points.

    Attributes:
        letters: where each letter takes each set, int array `[letters, sets]`.
        points: the permutations of the points, int array `[letters, points]`.
    """

    letters: Indices
    points: Indices

    @property
    def count(self) -> int:
        """The number of sets."""
        return int(self.letters.shape[1])

    @cached_property
    def pairs(self) -> Indices:
        """The orbit of each pair of a point and a set, `[points, sets]`, numbered from 0: those of point 0 with the fewest sets first.

        A vector whose entry for each set depends on the orbit of the set with point 0 is fixed by all elements that fix point 0.
        """
        n, m = self.points.shape[1], self.count
        maps = (self.points[:, :, None] * m + self.letters[:, None, :]).reshape(len(self.points), n * m)
        labels = orbits(maps[_sample(len(maps))])
        if (labels[maps] != labels).any():
            labels = orbits(maps)
        labels = first_appearance(labels).reshape(n, m)
        order = np.argsort(np.bincount(labels[0]), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[labels], dtype=np.int64)


def set_actions(points: Indices) -> list[SetAction]:
    """List actions on fewer sets of points than there are points, fewest sets first.

    The search takes a fixed sample: an action that it does not find may exist.

    Args:
        points: permutations of points, int array `[letters, points]`, that take point 0 to every other one.
    """
    count, size = points.shape
    if not 4 <= size <= MAX_POINTS or not count:
        return []
    work = MAX_SET_WORK
    kept: dict[tuple[int, bytes], list[SetAction]] = {}
    seen: set[bytes] = set()
    for members in _candidates(points):
        if np.packbits(members).tobytes() in seen:
            continue
        sets, letters = _orbit_of_set(points, members, size - 1)
        work -= len(sets) * (size + 100) * min(count, SOME_LETTERS)
        seen.update(np.packbits(sets, axis=1)[i].tobytes() for i in range(len(sets)))
        if letters is not None and letters.shape[1] > 1 and count * size * letters.shape[1] <= MAX_PAIR_WORK:
            alike = kept.setdefault((letters.shape[1], cycle_counts(letters).tobytes()), [])
            if len(alike) < MAX_ALIKE:
                alike.append(SetAction(letters, points))
        if work < 0:
            break
    return sorted((action for alike in kept.values() for action in alike), key=lambda action: action.count)


def _candidates(points: Indices) -> Iterator[Indices]:
    """Orbits of pseudo-random subgroups, and what an element fixes, as bool arrays `[points]`; not all points, nor one alone."""
    size = points.shape[1]
    draw = np.random.Generator(np.random.PCG64(0))
    current = np.arange(size)

    def element() -> Indices:
        nonlocal current
        for x in draw.integers(0, len(points), size=_STEPS):
            current = points[x, current]
        # each power of prime order has fewer and smaller cycles
        powers = [current, *_prime_powers(current)]
        return powers[int(draw.integers(0, len(powers)))]

    for _ in range(ROUNDS):
        first, second = element(), element()
        fixed = first == np.arange(size)
        if 1 < fixed.sum() < size:
            yield fixed
        for generators in ([first], [first, second]):
            labels = orbits(np.array(generators))
            for label in np.unique(labels).tolist():
                members = labels == label
                if 1 < members.sum() < size:
                    yield members


def _prime_powers(element: Indices) -> Iterator[Indices]:
    """The powers of an element that have prime order."""
    order = lcm(*cycle_lengths(element))
    for p in prime_divisors(order):
        yield _power(element, order // p)


def _power(element: Indices, exponent: int) -> Indices:
    result, square = np.arange(len(element)), element
    while exponent:
        if exponent & 1:
            result = square[result]
        square = square[square]
        exponent >>= 1
    return result


def _orbit_of_set(points: Indices, members: Indices, most: int) -> tuple[Indices, Indices | None]:
    """The sets reached from one, `[sets, points]`, and where the letters take them; no letters where there are more than `most`."""
    inverses = np.argsort(points, axis=1)
    some = inverses[_sample(len(points))]
    sets = [members]
    number = {np.packbits(members).tobytes(): 0}
    for current in sets:  # which grows on the way
        images = current[some]
        for image, key in zip(images, np.packbits(images, axis=1), strict=True):
            if number.setdefault(key.tobytes(), len(sets)) == len(sets):
                sets.append(image)
                if len(sets) > most:
                    return np.array(sets), None
    table = []
    for current in sets:
        keys = np.packbits(current[inverses], axis=1)
        row = [number.get(key.tobytes()) for key in keys]
        if None in row:  # the other letters reach more sets; another set may have a small orbit
            return np.array(sets), None
        table.append(row)
    return np.array(sets), np.array(table, dtype=np.int64).T


def _sample(count: int) -> Indices:
    """At most `SOME_LETTERS` of the letters: few generate the group, and more of them take longer."""
    return np.unique(np.linspace(0, count - 1, min(count, SOME_LETTERS)).astype(np.int64))
