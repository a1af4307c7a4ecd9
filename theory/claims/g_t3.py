"""G.T3: an automaton whose letters permute its states, in one layer of swaps."""

from __future__ import annotations

import numpy as np

from ...constructions._head import Head
from ...constructions.algebra._householder import product_of
from ...constructions.algebra._matrices import identity, kernel, subtract
from ...constructions.automata._automaton import Automaton
from ...foundation._errors import NotRealisableError
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import construct_table, defect, further

CLAIM = Claim(
    "G.T3",
    "Group automata in one layer, k - 1 swaps for k moved points",
    "supported",
    uses=("G.P1.2",),
    formal=("Permutations.group_automaton, without cycles of coordinates and their negatives",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """An automaton whose transition monoid is a group is followed by one layer of permutation matrices.

    Statement: Let all letters permute the states, and let the group that they generate act faithfully on n points. One
        layer without additive terms follows the automaton, whose matrices permute n coordinates; a letter that moves
        k of the n points, in c cycles, is a product of k - c ≤ k - 1 swaps, and of no fewer factors. (A cycle of 2r
        points may be one of r coordinates and their negatives, with r factors: Z_60 takes heads of dimensions 2, 3 and
        5 with 2, 2 and 4 factors, in place of 59 swaps.)
    Direction: sufficient
    Hypotheses: The transition monoid is a group. k counts points of the representation, not states.
    Arithmetic: exact, all numbers are integers
    Source: G, Theorem 3; the exact number of factors is H.rank
    Method: Random group automata are constructed and proved by the stand-alone checker; the factors of each letter are
        counted and compared with the rank of its matrix minus the identity and with the points that it moves. Automata
        with one letter that merges two states go through the same check.
    Example:
        >>> print(verify().line())
        supported by 20 instances: no violation, as claimed
    """
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(20, 300),
        draw=lambda generator: random_automaton(generator, merging=False),
        broken=lambda generator: random_automaton(generator, merging=True),
        check=violation,
        tight=lambda automaton: any(one_cycle(row) for row in automaton.transitions),
    )
    sixty = construct_table("Z60", "G.T3")
    return further(
        found,
        {
            "Z_60, dimensions and factors of the heads": (
                sorted((head.dim, head.householders) for head in sixty.all_heads),
                [(2, 2), (3, 2), (5, 4)],
            ),
            "its defect": (defect(sixty), None),
        },
    )


def violation(automaton: Automaton) -> str | None:
    """What is wrong with the automaton's layer of swaps."""
    try:
        built = construct_table(automaton, "G.T3")
    except NotRealisableError as error:
        return str(error)
    if built.depth != 1:
        return f"{built.depth} layers"
    return next((reason for head in built.all_heads for reason in list_defects(head)), None) or defect(built)


def list_defects(head: Head) -> list[str]:
    """Letters with an additive term, of another rank than factors, or with more factors than moved points less one."""
    found = []
    for x, t in enumerate(head.transitions):
        A, one = product_of(t.factors, head.dim), identity(head.dim)
        rank = head.dim - len(kernel(subtract(A, one)))
        moved = sum(row != unit for row, unit in zip(A, one, strict=True))
        moved *= 2 if any(x == -1 for row in A for x in row) else 1  # the points are ±e_i then
        if t.additive or len(t.factors) != rank or rank > max(moved - 1, 0):
            found.append(f"letter {x}: {len(t.factors)} factors, rank {rank}, {moved} points moved")
    return found


def random_automaton(generator: np.random.Generator, *, merging: bool) -> Automaton:
    """Two permutations of three to five states; `merging`: the second sends one of them where another goes."""
    n = int(generator.integers(3, 6))
    rows = np.array([generator.permutation(n) for _ in range(2)])
    if merging:
        rows[1, 0] = rows[1, 1]
    states = tuple(str(q) for q in range(n))
    return Automaton(states, ("a", "b"), rows, 0, np.arange(n).astype(object))


def one_cycle(row: np.ndarray) -> bool:
    """Does a map move its points in a single cycle?"""
    moved = [q for q, image in enumerate(row.tolist()) if q != image]
    if not moved:
        return False
    length, q = 1, int(row[moved[0]])
    while q != moved[0]:
        length, q = length + 1, int(row[q])
    return length == len(moved)
