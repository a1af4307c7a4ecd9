"""Sweeps: rows and grids, claims, results that stay, tables that show what failed and what is missing."""

from __future__ import annotations

import errno
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models.sweeps import _run as sweep_module
from mirrormata.models.sweeps._run import SweepFolder, run_sweep
from mirrormata.models.sweeps._sweep import Sweep, read_sweep, sweep_as_json, sweep_from_json
from mirrormata.models.sweeps._table import (
    curves_chart,
    draw_sweep,
    sweep_caption,
    sweep_json,
    sweep_reading,
    sweep_table,
)
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import Task, TaskSettings
from mirrormata.models.training import _experiment as train_file
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.project.documented_pages import ROOT

TEXT = """
name = "small"
caption = "The group S_3."
seeds_a_cell = 2
good = 0.3
[task]
spec = "S3"
[model]
width = 16
heads = 2
head_dim = 8
value_dim = 8
[train]
steps = 3
batch = 4
lengths = [4, 6]
seeds = [0, 1, 2]
threads = 1
device = "cpu"
[eval]
lengths = [6]
words = 8
[grid]
"model.range" = [[0, 1], [-1, 1]]
[[rows]]
row = "one factor"
published = "fails"
[[rows]]
row = "two factors"
"model.householders" = 2
"""


def written(folder: Path, text: str = TEXT) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Sweep:
    return read_sweep(written(tmp_path))


def test_rows_and_grid_make_cells(small: Sweep) -> None:
    assert [row.name for row in small.rows] == [
        f"{factors}, range {values}"
        for factors in ("one factor", "two factors")
        for values in ("[0,1]", "[-1,1]")
    ]
    assert [cell.experiment.train.seeds for cell in small.rows[0].cells] == [(0, 1), (2,)]
    assert len({cell.key for cell in small.cells}) == 8
    assert [cell.row for cell in small.cells[:4]] == [row.name for row in small.rows]  # each row begins first
    assert small.rows[3].cells[0].experiment.model["householders"] == 2
    assert small.rows[2].cells[0].experiment.model["range"] == [0, 1]


def test_the_task_of_a_row_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def counted(settings: TaskSettings) -> Task:
        built.append(settings.spec)
        return task_from_settings(settings)

    monkeypatch.setattr(train_file, "task_from_settings", counted)
    assert len(read_sweep(written(tmp_path)).cells) == 8
    assert built == ["S3"] * 4


