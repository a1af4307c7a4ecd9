"""G.T3: letters as permutation matrices, products of swaps `v = e_i - e_j`, β = 1.

The points need not be the automaton's states: any block system of the transition group will do, and with signs
any system of pairs of blocks (a negative r-cycle has order 2r; the cube's rotations are signed permutations of
its axes). All numbers are small integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation._text import count_noun
from ..algebra.groups._actions import (
    MAX_TABLE,
    BlockSystem,
    TransitiveAction,
    cosets,
    first_appearance,
    subgroup,
)
from ..algebra.groups._permutations import orbits
from ..automata._automaton import Automaton, Indices
from ..heads._candidates import HeadCandidate, HeadSearch, Marks
from ..heads._representations import SignedPermutationPlan
from ._construction import Construction
from ._paired_points import MAX_SIGNED_DIM, count_signed_factors, name_axes, paired_candidates
from ._rotations import cycle_candidates
from ._set_points import set_candidates

FEW_AXES = 8
"""Axes up to which up to 63 subgroups of index 2 are tried, beyond that up to 15."""


def permutation_candidates(systems: list[BlockSystem]) -> list[HeadCandidate]:
    """One candidate for each block system; the initial state marks some blocks with 1, 2, ..."""
    return [_permutation_candidate(system) for system in systems]


def _permutation_candidate(system: BlockSystem) -> HeadCandidate:
    n = system.count
    unsigned = np.zeros_like(system.letters)

    def plan(marks: Marks) -> SignedPermutationPlan:
        # one mark short of all tells as much as all: then the classical (1, ..., n)
        chosen = tuple(range(n)) if len(marks) >= n - 1 and n > 2 else marks
        return SignedPermutationPlan(
            system.letters, unsigned, (tuple((b, v + 1) for v, b in enumerate(chosen)),)
        )

    return HeadCandidate(
        theorem="G.T3",
        name=f"permutations of {count_noun(n, 'point')}",
        cost=system.cost,
        dim=n,
        degree=1,
        find_classes=lambda: system.kernel_classes,
        mark_count=n if system.action.regular else 1,
        mark=system.mark,
        plan=plan,
        moved=int((system.letters != np.arange(n)).sum(axis=1).max(initial=0)),
    )


def orbit_heads(automaton: Automaton) -> tuple[list[SignedPermutationPlan], list[int]]:
    """The natural permutation form where not all states are reachable: one head for each orbit of states.

    Beside the heads their seeds: the start state, then the least state of every other orbit. A head starts at zero
    where the seed lies in another orbit.
    """
    label = orbits(automaton.transitions)
    least = np.flatnonzero(label == np.arange(len(label))).tolist()
    seeds = [automaton.start, *(q for q in least if q != label[automaton.start])]
    plans = []
    for orbit in label[seeds]:
        members = np.flatnonzero(label == orbit)
        position = np.zeros(len(label), dtype=np.int64)
        position[members] = np.arange(len(members))
        image = position[automaton.transitions[:, members]]
        start = tuple(((int(position[q]), 1),) if label[q] == orbit else () for q in seeds)
        plans.append(SignedPermutationPlan(image, np.zeros_like(image), start))
    return plans, seeds


def signed_candidates(systems: list[BlockSystem], *, three_axes: bool) -> list[HeadCandidate]:
    """Signed permutations: pairs L < K of index 2 act on the cosets of K with signs.

    For small groups K is sought and its halves are listed; for others L is, and its cosets in pairs are the ends of the axes.

    Those of three axes are symmetries of the cube, a case of DP.T4; the others are G.T3's.
    """
    candidates = list(paired_candidates(systems, three_axes=three_axes))
    for system in systems:
        if (system.count == 3) != three_axes:
            continue
        action = system.action
        if action.regular and action.size <= MAX_TABLE and system.count <= MAX_SIGNED_DIM:
            members = frozenset(int(p) for p in np.flatnonzero(system.labels == 0))
            bits = 6 if system.count <= FEW_AXES else 4
            halves = index_two_subgroups(action, members, bits)
            found = (_signed_candidate(system, half) for half in halves)
            candidates.extend(c for c in found if c is not None)
    return candidates


def _signed_candidate(system: BlockSystem, half: frozenset[int]) -> HeadCandidate | None:
    action, n = system.action, system.count
    pair = first_appearance(cosets(action, half))
    positive = pair[system.representatives]
    # lifted point i is +e_i, lifted point n + i is -e_i
    lifted = np.where(pair == positive[system.labels], system.labels, system.labels + n)
    image = lifted[action.letters[:, system.representatives]]
    if (image < n).all():
        return None
    negative = (image >= n).astype(np.int64)

    def every() -> Indices:
        return lifted[action.table[:, system.representatives]]

    def plan(marks: Marks) -> SignedPermutationPlan:
        return SignedPermutationPlan(image % n, negative, (tuple((b, v + 1) for v, b in enumerate(marks)),))

    return HeadCandidate(
        theorem="DP.T4" if n == 3 else "G.T3",
        name=name_axes(n),
        cost=int(count_signed_factors(image % n, negative).max(initial=0)),
        dim=n,
        degree=1,
        find_classes=lambda: np.unique(every(), axis=0, return_inverse=True)[1].reshape(-1),
        mark_count=n,
        mark=lambda b: every()[:, b],
        plan=plan,
    )


def index_two_subgroups(
    action: TransitiveAction, members: frozenset[int], most_bits: int = 4
) -> list[frozenset[int]]:
    """The subgroups of index 2 in a subgroup K of a regular action: they contain K², and K/K² is elementary.

    All of them where there are fewer than 2 to the power of `most_bits`, else as many less one.

    Args:
        action: a regular action with a table.
        members: the points of K.
        most_bits: the binary logarithm of the bound.
    """
    if len(members) % 2:
        return []
    table = action.rows
    ordered = sorted(members)
    squares = subgroup(
        table, tuple(dict.fromkeys(table[k][k] for k in ordered)), 2 * len(table)
    ) or frozenset({0})
    coordinate = dict.fromkeys(squares, 0)
    bits = 0
    for k in ordered:
        if k not in coordinate:
            coordinate.update({table[k][g]: c | (1 << bits) for g, c in list(coordinate.items())})
            bits += 1
    return [
        frozenset(k for k, c in coordinate.items() if (c & functional).bit_count() % 2 == 0)
        for functional in range(1, 1 << min(bits, most_bits))
    ]


def _candidates(search: HeadSearch, _: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    systems = search.systems
    return [
        *permutation_candidates(systems),
        *signed_candidates(systems, three_axes=False),
        *set_candidates(search, three_axes=False),
        *cycle_candidates(search),
    ]


CONSTRUCTION = Construction(
    source="G.T3",
    title="permutation matrices as swaps, for group automata",
    order=10,
    examples=("S4", "Q8", "parity", "codeswap:4", "mod:1"),
    refusals={"T3": "letter 'collapse' merges states", "flipflop": "no group automaton"},
    candidates=_candidates,
)
