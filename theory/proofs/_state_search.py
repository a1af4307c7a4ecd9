"""Explicit-state model checking: all pairs (state of the model, state of the automaton) that words reach.

Breadth first, so the word of the first wrong answer is a shortest one. When no new pair is found, the pairs are
closed under all letters: by induction every word ends in one of them, and the answer after every word is right.

Every answer that a word gets is looked at. Where it depends on the pair alone, that is once a pair, when a word
first leads to it. The first pair is the one that is in the table before any word leads to it, so it is looked at when
a word comes back to it (`with_start`).

What has been seen is kept as nodes in the order found, each with the node and letter that it was found from. A node is
a row of 64-bit words: the state's bits, and the automaton's state in the last 32 bits. Rows are found again through a
64-bit hash and then compared word by word, so a collision is noticed; the hash is then changed.

Where one letter moves the state and the others keep it, there is one new state a step, and nothing can be computed side
by side. Such a chain is followed by guesses: the states ahead are guessed by plain float arithmetic, one after another,
and all guesses are verified side by side by the machine's own step. Each guess must be, bit for bit, the step of the one
before, which proves them by induction. Where one is not, the true state takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions.algebra.monoids._generation import KeyIndex
from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._interrupting import take_interrupt
from ..arithmetic._rounding import FloatFormat, Floats

AHEAD = 1 << 15


def chain_letter(machine: Machine, transitions: Indices) -> int | None:
    """The one letter that moves anything, where all others keep the model's and the automaton's states."""
    identity = np.arange(transitions.shape[1])
    kept = [
        idle and np.array_equal(row, identity) for idle, row in zip(machine.idle, transitions, strict=True)
    ]
    # an answer that depends on the letter would have to be looked at for the other letters too
    if machine.reads_letters or len(kept) - sum(kept) != 1:
        return None
    return kept.index(False)


def advance_chain(search: StateSearch, letter: int, limit: int) -> tuple[bool, tuple[int, ...] | None]:
    """Follows the chain up to `limit` states further: whether it could, and the word of a wrong answer.

    The frontier is one state, the last one found. The other letters keep every pair; the answers that they get are
    those of the pair itself, which is looked at when it is found, the first one before the first step.
    """
    place, store, form, machine = search.place, search.store, search.form, search.machine
    last = store.words[place.done : place.done + 1]
    idle = [x for x in range(len(machine.idle)) if x != letter]
    # an idle letter leads the first pair back to itself, so the word of that letter alone asks for its answer
    if idle and not search.start_is_read:
        search.start_is_read = True
        start = form.states(store.words[:1])
        if machine.first_wrong(form.rows(store.words[:1]), np.array(idle[:1]), start, start) >= 0:
            return True, (idle[0],)
    length = min(search.ahead, limit)
    rows = _ahead(machine, form.rows(last), letter, length)
    if rows is None:
        return False, None
    # twice as many next time while all guesses hold, else twice as many as held
    search.ahead = min(2 * search.ahead, AHEAD) if len(rows) == length else max(2 * len(rows), 64)
    states = _orbit(search.automaton.transitions[letter], int(form.states(last)[0]), len(rows))
    words = form.pack(rows, states)
    # node k + 1 of a chain is found from node k
    parents = np.arange(place.done, place.done + len(rows), dtype=np.int32)
    letters = np.full(len(rows), letter, dtype=np.int32)
    unread = store.add(words, parents, letters)
    new = len(unread)  # the first ones: after a state met before come such states
    unread = search.with_start(words[: new + 1], unread)  # what is met again first may be the start
    # the automaton's states before each letter
    before = np.concatenate([form.states(last), states[:-1]])
    wrong = machine.first_wrong(
        rows[unread], letters[unread].astype(np.int64), before[unread], states[unread]
    )
    if wrong >= 0:
        return True, (*store.word(place.done), *[letter] * (int(unread[wrong]) + 1))
    search.count_chain(new, closed=new < len(rows))
    return True, None


def _ahead(machine: Machine, row: Rows, letter: int, length: int) -> Rows | None:
    """The true states after 1, 2, ... letters, as many as were guessed rightly and one more."""
    guesses = machine.guess(row, letter, length)
    if guesses is None:
        return None
    before = np.concatenate([row, guesses[:-1]])
    after = machine.step(before, letter)
    # while the guesses before are right, so is the true step from the last of them: one more than was guessed
    # a guess is verified where it is, bit for bit, the step
    # of the guess before; the first that is not ends the run
    missed = np.flatnonzero((after != guesses).any(axis=1))
    return after[: missed[0] + 1] if missed.size else after


def _orbit(image: Indices, state: int, length: int) -> Indices:
    """The states after 1, ..., `length` letters: a path, then a cycle over and over."""
    # found[t] is the state after t letters, `place` the t of each state
    found, place = [state], {state: 0}
    while (state := int(image[state])) not in place:
        place[state] = len(found)
        found.append(state)
    times = np.arange(1, length + 1)
    # from `first` on, the states repeat with the period
    first, period = place[state], len(found) - place[state]
    return np.array(found)[np.where(times < first, times, first + (times - first) % period)]


def guess_pairs(A: Floats, b: Floats, h: Floats, fmt: FloatFormat, length: int) -> Floats:
    """h ← rnd(A h + b) in two dimensions, `[length, 2]`; ties, overflow and underflow may come out wrong."""
    (p, q), (r, s) = A.tolist()
    (x, y), (e, f) = h.tolist(), b.tolist()
    # in float64, of 53 bits, K = 2^s + 1 with s = 53 - precision splits off the format's bits
    K = 2.0 ** (53 - fmt.precision) + 1  # Veltkamp: rounds to the format's bits
    # [[p, -r], [r, p]] is multiplication by p + ri
    if p == s and q == -r and e == f == 0:
        return _guess_rotations(complex(p, r), complex(x, y), complex(K), length)
    xs, ys = [0.0] * length, [0.0] * length
    for i in range(length):
        u = p * x + q * y + e
        v = r * x + s * y + f
        # Veltkamp's splitting: with K = 2^s + 1 the float64 t - (t - u) is u rounded to 53 - s bits
        t = u * K
        xs[i] = x = t - (t - u)
        t = v * K
        ys[i] = y = t - (t - v)
    return np.stack([np.array(xs), np.array(ys)], axis=1)


def _guess_rotations(a: complex, z: complex, K: complex, length: int) -> Floats:
    """The same for multiples of rotations, which complex numbers do in half the time."""
    zs = [z] * length
    for i in range(length):
        u = a * z
        t = u * K
        zs[i] = z = t - (t - u)
    return np.array(zs).view(np.float64).reshape(length, 2)


Words = NDArray[np.uint64]
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class NodeForm:
    """How states `[nodes, entries]` of a narrow unsigned type and automaton states lie in rows of words."""

    def __init__(self, dtype: np.dtype[np.unsignedinteger], entries: int) -> None:
        self.dtype, self.entries = dtype, entries
        # the state's bytes and four for the automaton's state, in whole words of eight
        self.width = (entries * dtype.itemsize + 4 + 7) // 8

    def pack(self, rows: NDArray[np.unsignedinteger], states: Indices) -> Words:
        """Nodes `[nodes, width]`; unused bits are zero."""
        words = np.zeros((len(rows), self.width), dtype=np.uint64)
        words.view(self.dtype)[:, : self.entries] = rows
        words.view(np.uint32)[:, -1] = states
        return words

    def rows(self, words: Words) -> NDArray[np.unsignedinteger]:
        """The states' bits `[nodes, entries]`."""
        return words.view(self.dtype)[:, : self.entries]

    def states(self, words: Words) -> Indices:
        """The automaton's states `[nodes]`."""
        return words.view(np.uint32)[:, -1].astype(np.int64)


