"""A sweep's picture: for each row a line, the median over its seeds at every position of the test."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, get_args

from ...constructions.errors import InputError
from ...constructions.files import write_bytes
from ..report.paper import Format, draw_chart
from ..report.parts import Chart, Mark, Series
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
    """By the name's end; `InputError` for others than .png and .pdf."""
    suffix = Path(path).suffix[1:]
    for known in get_args(Format):
        if suffix == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"--picture {path}: pictures of sweeps are .png or .pdf")


def draw_sweep(sweep: Sweep, folder: SweepFolder, path: str | Path) -> bool:
    """Write `sweep_chart` as .png or .pdf; whether there was anything to draw."""
    kind, chart = picture_format(path), sweep_chart(sweep, folder)
    if chart is not None:
        write_bytes(path, draw_chart(chart, kind, WIDTH))
    return chart is not None


def sweep_chart(sweep: Sweep, folder: SweepFolder) -> Chart | None:
    """Lines of the rows with results, None without any; seeds that failed are not in them."""
    measure = "accuracy" if sweep.measure == "longest_90" else sweep.measure
    found = [(row, _results(row, folder)) for row in sweep.rows]
    series = tuple(
        Series(f"{row.name} ({sum(len(r['seeds']) for r in results)} seeds)", *_line(results, measure), "line", 4 + i)
        for i, (row, results) in enumerate(found)
        if results
    )  # fmt: skip
    if not series:
        return None
    first = sweep.rows[0].cells[0].experiment
    trained = first.train_lengths(first.built_task())[1]
    return Chart(
        "sweep", sweep.name, "A line for each row, the median over its seeds.", "letters read", _LABELS[measure],
        series, str(folder.path), (Mark("x", trained, "training length"),), log_x=True,
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
