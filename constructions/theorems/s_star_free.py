"""S.star-free: aperiodic automata as a cascade of set/reset cells, whose matrices have the eigenvalues 0 and 1 alone.

An automaton is aperiodic iff no level of its cascade has a group (Schützenberger; Krohn and Rhodes): then every letter of a
level sets or keeps.
"""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from .._lrnn import LRNN
from ._construction import Construction, Problem


def _build(problem: Problem) -> LRNN:
    name = problem.automaton.name
    if problem.automaton.is_permutation:
        raise NotRealisableError(
            f"{name}: S.star-free: its letters permute the states, so the automaton is not aperiodic; leave `theorem` out"
        )
    for number, level in enumerate(problem.cascade().levels, start=1):
        for c, table in enumerate(level.actions):
            if any(level.kind(c, a) == "permutation" for a in range(len(table))):
                raise NotRealisableError(
                    f"{name}: S.star-free: level {number} of its cascade has a group, so the automaton is not "
                    "aperiodic; leave `theorem` out"
                )
    return problem.layers_of_cascade("S.star-free")


CONSTRUCTION = Construction(
    source="S.star-free",
    title="aperiodic automata as a cascade of set/reset cells, eigenvalues 0 and 1",
    order=110,
    examples=("tomita:4", "flipflop", "even_pairs", "boxes:2,2"),
    refusals={"tomita:3": "is not aperiodic", "T3": "is not aperiodic", "mod:6": "is not aperiodic"},
    build=_build,
)
