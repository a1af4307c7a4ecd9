"""`Sweep`: a TOML file whose rows and grid make experiments, each a cell; all rows have the same budget."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from ...foundation._errors import InputError
from .._records import record_of, set_entry
from ..tasks._language import LanguageTask
from ..tasks._task import Span
from ..training._experiment import Experiment, experiment_from_dict, read_toml

Budget: TypeAlias = tuple[int, int, Span]
"""Steps, batch and training lengths, which all rows of a table share."""


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The file's entries: the experiment's sections as a base, and what varies.

    `rows`: overrides, each with a `row` name; `grid`: values of entries, every combination for every row.
    `seeds_a_cell`: how many seeds are trained together, 0 for all. `measure`: what the table shows.
    """

    name: str
    caption: str = ""
    measure: Literal["accuracy", "scaled_accuracy", "exact", "longest_90", "bits"] = "accuracy"
    good: float = 0.9
    seeds_a_cell: int = 0
    task: dict[str, Any] = {}
    model: dict[str, Any] = {}
    train: dict[str, Any] = {}
    eval: dict[str, Any] = {}
    grid: dict[str, list[Any]] = {}
    rows: list[dict[str, Any]] = []


@dataclass(frozen=True)
class SweepCell:
    """A cell: the experiment of a row for some of its seeds.

    Attributes:
        key: names its files.
        row: the name of its row.
        experiment: the experiment that is trained.
    """

    key: str
    row: str
    experiment: Experiment


@dataclass(frozen=True)
class SweepRow:
    """A line of the table.

    Attributes:
        name: the name of the row, which its first table cell shows.
        published: the value that the source publishes for it, or "".
        cells: the cells of its seeds.
    """

    name: str
    published: str
    cells: tuple[SweepCell, ...]


@dataclass(frozen=True)
class Sweep:
    """A sweep: a table of experiments.

    Attributes:
        name: the name of the table.
        caption: the text above it.
        measure: accuracy, scaled_accuracy, exact, longest_90 or bits.
        good: the value from which on a seed counts as converged; for bits, the largest such value.
        rows: at least one.
    """

    name: str
    caption: str
    measure: str
    good: float
    rows: tuple[SweepRow, ...]

    @property
    def cells(self) -> list[SweepCell]:
        """The cells of all rows, first seeds first, so that every row is begun before one is finished."""
        longest = max(len(row.cells) for row in self.rows)
        return [row.cells[i] for i in range(longest) for row in self.rows if i < len(row.cells)]


def read_sweep(path: str | Path) -> Sweep:
    """Read a sweep from a TOML file.

    Args:
        path: a file with the sections of an experiment as a base, and `[[rows]]` and `[grid]`, which vary entries.

    Returns:
        All rows with their cells, whose budgets are the same.

    Raises:
        InputError: an entry or a row is wrong; the line names it.
    """
    name = str(path)
    file = record_of(read_toml(path), _File, name)
    if not abs(file.good) < float("inf"):
        raise InputError(f"{name}: good is {file.good}; a finite number is needed")
    if file.seeds_a_cell < 0:
        raise InputError(
            f"{name}: seeds_a_cell is {file.seeds_a_cell}: give a number from 1, or 0 for all seeds"
        )
    found = list(_rows(file, name))
    if not found:
        raise InputError(f"{name}: an entry of [grid] has no values; give some, or leave it out")
    rows = tuple(row for row, _ in found)
    doubled = [row.name for i, row in enumerate(rows) if row.name in {r.name for r in rows[:i]}]
    if doubled:
        raise InputError(f"{name}: two rows are called {doubled[0]!r}; give each row another name")
    keys = [cell.key for row in rows for cell in row.cells]
    if same := sorted({key for key in keys if keys.count(key) > 1}):
        raise InputError(
            f"{name}: two rows would have the files {same[0]!r}: names differ in more than signs and spaces; rename one"
        )
    budgets = {budget for _, budget in found}
    if len(budgets) > 1:
        raise InputError(
            f"{name}: rows have different steps, batches or training lengths {sorted(budgets)}: a table needs the same"
        )
    return Sweep(file.name, file.caption, file.measure, file.good, rows)


