"""Metrics of a training: a JSON line for each step that is logged, cut back to the checkpoint when it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from ...constructions.errors import InputError
from ...constructions.files import write_text


class Metrics:
    """Appends to `metrics.jsonl`; a process that does not write passes None."""

    def __init__(self, path: Path | None, step: int) -> None:
        """`step`: where the training goes on; lines of later steps are dropped, they will come again."""
        self._file: TextIO | None = None
        if path is None:
            return
        kept = [line for line in read_metrics(path) if line["step"] <= step] if path.exists() else []
        write_text(path, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """One line, at once on the disk's side of the process."""
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines; a last line that a kill cut short is left out."""
    lines: list[dict[str, Any]] = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            break
        if not isinstance(line, dict) or type(line.get("step")) is not int:
            raise InputError(
                f"{path}: not the metrics of a training: line {len(lines) + 1} has no whole number as its 'step'; remove it"
            )
        lines.append(line)
    return lines
