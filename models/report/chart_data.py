"""The data of a chart or table as CSV, and as cells of a readable table: every point, and what a reader may filter by."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from .parts import Cell, Chart, Table


def filter_keys(chart: Chart) -> tuple[str, ...]:
    """By what the series of a chart can be picked, in the order of their first use."""
    return tuple(dict.fromkeys(key for series in chart.series for key, _ in series.filters))


def picked_keys(chart: Chart) -> tuple[str, ...]:
    """Those of them that have several values, so that there is something to pick."""
    return tuple(key for key in filter_keys(chart) if len(filter_values(chart, key)) > 1)


def filter_values(chart: Chart, key: str) -> tuple[str, ...]:
    """The values of one such key, in the order of their first use."""
    return tuple(dict.fromkeys(v for series in chart.series for k, v in series.filters if k == key))


def chart_columns(chart: Chart) -> tuple[str, ...]:
    """Headings of a chart's data: series, filters, x, y, and a note where points have hover texts."""
    note = ("note",) if any(series.hover for series in chart.series) else ()
    return ("series", *filter_keys(chart), chart.x_label, chart.y_label, *note)


def chart_rows(chart: Chart) -> list[tuple[Cell, ...]]:
    """A row for each point of each series, in order."""
    keys, noted = filter_keys(chart), any(series.hover for series in chart.series)
    rows: list[tuple[Cell, ...]] = []
    for series in chart.series:
        chosen = dict(series.filters)
        for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            note = ((series.hover[i] if series.hover else None),) if noted else ()
            rows.append((series.name, *(chosen.get(key) for key in keys), x, y, *note))
    return rows


def csv_of(item: Chart | Table) -> str:
    """Comma-separated values (RFC 4180) with exact numbers; None is an empty cell."""
    if isinstance(item, Chart):
        return _csv(chart_columns(item), chart_rows(item))
    return _csv(item.columns, item.rows)


def cell_text(cell: Cell) -> str:
    """A cell for reading: numbers of six digits, yes and no, a dash for what was not measured."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.6g}" if isinstance(cell, float) else cell


def short(name: str, most: int = 18) -> str:
    """A name of at most so many letters, for a tick or a legend; what is cut off is said by an ellipsis."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _csv(columns: Iterable[str], rows: Iterable[tuple[Cell, ...]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()
