"""A panel for many dimensions: coordinates as wires from top to bottom, factors in the order applied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...constructions.householder import GHFactor
from ...constructions.show import number_text, vector_text
from .mirror_head import DrawnHead, DrawnLetter
from .mirror_plane import mirror_name

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
    middle, half = (n - 1) / 2 - 0.35, width / 0.34 / 2
    axes.set_xlim(middle - half, middle + half)
    axes.set_ylim(bottom - 0.9, 0.9)
    small = 8 if n <= 16 else 6
    for i in range(n):
        _end(axes, i, 0.42, str(i + 1), wire_colour(i, n), small)
    if letter.transition.matrix is not None:
        _matrix(axes, letter, n, bottom, small)
        return
    tokens = [Token(i, i, 1, [(i, 0.0)], [Path.MOVETO]) for i in range(n)]
    for j, factor in enumerate(letter.transition.factors):
        axes.text(-0.7, -j - 0.5, mirror_name(j), fontsize=8, ha="right", va="center", color="#444444")
        _factor(axes, factor, {token.at: token for token in tokens}, -float(j), n)
    for token in tokens:
        token.go(token.at, bottom)
        colour = wire_colour(token.number, n)
        line = PathPatch(
            Path(token.points, token.codes), edgecolor=colour, facecolor="none", lw=1.8, snap=False
        )
        axes.add_patch(line)
        if token.sign and letter.gate == 1:
            text = ("-" if token.sign < 0 else "") + str(token.number + 1)
            _end(axes, token.at, bottom - 0.18, text, colour, small, "top")


@dataclass
class Token:
    """What stood on wire `number` at the top: where it is, its sign (0 where it was mixed with others), its way."""

    number: int
    at: int
    sign: int
    points: list[tuple[float, float]]
    codes: list[np.uint8]

    def go(self, target: int, level: float) -> None:
        """Down to `level`, along an S-curve where the wire changes."""
        above = self.points[-1][1]
        if target == self.at:
            self.points.append((target, level))
            self.codes.append(Path.LINETO)
            return
        half = (above + level) / 2
        self.points += [(self.at, half), (target, half), (target, level)]
        self.codes += [Path.CURVE4] * 3
        self.at = target


def wire_colour(i: int, n: int) -> str:
    """Colour of token i of n."""
    palette = colormaps["tab10" if n <= 10 else "turbo"]
    r, g, b, _ = palette(i if n <= 10 else 0.05 + 0.9 * i / (n - 1))
    return f"#{round(255 * r):02x}{round(255 * g):02x}{round(255 * b):02x}"


def _factor(axes: Axes, factor: GHFactor, at: dict[int, Token], level: float, n: int) -> None:
    """Lead the tokens through one factor, from `level` to `level - 1`."""
    support = [i for i, _ in factor.vector]
    mirror = factor.eigenvalue == -1
    if mirror and len(support) == 2 and factor.vector[1][1] in (1, -1):
        first, second = at[support[0]], at[support[1]]
        first.go(support[1], level - 1)
        second.go(support[0], level - 1)
        if factor.vector[1][1] == 1:
            _minus(axes, first, level - 0.88, n)
            _minus(axes, second, level - 0.88, n)
    elif mirror and len(support) == 1:
        _minus(axes, at[support[0]], level - 0.5, n)
    else:
        for i in support:
            at[i].sign = 0
        axes.plot([support[0], support[-1]], [level - 0.5] * 2, "--", color="#444444", lw=1, zorder=3)
        axes.plot(support, [level - 0.5] * len(support), "o", color="#444444", ms=4, zorder=4)
        text = f"β = {number_text(factor.beta)}, v = {vector_text(factor.vector)}"
        axes.text(support[0], level - 0.58, text[:40], fontsize=5.5, va="top", zorder=5)
    for token in at.values():
        if token.points[-1][1] > level - 1:
            token.go(token.at, level - 1)


def _minus(axes: Axes, token: Token, level: float, n: int) -> None:
    token.sign = -token.sign
    colour = wire_colour(token.number, n)
    axes.plot(token.at, level, "o", mfc="white", mec=colour, ms=8, zorder=4)
    axes.plot([token.at - 0.09, token.at + 0.09], [level, level], color=colour, lw=1.4, zorder=5)


def _matrix(axes: Axes, letter: DrawnLetter, n: int, bottom: float, small: int) -> None:
    for i, j in np.argwhere(letter.matrix != 0):
        width = 1.6 if letter.matrix[i, j] == 1 else 0.9
        axes.plot([j, i], [0.3, bottom - 0.05], color=wire_colour(int(j), n), lw=width)
    for i in range(n):
        sources = np.flatnonzero(letter.matrix[i])
        text = "+".join(str(int(j) + 1) for j in sources) if len(sources) <= 3 else "Σ"
        colour = wire_colour(int(sources[0]), n) if len(sources) == 1 else "#444444"
        _end(axes, i, bottom - 0.18, text or "0", colour, small - 1.5 * (len(sources) > 1), "top")


def _end(axes: Axes, x: float, y: float, text: str, colour: str, size: float, va: str = "baseline") -> None:
    axes.text(x, y, text, color=colour, fontsize=size, fontweight="bold", ha="center", va=va)
