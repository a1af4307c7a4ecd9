"""DP.T4 in the plane: Z_m by rotations, D_m by rotations and reflections, exact in Q(2cos 2π/N), N = lcm(4, m).

A rotation by φ is the reflection in the first axis followed by the one whose mirror stands at the angle φ/2.

DP.T4 for A_5: the 60 rotations of the icosahedron, exact over Q(√5), two reflections each; and H.A5inv.

Q(√5) is the field Q(2cos 2π/5). A half-turn R becomes the single reflection -R when letters may change sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import lcm

import numpy as np

from ...foundation._text import count_noun
from ..algebra._conductors import conductor_degree
from ..algebra._cyclotomic import MAX_DENSE_DEGREE, Number, real_cyclotomic_field
from ..algebra._matrices import Matrix, identity, matrix, product, scale_matrix
from ..algebra.groups._abelian import CyclicFactor, cyclic_factors, prime_powers
from ..algebra.groups._actions import (
    MAX_TABLE,
    BlockSystem,
    TransitiveAction,
    block_systems,
    first_appearance,
    generating_letters,
)
from ..algebra.groups._permutations import cycle_counts, cycle_lengths, orbits
from ..automata._automaton import Indices
from ..heads._candidates import MAX_DEGREE, HeadCandidate, HeadSearch, candidate_of_one_plan
from ..heads._representations import HeadPlan, MatrixPlan, PlanePlan, SignedPermutationPlan, vector

MAX_WHOLE_DEGREE = 100
"""Degree of the number field up to which a cyclic group whose order is no prime power is tried in one head."""


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


def rotation_candidates(search: HeadSearch) -> list[HeadCandidate]:
    """For each cyclic quotient of the abelianised group: rotations of it and of its parts of prime power order."""
    if search.abelian is None:
        return []
    letters, labels = search.abelian
    candidates = []
    for factor in cyclic_factors(letters):
        parts = prime_parts(factor)
        # a large group that splits keeps its states farther apart in several heads
        whole = len(parts) > 1 and conductor_degree(lcm(4, factor.order)) <= MAX_WHOLE_DEGREE
        for part in [*([factor] if whole else []), *parts]:
            candidates += _rotations(part, labels, search.max_degree)
    return candidates


def cycle_candidates(search: HeadSearch) -> list[HeadCandidate]:
    """For each part of prime power order of the cyclic quotients: a cycle, and a sign or a negative cycle."""
    if search.abelian is None:
        return []
    letters, labels = search.abelian
    parts = [part for factor in cyclic_factors(letters) for part in prime_parts(factor)]
    return [candidate for part in parts for candidate in _cycles(part, labels)]


def prime_parts(factor: CyclicFactor) -> list[CyclicFactor]:
    """The quotients of a cyclic group by whose prime power orders it is a product."""
    return [factor.part(power) for power in prime_powers(factor.order)]


def list_skipped_fields(search: HeadSearch) -> list[str]:
    """A sentence for each cyclic quotient whose rotations lie in a field above `max_degree`."""
    factors = [] if search.abelian is None else cyclic_factors(search.abelian[0])
    orders = dict.fromkeys(power for factor in factors for power in prime_powers(factor.order))
    degrees = {m: field_degree(m) for m in orders}
    return [
        f"rotations by multiples of 2π/{m} were left out: their number field has degree {degree:,}, the limit is "
        f"{search.max_degree} (raise it with `max_degree`)"
        for m, degree in degrees.items()
        if degree > search.max_degree
    ]


def field_degree(m: int) -> int:
    """The degree of the number field of rotations by multiples of 2π/m and their factors (`PlanePlan` if it is high)."""
    degree = conductor_degree(lcm(4, m))
    return degree if degree <= MAX_DENSE_DEGREE else conductor_degree(lcm(4, 2 * m))


def _rotations(part: CyclicFactor, labels: Indices, max_degree: int) -> list[HeadCandidate]:
    m = part.order
    degree = field_degree(m)
    if m in (2, 4) or degree > max_degree:
        return []  # Z_2 is a sign and Z_4 a negative 2-cycle: integers
    shifts = (np.arange(m) + part.letters[:, None]) % m
    plan: HeadPlan
    if degree > MAX_DENSE_DEGREE:
        plan = PlanePlan(m, tuple((int(w), 1) for w in part.letters))
    else:
        plan = MatrixPlan(tuple(rotation(int(w), m) for w in part.letters), vector(1, 0), lambda: shifts)
    cost = 2 if part.letters.any() else 0
    name = f"rotations by multiples of 2π/{m}"
    return [candidate_of_one_plan("DP.T4", name, cost, degree, lambda: part.points[labels], plan)]


def _cycles(part: CyclicFactor, labels: Indices) -> list[HeadCandidate]:
    m = part.order
    shifts = (np.arange(m) + part.letters[:, None]) % m
    candidates = []

    def classes() -> Indices:
        return part.points[labels]

    def candidate(name: str, image: Indices, negative: Indices, moved: int | None) -> HeadCandidate:
        plan = SignedPermutationPlan(image, negative, (((0, 1),),))
        cost = max((len(f) for f in plan.factors()), default=0)
        return candidate_of_one_plan("G.T3", name, cost, 1, classes, plan, moved=moved)

    if m > 2:
        moved = m if part.letters.any() else 0
        candidates.append(
            candidate(f"a cycle of {count_noun(m, 'point')}", shifts, np.zeros_like(shifts), moved)
        )
    if m & (m - 1) == 0:
        r = m // 2
        name = "a sign" if r == 1 else f"a negative cycle of {r:,} axes"
        image, negative = shifts[:, :r] % r, (shifts[:, :r] >= r).astype(np.int64)
        candidates.append(candidate(name, image, negative, None))
    return candidates


def dihedral_candidates(systems: list[BlockSystem], max_degree: int = MAX_DEGREE) -> list[HeadCandidate]:
    """D_m wherever the group acts on m ≥ 3 blocks as the symmetries of a polygon."""
    candidates = []
    if systems and systems[0].action.size > MAX_TABLE:
        systems = [*systems, *_pairs(systems[0].action)]
    for system in systems:
        m = system.count
        if not system.action.regular or m < 3 or field_degree(m) > max_degree:
            continue
        polygon = _polygon_symmetries(system.letters)
        if polygon is not None:
            candidates.append(_dihedral_candidate(system, *polygon))
    return candidates


def _pairs(action: TransitiveAction) -> list[BlockSystem]:
    """The block system by a letter s of order 2 that is not central: cosets of {1, s}, for groups too large to list them all."""
    if not action.regular:
        return []
    generators = generating_letters(action)
    for x, image in enumerate(action.letters):
        s = int(image[0])
        central = (image[action.letters[generators, 0]] == action.letters[generators][:, s]).all()
        if s and image[s] == 0 and not central:
            return [
                BlockSystem(action, first_appearance(orbits(action.right(int(action.letters[x, 0]))[None])))
            ]
    return []


def _dihedral_candidate(
    system: BlockSystem, symmetries: list[tuple[int, int]], neighbour: int
) -> HeadCandidate:
    m = system.count
    cost = max(1 if turn < 0 else 2 if a else 0 for a, turn in symmetries)
    name = f"rotations and reflections of the {m}-gon"

    def classes() -> Indices:
        # two corners side by side tell all symmetries apart, opposite ones do not
        return first_appearance(system.mark(0) * m + system.mark(neighbour))

    degree = field_degree(m)
    plan: HeadPlan
    if degree > MAX_DENSE_DEGREE:
        plan = PlanePlan(m, tuple(symmetries), whole=True)
    else:
        matrices = tuple(rotation(a, m) if turn == 1 else reflection(a, m) for a, turn in symmetries)
        plan = MatrixPlan(matrices, identity(2), lambda: system.action.quotient(classes()))
    return candidate_of_one_plan("DP.T4", name, cost, degree, classes, plan)


def polygon_of(action: TransitiveAction) -> tuple[list[tuple[int, int]], int] | None:
    """`(a, ±1)` for each letter, i ↦ a ± i, and m, where the group of a regular action is D_m, m ≥ 3; else None."""
    if not action.regular or action.size % 2 or action.size < 6:
        return None
    m = action.size // 2
    for system in block_systems(action):
        if system.count == m and int(system.kernel_classes.max()) + 1 == action.size:
            polygon = _polygon_symmetries(system.letters)
            if polygon is not None:
                return polygon[0], m
    return None


def _polygon_symmetries(letters: Indices) -> tuple[list[tuple[int, int]], int] | None:
    """`(a, ±1)` for each letter where it acts as i ↦ a ± i after a renumbering of the blocks, block 0 as 0.

    Also the block that becomes 1; None where the letters do not act so.
    """
    n = letters.shape[1]
    products = letters[:20][:, letters[:20]].reshape(-1, n)
    turns = np.concatenate([letters, products])
    cycles = turns[cycle_counts(turns) == 1]
    if not len(cycles):
        return None
    cycle = cycles[0]
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
    return (symmetries, int(blocks[1])) if any(turn < 0 for _, turn in symmetries) else None


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
    """DP.T4: A_5 wherever the group acts on five blocks as A_5."""
    candidates = []
    for system, letters in _icosahedral_letters(systems):
        cost = 0 if all(identity(3) == A for A in letters) else 2
        candidates.append(_candidate(system, "DP.T4", ICOSAHEDRON, cost, letters))
    return candidates


def turned_icosahedral_candidates(systems: list[BlockSystem]) -> list[HeadCandidate]:
    """H.A5inv: the same with signs, where that saves factors."""
    candidates = []
    for system, letters in _icosahedral_letters(systems):
        lifted, cost = _lift_letters(letters, system.letters)
        if cost < 2:
            name = f"{ICOSAHEDRON}, half-turns R as reflections -R"
            candidates.append(_candidate(system, "H.A5inv", name, cost, lifted))
    return candidates


ICOSAHEDRON = "rotations of the icosahedron"


def _icosahedral_letters(systems: list[BlockSystem]) -> Iterator[tuple[BlockSystem, list[Matrix]]]:
    """The systems of five blocks on which the group acts as A_5, with the letters as rotations."""
    for system in systems:
        if system.count != 5 or not system.action.regular or system.action.size > MAX_TABLE:
            continue
        if int(system.kernel_classes.max()) + 1 != 60:
            continue
        rotations = icosahedral_rotations()
        yield system, [rotations[tuple(row)] for row in system.letters.tolist()]


def _candidate(
    system: BlockSystem, theorem: str, name: str, cost: int, letters: list[Matrix]
) -> HeadCandidate:
    lifted = theorem == "H.A5inv"
    quotient = None if lifted else (lambda: system.action.quotient(system.kernel_classes))
    plan = MatrixPlan(tuple(letters), identity(3), quotient)
    return candidate_of_one_plan(theorem, name, cost, 2, lambda: system.kernel_classes, plan, lifted=lifted)


def _lift_letters(letters: list[Matrix], permutations: Indices) -> tuple[list[Matrix], int]:
    """-R for half-turns, R otherwise; and the most factors then needed."""
    result, cost = [], 0
    for A, image in zip(letters, permutations, strict=True):
        half_turn = identity(3) != A and (image[image] == np.arange(5)).all()
        result.append(scale_matrix(-1, A) if half_turn else A)
        cost = max(cost, 1 if half_turn else 0 if identity(3) == A else 2)
    return result, cost
