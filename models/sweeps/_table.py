"""A sweep's results as a table and as a picture.

The table has a line for each row and each arithmetic of its tests, shows seeds that failed and rows that were not run, and has the budget
above it. The picture has a line for each row, the median over its seeds at every position of the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, get_args

from ...foundation._errors import InputError
from ...foundation._files import write_bytes
from ...foundation._text import count_noun
from ..report._data import Chart, Mark, Series
from ..report._paper import Format, draw_chart
from ._intervals import LEVEL, bootstrap_median, wilson_interval
from ._run import SweepFolder
from ._sweep import Sweep, SweepCell, SweepRow
from ._values import (
    best_value,
    columns_of,
    is_good,
    is_learned,
    precisions_of,
    say_value,
    seed_values,
    tests_of,
    trained_values,
)

NOT_RUN = "not run"


def sweep_table(sweep: Sweep, folder: SweepFolder) -> list[list[str]]:
    """The results as a table, a line for each row and each arithmetic of its tests.

    Args:
        sweep: a sweep, as `read_sweep` returns it.
        folder: the folder with the results, which may be incomplete.

    Returns:
        Headings, then rows: the row, its seeds, the chosen setting where there is a choice, the arithmetic, the median within the
        training lengths and how many seeds have learned, the median with its interval at each test length, at the last one the
        best seed and how many seeds are good with the interval, and what is published.

    Raises:
        InputError: cells of one SPEC had different texts, as machines with different versions of Python have.
    """
    _check_texts(sweep, folder)
    columns = columns_of(sweep)
    tuned, published = any(row.points for row in sweep.rows), any(row.published for row in sweep.rows)
    at = "" if sweep.measure == "longest_90" else f" at {columns[-1]}"
    mark = "≤" if sweep.measure == "bits" else "≥"
    head = ["row", "seeds", *["chosen"] * tuned, "test in", "training lengths", *columns]
    table = [[*head, f"best{at}", f"{mark} {sweep.good:g}{at}", *["published"] * published]]
    for row in sweep.rows:
        found = _collect(row, sweep, folder)
        results = [(cell, cell_result) for cell, cell_result in found.done]
        for i, precision in enumerate(precisions_of(sweep, results)):
            figures = _figures(found, sweep, columns, precision)
            first = [row.name, found.state, *[_say_choice(sweep, row, folder)] * tuned]
            last = [row.published] * published
            if i:
                first, last = [""] * len(first), [""] * len(last)
            table.append([*first, precision, *figures, *last])
    return table


def sweep_caption(sweep: Sweep, folder: SweepFolder | None = None) -> str:
    """The budget that all rows have, and what it was spent on.

    Args:
        sweep: a sweep, as `read_sweep` returns it.
        folder: its results, which tell how many labels and how much time the trainings took; None for none.

    Returns:
        Whole sentences.
    """
    first = sweep.rows[0].cells[0].experiment
    task = first.build_task()
    low, high = first.train_lengths(task)
    tokens = first.train.steps * first.train.batch * (low + high) // 2
    letters = low if low == high else f"{low}-{high}"
    text = [
        f"{sweep.name}:",
        *[sweep.caption] * bool(sweep.caption),
        f"{first.train.steps:,} steps of {first.train.batch:,} words of {letters} letters, about {tokens:,} tokens a seed, in every row"
        + _say_labels(sweep, folder)
        + (f"; source: {sweep.source}." if sweep.source else "."),
        *_say_tuning(sweep),
        *_say_time(sweep, folder),
    ]
    return " ".join(text)


def sweep_reading(sweep: Sweep) -> str:
    """How to read the table.

    Args:
        sweep: a sweep, as `read_sweep` returns it.

    Returns:
        Whole sentences.
    """
    share = {"longest_90": "letters", "bits": "bits per label"}.get(
        sweep.measure, sweep.measure.replace("_", " ")
    )
    return (
        f"{share[0].upper()}{share[1:]}: median over seeds with its {LEVEL:.0%} interval (bootstrap), tested in the arithmetic that is "
        f"named. Within the training lengths: the median, and how many seeds reach {_learned_mark(sweep)}. The last columns: the best "
        f"seed, and how many reach {sweep.good:g}, with the interval of that share (Wilson). Seeds that failed count as not reaching it."
    )


def _say_choice(sweep: Sweep, row: SweepRow, folder: SweepFolder) -> str:
    """The setting that a row has chosen, and whether the measure could tell it from the others; empty while nothing is chosen."""
    point, scores = folder.chosen(sweep, row), folder.trial_scores(sweep, row)
    if point is None or scores is None:
        return ""
    if len(set(scores)) == 1:
        return f"{point.name} (all equal)"
    return point.name + (" (by accuracy)" if len({score[0] for score in scores}) == 1 else "")


def _learned_mark(sweep: Sweep) -> str:
    return "an accuracy of 0.9" if sweep.measure == "longest_90" else f"{sweep.good:g}"


def _say_labels(sweep: Sweep, folder: SweepFolder | None) -> str:
    """How many labels a seed has learned from, where results have counted that."""
    found = (
        [] if folder is None else [folder.result(c) for row in sweep.rows for c in folder.cells(sweep, row)]
    )
    budgets = [((cell or {}).get("result") or {}).get("training", {}).get("budget") for cell in found]
    counts = {x for budget in budgets if budget for x in budget["labels"]}
    if not counts:
        return ""
    few, many = min(counts), max(counts)
    return f", {few:,} labels" if few == many else f", {few:,} to {many:,} labels"


def _say_tuning(sweep: Sweep) -> list[str]:
    points = sweep.rows[0].points
    if not points:
        return []
    trial = points[0].trial.experiment
    return [
        f"Every row chose one of the same {len(points)} settings ({'; '.join(point.name for point in points)}) with "
        f"{count_noun(len(trial.train.seeds), 'other seed')}, {trial.train.steps:,} steps and other test words."
    ]


def _say_time(sweep: Sweep, folder: SweepFolder | None) -> list[str]:
    if folder is None:
        return []
    cells = [*sweep.trials, *(c for row in sweep.rows for c in folder.cells(sweep, row))]
    seconds = sum((folder.result(cell) or {}).get("seconds") or 0 for cell in cells)
    return [f"The steps of all trainings took {_duration(seconds)}."] if seconds else []


def _duration(seconds: float) -> str:
    """Seconds below two minutes, minutes below six, else hours with two digits behind the point."""
    if seconds < 120:
        return f"{seconds:.3g} seconds"
    return f"{seconds / 60:.3g} minutes" if seconds < 360 else f"{seconds / 3600:,.2f} hours"


def sweep_json(sweep: Sweep, folder: SweepFolder) -> dict[str, Any]:
    """All results, cell by cell, with the caption and the table."""
    rows = []
    for row in sweep.rows:
        point = folder.chosen(sweep, row)
        cells = [_cell_with_result(cell, folder) for cell in folder.cells(sweep, row)]
        trials = [{"point": p.name, **_cell_with_result(p.trial, folder)} for p in row.points]
        tuned = {"chosen": None if point is None else point.name, "trials": trials} if row.points else {}
        rows.append(
            {"row": row.name, "published": row.published, **_sizes_of(cells), **tuned, "cells": cells}
        )
    return {
        "name": sweep.name,
        "caption": sweep_caption(sweep, folder),
        "reading": sweep_reading(sweep),
        "measure": sweep.measure,
        "good": sweep.good,
        "table": sweep_table(sweep, folder),
        "rows": rows,
    }


def _sizes_of(cells: Sequence[dict[str, Any]]) -> dict[str, int | None]:
    """The numbers of parameters and of the state of a row's model, from the first result that has them; None where there is none yet."""
    known = [(cell.get("result") or {}).get("training", {}) for cell in cells]
    found: dict[str, Any] = next((training for training in known if "parameters" in training), {})
    return {name: found.get(name) for name in ("parameters", "state")}


