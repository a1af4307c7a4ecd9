"""H.A5inv: letters R of an odd number of axes and determinant 1 as the cheaper of R and -R.

A half-turn of space needs two reflections and its negative one. A state then has the codes of R and -R, which the
determinant tells apart, so such a head stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.groups._permutations import cycle_counts
from ..heads._candidates import HeadCandidate, HeadSearch, candidate_of_one_plan
from ..heads._representations import SignedPermutationPlan
from ._construction import Construction
from ._paired_points import MAX_SIGNED_DIM, count_signed_factors
from ._rotations import turned_icosahedral_candidates


def lift_candidate(candidate: HeadCandidate) -> HeadCandidate | None:
    """The candidate with letters that may change sign, for signed permutations of an odd number of axes with determinant 1: letters may change sign.

    Each letter R becomes the cheaper of R and -R; a state then has the codes of R and -R, told apart by the
    determinant. None where that saves nothing.
    """
    if candidate.dim % 2 == 0 or candidate.mark_count != candidate.dim or candidate.dim > MAX_SIGNED_DIM:
        return None
    plan = candidate.plan(tuple(range(candidate.dim)))
    if not isinstance(plan, SignedPermutationPlan):
        return None
    plain, turned = (count_signed_factors(plan.image, sign) for sign in (plan.negative, 1 - plan.negative))
    cost = int(np.minimum(plain, turned).max(initial=0))
    # the rank of R - I is odd exactly where det R = -1
    signs_of_permutations = plan.dim - cycle_counts(plan.image)
    if cost >= candidate.cost or ((signs_of_permutations + plan.negative.sum(axis=1)) % 2).any():
        return None
    negative = np.where((turned < plain)[:, None], 1 - plan.negative, plan.negative)
    return candidate_of_one_plan(
        "H.A5inv",
        f"{candidate.name}, each letter R as the cheaper of R and -R",
        cost,
        1,
        lambda: candidate.classes,
        SignedPermutationPlan(plan.image, negative, plan.seeds),
        lifted=True,
    )


def _candidates(search: HeadSearch, before: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    lifted = [lift_candidate(candidate) for candidate in before if not candidate.lifted]
    return [*turned_icosahedral_candidates(search.systems), *(c for c in lifted if c is not None)]


CONSTRUCTION = Construction(
    source="H.A5inv",
    title="letters R as the cheaper of R and -R",
    order=30,
    examples=("A5[involutions]", "S4[involutions]"),
    refusals={"S5": "`theorem` H.A5inv", "mod:7": "`theorem` H.A5inv"},
    candidates=_candidates,
)
