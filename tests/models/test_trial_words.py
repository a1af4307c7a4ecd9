"""Whole words through a model's own forward code, and words that `prove` tries on a model folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirrormata.models import _model_stepper
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_stepper import ModelStepper
from mirrormata.models._sources import load_stepper, prove
from mirrormata.theory.proofs import _stepper_machine
from mirrormata.theory.proofs._second_derivation import first_wrong_answer
from mirrormata.theory.proofs._stepper_machine import StepperMachine

from .test_comparison_cli import model_folder


@pytest.mark.parametrize("before", [(), (2,)])
def test_whole_words_are_read_as_letters_are(
    before: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_model_stepper, "LETTERS", 7)  # 20 letters in three parts
    config = ModelConfig(letters=3, classes=3, width=8, heads=2, head_dim=4, value_dim=4, layers=2)
    stepper = ModelStepper(Model(config), meaning=[1, -1, 0], before=before)
    words = np.random.default_rng(0).integers(0, 3, (5, 20))
    read = list(stepper.read_words(words))
    assert [part.shape for part in read] == [(5, 7), (5, 7), (5, 6)]
    states, said = stepper.initial(5), []
    for x in words.T:
        states = stepper.step(states, x)
        said.append(stepper.decode(states, x))
    assert len(np.unique(said)) > 1
    assert np.array_equal(np.concatenate(read, axis=1), np.stack(said, axis=1))


def test_a_model_folder_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stepper_machine, "ONE_BY_ONE", 0)  # words before any step of the search
    folder = str(model_folder(tmp_path / "untrained"))
    found = prove(folder, "parity", max_trial_letters=16 * 64)
    assert (found.verdict, found.checked, found.correct_up_to) == ("counterexample", "replayed", 0)
    assert "tried beside the search" in found.reason
    assert found.word is not None
    assert found.shortest == (len(found.word) == 1)
    stepper, answers = load_stepper(folder, "parity")
    again = first_wrong_answer(StepperMachine(stepper, answers), found.automaton, found.word)
    assert again == (len(found.word), found.answered, found.right)