def _cell_with_result(cell: SweepCell, folder: SweepFolder) -> dict[str, Any]:
    return {"key": cell.key, **(folder.result(cell) or {"status": NOT_RUN})}


def _check_texts(sweep: Sweep, folder: SweepFolder) -> None:
    seen: dict[str, str] = {}
    for row in sweep.rows:
        for cell in folder.cells(sweep, row):
            found = folder.result(cell) or {}
            spec = cell.experiment.task.spec
            if spec.partition(":")[0] == "text" and "contract" in found:
                words = found["contract"]["words"]
                if seen.setdefault(spec, words) != words:
                    raise InputError(
                        f"{cell.key}: its text is not that of other cells ({words}); remove it and run it again"
                    )


@dataclass(frozen=True)
class _Row:
    """What is known of a row: the results of its cells, how many seeds it has, how many of them failed, and that in words."""

    done: list[tuple[SweepCell, dict[str, Any]]]
    count: int
    failed: int
    state: str


def _collect(row: SweepRow, sweep: Sweep, folder: SweepFolder) -> _Row:
    done, count, failed, running = [], 0, 0, False
    for cell in folder.cells(sweep, row):
        own = len(cell.experiment.train.seeds)
        count += own
        found = folder.result(cell)
        if found is None:
            running = running or folder.claimant(cell) is not None
        elif found["status"] == "failed":
            failed += own
        else:
            done.append((cell, found["result"]))
    finished = sum(len(cell.experiment.train.seeds) for cell, _ in done)
    state = (
        f"{finished} of {count}" + (f", {failed} failed" if failed else "") + (", running" if running else "")
    )
    return _Row(done, count, failed, state)


