"""The benchmarks of proofs and of trained counters: their pieces, and what their committed figures must say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from mirrormata.benchmarks import kernel_proofs
from mirrormata.benchmarks import trained_rounding_counter as trained
from mirrormata.constructions._construct import construct
from mirrormata.tests.project.documented_pages import blocks
from mirrormata.theory.arithmetic._arithmetic import Kernel, PerOp, parse_arithmetic
from mirrormata.theory.arithmetic._value_sets import round_values, value_set
from mirrormata.theory.proofs._kernel_step import KernelHead

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def random_layers(count: int, n: int) -> trained.Layers:
    with torch.no_grad():
        return trained.Trainable(count, n, torch.Generator().manual_seed(n)).layers(True)


@pytest.mark.parametrize("n", [2, 3])
def test_the_trained_step_is_per_op_bf16(n: int) -> None:
    layers = random_layers(300, n)
    arithmetic = parse_arithmetic("per_op:bf16")
    assert isinstance(arithmetic, PerOp)
    h, want = torch.zeros(300, n), np.zeros((300, n, 1))
    key, beta, value = (x.double().numpy() for x in (layers.key, layers.beta, layers.value))
    for _ in range(12):
        h = trained.step(h, layers, True)
        want = arithmetic.delta_rule(want, key, beta, value[:, None])
        assert np.array_equal(h.double().numpy(), want[:, :, 0])


def test_keys_are_rounded_toward_zero_straight_through() -> None:
    x = torch.linspace(-1.3, 1.7, 1001, requires_grad=True)
    y = trained.toward_zero(x)
    want = round_values(x.detach().double().numpy(), value_set("bf16"), "rz")
    assert np.array_equal(y.detach().double().numpy(), want)
    y.sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert (x.grad == 1).all()
    assert all(trained.eigenvalues_in_unit_interval(random_layers(100, 3)))
    long = trained.Layers(torch.tensor([[0.9, 0.5]]), torch.ones(1), torch.ones(1))
    assert trained.eigenvalues_in_unit_interval(long) == [False]


def test_periods_are_those_of_orbits() -> None:
    layers = random_layers(60, 2)
    found = trained.periods(layers)
    assert set(found) == {1, 2}
    assert found == [trained.replayed(layers, i) for i in range(60)]


def test_frozen_training_leaves_the_layer_and_training_does_not() -> None:
    start = random_layers(8, 2)
    for frozen in (True, False):
        after = trained.train(8, 2, 3, 2, rounded=True, frozen=frozen).layers(True)
        assert torch.equal(after.key, start.key) is frozen


def test_committed_figures_of_training() -> None:
    document = json.loads((RESULTS / "trained_rounding_counter.json").read_text(encoding="utf-8"))
    assert [run["key_dimension"] for run in document["runs"]] == [2, 3]
    for run in document["runs"]:
        assert run["trained_in_bf16"]["counters"] < run["only_the_read_out_trained"]["counters"]
        for row in (run["trained_in_bf16"], run["only_the_read_out_trained"]):
            for example in row["examples"]:
                key, beta, value = example["key"], example["beta"], example["value"]
                layers = trained.Layers(torch.tensor([key]), torch.tensor([beta]), torch.tensor([value]))
                assert trained.replayed(layers, 0) == 2
                assert Fraction(beta) * sum(Fraction(x) ** 2 for x in key) <= 1


def test_proof_rows_and_whole_words() -> None:
    row = kernel_proofs.proof_row("S3", construct("S3"), "kernel:recurrent:bf16")
    assert (row["verdict"], row["states_explored"], row["steps"]) == ("equivalent", 6, 36)
    assert row["by_codes"]["method"] == "codes"
    row = kernel_proofs.proof_row("mod:60", construct("mod:60"), "kernel:recurrent:bf16")
    assert (row["verdict"], row["word_length"], row["steps"]) == ("counterexample", 11, None)
    assert kernel_proofs.whole_words(construct("S3"), Kernel("recurrent", "fp16"), 20)["bit_equal"]


def test_own_r4_on_the_cpu_kernel() -> None:
    row = kernel_proofs.own_r4_witness("bf16", "cpu")
    assert (row["same_states"], row["period"], row["period_per_op_bf16"]) == (False, 1, 2)
    assert row["states"][:2] == row["states_per_op_bf16"][:2]
    keys = np.array([[0.75, 0.625], [0.5, 0.5]])
    head = kernel_proofs.counting_head(keys, np.array([-16.0, 8.0]))
    state, found = kernel_proofs.periods(KernelHead(head, Kernel("recurrent", "fp32")))
    assert found == [1, 1]
    # the fixed point has kᵀh = v
    assert np.allclose((keys * state[:, :, 0]).sum(axis=1), [-16, 8])


@pytest.mark.parametrize("path", sorted(RESULTS.glob("kernel_proofs_*.json")), ids=lambda p: p.stem)
def test_committed_proofs_on_a_gpu(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    verdicts = {(r["model"], r["arithmetic"].split(":")[2]): r["verdict"] for r in document["proofs"]}
    for spec in ("S5", "A5", "mod:60", "tomita:4", "T3", "mod_arith:5"):
        for dtype in kernel_proofs.DTYPES:
            assert verdicts[spec, dtype] == "equivalent"
    assert all(r["arithmetic"].endswith(":cuda") for r in document["proofs"])
    assert all(r["seconds_first"] < 60 for r in document["proofs"])


def test_the_page_shows_the_example() -> None:
    page = (ROOT / "docs" / "prove-your-layer.md").read_text(encoding="utf-8")
    shown = next(block.text for block in blocks(page) if block.info == "python")
    assert shown == (ROOT / "examples" / "prove_your_own_layer.py").read_text(encoding="utf-8")
