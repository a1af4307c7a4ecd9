"""Words that are tried beside the breadth-first search of `prove`: v v v ... for short words v, and random words.

A model that drifts is often wrong on v v v ... after some hundred letters, where the words of this length are far too many to be
searched. So once the search has followed some steps, a bounded number of such words is followed side by side, each of
the same length. The first wrong answer ends them. Its word need not be a shortest one, which the verdict says.

The words are chosen by the number of letters and the limit alone. That a word is wrong is never taken from here: it is run from the
start, alone, in the stated arithmetic, as every wrong word is. So what is followed here may be an approximation: a model that
must be stepped one sequence at a time is stepped side by side, or by its own forward code for whole words, and a layer in
exact numbers is followed in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automata._automaton import Automaton, Indices
from ..arithmetic._arithmetic import PerStep
from ..arithmetic._rounding import FORMATS
from ..running._guarded import GuardedStepper
from ._exact import ExactNpzStepper
from ._linear import LinearMachine
from ._second_derivation import first_wrong_answer
from ._stepper_machine import StepperMachine

MAX_TRIAL_LETTERS = 1 << 16
"""Letters of all words together."""
PERIODIC, RANDOM = 12, 4
"""Words v v v ... (or one for each letter, if there are more letters) and random words."""
SHORTEST = 256
"""No word is shorter, however many letters there are: then not every letter has its word."""
BLOCK = 64
"""Letters of every word between two looks at the answers."""
SLACK = 64
"""Letters beyond a wrong answer of an approximation in which the model itself is looked at for one."""
CANDIDATES = 3
"""Words on which an approximation is wrong that are run by the model itself."""

Clock = Callable[[], None]
"""Raises an error once the time is over."""


@dataclass(frozen=True, eq=False)
class TrialWords:
    """Words side by side: `letters` int `[words, length]`, and for each the word v that it repeats, None for a random one."""

    letters: Indices
    periods: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class WrongWord:
    """A word after which the answer is wrong, and no earlier one.

    `period`: the word v of v v v ...; None for a random word. `answered` and `right`: the answers as texts, where the model itself has
    been run already; both None where the word is still to be replayed.
    """

    word: tuple[int, ...]
    period: tuple[int, ...] | None
    answered: str | None = None
    right: str | None = None


def trial_words(letters: int, limit: int) -> TrialWords:
    """The words for an alphabet.

    The words v are those of one letter, then longer ones that repeat nothing and come first among their rotations, since
    v v v ... of another rotation differs at its ends alone.

    Args:
        letters: the number of letters, at least 1.
        limit: the largest number of letters of all words together, at least 0.
    """
    most = min(max(PERIODIC, letters), max(limit // SHORTEST - RANDOM, 1))
    periods: list[tuple[int, ...]] = []
    for size in count(1):
        # one letter has no other words
        if len(periods) >= most or (letters == 1 and size > 1):
            break
        for v in product(range(letters), repeat=size):
            if len(periods) < most and all(v < v[i:] + v[:i] for i in range(1, size)):
                periods.append(v)
    length = limit // (len(periods) + RANDOM)
    draw = np.random.default_rng(0)
    words = [np.resize(np.array(v, dtype=np.int64), length) for v in periods]
    words += [draw.integers(0, letters, length) for _ in range(RANDOM)]
    return TrialWords(np.stack(words), (*periods, *[None] * RANDOM))


def try_words(machine: Any, automaton: Automaton, limit: int, clock: Clock) -> WrongWord | None:
    """A word after which the model's answer is wrong, if one of the words is.

    Args:
        machine: what the search of the states runs.
        automaton: the automaton.
        limit: the largest number of letters of all words together; 0 for no words.
        clock: called before each letter; what it raises ends the trial.
    """
    if not automaton.letters:
        return None
    words = trial_words(len(automaton.letters), limit)
    if not words.letters.size:
        return None
    states = _follow(automaton, words.letters)
    approximate, found = _candidates(machine, words, states, clock)
    for w, t in found:
        period = words.periods[w]
        if not approximate:
            return WrongWord(tuple(words.letters[w, : t + 1].tolist()), period)
        wrong = first_wrong_answer(machine, automaton, words.letters[w, : t + 1 + SLACK].tolist(), clock)
        if wrong is not None:
            at, answered, right = wrong
            return WrongWord(tuple(words.letters[w, :at].tolist()), period, answered, right)
    return None


def _candidates(
    machine: Any, words: TrialWords, states: Indices, clock: Clock
) -> tuple[bool, list[tuple[int, int]]]:
    """Words and places where an answer seems to be wrong, first ones first; and whether it is by an approximation."""
    stepper = getattr(machine, "stepper", None)
    if isinstance(stepper, ExactNpzStepper):
        arithmetic = PerStep(FORMATS["fp64"])
        proxy = LinearMachine(
            [stepper.model.head(arithmetic)],
            arithmetic,
            stepper.model.reader(machine.answers),
            machine.answers,
        )
        return True, _follow_machine(proxy, words.letters, states, clock)
    if isinstance(machine, StepperMachine):
        if machine.numbers_states:  # a table of exact states, which is followed to its end
            return False, []
        # a stepper of the caller's own code promises no such method
        read = None if isinstance(stepper, GuardedStepper) else getattr(stepper, "read_words", None)
        if read is not None:
            return True, _read_words(machine, read, words.letters, states, clock)
        return machine.one_by_one, _follow_machine(machine, words.letters, states, clock)
    return False, _follow_machine(machine, words.letters, states, clock)


def _follow(automaton: Automaton, letters: Indices) -> Indices:
    """The automaton's states before each letter and after the last, `[words, length + 1]`."""
    states = np.empty((len(letters), letters.shape[1] + 1), dtype=np.int64)
    states[:, 0] = automaton.start
    for t, x in enumerate(letters.T):
        states[:, t + 1] = automaton.transitions[x, states[:, t]]
    return states


