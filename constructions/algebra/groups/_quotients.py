"""Smaller actions that come from quotients of a group, and from the action on the automaton's states.

Every group is a subdirect product of quotients that have one smallest normal subgroup each: the kernels of the maps onto them have the
trivial intersection. So heads of such quotients, side by side, always tell the elements apart, and each of them needs no more than its own
quotient does: S_4 × Z_2 is the rotations of the cube beside a sign. The subgroups of a quotient stand for subgroups of the group, which
may need more generators there than the search over pairs of elements gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations

import numpy as np

from ...automata._automaton import Indices
from .._conductors import prime_divisors
from .._congruences import join_partitions as join_two_partitions
from ._actions import (
    MAX_TABLE,
    TransitiveAction,
    conjugacy_representatives,
    coset_partitions,
    cosets,
    first_appearance,
    generating_letters,
    is_abelian,
    join_partitions,
)
from ._permutations import cycle_lengths, minimal_blocks

MAX_NORMAL = 60
"""Most normal subgroups that are listed."""
MAX_QUOTIENTS = 12
"""Most quotients whose subgroups are listed."""
MAX_INDEX = 64
"""Most blocks of an action that is taken from a quotient."""
MAX_NATURAL_WORK = 4_000
"""Letters times states up to which block systems of the action on the states are listed."""
MAX_CLOSURE_WORK = 60_000
"""Letters that generate the group times its order, up to which normal subgroups are sought in a group too large for a table."""
MAX_CLOSURES = 12
"""Most elements whose normal closures are computed in such a group."""


def further_partitions(action: TransitiveAction) -> list[Indices]:
    """Partitions of the points that the letters respect, beside those that `block_systems` finds by pairs of elements.

    Args:
        action: a transitive action; only regular ones of groups that are not abelian have any.

    Returns:
        The class of each point, `[points]`, for each partition; some may be equal.
    """
    # the cyclic quotients of abelian groups are heads of their own
    if not action.regular or is_abelian(action):
        return []
    return [*_natural_partitions(action), *_quotient_partitions(action)]


def _natural_partitions(action: TransitiveAction) -> list[Indices]:
    """The action on the states, and its block systems, for a listed group."""
    labels = first_appearance(action.states)
    letters = action.quotient(labels)
    count = letters.shape[1]
    if count == action.size:
        return []
    found = [labels]
    if letters.size <= MAX_NATURAL_WORK:
        on_states = TransitiveAction(letters, np.arange(count), regular=False)
        found += [blocks[labels] for blocks in join_partitions(on_states)]
    return found


def _quotient_partitions(action: TransitiveAction) -> list[Indices]:
    """Cosets of subgroups that contain a normal subgroup, of the kinds that `_quotients` lists."""
    found: list[Indices] = []
    listed = 0
    # the smallest quotients first
    for labels in sorted(_quotients(action), key=lambda labels: int(labels.max())):
        count = int(labels.max()) + 1
        if count <= MAX_INDEX:
            found.append(labels)
        quotient = quotient_of(action, labels)
        if listed == MAX_QUOTIENTS or count > MAX_TABLE or is_abelian(quotient):
            continue
        listed += 1
        found += [
            partition[labels]
            for partition in coset_partitions(quotient)
            if len(np.unique(partition)) <= MAX_INDEX
        ]
    return found


def quotient_of(action: TransitiveAction, labels: Indices) -> TransitiveAction:
    """The regular action of the quotient by a normal subgroup.

    Args:
        action: a regular action.
        labels: the coset of each point, `[points]`, numbered by first appearance.
    """
    letters = action.quotient(labels)
    return TransitiveAction(letters, np.arange(letters.shape[1]), regular=True)


def _quotients(action: TransitiveAction) -> Iterator[Indices]:
    """The cosets of normal subgroups: those whose quotient has one smallest normal subgroup, or is abelian."""
    if action.size <= MAX_TABLE:
        yield from _quotients_by_table(action)
        return
    done: list[Indices] = []
    for labels in sorted(_large_normal_subgroups(action), key=lambda labels: -int(labels.max())):
        if int(labels.max()) >= MAX_TABLE:
            continue
        # a quotient of one that has been done is found there
        representatives = [np.unique(finer, return_index=True)[1] for finer in done]
        if any(
            (labels == labels[first][finer]).all() for finer, first in zip(done, representatives, strict=True)
        ):
            continue
        done.append(labels)
        yield labels
        yield from (inner[labels] for inner in _quotients_by_table(quotient_of(action, labels)))


def _quotients_by_table(action: TransitiveAction) -> Iterator[Indices]:
    """The same for a group with a table."""
    normal = normal_subgroups(action)
    for members in normal:
        larger = [other for other in normal if members < other]
        # the quotient has one smallest normal subgroup exactly where all larger ones meet in one that is larger
        meet = reduce(frozenset.intersection, larger, frozenset(range(action.size)))
        labels = first_appearance(cosets(action, members))
        if len(meet) > len(members) or is_abelian(quotient_of(action, labels)):
            yield labels


def normal_subgroups(action: TransitiveAction) -> list[frozenset[int]]:
    """The normal subgroups other than the trivial one and the whole group, the closures of one element first; at most `MAX_NORMAL`.

    Args:
        action: a regular action with at most `MAX_TABLE` points.
    """
    table = action.table
    inverse = np.argmax(table == 0, axis=1)
    found: dict[frozenset[int], None] = {}
    for g in conjugacy_representatives(table)[1:]:
        closure = _close(table, np.append(np.unique(table[table[:, g], inverse]), 0))
        if closure is not None and len(found) < MAX_NORMAL:
            found.setdefault(closure)
    # products of two normal subgroups are normal, and every normal subgroup is one of closures
    closures, joined = list(found), list(found)
    for first in joined:  # which grows on the way
        for second in closures:
            order = len(first) * len(second) // len(first & second)
            if len(found) >= MAX_NORMAL or order == len(first) or 2 * order > action.size:
                continue
            if not any(len(other) == order and first < other and second <= other for other in found):
                product = frozenset(np.unique(table[np.ix_(sorted(first), sorted(second))]).tolist())
                found[product] = None
                joined.append(product)
    return list(found)


def _close(table: Indices, members: Indices) -> frozenset[int] | None:
    """The subgroup that a set of elements with the identity generates; None where that is the whole group."""
    while True:
        reached = np.zeros(len(table), dtype=bool)
        reached[table[np.ix_(members, members)]] = True
        larger = np.flatnonzero(reached)
        if 2 * len(larger) > len(table):
            return None
        if len(larger) == len(members):
            return frozenset(larger.tolist())
        members = larger


def _large_normal_subgroups(action: TransitiveAction) -> list[Indices]:
    """Cosets of some normal subgroups: closures of powers and of commutators of letters, and the joins of all but one, or of two.

    For a group that is too large for a table. A partition that left and right multiplications respect is one by a normal subgroup.
    """
    generators = generating_letters(action)
    if len(generators) * action.size > MAX_CLOSURE_WORK:
        return []
    lefts = action.letters[generators]
    points = lefts[:, 0].tolist()
    rights = np.array([action.right(p) for p in points])
    maps = np.concatenate([lefts, rights])
    closures: dict[bytes, Indices] = {}
    for element in _typical_elements(lefts)[:MAX_CLOSURES]:
        labels = first_appearance(minimal_blocks(maps, element))
        closures.setdefault(labels.tobytes(), labels)
    proper = [labels for labels in closures.values() if labels.any()]
    found = dict.fromkeys(labels.tobytes() for labels in proper)
    listed = list(proper)
    groups: list[Sequence[Indices]] = [*combinations(proper, 2)]
    if len(proper) > 2:
        groups += [[other for other in proper if other is not labels] for labels in proper]
    for parts in groups:
        labels = first_appearance(reduce(join_two_partitions, parts))
        if labels.any() and labels.tobytes() not in found:
            found[labels.tobytes()] = None
            listed.append(labels)
    return listed[:MAX_NORMAL]


def _typical_elements(letters: Indices) -> list[int]:
    """Points of powers of letters that have prime order, and of commutators of letters."""
    found: dict[int, None] = {}
    inverses = np.argsort(letters, axis=1)
    for letter in letters:
        # all cycles of a letter have one length in a regular action
        order = cycle_lengths(letter)[0]
        for p in prime_divisors(order):
            point = 0
            for _ in range(order // p):
                point = int(letter[point])
            found.setdefault(point)
    for x, y in combinations(range(len(letters)), 2):
        found.setdefault(int(letters[x, letters[y, inverses[x, inverses[y, 0]]]]))
    return [point for point in found if point]
