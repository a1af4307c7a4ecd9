"""`Acceptor`: a possibly partial, possibly nondeterministic acceptor as files hold it, and its determinisation.

The subset construction is our own because it needs a limit and an order that does not follow the hash seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation._errors import InputError, LimitError
from ._automaton import Automaton, Indices, Label, Track, build, minimise
from ._completing import fresh_name, object_array

EPSILON = -1
MAX_STATES = 100_000


@dataclass(frozen=True)
class Acceptor:
    """States and letters by label; arcs `(state, letter, next)` by index, with letter `EPSILON` for none.

    `initial`, `accepting`: indices of states. Without an initial state the language is empty.
    """

    states: Sequence[Label]
    letters: Sequence[Label]
    arcs: Sequence[tuple[int, int, int]]
    initial: Sequence[int]
    accepting: Sequence[int]

    @property
    def is_deterministic(self) -> bool:
        """One initial state, no empty moves, and at most one next state for each state and letter."""
        arcs = dict.fromkeys(self.arcs)
        sources = dict.fromkeys((q, x) for q, x, _ in arcs)
        return (
            len(set(self.initial)) == 1
            and len(sources) == len(arcs)
            and all(x != EPSILON for _, x in sources)
        )

    def automaton(self, name: str, track: Track | None = None, max_states: int = MAX_STATES) -> Automaton:
        """The complete automaton; `track` defaults to `state` if deterministic, else to `output`."""
        if not self.is_deterministic:
            return self.determinise(name, track or "output", max_states)
        transitions: dict[Label, dict[Label, Label]] = {q: {} for q in self.states}
        for q, x, r in self.arcs:
            transitions[self.states[q]][self.letters[x]] = self.states[r]
        return build(
            transitions,
            start=self.states[self.initial[0]],
            letters=self.letters,
            states=self.states,
            accepting=[self.states[q] for q in self.accepting],
            name=name,
            track=track or "state",
        )

    def determinise(self, name: str, track: Track = "output", max_states: int = MAX_STATES) -> Automaton:
        """The subset construction, breadth first by letters in their order; the empty subset is the sink.

        A state is the tuple of the labels it stands for. `LimitError` beyond `max_states` subsets.
        """
        start, successors = self._moves()
        subsets = {start: 0}
        order = [start]
        rows: list[list[int]] = []
        # most states of an acceptor with empty moves have no move by a letter
        movable = [sum(1 << q for q in moves) for moves in successors]
        for mask in order:
            row = []
            for moves, able in zip(successors, movable, strict=True):
                image = 0
                for q in _bits(mask & able):
                    image |= moves[q]
                if image not in subsets:
                    if len(order) >= max_states:
                        raise LimitError(
                            f"{name}: determinising reached {len(order) + 1} states, the limit is {max_states}; "
                            "raise it with `max_states`"
                        )
                    subsets[image] = len(order)
                    order.append(image)
                row.append(subsets[image])
            rows.append(row)
        labels: list[Label] = [tuple(self.states[q] for q in _bits(mask)) for mask in order]
        if 0 in subsets:
            labels[subsets[0]] = fresh_name("sink", labels)
        accepted = sum(1 << q for q in dict.fromkeys(self.accepting))
        automaton = Automaton(
            tuple(labels),
            tuple(self.letters),
            _table(rows, len(self.letters), len(order)),
            0,
            object_array(bool(mask & accepted) for mask in order),
            name,
            notes=(self._note(len(order), 0 in subsets),),
        )
        return minimise(automaton) if track == "output" else automaton

    def _moves(self) -> tuple[int, list[dict[int, int]]]:
        """The initial subset, and for each letter `{state: subset}`; subsets are bit masks closed under empty moves."""
        empty_moves: dict[int, list[int]] = {}
        for q, x, r in self.arcs:
            if x == EPSILON:
                empty_moves.setdefault(q, []).append(r)
        closures: dict[int, int] = {}

        def closure(q: int) -> int:
            for p in _finishing_order(q, empty_moves, closures):
                mask, stack = 1 << p, [p]
                while stack:
                    for r in empty_moves.get(stack.pop(), ()):
                        if mask >> r & 1:
                            continue
                        if r in closures:  # complete, so nothing behind it is left to see
                            mask |= closures[r]
                        else:
                            mask |= 1 << r
                            stack.append(r)
                closures[p] = mask
            return closures[q]

        successors: list[dict[int, int]] = [{} for _ in self.letters]
        for q, x, r in self.arcs:
            if x != EPSILON:
                successors[x][q] = successors[x].get(q, 0) | closure(r)
        start = 0
        for q in self.initial:
            start |= closure(q)
        return start, successors

    def _note(self, subsets: int, has_sink: bool) -> str:
        if not self.initial:
            return "no initial state: the empty language, one rejecting state"
        sink = ", one of them the sink 'sink' (the empty subset)" if has_sink else ""
        return f"determinised: {len(self.states)} states became {subsets} subsets{sink}"


def _finishing_order(first: int, moves: Mapping[int, Sequence[int]], done: Mapping[int, int]) -> list[int]:
    """The states that moves reach from one and that are not done, each behind those that it reaches, but for cycles."""
    if first in done:
        return []
    order: list[int] = []
    seen = {first}
    path = [(first, iter(moves.get(first, ())))]
    while path:
        q, following = path[-1]
        r = next((r for r in following if r not in seen and r not in done), None)
        if r is None:
            order.append(q)
            path.pop()
        else:
            seen.add(r)
            path.append((r, iter(moves.get(r, ()))))
    return order


def start_index(states: Sequence[str], start: str, name: str) -> int:
    """Index of the start state that the user named, or `InputError` with the states there are."""
    if start in states:
        return list(states).index(start)
    shown = ", ".join(map(repr, states[:20])) + (", ..." if len(states) > 20 else "")
    raise InputError(f"{name}: start state {start!r} does not exist; the states are {shown}")


def with_start_text(automaton: Automaton, start: str, name: str) -> Automaton:
    """The automaton from the state whose label has the text `start`; `name` stands before the error."""
    texts = [str(q) for q in automaton.states]
    return automaton.with_start(automaton.states[start_index(texts, start, name)])


def _bits(mask: int) -> list[int]:
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low.bit_length() - 1)
        mask ^= low
    return bits


def _table(rows: list[list[int]], letters: int, states: int) -> Indices:
    return np.array(rows, dtype=np.int64).reshape(states, letters).T
