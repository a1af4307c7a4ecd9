"""A panel in two dimensions, and the number line: states as points, mirrors as lines through the origin.

A panel in three dimensions: a fixed orthographic view, mirrors as translucent discs, depth by shade.

A panel for many dimensions: coordinates as wires from top to bottom, factors in the order applied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from ...constructions.algebra._closed_forms import number_text
from ...constructions.algebra._householder import GHFactor
from ...constructions.texts._show import vector_text
from ._mirror_head import TOLERANCE, DrawnHead, DrawnLetter, Floats

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


AZIMUTH, ELEVATION = np.radians(-51.0), np.radians(22.0)
RIGHT = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
UP = np.array([-np.sin(ELEVATION) * np.cos(AZIMUTH), -np.sin(ELEVATION) * np.sin(AZIMUTH), np.cos(ELEVATION)])
TOWARDS = np.cross(RIGHT, UP)
MAX_EDGES = 400


def draw_space(axes: Axes, head: DrawnHead, letter: DrawnLetter) -> None:
    """States, wireframe, mirror discs, keys, the axis of two mirrors, and the start's way."""
    points = head.points
    assert points is not None
    corners = _corners(head)
    radius = max(extent(points), 0.62 * extent(corners))
    limit = max(1.42 * radius, 1.05 * extent(_project(corners)[0]))
    axes.set_xlim(-limit, limit)
    axes.set_ylim(-limit, limit)
    flat, depth = _project(points)
    _wireframe(axes, corners)
    rims = [_rim(key, 1.22 * radius) for key in letter.keys]
    for j, rim in enumerate(rims):
        axes.add_patch(Polygon(rim, facecolor=mirror_colour(j), alpha=0.13, edgecolor="none", zorder=2))
        axes.plot(rim[:, 0], rim[:, 1], color=mirror_colour(j), lw=1.1, zorder=2.5)
    busy = [flat]
    if len(letter.keys) == 2:
        axis = np.cross(letter.keys[0], letter.keys[1])
        axis = 1.36 * radius * axis / np.linalg.norm(axis)
        ends, _ = _project(np.array([-axis, axis]))
        axes.plot(ends[:, 0], ends[:, 1], "-.", color="#444444", lw=1, zorder=3.5)
        busy.append(ends)
    for j, rim in enumerate(rims):
        busy.append(_name(axes, rim, j, np.vstack([*busy, *(r for i, r in enumerate(rims) if i != j)])))
    for j, key in enumerate(letter.keys):
        tip, _ = _project(0.55 * radius * key[None])
        key_arrow(axes, tip[0], mirror_colour(j))
    nearness = (depth / radius + 1) / 2
    shades = [str(round(0.75 - 0.65 * float(t), 3)) for t in nearness]
    axes.scatter(
        flat[:, 0], flat[:, 1], s=(7 + 17 * nearness) * min(1, 40 / len(points)) + 1, c=shades, zorder=5
    )
    axes.plot(*flat[head.start], "o", mfc="none", mec=START, ms=8.5, mew=1.1, zorder=6)
    _orbit(axes, head, letter, flat)
    way, _ = _project(np.array(start_way(head, letter)))
    for j, (a, b) in enumerate(pairwise(way)):
        axes.plot([a[0], b[0]], [a[1], b[1]], ":", color=mirror_colour(j), lw=1.8, zorder=5.5)
        axes.plot(*b, "o", mfc="white", mec=mirror_colour(j), ms=3.5, zorder=5.6)


def _project(points: Floats) -> tuple[Floats, Floats]:
    return np.stack([points @ RIGHT, points @ UP], axis=1), points @ TOWARDS


def _orbit(axes: Axes, head: DrawnHead, letter: DrawnLetter, flat: Floats) -> None:
    """Arrows along the cycle of the start."""
    c, cycle = head.start, [head.start]
    while (c := int(letter.images[c])) not in cycle:
        cycle.append(c)
    if len(cycle) == 2 and c == cycle[0]:
        arrow(axes, flat[cycle[0]], flat[cycle[1]], both=True, colour=ARROW, z=5.2)
    elif len(cycle) > 1:
        for a, b in zip(cycle, [*cycle[1:], c], strict=True):
            arrow(axes, flat[a], flat[b], colour=ARROW, z=5.2)


def _rim(key: Floats, radius: float) -> Floats:
    """The projected edge of the disc perpendicular to a key."""
    first = np.cross(key, np.eye(3)[int(np.argmin(np.abs(key)))])
    first /= np.linalg.norm(first)
    turn = np.linspace(0, 2 * np.pi, 73)[:, None]
    return _project(radius * (np.cos(turn) * first + np.sin(turn) * np.cross(key, first)))[0]


def _name(axes: Axes, rim: Floats, j: int, busy: Floats) -> Floats:
    """Write a mirror's name outside its rim, as far as possible from everything else; where it stands, `[1, 2]`."""
    size = np.linalg.norm(rim, axis=1, keepdims=True)
    places = rim * (1 + 0.11 * size.max() / np.maximum(size, 0.3 * size.max()))
    distance = np.linalg.norm(places[:, None] - busy[None], axis=2).min(axis=1)
    at = places[int(np.argmax(np.round(np.minimum(distance, 0.3 * size.max()) + 0.05 * places[:, 1], 9)))]
    axes.text(
        at[0], at[1], mirror_name(j), color=mirror_colour(j), fontsize=8, fontweight="bold", ha="center",
        va="center", zorder=7, path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip
    return np.asarray(at[None])


def _corners(head: DrawnHead) -> Floats:
    """Corners of the wireframe: the solid that the letters keep, else the states themselves."""
    assert head.points is not None
    solid = _solid(head)
    if solid is None:
        return head.points
    scale = np.abs(head.points).max() if len(solid) == 8 else extent(head.points) / extent(solid)
    return np.asarray(solid * (scale or 1.0))


def _wireframe(axes: Axes, corners: Floats) -> None:
    """Edges between the nearest corners, the far ones lighter."""
    distances = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    size = extent(corners)
    shortest = float(distances[distances > 1e-6 * size].min(initial=np.inf))
    edges = np.argwhere(np.triu(np.abs(distances - shortest) < 1e-6 * size))[:MAX_EDGES]
    flat, depth = _project(corners)
    for a, b in edges:
        near = depth[a] + depth[b] > 1e-9 * size
        axes.plot(flat[[a, b], 0], flat[[a, b], 1], color="#a8a8a8" if near else "#d6d6d6", lw=0.9, zorder=1)


def _solid(head: DrawnHead) -> Floats | None:
    """Corners of the cube or of an icosahedron that every letter keeps, else None."""
    golden = (1 + 5**0.5) / 2
    cube = np.array(list(product((-1.0, 1.0), repeat=3)))
    base = np.array([[0.0, a, b * golden] for a in (-1, 1) for b in (-1, 1)])
    one = np.vstack([np.roll(base, shift, axis=1) for shift in range(3)])
    for corners in (cube, one, one[:, ::-1]):
        moved = [corners @ head.picture_matrix(letter).T for letter in head.letters]
        if all(np.abs(m[:, None] - corners[None]).max(axis=2).min(axis=1).max() < 1e-6 for m in moved):
            return corners
    return None


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
