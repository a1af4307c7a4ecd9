"""DP.T6: any automaton of n states in one layer with n - 1 swaps and copies, factors of RWKV-7 with c = 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import Any

from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._householder import product_of
from ...constructions.algebra._matrices import (
    Matrix,
    identity,
    matrix,
    rank,
    scale_matrix,
    subtract,
    transpose,
)
from ...constructions.algebra._matrices import product as product_of_matrices
from ...constructions.algebra._swap_copy import swap_copy_factors, swap_copy_word
from ...constructions.theorems.dp_t6 import swap_copy_form
from .._verdict import Verdict
from ..spectra._norms import norm_at_most_one
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect

CLAIM = Claim(
    "DP.T6",
    "Any automaton in one layer with n - 1 swaps and copies (RWKV-7, c = 2)",
    "exhaustive",
    uses=("H.rank", "G.A3"),
    formal=(
        "SwapCopy.swaps_and_copies, for maps",
        "SwapCopy.fewest_of_rank_one, for the lower bound",
        "SwapCopy.rank_of_map, for the rank",
        "SwapCopy.swap_copy_automaton, for the layer",
        "SwapCopy.at_most_one_less, for n - 1",
        "SwapCopy.step_is_map, for the factors",
        "SwapCopy.copy_norm, for the norm",
    ),
)
AUTOMATA = ("T3", "T4", "tomita:3", "gridworld:4")
Case = tuple[tuple[int, ...], int]
"""A map of points, and the direction, 1 or -1, in which its steps are applied."""


def verify(effort: Effort = QUICK) -> Verdict:
    """Every map of n points is a product of at most n - 1 swaps and copies, and of no fewer than rank(P - I).

    Statement: I - 2 k (k⊙a)ᵀ with k = (e_i - e_j)/√2 is the swap of i and j for a = (1, …, 1), and for a = e_j the copy,
        which sends e_j to e_i and fixes every other e_q; its norm is √2. Every map f of n points is a product of
        n - #components(f) ≤ n - 1 of them, and this is rank(P_f - I), so any automaton of n states takes one
        layer with n - 1 such factors a token. (Printed with n factors.)
    Direction: tight, the count is attained and cannot be undercut by matrices that differ from I by rank 1
    Hypotheses: A norm above 1 is allowed; diag(w) = I.
    Arithmetic: exact, all numbers are integers
    Source: DP, Theorem 6, and R7; that n - 1 suffice is ours
    Method: All maps of up to n points: the steps, one after the other, make the map; to n = 4 the factors' product and
        the rank by elimination too. All swaps and copies: matrix and norm. Layers of automata, by the
        stand-alone checker. The steps in the opposite order must make other maps.
    Example:
        >>> print(verify().line())
        holds on 3,417 cases: no violation, as claimed
    """
    most = effort.pick(5, 6)
    maps = ((f, 1) for n in range(1, most + 1) for f in product(range(n), repeat=n))
    cases: Iterator[Case | str] = chain(AUTOMATA, maps)
    return check_all_cases(
        CLAIM,
        cases=cases,
        check=violation,
        of=f"all maps of 1 to {most} points, and {len(AUTOMATA)} automata",
        broken=((f, -1) for f in product(range(4), repeat=4)),
        evidence={"automata": list(AUTOMATA)},
    )


def violation(case: Case | str) -> Any:
    """What is wrong with the steps of a map, or with the layer of an automaton; None where nothing is."""
    if isinstance(case, str):
        return defect(swap_copy_form(automaton_from_spec(case)))
    f, direction = case
    n = len(f)
    steps = swap_copy_word(f)[::direction]
    image = tuple(range(n))
    for step in steps:
        image = tuple(step(q) for q in image)
    fine = image == f and len(steps) <= n - 1
    if fine and n <= 4:
        P = map_matrix(f)
        made = product_of(swap_copy_factors(f), n)
        fine = made == P and len(steps) == rank(subtract(P, identity(n)))
        if len(steps) == 1:  # one swap or copy by itself
            fine = fine and square_norm(P) == steps[0].matrix_norm_squared
    return None if fine else {"map": f, "steps": len(steps), "they make": image}


def map_matrix(f: Sequence[int]) -> Matrix:
    """P_f e_q = e_f(q)."""
    return matrix([[int(target == p) for target in f] for p in range(len(f))])


def square_norm(P: Matrix) -> int:
    """1 where ‖P‖ ≤ 1, 2 where P/√2 has norm 1: every other matrix is refused."""
    if norm_at_most_one(P).holds:
        return 1
    half = scale_matrix(Fraction(1, 2), product_of_matrices(transpose(P), P))
    if norm_at_most_one(half).holds and rank(subtract(half, identity(len(P)))) < len(P):
        return 2
    raise AssertionError("a swap or copy with another norm than 1 and √2")
