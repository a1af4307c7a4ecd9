"""State-tracking tasks: `gridworld:n`, `codeswap:n`, `boxes:n,k`, `chess`, `random:...`. States are the outputs.

Counters: `parity`, `mod:m`, `cycle:m`. The state is its own output.

Transformation semigroups by name: `flipflop`, `permreset:n`, `Tn`, `Tn[all]`. The state is its own output.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...foundation._errors import InputError
from ..automata._automaton import Automaton, Label
from ..automata._completing import object_array
from ._groups import symmetric
from ._parameters import Limits, Parameter, no_parameters, whole_numbers


def gridworld(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "left", "right" on cells 0, ..., n-1 in a row, stopped at the walls; the start is cell 0."""
    (n,) = whole_numbers(name, text, [Parameter("n", 1)])
    limits.check(name, n, 2)
    cells = np.arange(n)
    moves = np.clip(np.stack([cells - 1, cells + 1]), 0, n - 1)
    return Automaton(tuple(range(n)), ("left", "right"), moves, 0, object_array(range(n)), name)


def codeswap(name: str, text: str, limits: Limits) -> Automaton:
    """n values in n variables; the letter "i-j" (i < j) swaps the contents of variables i and j.

    The state is the tuple s, s[v] = the variable that holds value v, at first v itself: n! states, and the letter
    acts as the transposition (i j) from the left.
    """
    (n,) = whole_numbers(name, text, [Parameter("n", 2, 1000)])
    pairs = list(itertools.combinations(range(n), 2))
    limits.check(name, math.factorial(n), len(pairs))
    group = symmetric(n)
    index = {element: i for i, element in enumerate(group.elements)}
    swaps = []
    for i, j in pairs:
        swap = list(range(n))
        swap[i], swap[j] = j, i
        swaps.append(index[tuple(swap)])
    return replace(group.word_problem(swaps, name=name), letters=tuple(f"{i}-{j}" for i, j in pairs))


def boxes(name: str, text: str, limits: Limits) -> Automaton:
    """k objects in n boxes; the letter "o>b" puts object o into box b.

    The state is the tuple of each object's box, at first 0 for all: n^k states, n·k letters.
    """
    n, k = whole_numbers(name, text, [Parameter("n", 1), Parameter("k", 1, 1000)])
    limits.check(name, n**k, n * k)
    states = np.arange(n**k)
    rows = []
    for weight in (n ** (k - 1 - o) for o in range(k)):
        without = states - states // weight % n * weight
        rows += [without + box * weight for box in range(n)]
    placements = tuple(itertools.product(range(n), repeat=k))
    letters = tuple(f"{o}>{box}" for o in range(k) for box in range(n))
    return Automaton(placements, letters, np.stack(rows), 0, object_array(placements), name)


def chess(name: str, text: str, limits: Limits) -> Automaton:
    """One piece followed through moves (source, target) of a game: the letter "e2e4" moves what stands on e2.

    The states are the 64 squares "a1", "b1", ..., "h8" (the start is a1) and "captured", where the piece is once
    another piece moves to its square. Letters: all 64·63 pairs of different squares. Legality is not judged.
    """
    no_parameters(name, text)
    squares = [file + rank for rank in "12345678" for file in "abcdefgh"]
    captured = len(squares)
    moves = list(itertools.permutations(range(captured), 2))
    limits.check(name, captured + 1, len(moves))
    table = np.tile(np.arange(captured + 1), (len(moves), 1))
    for row, (source, target) in zip(table, moves, strict=True):
        row[target] = captured
        row[source] = target
    states = (*squares, "captured")
    letters = tuple(squares[source] + squares[target] for source, target in moves)
    return Automaton(states, letters, table, 0, object_array(states), name)


_RANDOM = (Parameter("states", 1), Parameter("letters", 1), Parameter("seed", 0))


def random(name: str, text: str, limits: Limits) -> Automaton:
    """Each transition uniform among the states, independently; the part reachable from state 0.

    Drawn letter by letter from the raw 64-bit stream of numpy's PCG64(seed), which numpy keeps fixed between
    versions. Letters "a", "b", ... (up to 26), else "x0", "x1", ...; states keep their numbers.
    """
    given = dict(part.partition("=")[::2] for part in text.split(",")) if text else {}
    symbols = [p.symbol for p in _RANDOM]
    problems = [f"{symbol} is missing" for symbol in symbols if symbol not in given]
    problems += [f"{key!r} is not a parameter" for key in given if key not in symbols]
    if text.count(",") + 1 > len(given) and text:
        problems.append("a parameter is given twice")
    if problems:
        raise InputError(f"{name}: {'; '.join(problems)}; write random:states=n,letters=k,seed=s")
    n, k, seed = whole_numbers(name, ",".join(given[symbol] for symbol in symbols), _RANDOM)
    limits.check(name, n, k)
    stream = np.random.PCG64(seed)
    accepted = (2**64 // n) * n  # a larger draw would favour the low states
    draws = stream.random_raw(n * k)
    if accepted < 2**64:
        while (over := draws >= np.uint64(accepted)).any():
            draws[over] = stream.random_raw(int(over.sum()))
    table = (draws % np.uint64(n)).astype(np.int64).reshape(k, n)
    letters = tuple("abcdefghijklmnopqrstuvwxyz"[:k]) if k <= 26 else tuple(f"x{i}" for i in range(k))
    return Automaton(tuple(range(n)), letters, table, 0, object_array(range(n)), name).trim()


def parity(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "0", "1"; the state is the number of ones mod 2."""
    no_parameters(name, text)
    return counter(name, 2, {"0": 0, "1": 1}, limits)


def mod(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "0", "1"; the state is the number of ones mod m."""
    (m,) = whole_numbers(name, text, [Parameter("m", 1)])
    return counter(name, m, {"0": 0, "1": 1}, limits)


def cycle(name: str, text: str, limits: Limits) -> Automaton:
    """Letters "-1", "0", "+1": steps on a cycle of m places; the state is the place, from 0."""
    (m,) = whole_numbers(name, text, [Parameter("m", 1)])
    return counter(name, m, {"-1": -1, "0": 0, "+1": 1}, limits)


def counter(name: str, m: int, steps: dict[str, int], limits: Limits) -> Automaton:
    """States 0, ..., m-1 from 0; each letter adds its step mod m."""
    limits.check(name, m, len(steps))
    places = np.arange(m)
    table = np.stack([(places + step) % m for step in steps.values()])
    return Automaton(tuple(range(m)), tuple(steps), table, 0, object_array(range(m)), name)


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
