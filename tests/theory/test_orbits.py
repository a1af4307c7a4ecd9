"""Orbits by exact bit patterns, of matrices, of constructions, and of a user's torch model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.theory.impossibility._orbits import AffineHead, AffineModel, orbit
from mirrormata.theory.running._stepper import ExactStepper, LRNNStepper


def model(A: Any, B: Any, start: Any, arithmetic: str) -> AffineModel:
    return AffineModel([AffineHead(np.array(A), np.array(B), np.array(start))], arithmetic)


def test_section_2_witness_counts_in_per_step() -> None:
    """theory.md section 2: positive eigenvalues, yet (11)* with integers -4..4, ties to the smaller."""
    A, B = [[[0.4334, 0.2317], [-0.1122, -0.0369]]], [[[0.8716], [0.7520]]]
    witness = model(A, B, [[0.0], [0.0]], "per_step:int:-4..4:tie_low")
    states, seen = witness.initial(1), []
    for _ in range(6):
        seen.append(tuple(states[0][0, :, 0].astype(int).tolist()))
        states = witness.step(states, np.array([0]))
    assert seen == [(0, 0), (1, 1), (2, 1), (2, 0), (2, 1), (2, 0)]
    found = orbit(witness, [0])
    assert (found.preperiod, found.period, len(found.keys)) == (2, 2, 4)
    eigenvalues = np.linalg.eigvals(np.array(A[0]))
    assert np.allclose(sorted(eigenvalues), [0.027, 0.369], atol=1e-3)
    assert abs(np.linalg.norm(np.array(A[0]), 2) - 0.505) < 1e-3


@pytest.mark.parametrize(("spec", "period"), [("parity", 2), ("mod:5", 5), ("cycle:7", 7)])
def test_constructions_turn_with_the_automaton(spec: str, period: int) -> None:
    lrnn = construct(automaton_from_spec(spec))
    letter = len(lrnn.automaton.letters) - 1
    assert orbit(ExactStepper(lrnn), [letter]).period == period
    learned_from_lrnn, stepper = AffineModel.of_lrnn(lrnn, "per_step:fp8_e5m2"), LRNNStepper(lrnn, "fp8_e5m2")
    found = orbit(stepper, [letter])
    assert orbit(learned_from_lrnn, [letter]) == found
    if lrnn.exactness == "integer":
        assert (found.preperiod, found.period) == (0, period)


def test_prefix_and_loop() -> None:
    doubling = model([[[2.0]], [[1.0]]], [[[0.0]], [[1.0]]], [[0.0]], "per_step:int:-4..4")
    assert (orbit(doubling, [1]).preperiod, orbit(doubling, [1]).period) == (4, 1)
    assert orbit(doubling, [1, 0], [1, 1]).preperiod == 1  # 2, then 4 for good
    assert orbit(doubling, [0]).preperiod == 0
    with pytest.raises(LimitError, match="`max_steps`"):
        orbit(doubling, [1], max_steps=3)
    with pytest.raises(InputError, match="empty"):
        orbit(doubling, [])


class Torch:
    """A user's stepper: h ← -h in bf16 on letter 1."""

    def initial(self, sequences: int) -> Any:
        return {"h": torch.ones(sequences, 2, dtype=torch.bfloat16)}

    def step(self, states: Any, letters: Any) -> Any:
        sign = torch.tensor([1.0, -1.0], dtype=torch.bfloat16)[torch.tensor(letters)]
        return {"h": states["h"] * sign[:, None]}

    def decode(self, states: Any, letters: Any) -> Any:
        return np.zeros(len(letters), dtype=np.int64)


def test_any_stepper() -> None:
    assert (orbit(Torch(), [1]).period, orbit(Torch(), [0]).period, orbit(Torch(), [1, 1]).period) == (
        2,
        1,
        1,
    )


def test_minus_zero_is_zero() -> None:
    flipping = model([[[-1.0]]], [[[0.0]]], [[0.0]], "per_op:bf16")
    assert orbit(flipping, [0]).period == 1


@pytest.mark.parametrize(
    ("A", "start", "arithmetic", "place"),
    [
        ([[[1.0]]], [[0.3]], "per_step:bf16", "starts outside"),
        ([[[1.0, 0.0]]], [[0.0]], "per_step:bf16", "must have A"),
        ([[[1.0]]], [[0.0]], "cast:bf16", "no step from state to state"),
        ([[[1.0]]], [[0.0]], "kernel:chunk:bf16", "no step from state to state"),
    ],
)
def test_wrong_models(A: Any, start: Any, arithmetic: str, place: str) -> None:
    with pytest.raises(InputError, match=place):
        AffineModel([AffineHead(np.array(A), None, np.array(start))], arithmetic)
