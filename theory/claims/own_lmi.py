"""own.LMI: which automata take one layer of norm at most 1 with one vector a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._cyclotomic import Number, sign
from ...constructions.algebra._householder import gh_factor
from ...constructions.algebra._matrices import Matrix, dot, is_positive_semidefinite, matrix
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._completing import object_array
from .._verdict import Verdict
from ..planning._gram_equations import NoGram, no_gram
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, decide_values
from ._parts import construct_table

# own.LMI: one vector a state in one layer with ‖A‖ ≤ 1; exact Gram matrices.
#
# State q stands at the vector p_q, a letter acts as p ↦ A_a p + b_a with ‖A_a‖ ≤ 1, so that A_a P x = P T_a x for
# each x of sum zero: T_a is the 0/1 matrix of the letter, column q of P is p_q, and G = PᵀP. Such vectors exist exactly
# if some positive semidefinite G has, on vectors of sum zero, T_aᵀ G T_a ⪯ G for all letters, and
# N(e_q - e_r) > 0 for q ≠ r, with N(x) = xᵀGx.
#
# (From G = PᵀP, P x ↦ P T_a x on x of sum zero is well defined and does not lengthen; A_a is that, and the identity on
# the complement; b_a = p_δ(q,a) - A_a p_q is the same for all q.)
#
# Where none exists, equations say so: `theory/planning/_gram_equations.py`.


def gram_violation(G: Matrix, transitions: Indices) -> str | None:
    """Why an exact symmetric G `[states, states]` is no Gram matrix for letters `[letters, states]`; None if it is.

    >>> gram_violation(((1, 0), (0, 1)), np.array([[1, 0]]))
    >>> gram_violation(((1, 1), (1, 1)), np.array([[1, 0]]))
    'states 0 and 1 are at one point'
    """
    n = transitions.shape[1]
    if len(G) != n or any(len(row) != n for row in G) or tuple(zip(*G, strict=True)) != tuple(G):
        return f"not a symmetric {n} × {n} matrix"
    if not is_positive_semidefinite(_on_differences(G, range(n))):
        return "not positive semidefinite on vectors of sum zero"
    for q, r in combinations(range(n), 2):
        if sign(G[q][q] + G[r][r] - G[q][r] - G[r][q]) <= 0:
            return f"states {q} and {r} are at one point"
    for letter, image in enumerate(transitions.tolist()):
        before, after = _on_differences(G, range(n)), _on_differences(G, image)
        drop = matrix(
            [
                [a - b for a, b in zip(rows[0], rows[1], strict=True)]
                for rows in zip(before, after, strict=True)
            ]
        )
        if not is_positive_semidefinite(drop):
            return f"letter {letter} lengthens a difference"
    return None


def gram_of(lrnn: LRNN) -> Matrix:
    """G = PᵀP of a one-layer LRNN of one head that has one code a state, in the order of the automaton's states."""
    head = lrnn.layers[0].heads[0]
    codes: dict[int, dict[tuple[int, int], Number]] = {}
    for row in lrnn.decode.tolist():
        codes[row[0]] = {(i, j): x for i, j, x in head.codes[row[1]]}
    n = len(lrnn.automaton.states)
    if lrnn.depth != 1 or len(lrnn.layers[0].heads) != 1 or len(lrnn.decode) != n:
        raise ValueError("a Gram matrix needs one layer, one head and one code a state")
    places = sorted({place for code in codes.values() for place in code})
    vectors = [[codes[q].get(place, 0) for place in places] for q in range(n)]
    return matrix([[dot(p, r) for r in vectors] for p in vectors])


def small_gram(transitions: Indices, largest: int) -> Matrix | None:
    """The first G whose squared distances between states are integers from 1 to `largest`; None where none is one.

    Exhaustive: `largest` to the power n(n-1)/2 candidates, so for a few states only. State 0 stands at 0.
    """
    n = transitions.shape[1]
    pairs = list(combinations(range(n), 2))
    for values in sorted(product(range(1, largest + 1), repeat=len(pairs)), key=lambda v: (max(v), v)):
        distance = dict(zip(pairs, values, strict=True)) | {(q, q): 0 for q in range(n)}
        G = matrix(
            [
                [
                    Fraction(distance[0, q] + distance[0, r] - distance[min(q, r), max(q, r)], 2)
                    for r in range(n)
                ]
                for q in range(n)
            ]
        )
        if gram_violation(G, transitions) is None:
            return G
    return None


