"""Settings of a training: files, wrong entries, and where two differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models.training._experiment import first_difference, read_experiment, settings_difference
from mirrormata.models.training._train import train
from mirrormata.tests.models.training_cases import experiment


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train__colour": 1}, "train.colour is no entry; entries are steps, batch, lengths"),
        ({"train__steps": "many"}, "train.steps is 'many'; a whole number is needed"),
        ({"train__setps": 3}, "train.setps is no entry; did you mean 'steps'?"),
        ({"train__steps": True}, "train.steps is True; a whole number is needed"),
        ({"train__steps": "3"}, "train.steps is '3'; a whole number is needed"),
        ({"train__tf32": "false"}, "train.tf32 is 'false'; true or false without quotes is needed"),
        ({"train__lr": float("nan")}, "train.lr is nan"),
        ({"train__precision": "fp16"}, "train.precision is 'fp16'; choose 'fp32' or 'bf16'"),
        ({"train__seeds": [0, "1"]}, "train.seeds[1] is '1'; a whole number is needed"),
        ({"train__lengths": [5, 3, 1]}, "train.lengths is [5, 3, 1]; a list of 2 is needed"),
        ({"train__lengths": [5, 3]}, "train.lengths is [5, 3]"),
        ({"train__seeds": [1, 1]}, "train.seeds is [1, 1]"),
        ({"train__warmup": 2}, "train.warmup is 2"),
        ({"train__label_smoothing": -0.1}, "train.label_smoothing is -0.1: a fraction from 0 to 1"),
        ({"eval__lengths": [0]}, "eval.lengths has 0"),
        ({"train__batch": 0}, "train.batch is 0"),
        ({"model__letters": 3}, "letters comes from the task"),
        ({"model__colour": 3}, "colour is no entry; entries are family, letters, "),
        ({"train__device": "tpu9"}, "device tpu9"),
        ({"train__betas": [0.9, 1]}, "train.betas is [0.9, 1.0]"),
        ({"train__seeds": [2**63]}, "below 2^63"),
        ({"eval__seed": -1}, "eval.seed is -1"),
        ({"eval__words": 10**9}, "1,000,000,000 words of 12 letters are too many"),
    ],
)
def test_wrong_entries_are_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((InputError, LimitError)) as refusal:
        train(experiment(**change), tmp_path / "x")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "x").exists()


def test_a_file_and_its_values(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        '[task]\nspec = "S3"\n[model]\nrange = [0, 1]\n[train]\nsteps = 3\n[eval]\nlengths = [3, [4, 5]]\n'
    )
    found = read_experiment(path)
    task = found.build_task()
    assert found.config(task).range == (0, 1)
    assert found.test_lengths(task) == [3, (4, 5)]
    assert found.train_lengths(task) == (32, 32)
    path.write_text("[task\n")
    with pytest.raises(InputError, match=r"a\.toml: not TOML"):
        read_experiment(path)


def test_differences_of_settings() -> None:
    assert first_difference({"a": {"b": 1}}, {"a": {"b": 1}}) is None
    assert first_difference({"a": {"b": 1}}, {"a": {"b": 2}}) == "a.b was 1 and is 2"
    assert first_difference({"a": 1}, {}) == "a was 1 and is None"
    assert settings_difference("no settings", {"train": {}}) is not None
