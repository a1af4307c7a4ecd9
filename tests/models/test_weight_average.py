"""The moving average of the weights: its formula, its place in checkpoints and model folders, and tests of either weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from mirrormata.foundation._errors import InputError
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model, read_model_config
from mirrormata.models.training._averaging import WeightAverage, Weights
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.test_accumulation import stopped_at
from mirrormata.tests.models.training_cases import experiment

AVERAGED = {"train__ema": 0.75, "train__lr": 1e-2, "train__eval_every": 6, "train__keep_every": 1}


@pytest.fixture(scope="module")
def averaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("averaged") / "run"
    train(experiment(**AVERAGED), folder)
    return folder


def test_it_is_the_mean_of_all_weights_with_falling_shares(averaged: Path) -> None:
    """a_t = d^t w_0 + (1 - d) Σ d^(t-s) w_s over the weights that were kept after each step."""
    one = experiment(**AVERAGED)
    first = Model(one.config(one.build_task()), one.train.seeds).select(1).state_dict()
    for name, value in load_model(averaged / "seed-1")[0].state_dict().items():
        steps = [load_model(averaged / f"steps/{s}/last/seed-1")[0].state_dict()[name] for s in range(1, 12)]
        steps.append(load_model(averaged / "last/seed-1")[0].state_dict()[name])
        expected = 0.75**12 * first[name].double()
        for s, weights in enumerate(steps, 1):
            expected = expected + 0.25 * 0.75 ** (12 - s) * weights.double()
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-6)


def test_files_say_which_weights_they_have(averaged: Path) -> None:
    saved = load_file(averaged / "checkpoint.safetensors")
    for folder, prefix, weights in (("seed-1", "ema", "average"), ("last/seed-1", "model", "last")):
        assert read_model_config(averaged / folder / "config.json").weights == weights
        model, _ = load_model(averaged / folder)
        for name, value in model.state_dict().items():
            assert torch.equal(value[0], saved[f"{prefix}.{name}"][1])
    result = read_result(averaged)
    assert result is not None
    assert (result["weights"], [test["weights"] for test in result["other_weights"]]) == ("average", ["last"])
    tests = [line for line in read_metrics(averaged / "metrics.jsonl") if "test" in line]
    assert [line["weights"] for line in tests] == ["average", "average"]
    assert tests[-1]["test"] == result["accuracy"]


def test_eval_takes_either(averaged: Path, call: Callable[..., Outcome]) -> None:
    result = read_result(averaged)
    assert result is not None
    either: list[tuple[Weights | None, dict[str, Any]]] = [
        (None, result),
        ("average", result),
        ("last", result["other_weights"][0]),
    ]
    for weights, expected in either:
        seen = evaluate_folder(
            averaged, words=16, lengths=[8, (5, 12)], device="cpu", weights=weights
        ).as_json()
        assert (seen["weights"], seen["accuracy"]) == (weights or "average", expected["accuracy"])
        assert seen["curve"] == expected["curve"]
        assert (seen["parameters"], seen["state"]) == (
            result["training"]["parameters"],
            result["training"]["state"],
        )
    single = evaluate_folder(averaged / "seed-1", words=16, lengths=[8], device="cpu", weights="last")
    assert single.as_json()["accuracy"]["8"] == [result["other_weights"][0]["accuracy"]["8"][1]]
    shown = call("eval", str(averaged), "--weights", "last", "--words", "4", "--lengths", "8", "--json")
    assert shown.json["weights"] == "last"
    assert "averaged weights" in call("eval", str(averaged), "--words", "4", "--lengths", "8").out
    assert (
        "--weights first: it is one of last, average"
        in call("eval", str(averaged), "--weights", "first").error
    )


def test_weights_that_are_not_there_are_refused(averaged: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"train\.ema in a training keeps their average"):
        evaluate_folder(averaged / "last", weights="average")
    shutil.copytree(averaged / "seed-0", tmp_path / "seed-0")
    with pytest.raises(InputError, match="there is no folder"):
        evaluate_folder(tmp_path / "seed-0", weights="last")
    shutil.copytree(averaged / "last/seed-1", tmp_path / "seed-1")
    with pytest.raises(InputError, match="some of its models are averages"):
        evaluate_folder(tmp_path)


@pytest.mark.parametrize("stop", [1, 7])
def test_a_stop_changes_no_bit(
    averaged: Path, stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_at(stop, monkeypatch, tmp_path / "run", **AVERAGED)
    train(experiment(**AVERAGED), tmp_path / "run")
    one, two = (load_file(folder / "checkpoint.safetensors") for folder in (averaged, tmp_path / "run"))
    assert set(one) == set(two)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert read_result(averaged) == read_result(tmp_path / "run")


def test_the_training_itself_does_not_change(averaged: Path, tmp_path: Path) -> None:
    train(experiment(**{**AVERAGED, "train__ema": 0.0}), tmp_path / "plain")
    plain, beside = (
        load_file(folder / "checkpoint.safetensors") for folder in (tmp_path / "plain", averaged)
    )
    assert all(torch.equal(plain[name], beside[name]) for name in plain)
    assert {name for name in beside if name not in plain} == {
        name.replace("model.", "ema.") for name in plain if name.startswith("model.")
    }
    result = read_result(tmp_path / "plain")
    assert result is not None
    assert result["weights"] == "last"
    assert not (tmp_path / "plain/last").exists()


def test_a_checkpoint_without_its_average_is_refused(averaged: Path, tmp_path: Path) -> None:
    shutil.copytree(averaged, tmp_path / "run")
    (tmp_path / "run/result.json").unlink()
    path = tmp_path / "run/checkpoint.safetensors"
    tensors = load_file(path)
    del tensors["ema.head.bias"]
    settings = json.loads((tmp_path / "run/settings.json").read_text())
    del settings["format"]
    metadata = {"format": "mirrormata-checkpoint/1", "step": "12", "settings": json.dumps(settings)}
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(InputError, match=r"the average of 'head\.bias' is missing"):
        train(experiment(**AVERAGED), tmp_path / "run")


@pytest.mark.parametrize("decay", [1.0, -0.1, float("nan")])
def test_a_decay_that_is_none_is_refused(decay: float) -> None:
    with pytest.raises(InputError, match=r"train.ema is .*: a decay from 0, below 1"):
        experiment(train__ema=decay)


def test_weights_come_back_bit_for_bit_whatever_happens() -> None:
    one = experiment()
    model = Model(one.config(one.build_task()), (0,))
    average = WeightAverage(model, 0.5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    average.update()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    averages = {name: value.clone() for name, value in average.whole_tensors().items()}
    with pytest.raises(KeyboardInterrupt), average.in_place():  # noqa: PT012 (what raises is the end of the block)
        assert all(torch.equal(value, averages[name]) for name, value in model.state_dict().items())
        raise KeyboardInterrupt
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(value, averages[name]) for name, value in average.whole_tensors().items())
