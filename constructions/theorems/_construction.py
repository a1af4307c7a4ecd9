"""What a theorem's file in this folder says of its construction, and what the construction is given to build from.

A file whose name has no underscore in front holds one record, `CONSTRUCTION`; `_registry.py` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TypeAlias

from ...foundation._arguments import require_count
from ...foundation._errors import LimitError
from ...foundation._time_limit import OutOfTime
from .._lrnn import LRNN
from .._realisation import Realisation
from ..algebra._congruences import MAX_CONGRUENCES
from ..automata._automaton import Automaton
from ..cascades._automata import Cascade
from ..cascades._cascade import MAX_LEVEL_LETTERS, cascade
from ..cascades._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from ..cascades._layers import CoordinateKind, Wiring, cascade_lrnn
from ..chains._sizes import MAX_CHAINS, MAX_WINDOW_SETS
from ..heads._candidates import MAX_DEGREE, HeadCandidate, HeadSearch


@dataclass(frozen=True)
class Limits:
    """Limits on the work that a construction may take.

    Args:
        degree: the largest degree of a number field.
        group: the largest order of a group whose elements are listed.
        image_sets: the largest number of image sets of a cascade.
        set_moves: the largest number of entries in the table of their images (image sets times letters).
        level_letters: the largest number of letters on one level of a cascade.
        chains: the largest number of chains of sets that are listed at one level of own.chain, to find the next size; 0: each size is one
            less than the one before.
        window_sets: the largest number of image sets that are listed to find the window of own.window.
        congruences: the largest number of congruences that are listed for own.congruences; where there are more, some of them are tried.
        contents: the largest number of contents of a shift register that are listed for own.definite.
        components: the most work (maps × labels²) of the searches for the components of own.serial; then no further one is sought.

    Raises:
        InputError: one of them is not a positive whole number (0 is possible for the chains); the message names it as `construct` does, such as `max_degree`.
    """

    degree: int = MAX_DEGREE
    group: int = 5_000
    image_sets: int = MAX_IMAGE_SETS
    set_moves: int = MAX_SET_MOVES
    level_letters: int = MAX_LEVEL_LETTERS
    chains: int = MAX_CHAINS
    window_sets: int = MAX_WINDOW_SETS
    congruences: int = MAX_CONGRUENCES
    contents: int = 20_000
    components: int = 100_000

    def __post_init__(self) -> None:
        for part in fields(self):
            require_count(f"max_{part.name}", getattr(self, part.name), 0 if part.name == "chains" else 1)


class Problem:
    """An automaton to be realised, and limits. Results that several constructions need are computed once.

    Args:
        automaton: the automaton; all its states are reachable or kept on purpose.
        limits: limits on the work that a construction may take.
        coordinates: coordinates of the components of a cascade, `few` or `one_hot`.
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
        """Whether every letter is a permutation of the states or a reset to one of them."""
        n = len(self.automaton.states)
        return all(len(set(row)) in (1, n) for row in self.automaton.transitions.tolist())

    @property
    def is_shallow(self) -> bool:
        """Whether the automaton's own cascade has fewer levels than that of all maps; False if it is beyond a limit."""
        try:
            return len(self.cascade().levels) < len(self.automaton.states) - 1
        except LimitError:
            return False

    def cascade(self) -> Cascade:
        """The cascade of the automaton, which is checked when it is built."""
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
            except OutOfTime:
                self._cascade = LimitError(
                    f"{self.automaton.name}: its cascade was not done within the time that it had (`budget`): use `theorem` own.chain, "
                    "which lists none"
                )
                raise
        if isinstance(self._cascade, LimitError):
            raise self._cascade
        return self._cascade

    def layers_of_cascade(self, theorem: str, *, gated: bool = False, wiring: Wiring = "repaired") -> LRNN:
        """The automaton's cascade as a linear RNN, one layer per level.

        Args:
            theorem: the theorem that the result names as its source.
            gated: whether resets use the gate 0 instead of factors.
            wiring: `repaired`, or `printed`, that of the printed proof of G.T4, which is wrong for some automata.
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


def in_any_numbers_and_integers(
    of: Callable[[str], Callable[[Problem], LRNN]],
) -> Callable[[Problem, str], Sequence[Build]]:
    """The `forms` of a construction that has one realisation in any numbers and one in integers, which may be the same.

    Args:
        of: for `any` or `integer` the function that builds it.
    """

    def forms(problem: Problem, exactness: str) -> Sequence[Build]:
        if exactness == "integer":
            return (of("integer"),)
        any_numbers = cache(of("any"))

        def in_integers(problem: Problem) -> LRNN:
            found = any_numbers(problem)
            return found if found.exactness == "integer" else of("integer")(problem)

        return (any_numbers, in_integers)

    return forms


@dataclass(frozen=True, eq=False)
class Construction:
    """The record of a construction: what it is for, and how it is built.

    Exactly one of `build`, `forms` and `candidates` is given.

    Args:
        source: the name of the theorem, as users give it (`theorem="G.T3"`).
        title: a line that says what is built, and for which automata.
        order: position among the constructions in lists and searches, the smallest first; gaps are allowed.
        examples: SPECs of automata to which it applies.
        refusals: SPECs of automata to which it does not apply, each with a part of the reason in the error.
        build: a function that makes the realisation of a `Problem`; it raises `NotRealisableError` if the construction does not
            apply.
        forms: for a theorem with several realisations, a function that returns their build functions for a problem and an
            `exactness`, the cheapest first. Only the `NotRealisableError` of the first one counts as a refusal of the theorem.
        candidates: a function that returns heads for group automata in one layer, given the group and the candidates of the
            previous theorems; the search in `_one_layer.py` chooses the cheapest sufficient heads of all theorems.
        left_out: a function that returns sentences about what the candidates leave out because of the limits.
        by_request: why it is built only if its source is named, as what follows its name (`needs gates`); empty if it needs no request.
        norm_bounded: false if the norm of a letter can exceed 1, so that the lower bounds do not apply to it.
        for_group_automata: false if another theorem gives cheaper realisations of group automata.
        is_beaten: a function that returns True if another theorem is known to be cheaper, so that searches leave this one out.
        beaten_by: what is cheaper then, in words.
        least_layers: a function that returns the fewest layers that it can have, before it is built; None for no such function.
        tells_state_before: whether the read-out has the state before each token too, which the outputs of some Mealy machines need.
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
    by_request: str = ""
    norm_bounded: bool = True
    for_group_automata: bool = True
    is_beaten: Callable[[Problem], bool] | None = None
    beaten_by: str = "another construction"
    least_layers: Callable[[Problem], int] | None = None
    tells_state_before: bool = False

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.build, self.forms, self.candidates)) != 1:
            raise TypeError(f"construction {self.source}: it has one of build, forms and candidates")

    def suits(self, automaton: Automaton) -> bool:
        """Whether to try the construction. It is not tried for group automata if another theorem is cheaper for all of them.

        Args:
            automaton: the automaton to be realised.
        """
        return self.for_group_automata or not automaton.is_permutation

    def excess_layers(self, problem: Problem, most: int | None) -> int | None:
        """The fewest layers that it can have, where these are known before it is built and are too many; else None.

        Args:
            problem: the automaton to be realised.
            most: the largest number of layers; None for no bound.
        """
        if self.least_layers is None or most is None:
            return None
        least = self.least_layers(problem)
        return least if least > most else None

    def tells_outputs(self, automaton: Automaton) -> bool:
        """Whether its read-out can tell the automaton's outputs. Only some can where these need the state before the token.

        Args:
            automaton: the automaton to be realised.
        """
        return automaton.outputs_follow_states or self.tells_state_before
