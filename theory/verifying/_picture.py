"""The dependency graph of the claims: which builds on which, the status by colour and by shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from .._verdict import status_in_words
from ..pictures._mirrors import picture_format, write_figure
from ._claim import Claim

_GREEN, _TEAL, _BLUE, _RED, _GREY = "#1b7f4d", "#0f766e", "#2563a8", "#b3261e", "#6b7280"
_ROUNDED, _SQUARE, _JAGGED = "round,pad=0,rounding_size=0.16", "square,pad=0", "roundtooth,pad=0"
_COLOURS = {
    "proved": _GREEN, "exhaustive": _TEAL, "supported": _BLUE, "refuted": _RED, "cited": _GREY, "unknown": _GREY,
}  # fmt: skip
_SHAPES = {
    **dict.fromkeys(("proved", "exhaustive", "supported"), _ROUNDED),
    "refuted": _SQUARE,
    **dict.fromkeys(("cited", "unknown"), _JAGGED),
}
_INK, _PAPER = "#1f2933", "#ffffff"
_HEIGHT, _ROW, _COLUMN = 0.3, 0.5, 2.3
_MARKS = {"proved": "✓", "exhaustive": "#", "supported": "≈", "refuted": "✗", "cited": "→", "unknown": "?"}
"""One sign a status, so that colours are not needed to tell them apart."""


def draw_claims(claims: Iterable[Claim], statuses: Mapping[str, str], path: str | Path) -> None:
    """Write the graph to an `.svg` or `.png` file; arrows go from a claim to those that build on it.

    Args:
        claims: the claims.
        statuses: by ID, one of `verdict.STATUSES` (unknown where absent): rounded where the check found the
            claim true, square where it is refuted, jagged where it is cited or unknown; each status has its
            own sign.
        path: an `.svg` or `.png` file.

    Raises:
        InputError: another file type.
    """
    kind = picture_format(path)
    listed = list(claims)
    known = {claim.id for claim in listed}
    edges = [(used, claim.id) for claim in listed for used in claim.uses if used in known]
    write_figure(lambda: _figure(listed, edges, statuses), path, kind)


def _figure(listed: list[Claim], edges: list[tuple[str, str]], statuses: Mapping[str, str]) -> Figure:
    centres = _centres([claim.id for claim in listed], edges)
    left, right = min(x for x, _ in centres.values()), max(x for x, _ in centres.values())
    low, high = min(y for _, y in centres.values()), max(y for _, y in centres.values())
    width, height = right - left + _COLUMN, high - low + _ROW + 0.6
    figure = Figure(figsize=(width, height), facecolor=_PAPER)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(left - _COLUMN / 2, right + _COLUMN / 2)
    axes.set_ylim(low - _ROW / 2 - 0.1, high + _ROW / 2 + 0.5)
    for used, user in edges:
        (x, y), (to, end) = centres[used], centres[user]
        _arrow(axes, (x + _width(used) / 2, y), (to - _width(user) / 2, end))
    for claim in listed:
        _box(axes, claim.id, centres[claim.id], statuses.get(claim.id, "unknown"))
    met = {statuses.get(claim.id, "unknown") for claim in listed}
    handles = [
        Line2D(
            [], [], marker="s", linestyle="", color=colour,
            label=f"{_MARKS[status]} {status_in_words(status)}",
        )
        for status, colour in _COLOURS.items()
        if status in met
    ]  # fmt: skip
    axes.legend(handles=handles, loc="upper left", ncols=len(handles), frameon=False, fontsize=9)
    return figure


def _centres(names: list[str], edges: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """What is used to the left of what uses it (Sugiyama's method), part after part in rows; single claims last."""
    from fast_sugiyama import from_edges

    single = [name for name in names if not any(name in edge for edge in edges)]
    # its own nodes, where an edge spans levels, are numbered from the count of the nodes that edges have: these come first
    names = [*(name for name in names if name not in single), *single]
    numbers = {name: i for i, name in enumerate(names)}
    linked = len(names) - len(single)
    pairs = sorted({(numbers[a], numbers[b]) for a, b in edges})
    layouts = from_edges(pairs, vertex_spacing=100, dummy_size=30) if pairs else []
    parts = [{int(i): xy for i, xy in layout[0] if int(i) < linked} for layout in layouts]
    parts.sort(key=lambda part: (-len(part), min(part)))
    parts += [{i: (0.0, 0.0)} for i in range(linked, len(names))]
    centres: dict[str, tuple[float, float]] = {}
    shelf, below, right, width = 0.0, 0.0, 0.0, 0.0
    for part in parts:
        levels = sorted({round(y, 6) for _, y in part.values()}, reverse=True)
        across = [x for x, _ in part.values()]
        size = (len(levels) * _COLUMN, (max(across) - min(across)) / 100 * _ROW + _ROW)
        width = max(width, size[0])
        if right + size[0] > width + 1e-6:
            shelf, right = below, 0.0
        for i, (x, y) in part.items():
            place = (right + levels.index(round(y, 6)) * _COLUMN, shelf - (x - min(across)) / 100 * _ROW)
            centres[names[i]] = place
        below, right = min(below, shelf - size[1]), right + size[0]
    return centres


def _box(axes: Any, name: str, centre: tuple[float, float], status: str) -> None:
    width = _width(name)
    corner = (centre[0] - width / 2, centre[1] - _HEIGHT / 2)
    style = _SHAPES[status].replace("roundtooth,pad=0", "roundtooth,pad=0,tooth_size=0.06")
    colour = _COLOURS[status]
    axes.add_patch(
        FancyBboxPatch(
            corner, width, _HEIGHT, boxstyle=style, facecolor=_PAPER, edgecolor=colour, lw=1.6, zorder=2
        )
    )
    text = f"{name} {_MARKS[status]}"
    axes.text(*centre, text, ha="center", va="center", size=8, color=_INK, zorder=3, parse_math=False)


def _width(name: str) -> float:
    return max(0.75, 0.085 * len(name) + 0.3)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=8,
            lw=0.8, color="#8a94a3", shrinkA=1, shrinkB=1, zorder=1,
        )
    )  # fmt: skip
