"""`TaskContract`: all that a reader must know of a task to compare two results; printed and stored with each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from ...constructions.errors import InputError
from ...constructions.files import read_json, write_text
from ..records import record_of

Fidelity = Literal["same", "reconstruction", "extension"]
"""To the source: its own set-up; rebuilt where the source leaves details open; a task that the source does not have."""
FORMAT = "mirrormata-task/1"


@dataclass(frozen=True)
class TaskContract:
    """A task in words and numbers.

    `settings`: what builds the task again (`task_of`). `train_lengths`, `test_lengths`: letters of a word, BOS not
    counted. `chance`: accuracy of guessing, 1 / classes. `held_out`: pairs of letters as texts.
    """

    task: str
    alphabet: tuple[str, ...]
    classes: int
    order: str
    labels: str
    supervision: str
    bos: bool
    words: str
    held_out: tuple[str, ...]
    train_lengths: tuple[int, int]
    test_lengths: tuple[str, ...]
    fidelity: Fidelity
    source: str
    chance: float
    settings: dict[str, Any]

    def rows(self) -> list[tuple[str, str]]:
        """For a table: a line for each entry."""
        low, high = self.train_lengths
        return [
            ("task", self.task),
            ("alphabet", f"{len(self.alphabet)} letters: {_some(self.alphabet)}"),
            ("order", self.order),
            ("labels", f"{self.labels}, {self.classes} classes, chance {self.chance:.3g}"),
            ("supervision", f"{self.supervision}, {'with' if self.bos else 'without'} BOS"),
            ("words", self.words + (f"; pairs held out: {_some(self.held_out)}" if self.held_out else "")),
            (
                "lengths",
                f"train {low if low == high else f'{low}-{high}'}, test {', '.join(self.test_lengths)}",
            ),
            ("fidelity", f"{self.fidelity} of {self.source}" if self.source else self.fidelity),
        ]

    def as_json(self) -> dict[str, Any]:
        """For `task.json`."""
        return {"format": FORMAT, **asdict(self)}

    def write(self, path: str | Path) -> None:
        """As `task.json`."""
        write_text(path, json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n")


def read_contract(path: str | Path) -> TaskContract:
    """The inverse of `TaskContract.write`; `InputError` for a file that is no contract."""
    data = read_json(path)
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise InputError(f'{path}: not a task contract ("format": "{FORMAT}")')
    if unknown := sorted(set(data) - {f.name for f in fields(TaskContract)}):
        raise InputError(f"{path}: entry {unknown[0]!r} is unknown")
    contract = record_of(data, TaskContract, str(path))
    problems = list(_problems(contract))
    if problems:
        raise InputError(f"{path}: {'; '.join(problems)}")
    return contract


def _problems(contract: TaskContract) -> Iterator[str]:
    """Numbers that are of the right type and cannot be."""
    if contract.classes < 1:
        yield f"classes is {contract.classes}; a whole number from 1 is needed"
    if not contract.alphabet:
        yield "alphabet is empty; a task has at least one letter"
    if not 0 <= contract.chance <= 1:
        yield f"chance is {contract.chance}; a fraction from 0 to 1 is needed"
    low, high = contract.train_lengths
    if not 0 <= low <= high:
        yield f"train_lengths is {[low, high]}; write [shortest, longest], from 0"


def scaled_accuracy(accuracy: float, chance: float) -> float:
    """(accuracy - chance) / (1 - chance): 0 is guessing, 1 is perfect."""
    return (accuracy - chance) / (1 - chance) if chance < 1 else 0.0


def _some(texts: tuple[str, ...], most: int = 12) -> str:
    return " ".join(texts[:most]) + (" ..." if len(texts) > most else "")
