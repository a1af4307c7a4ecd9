"""`prove`, `check`, `run`, spectra and horizons held to the oracle on random models, and what the fuzz must notice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions.formats.json_format import read_json
from mirrormata.tests.fuzz.__main__ import STRIDE, Tally, results
from mirrormata.tests.fuzz.hold import Holder, write_case
from mirrormata.tests.fuzz.kinds import CASES
from mirrormata.tests.fuzz.models import KINDS, Result, hold_model
from mirrormata.theory.arithmetic._arithmetic import PerOp
from mirrormata.theory.proofs import _prove as prove_module
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.proofs._state_search import StateSearch


def held(seed: int, models: int, only: str | None = None) -> Iterator[Result]:
    return results(iter(range(seed * STRIDE, seed * STRIDE + models)), 1, only)


def test_models_agree_with_oracle() -> None:
    tally = Tally()
    for result in held(7, 40):
        tally.add(result)
    assert not tally.differences
    assert {"counterexample", "equivalent"} <= {v for counts in tally.kinds.values() for v in counts}


@pytest.mark.long
@pytest.mark.parametrize("models", [120, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_many_models_agree_with_oracle(models: int) -> None:
    tally = Tally()
    for result in held(8, models):
        tally.add(result)
    assert not tally.differences
    if models == 1000:
        assert set(tally.kinds) == set(KINDS)


def first_difference(models: int, only: str | None = None) -> str | None:
    return next((line for result in held(9, models, only) for line in result.differences), None)


def test_unread_answers_at_the_start_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that looks at new states alone: the checker's refusal is an error, and without it the verdict is false."""
    monkeypatch.setattr(StateSearch, "with_start", lambda self, words, unread: unread)
    assert first_difference(200) is not None
    monkeypatch.setattr(prove_module, "_accept_proof", lambda proof: proof)
    line = first_difference(200)
    assert line is not None
    assert line.startswith("false equivalent")


def test_another_order_of_sums_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    affine = PerOp.affine

    def left(self: PerOp, A: Any, h: Any, b: Any = None) -> Any:
        return affine(PerOp(self.values, "left", self.mode, self.suffix), A, h, b)

    monkeypatch.setattr(PerOp, "affine", left)
    assert first_difference(200) is not None


def test_processes_give_the_same_results() -> None:
    seeds = range(12 * STRIDE, 12 * STRIDE + 6)
    assert list(results(iter(seeds), 2, "chain")) == list(results(iter(seeds), 1, "chain"))


def test_models_come_from_their_seeds_alone() -> None:
    for kind in CASES:
        one, other = (CASES[kind][1](random.Random(5), 5) for _ in range(2))
        assert (one.layer, one.machine, one.arithmetic) == (other.layer, other.machine, other.arithmetic)
    assert hold_model(11) == hold_model(11)


def test_files_show_the_same(tmp_path: Path) -> None:
    """The `.npz` and the automaton that are written for a model that differs are the model."""
    for seed in range(6):
        case = CASES["closure"][1](random.Random(seed), seed)
        if case.arithmetic.endswith(("1/2,3", "1..4")):
            continue
        automaton, model = write_case(case, tmp_path)
        with np.load(model) as file:
            assert file["A"].shape[0] == len(case.machine.transitions)
        proof = prove(model, read_json(automaton), case.arithmetic)
        assert proof.verdict == Holder(case).outcome.expected.verdict
