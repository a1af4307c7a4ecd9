"""own.n-1: any automaton of n states in n - 1 layers, by the cascade of all maps of its states.

Its levels have n, n - 1, ..., 2 points. It has fewer layers than G.T4's cascade of the automaton's own letters only where
that has n levels or more.
"""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from .._lrnn import LRNN
from ..cascades._cascade import cascade_of_all_maps
from ..cascades._layers import cascade_lrnn
from ._construction import Construction, Problem


def _build(problem: Problem) -> LRNN:
    automaton, limits = problem.automaton, problem.limits
    if automaton.is_permutation:
        raise NotRealisableError(
            f"{automaton.name}: own.n-1: a group automaton needs one layer only; leave `theorem` out"
        )
    built = cascade_of_all_maps(
        automaton,
        max_image_sets=limits.image_sets,
        max_set_moves=limits.set_moves,
        max_level_letters=limits.level_letters,
    )
    return cascade_lrnn(automaton, built, coordinates=problem.coordinates, theorem="own.n-1")


def _is_beaten(problem: Problem) -> bool:
    return problem.is_shallow


CONSTRUCTION = Construction(
    source="own.n-1",
    title="any automaton of n states in n - 1 layers, by the cascade of all maps of its states",
    order=100,
    examples=("T4", "random:states=4,letters=3,seed=2", "tomita:7"),
    refusals={"parity": "own.n-1: a group automaton needs one layer only"},
    build=_build,
    for_group_automata=False,
    is_beaten=_is_beaten,
    beaten_by="the automaton's own cascade (G.T4), which has fewer layers",
    least_layers=lambda problem: len(problem.automaton.states) - 1,
)
