"""State-tracking tasks: `gridworld:n`, `codeswap:n`, `boxes:n,k`, `chess`, `random:...`. States are the outputs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from ..automaton import Automaton, object_array
from ..errors import InputError
from .groups import symmetric
from .parameters import Limits, Parameter, no_parameters, whole_numbers


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
    return Automaton(tuple(range(n)), letters, table, 0, object_array(range(n)), name).trimmed()
