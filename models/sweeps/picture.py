"""A sweep's picture: for each row a line, the median over its seeds at every position of the test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, get_args

from ...constructions.errors import InputError
from ...constructions.files import write_bytes
from ..report._data import Chart, Mark, Series
from ..report._paper import Format, draw_chart
from .file import Row, Sweep
from .run import SweepFolder

WIDTH = 5.0
"""Inches."""
_LABELS = {
    "bits": "bits a label, since the position before",
    "exact": "words without a wrong answer",
    "scaled_accuracy": "scaled accuracy at a position",
    "accuracy": "accuracy at a position",
}


def picture_format(path: str | Path) -> Format:
    """By the name's end; `InputError` for others than .png, .pdf and .svg."""
    suffix = Path(path).suffix[1:]
    for known in get_args(Format):
        if suffix == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"--picture {path}: pictures of sweeps are .png, .pdf or .svg")


def draw_sweep(sweep: Sweep, folder: SweepFolder, path: str | Path) -> bool:
    """Write the curves of all rows with results; whether there were any."""
    kind = picture_format(path)
    first = sweep.rows[0].cells[0].experiment
    trained = first.train_lengths(first.built_task())[1]
    rows = [(row.name, _results(row, folder)) for row in sweep.rows]
    chart = curves_chart(sweep.name, sweep.measure, rows, trained, str(folder.path))
    if chart is not None:
        write_bytes(path, draw_chart(chart, kind, WIDTH))
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
            seeds = sum(len(result["seeds"]) for result in results)
            series.append(Series(f"{row} ({seeds} seeds)", *_line(results, measure), "line", 4 + i))
    if not series:
        return None
    return Chart(
        "sweep", name, "A line for each row, the median over its seeds.", "letters read", _LABELS[measure],
        tuple(series), source, (Mark("x", trained, "training length"),), log_x=True,
    )  # fmt: skip


def _results(row: Row, folder: SweepFolder) -> list[dict[str, Any]]:
    cells = [folder.result(cell) for cell in row.cells]
    done = [cell["result"] for cell in cells if cell is not None and cell["status"] == "done"]
    return [result for result in done if "curve" in result]


def _line(results: list[dict[str, Any]], measure: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Positions where something was asked, and the median of all seeds at each."""
    chance = results[0]["chance"]
    entry = "accuracy" if "accuracy" in measure else measure
    seeds = [seed for result in results for seed in result["curve"][entry]]
    positions, middles = [], []
    for position, *values in zip(results[0]["curve"]["positions"], *seeds, strict=True):
        if known := [value for value in values if value is not None]:
            middle = median(known)
            positions.append(position)
            middles.append((middle - chance) / (1 - chance) if measure == "scaled_accuracy" else middle)
    return tuple(positions), tuple(middles)
