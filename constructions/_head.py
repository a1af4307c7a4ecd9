"""`Head`: what each letter does to one state matrix, all states that it reaches, and the numbers that a run meets.

Conventions (docs/conventions.md): H_i = A(x_i) H_{i-1} + B(x_i), H is `[dim, value_dim]`, A acts on the left,
and within a token the gate comes first, then the factors in their order, then the additive term.

All reachable states are moved at once, as sparse rows `row -> {column of all codes side by side: value}`. A GH factor
touches only the rows in the support of its vector, so that a letter made of thousands of swaps of one-hot states costs
as little as it should.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, cast

import numpy as np

from ._realisation import Sparse, Transition
from .algebra._cyclotomic import Number, conductor_of, simplest
from .algebra._householder import GHFactor, product_of
from .algebra._matrices import Matrix, scale_matrix
from .automata._automaton import Indices


@dataclass(frozen=True, eq=False)
class Head:
    """A head: its transitions, and every state H that it can reach.

    Attributes:
        dim: the number of rows of H.
        value_dim: the number of columns of H.
        transitions: the distinct transitions.
        codes: the distinct reachable states H, as sparse matrices.
        code_transitions: int array `[transitions, codes]`, the code that each transition reaches from each code.
        actions: int array `[letters of the layer]`, the transition of each letter; None if letter x has
            transition x.
        points: None, or n where the codes are all n² pairs (u, v) of n points, code u·n + v: u the current
            point and v the one before the last reset, so that a read-out still finds it (theory: the repaired
            wiring of G.T4).
    """

    dim: int
    value_dim: int
    transitions: tuple[Transition, ...]
    codes: tuple[Sparse, ...]
    code_transitions: Indices
    actions: Indices | None = None
    points: int | None = None

    @property
    def letters(self) -> int:
        """The number of letters of the layer."""
        return len(self.transitions) if self.actions is None else len(self.actions)

    def action_of(self, letters: Indices) -> Indices:
        """The indices of the transitions of some letters, in the shape of `letters`.

        Args:
            letters: indices of letters of the layer, of any shape.
        """
        return letters if self.actions is None else self.actions[letters]

    def for_letters(self, kinds: Indices) -> Head:
        """The head with letters that act like those of this one.

        Args:
            kinds: for each letter the index of the letter here that acts alike, int array `[letters]`.
        """
        if self.actions is not None:
            return replace(self, actions=self.actions[kinds])
        return replace(
            self,
            transitions=tuple(self.transitions[x] for x in kinds.tolist()),
            code_transitions=self.code_transitions[kinds],
        )

    @cached_property
    def point_of(self) -> Indices:
        """Int array `[codes]`: the current point of each code, which is the code itself if `points` is None."""
        return np.arange(len(self.codes)) // (self.points or 1)

    def first_code(self, point: int) -> int:
        """The code with which a run from a point begins; if codes are pairs, it is (u, u).

        Args:
            point: index of a point.
        """
        return point if self.points is None else point * self.points + point

    @cached_property
    def point_before(self) -> Indices:
        """The previous point, as far as the new code determines it: int array `[transitions, codes]`.

        The entry is -1 if the transition does not lead to the code, and -2 if it leads there from several points.
        """
        before = np.full(self.code_transitions.shape, -1, dtype=np.int64)
        for row, images in zip(before, self.code_transitions, strict=True):
            row[images] = self.point_of
            row[images[row[images] != self.point_of]] = -2
        return before

    @property
    def householders(self) -> int | None:
        """Largest number of factors of a letter; None where a letter is not a product of GH factors."""
        if any(t.matrix is not None for t in self.transitions):
            return None
        return max((len(t.factors) for t in self.transitions), default=0)

    @cached_property
    def numbers(self) -> frozenset[Number]:
        """All numbers that occur in codes and transitions."""
        numbers: set[Number] = {x for code in self.codes for _, _, x in code}
        for t in self.transitions:
            numbers.add(t.gate)
            numbers.update(x for _, _, x in (*t.additive, *(t.matrix or ())))
            for factor in t.factors:
                numbers.add(factor.beta)
                numbers.update(x for _, x in factor.vector)
        return frozenset(numbers)

    @cached_property
    def field(self) -> int:
        """The N such that the numbers of the head lie in Q(2cos 2π/N); 1 if they are rational."""
        return conductor_of(self.numbers)


def dense_matrix(transition: Transition, n: int) -> Matrix:
    """A of a letter, gate included, as a dense n × n matrix."""
    if transition.matrix is not None:
        return tuple(tuple(row) for row in to_dense(transition.matrix, n, n))
    A = product_of(transition.factors, n)
    return A if transition.gate == 1 else scale_matrix(transition.gate, A)


def to_sparse(rows: list[list[Number]] | tuple[tuple[Number, ...], ...]) -> Sparse:
    """The non-zero entries of a dense matrix."""
    return tuple(
        (i, j, simplest(x)) for i, row in enumerate(rows) for j, x in enumerate(row) if simplest(x) != 0
    )


Rows: TypeAlias = list[dict[int, Number]]


def stack_codes(head: Head) -> Rows:
    """Codes side by side: entry (i, j) of code c stands in row i, column c·value_dim + j."""
    rows: Rows = [{} for _ in range(head.dim)]
    for c, code in enumerate(head.codes):
        for i, j, x in code:
            rows[i][c * head.value_dim + j] = x
    return rows


def apply_factor(rows: Rows, factor: GHFactor) -> None:
    """rows ← (I - β v vᵀ) rows, in place; v⊙a in place of the right v where the factor has a mask."""
    sums: dict[int, Number] = {}
    for i, v in factor.reading:
        for column, x in rows[i].items():
            sums[column] = sums.get(column, 0) + v * x
    for i, v in factor.vector:
        row, scale = rows[i], v * factor.beta
        for column, s in sums.items():
            x = row.get(column, 0) - scale * s
            if x == 0:
                row.pop(column, None)
            else:
                row[column] = x


def scale_rows(rows: Rows, gate: Number) -> Rows:
    """gate·rows, a copy."""
    if gate == 0:
        return [{} for _ in rows]
    return (
        [{c: gate * x for c, x in row.items()} for row in rows] if gate != 1 else [dict(row) for row in rows]
    )


def apply_transition(head: Head, transition: Transition, rows: Rows) -> Rows:
    """The rows after one letter; the given rows stay as they are.

    Heads over a number field form the matrix A first where the codes have more columns than A: far fewer products.
    """
    matrix = transition.matrix
    if matrix is None and len(head.codes) * head.value_dim > head.dim and head.field > 1:
        unit: Rows = [{i: transition.gate} if transition.gate != 0 else {} for i in range(head.dim)]
        for factor in transition.factors:
            apply_factor(unit, factor)
        matrix = tuple((i, k, a) for i, row in enumerate(unit) for k, a in row.items())
    if matrix is not None:
        result: Rows = [{} for _ in range(head.dim)]
        for i, k, a in matrix:
            for column, x in rows[k].items():
                total = result[i].get(column, 0) + a * x
                if total == 0:
                    result[i].pop(column, None)
                else:
                    result[i][column] = total
    else:
        result = scale_rows(rows, transition.gate)
        for factor in transition.factors:
            apply_factor(result, factor)
    add_to_codes(result, transition.additive, len(head.codes), head.value_dim)
    return result


def image_of(head: Head, value: Sparse, transition: int) -> Sparse:
    """A(x) H + B(x) for any exact state H, by one transition's factors."""
    alone = replace(head, codes=(value,))
    return codes_of(
        apply_transition(alone, head.transitions[transition], stack_codes(alone)), 1, head.value_dim
    )[0]


