"""A head candidate with other initial states: started in an invariant part of its space, it is a smaller representation.

The permutations of six points leave the sum of the coordinates alone; started where that is 0, states span five dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .automaton import Indices
from .candidates import HeadCandidate, Marks
from .groups.transitive_action import TransitiveAction
from .head_plan import MatrixPlan, SignedPermutationPlan


def started_at(
    candidate: HeadCandidate, action: TransitiveAction, starts: Sequence[Sequence[int]], name: str
) -> HeadCandidate:
    """The letters of a candidate of signed permutations of a regular action; `starts`: the parts of its initial state.

    Each is an integer vector and a column of the state.
    """
    signed = candidate.plan(tuple(range(candidate.mark_count)))
    assert isinstance(signed, SignedPermutationPlan)
    matrices = signed.as_matrices().matrices

    def plan(marks: Marks) -> MatrixPlan:
        columns = [starts[m] for m in marks]
        return MatrixPlan(matrices, tuple(zip(*columns, strict=True)), lambda: action.letters)

    @cache
    def classes(marks: Marks) -> Indices:
        return action.followed(plan(marks).orbit().transitions)

    return HeadCandidate(
        candidate.theorem,
        f"{candidate.name}, {name}",
        candidate.cost,
        candidate.dim,
        candidate.degree,
        lambda: classes(tuple(range(len(starts)))),
        len(starts),
        lambda mark: classes((mark,)),
        plan,
    )