def test_a_sweep_goes_on_where_it_stopped(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SweepFolder(tmp_path / "out")
    assert not run_sweep(small, place, minutes=0)
    assert [row[2:4] for row in sweep_table(small, place)[1:]] == [["fp32", "not run"]] * 4
    cells = small.cells
    held = place.claim(cells[0])  # another process has it
    assert held is not None
    assert place.claim(cells[0]) is None
    said: list[str] = []
    assert not run_sweep(small, place, say=said.append)
    assert f"in the hands of {platform.node()} {os.getpid()} " in said[0]
    table = sweep_table(small, place)
    assert table[1][:2] == ["one factor, range [0,1]", "1 of 3, running"]
    assert table[2][1] == "3 of 3"
    assert table[1][-1] == "fails"
    monkeypatch.setattr(sweep_module, "train", None)  # what is there is not trained again
    assert not run_sweep(small, place)
    monkeypatch.undo()
    held.release()
    assert run_sweep(small, place)
    assert [row[1] for row in sweep_table(small, place)[1:]] == ["3 of 3"] * 4
    assert all(place.claimant(cell) is None for cell in cells)


def finished(*accuracy: list[float | None]) -> dict[str, Any]:
    """A cell's result: accuracies of each seed at 1, 2 and 4 letters; at 3 nothing is asked."""
    curve = {
        "positions": [1, 2, 3, 4], "accuracy": [[*a[:2], None, a[2]] for a in accuracy], "exact": [[0.5] * 4 for _ in accuracy],
    }  # fmt: skip
    return {"status": "done", "result": {"seeds": list(range(len(accuracy))), "chance": 0.2, "curve": curve}}


def test_a_picture_has_the_median_of_all_seeds() -> None:
    cells = [finished([1.0, 0.6, 0.2], [1.0, 0.7, None]), finished([0.6, 1.0, 0.4])]  # two seeds and one
    rows = [("one factor", [cell["result"] for cell in cells]), ("two factors", [])]
    scaled = curves_chart("S_3", "scaled_accuracy", rows, 6, "here")
    assert scaled is not None
    [line] = scaled.series
    assert (line.name, line.x) == ("one factor (3 seeds)", (1, 2, 4))
    assert line.y == pytest.approx((1.0, 0.625, 0.125))  # of 1, .7 and .3 where .2 is chance
    exact = curves_chart("S_3", "exact", rows, 6, "here")
    assert exact is not None
    assert exact.series[0].y == (0.5,) * 4
    assert [(mark.axis, mark.at) for mark in exact.marks] == [("x", 6)]
    assert curves_chart("S_3", "bits", rows[1:], 6, "here") is None


def test_rows_that_are_finished_are_drawn(small: Sweep, tmp_path: Path) -> None:
    place = SweepFolder(tmp_path / "out")
    assert not draw_sweep(small, place, tmp_path / "curves.png")
    assert not (tmp_path / "curves.png").exists()
    place.write(small.rows[0].cells[0], finished([1.0, 0.6, 0.2], [1.0, 0.7, 0.2]))
    place.write(small.rows[1].cells[0], {"status": "failed", "error": "no memory"})
    place.write(small.rows[2].cells[1], finished([1.0, 0.6, 0.2]))
    for end, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        assert draw_sweep(small, place, tmp_path / f"curves.{end}")
        assert (tmp_path / f"curves.{end}").read_bytes().startswith(start)
    drawn = (tmp_path / "curves.svg").read_text()
    names = [f"{row.name} ({seeds} seeds)" for row, seeds in zip(small.rows, (2, 0, 1, 0), strict=True)]
    assert [name in drawn for name in names] == [True, False, True, False]
    assert drawn.count(" seeds)<") == 2


def test_other_pictures_are_refused_before_the_training(call: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TEXT)
    outcome = call("sweep", str(tmp_path / "s.toml"), "-o", str(tmp_path / "o"), "--picture", "curves.gif")
    assert outcome.status == 2
    assert outcome.err == "error: --picture curves.gif: pictures of sweeps are .png, .pdf or .svg\n"
    assert not (tmp_path / "o").exists()


def test_cells_of_others_are_looked_at_again(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SweepFolder(tmp_path / "out")
    held = place.claim(small.cells[0])
    assert held is not None
    trained: list[str] = []

    def noted(cell: Any, place: SweepFolder, minutes: Any, logs: Any, say: Any) -> None:
        trained.append(cell.key)
        held.release()  # the other process is gone by now
        place.write(cell, {"status": "done"})

    monkeypatch.setattr(sweep_module, "train_cell", noted)
    assert run_sweep(small, place)
    keys = [cell.key for cell in small.cells]
    assert trained == [*keys[1:], keys[0]]


def test_a_cell_finished_just_before_the_lock_is_not_trained_again(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, claim = SweepFolder(tmp_path / "out"), SweepFolder.claim

    def late(folder: SweepFolder, cell: Any) -> Any:
        folder.write(cell, {"status": "done"})  # by another process, after this one looked
        return claim(folder, cell)

    def forbidden(*_: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(SweepFolder, "claim", late)
    monkeypatch.setattr(sweep_module, "train_cell", forbidden)
    assert run_sweep(small, place)


def test_a_file_system_without_locks_is_refused(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", lacking)
    with pytest.raises(InputError, match=r"cannot be locked \(No locks available\)"):
        run_sweep(small, SweepFolder(tmp_path / "out"))


def _sweep(path: Path, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mirrormata", "sweep", str(path), "-o", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _trained(errors: str) -> list[str]:
    """Cells that a process began to train, in order."""
    return [line.split(":")[0] for line in errors.splitlines() if line.endswith(": training")]


@pytest.mark.long
def test_two_processes_divide_the_cells(small: Sweep, tmp_path: Path) -> None:
    slow = written(tmp_path, TEXT.replace("steps = 3", "steps = 60"))
    both = [_sweep(slow, tmp_path / "out") for _ in range(2)]
    first, second = (_trained(process.communicate(timeout=300)[1]) for process in both)
    keys = sorted(cell.key for cell in read_sweep(slow).cells)
    assert sorted(first + second) == keys  # each once
    assert first  # and each process some
    assert second
    assert sorted(path.stem for path in (tmp_path / "out/cells").iterdir()) == keys


@pytest.mark.long
def test_a_killed_process_leaves_its_cell_to_another(tmp_path: Path) -> None:
    slow = written(tmp_path, TEXT.replace("steps = 3", "steps = 150\ncheckpoint_every = 20"))
    sweep, place = read_sweep(slow), SweepFolder(tmp_path / "out")
    both = [_sweep(slow, place.path) for _ in range(2)]
    while all(process.poll() is None for process in both):
        holders = [text.split()[1] for cell in sweep.cells if (text := place.claimant(cell))]
        if {str(process.pid) for process in both} <= set(holders):
            break
        time.sleep(0.02)
    both[0].kill()
    killed, survived = (_trained(process.communicate(timeout=300)[1]) for process in both)
    assert (both[0].returncode, both[1].returncode) == (-signal.SIGKILL, 0)
    assert killed[-1] in survived  # taken over, and nothing else that was done
    assert sorted([*killed[:-1], *survived]) == sorted(cell.key for cell in sweep.cells)
    metrics = place.path / "runs" / killed[-1] / "metrics.jsonl"
    steps = [json.loads(line)["step"] for line in metrics.read_text().splitlines()]
    assert steps == sorted(set(steps))
    assert all(place.result(cell) is not None for cell in sweep.cells)


def test_failed_seeds_stay_in_the_table(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SweepFolder(tmp_path / "out")
    from mirrormata.models.training._train import train

    def failing(experiment: Any, *arguments: Any, **more: Any) -> Any:
        if experiment.train.seeds == (2,):
            raise RuntimeError("CUDA out of memory\nmore")
        return train(experiment, *arguments, **more)

    monkeypatch.setattr(sweep_module, "train", failing)
    assert run_sweep(small, place)
    table = sweep_table(small, place)
    assert table[1][1] == "2 of 3, 1 failed"
    assert " of 3 [" in table[1][-2]  # of all seeds, the failed one included
    found = place.result(small.rows[0].cells[1])
    assert found is not None
    assert (found["status"], found["reason"]) == ("failed", "RuntimeError: CUDA out of memory")


def test_what_is_missing_here_leaves_a_cell_without_result(
    small: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*arguments: Any, **more: Any) -> Any:
        raise InputError("mlstm needs xlstm: install it")

    monkeypatch.setattr(sweep_module, "train", lacking)
    said: list[str] = []
    place = SweepFolder(tmp_path / "out")
    assert not run_sweep(small, place, say=said.append)
    assert sum(line.endswith("not run: mlstm needs xlstm: install it") for line in said) == 8
    assert [row[3] for row in sweep_table(small, place)[1:]] == ["not run"] * 4


def test_figures_of_the_table(small: Sweep, tmp_path: Path) -> None:
    place = SweepFolder(tmp_path / "out")
    for cell, values in zip(small.rows[0].cells, ([0.2, 0.9], [0.4]), strict=True):
        place.write(cell, {"status": "done", "result": {"accuracy": {"6": values}}})
    assert sweep_table(small, place)[1][2:] == [
        "fp32", "0.400, 2 of 3", "0.400 [0.200, 0.900]", "0.900", "2 of 3 [0.21, 0.94]", "fails",
    ]  # fmt: skip


def test_a_line_for_each_arithmetic(small: Sweep, tmp_path: Path) -> None:
    place = SweepFolder(tmp_path / "out")
    for cell, values in zip(small.rows[0].cells, ([0.2, 0.9], [0.4]), strict=True):
        trained = {"lengths": [4, 6], "accuracy": [0.0] * len(values)}
        test = {"precision": "fp32", "accuracy": {"6": values}, "trained": trained}
        other = {**test, "precision": "bf16", "accuracy": {"6": [0.1] * len(values)}}
        budget = {"labels": [70] * len(values)}
        result = {**test, "other_precisions": [other], "training": {"budget": budget}}
        place.write(cell, {"status": "done", "result": result, "seconds": 1800.0})
    head, first, second = sweep_table(small, place)[:3]
    assert head[:4] == ["row", "seeds", "test in", "training lengths"]
    assert first[2:5] == ["fp32", "0.000, 0 of 3: not learned", "0.400 [0.200, 0.900]"]
    assert second == [
        "",
        "",
        "bf16",
        "0.000, 0 of 3: not learned",
        "0.100 [0.100, 0.100]",
        "0.100",
        "0 of 3 [0.00, 0.56]",
        "",
    ]
    caption = sweep_caption(small, place)
    assert "in every row, 70 labels" in caption
    assert caption.endswith("took 1.00 hours.")


def test_results_of_the_first_version_were_tested_as_they_were_trained(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, TEXT.replace("[train]", '[train]\nprecision = "bf16"')))
    place = SweepFolder(tmp_path / "out")
    for cell in sweep.rows[0].cells:
        seeds = len(cell.experiment.train.seeds)
        place.write(cell, {"status": "done", "result": {"accuracy": {"6": [1.0] * seeds}}})
    assert [row[2] for row in sweep_table(sweep, place)[1:4]] == ["bf16", "fp32", "bf16"]


TUNED = """
[tuning]
points = [{"train.lr" = 1e-3}, {"train.lr" = 1e-2, "train.weight_decay" = 0.0}]
seeds = [7]
share = 0.5
[task]"""


def test_every_row_chooses_one_of_the_same_settings(tmp_path: Path) -> None:
    sweep, place = (
        read_sweep(written(tmp_path, TEXT.replace("[task]", TUNED, 1))),
        SweepFolder(tmp_path / "out"),
    )
    assert len(sweep.trials) == 8
    first = sweep.rows[0]
    assert [point.name for point in first.points] == ["lr 0.001", "lr 0.01, weight_decay 0.0"]
    trial = first.points[1].trial.experiment
    assert (trial.train.seeds, trial.train.steps, trial.train.lr, trial.eval.seed) == ((7,), 2, 1e-2, 1)
    assert {cell.experiment.train.lr for cell in first.points[1].cells} == {1e-2}
    assert first.points[1].cells[0].experiment.eval.seed == 0
    assert place.chosen(sweep, first) is None
    trials = [point.trial.key for row in sweep.rows for point in row.points]
    assert [cell.key for cell in place.wanted(sweep)] == trials
    for value, point in zip((0.3, 0.5), first.points, strict=True):
        place.write(point.trial, {"status": "done", "result": {"accuracy": {"6": [value]}}})
    assert place.chosen(sweep, first) is first.points[1]
    second = sweep.rows[1]
    for within, point in zip((0.5, 0.4), second.points, strict=True):  # equal beyond the training lengths
        trained = {"lengths": [4, 6], "accuracy": [within]}
        place.write(point.trial, {"status": "done", "result": {"accuracy": {"6": [0.1]}, "trained": trained}})
    assert place.chosen(sweep, second) is second.points[0]
    assert place.cells(sweep, first) == first.points[1].cells
    cells = [cell.key for cell in first.points[1].cells]
    assert [cell.key for cell in place.wanted(sweep)][:5] == [*trials[:2], *cells, trials[2]]
    assert sweep_from_json(sweep_as_json(sweep), "x") == sweep
    assert run_sweep(sweep, place)
    table = sweep_table(sweep, place)
    assert table[0][2] == "chosen"
    assert table[1][1:3] == ["3 of 3", "lr 0.01, weight_decay 0.0"]
    assert table[2][2] == "lr 0.001 (by accuracy)"
    assert "chose one of the same 2 settings (lr 0.001; lr 0.01, weight_decay 0.0)" in sweep_caption(
        sweep, place
    )
    document = sweep_json(sweep, place)
    assert document["rows"][0]["chosen"] == "lr 0.01, weight_decay 0.0"
    assert len(document["rows"][0]["trials"]) == 2


def test_a_failed_trial_is_not_chosen(tmp_path: Path) -> None:
    sweep, place = (
        read_sweep(written(tmp_path, TEXT.replace("[task]", TUNED, 1))),
        SweepFolder(tmp_path / "out"),
    )
    row = sweep.rows[0]
    place.write(row.points[0].trial, {"status": "failed", "reason": "no memory"})
    place.write(row.points[1].trial, {"status": "done", "result": {"accuracy": {"6": [0.01]}}})
    assert place.chosen(sweep, row) is row.points[1]


def test_the_caption_has_the_budget(tmp_path: Path, small: Sweep) -> None:
    caption = sweep_caption(small)
    assert "3 steps of 4 words of 4-6 letters, about 60 tokens a seed, in every row." in caption
    assert "how many reach 0.3" in sweep_reading(small)
    sourced = read_sweep(written(tmp_path, TEXT.replace("good", 'source = "9 labels"\ngood', 1)))
    assert "in every row; source: 9 labels." in sweep_caption(sourced)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', 'name = "small"\ncolour = 1', "colour is no entry"),
        ('"model.householders" = 2', '"train.steps" = 4', "a table needs the same"),
        ('"model.householders" = 2', '"train.lengths" = [4, 7]', "a table needs the same"),
        ('"model.householders" = 2', '"householders" = 2', "'householders': write section.entry"),
        ('row = "two factors"', 'row = "one factor"', "two rows are called 'one factor, range [0,1]'"),
        ('row = "two factors"', 'row = "one_factor"', "rename one"),
        ('"model.householders" = 2', '"train.colour" = 2', "train.colour is no entry"),
        (
            '"model.householders" = 2',
            '"model.family" = "deltanet"',
            "row 'two factors, range [0,1]': model: family",
        ),
        ('spec = "S3"', 'spec = "S3 S3"', "row 'one factor, range [0,1]': "),
        ("[task]", "[task", "not TOML"),
        ("seeds_a_cell = 2", "seeds_a_cell = -1", "seeds_a_cell is -1"),
        ("seeds_a_cell = 2", 'seeds_a_cell = 2\nmeasure = "bits"', "measure bits is for text"),
        ('"model.range" = [[0, 1], [-1, 1]]', '"model.range" = []', "[grid] has no values"),
        ("[task]", TUNED.replace("[7]", "[2]"), "both must differ from those of the row"),
        ("[task]", TUNED.replace("seeds", "test_seed = 0\nseeds"), "both must differ from those of the row"),
        ("[task]", TUNED.replace(", {", "] # {"), "at least two points"),
        ("[task]", TUNED.replace("0.5", "1.5"), "tuning.share is 1.5"),
        (
            'good = 0.3\n[task]\nspec = "S3"',
            'measure = "exact"\n[task]\nspec = "S3"\nsupervision = "whole_words"',
            "measure exact is for labels after every prefix",
        ),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_sweep(written(tmp_path, TEXT.replace(old, new)))
    assert message in str(refusal.value)


def test_results_of_other_settings_are_refused(small: Sweep, tmp_path: Path) -> None:
    place = SweepFolder(tmp_path / "out")
    place.write(small.cells[0], {"status": "done"})
    other = read_sweep(written(tmp_path, TEXT.replace("steps = 3", "steps = 5")))
    with pytest.raises(InputError, match=r"of other settings: train\.steps was 3 and is 5"):
        place.result(other.cells[0])


def test_the_command(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    path = written(tmp_path)
    empty = call("sweep", str(path), "-o", str(tmp_path / "out"), "--table", "--json")
    assert (empty.status, empty.out.count('"not run"')) == (
        1,
        24,
    )  # in the table, four a row, and eight cells
    assert "not run" in call("sweep", str(path), "-o", str(tmp_path / "out"), "--table").out
    done = call("sweep", str(path), "-o", str(tmp_path / "out"), "--json")
    assert done.status == 0
    assert [len(row["cells"]) for row in done.json["rows"]] == [2] * 4
    assert done.json["rows"][0]["cells"][0]["contract"]["task"] == "S3"
    for row in done.json["rows"]:
        for cell in row["cells"]:
            trained = cell["result"]["training"]
            assert (row["parameters"], row["state"]) == (trained["parameters"], trained["state"])
            assert row["parameters"] > row["state"] > 0
    assert "torch" in done.json["rows"][0]["cells"][0]["machine"]


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks/sweeps").glob("*.toml")), ids=lambda p: p.stem)
def test_committed_sweeps_can_be_read(path: Path) -> None:
    found = read_sweep(path)
    for row in found.rows:
        experiment = row.cells[0].experiment
        task = experiment.build_task()
        experiment.config(task)
        json.dumps(experiment.as_json())
    assert sweep_caption(found)
