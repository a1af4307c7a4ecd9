"""G.T3: letters as permutation matrices, products of swaps `v = e_i - e_j`, β = 1.

The points need not be the automaton's states: any block system of the transition group will do, and with signs
any system of pairs of blocks (a negative r-cycle has order 2r; the cube's rotations are signed permutations of
its axes). All numbers are small integers.
"""

from __future__ import annotations

import numpy as np

from .automaton import Automaton, Indices
from .block_systems import MAX_TABLE, BlockSystem, cosets, first_appearance, subgroup
from .candidates import HeadCandidate, Marks, whole
from .head_plan import SignedPermutationPlan
from .transitive_action import TransitiveAction, cycle_counts, cycle_lengths

MAX_SIGNED_DIM = 64


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

    moved = int((system.letters != np.arange(n)).sum(axis=1).max(initial=0))
    return HeadCandidate(
        theorem="G.T3",
        name=f"permutations of {n} points",
        cost=system.cost,
        dim=n,
        integer=True,
        classes=system.kernel_classes,
        mark_count=n if system.action.regular else 1,
        mark=system.mark,
        plan=plan,
        moved=moved,
    )


def orbit_candidates(automaton: Automaton) -> list[SignedPermutationPlan]:
    """The natural permutation form where not all states are reachable: one head for each orbit of states.

    The seeds of each head are, in this order, the start state and the least state of every other orbit; a head
    starts at zero where the seed lies in another orbit.
    """
    label = _orbit_labels(automaton.transitions)
    starts = [automaton.start, *(int(q) for q in np.unique(label, return_index=True)[1])]
    seeds = list({int(label[q]): q for q in reversed(starts)}.values())[::-1]
    seeds = sorted(seeds, key=lambda q: (q != automaton.start, q))
    plans = []
    for orbit in dict.fromkeys(int(label[q]) for q in seeds):
        members = np.flatnonzero(label == orbit)
        position = np.zeros(len(label), dtype=np.int64)
        position[members] = np.arange(len(members))
        image = position[automaton.transitions[:, members]]
        start = tuple(((int(position[q]), 1),) if label[q] == orbit else () for q in seeds)
        plans.append(SignedPermutationPlan(image, np.zeros_like(image), start))
    return plans


def _orbit_labels(transitions: Indices) -> Indices:
    from .block_systems import orbits

    return orbits(transitions) if len(transitions) else np.arange(transitions.shape[1])


def signed_candidates(systems: list[BlockSystem]) -> list[HeadCandidate]:
    """Signed permutations: pairs L < K of index 2 act on the cosets of K with signs (exact for small groups)."""
    candidates = []
    for system in systems:
        action = system.action
        if not action.regular or action.size > MAX_TABLE or system.count > MAX_SIGNED_DIM:
            continue
        members = frozenset(int(p) for p in np.flatnonzero(system.labels == 0))
        for half in index_two_subgroups(action, members):
            candidates.append(_signed_candidate(system, half))
    return [candidate for candidate in candidates if candidate is not None]


def _signed_candidate(system: BlockSystem, half: frozenset[int]) -> HeadCandidate | None:
    action, n = system.action, system.count
    pair = first_appearance(cosets(action, half))
    positive = pair[system.representatives]
    # lifted point i is +e_i, lifted point n + i is -e_i
    lifted = np.where(pair == positive[system.labels], system.labels, system.labels + n)
    image = lifted[action.letters[:, system.representatives]]
    full = np.concatenate([image, (image + n) % (2 * n)], axis=1)
    # a cycle whose signs multiply to +1 lifts to two cycles, any other to one
    unsigned = image % n
    positive_cycles = cycle_counts(full) - cycle_counts(unsigned)
    if (image < n).all():
        return None
    every = lifted[action.table[:, system.representatives]]
    classes = np.unique(every, axis=0, return_inverse=True)[1].reshape(-1)
    negative = (image >= n).astype(np.int64)

    def plan(marks: Marks) -> SignedPermutationPlan:
        return SignedPermutationPlan(unsigned, negative, (tuple((b, v + 1) for v, b in enumerate(marks)),))

    return HeadCandidate(
        theorem="DP.T4" if n <= 3 else "G.T3",
        name=f"signed permutations of {n} axes" if n > 1 else "a sign",
        cost=int((n - positive_cycles).max(initial=0)),
        dim=n,
        integer=True,
        classes=classes,
        mark_count=n,
        mark=lambda b: every[:, b],
        plan=plan,
    )


def lifted_candidate(candidate: HeadCandidate) -> HeadCandidate | None:
    """H.A5inv for signed permutations of an odd number of axes with determinant 1: letters may change sign.

    Each letter R becomes the cheaper of R and -R; a state then has the codes of R and -R, told apart by the
    determinant. None where that saves nothing.
    """
    plan = candidate.plan(tuple(range(candidate.mark_count)))
    if (
        not isinstance(plan, SignedPermutationPlan)
        or candidate.dim % 2 == 0
        or candidate.mark_count != plan.dim
    ):
        return None
    costs, flips = [], []
    for image, negative in zip(plan.image, plan.negative, strict=True):
        lengths = cycle_lengths(image)
        odd_permutation = sum(r - 1 for r in lengths) % 2
        if (odd_permutation + int(negative.sum())) % 2:
            return None
        plain = _signed_rank(image, negative)
        turned = _signed_rank(image, 1 - negative)
        flips.append(turned < plain)
        costs.append(min(plain, turned))
    if max(costs, default=0) >= candidate.cost:
        return None
    negative = np.where(np.array(flips)[:, None], 1 - plan.negative, plan.negative)
    lifted = SignedPermutationPlan(plan.image, negative, plan.seeds)
    mark_count, mark, build = whole(candidate.classes, lifted)
    return HeadCandidate(
        theorem="H.A5inv",
        name=f"{candidate.name}, each letter R as the cheaper of R and -R",
        cost=max(costs),
        dim=candidate.dim,
        integer=True,
        classes=candidate.classes,
        mark_count=mark_count,
        mark=mark,
        plan=build,
        lifted=True,
    )


def _signed_rank(image: Indices, negative: Indices) -> int:
    from .head_plan import signed_permutation_factors

    return len(signed_permutation_factors(image.tolist(), negative.tolist()))


def index_two_subgroups(action: TransitiveAction, members: frozenset[int]) -> list[frozenset[int]]:
    """All subgroups of index 2 in a subgroup K of a regular action: they contain K², and K/K² is elementary."""
    if len(members) % 2:
        return []
    table = action.table.tolist()
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
    halves = []
    for functional in range(1, 1 << min(bits, 4)):
        halves.append(frozenset(k for k, c in coordinate.items() if (c & functional).bit_count() % 2 == 0))
    return halves
