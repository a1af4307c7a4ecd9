"""The metrics of a training for other programs: a CSV file, TensorBoard, Weights & Biases.

A log is made from the lines of `metrics.jsonl` and is complete after an interruption too: what was written beyond the
checkpoint comes again. The packages are imported only where their log is asked for.
"""

from __future__ import annotations

import csv
import json
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from ...foundation._arguments import require_list
from ...foundation._errors import InputError
from ...foundation._extras import is_installed, missing_extra, needed_by
from ...foundation._files import is_there, read_text, system_errors, write_text

Line = dict[str, Any]
"""A line of `metrics.jsonl`: figures of a step, or the accuracies of a test after one."""


@dataclass(frozen=True)
class LoggedTraining:
    """What a log is about.

    Attributes:
        folder: the folder of the training.
        seeds: the seeds, in the order in which lines have their figures.
        settings: the settings of the training, as plain values.
        step: the step with which the training goes on, 0 for a new one.
        kept: the lines of all steps up to it.
        tests: the lengths of the tests after steps, as texts; empty where there are none.
    """

    folder: Path
    seeds: Sequence[int]
    settings: dict[str, Any]
    step: int
    kept: Sequence[Line]
    tests: Sequence[str]


class TrainingLog(Protocol):
    """Where the lines of the metrics go."""

    def write(self, line: Line) -> None:
        """Add a line.

        Args:
            line: of the metrics.
        """
        ...

    def close(self) -> None:
        """All that was added is on the disk."""
        ...


def scalars(line: Line, seeds: Sequence[int]) -> Iterator[tuple[str, float]]:
    """The figures of a line, each with a name such as `loss/seed-0`, `learning_rate` or `accuracy_40/seed-0`.

    Args:
        line: a line of the metrics.
        seeds: the seeds, in the order of the figures.
    """
    by_seed: dict[str, Any] = {
        name: line[name] for name in ("loss", "accuracy", "gradient_norm") if name in line
    }
    by_seed |= {f"accuracy_{length}": figures for length, figures in line.get("test", {}).items()}
    for name, figures in by_seed.items():
        # under FSDP there is one norm
        for seed, figure in zip(seeds, figures, strict=False):
            if figure is not None:
                yield f"{name}/seed-{seed}", float(figure)
    for entry, name in (
        ("lr", "learning_rate"),
        ("tokens", "letters"),
        ("tokens_per_second", "tokens_per_second"),
    ):
        if entry in line:
            yield name, float(line[entry])


class CsvLog:
    """`metrics.csv` in the folder of the training: a row for each logged step and seed.

    The columns `test L` have the accuracies at the lengths L of a test after the step, in a row of their own.
    """

    def __init__(self, about: LoggedTraining) -> None:
        self._path, self._seeds = about.folder / "metrics.csv", about.seeds
        self._columns = [
            "step", "seed", "loss", "accuracy", "gradient_norm", "learning_rate", "letters", "seconds",
            "tokens_per_second", *(f"test {length}" for length in about.tests),
        ]  # fmt: skip
        head = ",".join(self._columns) + "\n"
        write_text(self._path, head + "".join(self._rows(line) for line in about.kept))
        with system_errors(self._path, "cannot be written"):
            self._file = self._path.open("a", encoding="utf-8", newline="")

    def _rows(self, line: Line) -> str:
        stream = StringIO()
        rows = csv.DictWriter(stream, self._columns, restval="", extrasaction="ignore", lineterminator="\n")
        for i, seed in enumerate(self._seeds):
            row: dict[str, Any] = {
                "step": line["step"], "seed": seed, "learning_rate": line.get("lr"), "letters": line.get("tokens"),
                "seconds": line.get("seconds"), "tokens_per_second": line.get("tokens_per_second"),
            }  # fmt: skip
            by_seed: dict[str, Any] = {
                name: line.get(name, ()) for name in ("loss", "accuracy", "gradient_norm")
            }
            by_seed |= {f"test {length}": figures for length, figures in line.get("test", {}).items()}
            # under FSDP there is one norm
            row.update({name: figures[i] for name, figures in by_seed.items() if i < len(figures)})
            rows.writerow(row)
        return stream.getvalue()

    def write(self, line: Line) -> None:
        """Add a row for each seed.

        Args:
            line: of the metrics.
        """
        with system_errors(self._path, "cannot be written"):
            self._file.write(self._rows(line))
            self._file.flush()

    def close(self) -> None:
        """All rows are in the file."""
        with system_errors(self._path, "cannot be written"):
            self._file.close()


