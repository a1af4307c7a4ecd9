"""What a theorem's file in this folder says of its construction, and what the construction is given to build from.

A file whose name has no underscore in front holds one record, `CONSTRUCTION`; `_registry.py` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...foundation._errors import LimitError
from .._lrnn import LRNN
from .._realisation import Realisation
from ..automata._automaton import Automaton
from ..cascades._automata import Cascade
from ..cascades._cascade import MAX_LEVEL_LETTERS, cascade
from ..cascades._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from ..cascades._layers import CoordinateKind, Wiring, cascade_lrnn
from ..heads._candidates import MAX_DEGREE, HeadCandidate, HeadSearch


@dataclass(frozen=True)
class Limits:
    """What a construction may cost.

    Args:
        degree: largest degree of a number field.
        group: largest group whose elements are listed.
        image_sets: most image sets of a cascade.
        set_moves: most steps between image sets.
        level_letters: most letters of a cascade's level.
    """

    degree: int = MAX_DEGREE
    group: int = 5_000
    image_sets: int = MAX_IMAGE_SETS
    set_moves: int = MAX_SET_MOVES
    level_letters: int = MAX_LEVEL_LETTERS


class Problem:
    """An automaton that is to be realised, within limits; what several constructions need is made once.

    Args:
        automaton: the automaton, all states reachable or kept on purpose.
        limits: what a construction may cost.
        coordinates: of cascade components, `few` or `one_hot`.
    """

    def __init__(
        self, automaton: Automaton, limits: Limits | None = None, coordinates: CoordinateKind = "few"
    ) -> None:
        self.automaton = automaton
        self.limits = limits or Limits()
        self.coordinates: CoordinateKind = coordinates
        self._cascade: Cascade | LimitError | None = None

    @property
    def permutes_or_resets(self) -> bool:
        """Is every letter a permutation of the states or a reset to one of them?"""
        n = len(self.automaton.states)
        return all(len(set(row)) in (1, n) for row in self.automaton.transitions.tolist())

    @property
    def is_shallow(self) -> bool:
        """Has the automaton's own cascade fewer levels than that of all maps? False where it is beyond a limit."""
        try:
            return len(self.cascade().levels) < len(self.automaton.states) - 1
        except LimitError:
            return False

    def cascade(self) -> Cascade:
        """The automaton's cascade, checked on the spot."""
        if self._cascade is None:
            try:
                self._cascade = cascade(
                    self.automaton,
                    max_image_sets=self.limits.image_sets,
                    max_set_moves=self.limits.set_moves,
                    max_level_letters=self.limits.level_letters,
                )
            except LimitError as error:
                self._cascade = error
        if isinstance(self._cascade, LimitError):
            raise self._cascade
        return self._cascade

    def layers_of_cascade(self, theorem: str, *, gated: bool = False, wiring: Wiring = "repaired") -> LRNN:
        """The automaton's cascade as a linear RNN, one layer a level.

        Args:
            theorem: the source that the result names.
            gated: resets by the gate 0 in place of factors.
            wiring: `repaired`, or `printed` as the proof of G.T4 has it, which is wrong for some automata.
        """
        return cascade_lrnn(
            self.automaton,
            self.cascade(),
            coordinates=self.coordinates,
            gated=gated,
            wiring=wiring,
            theorem=theorem,
        )


Build: TypeAlias = Callable[[Problem], Realisation]


@dataclass(frozen=True, eq=False)
class Construction:
    """A theorem's construction: what it is for, and how it is built.

    One of `build`, `forms` and `candidates` says how.

    Args:
        source: the theorem's name, as users give it (`theorem="G.T3"`).
        title: one line: what is built, for which automata.
        order: place among the constructions in lists and searches, the least first; numbers may be left out.
        examples: SPECs of automata to which it applies.
        refusals: SPECs to which it does not, with a part of the reason that the error gives.
        build: makes the realisation of a `Problem`; `NotRealisableError` where the automaton is not of its kind.
        forms: where the theorem has several realisations: their builds for a problem and an `exactness`, the cheapest
            first. `NotRealisableError` counts as the theorem's refusal for the first alone.
        candidates: heads for group automata in one layer, from the group and the candidates of the theorems before;
            the search in `_one_layer.py` takes the cheapest that suffice, of this theorem and all others.
        left_out: what the candidates leave out at the limits, a sentence each.
        by_request: built only where its source is asked for: it needs gates, or its norm can exceed 1.
        norm_bounded: false where a letter's norm can exceed 1, so that lower bounds do not speak of it.
        for_group_automata: false where a group automaton has a cheaper realisation by another theorem.
        is_beaten: true where another theorem is known to be cheaper, so that a search leaves this one out.
    """

    source: str
    title: str
    order: int
    examples: tuple[str, ...]
    refusals: Mapping[str, str] = field(default_factory=dict)
    build: Build | None = None
    forms: Callable[[Problem, str], Sequence[Build]] | None = None
    candidates: Callable[[HeadSearch, Sequence[HeadCandidate]], list[HeadCandidate]] | None = None
    left_out: Callable[[HeadSearch], list[str]] | None = None
    by_request: bool = False
    norm_bounded: bool = True
    for_group_automata: bool = True
    is_beaten: Callable[[Problem], bool] | None = None

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.build, self.forms, self.candidates)) != 1:
            raise TypeError(f"construction {self.source}: it has one of build, forms and candidates")

    def suits(self, automaton: Automaton) -> bool:
        """Is it worth a try? Not for a group automaton where another theorem is cheaper for all of these.

        Args:
            automaton: the automaton to be realised.
        """
        return self.for_group_automata or not automaton.is_permutation
