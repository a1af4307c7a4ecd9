"""What a training writes while it runs: checkpoints and metrics.

A checkpoint is parameters, optimizer, average of the weights and step in one safetensors file, written whole; nothing is ever unpickled. The metrics are
a JSON line for each step that is logged, cut back to the checkpoint when the training goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict

from ...foundation._errors import InputError
from ...foundation._files import is_there, read_text, shown_path, system_errors, whole_file, write_text
from .._records import without_format
from ._averaging import WeightAverage
from ._budget import Budget, budget_from_text
from ._experiment import settings_difference

FORMAT = "mirrormata-checkpoint/1"
METRICS_FORMAT = "mirrormata-metrics/1"
_WRITING = StateDictOptions(
    full_state_dict=True, cpu_offload=True
)  # only the first process has the values then
_READING = StateDictOptions(full_state_dict=True)


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    step: int,
    settings: dict[str, Any],
    write: bool,
    budget: Budget | None,
    average: WeightAverage | None = None,
) -> None:
    """Write a checkpoint whole or not at all; every process calls this, and the one with `write` writes.

    `settings`: of the training; `load_checkpoint` wants the same. `budget`: what the training has used; None where nobody counted.
    `average`: that of the weights, if there is one.
    """
    tensors = _tensors(model, optimizer, _WRITING)[0]
    averages = {} if average is None else average.whole_tensors()
    if not write:
        return
    tensors |= {f"ema.{name}": value.cpu().contiguous() for name, value in averages.items()}
    metadata = {"format": FORMAT, "step": str(step), "settings": json.dumps(settings, sort_keys=True)}
    if budget is not None:
        metadata["budget"] = budget.as_text()
    with whole_file(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
            with temporary.open("r+b") as stream:  # Windows syncs only what may be written
                os.fsync(stream.fileno())
        except SafetensorError as error:  # its name for what the system refuses
            raise InputError(f"{shown_path(path)}: cannot be written ({error})") from None


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of checkpoints that were being written when a process was killed.

    Args:
        path: the checkpoint; nobody else writes to it.
    """
    for left in path.parent.glob(f".{path.name}.*"):
        with system_errors(left, "cannot be removed"):
            left.unlink(missing_ok=True)


def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    settings: dict[str, Any],
    average: WeightAverage | None = None,
) -> tuple[int, Budget | None]:
    """Fill model, optimizer and average; the step to go on with, and what the training has used, if that was counted.

    `InputError` in one line for a file that is cut short, no checkpoint, or one of another training.
    """
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(
            f"{path}: not a whole safetensors file ({error}); remove it to start again"
        ) from None
    if metadata.get("format") != FORMAT:
        raise InputError(
            f"{path}: its format is {metadata.get('format')!r}, not {FORMAT!r}; choose another folder"
        )
    try:
        step, saved = int(metadata["step"]), json.loads(metadata["settings"])
    except (KeyError, ValueError):
        raise InputError(f"{path}: its step or settings cannot be read; remove it to start again") from None
    if different := settings_difference(saved, settings):
        raise InputError(
            f"{path}: is of another training: {different}; choose another folder, or the same settings"
        )
    own, groups = _tensors(model, optimizer, _READING)
    for name, value in own.items():
        if name.startswith("model.") and (name not in tensors or tensors[name].shape != value.shape):
            raise InputError(f"{path}: {name!r} is missing or of another shape; remove it to start again")
    if foreign := sorted(name for name in tensors if name.startswith("model.") and name not in own):
        raise InputError(f"{path}: {foreign[0]!r} is not part of the model; choose another folder")
    state: dict[str, Any] = {}
    for name, value in _part(tensors, "optimizer.").items():
        parameter, _, entry = name.rpartition(".")
        state.setdefault(parameter, {})[entry] = value
    set_state_dict(
        model,
        optimizer,
        model_state_dict=_part(tensors, "model."),
        optim_state_dict={"state": state, "param_groups": groups},
        options=_READING,
    )
    if average is not None and (wrong := average.load(_part(tensors, "ema."))):
        raise InputError(
            f"{path}: the average of {wrong!r} is missing or of another shape; remove it to start again"
        )
    return step, budget_from_text(metadata.get("budget"))


def _tensors(
    model: nn.Module, optimizer: torch.optim.Optimizer, options: StateDictOptions
) -> tuple[dict[str, Tensor], Any]:
    """Whole tensors on the CPU, `model.PARAMETER` and `optimizer.PARAMETER.ENTRY`; and the optimizer's groups."""
    parameters, state = get_state_dict(model, optimizer, options=options)
    tensors: dict[str, Any] = {f"model.{name}": value for name, value in parameters.items()}
    moments: dict[str, dict[str, Any]] = state.get("state", {})  # type: ignore[assignment]
    for name, entries in moments.items():
        tensors |= {f"optimizer.{name}.{entry}": value for entry, value in entries.items()}
    return {k: v.detach().cpu().contiguous() for k, v in tensors.items()}, state.get("param_groups", [])


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


Listener = Callable[[dict[str, Any]], None]
"""Is called with each line of the metrics."""


class Metrics:
    """Appends to `metrics.jsonl`; a process that does not write passes None."""

    def __init__(self, path: Path | None, step: int) -> None:
        """`step`: where the training goes on; lines of later steps are dropped, they will come again."""
        self._file: TextIO | None = None
        self._path = path
        self.listeners: list[Listener] = []
        self.kept: list[dict[str, Any]] = []
        if path is None:
            return
        self.kept = [line for line in read_metrics(path) if line["step"] <= step] if is_there(path) else []
        write_text(path, "".join(_metrics_text(line) for line in self.kept))
        with system_errors(path, "cannot be written"):
            self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """One line, at once on the disk's side of the process, and to all that listen."""
        if self._file is not None:
            with system_errors(self._path, "cannot be written"):
                self._file.write(_metrics_text(line))
                self._file.flush()
            for listener in self.listeners:
                listener(line)

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            with suppress(OSError):  # of what `write` could not write, and said
                self._file.close()


def _metrics_text(line: dict[str, Any]) -> str:
    """A line of the file; each says its format, so that programs may read lines one by one."""
    return json.dumps({"format": METRICS_FORMAT, **line}) + "\n"


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines, in order and without their format; a last line that a kill cut short is left out.

    Lines from before 0.2.0 have no format.

    Args:
        path: a `metrics.jsonl`.

    Returns:
        A dictionary for each line, with its `step`.

    Raises:
        InputError: the file has another format, or a line without a whole number as its step.
    """
    lines: list[dict[str, Any]] = []
    for text in read_text(path).splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            break
        line = without_format(line, METRICS_FORMAT, str(path))
        if not isinstance(line, dict) or type(line.get("step")) is not int:
            raise InputError(
                f"{path}: not the metrics of a training: line {len(lines) + 1} has no whole number as its 'step'; remove it"
            )
        lines.append(line)
    return lines
