"""Where a construction's heads stand in FLA's layer, what BOS writes for them, and how long float32 tells their states apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..constructions.errors import InputError
from ..constructions.householder import GHFactor
from ..constructions.lrnn import Head
from ..theory.rounding import Floats
from ..theory.weights import dense_codes
from .fla_keys import SCALE, completed, silu_pair

EPS = 1e-6
"""Of FLA's norms, as their configurations have it."""


@dataclass(frozen=True, eq=False)
class Place:
    """A head of the construction within the heads of the layer: `rows` of them from `first`, each coordinate `copies` times.

    `columns`: the integers written along each column `[value_dim, <= K]`, `size`: the coordinates in use.
    """

    head: Head
    first: int
    copies: int
    columns: list[Floats]
    size: int

    def widen(self, vector: dict[int, float]) -> Floats:
        """Entries of a vector of the construction, each as often as its coordinate is stored."""
        result = np.zeros(self.head.dim)
        result[list(vector)] = list(vector.values())
        return np.repeat(result, self.copies)


def place_of(head: Head, start: int, first: int, name: str) -> Place:
    """The place of a head that begins in the code `start`; `InputError` for what has no exact form in FLA's layer."""
    factors = [f for t in head.transitions for f in t.factors]
    if head.householders is None or any(f.mask is not None for f in factors):
        raise InputError(f"{name}: a letter is not a product of GH factors, which FLA's layers are made of")
    if any(t.gate != 1 or t.additive for t in head.transitions):
        raise InputError(
            f"{name}: a letter has a gate or adds to the state; only products of factors are exported to FLA"
        )
    lengths = {len(f.vector) for f in factors if f.beta != 0}
    if any(strength_of(f) is None for f in factors) or len(lengths) > 1:
        raise InputError(
            f"{name}: exported to FLA are mirrors along e_i, or else along e_i - e_j or e_i + e_j, whose unit keys are "
            "exact; try --exactness integer or another method"
        )
    copies = 2 if lengths == {2} else 1
    initial = dense_codes(head, "fp64")[start]
    if (initial < 0).any() or (initial != np.round(initial)).any():
        raise InputError(
            f"{name}: its initial state is no matrix of whole numbers from 0, as BOS writes them"
        )
    gram = initial.T @ initial
    if (gram != np.diag(np.diag(gram))).any() or head.value_dim > max(1, head.householders):
        raise InputError(
            f"{name}: its initial state has {head.value_dim} columns, BOS writes one for each of the "
            f"{head.householders} factors, orthogonal ones: construct it with fewer columns"
        )
    columns, size = [], head.dim * copies
    for column in np.repeat(initial, copies, 0).T:
        columns.append(completed(column, size, name))
        size = max(size, len(columns[-1]))
    return Place(head, first, copies, columns, size)


def strength_of(factor: GHFactor) -> int | None:
    """β‖v‖² where it is 0, 1 or 2 and v is ±e_i or ±e_i ± e_j; None otherwise."""
    if factor.beta == 0:
        return 0
    if len(factor.vector) not in {1, 2} or any(x not in {1, -1} for _, x in factor.vector):
        return None
    strength = factor.beta * len(factor.vector)
    return {1: 1, 2: 2}.get(strength) if isinstance(strength, int) else None


def float32_horizon(places: list[Place], factors: int) -> int:
    """Tokens until the errors of all factors in float32, 2(1 - ‖k‖²) and 16 last bits each, may add up to half the margin.

    The other half is for the read-out. An estimate on the safe side, not a certificate.
    """
    x, _ = silu_pair()
    least = []
    for p in places:
        signed = any(y < 0 for t in p.head.transitions for f in t.factors for _, y in f.vector)
        length = 4 * (x / (1 + math.exp(-x))) ** 2 if signed else float(SCALE**2)
        error = 2 * EPS / (length + EPS) + 16 * 2.0**-24
        codes = dense_codes(p.head, "fp64").reshape(len(p.head.codes), -1)
        nearest = [np.linalg.norm(codes[:i] - codes[i], axis=1).min() for i in range(1, len(codes))]
        if nearest:
            least.append(float(min(nearest)) / 4 / (error * np.linalg.norm(codes[0]) * factors))
    return int(min(least, default=0))
