"""DP.L2: a counter modulo d in one layer with two factors, or in two layers with one."""

from __future__ import annotations

from ...constructions._construct import construct
from ...constructions._lrnn import LRNN, table_of
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import construct_table, defect, exchange_letters

CLAIM = Claim(
    "DP.L2",
    "A counter modulo d: one layer with two factors, two layers with one",
    "exhaustive",
    uses=("G.T6", "DP.T4"),
    formal=("Counting.one_layer_counter, for one layer", "Counting.modular_addition, for two"),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """Counting modulo d takes one layer with two factors a token, or two layers with one.

    Statement: For every d the number of ones modulo d is followed by one layer whose letters are products of two reflections
        in each head, a rotation by 2π/d (for d = 3, 4, 6, 12 integer matrices of that order in dimension at most 3),
        and by two layers whose letters are single reflections.
    Direction: sufficient
    Hypotheses: None.
    Arithmetic: exact, in a real cyclotomic field
    Source: DP, Lemma 2
    Method: Both are constructed for each d and proved by the stand-alone checker; layers and factors are counted. With the
        two letters exchanged the same check must fail.
    Example:
        >>> print(verify().line())
        holds on 20 cases: no violation, as claimed
    """
    orders = range(3, effort.pick(13, 41))
    built = [(counter(d, layers), layers) for d in orders for layers in (1, 2)]
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"both forms for d = {orders[0]}..{orders[-1]}",
        broken=((exchange_letters(lrnn), layers) for lrnn, layers in built[:6]),
    )


def counter(d: int, layers: int) -> LRNN:
    """A counter in one layer by rotations, or in two by reflections."""
    if layers == 2:
        return construct_table(f"mod:{d}", "G.T6")
    return table_of(construct(f"mod:{d}", max_layers=1), "one layer has a table")


def violation(case: tuple[LRNN, int]) -> str | None:
    """Other layers, or more than 2 factors in one and 1 in two; or a certificate that is not valid."""
    lrnn, layers = case
    if lrnn.depth != layers or (lrnn.householders or 0) > 3 - layers or lrnn.dim > 3:
        return (
            f"{lrnn.automaton.name}: {lrnn.depth} layers, {lrnn.householders} factors, dimension {lrnn.dim}"
        )
    reason = defect(lrnn)
    return None if reason is None else f"{lrnn.automaton.name}: {reason}"
