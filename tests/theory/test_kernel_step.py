"""Proofs whose step is the kernel: on the CPU, in Triton's interpreter, against plain matrices and wrong models."""

from __future__ import annotations

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, table_of
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions.algebra._householder import GHFactor
from mirrormata.foundation._errors import InputError, NotRealisableError
from mirrormata.tests.theory.prove_models import with_beta
from mirrormata.theory._export import export_npz
from mirrormata.theory.arithmetic._arithmetic import Kernel, PerOp, parse_arithmetic
from mirrormata.theory.arithmetic._rounding import float_format
from mirrormata.theory.proofs._answers import answers_of
from mirrormata.theory.proofs._kernel_step import (
    KernelHead,
    kernel_codes_are_closed,
    kernel_machine,
    kernel_weights,
)
from mirrormata.theory.proofs._npz_model import load_npz_model, npz_model
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.proofs._state_search import StateSearch
from mirrormata.theory.running._stepper import FloatHead
from mirrormata.theory.running._weights import dense_codes

TABLES = {"tomita:4": "G.T4"}
"""The theorem of those whose default is a rule."""
INTEGER = ["S4", "flipflop", "gridworld:4", "tomita:4", "T3", "dyck1:3", "permreset:3"]


def integers_of(spec: str) -> LRNN:
    """The table in integers."""
    return table_of(construct(spec, exactness="integer", theorem=TABLES.get(spec)), "the test is of a table")


@pytest.mark.parametrize("spec", INTEGER)
@pytest.mark.parametrize("dtype", ["fp64", "fp32", "bf16", "fp16"])
def test_integer_constructions_are_proved(spec: str, dtype: str) -> None:
    lrnn = integers_of(spec)
    states = prove(lrnn, lrnn.automaton, f"kernel:recurrent:{dtype}", method="states")
    codes = prove(lrnn, lrnn.automaton, f"kernel:recurrent:{dtype}")
    steps = prove(lrnn, lrnn.automaton, f"per_step:{dtype}", method="states")
    assert (states.verdict, states.arithmetic) == ("equivalent", f"kernel:recurrent:{dtype}")
    assert states.states_explored == steps.states_explored
    assert (codes.verdict, codes.method) == ("equivalent", "codes")


@pytest.mark.parametrize("spec", INTEGER)
def test_states_are_those_of_the_stepper(spec: str) -> None:
    lrnn = integers_of(spec)
    words = np.random.default_rng(1).integers(0, len(lrnn.automaton.letters), (30, 5))
    for head, code in zip(lrnn.layers[0].heads, lrnn.decode[0, 1:].tolist(), strict=False):
        engine, plain = KernelHead(head, Kernel("recurrent", "bf16")), FloatHead(head, float_format("bf16"))
        H, want = engine.initial(code, 5), plain.initial(code, 5)
        for letters in words:
            H, want = engine.step(H, letters), plain.step(want, letters)
            assert np.array_equal(H.astype(np.float64), want)


@pytest.mark.parametrize("spec", ["S3", "flipflop"])
def test_the_interpreted_triton_kernel_proves_the_same(spec: str) -> None:
    pytest.importorskip("triton")
    from mirrormata.kernels import launch_counts, reset_launch_counts

    lrnn = integers_of(spec)
    answers = answers_of(lrnn.automaton, lrnn.automaton)
    reset_launch_counts()
    machine = kernel_machine(lrnn, answers, Kernel("recurrent", "fp32"), "triton")
    search = StateSearch(machine, lrnn.automaton)
    outcome = search.run(max_states=100)
    assert (outcome.verdict, outcome.place.count) == ("equivalent", len(lrnn.automaton.states))
    assert launch_counts() == {
        "recurrent_forward": len(lrnn.automaton.letters) * _levels(lrnn.automaton.transitions)
    }
    assert kernel_codes_are_closed(lrnn, Kernel("recurrent", "fp32"), "triton")


def _levels(transitions: np.ndarray) -> int:
    """Levels of the breadth-first search: each is followed by one call a letter."""
    seen, level, count = {0}, {0}, 0
    while level:
        level = {int(q) for p in level for q in transitions[:, p]} - seen
        seen |= level
        count += 1
    return count


def test_one_call_for_a_word_is_one_call_a_token() -> None:
    lrnn = construct("mod:60")
    for dtype in ("fp64", "fp32", "bf16"):
        engine = KernelHead(lrnn.all_heads[0], Kernel("recurrent", dtype))
        start = engine.initial(0, 3)
        words = np.random.default_rng(2).integers(0, 2, (3, 40))
        H = start
        for t in range(40):
            H = engine.step(H, words[:, t])
        assert np.array_equal(engine.run(start, words), H)
        assert not np.array_equal(H, start)


