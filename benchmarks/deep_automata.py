"""Automata with many levels: a search over two letters, a family by design, and the bound |Q| - 1 by more letters."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np

from mirrormata.benchmarks.two_letter_automata import Tables, minimal_final_sets, semiautomaton_codes
from mirrormata.constructions.automata._automaton import Automaton, Indices, minimise
from mirrormata.constructions.cascades._automata import Cascade
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.cascades._holonomy import holonomy_of_maps

_WORSE = 0.5


def climb(states: int, steps: int, seed: int) -> tuple[int, Tables]:
    """The most levels met by a random walk over two-letter tables, and a table `[2, states]` with them.

    A step changes one or two entries; a step that loses d levels is taken with probability exp(-d / 0.5). Only
    tables count that some start and some set of accepting states make a minimal automaton; its start is state 0.
    """
    generator = np.random.default_rng(seed)
    table = generator.integers(0, states, size=(2, states))
    level = holonomy_of_maps(table).levels
    best, found = -1, table
    for _ in range(steps):
        changed = table.copy()
        for _ in range(int(generator.integers(1, 3))):
            changed[generator.integers(0, 2), generator.integers(0, states)] = generator.integers(0, states)
        following = holonomy_of_maps(changed).levels
        if following < level and generator.random() >= math.exp((following - level) / _WORSE):
            continue
        table, level = changed, following
        if level > best and (canonical := canonical_minimal(table)) is not None:
            best, found = level, canonical
    return best, found.astype(np.int8)


def canonical_minimal(table: Indices) -> Indices | None:
    """The canonical table of the two-letter maps `[2, states]`; None where no start and final set make it minimal."""
    tables = table[None].astype(np.int8)
    code = int(semiautomaton_codes(tables)[0])
    if code == np.iinfo(np.int64).max or not minimal_final_sets(tables)[0]:
        return None
    return table_of_code(code, table.shape[1])


def table_of_code(code: int, states: int) -> Indices:
    """The canonical table `[2, states]` that a number of `semiautomaton_codes` stands for."""
    digits = [code // states**place % states for place in reversed(range(2 * states))]
    return np.array(digits, dtype=np.int64).reshape(states, 2).T


def order_preserving_family(states: int) -> Indices:
    """Order-preserving maps `[letters, states]` with at least C(n-1, k-1) levels, k = n // 2 + 1, for n >= 3 states.

    P_1, ..., P_m are the k-subsets of {0, ..., n-1} that contain n-1, by the sum of their elements. Letter i maps
    P_i onto P_(i+1), and every other point as the next larger element of P_i.
    """
    size = states // 2 + 1
    subsets = [(*rest, states - 1) for rest in combinations(range(states - 1), size - 1)]
    subsets.sort(key=lambda s: (sum(s), s))
    maps = [np.array(b)[np.searchsorted(a, np.arange(states))] for a, b in pairwise(subsets)]
    return np.array(maps, dtype=np.int64)


def is_minimal_for_some_final_state(maps: Indices) -> bool:
    """Whether start 0 and one accepting state make the maps `[letters, states]` a minimal automaton."""
    letters, states = maps.shape
    for final in range(states):
        accepts = np.array([q == final for q in range(states)], dtype=object)
        automaton = Automaton(tuple(range(states)), tuple(range(letters)), maps, 0, accepts)
        if len(minimise(automaton).states) == states:
            return True
    return False


def full_cascade(maps: Indices) -> Cascade:
    """A cascade with |Q| - 1 levels whose first letters are those of the maps `[letters, states]`.

    A cycle, a swap and a collapse are added as letters, so the semigroup has all maps, and all sets of one size
    are equivalent. The emulation is checked and proved on the spot.
    """
    states = maps.shape[1]
    points = np.arange(states)
    swap, collapse = points.copy(), points.copy()
    swap[:2] = (1, 0) if states > 1 else 0
    collapse[:2] = 0
    return cascade(holonomy_of_maps(np.concatenate([maps, [np.roll(points, -1), swap, collapse]])))
