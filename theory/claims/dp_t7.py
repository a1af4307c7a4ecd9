"""DP.T7: dihedral groups in two layers with one reflection a token."""

from __future__ import annotations

from typing import Literal

from ...constructions._lrnn import LRNN
from ...constructions._spec import automaton_from_spec
from ...constructions.theorems.dp_t7 import dihedral_two_layers
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect, exchange_letters

CLAIM = Claim(
    "DP.T7",
    "D_m in two layers, one reflection a token, two heads below",
    "exhaustive",
    uses=("G.T6",),
    seconds=12,
    formal=("Counting.dihedral_words, for the right product", "Counting.root_exists, for its angles"),
)

Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = ("left", "right")


def verify(effort: Effort = QUICK) -> Verdict:
    """The word problem of the dihedral group D_m is followed by two layers whose matrices are single reflections.

    Statement: For every m ≥ 3 the products of rotations and reflections of the m-gon, in either order, are followed by two
        scalar heads, the parities of the rotations and of the reflections read so far, and a layer of dimension two
        whose mirrors depend on the letter and on the first parity.
    Direction: sufficient
    Hypotheses: The angles as corrected; they compute the right product y·x, the left one through inverses.
    Arithmetic: exact, in the field Q(2cos 2π/N) with N = lcm(4, 2m)
    Source: DP, Theorem 7 (i), with corrected angles
    Method: Left and right products for each m, constructed and proved by the stand-alone checker; layers, heads and
        factors are counted. With two letters exchanged the same check must fail.
    Example:
        >>> print(verify().line())
        holds on 12 cases: no violation, as claimed
    """
    orders = range(3, effort.pick(9, 21))
    built = [dihedral(m, side) for m in orders for side in SIDES]
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"left and right products of D_m, m = {orders[0]}..{orders[-1]}",
        broken=map(exchange_letters, built[:6]),
    )


def dihedral(m: int, side: Side) -> LRNN:
    """The two layers for the word problem of D_m with that product."""
    return dihedral_two_layers(automaton_from_spec(f"dihedral:{m}", product=side))


def violation(lrnn: LRNN) -> str | None:
    """Other layers, heads or factors than stated, or a certificate that is not valid."""
    figures = (lrnn.depth, len(lrnn.layers[0].heads), lrnn.householders, lrnn.dim)
    if figures != (2, 2, 1, 2):
        return f"{lrnn.automaton.name}: layers, heads, factors, dimension are {figures}"
    reason = defect(lrnn)
    return None if reason is None else f"{lrnn.automaton.name}: {reason}"
