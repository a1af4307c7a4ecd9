"""The integer bound against an enumeration of every partial sum of every subset, over all reachable states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head, apply_transition, bound_head, codes_of, stack_codes, to_dense
from mirrormata.constructions._lrnn import LRNN, integer_bound
from mirrormata.constructions._realisation import INTEGER_RANGES, Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import GHFactor, gh_factor
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.tests.constructions.random_automata import automata, group_actions, permutation_automata
from mirrormata.tests.constructions.tables import construct_table


def subset_sums(terms: list[int]) -> Iterator[int]:
    for size in range(1, len(terms) + 1):
        for chosen in itertools.combinations(terms, size):
            yield sum(chosen)


def seen_by_head(head: Head) -> Iterator[int]:
    """Every integer that a run can meet: weights, states, products, partial sums of any subset of terms."""
    for code in head.codes:
        start: list[list[Any]] = [list(row) for row in to_dense(code, head.dim, head.value_dim)]
        yield from (x for row in start for x in row)
        for t in head.transitions:
            H = [[t.gate * x for x in row] for row in start]
            yield t.gate  # type: ignore[misc]
            yield from (x for row in H for x in row)
            if t.matrix is not None:
                result = [[0] * head.value_dim for _ in range(head.dim)]
                for i, j in itertools.product(range(head.dim), range(head.value_dim)):
                    terms = [a * start[k][j] for r, k, a in t.matrix if r == i]
                    yield from subset_sums(terms)
                    result[i][j] = sum(terms)
                yield from (a for _, _, a in t.matrix)  # type: ignore[misc]
                H = result
            for factor in t.factors:
                yield from weights(factor)
                beta: Any = factor.beta
                for j in range(head.value_dim):
                    products: list[int] = [v * H[i][j] for i, v in factor.vector]
                    yield from subset_sums(products)
                    s = sum(products)
                    yield beta * s
                    for i, v in factor.vector:
                        yield v * s  # type: ignore[misc]
                        yield v * (beta * s)
                        H[i][j] -= v * beta * s
                        yield H[i][j]
            for i, j, b in t.additive:
                yield b  # type: ignore[misc]
                H[i][j] += b
                yield H[i][j]


def weights(factor: GHFactor) -> Iterator[Any]:
    yield factor.beta
    for _, v in factor.vector:
        yield v
        yield factor.beta * v


def brute_bound(lrnn: LRNN) -> int:
    return max(abs(x) for layer in lrnn.layers for head in layer.heads for x in seen_by_head(head))


@pytest.mark.parametrize(
    "name", ["parity", "mod:4", "mod:5", "mod:6", "S3", "S4", "A4", "Q8", "dihedral:4", "dihedral:8", "S4[involutions]", "Z2^3", "S3_x_S3", "codeswap:4", "A5[generators]"]
)  # fmt: skip
def test_bound_of_named_constructions(name: str) -> None:
    lrnn = construct(automaton_from_spec(name), exactness="integer")
    assert lrnn.exactness == "integer"
    bound = brute_bound(lrnn)
    assert lrnn.integer_bound == integer_bound(lrnn) == bound
    assert lrnn.formats == tuple(d for d, reach in INTEGER_RANGES.items() if bound <= reach)


@given(st.one_of(permutation_automata(max_states=7), group_actions()))
@settings(deadline=None, max_examples=50)
def test_bound_of_random_group_constructions(automaton: Automaton) -> None:
    lrnn = construct(automaton, exactness="integer")
    assert lrnn.integer_bound == brute_bound(lrnn)


@given(automata(max_states=5, kinds=("acceptance", "moore", "states")))
@settings(deadline=None, max_examples=40)
def test_bound_of_unbounded_matrices(automaton: Automaton) -> None:
    lrnn = construct_table(automaton, "G.A3")
    assert lrnn.integer_bound == brute_bound(lrnn) == 1


@st.composite
def heads(draw: st.DrawFn) -> Head:
    """Any head of integers: its codes need not be closed under the letters for the bound's definition."""
    dim, value_dim = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    number = st.integers(-3, 3)

    def sparse(columns: int) -> tuple[tuple[int, int, int], ...]:
        rows = draw(
            st.lists(st.lists(number, min_size=columns, max_size=columns), min_size=dim, max_size=dim)
        )
        return tuple((i, j, x) for i, row in enumerate(rows) for j, x in enumerate(row) if x)

    def factor() -> GHFactor:
        vector = draw(st.lists(number, min_size=dim, max_size=dim).filter(any))
        return GHFactor(draw(st.integers(1, 2)), gh_factor(1, enumerate(vector)).vector)

    transitions = []
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            transitions.append(Transition(matrix=sparse(dim), additive=sparse(value_dim)))
        else:
            factors = tuple(factor() for _ in range(draw(st.integers(0, 3))))
            transitions.append(Transition(factors, draw(st.sampled_from([1, -1, 0])), sparse(value_dim)))
    codes = tuple(dict.fromkeys(sparse(value_dim) for _ in range(draw(st.integers(1, 3)))))
    return Head(
        dim, value_dim, tuple(transitions), codes, np.zeros((len(transitions), len(codes)), dtype=int)
    )


@given(heads())
@settings(deadline=None)
def test_bound_of_any_integer_head(head: Head) -> None:
    assert bound_head(head) == max(abs(x) for x in seen_by_head(head))


@given(heads())
@settings(deadline=None)
def test_sparse_rows_do_what_the_transition_says(head: Head) -> None:
    for t in head.transitions:
        rows = apply_transition(head, t, stack_codes(head))
        for code, image in zip(head.codes, codes_of(rows, len(head.codes), head.value_dim), strict=True):
            H: Any = np.array(to_dense(code, head.dim, head.value_dim), dtype=int)
            A: Any = np.zeros((head.dim, head.dim), dtype=int)
            if t.matrix is not None:
                for i, k, a in t.matrix:
                    A[i, k] = a
            else:
                A = t.gate * np.eye(head.dim, dtype=int)
                for factor in t.factors:
                    v = np.zeros(head.dim, dtype=int)
                    for i, x in factor.vector:
                        v[i] = x
                    A = A - factor.beta * np.outer(v, v @ A)
            B = np.array(to_dense(t.additive, head.dim, head.value_dim), dtype=int)
            assert (np.array(to_dense(image, head.dim, head.value_dim), dtype=int) == A @ H + B).all()
            assert all(x != 0 for _, _, x in image)


def test_a_larger_weight_moves_the_bound() -> None:
    lrnn = construct("S3")
    (head,) = lrnn.layers[0].heads
    heavy = replace(head.transitions[1], additive=((0, 0, 1000),))
    changed = replace(head, transitions=(head.transitions[0], heavy, *head.transitions[2:]))
    assert bound_head(changed) >= 1000 > bound_head(head)
