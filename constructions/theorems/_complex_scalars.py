"""own.covers, by complex scalars: letters of a head with a complex structure, each divided by one of its eigenvalues.

Let a head act by signed permutations A(x) that commute with J, where J² = -1 on a subspace V that they keep, and J = 0 on its complement. So V
is a complex vector space, on which the numbers e^{iθ} act as e^{θJ}. If e^{iθ} is an eigenvalue of A(x) on V, A(x)e^{-θJ} fixes more vectors than A(x), and
needs fewer factors. One head acts by these matrices, another turns a plane by θ(x). They represent a cover of the
group: the read-out multiplies the angles back. Two complex dimensions then take two real factors, whatever the group: each
letter becomes a complex reflection.

J is sought among the multiples of the integer matrices K = B - Bᵀ, where B sums the letters' orbit of a signed pair of axes; K³ = -sK makes J = K/√s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import isqrt, lcm

import numpy as np

from ..algebra._conductors import conductor_degree
from ..algebra._cyclotomic import Number, real_cyclotomic_field, simplest
from ..algebra._matrices import Matrix, identity, product, rank, subtract
from ..algebra.groups._actions import MAX_TABLE, conjugacy_representatives
from ..automata._automaton import Indices, breadth_first
from ..heads._candidates import HeadCandidate, HeadSearch, candidate_of_one_plan
from ..heads._representations import MatrixPlan, SignedPermutationPlan, vector
from ..heads._selection import determines, join_partitions
from ._rotations import rotation

MAX_DIM = 8
"""Largest dimension of a head whose letters are tried."""
MAX_RANKS = 200
"""Most ranks that are computed for a head: the sum of the orders of the letters, each conjugacy class once."""
MAX_STRUCTURES = 4
"""Most matrices K that are tried for a head."""


@dataclass(frozen=True, eq=False)
class ComplexStructure:
    """J = K/√s: K³ = -sK for an antisymmetric integer matrix K.

    Attributes:
        K: int array `[n, n]`.
        s: a square, or a square times a prime number.
    """

    K: Indices
    s: int

    @cached_property
    def prime(self) -> int:
        """s without its square divisor: 1 or a prime number."""
        root = next(r for r in range(isqrt(self.s), 0, -1) if self.s % (r * r) == 0)
        return self.s // (root * root)

    @property
    def conductor(self) -> int:
        """N such that √s lies in Q(2cos 2π/N)."""
        return {1: 1, 2: 8}.get(self.prime, 4 * self.prime)

    def turn(self, j: int, k: int, conductor: int) -> Matrix:
        """e^{-θJ} for θ = 2πj/k, the identity where J is 0.

        Args:
            j: the number of steps.
            k: the number of steps of a whole turn.
            conductor: a multiple of 4, k and `conductor`, whose field has the entries.
        """
        field = real_cyclotomic_field(conductor)
        c, sine = field.cos(j * (conductor // k)), field.sin(j * (conductor // k))
        # 1 - sin θ K/√s + (1 - cos θ) K²/s, as J² = K²/s
        first, second = -(sine * self._root(conductor)) / self.s, (1 - c) / self.s
        square = self.K @ self.K
        rows = range(len(self.K))
        return tuple(
            tuple(
                simplest(int(i == h) + first * int(self.K[i, h]) + second * int(square[i, h])) for h in rows
            )
            for i in rows
        )

    def _root(self, conductor: int) -> Number:
        """√s, by Gauss sums."""
        p, field = self.prime, real_cyclotomic_field(conductor)
        whole = isqrt(self.s // p)
        if p == 1:
            return whole
        if p == 2:
            return field.twice_cos(conductor // 8) * whole
        step = conductor // p
        squares = {a * a % p for a in range(1, p)}
        part = field.cos if p % 4 == 1 else field.sin
        total: Number = 0
        for a in range(1, p):
            total = part(a * step) * (1 if a in squares else -1) + total
        return total * whole


def complex_structures(plan: SignedPermutationPlan) -> Iterator[ComplexStructure]:
    """Those of the orbits of signed pairs of axes, at most `MAX_STRUCTURES`.

    Args:
        plan: signed permutations.
    """
    n = plan.dim
    sign = 1 - 2 * plan.negative.astype(np.int64)
    seen = np.zeros((n, n), dtype=bool)
    found = 0
    for i, j in np.ndindex(n, n):
        if seen[i, j] or i == j:
            continue
        B = np.zeros((n, n), dtype=np.int64)
        B[i, j] = 1
        todo, vanishes = [(i, j)], False
        for a, b in todo:  # which grows on the way
            seen[a, b] = True
            for image, signs in zip(plan.image, sign, strict=True):
                c, d = int(image[a]), int(image[b])
                value = B[a, b] * signs[a] * signs[b]
                if B[c, d] == 0:
                    B[c, d] = value
                    todo.append((c, d))
                vanishes |= bool(B[c, d] != value)
        K = B - B.T
        cube = K @ K @ K
        s = -int(cube[i, j]) // int(K[i, j]) if K[i, j] else 0
        if vanishes or s <= 0 or (cube != -s * K).any():
            continue
        structure = ComplexStructure(K, s)
        if structure.prime == 1 or all(structure.prime % q for q in range(2, isqrt(structure.prime) + 1)):
            yield structure
            found += 1
            if found == MAX_STRUCTURES:
                return


def scalar_candidates(search: HeadSearch, before: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    """Heads of signed permutations whose letters need fewer factors with a complex scalar beside them.

    Args:
        search: the group.
        before: the candidates of other theorems.
    """
    action = search.action
    if not action.regular or action.size > MAX_TABLE:
        return []
    # most groups need none: two factors suffice without these heads
    cheap = [c for c in before if c.cost <= 2 and not c.lifted]
    if determines(
        reduce(join_partitions, (c.classes for c in cheap), np.zeros_like(action.states)), action.states
    ):
        return []
    found = []
    for candidate in before:
        if candidate.cost <= 2 or candidate.dim > MAX_DIM or candidate.lifted or candidate.beside is not None:
            continue
        plan = candidate.plan(tuple(range(candidate.mark_count)))
        if not isinstance(plan, SignedPermutationPlan):
            continue
        offers = [_divide(search, candidate, plan, J) for J in complex_structures(plan)]
        cheaper = [offer for offer in offers if offer is not None and offer.cost < candidate.cost]
        found += sorted(cheaper, key=lambda offer: (offer.price, offer.degree))[:1]
    return found


def _divide(
    search: HeadSearch, candidate: HeadCandidate, plan: SignedPermutationPlan, structure: ComplexStructure
) -> HeadCandidate | None:
    """The candidate with each letter divided by the eigenvalue that saves most."""
    action = search.action
    points = action.letters[:, 0].tolist()
    class_of = _conjugacy_classes(action.table)
    orders = {class_of[point]: _order(action.table, point) for point in points}
    k = lcm(2, *orders.values())
    conductor = lcm(4, k, structure.conductor)
    if sum(orders.values()) > MAX_RANKS or conductor_degree(conductor) > search.max_degree:
        return None
    matrices = plan.as_matrices().matrices
    best: dict[int, tuple[int, int]] = {}
    for A, point in zip(matrices, points, strict=True):
        order = orders[class_of[point]]
        if class_of[point] not in best:
            # the rank is that of all conjugates, as J commutes with the letters
            ranks = [(_rank(product(A, structure.turn(j, order, conductor))), j) for j in range(order)]
            least, j = min(ranks)
            best[class_of[point]] = least, j * (k // order)
    chosen = [best[class_of[point]] for point in points]
    steps = np.array([j for _, j in chosen], dtype=np.int64)
    # the scalars that occur are those of order k / gcd
    common = int(np.gcd.reduce(steps, initial=k))
    cost = max(2, *(least for least, _ in chosen))
    if common == k or cost >= candidate.cost:
        return None
    steps, order = steps // common, k // common
    conductor = lcm(4, order, structure.conductor)
    turned = tuple(
        product(A, structure.turn(int(j), order, conductor)) for A, j in zip(matrices, steps, strict=True)
    )
    quotient = action.quotient(candidate.classes)

    def pairs() -> Indices:
        """How the letters move the pairs of a class of elements and an angle that they generate."""
        classes = quotient.shape[1]
        code = np.arange(classes * order)
        table = quotient[:, code % classes] + classes * ((code // classes + steps[:, None]) % order)
        reached = np.array(breadth_first(table, 0), dtype=np.int64)
        place = np.full(classes * order, -1, dtype=np.int64)
        place[reached] = np.arange(len(reached))
        return np.asarray(place[table[:, reached]], dtype=np.int64)

    shifts = (np.arange(order) + steps[:, None]) % order
    return candidate_of_one_plan(
        "own.covers",
        f"{candidate.name} divided by scalars, with rotations by multiples of 2π/{order} (a cover)",
        cost,
        max(2, conductor_degree(conductor)),
        lambda: candidate.classes,
        MatrixPlan(turned, identity(plan.dim), pairs),
        beside=MatrixPlan(tuple(rotation(int(j), order) for j in steps), vector(1, 0), lambda: shifts),
    )


def _conjugacy_classes(table: Indices) -> list[int]:
    """The least element of each element's conjugacy class."""
    inverse = np.argmax(table == 0, axis=1)
    label = np.zeros(len(table), dtype=np.int64)
    for g in conjugacy_representatives(table):
        label[table[table[:, g], inverse]] = g
    return list(label.tolist())


def _order(table: Indices, element: int) -> int:
    power, order = element, 1
    while power:
        power, order = int(table[element, power]), order + 1
    return order


def _rank(A: Matrix) -> int:
    """The rank of A - I."""
    return rank(subtract(A, identity(len(A))))
