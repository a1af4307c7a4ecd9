"""`Automaton`: a complete, deterministic, immutable automaton with the user's own labels, and when two say the same.

Conventions: a word is read left to right, and `transitions[x, q]` is the state reached from `q` by letter `x`.
`minimise` merges states by their outputs (Moore's refinement), and `separating_word` tells two automata apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...foundation._arguments import (
    require_choice,
    require_count,
    require_flag,
    require_list,
    require_name,
    show_value,
)
from ...foundation._errors import InputError
from ...foundation._files import path_of
from ...foundation._text import count_noun
from ._completing import complete, index_table, label_problems, object_array, type_and_value
from ._refining import refine_partition
from ._written_word import read_word

Label = Hashable
"""The name of a state or a letter: any hashable value that equals itself."""
Indices = NDArray[np.int64]
Outputs = NDArray[np.object_]
Track = Literal["state", "output"]
TRACKS: tuple[Track, ...] = ("state", "output")


@dataclass(frozen=True, eq=False, repr=False)
class Automaton:
    """A complete deterministic automaton with outputs.

    Raises `InputError` with a message that names everything that is wrong. See `Automaton.from_transitions` for partial input.

    Attributes:
        states: distinct hashable labels, in a fixed order.
        letters: distinct hashable labels, in a fixed order.
        transitions: int array `[letters, states]`; the entries are indices of states.
        start: index of the start state.
        outputs: object array `[states]` (acceptance as `bool`, or Moore outputs) or `[letters, states]`
            (Mealy: the output belongs to the letter just read and the state before it).
        name: its name in texts and error messages.
        keeps_points: whether unreachable states were kept on purpose, as for a transformation semigroup on given
            points; a construction is then right from every start state.
        notes: sentences that say what was changed when the automaton was read (completed, dropped, determinised).
    """

    states: tuple[Label, ...]
    letters: tuple[Label, ...]
    transitions: Indices
    start: int
    outputs: Outputs
    name: str = "automaton"
    keeps_points: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_name("name", self.name)
        keeps_points = require_flag("keeps_points", self.keeps_points)
        states = tuple(require_list("states", self.states, "a list of states", texts=True))
        letters = tuple(require_list("letters", self.letters, "a list of letters", texts=True))
        problems = label_problems(states, "state") + label_problems(letters, "letter")
        n, k = len(states), len(letters)
        if n == 0:
            problems.append("there are no states")
        table = index_table(self.transitions, self.name)
        start = require_count("start", self.start, 0)
        if k == 0 and table.size == 0:
            table = table.reshape(0, n)
        if isinstance(self.outputs, np.ndarray):
            outputs = self.outputs.astype(object)
        else:
            outputs = object_array(require_list("outputs", self.outputs, "an array of outputs"))
        if table.shape != (k, n):
            problems.append(f"transitions have shape {table.shape}; expected [letters, states] = ({k}, {n})")
        elif table.size and (table.min() < 0 or table.max() >= n):
            x, q = (int(i) for i in np.argwhere((table < 0) | (table >= n))[0])
            problems.append(
                f"letter {letters[x]!r} sends state {states[q]!r} to index {int(table[x, q])}, not a state"
            )
        if n and start >= n:
            problems.append(f"start index {start} is not a state")
        if outputs.shape not in ((n,), (k, n)):
            problems.append(
                f"outputs have shape {outputs.shape}; expected ({n},) or, for a Mealy machine, ({k}, {n})"
            )
        if problems:
            raise InputError(f"{self.name}: " + "; ".join(problems))
        table.setflags(write=False)
        outputs.setflags(write=False)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "transitions", table)
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "keeps_points", keeps_points)

    @classmethod
    def from_transitions(
        cls,
        transitions: Mapping[Any, Any] | Iterable[tuple[Label, Label, Label]],
        *,
        start: Label,
        letters: Sequence[Label] | None = None,
        states: Sequence[Label] | None = None,
        accepting: Iterable[Label] | None = None,
        outputs: Mapping[Label, Any] | None = None,
        mealy: Mapping[Label, Mapping[Label, Any]] | None = None,
        name: str = "automaton",
        track: Track = "state",
    ) -> Automaton:
        """Build a complete automaton from `{state: {letter: next state}}`, which may be partial.

        The arguments, errors and rules are those of `build`.

        Args:
            transitions: the next state for each state and letter, also as `{(state, letter): next state}` or as triples
                `(state, letter, next state)`. Missing transitions lead to one new state, a sink.
            start: label of the start state.
            letters: the alphabet in its order; None for the letters as they first appear in `transitions`.
            states: the states in their order; None: as they first appear in `transitions`.
            accepting: labels of the accepting states. At most one of `accepting`, `outputs` and `mealy` is
                given; without them, each state is its own output.
            outputs: the output of each state (a Moore machine).
            mealy: the output for each state and letter (a Mealy machine).
            name: the automaton's name, with which error messages begin.
            track: `state` keeps every reachable state, `output` minimises by outputs.

        Examples:
            >>> rows = {"even": {"a": "odd"}, "odd": {"a": "even"}}
            >>> Automaton.from_transitions(rows, start="even", name="parity")
            <Automaton 'parity': 2 states, 1 letter, start 'even'>
        """
        return build(
            transitions,
            start=start,
            letters=letters,
            states=states,
            accepting=accepting,
            outputs=outputs,
            mealy=mealy,
            name=name,
            track=track,
        )

    def __repr__(self) -> str:
        """One line: the name, the sizes and the kind of outputs."""
        kind = ", Mealy outputs" if self.is_mealy else ""
        sizes = f"{count_noun(len(self.states), 'state')}, {count_noun(len(self.letters), 'letter')}"
        return f"<Automaton {self.name!r:.60}: {sizes}, start {self.states[self.start]!r:.40}{kind}>"

    @cached_property
    def outputs_follow_states(self) -> bool:
        """Whether each output follows from the letter and the state *after* it; some Mealy machines need the state before."""
        if not self.is_mealy:
            return True
        seen: dict[tuple[int, int], object] = {}
        for x, (row, outputs) in enumerate(zip(self.transitions.tolist(), self.outputs, strict=True)):
            for after, output in zip(row, outputs, strict=True):
                if seen.setdefault((x, after), output) != output:
                    return False
        return True

    @property
    def is_mealy(self) -> bool:
        """Whether the output depends on the letter just read and the state before it."""
        return self.outputs.ndim == 2

    @cached_property
    def is_permutation(self) -> bool:
        """Whether every letter permutes the states; the transition monoid is then a group."""
        return self.find_merged_pair() is None

    def find_merged_pair(self) -> tuple[int, int, int] | None:
        """Indices `(letter, state, state)` of a letter and two states that it merges; None for a group automaton."""
        n = len(self.states)
        reached = np.empty(n, dtype=bool)
        for x, row in enumerate(self.transitions):
            reached[:] = False
            reached[row] = True
            if not reached.all():
                order = np.argsort(row, kind="stable")
                at = int(np.flatnonzero(row[order[1:]] == row[order[:-1]])[0])
                return x, int(order[at]), int(order[at + 1])
        return None

    @cached_property
    def _letter_indices(self) -> dict[Label, int]:
        return {letter: i for i, letter in enumerate(self.letters)}

    @cached_property
    def _state_indices(self) -> dict[Label, int]:
        return {state: i for i, state in enumerate(self.states)}

    def letter_index(self, letter: Label) -> int:
        """Return the index of a letter.

        Args:
            letter: a label of the alphabet.

        Raises:
            InputError: the automaton has no such letter; the message shows the alphabet.
        """
        return _index_of(letter, self._letter_indices, self.name, "letter")

    def state_index(self, state: Label) -> int:
        """Return the index of a state.

        Args:
            state: a label of a state.

        Raises:
            InputError: the automaton has no such state; the message shows the states.
        """
        return _index_of(state, self._state_indices, self.name, "state")

    def word(self, word: str | Iterable[Label]) -> Indices:
        """Convert a word to letter indices.

        Args:
            word: a sequence of T letters; or a string of the letters' texts: single characters in a row, or letters
                separated by blanks, or a JSON list, as described on the page about conventions.

        Returns:
            An int array `[T]` of indices into `letters`.

        Raises:
            InputError: something in the word is not a letter.
        """
        if isinstance(word, str):
            return np.array(
                read_word(word, [str(letter) for letter in self.letters], self.name), dtype=np.int64
            )
        word = require_list("word", word, "a list of letters, or a text")
        return np.array([self.letter_index(x) for x in word], dtype=np.int64)

    def trace(self, letters: ArrayLike, start: int | None = None) -> Indices:
        """Compute the states after each letter, for many words at once.

        Args:
            letters: ints `[..., T]`, indices into `self.letters`; not checked.
            start: index of the state before the first letter, by default the start state.

        Returns:
            Ints `[..., T]`: the index of the state after each letter.
        """
        letters = np.asarray(letters, dtype=np.int64)
        states = np.empty_like(letters)
        current = np.full(letters.shape[:-1], self.start if start is None else start, dtype=np.int64)
        for t in range(letters.shape[-1]):
            current = self.transitions[letters[..., t], current]
            states[..., t] = current
        return states

    def after(self, word: str | Iterable[Label]) -> Label:
        """Return the label of the state that a word reaches from the start; `run` returns the states on the way too.

        Args:
            word: a sequence of letters or a string; see the method `word`.

        Raises:
            InputError: something in the word is not a letter.
        """
        current = self.start
        for x in self.word(word):
            current = int(self.transitions[x, current])
        return self.states[current]

    def output(self, word: str | Iterable[Label]) -> Any:
        """Return the output after a word; for a Mealy machine it is that of the last letter, None for the empty word.

        Args:
            word: a sequence of letters or a string; see the method `word`.

        Raises:
            InputError: something in the word is not a letter.
        """
        indices = self.word(word)
        before, current = self.start, self.start
        for x in indices:
            before, current = current, int(self.transitions[x, current])
        if not self.is_mealy:
            return self.outputs[current]
        return self.outputs[indices[-1], before] if len(indices) else None

    def reachable(self) -> list[int]:
        """The states reachable from the start, in breadth-first order of the letters."""
        return breadth_first(self.transitions, self.start)

    def accepts(self, word: str | Iterable[Label]) -> bool:
        """Decide whether the automaton accepts a word, that is, whether its output after the word is True.

        Args:
            word: a sequence of letters or a string; see the method `word`.

        Raises:
            InputError: the outputs are not accept and reject (use `output` for other outputs), or the word contains something that is not a letter.

        Examples:
            >>> rows = {"even": {"a": "odd"}, "odd": {"a": "even"}}
            >>> Automaton.from_transitions(rows, start="even", accepting=["even"]).accepts("aa")
            True
        """
        if self.is_mealy or not all(isinstance(v, bool | np.bool_) for v in self.outputs):
            raise InputError(
                f"{self.name}: its outputs are not acceptance; `output(word)` gives the output after a word"
            )
        return bool(self.output(word))

    def run(self, word: str | Iterable[Label]) -> tuple[Label, ...]:
        """Return the states on the way through a word: one after each prefix, from the empty prefix to the whole word.

        Args:
            word: T letters or a string; see the method `word`.

        Returns:
            T + 1 states, the start first.

        Raises:
            InputError: the word contains something that is not a letter.

        Examples:
            >>> rows = {"even": {"a": "odd"}, "odd": {"a": "even"}}
            >>> Automaton.from_transitions(rows, start="even").run("aaa")
            ('even', 'odd', 'even', 'odd')
        """
        indices = [self.start, *self.trace(self.word(word)).tolist()]
        return tuple(self.states[q] for q in indices)

    def with_start(self, start: Label) -> Automaton:
        """Return the automaton with another start state; states that become unreachable are dropped, unless they are kept.

        Args:
            start: label of the new start state.

        Raises:
            InputError: there is no such state.
        """
        moved = replace(self, start=self.state_index(start))
        return moved if self.keeps_points else moved.trim()

    def trim(self) -> Automaton:
        """Return the automaton with its reachable states only, in their old order; `notes` names the dropped ones."""
        kept = sorted(self.reachable())
        if len(kept) == len(self.states):
            return self
        new_index = np.full(len(self.states), -1, dtype=np.int64)
        new_index[kept] = np.arange(len(kept))
        dropped = [self.states[q] for q in range(len(self.states)) if new_index[q] < 0]
        shown = ", ".join(repr(q) for q in dropped[:10]) + (", ..." if len(dropped) > 10 else "")
        return replace(
            self,
            states=tuple(self.states[q] for q in kept),
            transitions=new_index[self.transitions[:, kept]],
            start=int(new_index[self.start]),
            outputs=self.outputs[..., kept],
            notes=(
                *self.notes,
                f"dropped {count_noun(len(dropped), 'unreachable state')}: {shown}",
            ),
        )

    def with_notes(self, *notes: str) -> Automaton:
        """Return the automaton with further notes.

        Args:
            notes: sentences that are appended to `notes`.
        """
        return replace(self, notes=(*self.notes, *notes))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the automaton to a file, in the format of its extension: .json, .dot, .jff, .mata, .att, .csv and others.

        The text is parsed again before it is written to disk, so reading the file gives the same automaton.

        Args:
            path: the file; an existing file is replaced.

        Raises:
            InputError: no format with that extension can be written; the format cannot represent the automaton (the message
                says what would be lost); or the file cannot be written.
        """
        from ._format import format_to_write

        write = format_to_write(path).write
        assert write is not None
        write(self, path_of(path))

    def _repr_html_(self) -> str:
        """The transition table, for notebooks."""
        head = "".join(f"<th>{escape(repr(x))}</th>" for x in self.letters)
        rows = []
        for q, state in enumerate(self.states[:200]):
            cells = "".join(f"<td>{escape(repr(self.states[r]))}</td>" for r in self.transitions[:, q])
            mark = "&rarr; " if q == self.start else ""
            rows.append(f"<tr><th>{mark}{escape(repr(state))}</th>{cells}</tr>")
        more = (
            f"<caption>{len(self.states)} states, the first 200 shown</caption>"
            if len(self.states) > 200
            else ""
        )
        return f"<table>{more}<tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _index_of(label: Label, indices: Mapping[Label, int], name: str, kind: str) -> int:
    try:
        return indices[label]
    except (KeyError, TypeError):
        shown = ", ".join(repr(x) for x in list(indices)[:20]) + (", ..." if len(indices) > 20 else "")
        raise InputError(f"{name}: {show_value(label)} is not a {kind}; the {kind}s are {shown}") from None


