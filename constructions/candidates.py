"""Head candidates: what one head could do for a given group, each with its cost, and how they are told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from .automaton import Indices
from .head_plan import HeadPlan

Marks: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadCandidate:
    """One possible head for a transitive action.

    `theorem`, `name`: source and plain words. `cost`: most GH factors of a letter. `dim`: key dimension.
    `degree`: 1 where all its numbers are integers, else the degree of its number field (at least 2).
    `find_classes()`: class of each point of the action under the full initial state, `[points]`.
    `mark_count`, `mark(i)`: the parts that an initial state may consist of, and the classes that part `i` alone
    tells apart. `plan(marks)`: the head with an initial state of these parts.
    `moved`: for plain permutations the most points that a letter moves (G.T3's k), else None.
    `lifted`: letters carry extra signs, so that a point can have two codes; such a head stands alone.
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

    @cached_property
    def classes(self) -> Indices:
        """`find_classes()`, found once and only if asked for."""
        return self.find_classes()

    @property
    def price(self) -> tuple[int, bool, int]:
        """What is minimised within one layer: factors, then integers before others, then dimension."""
        return self.cost, self.degree > 1, self.dim


def undivided(
    theorem: str,
    name: str,
    cost: int,
    degree: int,
    find_classes: Callable[[], Indices],
    plan: HeadPlan,
    *,
    moved: int | None = None,
    lifted: bool = False,
) -> HeadCandidate:
    """A candidate whose initial state has one part only: that of `plan`."""
    return HeadCandidate(
        theorem, name, cost, plan.dim, degree, find_classes, 1,
        lambda _: find_classes(), lambda _: plan, moved, lifted,
    )  # fmt: skip


def cheapest(candidates: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    """By price; among equals plain permutations first, then small fields. A deterministic order."""
    return sorted(candidates, key=lambda c: (c.price, c.moved is None, c.degree, c.theorem, c.name))
