"""Components in series of automata with redundant states, where these take fewer layers or less work.

An expansion (`_expansions.py`) can have congruences where the automaton has none. The last letter is one: it is reset by every
letter, and stands in layer 1, so that what is left need only be told apart among the states into which one letter leads. Absorbing
states are another: without them there is a partial automaton, of which any extension will do, and a mark in a layer below is
set where a letter has no move and never taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np

from ...foundation._errors import LimitError, NotRealisableError
from .._lrnn import LRNN
from .._realisation import weigh
from ..algebra._congruences import number_classes, quotient_automaton
from ..automata._automaton import Automaton, Indices
from ._construction import Problem
from ._expansions import (
    Expansion,
    absorbing_states,
    kinds_of_letters,
    with_last_letter,
    with_marks,
    without_sinks,
)
from ._in_series import in_series
from ._rest import Component, Components, extensions, sizes_by_layer
from ._serial_search import SerialSearch

MAX_PAIRS = 40
"""Most pairs of a state and a letter for which the last letter is kept beside the state."""
MAX_LETTERS_TRIED = 12
"""Most last letters at the start with which it is kept."""
MAX_MOVES = 200
"""Most pairs of a state and a letter for which absorbing states are left out."""
MAX_SERIAL_MOVES = 64
"""Most such pairs for which what is left may take several layers."""
MAX_SINKS = 8
"""Most absorbing states that are left out."""
MAX_EXTENSIONS = 6
"""Most extensions of a partial automaton to a total one that are tried."""
MAX_WORK = 10_000
"""Limit on each search for components (maps × labels²)."""


class RedundantStates:
    """The search for redundant states with which an automaton takes several layers of little work.

    Args:
        problem: the automaton and limits.
        exactness: `any`, or `integer` for integers only.
    """

    def __init__(self, problem: Problem, exactness: str = "any") -> None:
        self.problem = problem
        self.exactness = exactness
        self.base = problem.automaton
        self.limits = replace(problem.limits, components=min(problem.limits.components, MAX_WORK))

    def cheapest(self) -> LRNN:
        """The LRNN with the least layers × work that the search finds.

        Raises:
            NotRealisableError: it finds none, or the automaton is too large for it.
        """
        found = []
        for expansion, components in self._candidates():
            with suppress(NotRealisableError, LimitError):
                found.append(follow_expansion(expansion, components))
        if not found:
            raise NotRealisableError(
                f"{self.base.name}: own.serial: no redundant states were found with which it takes few layers; leave `theorem` out"
            )
        return min(found, key=weigh)

    def _candidates(self) -> Iterator[tuple[Expansion, Sequence[Component]]]:
        """Expansions with components that determine their states."""
        if len(self.base.reachable()) < len(self.base.states):
            return
        if self.base.transitions.size <= MAX_MOVES:
            yield from self._marked()
        if self.base.transitions.size <= MAX_PAIRS:
            yield from self._paired()

    def _problem(self, automaton: Automaton) -> Problem:
        return Problem(automaton, self.limits, self.problem.coordinates)

    def _paired(self) -> Iterator[tuple[Expansion, Sequence[Component]]]:
        """The states beside the last letter, which is in layer 1, for each letter at the start."""
        whole = Components(self._problem(self.base), self.exactness)
        if whole.rest(np.arange(len(self.base.states)), []) is not None:
            return
        starts = (
            (kinds, first)
            for kinds in kinds_of_letters(self.base.transitions)
            for first in range(int(kinds.max()) + 1)
        )
        for kinds, first in islice(starts, MAX_LETTERS_TRIED):
            expansion = with_last_letter(self.base, kinds, first)
            try:
                search = SerialSearch(self._problem(expansion.automaton), self.exactness)
            except (NotRealisableError, LimitError):
                continue
            found = search.below(number_classes(expansion.pairs[:, 1]))
            if found is not None:
                yield expansion, found.components

    def _marked(self) -> Iterator[tuple[Expansion, Sequence[Component]]]:
        """The partial automaton without absorbing states, extended in several ways, and a mark below it."""
        sinks = absorbing_states(self.base)
        if not 1 <= len(sinks) <= min(MAX_SINKS, len(self.base.states) - 2) or self.base.start in sinks:
            return
        for number, total in enumerate(self._extensions(without_sinks(self.base, sinks)[1])):
            expansion = with_marks(self.base, sinks, total)
            numbers, marks = expansion.pairs.T
            search = Components(self._problem(expansion.automaton), self.exactness)
            whole = search.quotient(numbers)
            above = [] if whole is None else [whole]
            if number == 0 and whole is None and self.base.transitions.size <= MAX_SERIAL_MOVES:
                with suppress(NotRealisableError, LimitError):
                    rest = quotient_automaton(expansion.automaton, numbers)
                    plan = SerialSearch(self._problem(rest), self.exactness).plan()
                    above = [_lifted(c, numbers) for c in plan.components]
            if above and (components := _add_marks(search, above, marks)) is not None:
                yield expansion, components

    def _extensions(self, partial: Indices) -> Iterator[Indices]:
        """Total maps that extend those of the partial automaton: first those that move no other state, then others."""
        still = np.where(partial < 0, np.arange(partial.shape[1]), partial)
        moving = (partial >= 0).any(axis=1)
        yield still
        for total in islice(extensions(partial[moving]), MAX_EXTENSIONS):
            whole = still.copy()
            whole[moving] = total
            if (whole != still).any():
                yield whole


def _add_marks(search: Components, above: Sequence[Component], marks: Indices) -> Sequence[Component] | None:
    """The components with those that tell the mark: whether there is one, then which one it is; None where one has no layer."""
    components = list(above)
    for labels in ((marks > 0).astype(np.int64), np.maximum(marks - 1, 0)):
        if labels.any():
            component = search.rest(labels, components)
            if component is None:
                return None
            components.append(component)
    return components


def _lifted(component: Component, state_of: Indices) -> Component:
    """A component of an automaton as one of another, whose states have that automaton's states as a quotient."""
    return replace(component, labels=component.labels[state_of], letters=component.letters[:, state_of])


def follow_expansion(expansion: Expansion, components: Sequence[Component]) -> LRNN:
    """The LRNN of an expansion's components, which names the states for which its states stand.

    Args:
        expansion: the expansion.
        components: components that determine its states.

    Raises:
        NotRealisableError: they are in one layer; or a head cannot keep what is needed.
        LimitError: there are too many joint states.
    """
    if max(c.level for c in components) == 1:
        raise NotRealisableError(f"{expansion.base.name}: own.serial: one layer is enough")
    return in_series(
        expansion.automaton,
        sorted(components, key=lambda c: c.level),
        theorem="own.serial",
        construction=f"components in series for the states with {expansion.beside}, states by layer {sizes_by_layer(components)}",
        expansion=expansion,
    )
