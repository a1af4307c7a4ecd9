"""The search of own.serial: components along a chain of congruences, each finer than the one before.

What it tries: congruences made of the minimal ones, and all where they are few. From those whose quotients take one layer, it goes
down to finer ones, one component at a time, and ends at the first depth at which it reaches the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...foundation._errors import LimitError, NotRealisableError
from ..algebra._congruences import (
    grow_congruence,
    join_partitions,
    list_congruences,
    merged_pair,
    minimal_congruences,
    number_classes,
    permutation_congruence,
    refines,
    reset_congruence,
)
from ..algebra._separations import separations
from ..automata._automaton import Indices
from ._construction import Problem
from ._rest import Component, Components

MAX_MINIMAL = 2_000
"""Most minimal congruences with which the search goes on."""
MAX_CLOSING_STEPS = 500_000
"""Most steps of the closings of all pairs (pairs × letters × states) for which all congruences are listed."""
MAX_GROWN = 12
"""Most minimal congruences for which a maximal one is sought that does not contain them."""
MAX_CONGRUENCES_TRIED = 32
"""Most congruences between which components are sought."""
MAX_COMPONENTS = 200
"""Most pairs of congruences between which a component is sought."""
MAX_GROWTH = 5_000_000
"""Most images of pairs of states (letters × pairs), over all these pairs, in searches for components that are quotients."""
MAX_ALTERNATIVES = 16
"""Most of these pairs after the first with which the states are reached; a quarter of them with which another congruence is."""
MAX_DEPTH = 8
"""Most components below each other."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Components that together determine the class of a congruence."""

    components: tuple[Component, ...]

    @property
    def price(self) -> tuple[int, int]:
        """Layers, then work."""
        return max(c.level for c in self.components), sum(c.made.work or 0 for c in self.components)