def breadth_first(transitions: Indices, start: int) -> list[int]:
    """The points that maps reach from a point, breadth first, maps in their order.

    Args:
        transitions: ints `[maps, points]`; the entries are points.
        start: the first point, 0 to points - 1.
    """
    seen = np.zeros(transitions.shape[1], dtype=bool)
    seen[start] = True
    order = [start]
    frontier = np.array([start], dtype=np.int64)
    while frontier.size:
        images = transitions[:, frontier].T.reshape(-1)
        images = images[~seen[images]]
        _, first = np.unique(images, return_index=True)
        frontier = images[np.sort(first)]
        seen[frontier] = True
        order.extend(int(q) for q in frontier)
    return order


def _classes(values: Iterable[Hashable]) -> Indices:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) for v in values], dtype=np.int64)


def output_classes(automaton: Automaton) -> Indices:
    """The coarsest partition of the states that respects outputs and letters (`refine_partition`).

    Returns:
        Ints `[states]`: the class of each state, numbered by first appearance.
    """
    columns = np.atleast_2d(automaton.outputs)
    classes = _classes(tuple(type_and_value(v) for v in columns[:, q]) for q in range(len(automaton.states)))
    return refine_partition(classes, automaton.transitions)


def minimise(automaton: Automaton) -> Automaton:
    """Return the smallest automaton with the same outputs on all words; `notes` says how many states were merged.

    Args:
        automaton: any automaton; unreachable states are dropped, even if they were kept on purpose.

    Returns:
        The quotient by `output_classes`. A class has the label of its first state.
    """
    automaton = automaton.trim()
    classes = output_classes(automaton)
    count = int(classes.max()) + 1
    if count == len(automaton.states):
        return automaton
    representative = np.unique(classes, return_index=True)[1]
    merged = len(automaton.states) - count
    return Automaton(
        tuple(automaton.states[q] for q in representative),
        automaton.letters,
        classes[automaton.transitions[:, representative]],
        int(classes[automaton.start]),
        automaton.outputs[..., representative],
        automaton.name,
        notes=(
            *automaton.notes,
            f"minimised by outputs: {count_noun(merged, 'state')} merged into others",
        ),
    )


