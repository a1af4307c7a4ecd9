"""own.LMI, the simple exact cases: one layer with norm ≤ 1 for automata whose letters only move, drop or reset.

One vector a state: one-hot, except that one state, the sink, may stand at 0. A letter that moves states injectively
and sends the others to the sink is a partial permutation matrix; a letter that sends all states to one is A = 0 with
the state's vector added. Both are contractions, and all numbers are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from .assembly import one_code_a_state
from .automaton import Automaton, Indices
from .householder import GHFactor, gh_factor, permutation_factors
from .lrnn import LRNN, Sparse, Transition


def partial_injections(automaton: Automaton) -> LRNN | None:
    """The one-layer LRNN with the fewest factors of this kind; None where some letter merges states otherwise.

    Each state is tried as the sink, and none. None too where not all states are reachable from the start.
    """
    if len(automaton.reachable()) < len(automaton.states):
        return None
    best: tuple[int, int] | None = None
    found: tuple[int | None, list[Transition]] | None = None
    size = len(automaton.states)
    for sink in (None, *(range(size) if size > 1 else ())):
        transitions = _transitions(automaton.transitions, sink)
        if transitions is not None:
            price = (
                max((len(t.factors) for t in transitions), default=0),
                size - (sink is not None),
            )
            if best is None or price < best:
                best, found = price, (sink, transitions)
    return None if found is None else _lrnn(automaton, *found)


def _transitions(table: Indices, sink: int | None) -> list[Transition] | None:
    """The letters' transitions on the coordinates of all states but the sink; None where a letter has no such form."""
    size = table.shape[1]
    kept = [q for q in range(size) if q != sink]
    place = {q: i for i, q in enumerate(kept)}
    transitions = []
    for image in table.tolist():
        if len(set(image)) == 1 and size > 1:
            target = place.get(image[0])
            additive: Sparse = () if target is None else ((target, 0, 1),)
            erased = tuple(gh_factor(1, {i: 1}) for i in range(len(kept)))
            transitions.append(Transition(factors=erased, additive=additive))
            continue
        moved = {place[q]: place[image[q]] for q in kept if image[q] != sink}
        if len(set(moved.values())) < len(moved) or (sink is not None and image[sink] != sink):
            return None
        transitions.append(Transition(factors=partial_permutation_factors(moved, len(kept))))
    return transitions


def partial_permutation_factors(moved: dict[int, int], n: int) -> tuple[GHFactor, ...]:
    """The matrix with e_i ↦ e_{moved[i]} and all other e_i ↦ 0, as rank(A - I) factors, which is least (H.rank).

    The injection falls into cycles and paths i → ... → j whose end j goes to 0: erase e_j, then close the path to
    a cycle, which costs as many factors as the path has points.
    """
    ends = [i for i in range(n) if i not in moved]
    closed = [moved.get(i, i) for i in range(n)]
    came_from = {j: i for i, j in moved.items()}
    for end in ends:
        first = end
        while first in came_from:
            first = came_from[first]
        closed[end] = first
    return (*(gh_factor(1, {end: 1}) for end in ends), *permutation_factors(closed))


def _lrnn(automaton: Automaton, sink: int | None, transitions: Sequence[Transition]) -> LRNN:
    kept = [q for q in range(len(automaton.states)) if q != sink]
    place = {q: i for i, q in enumerate(kept)}
    where = "" if sink is None else f", state {automaton.states[sink]!r} at 0"
    return one_code_a_state(
        automaton,
        len(kept),
        transitions,
        [() if q == sink else ((place[q], 0, 1),) for q in range(len(automaton.states))],
        theorem="own.LMI",
        construction=f"partial permutations and resets of {len(kept)} points{where}",
    )
