"""own.T2tight: L layers of one sign each count modulo 2^L."""

from __future__ import annotations

from ...constructions._lrnn import LRNN
from ...constructions._spec import automaton_from_spec
from ...constructions.theorems.own_t2tight import ripple_counter
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect, exchange_letters

CLAIM = Claim(
    "own.T2tight", "L scalar layers of ±1 count modulo 2^L", "exhaustive", formal=("Counting.ripple_counts",)
)


def verify(effort: Effort = QUICK) -> Verdict:
    """The period 2^L that G.T2 allows to L layers with real eigenvalues is attained.

    Statement: For every L ≥ 2 there are L layers of one scalar each, all of whose letters multiply by 1 or by -1, that count
        modulo 2^L: layer i flips its sign exactly when all lower bits carry.
    Direction: tight
    Hypotheses: None.
    Arithmetic: exact, all numbers are 1 and -1
    Source: ours
    Method: The ripple-carry counter is constructed for each L and proved by the stand-alone checker; its layers and
        dimensions are counted. With its two letters exchanged the same check must fail.
    Example:
        >>> print(verify().line())
        holds on 5 cases: no violation, as claimed
    """
    depths = range(2, effort.pick(7, 10))
    built = [(depth, ripple_counter(automaton_from_spec(f"mod:{2**depth}"))) for depth in depths]
    return check_all_cases(
        CLAIM,
        cases=built,
        check=violation,
        of=f"L = {depths[0]}..{depths[-1]}",
        broken=((depth, exchange_letters(lrnn)) for depth, lrnn in built),
    )


def violation(case: tuple[int, LRNN]) -> str | None:
    """Other layers or dimensions, numbers other than 1 and -1 for a letter, or a certificate that is not valid."""
    depth, lrnn = case
    if (lrnn.depth, lrnn.heads, lrnn.dim) != (depth, 1, 1):
        return f"{lrnn.depth} layers, {lrnn.heads} heads, dimension {lrnn.dim}"
    values = {f.eigenvalue for head in lrnn.all_heads for t in head.transitions for f in t.factors}
    return f"eigenvalues {sorted(map(str, values))}" if values - {-1} else defect(lrnn)
