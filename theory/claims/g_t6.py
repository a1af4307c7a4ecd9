"""G.T6: counting modulo m in two layers with one reflection a token."""

from __future__ import annotations

from ...constructions._lrnn import LRNN
from ...constructions._spec import automaton_from_spec
from ...constructions.theorems.g_t6 import cyclic_corners, cyclic_two_layers
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect, exchange_letters

CLAIM = Claim(
    "G.T6",
    "Z_m in two layers with single reflections",
    "exhaustive",
    uses=("G.P1.2",),
    seconds=60,
    formal=(
        "Counting.modular_addition, for the layer of dimension two",
        "Counting.root_exists, for its angles",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Addition modulo m is followed by two layers whose matrices are single reflections.

    Statement: For every m, addition in Z_m is followed by a scalar layer that tells the parity of the tokens and a layer of
        dimension two that reflects at mirrors in directions that are multiples of π/(2m), chosen by the token and
        that parity. In integers the second layer reflects the corners of the m-gon, by ⌊m/2⌋ swaps at most.
    Direction: sufficient
    Hypotheses: The transition group is cyclic.
    Arithmetic: exact, in the field Q(2cos 2π/N) with N = lcm(4, 2m); integers for the corners
    Source: G, Theorem 6
    Method: Both forms are constructed for each m, with all of Z_m as letters, and proved by the stand-alone checker;
        layers and factors are counted. With two letters exchanged the same check must fail.
    Example:
        >>> print(verify().line())
        holds on 18 cases: no violation, as claimed
    """
    orders = range(3, effort.pick(12, 41))
    built = [(form(m), most) for m in orders for form, most in ((mirrors, 1), (corners, m // 2))]
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"both forms for m = {orders[0]}..{orders[-1]}",
        broken=((exchange_letters(lrnn), most) for lrnn, most in built[:6]),
    )


def mirrors(m: int) -> LRNN:
    """Parity, then reflections of the plane."""
    return cyclic_two_layers(automaton_from_spec(f"Z{m}"))


def corners(m: int) -> LRNN:
    """Parity, then reflections of the corners of the m-gon."""
    return cyclic_corners(automaton_from_spec(f"Z{m}"))


def violation(case: tuple[LRNN, int]) -> str | None:
    """More than two layers or the allowed factors, or a certificate that is not valid."""
    lrnn, most = case
    if lrnn.depth != 2 or (lrnn.householders or 0) > most:
        return f"{lrnn.automaton.name}: {lrnn.depth} layers, {lrnn.householders} factors"
    reason = defect(lrnn)
    return None if reason is None else f"{lrnn.automaton.name}: {reason}"
