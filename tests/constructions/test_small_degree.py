"""Small permutation representations: faithful, never larger than the states, of the known least degree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.theorems._small_degree import small_degree, small_permutation_representation
from mirrormata.tests.constructions.random_automata import (
    automaton_of,
    group_actions,
    permutation_automata,
    renamed,
)


def order(rows: list[list[int]], limit: int = 10_000) -> int:
    """Number of permutations generated."""
    identity = tuple(range(len(rows[0])))
    found = {identity}
    queue = [identity]
    for g in queue:
        for row in rows:
            h = tuple(row[i] for i in g)
            if h not in found:
                found.add(h)
                queue.append(h)
        assert len(found) <= limit
    return len(found)


def check_faithful(automaton: Automaton) -> int:
    representation = small_permutation_representation(automaton)
    n, points = len(automaton.states), representation.shape[1]
    assert representation.shape[0] == len(automaton.letters)
    assert points <= n
    assert (np.sort(representation, axis=1) == np.arange(points)).all()
    # isomorphic as actions of the free monoid: side by side they generate no more than each alone
    both = np.concatenate([automaton.transitions, representation + n], axis=1).tolist()
    assert order(both) == order(automaton.transitions.tolist()) == order(representation.tolist())
    assert small_degree(automaton) == points
    return int(points)


@given(st.one_of(permutation_automata(max_states=6, kinds=("states",)), group_actions()))
@settings(deadline=None, max_examples=30)
def test_representations_are_faithful(automaton: Automaton) -> None:
    check_faithful(automaton)


@pytest.mark.parametrize(
    ("name", "degree"),
    [
        ("Z1", 1), ("parity", 2), ("mod:6", 5), ("mod:8", 8), ("mod:12", 7), ("mod:60", 12), ("Z60", 12), ("S3", 3),
        ("S4", 4), ("S5", 5), ("A4", 4), ("A5", 5), ("A5[involutions]", 5), ("S5[transpositions]", 5),
        ("dihedral:3", 3), ("dihedral:4", 4), ("dihedral:6", 5), ("dihedral:7", 7), ("Q8", 8), ("Z2^4", 8),
        ("A4_x_Z5", 9), ("S3_x_S3", 6), ("codeswap:4", 4), ("cycle:5", 5),
    ],
)  # fmt: skip
def test_least_degrees(name: str, degree: int) -> None:
    automaton = automaton_from_spec(name)
    assert check_faithful(automaton) == degree
    assert check_faithful(renamed(automaton, 3)) == degree


def test_groups_too_large_to_list_and_unreachable_points() -> None:
    large = automaton_of([[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 0, 2, 3, 4, 5, 6, 7, 8]])
    assert small_degree(large) == 9
    apart = automaton_of([[1, 0, 2, 4, 3]], keeps_points=True)
    assert small_degree(apart) == 5
