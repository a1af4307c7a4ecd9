"""Transformation semigroups by name: `flipflop`, `permreset:n`, `Tn`, `Tn[all]`. The state is its own output."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..automaton import Automaton, Label, object_array
from .parameters import Limits, Parameter, no_parameters, whole_numbers


def flipflop(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "read", "0", "1": the state is the last value written, 0 at first."""
    no_parameters(name, text)
    return _on_points(name, ("read", "0", "1"), [[0, 1], [0, 0], [1, 1]], limits)


def permreset(name: str, text: str, limits: Limits) -> Automaton:
    """All n cyclic shifts "shift0", "shift1", ... (shift j adds j) and n resets "reset0", ... of n points."""
    (n,) = whole_numbers(name, text, [Parameter("n", 1)])
    limits.check(name, n, 2 * n)
    points = np.arange(n)
    shifts = (points[:, None] + points) % n
    resets = np.repeat(points[:, None], n, axis=1)
    letters = [f"shift{j}" for j in range(n)] + [f"reset{j}" for j in range(n)]
    return _on_points(name, letters, np.vstack([shifts, resets]), limits)


def full_transformations(name: str, text: str, limits: Limits) -> Automaton:
    """T_n, all maps of n points, from "cycle" (i to i+1), "swap" (0 and 1) and "collapse" (1 to 0)."""
    (n,) = whole_numbers(name, text, [Parameter("n", 2)])
    limits.check(name, n, 3)
    cycle = np.roll(np.arange(n), -1)
    swap, collapse = np.arange(n), np.arange(n)
    swap[:2] = 1, 0
    collapse[1] = 0
    return _on_points(name, ("cycle", "swap", "collapse"), [cycle, swap, collapse], limits)


def all_transformations(name: str, text: str, limits: Limits) -> Automaton:
    """T_n with every map of n points as a letter: n^n image tuples in lexicographic order."""
    (n,) = whole_numbers(name, text, [Parameter("n", 1, 1000)])
    limits.check(name, n, n**n)
    maps = list(itertools.product(range(n), repeat=n))
    return _on_points(name, maps, maps, limits)


def _on_points(name: str, letters: Sequence[Label], maps: ArrayLike, limits: Limits) -> Automaton:
    table = np.array(maps, dtype=np.int64)
    n = table.shape[1]
    limits.check(name, n, len(table))
    return Automaton(tuple(range(n)), tuple(letters), table, 0, object_array(range(n)), name)
