"""Which letters are drawn where there are many: one of each kind."""

from __future__ import annotations

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.lrnn import LRNN
from .mirror_head import DrawnHead


def kinds_of_letters(lrnn: LRNN | None, heads: list[DrawnHead], max_letters: int) -> tuple[list[int], int]:
    """The letters to draw, and how many kinds there are: all letters where they are few, else one of each kind.

    Letters are of one kind where they look alike on every head and letters of the automaton, if an LRNN is given,
    conjugate one into the other.
    The letter with most factors is always drawn.
    """
    count = len(heads[0].letters)
    if count <= max_letters:
        return list(range(count)), count
    conjugate = [0] * count if lrnn is None else _conjugacy(lrnn.automaton.transitions)
    first: dict[tuple[object, ...], int] = {}
    for x in range(count):
        first.setdefault((conjugate[x], *(head.letters[x].kind() for head in heads)), x)
    most = min(first.values(), key=lambda x: -max(len(head.letters[x].sizes) for head in heads))
    kept = list(first.values())[:max_letters]
    return (kept if most in kept else [*kept[:-1], most]), len(first)


def _conjugacy(transitions: Indices) -> list[int]:
    """For each letter of a group's the least letter that letters conjugate it into; 0 for all where too many."""
    letters, states = transitions.shape
    if letters * letters * states > 5_000_000 or (np.sort(transitions) != np.arange(states)).any():
        return [0] * letters
    index: dict[bytes, int] = {}
    for x, row in enumerate(transitions):
        index.setdefault(row.tobytes(), x)
    least = list(range(letters))

    def root(x: int) -> int:
        while least[x] != x:
            least[x] = x = least[least[x]]
        return x

    for g in transitions:
        inverse = np.argsort(g)
        for x, row in enumerate(transitions):
            a, b = root(x), root(index.get(np.ascontiguousarray(g[row[inverse]]).tobytes(), x))
            least[max(a, b)] = min(a, b)
    return [root(x) for x in range(letters)]
