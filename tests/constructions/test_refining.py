"""The coarsest partition that maps respect, against a plain search for pairs of points that a word tells apart."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.constructions import as_automaton
from mirrormata.constructions.automata._automaton import build, minimise
from mirrormata.constructions.automata._refining import refine_partition


def told_apart(classes: list[int], maps: list[list[int]]) -> list[int]:
    """Mark pairs of points of different classes, then pairs that a map takes to a marked one; classes of unmarked pairs."""
    n = len(classes)
    marked = {(p, q) for p in range(n) for q in range(n) if classes[p] != classes[q]}
    while fresh := {
        (p, q)
        for p in range(n)
        for q in range(n)
        for f in maps
        if (p, q) not in marked and (f[p], f[q]) in marked
    }:
        marked |= fresh
    leaders = [min(q for q in range(n) if (p, q) not in marked) for p in range(n)]
    return [sorted(set(leaders)).index(leader) for leader in leaders]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    n = draw(st.integers(1, 9))
    points = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    kinds = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    order = sorted(set(kinds))
    return [order.index(c) for c in kinds], draw(st.lists(points, max_size=3))


@given(cases(), st.integers(0, 3))
def test_it_is_the_coarsest_partition(case: tuple[list[int], list[list[int]]], rounds: int) -> None:
    classes, maps = case
    table = np.array(maps, dtype=np.int64).reshape(len(maps), len(classes))
    found = refine_partition(np.array(classes, dtype=np.int64), table, rounds)
    assert found.tolist() == told_apart(classes, maps)


@pytest.mark.parametrize("rounds", [0, 12])
def test_permutations_of_many_points(rounds: int) -> None:
    draw = np.random.Generator(np.random.PCG64(3))
    maps = np.array([draw.permutation(60) // 3 * 3 for _ in range(2)])
    classes = np.arange(60) % 2
    assert refine_partition(classes, maps, rounds).tolist() == told_apart(classes.tolist(), maps.tolist())


def test_a_chain_takes_no_quadratic_time() -> None:
    """Along a chain each of Moore's rounds splits one state off; 20,000 rounds would take minutes."""
    n = 20_000
    classes = (np.arange(n) == n - 1).astype(np.int64)
    chain = np.minimum(np.arange(n) + 1, n - 1)[None]
    started = time.process_time()
    found = refine_partition(classes, chain)
    assert time.process_time() - started < 10
    assert len(set(found.tolist())) == n


def test_minimising_keeps_the_first_states_of_the_classes() -> None:
    machine = build(
        {0: {"a": 1, "b": 2}, 1: {"a": 3, "b": 0}, 2: {"a": 3, "b": 0}, 3: {"a": 3, "b": 3}},
        start=0,
        accepting=[3],
    )
    smaller = minimise(machine)
    assert smaller.states == (0, 1, 3)
    assert smaller.transitions.tolist() == [[1, 2, 2], [1, 0, 2]]
    s3 = as_automaton("S3")
    assert minimise(s3).transitions.tolist() == s3.transitions.tolist()
