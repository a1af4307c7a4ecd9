"""The language side of a certificate of impossibility: the automaton in numbers, and the first two words confused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...constructions.automaton import Automaton, breadth_first
from ...constructions.formats.label_text import distinct_texts, output_texts


class NumberedAutomaton:
    """The automaton with its states in breadth-first order, the start first, and outputs numbered by appearance."""

    def __init__(self, automaton: Automaton) -> None:
        order = breadth_first(automaton.transitions, automaton.start)
        place = {q: at for at, q in enumerate(order)}
        self.automaton = automaton
        self.delta = [[place[int(row[q])] for q in order] for row in automaton.transitions]
        texts = np.array(output_texts(automaton, automaton.name), dtype=object).reshape(
            automaton.outputs.shape
        )
        texts = texts[..., order]
        self.names = list(dict.fromkeys(texts.ravel().tolist()))
        numbers = {text: i for i, text in enumerate(self.names)}
        self.outputs: list[Any] = np.reshape([numbers[t] for t in texts.ravel()], texts.shape).tolist()
        self.mealy = automaton.is_mealy
        states = distinct_texts(automaton.states, "state", automaton.name)
        self.states = [states[q] for q in order]
        self.letters = distinct_texts(automaton.letters, "letter", automaton.name)

    def output(self, letter: int, before: int) -> int:
        """The output after a letter read in a state."""
        return int(self.outputs[letter][before] if self.mealy else self.outputs[self.delta[letter][before]])

    def after(self, q: int, word: Sequence[int]) -> int:
        """The state that a word leads to."""
        for x in word:
            q = self.delta[x][q]
        return q

    def suffix(self, p: int, q: int, empty_allowed: bool) -> list[int] | None:
        """The first word, shorter ones first, after which the outputs differ."""
        if p == q:
            return None
        if empty_allowed and not self.mealy and self.outputs[p] != self.outputs[q]:
            return []
        frontier: list[tuple[int, int, list[int]]] = [(p, q, [])]
        seen = {(p, q)}
        while frontier:
            following = []
            for a, b, word in frontier:
                for x in range(len(self.letters)):
                    if self.output(x, a) != self.output(x, b):
                        return [*word, x]
                    pair = (self.delta[x][a], self.delta[x][b])
                    if pair[0] != pair[1] and pair not in seen:
                        seen.add(pair)
                        following.append((*pair, [*word, x]))
            frontier = following
        return None

    def to_json(self) -> dict[str, Any]:
        """The entry `automaton` of the certificate."""
        n = len(self.states)
        flat = [o for row in self.outputs for o in row] if self.mealy else self.outputs
        return {
            "transitions": self.delta,
            "sources": [[[p for p in range(n) if row[p] == q] for q in range(n)] for row in self.delta],
            "outputs": self.outputs,
            "members": [[at for at, o in enumerate(flat) if o == kind] for kind in range(len(self.names))],
        }


def first_pair(
    machine: NumberedAutomaton, loop: Sequence[int], prefix: Sequence[int], preperiod: int, period: int
) -> tuple[int, int, list[int]] | None:
    """The least j, for it the least i ≥ preperiod with i ≡ j modulo the period, and the first suffix that separates."""
    n = len(machine.states)
    states = [machine.after(0, prefix)]
    for _ in range(preperiod + n * (period + 1)):
        states.append(machine.after(states[-1], loop))
    known: dict[tuple[int, int, bool], list[int] | None] = {}
    for j in range(preperiod + period, len(states)):  # beyond, pairs of states repeat
        for i in range(preperiod + (j - preperiod) % period, j, period):
            key = (states[i], states[j], i > 0 or list(prefix[-1:]) == list(loop[-1:]))
            if key not in known:
                known[key] = machine.suffix(*key)
            z = known[key]
            if z is not None:
                return i, j, z
    return None
