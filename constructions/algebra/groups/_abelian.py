"""Abelian groups as sums of cyclic ones: coordinates of every element, by the Smith normal form of the relations.

And the largest abelian quotient G/G′ of a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...automata._automaton import Indices
from ._actions import MAX_TABLE, TransitiveAction, first_appearance, is_abelian, subgroup
from ._permutations import orbits


@dataclass(frozen=True, eq=False)
class CyclicFactor:
    """A homomorphism onto Z_m, given by its values at points and letters.

    Attributes:
        order: the order m of the image.
        points: the value of each point, int array `[points]`, in 0..m-1.
        letters: the value of each letter, int array `[letters]`, in 0..m-1.
    """

    order: int
    points: Indices
    letters: Indices

    def part(self, order: int) -> CyclicFactor:
        """Return the homomorphism onto the quotient Z_order.

        Args:
            order: a divisor of m.
        """
        return CyclicFactor(order, self.points % order, self.letters % order)


def abelianise(action: TransitiveAction) -> tuple[Indices, Indices] | None:
    """The regular action of G/G′ and the class of each point; None where the group is too large to say."""
    if not action.regular:
        return None
    letters = action.letters
    points = letters[:, 0]
    if is_abelian(action):
        return letters, np.arange(action.size)
    if action.size > MAX_TABLE:
        return None
    table = action.table
    inverse = np.argmax(table == 0, axis=1)
    # the commutators of all elements with the letters generate G′ together with their conjugates
    g, x = np.arange(action.size)[:, None], points[None, :]
    commutators = np.unique(table[table[g, x], table[inverse[g], inverse[x]]])
    derived = subgroup(table.tolist(), tuple(int(c) for c in commutators), 2 * action.size)
    labels = first_appearance(orbits(np.array([table[:, k] for k in sorted(derived or {0})])))
    representatives = np.unique(labels, return_index=True)[1]
    if len(representatives) == 1:
        return None
    return labels[letters[:, representatives]], labels


def cyclic_factors(letters: Indices) -> list[CyclicFactor]:
    """Compute the invariant factors of a regular abelian action, each as a homomorphism.

    Together they distinguish all elements.

    Args:
        letters: a regular action, int array `[letters, points]`, whose point 0 is the identity.
    """
    generators, relations, exponents = _polycyclic(letters)
    if not generators:
        return []
    orders, V = smith_columns(relations)
    # Python integers: V's entries can outgrow int64 for many generators
    coordinates = exponents.astype(object) @ np.array(V, dtype=object)
    factors = []
    for i, order in enumerate(orders):
        if order > 1:
            points = np.array(coordinates[:, i] % order, dtype=np.int64)
            factors.append(CyclicFactor(order, points, points[letters[:, 0]]))
    return factors


def prime_powers(m: int) -> list[int]:
    """The prime powers whose product is m, by their primes."""
    powers = []
    p = 2
    while m > 1:
        power = 1
        while m % p == 0:
            m //= p
            power *= p
        if power > 1:
            powers.append(power)
        p += 1 if p * p <= m else max(m - p, 1)
    return powers


def _polycyclic(letters: Indices) -> tuple[list[int], list[list[int]], Indices]:
    """Generators among the letters, their relations (rows), and each point's exponents `[points, generators]`."""
    size = letters.shape[1]
    exponent: dict[int, list[int]] = {0: []}
    generators: list[int] = []
    relations: list[list[int]] = []
    for x, image in enumerate(letters):
        if int(image[0]) in exponent:
            continue
        layer = dict(exponent)
        moved = {p: int(image[p]) for p in layer}
        relative = 1
        larger = {p: [*e, 0] for p, e in layer.items()}
        current = layer
        while True:
            shifted = {moved[p] if p in moved else int(image[p]): e for p, e in current.items()}
            if next(iter(shifted)) in layer:
                break
            larger.update({p: [*e, relative] for p, e in shifted.items()})
            current = shifted
            relative += 1
        power = 0
        for _ in range(relative):
            power = int(image[power])
        relations = [[*row, 0] for row in relations]
        relations.append([-e for e in layer[power]] + [relative])
        exponent = larger
        generators.append(x)
        if len(exponent) == size:
            break
    points = np.zeros((size, len(generators)), dtype=np.int64)
    for p, e in exponent.items():
        points[p] = e
    return generators, relations, points


def smith_columns(relations: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Smith normal form D = U·R·V of a square integer matrix: the diagonal of D, and V (both exact)."""
    n = len(relations)
    R = [list(row) for row in relations]
    V = [[int(i == j) for j in range(n)] for i in range(n)]

    def add_column(source: int, target: int, times: int) -> None:
        for M in (R, V):
            for row in M:
                row[target] += times * row[source]

    def swap_columns(i: int, j: int) -> None:
        for M in (R, V):
            for row in M:
                row[i], row[j] = row[j], row[i]

    for k in range(n):
        while True:
            entries = [(abs(R[i][j]), i, j) for i in range(k, n) for j in range(k, n) if R[i][j]]
            if not entries:
                break
            _, i, j = min(entries)
            R[k], R[i] = R[i], R[k]
            swap_columns(k, j)
            pivot = R[k][k]
            for i in range(k + 1, n):
                quotient = R[i][k] // pivot
                R[i] = [a - quotient * b for a, b in zip(R[i], R[k], strict=True)]
            for j in range(k + 1, n):
                add_column(k, j, -(R[k][j] // pivot))
            if any(R[i][k] for i in range(k + 1, n)) or any(R[k][j] for j in range(k + 1, n)):
                continue
            bad = next((i for i in range(k + 1, n) for x in R[i] if x % pivot), None)
            if bad is None:
                break
            R[k] = [a + b for a, b in zip(R[k], R[bad], strict=True)]
    return [abs(R[k][k]) for k in range(n)], V
