"""Overflow in `prove`: 0·inf is nan, so no later letter makes a state finite again, and a weight may itself be infinite."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.proofs._linear import LinearMachine
from mirrormata.theory.proofs._machine import machine_of
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model
from mirrormata.theory.proofs._prove import prove


def growing(reset: list[list[float]], width: int = 1) -> NpzModel:
    """`grow` doubles ten times, and `reset` is this matrix; with two entries the second one keeps 1."""
    A = np.zeros((2, width, width))
    A[0], A[1] = np.diag([2.0**10, 1.0][:width]), reset
    B = np.zeros((2, width, 1))
    B[1, 0] = 1.0 - A[1, 0].sum()
    return npz_model(
        {"A": A, "B": B, "H0": np.ones((width, 1)), "codes": np.ones((1, width, 1)), "decode": np.zeros((1, 2), int)},
        "growing",
    )  # fmt: skip


def machine(model: NpzModel, arithmetic: str) -> LinearMachine:
    found = machine_of(model, Automaton(("q",), ("grow", "reset"), np.zeros((2, 1), int), 0, object_array(["y"]), "one"), parse_arithmetic(arithmetic))  # fmt: skip
    assert isinstance(found, LinearMachine)
    return found


@pytest.mark.parametrize(
    "arithmetic", ["per_step:fp16", "per_op:fp16", "per_step:fp16:ru", "per_op:fp16:fma", "per_step:fp8_e5m2"]
)
@pytest.mark.parametrize("reset", [[[0.0]], [[0.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.5], [0.0, 1.0]]])  # fmt: skip
def test_an_infinite_entry_stays_so(arithmetic: str, reset: list[list[float]]) -> None:
    run = machine(growing(reset, len(reset)), arithmetic)
    rows = run.initial()
    for _ in range(2):
        rows = run.step(rows, 0)
    assert not np.isfinite(run.carrier.decode(rows)).all()
    both = run.step_each(np.repeat(rows, 2, axis=0), np.array([1, 0]))
    rows = run.step(rows, 1)
    # numpy's product of the whole matrices has no finite entry there either
    assert not np.isfinite(run.carrier.decode(rows)).any()
    assert not np.isfinite(run.carrier.decode(both)).any()


def test_a_saturating_format_comes_back() -> None:
    run = machine(growing([[0.0]]), "per_step:fp16:sat")
    rows = run.step(run.step(run.initial(), 0), 0)
    assert run.carrier.decode(rows)[0] == 65504
    assert run.carrier.decode(run.step(rows, 1))[0] == 1


def test_a_weight_beyond_the_format_gives_no_certificate() -> None:
    model = growing([[0.0]])
    arrays = {"A": model.A, "B": np.array([[[0.0]], [[1e6]]]), "H0": model.H0}
    wide = npz_model({**arrays, "codes": np.ones((1, 1, 1)), "decode": np.zeros((1, 2), int)}, "wide")
    automaton = Automaton(("q",), ("grow", "reset"), np.zeros((2, 1), int), 0, object_array(["y"]), "one")
    proof = prove(wide, automaton, "per_step:fp16")
    assert (proof.verdict, proof.word) == ("counterexample", (1,))
    assert not machine(wide, "per_step:fp16").has_finite_weights