class NodeStore:
    """Nodes by number; `parents` and `letters` tell how each was first found (-1 for the first)."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self._words: Words = np.zeros((1024, width), dtype=np.uint64)
        self._parents = np.zeros(1024, dtype=np.int32)
        self._letters = np.zeros(1024, dtype=np.int32)
        self._seed = np.uint64(0)
        self._index = KeyIndex()

    @property
    def words(self) -> Words:
        """The nodes `[count, width]`."""
        return self._words[: self.count]

    @property
    def parents(self) -> NDArray[np.int32]:
        """The node from which each was found."""
        return self._parents[: self.count]

    @property
    def letters(self) -> NDArray[np.int32]:
        """The letter by which each was found."""
        return self._letters[: self.count]

    def add(self, words: Words, parents: NDArray[np.int32], letters: NDArray[np.int32]) -> Indices:
        """Numbers the rows that are new, each once, in their order; gives their places among the given rows."""
        # two different rows of one hash: another hash, until there are none
        while (places := self._new(words)) is None:
            self._rehash()
        first, self.count = self.count, self.count + len(places)
        if self.count > len(self._words):
            size = max(2 * len(self._words), self.count)
            self._words = _grow_array(self._words, first, size)
            self._parents = _grow_array(self._parents, first, size)
            self._letters = _grow_array(self._letters, first, size)
        self._words[first : self.count] = words[places]
        self._parents[first : self.count] = parents[places]
        self._letters[first : self.count] = letters[places]
        return places

    def word(self, node: int) -> tuple[int, ...]:
        """The letters by which a node was found."""
        word: list[int] = []
        # the first node has no parent
        while self._parents[node] >= 0:
            word.append(int(self._letters[node]))
            node = int(self._parents[node])
        return tuple(reversed(word))

    def _new(self, words: Words) -> Indices | None:
        """Places of the first row of each new kind; None where two different rows have one hash."""
        keys = self._hash(words)
        # equal hashes of different rows are told apart by the rows themselves; the caller then hashes anew
        found = self._index.find(keys)
        known = np.flatnonzero(found >= 0)
        if (self._words[found[known]] != words[known]).any():
            return None
        # the rest is new to the table, but may stand among the given rows twice
        unknown = np.flatnonzero(found < 0)
        if not unknown.size:
            return unknown
        places: Indices = unknown
        ordered = np.sort(keys[unknown])
        if (ordered[1:] == ordered[:-1]).any():
            # of equal hashes the first row stands for all, if the rows are equal too
            _, first, inverse = np.unique(keys[unknown], return_index=True, return_inverse=True)
            if (words[unknown] != words[unknown[first[inverse]]]).any():
                return None
            # in the order given, so that numbering does not depend on hashes
            places = unknown[np.sort(first)]
        self._index.add(keys[places])
        return places

    def _hash(self, words: Words) -> Words:
        hashes = np.full(len(words), self._seed, dtype=np.uint64)
        for column in words.T:
            # the finaliser of SplitMix64, with each word mixed in before it
            hashes ^= column
            for shift, factor in zip((30, 27), _MIX, strict=True):
                hashes ^= hashes >> np.uint64(shift)
                hashes *= factor
            hashes ^= hashes >> np.uint64(31)
        return hashes

    def _rehash(self) -> None:
        """Another hash function, for all nodes (never met but by construction)."""
        # 2^64 divided by the golden ratio, odd, so every seed is met before one returns
        self._seed += np.uint64(0x9E3779B97F4A7C15)
        self._index = KeyIndex()
        keys = self._hash(self.words)
        if len(np.unique(keys)) < len(keys):
            self._rehash()
        else:
            self._index.add(keys)


def _grow_array(array: NDArray, count: int, size: int) -> NDArray:  # type: ignore[type-arg]
    result = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    result[:count] = array[:count]
    return result


Rows = NDArray[np.unsignedinteger]
Progress = Callable[[int, int], None]
"""Called with the states found and the length up to which all words are right."""
INTERRUPTED = "interrupted"
"""Why a search ended that Ctrl-C has stopped."""
CANDIDATES = 1 << 17
"""Successors computed at once, where a machine does not say `at_once`."""
PIECE = 1 << 12
"""Of them so many between two looks at the clock."""


class OutOfTimeError(Exception):
    """The time for a verdict is over; `done` of `count` pairs were stepped again."""

    def __init__(self, done: int = 0, count: int = 0) -> None:
        super().__init__(done, count)
        self.done, self.count = done, count


class Machine(Protocol):
    """A model whose states are rows of bits, with the answers that are expected of it."""

    @property
    def form(self) -> NodeForm: ...
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
    """`verdict`; the place reached; of a counterexample the word, of an interrupted search why it ended.

    `tried`: what `run` was given as `trial` has found, in place of a shortest word.
    """

    verdict: Literal["equivalent", "counterexample", "unknown"]
    place: Place
    word: tuple[int, ...] | None = None
    stopped: str = ""
    tried: Any = None


class StateSearch:
    """A search that can be stopped, saved and gone on with; `run` ends with an outcome.

    `ahead`: how many states of a chain are guessed next (`state_search_chain`).
    """

    def __init__(self, machine: Machine, automaton: Automaton) -> None:
        self.machine, self.automaton = machine, automaton
        self.form = machine.form
        self.store = NodeStore(self.form.width)
        first = self.form.pack(machine.initial(), np.array([automaton.start]))
        self.store.add(first, np.array([-1], dtype=np.int32), np.array([-1], dtype=np.int32))
        # one node, not followed; the level of the empty word ends with it
        self.place = Place(1, 0, 1, 0, 0)
        self.start_is_read = False
        """Whether a word has led back to the first pair, so that its answer was looked at."""
        self._chain = chain_letter(machine, automaton.transitions)
        self._is_chain = self._chain is not None
        self.ahead = 64
        self.at_once: int = getattr(machine, "at_once", CANDIDATES)
        self._deadline: float | None = None

    def run(
        self,
        *,
        max_states: int,
        max_seconds: float | None = None,
        progress: Progress | None = None,
        save: Callable[[StateSearch], None] | None = None,
        save_every: float = 60.0,
        began: float | None = None,
        trial: Callable[[Callable[[], None]], Any] | None = None,
    ) -> Outcome:
        """Until closed, refuted, or stopped: by a limit or by Ctrl-C, then `unknown` and saved if it can be.

        `began`: the time, of `time.monotonic`, from which `max_seconds` count; None: now.
        `trial`: a function that tries other words, once, when as many steps are followed as the machine takes at once, or at
        the limit `max_states`; a chain needs none, for it is one word. It takes the look at the clock, and returns what it
        has found, a counterexample whose word has no need to be a shortest one, or None.
        """
        told, read = time.monotonic(), self.start_is_read
        saved = told
        self._deadline = None if max_seconds is None else (told if began is None else began) + max_seconds
        try:
            # invariant: every letter of the first `done` nodes leads to
            # a node in the store, and all answers on the way were right
            while self.place.done < self.place.count:
                full = self.place.count >= max_states
                if trial is not None and not self._is_chain and (full or self.place.steps >= self.at_once):
                    tried, trial = trial(self._look_at_clock), None
                    if tried is not None:
                        return Outcome("counterexample", self.place, tried=tried)
                if full:
                    return self._stop(f"`max_states` {max_states:,} reached", save)
                self._look_at_clock()
                now = time.monotonic()
                if progress is not None and now - told > 1:
                    progress(self.place.count, self.place.depth)
                    told = now
                if save is not None and now - saved > save_every:
                    save(self)
                    saved = time.monotonic()
                read = self.start_is_read
                word = self._advance(max_states)
                if word is not None:
                    # a counterexample counts what was seen, followed or not
                    self.place = replace(self.place, count=self.store.count)
                    return Outcome("counterexample", self.place, word)
        except OutOfTimeError:
            self.start_is_read = read  # what a piece that does not count has looked at does not count
            return self._stop(f"`max_seconds` {max_seconds:g} reached", save)
        except KeyboardInterrupt:
            take_interrupt()
            self.start_is_read = read
            return self._stop(INTERRUPTED, save)
        return Outcome("equivalent", self.place)

    def _look_at_clock(self) -> None:
        """`OutOfTimeError` once the time is over; what was begun since the last place does not count then."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTimeError

    def _step(self, rows: Rows, letter: int) -> Rows:
        parts = []
        for first in range(0, len(rows), PIECE):
            self._look_at_clock()
            parts.append(self.machine.step(rows[first : first + PIECE], letter))
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def _stop(self, why: str, save: Callable[[StateSearch], None] | None) -> Outcome:
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
        most = min(self.at_once, max_states - place.count)
        # nodes of one level alone, so that the first wrong word found is a shortest one
        stop = min(place.level_end, place.done + max(most // max(letters, 1), 1))
        nodes = self.store.words[place.done : stop]
        states, rows = self.form.states(nodes), self.form.rows(nodes)
        parents = np.arange(place.done, stop, dtype=np.int32)
        parts: list[Words] = []
        sources: list[NDArray[np.int32]] = []
        for x in range(letters):
            after = delta[x, states]
            if self.machine.idle[x] and not self.machine.reads_letters:
                # elsewhere an idle letter leads back to the pair itself;
                # at the first node that is how its answer is asked for
                moved = np.flatnonzero(
                    (after != states) | (parents == 0)
                )  # the others' pairs are known and read
                parts.append(self.form.pack(rows[moved], after[moved]))
                sources.append(parents[moved])
                continue
            parts.append(self.form.pack(self._step(rows, x), after))
            sources.append(parents)
        words, source = _join_parts(parts, self.form.width), np.concatenate([parents[:0], *sources])
        letter = np.repeat(np.arange(letters, dtype=np.int32), [len(s) for s in sources])
        # answers that depend on the letter are looked at for
        # every step, also for those that lead to known pairs
        if self.machine.reads_letters:
            before = self.form.states(self.store.words)[source]
            wrong = self._wrong(words, letter, before)
            if wrong >= 0:
                return (*self.store.word(int(source[wrong])), int(letter[wrong]))
        unread = self.store.add(words, source, letter)
        if not self.machine.reads_letters:
            # answers of a pair are looked at once, when it is found
            unread = self.with_start(words, unread)
            before = self.form.states(self.store.words[source[unread]])
            wrong = self._wrong(words[unread], letter[unread], before)
            if wrong >= 0:
                found = unread[wrong]
                return (*self.store.word(int(source[found])), int(letter[found]))
        self.place = self._move_place(stop, letters * (stop - place.done))
        return None

    def with_start(self, words: Words, unread: Indices) -> Indices:
        """The places among pairs `[pairs, width]` whose answers are to be looked at: also the first return to the start.

        `unread`: the places of the pairs that no word had led to before.
        """
        if self.start_is_read:
            return unread
        # only the first return to the start needs a look
        back = np.flatnonzero((words == self.store.words[:1]).all(axis=1))[:1]
        self.start_is_read = bool(back.size)
        return np.sort(np.concatenate([unread, back]))

    def count_chain(self, new: int, *, closed: bool) -> None:
        """Counts states of a chain that were found; `closed`: the step after the last leads to a known state."""
        place, letters = self.place, len(self.automaton.transitions)
        # the step that closes the chain was followed too, and found nothing new
        followed = new + closed
        # every state of a chain is a level of its own
        self.place = Place(
            place.count + new, place.done + followed, place.count + new, place.depth + followed,
            place.steps + letters * followed,
        )  # fmt: skip

    def _wrong(self, words: Words, letters: NDArray[np.int32], before: Indices) -> int:
        rows, after, read = self.form.rows(words), self.form.states(words), letters.astype(np.int64)
        for first in range(0, len(words), PIECE):
            self._look_at_clock()
            here = slice(first, first + PIECE)
            wrong = self.machine.first_wrong(rows[here], read[here], before[here], after[here])
            if wrong >= 0:
                return first + wrong
        return -1

    def _move_place(self, done: int, steps: int) -> Place:
        place = replace(self.place, count=self.store.count, done=done, steps=self.place.steps + steps)
        # the level is followed: words one letter longer are right, and what was found since is the next level
        if done == place.level_end:
            place = replace(place, depth=place.depth + 1, level_end=place.count)
        return place


def _join_parts(parts: list[Any], width: int) -> Words:
    return np.concatenate(parts) if parts else np.zeros((0, width), dtype=np.uint64)
