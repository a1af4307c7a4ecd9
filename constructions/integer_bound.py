"""The largest integer that a run of an integer construction ever meets, whatever the order of its sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import cast

from .lrnn import LRNN, Head
from .sparse_rows import apply_factor, apply_transition, gated, stacked


def integer_bound(lrnn: LRNN) -> int:
    """Largest absolute value of any weight, state entry, product or partial sum over the reachable states.

    Partial sums of any subset of the terms count: for each sum the larger of its positive and its negative part.
    States between the factors of a token count too. The recurrence is bit-exact, in any order of summation, in
    every format whose consecutive integers reach this bound. Only for `exactness == "integer"`.
    """
    return max(head_bound(head) for head in lrnn.all_heads)


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


def head_bound(head: Head) -> int:
    """The bound of one integer head."""
    start = stacked(head)
    bound = max(_largest(row.values()) for row in start)
    for transition in head.transitions:
        bound = max(bound, _largest([transition.gate]), _largest([x for _, _, x in transition.additive]))
        if transition.matrix is not None:
            terms = defaultdict(list)
            for i, k, a in transition.matrix:
                terms[i].append((a, start[k]))
            sums = (_sum_bound(row)[0] for row in terms.values())
            bound = max(bound, _largest([a for _, _, a in transition.matrix]), *sums)
        rows = gated(start, transition.gate)
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
