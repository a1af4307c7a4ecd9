"""A panel for many dimensions: coordinates as wires from top to bottom, factors in the order applied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...constructions.householder import GHFactor
from ...constructions.texts.closed_forms import number_text
from ...constructions.texts.show import vector_text
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
    at = {token.at: token for token in tokens}
    if letter.gate == 0:
        tokens += [_erase(axes, at, i, 0.0) for i in range(n)]
    for j, factor in enumerate(letter.transition.factors):
        axes.text(-0.7, -j - 0.5, mirror_name(j), fontsize=8, ha="right", va="center", color="#444444")
        tokens += _factor(axes, factor, at, -float(j), n)
    added: dict[int, str] = {}
    for i, _, x in letter.transition.additive:
        added[i] = number_text(x)
    for token in tokens:
        here = at[token.at] is token
        if here:
            token.go(token.at, bottom)
        colour = "#bbbbbb" if token.empty else wire_colour(token.number, n)
        line = PathPatch(
            Path(token.points, token.codes), edgecolor=colour, facecolor="none", lw=1.0 if token.empty else 1.8,
            ls=":" if token.empty else "-", snap=False,
        )  # fmt: skip
        axes.add_patch(line)
        if not here or letter.gate not in (0, 1):
            continue
        text, more = token.text(), added.get(token.at, "")
        if more:
            more = more if more.startswith("-") else "+" + more
            _end(axes, token.at, bottom - 0.18, text + more, "#222222", small, "top")
        elif text:
            size = small - (1.5 if token.joined else 0)
            _end(axes, token.at, bottom - 0.18, text, colour, size, "top")


@dataclass
class Token:
    """What stood on wire `number` at the top: where it is, its sign (0 where it was mixed with others), its way.

    `empty`: nothing is there, the wire was erased or copied away. `joined`: numbers of the wires copied onto it.
    """

    number: int
    at: int
    sign: int
    points: list[tuple[float, float]]
    codes: list[np.uint8]
    empty: bool = False
    joined: tuple[int, ...] = ()

    def text(self) -> str:
        """What stands on the wire, in the numbers at the top; `?` where a factor mixed it."""
        if self.empty:
            return ""
        if not self.sign:
            return "?" if self.joined else ""
        return "+".join(
            ("-" if self.sign < 0 else "") + str(i + 1) for i in sorted((self.number, *self.joined))
        )

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


def _erase(axes: Axes, at: dict[int, Token], i: int, level: float) -> Token:
    """The token on wire i ends at a bar, and an empty one begins there."""
    token = at[i]
    colour = "#bbbbbb" if token.empty else "#222222"
    axes.plot([i - 0.16, i + 0.16], [level, level], color=colour, lw=2.2, solid_capstyle="round", zorder=5)
    token.go(i, level)
    at[i] = Token(i, i, 0, [(i, level)], [Path.MOVETO], empty=True)
    return at[i]


def _copy(at: dict[int, Token], source: int, target: int, level: float) -> Token:
    """The token on wire `source` runs into the one on `target`, and an empty one begins in its place."""
    token, other = at[source], at[target]
    token.go(target, level - 1)
    if other.empty:
        at[target] = token
    elif not token.empty:
        other.sign = int(token.sign == other.sign == 1)
        other.joined += (token.number, *token.joined)
    at[source] = Token(source, source, 0, [(source, level)], [Path.MOVETO], empty=True)
    return at[source]


def _factor(axes: Axes, factor: GHFactor, at: dict[int, Token], level: float, n: int) -> list[Token]:
    """Lead the tokens through one factor, from `level` to `level - 1`; the tokens that begin on the way."""
    support = [i for i, _ in factor.vector]
    mirror = factor.eigenvalue == -1
    begun: list[Token] = []
    if factor.eigenvalue == 0 and len(support) == 1:
        begun.append(_erase(axes, at, support[0], level - 0.5))
    elif factor.mask is not None and _copies(factor):
        source = factor.reading[0][0]
        begun.append(_copy(at, source, support[0] + support[1] - source, level))
    elif mirror and len(support) == 2 and factor.vector[1][1] in (1, -1):
        first, second = at[support[0]], at[support[1]]
        first.go(support[1], level - 1)
        second.go(support[0], level - 1)
        at[support[0]], at[support[1]] = second, first
        if factor.vector[1][1] == 1:
            _minus(axes, first, level - 0.88, n)
            _minus(axes, second, level - 0.88, n)
    elif mirror and len(support) == 1:
        _minus(axes, at[support[0]], level - 0.5, n)
    else:
        for i in support:
            at[i].sign = 0
            if at[i].empty:
                at[i].go(i, level - 0.5)
                at[i] = Token(i, i, 0, [(i, level - 0.5)], [Path.MOVETO])
                begun.append(at[i])
        axes.plot([support[0], support[-1]], [level - 0.5] * 2, "--", color="#444444", lw=1, zorder=3)
        axes.plot(support, [level - 0.5] * len(support), "o", color="#444444", ms=4, zorder=4)
        text = f"β = {number_text(factor.beta)}, v = {vector_text(factor.vector)}"
        axes.text(support[0], level - 0.58, text[:40], fontsize=5.5, va="top", zorder=5)
    for token in at.values():
        if token.points[-1][1] > level - 1:
            token.go(token.at, level - 1)
    return begun


def _copies(factor: GHFactor) -> bool:
    """True for I + (e_i - e_j) e_jᵀ, which adds coordinate j to i and leaves 0 in j."""
    two = len(factor.vector) == 2 and len(factor.reading) == 1
    return two and factor.beta == 1 and {x for _, x in factor.vector} == {1, -1}


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