def _on_differences(G: Matrix, image: Sequence[int]) -> Matrix:
    """The form x ↦ N(T x), T e_q = e_{image[q]}, in the basis e_q - e_0, q ≥ 1, of the vectors of sum zero."""
    o = image[0]
    return matrix([[G[q][r] - G[q][o] - G[o][r] + G[o][o] for r in image[1:]] for q in image[1:]])


CLAIM = Claim(
    "own.LMI", "One vector a state in one layer of norm at most 1: a Gram matrix, or equations against it", "exhaustive",
    uses=("G.P1.2",),
)  # fmt: skip
FEASIBLE = (
    "parity", "mod:3", "mod:5", "mod:8", "flipflop", "gridworld:4", "gridworld:6", "dyck1:2", "dyck1:4",
    "starladder:ab", "starladder:abab", "tomita:1", "tomita:2", "tomita:5", "tomita:6",
)  # fmt: skip
INFEASIBLE = ("tomita:3", "tomita:4", "tomita:7", "even_pairs", "T3", "T4", "mod_arith:3")
MAX_STATES = 24
"""Of a user's automaton: more states are passed over."""
LARGEST = 2
"""Squared distances of states that suffice for all automata of three states and two letters."""
Evidence = Matrix | NoGram | None
Case = tuple[str, Automaton, Evidence, bool]
"""A name, an automaton, the Gram matrix or the proof that there is none, and whether there is said to be one."""


def verify(effort: Effort = QUICK) -> Verdict:
    """A linear inequality decides; where it has no solution, linear equations over Q say so.

    Statement: Let each state q stand at one vector p_q, all different, and each letter act by p ↦ A p + b with ‖A‖ ≤ 1. This
        is possible exactly if some positive semidefinite G has TᵀGT ⪯ G on vectors of sum zero for the 0/1
        matrix T of each letter, and (e_q - e_r)ᵀG(e_q - e_r) > 0 for q ≠ r. Where it is impossible for the automata
        named here, and for all with two letters and three states, this follows from the equations
        yᵀGx = (T_a y)ᵀG(T_a x) for T_u T_a x = x alone.
    Direction: necessary and sufficient for one vector a state; says nothing of several vectors a state
    Hypotheses: One layer, one vector a state; all states count.
    Arithmetic: exact, rationals; proofs of impossibility are replayed in integers
    Source: own, derived from the linear matrix inequality of common Lyapunov functions
    Method: For each automaton a Gram matrix, of a construction or with small integer distances, is checked by exact
        elimination, or the combination of equations is replayed. All 378 pairs of maps of three states are decided.
        The evidence of one automaton must fail for another in which one transition differs. "Contains a, then b" has
        no such vectors, and yet one layer that shrinks recognises it: all its reachable states are classified.
    Example:
        >>> print(verify().line())
        holds on 405 cases: no violation, as claimed
    """
    named = [decide_case(name, automaton, expected) for name, automaton, expected in automata()]
    pairs = [decide_case(f"{f}, {g}", automaton, None) for f, g, automaton in three_states()]
    cases = [*named, *pairs]
    generator = effort.generator(1)
    broken = [
        (name, rewire_automaton(a, generator), evidence, there)
        for name, a, evidence, there in named * effort.pick(1, 10)
    ]
    feasible = sum(there for _, _, _, there in pairs)
    shrinking = contains_a_then_b(effort.pick(10, 14))
    evidence = {
        "two letters, three states": f"{feasible} have a Gram matrix, {len(pairs) - feasible} have none",
        "named": {name: "possible" if there else "impossible" for name, _, _, there in named},
        "proofs in equations": {name: len(e.equations) for name, _, e, _ in named if isinstance(e, NoGram)},
        "a then b, words": shrinking[0],
    }
    return check_all_cases(
        CLAIM,
        cases=[*cases, ("contains a, then b, by shrinking states", None, None, shrinking[1])],
        check=violation,
        of="named automata, and all pairs of maps of three states",
        broken=broken,
        evidence=evidence,
    )


def violation(case: tuple[str, Automaton | None, Evidence, bool]) -> Any:
    """Why the evidence does not show what is said of the automaton; None where it does."""
    name, automaton, evidence, there = case
    if automaton is None:
        return None if there else {"automaton": name}
    if isinstance(evidence, NoGram):
        shown = not there and evidence.replay(automaton.transitions.tolist())
        return None if shown else {"automaton": name, "proof": evidence.to_json()}
    reason = "neither was found" if evidence is None else gram_violation(evidence, automaton.transitions)
    return (
        None if there and reason is None else {"automaton": name, "Gram matrix": evidence, "reason": reason}
    )


