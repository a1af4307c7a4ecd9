"""How one head is to act, before its factors are written out: by signed permutations, or by exact matrices.

Both give the same thing: for each letter an orthogonal matrix as GH factors, and the orbit of initial states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import lcm
from typing import Protocol

import numpy as np

from ...foundation._errors import LimitError
from .._head import Head, to_sparse
from .._realisation import Sparse, Transition
from ..algebra._cyclotomic import Number, real_cyclotomic_field, simplest
from ..algebra._householder import GHFactor, gh_factor, orthogonal_factors, permutation_factors
from ..algebra._matrices import Matrix, matrix, product
from ..algebra.groups._actions import spanning_levels
from ..automata._automaton import Indices

MAX_CODES = 2_000_000


@dataclass(frozen=True, eq=False)
class Orbit:
    """The initial states' orbit: `codes`, where each letter takes each, and the index of each initial state."""

    codes: Sequence[Sparse]
    transitions: Indices
    seeds: tuple[int, ...]


class HeadPlan(Protocol):
    """The interface of a head plan: its shape, the factors of each letter, and the orbit of its initial states."""

    @property
    def dim(self) -> int: ...
    @property
    def value_dim(self) -> int: ...
    def factors(self) -> tuple[tuple[GHFactor, ...], ...]: ...
    def orbit(self) -> Orbit: ...


@dataclass(frozen=True, eq=False)
class SignedPermutationPlan:
    """A head in which letter x sends e_i to ±e_j.

    Attributes:
        image: `image[x, i]` = j, int array `[letters, dim]`.
        negative: `negative[x, i]`, True for the sign -, bool array `[letters, dim]`.
        seeds: initial vectors, each a list of `(coordinate, value)`, value dimension 1.
    """

    image: Indices
    negative: Indices
    seeds: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return int(self.image.shape[1])

    @property
    def value_dim(self) -> int:
        """The number of columns of the state, which is 1."""
        return 1

    def factors(self) -> tuple[tuple[GHFactor, ...], ...]:
        """The factors of each letter: swaps for permutations, and reflections along e_i and e_i ± e_j if signs occur."""
        return tuple(
            signed_permutation_factors(image.tolist(), negative.tolist())
            for image, negative in zip(self.image, self.negative, strict=True)
        )

    def as_matrices(self) -> MatrixPlan:
        """The same letters as exact matrices, with the first seed as initial state."""
        matrices = []
        for image, negative in zip(self.image.tolist(), self.negative.tolist(), strict=True):
            rows: list[list[Number]] = [[0] * self.dim for _ in image]
            for i, (j, minus) in enumerate(zip(image, negative, strict=True)):
                # column i of A is ±e_j
                rows[j][i] = -1 if minus else 1
            matrices.append(matrix(rows))
        entries = dict(self.seeds[0])
        return MatrixPlan(tuple(matrices), tuple((entries.get(i, 0),) for i in range(self.dim)))

    def orbit(self) -> Orbit:
        """The states reached from the initial ones, breadth first, identified by the signed places of their marked values."""
        # with two entries of one size, exchanging and negating both gives the same vector
        if any(len({abs(v) for _, v in seed}) < len(seed) for seed in self.seeds):
            return self._orbit_of_values()
        width = max(len(seed) for seed in self.seeds)
        n = self.dim
        # places: i for +e_i, n + i for -e_i; 2n stands for an absent mark and is fixed by all letters
        places = np.concatenate(
            [self.image + n * self.negative, self.image + n * (1 - self.negative)], axis=1
        )
        places = np.concatenate([places, np.full((len(places), 1), 2 * n)], axis=1)
        values = sorted({v for seed in self.seeds for _, v in seed})
        start = np.full((len(self.seeds), max(len(values), width)), 2 * n, dtype=np.int64)
        for s, seed in enumerate(self.seeds):
            for i, v in seed:
                start[s, values.index(v)] = i
        # the row lists, for each value, the signed place where it stands
        rows, transitions, seeds = _orbit_of_rows(start, lambda x, rows: places[x][rows], len(places))
        codes = [
            tuple(
                sorted((p % n, 0, v if p < n else -v) for p, v in zip(row, values, strict=False) if p < 2 * n)
            )
            for row in rows.tolist()
        ]
        return Orbit(codes, transitions, seeds)

    def _orbit_of_values(self) -> Orbit:
        """The same where a value stands at several places: states are identified by all their entries."""
        start = np.zeros((len(self.seeds), self.dim), dtype=np.int64)
        for s, seed in enumerate(self.seeds):
            for i, v in seed:
                start[s, i] = v
        signs = 1 - 2 * self.negative.astype(np.int64)

        def apply(x: int, rows: Indices) -> Indices:
            moved = np.empty_like(rows)
            moved[:, self.image[x]] = rows * signs[x]
            return moved

        rows, transitions, seeds = _orbit_of_rows(start, apply, len(self.image))
        codes = [tuple((i, 0, v) for i, v in enumerate(row) if v) for row in rows.tolist()]
        return Orbit(codes, transitions, seeds)