def separating_word(first: Automaton, second: Automaton) -> list[Label] | None:
    """Find a shortest word on which two automata have different outputs; None if they agree on all words.

    Args:
        first: an automaton.
        second: an automaton with the same letters, in any order, and outputs of the same kind.

    Returns:
        The letters of the word, an empty list if the outputs of the start states differ; for Mealy machines the output is
        that of the last letter.

    Raises:
        InputError: the alphabets differ as sets, or only one of the two is a Mealy machine.
    """
    if set(first.letters) != set(second.letters):
        raise InputError(f"{first.name} and {second.name} have different alphabets")
    if first.is_mealy != second.is_mealy:
        raise InputError(f"one of {first.name} and {second.name} is a Mealy machine, the other is not")
    other = [second.letter_index(x) for x in first.letters]
    start = (first.start, second.start)
    came_from: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {start: None}
    queue = deque([start])

    def word_to(pair: tuple[int, int]) -> list[Label]:
        word: list[Label] = []
        while (step := came_from[pair]) is not None:
            pair, x = step
            word.append(first.letters[x])
        return word[::-1]

    while queue:
        pair = queue.popleft()
        p, q = pair
        if not first.is_mealy and type_and_value(first.outputs[p]) != type_and_value(second.outputs[q]):
            return word_to(pair)
        for x, y in enumerate(other):
            if first.is_mealy and type_and_value(first.outputs[x, p]) != type_and_value(second.outputs[y, q]):
                return [*word_to(pair), first.letters[x]]
            successor = (int(first.transitions[x, p]), int(second.transitions[y, q]))
            if successor not in came_from:
                came_from[successor] = (pair, x)
                queue.append(successor)
    return None


