"""A chart as plotly's traces and layout, plain JSON; colours that depend on the page's theme are left to its script."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite, log10
from textwrap import wrap
from typing import Any

from .appearance import Look, look
from .chart_data import short
from .drawing import drawn_marks, mode_of, names_of, share, side
from .parts import Chart, Mark, Series

MOST_NAMES = 40
"""Names under an axis: of more of them plotly chooses some; long ones are cut short, and whole on hover."""
ROW, TOP = 16, 14
"""Pixels: height of a row of labels, margin above a plot without any."""
NEAR = 0.07
"""Horizontal lines that are nearer, in parts of the axis, have their labels at different ends."""
CIRCLE = [-1.1, 1.1]
"""What both axes show at least where there is the unit circle."""
_WRITTEN = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "%{": "%&#123;"}


def plotly_chart(chart: Chart) -> dict[str, Any]:
    """`traces`, one a series, in order, and `layout`, with marks as labelled lines."""
    names = names_of(chart)
    x_axis: dict[str, Any] = {"title": {"text": _title(chart.x_label, 60)}, "type": "linear"}
    y_axis: dict[str, Any] = {"title": {"text": _title(chart.y_label, 36)}, "type": "linear"}
    x_axis["zeroline"] = y_axis["zeroline"] = chart.circle
    layout: dict[str, Any] = {"xaxis": x_axis, "yaxis": y_axis}
    if names:
        values, texts = [drawn(name) for name in names], [plotly_text(short(name)) for name in names]
        x_axis.update(type="category", categoryorder="array", categoryarray=values)
        if len(names) <= MOST_NAMES:
            x_axis.update(tickmode="array", tickvals=values, ticktext=texts)
    elif chart.log_x:
        x_axis.update(_log_axis(x for series in chart.series for x in series.x))
    if chart.log_y:
        y_axis.update(_log_axis(y for series in chart.series for y in series.y))
    least = [m.at for m in drawn_marks(chart)[1]]
    if chart.circle:
        least += CIRCLE
        x_axis["autorangeoptions"] = {"include": CIRCLE}
        x_axis["constrain"] = y_axis["constrain"] = "domain"
        y_axis["scaleanchor"] = "x"
    if chart.y_range is not None:
        y_axis["range"] = list(chart.y_range)
    elif least:
        y_axis["autorangeoptions"] = {"include": least}
    layout.update(_mark_lines(chart))
    return {"traces": [_trace(series, chart, bool(names)) for series in chart.series], "layout": layout}


def plotly_text(text: str) -> str:
    """Text that plotly shows as it is: neither markup nor a template."""
    for sign, written in _WRITTEN.items():
        text = text.replace(sign, written)
    return text


def drawn(value: float | str | None) -> float | str | None:
    """A coordinate as plotly takes it: escaped text, a finite number, or None for a gap."""
    if isinstance(value, str):
        return plotly_text(value)
    return value if value is not None and isfinite(value) else None


def _title(label: str, most: int) -> str:
    return "<br>".join(plotly_text(line) for line in wrap(label, most))


def _log_axis(values: Iterable[float | str | None]) -> dict[str, Any]:
    """Ticks at powers of ten only, where the values span two of them."""
    numbers = [v for v in values if isinstance(v, int | float) and 0 < v < inf]
    wide = bool(numbers) and max(numbers) >= 100 * min(numbers)
    return {"type": "log", "exponentformat": "power", **({"dtick": 1} if wide else {"nticks": 6})}


def _trace(series: Series, chart: Chart, named: bool) -> dict[str, Any]:
    shown = look(series.role)
    number = "" if named else ":.6~g"
    hover = (
        f"<b>{plotly_text(series.name)}</b><br>{plotly_text(chart.x_label)}: %{{x{number}}}"
        f"<br>{plotly_text(chart.y_label)}: %{{y:.6~g}}"
    )
    hover += "".join(f"<br>{plotly_text(key)}: {plotly_text(value)}" for key, value in series.filters)
    trace: dict[str, Any] = {
        "name": plotly_text(series.name),
        "x": [drawn(str(x) if named else x) for x in series.x],
        "y": [drawn(y) for y in series.y],
        "hovertemplate": hover + ("<br>%{text}" if series.hover else "") + "<extra></extra>",
        "showlegend": False,
    }
    if series.hover:
        trace["text"] = [plotly_text(text) for text in series.hover]
        trace["textposition"] = "none" if series.kind == "bars" else "top center"
    if series.kind == "bars":
        return {**trace, "type": "bar", "marker": _bar(shown)}
    return {
        **trace,
        "type": "scatter",
        "mode": mode_of(series),
        **_line(series, shown),
        "marker": _marker(series, shown),
    }


def _bar(shown: Look) -> dict[str, Any]:
    return {"color": shown.colour, "pattern": {"shape": shown.hatch, "fgopacity": 0.6, "size": 6}}


def _line(series: Series, shown: Look) -> dict[str, Any]:
    if series.kind == "points":
        return {}
    shape = "hv" if series.kind == "steps" else "linear"
    return {
        "line": {"color": shown.colour, "dash": shown.dash, "width": 2, "shape": shape},
        "connectgaps": False,
    }


def _marker(series: Series, shown: Look) -> dict[str, Any]:
    size = 7 if series.kind == "points" else 5
    if shown.hollow:
        return {
            "color": shown.colour,
            "symbol": f"{shown.symbol}-open",
            "size": size + 5,
            "line": {"width": 2},
        }
    return {"color": shown.colour, "symbol": shown.symbol, "size": size, "opacity": 0.85}


def _mark_lines(chart: Chart) -> dict[str, Any]:
    """`shapes`, `annotations`, and the `margin` that makes room for them; the unit circle is a shape too."""
    shapes: list[dict[str, Any]] = []
    if chart.circle:
        shapes.append({"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "layer": "below"})
    upright, level = drawn_marks(chart)
    shapes += [_mark_line(mark) for mark in (*upright, *level)]
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


def _mark_line(mark: Mark) -> dict[str, Any]:
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
