"""`run_sweep`: cells trained one after another, by any number of machines that share a folder.

A cell belongs to the machine that creates its claim, a file that only one can create. Its claim is removed when the
machine stops in an orderly way; after a crash, `--release` removes claims by hand. A cell's result is written whole.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..constructions.errors import InputError, MirrormataError
from ..constructions.files import read_text, write_text
from .checkpoints import first_difference
from .sweep_file import Cell, Sweep
from .training import train

Say = Callable[[str], None]


@dataclass(frozen=True)
class SweepFolder:
    """`cells/KEY.json` results, `claims/KEY` claims, `runs/KEY/` trainings."""

    path: Path

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """A finished cell's result: `{"status": "done" or "failed", ...}`; None for one that is not finished.

        `InputError` for a result of other settings.
        """
        path = self.path / "cells" / f"{cell.key}.json"
        if not path.exists():
            return None
        try:
            found: dict[str, Any] = json.loads(read_text(path))
            different = first_difference(found["settings"], _settings(cell))
        except (json.JSONDecodeError, KeyError):
            raise InputError(f"{path}: not a cell's result; remove it to run the cell again") from None
        if different:
            raise InputError(f"{path}: of other settings: {different}; choose another folder or remove it")
        return found

    def claim(self, cell: Cell) -> bool:
        """Whether this machine has the cell now."""
        path = self.path / "claims" / cell.key
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x") as file:
                file.write(f"{platform.node()} {os.getpid()} {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
        except FileExistsError:
            return False
        return True

    def release(self, cell: Cell) -> None:
        """The cell is free for others."""
        (self.path / "claims" / cell.key).unlink(missing_ok=True)

    def claimant(self, cell: Cell) -> str | None:
        """Which machine and process has the cell, and since when."""
        try:
            return (self.path / "claims" / cell.key).read_text().strip()
        except FileNotFoundError:
            return None

    def write(self, cell: Cell, result: dict[str, Any]) -> None:
        """The cell's result, whole or not at all."""
        path = self.path / "cells" / f"{cell.key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({**result, "settings": _settings(cell)}) + "\n")


def run_sweep(
    sweep: Sweep,
    place: SweepFolder,
    *,
    minutes: float | None = None,
    release: bool = False,
    say: Say = lambda _: None,
) -> bool:
    """Train the cells that nobody has; whether all cells are finished now.

    `minutes`: then the cell in hand is saved and given back, to go on later. `release`: take over claims of machines
    that are gone. An error in a cell is its result, and what this machine lacks leaves it without one; the others go on.
    """
    place.path.mkdir(parents=True, exist_ok=True)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    if release:
        for cell in sweep.cells:
            place.release(cell)
    for cell in sweep.cells:
        left = None if deadline is None else (deadline - time.monotonic()) / 60
        if left is not None and left <= 0:
            break
        if place.result(cell) is not None:
            continue
        if not place.claim(cell):
            say(f"{cell.key}: claimed by {place.claimant(cell)}; --release if that process is gone")
            continue
        try:
            if place.result(cell) is None:  # it may have been finished between the look and the claim
                _train(cell, place, left, say)
        finally:
            place.release(cell)
    return all(place.result(cell) is not None for cell in sweep.cells)


def _train(cell: Cell, place: SweepFolder, minutes: float | None, say: Say) -> None:
    say(f"{cell.key}: training")
    began = time.monotonic()
    try:
        outcome = train(cell.experiment, place.path / "runs" / cell.key, minutes=minutes)
    except MirrormataError as error:  # something that is missing here: no result, another machine may have it
        say(f"{cell.key}: not run: {error}")
        return
    except Exception as error:  # out of memory, a kernel's failure: the row says so
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        place.write(cell, {"status": "failed", "reason": reason, "machine": machine()})
        say(f"{cell.key}: failed: {reason}")
        return
    if outcome.result is None:
        say(f"{cell.key}: stopped at step {outcome.step:,} of {outcome.steps:,}")
        return
    contract = outcome.contract.as_json()
    place.write(
        cell, {"status": "done", "result": outcome.result, "contract": contract, "machine": machine()}
    )
    say(f"{cell.key}: done in {time.monotonic() - began:.0f} s")


def machine() -> dict[str, str]:
    """What it ran on: card or processor, and versions."""
    cuda = torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name() if cuda else platform.machine(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda or "" if cuda else "",
        "python": platform.python_version(),
    }


def _settings(cell: Cell) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(cell.experiment.as_json()))
    return plain
