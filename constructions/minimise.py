"""Minimisation by outputs (Moore's refinement) and a shortest word that separates two automata."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable

import numpy as np

from .automaton import Automaton, Indices, Label
from .errors import InputError


def _classes(values: Iterable[Hashable]) -> Indices:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) for v in values], dtype=np.int64)


def _typed(value: object) -> Hashable:
    # 1, 1.0 and True are equal in Python but are different outputs
    return (type(value).__name__, value if isinstance(value, Hashable) else repr(value))


def output_classes(automaton: Automaton) -> Indices:
    """Coarsest partition of the states that respects outputs and letters: class number of each state."""
    columns = np.atleast_2d(automaton.outputs)
    classes = _classes(tuple(_typed(v) for v in columns[:, q]) for q in range(len(automaton.states)))
    count = int(classes.max()) + 1
    while True:
        signature = np.vstack([classes[None], classes[automaton.transitions]])
        _, finer = np.unique(signature, axis=1, return_inverse=True)
        finer = finer.reshape(-1)
        new_count = int(finer.max()) + 1
        if new_count == count:
            return _classes(int(c) for c in classes)
        classes, count = finer, new_count


def minimise(automaton: Automaton) -> Automaton:
    """The quotient by `output_classes` on the reachable part; each state keeps its first member's label."""
    automaton = automaton.trimmed()
    classes = output_classes(automaton)
    count = int(classes.max()) + 1
    if count == len(automaton.states):
        return automaton
    representative = np.array([int(np.flatnonzero(classes == c)[0]) for c in range(count)])
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
            f"minimised by outputs: {merged} state{'s' * (merged > 1)} merged into others",
        ),
    )


def separating_word(first: Automaton, second: Automaton) -> list[Label] | None:
    """A shortest word with different outputs in the two automata, or None where they agree on all words.

    For Mealy machines the output is that of the last letter. `InputError` if the alphabets differ as sets.
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
        if not first.is_mealy and _typed(first.outputs[p]) != _typed(second.outputs[q]):
            return word_to(pair)
        for x, y in enumerate(other):
            if first.is_mealy and _typed(first.outputs[x, p]) != _typed(second.outputs[y, q]):
                return [*word_to(pair), first.letters[x]]
            successor = (int(first.transitions[x, p]), int(second.transitions[y, q]))
            if successor not in came_from:
                came_from[successor] = (pair, x)
                queue.append(successor)
    return None
