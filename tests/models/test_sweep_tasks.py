"""Sweeps as tasks: rounds of submission, tasks that are lost, cells that others have, and the systems that run tasks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from mirrormata.foundation._errors import InputError, MissingExtraError
from mirrormata.foundation._extras import is_installed
from mirrormata.models.sweeps import _run as run_module
from mirrormata.models.sweeps import _submit as submit_module
from mirrormata.models.sweeps._run import SweepFolder
from mirrormata.models.sweeps._slurm import SlurmTasks
from mirrormata.models.sweeps._submit import TRIES, Rounds, submit_sweep
from mirrormata.models.sweeps._sweep import Sweep, read_sweep
from mirrormata.models.sweeps._tasks import (
    CellCall,
    ProcessTask,
    ProcessTasks,
    TaskEnd,
    call_of,
    find_cell,
    run_cell,
)
from mirrormata.tests.cli.command_line import Outcome

from .test_sweep import TEXT, written

TUNING = """
[tuning]
points = [{ "train.lr" = 1e-3 }, { "train.lr" = 3e-3 }]
seeds = [7]
share = 1.0
test_seed = 5
"""
End = Callable[[CellCall], TaskEnd]


class FakeTask:
    """Ends at the second look."""

    def __init__(self, system: FakeSystem, call: CellCall) -> None:
        self.system, self.call, self.looks = system, call, 0
        self.name = f"task {len(system.submitted)}"

    def end(self) -> TaskEnd | None:
        self.looks += 1
        if self.looks < 2:
            return None
        self.system.running -= 1
        return self.system.how(self.call)


class FakeSystem:
    """Runs each task in this process, or as `how` says."""

    at_once = 2

    def __init__(self, how: End = run_cell) -> None:
        self.how = how
        self.submitted: list[str] = []
        self.minutes: list[float | None] = []
        self.running = self.most = 0
        self.before: dict[str, FakeTask] = {}
        self.closed = False

    def submit(self, call: CellCall) -> FakeTask:
        self.submitted.append(call.key)
        self.minutes.append(call.minutes)
        self.running += 1
        self.most = max(self.most, self.running)
        return FakeTask(self, call)

    def find(self, call: CellCall) -> FakeTask | None:
        return self.before.pop(call.key, None)

    def leave(self, tasks: Sequence[Any]) -> str:
        return f"{len(tasks)} tasks are left"

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_module, "LOOK_SECONDS", 0.01)


@pytest.fixture
def small(tmp_path: Path) -> Sweep:
    return read_sweep(written(tmp_path))


@pytest.fixture
def place(tmp_path: Path, small: Sweep) -> SweepFolder:
    found = SweepFolder(tmp_path / "out")
    found.path.mkdir()
    found.keep(small)
    return found


def rounds(sweep: Sweep, place: SweepFolder, system: FakeSystem, **options: Any) -> tuple[bool, list[str]]:
    said: list[str] = []
    return Rounds(sweep, place, system, options.pop("workers", 2), say=said.append, **options).run(), said


def test_every_cell_is_submitted_once(small: Sweep, place: SweepFolder) -> None:
    system = FakeSystem()
    finished, said = rounds(small, place, system, workers=3)
    assert finished
    assert system.submitted == [cell.key for cell in small.cells]
    assert system.most == 3
    assert system.closed
    assert sum(": done in" in line for line in said) == len(small.cells)
    again = FakeSystem()
    assert rounds(small, place, again)[0]
    assert not again.submitted  # what is done is never submitted


def test_a_lost_task_leaves_its_cell_to_another(small: Sweep, place: SweepFolder) -> None:
    lost: list[str] = []

    def first_is_lost(call: CellCall) -> TaskEnd:
        if call.key not in lost:
            lost.append(call.key)
            return TaskEnd("lost", ("task 1 was killed",))
        return run_cell(call)

    system = FakeSystem(first_is_lost)
    finished, said = rounds(small, place, system)
    assert finished
    assert sorted(system.submitted) == sorted(2 * [cell.key for cell in small.cells])
    assert f"{small.cells[0].key}: task 1 was killed" in said
    assert f"{small.cells[0].key}: submitted again, after 1 lost task of at most 3" in said


def test_a_cell_whose_tasks_are_all_lost_is_given_up(small: Sweep, place: SweepFolder) -> None:
    system = FakeSystem(lambda call: TaskEnd("lost"))
    finished, said = rounds(small, place, system)
    assert not finished
    assert len(system.submitted) == TRIES * len(small.cells)
    assert sum("given up after 3 tasks" in line for line in said) == len(small.cells)


def test_a_training_that_comes_no_further_is_given_up(small: Sweep, place: SweepFolder) -> None:
    """One that stops at another step each time goes on; one that stops at the same step does not."""
    cells, steps = small.cells[:2], iter(range(100))

    def stopping(call: CellCall) -> TaskEnd:
        if call.key == cells[0].key:
            return TaskEnd("stopped", (f"{call.key}: stopped at step 1 of 3",))
        if call.key == cells[1].key and (step := next(steps)) < 6:
            return TaskEnd("stopped", (f"{call.key}: stopped at step {step} of 9",))
        return run_cell(call)

    system = FakeSystem(stopping)
    assert not rounds(small, place, system)[0]
    assert system.submitted.count(cells[0].key) == 1 + TRIES
    assert system.submitted.count(cells[1].key) == 7
    assert place.result(cells[1]) is not None


def test_a_cell_that_another_process_has_is_not_submitted(small: Sweep, place: SweepFolder) -> None:
    held = place.claim(small.cells[0])
    assert held is not None
    system = FakeSystem()
    finished, said = rounds(small, place, system)
    assert not finished
    assert small.cells[0].key not in system.submitted
    assert len(system.submitted) == len(small.cells) - 1
    assert sum("in the hands of" in line for line in said) == 1
    held.release()
    assert rounds(small, place, FakeSystem())[0]


def test_an_earlier_task_is_waited_for(small: Sweep, place: SweepFolder) -> None:
    system = FakeSystem()
    key = small.cells[1].key
    system.before[key] = FakeTask(system, call_of(small.cells[1], place, None, ()))
    finished, said = rounds(small, place, system)
    assert finished
    assert key not in system.submitted
    assert f"{key}: task 0, submitted before" in said


def test_cells_of_a_row_are_submitted_after_its_trials(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, TEXT + TUNING))
    place = SweepFolder(tmp_path / "tuned")
    place.path.mkdir()
    place.keep(sweep)
    system = FakeSystem()
    finished, _ = rounds(sweep, place, system, workers=4)
    assert finished
    for row in sweep.rows:
        trials = [system.submitted.index(point.trial.key) for point in row.points]
        cells = [system.submitted.index(cell.key) for cell in place.cells(sweep, row)]
        assert max(trials) < min(cells)
        assert all(find_cell(sweep, cell.key) is not None for cell in place.cells(sweep, row))
    assert len(system.submitted) == len(set(system.submitted))


def test_after_its_minutes_nothing_is_submitted(small: Sweep, place: SweepFolder) -> None:
    system = FakeSystem()
    assert not rounds(small, place, system, minutes=0)[0]
    assert not system.submitted
    assert rounds(small, place, system, minutes=5)[0]
    assert all(left is not None and 4 < left <= 5 for left in system.minutes)


def test_an_interrupt_says_what_becomes_of_the_tasks(small: Sweep, place: SweepFolder) -> None:
    def interrupted(call: CellCall) -> TaskEnd:
        raise KeyboardInterrupt

    system = FakeSystem(interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        rounds(small, place, system)
    assert stop.value.__notes__ == ["2 tasks are left"]
    assert rounds(small, place, FakeSystem())[0]


def test_a_task_trains_a_cell_or_says_why_not(
    small: Sweep, place: SweepFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = small.cells[0]
    call = call_of(cell, place, None, ())
    held = place.claim(cell)
    assert held is not None
    assert run_cell(call).status == "held"
    held.release()
    with pytest.raises(InputError, match="no cell unknown"):
        run_cell(replace(call, key="unknown"))
    stopped = run_cell(replace(call, minutes=0))
    assert stopped.status == "stopped"
    assert "stopped at step 1 of 3" in stopped.lines[-1]

    def lacking(*arguments: Any, **more: Any) -> Any:
        raise InputError("mlstm needs xlstm")

    def interrupting(*arguments: Any, **more: Any) -> Any:
        error = KeyboardInterrupt()
        error.add_note("step 2 is saved")
        raise error

    for train, status in ((lacking, "missing"), (interrupting, "stopped")):
        with monkeypatch.context() as patch:
            patch.setattr(run_module, "train", train)
            assert run_cell(call).status == status
    assert run_cell(call).status == "done"
    assert run_cell(call) == TaskEnd("done")  # there it is


def test_a_process_that_is_killed_is_lost(small: Sweep, place: SweepFolder) -> None:
    class Process:
        pid, exitcode = 12, -signal.SIGKILL

        def is_alive(self) -> bool:
            return False

    class Answer:
        def poll(self) -> bool:
            raise EOFError

    answer: Any = Answer()
    assert ProcessTask(Process(), answer).end() == TaskEnd("lost", ("process 12 ended with signal SIGKILL",))


def test_arguments(small: Sweep, place: SweepFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: Any = "cloud"
    with pytest.raises(InputError, match="`on`"):
        submit_sweep(small, place, wrong)
    with pytest.raises(InputError, match="`workers` 0"):
        submit_sweep(small, place, workers=0)
    with pytest.raises(InputError, match="`time_limit` 0"):
        submit_sweep(small, place, "slurm", time_limit=0)
    with pytest.raises(InputError, match="`partition` is for `on` slurm"):
        submit_sweep(small, place, "ray", partition="long")
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES"):
        submit_sweep(small, place, gpus=1)
    for system, package in (("slurm", "submitit"), ("ray", "ray")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(MissingExtraError, match=rf"needs {package}.*mirrormata\[{system}\]"):
                submit_sweep(small, place, "slurm" if system == "slurm" else "ray")


def test_the_command_refuses_options_of_other_systems(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    file, out = str(written(tmp_path)), str(tmp_path / "out")
    for options, reason in (
        (("--on", "cloud"), "--on cloud: it is local, slurm or ray"),
        (("--partition", "long"), "--partition is for slurm, and the sweep runs on local"),
        (("--gpus", "1"), "--gpus is for slurm or ray"),
        (("--on", "ray", "--time-limit", "5"), "--time-limit is for slurm"),
        (("--on", "slurm", "--slurm", "account"), "--slurm account: write key=value"),
    ):
        done = call("sweep", file, "-o", out, *options)
        assert done.status == 2
        assert reason in " ".join(done.err.split())


def test_parameters_of_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submitit = pytest.importorskip("submitit", reason="the extra slurm is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))  # without srun
    with pytest.raises(InputError, match="there is no SLURM here"):
        SlurmTasks(tmp_path)
    with pytest.raises(InputError, match="`slurm` cluster=cloud"):
        SlurmTasks(tmp_path, parameters={"cluster": "cloud"})
    with pytest.raises(InputError, match="`slurm` mem_gb=much: a number is needed"):
        SlurmTasks(tmp_path, parameters={"cluster": "local", "mem_gb": "much"})
    given: dict[str, Any] = {}

    class Executor:
        def __init__(self, folder: str, cluster: str) -> None:
            given["cluster"] = cluster

        def update_parameters(self, **parameters: Any) -> None:
            given.update(parameters)

    monkeypatch.setattr(submitit, "AutoExecutor", Executor)
    parameters = {"account": "us", "exclusive": "", "cpus_per_task": "4"}
    SlurmTasks(tmp_path, partition="long", time_limit=90, gpus=1, parameters=parameters)
    assert given == {
        "cluster": "slurm", "name": "mirrormata", "timeout_min": 90, "gpus_per_node": 1, "slurm_partition": "long", "cpus_per_task": 4,
        "slurm_additional_parameters": {"account": "us", "exclusive": True},
    }  # fmt: skip


def test_a_job_of_slurm_is_found_again_and_goes_on(
    small: Sweep, place: SweepFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With jobs that only seem to be there: the number is kept, a waiting job is found, and its time is a share of the limit."""
    submitit = pytest.importorskip("submitit", reason="the extra slurm is not installed")
    calls: list[CellCall] = []

    class Job:
        over = False

        def __init__(self, folder: str, job_id: str) -> None:
            self.job_id = job_id

        def done(self, force_check: bool = False) -> bool:
            return Job.over

    class Executor:
        def __init__(self, folder: str, cluster: str) -> None: ...

        def update_parameters(self, **parameters: Any) -> None: ...

        def submit(self, function: Any, call: CellCall) -> Job:
            calls.append(call)
            return Job("", "4711")

    monkeypatch.setattr(submitit, "AutoExecutor", Executor)
    monkeypatch.setattr(submitit, "SlurmJob", Job)
    call, system = call_of(small.cells[0], place, None, ()), SlurmTasks(place.path, time_limit=10)
    assert system.find(call) is None
    task = system.submit(call)
    assert calls[0].minutes == 9
    assert task.end() is None
    again = SlurmTasks(place.path).find(call)
    assert again is not None
    assert again.name == "job 4711"
    assert "scancel 4711" in system.leave([task])
    Job.over = True
    assert system.find(call) is None


