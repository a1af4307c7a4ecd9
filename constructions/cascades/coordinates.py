"""Integer coordinates for the points of a permutation-reset component: few dimensions, so that resets cost little.

A reset erases every coordinate, one factor each, and writes the new point's. One-hot coordinates (theory: G.T4)
take one a point. Fewer do: each orbit of the component's permutations needs only its own signed permutation
matrices, in half as many dimensions where antipodes can be paired; orbits that the permutations move alike share
coordinates at the scales 1, 2, ...; points that all permutations fix are such orbits of one point, and one of them
stands at 0. A component without permutations is a single number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..head_plan import signed_permutation_factors
from ..householder import GHFactor
from ..lrnn import Sparse

MOST_LABELS = 8
"""Points that share a coordinate: integers up to 8 are exact in every format."""
MOST_SCALES = 4
"""Orbits of several points that share coordinates: a sign flip doubles what it meets."""
Permutation = tuple[int, ...]


@dataclass(frozen=True)
class Coordinates:
    """Codes of the points: point p stands at `scale[p]·sign[p]` on coordinate `place[p]`, at 0 where `scale[p]` is 0."""

    dim: int
    place: tuple[int, ...]
    sign: tuple[int, ...]
    scale: tuple[int, ...]

    def code(self, point: int, offset: int = 0) -> Sparse:
        """The sparse column of a point, its coordinates moved down by `offset`."""
        value = self.sign[point] * self.scale[point]
        return ((offset + self.place[point], 0, value),) if value else ()

    def factors(self, permutation: Sequence[int]) -> tuple[GHFactor, ...]:
        """The component's permutation as reflections of the coordinates."""
        image, negative = list(range(self.dim)), [0] * self.dim
        for p, q in enumerate(permutation):
            if self.scale[p]:
                image[self.place[p]] = self.place[q]
                negative[self.place[p]] = int(self.sign[p] != self.sign[q])
        return signed_permutation_factors(image, negative)


def one_hot(points: int) -> Coordinates:
    """Point p at e_p."""
    return Coordinates(points, tuple(range(points)), (1,) * points, (1,) * points)


def few_coordinates(
    points: int, permutations: Sequence[Permutation], written: Sequence[int], first: int | None = None
) -> Coordinates:
    """Coordinates of small dimension on which the permutations are signed permutation matrices.

    `written`: the points that some letter leads to; those that none does come last among the fixed points, so that
    their places follow from the others' (a certificate's canonical form). `first`: a point that gets 0, or the
    scale 1 and the sign +.
    """
    place, sign, scale = [0] * points, [1] * points, [0] * points
    orbits = sorted(_orbits(points, permutations), key=lambda orbit: first not in orbit)
    moved = [orbit for orbit in orbits if len(orbit) > 1]
    fixed = [orbit[0] for orbit in orbits if len(orbit) == 1]
    fixed = sorted(fixed, key=lambda p: (p != first, p not in written))
    for number, p in enumerate(fixed):  # 0, then 1 ... 8 on each coordinate in turn
        place[p], scale[p] = divmod(number - 1, MOST_LABELS) if number else (0, -1)
        scale[p] += 1
    dim = -(-max(len(fixed) - 1, 0) // MOST_LABELS)
    leaders: list[
        tuple[list[int], int]
    ] = []  # first orbits of their kind, and how many share their coordinates
    for orbit in moved:
        for k, (leader, shared) in enumerate(leaders):
            alike = None if shared == MOST_SCALES else _same_action(leader, orbit, permutations)
            if alike is not None:
                for p, q in alike.items():
                    place[q], sign[q], scale[q] = place[p], sign[p], shared + 1
                leaders[k] = leader, shared + 1
                break
        else:
            antipodes = _antipodes(orbit, permutations)
            for p in orbit:
                scale[p] = 1
                if antipodes is None or (p == first or (p < antipodes[p] and antipodes[p] != first)):
                    place[p] = dim
                    if antipodes is not None:
                        place[antipodes[p]], sign[antipodes[p]] = dim, -1
                    dim += 1
            leaders.append((orbit, 1))
    return Coordinates(dim, tuple(place), tuple(sign), tuple(scale))


def _orbits(points: int, permutations: Sequence[Permutation]) -> list[list[int]]:
    orbits: list[list[int]] = []
    seen: set[int] = set()
    for p in range(points):
        if p not in seen:
            orbit = [p]
            seen.add(p)
            for q in orbit:
                fresh = [s[q] for s in permutations if s[q] not in seen]
                fresh = list(dict.fromkeys(fresh))
                seen.update(fresh)
                orbit.extend(fresh)
            orbits.append(orbit)
    return orbits


def _same_action(
    first: Sequence[int], second: Sequence[int], permutations: Sequence[Permutation]
) -> dict[int, int] | None:
    """A bijection of two orbits that the permutations commute with; None where there is none."""
    if len(first) != len(second):
        return None
    for image in second:
        found = _extended(first[0], image, permutations)
        if found is not None and len(set(found.values())) == len(second):
            return found
    return None


def _antipodes(orbit: Sequence[int], permutations: Sequence[Permutation]) -> dict[int, int] | None:
    """An involution of the orbit without fixed points that the permutations commute with; None if there is none."""
    for image in orbit[1:]:
        found = _extended(orbit[0], image, permutations)
        if found is not None and all(found[q] == p != q for p, q in found.items()):
            return found
    return None


def _extended(p: int, q: int, permutations: Sequence[Permutation]) -> dict[int, int] | None:
    """The map of p's orbit that sends p to q and commutes with the permutations; None where that is contradictory."""
    found = {p: q}
    queue = [p]
    for point in queue:
        for s in permutations:
            image, wanted = s[point], s[found[point]]
            if found.setdefault(image, wanted) != wanted:
                return None
            if len(found) > len(queue):
                queue.append(image)
    return found