def test_rotations_fail_and_perturbed_models_are_refuted() -> None:
    rotations = construct("mod:60")
    proof = prove(rotations, rotations.automaton, "kernel:recurrent:bf16")
    assert proof.verdict == "counterexample"
    assert proof.word is not None
    # the same word, token by token in float32 with the stored numbers
    head = rotations.all_heads[0]
    w = kernel_weights(head, float_format("bf16"))
    h = np.array([[1.0], [0.0]], dtype=np.float32)
    for x in proof.word:
        for k, v, b in zip(w.keys[x], w.values[x], w.beta[x], strict=True):
            k, b = k.astype(np.float32), np.float32(b)
            products = k[:, None] * h
            u = b * (v.astype(np.float32) - (products[0] + products[1]))
            h = h + k[:, None] * u
    codes = dense_codes(head, "fp64")[:, :, 0]
    nearest = int(((codes - h[:, 0]) ** 2).sum(axis=1).argmin())
    named = rotations.decode[rotations.decode[:, 1] == nearest, 0]
    assert str(int(named[0])) == proof.answered != proof.right
    wrong = with_beta(construct("S5"), 7, 2)
    assert prove(wrong, wrong.automaton, "kernel:recurrent:fp32").verdict == "counterexample"


def test_two_entries_are_per_op_from_the_left() -> None:
    rng = np.random.default_rng(3)
    keys = rng.standard_normal((50, 2)).astype(np.float32).astype(np.float64)
    values = rng.standard_normal(50).astype(np.float32).astype(np.float64)
    transitions = []
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        k = [Fraction(x) for x in key]
        factor = GHFactor(Fraction(1, 2), tuple(enumerate(k)))
        added = tuple((i, 0, Fraction(1, 2) * x * Fraction(value)) for i, x in enumerate(k))
        transitions.append(Transition((factor,), additive=added))
    head = Head(2, 1, tuple(transitions), ((),), np.zeros((50, 1), dtype=np.int64))
    engine = KernelHead(head, Kernel("recurrent", "fp32"))
    arithmetic = parse_arithmetic("per_op:fp32")
    assert isinstance(arithmetic, PerOp)
    H, h = engine.initial(0, 50), np.zeros((50, 2, 1))
    for _ in range(20):
        H = engine.step(H, np.arange(50))
        h = arithmetic.delta_rule(h, keys, np.full(50, 0.5), values[:, None])
        assert np.array_equal(H.astype(np.float64), h)
    assert (np.ptp(h, axis=0) > 0).all()


def test_a_gate_acts_before_the_factors() -> None:
    """H ← C (g H) + β k v: half of the state, swapped, then 3 written over entry 0."""
    factors = (GHFactor(1, ((0, 1), (1, -1))), GHFactor(1, ((0, 1),)))
    transition = Transition(factors, gate=Fraction(1, 2), additive=((0, 0, 3),))
    head = Head(2, 1, (transition, Transition()), ((),), np.zeros((2, 1), dtype=np.int64))
    engine = KernelHead(head, Kernel("recurrent", "fp16"))
    H = np.array([[[8.0], [4.0]]] * 2, dtype=np.float32)
    assert engine.step(H, np.array([0, 1])).tolist() == [[[3.0], [4.0]], [[8.0], [4.0]]]


def test_what_the_kernel_cannot_do_is_refused() -> None:
    lrnn = construct("S3")
    with pytest.raises(InputError, match="a chunk has no state after each token"):
        prove(lrnn, lrnn.automaton, "kernel:chunk:bf16")
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device here"):
            prove(lrnn, lrnn.automaton, "kernel:recurrent:bf16:cuda")
    swap = GHFactor(1, ((0, 1), (1, -1)))
    head = lrnn.all_heads[0]
    elsewhere = replace(head, transitions=(Transition((swap,), additive=((0, 0, 1),)), *head.transitions[1:]))
    with pytest.raises(NotRealisableError, match="m: transition 0: what it adds"):
        kernel_weights(elsewhere, float_format("fp32"), "m")
    matrix = replace(head, transitions=(Transition(matrix=((0, 0, 1),)), *head.transitions[1:]))
    with pytest.raises(InputError, match="transition 0 is no product of factors"):
        kernel_weights(matrix, float_format("fp32"), "m")
    wide = replace(head, dim=257)
    with pytest.raises(InputError, match="wider than the 256"):
        kernel_weights(wide, float_format("fp32"), "m")


def test_npz_with_factors(tmp_path: Path) -> None:
    for spec in ("S3", "flipflop", "dn:2"):
        lrnn = integers_of(spec)
        path = tmp_path / "model.npz"
        export_npz(lrnn, path)
        model = load_npz_model(path)
        proof = prove(model, lrnn.automaton, "kernel:recurrent:bf16")
        assert proof.verdict == "equivalent"
        assert proof.states_explored == len(lrnn.decode)
    arrays = dict(np.load(path))
    wrong = {**arrays, "decode": arrays["decode"][::-1]}
    assert (
        prove(npz_model(wrong), lrnn.automaton, "kernel:recurrent:bf16", method="states").verdict
        == "counterexample"
    )
    bare = {key: arrays[key] for key in ("A", "B", "H0", "codes", "decode")}
    with pytest.raises(InputError, match="no array beta, vector, factor_count, gate"):
        prove(npz_model(bare), lrnn.automaton, "kernel:recurrent:bf16")
    with pytest.raises(InputError, match="do not multiply to A"):
        prove(npz_model({**arrays, "beta": arrays["beta"] * 0.5}), lrnn.automaton, "kernel:recurrent:bf16")
