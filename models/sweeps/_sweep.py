"""`Sweep`: a TOML file whose rows and grid make experiments, each a cell; all rows have the same budget, and the same tuning."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
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


class Tuning(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The section `[tuning]`: every row chooses one of the same settings before its seeds are trained.

    Attributes:
        points: the settings, each a table of entries that replace those of the row; at least two.
        seeds: the seeds that are trained to choose, different from those of the rows.
        share: the fraction of the steps for which they are trained, above 0 and at most 1.
        test_seed: the seed of the words that decide, different from that of the final tests.
    """

    points: list[dict[str, Any]]
    seeds: list[int]
    share: float = 0.2
    test_seed: int = 1


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The file's entries: the experiment's sections as a base, and what varies.

    `rows`: overrides, each with a `row` name; `grid`: values of entries, every combination for every row.
    `seeds_a_cell`: how many seeds are trained together, 0 for all. `measure`: what the table shows. `source`: the budget of the
    publication, in words. `tuning`: None where nothing is chosen.
    """

    name: str
    caption: str = ""
    measure: Literal["accuracy", "scaled_accuracy", "exact", "longest_90", "bits"] = "accuracy"
    good: float = 0.9
    seeds_a_cell: int = 0
    source: str = ""
    tuning: Tuning | None = None
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
class SweepPoint:
    """A setting that a row may choose.

    Attributes:
        name: what it sets, in words.
        trial: the cell that is trained to choose.
        cells: the cells of the row's seeds, if it is chosen.
    """

    name: str
    trial: SweepCell
    cells: tuple[SweepCell, ...]


@dataclass(frozen=True)
class SweepRow:
    """A line of the table.

    Attributes:
        name: the name of the row, which its first table cell shows.
        published: the value that the source publishes for it, or "".
        cells: the cells of its seeds; where it chooses among points, those of the first (`SweepFolder.cells` has the chosen ones).
        points: the settings among which it chooses; empty for none.
    """

    name: str
    published: str
    cells: tuple[SweepCell, ...]
    points: tuple[SweepPoint, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """A sweep: a table of experiments.

    Attributes:
        name: the name of the table.
        caption: the text above it.
        measure: accuracy, scaled_accuracy, exact, longest_90 or bits.
        good: the value from which on a seed counts as converged; for bits, the largest such value.
        rows: at least one.
        source: the budget of the publication, in words; may be empty.
    """

    name: str
    caption: str
    measure: str
    good: float
    rows: tuple[SweepRow, ...]
    source: str = ""

    @property
    def cells(self) -> list[SweepCell]:
        """The cells of all rows, first seeds first, so that every row is begun before one is finished."""
        return interleave([row.cells for row in self.rows])

    @property
    def trials(self) -> list[SweepCell]:
        """The cells that are trained to choose settings, the first points of all rows first; empty where nothing is chosen."""
        return interleave([tuple(point.trial for point in row.points) for row in self.rows])


def interleave(rows: Sequence[tuple[SweepCell, ...]]) -> list[SweepCell]:
    """The cells of several rows, the first of each before the second of any."""
    longest = max((len(cells) for cells in rows), default=0)
    return [cells[i] for i in range(longest) for cells in rows if i < len(cells)]


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
    keys = [cell.key for row in rows for cell in row.cells] if file.tuning is None else []
    if same := sorted({key for key in keys if keys.count(key) > 1}):
        raise InputError(
            f"{name}: two rows would have the files {same[0]!r}: names differ in more than signs and spaces; rename one"
        )
    if file.tuning is not None:
        _check_tuning(file.tuning, rows, name)
    budgets = {budget for _, budget in found}
    if len(budgets) > 1:
        raise InputError(
            f"{name}: rows have different steps, batches or training lengths {sorted(budgets)}: a table needs the same"
        )
    return Sweep(file.name, file.caption, file.measure, file.good, rows, file.source)


def _check_tuning(tuning: Tuning, rows: Sequence[SweepRow], name: str) -> None:
    """`InputError` for settings that leave nothing to choose, or names of files that are the same."""
    if len(tuning.points) < 2 or not tuning.seeds:
        raise InputError(
            f"{name}: tuning needs at least two points and a seed; leave it out to choose nothing"
        )
    if not 0 < tuning.share <= 1:
        raise InputError(f"{name}: tuning.share is {tuning.share}: a fraction above 0 and up to 1 is needed")
    names = [_file_name(row.name) for row in rows]
    if same := sorted({x for x in names if names.count(x) > 1}):
        raise InputError(
            f"{name}: two rows would have the files {same[0]!r}: names differ in more than signs and spaces; rename one"
        )


def sweep_as_json(sweep: Sweep) -> dict[str, Any]:
    """A sweep as plain values, from which `sweep_from_json` makes it again."""
    rows = [
        {
            "row": row.name,
            "published": row.published,
            "cells": [_cell_json(cell) for cell in row.cells],
            "points": [
                {
                    "name": p.name,
                    "trial": _cell_json(p.trial),
                    "cells": [_cell_json(cell) for cell in p.cells],
                }
                for p in row.points
            ],
        }
        for row in sweep.rows
    ]
    return {
        "name": sweep.name,
        "caption": sweep.caption,
        "measure": sweep.measure,
        "good": sweep.good,
        "source": sweep.source,
        "rows": rows,
    }


def _cell_json(cell: SweepCell) -> dict[str, Any]:
    return {"key": cell.key, "experiment": cell.experiment.as_json()}


def sweep_from_json(data: Any, name: str) -> Sweep:
    """The sweep of plain values.

    Args:
        data: as `sweep_as_json` makes them.
        name: of the file, with which error messages begin.

    Raises:
        InputError: they are not those of a sweep.
    """

    def cells_of(cells: Any, row: str) -> tuple[SweepCell, ...]:
        return tuple(SweepCell(x["key"], row, experiment_from_dict(x["experiment"], name)) for x in cells)

    def points_of(row: Any) -> tuple[SweepPoint, ...]:
        return tuple(
            SweepPoint(p["name"], cells_of([p["trial"]], row["row"])[0], cells_of(p["cells"], row["row"]))
            for p in row.get("points", [])
        )

    try:
        rows = tuple(
            SweepRow(row["row"], row["published"], cells_of(row["cells"], row["row"]), points_of(row))
            for row in data["rows"]
        )
        source = str(data.get("source", ""))
        found = Sweep(data["name"], data["caption"], data["measure"], float(data["good"]), rows, source)
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
            _check_measure(file.measure, task.own_lengths, where)
            points = tuple(_points(data, file, label, where))
            cells = points[0].cells if points else tuple(_cells(experiment, label, file.seeds_a_cell))
            row = SweepRow(label, published, cells, points)
            yield row, (experiment.train.steps, experiment.train.batch, experiment.train_lengths(task))


def _check_measure(measure: str, whole_words: bool, where: str) -> None:
    """`InputError` for a measure that has no meaning where only whole words are asked."""
    if whole_words and measure in {"exact", "longest_90"}:
        raise InputError(
            f"{where}: measure {measure} is for labels after every prefix, and only whole words are asked here; take accuracy or "
            "scaled_accuracy"
        )


def _points(data: dict[str, Any], file: _File, row: str, where: str) -> Iterator[SweepPoint]:
    """What the row may choose among, and the cells that each choice would have."""
    tuning = file.tuning
    if tuning is None:
        return
    for i, point in enumerate(tuning.points):
        own = json.loads(json.dumps(data))
        for entry, value in point.items():
            _set(own, entry, value, where)
        experiment = experiment_from_dict(own, f"{where}: tuning point {i + 1}")
        if set(tuning.seeds) & set(experiment.train.seeds) or tuning.test_seed == experiment.eval.seed:
            raise InputError(
                f"{where}: tuning has seeds {tuning.seeds} and test_seed {tuning.test_seed}: both must differ from those of the row, "
                "or the choice would be made on what is reported"
            )
        name = ", ".join(_text(k, v) for k, v in point.items()) or "as it is"
        train, test = experiment.train, experiment.eval
        trial = msgspec.structs.replace(
            experiment,
            train=msgspec.structs.replace(
                train, seeds=tuple(tuning.seeds), steps=max(1, round(tuning.share * train.steps))
            ),
            eval=msgspec.structs.replace(test, seed=tuning.test_seed),
        )
        key = f"{_file_name(row)}_point_{i + 1}"
        yield SweepPoint(
            name,
            SweepCell(f"{key}_trial", row, trial),
            tuple(_cells(experiment, row, file.seeds_a_cell, key)),
        )


def _cells(experiment: Experiment, row: str, seeds_a_cell: int, key: str = "") -> Iterator[SweepCell]:
    seeds = experiment.train.seeds
    together = seeds_a_cell or len(seeds)
    for i in range(0, len(seeds), together):
        some = seeds[i : i + together]
        part = msgspec.structs.replace(
            experiment, train=msgspec.structs.replace(experiment.train, seeds=some)
        )
        yield SweepCell(f"{key or _file_name(row)}_seeds_{'_'.join(map(str, some))}", row, part)


def _file_name(row: str) -> str:
    return "".join(c if c.isalnum() or c in "-." else "_" for c in row)


def _set(data: dict[str, Any], entry: str, value: Any, name: str) -> None:
    section, dot, _ = entry.partition(".")
    if not dot or section not in data:
        raise InputError(f"{name}: {entry!r}: write section.entry with a section of {', '.join(data)}")
    set_entry(data, entry, value)


def _text(entry: str, value: Any) -> str:
    shown = json.dumps(value).replace(" ", "") if isinstance(value, list) else str(value)
    return f"{entry.partition('.')[2]} {shown}"
