"""`TransitionMonoid`: all maps of the states that words induce, each with a shortest word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..automaton import Automaton, Indices, Label
from ..errors import LimitError
from ..groups.permutations import distinct_maps, monogenic_size
from .base import determining_points
from .generation import GeneratedMaps, Maps, generate_maps
from .powers import all_aperiodic, index_and_period

MAX_MONOID = 1_000_000
MAX_MONOID_BYTES = 1 << 31


@dataclass(frozen=True, eq=False)
class TransitionMonoid:
    """The transition monoid of an automaton, identity included, in the order of shortest words.

    Element 0 is the identity (the empty word); shorter words come first, then the letters' order decides. The
    product of i and j is "i, then j", as words are read left to right.
    """

    automaton: Automaton
    generated: GeneratedMaps

    @classmethod
    def of(
        cls, automaton: Automaton, *, max_size: int = MAX_MONOID, max_bytes: int = MAX_MONOID_BYTES
    ) -> TransitionMonoid:
        """List the monoid; `LimitError` with the figure where it is larger than one of the limits."""

        def stop(figure: int, why: str) -> LimitError:
            if why == "elements":
                return LimitError(
                    f"{automaton.name}: the transition monoid has more than {figure:,} elements, the limit; "
                    "raise it with --max-monoid"
                )
            return LimitError(
                f"{automaton.name}: listing the transition monoid stopped at {figure:,} elements on "
                f"{len(automaton.states):,} states: they fill the {max_bytes >> 20:,} MiB allowed "
                "(max_bytes; --max-monoid limits only their number)"
            )

        letters = distinct_maps(automaton.transitions)
        if len(letters) == 1 and monogenic_size(letters[0]) > max_size:
            raise LimitError(
                f"{automaton.name}: the transition monoid has {monogenic_size(letters[0]):,} elements, more than "
                f"the limit of {max_size:,}; raise it with --max-monoid"
            )
        base = determining_points(automaton.transitions, automaton.start)
        generated = generate_maps(
            automaton.transitions, base, max_size=max_size, max_bytes=max_bytes, stop=stop
        )
        return cls(automaton, generated)

    @property
    def size(self) -> int:
        """Number of elements, with the identity."""
        return self.generated.size

    @property
    def elements(self) -> Maps:
        """Images `[size, states]`: `elements[i, q]` is the state to which element i sends state q."""
        return self.generated.elements

    @property
    def right(self) -> NDArray[np.int32]:
        """Right Cayley table `[size, letters]`: element i, then letter x."""
        return self.generated.right

    def word(self, element: int) -> tuple[Label, ...]:
        """The first shortest word that induces an element."""
        word = []
        while element:
            word.append(self.automaton.letters[int(self.generated.last_letters[element])])
            element = int(self.generated.parents[element])
        return tuple(word[::-1])

    def element(self, word: str | tuple[Label, ...] | list[Label]) -> int:
        """The element that a word induces."""
        current = 0
        for x in self.automaton.word(word):
            current = int(self.right[current, x])
        return current

    def find(self, maps: NDArray[np.integer]) -> Indices:
        """Index of each map `[..., states]`, -1 where it is not an element."""
        return self.generated.find(np.asarray(maps))

    def product(self, first: Indices | int, second: Indices | int) -> Indices:
        """Index of "first, then second"; arrays of indices broadcast."""
        i, j = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        return self.generated.find_by_base(
            self.elements[j[..., None], self.elements[i[..., None], self.generated.base]]
        )

    @cached_property
    def idempotents(self) -> Indices:
        """Indices of the elements e with ee = e."""
        images = self.elements[:, self.generated.base]
        twice = np.take_along_axis(self.elements, images.astype(np.int64), axis=1)
        return np.flatnonzero((twice == images).all(axis=1))

    @cached_property
    def resets(self) -> Indices:
        """Indices of the constant maps (for one state: the identity)."""
        return np.flatnonzero((self.elements == self.elements[:, :1]).all(axis=1))

    @cached_property
    def index_and_period(self) -> tuple[Indices, Indices]:
        """Least i, p with f^(i+p) = f^i for each element f, two arrays `[size]`; in a group p is the order."""
        return index_and_period(self.elements, self.generated.base)

    @cached_property
    def is_group(self) -> bool:
        """True where every letter permutes the states."""
        return self.automaton.is_permutation

    @cached_property
    def is_aperiodic(self) -> bool:
        """True where every subgroup is trivial: the tracked languages are star-free (Schützenberger)."""
        return all_aperiodic(self.elements, self.generated.base)

    @cached_property
    def is_commutative(self) -> bool:
        """True where all letters commute."""
        return letters_commute(self.automaton, self.generated.base)

    @property
    def has_resets(self) -> bool:
        """True where some word sends all states to one."""
        return bool(self.resets.size)

    @property
    def is_synchronising(self) -> bool:
        """The same as `has_resets`; `monoid_synchronising` decides it without the monoid."""
        return self.has_resets

    def reset_word(self) -> tuple[Label, ...] | None:
        """A shortest word that sends all states to one, or None."""
        return self.word(int(self.resets[0])) if self.has_resets else None


def letters_commute(automaton: Automaton, base: Indices | None = None) -> bool:
    """True where xy = yx for all letters: then the monoid is commutative. The monoid itself is not needed."""
    maps = automaton.transitions
    points = determining_points(maps, automaton.start) if base is None else base
    at_base = maps[:, points]
    return all(np.array_equal(maps[:, row[points]], row[at_base]) for row in maps)
