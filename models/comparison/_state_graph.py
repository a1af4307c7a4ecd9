"""All states that a model reaches, where these close: then what it answers to any word is a walk in a finite graph.

The states are followed breadth first, bit for bit as `prove` does it. Where the answer or the question depends on the target
automaton too, a node is a pair of both states. Most trained models never return to a state; that is seen soon by following
all states of a level side by side, which is fast, but whose bits are not always those of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ...theory.proofs._answers import Answers
from ...theory.proofs._state_search import Rows
from ...theory.proofs._stepper_machine import StepperMachine
from ..learned._learned import Learned
from ._budget import Clock, OutOfBudgetError

MOST_NODES = 2_000
"""Nodes up to which a search goes on."""
MOST_BYTES = 1 << 27
"""Bytes of all nodes together."""
PIECE = 256
"""States that are stepped between two looks at the clock."""
SHARE = 0.4
"""The share of an extraction's time that the search may take."""


@dataclass(frozen=True, eq=False)
class StateGraph:
    """Nodes by number, the start first; `[letters, nodes]` each: the node after a letter, and the answer, -1 where none is asked."""

    transitions: Indices
    answers: Indices

    def answers_to(self, word: tuple[int, ...]) -> list[int]:
        """The answer after each letter of a word."""
        node, found = 0, []
        for x in word:
            found.append(int(self.answers[x, node]))
            node = int(self.transitions[x, node])
        return found

    def contradiction(self, table: Indices, outputs: Indices, start: int) -> tuple[int, ...] | None:
        """A shortest word after which a Mealy machine `[letters, states]` answers otherwise; None if they agree on all words."""
        pairs = [(0, start)]
        reached: dict[tuple[int, int], tuple[int, int]] = {
            pairs[0]: (-1, -1)
        }  # the pair before, and the letter
        letters = range(len(table))
        for i, (node, q) in enumerate(pairs):
            for x in letters:
                if self.answers[x, node] != outputs[x, q]:
                    word = [x]
                    while i:
                        i, letter = reached[pairs[i]]
                        word.append(letter)
                    return tuple(reversed(word))
                after = int(self.transitions[x, node]), int(table[x, q])
                if after not in reached:
                    reached[after] = (i, x)
                    pairs.append(after)
        return None


def machine_of_states(learned: Learned) -> StepperMachine | None:
    """The model's states as rows of bytes; None where they are not made of arrays."""
    automaton = learned.target.automaton
    answers = Answers("states", automaton, np.arange(len(automaton.states)))
    try:
        return StepperMachine(learned.stepper, answers)
    except InputError:
        return None


def name_answers(learned: Learned, said: Indices, letters: Indices, before: Indices) -> Indices:
    """Answers as learners see them: -1 where the target asks nothing, and one number more for an answer without a name."""
    named = np.where(said < 0, len(learned.target.names), said)
    result: Indices = np.where(learned.target.table[letters, before] >= 0, named, -1)
    return result


def follow_states(learned: Learned, machine: StepperMachine, clock: Clock) -> StateGraph | None:
    """The graph of all states that the model reaches; None where more than `MOST_NODES` are reached, or time is short."""
    most = max(1, min(MOST_NODES, MOST_BYTES // machine.form.entries))
    try:
        if machine.one_by_one:
            side_by_side = _follow(
                learned, machine, lambda rows, x: machine.step_each(rows, np.full(len(rows), x)), most, clock
            )
            if side_by_side is None:
                return None
        return _follow(learned, machine, machine.step, most, clock)
    except OutOfBudgetError:
        return None


def _follow(
    learned: Learned, machine: StepperMachine, step: Callable[[Rows, int], Rows], most: int, clock: Clock
) -> StateGraph | None:
    target = learned.target
    letters = len(target.automaton.letters)
    # where everything is asked, the model's state alone decides
    paired = bool((target.table < 0).any())
    level = machine.initial()
    states = np.array([target.automaton.start], dtype=np.int64)
    numbers = {_key(level[0], states[0], paired): 0}
    transitions: list[list[int]] = [[] for _ in range(letters)]
    answers: list[list[int]] = [[] for _ in range(letters)]
    while len(level):
        new_rows, new_states = [], []
        for x in range(letters):
            for first in range(0, len(level), PIECE):
                clock.look(SHARE)
                here, before = level[first : first + PIECE], states[first : first + PIECE]
                read = np.full(len(here), x)
                rows, after = step(here, x), target.automaton.transitions[x, before]
                said = machine.decode(machine.unpack(rows), read)
                answers[x] += name_answers(learned, said, read, before).tolist()
                for row, q in zip(rows, after, strict=True):
                    key = _key(row, q, paired)
                    if key not in numbers:
                        if len(numbers) >= most:
                            return None
                        numbers[key] = len(numbers)
                        new_rows.append(row)
                        new_states.append(q)
                    transitions[x].append(numbers[key])
        level, states = np.array(new_rows), np.array(new_states, dtype=np.int64)
    return StateGraph(np.array(transitions), np.array(answers))


def _key(row: NDArray[Any], state: Any, paired: bool) -> bytes:
    return row.tobytes() + (state.tobytes() if paired else b"")
