"""A permutation representation of small degree for the transition group: never more points than states."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..algebra.groups._actions import transitive_action
from ..automata._automaton import Automaton, Indices
from ..heads._candidates import HeadCandidate, HeadSearch
from ..heads._representations import SignedPermutationPlan
from ..heads._selection import determines, join_partitions
from ._rotations import cycle_candidates
from .g_t3 import permutation_candidates


def small_permutation_representation(automaton: Automaton, max_group: int = 5_000) -> Indices:
    """Find a faithful permutation representation on few points: the permutation of each letter, `[letters, points]`.

    It is the smallest one found among the action on the states, its block systems, coset actions of subgroups, and unions of these
    (orbits side by side). It is not proved to be the smallest possible.

    Args:
        automaton: a group automaton whose states are all reachable.
        max_group: the largest group whose elements are listed.
    """
    action = transitive_action(automaton, max_group)
    if not action.regular:
        return np.asarray(automaton.transitions, dtype=np.int64)
    search = HeadSearch(action)
    candidates = [*permutation_candidates(search.systems), *cycle_candidates(search)]
    candidates = sorted((c for c in candidates if c.moved is not None or c.name == "a sign"), key=_points)
    every = np.arange(action.size)
    faithful = [c for c in candidates if determines(c.classes, every)]
    union: list[HeadCandidate] = []
    classes = np.zeros(action.size, dtype=np.int64)
    for candidate in candidates:
        finer = join_partitions(classes, candidate.classes)
        if int(finer.max()) > int(classes.max()):
            union.append(candidate)
            classes = finer
    for candidate in reversed(union[:-1]):  # those that later ones made superfluous, the largest first
        rest = [c for c in union if c is not candidate]
        if determines(reduce(join_partitions, [c.classes for c in rest]), every):
            union = rest
    chosen = min([union, *([c] for c in faithful)], key=lambda parts: sum(map(_points, parts)))
    if not chosen or sum(map(_points, chosen)) > len(automaton.states):
        return np.asarray(automaton.transitions, dtype=np.int64)
    images, offset = [], 0
    for candidate in chosen:
        plan = candidate.plan((0,))
        if not isinstance(plan, SignedPermutationPlan):
            raise AssertionError("a permutation candidate plans permutations")
        image = plan.image if candidate.name != "a sign" else np.array([[0, 1], [1, 0]])[plan.negative[:, 0]]
        images.append(image + offset)
        offset += image.shape[1]
    return np.concatenate(images, axis=1)


def small_degree(automaton: Automaton, max_group: int = 5_000) -> int:
    """Return the number of points of `small_permutation_representation`.

    Args:
        automaton: a group automaton whose states are all reachable.
        max_group: the largest group whose elements are listed.

    Examples:
        >>> from mirrormata import automaton_from_spec
        >>> from mirrormata.constructions import small_degree
        >>> small_degree(automaton_from_spec("S4"))
        4
    """
    if len(automaton.reachable()) < len(automaton.states):
        return len(automaton.states)
    return int(small_permutation_representation(automaton, max_group).shape[1])


def _points(candidate: HeadCandidate) -> int:
    return 2 if candidate.name == "a sign" else candidate.dim
