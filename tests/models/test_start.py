"""Trainings that begin at given weights: those of constructions and of trained models, with noise and frozen parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from mirrormata import construct
from mirrormata.foundation._errors import InputError
from mirrormata.models import from_construction
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model
from mirrormata.models.training._experiment import experiment_from_dict, read_settings
from mirrormata.models.training._start import StartSettings, begin_at, freeze_parts, label_logits, read_start
from mirrormata.models.training._train import train


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "s3.json"
    construct("S3").save(path)
    return path


def settings(path: Path, **entries: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "task": {"spec": "S3", "bos": False},
        "train": {"steps": 4, "batch": 4, "lengths": [5, 5], "seeds": [0, 3], "threads": 1, "device": "cpu"},
        "eval": {"lengths": [5, 20], "words": 16},
        "start": {"path": str(path)},
    }
    for name, value in entries.items():
        section, _, entry = name.partition("__")
        data.setdefault(section, {})[entry] = value
    return data


def run(path: Path, folder: Path, **entries: Any) -> dict[str, Any]:
    outcome = train(experiment_from_dict(settings(path, **entries), "test"), folder)
    assert outcome.result is not None
    return outcome.result


def test_without_learning_the_construction_stays(certificate: Path, tmp_path: Path) -> None:
    result = run(certificate, tmp_path / "a", train__lr=0.0, train__final_lr=0.0)
    assert result["exact"] == {"5": [1.0, 1.0], "20": [1.0, 1.0]}
    model, _ = load_model(tmp_path / "a" / "seed-3")
    for name, value in from_construction(construct("S3")).state_dict().items():
        assert torch.equal(value, model.state_dict()[name]), name
    again = experiment_from_dict(read_settings(tmp_path / "a" / "settings.json"), "again")
    assert again.config(again.build_task()) == model.config


def test_learning_moves_it_and_frozen_parts_stay(certificate: Path, tmp_path: Path) -> None:
    run(certificate, tmp_path / "a", train__lr=1e-2, start__frozen=["embedding", "mixers"])
    run(certificate, tmp_path / "b", train__lr=1e-2)
    exact = from_construction(construct("S3")).state_dict()
    frozen, free = (load_model(tmp_path / x / "seed-0")[0].state_dict() for x in "ab")
    moved = {name for name, value in exact.items() if not torch.equal(value, frozen[name])}
    assert moved == {"head.weight", "head.bias"}
    assert not torch.equal(free["embedding.weight"], exact["embedding.weight"])
    assert any("mixer" in name and not torch.equal(value, free[name]) for name, value in exact.items())


def test_a_training_begins_at_a_trained_model(tmp_path: Path) -> None:
    first: dict[str, Any] = {
        "task": {"spec": "Z3"},
        "model": {"width": 8, "heads": 1, "head_dim": 4, "value_dim": 4},
        "train": {"steps": 2, "batch": 4, "lengths": [5, 5], "threads": 1, "device": "cpu"},
        "eval": {"lengths": [5], "words": 4},
    }
    train(experiment_from_dict(first, "first"), tmp_path / "first")
    second = {**first, "model": {}, "start": {"path": str(tmp_path / "first" / "seed-0")}}
    train(
        experiment_from_dict({**second, "train": {**first["train"], "lr": 0.0, "final_lr": 0.0}}, "x"),
        tmp_path / "second",
    )
    before, after = (load_model(tmp_path / x / "seed-0")[0].state_dict() for x in ("first", "second"))
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    wrong = experiment_from_dict({**second, "model": {"heads": 2}}, "x")
    with pytest.raises(InputError, match=r"model: heads is 2, and the model of start\.path has 1"):
        wrong.config(wrong.build_task())


def test_noise_is_of_the_seed_and_of_the_size_that_is_said(certificate: Path) -> None:
    settings_of = StartSettings(path=str(certificate), noise=0.1)
    start = read_start(settings_of)
    models = [Model(start.config, seeds) for seeds in ((0, 1), (1,))]
    for model in models:
        begin_at(model, settings_of)
    together, alone = models
    exact = start.state_dict()
    for name, value in alone.state_dict().items():
        assert torch.equal(together.state_dict()[name][1:], value), name
        assert not exact[name].any() or not torch.equal(together.state_dict()[name][:1], value), name
    key = "blocks.0.mixer.key.linear.weight"
    size = exact[key][exact[key] != 0].square().mean().sqrt()
    assert (alone.state_dict()[key] - exact[key]).std() == pytest.approx(0.1 * float(size), rel=0.3)


def test_models_are_kept_on_the_way(certificate: Path, tmp_path: Path) -> None:
    run(certificate, tmp_path / "a", train__keep_every=2, train__lr=1e-2)
    assert sorted(path.name for path in (tmp_path / "a" / "steps").iterdir()) == ["2"]
    kept, last = (load_model(tmp_path / "a" / x / "seed-3")[0].state_dict() for x in ("steps/2", "."))
    assert not torch.equal(kept["head.bias"], last["head.bias"])


def test_several_classes_of_a_label_are_one_answer() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 9.0]])
    config = ModelConfig(classes=4, meaning=(1, 0, 1, -1))
    found = label_logits(logits, config, 2)
    assert torch.allclose(found, torch.tensor([[2.0, torch.logsumexp(torch.tensor([1.0, 3.0]), 0)]]))
    assert torch.equal(
        label_logits(logits[:, :3], ModelConfig(classes=3, meaning=(2, 0, 1)), 3), logits[:, [1, 2, 0]]
    )
    assert label_logits(logits, ModelConfig(classes=4), 4) is logits


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"task__bos": True}, "the task has 7 and 6; a construction has no BOS"),
        ({"task__bos": True}, "set task.bos to false"),
        ({"task__spec": "S4"}, "give the automaton that was constructed"),
        ({"start__noise": -1.0}, "start.noise is -1.0"),
        ({"start__frozen": ["heads"]}, "start.frozen has 'heads'; the parts are embedding"),
        ({"start__path": "", "start__noise": 0.5}, "noise around given weights"),
        ({"train__initializer_range": 0.02}, "leave one out"),
        ({"start__path": "/nowhere.json"}, "nowhere.json"),
    ],
)
def test_starts_that_cannot_be(
    certificate: Path, tmp_path: Path, entries: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as refusal:
        run(certificate, tmp_path / "a", **entries)
    assert message in str(refusal.value)
    assert not (tmp_path / "a").exists()


def test_layers_that_read_tables_have_no_gradient(tmp_path: Path) -> None:
    for spec, theorem, message in (
        ("T3", None, "read one another through tables"),
        ("T4", "own.chain", "a chain of sets"),
    ):
        path = tmp_path / f"{spec}.json"
        construct(spec, theorem=theorem).save(path)
        with pytest.raises(InputError, match=message):
            read_start(StartSettings(path=str(path)))


def test_something_is_left_to_train() -> None:
    model = from_construction(construct("parity"))
    with pytest.raises(InputError, match="nothing is left to train"):
        freeze_parts(model, ["embedding", "mixers", "read_out"])


def test_the_result_of_a_start_is_json(certificate: Path, tmp_path: Path) -> None:
    run(certificate, tmp_path / "a")
    assert json.loads((tmp_path / "a" / "settings.json").read_text())["start"] == {
        "path": str(certificate), "noise": 0.0, "frozen": [],
        "plant": "",
        "blank": False,
    }  # fmt: skip


def test_a_training_at_a_construction_has_no_bos_unless_it_is_set(certificate: Path, tmp_path: Path) -> None:
    bare = settings(certificate)
    del bare["task"]["bos"]
    assert experiment_from_dict(bare, "x").task.bos is False
    run(certificate, tmp_path / "a")
    bare["start"]["path"] = str(tmp_path / "a" / "seed-3")
    assert experiment_from_dict(bare, "x").task.bos is False  # as the task of the folder
    bare["task"]["bos"] = True
    assert experiment_from_dict(bare, "x").task.bos is True
    assert experiment_from_dict({"task": {"spec": "S3"}}, "x").task.bos is None
    text = {"task": {"spec": "text"}, "start": {"path": str(certificate)}}
    assert experiment_from_dict(text, "x").task.bos is None  # which means nothing for text


def test_the_noise_that_the_help_calls_gentle(certificate: Path, tmp_path: Path) -> None:
    """It leaves every word of 64 letters right; fifty times as much leaves none."""
    entries = {"train__lr": 0.0, "train__final_lr": 0.0, "eval__lengths": [64], "eval__words": 64}
    gentle = run(certificate, tmp_path / "a", **entries, start__noise=0.002)
    assert gentle["exact"] == {"64": [1.0, 1.0]}
    strong = run(certificate, tmp_path / "b", **entries, start__noise=0.1)
    assert strong["exact"] == {"64": [0.0, 0.0]}
