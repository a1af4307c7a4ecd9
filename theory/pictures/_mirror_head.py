"""A head in floats, as the pictures need it: the points to draw, each letter's mirrors and images.

Where the states and all keys span only r dimensions beside what no letter moves, the picture has r dimensions, and
the mirrors keep their angles: three points with `H = (1, 2, 3)` give a hexagon in the plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Sparse, Transition
from ...constructions.algebra._cyclotomic import Number, enclosure
from ...constructions.texts._show import label_text

Floats = NDArray[np.float64]
TOLERANCE = 1e-9
"""Floats of exact numbers closer than this are drawn as equal."""


@dataclass(frozen=True)
class DrawnLetter:
    """One letter on one head: `keys` `[factors, r]` of norm 1, `sizes` the β‖v‖², `images` the codes reached.

    `matrix`: A `[dim, dim]`. `gate`: the scalar before the factors. `shift`: the additive term `[r]` in the picture,
    None where points are not drawn. `heading`, `words`: texts above the panel in place of the usual ones.
    """

    label: str
    transition: Transition
    keys: Floats
    sizes: Floats
    images: NDArray[np.int64]
    matrix: Floats
    gate: float
    shift: Floats | None = None
    heading: str = ""
    words: str = ""

    @property
    def only_mirrors(self) -> bool:
        """True where the letter is a product of reflections alone."""
        plain = self.transition.matrix is None and not self.transition.additive and self.gate == 1
        plain = plain and all(f.mask is None for f in self.transition.factors)
        return plain and bool(np.all(np.abs(self.sizes - 2) < TOLERANCE))

    def kind(self) -> tuple[object, ...]:
        """Equal for letters that look the same up to a change of basis: factor count and traces of powers."""
        power, traces = self.matrix, []
        for _ in range(min(len(self.matrix), 8)):
            traces.append(round(float(np.trace(power)), 6) + 0.0)
            power = power @ self.matrix
        return (len(self.sizes), self.gate, bool(self.transition.additive), *traces)


@dataclass(frozen=True)
class DrawnHead:
    """One head: `points` `[codes, r]` and `basis` `[dim, r]`, or None where r > 3; `names` of the codes or empty.

    `heading`: the line above its panels in place of the usual one.
    """

    title: str
    dim: int
    start: int
    points: Floats | None
    basis: Floats | None
    names: tuple[str, ...]
    letters: tuple[DrawnLetter, ...]
    heading: str = ""

    @property
    def form(self) -> str:
        """Which picture fits: `line`, `plane`, `space` or `wires`."""
        if self.points is None:
            return "wires"
        return ("line", "plane", "space")[self.points.shape[1] - 1]

    def picture_matrix(self, letter: DrawnLetter) -> Floats:
        """The letter's matrix in the coordinates of the picture."""
        return letter.matrix if self.basis is None else self.basis.T @ letter.matrix @ self.basis


def prepare_head(
    head: Head, title: str, labels: list[str], start: int, names: tuple[str, ...], max_points: int
) -> DrawnHead:
    """Everything that is drawn of a head, whose letters are its transitions; `start`: the first code.

    Heads with more than `max_points` codes, with more than 3 dimensions to show, with masked factors, or without
    factors are drawn as wires, without points.
    """
    vectors = [[_dense_vector(f.vector, head.dim) for f in t.factors] for t in head.transitions]
    points = basis = None
    direction = np.ones(head.value_dim)
    masked = any(f.mask is not None for t in head.transitions for f in t.factors)
    if len(head.codes) <= max_points and not masked and all(t.matrix is None for t in head.transitions):
        codes = np.array([_dense(code, head.dim, head.value_dim) for code in head.codes])
        direction = _value_direction(codes)
        points = codes @ direction
        every = [v for letter in vectors for v in letter]
        every += [_dense(t.additive, head.dim, head.value_dim) @ direction for t in head.transitions]
        basis = _span([*every, *(points - points[0])], head.dim)
        points = None if basis is None else points @ basis
    letters = []
    for x, t in enumerate(head.transitions):
        norms = np.array([np.linalg.norm(v) for v in vectors[x]])
        keys = np.array(vectors[x]).reshape(len(norms), head.dim)
        sizes = np.array([to_float(f.beta) for f in t.factors]) * norms**2
        unit = keys / norms[:, None]
        matrix = (
            to_float(t.gate) * np.eye(head.dim) if t.matrix is None else _dense(t.matrix, head.dim, head.dim)
        )
        for u, size, factor in zip(unit, sizes, t.factors, strict=True):
            read = u if factor.mask is None else u * np.isin(np.arange(head.dim), factor.mask)
            matrix = matrix - size * np.outer(u, read @ matrix)
        shown = unit if basis is None else unit @ basis
        images = np.asarray(head.code_transitions[x])
        shift = None if basis is None else _dense(t.additive, head.dim, head.value_dim) @ direction @ basis
        letters.append(DrawnLetter(labels[x], t, shown, sizes, images, matrix, to_float(t.gate), shift))
    return DrawnHead(title, head.dim, start, points, basis, names, tuple(letters))


def to_float(x: Number) -> float:
    """The float next to an exact number."""
    low, high = enclosure(x, 64)
    return float((low + high) / Fraction(2))


def state_names(lrnn: LRNN, codes: int, column: int) -> tuple[str, ...]:
    """The automaton's state of each code, where it is one; empty where a code belongs to several states.

    For an LRNN of one layer; `column`: the head's column in `lrnn.decode`.
    """
    owner: dict[int, int] = {}
    for row in lrnn.decode:
        if owner.setdefault(int(row[column]), int(row[0])) != int(row[0]):
            return ()
    return tuple(_short(lrnn.automaton.states[owner[c]]) if c in owner else "" for c in range(codes))


def _short(label: object) -> str:
    if isinstance(label, tuple) and all(isinstance(i, int) and 0 <= i < 10 for i in label):
        return "".join(str(i) for i in label)
    return label_text(label)


def _dense_vector(vector: tuple[tuple[int, Number], ...], n: int) -> Floats:
    v = np.zeros(n)
    for i, x in vector:
        v[i] = to_float(x)
    return v


def _dense(entries: Sparse, n: int, d: int) -> Floats:
    A = np.zeros((n, d))
    for i, j, x in entries:
        A[i, j] = to_float(x)
    return A


def _value_direction(codes: Floats) -> Floats:
    """The w of a fixed list for which the points H·w lie farthest apart."""
    d = codes.shape[2]
    if d == 1:
        return np.ones(1)
    steps = np.arange(1, 361)[:, None]
    if d == 2:
        candidates = np.hstack([np.cos(np.pi * steps / 180), np.sin(np.pi * steps / 180)])
    else:
        roots = np.sqrt(np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29], dtype=float))[np.arange(d) % 10]
        candidates = 2 * ((steps * roots) % 1) - 1
        candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    some = codes[:120]
    spread = []
    for w in candidates:
        p = some @ w
        distances = np.linalg.norm(p[:, None] - p[None], axis=2) + 9e9 * np.eye(len(p))
        spread.append(round(float(distances.min()), 9))
    return np.asarray(candidates[int(np.argmax(spread))])


def _span(vectors: list[Floats], n: int) -> Floats | None:
    """An orthonormal basis `[n, r]` of the span, r ≥ 1; the unit vectors where r = n; None where r > 3."""
    basis: list[Floats] = []
    for v in vectors:
        rest = v - sum((b * (b @ v) for b in basis), np.zeros(n))
        rest = rest - sum((b * (b @ rest) for b in basis), np.zeros(n))
        if np.linalg.norm(rest) > 1e-6:
            basis.append(rest / np.linalg.norm(rest))
        if len(basis) > 3:
            return None
    if len(basis) == n:
        return np.eye(n)
    return np.array(basis or [np.eye(n)[0]]).T
