"""Heads of quotients side by side, signed permutations of points in pairs, and groups whose elements are not listed: the sizes found."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata import check, construct, full_certificate, plan
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra.groups._actions import TransitiveAction, transitive_action
from mirrormata.constructions.algebra.groups._permutations import orbits
from mirrormata.constructions.algebra.groups._quotients import further_partitions, normal_subgroups
from mirrormata.constructions.algebra.groups._set_actions import set_actions
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.heads._representations import SignedPermutationPlan
from mirrormata.constructions.theorems._paired_points import count_signed_factors, list_axes
from mirrormata.constructions.theorems._search_limits import search_limits
from mirrormata.tests.constructions.random_automata import automaton_of, group_actions
from mirrormata.theory.planning._architecture import Architecture
from mirrormata.theory.planning._fit import fit

Rows = list[list[int]]


def symmetric(n: int) -> Rows:
    """A cycle and a swap of n points."""
    return [[(i + 1) % n for i in range(n)], [1, 0, *range(2, n)]]


def hyperoctahedral(n: int) -> Rows:
    """Reflections that generate Z_2 wr S_n, on the ends of n axes; i and n + i are the ends of axis i."""
    rows = []
    for i in range(n - 1):
        row = list(range(2 * n))
        for end in (0, n):
            row[end + i], row[end + i + 1] = end + i + 1, end + i
        rows.append(row)
    return [*rows, [n, *range(1, n), 0, *range(n + 1, 2 * n)]]


def wreath(n: int) -> Rows:
    """Z_2 wr Z_n on the same points: the cycle of the axes, and one sign."""
    return [[(i + 1) % n for i in range(n)] + [n + (i + 1) % n for i in range(n)], hyperoctahedral(n)[-1]]


def on_subsets(rows: Rows, k: int) -> Rows:
    """Permutations of points on their sets of k points."""
    sets = list(itertools.combinations(range(len(rows[0])), k))
    place = {s: i for i, s in enumerate(sets)}
    return [[place[tuple(sorted(row[i] for i in s))] for s in sets] for row in rows]


def on_pairs_of_axes(n: int) -> Rows:
    """Z_2 wr S_n on the vectors ±e_i ± e_j, as sets of two ends."""
    sets = [s for s in itertools.combinations(range(2 * n), 2) if s[1] - s[0] != n]
    place = {s: i for i, s in enumerate(sets)}
    return [[place[min(row[i], row[j]), max(row[i], row[j])] for i, j in sets] for row in hyperoctahedral(n)]


def product(first: Rows, second: Rows) -> Rows:
    """Two groups on the pairs of their points."""
    n, m = len(first[0]), len(second[0])
    left = [[row[i // m] * m + i % m for i in range(n * m)] for row in first]
    return left + [[i // m * m + row[i % m] for i in range(n * m)] for row in second]


def elements(rows: Rows) -> list[tuple[int, ...]]:
    """All elements of the group that permutations generate, the identity first."""
    found = {tuple(range(len(rows[0]))): None}
    queue = list(found)
    for g in queue:
        for row in rows:
            h = tuple(row[i] for i in g)
            if h not in found:
                found[h] = None
                queue.append(h)
    return queue


def regular(rows: Rows, letters: Sequence[Sequence[int]] | None = None) -> Rows:
    """The group on its own elements; its generators are the letters unless others are given."""
    every = elements(rows)
    place = {g: i for i, g in enumerate(every)}
    return [
        [place[tuple(row[i] for i in g)] for g in every] for row in (rows if letters is None else letters)
    ]


def found_for(automaton: Automaton | str, **arguments: Any) -> tuple[int | None, int, int, str]:
    """Factors, dimension, number of heads and kind of numbers of a construction whose certificate is valid."""
    lrnn: LRNN = construct(automaton, **arguments)
    assert lrnn.depth == 1
    assert check(full_certificate(lrnn)).verdict == "valid"
    return lrnn.householders, lrnn.dim, lrnn.heads, lrnn.exactness


@pytest.mark.parametrize(
    ("name", "factors", "dim", "heads"),
    [
        ("S4_x_Z2", 2, 3, 2),
        ("S4_x_Z2[generators]", 2, 3, 2),
        ("A4_x_Z2", 2, 3, 2),
        ("A4_x_Z2^2", 2, 3, 2),
        ("S4_x_S3", 2, 3, 2),
        ("S3_x_S3", 2, 3, 2),
        ("S4_x_S4[generators]", 2, 3, 2),
        ("A4_x_S4[generators]", 2, 3, 2),
        ("Q8_x_S4", 2, 3, 3),
        ("dihedral:4_x_dihedral:4", 2, 2, 2),
    ],
)
def test_direct_products_take_small_heads_side_by_side(name: str, factors: int, dim: int, heads: int) -> None:
    assert found_for(name) == (factors, dim, heads, "integer")


@pytest.mark.long
def test_a_product_too_large_for_a_table() -> None:
    # 3,456 elements: the normal subgroups are closures of powers and commutators of letters
    assert found_for("S4_x_S4_x_S3[generators]") == (2, 3, 3, "integer")


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_reflections_generate_hyperoctahedral_groups_with_one_factor(n: int) -> None:
    lrnn = construct(automaton_of(hyperoctahedral(n)))
    assert found_for(automaton_of(hyperoctahedral(n)))[:3] == (1, n, 1)
    assert len(lrnn.decode) == 2 * n  # the ends of the axes, each with one code


def test_all_elements_of_the_cube_s_group() -> None:
    # rotations beside the determinant; in one head -1 would take three factors
    rows = hyperoctahedral(3)
    assert found_for(automaton_of(regular(rows))) == (1, 3, 1, "integer")
    assert found_for(automaton_of(regular(rows, elements(rows)))) == (2, 3, 2, "integer")


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_a_cycle_of_axes_and_a_sign(n: int) -> None:
    assert found_for(automaton_of(wreath(n))) == (n - 1, n, 1, "integer")


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_same_on_group_elements(n: int) -> None:
    assert found_for(automaton_of(regular(wreath(n)))) == (n - 1, n, 1, "integer")


@pytest.mark.parametrize(
    ("rows", "factors", "dim", "heads"),
    [
        (on_subsets(symmetric(7), 2), 6, 7, 1),
        (on_subsets(symmetric(8), 3), 7, 8, 1),
        (on_pairs_of_axes(6), 1, 6, 1),
        (product(symmetric(7), symmetric(7)), 6, 7, 2),
        (product(on_subsets(symmetric(7), 2), hyperoctahedral(3)), 6, 7, 2),
    ],
    ids=["pairs", "triples", "pairs of axes", "product", "product of both kinds"],
)
def test_groups_that_are_not_listed(rows: Rows, factors: int, dim: int, heads: int) -> None:
    automaton = automaton_of(rows)
    assert not transitive_action(automaton).regular
    assert found_for(automaton) == (factors, dim, heads, "integer")
    assert len(construct(automaton).decode) == len(automaton.states)


def test_listing_the_group_gives_no_more_codes_than_states() -> None:
    pairs = automaton_of(on_subsets(symmetric(5), 2))
    assert found_for(pairs)[:3] == (4, 5, 1)
    assert len(construct(pairs).decode) == 10
    assert len(construct(automaton_of(on_pairs_of_axes(4))).decode) == 24


def test_a_search_that_is_no_search_of_all_heads_says_so() -> None:
    pairs = automaton_of(on_subsets(symmetric(7), 2))
    (note,) = [note for note in construct(pairs).notes if "not tried" in note]
    assert "more than 5,000 elements" in note
    assert note.endswith("raise `max_group`")
    made = plan(pairs, max_layers=1)
    assert note in made.left_out
    decided = fit(pairs, Architecture(layers=1, heads=1, householders=3, head_dim=8, value_dim=8))
    assert decided.verdict == "not decided"
    assert f"left out: {note}" in decided.remarks
    assert not any("not tried" in note for note in construct("S5").notes)
    (note,) = search_limits(automaton_from_spec("S6[generators]"), 5_000)
    assert "720 elements" in note
    assert "max_group" not in note
    assert search_limits(automaton_from_spec("T3"), 5_000) == []
    assert search_limits(automaton_from_spec("Z2^7"), 5_000) == []


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("S4", {4, 12}),
        ("A5", set()),
        ("Q8", {2, 4}),
        ("Z2^2", {2}),
        ("S3_x_Z2", {2, 3, 6}),
        ("S4_x_Z2", {2, 4, 8, 12, 24}),
    ],
)
def test_normal_subgroups(name: str, orders: set[int]) -> None:
    action = transitive_action(automaton_from_spec(name))
    table = action.table
    inverse = np.argmax(table == 0, axis=1)
    listed = normal_subgroups(action)
    assert len(listed) == len(set(listed))
    assert {len(members) for members in listed} == orders
    for members in listed:
        for g in range(action.size):
            assert {int(table[table[g, k], inverse[g]]) for k in members} == members


@given(group_actions())
@settings(deadline=None, max_examples=40)
def test_further_partitions_are_respected_by_the_letters(automaton: Automaton) -> None:
    action = transitive_action(automaton)
    for labels in further_partitions(action):
        for letter in action.letters:
            images = {(int(a), int(b)) for a, b in zip(labels, labels[letter], strict=True)}
            assert len(images) == len({a for a, _ in images}) == len({b for _, b in images})


def test_axes_are_the_pairs_that_commute_with_the_letters() -> None:
    for rows, count in (
        (hyperoctahedral(3), 1),
        (symmetric(6), 0),
        ([[1, 2, 3, 0]], 1),
        (regular([[1, 0, 2, 3], [0, 1, 3, 2]]), 3),
    ):
        letters = np.array(rows)
        listed = list_axes(letters)
        assert len(listed) == count
        for axes in listed:
            image, negative = axes.signed(letters)
            signs = SignedPermutationPlan(image, negative, (((0, 1),),))
            assert [len(f) for f in signs.factors()] == count_signed_factors(image, negative).tolist()
            # point p is ±e_i, and so is where each letter takes it
            for letter, to, minus in zip(letters, image, negative, strict=True):
                assert (axes.axis[letter] == to[axes.axis]).all()
                assert (axes.is_negative[letter] == (axes.is_negative ^ (minus[axes.axis] == 1))).all()


def test_actions_on_sets() -> None:
    rows = np.array(on_subsets(symmetric(7), 2))
    listed = set_actions(rows)
    assert listed[0].count == 7
    for action in listed:
        assert action.count < 21
        assert not orbits(action.letters).any()
        # the orbits of pairs of a point and a set are kept by all letters
        for x, row in enumerate(rows):
            assert (action.pairs[row][:, action.letters[x]] == action.pairs).all()
    assert set_actions(np.array(symmetric(9))) == []


def test_a_vector_with_equal_entries_has_the_orbit_of_its_matrices() -> None:
    letters = np.array(hyperoctahedral(3))
    image, negative = list_axes(letters)[0].signed(letters)
    start = (((0, 1), (1, 1), (2, -2)),)
    signs = SignedPermutationPlan(image, negative, start)
    orbit, other = signs.orbit(), signs.as_matrices().orbit()
    assert list(orbit.codes) == list(other.codes)
    assert (orbit.transitions == other.transitions).all()


@given(st.sampled_from([(hyperoctahedral, 3), (wreath, 4), (symmetric, 5)]), st.integers(0, 2**32))
@settings(deadline=None, max_examples=15)
def test_random_orbits_of_sets(group: tuple[object, int], seed: int) -> None:
    make, n = group
    rows: Rows = make(n)  # type: ignore[operator]
    draw = np.random.default_rng(seed)
    points = len(rows[0])
    start = frozenset(draw.choice(points, size=int(draw.integers(1, points)), replace=False).tolist())
    sets = {start: 0}
    queue = [start]
    for members in queue:
        for row in rows:
            image = frozenset(row[i] for i in members)
            if image not in sets:
                sets[image] = len(sets)
                queue.append(image)
    table = [[sets[frozenset(row[i] for i in members)] for members in queue] for row in rows]
    automaton = automaton_of(table)
    for limit in (5_000, 10):
        found_for(automaton, max_group=limit)


def test_a_transitive_action_keeps_its_points() -> None:
    letters = np.array(wreath(6))
    natural = TransitiveAction(letters, np.arange(12), regular=False)
    assert further_partitions(natural) == []


def test_vectors_with_entries_of_one_size_are_told_apart_by_value() -> None:
    """e_1 - e_2 is also what exchanging its entries and negating both makes of it."""
    letters = np.array(hyperoctahedral(3))
    image, negative = list_axes(letters)[0].signed(letters)
    plan = SignedPermutationPlan(image, negative, (((0, 1), (1, -1)),))
    assert len(plan.orbit().codes) == len(set(plan.orbit().codes)) == 12
