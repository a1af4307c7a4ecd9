"""The search on a group: regular actions, block systems, subgroups; determinism under any hash seed."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra.groups._actions import (
    TransitiveAction,
    block_systems,
    cosets,
    subgroups,
    transitive_action,
)
from mirrormata.constructions.algebra.groups._permutations import cycle_counts, cycle_lengths, orbits
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.library._groups import group_by_name
from mirrormata.constructions.theorems.g_t3 import index_two_subgroups
from mirrormata.tests.constructions.random_automata import automaton_of, group_actions, permutation_automata

LIMIT = 400


def brute_group(automaton: Automaton, limit: int) -> set[tuple[int, ...]] | None:
    """All elements of the transition group, None beyond the limit."""
    identity = tuple(range(len(automaton.states)))
    found = {identity}
    queue = [identity]
    for g in queue:
        for row in automaton.transitions.tolist():
            h = tuple(row[i] for i in g)
            if h not in found:
                found.add(h)
                queue.append(h)
        if len(found) > limit:
            return None
    return found


def check_action(automaton: Automaton, action: TransitiveAction) -> None:
    """Letters permute the points, lie over the automaton's transitions, and reach everything from point 0."""
    points = np.arange(action.size)
    assert (np.sort(action.letters, axis=1) == points).all()
    assert (action.states[action.letters] == automaton.transitions[:, action.states]).all()
    assert action.states[0] == automaton.start
    assert set(action.states.tolist()) == set(range(len(automaton.states)))
    reached = {0}
    for level, parents, letters in action.levels:
        assert (action.letters[letters, parents] == level).all()
        assert set(parents.tolist()) <= reached
        assert not reached & set(level.tolist())
        reached |= set(level.tolist())
    assert reached == set(points.tolist())


@given(st.one_of(permutation_automata(max_states=6), group_actions()))
@settings(deadline=None)
def test_regular_exactly_where_the_group_fits(automaton: Automaton) -> None:
    group = brute_group(automaton, 10_000)
    assert group is not None
    action = transitive_action(automaton, LIMIT)
    check_action(automaton, action)
    natural = len(group) == len(automaton.states)
    assert action.regular == (len(group) <= LIMIT or natural)
    assert action.size == (len(group) if action.regular else len(automaton.states))
    if not action.regular:
        return
    # point p stands for one element, the one that takes point 0 to p
    permutations = {0: tuple(range(len(automaton.states)))}
    for level, parents, letters in action.levels:
        for p, parent, x in zip(level.tolist(), parents.tolist(), letters.tolist(), strict=True):
            row = automaton.transitions[x]
            permutations[p] = tuple(int(row[i]) for i in permutations[parent])
    assert set(permutations.values()) == group
    index = {g: p for p, g in permutations.items()}
    rng = np.random.default_rng(0)
    for a, b, c in rng.integers(0, action.size, (20, 3)):
        g, h = permutations[int(a)], permutations[int(b)]
        assert action.table[a, b] == index[tuple(g[i] for i in h)]
        assert action.table[action.table[a, b], c] == action.table[a, action.table[b, c]]
        right = action.right(int(b))
        assert (right == action.table[:, b]).all()
        assert (right[action.letters] == action.letters[:, right]).all()


def test_a_regular_action_is_seen_without_listing() -> None:
    # 5,040 elements, more than the limit: the action on the states is taken as it is
    action = transitive_action(automaton_from_spec("S7[generators]"), max_group=10)
    assert action.regular
    assert action.size == 5_040
    assert not transitive_action(automaton_of([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]), max_group=119).regular
    assert transitive_action(automaton_of([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]), max_group=120).regular


def brute_subgroups(table: Indices) -> set[frozenset[int]]:
    """All subgroups, joining one element at a time."""

    def closed(members: frozenset[int]) -> frozenset[int]:
        queue = list(members | {0})
        seen = set(queue)
        for g in queue:
            for s in list(members):
                h = int(table[g, s])
                if h not in seen:
                    seen.add(h)
                    queue.append(h)
        return frozenset(seen)

    found = {frozenset({0})}
    queue = list(found)
    for K in queue:
        for g in range(len(table)):
            if g not in K:
                L = closed(K | {g})
                if L not in found:
                    found.add(L)
                    queue.append(L)
    return found


