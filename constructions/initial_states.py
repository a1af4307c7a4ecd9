"""Initial states with smaller orbits, for matrix heads of automata with fewer states than group elements.

Any vector will do whose stabiliser lies in that of the start state; a vector that some symmetries fix has a smaller
orbit, so fewer codes (the corners of a polygon for D_m on m points; axes of the icosahedron for A_5 on 5 points).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np

from .groups.transitive_action import TransitiveAction
from .head_plan import HeadPlan, MatrixPlan, SignedPermutationPlan
from .householder import gh_factor
from .matrices import Matrix, identity, kernel, product, subtract

MAX_LISTED = 500
MAX_SIGNED_DIM = 6


def smaller_initial_states(action: TransitiveAction, plan: HeadPlan) -> Iterator[MatrixPlan]:
    """The plan with other initial vectors: fixed by the start state's whole stabiliser, then by one element of it.

    The caller has to see which of them tell the states apart. Nothing for groups of more than 500 elements.
    """
    if isinstance(plan, SignedPermutationPlan) and plan.negative.any() and plan.dim <= MAX_SIGNED_DIM:
        plan = plan.as_matrices()
    if not isinstance(plan, MatrixPlan):
        return  # plain permutations: marks on points have been chosen already
    stabiliser = np.flatnonzero(action.states == action.states[0])
    if not action.regular or action.size > MAX_LISTED or len(stabiliser) == 1:
        return
    elements = _matrices(action, plan)
    moved = [subtract(elements[p], identity(plan.dim)) for p in stabiliser.tolist()]
    seen: set[Matrix] = set()
    for equations in (reduce(lambda a, b: a + b, moved), *moved):
        fixed = kernel(equations)
        if len(fixed) != 1:
            continue
        entries = dict(gh_factor(1, enumerate(fixed[0])).vector)  # the canonical scale of a direction
        vector = tuple((entries.get(i, 0),) for i in range(plan.dim))
        if vector not in seen:
            seen.add(vector)
            yield MatrixPlan(plan.matrices, vector, plan.quotient)


def _matrices(action: TransitiveAction, plan: MatrixPlan) -> dict[int, Matrix]:
    """The matrix of every group element, along the spanning tree of its words."""
    elements = {0: identity(plan.dim)}
    for points, parents, letters in action.levels:
        for point, parent, letter in zip(points.tolist(), parents.tolist(), letters.tolist(), strict=True):
            elements[point] = product(plan.matrices[letter], elements[parent])
    return elements
