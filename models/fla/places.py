"""Where a construction's heads stand in FLA's layer, what letters and BOS write there, and how long float32 tells states apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.errors import InputError
from ...constructions.householder import GHFactor
from ...constructions.lrnn import Head, Transition
from ...theory.arithmetic.rounding import Floats, round_number
from ...theory.running.weights import dense_codes
from .keys import LARGEST, SCALE, completed, key_length

EPS = 1e-6
"""Of FLA's norms, as their configurations have it."""


@dataclass(frozen=True, eq=False)
class Write:
    """One factor of a token: the key `[<= K]` (not normed), β‖k‖² (above 0, at most 2), and the row `[value_dim]` that it writes.

    The key of length 1 writes `row` times the key's length, so a factor of strength 1 on a state of 0 gives key·rowᵀ.
    """

    key: Floats
    strength: float
    row: Floats


@dataclass(frozen=True, eq=False)
class Place:
    """A head of the construction within the heads of the layer: as many of them as it has rows, from `first`.

    Each coordinate is stored `copies` times. `letters`: the factors of each transition, in order; `gates`: of each
    transition, 0 or 1. `start`: what BOS writes. `exact`: all unit keys and strengths are numbers of bf16 and fp16.
    `size`: the coordinates in use.
    """

    head: Head
    first: int
    copies: int
    letters: tuple[tuple[Write, ...], ...]
    gates: tuple[int, ...]
    start: tuple[Write, ...]
    exact: bool
    size: int

    @property
    def factors(self) -> int:
        """Factors that the layer must have."""
        return max(len(writes) for writes in (*self.letters, self.start))


def place_of(head: Head, start: int, first: int, name: str) -> Place:
    """The place of a head that begins in the code `start`; `InputError` for what has no exact form in FLA's layer."""
    factors = [f for t in head.transitions for f in t.factors]
    if head.householders is None or any(f.mask is not None for f in factors):
        raise InputError(f"{name}: a letter is not a product of GH factors, which FLA's layers are made of")
    if wrong := [str(t.gate) for t in head.transitions if t.gate not in (0, 1)]:
        raise InputError(
            f"{name}: a letter has the gate {wrong[0]}; FLA's forget gate is exact only where it is 0 or 1"
        )
    if any(not 0 <= strength_of(f) <= 2 for f in factors):
        raise InputError(f"{name}: a factor has β‖v‖² outside [0, 2], where 2σ does not reach")
    exact = all(is_exact(f) for f in factors)
    copies = 2 if exact and any(len(f.vector) == 2 for f in factors if f.beta != 0) else 1
    initial = dense_codes(head, "fp64")[start]
    if (initial != np.round(initial)).any():
        raise InputError(f"{name}: its initial state is no matrix of whole numbers, as BOS writes them")
    written = _start(np.repeat(initial, copies, 0), name)
    return Place(
        head, first, copies,
        tuple(_letter(t, head, copies, name) for t in head.transitions),
        tuple(int(t.gate == 1) for t in head.transitions),
        written, exact, max(head.dim * copies, *(len(w.key) for w in written)),
    )  # fmt: skip


def strength_of(factor: GHFactor) -> float:
    """β‖v‖², exactly, then rounded."""
    return round_number(factor.beta * factor.norm_squared, "fp64")


def is_exact(factor: GHFactor) -> bool:
    """Whether β‖v‖² is 0, 1 or 2 and v is ±e_i or ±e_i ± e_j: then the mirror has an exact form."""
    plain = len(factor.vector) in {1, 2} and all(x in {1, -1} for _, x in factor.vector)
    return factor.beta == 0 or (plain and factor.beta * len(factor.vector) in {1, 2})


def _start(initial: Floats, name: str) -> tuple[Write, ...]:
    """Column by column where these are orthogonal and without signs, else row by row, each key completed."""
    gram = initial.T @ initial
    if (initial >= 0).all() and (gram == np.diag(np.diag(gram))).all():
        parts = list(zip(initial.T, np.eye(initial.shape[1]), strict=True))
    else:
        parts = [(e, row) for e, row in zip(np.eye(len(initial)), initial, strict=True) if row.any()]
    writes, size = [], len(initial)
    for key, row in parts:
        writes.append(Write(completed(key, size, name), 1, row))
        size = max(size, len(writes[-1].key))
    return tuple(writes)


def _letter(transition: Transition, head: Head, copies: int, name: str) -> tuple[Write, ...]:
    """The factors on the stored copies, and what each of them must write so that B is added.

    The mirror along e_i, stored twice, is the product of the two mirrors along its copies, and so is the projection.
    """
    n = head.dim * copies
    keys: list[Floats] = []
    strengths: list[float] = []
    for factor in transition.factors:
        strength = strength_of(factor)
        if strength == 0:
            continue
        key = np.zeros(head.dim)
        for i, value in factor.vector:
            key[i] = round_number(value, "fp64")
        if not is_exact(factor):
            key /= np.linalg.norm(key)
        single = len(factor.vector) == 1 and copies == 2
        stored = np.repeat(key, copies)
        keys += [stored * (np.arange(n) == i) for i in np.flatnonzero(stored)] if single else [stored]
        strengths += [strength] * (2 if single else 1)
    B = np.zeros((head.dim, head.value_dim))
    for i, j, value in transition.additive:
        B[i, j] = round_number(value, "fp64")
    B = np.repeat(B, copies, 0)
    if transition.gate == 0 and B.any():
        keys = [e for e, row in zip(np.eye(n), B, strict=True) if row.any()]
        strengths = [1.0] * len(keys)
    rows = np.zeros((len(keys), head.value_dim))
    if B.any():
        rows = _rows(keys, strengths, B, name)
    return tuple(Write(*parts) for parts in zip(keys, strengths, rows, strict=True))


def _rows(keys: list[Floats], strengths: list[float], B: Floats, name: str) -> Floats:
    """W with Σ_j s_j (C_m ... C_{j+1}) (k_j/‖k_j‖²) W_jᵀ = B; C_j the factors, k_jW_jᵀ what one writes on nothing."""
    after, directions = np.eye(len(B)), []
    for key, strength in reversed(list(zip(keys, strengths, strict=True))):
        directions.append(strength * after @ key)
        after = after @ (np.eye(len(B)) - strength * np.outer(key, key) / (key @ key))
    span = np.array(directions[::-1]).T.reshape(len(B), len(keys))
    rows = np.round(256 * np.linalg.lstsq(span, B, rcond=None)[0]) / 256
    if (span @ rows != B).any() or (np.abs(rows) > LARGEST).any():
        raise InputError(
            f"{name}: a letter adds to the state what none of its own factors can write, and FLA's layer has no other "
            "additive path"
        )
    return rows


def horizon_of(places: list[Place], factors: int, roundoff: float) -> int:
    """Tokens until the errors of all factors, 2(1 - ‖k‖²) and 16 roundoffs each, may add up to half the margin.

    The other half is for the read-out. An estimate on the safe side, not a certificate. `roundoff`: of keys, 2^-24 in float32.
    """
    least = []
    for p in places:
        length = min((key_length(w.key) for writes in p.letters for w in writes), default=float(SCALE**2))
        error = 2 * EPS / (length + EPS) + 16 * roundoff
        codes = dense_codes(p.head, "fp64").reshape(len(p.head.codes), -1)
        nearest = [np.linalg.norm(codes[:i] - codes[i], axis=1).min() for i in range(1, len(codes))]
        if nearest:
            size = np.linalg.norm(codes, axis=1).max()
            least.append(float(min(nearest)) / 4 / (error * size * factors))
    return int(min(least, default=0))
