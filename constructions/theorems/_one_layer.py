"""Group automata in one layer: the stages from the transition group's action to an `LRNN`.

The action → block systems and quotients → head candidates, each by a theorem → the cheapest sufficient heads →
their initial states → all reachable joint states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...foundation._errors import MirrormataError, NotRealisableError
from ...foundation._text import count_noun, shorten_list
from .._lrnn import LRNN
from ..algebra.groups._actions import TransitiveAction, transitive_action
from ..automata._automaton import Automaton
from ..heads._assembly import assemble
from ..heads._candidates import MAX_DEGREE, HeadCandidate, HeadSearch, cheapest
from ..heads._representations import HeadPlan
from ..heads._selection import choose_marks, fixed_initial_states, select, smaller_initial_states
from ._construction import Construction
from ._registry import all_constructions
from ._search_limits import FEW_FACTORS, list_search_limits
from .g_t3 import orbit_heads


def group_lrnn(
    automaton: Automaton,
    *,
    exactness: str = "any",
    theorem: str | None = None,
    max_degree: int = MAX_DEGREE,
    max_group: int = 5_000,
) -> LRNN:
    """Construct a one-layer LRNN of a group automaton with the fewest factors, then integers, then the smallest dimension.

    Args:
        automaton: a group automaton.
        exactness: `any`, or `integer` for integers only.
        theorem: use only heads of this theorem, which must provide candidates, such as G.T3; None for all theorems.
        max_degree: the largest degree of a number field.
        max_group: the largest group whose elements are listed.

    Raises:
        NotRealisableError: the automaton is not a group automaton (the message gives the letter and the two
            states that it merges), or no set of heads suffices.
    """
    if (merged := automaton.find_merged_pair()) is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: letter {automaton.letters[x]!r} merges states {automaton.states[p]!r} and "
            f"{automaton.states[q]!r}, so this is no group automaton; leave `theorem` out: a cascade (G.T4) realises it"
        )
    if len(automaton.reachable()) < len(automaton.states):
        return _by_orbits(automaton, theorem)
    action = transitive_action(automaton, max_group)
    search = HeadSearch(action, max_degree)
    candidates = _all_candidates(search)
    if theorem is not None:
        candidates = [c for c in candidates if c.theorem == theorem]
    if exactness == "integer":
        candidates = [c for c in candidates if c.degree == 1]
    heads = _plain_heads(action, candidates)
    lrnn = _with_lifts(automaton, candidates, heads)
    if lrnn is None and heads is not None:
        lrnn = _by_selection(automaton, action, heads)
    if lrnn is None:
        wanted = [f"`theorem` {theorem}"] * bool(theorem) + ["`exactness` integer"] * (exactness == "integer")
        if not wanted:
            raise MirrormataError(
                f"{automaton.name}: a defect of this program, please report it: the chosen heads do not keep the states"
            )
        asked = " and ".join(wanted)
        raise NotRealisableError(
            f"{automaton.name}: no construction with {asked} was found for its transition group; leave "
            f"{'one of the two' if len(wanted) > 1 else 'it'} out"
        )
    if theorem is not None and theorem not in lrnn.theorem.split(" + "):  # no head is needed
        raise NotRealisableError(
            f"{automaton.name}: no letter moves a state, so {theorem} has no head to give; leave `theorem` out: G.T3 realises it"
        )
    if (lrnn.householders or 0) > FEW_FACTORS:
        asked_for = [c for c in _with_candidates() if theorem in (None, c.source) and exactness == "any"]
        left_out = [note for c in asked_for if c.left_out is not None for note in c.left_out(search)]
        lrnn = replace(lrnn, notes=(*lrnn.notes, *left_out, *list_search_limits(action, max_group)))
    return lrnn


def head_candidates(action: TransitiveAction, max_degree: int = MAX_DEGREE) -> list[HeadCandidate]:
    """List all candidates of a single head for a group, the cheapest first.

    Args:
        action: a transitive action of the group.
        max_degree: the largest degree of a number field.
    """
    return [c for c in _all_candidates(HeadSearch(action, max_degree)) if c.beside is None]


def _all_candidates(search: HeadSearch) -> list[HeadCandidate]:
    found: list[HeadCandidate] = []
    for construction in _with_candidates():
        assert construction.candidates is not None
        found += construction.candidates(search, found)
    return cheapest(found)


def _with_candidates() -> list[Construction]:
    """The theorems that offer heads."""
    return [c for c in all_constructions().values() if c.candidates is not None]


def _plain_heads(action: TransitiveAction, candidates: Sequence[HeadCandidate]) -> list[HeadCandidate] | None:
    """The cheapest heads without extra signs that tell the states apart; None where none do."""
    try:
        return select([c for c in candidates if not c.lifted], action.states)
    except ValueError:
        return None


def _by_selection(
    automaton: Automaton, action: TransitiveAction, heads: Sequence[HeadCandidate]
) -> LRNN | None:
    if not heads:
        return _by_orbits(automaton, None)
    marks = choose_marks(heads, action.states)
    used = [(head, m) for head, m in zip(heads, marks, strict=True) if m]
    plans = [plan for head, m in used for plan in head.plans(m)]
    choices: list[list[HeadPlan]] = [plans]
    if len(plans) == 1:
        choices += [[smaller] for smaller in fixed_initial_states(action, plans[0])]
        choices += [[smaller] for smaller in smaller_initial_states(action, plans[0])]
    results = (
        assemble(
            automaton,
            choice,
            theorem=" + ".join(dict.fromkeys(head.theorem for head, _ in used)),
            construction=shorten_list((head.name for head, _ in used), "; "),
            notes=[_bound_note(head) for head, _ in used if head.moved is not None],
        )
        for choice in choices
    )
    return min((r for r in results if r is not None), key=lambda r: len(r.decode), default=None)


def _with_lifts(
    automaton: Automaton, candidates: Sequence[HeadCandidate], plain: Sequence[HeadCandidate] | None
) -> LRNN | None:
    """A single head with signed letters, where it needs fewer factors than the plain heads."""
    best = None if plain is None else max((c.cost for c in plain), default=0)
    for candidate in candidates:
        if candidate.lifted and (best is None or candidate.cost < best):
            lrnn = assemble(
                automaton, [candidate.plan((0,))], theorem=candidate.theorem, construction=candidate.name
            )
            if lrnn is not None:
                return lrnn
    return None


def _by_orbits(automaton: Automaton, theorem: str | None) -> LRNN:
    if theorem not in (None, "G.T3"):
        raise NotRealisableError(
            f"{automaton.name}: `theorem` {theorem} needs every state to be reachable from the start"
        )
    plans, seeds = orbit_heads(automaton)
    lrnn = assemble(
        automaton, plans, theorem="G.T3", construction=f"permutations of {count_noun(len(automaton.states), 'point')}",
        seeds=seeds,
    )  # fmt: skip
    if lrnn is None:
        raise AssertionError("one-hot states of different orbits differ")
    return lrnn


def _bound_note(head: HeadCandidate) -> str:
    moved = head.moved or 0
    return (
        f"{head.name}: a letter moves at most k = {count_noun(moved, 'point')}, so G.T3's bound is k - 1 = "
        f"{count_noun(max(moved - 1, 0), 'factor')}; the exact count n - #cycles is at most {head.cost}"
    )
