"""`submit_sweep`: every cell of a sweep as a task of this machine, of SLURM or of Ray, submitted in rounds.

What has a result is never submitted. With a choice of settings, the cells of a row are known only after its trials, so that the list of
cells is looked at again whenever a task has ended. A task that is lost leaves its cell to another one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from ...foundation._arguments import require_choice, require_count, require_number, require_optional_count
from ...foundation._errors import InputError
from ...foundation._files import make_folder
from ...foundation._text import count_noun
from ..training._logs import check_logs
from ..training._train import check_minutes
from ._ray import RayTasks
from ._run import Say, SweepFolder
from ._slurm import TIME_LIMIT, SlurmTasks
from ._sweep import Sweep
from ._tasks import ProcessTasks, Task, TaskEnd, TaskSystem, call_of

SYSTEMS = ("local", "slurm", "ray")
TRIES = 3
"""So often is a cell submitted whose task is lost, or lacks something."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at the tasks."""
SAY_SECONDS = 60.0
"""Seconds after which a line says how far the sweep is, while nothing ends."""


def submit_sweep(
    sweep: Sweep,
    place: SweepFolder,
    on: Literal["local", "slurm", "ray"] = "local",
    *,
    workers: int | None = None,
    minutes: float | None = None,
    logs: Sequence[str] = (),
    partition: str | None = None,
    time_limit: float = TIME_LIMIT,
    gpus: int = 0,
    parameters: Mapping[str, str] | None = None,
    say: Say = lambda _: None,
) -> bool:
    """Train each cell of a sweep as a task of its own, several at once, and gather the results in the folder.

    A task that is killed leaves its cell to be submitted again, up to three times, and the training goes on from its last checkpoint. A cell
    that has a result, or that another process has, is not submitted. Ctrl-C stops tasks of this machine and of Ray, which save their
    trainings; jobs of SLURM go on, and the next call waits for them.

    Args:
        sweep: the cells.
        place: the folder of results, which all machines share.
        on: `local` for processes of this machine, `slurm` for jobs of SLURM (the extra `slurm`), `ray` for tasks of Ray (the extra `ray`).
        workers: how many tasks may wait or run at once, at least 1; None for 1 process, 16 jobs, or as many tasks as the Ray cluster has
            cores (GPUs, with `gpus`).
        minutes: after this time nothing more is submitted, and each training is saved and stopped; None for no limit.
        logs: where the metrics of each cell go besides `metrics.jsonl` in its folder `runs/KEY`; see `train`.
        partition: of SLURM; None for the cluster's own choice.
        time_limit: minutes of a job of SLURM, above 0; a training that is longer is saved, and goes on in another job.
        gpus: GPUs of each task of SLURM or Ray, 0 or more.
        parameters: of SLURM: `cpus_per_task`, `mem_gb`, or options of sbatch such as `account`; `cluster`, with `local`, tries it on this machine.
        say: called with a line about each event.

    Returns:
        Whether all cells are finished now.

    Raises:
        InputError: the folder holds results of other settings, its file system has no locks, or there is no such system here.
        MissingExtraError: the extra is not installed.
    """
    require_choice("on", on, SYSTEMS)
    require_optional_count("workers", workers, 1)
    require_count("gpus", gpus, 0)
    if require_number("time_limit", time_limit, "a number of minutes above 0") == 0:
        raise InputError("`time_limit` 0: it is a number of minutes above 0")
    if on != "slurm" and (partition is not None or parameters):
        name = "partition" if partition is not None else "slurm"
        raise InputError(f"`{name}` is for `on` slurm, and this sweep runs on {on}: leave it out")
    if on == "local" and gpus:
        raise InputError(
            "`gpus` is for `on` slurm or ray: on this machine, CUDA_VISIBLE_DEVICES says which GPUs are used"
        )
    check_minutes(minutes)
    logs = check_logs(list(logs))
    make_folder(place.path)
    place.keep(sweep)
    system: TaskSystem
    if on == "slurm":
        system = SlurmTasks(
            place.path, partition=partition, time_limit=time_limit, gpus=gpus, parameters=parameters
        )
    elif on == "ray":
        system = RayTasks(gpus, workers)
    else:
        system = ProcessTasks()
    rounds = Rounds(sweep, place, system, workers or system.at_once, minutes, logs, say)
    return rounds.run()


