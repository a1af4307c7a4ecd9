"""Head candidates: what one head could do for a given group, each with its cost, and how they are told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .automaton import Indices
from .head_plan import HeadPlan

Marks: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadCandidate:
    """One possible head for a transitive action.

    `theorem`, `name`: source and plain words. `cost`: most GH factors of a letter. `dim`: key dimension.
    `integer`: all its numbers are integers. `classes`: class of each point of the action under the full initial
    state, `[points]`. `mark_count`, `mark`: the parts that an initial state may consist of, and the classes that
    part `i` alone tells apart. `plan(marks)`: the head with an initial state of these parts.
    `moved`: for permutation forms the most points that a letter moves, else None (G.T3's k).
    `lifted`: each letter may carry an extra sign, so that a point can have two codes; stands alone only.
    """

    theorem: str
    name: str
    cost: int
    dim: int
    integer: bool
    classes: Indices
    mark_count: int
    mark: Callable[[int], Indices]
    plan: Callable[[Marks], HeadPlan]
    moved: int | None = None
    lifted: bool = False

    @property
    def price(self) -> tuple[int, bool, int]:
        """What is minimised within one layer: factors, then integers before others, then dimension."""
        return self.cost, not self.integer, self.dim


def whole(
    classes: Indices, plan: HeadPlan
) -> tuple[int, Callable[[int], Indices], Callable[[Marks], HeadPlan]]:
    """`mark_count`, `mark` and `plan` of a candidate whose initial state has one part only."""
    return 1, lambda _: classes, lambda _: plan


def cheapest(candidates: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    """By price, ties by fewer classes of the theorem's name; a stable, deterministic order."""
    return sorted(candidates, key=lambda c: (c.price, c.theorem, c.name))
