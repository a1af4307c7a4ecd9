"""`construct`: from an automaton to its LRNN, the stages in order.

For group automata: the transition group's action → block systems and quotients → head candidates → the cheapest
sufficient heads → their initial states → all reachable joint states. For others: partial injections and resets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from .assembly import assemble
from .automaton import Automaton
from .block_systems import block_systems
from .candidates import HeadCandidate, cheapest
from .errors import InputError, MirrormataError, NotRealisableError
from .icosahedral import icosahedral_candidates
from .initial_states import smaller_initial_states
from .lower_bounds import lower_bounds
from .lrnn import LRNN
from .partial_injections import partial_injections
from .permutation_form import lifted_candidate, orbit_heads, permutation_candidates, signed_candidates
from .rotations import MAX_DEGREE, cyclic_candidates, dihedral_candidates, skipped_fields
from .selection import choose_marks, select
from .transitive_action import TransitiveAction, transitive_action
from .unbounded import unbounded

Exactness = Literal["any", "integer"]
THEOREMS = {
    "G.T3": "permutation matrices as swaps, for group automata",
    "DP.T4": "rotations and reflections: cyclic, dihedral, tetrahedral, cube and icosahedron groups",
    "H.A5inv": "letters R as the cheaper of R and -R",
    "own.LMI": "partial permutations and resets, for letters that move states injectively, drop them or reset",
    "G.A3": "0/1 transition matrices without a norm bound, for any automaton",
}


def construct(
    automaton: Automaton | str,
    *,
    exactness: Exactness | str = "any",
    theorem: str | None = None,
    max_degree: int = MAX_DEGREE,
    max_group: int = 5_000,
) -> LRNN:
    """An exact LRNN that realises the automaton: fewest layers, then factors, then integer, then dimension.

    `automaton`: an `Automaton` or a SPEC (see `automaton_from_spec`); unreachable states that it does not keep on
    purpose are dropped. `exactness="integer"`: only bit-exact ones. `theorem`: only constructions of that source
    (see `THEOREMS`). `max_degree`: largest degree of a number field. `max_group`: largest group whose elements are listed in the
    search for smaller representations (the construction itself never needs the list).
    Raises `NotRealisableError` with the letter and the two states that it merges where a group automaton is
    needed, `InputError` for an unknown theorem.
    """
    if isinstance(automaton, str):
        from .spec import automaton_from_spec

        automaton = automaton_from_spec(automaton)
    if not automaton.keeps_points:
        automaton = automaton.trimmed()
    if exactness not in ("any", "integer"):
        raise InputError(f"--exactness {exactness}: it is any or integer")
    if theorem is not None and theorem not in THEOREMS:
        known = ", ".join(THEOREMS)
        raise InputError(f"--theorem {theorem}: not a construction; there are {known}")
    if theorem == "G.A3":
        return unbounded(automaton)
    if theorem == "own.LMI" or (theorem is None and not automaton.is_permutation):
        lrnn = partial_injections(automaton)
        if lrnn is not None:
            return lrnn
    if (merged := automaton.merged_pair()) is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: letter {automaton.letters[x]!r} merges states {automaton.states[p]!r} and "
            f"{automaton.states[q]!r}, so this is no group automaton; "
            "`mirrormata construct --theorem G.A3` realises it without a norm bound"
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
            f"{automaton.name}: no construction with {options} was found for its transition group; leave it out"
        )
    if exactness == "any" and theorem in (None, "DP.T4") and (lrnn.householders or 0) > 2:
        lrnn = replace(lrnn, notes=(*lrnn.notes, *skipped_fields(action, max_degree)))
    return lrnn


def report(lrnn: LRNN, certificate: str | None = None) -> dict[str, Any]:
    """The figures that `construct` prints: those of the summary, sizes, lower bounds, the certificate's path."""
    return {
        "states": len(lrnn.automaton.states),
        "letters": len(lrnn.automaton.letters),
        "construction": lrnn.construction,
        "theorem": lrnn.theorem,
        **lrnn.summary(),
        "lower_bounds": lower_bounds(lrnn.automaton),
        "certificate": certificate,
    }


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
