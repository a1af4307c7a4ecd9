"""A sweep's results as a table and as a picture.

The table has a line for each row, shows seeds that failed and rows that were not run, and has the budget above it. The picture
has a line for each row, the median over its seeds at every position of the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, get_args

from ...foundation._errors import InputError
from ...foundation._files import write_bytes
from .._evaluation import length_text
from ..report._data import Chart, Mark, Series
from ..report._paper import Format, draw_chart
from ._run import SweepFolder
from ._sweep import Sweep, SweepRow

NOT_RUN = "not run"


def sweep_table(sweep: Sweep, folder: SweepFolder) -> list[list[str]]:
    """The results as a table: for each test length the median over seeds, the best, and how many seeds are good.

    Args:
        sweep: a sweep, as `read_sweep` returns it.
        folder: the folder with the results, which may be incomplete.

    Returns:
        Headings, then rows.

    Raises:
        InputError: cells of one SPEC had different texts, as machines with different versions of Python have.
    """
    _check_texts(sweep, folder)
    columns = _columns(sweep)
    table = [["row", "seeds", *columns, *(["published"] if any(row.published for row in sweep.rows) else [])]]
    for row in sweep.rows:
        count, values, failed, running = _collect_values(row, sweep, folder, columns)
        done = len(next(iter(values.values()))) if values else 0
        state = (
            f"{done} of {count}" + (f", {failed} failed" if failed else "") + (", running" if running else "")
        )
        cells = [_figures(values[c], count, sweep) if done else NOT_RUN for c in columns]
        if not done and failed:
            cells = ["failed"] * len(columns)
        table.append([row.name, state, *cells, *([row.published] if len(table[0]) > len(cells) + 2 else [])])
    return table


def sweep_caption(sweep: Sweep) -> str:
    """The budget that all rows have, and how to read the table."""
    first = sweep.rows[0].cells[0].experiment
    task = first.build_task()
    low, high = first.train_lengths(task)
    tokens = first.train.steps * first.train.batch * (low + high) // 2
    share = {"longest_90": "letters", "bits": "bits per label"}.get(
        sweep.measure, sweep.measure.replace("_", " ")
    )
    mark = "at most" if sweep.measure == "bits" else "at least"
    return (
        f"{sweep.name}: {sweep.caption}{' ' if sweep.caption else ''}{first.train.steps:,} steps of {first.train.batch:,} "
        f"words of {low if low == high else f'{low}-{high}'} letters, about {tokens:,} tokens a seed, in every row. "
        f"{share}: median over seeds, best seed in brackets, seeds with {mark} {sweep.good:g} of all; seeds that "
        "failed count as not reaching it."
    )


def sweep_json(sweep: Sweep, folder: SweepFolder) -> dict[str, Any]:
    """All results, cell by cell, with the caption and the table."""
    rows = []
    for row in sweep.rows:
        cells = [{"key": c.key, **(folder.result(c) or {"status": NOT_RUN})} for c in row.cells]
        rows.append({"row": row.name, "published": row.published, "cells": cells})
    return {
        "name": sweep.name,
        "caption": sweep_caption(sweep),
        "measure": sweep.measure,
        "table": sweep_table(sweep, folder),
        "rows": rows,
    }


def _check_texts(sweep: Sweep, folder: SweepFolder) -> None:
    seen: dict[str, str] = {}
    for cell in sweep.cells:
        found = folder.result(cell) or {}
        spec = cell.experiment.task.spec
        if spec.partition(":")[0] == "text" and "contract" in found:
            words = found["contract"]["words"]
            if seen.setdefault(spec, words) != words:
                raise InputError(
                    f"{cell.key}: its text is not that of other cells ({words}); remove it and run it again"
                )


def _columns(sweep: Sweep) -> list[str]:
    if sweep.measure == "longest_90":
        return ["longest"]
    experiments = [row.cells[0].experiment for row in sweep.rows]
    found = [length_text(x) for e in experiments for x in e.test_lengths(e.build_task())]
    return list(dict.fromkeys(found))


def _collect_values(
    row: SweepRow, sweep: Sweep, folder: SweepFolder, columns: list[str]
) -> tuple[int, dict[str, list[float]], int, bool]:
    """Seeds of the row, values by column of those that are done, failed seeds, whether one is being trained."""
    values: dict[str, list[float]] = {column: [] for column in columns}
    count = failed = 0
    running = False
    for cell in row.cells:
        own = len(cell.experiment.train.seeds)
        count += own
        found = folder.result(cell)
        if found is None:
            running = running or folder.claimant(cell) is not None
        elif found["status"] == "failed":
            failed += own
        elif sweep.measure == "longest_90":
            values["longest"] += found["result"]["longest_90"]
        else:
            for column in columns:
                worst = math.inf if sweep.measure == "bits" else 0.0
                seen = found["result"][sweep.measure].get(column, [])
                values[column] += [worst if x is None else x for x in seen]
    return count, values, failed, running


def _figures(values: list[float], count: int, sweep: Sweep) -> str:
    if not values:
        return "-"
    low = sweep.measure == "bits"
    best = min(values) if low else max(values)
    reached = sum(x <= sweep.good if low else x >= sweep.good for x in values)
    mid, top = (f"{x:,.0f}" if sweep.measure == "longest_90" else f"{x:.3f}" for x in (median(values), best))
    return f"{mid} ({top}), {reached} of {count}"


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
    rows = [(row.name, _results(row, folder)) for row in sweep.rows]
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


def _results(row: SweepRow, folder: SweepFolder) -> list[dict[str, Any]]:
    cells = [folder.result(cell) for cell in row.cells]
    done = [cell["result"] for cell in cells if cell is not None and cell["status"] == "done"]
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
