"""Is a layer, in an arithmetic, the automaton? Breadth-first search over its states, in rational numbers.

A token is `H ← A(x) H + B(x)` in every head. The state is read as the nearest joint code, by the exact sum of squared
differences over all heads, the first of several; a state that has overflowed is no code's. `decode[code][letter]` is
the answer there. Answers are compared after each token, never before the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .arithmetic import Arithmetic, Matrix, State, is_state

Joint = tuple[State, ...]  # one state for each head


@dataclass(frozen=True)
class Machine:
    """An automaton by indices: `transitions[letter][state]`; `outputs[letter][state]`, the state before the letter."""

    transitions: Sequence[Sequence[int]]
    start: int
    outputs: Sequence[Sequence[int]]

    def step(self, state: int, letter: int) -> tuple[int, int]:
        """The next state, and the right answer."""
        return self.transitions[letter][state], self.outputs[letter][state]


def moore(transitions: Sequence[Sequence[int]], start: int, outputs: Sequence[int]) -> Machine:
    """A machine whose output belongs to the state that is reached."""
    return Machine(transitions, start, [[outputs[q] for q in row] for row in transitions])


@dataclass(frozen=True)
class Head:
    """`A[letter]`, `B[letter]` and `H0`, exact and not rounded yet."""

    A: Sequence[Matrix]
    B: Sequence[Matrix]
    H0: Matrix


@dataclass(frozen=True)
class Layer:
    """Heads side by side, joint codes `codes[code][head]`, and `decode[code][letter]`."""

    heads: Sequence[Head]
    codes: Sequence[Sequence[Matrix]]
    decode: Sequence[Sequence[int]]


class Rounded:
    """A layer in an arithmetic: its weights and its first state are rounded once, its codes are not."""

    def __init__(self, layer: Layer, arithmetic: Arithmetic) -> None:
        self.arithmetic, self.decode = arithmetic, layer.decode
        rounded = arithmetic.round_matrix
        self._A = [[rounded(a) for a in head.A] for head in layer.heads]
        self._B = [[rounded(b) for b in head.B] for head in layer.heads]
        self.start: Joint = tuple(rounded(head.H0) for head in layer.heads)
        # |H - C|² = |H|² + |C|² - 2⟨H, C⟩, and |H|² is common to all
        flat = [[x for code in joint for row in code for x in row] for joint in layer.codes]
        self._codes = [(sum((x * x for x in c), Fraction(0)), [2 * x for x in c]) for c in flat]
        self._nearest: dict[Joint, int | None] = {}
        self._steps: list[dict[State, list[State | None]]] = [{} for _ in layer.heads]

    def step(self, state: Joint, letter: int) -> Joint:
        return tuple(self._step(i, H, letter) for i, H in enumerate(state))

    def _step(self, head: int, H: State, letter: int) -> State:
        known = self._steps[head].setdefault(H, [None] * len(self._A[head]))
        found = known[letter]
        if found is None:
            found = self.arithmetic.affine(self._A[head][letter], H, self._B[head][letter])
            known[letter] = found
        return found

    def nearest(self, state: Joint) -> int | None:
        """The code that the state is read as; None where it has overflowed."""
        if state not in self._nearest:
            self._nearest[state] = self._find(state) if all(map(is_state, state)) else None
        return self._nearest[state]

    def _find(self, state: Joint) -> int:
        flat = [x for H in state for row in H for x in row]
        best, least = 0, None
        for i, (square, twice) in enumerate(self._codes):
            distance = square - sum(map(lambda x, y: x * y, flat, twice))
            if least is None or distance < least:
                best, least = i, distance
        return best

    def answer(self, state: Joint, letter: int) -> int:
        """After the letter has led to the state; -1 for none."""
        code = self.nearest(state)
        return -1 if code is None else self.decode[code][letter]

    def run(self, word: Sequence[int]) -> Iterator[tuple[Joint, int]]:
        """State and answer after each letter."""
        state = self.start
        for x in word:
            state = self.step(state, x)
            yield state, self.answer(state, x)

    def first_wrong(self, machine: Machine, word: Sequence[int]) -> int | None:
        """How many letters of the word it takes until an answer is wrong; None if all are right."""
        q = machine.start
        for t, (x, (_, answer)) in enumerate(zip(word, self.run(word), strict=True), start=1):
            q, right = machine.step(q, x)
            if answer != right:
                return t
        return None


@dataclass(frozen=True)
class Found:
    """What a search has found.

    `verdict`: `equivalent`, `counterexample` or `unknown`; `word`: a shortest wrong one; `depth`: all words up to this
    length are right, None for all words; `pairs`: how many pairs (state, automaton's state) were seen.
    """

    verdict: str
    pairs: int
    depth: int | None
    word: tuple[int, ...] | None = None


def search(layer: Rounded, machine: Machine, most: int) -> Found:
    """Every edge is compared, also those that lead to a pair seen before. `most`: pairs to look at."""
    first = (layer.start, machine.start)
    came: dict[tuple[Joint, int], tuple[tuple[Joint, int], int] | None] = {first: None}
    level, depth = [first], 0
    while level:
        following = []
        for pair in level:
            state, q = pair
            for x in range(len(machine.transitions)):
                after, right = machine.step(q, x)
                successor = layer.step(state, x)
                if layer.answer(successor, x) != right:
                    return Found("counterexample", len(came), depth, (*_word(came, pair), x))
                if (reached := (successor, after)) not in came:
                    if len(came) >= most:
                        return Found("unknown", len(came), depth)
                    came[reached] = (pair, x)
                    following.append(reached)
        level, depth = following, depth + 1
    return Found("equivalent", len(came), None)


def _word(came: dict[tuple[Joint, int], tuple[tuple[Joint, int], int] | None], pair: tuple[Joint, int]) -> list[int]:
    word = []
    while (link := came[pair]) is not None:
        pair, x = link
        word.append(x)
    return word[::-1]
