"""H.openβ: factors with every β‖v‖² below 2: what returns never moved, and how fast a state then shrinks.

A product A of factors with β‖v‖² in (0, 2) has ‖Ax‖ < ‖x‖ unless every factor fixes x. So whatever a power of A fixes, A
fixes (`returns_without_moving`), and a finite set of states that a letter permutes is left as it is. With infinitely many
states a shrinking orbit can still be read (`strict_parity`); `mean_norms` is the exact rate at which it shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...constructions.householder import GHFactor, gh_factor, product_of
from ...constructions.lrnn import Head
from ...constructions.matrices import Matrix, divide, identity, matrix, product, rank, subtract
from ..arithmetic.rounding import Floats, round_number

PERIODS = 120
"""Rational affine maps in at most 4 dimensions return, if ever, after a divisor of 120 steps: φ(m) ≤ 4."""


@dataclass(frozen=True)
class StrictSystem:
    """h ← C_k···C_1 h + b in exact numbers; `factors` in the order applied, `added` b."""

    factors: tuple[GHFactor, ...]
    added: tuple[Fraction, ...]

    @property
    def affine(self) -> Matrix:
        """[[A, b], [0, 1]]."""
        n = len(self.added)
        A = product_of(self.factors, n)
        rows = [[*row, b] for row, b in zip(A, self.added, strict=True)]
        return matrix([*rows, [*([0] * n), 1]])


def random_system(draw: np.random.Generator, n: int, factors: int, *, full: bool = False) -> StrictSystem:
    """Small integer keys, β‖v‖² in eighths or 255/128 (the largest bf16 below 2) in (0, 2); `full`: half of them 2."""
    sizes = [Fraction(i, 8) for i in range(1, 16)] + [Fraction(255, 128)] * 5
    found: list[GHFactor] = []
    while len(found) < factors:
        v = draw.integers(-2, 3, size=n).tolist()
        if any(v):
            size = Fraction(2) if full and draw.random() < 0.5 else sizes[draw.integers(len(sizes))]
            found.append(gh_factor(divide(size, sum(x * x for x in v)), dict(enumerate(v))))
    added = tuple(Fraction(int(x), 2) for x in draw.integers(-4, 5, size=n) * (draw.random(n) < 0.7))
    return StrictSystem(tuple(found), added)


def returns_without_moving(system: StrictSystem) -> bool:
    """Does everything that returns within `PERIODS` steps stay where it is? Decided by ranks, for n ≤ 4.

    In the numbers (h, 1) and (d, 0), differences of states, the map is linear: those that F^m fixes are the kernel of
    F^m - I, which holds that of F - I. They are equal exactly if nothing moves and returns. And of the differences, A^m
    must fix those alone that all keys are orthogonal to, so that every factor fixes them.
    """
    F, n = system.affine, len(system.added)
    unit = identity(n + 1)
    power, base, left = unit, F, PERIODS
    while left:
        if left & 1:
            power = product(power, base)
        base, left = product(base, base), left >> 1
    returning, staying = subtract(power, unit), subtract(F, unit)
    keys = [[dict(f.vector).get(i, 0) for i in range(n)] for f in system.factors]
    return rank(returning) == rank(staying) and rank([row[:n] for row in returning[:n]]) == rank(keys)


def strict_parity(size: Fraction, length: int) -> Iterator[tuple[Fraction, int]]:
    """h ← (1 - size) h from 1 on 1^k, size = β‖v‖² in (1, 2): the state and the parity read from its sign, k = 0, 1, ..."""
    h = Fraction(1)
    for _ in range(length):
        yield h, int(h < 0)
        h *= 1 - size


def scaled_letters(head: Head, size: float) -> Floats:
    """The head's letters `[letters, n, n]` with every β‖v‖² = 2 turned into `size`, in float64."""
    letters = []
    for transition in head.transitions:
        A = np.eye(head.dim)
        for factor in transition.factors:
            v = np.zeros(head.dim)
            for i, x in factor.vector:
                v[i] = round_number(x, "fp64")
            A = (np.eye(head.dim) - size * np.outer(v, v) / (v @ v)) @ A
        letters.append(A)
    return np.array(letters)[head.action_of(np.arange(head.letters))]


def mean_norms(letters: Floats, lengths: Sequence[int]) -> list[float]:
    """√(E‖A(x_t)···A(x_1)‖²_F / n) over uniform words of each length, from H_0 = I; letters `[letters, n, n]`.

    No sampling: X ← mean of AᵀXA from X = I has trace E‖·‖²_F.
    """
    n = letters.shape[1]
    X, found = np.eye(n), []
    for t in range(1, max(lengths) + 1):
        X = np.einsum("aji,jk,akl->il", letters, X, letters) / len(letters)
        if t in lengths:
            found.append((t, float(np.sqrt(np.trace(X) / n))))
    return [dict(found)[t] for t in lengths]


def sampled_norms(letters: Floats, length: int, words: int, seed: int) -> Floats:
    """‖A(x_t)···A(x_1)‖_F/√n of random words, `[words]`."""
    draw = np.random.default_rng(seed)
    H = np.repeat(np.eye(letters.shape[1])[None], words, axis=0)
    for _ in range(length):
        H = letters[draw.integers(0, len(letters), size=words)] @ H
    result: Floats = np.linalg.norm(H, axis=(1, 2)) / np.sqrt(letters.shape[1])
    return result
