"""Representations of degree 2 that a linear character of a subgroup of index 2 induces, as products of scalars and isometries of the plane.

Let M be a subgroup of index 2 in G, t an element outside, λ: M → U(1) a linear character, and λᵗ(y) = λ(t⁻¹yt). The representation ρ of G
that λ induces has, in the basis e, te, the matrices

    ρ(y) = diag(λ(y), λᵗ(y)),    ρ(ty) = [[0, λᵗ(y)λ(t²)], [λ(y), 0]]        for y in M.

With coordinates z and z̄ of a plane, diag(e^{iθ}, e^{-iθ}) is the rotation by θ, and [[0, e^{iθ}], [e^{-iθ}, 0]] is the reflection
z ↦ e^{iθ}z̄. So ρ(x) = c(x)·O(x), where c(x) is a root of unity, half the sum of the two angles, and O(x) is an isometry of the
plane whose angle is half their difference. Halves are determined up to π for both together: (c, O) and (-c, -O) have the same product. Hence
x ↦ (c(x), O(x)) is no homomorphism of G in general. Such pairs generate a larger group, a cover, which (c, O) ↦ c·O maps onto ρ(G).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from math import lcm

import numpy as np

from ...automata._automaton import Indices
from ._abelian import cyclic_factors
from ._actions import MAX_TABLE, TransitiveAction, first_appearance, subgroup

MAX_HALVES = 63
"""Most subgroups of index 2 that are tried; a group has more only if it maps onto Z_2^7."""


@dataclass(frozen=True, eq=False)
class InducedPlane:
    """A representation ρ = c·O of degree 2. Angles are multiples of π/e, where e is the exponent of M/M′.

    Attributes:
        exponent: e.
        turns: for each point of the regular action 1 if O is a rotation, -1 if it is a reflection, int array `[points]`.
        upper, lower: the angles p and q, multiples of 2π/e in 0..e-1: those of λ(y) and λᵗ(y), or of the entries above and below the
            diagonal for an element outside M, int arrays `[points]`.
        base: the angle of λ(t²), from which the mirrors are counted.
    """

    exponent: int
    turns: Indices
    upper: Indices
    lower: Indices
    base: int

    @cached_property
    def classes(self) -> Indices:
        """The class of each point modulo the kernel of ρ, `[points]`."""
        rows = np.stack([self.turns, self.upper, self.lower], axis=1)
        return first_appearance(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1))

    @cached_property
    def scalars(self) -> Indices:
        """One of the two angles of c at each point, as a multiple of π/e in 0..2e-1; the other one is e more."""
        return (self.upper + self.lower) % (2 * self.exponent)

    @cached_property
    def isometries(self) -> Indices:
        """The angle of O that belongs to `scalars`, as a multiple of π/e in 0..2e-1; O is the identity or a reflection at 0."""
        shift = np.where(self.turns < 0, self.base, 0)  # a turned basis of the plane
        return (self.upper - self.lower - shift) % (2 * self.exponent)

    @property
    def scalar_order(self) -> int:
        """The order of the group of all ±c; it is even."""
        return _order(self.scalars, self.exponent)

    @property
    def corners(self) -> int:
        """The m such that all ±O are symmetries of the m-gon; it is even."""
        return _order(self.isometries, self.exponent)


def _order(angles: Indices, exponent: int) -> int:
    return 2 * exponent // int(np.gcd.reduce(angles, initial=exponent))


def induced_planes(action: TransitiveAction, abelian: tuple[Indices, Indices] | None) -> list[InducedPlane]:
    """List representations c·O of a group in which c is no linear character, nor becomes one when signs are changed.

    Where c can be chosen as a linear character, O is a representation of its own, and both are found without a cover. Multiplied by a linear
    character of odd order, c has an order that is a power of 2, and only such representations are listed. Of those with
    the same kernel, the ones with the fewest scalars and with the fewest corners are kept.

    Args:
        action: a regular action with at most `MAX_TABLE` points; others give an empty list.
        abelian: the largest abelian quotient and the class of each point (`abelianise`).
    """
    if not action.regular or action.size > MAX_TABLE or abelian is None:
        return []
    if len(np.unique(abelian[1])) == action.size:
        return []  # all representations of abelian groups are linear characters
    # c² is a linear character; it is the square of one exactly if it is 1 wherever x² is 1 in G/G′
    halves_of_one = abelian[1][np.diagonal(action.table)] == abelian[1][0]
    found: dict[bytes, list[InducedPlane]] = {}
    without_cover: set[bytes] = set()
    for parity in _halves(abelian):
        for plane in _induced_by(action, parity):
            kernel = ((plane.turns > 0) & (plane.upper == 0) & (plane.lower == 0)).tobytes()
            if not ((plane.upper + plane.lower) % plane.exponent)[halves_of_one].any():
                without_cover.add(kernel)
            elif plane.scalar_order.bit_count() == 1:
                found.setdefault(kernel, []).append(plane)
    kept = []
    for kernel, planes in found.items():
        if kernel in without_cover:
            continue  # found with another subgroup M
        few_scalars = min(planes, key=lambda p: (p.scalar_order, p.corners))
        few_corners = min(planes, key=lambda p: (p.corners, p.scalar_order))
        kept += [few_scalars] if few_corners.corners == few_scalars.corners else [few_scalars, few_corners]
    return kept


def _halves(abelian: tuple[Indices, Indices]) -> Iterator[Indices]:
    """Homomorphisms onto Z_2, as 0 or 1 at each point."""
    letters, labels = abelian
    bits = [factor.points[labels] % 2 for factor in cyclic_factors(letters) if factor.order % 2 == 0]
    sums = chain.from_iterable(combinations(bits, r) for r in range(1, len(bits) + 1))
    for chosen in islice(sums, MAX_HALVES):
        yield np.asarray(np.sum(chosen, axis=0) % 2, dtype=np.int64)


def _induced_by(action: TransitiveAction, parity: Indices) -> Iterator[InducedPlane]:
    """The irreducible representations that linear characters of one subgroup M induce; M: the points of parity 0."""
    table = action.table
    members, outside = np.flatnonzero(parity == 0), np.flatnonzero(parity)
    place = np.full(action.size, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    exponent, characters = _linear_characters(place[table[np.ix_(members, members)]])
    t = int(outside[0])
    inverse_t = int(np.flatnonzero(table[t] == 0)[0])
    turned = characters[:, place[table[table[inverse_t, members], t]]]
    base = characters[:, place[table[t, t]]]
    # y of each element ty, in the order of `outside`
    rest = place[table[inverse_t, outside]]
    upper = np.empty((len(characters), action.size), dtype=np.int64)
    lower = np.empty_like(upper)
    upper[:, members], lower[:, members] = characters, turned
    upper[:, outside] = (turned[:, rest] + base[:, None]) % exponent
    lower[:, outside] = characters[:, rest]
    # λ = λᵗ gives a reducible representation, and λ the same one as λᵗ
    irreducible = (characters != turned).any(axis=1)
    seen: set[bytes] = set()
    for i in np.flatnonzero(irreducible).tolist():
        if turned[i].tobytes() in seen:
            continue
        seen.add(characters[i].tobytes())
        yield InducedPlane(exponent, 1 - 2 * parity, upper[i], lower[i], int(base[i]))


def _linear_characters(table: Indices) -> tuple[int, Indices]:
    """The exponent e of the largest abelian quotient of a group, and its linear characters as multiples of 2π/e, `[characters, elements]`."""
    size = len(table)
    inverse = np.argmax(table == 0, axis=1)
    commutators = np.unique(table[table, table[inverse[:, None], inverse[None, :]]])
    derived = subgroup(table.tolist(), tuple(commutators.tolist()), 2 * size) or frozenset({0})
    labels = first_appearance(table[:, sorted(derived)].min(axis=1))
    representatives = np.unique(labels, return_index=True)[1]
    factors = cyclic_factors(labels[table[np.ix_(representatives, representatives)]])
    exponent = lcm(*(factor.order for factor in factors))
    characters = np.zeros((1, size), dtype=np.int64)
    for factor in factors:
        values = factor.points[labels] * (exponent // factor.order)
        multiples = np.arange(factor.order)[:, None] * values
        characters = ((characters[:, None] + multiples[None]) % exponent).reshape(-1, size)
    return exponent, characters