def _kill_the_first(place: SweepFolder, killed: list[str]) -> None:
    """Kill the process that first has a cell, once it has trained a while and saved it."""
    until = time.monotonic() + 200
    while time.monotonic() < until:
        for path in sorted((place.path / "locks").glob("*")) if (place.path / "locks").is_dir() else []:
            text = path.read_text().split()
            saved = place.path / "runs" / path.name / "checkpoint.safetensors"
            if len(text) > 1 and saved.is_file() and int(text[1]) != os.getpid():
                os.kill(int(text[1]), signal.SIGKILL)
                killed.append(path.name)
                return
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize("on", ["local", "slurm", "ray"])
def test_a_worker_that_is_killed_leaves_its_cell_to_the_next(
    tmp_path: Path, on: Literal["local", "slurm", "ray"]
) -> None:
    """Four cells by two workers at once, of which one is killed: all are done, none twice, and the training of the killed one goes on."""
    package = {"local": "torch", "slurm": "submitit", "ray": "ray"}[on]
    if not is_installed(package):
        pytest.skip(f"{package} is not installed, which the extra {on} has")
    text = TEXT.replace("steps = 3", "steps = 150\ncheckpoint_every = 10").replace(
        "[[0, 1], [-1, 1]]", "[[-1, 1]]"
    )
    sweep, place = read_sweep(written(tmp_path, text)), SweepFolder(tmp_path / "out")
    assert len(sweep.cells) == 4
    said: list[str] = []
    killed: list[str] = []
    killer = threading.Thread(target=_kill_the_first, args=(place, killed))
    killer.start()
    parameters = {"cluster": "local"} if on == "slurm" else None
    assert submit_sweep(sweep, place, on, workers=2, parameters=parameters, say=said.append), said
    killer.join()
    (key,) = killed
    assert any(line.startswith(f"{key}: submitted again, after 1 lost task") for line in said), said
    for cell in sweep.cells:
        assert sum(line.startswith(f"{cell.key}: done in") for line in said) == 1, said
        assert (place.path / "cells" / f"{cell.key}.json").is_file()
        assert place.claimant(cell) is None
    lines = (place.path / "runs" / key / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == len(set(lines))


@pytest.mark.long
def test_processes_save_their_trainings_when_they_are_left(tmp_path: Path) -> None:
    text = TEXT.replace("steps = 3", "steps = 100_000\ncheckpoint_every = 50_000")
    sweep, place = read_sweep(written(tmp_path, text)), SweepFolder(tmp_path / "out")
    place.path.mkdir()
    place.keep(sweep)
    system = ProcessTasks()
    task = system.submit(call_of(sweep.cells[0], place, None, ()))
    metrics = place.path / "runs" / sweep.cells[0].key / "metrics.jsonl"
    until = time.monotonic() + 100
    while not metrics.is_file() and time.monotonic() < until:
        time.sleep(0.1)
    assert "1 running task was told to stop" in system.leave([task])
    end = task.end()
    assert end is not None
    assert end.status == "stopped"
    assert (metrics.parent / "checkpoint.safetensors").is_file()
