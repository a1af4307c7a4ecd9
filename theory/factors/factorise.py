"""A real contraction as GH factors, numerically: rounded to rationals, with an exact bound of what that costs.

G.P1.2: every A with ‖A‖ ≤ 1 is a product of at most 3n factors with norm ≤ 1. By the singular value decomposition
A = U Σ Vᵀ: at most n reflections for Vᵀ, n axis scalings I - (1 - σ_i) e_i e_iᵀ, at most n reflections for U.
Where the singular values are rational, `constructions.householder.contraction_factors` is exact and shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from ...constructions.errors import InputError
from ...constructions.householder import GHFactor, gh_factor, product_of
from ...constructions.matrices import Matrix, matrix, subtract
from ..arithmetic.rounding import Floats

GRID = 2**96


@dataclass(frozen=True)
class Factorisation:
    """`factors`, rational, each with norm ≤ 1 exactly; `residual` ≥ ‖product - A‖ (Frobenius), a rational bound."""

    factors: tuple[GHFactor, ...]
    residual: Fraction


def factorise(A: Any, bits: int = 60) -> Factorisation:
    """At most 3n rational GH factors with norm ≤ 1 whose product is A up to the certified `residual`.

    `A`: square real matrix, floats taken as the exact numbers they are, or rationals. `bits`: size of the rational
    key entries. Reflections are exact reflections whatever their keys' rounding, and scalings are kept inside
    [0, 1], so that only the product's distance from A is at stake. Where ‖A‖ > 1 the residual shows it.
    Raises `InputError` for a matrix that is not square or not finite.
    """
    exact = _rationals(A)
    n = len(exact)
    floats = np.array([[float(Fraction(x)) for x in row] for row in exact])  # type: ignore[arg-type]
    U, sigma, Vt = np.linalg.svd(floats)
    factors = [*_reflections(Vt, bits)]
    for i, value in enumerate(sigma):
        rounded = min(
            max(Fraction(round(Fraction(float(value)) * 2**bits), 2**bits), Fraction(0)), Fraction(1)
        )
        if rounded != 1:
            factors.append(gh_factor(1 - rounded, {i: 1}))
    factors += _reflections(U, bits)
    difference = subtract(product_of(factors, n), exact)
    square = sum((Fraction(x) ** 2 for row in difference for x in row), Fraction(0))  # type: ignore[arg-type]
    return Factorisation(tuple(factors), _root_up(square))


def _rationals(A: Any) -> Matrix:
    rows = [list(row) for row in A]
    if not rows or any(len(row) != len(rows) for row in rows):
        raise InputError(
            f"factorise: the matrix must be square, not {len(rows)} rows of {[len(r) for r in rows][:4]}"
        )
    try:
        return matrix(
            [[Fraction(x if isinstance(x, int | Fraction) else float(x)) for x in row] for row in rows]
        )
    except (OverflowError, ValueError):
        raise InputError("factorise: the matrix has entries that are not finite numbers") from None


def _reflections(Q: Floats, bits: int) -> list[GHFactor]:
    """At most n reflections whose product is near the orthogonal Q (Cartan–Dieudonné on rounded keys)."""
    n = len(Q)
    rest = Q.copy()
    last_first: list[GHFactor] = []
    for j in range(n):
        # v = column - e_j without cancellation: earlier entries are zero, and v_j follows from the column's norm 1
        tail, diagonal = rest[j + 1 :, j], rest[j, j]
        v = np.zeros(n)
        if tail @ tail < n * 2.0**-96:
            if diagonal > 0:
                continue
            v[j] = 1
        else:
            v[j + 1 :] = tail
            v[j] = -(tail @ tail) / (1 + diagonal) if diagonal > 0 else diagonal - 1
        v /= np.abs(v).max()  # a reflection depends on the direction alone, however short v was
        key = {i: Fraction(round(Fraction(float(x)) * 2**bits), 2**bits) for i, x in enumerate(v)}
        last_first.append(gh_factor(2 / sum((x * x for x in key.values()), Fraction(0)), key))
        rest -= np.outer(v, (2 / (v @ v)) * (v @ rest))
    return last_first[::-1]


def _root_up(square: Fraction) -> Fraction:
    """√square, rounded up to a multiple of 2^-96."""
    scaled = -((-square * GRID * GRID) // 1)
    root = isqrt(int(scaled))
    return Fraction(root + int(root * root < scaled), GRID)
