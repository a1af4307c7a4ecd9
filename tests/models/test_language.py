"""Language modelling: text, windows and bits against a count by hand; training below the unigram entropy; other texts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models._config import ModelConfig
from mirrormata.models._evaluation import evaluate
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models._model import Model
from mirrormata.models.sweeps._run import SweepFolder
from mirrormata.models.sweeps._sweep import read_sweep
from mirrormata.models.sweeps._table import sweep_reading, sweep_table
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._language import BOUNDARY, LanguageTask, read_corpus, standard_library
from mirrormata.models.tasks._sampling import IGNORED, PIECE
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.training._experiment import Experiment, experiment_from_dict
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.training_cases import settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve files, of which the first and the eleventh are for testing."""
    place = tmp_path / "texts"
    (place / "sub").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(12):
        path = place / ("sub" if i % 2 else ".") / f"{i:02}.txt"
        path.write_bytes(bytes(rng.integers(65, 91, size=200 + i, dtype=np.uint8)))
    (place / ".hidden").write_text("hidden")
    (place / "image.bin").write_bytes(b"\0\1\2")
    return place


def text_task(place: Path) -> LanguageTask:
    task = task_from_settings(TaskSettings(spec=f"text:{place}"))
    assert isinstance(task, LanguageTask)
    return task


def test_files_are_divided_in_the_order_of_their_paths(folder: Path) -> None:
    found = read_corpus(str(folder))
    paths = sorted(folder.rglob("*.txt"), key=lambda p: p.relative_to(folder).parts)
    parts = {
        name: [x for path in some for x in [*path.read_bytes(), BOUNDARY]]
        for name, some in (("test", paths[::10]), ("train", [*paths[1:10], *paths[11:]]))
    }
    assert found.test.tolist() == parts["test"]
    assert found.train.tolist() == parts["train"]
    assert (found.train_files, found.test_files) == (10, 2)
    assert read_corpus(str(folder)).digest == found.digest
    paths[3].write_bytes(paths[3].read_bytes()[::-1])
    changed = read_corpus(str(folder))
    assert changed.digest != found.digest
    paths[3].rename(folder / "renamed.txt")
    assert read_corpus(str(folder)).digest != changed.digest


