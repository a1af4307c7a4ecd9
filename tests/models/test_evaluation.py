"""Tests of models: figures against a count by hand, chunks, constructed models without errors, the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import _evaluation as evaluation
from mirrormata.models._config import ModelConfig
from mirrormata.models._evaluation import Evaluation, evaluate
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.tasks._word_problem_data import write_word_problem
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.training_cases import experiment

S3 = AutomatonTask(TaskSettings(spec="S3", protocol="word_problem"))
ARITHMETIC = AutomatonTask(TaskSettings(spec="mod_arith:3", protocol="formal_language_prefix"))


def model_for(task: AutomatonTask, family: str = "deltaproduct") -> Model:
    config = ModelConfig(
        family=family, letters=task.letters, classes=task.classes, width=16, heads=2, head_dim=8, value_dim=8
    )
    torch.set_num_threads(1)
    return Model(config, [3, 5])


@pytest.mark.parametrize("task", [S3, ARITHMETIC])
@pytest.mark.parametrize("family", ["deltaproduct", "transformer"])
def test_figures_are_those_of_a_count(task: AutomatonTask, family: str) -> None:
    model = model_for(task, family)
    seen = evaluate(model, task, 40, words=30, seed=2)
    (batch,) = task.stream(2, 30, 40)
    with torch.no_grad():
        logits, _ = model(torch.from_numpy(batch.letters.astype(np.int64))[None])
    found = logits.argmax(-1).numpy()[:, :, int(task.bos) :]
    labels = batch.labels[:, int(task.bos) :]
    for s in range(2):
        for length in (1, 7, 40):
            asked = labels[:, length - 1] != IGNORED
            right = (found[s] == labels)[:, length - 1][asked]
            assert seen.accuracy(length)[s] == (pytest.approx(right.mean()) if asked.any() else None)
            wrong = ((found[s] != labels) & (labels != IGNORED))[:, :length].any(1)
            assert seen.exact(length)[s] == pytest.approx(1 - wrong.mean())
        by_length = [x for x in (seen.accuracy(n)[s] for n in range(10, 21)) if x is not None]
        assert seen.accuracy((10, 20))[s] == pytest.approx(np.mean(by_length))


@pytest.mark.parametrize("family", ["deltaproduct", "lstm", "transformer"])
def test_states_are_carried_from_chunk_to_chunk(family: str) -> None:
    model = model_for(S3, family)
    whole = evaluate(model, S3, 60, words=20)
    for chunk in (2, 7, 60):
        parts = evaluate(model, S3, 60, words=20, chunk=chunk)
        assert np.array_equal(whole.right, parts.right)
        assert np.array_equal(whole.first_failure, parts.first_failure)


def test_layers_that_write_out_states_take_fewer_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_for(S3, "mamba_like")
    sizes = []
    model.register_forward_pre_hook(lambda _, given: sizes.append(given[0].shape[2]))
    whole = evaluate(model, S3, 60, words=20)
    monkeypatch.setattr(
        evaluation, "MOST_ENTRIES", 2 * 20 * (2 * 8 * 8) * 7 + 1
    )  # seeds, words, states, tokens
    parts = evaluate(model, S3, 60, words=20)
    assert sizes == [61, *[7] * 8, 5]  # with the token at the beginning
    assert np.array_equal(whole.right, parts.right)


def test_the_longest_length_and_first_failures() -> None:
    right = np.array([[10, 9, 9, 8, 10], [10, 10, 10, 10, 10], [8, 10, 10, 10, 10]])
    failure = np.array([[1, 3, *[5] * 8], [5] * 10, [0, 0, *[5] * 8]])
    seen = Evaluation((0, 1, 2), 10, 0.5, right, np.full(5, 10), failure)
    assert seen.longest() == [3, 5, 0]
    assert seen.longest(0.8) == [5, 5, 5]
    assert seen.exact(2) == [0.9, 1.0, 0.8]
    assert seen.exact(1) == [1.0, 1.0, 0.8]
    facts = seen.as_json([5, (2, 4)])
    assert facts["first_failure"] == [
        {"words": 2, "least": 2, "median": 3.0}, None, {"words": 2, "least": 1, "median": 1.0},
    ]  # fmt: skip
    assert facts["scaled_accuracy"]["2-4"][0] == pytest.approx((26 / 30 - 0.5) / 0.5)
    assert facts["curve"]["positions"] == [1, 2, 3, 4, 5]
    assert facts["curve"]["exact"][0] == [1.0, 0.9, 0.9, 0.8, 0.8]
    json.dumps(facts)


def test_a_model_that_is_not_finite_answers_nothing() -> None:
    model = model_for(S3)
    with torch.no_grad():
        model.get_parameter("head.bias")[1] = float("nan")
    seen = evaluate(model, S3, 10, words=50)
    assert seen.right[1].sum() == 0
    assert seen.right[0].sum() > 0


@pytest.mark.parametrize("spec", ["S3", "mod:5"])
def test_constructed_models_make_no_errors(spec: str) -> None:
    task = AutomatonTask(TaskSettings(spec=spec, bos=False))
    built = from_construction(construct(task.automaton))
    assert built.config.meaning == tuple(range(task.classes))
    seen = evaluate(built, task, 2000, words=4)
    assert seen.longest() == [2000]
    assert seen.exact(2000) == [1.0]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eval") / "run"
    train(experiment(), folder)
    return folder


def test_a_folder_is_tested_as_its_training_was(trained: Path) -> None:
    again = evaluate_folder(str(trained), lengths=[8, (5, 12)], words=16, device="cpu").as_json()
    result = json.loads((trained / "result.json").read_text())
    assert again["seeds"] == [0, 1]
    assert again["accuracy"] == result["accuracy"]
    assert again["first_failure"] == result["first_failure"]
    single = evaluate_folder(str(trained / "seed-1"), lengths=[8], words=16, device="cpu").as_json()
    assert single["accuracy"]["8"] == [result["accuracy"]["8"][1]]


def test_eval_and_train_on_the_command_line(
    trained: Path, tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    done = call("eval", str(trained), "--lengths", "8,5-12", "--words", "16", "--json")
    assert done.status == 0
    assert set(done.json["accuracy"]) == {"8", "5-12"}
    assert done.json["contract"]["task"] == "S3"
    text = call("eval", str(trained), "--lengths", "8", "--words", "4").out
    assert "reconstruction of arXiv 2502.10297" in text
    options = (
        "--steps",
        "2",
        "--batch",
        "2",
        "--lengths",
        "3-4",
        "--test-lengths",
        "5",
        "--set",
        "train.threads=1",
    )
    made = call(
        "train", "S3", "-o", str(tmp_path / "a"), "--householders", "2", "--range=-1,1", *options, "--json"
    )
    assert made.status == 0
    assert made.json["step"] == 2
    assert json.loads((tmp_path / "a/settings.json").read_text())["model"]["range"] == [-1, 1]
    stopped = call("train", "S3", "-o", str(tmp_path / "b"), *options, "--minutes", "0")
    assert "stopped at step 1 of 2" in stopped.out
    assert "holds another training" in call("train", "S3", "-o", str(tmp_path / "a"), *options).error
    assert (
        "write section.entry=value" in call("train", "S3", "-o", str(tmp_path / "c"), "--set", "conv=4").error
    )
    assert "lengths are at least 1" in call("eval", str(trained), "--lengths", "9-3").error
    assert "no such folder" in call("eval", str(tmp_path / "z")).error
    assert "train to the end first" in call("eval", str(tmp_path / "b")).error


def test_rows_of_a_word_problem_file(trained: Path, tmp_path: Path, call: Callable[..., Outcome]) -> None:
    path = tmp_path / "S3=8.csv"
    write_word_problem(path, S3, seed=0, rows=16, length=8)
    from_file = call("eval", str(trained), "--data", str(path), "--json").json
    drawn = call("eval", str(trained), "--lengths", "8", "--words", "16", "--json").json
    assert from_file["accuracy"] == drawn["accuracy"]
    assert "fewer than the lengths" in call("eval", str(trained), "--data", str(path), "--lengths", "9").error


def test_tests_that_cannot_be_run_are_refused(trained: Path) -> None:
    with pytest.raises(InputError, match="seed -1"):
        evaluate_folder(str(trained), seed=-1)
    for words, length in ((10**9, 8), (1, 10**11)):
        with pytest.raises(LimitError, match=r"too many for memory; .*: test fewer or shorter ones"):
            evaluate_folder(str(trained), words=words, lengths=[length])


def test_a_folder_with_another_task_is_refused(trained: Path, tmp_path: Path) -> None:
    AutomatonTask(TaskSettings(spec="S3", bos=False)).contract((4, 9), ("8",)).write(
        trained / "seed-0/task.json"
    )
    try:
        with pytest.raises(InputError, match="other letters or classes"):
            evaluate_folder(str(trained / "seed-0"))
    finally:
        (trained / "seed-0/task.json").write_text((trained / "task.json").read_text())


def test_whole_words_are_counted_each_once() -> None:
    task = AutomatonTask(TaskSettings(spec="parity", protocol="formal_language"))
    model = Model(ModelConfig(width=8, heads=1, head_dim=4, value_dim=4), seeds=(0, 1))
    seen = evaluate(model, task, 30, words=200, seed=3)
    (batch,) = task.stream(3, 200, 30)
    asked = batch.labels != IGNORED
    lengths = asked.argmax(1) + 1
    logits, _ = model(torch.from_numpy(batch.letters.astype(np.int64))[None])
    right = (model.answers(logits).numpy() == batch.labels)[:, np.arange(200), lengths - 1]
    for span in ((1, 30), (10, 20)):
        inside = (lengths >= span[0]) & (lengths <= span[1])
        assert seen.words_at(span) == inside.sum()
        assert seen.accuracy(span) == pytest.approx(right[:, inside].mean(1))
    assert seen.exact(20) == pytest.approx(right[:, lengths <= 20].mean(1))
    shares = [
        [
            right[s, (lengths > n // 2) & (lengths <= n)].mean()
            if ((lengths > n // 2) & (lengths <= n)).any()
            else 1.0
            for n in range(1, 31)
        ]
        for s in range(2)
    ]
    wanted = [next((n for n, share in enumerate(row) if share < 0.9), 30) for row in shares]
    assert seen.longest() == wanted
    assert seen.as_json([(10, 20)])["whole_words"] is True


def test_an_exact_length_of_whole_words_is_refused() -> None:
    settings = {
        "task": {"spec": "parity", "protocol": "formal_language"},
        "eval": {"lengths": [[2, 39], 256]},
    }
    found = experiment_from_dict(settings, "x")
    with pytest.raises(InputError, match=r"eval\.lengths has 256: .*write a span, such as \[128, 256\]"):
        found.test_lengths(found.build_task())
    every = experiment_from_dict(
        {**settings, "task": {"spec": "parity", "protocol": "formal_language_prefix"}}, "x"
    )
    assert every.test_lengths(every.build_task()) == [(2, 39), 256]
