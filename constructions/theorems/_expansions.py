"""Automata with redundant states: several of them stand for one state of the automaton that is to be realised.

A realisation may follow more than the state. Where every state of an expansion stands for a state of the automaton, and letters
respect this, what follows the expansion follows the automaton. Two kinds are built:

- the state beside the kind of the last letter;
- the automaton without its absorbing states, moves into which are replaced by any others, beside a mark that tells which absorbing state
  was entered, if any. What goes on beside a mark does not count, so that the moves may be chosen to be cheap.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ..automata._automaton import Automaton, Indices
from ..automata._completing import object_array


@dataclass(frozen=True, eq=False)
class Expansion:
    """An automaton whose states stand for those of another one.

    Attributes:
        automaton: the expansion; its start reaches all its states.
        base: the automaton that is to be realised.
        state_of: the state of `base` for which each state stands, int array `[states of the expansion]`.
        pairs: the two numbers of which each state is made, int array `[states of the expansion, 2]`.
        beside: what the second number is, in words.
    """

    automaton: Automaton
    base: Automaton
    state_of: Indices
    pairs: Indices
    beside: str


def as_it_is(automaton: Automaton) -> Expansion:
    """The expansion in which every state stands for itself.

    Args:
        automaton: an automaton whose start reaches all its states.
    """
    states = np.arange(len(automaton.states))
    return Expansion(automaton, automaton, states, np.stack([states, 0 * states], axis=1), "nothing")


def expand(
    base: Automaton, moves: Indices, start: tuple[int, int], state_of: Indices, beside: str
) -> Expansion:
    """The part that is reached of an automaton of pairs.

    Args:
        base: the automaton that is to be realised.
        moves: where each letter takes each pair (p, m), int array `[letters, p, m, 2]`.
        start: the pair at the start.
        state_of: the state of `base` for which each pair stands, int array `[p, m]`.
        beside: what m is, in words.
    """
    place = {start: 0}
    reached = [start]
    for p, m in reached:  # grows while it is read
        for q, after in moves[:, p, m].tolist():
            if (q, after) not in place:
                place[q, after] = len(reached)
                reached.append((q, after))
    pairs = np.array(reached, dtype=np.int64)
    images = moves[:, pairs[:, 0], pairs[:, 1]].tolist()
    table = np.array([[place[p, m] for p, m in row] for row in images], dtype=np.int64)
    states = range(len(reached))
    automaton = Automaton(tuple(states), base.letters, table, 0, object_array(states), base.name)
    return Expansion(automaton, base, state_of[pairs[:, 0], pairs[:, 1]], pairs, beside)


def with_last_letter(base: Automaton, kinds: Indices, first: int) -> Expansion:
    """Each state beside the kind of the last letter.

    Args:
        base: the automaton that is to be realised.
        kinds: the kind of each letter, from 0; -1 for letters that leave the kind as it is. Int array `[letters]`.
        first: the kind at the start.
    """
    letters, states = base.transitions.shape
    count = int(kinds.max()) + 1
    before = np.broadcast_to(np.arange(count), (letters, states, count))
    after = np.where(kinds[:, None, None] < 0, before, kinds[:, None, None])
    moved = np.broadcast_to(base.transitions[:, :, None], after.shape)
    state_of = np.repeat(np.arange(states)[:, None], count, axis=1)
    return expand(base, np.stack([moved, after], axis=3), (base.start, first), state_of, "the last letter")


def kinds_of_letters(transitions: Indices) -> list[Indices]:
    """Ways in which letters are of one kind, each once: none are; those with one image are; the same, permutations left out.

    Letters that move no state are left out, too: they are of kind -1.

    Args:
        transitions: int array `[letters, states]`.
    """
    states = np.arange(transitions.shape[1])
    moves = [bool((row != states).any()) for row in transitions]
    images = [frozenset(row.tolist()) for row in transitions]
    merges = [len(image) < len(states) for image in images]
    keys: tuple[list[Hashable], ...] = (
        [x if moves[x] else None for x in range(len(images))],
        [image if moved else None for image, moved in zip(images, moves, strict=True)],
        [x if merges[x] else None for x in range(len(images))],
        [image if merged else None for image, merged in zip(images, merges, strict=True)],
    )
    found: dict[bytes, Indices] = {}
    for row in keys:
        numbers: dict[Hashable, int] = {None: -1}
        kinds = np.array([numbers.setdefault(key, len(numbers) - 1) for key in row], dtype=np.int64)
        if kinds.max(initial=0) > 0:
            found.setdefault(kinds.tobytes(), kinds)
    return list(found.values())


def absorbing_states(automaton: Automaton) -> Indices:
    """The states that no letter moves, in order."""
    states = np.arange(automaton.transitions.shape[1])
    return np.flatnonzero((automaton.transitions == states).all(axis=0))


def without_sinks(automaton: Automaton, sinks: Indices) -> tuple[Indices, Indices]:
    """The other states, and the partial maps of their numbers.

    Args:
        automaton: an automaton.
        sinks: its absorbing states.

    Returns:
        The states `[kept]`, and what each letter does to their numbers, int array `[letters, kept]`, -1 for moves into an absorbing state.
    """
    kept = np.setdiff1d(np.arange(automaton.transitions.shape[1]), sinks)
    number = np.full(automaton.transitions.shape[1], -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return kept, number[automaton.transitions[:, kept]]


def with_marks(base: Automaton, sinks: Indices, completed: Indices) -> Expansion:
    """Total maps of the states that are not absorbing, beside the number of the absorbing state that was entered.

    Args:
        base: the automaton that is to be realised; its start is not absorbing.
        sinks: its absorbing states.
        completed: what each letter does to the numbers of the others, int array `[letters, kept]`.

    Returns:
        The expansion; its pairs are the number of a state and the mark, 0 for none.
    """
    kept, partial = without_sinks(base, sinks)
    mark_of = np.zeros(base.transitions.shape[1], dtype=np.int64)
    mark_of[sinks] = 1 + np.arange(len(sinks))
    entered = np.where(partial < 0, mark_of[base.transitions[:, kept]], 0)
    marks = np.broadcast_to(np.arange(len(sinks) + 1), (*entered.shape, len(sinks) + 1))
    after = np.where(marks > 0, marks, entered[:, :, None])
    moved = np.broadcast_to(completed[:, :, None], after.shape)
    state_of = np.concatenate([kept[:, None], np.repeat(sinks[None, :], len(kept), axis=0)], axis=1)
    start = (int(np.flatnonzero(kept == base.start)[0]), 0)
    return expand(base, np.stack([moved, after], axis=3), start, state_of, "a mark")
