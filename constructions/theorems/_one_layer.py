"""Group automata in one layer: the stages from the transition group's action to an `LRNN`.

The action → block systems and quotients → head candidates, each by a theorem → the cheapest sufficient heads →
their initial states → all reachable joint states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...foundation._errors import MirrormataError, NotRealisableError
from .._lrnn import LRNN
from ..algebra.groups._actions import TransitiveAction, block_systems, transitive_action
from ..automata._automaton import Automaton
from ..heads._assembly import assemble
from ..heads._candidates import HeadCandidate, cheapest
from ..heads._selection import choose_marks, select, smaller_initial_states
from ._rotations import (
    MAX_DEGREE,
    cyclic_candidates,
    dihedral_candidates,
    icosahedral_candidates,
    skipped_fields,
)
from ._swaps import lifted_candidate, orbit_heads, permutation_candidates, signed_candidates


def group_lrnn(
    automaton: Automaton,
    *,
    exactness: str = "any",
    theorem: str | None = None,
    max_degree: int = MAX_DEGREE,
    max_group: int = 5_000,
) -> LRNN:
    """The one-layer LRNN of a group automaton with the fewest factors, then integers, then the smallest dimension.

    `theorem`: only heads of G.T3, DP.T4 or H.A5inv. Raises `NotRealisableError` with the letter and the two states
    that it merges where the automaton is no group automaton, and where no heads do.
    """
    if (merged := automaton.merged_pair()) is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: letter {automaton.letters[x]!r} merges states {automaton.states[p]!r} and "
            f"{automaton.states[q]!r}, so this is no group automaton; leave --theorem out: a cascade (G.T4) realises it"
        )
    if len(automaton.reachable()) < len(automaton.states):
        return _by_orbits(automaton, theorem)
    action = transitive_action(automaton, max_group)
    candidates = head_candidates(action, max_degree)
    if theorem is not None:
        candidates = [c for c in candidates if c.theorem == theorem]
    if exactness == "integer":
        candidates = [c for c in candidates if c.degree == 1]
    heads = _plain_heads(action, candidates)
    lrnn = _with_lifts(automaton, candidates, heads)
    if lrnn is None and heads is not None:
        lrnn = _by_selection(automaton, action, heads)
    if lrnn is None:
        wanted = [f"--theorem {theorem}"] * bool(theorem) + ["--exactness integer"] * (exactness == "integer")
        if not wanted:
            raise MirrormataError(
                f"{automaton.name}: a defect of this program, please report it: the chosen heads do not keep the states"
            )
        options = " ".join(wanted)
        raise NotRealisableError(
            f"{automaton.name}: no construction with {options} was found for its transition group; leave "
            f"{'one of the two' if len(wanted) > 1 else 'it'} out"
        )
    if exactness == "any" and theorem in (None, "DP.T4") and (lrnn.householders or 0) > 2:
        lrnn = replace(lrnn, notes=(*lrnn.notes, *skipped_fields(action, max_degree)))
    return lrnn


def head_candidates(action: TransitiveAction, max_degree: int = MAX_DEGREE) -> list[HeadCandidate]:
    """Every head on offer for the group, cheapest first."""
    systems = block_systems(action)
    candidates = [
        *permutation_candidates(systems),
        *signed_candidates(systems),
        *cyclic_candidates(action, max_degree),
        *dihedral_candidates(systems, max_degree),
        *icosahedral_candidates(systems),
    ]
    lifted = [lifted_candidate(c) for c in candidates if not c.lifted]
    return cheapest([*candidates, *(c for c in lifted if c is not None)])


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
    plans = [head.plan(m) for head, m in used]
    choices = [plans]
    if len(plans) == 1:
        choices += [[smaller] for smaller in smaller_initial_states(action, plans[0])]
    results = (
        assemble(
            automaton,
            choice,
            theorem=" + ".join(dict.fromkeys(head.theorem for head, _ in used)),
            construction="; ".join(head.name for head, _ in used),
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
            f"{automaton.name}: --theorem {theorem} needs every state to be reachable from the start"
        )
    plans, seeds = orbit_heads(automaton)
    lrnn = assemble(
        automaton, plans, theorem="G.T3", construction=f"permutations of {len(automaton.states)} points",
        seeds=seeds,
    )  # fmt: skip
    if lrnn is None:
        raise AssertionError("one-hot states of different orbits differ")
    return lrnn


def _bound_note(head: HeadCandidate) -> str:
    moved = head.moved or 0
    return (
        f"{head.name}: a letter moves at most k = {moved} points, so G.T3's bound is k - 1 = {max(moved - 1, 0)} "
        f"factors; the exact count n - #cycles is at most {head.cost}"
    )
