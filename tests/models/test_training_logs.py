"""The metrics of a training in a CSV file, in TensorBoard's event files, and in a run of Weights & Biases without a network."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError, MissingExtraError
from mirrormata.models.training._experiment import Experiment, experiment_from_dict
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._logs import LOGS, scalars
from mirrormata.models.training._run import TrainingRun
from mirrormata.models.training._train import train
from mirrormata.models.training._watching import TrainingWatcher


def experiment(**changes: Any) -> Experiment:
    """Twelve steps of two small models, tested after every sixth."""
    return experiment_from_dict(
        {
            "task": {"spec": "parity"},
            "model": {"width": 8, "heads": 1, "head_dim": 4, "value_dim": 4, "mlp": 0.0},
            "train": {
                "steps": 12, "batch": 2, "lengths": [3, 4], "seeds": [3, 5], "threads": 1, "device": "cpu", "log_every": 2,
                "eval_every": 6, "checkpoint_every": 100, **changes,
            },
            "eval": {"lengths": [4], "words": 4},
        },
        "test",
    )  # fmt: skip


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def stopped_at(monkeypatch: pytest.MonkeyPatch, step: int, folder: Path, logs: list[str]) -> None:
    """Train up to a step, and no further."""
    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", lambda self, reached, *_: reached == step)
        train(experiment(), folder, minutes=60, logs=logs)


def test_the_csv_file_has_the_figures_of_the_metrics(tmp_path: Path) -> None:
    train(experiment(), tmp_path, logs=["csv", "csv"])
    lines, rows = read_metrics(tmp_path / "metrics.jsonl"), rows_of(tmp_path)
    assert len(rows) == 2 * len(lines) == 16
    for i, line in enumerate(lines):
        for j, seed in enumerate((3, 5)):
            row = rows[2 * i + j]
            assert (row["step"], row["seed"]) == (str(line["step"]), str(seed))
            if "test" in line:
                assert float(row["test 4"]) == line["test"]["4"][j]
                assert row["loss"] == ""
            else:
                for name in ("loss", "accuracy", "gradient_norm"):
                    assert float(row[name]) == line[name][j]
                assert float(row["learning_rate"]) == line["lr"]
                assert row["test 4"] == ""


def test_the_csv_file_is_whole_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_at(monkeypatch, 7, tmp_path, [])  # the file is asked for later, and has the steps before
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 9, "loss": [1, 1]}\n')  # beyond the checkpoint
    train(experiment(), tmp_path, logs=["csv"])
    steps = [int(row["step"]) for row in rows_of(tmp_path) if row["loss"]]
    assert steps == [x for x in range(2, 13, 2) for _ in (3, 5)]


def test_figures_have_names() -> None:
    line = {
        "step": 2,
        "lr": 0.5,
        "tokens": 4,
        "loss": [1.0, 2.0],
        "accuracy": [0.5, 1.0],
        "gradient_norm": [3.0],
    }
    assert dict(scalars(line, (3, 5))) == {
        "loss/seed-3": 1.0, "loss/seed-5": 2.0, "accuracy/seed-3": 0.5, "accuracy/seed-5": 1.0, "gradient_norm/seed-3": 3.0,
        "learning_rate": 0.5, "letters": 4.0,
    }  # fmt: skip
    assert dict(scalars({"step": 2, "test": {"4": [0.25, None]}}, (3, 5))) == {"accuracy_4/seed-3": 0.25}


def test_unknown_logs_and_missing_packages_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="`logs` excel: it is one of csv, tensorboard, wandb"):
        train(experiment(), tmp_path / "run", logs=["excel"])
    for name in LOGS:
        if name != "csv":
            monkeypatch.setitem(sys.modules, name, None)
            with pytest.raises(
                MissingExtraError, match=rf"the log `{name}` needs {name}, .* 'mirrormata\[{name}\]'"
            ):
                train(experiment(), tmp_path / "run", logs=[name])
    assert not (tmp_path / "run").exists()


def test_tensorboard_reads_the_event_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard", reason="the package tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    stopped_at(monkeypatch, 7, tmp_path, ["tensorboard"])
    train(experiment(), tmp_path, logs=["tensorboard"])
    events: Any = EventAccumulator(str(tmp_path / "tensorboard"), purge_orphaned_data=True)
    events.Reload()
    lines = [line for line in read_metrics(tmp_path / "metrics.jsonl") if "loss" in line]
    for j, seed in enumerate((3, 5)):
        found = [(e.step, e.value) for e in events.Scalars(f"loss/seed-{seed}")]
        assert [step for step, _ in found] == [line["step"] for line in lines]
        assert [value for _, value in found] == pytest.approx([line["loss"][j] for line in lines])
    assert [e.step for e in events.Scalars("accuracy_4/seed-3")] == [6, 12]


def test_a_run_of_wandb_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the package wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    train(experiment(), tmp_path / "run", logs=["wandb"])
    name = (tmp_path / "run/wandb-run.txt").read_text().strip()
    assert list(tmp_path.rglob(f"offline-run-*{name}/run-{name}.wandb"))


def test_who_watches_is_told_of_steps_metrics_and_the_test(tmp_path: Path) -> None:
    told: list[tuple[str, Any]] = []

    class Watcher(TrainingWatcher):
        def begin(self, seeds: Any, step: int, steps: int) -> None:
            told.append(("begin", (tuple(seeds), step, steps)))

        def on_step(self, step: int) -> None:
            told.append(("step", step))

        def on_metrics(self, line: dict[str, Any]) -> None:
            told.append(("metrics", line["step"]))

        def on_test(self, share: float) -> None:
            told.append(("test", share))

    train(experiment(), tmp_path, watcher=Watcher())
    assert told[0] == ("begin", ((3, 5), 0, 12))
    assert [value for kind, value in told if kind == "step"] == list(range(1, 13))
    assert [value for kind, value in told if kind == "metrics"] == [2, 4, 6, 6, 8, 10, 12, 12]
    assert told[-1] == ("test", 1.0)
