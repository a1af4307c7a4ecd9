"""Galois conjugates of a head candidate: other representations of its group by matrices of the same size and cost.

An automorphism of the number field, applied to every entry, keeps all equations between matrices: products, orthogonality,
ranks, and which states are equal. The rotations by 2π/5 become those by 4π/5; the icosahedron's two become each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import gcd

from .candidates import HeadCandidate, Marks
from .head_plan import HeadPlan, MatrixPlan
from .matrices import Matrix
from .real_cyclotomic import Algebraic, Number, conductor_of


def conjugates(candidate: HeadCandidate) -> Iterator[HeadCandidate]:
    """One for each automorphism but the identity of its number field; none where all its numbers are rational."""
    plan = candidate.plan(tuple(range(candidate.mark_count)))
    if not isinstance(plan, MatrixPlan):
        return
    conductor = conductor_of(x for A in (*plan.matrices, plan.initial) for row in A for x in row)
    for k in range(2, conductor // 2 + 1):
        if gcd(k, conductor) == 1:
            name = f"{candidate.name}, 2cos 2π/{conductor} taken to 2cos 2π·{k}/{conductor}"
            yield replace(candidate, name=name, plan=partial(_conjugated, candidate, k))


def _conjugated(candidate: HeadCandidate, k: int, marks: Marks) -> HeadPlan:
    plan = candidate.plan(marks)
    assert isinstance(plan, MatrixPlan)
    return replace(
        plan, matrices=tuple(_matrix(A, k) for A in plan.matrices), initial=_matrix(plan.initial, k)
    )


def _matrix(A: Matrix, k: int) -> Matrix:
    return tuple(tuple(_number(x, k) for x in row) for row in A)


def _number(x: Number, k: int) -> Number:
    return x.conjugate(k) if isinstance(x, Algebraic) else x
