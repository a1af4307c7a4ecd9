"""Curves and labels of a drawn automaton: chosen from fixed candidates so that as little as possible overlaps.

Where the states of a drawn automaton go: in layers from the start, or on a circle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...constructions.automata._automaton import Automaton, breadth_first

Points = NDArray[np.float64]


def order_states(automaton: Automaton) -> list[int]:
    """All states: breadth first from the start, then from the first state that is not reached, and so on."""
    order: list[int] = []
    seen: set[int] = set()
    for root in [automaton.start, *range(len(automaton.states))]:
        if root not in seen:
            new = [q for q in breadth_first(automaton.transitions, root) if q not in seen]
            order += new
            seen.update(new)
    return order


def place_in_layers(automaton: Automaton, layer_gap: float, state_gap: float) -> Points:
    """Centres `[states, 2]`, layers from left to right with the start in the first (Sugiyama's method).

    Edges that lead back in `order_states` are reversed for the layout, so that the start is its only source.
    """
    from fast_sugiyama import from_edges

    lonely = [q for q in range(len(automaton.states)) if _is_lonely(automaton, q)]
    # its own nodes, where an edge spans layers, are numbered from the count of the nodes that edges have: these come first
    order = [q for q in order_states(automaton) if q not in lonely]
    rank = {q: i for i, q in enumerate([*order, *lonely])}
    pairs: list[tuple[int, int]] = []
    for row in automaton.transitions:
        pairs += [
            (min(rank[q], rank[r]), max(rank[q], rank[r])) for q, r in enumerate(row.tolist()) if q != r
        ]
    n = len(automaton.states)
    centres = np.zeros((n, 2))
    names = {i: q for q, i in rank.items()}
    below = 0.0
    edges = list(dict.fromkeys(pairs))
    layouts = [
        {int(i): xy for i, xy in layout[0] if int(i) < len(order)}
        for layout in (from_edges(edges, vertex_spacing=100, dummy_size=30) if edges else [])
    ]
    for layout in sorted(layouts, key=min):
        members = [names[i] for i in sorted(layout)]
        across = np.array([layout[i][0] for i in sorted(layout)], dtype=float)
        down = np.array([layout[i][1] for i in sorted(layout)], dtype=float)
        _, layers = np.unique(-down, return_inverse=True)
        centres[members, 0] = layers.reshape(-1) * layer_gap
        centres[members, 1] = below - (across.max() - across) / 100 * state_gap
        below = float(centres[members, 1].min()) - 1.5 * state_gap
    width, height = np.ptp(centres, axis=0)
    if height > 1.5 * width > 0:
        centres[:, 0] *= min(1.8, height / (1.5 * width))
    centres[lonely, 0] = np.arange(len(lonely)) * layer_gap
    centres[lonely, 1] = below
    return centres


def _is_lonely(automaton: Automaton, state: int) -> bool:
    """Do all arrows from and to the state come from itself?"""
    to = automaton.transitions == state
    return bool(to[:, state].all()) and not bool(np.delete(to, state, axis=1).any())


def circular_positions(automaton: Automaton, gap: float) -> Points:
    """Centres `[states, 2]` on a circle, clockwise in `order_states` with the start on the left."""
    order = order_states(automaton)
    n = len(order)
    radius = 0.0 if n == 1 else gap / (2 * math.sin(math.pi / n))
    angles = math.pi - 2 * math.pi * np.arange(n) / n
    centres = np.zeros((n, 2))
    centres[order] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres


Box = tuple[float, float, float, float]

_SAMPLES = 25
_TWO_WAY = (0.2, 0.32, 0.45, 0.6, 0.8, 1.1)
_ONE_WAY = (0.0, 0.16, -0.16, 0.32, -0.32, 0.5, -0.5, 0.75, -0.75, 1.1, -1.1)
_ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
_LOOP_ANGLES = (90, 270, 50, 130, 310, 230, 0, 180)
_START_ANGLES = (180, 135, 225, 90, 270, 45, 315, 0)
_CAREFUL_EDGES = 300
_LABEL_ROUNDS = 3
_CROSSINGS_UP_TO = 150


@dataclass(frozen=True)
class Edge:
    """A drawn edge: `path` are the control points of a Bézier curve, `box` (x0, y0, x1, y1) is its label's place."""

    source: int
    target: int
    label: str
    letter: int
    path: Points
    box: Box


@dataclass
class Composition:
    """What has been placed so far; `penalty` grows with what is long, bent, crossed or covered, `covered` counts
    what edge labels cover."""

    centres: Points
    radius: float
    size_of: Callable[[str], tuple[float, float]]
    edges: list[Edge] = field(default_factory=list)
    start_arrow: Points = field(default_factory=lambda: np.zeros((0, 2)))
    penalty: float = 0.0
    covered: float = 0.0
    _curves: list[Points] = field(default_factory=list)
    _boxes: list[Box] = field(default_factory=list)
    _on_curves: Points | None = None

    def add_curve(self, points: Points) -> None:
        """Later curves and labels keep away from this one."""
        self._curves.append(points)
        self._on_curves = None

    def on_curves(self, left: float, right: float) -> Points:
        """Sample points of all curves between two abscissae `[points, 2]`."""
        if self._on_curves is None:
            points = np.concatenate([np.zeros((0, 2)), *self._curves])
            self._on_curves = points[np.argsort(points[:, 0], kind="stable")]
        first, last = np.searchsorted(self._on_curves[:, 0], (left, right))
        return self._on_curves[first:last]

    def bounds(self) -> Box:
        """The smallest box around everything."""
        points = [self.centres - self.radius, self.centres + self.radius, *self._curves, self.start_arrow]
        points += [np.array([[x0, y0], [x1, y1]]) for x0, y0, x1, y1 in self._boxes]
        every = np.concatenate(points)
        low, high = every.min(axis=0), every.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def hits(self, points: Points, *, apart_from: Sequence[int], room: float) -> int:
        """Number of other states that a curve runs over."""
        others = np.delete(self.centres, apart_from, axis=0)
        if not len(others):
            return 0
        distance = np.linalg.norm(points[:, None] - others[None], axis=2).min(axis=0)
        return int((distance < self.radius + room).sum())

    def closeness(self, points: Points) -> int:
        """How many sample points of a curve lie on curves already placed."""
        low, high = points.min(axis=0) - 4, points.max(axis=0) + 4
        placed = self.on_curves(low[0], high[0])
        placed = placed[((placed > low) & (placed < high)).all(axis=1)]
        if not len(placed):
            return 0
        return int((np.abs(points[:, None] - placed[None]).max(axis=2) < 4).any(axis=1).sum())

    def crossings(self) -> int:
        """How often curves cross."""
        if not self._curves:
            return 0
        coarse = [curve[::3] for curve in self._curves]
        begin = np.concatenate([curve[:-1] for curve in coarse])
        step = np.concatenate([np.diff(curve, axis=0) for curve in coarse])
        # begin[i] + s step[i] = begin[j] + u step[j]
        apart = begin[None] - begin[:, None]
        area = step[:, None, 0] * step[None, :, 1] - step[:, None, 1] * step[None, :, 0]
        area = np.where(area == 0, np.inf, area)
        s = (apart[..., 0] * step[None, :, 1] - apart[..., 1] * step[None, :, 0]) / area
        u = (apart[..., 0] * step[:, None, 1] - apart[..., 1] * step[:, None, 0]) / area
        met = (s > 0) & (s < 1) & (u > 0) & (u < 1)
        return int(met.sum()) // 2

    def box_penalty(self, box: Box) -> float:
        """What a label's box covers: other labels and states weigh most, then curves."""
        x0, y0, x1, y1 = box
        covered = sum(x0 < a1 and a0 < x1 and y0 < b1 and b0 < y1 for a0, b0, a1, b1 in self._boxes)
        nearest = np.clip(self.centres, (x0, y0), (x1, y1))
        covered += int((np.linalg.norm(nearest - self.centres, axis=1) < self.radius + 1).sum())
        heights = self.on_curves(x0 - 1, x1 + 1)[:, 1]
        inside = np.count_nonzero((heights > y0 - 1) & (heights < y1 + 1))
        return 30.0 * covered + 3.0 * inside


def compose(
    centres: Points,
    radius: float,
    start: int,
    labels: dict[tuple[int, int], tuple[str, int]],
    size_of: Callable[[str], tuple[float, float]],
    *,
    outward: bool,
) -> Composition:
    """Place every edge `(source, target) -> (label, letter for the colour)` among states of one radius.

    `size_of` gives a text's width and height; `outward` prefers loops that point away from the middle.
    """
    drawing = Composition(centres, radius, size_of)
    straight = [pair for pair in labels if pair[0] != pair[1]]
    careful = len(straight) <= _CAREFUL_EDGES
    paths = {pair: _edge_path(drawing, pair, pair[::-1] in labels, careful) for pair in straight}
    drawing.start_arrow = _start_arrow(drawing, start)
    for q, _ in (pair for pair in labels if pair[0] == pair[1]):
        _add_loop(drawing, q, *labels[q, q], outward=outward, starts=q == start)
    # short edges have the fewest places for a label
    order = sorted(straight, key=lambda pair: _length(paths[pair]))
    boxes: dict[tuple[int, int], Box] = {}
    for _ in range(_LABEL_ROUNDS if careful else 1):
        for pair in order:
            if pair in boxes:
                drawing._boxes.remove(boxes[pair])
            boxes[pair] = _label_box(drawing, paths[pair], labels[pair][0], careful)
            drawing._boxes.append(boxes[pair])
    drawing.edges += [Edge(*pair, *labels[pair], paths[pair], boxes[pair]) for pair in order]
    # each box covers itself once
    drawing.covered = sum(drawing.box_penalty(boxes[pair]) - 30.0 for pair in order)
    drawing.penalty += drawing.covered
    if len(labels) <= _CROSSINGS_UP_TO:
        drawing.penalty += 2.5 * drawing.crossings()
    return drawing


def bezier(path: Points, at: Iterable[float]) -> Points:
    """Points of a quadratic or cubic Bézier curve."""
    t = np.asarray(list(at))[:, None]
    degree = len(path) - 1
    return np.asarray(
        sum(math.comb(degree, i) * t**i * (1 - t) ** (degree - i) * path[i] for i in range(degree + 1))
    )


def _length(path: Points) -> float:
    return float(np.linalg.norm(path[-1] - path[0]))


def _direction(degrees: float) -> Points:
    return np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def _edge_path(drawing: Composition, pair: tuple[int, int], two_way: bool, careful: bool) -> Points:
    """The best curve from border to border; the two edges of a pair bend to their own left, so apart."""
    best: tuple[float, Points, Points] | None = None
    for bend in _TWO_WAY if two_way else _ONE_WAY:
        path = _trim_curve(drawing, pair, bend)
        points = bezier(path, np.linspace(0, 1, _SAMPLES))
        cost = 8.0 * abs(bend)
        if careful:
            cost += 40.0 * drawing.hits(points, apart_from=pair, room=5) + 1.5 * drawing.closeness(points)
        if best is None or cost < best[0] - 1e-9:
            best = (cost, path, points)
        if not careful:
            break
    assert best is not None
    drawing.penalty += best[0] + _length(best[1]) / 40
    drawing.add_curve(best[2])
    return best[1]


def _trim_curve(drawing: Composition, pair: tuple[int, int], bend: float) -> Points:
    """Quadratic curve between two centres, cut where it leaves the one circle and enters the other."""
    a, b = drawing.centres[pair[0]], drawing.centres[pair[1]]
    normal = np.array([a[1] - b[1], b[0] - a[0]])
    # long edges need less bend for the same distance from the straight line
    reach = float(np.linalg.norm(b - a))
    middle = (a + b) / 2 + normal * bend * min(1.0, (6 * drawing.radius / reach) ** 0.5)
    path = np.array([a, middle, b])
    t = np.linspace(0, 1, 400)
    points = bezier(path, t)
    first = t[np.argmax(np.linalg.norm(points - a, axis=1) > drawing.radius + 0.5)]
    last = t[len(t) - 1 - np.argmax(np.linalg.norm(points[::-1] - b, axis=1) > drawing.radius + 1.5)]
    ends = bezier(path, [first, last])
    # the control point of the part from `first` to `last` (blossom)
    inner = (1 - first) * ((1 - last) * a + last * middle) + first * ((1 - last) * middle + last * b)
    return np.array([ends[0], inner, ends[1]])


def _start_arrow(drawing: Composition, start: int) -> Points:
    best: tuple[float, Points] | None = None
    for i, angle in enumerate(_START_ANGLES):
        direction = _direction(angle)
        centre = drawing.centres[start]
        path = centre + np.outer((drawing.radius + 26, drawing.radius + 1.5), direction)
        points = path[0] + np.linspace(0, 1, _SAMPLES)[:, None] * (path[1] - path[0])
        cost = 40.0 * drawing.hits(points, apart_from=[start], room=6) + 4.0 * drawing.closeness(points) + i
        if best is None or cost < best[0]:
            best = (cost, path)
    assert best is not None
    path = best[1]
    drawing.add_curve(path[0] + np.linspace(0, 1, _SAMPLES)[:, None] * (path[1] - path[0]))
    return path


def _add_loop(drawing: Composition, q: int, label: str, letter: int, *, outward: bool, starts: bool) -> None:
    """A loop with its label at its far end, where it is least in the way."""
    centre, radius = drawing.centres[q], drawing.radius
    angles: list[float] = list(_LOOP_ANGLES)
    away = centre - drawing.centres.mean(axis=0)
    if outward and np.linalg.norm(away) > 1:
        angles.insert(0, math.degrees(math.atan2(away[1], away[0])))
    width, height = drawing.size_of(label)
    best: tuple[float, Points, Points, Box] | None = None
    for i, angle in enumerate(angles):
        ends = [centre + (radius + 1) * _direction(angle + side) for side in (24, -24)]
        # the control points of a drop whose tip is 1.1 radii and some points away from the circle
        reach = 2.05 * radius + 18
        controls = [centre + reach * _direction(angle + side) for side in (26, -26)]
        path = np.array([ends[0], *controls, ends[1]])
        points = bezier(path, np.linspace(0, 1, _SAMPLES))
        tip = bezier(path, [0.5])[0]
        box = _box_beside(tip, _direction(angle), width, height)
        cost = 40.0 * drawing.hits(points, apart_from=[q], room=4) + 3.0 * drawing.closeness(points)
        cost += drawing.box_penalty(box) + 1.5 * i
        arrow = drawing.start_arrow[0] - drawing.start_arrow[1]
        if starts and float(arrow @ _direction(angle)) > 0.7 * float(np.linalg.norm(arrow)):
            cost += 60.0
        if best is None or cost < best[0] - 1e-9:
            best = (cost, path, points, box)
    assert best is not None
    cost, path, points, box = best
    drawing.penalty += cost
    drawing.add_curve(points)
    drawing._boxes.append(box)
    drawing.edges.append(Edge(q, q, label, letter, path, box))


def _label_box(drawing: Composition, path: Points, label: str, careful: bool) -> Box:
    width, height = drawing.size_of(label)
    points = bezier(path, _ALONG)
    ahead = bezier(path, [t + 0.01 for t in _ALONG]) - points
    best: tuple[float, Box] | None = None
    bulge = path[1] - (path[0] + path[-1]) / 2
    for i, (point, tangent) in enumerate(zip(points, ahead, strict=True)):
        normal = np.array([-tangent[1], tangent[0]]) / max(float(np.linalg.norm(tangent)), 1e-9)
        if float(normal @ bulge) < 0 or (abs(float(normal @ bulge)) < 1e-6 and normal[1] < 0):
            normal = -normal
        for side, extra in ((normal, 0.0), (-normal, 0.8)):
            box = _box_beside(point, side, width, height)
            cost = 0.6 * i + extra + (drawing.box_penalty(box) if careful else 0.0)
            if best is None or cost < best[0] - 1e-9:
                best = (cost, box)
        if not careful:
            break
    assert best is not None
    return best[1]


def _box_beside(point: Points, direction: Points, width: float, height: float) -> Box:
    """A label's box that touches a point from the side of `direction`."""
    room = abs(direction[0]) * width / 2 + abs(direction[1]) * height / 2 + 2.5
    x, y = point + direction * room
    return float(x - width / 2), float(y - height / 2), float(x + width / 2), float(y + height / 2)
