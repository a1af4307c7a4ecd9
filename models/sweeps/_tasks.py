"""A cell as a task: what runs it, somewhere, and how it ends; and tasks that are processes of this machine.

A task holds the cell's lock while it trains, as every other process does that shares the folder. So a cell that two tasks have is
trained by one of them, and a task that is killed leaves the cell to the next one, which goes on from the last checkpoint.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, Protocol

from ...foundation._errors import InputError
from ...foundation._interrupting import catch_signals
from ...foundation._workers import without_ctrl_c
from .._layer_names import is_layer_name, name_layer
from ._run import SweepFolder, train_cell
from ._sweep import Sweep, SweepCell

LEAVE_SECONDS = 30.0
"""How long tasks that are told to stop have to save their trainings."""


@dataclass(frozen=True)
class CellCall:
    """What a task needs to train a cell, in plain values, since it may run on another machine.

    Attributes:
        folder: the absolute path of the folder of results.
        key: the key of the cell in its `sweep.json`.
        minutes: after this time the training is saved and the task ends; None for no limit.
        logs: see `run_sweep`.
        layers: layers of users that may be imported, `package.module:Class`.
        cwd: the folder in which these are looked for first.
    """

    folder: str
    key: str
    minutes: float | None = None
    logs: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    cwd: str = ""


@dataclass(frozen=True)
class TaskEnd:
    """How a task ended.

    Attributes:
        status: `done` where the cell has a result, also a failed one; `stopped` where its time was over or it was told to stop;
            `held` where another process has the cell; `missing` where this machine lacks something; `lost` where the task was killed or
            broke down.
        lines: what it said.
    """

    status: Literal["done", "stopped", "held", "missing", "lost"]
    lines: tuple[str, ...] = field(default=())


class Task(Protocol):
    """A task that was submitted."""

    @property
    def name(self) -> str:
        """What the system that runs it calls it."""
        ...

    def end(self) -> TaskEnd | None:
        """How it ended; None while it waits or runs."""
        ...


class TaskSystem(Protocol):
    """What runs tasks: this machine, SLURM or Ray."""

    @property
    def at_once(self) -> int:
        """So many tasks at once, where the user names no number."""
        ...

    def submit(self, call: CellCall) -> Task:
        """Have a cell trained.

        Args:
            call: the cell.
        """
        ...

    def find(self, call: CellCall) -> Task | None:
        """The task of an earlier submission that still waits or runs; None for none.

        Args:
            call: the cell.
        """
        ...

    def leave(self, tasks: Sequence[Task]) -> str:
        """The submitting program ends: stop what cannot go on without it, and say what becomes of its tasks and how to go on.

        Args:
            tasks: those that have not ended, at least one.
        """
        ...

    def close(self) -> None:
        """No task runs any more."""
        ...


def call_of(cell: SweepCell, place: SweepFolder, minutes: float | None, logs: Sequence[str]) -> CellCall:
    """The call that trains a cell.

    Args:
        cell: the cell.
        place: the folder of results.
        minutes: after this time the training is saved; None for no limit.
        logs: see `run_sweep`.
    """
    family = str(cell.experiment.model.get("family", ""))
    layers = (family,) if is_layer_name(family) else ()
    return CellCall(str(place.path.resolve()), cell.key, minutes, tuple(logs), layers, os.getcwd())


def find_cell(sweep: Sweep, key: str) -> SweepCell | None:
    """The cell of a key, also of a setting that a row may choose.

    Args:
        sweep: the sweep.
        key: the key.
    """
    points = [point for row in sweep.rows for point in row.points]
    every = [*sweep.cells, *sweep.trials, *(cell for point in points for cell in point.cells)]
    return next((cell for cell in every if cell.key == key), None)


def run_cell(call: CellCall) -> TaskEnd:
    """Train a cell, here and now, unless it has a result or another process has it.

    A signal that ends the process, as a scheduler sends it, saves the training first.

    Args:
        call: the cell.

    Returns:
        How it ended.
    """
    said: list[str] = []
    with catch_signals():
        try:
            return _run_here(call, said)
        except KeyboardInterrupt as stop:
            said.append(f"{call.key}: {'; '.join(getattr(stop, '__notes__', ())) or 'interrupted'}")
            return TaskEnd("stopped", tuple(said))


def _run_here(call: CellCall, said: list[str]) -> TaskEnd:
    if call.layers:
        if Path(call.cwd).is_dir():
            os.chdir(call.cwd)
        for layer in call.layers:  # the user allowed them where the sweep was submitted
            name_layer(layer)
    place = SweepFolder(Path(call.folder))
    cell = find_cell(place.read(), call.key)
    if cell is None:
        raise InputError(f"{call.folder}: no cell {call.key}: the sweep has changed since; submit it again")
    lock = place.claim(cell)
    if lock is None:
        return TaskEnd(
            "held",
            (f"{cell.key}: in the hands of {place.claimant(cell) or 'another process, until just now'}",),
        )
    try:
        if place.result(cell) is not None:
            return TaskEnd("done")
        train_cell(cell, place, call.minutes, call.logs, said.append)
        if place.result(cell) is not None:
            return TaskEnd("done", tuple(said))
        stopped = any(line.startswith(f"{cell.key}: stopped") for line in said)
        return TaskEnd("stopped" if stopped else "missing", tuple(said))
    finally:
        lock.release()


class ProcessTask:
    """A process of this machine.

    Args:
        process: it, started.
        answer: where it says how it ended.
    """

    def __init__(self, process: Any, answer: Connection) -> None:
        self.process, self._answer = process, answer

    @property
    def name(self) -> str:
        """The process's number."""
        return f"process {self.process.pid}"

    def end(self) -> TaskEnd | None:
        """How it ended; None while it runs."""
        alive = self.process.is_alive()
        try:
            if self._answer.poll():
                found: TaskEnd = self._answer.recv()
                self.process.join()
                return found
        except EOFError:
            pass
        if alive:
            return None
        code = self.process.exitcode
        why = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"status {code}"
        return TaskEnd("lost", (f"{self.name} ended with {why}",))


class ProcessTasks:
    """Tasks that are processes of this machine; Ctrl-C is for the submitting program alone, which tells them to stop."""

    at_once = 1

    def submit(self, call: CellCall) -> ProcessTask:
        """Start a process.

        Args:
            call: the cell.
        """
        context = get_context("spawn")
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_answer_call, args=(sending, call), daemon=True)
        with without_ctrl_c():
            process.start()
        sending.close()
        return ProcessTask(process, receiving)

    def find(self, call: CellCall) -> None:
        """None: processes end with the program that started them."""
        return

    def leave(self, tasks: Sequence[Any]) -> str:
        """Tell all to stop, and wait until they have saved their trainings."""
        for task in tasks:
            task.process.terminate()
        for task in tasks:
            task.process.join(LEAVE_SECONDS)
        return say_stopped(len(tasks))

    def close(self) -> None:
        """Nothing is left."""


def say_stopped(count: int) -> str:
    """What became of tasks that were told to stop.

    Args:
        count: how many.
    """
    these = "1 running task was" if count == 1 else f"{count} running tasks were"
    return f"{these} told to stop and to save the training; the same command goes on from there"


def _answer_call(answer: Connection, call: CellCall) -> None:
    answer.send(run_cell(call))
    answer.close()
