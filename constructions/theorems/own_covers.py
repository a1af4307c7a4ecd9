"""own.covers: a representation of degree 2 over the complex numbers, as two heads of dimension 2 that represent a larger group.

A representation ρ(x) = c(x)·O(x), with roots of unity c and isometries O of the plane (`algebra/groups/_induced.py`), is followed by two heads
side by side: one turns and reflects the plane by O, the other turns a plane by c. Each letter may use (c, O) or (-c, -O), whichever needs
fewer factors. The heads represent the group H that these pairs generate, not G itself; the read-out is the product
c·O, the same for both pairs. So a joint state determines the element modulo the kernel of ρ, with two factors a letter.

The quaternion group is the smallest example: H has order 16, O are the symmetries of a square and c the fourth roots of 1.

Heads of higher dimension with complex scalars beside them: `_complex_scalars.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from ..algebra._conductors import conductor_degree
from ..algebra._matrices import identity
from ..algebra.groups._induced import InducedPlane, induced_planes
from ..automata._automaton import Indices, breadth_first
from ..heads._candidates import HeadCandidate, HeadSearch, candidate_of_one_plan
from ..heads._representations import HeadPlan, MatrixPlan, SignedPermutationPlan, vector
from ._complex_scalars import scalar_candidates
from ._construction import Construction
from ._paired_points import MAX_SIGNED_DIM
from ._rotations import reflection, rotation


@dataclass(frozen=True, eq=False)
class Symmetries:
    """Letters as symmetries of a polygon with an even number m of corners: corner i goes to a + i or a - i.

    Attributes:
        corners: m.
        turns: 1 for each letter that is a rotation, -1 for each reflection, int array `[letters]`.
        angles: a for each letter, int array `[letters]`.
        in_integers: whether the corners are the ends of m/2 axes of R^{m/2}, on which the letters are signed permutations; otherwise
            they lie in the plane. Two axes are both.
    """

    corners: int
    turns: Indices
    angles: Indices
    in_integers: bool

    @property
    def degree(self) -> int:
        """Degree of the number field, 1 for integers."""
        return 1 if self.in_integers else conductor_degree(lcm(4, self.corners))

    def turn_by_half(self) -> Symmetries:
        """The negatives of the letters."""
        angles = (self.angles + self.corners // 2) % self.corners
        return Symmetries(self.corners, self.turns, angles, self.in_integers)

    def choose(self, other: Symmetries, changed: Indices) -> Symmetries:
        """Some letters from another one.

        Args:
            other: letters of the same polygon.
            changed: for each letter whether to take the other one's, bool array `[letters]`.
        """
        return Symmetries(
            self.corners, self.turns, np.where(changed, other.angles, self.angles), self.in_integers
        )

    def count_factors(self) -> list[int]:
        """The number of factors of each letter."""
        if self.in_integers:
            return [len(factors) for factors in self.plan().factors()]
        return [1 if turn < 0 else 2 if a else 0 for turn, a in zip(self.turns, self.angles, strict=True)]

    def plan(self) -> HeadPlan:
        """The head; two neighbouring corners tell all symmetries apart, and one tells all rotations apart."""
        m, n = self.corners, self.corners // 2
        reflects = bool((self.turns < 0).any())
        if self.in_integers:
            corners = (self.angles[:, None] + self.turns[:, None] * np.arange(n)) % m
            seed = ((0, 1), (1, 2)) if reflects else ((0, 1),)
            return SignedPermutationPlan(corners % n, (corners >= n).astype(np.int64), (seed,))
        letters = list(zip(self.turns.tolist(), self.angles.tolist(), strict=True))
        matrices = tuple(rotation(a, m) if turn > 0 else reflection(a, m) for turn, a in letters)
        return MatrixPlan(matrices, identity(2) if reflects else vector(1, 0), self._list_symmetries)

    def _list_symmetries(self) -> Indices:
        """How the letters move the symmetries that they generate: i ↦ a + i is number a, i ↦ a - i is m + a."""
        m = self.corners
        a, is_reflection = np.arange(2 * m) % m, np.arange(2 * m) >= m
        moved = (self.angles[:, None] + self.turns[:, None] * a) % m
        table = moved + m * (is_reflection ^ (self.turns < 0)[:, None])
        reached = np.array(breadth_first(table, 0), dtype=np.int64)
        place = np.full(2 * m, -1, dtype=np.int64)
        place[reached] = np.arange(len(reached))
        return np.asarray(place[table[:, reached]], dtype=np.int64)


def cover_candidate(plane: InducedPlane, letters: Indices, *, in_integers: bool) -> HeadCandidate:
    """The two heads of a representation c·O, with the lifts of the letters that have the fewest factors.

    Args:
        plane: the representation.
        letters: the point of each letter in the regular action, int array `[letters]`.
        in_integers: whether all numbers are to be integers; more than 4 corners or scalars then take more dimensions.
    """
    m, k, unit = plane.corners, plane.scalar_order, 2 * plane.exponent
    turns = plane.turns[letters]
    polygon = Symmetries(m, turns, plane.isometries[letters] // (unit // m), in_integers or m == 4)
    scalars = Symmetries(k, np.ones_like(turns), plane.scalars[letters] // (unit // k), in_integers or k == 4)
    # (c, O) or (-c, -O): the smaller maximum, then the smaller sum
    plain = _count_both(polygon, scalars)
    opposite = _count_both(polygon.turn_by_half(), scalars.turn_by_half())
    changed = np.array([b < a for a, b in zip(plain, opposite, strict=True)], dtype=bool)
    polygon = polygon.choose(polygon.turn_by_half(), changed)
    scalars = scalars.choose(scalars.turn_by_half(), changed)
    return candidate_of_one_plan(
        "own.covers",
        f"{_name_polygon(polygon)} with {_name_scalars(scalars)} (a cover)",
        max((most for most, _ in map(min, plain, opposite)), default=0),
        max(polygon.degree, scalars.degree),
        lambda: plane.classes,
        polygon.plan(),
        beside=scalars.plan(),
    )


def _count_both(polygon: Symmetries, scalars: Symmetries) -> list[tuple[int, int]]:
    """For each letter the factors of the head that needs more, and those of both."""
    counts = zip(polygon.count_factors(), scalars.count_factors(), strict=True)
    return [(max(a, b), a + b) for a, b in counts]


def _name_polygon(polygon: Symmetries) -> str:
    m = polygon.corners
    return (
        f"signed permutations of {m // 2} axes"
        if polygon.in_integers
        else f"rotations and reflections of the {m}-gon"
    )


def _name_scalars(scalars: Symmetries) -> str:
    k = scalars.corners
    return (
        f"a negative cycle of {k // 2} axes" if scalars.in_integers else f"rotations by multiples of 2π/{k}"
    )


def _candidates(search: HeadSearch, before: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    letters = search.action.letters[:, 0]
    found = []
    for plane in induced_planes(search.action, search.abelian):
        m, k = plane.corners, plane.scalar_order
        if max(m, k) > 4 and _field_degree(plane) <= search.max_degree:
            found.append(cover_candidate(plane, letters, in_integers=False))
        if max(m, k) <= 2 * MAX_SIGNED_DIM:
            found.append(cover_candidate(plane, letters, in_integers=True))
    return [*found, *scalar_candidates(search, [*before, *found])]


def _field_degree(plane: InducedPlane) -> int:
    return max(conductor_degree(lcm(4, order)) for order in (plane.corners, plane.scalar_order))


def list_skipped_covers(search: HeadSearch) -> list[str]:
    """A sentence for each cover whose number field is above `max_degree`."""
    skipped = [
        p for p in induced_planes(search.action, search.abelian) if _field_degree(p) > search.max_degree
    ]
    return [
        f"a cover by symmetries of the {p.corners}-gon with scalars of order {p.scalar_order} was left out: its number field has "
        f"degree {_field_degree(p):,}, the limit is {search.max_degree} (raise it with `max_degree`)"
        for p in skipped
    ]


CONSTRUCTION = Construction(
    source="own.covers",
    title="two heads that represent a cover of the group: symmetries of a polygon, and scalars",
    order=35,
    examples=("Q8", "Q8[generators]", "Q8_x_Z2"),
    refusals={"S5": "`theorem` own.covers", "dihedral:5": "`theorem` own.covers", "T3": "merges states"},
    candidates=_candidates,
    left_out=list_skipped_covers,
)