def _figures(found: _Row, sweep: Sweep, columns: Sequence[str], precision: str) -> list[str]:
    """Within the training lengths, each column, the best, how many are good."""
    tests = [(cell, tests_of(result, cell).get(precision)) for cell, result in found.done]
    there = [(cell, test) for cell, test in tests if test is not None]
    if not there:
        return ["failed" if found.failed else NOT_RUN] * (len(columns) + 3)
    learned = [x for cell, test in there for x in trained_values(test, sweep, cell) or []]
    trained = "not known"
    if learned:
        reached = sum(is_learned(x, sweep) for x in learned)
        trained = f"{median(learned):.3f}, {reached} of {found.count}" + ("" if reached else ": not learned")
    texts, values = [], list[float]()
    for column in columns:
        values = [x for _, test in there for x in seed_values(test, sweep, column)]
        low, high = bootstrap_median(values) if values else (0.0, 0.0)
        texts.append(
            f"{say_value(median(values), sweep)} [{say_value(low, sweep)}, {say_value(high, sweep)}]"
            if values
            else "-"
        )
    if not values:
        return [trained, *texts, "-", "-"]
    reached = sum(is_good(x, sweep) for x in values)
    low, high = wilson_interval(reached, found.count)
    return [
        trained,
        *texts,
        say_value(best_value(values, sweep), sweep),
        f"{reached} of {found.count} [{low:.2f}, {high:.2f}]",
    ]


WIDTH = 5.0
"""Inches."""
_LABELS = {
    "bits": "bits a label, since the position before",
    "exact": "words without a wrong answer",
    "scaled_accuracy": "scaled accuracy at a position",
    "accuracy": "accuracy at a position",
}


def picture_format(path: str | Path) -> Format:
    """The format by the name's end; `InputError` for others than .png, .pdf and .svg."""
    suffix = Path(path).suffix[1:]
    for known in get_args(Format):
        if suffix == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"`picture` {path}: pictures of sweeps are .png, .pdf or .svg")


def draw_sweep(sweep: Sweep, folder: SweepFolder, path: str | Path) -> bool:
    """Write the curves of all rows with results.

    Args:
        sweep: a sweep, as `read_sweep` returns it.
        folder: the folder with the results, which may be incomplete.
        path: a `.png`, `.pdf` or `.svg`.

    Returns:
        Whether there were any; without results nothing is written.

    Raises:
        InputError: `path` ends otherwise.
    """
    kind = picture_format(path)
    first = sweep.rows[0].cells[0].experiment
    trained = first.train_lengths(first.build_task())[1]
    rows = [(row.name, _results(folder.cells(sweep, row), folder)) for row in sweep.rows]
    chart = curves_chart(sweep.name, sweep.measure, rows, trained, str(folder.path))
    if chart is not None:
        write_bytes(path, draw_chart(chart, kind, WIDTH, title=True))
    return chart is not None


def curves_chart(
    name: str, measure: str, rows: Sequence[tuple[str, list[dict[str, Any]]]], trained: int, source: str
) -> Chart | None:
    """A line for each row, a name and the results of its cells; seeds that failed are in none. None without any results.

    `measure`: of a sweep. `trained`: letters of the longest training words. `source`: as in `Chart`.
    """
    measure = "accuracy" if measure == "longest_90" else measure
    series = []
    for i, (row, results) in enumerate(rows):
        if results:
            count = sum(len(result["seeds"]) for result in results)
            series.append(Series(f"{row} ({count} seeds)", *_line(results, measure), "line", 4 + i))
    if not series:
        return None
    return Chart(
        "sweep", f"{name}: {_LABELS[measure]}", "A line for each row, the median over its seeds.", "letters read", _LABELS[measure],
        tuple(series), source, (Mark("x", trained, "training length"),), log_x=True,
    )  # fmt: skip


def _results(cells: Sequence[SweepCell], folder: SweepFolder) -> list[dict[str, Any]]:
    found = [folder.result(cell) for cell in cells]
    done = [cell["result"] for cell in found if cell is not None and cell["status"] == "done"]
    return [result for result in done if "curve" in result]


def _line(results: list[dict[str, Any]], measure: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Positions where something was asked, and the median of all seeds at each."""
    chance = results[0]["chance"]
    entry = "accuracy" if "accuracy" in measure else measure
    by_seed = [seed for result in results for seed in result["curve"][entry]]
    positions, middles = [], []
    for position, *values in zip(results[0]["curve"]["positions"], *by_seed, strict=True):
        if known := [value for value in values if value is not None]:
            middle = median(known)
            positions.append(position)
            middles.append((middle - chance) / (1 - chance) if measure == "scaled_accuracy" else middle)
    return tuple(positions), tuple(middles)
