"""The largest integer that a run of an integer construction ever meets, whatever the order of its sums."""

from __future__ import annotations

from collections.abc import Iterable

from .lrnn import LRNN, Head
from .real_cyclotomic import Number
from .sparse_rows import apply_factor, apply_transition, gated, stacked


def integer_bound(lrnn: LRNN) -> int:
    """Largest absolute value of any weight, state entry, product or partial sum over the reachable states.

    Partial sums of any subset of the terms count: for each sum the larger of its positive and its negative part.
    States between the factors of a token count too. The recurrence is bit-exact, in any order of summation, in
    every format whose consecutive integers reach this bound.
    """
    return int(max(_head_bound(head) for layer in lrnn.layers for head in layer.heads))


def _largest(values: Iterable[Number]) -> Number:
    return max((abs(x) for x in values), default=0)  # type: ignore[arg-type]


def _sum_bound(terms: Iterable[tuple[Number, dict[int, Number]]]) -> tuple[Number, Number]:
    """For Σ weight·row: the largest partial sum of any subset, and the largest total."""
    positive: dict[int, Number] = {}
    negative: dict[int, Number] = {}
    for weight, row in terms:
        for column, x in row.items():
            term = weight * x
            side = positive if term > 0 else negative
            side[column] = side.get(column, 0) + term
    total = _largest(positive.get(c, 0) + negative.get(c, 0) for c in {**positive, **negative})
    return max(_largest(positive.values()), _largest(negative.values())), total


def _head_bound(head: Head) -> Number:
    start = stacked(head)
    bound = _largest(x for row in start for x in row.values())
    for transition in head.transitions:
        bound = max(bound, abs(transition.gate), _largest(x for _, _, x in transition.additive))  # type: ignore[arg-type]
        if transition.matrix is not None:
            for i in range(head.dim):
                terms = [(a, start[k]) for row, k, a in transition.matrix if row == i]
                bound = max(bound, _largest(a for a, _ in terms), _sum_bound(terms)[0])
        rows = gated(start, transition.gate)
        for factor in transition.factors:
            partial, total = _sum_bound((v, rows[i]) for i, v in factor.vector)
            size = abs(factor.beta)  # type: ignore[arg-type]
            largest_v = _largest(v for _, v in factor.vector)
            bound = max(
                bound, size, largest_v, size * largest_v, partial, size * total, size * total * largest_v
            )
            apply_factor(rows, factor)
            bound = max(bound, _largest(x for i, _ in factor.vector for x in rows[i].values()))
        if transition.additive:
            final = apply_transition(head, transition, start)
            bound = max(bound, _largest(x for row in final for x in row.values()))
    return bound
