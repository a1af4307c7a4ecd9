"""Marks of a chart as plotly's shapes and annotations: labels of vertical lines above the plot, one a row."""

from __future__ import annotations

from math import isfinite, log10
from typing import Any, Literal

from .parts import Chart, Mark
from .plotly_text import plotly_text

ROW, TOP = 16, 14
"""Pixels: height of a row of labels, margin above a plot without any."""
NEAR = 0.07
"""Horizontal lines that are nearer, in parts of the axis, have their labels at different ends."""


def mark_lines(chart: Chart) -> dict[str, Any]:
    """`shapes`, `annotations`, and the `margin` that makes room for them; the unit circle is a shape too."""
    shapes: list[dict[str, Any]] = []
    if chart.circle:
        shapes.append({"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "layer": "below"})
    upright, level = drawn_marks(chart)
    shapes += [_line(mark) for mark in (*upright, *level)]
    labels = [_above(mark, row, share(chart, mark)) for row, mark in enumerate(upright)]
    last, end = -1.0, 1
    for mark in level:
        place = share(chart, mark)
        end = 1 - end if place - last < NEAR else 1
        last = place
        labels.append(_beside(mark, end, chart.log_y))
    for label, mark in zip(labels, upright, strict=False):
        label["x"] = log10(mark.at) if chart.log_x else mark.at
    return {"shapes": shapes, "annotations": labels, "margin": {"t": TOP + ROW * len(upright)}}


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


def _line(mark: Mark) -> dict[str, Any]:
    line = {"type": "line", "line": {"width": 1.5, "dash": "dash"}, "layer": "below"}
    if mark.axis == "x":
        return {**line, "x0": mark.at, "x1": mark.at, "y0": 0, "y1": 1, "yref": "paper"}
    return {**line, "y0": mark.at, "y1": mark.at, "x0": 0, "x1": 1, "xref": "paper"}


def _above(mark: Mark, row: int, place: float) -> dict[str, Any]:
    return {
        "text": plotly_text(mark.label), "xref": "x", "yref": "paper", "y": 1, "yshift": ROW * row,
        "xanchor": side(place), "yanchor": "bottom", "showarrow": False,
    }  # fmt: skip


def _beside(mark: Mark, end: int, logarithmic: bool) -> dict[str, Any]:
    return {
        "text": plotly_text(mark.label), "xref": "paper", "x": end, "xanchor": "right" if end else "left",
        "yref": "y", "y": log10(mark.at) if logarithmic else mark.at, "yanchor": "bottom", "showarrow": False,
    }  # fmt: skip
