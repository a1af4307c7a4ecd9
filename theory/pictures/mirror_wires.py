"""A panel for many dimensions: coordinates as wires from top to bottom, factors in the order applied."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.patches import PathPatch

from ...constructions.householder import GHFactor
from ...constructions.show import number_text, vector_text
from .mirror_head import DrawnHead, DrawnLetter

MIXED = "#9a9a9a"
LEVEL = 0.42
"""Inches for one factor."""


def wires_size(head: DrawnHead) -> tuple[float, float]:
    """Width and height of a panel in inches."""
    levels = max((len(letter.sizes) for letter in head.letters), default=0)
    if any(letter.transition.matrix is not None for letter in head.letters):
        levels = max(levels, 3)
    return max(1.9, 0.34 * head.dim + 0.7), LEVEL * max(levels, 1) + 0.75


def draw_wires(axes: Axes, head: DrawnHead, letter: DrawnLetter) -> None:
    """The tokens 1, ..., n at the top, each in its colour, and where the factors carry them, with signs."""
    n = head.dim
    width, height = wires_size(head)
    bottom = -(height - 0.75) / LEVEL
    axes.set_xlim(-0.5 - 0.7 / 0.34 * 0.62, n - 0.5 + 0.7 / 0.34 * 0.38) if width > 1.9 else _centre(axes, n)
    axes.set_ylim(bottom - 0.9, 0.9)
    small = 8 if n <= 16 else 6
    for i in range(n):
        axes.text(i, 0.42, str(i + 1), color=wire_colour(i, n), fontsize=small, fontweight="bold", ha="center")
    if letter.transition.matrix is not None:
        _matrix(axes, letter, n, bottom, small)
        return
    token: list[tuple[int, int] | None] = [(i, 1) for i in range(n)]
    level = 0.0
    for j, factor in enumerate(letter.transition.factors):
        axes.text(-0.75, level - 0.5, f"C{_subscript(j + 1)}", fontsize=8, ha="right", va="center", color="#444444")
        token = _factor(axes, factor, token, level, n)
        level -= 1
    for i, carried in enumerate(token):
        colour = MIXED if carried is None else wire_colour(carried[0], n)
        axes.plot([i, i], [level, bottom], color=colour, lw=1.8, solid_capstyle="round")
        if carried is not None and letter.gate == 1:
            text = ("-" if carried[1] < 0 else "") + str(carried[0] + 1)
            axes.text(i, bottom - 0.18, text, color=colour, fontsize=small, fontweight="bold", ha="center", va="top")


def wire_colour(i: int, n: int) -> str:
    """Colour of token i of n."""
    palette = colormaps["tab10" if n <= 10 else "turbo"]
    r, g, b, _ = palette(i if n <= 10 else 0.05 + 0.9 * i / (n - 1))
    return f"#{round(255 * r):02x}{round(255 * g):02x}{round(255 * b):02x}"


def _centre(axes: Axes, n: int) -> None:
    half = 1.9 / 0.34 / 2
    axes.set_xlim((n - 1) / 2 - half - 0.3, (n - 1) / 2 + half - 0.3)


def _factor(
    axes: Axes, factor: GHFactor, token: list[tuple[int, int] | None], level: float, n: int
) -> list[tuple[int, int] | None]:
    """Draw one factor between `level` and `level - 1`; the tokens after it, None where coordinates are mixed."""
    after = list(token)
    support = [i for i, _ in factor.vector]
    moved: dict[int, tuple[int, int]] = {}
    if len(support) == 1 and factor.eigenvalue == -1:
        moved = {support[0]: (support[0], -1)}
    elif len(support) == 2 and factor.eigenvalue == -1 and abs(factor.vector[1][1]) == 1:
        turn = -1 if factor.vector[1][1] == 1 else 1
        moved = {support[0]: (support[1], turn), support[1]: (support[0], turn)}
    else:
        for i in support:
            after[i] = None
        axes.plot([support[0], support[-1]], [level - 0.5] * 2, "--", color="#444444", lw=1, zorder=3)
        axes.plot(support, [level - 0.5] * len(support), "o", color="#444444", ms=4, zorder=4)
        text = f"β = {number_text(factor.beta)}, v = {vector_text(factor.vector)}"
        axes.text(support[0], level - 0.56, text[:40], fontsize=5.5, va="top", zorder=5)
    for i in range(n):
        carried = token[i]
        colour = MIXED if carried is None else wire_colour(carried[0], n)
        target, turn = moved.get(i, (i, 1))
        path = Path(
            [(i, level), (i, level - 0.5), (target, level - 0.5), (target, level - 1)],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
        )
        axes.add_patch(PathPatch(path, edgecolor=colour, facecolor="none", lw=1.8, zorder=2.5 if i in moved else 2))
        if i in moved:
            after[target] = None if carried is None else (carried[0], carried[1] * turn)
        if turn < 0:
            at = level - (0.5 if target == i else 0.86)
            axes.plot(target, at, "o", mfc="white", mec=colour, ms=8, zorder=4)
            axes.plot([target - 0.09, target + 0.09], [at, at], color=colour, lw=1.4, zorder=5)
    return after


def _matrix(axes: Axes, letter: DrawnLetter, n: int, bottom: float, small: int) -> None:
    for i, j in np.argwhere(np.abs(letter.matrix) > 0):
        value = letter.matrix[i, j]
        axes.plot([j, i], [0.3, bottom - 0.05], color=wire_colour(int(j), n), lw=1.6 if value == 1 else 0.9)
    for i in range(n):
        sources = [str(int(j) + 1) for j in np.flatnonzero(letter.matrix[i])]
        text = "0" if not sources else sources[0] if len(sources) == 1 else "+"
        colour = wire_colour(int(sources[0]) - 1, n) if len(sources) == 1 else "#444444"
        axes.text(i, bottom - 0.18, text, color=colour, fontsize=small, fontweight="bold", ha="center", va="top")


def _subscript(j: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(j))
