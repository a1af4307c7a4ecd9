"""The dependency graph of the claims: which builds on which, the status by colour and by shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve

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
_HEIGHT, _ROW, _GAP, _END = 0.36, 0.56, 0.7, 0.1
"""Inches: height of a box, distance of rows, room for arrows between columns, their least level end."""
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
    centres, ways = _place([claim.id for claim in listed], edges)
    left = min(x - _width(name) / 2 for name, (x, _) in centres.items())
    right = max(x + _width(name) / 2 for name, (x, _) in centres.items())
    low, high = min(y for _, y in centres.values()), max(y for _, y in centres.values())
    width, height = right - left + 0.2, high - low + _ROW + 0.7
    figure = Figure(figsize=(width, height), facecolor=_PAPER)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(left - 0.1, right + 0.1)
    axes.set_ylim(low - _ROW / 2 - 0.1, high + _ROW / 2 + 0.6)
    for way in ways:
        _arrow(axes, way)
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
    axes.legend(
        handles=handles, loc="upper left", ncols=len(handles), frameon=False, fontsize=11,
        title="Claims: an arrow goes from a claim to those that use it", title_fontsize=11, alignment="left",
    )  # fmt: skip
    return figure


_Point = tuple[float, float]


def _place(names: list[str], edges: list[tuple[str, str]]) -> tuple[dict[str, _Point], list[list[_Point]]]:
    """Centres of boxes, and the points of each edge: from a point with an even place to the next it runs level, past boxes.

    What is used is to the left of what uses it (Sugiyama's method), part after part in rows; single claims come last.
    """
    from fast_sugiyama import from_edges

    single = [name for name in names if not any(name in edge for edge in edges)]
    # its own nodes, where an edge spans levels, are numbered from the count of the nodes that edges have: these come first
    names = [*(name for name in names if name not in single), *single]
    numbers = {name: i for i, name in enumerate(names)}
    linked = len(names) - len(single)
    pairs = sorted({(numbers[a], numbers[b]) for a, b in edges})
    layouts = from_edges(pairs, vertex_spacing=100, dummy_size=30) if pairs else []
    parts = [
        ({int(i): xy for i, xy in layout[0]}, [(int(a), int(b)) for a, b in layout[3] or ()])
        for layout in layouts
    ]
    parts.sort(key=lambda part: (-len(part[0]), min(part[0])))
    parts += [({i: (0.0, 0.0)}, []) for i in range(linked, len(names))]
    centres, ways = dict[str, _Point](), list[list[_Point]]()
    shelf, below, right, width = 0.0, 0.0, 0.0, 0.0
    for part, steps in parts:
        levels = sorted({round(y, 6) for _, y in part.values()}, reverse=True)
        across = [x for x, _ in part.values()]
        level_of = {i: levels.index(round(y, 6)) for i, (_, y) in part.items()}
        # a node of a single claim is one beyond those that are linked, and is no bend of an edge
        boxes = [i for i in part if i < linked or not steps]
        wide = [
            max((_width(names[i]) for i in boxes if level_of[i] == k), default=0.3)
            for k in range(len(levels))
        ]
        size = (sum(wide) + _GAP * len(wide), (max(across) - min(across)) / 100 * _ROW + _ROW)
        width = max(width, size[0])
        if right + size[0] > width + 1e-6:
            shelf, right = below, 0.0
        middles = [right + sum(wide[:k]) + _GAP * k + wide[k] / 2 for k in range(len(wide))]
        place = {
            i: (middles[level_of[i]], shelf - (x - min(across)) / 100 * _ROW) for i, (x, _) in part.items()
        }
        column, box = (
            {i: wide[level_of[i]] / 2 + _END for i in part},
            {i: _width(names[i]) / 2 for i in boxes},
        )
        centres |= {names[i]: place[i] for i in boxes}
        after = dict(steps)  # of the nodes that edges bend at, each of which has one step
        for start, node in steps:
            if start < linked:
                way = [start, node]
                while way[-1] >= linked:
                    way.append(after[way[-1]])
                first, last = way[0], way[-1]
                sides = [
                    (first, box[first]),
                    *[(i, s * column[i]) for i in way for s in (-1, 1)][1:-1],
                    (last, -box[last]),
                ]
                ways.append([(place[i][0] + side, place[i][1]) for i, side in sides])
        below, right = min(below, shelf - size[1]), right + size[0]
    return centres, ways


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
    axes.text(*centre, text, ha="center", va="center", size=11, color=_INK, zorder=3, parse_math=False)


def _width(name: str) -> float:
    return max(0.8, 0.098 * len(name) + 0.42)


def _curve_of(way: list[_Point]) -> Curve:
    """Along the points, level and in curves by turns."""
    points, codes = way[:2], [Curve.MOVETO, Curve.LINETO]
    for begin, end, beyond in zip(way[1::2], way[2::2], way[3::2], strict=False):
        middle = (begin[0] + end[0]) / 2
        points += [(middle, begin[1]), (middle, end[1]), end, beyond]
        codes += [*[Curve.CURVE4] * 3, Curve.LINETO]
    return Curve(points, codes)


def _arrow(axes: Any, way: list[_Point]) -> None:
    style: Any = {
        "arrowstyle": "-|>",
        "mutation_scale": 9,
        "lw": 0.9,
        "color": "#7b8594",
        "shrinkA": 1,
        "shrinkB": 1,
    }
    axes.add_patch(FancyArrowPatch(path=_curve_of(way), zorder=1, **style))
