"""Cells as tasks of Ray: of the cluster that `RAY_ADDRESS` names or that runs on this machine, else of one that is started here."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from ._tasks import LEAVE_SECONDS, CellCall, TaskEnd, run_cell, say_stopped


class RayTask:
    """A task of Ray.

    Args:
        ray: the module.
        reference: of the task's result.
    """

    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self.reference = ray, reference

    @property
    def name(self) -> str:
        """The first digits of the task's number."""
        return f"Ray task {self.reference.hex()[:8]}"

    def end(self) -> TaskEnd | None:
        """How it ended; None while it waits or runs."""
        ended, _ = self._ray.wait([self.reference], timeout=0)
        if not ended:
            return None
        try:
            found: TaskEnd = self._ray.get(self.reference)
            return found
        except Exception as error:  # its worker died, or its code raised
            text = next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), "")
            return TaskEnd("lost", (f"{self.name} ended with {type(error).__name__}: {text}",))


class RayTasks:
    """Tasks of Ray, each with one processor core and some GPUs.

    Args:
        gpus: GPUs of each task, 0 or more.
        workers: the cores of a cluster that is started here; None for those of the machine.

    Raises:
        MissingExtraError: the extra `ray` is not installed.
        InputError: the cluster cannot be reached.
    """

    def __init__(self, gpus: int = 0, workers: int | None = None) -> None:
        with needed_by("a sweep on Ray"):
            import ray
        self._ray, self._mine = ray, not ray.is_initialized()
        if self._mine:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            self._connect(workers)
        found = ray.cluster_resources()
        self.at_once = max(1, int(found.get("GPU", 0) // gpus) if gpus else int(found.get("CPU", 1)))
        if gpus and found.get("GPU", 0) < gpus:
            raise InputError(
                f"`gpus` {gpus}: the Ray cluster has {found.get('GPU', 0):g}; ask for fewer, or leave it out"
            )
        # a lost task is submitted again by the sweep, which counts how often
        self._remote = ray.remote(max_retries=0, num_cpus=1, num_gpus=gpus)(run_cell)

    def _connect(self, workers: int | None) -> None:
        ray = self._ray
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
        try:
            try:
                ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
            except ConnectionError:
                if os.environ.get("RAY_ADDRESS"):
                    raise
                ray.init(address="local", num_cpus=workers, **quiet)
        except Exception as error:
            line = next(iter(str(error).splitlines()), type(error).__name__)
            address = os.environ.get("RAY_ADDRESS")
            fix = "correct RAY_ADDRESS, or unset it to start Ray here" if address else "see what Ray says"
            raise InputError(f"`on` ray: {address or 'Ray'} cannot be reached ({line}): {fix}") from None

    def submit(self, call: CellCall) -> RayTask:
        """Have Ray train a cell.

        Args:
            call: the cell.
        """
        return RayTask(self._ray, self._remote.remote(call))

    def find(self, call: CellCall) -> None:
        """None: tasks end with the program that submitted them."""
        return

    def leave(self, tasks: Sequence[Any]) -> str:
        """Tell all to stop, and wait until they have saved their trainings."""
        for task in tasks:
            self._ray.cancel(task.reference)  # an interrupt in the task
        until = time.monotonic() + LEAVE_SECONDS
        self._ray.wait(
            [task.reference for task in tasks], num_returns=len(tasks), timeout=until - time.monotonic()
        )
        self.close()
        return say_stopped(len(tasks))

    def close(self) -> None:
        """End the connection that was made here, and the cluster, if it was started here."""
        if self._mine:
            self._ray.shutdown()
