"""DP.T4 for A_5: the 60 rotations of the icosahedron, exact over Q(√5), two reflections each; and H.A5inv.

Q(√5) is the field Q(2cos 2π/5). A half-turn R becomes the single reflection -R when letters may change sign.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from .automaton import Indices
from .candidates import HeadCandidate, undivided
from .groups.block_systems import MAX_TABLE, BlockSystem
from .groups.permutations import cycle_lengths
from .head_plan import MatrixPlan
from .matrices import Matrix, identity, matrix, product, scaled
from .real_cyclotomic import Number, real_cyclotomic_field

Permutation = tuple[int, ...]


@cache
def icosahedral_rotations() -> dict[Permutation, Matrix]:
    """An isomorphism from A_5, even permutations of 5 points as image tuples, to rotations of R³.

    Built from A_5 = ⟨s, t | s² = t³ = (st)⁵ = 1⟩: s a half-turn about an edge's middle, t the cyclic turn of the
    axes; permutations compose as functions.
    """
    inverse_phi = real_cyclotomic_field(5).twice_cos(1)  # 1/φ = (√5 - 1)/2
    phi = inverse_phi + 1
    u: tuple[Number, ...] = (1, phi, inverse_phi)  # ‖u‖² = 4
    half = Fraction(1, 2)
    half_turn = matrix([[half * a * b - int(i == j) for j, b in enumerate(u)] for i, a in enumerate(u)])
    turn = matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    if not _has_order_five(product(half_turn, turn)):
        turn = product(turn, turn)
    s, t = _generating_pair()
    images = {tuple(range(5)): identity(3)}
    queue = list(images)
    for p in queue:
        for g, G in ((s, half_turn), (t, turn)):
            q = tuple(g[i] for i in p)
            if q not in images:
                images[q] = product(G, images[p])
                queue.append(q)
    return images


def _has_order_five(A: Matrix) -> bool:
    power = A
    for _ in range(4):
        power = product(power, A)
    return power == identity(3) and identity(3) != A


def _generating_pair() -> tuple[Permutation, Permutation]:
    s = (1, 0, 3, 2, 4)
    for t in ((0, 2, 4, 3, 1), (4, 1, 0, 3, 2), (2, 1, 4, 3, 0)):
        if cycle_lengths(np.array([s[i] for i in t])) == [5]:
            return s, t
    raise AssertionError("A_5 has such a pair")


def icosahedral_candidates(systems: list[BlockSystem]) -> list[HeadCandidate]:
    """A_5 wherever the group acts on five blocks as A_5; a second one with signs if that saves factors."""
    candidates: list[HeadCandidate] = []
    for system in systems:
        if system.count != 5 or not system.action.regular or system.action.size > MAX_TABLE:
            continue
        if int(system.kernel_classes.max()) + 1 != 60:
            continue
        rotations = icosahedral_rotations()
        letters = [rotations[tuple(row)] for row in system.letters.tolist()]
        cost = 0 if all(identity(3) == A for A in letters) else 2
        name = "rotations of the icosahedron"
        candidates.append(_candidate(system, "DP.T4", name, cost, letters))
        lifted, cost = _lifted(letters, system.letters)
        if cost < 2:
            name = f"{name}, half-turns R as reflections -R"
            candidates.append(_candidate(system, "H.A5inv", name, cost, lifted))
    return candidates


def _candidate(
    system: BlockSystem, theorem: str, name: str, cost: int, letters: list[Matrix]
) -> HeadCandidate:
    lifted = theorem == "H.A5inv"
    quotient = None if lifted else (lambda: system.action.quotient(system.kernel_classes))
    plan = MatrixPlan(tuple(letters), identity(3), quotient)
    return undivided(theorem, name, cost, 2, lambda: system.kernel_classes, plan, lifted=lifted)


def _lifted(letters: list[Matrix], permutations: Indices) -> tuple[list[Matrix], int]:
    """-R for half-turns, R otherwise; and the most factors then needed."""
    result, cost = [], 0
    for A, image in zip(letters, permutations, strict=True):
        half_turn = identity(3) != A and (image[image] == np.arange(5)).all()
        result.append(scaled(-1, A) if half_turn else A)
        cost = max(cost, 1 if half_turn else 0 if identity(3) == A else 2)
    return result, cost
