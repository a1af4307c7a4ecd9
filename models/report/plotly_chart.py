"""A chart as plotly's traces and layout, plain JSON; colours that depend on the page's theme are left to its script."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from textwrap import wrap
from typing import Any

from .appearance import Look, look
from .chart_data import short
from .parts import Chart, Series
from .plotly_marks import mark_lines
from .plotly_text import plotly_text

MOST_MARKED = 60
"""A line of more points is drawn without symbols."""
MOST_NAMES = 40
"""Names under an axis: of more of them plotly chooses some; long ones are cut short, and whole on hover."""


def plotly_chart(chart: Chart) -> dict[str, Any]:
    """`traces`, one a series, in order, and `layout`, with marks as labelled lines."""
    named = any(isinstance(x, str) for series in chart.series for x in series.x)
    x_axis: dict[str, Any] = {"title": {"text": _title(chart.x_label, 60)}, "type": "linear"}
    y_axis: dict[str, Any] = {"title": {"text": _title(chart.y_label, 36)}, "type": "linear"}
    x_axis["zeroline"] = y_axis["zeroline"] = chart.circle
    layout: dict[str, Any] = {"xaxis": x_axis, "yaxis": y_axis}
    if named:
        names = list(dict.fromkeys(str(x) for series in chart.series for x in series.x))
        values, texts = [drawn(name) for name in names], [plotly_text(short(name)) for name in names]
        x_axis.update(type="category", categoryorder="array", categoryarray=values)
        if len(names) <= MOST_NAMES:
            x_axis.update(tickmode="array", tickvals=values, ticktext=texts)
    elif chart.log_x:
        x_axis.update(_log_axis(x for series in chart.series for x in series.x))
    if chart.log_y:
        y_axis.update(_log_axis(y for series in chart.series for y in series.y))
    if chart.circle:
        x_axis["constrain"] = y_axis["constrain"] = "domain"
        y_axis["scaleanchor"] = "x"
    layout.update(mark_lines(chart))
    return {"traces": [_trace(series, chart, named) for series in chart.series], "layout": layout}


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


def mode_of(series: Series) -> str:
    """Symbols for points, and on lines where they are few or a point stands alone between gaps."""
    if series.kind == "points":
        return "markers"
    gaps = [True, *(drawn(y) is None for y in series.y), True]
    alone = any(a and not b and c for a, b, c in zip(gaps, gaps[1:], gaps[2:], strict=False))
    return "lines+markers" if alone or len(series.x) <= MOST_MARKED else "lines"


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