class TensorboardLog:
    """Event files in `tensorboard` in the folder of the training. Steps beyond the checkpoint are marked as void when it goes on."""

    def __init__(self, about: LoggedTraining) -> None:
        with needed_by("the log `tensorboard`"):
            from torch.utils.tensorboard import SummaryWriter
        self._seeds = about.seeds
        place = about.folder / "tensorboard"
        new = not is_there(place)
        with system_errors(place, "cannot be written"):
            self._writer: Any = SummaryWriter(str(place), purge_step=None if new else about.step + 1)
        if new:
            self._writer.add_text("settings", f"```json\n{json.dumps(about.settings, indent=1)}\n```", 0)
            for line in about.kept:
                self.write(line)

    def write(self, line: Line) -> None:
        """Add the figures of a line.

        Args:
            line: of the metrics.
        """
        for name, figure in scalars(line, self._seeds):
            self._writer.add_scalar(name, figure, line["step"])

    def close(self) -> None:
        """All figures are in the event file."""
        self._writer.close()


class WandbLog:
    """A run of Weights & Biases, named after the folder; `WANDB_PROJECT`, `WANDB_MODE` and its other variables apply."""

    def __init__(self, about: LoggedTraining) -> None:
        with needed_by("the log `wandb`"):
            import wandb
        name = about.folder / "wandb-run.txt"  # so that a training that goes on is the same run
        if not is_there(name):
            write_text(name, uuid.uuid4().hex[:12] + "\n")
        self._seeds = about.seeds
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "mirrormata"),
            name=about.folder.resolve().name,
            dir=str(about.folder),
            id=read_text(name).strip(),
            resume="allow",
            config=about.settings,
            settings=wandb.Settings(silent=True, x_disable_stats=True),
        )
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    def write(self, line: Line) -> None:
        """Add the figures of a line.

        Args:
            line: of the metrics.
        """
        self._run.log({**dict(scalars(line, self._seeds)), "step": line["step"]})

    def close(self) -> None:
        """The run is finished, as far as this process is concerned."""
        self._run.finish()


LOGS: dict[str, Callable[[LoggedTraining], TrainingLog]] = {
    "csv": CsvLog,
    "tensorboard": TensorboardLog,
    "wandb": WandbLog,
}


def check_logs(logs: Any) -> list[str]:
    """The names of logs, each once.

    Args:
        logs: what was given.

    Raises:
        InputError: one of them is unknown.
        MissingExtraError: its package is not installed.
    """
    names = list(dict.fromkeys(require_list("logs", logs, f"a list of {', '.join(LOGS)}")))
    for name in names:
        if name not in LOGS:
            raise InputError(f"`logs` {name}: it is one of {', '.join(LOGS)}")
        if name != "csv" and not is_installed(name):
            raise missing_extra(f"the log `{name}`", name)
    return names


@contextmanager
def open_logs(names: Sequence[str], about: LoggedTraining) -> Iterator[list[TrainingLog]]:
    """The logs of these names, which are closed afterwards.

    Args:
        names: as `check_logs` returns them.
        about: the training.
    """
    logs: list[TrainingLog] = []
    try:
        for name in names:
            logs.append(LOGS[name](about))  # noqa: PERF401 (those that are open are closed if one cannot be)
        yield logs
    finally:
        for log in logs:
            log.close()
