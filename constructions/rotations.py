"""DP.T4 in the plane: Z_m by rotations, D_m by rotations and reflections, exact in Q(2cos 2π/N), N = lcm(4, m).

A rotation by φ is the reflection in the first axis followed by the one whose mirror stands at the angle φ/2.
"""

from __future__ import annotations

from math import lcm

import numpy as np

from .abelian import CyclicFactor, cyclic_factors, prime_powers
from .automaton import Indices
from .block_systems import MAX_TABLE, BlockSystem, first_appearance, orbits, subgroup
from .candidates import HeadCandidate, whole
from .head_plan import MatrixPlan, SignedPermutationPlan, vector
from .matrices import Matrix, identity, matrix
from .real_cyclotomic import conductor_degree, real_cyclotomic_field
from .transitive_action import TransitiveAction, cycle_counts

MAX_DEGREE = 100


def rotation(k: int, m: int) -> Matrix:
    """The rotation by 2πk/m."""
    field = real_cyclotomic_field(lcm(4, m))
    step = field.conductor // m
    c, s = field.cos(k * step), field.sin(k * step)
    return matrix([[c, -s], [s, c]])


def reflection(k: int, m: int) -> Matrix:
    """Ref(2πk/m) = [[cos, sin], [sin, -cos]]: the mirror stands at half the angle."""
    field = real_cyclotomic_field(lcm(4, m))
    step = field.conductor // m
    c, s = field.cos(k * step), field.sin(k * step)
    return matrix([[c, s], [s, -c]])


def cyclic_candidates(action: TransitiveAction, max_degree: int = MAX_DEGREE) -> list[HeadCandidate]:
    """For each cyclic quotient of the abelianised group: rotations, signs, cycles and negative cycles."""
    abelian = abelianised(action)
    if abelian is None:
        return []
    letters, labels = abelian
    candidates = []
    for factor in cyclic_factors(letters):
        parts = [factor.part(power) for power in prime_powers(factor.order)]
        for part in [factor] if len(parts) > 1 else []:
            candidates += _rotations(part, labels, max_degree)
        for part in parts:
            candidates += _rotations(part, labels, max_degree) + _cycles(part, labels)
    return candidates


def abelianised(action: TransitiveAction) -> tuple[Indices, Indices] | None:
    """The regular action of G/G′ and the class of each point; None where the group is too large to say."""
    if not action.regular:
        return None
    letters = action.letters
    points = letters[:, 0]
    commute = (letters[:, points] == letters[:, points].T).all() if len(points) <= 2_000 else False
    if commute:
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


def _rotations(part: CyclicFactor, labels: Indices, max_degree: int) -> list[HeadCandidate]:
    m = part.order
    if m in (2, 4) or conductor_degree(lcm(4, m)) > max_degree:
        return []  # Z_2 is a sign and Z_4 a negative 2-cycle: integers
    plan = MatrixPlan(tuple(rotation(int(w), m) for w in part.letters), vector(1, 0))
    mark_count, mark, build = whole(part.points[labels], plan)
    return [
        HeadCandidate(
            "DP.T4", f"rotations by multiples of 2π/{m}", 2 if part.letters.any() else 0, 2, False,
            part.points[labels], mark_count, mark, build,
        )
    ]  # fmt: skip


def _cycles(part: CyclicFactor, labels: Indices) -> list[HeadCandidate]:
    m = part.order
    shifts = (np.arange(m) + part.letters[:, None]) % m
    classes = part.points[labels]
    candidates = []
    if m > 2:
        cost = int((m - cycle_counts(shifts)).max(initial=0))
        plan = SignedPermutationPlan(shifts, np.zeros_like(shifts), (((0, 1),),))
        moved = m if part.letters.any() else 0
        candidates.append(
            HeadCandidate(
                "G.T3", f"a cycle of {m} points", cost, m, True, classes, *whole(classes, plan), moved
            )
        )
    if m % 2 == 0 and m & (m - 1) == 0:
        r = m // 2
        image, negative = shifts[:, :r] % r, (shifts[:, :r] >= r).astype(np.int64)
        costs = [len(f) for f in SignedPermutationPlan(image, negative, (((0, 1),),)).factors()]
        plan = SignedPermutationPlan(image, negative, (((0, 1),),))
        name = "a sign" if r == 1 else f"a negative cycle of {r} axes"
        candidates.append(
            HeadCandidate("G.T3", name, max(costs, default=0), r, True, classes, *whole(classes, plan))
        )
    return candidates


def dihedral_candidates(systems: list[BlockSystem], max_degree: int = MAX_DEGREE) -> list[HeadCandidate]:
    """D_m wherever the group acts on m ≥ 3 blocks as the symmetries of a polygon."""
    candidates = []
    for system in systems:
        m = system.count
        if not system.action.regular or m < 3 or conductor_degree(lcm(4, m)) > max_degree:
            continue
        symmetries = _polygon_symmetries(system.letters)
        if symmetries is None:
            continue
        matrices = tuple(
            rotation(shift, m) if turn == 1 else reflection(shift, m) for shift, turn in symmetries
        )
        size, second = system.mark(0), system.mark(1)
        classes = first_appearance(size * m + second)
        integer = m == 4
        cost = max((0 if identity(2) == A else 1 if turn < 0 else 2)
                   for A, (_, turn) in zip(matrices, symmetries, strict=True))  # fmt: skip
        candidates.append(
            HeadCandidate(
                "DP.T4", f"rotations and reflections of the {m}-gon", cost, 2, integer, classes,
                *whole(classes, MatrixPlan(matrices, identity(2))),
            )
        )  # fmt: skip
    return candidates


def _polygon_symmetries(letters: Indices) -> list[tuple[int, int]] | None:
    """`(a, ±1)` for each letter where it acts as i ↦ a ± i after a renumbering of the blocks; else None."""
    n = letters.shape[1]
    turns = [row for row in letters if len(np.unique(row)) == n]
    products = [a[b] for a in turns[:20] for b in turns[:20]]
    cycle = next((r for r in [*turns, *products] if int(cycle_counts(r[None])[0]) == 1), None)
    if cycle is None:
        return None
    place = np.empty(n, dtype=np.int64)
    point = 0
    for i in range(n):
        place[point] = i
        point = int(cycle[point])
    blocks = np.argsort(place)
    moved = place[letters[:, blocks]]
    symmetries = []
    for row in moved:
        shift, turn = int(row[0]), 1 if row[1] == (row[0] + 1) % n else -1
        if not (row == (shift + turn * np.arange(n)) % n).all():
            return None
        symmetries.append((shift, turn))
    return symmetries if any(turn < 0 for _, turn in symmetries) else None