class Rounds:
    """The submission of a sweep: which tasks run, and how often each cell was tried.

    Args:
        sweep: the cells.
        place: the folder of results.
        system: what runs the tasks.
        workers: how many may wait or run at once.
        minutes: after this time nothing is submitted; None for no limit.
        logs: see `run_sweep`.
        say: called with a line about each event.
    """

    def __init__(
        self,
        sweep: Sweep,
        place: SweepFolder,
        system: TaskSystem,
        workers: int,
        minutes: float | None = None,
        logs: Sequence[str] = (),
        say: Say = lambda _: None,
    ) -> None:
        self.sweep, self.place, self.system, self.workers = sweep, place, system, workers
        self.logs, self.say = logs, say
        self._deadline = None if minutes is None else time.monotonic() + 60 * minutes
        self._running: dict[str, Task] = {}
        self._tries: dict[str, int] = {}
        self._stopped: dict[str, tuple[str, ...]] = {}
        self._said: set[str] = set()

    def run(self) -> bool:
        """Submit until nothing is left to submit and all tasks have ended; whether all cells are finished."""
        try:
            self._fill()
            told = time.monotonic()
            while self._running:
                time.sleep(LOOK_SECONDS)
                if self._collect():
                    self._fill()
                    told = time.monotonic()
                elif time.monotonic() - told >= SAY_SECONDS:
                    told = time.monotonic()
                    self.say(f"{count_noun(len(self._running), 'task')} waiting or running")
        except KeyboardInterrupt as stop:
            if self._running:
                stop.add_note(self.system.leave(list(self._running.values())))
            else:
                self.system.close()
            raise
        except BaseException:
            if self._running:
                self.say(self.system.leave(list(self._running.values())))
            raise
        self.system.close()
        return self.place.finished(self.sweep)

    def _fill(self) -> None:
        """Submit cells while there is room for tasks."""
        for cell in self.place.wanted(self.sweep):
            left = None if self._deadline is None else (self._deadline - time.monotonic()) / 60
            if len(self._running) >= self.workers or (left is not None and left <= 0):
                return
            key = cell.key
            if (
                key in self._running
                or self._tries.get(key, 0) >= TRIES
                or self.place.result(cell) is not None
            ):
                continue
            call = call_of(cell, self.place, left, self.logs)
            found = self.system.find(call)
            if found is not None:
                self._running[key] = found
                self.say(f"{key}: {found.name}, submitted before")
            elif (claimant := self.place.claimant(cell)) is not None:
                if key not in self._said:
                    self._said.add(key)
                    self.say(f"{key}: in the hands of {claimant}")
            else:
                self._running[key] = task = self.system.submit(call)
                self.say(f"{key}: {task.name}")

    def _collect(self) -> bool:
        """Take what has ended; whether anything has."""
        ended = [(key, end) for key, task in self._running.items() if (end := task.end()) is not None]
        for key, end in ended:
            del self._running[key]
            for line in end.lines:
                if not line.endswith(": training"):
                    self.say(line if line.startswith(f"{key}:") else f"{key}: {line}")
            self._count(key, end)
        return bool(ended)

    def _count(self, key: str, end: TaskEnd) -> None:
        """A task that ended without having trained counts as a try; so does one that stopped at the same step as the one before."""
        stuck = end.status == "stopped" and self._stopped.get(key) == end.lines
        if end.status == "stopped":
            self._stopped[key] = end.lines
        if end.status not in ("lost", "missing") and not stuck:
            return
        self._tries[key] = tries = self._tries.get(key, 0) + 1
        if tries >= TRIES:
            self.say(f"{key}: given up after {TRIES} tasks; the same command tries it again")
        elif end.status == "lost":
            self.say(f"{key}: submitted again, after {count_noun(tries, 'lost task')} of at most {TRIES}")
