"""G.P1.2: every contraction is a product of at most 3n factors with eigenvalues in [-1, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from ...constructions.algebra._householder import (
    GHFactor,
    contraction_factors,
    gh_factor,
    orthogonal_factors,
    permutation_factors,
    product_of,
)
from ...constructions.algebra._matrices import Matrix, identity, matrix, product, rank, subtract
from ...foundation._errors import InputError, NotRealisableError
from .._verdict import Verdict
from ..arithmetic._rounding import Floats
from ..spectra._norms import norm_at_most_one
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import draw_factors

# A real contraction as GH factors, numerically: rounded to rationals, with an exact bound of what that costs.
#
# G.P1.2: every A with ‖A‖ ≤ 1 is a product of at most 3n factors with norm ≤ 1. By the singular value decomposition
# A = U Σ Vᵀ: at most n reflections for Vᵀ, n axis scalings I - (1 - σ_i) e_i e_iᵀ, at most n reflections for U.
# Where the singular values are rational, `constructions.householder.contraction_factors` is exact and shorter.


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


CLAIM = Claim(
    "G.P1.2",
    "Contractions, orthogonal maps, permutations and 0 as products of few factors",
    "supported",
    uses=("G.P1.1", "H.rank"),
    formal=(
        "Householder.orthogonal_needs, for orthogonal maps",
        "Permutations.permutation_needs, for permutations",
        "Householder.zero_by_projections, for 0",
    ),
)
RESIDUAL = Fraction(1, 2**48)
"""Of a factorisation in floats: the certified bound of ‖product - A‖, a rational, must be below it."""
TWO = Fraction(2)


def verify(effort: Effort = QUICK) -> Verdict:
    """A square matrix of norm at most 1 is a product of at most 3n factors; special matrices need fewer.

    Statement: Let A be n × n with ‖A‖₂ ≤ 1. Then A is a product of at most 3n factors I - β v vᵀ with β‖v‖² in [0, 2]:
        two orthogonal matrices of at most n reflections each, and n scalings of an axis. An orthogonal A is a product
        of rank(A - I) ≤ n reflections, a permutation of n - #cycles ≤ n - 1 swaps, and A = 0 of n axis projections.
    Direction: sufficient
    Hypotheses: ‖A‖₂ ≤ 1.
    Arithmetic: exact where the singular values are rational; otherwise the factors are rational and exactly within
        norm 1, and the distance of their product from A is bounded by an exact rational, below 2^-48
    Source: G, Proposition 1 (2)
    Method: Random rational matrices with rational singular values, orthogonal matrices, permutations, 0, and matrices
        of floats are factorised and multiplied out. Matrices with a singular value above 1 must be refused, or miss
        the bound.
    Example:
        >>> print(verify().line())
        supported by 40 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 400),
        draw=draw_matrix,
        broken=lambda g: (("contraction", "floats")[g.integers(2)], draw_stretching(g)),
        check=factorisation_defect,
        tight=lambda case: 0 in (norm_at_most_one(case[1]).pivots or ()),
    )


def draw_matrix(generator: np.random.Generator) -> tuple[str, Matrix]:
    """A kind of matrix and one of that kind."""
    n = int(generator.integers(1, 5))
    kind = ("contraction", "orthogonal", "permutation", "zero", "floats")[generator.integers(5)]
    if kind == "permutation":
        image = generator.permutation(n + 2).tolist()
        return kind, matrix([[int(j == i) for j in image] for i in range(n + 2)])
    if kind == "zero":
        return kind, matrix([[0] * n for _ in range(n)])
    if kind == "floats":
        drawn = generator.normal(size=(n, n))
        floats = drawn / (np.linalg.norm(drawn, 2) * generator.choice([1 + 2.0**-40, 2.0]))
        return kind, matrix([[Fraction(float(x)) for x in row] for row in floats])
    sigma = [Fraction(int(x), 4) for x in generator.integers(0, 5, size=n)]
    return kind, singular(generator, sigma if kind == "contraction" else [Fraction(1)] * n)


def draw_stretching(generator: np.random.Generator) -> Matrix:
    """A matrix of norm 5/4 with rational singular values."""
    n = int(generator.integers(1, 5))
    sigma = [Fraction(5, 4), *(Fraction(int(x), 4) for x in generator.integers(0, 5, size=n - 1))]
    return singular(generator, sigma)


def singular(generator: np.random.Generator, sigma: Sequence[Fraction]) -> Matrix:
    """U diag(σ) V with random rational orthogonal U and V."""
    n = len(sigma)
    U, V = (
        product_of(draw_factors(generator, n, [TWO] * int(generator.integers(1, n + 1))), n) for _ in range(2)
    )
    scale = matrix([[x if i == j else 0 for j in range(n)] for i, x in enumerate(sigma)])
    return product(product(U, scale), V)


def factorisation_defect(case: tuple[str, Matrix]) -> Any:
    """What is wrong with the library's factors of a matrix; None where nothing is."""
    kind, A = case
    n = len(A)
    if kind == "floats":
        found = factorise(A)
        residual_fits = found.residual <= RESIDUAL
        return _wrong(kind, A, found.factors, 3 * n, residual_fits)
    try:
        factors, most = exact_factors(kind, A)
    except NotRealisableError as error:
        return {"kind": kind, "matrix": A, "refused": str(error)}
    return _wrong(kind, A, factors, most, product_of(factors, n) == A)


def exact_factors(kind: str, A: Matrix) -> tuple[Sequence[GHFactor], int]:
    """Factors of a matrix of that kind, and the most there may be."""
    n = len(A)
    least = rank(subtract(A, identity(n)))
    if kind == "orthogonal":
        return orthogonal_factors(A), least
    if kind == "permutation":
        return permutation_factors([[row[j] for row in A].index(1) for j in range(n)]), least
    return contraction_factors(A), n if kind == "zero" else 3 * n


def _wrong(kind: str, A: Matrix, factors: Sequence[GHFactor], most: int, equal: bool) -> Any:
    within = all(f.is_contraction() for f in factors)
    ends = kind not in ("orthogonal", "permutation") or all(f.eigenvalue == -1 for f in factors)
    if equal and within and ends and len(factors) <= most:
        return None
    return {
        "kind": kind,
        "matrix": A,
        "factors": len(factors),
        "at most": most,
        "equal": equal,
        "norm": within,
    }
