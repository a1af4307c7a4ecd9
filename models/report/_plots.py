"""Charts as plotly figures, and how things look: one colour and symbol for each role, in pages and in papers alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, inf, isfinite, log10, pi, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from ...foundation._extras import needed_by
from ._data import Chart, Mark, Series, shorten

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROLES = ("#0072B2", "#D55E00", "#4B8B3B", "#7A7A7A")
"""Constructed, learned, snapped, a bound; the first three are told apart where any one kind of cones is missing."""
GROUPS = ("#7F62C8", "#A6692C", "#128C9C", "#CC79A7", "#8A7A1B", "#D0416B")
"""Like the roles', these colours have a contrast of 3 or more to the ground of both themes."""
MARKED = (GROUPS[5], GROUPS[4], ROLES[0], ROLES[1], GROUPS[3])
"""Colours of marks."""
THEMES = {
    "light": {
        "ink": "#1d2126", "quiet": "#5f6975", "grid": "#e8ebee", "ground": "#ffffff", "card": "#ffffff",
        "line": "#dde1e6", "hover": "#f2f4f7", "link": "#0b5cab",
        "picture": "none", "shade": "#00000033",
    },
    "dark": {
        "ink": "#e4e7ea", "quiet": "#9ba5b0", "grid": "#2a3037", "ground": "#14171a", "card": "#1a1e22",
        "line": "#343b43", "hover": "#232930", "link": "#7fb4ee",
        "picture": "invert(1) hue-rotate(180deg)", "shade": "#ffffff40",
    },
    "print": {
        "ink": "#000000", "quiet": "#555555", "grid": "#e5e5e5", "ground": "#ffffff", "card": "#ffffff",
        "line": "#cccccc", "hover": "#ffffff", "link": "#000000",
        "picture": "none", "shade": "#00000000",
    },
}  # fmt: skip
"""Colours of a page and its plots: text, secondary text, grid, ground, and what only the page has; what it does with pictures."""
MOST_MARKED = 60
"""A line of more points is drawn without symbols."""
DASHES: dict[str, tuple[str, Any]] = {
    "solid": ("", "-"), "dash": ("6 3", (0, (4, 2))), "dot": ("1.5 2.5", (0, (1, 1.6))),
    "dashdot": ("6 2.5 1.5 2.5", (0, (4, 1.8, 1, 1.8))), "longdash": ("10 3", (0, (7, 2.2))),
    "longdashdot": ("10 2.5 1.5 2.5", (0, (7, 1.8, 1, 1.8))),
}  # fmt: skip
"""Plotly's name of a dash: its lengths in legends of a page, and matplotlib's."""
CIRCLE = 1.1
"""Where there is the unit circle both axes end here or farther out, by this factor beyond the farthest point."""


def _polygon(corners: int, turn: float = 0.0, inner: float = 1.0) -> str:
    angles = [(2 * pi * k / corners + turn, 5 * (inner if k % 2 else 1)) for k in range(corners)]
    return "M" + "L".join(f"{r * sin(a):.2f} {-r * cos(a):.2f}" for a, r in angles) + "Z"


SYMBOLS = {
    "circle": ("o", "M-4.6 0A4.6 4.6 0 1 1 4.6 0A4.6 4.6 0 1 1-4.6 0Z"),
    "diamond": ("D", _polygon(4)),
    "square": ("s", "M-4-4H4V4H-4Z"),
    "triangle-up": ("^", _polygon(3)),
    "triangle-down": ("v", _polygon(3, pi)),
    "cross": ("P", "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z"),
    "star": ("*", _polygon(10, inner=0.42)),
    "hexagon": ("h", _polygon(6)),
    "pentagon": ("p", _polygon(5)),
    "x": ("X", "M-5-2.8L-2.8-5L0-2.2L2.8-5L5-2.8L2.2 0L5 2.8L2.8 5L0 2.2L-2.8 5L-5 2.8L-2.2 0Z"),
}
"""Plotly's name of a symbol: matplotlib's name, and its outline in a square from -5 to 5 for legends."""


@dataclass(frozen=True)
class Look:
    """How a role is drawn. `hollow` symbols are larger rings: what lies on the same point is seen within them."""

    colour: str
    symbol: str
    dash: str
    hatch: str
    hollow: bool = False

    @property
    def marker(self) -> str:
        """Matplotlib's name of the symbol."""
        return SYMBOLS[self.symbol][0]

    @property
    def outline(self) -> str:
        """The symbol as an SVG path around 0."""
        return SYMBOLS[self.symbol][1]


