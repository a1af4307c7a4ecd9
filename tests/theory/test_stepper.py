"""Steppers against the definition of their arithmetic, in rationals, written out entry by entry."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions.algebra._cyclotomic import Number
from mirrormata.constructions.algebra._householder import gh_factor, product_of
from mirrormata.constructions.algebra._matrices import product
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory.arithmetic._rounding import FORMATS, round_fraction, round_number
from mirrormata.theory.running._stepper import ExactStepper, LRNNStepper, Stepper
from mirrormata.theory.running._weights import head_weights


def flipflop_by_gates() -> LRNN:
    """A reset is gate 0 and an additive term; value dimension 2, the second column a third of the first."""
    automaton = automaton_by_name("flipflop")
    third = Fraction(1, 3)
    writes = [((i, 0, 1), (i, 1, third)) for i in range(2)]
    transitions = (Transition(), *(Transition(gate=0, additive=w) for w in writes))
    codes = tuple(writes)
    head = Head(2, 2, transitions, codes, automaton.transitions.copy())
    decode = np.array([[0, 0], [1, 1]])
    return LRNN(automaton, (Layer((head,)),), decode, "own", "gates")


def halving() -> LRNN:
    """One state whose code shrinks: three letters with gates, factors and an additive term, for the arithmetic only."""
    transitions = (
        Transition((gh_factor(Fraction(3, 7), {0: 1, 2: 2}),), gate=Fraction(-5, 9)),
        Transition((gh_factor(Fraction(1, 5), {0: 1, 1: 1}), gh_factor(1, {1: 1, 2: -1})), additive=((1, 0, Fraction(1, 7)),)),
        Transition(matrix=((0, 0, 2), (0, 1, Fraction(1, 11)), (2, 2, -1))),
    )  # fmt: skip
    codes = (((0, 0, 1), (1, 0, Fraction(-2, 3)), (2, 0, 5)),)
    automaton = Automaton(("q",), ("a", "b", "c"), np.zeros((3, 1), dtype=np.int64), 0, object_array([True]))
    head = Head(3, 1, transitions, codes, np.zeros((3, 1), dtype=np.int64))
    return LRNN(automaton, (Layer((head,)),), np.array([[0, 0]]), "own", "for tests")


LRNNS: dict[str, LRNN] = {
    "S5": construct(automaton_by_name("S5[generators]")),
    "A5": construct(automaton_by_name("A5[generators]")),
    "mod:60": construct(automaton_by_name("mod:60")),
    "mod:60 integer": construct(automaton_by_name("mod:60"), exactness="integer"),
    "T3": construct_table(automaton_by_name("T3"), "G.A3"),
    "flipflop": flipflop_by_gates(),
    "halving": halving(),
}


def exact_matrix(transition: Transition, dim: int) -> list[list[Number]]:
    rows = product_of(transition.factors, dim)
    if transition.matrix is not None:
        plain: list[list[Number]] = [[0] * dim for _ in range(dim)]
        for i, j, a in transition.matrix:
            plain[i][j] = a
        rows = product(rows, tuple(tuple(row) for row in plain))
    return [[x * transition.gate for x in row] for row in rows]


def defined_run(head: Head, code: int, word: list[int], dtype: str) -> list[Any]:
    """H_t = rnd(Σ_j Ã_ij H_{t-1,j} + B̃_i) with Fractions, one entry after another."""
    n, d = head.dim, head.value_dim
    A = [[[round_number(x, dtype) for x in row] for row in exact_matrix(t, n)] for t in head.transitions]
    B = [{(i, j): round_number(x, dtype) for i, j, x in t.additive} for t in head.transitions]
    H = [[0.0] * d for _ in range(n)]
    for i, j, x in head.codes[code]:
        H[i][j] = round_number(x, dtype)
    history = [H]
    for x in word:
        H = [
            [
                round_fraction(
                    sum(
                        (Fraction(A[x][i][k]) * Fraction(H[k][j]) for k in range(n)),
                        Fraction(B[x].get((i, j), 0)),
                    ),
                    dtype,
                )
                for j in range(d)
            ]
            for i in range(n)
        ]
        history.append(H)
    return history


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", LRNNS)
def test_every_state_is_the_defined_one(name: str, dtype: str) -> None:
    lrnn = LRNNS[name]
    words = np.random.default_rng(5).integers(0, len(lrnn.automaton.letters), size=(3, 40))
    stepper = LRNNStepper(lrnn, dtype)
    states = stepper.initial(3)
    kept = [states]
    for x in words.T:
        kept.append(stepper.step(kept[-1], x))
    for h, head in enumerate(lrnn.layers[0].heads):
        for s in range(3):
            expected = defined_run(head, int(lrnn.decode[0, h + 1]), words[s].tolist(), dtype)
            got = np.array([states[h][s] for states in kept])
            assert np.array_equal(got, np.array(expected))
    assert states[0].shape == (3, lrnn.layers[0].heads[0].dim, lrnn.layers[0].heads[0].value_dim)


@pytest.mark.parametrize("name", [name for name in LRNNS if name != "halving"])
def test_exact_steps_follow_the_automaton(name: str) -> None:
    lrnn = LRNNS[name]
    words = np.random.default_rng(6).integers(0, len(lrnn.automaton.letters), size=(4, 60))
    exact, rounded = ExactStepper(lrnn), LRNNStepper(lrnn, "fp64")
    states, floats = exact.initial(4), rounded.initial(4)
    right = lrnn.automaton.trace(words)
    for t, x in enumerate(words.T):
        states, floats = exact.step(states, x), rounded.step(floats, x)
        assert np.array_equal(exact.decode(states, x), right[:, t])
        assert np.array_equal(rounded.decode(floats, x), right[:, t])
    for h, head in enumerate(lrnn.layers[0].heads):
        assert len(exact.values[h]) <= len(head.codes)
        assert set(exact.values[h]) <= set(head.codes)


def test_exact_steps_apply_the_factors_and_not_the_table() -> None:
    lrnn = LRNNS["S5"]
    head = lrnn.layers[0].heads[0]
    letters = (Transition(head.transitions[0].factors[:-1]), *head.transitions[1:])
    wrong = replace(lrnn, layers=(Layer((replace(head, transitions=letters),)),))
    stepper = ExactStepper(wrong)
    states = stepper.step(stepper.initial(1), [0])
    assert stepper.decode(states)[0] != lrnn.automaton.trace(np.array([[0]]))[0, 0]
    shrunk = replace(head, transitions=(Transition(gate=Fraction(1, 2)), *head.transitions[1:]))
    stepper = ExactStepper(replace(lrnn, layers=(Layer((shrunk,)),)))
    assert stepper.decode(stepper.step(stepper.initial(2), [0, 1])).tolist()[0] == -1


def test_start() -> None:
    lrnn = LRNNS["mod:60 integer"]
    steppers: list[Stepper] = [LRNNStepper(lrnn, "bf16", start=17), ExactStepper(lrnn, start=17)]
    for stepper in steppers:
        states = stepper.initial(2)
        assert stepper.decode(states, np.array([0, 0])).tolist() == [17, 17]
        assert stepper.decode(stepper.step(states, np.array([1, 0])), np.array([1, 0])).tolist() == [18, 17]
    with pytest.raises(InputError, match="60 is not a state index"):
        LRNNStepper(lrnn, "bf16", start=60)


@pytest.mark.parametrize("name", ["A5", "mod:60", "mod:60 integer", "flipflop"])
def test_nearest_code_and_margin_by_brute_force(name: str) -> None:
    lrnn = LRNNS[name]
    stepper = LRNNStepper(lrnn, "fp64")
    rng = np.random.default_rng(7)
    rows = rng.integers(0, len(lrnn.decode), size=50)
    tables = [
        codes.dense(np.arange(len(h.codes)))
        for codes, h in zip(stepper.readout.codes, stepper.heads, strict=True)
    ]
    states = [
        table[lrnn.decode[rows, h + 1]] + rng.normal(size=(50, *table.shape[1:])) * 0.3
        for h, table in enumerate(tables)
    ]
    distance = np.array(
        [
            [
                np.sqrt(sum(((H[b] - table[row[h + 1]]) ** 2).sum() for h, (H, table) in enumerate(zip(states, tables, strict=True))))
                for row in lrnn.decode
            ]
            for b in range(50)
        ]
    )  # fmt: skip
    nearest = lrnn.decode[distance.argmin(axis=1), 0]
    assert np.array_equal(stepper.decode(states), nearest)
    right = lrnn.decode[rows, 0]
    own = lrnn.decode[None, :, 0] == right[:, None]
    margins = (np.where(own, np.inf, distance).min(axis=1) - np.where(own, distance, np.inf).min(axis=1)) / 2
    decoded, margin = stepper.readout.observe(states, right)
    assert np.array_equal(decoded, nearest)
    assert margin == pytest.approx(margins.min(), abs=1e-12)
    assert bool((margins > 0).all()) == bool((nearest == right).all())
    states[0][3, 0, 0] = np.nan
    assert stepper.decode(states)[3] == -1


def test_large_permutations_stay_sparse() -> None:
    n = 10_000
    rng = np.random.default_rng(8)
    table = np.stack([rng.permutation(n) for _ in range(4)])
    automaton = Automaton(tuple(range(n)), ("a", "b", "c", "d"), table, 0, object_array(range(n)))
    lrnn = construct(automaton)
    weights = head_weights(lrnn.layers[0].heads[0], "bf16")
    assert weights.values.size == 4 * lrnn.dim
    assert weights.exact
    with pytest.raises(LimitError, match="`max_entries`"):
        weights.dense()
    stepper = LRNNStepper(lrnn, "bf16")
    states, right = stepper.initial(2), np.array([0, 0])
    for x in rng.integers(0, 4, size=(20, 2)):
        states, right = stepper.step(states, x), table[x, right]
        assert np.array_equal(stepper.decode(states), right)


@pytest.mark.parametrize("name", LRNNS)
def test_dense_weights_are_the_exact_products_rounded(name: str) -> None:
    for head in LRNNS[name].layers[0].heads:
        weights = head_weights(head, "fp16")
        expected = [
            [[round_number(x, "fp16") for x in row] for row in exact_matrix(t, head.dim)]
            for t in head.transitions
        ]
        assert np.array_equal(weights.dense(), np.array(expected))