@dataclass(frozen=True, eq=False)
class MatrixPlan:
    """A head in which letter x acts by an exact orthogonal matrix.

    Attributes:
        matrices: the matrix of each letter, `[dim, dim]`.
        initial: the initial state H_0, `[dim, value_dim]`.
        quotient: if it is known, a function that returns how the letters move the classes of group elements that the matrices tell
            apart, `[letters, classes]`, class 0 that of the identity. The orbit then takes one product for
            each class instead of each letter.
    """

    matrices: tuple[Matrix, ...]
    initial: Matrix
    quotient: Callable[[], Indices] | None = None

    @property
    def dim(self) -> int:
        """Size of the matrices."""
        return len(self.initial)

    @property
    def value_dim(self) -> int:
        """Columns of the initial state."""
        return len(self.initial[0])

    def factors(self) -> tuple[tuple[GHFactor, ...], ...]:
        """The factors of each letter: rank(A - I) reflections."""
        of = cache(orthogonal_factors)
        return tuple(of(A) for A in self.matrices)

    def orbit(self) -> Orbit:
        """The states reached from the initial one, breadth first, compared exactly."""
        index: dict[Matrix, int] = {self.initial: 0}
        codes = [self.initial]

        def number(code: Matrix) -> int:
            found = index.setdefault(code, len(codes))
            if found == len(codes):
                codes.append(code)
                if found >= MAX_CODES:
                    raise LimitError(f"more than {MAX_CODES:,} states of a head are reachable")
            return found

        if self.quotient is not None:
            # equal classes of group elements give equal codes, so a product for each class suffices
            classes = self.quotient()
            code_of = np.zeros(classes.shape[1], dtype=np.int64)
            for points, parents, letters in spanning_levels(classes):
                for p, parent, x in zip(points.tolist(), parents.tolist(), letters.tolist(), strict=True):
                    code_of[p] = number(product(self.matrices[x], codes[code_of[parent]]))
            # one class stands for each code
            representative = np.unique(code_of, return_index=True)[1]
            table = code_of[classes[:, representative]]
        else:
            columns = []
            for code in codes:  # grows on the way
                columns.append([number(product(A, code)) for A in self.matrices])  # noqa: PERF401
            table = np.array(columns, dtype=np.int64).reshape(len(codes), -1).T
        return Orbit([to_sparse(code) for code in codes], table, (0,))


