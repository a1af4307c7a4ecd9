"""`run_sweep`: cells trained one after another, by any number of machines that share a folder.

A cell belongs to the process that holds its lock. The system frees the lock when that process ends, however it ends, and
then another one goes on where it stopped. A cell's result is written whole.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch

from ...foundation._errors import InputError, MirrormataError
from ...foundation._files import is_there, make_folder, read_json, system_errors, write_text
from ...foundation._interrupting import interrupt_behind, received_signal
from ...foundation._locks import lock_file
from .._records import without_format
from ..training._experiment import settings_difference
from ..training._logs import check_logs
from ..training._train import check_minutes, train
from ._sweep import Sweep, SweepCell, SweepPoint, SweepRow, sweep_as_json, sweep_from_json
from ._values import columns_of, seed_values, worst_value

CELL_FORMAT = "mirrormata-cell/1"
SWEEP_FORMAT = "mirrormata-sweep/1"
SWEEP_FILE = "sweep.json"
Say = Callable[[str], None]


class CellLock:
    """The lock of a cell, held until it is released or the process ends."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def release(self) -> None:
        """The cell is free for others."""
        self._file.close()


@dataclass(frozen=True)
class SweepFolder:
    """`sweep.json` the cells, `cells/KEY.json` results, `locks/KEY` locks, `runs/KEY/` trainings.

    Attributes:
        path: the folder, which machines may share.
    """

    path: Path

    def keep(self, sweep: Sweep) -> None:
        """Write which cells the sweep has, so that a report knows those that are missing; nothing if it stands there already.

        Args:
            sweep: the sweep that is run here.
        """
        path = self.path / SWEEP_FILE
        text = json.dumps({"format": SWEEP_FORMAT, **sweep_as_json(sweep)}, indent=1) + "\n"
        if not is_there(path) or path.read_text(encoding="utf-8") != text:
            write_text(path, text)

    def read(self) -> Sweep:
        """Read the sweep that was run here.

        Returns:
            The sweep with all its cells, also those without a result.

        Raises:
            InputError: there is no `sweep.json`, as in folders of older versions, or it is broken.
        """
        path = self.path / SWEEP_FILE
        if not is_there(path):
            raise InputError(
                f"{self.path}: no {SWEEP_FILE}, which says what the cells are: run `mirrormata sweep FILE -o {self.path}` once more; it trains "
                "nothing that is finished"
            )
        return sweep_from_json(without_format(read_json(path), SWEEP_FORMAT, str(path)), str(path))

    def result(self, cell: SweepCell) -> dict[str, Any] | None:
        """A finished cell's result.

        Args:
            cell: a cell of the sweep.

        Returns:
            `{"status": "done" or "failed", ...}`; None for one that is not finished.

        Raises:
            InputError: the file is not a result, or one of other settings.
        """
        path = self.path / "cells" / f"{cell.key}.json"
        if not is_there(path):
            return None
        try:
            found: dict[str, Any] = without_format(read_json(path), CELL_FORMAT, str(path))
            different = settings_difference(found["settings"], _settings(cell))
        except (KeyError, TypeError):
            raise InputError(f"{path}: not a cell's result; remove it to run the cell again") from None
        if different:
            raise InputError(f"{path}: of other settings: {different}; choose another folder or remove it")
        return found

    def chosen(self, sweep: Sweep, row: SweepRow) -> SweepPoint | None:
        """The setting that a row has chosen, by the means over the trial's seeds.

        What decides is the measure at the last test length; between equal ones the accuracy there, and then the accuracy within the training
        lengths, which tells even trials apart that are never right on a whole word.

        Args:
            sweep: the sweep.
            row: one of its rows.

        Returns:
            The setting, the first of equal ones; None where there is nothing to choose, or a trial is not finished.
        """
        scores = self.trial_scores(sweep, row)
        return None if scores is None else row.points[scores.index(max(scores))]

    def trial_scores(self, sweep: Sweep, row: SweepRow) -> list[tuple[float, ...]] | None:
        """What decides between the settings of a row, the largest being the best.

        Args:
            sweep: the sweep.
            row: one of its rows.

        Returns:
            Three numbers for each setting; None where there is nothing to choose, or a trial is not finished.
        """
        trials = [(point, self.result(point.trial)) for point in row.points]
        if not trials or any(found is None for _, found in trials):
            return None
        sign = -1 if sweep.measure == "bits" else 1
        column = columns_of(sweep)[-1]

        def score(found: dict[str, Any]) -> tuple[float, ...]:
            if found["status"] == "failed":
                return (sign * worst_value(sweep), 0.0, 0.0)
            result = found["result"]
            values = seed_values(result, sweep, column)
            beyond = list(result["accuracy"].values())[-1]
            within = result.get("trained", {}).get("accuracy", [])
            rest = [sum(x or 0.0 for x in row) / max(len(row), 1) for row in (beyond, within)]
            return (sign * sum(values) / len(values), *rest)

        return [score(found) for _, found in trials if found is not None]

    def cells(self, sweep: Sweep, row: SweepRow) -> tuple[SweepCell, ...]:
        """The cells of a row: those of the setting that it has chosen, or before that of its first.

        Args:
            sweep: the sweep.
            row: one of its rows.

        Returns:
            At least one cell.
        """
        point = self.chosen(sweep, row)
        return row.cells if point is None else point.cells

    def wanted(self, sweep: Sweep) -> Iterator[SweepCell]:
        """The cells to train, in their order.

        Without a choice, every row is begun before one is finished. With one, the trials of a row come before its cells, which are
        wanted as soon as they are decided; so a part of the rows is whole when time is short.

        Args:
            sweep: the sweep.

        Yields:
            The cells, finished ones too.
        """
        if not sweep.trials:
            yield from sweep.cells
            return
        for row in sweep.rows:
            yield from (point.trial for point in row.points)
            if self.chosen(sweep, row) is not None:
                yield from self.cells(sweep, row)

    def finished(self, sweep: Sweep) -> bool:
        """Whether all cells of a sweep have results.

        Args:
            sweep: the sweep.
        """
        trials = all(self.result(cell) is not None for cell in sweep.trials)
        return trials and all(
            self.result(c) is not None for row in sweep.rows for c in self.cells(sweep, row)
        )

    def claim(self, cell: SweepCell) -> CellLock | None:
        """Take this process's lock of the cell.

        Args:
            cell: a cell of the sweep.

        Returns:
            The lock, to be released; None where another process has it.

        Raises:
            InputError: the folder's file system has no locks.
        """
        path = self.path / "locks" / cell.key
        make_folder(path.parent)
        with system_errors(path, "cannot be written"):
            file = path.open("a+", encoding="utf-8")
        try:
            mine = lock_file(file)
        except OSError as error:
            file.close()
            raise InputError(
                f"{path}: cannot be locked ({error.strerror}), so machines could not share the folder; choose one on a "
                "file system with locks"
            ) from None
        if not mine:
            file.close()
            return None
        file.truncate(0)
        file.write(f"{platform.node()} {os.getpid()} {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
        file.flush()
        return CellLock(file)

    def claimant(self, cell: SweepCell) -> str | None:
        """Which machine and process has the cell, and since when.

        Args:
            cell: a cell of the sweep.

        Returns:
            A text; None for none.
        """
        text = ""
        try:
            with (self.path / "locks" / cell.key).open(encoding="utf-8") as file:
                text = file.read().strip()
                free = lock_file(file, shared=True)
        except FileNotFoundError:
            return None
        except OSError:
            free = False
        return None if free else text or "a process that begins"

    def write(self, cell: SweepCell, result: dict[str, Any]) -> None:
        """Write the cell's result, whole or not at all.

        Args:
            cell: a cell of the sweep.
            result: plain values, with `status`.
        """
        path = self.path / "cells" / f"{cell.key}.json"
        make_folder(path.parent)
        document = {"format": CELL_FORMAT, **result, "settings": _settings(cell)}
        write_text(path, json.dumps(document) + "\n")


def run_sweep(
    sweep: Sweep,
    place: SweepFolder,
    *,
    minutes: float | None = None,
    logs: Sequence[str] = (),
    say: Say = lambda _: None,
) -> bool:
    """Train the cells of a sweep that are neither finished nor held by another process.

    An error in a cell is its result, and what this machine lacks leaves it without one; the others go on. As long as there was
    something to train, it looks again at the cells that others had, since these may have stopped.

    Args:
        sweep: the cells.
        place: the folder of results, which several machines may share.
        minutes: after this time, the current cell is saved and released, so that it can be continued later; None for no limit.
        logs: where the metrics of each cell go besides `metrics.jsonl` in its folder `runs/KEY`; see `train`.
        say: called with a line about each event.

    Returns:
        Whether all cells are finished now.

    Raises:
        InputError: the folder holds results of other settings, or its file system has no locks.
    """
    check_minutes(minutes)
    logs = check_logs(list(logs))
    make_folder(place.path)
    place.keep(sweep)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    tried: set[str] = set()
    while _one_pass(sweep, place, tried, deadline, logs, say):
        pass
    return place.finished(sweep)


def _one_pass(
    sweep: Sweep, place: SweepFolder, tried: set[str], deadline: float | None, logs: Sequence[str], say: Say
) -> bool:
    """Go through all cells that were not `tried` here; whether one was trained."""
    before = len(tried)
    for cell in place.wanted(sweep):
        left = None if deadline is None else (deadline - time.monotonic()) / 60
        if left is not None and left <= 0:
            return False
        if cell.key in tried or place.result(cell) is not None:
            continue
        lock = place.claim(cell)
        if lock is None:
            say(f"{cell.key}: in the hands of {place.claimant(cell) or 'another process, until just now'}")
            continue
        try:
            if place.result(cell) is None:  # it may have been finished between the look and the lock
                tried.add(cell.key)
                train_cell(cell, place, left, logs, say)
        finally:
            lock.release()
    return len(tried) > before


def train_cell(
    cell: SweepCell, place: SweepFolder, minutes: float | None, logs: Sequence[str], say: Say
) -> None:
    """Train a cell whose lock this process holds, and write its result, if it comes to one.

    Args:
        cell: the cell.
        place: the folder of results.
        minutes: after this time the training is saved and stopped; None for no limit.
        logs: see `run_sweep`.
        say: called with a line about each event.
    """
    say(f"{cell.key}: training")
    began = time.monotonic()
    try:
        outcome = train(cell.experiment, place.path / "runs" / cell.key, minutes=minutes, logs=logs)
    except MirrormataError as error:  # something that is missing here: no result, another machine may have it
        say(f"{cell.key}: not run: {error}")
        return
    except Exception as error:  # out of memory, a kernel's failure: the row says so
        if (number := received_signal()) is not None:  # no: the program is to end
            raise interrupt_behind(error, number) from None
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        place.write(cell, {"status": "failed", "reason": reason, "machine": describe_machine()})
        say(f"{cell.key}: failed: {reason}")
        return
    if outcome.result is None:
        say(f"{cell.key}: stopped at step {outcome.step:,} of {outcome.steps:,}")
        return
    contract = outcome.contract.as_json()
    place.write(
        cell,
        {
            "status": "done",
            "result": outcome.result,
            "contract": contract,
            "seconds": outcome.seconds,
            "machine": describe_machine(),
        },
    )
    say(f"{cell.key}: done in {time.monotonic() - began:.0f} s")


def describe_machine() -> dict[str, str]:
    """What a cell ran on: card or processor, and versions."""
    cuda = torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name() if cuda else platform.machine(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda or "" if cuda else "",
        "python": platform.python_version(),
    }


def _settings(cell: SweepCell) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(cell.experiment.as_json()))
    return plain
