"""own.definite: where the last m letters decide the state, one head of dimension m holds them, with m factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...constructions.automata._automaton import Automaton, minimise
from ...constructions.automata._completing import object_array
from ...constructions.theorems.own_definite import Register, find_register, register_lrnn
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect

CLAIM = Claim(
    "own.definite",
    "Automata whose last m letters decide the state: one shift register with m factors and dimension m",
    "supported",
    seconds=3,
    formal=(
        "Definite.definite_automaton, with no row of zeros",
        "Definite.shift_by_factors, for the factors of the shift",
        "Definite.shift_needs, for the least number of factors",
    ),
)


@dataclass(frozen=True)
class Case:
    """An automaton, the number of letters that were drawn to decide its state, and how many rows the register lacks."""

    automaton: Automaton
    drawn: int
    missing: int = 0


def verify(effort: Effort = QUICK) -> Verdict:
    """A shift register of the last m letters realises an automaton whose last m letters decide its state.

    Statement: Leave out the letters that move no state, and count letters with the same map once. If every word of m of the k others sends all
        states to one state, then H ← N H + e_0 bits(x)ᵀ realises the automaton in one layer, where N is the nilpotent
        shift of dimension m: norm 1, m factors (one projection and m - 1 swaps), ⌈log2 k⌉ columns if some word of m
        letters leads to the start state, otherwise ⌈log2(k + 1)⌉, and all entries 0 or 1.
    Direction: sufficient
    Hypotheses: The start reaches every state. Least m is meant; m factors are the fewest for N, since N - I has rank m.
    Arithmetic: exact; the numbers are 0, 1 and -1
    Source: ours; definite automata are those of Perles, Rabin and Shamir 1963
    Method: Random functions of the last one to four of two or three letters, minimised; some letters are doubled, and some do nothing. The
        stand-alone checker checks the register, whose length must be at most the number of letters drawn. With one row
        fewer it must fail.
    Example:
        >>> print(verify().line())
        supported by 40 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM, effort, count=effort.pick(40, 400), draw=draw_definite, broken=draw_shorter, check=find_defect
    )


def find_defect(case: Case) -> str | None:
    """What is wrong with the register of a case, by the checker."""
    register = find_register(case.automaton.transitions, case.automaton.start)
    if register is None or register.length > case.drawn:
        return "the automaton is not found to be definite"
    made = register_lrnn(case.automaton, shorten(register, case.missing))
    if made is None:
        return "a word of the register stands for two states"
    bits = max(1, (len(register.maps) - 1 + register.blank).bit_length())
    figures = (
        made.depth,
        made.householders,
        made.dim,
        made.heads,
        made.integer_bound,
        made.layers[0].heads[0].value_dim,
    )
    if figures != (1, register.length, register.length, 1, 1, bits):
        return f"layers, factors, dimension, heads, bound and columns are {figures}"
    return defect(made)


def shorten(register: Register, rows: int) -> Register:
    """The register without its oldest rows."""
    return replace(register, length=register.length - rows, first=register.first[rows:]) if rows else register


def draw_definite(generator: np.random.Generator) -> Case:
    """A random function of the last letters as an automaton with at least two states."""
    while True:
        case = _draw_function(generator)
        if len(case.automaton.states) > 1:
            return case


def draw_shorter(generator: np.random.Generator) -> Case:
    """One with a register that lacks its oldest row, and has another."""
    while True:
        case = draw_definite(generator)
        register = find_register(case.automaton.transitions, case.automaton.start)
        if register is not None and register.length > 1:
            return replace(case, missing=1)


def _draw_function(generator: np.random.Generator) -> Case:
    k, m = int(generator.integers(2, 4)), int(generator.integers(1, 5))
    words = list(product(range(k), repeat=m))
    if generator.integers(2):
        # the shorter words too, so that no word leads back to the start
        words = [word for length in range(m + 1) for word in product(range(k), repeat=length)]
    place = {word: q for q, word in enumerate(words)}
    maps = [[place[(*word, x)[-m:]] for word in words] for x in range(k)]
    doubled = maps[: int(generator.integers(2))]
    idle = [list(range(len(words)))][: int(generator.integers(2))]
    rows = np.array([*maps, *doubled, *idle])
    outputs = object_array(generator.integers(0, 2, len(words)).tolist())
    start = 0 if () in place else int(generator.integers(len(words)))
    automaton = Automaton(
        tuple(range(len(words))), tuple("abcde"[: len(rows)]), rows, start, outputs, "drawn"
    )
    return Case(minimise(automaton), m)
