"""All automata with n states over two letters, up to isomorphism, as arrays of transition tables.

A table is an int array `[letters, states]`; state 0 is the start and every state is reachable from it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Tables = NDArray[np.int8]
Counts = NDArray[np.int64]
_ROWS_AT_ONCE = 100_000


def canonical_tables(states: int) -> Tables:
    """One table for each initially connected automaton `[tables, 2, states]`: states breadth first from the start.

    Read state by state, a table meets the states in their order, and meets state i + 1 by the end of row i (Almeida,
    Moreira and Reis, Theor. Comp. Sci. 387, 2007). Their numbers are 1, 12, 216, 5248, 160675, 5931540.
    """
    strings = np.zeros((1, 0), dtype=np.int8)
    highest = np.zeros(1, dtype=np.int8)
    for place in range(2 * states):
        choices = np.minimum(highest.astype(np.int64) + 1, states - 1) + 1
        parent = np.repeat(np.arange(len(strings)), choices)
        target = np.arange(len(parent)) - np.repeat(np.cumsum(choices) - choices, choices)
        strings = np.concatenate([strings[parent], target[:, None].astype(np.int8)], axis=1)
        highest = np.maximum(highest[parent], target.astype(np.int8))
        if place % 2:
            kept = highest >= min(place // 2 + 1, states - 1)
            strings, highest = strings[kept], highest[kept]
    return np.ascontiguousarray(strings.reshape(-1, states, 2).transpose(0, 2, 1))


def minimal_final_sets(tables: Tables) -> Counts:
    """For each table the number of sets of accepting states that make it a minimal automaton.

    A set does so iff from every pair of states some word leads to a pair that the set splits.
    """
    counts = [_minimal_final_sets(part) for part in _parts(tables)]
    return np.concatenate(counts)


def _minimal_final_sets(tables: Tables) -> Counts:
    states = tables.shape[2]
    pairs = list(combinations(range(states), 2))
    bit = np.zeros((states, states), dtype=np.int64)
    for i, (p, q) in enumerate(pairs):
        bit[p, q] = bit[q, p] = 1 << i
    reached = np.zeros((len(tables), len(pairs)), dtype=np.int64)
    for i, (p, q) in enumerate(pairs):
        reached[:, i] = 1 << i
        for x in range(2):
            reached[:, i] |= bit[tables[:, x, p], tables[:, x, q]]
    for k in range(len(pairs)):
        reached |= -(reached >> k & 1) & reached[:, k : k + 1]
    found = np.zeros(len(tables), dtype=np.int64)
    for final in range(
        1 << (states - 1)
    ):  # the last state rejects; complements are counted with the factor 2
        split = sum(1 << i for i, (p, q) in enumerate(pairs) if (final >> p ^ final >> q) & 1)
        found += 2 * ((reached & split) != 0).all(axis=1)
    return found


def semiautomaton_codes(tables: Tables) -> Counts:
    """An integer for each table, equal iff the tables agree up to the order of states and of letters.

    The least canonical table over the two orders of the letters and all starts that reach every state.
    """
    return np.concatenate([_semiautomaton_codes(part) for part in _parts(tables)])


def _semiautomaton_codes(tables: Tables) -> Counts:
    least = np.full(len(tables), np.iinfo(np.int64).max)
    for start in range(tables.shape[2]):
        for letters in ((0, 1), (1, 0)):
            least = np.minimum(least, _codes_from(tables, start, letters))
    return least


def _codes_from(tables: Tables, start: int, letters: tuple[int, ...]) -> Counts:
    count, _, states = tables.shape
    row = np.arange(count)
    number = np.full((count, states), -1, dtype=np.int64)
    state_of = np.zeros((count, states + 1), dtype=np.int64)  # one place more, for what is written in vain
    number[:, start], state_of[:, 0] = 0, start
    seen = np.ones(count, dtype=np.int64)
    code = np.zeros(count, dtype=np.int64)
    for i in range(states):
        for x in letters:
            target = tables[row, x, state_of[:, i]].astype(np.int64)
            fresh = (number[row, target] < 0) & (seen > i)  # beyond, there is no i-th state
            number[row[fresh], target[fresh]] = seen[fresh]
            state_of[row[fresh], seen[fresh]] = target[fresh]
            seen += fresh
            code = code * states + number[row, target]
    return np.where(seen == states, code, np.iinfo(np.int64).max)


def _parts(tables: Tables) -> list[Tables]:
    return [tables[i : i + _ROWS_AT_ONCE] for i in range(0, len(tables), _ROWS_AT_ONCE)]


def random_minimal_tables(states: int, count: int, seed: int) -> Tables:
    """Uniform draws from the minimal automata with `states` states, by rejection; state 0 is the start.

    Tables and sets of accepting states are uniform; an automaton with all states reachable has no automorphism that
    keeps the start, so each one is met in (states - 1)! forms. An automaton may be drawn twice.
    """
    generator = np.random.default_rng(seed)
    found: list[Tables] = []
    missing = count
    while missing > 0:
        tables = generator.integers(0, states, size=(4 * count, 2, states), dtype=np.int8)
        kept = tables[_codes_from(tables, 0, (0, 1)) < np.iinfo(np.int64).max]
        # a table is kept with the share of its sets of accepting states that make it minimal
        drawn = generator.integers(0, 1 << states, size=len(kept)) < minimal_final_sets(kept)
        found.append(kept[drawn][:missing])
        missing -= len(found[-1])
    return np.concatenate(found)