def choose_look(role: int) -> Look:
    """The look of a role; 60 groups, roles 4 to 63, differ in colour or symbol, then they begin again."""
    if role < 0:
        raise ValueError(f"role {role}: roles count from 0")
    symbols, hatches = tuple(SYMBOLS), ("", "/", "x", ".")
    if role < len(ROLES):
        dash = ("solid", "solid", "dash", "dot")[role]
        return Look(ROLES[role], symbols[(0, 1, 2, 9)[role]], dash, hatches[role], hollow=role == 0)
    turn, colour = divmod(role - len(ROLES), len(GROUPS))
    symbol = symbols[(colour + 7 * turn) % len(symbols)]
    return Look(GROUPS[colour], symbol, tuple(DASHES)[(colour + turn) % len(DASHES)], hatches[turn % 4])


def choose_mark_looks(chart: Chart) -> list[tuple[Mark, Look]]:
    """The marks that the chart shows, with looks that differ in colour and dash; a mark of a series has its colour."""
    found, marks, dashes = list[tuple[Mark, Look]](), sort_marks(chart), tuple(DASHES)[1:]
    for i, mark in enumerate((*marks[0][::-1], *marks[1])):
        colour = MARKED[i % len(MARKED)] if mark.role is None else choose_look(mark.role).colour
        found.append((mark, Look(colour, "circle", dashes[i % len(dashes)], "")))
    return found


def choose_mode(series: Series) -> Literal["markers", "lines", "lines+markers"]:
    """Symbols for points, and on lines where they are few or a point stands alone between gaps."""
    if series.kind == "points":
        return "markers"
    gaps = [True, *(y is None or not isfinite(y) for y in series.y), True]
    alone = any(a and not b and c for a, b, c in zip(gaps, gaps[1:], gaps[2:], strict=False))
    return "lines+markers" if alone or len(series.x) <= MOST_MARKED else "lines"


def sort_marks(chart: Chart) -> tuple[list[Mark], list[Mark]]:
    """Marks on the x axis from the right, and on the y axis from below; without those that a logarithm leaves out."""
    shown = [m for m in chart.marks if isfinite(m.at) and (m.at > 0 or not _is_log(chart, m))]
    upright = sorted((m for m in shown if m.axis == "x"), key=lambda m: -m.at)
    return upright, sorted((m for m in shown if m.axis == "y"), key=lambda m: m.at)


def _is_log(chart: Chart, mark: Mark) -> bool:
    return chart.log_x if mark.axis == "x" else chart.log_y


def theme_template(theme: str) -> dict[str, Any]:
    """The plotly template of one of `THEMES`: all that depends on the page's theme, and what all plots share."""
    with needed_by("a report"):
        from plotly.graph_objects import layout

    c = THEMES[theme]
    axis = {"gridcolor": c["grid"], "zerolinecolor": c["quiet"], "zerolinewidth": 1, "showline": True, "linecolor": c["quiet"], "automargin": True}  # fmt: skip
    family = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
    template = layout.Template(layout={
        "font": {"family": family, "size": 12.5, "color": c["ink"]}, "xaxis": axis, "yaxis": axis,
        "hoverlabel": {"bgcolor": c["ground"], "bordercolor": c["quiet"], "font": {"color": c["ink"]}, "align": "left"},
        "shapedefaults": {"line": {"color": c["quiet"], "width": 1.5}},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "hovermode": "closest", "bargap": 0.25,
        "margin": {"l": 50, "r": 12, "b": 40, "t": 12},
    })  # fmt: skip
    found: dict[str, Any] = template.to_plotly_json()
    return found


