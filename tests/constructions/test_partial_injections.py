"""own.LMI in its simple exact cases: partial permutations with a sink, and resets, in one layer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata import Automaton, NotRealisableError, check, construct, random_words, run
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.algebra._matrices import identity, matrix, rank, subtract
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.theorems.own_lmi import partial_injections, partial_permutation_factors
from mirrormata.tests.constructions.tables import construct_table

# name, factors, dimension
FEASIBLE = [
    ("flipflop", 1, 1),
    ("permreset:3", 3, 3),
    ("dyck1:4", 5, 5),
    ("dyck:2,3", 15, 15),
    ("chess", 2, 64),
    ("tomita:1", 1, 1),
    ("tomita:2", 2, 2),
    ("starladder:ab", 2, 2),
    ("starladder:abab", 4, 4),
    ("dn:2", 3, 3),
]


@pytest.mark.parametrize(("name", "factors", "dim"), FEASIBLE)
def test_one_layer_in_integers(name: str, factors: int, dim: int) -> None:
    lrnn = construct_table(name, "own.LMI")
    assert (lrnn.theorem, len(lrnn.layers), lrnn.exactness) == ("own.LMI", 1, "integer")
    assert (lrnn.householders, lrnn.dim, lrnn.integer_bound) == (factors, dim, 1)
    assert lrnn.summary()["norm"] == "at most 1"
    assert check(lrnn).verdict == "valid"
    assert run(lrnn, random_words(lrnn, 8, 500, seed=0), dtype="fp8_e5m2").errors == 0


@pytest.mark.parametrize(
    "name", ["tomita:3", "tomita:4", "tomita:7", "even_pairs", "T3", "T4", "mod_arith:3"]
)
def test_other_merging_letters_are_refused(name: str) -> None:
    with pytest.raises(NotRealisableError, match=r"own\.LMI: its letters do not only move"):
        construct(name, theorem="own.LMI")
    assert construct(name).depth > 1


@pytest.mark.parametrize("n", range(1, 5))
def test_factors_are_least_and_their_product_is_right(n: int) -> None:
    for images in itertools.product([None, *range(n)], repeat=n):
        moved = {i: j for i, j in enumerate(images) if j is not None}
        if len(set(moved.values())) < len(moved):
            continue
        A = matrix([[int(moved.get(i) == j) for i in range(n)] for j in range(n)])
        factors = partial_permutation_factors(moved, n)
        assert product_of(factors, n) == A
        assert len(factors) == rank(subtract(A, identity(n)))
        assert all(f.is_contraction() for f in factors)


@st.composite
def partial_automata(draw: st.DrawFn) -> Automaton:
    """Random letters that are partial injections around a sink, or constant; reachable part."""
    n, sink = draw(st.integers(1, 6)), draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            rows.append([draw(st.integers(0, n - 1))] * n)
            continue
        row = list(draw(st.permutations(range(n))))
        if sink:
            at = row.index(0)
            row[at], row[0] = row[0], 0
            row = [0 if q and draw(st.booleans()) else r for q, r in enumerate(row)]
        rows.append(row)
    start = draw(st.integers(0, n - 1))
    outputs = object_array(f"out {q % 2}" for q in range(n))
    return Automaton(tuple(range(n)), tuple("abc"[: len(rows)]), np.array(rows), start, outputs).trim()


@given(partial_automata())
def test_random_partial_injections_and_resets(automaton: Automaton) -> None:
    lrnn = partial_injections(automaton)
    assert lrnn is not None
    assert check(lrnn).verdict == "valid"
    assert run(lrnn, random_words(lrnn, 4, 50, seed=1), dtype="bf16").errors == 0
    assert run(lrnn, random_words(lrnn, 2, 20, seed=2), dtype="exact").errors == 0


def test_wrong_order_of_erasing_and_moving_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.constructions.theorems import own_lmi as module

    genuine = module.partial_permutation_factors
    monkeypatch.setattr(module, "partial_permutation_factors", lambda moved, n: genuine(moved, n)[::-1])
    assert check(construct("dyck1:3", theorem="own.LMI")).verdict == "invalid"


def test_a_sink_that_moves_is_no_sink() -> None:
    table = {0: {"a": 1, "b": 0}, 1: {"a": 2, "b": 0}, 2: {"a": 0, "b": 2}}
    automaton = Automaton.from_transitions(table, start=0)
    assert partial_injections(automaton) is None