def add_to_codes(rows: Rows, additive: Sparse, codes: int, value_dim: int) -> None:
    """Add the same sparse matrix to every code, in place."""
    for i, j, b in additive:
        for c in range(codes):
            column = c * value_dim + j
            x = rows[i].get(column, 0) + b
            if x == 0:
                rows[i].pop(column, None)
            else:
                rows[i][column] = x


def codes_of(rows: Rows, codes: int, value_dim: int) -> list[Sparse]:
    """Back from rows to one sparse matrix a code."""
    entries: list[list[tuple[int, int, Number]]] = [[] for _ in range(codes)]
    for i, row in enumerate(rows):
        for column, x in row.items():
            entries[column // value_dim].append((i, column % value_dim, x))
    return [tuple(sorted(code, key=_place)) for code in entries]


def _place(entry: tuple[int, int, Number]) -> tuple[int, int]:
    return entry[0], entry[1]


def to_dense(code: Sparse, dim: int, value_dim: int) -> Sequence[Sequence[Number]]:
    """A sparse matrix as dense rows."""
    rows: list[list[Number]] = [[0] * value_dim for _ in range(dim)]
    for i, j, x in code:
        rows[i][j] = x
    return rows


def _largest(values: Collection[object]) -> int:
    numbers = cast("Collection[int]", values)
    return max(*numbers, -min(numbers)) if numbers else 0


def _sum_bound(terms: Sequence[tuple[object, object]]) -> tuple[int, int]:
    """For Σ weight·row: the largest partial sum of any subset, and the largest total."""
    totals: dict[int, int] = {}
    positive: dict[int, int] = {}
    bound = 0
    for weight, row in cast("Sequence[tuple[int, dict[int, int]]]", terms):
        bound = max(bound, abs(weight) * _largest(row.values()))
        for column, x in row.items():
            totals[column] = totals.get(column, 0) + weight * x
            if len(terms) > 2 and weight * x > 0:
                positive[column] = positive.get(column, 0) + weight * x
    total = _largest(totals.values())
    if len(terms) > 2:  # the negative terms add up to total - positive
        negative = [s - positive.get(c, 0) for c, s in totals.items()]
        bound = max(bound, _largest(positive.values()), _largest(negative))
    return max(bound, total), total


def bound_head(head: Head) -> int:
    """The largest integer that a run of an integer head meets, whatever the order of its sums: see `integer_bound`."""
    start = stack_codes(head)
    bound = max(_largest(row.values()) for row in start)
    for transition in head.transitions:
        bound = max(bound, _largest([transition.gate]), _largest([x for _, _, x in transition.additive]))
        if transition.matrix is not None:
            terms = defaultdict(list)
            for i, k, a in transition.matrix:
                terms[i].append((a, start[k]))
            sums = (_sum_bound(row)[0] for row in terms.values())
            bound = max(bound, _largest([a for _, _, a in transition.matrix]), *sums)
        rows = scale_rows(start, transition.gate)
        for factor in transition.factors:
            partial, total = _sum_bound([(v, rows[i]) for i, v in factor.reading])
            beta, v = _largest([factor.beta]), _largest([x for _, x in factor.vector])
            bound = max(bound, beta, v, beta * v, partial, beta * total, beta * total * v)
            apply_factor(rows, factor)
            bound = max(bound, *(_largest(rows[i].values()) for i, _ in factor.vector))
        if transition.additive:
            final = apply_transition(head, transition, start)
            bound = max(bound, *(_largest(row.values()) for row in final))
    return bound