@pytest.mark.parametrize(
    "name", ["Z1", "Z2", "Z6", "Z2^2", "Z2^3", "Z2^4", "S3", "dihedral:4", "dihedral:6", "Q8", "A4", "Z2_x_Z4", "S4", "Z12"]
)  # fmt: skip
def test_subgroups_are_all_of_them(name: str) -> None:
    action = transitive_action(automaton_from_spec(name))
    table = action.table
    every = brute_subgroups(table)
    inverse = np.argmax(table == 0, axis=1)
    found = set(subgroups(action))
    assert found <= every

    def conjugates(K: frozenset[int]) -> set[frozenset[int]]:
        return {frozenset(int(table[table[g, k], inverse[g]]) for k in K) for g in range(len(table))}

    two_generated = {
        K for K in every
        if len(K) < len(table)
        and any(min((L for L in every if {a, b} <= L), key=len) == K for a in K for b in K)
    }  # fmt: skip
    reached = set().union(*(conjugates(K) for K in found))
    assert reached == two_generated
    for K in every:
        halves = {L for L in every if L < K and 2 * len(L) == len(K)}
        listed = index_two_subgroups(action, K)
        assert len(listed) == len(set(listed))
        assert set(listed) == halves


def test_no_more_than_fifteen_halves_are_listed() -> None:
    action = transitive_action(automaton_from_spec("Z2^5"))
    listed = index_two_subgroups(action, frozenset(range(32)))
    assert len(set(listed)) == 15
    for half in listed:
        assert len(half) == 16
        assert all(int(action.table[a, b]) in half for a in half for b in half)


@given(st.one_of(permutation_automata(max_states=6), group_actions()))
@settings(deadline=None, max_examples=60)
def test_block_systems_are_respected_by_the_letters(automaton: Automaton) -> None:
    action = transitive_action(automaton, LIMIT)
    systems = block_systems(action)
    assert [s.count for s in systems] == sorted(s.count for s in systems)
    assert systems or action.size == 1
    assert action.size == 1 or any(s.count == action.size for s in systems)
    for system in systems:
        labels = system.labels
        assert (labels[action.letters] == system.letters[:, labels]).all()
        assert set(labels.tolist()) == set(range(system.count))
        assert labels[0] == 0
        assert len(set(np.bincount(labels).tolist())) == 1  # blocks of one size
        assert (labels[system.representatives] == np.arange(system.count)).all()
        assert system.cost == max(
            (system.count - len(cycle_lengths(row)) for row in system.letters), default=0
        )
        if not action.regular:
            continue
        images = labels[action.table[:, system.representatives]]
        assert (images == system.images).all()
        for p, q in itertools.pairwise(range(min(action.size, 12))):
            same = (images[p] == images[q]).all()
            assert (system.kernel_classes[p] == system.kernel_classes[q]) == same
        for block in (0, system.count - 1):
            assert (system.mark(block) == images[:, block]).all()


def test_cosets_are_left_cosets() -> None:
    action = transitive_action(automaton_from_spec("S4"))
    for members in subgroups(action)[:20]:
        label = cosets(action, members)
        for g in range(24):
            coset = {int(action.table[g, k]) for k in members}
            assert set(np.flatnonzero(label == label[g]).tolist()) == coset


@given(permutation_automata(max_states=9, kinds=("states",), keep_points=True))
@settings(deadline=None)
def test_orbits_and_cycles_by_flooding(automaton: Automaton) -> None:
    least = orbits(automaton.transitions)
    for q in range(len(automaton.states)):
        seen = {q}
        queue = [q]
        for p in queue:
            fresh = {int(r) for r in automaton.transitions[:, p]} - seen
            seen |= fresh
            queue += sorted(fresh)
        assert least[q] == min(seen)  # permutations: reachability is symmetric
    for row, count in zip(automaton.transitions, cycle_counts(automaton.transitions), strict=True):
        assert len(set(orbits(row[None, :]).tolist())) == count == len(cycle_lengths(row))
        assert sum(cycle_lengths(row)) == len(row)


DIGEST = """
import hashlib, json
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions._construct import construct
from mirrormata.constructions.theorems._small_degree import small_permutation_representation
from mirrormata.constructions._spec import automaton_from_spec
for name in ("S4", "A4_x_Z5", "Z60", "dihedral:8", "Q8", "S4[involutions]", "Z2^4", "S3_x_S3"):
    automaton = automaton_from_spec(name)
    document = certificate(construct(automaton)), small_permutation_representation(automaton).tolist()
    print(hashlib.sha256(json.dumps(document).encode()).hexdigest())
"""


def test_nothing_depends_on_the_hash_seed() -> None:
    outputs = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 8


def test_groups_by_name_agree_with_the_action() -> None:
    group = group_by_name("dihedral:5")
    action = transitive_action(group.word_problem())
    where = {int(q): p for p, q in enumerate(action.states)}
    for g, h in itertools.product(range(10), repeat=2):
        assert action.table[where[g], where[h]] == where[int(group.table[g, h])]