def build(
    transitions: Mapping[Any, Any] | Iterable[tuple[Label, Label, Label]],
    *,
    start: Label,
    letters: Sequence[Label] | None = None,
    states: Sequence[Label] | None = None,
    accepting: Iterable[Label] | None = None,
    outputs: Mapping[Label, Any] | None = None,
    mealy: Mapping[Label, Mapping[Label, Any]] | None = None,
    name: str = "automaton",
    track: Track = "state",
    keep_points: bool = False,
) -> Automaton:
    """Build a complete automaton from `{state: {letter: next state}}`; its `notes` say what was changed.

    Args:
        transitions: the next state for each state and letter, in one of the forms of `Automaton.from_transitions`. Missing
            transitions lead to one new state, a sink that rejects
            (or has the output None).
        start: label of the start state.
        letters: the alphabet in its order, by default the letters as they first appear in `transitions`.
        states: the states in their order, by default as they first appear in `transitions`.
        accepting: labels of the accepting states: outputs are then True and False. At most one of `accepting`, `outputs`
            and `mealy` is given; without them, each state is its own output.
        outputs: the output of each state, None where it is missing (a Moore machine).
        mealy: the output for each state and letter (a Mealy machine).
        name: the automaton's name, with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs.
        keep_points: keep states that the start does not reach.

    Raises:
        InputError: something is wrong; the message names everything at once: states that do not exist, letters outside the alphabet, labels
            that are not hashable or equal to each other.
    """
    require_name("name", name)
    require_choice("track", track, TRACKS)
    keep_points = require_flag("keep_points", keep_points)
    whole = complete(
        transitions,
        start=start,
        letters=letters,
        states=states,
        accepting=accepting,
        outputs=outputs,
        mealy=mealy,
        name=name,
    )
    automaton = Automaton(
        whole.states,
        whole.letters,
        whole.transitions,
        whole.start,
        whole.outputs,
        name,
        keeps_points=keep_points,
        notes=whole.notes,
    )
    if not keep_points:
        automaton = automaton.trim()
    return minimise(automaton) if track == "output" else automaton
