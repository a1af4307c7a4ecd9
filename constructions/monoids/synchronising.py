"""Is there a word that sends all states to one? Decided on pairs of states, without the monoid."""

from __future__ import annotations

import numpy as np

from ..automaton import Automaton, Indices, Label, breadth_first

MAX_SYNCHRONISING_STATES = 5_000

_PAIRED = 300


def is_synchronising(automaton: Automaton, *, max_states: int = MAX_SYNCHRONISING_STATES) -> bool | None:
    """True where some word sends all states to one; None where it is undecided for more than `max_states` states.

    An automaton is synchronising exactly if every two states can be merged (Černý).
    """
    if len(automaton.states) == 1:
        return True
    if automaton.is_permutation:
        return False
    left, _ = _descend(automaton.transitions, 1)
    if len(left) == 1:
        return True
    first = breadth_first(automaton.transitions, int(left[0]))
    second = breadth_first(automaton.transitions, int(left[-1]))
    if np.intersect1d(first, second).size == 0:
        return False
    inside = _closure(automaton.transitions, left)
    if len(inside) > max_states:
        return None
    maps = np.searchsorted(inside, automaton.transitions[:, inside])
    return _merge(maps, np.searchsorted(inside, left)) is not None


def reset_word(
    automaton: Automaton, *, max_states: int = MAX_SYNCHRONISING_STATES
) -> tuple[Label, ...] | None:
    """A word that sends all states to one, or None where there is none; short, not always shortest.

    The two states that can be merged soonest are merged again and again (greedy; beyond a few hundred states
    after a descent by pseudo-random letters). Also None beyond `max_states` where the descent does not end.
    """
    n = len(automaton.states)
    if n == 1:
        return ()
    if automaton.is_permutation:
        return None
    left, word = np.arange(n), list[int]()
    if n > _PAIRED:
        left, word = _descend(automaton.transitions, _PAIRED // 3)
        if len(left) > 1 and n > max_states:
            return None
    end = _merge(automaton.transitions, left)
    return None if end is None else tuple(automaton.letters[x] for x in [*word, *end])


def _descend(maps: Indices, enough: int) -> tuple[Indices, list[int]]:
    """Image of all states under a word of pseudo-random letters that stops once `enough` states are left."""
    generator = np.random.default_rng(0)
    left = np.arange(maps.shape[1])
    word: list[int] = []
    work = 1_000 * len(left) + 100_000
    for x in generator.integers(0, len(maps), size=20 * len(left) + 100).tolist():
        work -= 50 + len(left)
        if len(left) <= enough or work < 0:
            break
        left = np.unique(maps[x, left])
        word.append(x)
    return left, word


def _closure(maps: Indices, states: Indices) -> Indices:
    """All states reachable from the given ones, sorted."""
    seen = np.zeros(maps.shape[1], dtype=bool)
    while states.size:
        seen[states] = True
        images = np.unique(maps[:, states])
        states = images[~seen[images]]
    return np.flatnonzero(seen)


def _merge(maps: Indices, left: Indices) -> list[int] | None:
    """A word that merges the states `left` into one, two at a time; None where some two cannot be merged."""
    word: list[int] = []
    while len(left) > 1:
        part = _merging_word(maps, left[:_PAIRED])
        if part is None:
            return None
        for x in part:
            left = np.unique(maps[x, left])
        word += part
    return word


def _merging_word(maps: Indices, states: Indices) -> list[int] | None:
    """A shortest word that merges two of the states; None where no two can be merged. Breadth first on pairs."""
    letters, n = maps.shape
    i, j = np.triu_indices(len(states), 1)
    low, high = np.minimum(states[i], states[j]), np.maximum(states[i], states[j])
    seen = np.zeros(n * n, dtype=bool)
    seen[low * n + high] = True
    steps: list[Indices] = []
    while low.size:
        p, q = maps[:, low].T.reshape(-1), maps[:, high].T.reshape(-1)
        merged = np.flatnonzero(p == q)
        if merged.size:
            at, x = divmod(int(merged[0]), letters)
            word = [x]
            for places in reversed(steps):
                at, x = divmod(int(places[at]), letters)
                word.append(x)
            return word[::-1]
        low, high = np.minimum(p, q), np.maximum(p, q)
        codes = low * n + high
        new = np.flatnonzero(~seen[codes])
        _, first = np.unique(codes[new], return_index=True)
        places = new[np.sort(first)]
        seen[codes[places]] = True
        steps.append(places)
        low, high = low[places], high[places]
    return None