@dataclass(frozen=True, eq=False)
class PlanePlan:
    """A head of rotations by multiples of 2π/m and of reflections, by their angles; for m whose number field has a high degree.

    Letter `(a, 1)` turns the plane by 2πa/m, and `(a, -1)` is Ref(2πa/m) = [[cos, sin], [sin, -cos]].

    Attributes:
        m: the number of corners.
        letters: `(a, 1)` or `(a, -1)` for each letter.
        whole: whether the initial state is the identity matrix, else the first unit vector.
    """

    m: int
    letters: tuple[tuple[int, int], ...]
    whole: bool = False

    @property
    def dim(self) -> int:
        """The dimension of the plane."""
        return 2

    @property
    def value_dim(self) -> int:
        """Columns of the initial state."""
        return 2 if self.whole else 1

    @cached_property
    def _turn(self) -> int:
        """N, the parts of a full turn by which angles are counted: lcm(4, 2m), so that half of 2π/m is a whole number of them."""
        return lcm(4, 2 * self.m)

    def _entries(self, angle: int, column: int = 0) -> Sparse:
        """The column (cos, sin) of an angle in N-ths of a full turn."""
        field = real_cyclotomic_field(self._turn)
        entries = [(0, column, simplest(field.cos(angle))), (1, column, simplest(field.sin(angle)))]
        return tuple((i, j, x) for i, j, x in entries if x != 0)

    def factors(self) -> tuple[tuple[GHFactor, ...], ...]:
        """The factors of each letter: one reflection for a reflection, and for a rotation that of the first axis before another."""
        of = cache(self._factors)
        return tuple(of(a % self.m, turn) for a, turn in self.letters)

    def _factors(self, a: int, turn: int) -> tuple[GHFactor, ...]:
        if turn > 0 and a == 0:
            return ()
        # the mirror of Ref(2πa/m) stands at half the angle, v a quarter of a turn further
        v = {i: x for i, _, x in self._entries(a * self._turn // (2 * self.m) + self._turn // 4)}
        mirror = gh_factor(2, v)
        # the rotation is Ref(2πa/m) after Ref(0) = diag(1, -1)
        return (mirror,) if turn < 0 else (gh_factor(2, {1: 1}), mirror)

    def orbit(self) -> Orbit:
        """The states reached from the initial one, breadth first, followed by their angles alone."""
        m, step = self.m, self._turn // self.m
        # state (a, s) is number a for s = 1, m + a for s = -1: the rotation or reflection by 2πa/m, or its first column
        places = 2 * m if self.whole else m
        angles = np.arange(places) % m
        table = np.empty((len(self.letters), places), dtype=np.int64)
        for x, (a, turn) in enumerate(self.letters):
            # R(a) R(b) = R(a + b), R(a) S(b) = S(a + b), S(a) R(b) = S(a - b), S(a) S(b) = R(a - b)
            after = (a + turn * angles) % m
            turned = (np.arange(places) >= m) != (turn < 0)
            table[x] = after + (m * turned if self.whole else 0)
        reached = [0]
        for points, _, _ in spanning_levels(table):
            reached += points.tolist()
        order = np.array(list(dict.fromkeys(reached)), dtype=np.int64)
        position = np.full(places, -1, dtype=np.int64)
        position[order] = np.arange(len(order))
        codes = []
        for place in order.tolist():
            angle, quarter = place % m * step, self._turn // 4
            second: Sparse = ()
            if self.whole:
                # the second column is a quarter of a turn further, in a reflection a quarter back
                second = self._entries(angle + (quarter if place < m else -quarter), 1)
            codes.append(tuple(sorted((*self._entries(angle), *second), key=lambda e: e[:2])))
        return Orbit(codes, position[table[:, order]], (0,))


def signed_permutation_factors(image: list[int], negative: list[int]) -> tuple[GHFactor, ...]:
    """n minus the number of cycles with an even number of signs: reflections along e_i - e_j, e_i + e_j, e_i.

    A cycle c_1 → ±c_2 → ... is carried by swaps as without signs, each with the sign that the point collects
    on the way from c_1; where the signs multiply to -1 a last reflection e_{c_1} ↦ -e_{c_1} comes first.
    """
    if not any(negative):
        return permutation_factors(image)
    factors: list[GHFactor] = []
    seen = [False] * len(image)
    for first in range(len(image)):
        if seen[first]:
            continue
        seen[first] = True
        # the product of the signs met on the way from c_1
        sign = -1 if negative[first] else 1
        point, cycle = image[first], []
        while point != first:
            seen[point] = True
            cycle.append((point, sign))
            sign = -sign if negative[point] else sign
            point = image[point]
        if sign < 0:
            # the cycle's signs multiply to -1: one reflection more, and it turns the first point's sign
            factors.append(gh_factor(2, {first: 1}))
            cycle = [(point, -s) for point, s in cycle]
        factors.extend(gh_factor(1, {first: 1, point: -s}) for point, s in cycle)
    return tuple(factors)


def head_of(
    plan: HeadPlan, orbit: Orbit, order: list[int], factors: tuple[tuple[GHFactor, ...], ...]
) -> Head:
    """The head with its codes in the given order (indices of the orbit)."""
    # orbit's number of each code to its number in the head
    position = np.full(len(orbit.codes), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    return Head(
        plan.dim,
        plan.value_dim,
        tuple(Transition(factors=f) for f in factors),
        tuple(orbit.codes[c] for c in order),
        position[orbit.transitions[:, order]],
    )


def _orbit_of_rows(
    start: Indices, apply: Callable[[int, Indices], Indices], letters: int
) -> tuple[Indices, Indices, tuple[int, ...]]:
    """Orbit of integer rows `[seeds, width]` under letters that act on rows, breadth first and vectorised."""
    index: dict[bytes, int] = {}

    def number(rows: Indices) -> tuple[Indices, list[int]]:
        numbers = np.empty(len(rows), dtype=np.int64)
        fresh: list[int] = []
        data, width = np.ascontiguousarray(rows, dtype=np.int32).tobytes(), rows.shape[1] * 4
        for i in range(len(rows)):
            key = data[i * width : (i + 1) * width]
            found = index.setdefault(key, len(index))
            # a new row has the last number, and was not counted by an earlier row of this call
            if found == len(index) - 1 and found >= known + len(fresh):
                fresh.append(i)
            numbers[i] = found
        return numbers, fresh

    known = 0
    seeds, fresh = number(start)
    frontier = start[fresh]
    all_rows, tables = [frontier], []
    while len(frontier):
        known = len(index)
        if known > MAX_CODES:
            raise LimitError(f"more than {MAX_CODES:,} states of a head are reachable")
        # images row by row, and for each row letter by letter
        images = np.stack([apply(x, frontier) for x in range(letters)], axis=1) if letters else None
        if images is None:
            break
        flat = images.reshape(-1, start.shape[1])
        numbers, fresh = number(flat)
        tables.append(numbers.reshape(len(frontier), letters))
        frontier = flat[fresh]
        all_rows.append(frontier)
    rows = np.concatenate(all_rows)
    table = np.concatenate(tables).T if tables else np.zeros((0, len(rows)), dtype=np.int64)
    return rows, table, tuple(int(s) for s in seeds)


def vector(*entries: Number) -> Matrix:
    """A column as a `[n, 1]` matrix."""
    return tuple((x,) for x in entries)
