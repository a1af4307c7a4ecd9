"""What a plan tries: each construction in turn, every realisation within a limit of time; and what was left out, with reasons.

Three things are not built: what the request excludes before it is built, what another construction is known to beat, and what could not
tell the outputs. What a limit or the time stops is named with a way that can work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...constructions._construct import Candidate, Request, candidates, constructions_for, require_outputs
from ...constructions._like_letters import merge_like_letters
from ...constructions._realisation import Realisation, cost
from ...constructions.automata._automaton import Automaton
from ...constructions.theorems._construction import Construction, Limits
from ...constructions.theorems._registry import construction_of
from ...foundation._errors import LimitError, NotRealisableError
from ...foundation._text import count_noun
from ...foundation._time_limit import OutOfTime, interrupt_after


@dataclass
class Tried:
    """What came of the constructions.

    Attributes:
        found: the realisations, in the order in which they were made.
        left_out: what a limit or the time stopped, and what may be done about it.
        not_built: what was known to lose, or not to fit, before it was built.
        unfit: why the theorem that was asked for does not apply.
    """

    found: list[Realisation] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    not_built: list[str] = field(default_factory=list)
    unfit: NotRealisableError | None = None


def try_constructions(
    automaton: Automaton, request: Request, limits: Limits | None, budget: float | None
) -> Tried:
    """All realisations of an automaton that the request admits, of the constructions in their order.

    Args:
        automaton: the automaton, without unreachable states.
        request: the conditions.
        limits: the limits of the search; None for the default limits.
        budget: the seconds that one realisation, with its certificate's size, may take; None for no limit.
    """
    return _Trial(automaton, request, limits, budget).run()


class _Trial:
    def __init__(
        self, automaton: Automaton, request: Request, limits: Limits | None, budget: float | None
    ) -> None:
        self.automaton, self.request, self.budget = automaton, request, budget
        fewer, self.kinds = merge_like_letters(automaton)
        self.problem = request.problem(fewer, limits)
        self.whole = request.problem(automaton, limits)
        self.tried = Tried()

    def run(self) -> Tried:
        asked = None if self.request.theorem is None else construction_of(self.request.theorem)
        wanted = constructions_for(self.automaton) if asked is None else [asked]
        if asked is not None:
            require_outputs(asked, self.automaton)
        elif dumb := [c.source for c in wanted if not c.tells_outputs(self.automaton)]:
            wanted = [c for c in wanted if c.tells_outputs(self.automaton)]
            self.tried.not_built.append(
                f"{', '.join(dumb)}: the outputs of this Mealy machine need the state before the token, and a table tells that after it"
            )
        for candidate in candidates(self.problem, self.request.exactness, wanted):
            if asked is not None and candidate.construction is None:
                continue
            try:
                if not self._loses(candidate, asked):
                    self._build(candidate)
            except NotRealisableError as error:
                if asked is not None:
                    self.tried.unfit = error
        return self.tried

    def _loses(self, candidate: Candidate, asked: Construction | None) -> bool:
        construction = candidate.construction
        if construction is None:
            return False
        most = self.request.max_layers
        least = construction.excess_layers(self.problem, most)
        if least is not None:
            self.tried.not_built.append(
                f"{construction.source}: it has at least {count_noun(least, 'layer')}, and `max_layers` is {most}"
            )
            return True
        if asked is None and construction.is_beaten is not None:
            try:
                with interrupt_after(self.budget):
                    beaten = construction.is_beaten(self.problem)
            except OutOfTime:
                beaten = False
            if beaten:
                self.tried.not_built.append(f"{construction.source}: it loses to {construction.beaten_by}")
                return True
        return False

    def _build(self, candidate: Candidate) -> None:
        items = candidate.realise()
        while True:
            try:
                with interrupt_after(self.budget):
                    item = next(items, None)
            except OutOfTime:
                self._stopped(f"{candidate.source}: it was not done")
                return
            except LimitError as error:
                item = error
            if item is None:
                return
            if isinstance(item, LimitError):
                self.tried.left_out.append(str(item))
            else:
                self._take(candidate, item)

    def _take(self, candidate: Candidate, found: Realisation) -> None:
        if not self.request.admits(found):
            return
        try:
            with interrupt_after(self.budget):
                spread = self._with_all_letters(candidate, found)
                if spread is None:
                    return
                found = spread
                _ = found.certificate_bytes  # computed once, and kept
        except OutOfTime:
            if found.automaton is not self.automaton:
                self._stopped(f"{candidate.source}: it was not spread over all letters")
                return
            found.__dict__["certificate_bytes"] = None
            self._stopped(f"{found.theorem}: the size of its certificate is not known: it was not written")
        if all(_figures(found) != _figures(other) for other in self.tried.found):
            self.tried.found.append(found)

    def _with_all_letters(self, candidate: Candidate, found: Realisation) -> Realisation | None:
        if self.kinds is None:
            return found
        spread = found.for_letters(self.automaton, self.kinds)
        if spread is not None or candidate.construction is None:
            return spread
        made = candidates(self.whole, self.request.exactness, [candidate.construction])
        every: Iterator[Realisation | LimitError] = (item for other in made for item in other.realise())
        alike = (item for item in every if isinstance(item, Realisation))
        return next((item for item in alike if item.construction == found.construction), None)

    def _stopped(self, what: str) -> None:
        self.tried.left_out.append(f"{what} within {self.budget:g} s: raise `budget`, or take what is listed")


def _figures(found: Realisation) -> tuple[object, ...]:
    """What two realisations have alike that are one: several constructions fall back on the same one for one state."""
    return found.theorem, found.construction, found.exactness, found.certificate_bytes, *cost(found)
