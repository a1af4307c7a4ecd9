"""Which words a task has: all of them, those that never fail, those without certain pairs, elements between blanks."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Automaton, Indices
from ...constructions.errors import InputError
from ...constructions.library.alphabets import BLANK

Pair = tuple[int, int]
"""Two letters in the order in which they are read."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class WordForm:
    """An automaton of allowed words: in context c the next letter is uniform among `choices[c, :counts[c]]`.

    `follow` `[letters, contexts]`: the context after a letter. `labelled` `[contexts]`: whether the letter read in
    that context has a label.
    """

    choices: Indices
    counts: Indices
    follow: Indices
    labelled: Mask
    start: int


def live_words(automaton: Automaton) -> WordForm:
    """Words that never reach a state from which no output is defined any more (the sink of ill-formed words)."""
    if automaton.is_mealy:
        raise InputError(f"{automaton.name}: words live needs outputs of states; take words uniform")
    alive = np.array([output is not None and output is not False for output in automaton.outputs])
    while True:  # alive: some word leads to a defined, accepting output
        grown = alive | alive[automaton.transitions].any(axis=0)
        if (grown == alive).all():
            break
        alive = grown
    allowed = alive[automaton.transitions] & alive
    if not allowed[:, alive].any(axis=0).all():
        raise InputError(f"{automaton.name}: words live: some words cannot go on; take words uniform")
    everywhere = np.ones(len(automaton.states), dtype=bool)
    return _form(allowed, automaton.transitions, everywhere, automaton.start)


def words_without(automaton: Automaton, held_out: Collection[Pair]) -> WordForm:
    """Words in which no pair of `held_out` occurs; the context is the letter before (last: none)."""
    letters = len(automaton.letters)
    allowed = np.ones((letters, letters + 1), dtype=bool)
    for first, second in held_out:
        allowed[second, first] = False
    stuck = np.flatnonzero(~allowed.any(axis=0))
    if len(stuck):
        raise InputError(
            f"{automaton.name}: held-out pairs leave no letter after {automaton.letters[stuck[0]]!r}: hold out fewer"
        )
    follow = np.repeat(np.arange(letters)[:, None], letters + 1, axis=1)
    return _form(allowed, follow, np.ones(letters + 1, dtype=bool), letters)


def spaced_words(automaton: Automaton) -> WordForm:
    """Of `G[in_k_tokens]`: an element, then k - 1 blanks; the label is valid at every k-th token."""
    match = re.search(r"\[in_([0-9]+)_tokens\]", automaton.name)
    if match is None or BLANK not in automaton.letters:
        raise InputError(f"{automaton.name}: words spaced are those of G[in_k_tokens]; take words uniform")
    k, blank = int(match[1]), automaton.letter_index(BLANK)
    allowed = np.zeros((len(automaton.letters), k), dtype=bool)
    allowed[:, 0] = True
    allowed[blank, 0] = False
    allowed[blank, 1:] = True
    follow = np.repeat((np.arange(k)[None, :] + 1) % k, len(automaton.letters), axis=0)
    return _form(allowed, follow, np.arange(k) == k - 1, 0)


def _form(allowed: Mask, follow: Indices, labelled: Mask, start: int) -> WordForm:
    counts = allowed.sum(axis=0)
    choices = np.zeros((allowed.shape[1], int(counts.max())), dtype=np.int64)
    for context in range(allowed.shape[1]):
        choices[context, : counts[context]] = np.flatnonzero(allowed[:, context])
    return WordForm(choices, counts.astype(np.int64), np.asarray(follow, dtype=np.int64), labelled, start)
