"""Charts as figures of a paper: one column wide, 8 point text, TrueType fonts, with the data of each beside it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from math import isfinite, nan
from textwrap import fill
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ...foundation._errors import InputError
from .appearance import look
from .chart_data import csv_of, short
from .drawing import drawn_marks, mode_of, names_of, share, side
from .parts import Chart, Item, Picture, Section, Series

Format = Literal["png", "pdf", "svg"]
COLUMN = 3.25
"""Inches: a single column."""
NARROWEST, WIDEST = 1.5, 20.0
INK, QUIET = "#1d2126", "#7a7a7a"
_STYLE: Any = {
    "font.size": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "pdf.fonttype": 42, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 300, "hatch.linewidth": 0.5,
    "svg.fonttype": "none", "svg.hashsalt": "mirrormata",
}  # fmt: skip
_METADATA: dict[Format, dict[str, None]] = {
    "png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None, "Creator": None},
}  # fmt: skip
"""Nothing that differs from run to run."""
_DASHES = {"solid": "-", "dash": "--", "dot": ":"}
_CHARACTER = 0.062
"""Inches a letter of the legend takes, about."""


def paper_files(
    sections: Iterable[Section], kind: Format, width: float = COLUMN
) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file: a chart's figure and CSV, a table's CSV, a picture's SVG.

    `width`: of a figure, in inches; `InputError` where it is not from 1.5 to 20.
    """
    if not NARROWEST <= width <= WIDEST:
        raise InputError(f"width {width}: {NARROWEST:g} to {WIDEST:g} inches are possible")
    for section in sections:
        for item in section.items:
            yield from _files(item, kind, width)


def draw_chart(chart: Chart, kind: Format, width: float = COLUMN) -> bytes:
    """The figure of one chart; the same chart gives the same bytes."""
    with matplotlib.rc_context(_STYLE):
        figure = _figure(chart, width)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, metadata={**_METADATA[kind], "Title": chart.title})
    return stream.getvalue()


def _files(item: Item, kind: Format, width: float) -> Iterator[tuple[str, bytes]]:
    if isinstance(item, Picture):
        yield f"{item.slug}.svg", item.svg.encode("utf-8")
        return
    if isinstance(item, Chart):
        yield f"{item.slug}.{kind}", draw_chart(item, kind, width)
    yield f"{item.slug}.csv", csv_of(item).encode("utf-8")


def _figure(chart: Chart, width: float) -> Figure:
    names = list(dict.fromkeys((s.name, s.role, s.kind) for s in chart.series))
    most = int((width - 0.42) / _CHARACTER)
    longest = min(most, max((len(name) for name, _, _ in names), default=1))
    columns = max(1, min(len(names), int(width / (0.42 + _CHARACTER * longest))))
    rows = -(-len(names) // columns) if len(names) > 1 else 0
    height = width * (0.92 if chart.circle else 0.68) + 0.155 * rows
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    _scales(axes, chart, width)
    handles = _series(axes, chart)
    if chart.y_range is not None:
        axes.set_ylim(*chart.y_range)
    _marks(axes, chart)
    if rows:
        figure.legend(
            [handles[name] for name in names], [_plain(short(name, most)) for name, _, _ in names], loc="outside lower center",
            ncols=columns, frameon=False, handlelength=1.6, columnspacing=1.0, borderaxespad=0.1, labelspacing=0.25,
        )  # fmt: skip
    return figure


def _scales(axes: Axes, chart: Chart, width: float) -> None:
    axes.set_xlabel(_plain(fill(chart.x_label, int(width * 14))))
    axes.set_ylabel(_plain(fill(chart.y_label, int(width * 9))))
    axes.grid(color="#e8ebee", linewidth=0.5)
    axes.set_axisbelow(True)
    names = names_of(chart)
    if names:
        axes.set_xticks(range(len(names)), [_plain(short(name)) for name in names])
        if sum(len(short(name)) for name in names) > 40:
            axes.tick_params(axis="x", labelrotation=40)
    elif chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    if chart.circle:
        axes.set_aspect("equal", adjustable="datalim")
        axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=QUIET, linewidth=0.7))


def _series(axes: Axes, chart: Chart) -> dict[tuple[str, int, str], Any]:
    names = {name: i for i, name in enumerate(names_of(chart))}
    bars = list(dict.fromkeys((s.name, s.role) for s in chart.series if s.kind == "bars"))
    handles: dict[tuple[str, int, str], Any] = {}
    for series in chart.series:
        x = [names[str(v)] if names else float(v) for v in series.x]
        y = [nan if v is None or not isfinite(v) else v for v in series.y]
        if series.kind == "bars":
            drawn = _bars(axes, series, x, y, bars.index((series.name, series.role)), len(bars))
        else:
            drawn = _line(axes, series, x, y)
        handles.setdefault((series.name, series.role, series.kind), drawn)
    return handles


def _bars(axes: Axes, series: Series, x: list[float], y: list[float], place: int, count: int) -> Any:
    shown, width = look(series.role), 0.75 / count
    left = [v + (place - (count - 1) / 2) * width for v in x]
    return axes.bar(left, y, width, color=shown.colour, hatch=shown.hatch * 3, edgecolor="white", linewidth=0)


def _line(axes: Axes, series: Series, x: list[float], y: list[float]) -> Any:
    shown, points = look(series.role), series.kind == "points"
    size = 3.6 if points else 2.6
    (drawn,) = axes.plot(
        x, y, color=shown.colour, linestyle="none" if points else _DASHES[shown.dash], linewidth=1.1,
        marker=shown.marker if "markers" in mode_of(series) else "none",
        markersize=size + 2.2 if shown.hollow else size, markerfacecolor="none" if shown.hollow else shown.colour,
        markeredgecolor=shown.colour, markeredgewidth=0.9 if shown.hollow else 0.2,
        drawstyle="steps-post" if series.kind == "steps" else "default",
    )  # fmt: skip
    return drawn


def _marks(axes: Axes, chart: Chart) -> None:
    upright, level = drawn_marks(chart)
    for row, mark in enumerate(upright):
        axes.axvline(mark.at, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            _plain(short(mark.label, 40)), (mark.at, 1), (0, 2 + 8.5 * row), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", ha=side(share(chart, mark)), va="bottom", fontsize=7, color=INK,
        )  # fmt: skip
    for mark in level:
        axes.axhline(mark.at, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            _plain(short(mark.label, 40)), (1, mark.at), (0, 1.5), xycoords=axes.get_yaxis_transform(),
            textcoords="offset points", ha="right", va="bottom", fontsize=7, color=INK,
        )  # fmt: skip


def _plain(text: str) -> str:
    """Text that matplotlib shows as it is: no formula, no hidden label."""
    shown = text.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