def decide_case(name: str, automaton: Automaton, expected: bool | None) -> Case:
    """With the proof where one is found, else with a Gram matrix; `expected`: None where nothing is claimed."""
    proof = no_gram(automaton)
    if proof is not None:
        return name, automaton, proof, bool(expected)
    if len(automaton.states) == 3:
        found = small_gram(automaton.transitions, LARGEST)
    else:
        found = gram_of(construct_table(automaton, "own.LMI"))
    return name, automaton, found, expected is not False


def automata() -> list[tuple[str, Automaton, bool]]:
    """The automata of the statement, with whether vectors exist."""
    named = [(name, automaton_from_spec(name), name in FEASIBLE) for name in (*FEASIBLE, *INFEASIBLE)]
    even_pairs = automaton_from_spec("even_pairs")
    after_start = replace(even_pairs, start=int(even_pairs.transitions[0, even_pairs.start])).trim()
    digits = [(sign, d) for sign in "+*" for d in range(3)]
    running = [[(q + d if sign == "+" else q * d) % 3 for q in range(3)] for sign, d in digits]
    by_precedence = [  # state 3s + p: s + p, where p is the product that a further × goes on with
        [3 * ((s + p) % 3) + d if sign == "+" else 3 * s + p * d % 3 for s in range(3) for p in range(3)]
        for sign, d in digits
    ]
    return [
        *named,
        ("even_pairs without its start", after_start, True),
        ("mod 3, × on the running value", of_maps(running), True),
        ("mod 3, × by precedence, 9 states", of_maps(by_precedence), False),
        ("contains a, then b", of_maps([[1, 1, 2], [0, 2, 2]]), False),
    ]


def three_states() -> list[tuple[tuple[int, ...], tuple[int, ...], Automaton]]:
    """All 378 unordered pairs of maps of three states."""
    maps = list(product(range(3), repeat=3))
    return [(f, g, of_maps([list(f), list(g)])) for f, g in combinations_with_replacement(maps, 2)]


def of_maps(maps: list[list[int]]) -> Automaton:
    """The automaton on all points, whether they are reached or not."""
    points = range(len(maps[0]))
    return Automaton(
        tuple(points), tuple(range(len(maps))), np.array(maps), 0, object_array(points), keeps_points=True
    )


def rewire_automaton(automaton: Automaton, generator: np.random.Generator) -> Automaton:
    """One transition leads to another state."""
    maps = automaton.transitions.copy()
    x, q = (int(generator.integers(size)) for size in maps.shape)
    maps[x, q] = (maps[x, q] + generator.integers(1, maps.shape[1])) % maps.shape[1]
    return replace(automaton, transitions=maps)


def contains_a_then_b(length: int) -> tuple[int, bool]:
    """How many words to a length were read by the shrinking layer, and whether it told the state after each."""
    a, b = gh_factor(Fraction(1, 2), {0: 1, 1: -1}), gh_factor(1, {1: 1})
    after: dict[str, Callable[[int], int]] = {"a": lambda q: max(q, 1), "b": lambda q: 2 if q else 0}
    reached: list[tuple[Matrix, int]] = [(((1,), (0,)), 0)]
    words, right = 1, True
    for _ in range(length):
        reached = [(f.apply(H), after[x](q)) for H, q in reached for x, f in (("a", a), ("b", b))]
        words += len(reached)
        right = right and all(read_out(H) == q for H, q in reached)
    return words, right


def read_out(H: Matrix) -> int:
    """0 at (1, 0), 1 at (1/2, 1/2), 2 where x + y ≤ 1/2."""
    (x,), (y,) = H
    if x + y <= Fraction(1, 2):
        return 2
    return 0 if y == 0 else 1


def applies(subject: Subject) -> Verdict | None:
    """Is there one layer of norm at most 1 with one vector a state for a user's automaton?"""
    automaton = subject.automaton
    if automaton is None or len(automaton.states) > MAX_STATES or len(automaton.states) < 2:
        return None
    proof = no_gram(automaton)
    if proof is None:
        return None
    if not proof.replay(automaton.transitions.tolist()):
        raise AssertionError("a proof that does not replay")
    q, r = (automaton.states[i] for i in proof.pair)
    found = f"{len(proof.equations)} equations put states {q!r} and {r!r} at one point: no such layer"
    return decide_values(
        CLAIM,
        computed=found,
        claimed=found,
        evidence={"proof": proof.to_json()},
        assumptions=("one layer, one vector a state, norm at most 1",),
    )
