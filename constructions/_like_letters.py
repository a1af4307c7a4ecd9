"""Letters that act alike: a construction sees one of each kind, and what it makes is spread over all of them.

An automaton over 93 characters often has a handful of different maps of its states. What a construction does, and what it costs,
depends on the maps alone, so that the time for equal letters would be spent for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ._realisation import Realisation
from .automata._automaton import Automaton, Indices


def merge_like_letters(automaton: Automaton) -> tuple[Automaton, Indices | None]:
    """The automaton with the first of each kind of letters that map the states alike, and the kind of each letter.

    Args:
        automaton: any automaton.

    Returns:
        The automaton, and an int array `[letters]` of indices of its letters; the automaton itself and None where all letters differ, and
        where outputs need the state before a token, since then letters with equal maps can have different outputs.
    """
    if not automaton.outputs_follow_states or not len(automaton.letters):
        return automaton, None
    numbers: dict[bytes, int] = {}
    kinds = np.array(
        [numbers.setdefault(row.tobytes(), len(numbers)) for row in automaton.transitions], dtype=np.int64
    )
    if len(numbers) == len(kinds):
        return automaton, None
    first = np.unique(kinds, return_index=True)[1]
    fewer = replace(
        automaton,
        letters=tuple(automaton.letters[x] for x in first.tolist()),
        transitions=automaton.transitions[first],
        outputs=automaton.outputs[first] if automaton.is_mealy else automaton.outputs,
    )
    return fewer, kinds


def spread_over_letters(
    found: Realisation, automaton: Automaton, kinds: Indices | None, again: Callable[[], Realisation]
) -> Realisation:
    """The realisation with all letters.

    Args:
        found: a realisation of the automaton with one letter of each kind.
        automaton: the automaton with all letters.
        kinds: for each letter the letter of `found` that acts alike, int array `[letters]`; None where `found` has all letters.
        again: makes the realisation from all letters, for kinds of realisations that cannot be spread.
    """
    if kinds is None:
        return found
    spread = found.for_letters(automaton, kinds)
    return again() if spread is None else spread
