"""A panel in two dimensions, and the number line: states as points, mirrors as lines through the origin."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke

from .mirror_head import TOLERANCE, DrawnHead, DrawnLetter, Floats

MIRRORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9")
"""Colours of C_1, C_2, ... (a palette for all kinds of colour vision)."""
POINT, ARROW, START = "#222222", "#777777", "#222222"
FEW = 16
"""Up to so many points get names and arrows."""


def mirror_colour(j: int) -> str:
    """Colour of the factor applied j-th, from 0."""
    return MIRRORS[j % len(MIRRORS)]


def mirror_name(j: int) -> str:
    """`C₁` for the factor applied first, j = 0."""
    return "C" + "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(j + 1))


def draw_plane(axes: Axes, head: DrawnHead, letter: DrawnLetter) -> None:
    """States, mirrors, keys, the letter's arrows and the start's way from mirror to mirror."""
    points = head.points
    assert points is not None
    radius = extent(points)
    axes.set_xlim(-1.5 * radius, 1.5 * radius)
    axes.set_ylim(-1.5 * radius, 1.5 * radius)
    for j, (key, size) in enumerate(zip(letter.keys, letter.sizes, strict=True)):
        along = 1.3 * radius * key @ [[0, 1], [-1, 0]]
        style = "-" if abs(size - 2) < TOLERANCE else "--"
        axes.plot(
            [-along[0], along[0]], [-along[1], along[1]], style, color=mirror_colour(j), lw=1.6, zorder=2
        )
        end = along * (1 if (along[1] > 0) == (j % 2 == 0) else -1) * 1.08
        _note(axes, end, mirror_name(j), mirror_colour(j), bold=True)
        key_arrow(axes, key * 0.5 * radius, mirror_colour(j))
    axes.plot(points[:, 0], points[:, 1], ".", color=POINT, ms=7 if len(points) <= 24 else 4, zorder=5)
    axes.plot(*points[head.start], "o", mfc="none", mec=START, ms=10, mew=1.1, zorder=8)
    if len(points) <= FEW:
        for c, image in enumerate(letter.images):
            back = int(letter.images[image]) == c
            if image != c and not (back and image < c):
                arrow(axes, points[c], points[image], both=back)
        middle = points.mean(axis=0)
        if float(middle @ middle) < (0.1 * radius) ** 2:
            middle = 0 * middle
        for name, p in zip(head.names, points, strict=False):
            if len(name) <= 8:
                way = p - middle
                _note(axes, p + way * 0.21 * radius / max(float((way @ way) ** 0.5), TOLERANCE), name, POINT)
    elif letter.images[head.start] != head.start:
        arrow(axes, points[head.start], points[letter.images[head.start]])
    way = start_way(head, letter)
    for j, (a, b) in enumerate(pairwise(way)):
        axes.plot([a[0], b[0]], [a[1], b[1]], ":", color=mirror_colour(j), lw=1.5, zorder=4)
        axes.plot(*b, "o", mfc="white", mec=mirror_colour(j), ms=3.5, zorder=4.5)
    if letter.transition.additive and letter.shift is not None:
        a, b = way[-1], way[-1] + letter.shift
        axes.plot([a[0], b[0]], [a[1], b[1]], ":", color=POINT, lw=1.5, zorder=4)


def draw_line(axes: Axes, head: DrawnHead, letter: DrawnLetter) -> None:
    """The number line: two states, and the mirror at 0 that exchanges them."""
    points = head.points
    assert points is not None
    x = points[:, 0]
    radius = extent(points)
    axes.set_xlim(-1.6 * radius, 1.6 * radius)
    axes.set_ylim(-0.75, 0.95)
    axes.plot([-1.45 * radius, 1.45 * radius], [0, 0], color="#b5b5b5", lw=1, zorder=1)
    for j in range(len(letter.sizes)):
        at = 0.05 * radius * (j - (len(letter.sizes) - 1) / 2)
        style = "-" if abs(letter.sizes[j] - 2) < TOLERANCE else "--"
        axes.plot([at, at], [-0.55, 0.75], style, color=mirror_colour(j), lw=1.8, zorder=2)
        axes.annotate("", (0.45 * radius, 0), (0, 0), arrowprops=_key_style(mirror_colour(j)), zorder=3)
    axes.plot(x, 0 * x, ".", color=POINT, ms=8, zorder=5)
    axes.plot(x[head.start], 0, "o", mfc="none", mec=START, ms=11, mew=1.1, zorder=6)
    for c, name in enumerate(head.names):
        if len(name) <= 12:
            on_mirror = abs(x[c]) < TOLERANCE and len(letter.sizes) > 0
            lifted: dict[str, Any] = {
                "path_effects": [withStroke(linewidth=2.5, foreground="white")],
                "zorder": 7,
            }
            axes.text(x[c], -0.3, name, ha="center", va="top", fontsize=7.5, **(lifted if on_mirror else {}))
    for c, image in enumerate(letter.images):
        back = int(letter.images[image]) == c
        if image != c and not (back and image < c):
            a, b = float(x[c]), float(x[image])
            if back:
                a, b = sorted((a, b))
            style = "<|-|>" if back else "-|>"
            bow = FancyArrowPatch((a, 0.08), (b, 0.08), arrowstyle=style, mutation_scale=8, color=ARROW, lw=1,
                                  connectionstyle=f"arc3,rad={-0.25 if a < b else 0.25}", shrinkA=3, shrinkB=3)  # fmt: skip
            axes.add_patch(bow)


def extent(points: Floats) -> float:
    """Largest distance from the origin, 1 where all points lie there."""
    return float((points**2).sum(axis=1).max()) ** 0.5 or 1.0


def start_way(head: DrawnHead, letter: DrawnLetter) -> list[Floats]:
    """The start, gated, and where each factor in turn takes it; only the start where the letter is no product."""
    assert head.points is not None
    way = [head.points[head.start] * letter.gate]
    for key, size in zip(letter.keys, letter.sizes, strict=True):
        way.append(way[-1] - size * key * float(key @ way[-1]))
    return way


def arrow(axes: Axes, a: Floats, b: Floats, *, both: bool = False, colour: str = ARROW, z: float = 3) -> None:
    """An arrow between two points of the picture."""
    axes.add_patch(
        FancyArrowPatch(
            (a[0], a[1]), (b[0], b[1]), arrowstyle="<|-|>" if both else "-|>", mutation_scale=8, color=colour,
            lw=0.9, shrinkA=4, shrinkB=4, zorder=z,
        )
    )  # fmt: skip


def key_arrow(axes: Axes, tip: Floats, colour: str) -> None:
    """A key as a short arrow from the origin."""
    axes.annotate("", (tip[0], tip[1]), (0, 0), arrowprops=_key_style(colour), zorder=4)


def _key_style(colour: str) -> dict[str, object]:
    return {"arrowstyle": "->", "color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}


def _note(axes: Axes, at: Floats, text: str, colour: str, *, bold: bool = False) -> None:
    axes.text(
        at[0], at[1], text, color=colour, fontsize=8 if bold else 7, fontweight="bold" if bold else "normal",
        ha="center", va="center", zorder=7, path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip
