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
from matplotlib.ticker import FuncFormatter

from ...foundation._errors import InputError
from ._data import Chart, Mark, Picture, Section, Series, format_csv, shorten
from ._plots import DASHES, Look, choose_look, choose_mark_looks, choose_mode

Format = Literal["png", "pdf", "svg"]
COLUMN = 3.25
"""Inches: a single column."""
NARROWEST, WIDEST = 1.5, 20.0
QUIET = "#7a7a7a"
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
_CHARACTER = 0.062
"""Inches that a character of the legend takes, about."""


def draw_items(
    sections: Iterable[Section], kind: Format, width: float = COLUMN
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file: figure and CSV of each chart, CSV of each table, SVG of each picture.

    Args:
        sections: the sections whose items are drawn.
        kind: png, pdf or svg, for charts.
        width: the width of a figure in inches.

    Yields:
        The name and the content of each file.

    Raises:
        InputError: `width` is not between 1.5 and 20.
    """
    if not NARROWEST <= width <= WIDEST:
        raise InputError(f"width {width}: {NARROWEST:g} to {WIDEST:g} inches are possible")
    for item in (item for section in sections for item in section.every):
        if isinstance(item, Picture):
            yield f"{item.slug}.svg", item.svg.encode("utf-8")
            continue
        if isinstance(item, Chart):
            yield f"{item.slug}.{kind}", draw_chart(item, kind, width)
        yield f"{item.slug}.csv", format_csv(item).encode("utf-8")


def draw_chart(chart: Chart, kind: Format, width: float = COLUMN, *, title: bool = False) -> bytes:
    """Draw the figure of a chart. The same chart gives the same bytes.

    Args:
        chart: the chart that is drawn.
        kind: png, pdf or svg.
        width: the width in inches, from 1.5 to 20.
        title: whether the chart's title stands above it. In a paper the caption says it.

    Returns:
        The content of the file.
    """
    with matplotlib.rc_context(_STYLE):
        stream = io.BytesIO()
        metadata = {**_METADATA[kind], "Title": chart.title}
        figure = _draw_figure(chart, width)
        if title:
            figure.suptitle(_escape(fill(chart.title, int(width * 13))), fontsize=9, fontweight="bold")
        figure.savefig(stream, format=kind, metadata=metadata)
    return stream.getvalue()


def _draw_figure(chart: Chart, width: float) -> Figure:
    marks = choose_mark_looks(chart)
    names = list(dict.fromkeys((s.name, s.role, s.kind) for s in chart.series))
    labels = [*(name for name, _, _ in names), *(mark.label for mark, _ in marks)]
    most = int((width - 0.42) / _CHARACTER)
    longest = min(most, max((len(label) for label in labels), default=1))
    columns = max(1, min(len(labels), int(width / (0.42 + _CHARACTER * longest))))
    rows = -(-len(labels) // columns) if len(labels) > 1 else 0
    height = width * (0.92 if chart.circle else 0.68) + 0.155 * rows
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    _set_scales(axes, chart, width)
    handles = _draw_series(axes, chart)
    lines = [_draw_mark(axes, mark, look) for mark, look in marks]
    if chart.y_range is not None:
        axes.set_ylim(*chart.y_range)
    if rows:
        figure.legend(
            [*(handles[name] for name in names), *lines], [_escape(shorten(label, most)) for label in labels],
            loc="outside lower center", ncols=columns, frameon=False, handlelength=2.2, columnspacing=1.0,
            borderaxespad=0.1, labelspacing=0.25,
        )  # fmt: skip
    return figure


def _set_scales(axes: Axes, chart: Chart, width: float) -> None:
    axes.set_xlabel(_escape(fill(chart.x_label, int(width * 14))))
    axes.set_ylabel(_escape(fill(chart.y_label, int(width * 9))))
    axes.grid(color="#e8ebee", linewidth=0.5)
    axes.set_axisbelow(True)
    if names := chart.names:
        axes.set_xticks(range(len(names)), [_escape(shorten(name)) for name in names])
        if sum(len(shorten(name)) for name in names) > 40:
            axes.tick_params(axis="x", labelrotation=40)
    elif chart.log_x:
        axes.set_xscale("log")
        if all(float(x).is_integer() for series in chart.series for x in series.x):
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    if chart.log_y:
        axes.set_yscale("log")
    if chart.circle:
        axes.set_aspect("equal", adjustable="datalim")
        axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=QUIET, linewidth=0.7))


def _draw_series(axes: Axes, chart: Chart) -> dict[tuple[str, int, str], Any]:
    """What the legend shows of each name, role and kind."""
    names = {name: i for i, name in enumerate(chart.names)}
    bars = list(dict.fromkeys((s.name, s.role) for s in chart.series if s.kind == "bars"))
    handles: dict[tuple[str, int, str], Any] = {}
    for s in chart.series:
        x = [names[str(v)] if names else float(v) for v in s.x]
        y = [nan if v is None or not isfinite(v) else v for v in s.y]
        if s.kind == "bars":
            look, width = choose_look(s.role), 0.75 / len(bars)
            left = [v + (bars.index((s.name, s.role)) - (len(bars) - 1) / 2) * width for v in x]
            style: Any = {"color": look.colour, "hatch": look.hatch * 3, "edgecolor": "white", "linewidth": 0}
            drawn: Any = axes.bar(left, y, width, **style)
        else:
            drawn = _draw_line(axes, s, x, y)
        handles.setdefault((s.name, s.role, s.kind), drawn)
    return handles


def _draw_line(axes: Axes, series: Series, x: list[float], y: list[float]) -> Any:
    look, points = choose_look(series.role), series.kind == "points"
    size = 3.6 if points else 2.6
    (drawn,) = axes.plot(
        x, y, color=look.colour, linestyle="none" if points else DASHES[look.dash][1], linewidth=1.1,
        marker=look.marker if "markers" in choose_mode(series) else "none",
        markersize=size + 2.2 if look.hollow else size, markerfacecolor="none" if look.hollow else look.colour,
        markeredgecolor=look.colour, markeredgewidth=0.9 if look.hollow else 0.2,
        drawstyle="steps-post" if series.kind == "steps" else "default",
    )  # fmt: skip
    return drawn


def _draw_mark(axes: Axes, mark: Mark, look: Look) -> Any:
    """A line across the chart, which the legend names."""
    draw = axes.axvline if mark.axis == "x" else axes.axhline
    return draw(mark.at, color=look.colour, linewidth=0.9, linestyle=DASHES[look.dash][1], zorder=1)


def _escape(text: str) -> str:
    """Text that matplotlib shows as it is: no formula, no hidden label."""
    shown = text.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
