"""A panel in three dimensions: a fixed orthographic view, mirrors as translucent discs, depth by shade."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke

from .mirror_head import DrawnHead, DrawnLetter, Floats
from .mirror_plane import ARROW, START, arrow, extent, key_arrow, mirror_colour, mirror_name, start_way

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
        moved = [corners @ head.shown(letter).T for letter in head.letters]
        if all(np.abs(m[:, None] - corners[None]).max(axis=2).min(axis=1).max() < 1e-6 for m in moved):
            return corners
    return None
