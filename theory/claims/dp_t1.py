"""DP.T1: permutation groups with fewer factors a token in three or four layers."""

from __future__ import annotations

from dataclasses import replace

from ...constructions._construct import construct
from ...constructions._realisation import Realisation
from ...constructions.theorems.dp_t1 import block_delay
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect

CLAIM = Claim(
    "DP.T1",
    "S_n with n - 1 factors in one layer, with fewer in three or four",
    "exhaustive",
    uses=("G.T3", "DP.L2", "DP.L3"),
    formal=(
        "Permutations.group_automaton, for (i)",
        "Delay.symmetric_group_by_blocks, for the last layer of (ii) and (iii)",
        "Delay.parts_are_local, for what it reads",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """The word problem of S_n takes one layer with n - 1 factors, three with fewer but more than one, four with one.

    Statement: The products of a sequence of elements of S_n are followed by (i) one layer with n - 1 factors a token, (ii)
        three layers with any number of factors between 1 and n - 1, (iii) four layers with one factor. In (ii) and
        (iii) the lower layers supply a counter and the last 2m tokens, m = ⌈(n - 1)/factors⌉, and the last layer
        applies the product of one block of m tokens while the next block is read.
    Direction: sufficient
    Hypotheses: The left product; an empty place of the buffer is the identity; the token is written before it is read.
    Arithmetic: exact
    Source: DP, Theorem 1
    Method: Each form is constructed and proved by its stand-alone checker (for the delayed ones: the delay lemma from
        the tables of factors); layers and factors are counted. With the factors of two letters exchanged the same
        check must fail.
    Example:
        >>> print(verify().line())
        holds on 5 cases: no violation, as claimed
    """
    largest = effort.pick(4, 5)
    sizes = [(n, factors) for n in range(3, largest + 1) for factors in range(1, n)]
    delayed = [(n, factors, block_delay(f"S{n}", factors)) for n, factors in sizes if factors < n - 1]
    one_layer = [(n, n - 1, construct(f"S{n}", theorem="G.T3")) for n in range(3, largest + 1)]
    built: list[tuple[int, int, Realisation]] = sorted([*delayed, *one_layer], key=lambda case: case[:2])
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"S_3 to S_{largest}, each number of factors below n",
        broken=((n, factors, replace(found, points=found.points[::-1])) for n, factors, found in delayed),
    )


def violation(case: tuple[int, int, Realisation]) -> str | None:
    """More layers or factors than the theorem says, or a certificate that is not valid."""
    n, factors, built = case
    most = 1 if factors == n - 1 else 4 if factors == 1 else 3
    used = built.householders
    if built.depth > most or used is None or used > factors:
        return f"S_{n}: {built.depth} layers and {used} factors, not {most} and {factors}"
    return defect(built)
