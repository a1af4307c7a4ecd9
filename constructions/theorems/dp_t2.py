"""DP.T2: the cascade of G.T4 with gates: a reset is gate 0 where the state before it is not needed (gated DeltaProduct)."""

from __future__ import annotations

from .._lrnn import LRNN
from ._construction import Construction, Problem


def _build(problem: Problem) -> LRNN:
    return problem.layers_of_cascade("DP.T2", gated=True)


CONSTRUCTION = Construction(
    source="DP.T2",
    title="the cascade with resets by gate 0 where the state before is not needed (gated DeltaProduct)",
    order=120,
    examples=("mod_arith:3", "tomita:3", "T3"),
    refusals={"mod:1": "one state needs no cascade"},
    build=_build,
    by_request="needs gates",
    for_group_automata=False,  # one level of permutations of the states, without a reset
)
