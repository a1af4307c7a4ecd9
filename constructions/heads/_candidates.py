"""Head candidates: what one head could do for a given group, each with its cost, and how they are told apart.

A head candidate with other initial states: started in an invariant part of its space, it is a smaller representation.

The permutations of six points leave the sum of the coordinates alone; started where that is 0, states span five dimensions.

Galois conjugates of a head candidate: other representations of its group by matrices of the same size and cost.

An automorphism of the number field, applied to every entry, keeps all equations between matrices: products, orthogonality,
ranks, and which states are equal. The rotations by 2π/5 become those by 4π/5; the icosahedron's two become each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import gcd
from typing import TypeAlias

from ..algebra._cyclotomic import Algebraic, Number, conductor_of
from ..algebra._matrices import Matrix
from ..algebra.groups._abelian import abelianise
from ..algebra.groups._actions import BlockSystem, TransitiveAction, block_systems
from ..algebra.groups._quotients import further_partitions
from ..algebra.groups._set_actions import SetAction, set_actions
from ..automata._automaton import Indices
from ._representations import HeadPlan, MatrixPlan, SignedPermutationPlan

MAX_DEGREE = 10_000
"""Largest degree of a number field, unless another is asked for."""
Marks: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadSearch:
    """A group for which heads are sought, with data that several theorems use, computed once when they are needed.

    Attributes:
        action: the transition group on its points.
        max_degree: the largest degree of a number field.
    """

    action: TransitiveAction
    max_degree: int = MAX_DEGREE

    @cached_property
    def systems(self) -> list[BlockSystem]:
        """The smaller actions: the block systems of the group."""
        return block_systems(self.action, further_partitions(self.action))

    @cached_property
    def set_actions(self) -> list[tuple[BlockSystem, SetAction]]:
        """Actions on sets of blocks, after the system of blocks; none where the group's elements are listed."""
        if self.action.regular:
            return []
        return [(system, found) for system in self.systems for found in set_actions(system.letters)]

    @cached_property
    def abelian(self) -> tuple[Indices, Indices] | None:
        """The regular action of G/G′ and the class of each point; None if the group is too large to determine it."""
        return abelianise(self.action)


@dataclass(frozen=True, eq=False)
class HeadCandidate:
    """A possible head for a transitive action (`HeadSearch`).

    Attributes:
        theorem: the theorem that is its source.
        name: a short description of the head.
        cost: the largest number of GH factors of a letter.
        dim: key dimension.
        degree: 1 if all its numbers are integers, otherwise the degree of its number field (at least 2).
        find_classes: a function that returns, for the full initial state, the class of each point of the action, `[points]`.
        mark_count: number of parts of which an initial state may consist.
        mark: a function that returns the classes that part i alone distinguishes, `[points]`.
        plan: a function that returns the head with an initial state made of some parts.
        moved: for plain permutations the most points that a letter moves (G.T3's k), else None.
        lifted: whether letters carry extra signs, so that a point can have two codes; such a head is used alone.
        beside: a second head without which the first one tells nothing (own.covers); cost, dimension, degree and classes are
            those of the two together. None for a candidate of one head.
    """

    theorem: str
    name: str
    cost: int
    dim: int
    degree: int
    find_classes: Callable[[], Indices]
    mark_count: int
    mark: Callable[[int], Indices]
    plan: Callable[[Marks], HeadPlan]
    moved: int | None = None
    lifted: bool = False
    beside: HeadPlan | None = None

    @cached_property
    def classes(self) -> Indices:
        """The result of `find_classes()`, computed once when it is needed."""
        return self.find_classes()

    @property
    def price(self) -> tuple[int, bool, int]:
        """The quantities that are minimised within one layer: factors, then integers before other numbers, then dimension."""
        return self.cost, self.degree > 1, self.dim

    def plans(self, marks: Marks) -> list[HeadPlan]:
        """The heads, with an initial state made of some parts.

        Args:
            marks: numbers of parts of the initial state.
        """
        return [self.plan(marks)] if self.beside is None else [self.plan(marks), self.beside]


def candidate_of_one_plan(
    theorem: str,
    name: str,
    cost: int,
    degree: int,
    find_classes: Callable[[], Indices],
    plan: HeadPlan,
    *,
    moved: int | None = None,
    lifted: bool = False,
    beside: HeadPlan | None = None,
) -> HeadCandidate:
    """A candidate whose initial state has one part only: that of `plan`, and of the plan beside it."""
    dim = plan.dim if beside is None else max(plan.dim, beside.dim)
    return HeadCandidate(
        theorem, name, cost, dim, degree, find_classes, 1,
        lambda _: find_classes(), lambda _: plan, moved, lifted, beside,
    )  # fmt: skip


def cheapest(candidates: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    """By price; among equals single heads first, then plain permutations, then small fields. A deterministic order."""
    return sorted(
        candidates,
        key=lambda c: (c.price, c.beside is not None, c.moved is None, c.degree, c.theorem, c.name),
    )


def start_candidate_at(
    candidate: HeadCandidate, action: TransitiveAction, starts: Sequence[Sequence[int]], name: str
) -> HeadCandidate:
    """The letters of a candidate of signed permutations of a regular action; `starts`: the parts of its initial state.

    Each is an integer vector and a column of the state.
    """
    signed = candidate.plan(tuple(range(candidate.mark_count)))
    assert isinstance(signed, SignedPermutationPlan)
    matrices = signed.as_matrices().matrices

    def plan(marks: Marks) -> MatrixPlan:
        # each part of the initial state is a column
        columns = [starts[m] for m in marks]
        return MatrixPlan(matrices, tuple(zip(*columns, strict=True)), lambda: action.letters)

    @cache
    def classes(marks: Marks) -> Indices:
        return action.follow(plan(marks).orbit().transitions)

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


def conjugates(candidate: HeadCandidate) -> Iterator[HeadCandidate]:
    """One for each automorphism but the identity of its number field; none where all its numbers are rational."""
    plan = candidate.plan(tuple(range(candidate.mark_count)))
    if not isinstance(plan, MatrixPlan):
        return
    conductor = conductor_of(x for A in (*plan.matrices, plan.initial) for row in A for x in row)
    # k and N - k give one automorphism, so half of them are tried
    for k in range(2, conductor // 2 + 1):
        if gcd(k, conductor) == 1:
            name = f"{candidate.name}, 2cos 2π/{conductor} taken to 2cos 2π·{k}/{conductor}"
            yield replace(candidate, name=name, plan=partial(_conjugate_plan, candidate, k))


def _conjugate_plan(candidate: HeadCandidate, k: int, marks: Marks) -> HeadPlan:
    plan = candidate.plan(marks)
    assert isinstance(plan, MatrixPlan)
    return replace(
        plan, matrices=tuple(_matrix(A, k) for A in plan.matrices), initial=_matrix(plan.initial, k)
    )


def _matrix(A: Matrix, k: int) -> Matrix:
    return tuple(tuple(_number(x, k) for x in row) for row in A)


def _number(x: Number, k: int) -> Number:
    return x.conjugate(k) if isinstance(x, Algebraic) else x
