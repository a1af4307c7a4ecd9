"""own.LMI on trees: figures, certificates and their corruptions, and existence against all labelled trees."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import check, random_words, run
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.algebra._matrices import identity, matrix, rank, subtract
from mirrormata.constructions.algebra.groups._permutations import cycle_lengths
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions.theorems.own_lmi import (
    StepTrees,
    partial_injections,
    partial_signed_factors,
    tree_steps,
)
from mirrormata.tests.constructions.random_automata import OUTPUT_KINDS, automaton_of, outputs_for
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, value_at


def built(automaton: Automaton | str) -> LRNN:
    lrnn = tree_steps(automaton_from_spec(automaton) if isinstance(automaton, str) else automaton)
    assert lrnn is not None
    return lrnn


def cycles(row: Indices) -> int:
    """Number of cycles of a map, fixed points included."""
    image = np.arange(len(row))
    for _ in row:
        image = np.unique(row[image])
    return len(cycle_lengths(np.searchsorted(image, row[image])))


def all_right(lrnn: LRNN) -> None:
    """Valid, in integers, in n - 1 dimensions, and with as many factors a letter as n less its cycles."""
    automaton, size = lrnn.automaton, len(lrnn.automaton.states)
    assert check(lrnn).verdict == "valid", check(lrnn).reason
    assert (lrnn.theorem, lrnn.construction) == ("own.LMI", f"steps along a tree of {size} states")
    assert (len(lrnn.layers), lrnn.heads, lrnn.dim) == (1, 1, size - 1)
    assert lrnn.exactness == "integer"
    assert lrnn.integer_bound is not None
    assert lrnn.integer_bound <= 2
    assert lrnn.norm == "at most 1"
    for row, transition in zip(automaton.transitions, lrnn.layers[0].heads[0].transitions, strict=True):
        assert len(transition.factors) == size - cycles(row)


@pytest.mark.parametrize("n", range(2, 9))
def test_gridworld_is_a_path(n: int) -> None:
    lrnn = built(f"gridworld:{n}")
    all_right(lrnn)
    assert (lrnn.householders, lrnn.dim, lrnn.integer_bound) == (n - 1, n - 1, 1)
    assert run(lrnn, random_words(lrnn, 8, 500, seed=0), dtype="fp8_e5m2").errors == 0


@pytest.mark.parametrize(
    "name",
    [
        *(f"dyck1:{d}" for d in range(1, 8)),
        "dyck:2,2", "dyck:2,3", "dyck:3,2", "chess", "flipflop", "tomita:1", "tomita:2", "starladder:ab",
        "starladder:abab", "dn:2",
    ],
)  # fmt: skip
def test_partial_injections_with_a_sink_are_stars(name: str) -> None:
    automaton = automaton_from_spec(name)
    lrnn, star = built(automaton), partial_injections(automaton)
    all_right(lrnn)
    assert star is not None
    assert (lrnn.householders, lrnn.dim, lrnn.integer_bound) == (star.householders, star.dim, 1)


@pytest.mark.parametrize(
    "name",
    ["T3", "T4", "tomita:3", "tomita:4", "tomita:7", "even_pairs", "mod_arith:3", "mod:3", "permreset:3"],
)
def test_no_tree(name: str) -> None:
    automaton = automaton_from_spec(name)
    search = StepTrees(automaton.transitions)
    assert tree_steps(automaton) is None
    assert list(search.trees()) == []
    assert search.complete


def test_a_reversed_edge_costs_a_sign() -> None:
    lrnn = built("parity")
    all_right(lrnn)
    assert (lrnn.householders, lrnn.integer_bound) == (1, 2)


def test_the_root_that_needs_no_signs_is_taken() -> None:
    lrnn = built(
        automaton_of([[2, 1, 0], [0, 0, 1], [1, 2, 2]])
    )  # a turn of the path 0 - 1 - 2, and two shifts
    all_right(lrnn)
    turned = built(automaton_of([[2, 1, 0], [1, 1, 1]]))
    all_right(turned)
    assert turned.integer_bound == 1
    assert turned.layers[0].heads[0].codes[0] == ((0, 0, 1),)  # state 0 is beside the root


def test_one_state_and_unreachable_states() -> None:
    assert tree_steps(automaton_of([[0]])) is None
    assert tree_steps(automaton_of([[0, 0, 1]])) is None
    kept = automaton_of([[0, 0, 1]], keeps_points=True)
    all_right(built(kept))
    all_right(built(automaton_of([[0, 1, 2, 3]], 3, keeps_points=True)))


def test_a_search_cut_short_says_so() -> None:
    automaton = automaton_from_spec("gridworld:8")
    search = StepTrees(automaton.transitions, max_steps=3)
    assert list(search.trees()) == []
    assert not search.complete
    assert tree_steps(automaton, max_steps=3) is None
    assert tree_steps(automaton_of([list(range(7))], keeps_points=True), max_trees=1) is not None


@pytest.mark.parametrize("rows", [[[1, 2, 3, 3], [0, 0, 1, 2]], [[1, 2, 0, 3, 1]], [[1, 0, 0, 2]]])
def test_a_cut_at_any_point_leaves_right_trees_only(rows: list[list[int]]) -> None:
    every = list(StepTrees(np.array(rows)).trees())
    for limit in range(100):
        search = StepTrees(np.array(rows), max_steps=limit)
        found = list(search.trees())
        assert found == every[: len(found)]
        assert not search.complete or found == every


@pytest.mark.parametrize("n", range(1, 5))
def test_factors_are_least_and_their_product_is_right(n: int) -> None:
    for images in itertools.product(range(-1, n), repeat=n):
        kept = [j for j in images if j >= 0]
        if len(set(kept)) < len(kept):
            continue
        for bits in itertools.product((False, True), repeat=n):
            if any(minus and j < 0 for minus, j in zip(bits, images, strict=True)):
                continue
            A = matrix(
                [[(-1) ** bits[i] if images[i] == j else 0 for i in range(n)] for j in range(n)],
            )
            factors = partial_signed_factors(images, bits)
            assert product_of(factors, n) == A
            assert len(factors) == rank(subtract(A, identity(n)))
            assert all(f.is_contraction() for f in factors)


def labelled_trees(n: int) -> Iterator[tuple[int, ...]]:
    """All n^(n-2) trees on 0, ..., n-1, by their Prüfer words; edges u·n + v, u < v, sorted."""
    for word in itertools.product(range(n), repeat=max(n - 2, 0)):
        degree = [1 + word.count(q) for q in range(n)]
        edges = []
        for q in word:
            leaf = degree.index(1)
            edges.append((min(leaf, q), max(leaf, q)))
            degree[leaf] -= 1
            degree[q] -= 1
        edges.append(tuple(q for q in range(n) if degree[q] == 1))  # type: ignore[arg-type]
        yield tuple(sorted(u * n + v for u, v in edges))


def is_kept(edges: Sequence[int], rows: Sequence[Sequence[int]]) -> bool:
    """Do all letters send edges to edges, no two to the same one, or to points?"""
    n = len(rows[0])
    pairs = [frozenset(divmod(e, n)) for e in edges]
    for row in rows:
        images = [frozenset(row[q] for q in pair) for pair in pairs]
        moved = [image for image in images if len(image) == 2]
        if len(set(moved)) < len(moved) or any(image not in pairs for image in moved):
            return False
    return True


def agrees_with_all_trees(rows: Sequence[Sequence[int]]) -> bool:
    """Whether there is a tree, after comparing the search with all labelled trees."""
    search = StepTrees(np.array(rows, dtype=np.int64))
    found = list(search.trees())
    assert search.complete
    assert len(set(found)) == len(found)
    assert sorted(found) == sorted(t for t in labelled_trees(len(rows[0])) if is_kept(t, rows))
    return bool(found)


def test_all_pairs_of_maps_of_three_states() -> None:
    maps = list(itertools.product(range(3), repeat=3))
    pairs = list(itertools.combinations_with_replacement(maps, 2))
    assert len(pairs) == 378
    assert sum(agrees_with_all_trees(pair) for pair in pairs) == 220


@given(st.integers(2, 6).flatmap(lambda n: st.lists(
    st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=1, max_size=2)))  # fmt: skip
def test_random_maps_against_all_trees(rows: list[list[int]]) -> None:
    agrees_with_all_trees(rows)


@st.composite
def tree_automata(draw: st.DrawFn, max_states: int = 9) -> Automaton:
    """A random tree, and letters that are edge-injective maps of it; all points kept, or the reachable part."""
    n = draw(st.integers(2, max_states))
    name = draw(st.permutations(range(n)))
    parents = [draw(st.integers(0, q - 1)) for q in range(1, n)]
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for q, p in enumerate(parents, start=1):
        neighbours[p].append(q)
        neighbours[q].append(p)
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        image = [draw(st.integers(0, n - 1))]
        taken: set[frozenset[int]] = set()
        for p in parents:  # each vertex goes where its parent goes, or over a free edge from there
            at = image[p]
            free = [r for r in neighbours[at] if frozenset((at, r)) not in taken]
            image.append(draw(st.sampled_from([at, *free, *free, *free])))
            taken.add(frozenset((at, image[-1])))
        row = [0] * n
        for q, r in enumerate(image):
            row[name[q]] = name[r]
        rows.append(row)
    outputs = draw(
        outputs_for(n, len(rows), OUTPUT_KINDS[:3])
    )  # no Mealy outputs: a merging letter loses them
    keep = draw(st.booleans())
    return automaton_of(rows, draw(st.integers(0, n - 1)), outputs=outputs, keeps_points=keep)


@given(tree_automata())
def test_letters_that_keep_a_tree(automaton: Automaton) -> None:
    if not automaton.keeps_points and len(automaton.reachable()) < len(automaton.states):
        assert tree_steps(automaton) is None
        assert next(StepTrees(automaton.transitions).trees(), None) is not None
        return
    lrnn = built(automaton)
    all_right(lrnn)
    assert run(lrnn, random_words(lrnn, 4, 50, seed=1), dtype="fp8_e5m2").errors == 0
    assert run(lrnn, random_words(lrnn, 2, 20, seed=2), dtype="exact").errors == 0


@pytest.mark.parametrize(
    "automaton",
    [
        automaton_from_spec("gridworld:6"),
        automaton_from_spec("dyck1:3"),
        automaton_of([[3, 2, 1, 0, 2], [1, 2, 3, 3, 2], [4, 1, 1, 1, 1]]),  # a path turned round, and a twig
    ],
    ids=["gridworld:6", "dyck1:3", "signs"],
)
def test_corruptions_are_refused(automaton: Automaton) -> None:
    right = certificate(built(automaton))
    assert check(right).verdict == "valid"
    draw = random.Random(0)
    paths = leaves(right)
    for _ in range(200):
        path = draw.choice(paths)
        value = corrupted(value_at(right, path), draw)
        result = check(replaced(right, path, value))
        assert result.verdict == "invalid", (path, value_at(right, path), value)
        assert "\n" not in result.reason