class SerialSearch:
    """The search for components of an automaton below each other.

    Args:
        problem: the automaton and limits.
        exactness: `any`, or `integer` for integers only.

    Raises:
        NotRealisableError: the automaton has no proper congruence, or its start does not reach all states.
        LimitError: there are too many pairs of states or minimal congruences.
    """

    def __init__(self, problem: Problem, exactness: str = "any") -> None:
        self.problem = problem
        self.exactness = exactness
        self.automaton = problem.automaton
        self.maps = problem.automaton.transitions
        self.states = np.arange(self.maps.shape[1])
        self.name = f"{self.automaton.name}: own.serial"
        if len(self.automaton.reachable()) < len(self.states):
            raise NotRealisableError(
                f"{self.name} needs every state to be reachable from the start; leave `theorem` out"
            )
        try:
            self.minimal = minimal_congruences(self.maps)
        except LimitError as error:
            raise LimitError(f"{self.name}: {error}") from None
        if not any(_is_proper(c) for c in self.minimal):
            raise NotRealisableError(
                f"{self.name}: its states have no proper congruence; leave `theorem` out"
            )
        if len(self.minimal) > MAX_MINIMAL:
            raise LimitError(
                f"{self.name}: {len(self.minimal):,} minimal congruences of its states; the limit is {MAX_MINIMAL:,}"
            )
        self.components = Components(problem, exactness)
        self.attempts = self.growth = 0

    def congruences(self) -> list[Indices]:
        """The proper congruences that are tried, those with the fewest classes first."""
        found = {c.tobytes(): c for c in self._candidates() if _is_proper(c)}
        few = sorted(found.values(), key=lambda c: (int(c.max()), c.tobytes()))
        # where there are too many, the coarsest and the finest
        half = MAX_CONGRUENCES_TRIED // 2
        return few if len(few) <= 2 * half else [*few[:half], *few[-half:]]

    def _candidates(self) -> Iterator[Indices]:
        yield from self.minimal
        yield reset_congruence(self.maps)
        yield permutation_congruence(self.maps)
        yield reduce(join_partitions, self.minimal)
        pairs = np.array([merged_pair(c) for c in self.minimal], dtype=np.int64)
        few = range(min(len(pairs), MAX_GROWN))
        grown = [grow_congruence(self.maps, self.minimal, pairs[i : i + 1]) for i in few]
        yield from grown
        for congruence in grown:
            yield from (join_partitions(congruence, self.minimal[i]) for i in few)
        letters, size = self.maps.shape
        if letters * size * size * (size - 1) // 2 <= MAX_CLOSING_STEPS:
            try:
                yield from list_congruences(self.maps, self.problem.limits.congruences)
            except LimitError:
                return

    def plan(self) -> Plan:
        """The components with the fewest layers, and of these the least work, that the search finds.

        Raises:
            NotRealisableError: it finds none, or one component is enough.
        """
        if (whole := self.components.rest(self.states, [])) is not None:
            sides = whole.made.theorem == "own.congruences"
            what = "its quotients side by side take" if sides else "it takes"
            raise NotRealisableError(f"{self.name}: {what} one layer; leave `theorem` out")
        congruences = self.congruences()
        plans: list[tuple[Indices, Plan]] = []
        newest: Iterable[tuple[Indices, Plan]] = self._quotients(congruences, plans)
        for _ in range(1, MAX_DEPTH):
            # the states themselves first, then the congruences that have no components yet, the finest first
            if (best := self._best(newest, self.states)) is not None:
                return best
            known = {congruence.tobytes() for congruence, _ in plans}
            above = list(plans) if not isinstance(newest, list) else newest
            newest = [
                (goal, found)
                for goal in reversed(congruences)
                if goal.tobytes() not in known and (found := self._best(above, goal)) is not None
            ]
            plans += newest
            if not newest:
                break
        raise NotRealisableError(
            f"{self.name}: no chain of congruences was found whose components take one layer each; leave `theorem` out"
        )

    def below(self, congruence: Indices) -> Plan | None:
        """The cheapest plan that begins with a congruence and has one more component; None where none was found.

        Args:
            congruence: int array `[states]`.
        """
        first = self.components.quotient(congruence)
        return None if first is None else self._best([(congruence, Plan((first,)))], self.states)

    def _quotients(
        self, congruences: Sequence[Indices], plans: list[tuple[Indices, Plan]]
    ) -> Iterator[tuple[Indices, Plan]]:
        """The congruences whose quotients take one layer, which are added to the plans as they are found."""
        for congruence in congruences:
            if (found := self.components.quotient(congruence)) is not None:
                plans.append((congruence, Plan((found,))))
                yield plans[-1]

    def _best(self, plans: Iterable[tuple[Indices, Plan]], goal: Indices) -> Plan | None:
        """The cheapest of the plans with one more component that determine the classes of a congruence."""
        best: Plan | None = None
        last = MAX_COMPONENTS
        for above, plan in plans:
            for longer in self._extend(plan, above, goal):
                if best is None:
                    last = min(last, self.attempts + MAX_ALTERNATIVES // (1 if goal is self.states else 4))
                if best is None or longer.price < best.price:
                    best = longer
                if best.price[0] == 1:
                    return best
            if self.attempts >= last:
                break
        return best

    def _extend(self, plan: Plan, above: Indices, goal: Indices) -> Iterator[Plan]:
        """The plan with one more component, which tells the classes of the finer congruence apart."""
        if not refines(goal, above) or (goal == above).all() or self.attempts >= MAX_COMPONENTS:
            return
        self.attempts += 1
        first = np.unique(goal, return_index=True)[1]
        maps, classes = goal[self.maps[:, first]], number_classes(above[first])
        self.growth += len(maps) * len(first) * (len(first) - 1) // 2
        minimal: Sequence[Indices] = ()
        if self.growth <= MAX_GROWTH:
            minimal = self.minimal if goal is self.states else minimal_congruences(maps)
        for labels in separations(maps, classes, minimal):
            if int(labels.max()) == len(labels) - 1:
                continue  # the whole, not a rest
            component = self.components.rest(labels[goal], plan.components)
            if component is not None:
                yield Plan((*plan.components, component))


def _is_proper(congruence: Indices) -> bool:
    return 0 < int(congruence.max()) < len(congruence) - 1
