"""`train`: many seeds of one model side by side, exactly resumable; what it wrote is in a folder.

The folder has `settings.json`, `task.json`, `metrics.jsonl`, `checkpoint.safetensors`; at the end `result.json` and a
model folder for each seed, `seed-0`, .... Before anything is written or allocated, `_memory.py` asks whether the model and its
batches fit into the device's memory.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import torch

from ...foundation._errors import InputError
from ...foundation._files import is_folder, is_there, make_folder, path_of, read_json, shown_path, write_text
from ...foundation._text import html_table, one_line
from .._evaluation import check_size, length_text, longest_of
from .._records import record_of, without_format
from ..tasks._contract import TaskContract, read_contract
from ..tasks._task import TaskSettings
from ._experiment import (
    Experiment,
    TrainSettings,
    first_difference,
    read_settings,
    settings_as_json,
    settings_difference,
)
from ._files import Metrics
from ._logs import LoggedTraining, check_logs, open_logs
from ._memory import check_batch, check_memory
from ._processes import Processes
from ._run import RESULT_FORMAT, Progress, TrainingRun
from ._watching import TrainingWatcher


@dataclass(frozen=True, repr=False)
class TrainingOutcome:
    """How far training has come.

    Attributes:
        folder: the folder to which everything is written.
        step: the last step that was done, from 0 to `steps`.
        steps: the total number of steps.
        contract: the contract of the task.
        result: None until training is finished; then the contents of `result.json`.
        seconds: how long the steps took, over all parts of the training; None if that is not known.
    """

    folder: Path
    step: int
    steps: int
    contract: TaskContract
    result: dict[str, Any] | None
    seconds: float | None = None

    def rows(self) -> list[tuple[str, str]]:
        """How far training has come, as rows of a table.

        Returns:
            Labels and texts; after training they include the accuracy at each length for each seed.
        """
        rows = [
            ("folder", str(self.folder)),
            ("task", self.contract.task),
            ("steps", f"{self.step:,} of {self.steps:,}"),
        ]
        for length, figures in ({} if self.result is None else self.result["accuracy"]).items():
            texts = ["not asked" if x is None else f"{x:.4g}" for x in figures]
            rows.append((f"accuracy at {length}", ", ".join(texts)))
        return rows

    def __repr__(self) -> str:
        return one_line(self, f"{self.contract.task}, step {self.step:,} of {self.steps:,}, in {self.folder}")

    def _repr_html_(self) -> str:
        return html_table("Training", self.rows())


def train(
    experiment: Experiment,
    folder: str | Path,
    *,
    minutes: float | None = None,
    progress: Progress | None = None,
    logs: Sequence[str] = (),
    watcher: TrainingWatcher | None = None,
) -> TrainingOutcome:
    """Train to the last step or for some minutes. Another call with the same settings continues.

    An interrupt (Ctrl-C) ends the training after the step that runs, which is saved first, and is raised then with a note
    that says so. A second Ctrl-C does not wait.

    Args:
        experiment: the task, the model, the settings and the test (`read_experiment`, `experiment_from_dict`).
        folder: the folder to which everything is written; a new one, or one that the same experiment began.
        minutes: save and stop after about this many minutes; None to train to the last step.
        progress: called with the fraction of the steps that is done.
        logs: where the metrics go besides `metrics.jsonl`: `csv` (the file `metrics.csv`), `tensorboard`, `wandb`.
        watcher: told of steps, metrics and tests while the training runs.

    Returns:
        How far training has come; `result` is None until it is finished.

    Raises:
        InputError: `experiment` is not an experiment, the folder belongs to another one, the checkpoint is truncated, a file cannot
            be written, or a log is unknown or its package missing.
        LimitError: tests (`check_size`), the model (`check_memory`) or batches (`check_batch`) are too large for memory; then
            nothing is written.
    """
    started = time.monotonic()
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"`experiment` is of the type {type(experiment).__name__}: give what `read_experiment` or `experiment_from_dict` "
            "returns"
        )
    check_minutes(minutes)
    logs = check_logs(logs)
    place = path_of(folder, "folder")
    task = experiment.build_task()
    lengths, tests = experiment.train_lengths(task), experiment.test_lengths(task)
    contract = task.contract(lengths, tuple(length_text(x) for x in tests))
    config = experiment.config(task)
    settings = json.loads(json.dumps(experiment.whole_settings(config)))
    steps = experiment.train.steps
    with Processes(experiment.train.device, experiment.train.precision) as processes:
        if processes.sharded and len(experiment.train.seeds) > 1:
            raise InputError("train: FSDP shards one model: give one seed, or use DDP for several")
        check_memory(config, experiment.train, processes)
        check_batch(config, experiment.train, lengths[1], processes)
        check_size(config, len(experiment.train.seeds), experiment.eval.words, longest_of(tests))
        if processes.writes:
            _claim(place, settings, contract)
        processes.wait()  # the others would see a folder that is half made
        if (done := read_result(place)) is not None:
            return TrainingOutcome(place, steps, steps, contract, done)
        deadline = None if minutes is None else started + 60 * minutes
        watched = watcher if watcher is not None and processes.writes else TrainingWatcher()
        run: TrainingRun | None = None
        try:
            with _arithmetic(experiment.train):
                run = TrainingRun(experiment, task, config, processes)
                step = _train_steps(run, place, settings, deadline, progress, logs, watched, contract)
                result = run.finish(place, contract, watched.on_test) if step == steps else None
        except KeyboardInterrupt as stop:
            stop.add_note(_describe_kept(0 if run is None else run.saved, steps, place))
            raise
        seconds = None if run.budget is None else round(run.budget.seconds, 3)
        del run  # before the processes part
    return TrainingOutcome(place, step, steps, contract, result, seconds)


def _train_steps(
    run: TrainingRun,
    place: Path,
    settings: dict[str, Any],
    deadline: float | None,
    progress: Progress | None,
    logs: Sequence[str],
    watcher: TrainingWatcher,
    contract: TaskContract,
) -> int:
    """Train from the checkpoint; the step that is reached."""
    experiment, writes = run.experiment, run.processes.writes
    steps, tests = experiment.train.steps, experiment.test_lengths(run.task)

    def tell(share: float) -> None:
        watcher.on_step(round(share * steps))
        if progress is not None:
            progress(share)

    with run.stream():
        step = run.load(place, settings)
        metrics = Metrics(place / "metrics.jsonl" if writes else None, step)
        tested = [length_text(x) for x in tests] if experiment.train.eval_every else []
        about = LoggedTraining(place, experiment.train.seeds, settings, step, metrics.kept, tested)
        with closing(metrics), open_logs(logs if writes else (), about) as opened:
            metrics.listeners += [*(log.write for log in opened), watcher.on_metrics]
            watcher.begin(experiment.train.seeds, step, steps)
            try:
                return run.train(place, step, settings, deadline, tell, metrics, contract)
            except InputError as error:  # of a file that cannot be written
                raise InputError(f"{error}; {_describe_kept(run.saved, steps, place)}") from None


def _describe_kept(saved: int, steps: int, place: Path) -> str:
    """What an interrupted training leaves, and how it goes on."""
    if not saved:
        return f"no step is saved yet, {shown_path(place)} has the settings; the same command begins again"
    if saved == steps:
        return f"all {steps:,} steps are saved in {shown_path(place)}; the same command tests the models"
    return f"step {saved:,} of {steps:,} is saved in {shown_path(place)}; the same command continues"


def check_minutes(minutes: float | None) -> None:
    """`InputError` for a time that is negative, or no number; None is no limit."""
    if minutes is not None and not minutes >= 0:
        raise InputError(f"minutes is {minutes}: it must not be negative")


def read_result(folder: Path) -> dict[str, Any] | None:
    """What a finished training found; None where it is not finished."""
    path = folder / "result.json"
    if not is_there(path):
        return None
    result: dict[str, Any] = without_format(read_json(path), RESULT_FORMAT, str(path))
    missing = [k for k in ("seeds", "accuracy", "exact") if not isinstance(result, dict) or k not in result]
    if missing:
        raise InputError(f"{path}: not the result of a training: it has no {missing[0]!r}; remove it")
    record_of(result, _Result, str(path))
    return result


class _Result(msgspec.Struct):
    """What others read of a result: a number for each seed, by length; null where nothing was asked."""

    seeds: list[int]
    accuracy: dict[str, list[float | None]]
    exact: dict[str, list[float | None]]


def _claim(place: Path, settings: dict[str, Any], contract: TaskContract) -> None:
    """The folder is this training's: new, or begun with the same settings."""
    path = place / "settings.json"
    if is_there(path):
        if different := settings_difference(read_settings(path), settings):
            raise InputError(
                f"{place}: holds another training: {different}; choose another folder, or the same settings"
            )
        task = place / "task.json"
        # the same settings, another text; how close a task is to its source may be said in other words by another version
        before = read_contract(task) if is_there(task) else contract
        known = {
            **msgspec.to_builtins(TaskSettings(spec="")),
            **before.settings,
        }  # with entries of later versions
        before = replace(before, source=contract.source, fidelity=contract.fidelity, settings=known)
        if different := first_difference(asdict(before), asdict(contract)):
            raise InputError(f"{place}: its task is another now: {different}; choose another folder")
    elif is_there(place) and not is_folder(place):
        raise InputError(f"{shown_path(place)}: is a file, and a folder is needed; choose another name")
    elif is_there(place) and any(place.iterdir()):
        raise InputError(f"{place}: is not empty and holds no training; choose another folder")
    if not is_there(path):
        make_folder(place)
        write_text(path, settings_as_json(settings))
        contract.write(place / "task.json")


@contextmanager
def _arithmetic(settings: TrainSettings) -> Iterator[None]:
    """torch's switches, as they were again afterwards."""
    deterministic, precision = (
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )
    threads = torch.get_num_threads()
    if settings.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(settings.deterministic)
    torch.set_float32_matmul_precision("high" if settings.tf32 else "highest")
    torch.set_num_threads(settings.threads or threads)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(deterministic)
        torch.set_float32_matmul_precision(precision)
        torch.set_num_threads(threads)