def plot_chart(chart: Chart) -> Figure:
    """The chart as a plotly figure, a trace for each series in order; colours of the theme are left to the template."""
    with needed_by("a report"):
        from plotly.graph_objects import Figure

    names, marks = chart.names, choose_mark_looks(chart)
    figure = Figure([_make_trace(series, chart) for series in chart.series], {"template": "none"})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title_text=_wrap(chart.x_label, 60), zeroline=chart.circle, type="linear")
    figure.update_yaxes(title_text=_wrap(chart.y_label, 36), zeroline=chart.circle, type="linear")
    if names:  # plotly leaves out ticks where there is no room
        values = [escape_plotly(name) for name in names]
        short = {value: escape_plotly(shorten(name)) for value, name in zip(values, names, strict=True)}
        figure.update_xaxes(type="category", categoryorder="array", categoryarray=values, labelalias=short)
    elif chart.log_x:
        figure.update_xaxes(_log_axis([x for series in chart.series for x in series.x]))
    if chart.log_y:
        figure.update_yaxes(_log_axis([y for series in chart.series for y in series.y]))
    level = [m.at for m, _ in marks if m.axis == "y"]
    if chart.circle:
        figure.add_shape(type="circle", x0=-1, x1=1, y0=-1, y1=1, layer="below")
        every = [v for s in chart.series for v in (*s.x, *s.y)]
        end = CIRCLE * max([1.0, *(abs(v) for v in every if isinstance(v, int | float) and isfinite(v))])
        figure.update_xaxes(range=[-end, end], constrain="domain")
        figure.update_yaxes(range=[-end, end], constrain="domain", scaleanchor="x")
    elif chart.y_range is not None:
        figure.update_yaxes(range=list(chart.y_range))
    elif level:
        figure.update_yaxes(autorangeoptions_include=level)
    for mark, look in marks:
        along = {"x0": mark.at, "x1": mark.at, "y0": 0, "y1": 1, "yref": "paper"}
        if mark.axis == "y":
            along = {"x0": 0, "x1": 1, "xref": "paper", "y0": mark.at, "y1": mark.at}
        figure.add_shape(
            type="line", line={"color": look.colour, "dash": look.dash}, layer="between", **along
        )
    return figure


def escape_plotly(text: str) -> str:
    """Text that plotly shows as it is: neither markup nor a template."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%&#123;")


def _wrap(label: str, most: int) -> str:
    return "<br>".join(escape_plotly(line) for line in wrap(label, most))


def _log_axis(values: Iterable[float | str | None]) -> dict[str, Any]:
    """Ticks at powers of ten only, where the values span two of them; whole numbers are written out."""
    numbers = [float(v) for v in values if isinstance(v, int | float) and 0 < v < inf]
    if not numbers:
        return {"type": "log"}
    low, high = min(numbers), max(numbers)
    whole = all(v.is_integer() for v in numbers) and high <= 1e6
    ticks: dict[str, Any] = {"tickformat": ",d"} if whole else {"exponentformat": "power"}
    pad = max(0.03 * log10(high / low), 0.02)
    span = {"range": [log10(low) - pad, log10(high) + pad]} if whole else {}
    return {"type": "log", **ticks, **span, **({"dtick": 1} if high >= 100 * low else {"nticks": 6})}


def _make_trace(series: Series, chart: Chart) -> dict[str, Any]:
    named, points, look = bool(chart.names), series.kind == "points", choose_look(series.role)
    hover = [f"<b>{escape_plotly(series.name)}</b>"]
    hover += [f"{escape_plotly(chart.x_label)}: %{{x{'' if named else ':.6~g'}}}"]
    hover += [f"{escape_plotly(chart.y_label)}: %{{y:.6~g}}"]
    hover += [f"{escape_plotly(key)}: {escape_plotly(value)}" for key, value in series.filters]
    trace: dict[str, Any] = {
        "name": escape_plotly(series.name),
        "x": [escape_plotly(str(x)) if named else x for x in series.x],
        "y": [y if y is not None and isfinite(y) else None for y in series.y],
        "hovertemplate": "<br>".join([*hover, *["%{text}"] * bool(series.hover)]) + "<extra></extra>",
    }
    if series.hover:
        trace["text"] = [escape_plotly(text) for text in series.hover]
    if series.kind == "bars":
        bar = {"color": look.colour, "pattern": {"shape": look.hatch, "fgopacity": 0.6, "size": 6}}
        return {**trace, "type": "bar", "marker": bar, "textposition": "none"}
    size = 7 if points else 5
    marker: dict[str, Any] = {"color": look.colour, "symbol": look.symbol, "size": size, "opacity": 0.85}
    if look.hollow:
        ring = {"symbol": f"{look.symbol}-open", "size": size + 5, "line": {"width": 2}}
        marker = {"color": look.colour, **ring}
    shape = "hv" if series.kind == "steps" else "linear"
    line = {"color": look.colour, "dash": look.dash, "width": 2, "shape": shape}
    lines = {} if points else {"line": line, "connectgaps": False}
    return {**trace, "type": "scatter", "mode": choose_mode(series), "marker": marker, **lines}
