"""Explicit-state model checking: all pairs (state of the model, state of the automaton) that words reach.

Breadth first, so the word of the first wrong answer is a shortest one. When no new pair is found, the pairs are
closed under all letters: by induction every word ends in one of them, and the answer after every word is right.

Every answer that a word gets is looked at. Where it depends on the pair alone, that is once a pair, when a word
first leads to it. The first pair is the one that is in the table before any word leads to it, so it is looked at when
a word comes back to it (`with_start`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Automaton, Indices
from .state_search_chain import advance_chain, chain_letter
from .state_search_store import NodeForm, NodeStore, Words

Rows = NDArray[np.unsignedinteger]
Progress = Callable[[int, int], None]
"""Called with the states found and the length up to which all words are right."""
INTERRUPTED = "interrupted"
"""Why a search ended that Ctrl-C has stopped."""
CANDIDATES = 1 << 17
"""Successors computed at once."""


class Machine(Protocol):
    """A model whose states are rows of bits, with the answers that are expected of it."""

    @property
    def form(self) -> NodeForm: ...  # noqa: D102
    @property
    def reads_letters(self) -> bool:
        """True where the answer, or the right one, depends on the last letter or on the automaton's state before."""
        ...

    @property
    def idle(self) -> tuple[bool, ...]:
        """The letters that keep every state, bit for bit."""
        ...

    def initial(self) -> Rows:
        """The state before the first token `[1, entries]`."""
        ...

    def step(self, rows: Rows, letter: int) -> Rows:
        """The states after a letter."""
        ...

    def guess(self, row: Rows, letter: int, length: int) -> Rows | None:
        """States after 1, ..., `length` such letters from one state, perhaps wrong ones; None if it cannot."""
        ...

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the answer read from states is not the right one, or -1.

        `letters`: those just read; `before`, `after`: the automaton's states.
        """
        ...


@dataclass(frozen=True)
class Place:
    """How far a search has come: `count` nodes found, `done` of them followed, `level_end` where the level ends.

    `depth`: all words up to this length are answered rightly. `steps`: (node, letter) pairs followed.
    """

    count: int
    done: int
    level_end: int
    depth: int
    steps: int


@dataclass(frozen=True)
class Outcome:
    """`verdict`; the place reached; of a counterexample the word, of an interrupted search why it ended."""

    verdict: Literal["equivalent", "counterexample", "unknown"]
    place: Place
    word: tuple[int, ...] | None = None
    stopped: str = ""


class StateSearch:
    """A search that can be stopped, saved and gone on with; `run` ends with an outcome.

    `ahead`: how many states of a chain are guessed next (`state_search_chain`).
    """

    def __init__(self, machine: Machine, automaton: Automaton) -> None:
        self.machine, self.automaton = machine, automaton
        self.form = machine.form
        self.store = NodeStore(self.form.width)
        first = self.form.packed(machine.initial(), np.array([automaton.start]))
        self.store.add(first, np.array([-1], dtype=np.int32), np.array([-1], dtype=np.int32))
        self.place = Place(1, 0, 1, 0, 0)
        self.start_is_read = False
        """Whether a word has led back to the first pair, so that its answer was looked at."""
        self._chain = chain_letter(machine, automaton.transitions)
        self.ahead = 64

    def run(
        self,
        *,
        max_states: int,
        max_seconds: float | None = None,
        progress: Progress | None = None,
        save: Callable[[StateSearch], None] | None = None,
        save_every: float = 60.0,
    ) -> Outcome:
        """Until closed, refuted, or stopped: by a limit or by Ctrl-C, then `unknown` and saved if it can be."""
        began = told = saved = time.monotonic()
        try:
            while self.place.done < self.place.count:
                if self.place.count >= max_states:
                    return self._stopped(f"--max-states {max_states:,} reached", save)
                now = time.monotonic()
                if max_seconds is not None and now - began > max_seconds:
                    return self._stopped(f"--max-seconds {max_seconds:g} reached", save)
                if progress is not None and now - told > 1:
                    progress(self.place.count, self.place.depth)
                    told = now
                if save is not None and now - saved > save_every:
                    save(self)
                    saved = time.monotonic()
                word = self._advance(max_states)
                if word is not None:
                    self.place = replace(self.place, count=self.store.count)
                    return Outcome("counterexample", self.place, word)
        except KeyboardInterrupt:
            return self._stopped(INTERRUPTED, save)
        return Outcome("equivalent", self.place)

    def _stopped(self, why: str, save: Callable[[StateSearch], None] | None) -> Outcome:
        if save is not None:
            save(self)
        return Outcome("unknown", self.place, stopped=why)

    def _advance(self, max_states: int) -> tuple[int, ...] | None:
        """Follows all letters from some nodes of one level; the word of a wrong answer if there is one.

        `place` changes in one assignment at the end, so that what an interruption leaves half done does not count.
        """
        place, delta = self.place, self.automaton.transitions
        letters = len(delta)
        if self._chain is not None:
            could, word = advance_chain(self, self._chain, max_states - place.count)
            if could:
                return word
            self._chain = None
        most = min(CANDIDATES, max_states - place.count)
        stop = min(place.level_end, place.done + max(most // max(letters, 1), 1))
        nodes = self.store.words[place.done : stop]
        states, rows = self.form.states(nodes), self.form.rows(nodes)
        parents = np.arange(place.done, stop, dtype=np.int32)
        parts: list[Words] = []
        sources: list[NDArray[np.int32]] = []
        for x in range(letters):
            after = delta[x, states]
            if self.machine.idle[x] and not self.machine.reads_letters:
                moved = np.flatnonzero(
                    (after != states) | (parents == 0)
                )  # the others' pairs are known and read
                parts.append(self.form.packed(rows[moved], after[moved]))
                sources.append(parents[moved])
                continue
            parts.append(self.form.packed(self.machine.step(rows, x), after))
            sources.append(parents)
        words, source = _joined(parts, self.form.width), np.concatenate([parents[:0], *sources])
        letter = np.repeat(np.arange(letters, dtype=np.int32), [len(s) for s in sources])
        if self.machine.reads_letters:
            before = self.form.states(self.store.words)[source]
            wrong = self._wrong(words, letter, before)
            if wrong >= 0:
                return (*self.store.word(int(source[wrong])), int(letter[wrong]))
        unread = self.store.add(words, source, letter)
        if not self.machine.reads_letters:
            unread = self.with_start(words, unread)
            before = self.form.states(self.store.words[source[unread]])
            wrong = self._wrong(words[unread], letter[unread], before)
            if wrong >= 0:
                found = unread[wrong]
                return (*self.store.word(int(source[found])), int(letter[found]))
        self.place = self._placed(stop, letters * (stop - place.done))
        return None

    def with_start(self, words: Words, unread: Indices) -> Indices:
        """The places among pairs `[pairs, width]` whose answers are to be looked at: also the first return to the start.

        `unread`: the places of the pairs that no word had led to before.
        """
        if self.start_is_read:
            return unread
        back = np.flatnonzero((words == self.store.words[:1]).all(axis=1))[:1]
        self.start_is_read = bool(back.size)
        return np.sort(np.concatenate([unread, back]))

    def chained(self, new: int, *, closed: bool) -> None:
        """Counts states of a chain that were found; `closed`: the step after the last leads to a known state."""
        place, letters = self.place, len(self.automaton.transitions)
        followed = new + closed
        self.place = Place(
            place.count + new, place.done + followed, place.count + new, place.depth + followed,
            place.steps + letters * followed,
        )  # fmt: skip

    def _wrong(self, words: Words, letters: NDArray[np.int32], before: Indices) -> int:
        if not len(words):
            return -1
        rows, after = self.form.rows(words), self.form.states(words)
        return self.machine.first_wrong(rows, letters.astype(np.int64), before, after)

    def _placed(self, done: int, steps: int) -> Place:
        place = replace(self.place, count=self.store.count, done=done, steps=self.place.steps + steps)
        if done == place.level_end:
            place = replace(place, depth=place.depth + 1, level_end=place.count)
        return place


def _joined(parts: list[Any], width: int) -> Words:
    return np.concatenate(parts) if parts else np.zeros((0, width), dtype=np.uint64)
