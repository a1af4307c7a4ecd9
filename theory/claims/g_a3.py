"""G.A3: without a norm bound any automaton takes one layer with its 0/1 transition matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._matrices import matrix, product, transpose
from ...constructions.automata._automaton import Automaton
from ...constructions.theorems.g_a3 import unbounded_lrnn
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect

CLAIM = Claim(
    "G.A3",
    "Any automaton in one layer of 0/1 matrices, if the norm may exceed 1",
    "supported",
    formal=(
        "Permutations.one_hot_automaton, for the layer",
        "Permutations.merging_expands, for a norm of at least √m",
    ),
)
Case = tuple[Automaton, Automaton]
"""The automaton that is constructed, and the one that the construction must follow."""


def verify(effort: Effort = QUICK) -> Verdict:
    """One layer with one-hot states follows any automaton, and its norm exceeds 1 exactly where a letter merges states.

    Statement: Let (Q, Σ, q0, δ) be a finite automaton. With H_0 = e_q0, A(x) e_q = e_δ(q,x) and B = 0 the state after a
        word w is e_δ(q0,w). If m states go to one by x, and no more to any other, then ‖A(x)‖ = √m. So where m > 1
        A(x) is no product of factors with eigenvalues in [-1, 1]; a letter that permutes the states has norm 1.
    Direction: sufficient
    Hypotheses: None; a norm above 1 is allowed.
    Arithmetic: exact, all numbers are 0 and 1
    Source: G, Appendix A.3
    Method: Random automata are constructed; the stand-alone checker proves equality on all words; of each letter A Aᵀ is
        multiplied out: it is diagonal, with how many states go to each, the squares of the singular values. An
        automaton with one transition changed must not be followed.
    Example:
        >>> print(verify().line())
        supported by 30 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(30, 400),
        draw=lambda g: (found := random_automaton(g), found),
        broken=lambda g: (found := random_automaton(g), rewire_automaton(found, g)),
        check=violation,
    )


def violation(case: Case) -> object:
    """What is wrong with the layer of the first automaton as a layer for the second; None where nothing is."""
    made, followed = case
    lrnn = unbounded_lrnn(made)
    reason = defect(replace(lrnn, automaton=followed))
    if reason is not None:
        return reason
    head, n = lrnn.all_heads[0], lrnn.dim
    for letter, row in enumerate(made.transitions.tolist()):
        entries = {(i, j): x for i, j, x in head.transitions[head.action_of(np.array(letter))].matrix or ()}
        A = matrix([[entries.get((i, j), 0) for j in range(n)] for i in range(n)])
        if product(A, transpose(A)) != matrix(
            [[row.count(i) * int(i == j) for j in range(n)] for i in range(n)]
        ):
            return {"letter": letter, "images": row, "matrix": A}
    return None


def random_automaton(generator: np.random.Generator) -> Automaton:
    """Three letters and two to six states, of which at least two are reached."""
    while True:
        states = generator.integers(2, 7)
        found = automaton_from_spec(f"random:states={states},letters=3,seed={generator.integers(2**31)}")
        if len(found.states) > 1:
            return found


def rewire_automaton(automaton: Automaton, generator: np.random.Generator) -> Automaton:
    """One transition leads to another state."""
    maps = automaton.transitions.copy()
    x, q = (int(generator.integers(size)) for size in maps.shape)
    maps[x, q] = (maps[x, q] + generator.integers(1, maps.shape[1])) % maps.shape[1]
    return replace(automaton, transitions=maps)
