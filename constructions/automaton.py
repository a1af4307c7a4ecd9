"""`Automaton`: a complete, deterministic, immutable automaton with the user's own labels.

Conventions: a word is read left to right, and `transitions[x, q]` is the state reached from `q` by letter `x`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError

Label = Hashable
Indices = NDArray[np.int64]
Outputs = NDArray[np.object_]
Track = Literal["state", "output"]


def label_problems(labels: Sequence[Any], kind: str) -> list[str]:
    """What is wrong with a list of labels: unhashable, not equal to itself (nan), or equal to an earlier one."""
    problems = []
    first: dict[Any, Any] = {}
    for label in labels:
        try:
            hash(label)
        except TypeError:
            problems.append(f"{kind} {label!r} is not hashable")
            continue
        if label != label:  # noqa: PLR0124 (nan)
            problems.append(f"{kind} {label!r} is not equal to itself")
        elif label not in first:
            first[label] = label
        elif type(first[label]) is type(label):
            problems.append(f"{kind} {label!r} is listed twice")
        else:
            problems.append(f"{kind}s {first[label]!r} and {label!r} are equal in Python: rename one of them")
    return problems


def object_array(values: Iterable[Any]) -> Outputs:
    """A one-dimensional object array that keeps tuples whole."""
    items = list(values)
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


@dataclass(frozen=True, eq=False)
class Automaton:
    """A complete deterministic automaton with outputs.

    `states`, `letters`: distinct hashable labels, in a fixed order.
    `transitions`: int array `[letters, states]`; the entries are indices of states.
    `start`: index of the start state.
    `outputs`: object array `[states]` (acceptance as `bool`, or Moore outputs) or `[letters, states]` (Mealy:
    the output belongs to the letter just read and the state before it).
    `keeps_points`: unreachable states were kept on purpose (a transformation semigroup given by its points);
    a construction is then right from each start.
    `notes`: what was changed on the way in (completed, dropped, determinised), one sentence each.

    Raises `InputError` with everything that is wrong at once. See `Automaton.from_transitions` for partial input.
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
        problems = label_problems(self.states, "state") + label_problems(self.letters, "letter")
        n, k = len(self.states), len(self.letters)
        if n == 0:
            problems.append("there are no states")
        given = np.asarray(self.transitions)
        if given.size and given.dtype.kind in "fcmMSUV":
            raise InputError(
                f"{self.name}: transitions are of the type {given.dtype}; indices of states are needed"
            )
        table = np.array(self.transitions, dtype=np.int64)
        if k == 0:
            table = table.reshape(0, n)
        outputs = self.outputs if isinstance(self.outputs, np.ndarray) else object_array(self.outputs)
        outputs = outputs.astype(object)
        if table.shape != (k, n):
            problems.append(f"transitions have shape {table.shape}; expected [letters, states] = ({k}, {n})")
        elif table.size and (table.min() < 0 or table.max() >= n):
            x, q = (int(i) for i in np.argwhere((table < 0) | (table >= n))[0])
            problems.append(
                f"letter {self.letters[x]!r} sends state {self.states[q]!r} to index {int(table[x, q])}, not a state"
            )
        if n and not 0 <= self.start < n:
            problems.append(f"start index {self.start} is not a state")
        if outputs.shape not in ((n,), (k, n)):
            problems.append(
                f"outputs have shape {outputs.shape}; expected ({n},) or, for a Mealy machine, ({k}, {n})"
            )
        if problems:
            raise InputError(f"{self.name}: " + "; ".join(problems))
        table.setflags(write=False)
        outputs.setflags(write=False)
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "letters", tuple(self.letters))
        object.__setattr__(self, "transitions", table)
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "start", int(self.start))

    @classmethod
    def from_transitions(
        cls,
        transitions: Mapping[Any, Mapping[Any, Label]],
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
        """From `{state: {letter: next state}}`, possibly partial; see `building.build` for the rules."""
        from .building import build

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

    @property
    def is_mealy(self) -> bool:
        """True where the output belongs to (letter just read, state before it)."""
        return self.outputs.ndim == 2

    @cached_property
    def is_permutation(self) -> bool:
        """True where every letter permutes the states: the transition monoid is then a group."""
        return self.merged_pair() is None

    def merged_pair(self) -> tuple[int, int, int] | None:
        """`(letter, state, state)` indices of a letter that merges two states, or None in a group automaton."""
        n = len(self.states)
        for x, row in enumerate(self.transitions):
            if len(np.unique(row)) < n:
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
        """Index of a letter; an unknown one is an `InputError` that shows the alphabet."""
        return _index_of(letter, self._letter_indices, self.name, "letter")

    def state_index(self, state: Label) -> int:
        """Index of a state; an unknown one is an `InputError` that shows the states."""
        return _index_of(state, self._state_indices, self.name, "state")

    def word(self, word: str | Iterable[Label]) -> Indices:
        """Letter indices of a word: a sequence of letters, or a string.

        A string is read character by character if all letters are single characters, else split at white space.
        """
        if isinstance(word, str) and not all(isinstance(x, str) and len(x) == 1 for x in self.letters):
            by_text = {str(letter): letter for letter in self.letters}
            tokens = word.split()
            unknown = [t for t in tokens if t not in by_text]
            if unknown or len(by_text) < len(self.letters):
                raise InputError(
                    f"{self.name}: the string {word!r} is not a word over letters of several characters: "
                    f"separate the letters by blanks or pass a list of letters (unknown: {unknown[:3]})"
                )
            word = [by_text[t] for t in tokens]
        return np.array([self.letter_index(x) for x in word], dtype=np.int64)

    def trace(self, letters: ArrayLike, start: int | None = None) -> Indices:
        """States after each letter: letter indices `[..., T]` to state indices `[..., T]`, vectorised over `...`."""
        letters = np.asarray(letters, dtype=np.int64)
        states = np.empty_like(letters)
        current = np.full(letters.shape[:-1], self.start if start is None else start, dtype=np.int64)
        for t in range(letters.shape[-1]):
            current = self.transitions[letters[..., t], current]
            states[..., t] = current
        return states

    def after(self, word: str | Iterable[Label]) -> Label:
        """The state reached from the start by a word (see `word` for its forms)."""
        current = self.start
        for x in self.word(word):
            current = int(self.transitions[x, current])
        return self.states[current]

    def output_of(self, word: str | Iterable[Label]) -> Any:
        """Output after a word; for a Mealy machine that of its last letter (None for the empty word)."""
        indices = self.word(word)
        before, current = self.start, self.start
        for x in indices:
            before, current = current, int(self.transitions[x, current])
        if not self.is_mealy:
            return self.outputs[current]
        return self.outputs[indices[-1], before] if len(indices) else None

    def reachable(self) -> list[int]:
        """States reachable from the start, breadth first by letters in their order."""
        return breadth_first(self.transitions, self.start)

    def with_start(self, start: Label) -> Automaton:
        """The same automaton from another start state (its label); unreachable states are dropped unless kept."""
        moved = replace(self, start=self.state_index(start))
        return moved if self.keeps_points else moved.trimmed()

    def trimmed(self) -> Automaton:
        """Only the reachable states, in their old order; the dropped ones are named in `notes`."""
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
                f"dropped {len(dropped)} unreachable state{'s' * (len(dropped) > 1)}: {shown}",
            ),
        )

    def with_notes(self, *notes: str) -> Automaton:
        """The same automaton with further notes."""
        return replace(self, notes=(*self.notes, *notes))

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
        raise InputError(f"{name}: {label!r} is not a {kind}; the {kind}s are {shown}") from None


def breadth_first(transitions: Indices, start: int) -> list[int]:
    """Points reachable from `start` under maps `[maps, points]`, breadth first, maps in their order."""
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