def _follow_machine(machine: Any, letters: Indices, states: Indices, clock: Clock) -> list[tuple[int, int]]:
    """All words side by side, one letter after another, up to the first wrong answer."""
    words, length = letters.shape
    rows: NDArray[np.unsignedinteger] = np.repeat(machine.initial(), words, axis=0)
    for first in range(0, length, BLOCK):
        part = letters[:, first : first + BLOCK]
        after = []
        for x in part.T:
            clock()
            rows = machine.step_each(rows, x)
            after.append(rows)
        # letter by letter, so that the first wrong place is the first in time
        size = part.shape[1]
        before, behind = states[:, first : first + size], states[:, first + 1 : first + 1 + size]
        wrong = machine.first_wrong(np.concatenate(after), part.T.ravel(), before.T.ravel(), behind.T.ravel())
        if wrong >= 0:
            return [(wrong % words, first + wrong // words)]
    return []


def _read_words(
    machine: StepperMachine,
    read: Callable[[Indices], Iterable[Indices]],
    letters: Indices,
    states: Indices,
    clock: Clock,
) -> list[tuple[int, int]]:
    """Whole words by the stepper's own forward code, up to the first part in which answers are wrong; first wrong ones first."""
    answers, first = machine.answers, 0
    clock()
    for said in read(letters):
        end = first + said.shape[1]
        before, behind = states[:, first:end], states[:, first + 1 : end + 1]
        right = answers.right(letters[:, first:end].ravel(), before.ravel(), behind.ravel())
        wrong = answers.of_states(said) != right.reshape(said.shape)
        places = [(first + int(np.argmax(row)), w) for w, row in enumerate(wrong) if row.any()]
        if places:
            return [(w, t) for t, w in sorted(places)[:CANDIDATES]]
        first = end
        clock()
    return []