def sweep_as_json(sweep: Sweep) -> dict[str, Any]:
    """A sweep as plain values, from which `sweep_from_json` makes it again."""
    rows = [
        {
            "row": row.name,
            "published": row.published,
            "cells": [{"key": cell.key, "experiment": cell.experiment.as_json()} for cell in row.cells],
        }
        for row in sweep.rows
    ]
    return {
        "name": sweep.name,
        "caption": sweep.caption,
        "measure": sweep.measure,
        "good": sweep.good,
        "rows": rows,
    }


def sweep_from_json(data: Any, name: str) -> Sweep:
    """The sweep of plain values.

    Args:
        data: as `sweep_as_json` makes them.
        name: of the file, with which error messages begin.

    Raises:
        InputError: they are not those of a sweep.
    """
    try:
        rows = tuple(
            SweepRow(
                row["row"],
                row["published"],
                tuple(
                    SweepCell(cell["key"], row["row"], experiment_from_dict(cell["experiment"], name))
                    for cell in row["cells"]
                ),
            )
            for row in data["rows"]
        )
        found = Sweep(data["name"], data["caption"], data["measure"], float(data["good"]), rows)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{name}: not the list of a sweep's cells; `run_sweep` writes it again") from None
    if not all(row.cells for row in found.rows) or not found.rows:
        raise InputError(f"{name}: a sweep without cells; `run_sweep` writes it again")
    return found


def _rows(file: _File, name: str) -> Iterator[tuple[SweepRow, Budget]]:
    base = {section: getattr(file, section) for section in ("task", "model", "train", "eval")}
    for entries in file.rows or [{}]:
        fixed = dict(entries)
        title, published = fixed.pop("row", ""), str(fixed.pop("published", ""))
        for values in itertools.product(*file.grid.values()):
            varied = dict(zip(file.grid, values, strict=True))
            data = json.loads(json.dumps(base))
            for entry, value in {**fixed, **varied}.items():
                _set(data, entry, value, name)
            label = ", ".join([title] * bool(title) + [_text(k, v) for k, v in varied.items()]) or file.name
            where = f"{name}: row {label!r}"
            experiment = experiment_from_dict(data, where)
            try:
                task = experiment.build_task()
                experiment.config(task)
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
            if file.measure == "bits" and not isinstance(task, LanguageTask):
                raise InputError(f"{where}: measure bits is for text; choose another")
            row = SweepRow(label, published, tuple(_cells(experiment, label, file.seeds_a_cell)))
            yield row, (experiment.train.steps, experiment.train.batch, experiment.train_lengths(task))


def _cells(experiment: Experiment, row: str, seeds_a_cell: int) -> Iterator[SweepCell]:
    seeds = experiment.train.seeds
    together = seeds_a_cell or len(seeds)
    for i in range(0, len(seeds), together):
        some = seeds[i : i + together]
        part = msgspec.structs.replace(
            experiment, train=msgspec.structs.replace(experiment.train, seeds=some)
        )
        kept = "".join(c if c.isalnum() or c in "-." else "_" for c in row)
        yield SweepCell(f"{kept}_seeds_{'_'.join(map(str, some))}", row, part)


def _set(data: dict[str, Any], entry: str, value: Any, name: str) -> None:
    section, dot, _ = entry.partition(".")
    if not dot or section not in data:
        raise InputError(f"{name}: {entry!r}: write section.entry with a section of {', '.join(data)}")
    set_entry(data, entry, value)


def _text(entry: str, value: Any) -> str:
    shown = json.dumps(value).replace(" ", "") if isinstance(value, list) else str(value)
    return f"{entry.partition('.')[2]} {shown}"
