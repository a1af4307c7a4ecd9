"""Cells as jobs of SLURM, by submitit, which writes their scripts and reads their states.

Jobs go on when the submitting program ends. The number of each cell's job is kept in `slurm/KEY.job`, so that the next program waits for
it instead of submitting the cell again.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from ...foundation._files import is_file, make_folder, shown_path, write_text
from ...foundation._text import count_noun
from ...foundation._workers import without_ctrl_c
from ._tasks import LEAVE_SECONDS, CellCall, TaskEnd, run_cell, say_stopped

AT_ONCE = 16
TIME_LIMIT = 60.0
"""Minutes of a job, where none are named."""
TRAINING_SHARE = 0.9
"""The share of a job's time after which its training is saved and it ends by itself."""
NUMBERS = ("cpus_per_task", "mem_gb", "nodes", "tasks_per_node")
"""Entries that submitit takes for itself, with numbers; others are options of sbatch."""


class SlurmTask:
    """A job.

    Args:
        job: as submitit has it.
    """

    def __init__(self, job: Any) -> None:
        self.job = job

    @property
    def name(self) -> str:
        """Its number."""
        return f"job {self.job.job_id}"

    def end(self) -> TaskEnd | None:
        """How it ended; None while it waits or runs."""
        if not self.job.done():
            return None
        if is_file(self.job.paths.result_pickle):
            try:
                found: TaskEnd = self.job.result()
                return found
            except Exception as error:  # its code raised
                lines = [line.strip(" -") for line in str(error).splitlines() if line.strip(" -")]
                cause = next((line for line in reversed(lines) if "Error" in line), type(error).__name__)
                return TaskEnd(
                    "lost", (f"{self.name} failed: {cause}; see {shown_path(self.job.paths.stderr)}",)
                )
        return TaskEnd(
            "lost",
            (f"{self.name} ended with state {self.job.state}; see {shown_path(self.job.paths.stderr)}",),
        )


class SlurmTasks:
    """Jobs of SLURM.

    Args:
        folder: the folder of results, which all nodes share; scripts and logs of jobs are in its folder `slurm`.
        partition: the partition; None for the cluster's own choice.
        time_limit: minutes of a job, above 0; its training is saved when nine tenths of them are over.
        gpus: GPUs of a job, 0 or more.
        parameters: `cpus_per_task`, `mem_gb`, `nodes` and `tasks_per_node` with numbers; `cluster`, which may be `local` for processes of this machine in
            place of jobs; every other one is an option of sbatch, such as `account`. An empty value is an option without one.

    Raises:
        MissingExtraError: the extra `slurm` is not installed.
        InputError: there is no SLURM here, or a parameter is wrong.
    """

    at_once = AT_ONCE

    def __init__(
        self,
        folder: Path,
        *,
        partition: str | None = None,
        time_limit: float = TIME_LIMIT,
        gpus: int = 0,
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        with needed_by("a sweep on SLURM"):
            import submitit
        self._submitit = submitit
        self._folder, self._minutes = folder / "slurm", TRAINING_SHARE * time_limit
        given = dict(parameters or {})
        cluster = given.pop("cluster", "slurm")
        if cluster not in ("slurm", "local"):
            raise InputError(
                f"`slurm` cluster={cluster}: it is slurm, or local to try a sweep on this machine"
            )
        own: dict[str, Any] = {name: _number(name, given.pop(name)) for name in NUMBERS if name in given}
        make_folder(self._folder)
        try:
            self._executor = submitit.AutoExecutor(folder=str(self._folder.resolve() / "%j"), cluster=cluster)
        except RuntimeError:
            raise InputError(
                "`on` slurm: there is no SLURM here (no srun): submit from a node of the cluster, or give `slurm` cluster=local to try it "
                "on this machine"
            ) from None
        extra: dict[str, Any] = {key: value or True for key, value in given.items()}
        if partition is not None:
            own["slurm_partition"] = partition
        if extra:
            own["slurm_additional_parameters"] = extra
        try:
            self._executor.update_parameters(
                name="mirrormata", timeout_min=max(1, round(time_limit)), gpus_per_node=gpus, **own
            )
        except (ValueError, NameError, TypeError) as error:
            line = next(iter(str(error).splitlines()), "")
            raise InputError(f"`slurm`: submitit refuses a parameter: {line}") from None
        self._local = cluster == "local"

    def submit(self, call: CellCall) -> SlurmTask:
        """Submit a job.

        Args:
            call: the cell.
        """
        minutes = self._minutes if call.minutes is None else min(self._minutes, call.minutes)
        limited = CellCall(call.folder, call.key, minutes, call.logs, call.layers, call.cwd)
        try:
            with (
                without_ctrl_c()
            ):  # which is for this program alone, also where jobs are processes of this machine
                job = self._executor.submit(run_cell, limited)
        except Exception as error:  # sbatch refuses it
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise InputError(f"SLURM takes no job: {lines[-1] if lines else type(error).__name__}") from None
        write_text(self._file(call), f"{job.job_id}\n")
        return SlurmTask(job)

    def find(self, call: CellCall) -> SlurmTask | None:
        """The job of an earlier submission; None where there is none, or it has ended.

        Args:
            call: the cell.
        """
        path = self._file(call)
        if (
            not is_file(path) or self._local
        ):  # a process of this machine ended with its program, or has the cell's lock
            return None
        number = path.read_text(encoding="utf-8").strip()
        job: Any = self._submitit.SlurmJob(str(self._folder.resolve() / number), number)
        return None if job.done(force_check=True) else SlurmTask(job)

    def _file(self, call: CellCall) -> Path:
        return self._folder / f"{call.key}.job"

    def leave(self, tasks: Sequence[Any]) -> str:
        """Jobs go on; say which, and how to end them."""
        numbers = [str(task.job.job_id) for task in tasks]
        if self._local:
            for number in numbers:  # of the process that hands signals on to the job
                with suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGTERM)
            until = time.monotonic() + LEAVE_SECONDS
            while time.monotonic() < until and not all(task.job.done() for task in tasks):
                time.sleep(0.1)
            return say_stopped(len(tasks))
        shown = " ".join(numbers)
        return (
            f"SLURM goes on with {count_noun(len(tasks), 'job')} ({shown}), whose results are written; the same command waits for them and submits "
            f"the rest, and `scancel {shown}` ends them"
        )

    def close(self) -> None:
        """Nothing is left."""


def _number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise InputError(f"`slurm` {name}={text}: a number is needed") from None
    return int(found) if found == int(found) else found
