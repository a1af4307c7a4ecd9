"""What pages and papers draw alike: names under the x axis, marks and places of their labels, and which lines have symbols."""

from __future__ import annotations

from math import isfinite, log10
from typing import Literal

from .parts import Chart, Mark, Series

MOST_MARKED = 60
"""A line of more points is drawn without symbols."""


def names_of(chart: Chart) -> list[str]:
    """What stands under the x axis, where any x is a text."""
    every = [x for series in chart.series for x in series.x]
    return list(dict.fromkeys(map(str, every))) if any(isinstance(x, str) for x in every) else []


def mode_of(series: Series) -> Literal["markers", "lines", "lines+markers"]:
    """Symbols for points, and on lines where they are few or a point stands alone between gaps."""
    if series.kind == "points":
        return "markers"
    gaps = [True, *(y is None or not isfinite(y) for y in series.y), True]
    alone = any(a and not b and c for a, b, c in zip(gaps, gaps[1:], gaps[2:], strict=False))
    return "lines+markers" if alone or len(series.x) <= MOST_MARKED else "lines"


def drawn_marks(chart: Chart) -> tuple[list[Mark], list[Mark]]:
    """Marks on the x axis from the right, and on the y axis from below; without those that a logarithm leaves out."""
    shown = [m for m in chart.marks if isfinite(m.at) and (m.at > 0 or not _logarithmic(chart, m))]
    upright = sorted((m for m in shown if m.axis == "x"), key=lambda m: -m.at)
    return upright, sorted((m for m in shown if m.axis == "y"), key=lambda m: m.at)


def share(chart: Chart, mark: Mark) -> float:
    """Where a mark stands between the least (0) and the greatest (1) coordinate of its axis."""
    scale = log10 if _logarithmic(chart, mark) else float
    values: list[float] = [m.at for marks in drawn_marks(chart) for m in marks if m.axis == mark.axis]
    for series in chart.series:
        own = series.x if mark.axis == "x" else series.y
        values += [v for v in own if isinstance(v, int | float) and isfinite(v)]
    placed = [scale(v) for v in values if v > 0 or scale is float]
    low, high = min(placed), max(placed)
    return 0.5 if high == low else (scale(mark.at) - low) / (high - low)


def side(place: float) -> Literal["left", "right", "center"]:
    """To which side of its line a label is anchored, so that it stays within the plot."""
    return "left" if place < 0.3 else "right" if place > 0.7 else "center"


def _logarithmic(chart: Chart, mark: Mark) -> bool:
    return chart.log_x if mark.axis == "x" else chart.log_y
