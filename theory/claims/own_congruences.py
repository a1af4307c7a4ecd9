"""own.congruences: congruences of trivial meet, whose quotients take one layer each, side by side in one layer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ...constructions.algebra._congruences import is_congruence, number_classes
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._completing import object_array
from ...constructions.theorems._construction import Problem
from ...constructions.theorems.own_congruences import CongruenceSearch, follow_congruences
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect

CLAIM = Claim(
    "own.congruences", "Congruences of trivial meet, each quotient in one layer: one layer side by side", "supported", seconds=4
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """An automaton, congruences that are given with it, and whether the construction may choose others."""

    automaton: Automaton
    congruences: tuple[Indices, ...]
    chooses: bool


def verify(effort: Effort = QUICK) -> Verdict:
    """The heads of the quotients, side by side, are one layer for the automaton.

    Statement: A congruence of an automaton is a partition of its states with p ~ q ⇒ δ(p, a) ~ δ(q, a) for every letter a; letters
        then act on its classes. If no two states are in the same class of each of some congruences, and each quotient has a
        linear RNN of one layer, then the heads of these side by side are one layer that realises the automaton: with the
        factors and dimension of the largest and at most the sum of their work. Congruences are of this kind if and only if each minimal
        congruence is avoided by one of them.
    Direction: sufficient
    Hypotheses: The start reaches every state. The read-out sees the codes of all heads together.
    Arithmetic: exact; the numbers are those of the quotients' heads
    Source: ours, from the classical parallel decomposition of automata by partitions with the substitution property (Hartmanis and
        Stearns 1966)
    Method: Random products of two or three automata of permutations and resets, or of steps along a path, their states in a random
        order. With the projections, or with congruences that the construction chooses itself, the stand-alone checker checks
        the layer. Without one of the projections it must fail.
    Example:
        >>> print(verify().line())
        supported by 30 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(30, 300),
        draw=draw_product,
        broken=draw_fewer,
        check=find_defect,
    )


def find_defect(case: Case) -> str | None:
    """What is wrong with the layer of a case, by the checker; or that states share a class everywhere."""
    if not all(is_congruence(case.automaton.transitions, c) for c in case.congruences):
        return "a partition that letters do not respect"
    search = CongruenceSearch(Problem(case.automaton))
    try:
        made = follow_congruences(search, search.choose() if case.chooses else case.congruences)
    except ValueError as error:
        return str(error)
    if made.depth != 1:
        return f"{made.depth} layers"
    return defect(made)


def draw_product(generator: np.random.Generator) -> Case:
    """Two or three automata that read the same letters; the states are all tuples of theirs, and the start reaches them all."""
    while True:
        case = _draw_tuples(generator)
        if len(case.automaton.reachable()) == len(case.automaton.states):
            return case


def _draw_tuples(generator: np.random.Generator) -> Case:
    letters = int(generator.integers(2, 4))
    parts = [_draw_part(generator, letters) for _ in range(int(generator.integers(2, 4)))]
    tuples = list(product(*(range(part.shape[1]) for part in parts)))
    order = [tuples[i] for i in generator.permutation(len(tuples)).tolist()]
    place = {state: q for q, state in enumerate(order)}
    rows = [
        [place[tuple(int(part[x, q]) for part, q in zip(parts, state, strict=True))] for state in order]
        for x in range(letters)
    ]
    size = len(order)
    automaton = Automaton(
        tuple(range(size)), tuple("abc"[:letters]), np.array(rows), int(generator.integers(size)),
        object_array(q == 0 for q in range(size)), "drawn",
    )  # fmt: skip
    projections = tuple(number_classes(np.array([state[i] for state in order])) for i in range(len(parts)))
    return Case(automaton, projections, bool(generator.integers(2)))


def draw_fewer(generator: np.random.Generator) -> Case:
    """A product without one of its projections."""
    case = draw_product(generator)
    left_out = int(generator.integers(len(case.congruences)))
    kept = (*case.congruences[:left_out], *case.congruences[left_out + 1 :])
    return Case(case.automaton, kept, chooses=False)


def _draw_part(generator: np.random.Generator, letters: int) -> Indices:
    """Letters `[letters, states]` that permute or reset two or three states, or steps along a path of so many."""
    size = int(generator.integers(2, 4))
    states = np.arange(size)
    on_a_path = bool(generator.integers(2))
    rows = []
    for _ in range(letters):
        if on_a_path:
            rows.append(np.clip(states + int(generator.integers(-1, 2)), 0, size - 1))
        elif generator.integers(2):
            rows.append(generator.permutation(size))
        else:
            rows.append(np.full(size, generator.integers(size)))
    return np.array(rows, dtype=np.int64)
