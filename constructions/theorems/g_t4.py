"""G.T4: any automaton as a cascade of permutation-reset automata, one layer a level.

The decomposition, its proof and its layers: `cascades/`. The wiring between the levels is the repaired one; that of the
printed proof is wrong wherever an old state matters, and is built here only to be refuted.
"""

from __future__ import annotations

from .._lrnn import LRNN
from ._construction import Construction, Problem


def wire_cascade_as_printed(problem: Problem) -> LRNN:
    """The cascade wired as the proof of G.T4 prints it."""
    return problem.layers_of_cascade("G.T4.printed", wiring="printed")


def _build(problem: Problem) -> LRNN:
    return problem.layers_of_cascade("G.T4")


CONSTRUCTION = Construction(
    source="G.T4",
    title="any automaton as a cascade of permutation-reset automata, one layer a level",
    order=90,
    examples=("T3", "mod_arith:3", "tomita:3"),
    refusals={"mod:1": "one state needs no cascade"},
    build=_build,
    for_group_automata=False,  # one level of permutations of the states, which G.T3 has
)