def test_the_last_tenth_of_a_single_file_is_for_testing(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(bytes(range(1, 101)))
    found = read_corpus(str(file))
    assert found.train.tolist() == [*range(1, 91), BOUNDARY]
    assert found.test.tolist() == [*range(91, 101), BOUNDARY]


def test_texts_that_cannot_be_used_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_corpus(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no text"):
        read_corpus(str(tmp_path / "empty"))
    with pytest.raises(LimitError, match="bytes, more than 1,000"):
        read_corpus(str(folder), most=1000)
    task = text_task(folder)
    with pytest.raises(InputError, match="training text, words have 9,999"):
        task.batches([0], 0, 2, 9999)
    with pytest.raises(LimitError, match="letters of test text"):
        next(task.stream(0, 2, 9999))
    with pytest.raises(InputError, match="bos means nothing for text"):
        task_from_settings(TaskSettings(spec="text", bos=True))


def test_the_standard_library_is_a_text() -> None:
    found = standard_library()
    assert standard_library().digest == found.digest
    text = bytes(found.train[found.train != BOUNDARY].astype(np.uint8))
    assert b"def namedtuple(" in text  # collections/__init__.py is no tenth file
    assert len(found.train) > 8 * len(found.test) > 2**20
    assert (found.test == BOUNDARY).sum() == found.test_files


def test_labels_are_the_next_bytes_of_training_windows(folder: Path) -> None:
    task = text_task(folder)
    letters, labels = task.batches([3, 4], 7, 40, 50)
    assert letters.shape == labels.shape == (2, 40, 50)
    text = task.corpus.train.tolist()
    places = {tuple(text[i : i + 50]): i for i in range(len(text) - 50)}
    for window, row in zip(letters.reshape(-1, 50), labels.reshape(-1, 50), strict=True):
        at = places[tuple(window.tolist())]
        following = text[at + 1 : at + 51]
        assert row.tolist() == [IGNORED if x == BOUNDARY else x for x in following]
    assert (labels == IGNORED).any()
    alone = task.batches([4], 7, 40, 50)
    assert np.array_equal(alone.letters[0], letters[1])
    assert not np.array_equal(letters[0], letters[1])
    assert not np.array_equal(letters, task.batches([3, 4], 8, 40, 50).letters)


def test_test_windows_go_on_from_piece_to_piece() -> None:
    task = task_from_settings(TaskSettings(spec="text"))
    assert isinstance(task, LanguageTask)
    whole = [np.concatenate(x, axis=1) for x in zip(*task.stream(5, 3, PIECE + 100), strict=True)]
    assert np.array_equal(
        whole[0][:, 1:][labelled := whole[1][:, :-1] != IGNORED], whole[1][:, :-1][labelled]
    )
    assert (whole[0][:, 1:][~labelled] == BOUNDARY).all()
    (short,) = task.stream(5, 3, 70)
    assert np.array_equal(short.letters, whole[0][:, :70])
    text = task.test_text
    twice = np.concatenate([text, text])
    at = next(
        i
        for i in np.flatnonzero(twice[: len(text)] == whole[0][0, 0])
        if np.array_equal(twice[i : i + 200], whole[0][0, :200])
    )
    third = at + len(text) // 3
    assert np.array_equal(np.concatenate([twice, text])[third : third + 200], whole[0][1, :200])


def small_model(**entries: Any) -> Model:
    torch.set_num_threads(1)
    config = ModelConfig(
        letters=257, classes=256, width=16, heads=2, head_dim=8, value_dim=8, mlp=1.0, **entries
    )
    return Model(config, [3, 5])


@pytest.mark.parametrize("family", ["deltaproduct", "transformer"])
def test_bits_are_those_of_a_count(folder: Path, family: str) -> None:
    task, model = text_task(folder), small_model(family=family)
    seen = evaluate(model, task, 90, words=7, seed=2)
    assert seen.bits is not None
    (batch,) = task.stream(2, 7, 90)
    with torch.no_grad():
        logits, _ = model(torch.from_numpy(batch.letters.astype(np.int64))[None])
    logs = logits.double().log_softmax(-1).numpy() / math.log(2)
    for s in range(2):
        for low, high in ((1, 90), (20, 45), (7, 7)):
            values = [
                -logs[s, w, t, batch.labels[w, t]]
                for w in range(7)
                for t in range(low - 1, high)
                if batch.labels[w, t] != IGNORED
            ]
            assert seen.bits_per_label((low, high))[s] == pytest.approx(np.mean(values), rel=1e-5)
    for chunk in (2, 13):
        parts = evaluate(model, task, 90, words=7, seed=2, chunk=chunk)
        assert parts.bits == pytest.approx(seen.bits, rel=1e-4)
    facts = seen.as_json([(1, 90), 3])
    assert facts["perplexity"]["1-90"][0] == pytest.approx(2 ** facts["bits"]["1-90"][0])
    positions, curve = facts["curve"]["positions"], facts["curve"]["bits"]
    for i in (0, 5, -1):
        last = positions[i - 1] if i else 0
        assert curve[1][i] == round(seen.bits_per_label((last + 1, positions[i]))[1] or 0, 4)


def test_guessing_is_eight_bits_and_a_diverged_seed_has_none(folder: Path) -> None:
    model = small_model()
    with torch.no_grad():
        model.get_parameter("head.weight").zero_()
        model.get_parameter("head.bias")[1] = float("nan")
    facts = evaluate(model, text_task(folder), 60, words=4).as_json([(1, 60)])
    assert facts["bits"]["1-60"] == [pytest.approx(8), None]
    assert facts["perplexity"]["1-60"] == [pytest.approx(256), None]
    json.dumps(facts, allow_nan=False)


def language(spec: str = "text", **changes: Any) -> Experiment:
    data = settings(
        **{
            "model__width": 32, "train__lr": 1e-2, "train__batch": 8, "train__lengths": [64, 64],
            "train__steps": 40, "train__seeds": [0], "train__log_every": 5, "train__checkpoint_every": 20,
            "eval__lengths": [[1, 64], [65, 128], [129, 512]], **changes,
        },
    )  # fmt: skip
    return experiment_from_dict({**data, "task": {"spec": spec}}, "test")


def test_a_model_learns_more_than_frequencies_and_goes_on_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirrormata.models.training._run import TrainingRun

    done = train(language(), tmp_path / "whole").result
    assert done is not None
    unigram = LanguageTask(TaskSettings(spec="text")).unigram_bits
    assert 4 < unigram < 5.5
    assert all(bits[0] < unigram - 0.3 for bits in done["bits"].values())
    lines = read_metrics(tmp_path / "whole/metrics.jsonl")
    assert lines[-1]["loss"][0] / math.log(2) < unigram
    assert all(line["tokens_per_second"] > 0 for line in lines)

    steps = 0

    def late(self: TrainingRun, *_: object) -> bool:
        nonlocal steps
        steps += 1
        return steps == 23

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", late)
        assert train(language(), tmp_path / "stopped", minutes=60).step == 23
    train(language(), tmp_path / "stopped")
    assert read_result(tmp_path / "stopped") == done
    again = read_metrics(tmp_path / "stopped/metrics.jsonl")
    assert [line["loss"] for line in again] == [line["loss"] for line in lines]


@pytest.fixture
def trained(folder: Path, tmp_path: Path) -> Path:
    small = {"train__steps": 2, "train__lengths": [16, 16], "eval__lengths": [[1, 16], [17, 64]]}
    train(language(f"text:{folder}", **small), tmp_path / "run")
    return tmp_path / "run"


def test_another_text_is_refused_and_can_be_tested_on_purpose(folder: Path, trained: Path) -> None:
    lengths = [(1, 16), (17, 64)]
    seen = evaluate_folder(str(trained), lengths=lengths, words=16, device="cpu")
    result = read_result(trained)
    assert result is not None
    assert seen.as_json()["bits"] == result["bits"]
    (folder / "more.txt").write_text("something else")
    with pytest.raises(InputError, match=r"its text is another here .*give a text by `data`"):
        evaluate_folder(str(trained), lengths=lengths, words=16, device="cpu")
    small = {"train__steps": 2, "train__lengths": [16, 16], "eval__lengths": [[1, 16], [17, 64]]}
    with pytest.raises(InputError, match="its task is another now: words was"):
        train(language(f"text:{folder}", **small), trained)
    other = evaluate_folder(
        str(trained), lengths=lengths, words=16, device="cpu", data=str(folder / "00.txt")
    )
    assert "tested on all of it" in other.contract.words
    assert other.as_json()["bits"] != result["bits"]


def test_on_the_command_line(folder: Path, trained: Path, call: Callable[..., Outcome]) -> None:
    shown = call("eval", str(trained), "--lengths", "1-16,17-64", "--words", "4", "--device", "cpu")
    assert shown.status == 0
    assert "next byte of texts" in shown.out
    assert "bits a byte" in shown.out
    assert "longest" not in shown.out
    facts = call("eval", str(trained), "--data", str(folder / "00.txt"), "--lengths", "1-64", "--json").json
    assert set(facts["bits"]) == {"1-64"}
    assert "no such file or folder" in call("train", "text:/nowhere", "-o", str(trained / "x")).error


def test_a_table_of_bits_has_the_lowest_as_the_best(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'name = "text"\nmeasure = "bits"\ngood = 2.5\n[task]\nspec = "text"\n[train]\nseeds = [0, 1, 2]\n'
        "[eval]\nlengths = [[1, 64]]\n"
    )
    sweep, place = read_sweep(path), SweepFolder(tmp_path / "out")
    assert sweep_reading(sweep).startswith("Bits per label: median over seeds with its 95% interval")
    place.write(sweep.cells[0], {"status": "done", "result": {"bits": {"1-64": [2.6, None, 2.25]}}})
    head, row = sweep_table(sweep, place)
    assert dict(zip(head, row, strict=True)) == {
        "row": "text", "seeds": "3 of 3", "test in": "fp32", "training lengths": "not known", "1-64": "2.600 [2.250, inf]",
        "best at 1-64": "2.250", "≤ 2.5 at 1-64": "1 of 3 [0.06, 0.79]",
    }  # fmt: skip


def test_a_table_has_one_text(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'name = "text"\nmeasure = "bits"\nseeds_a_cell = 1\n[task]\nspec = "text"\n[train]\nseeds = [0, 1]\n'
        "[eval]\nlengths = [[1, 64]]\n"
    )
    sweep, place = read_sweep(path), SweepFolder(tmp_path / "out")
    for cell, words in zip(sweep.cells, ("windows; sha256 1", "windows; sha256 2"), strict=True):
        contract = {"words": words}
        place.write(cell, {"status": "done", "result": {"bits": {"1-64": [2.0]}}, "contract": contract})
    with pytest.raises(InputError, match=r"text_seeds_1: its text is not that of other cells .*sha256 2"):
        sweep_table(sweep, place)
