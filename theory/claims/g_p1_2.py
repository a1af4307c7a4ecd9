"""G.P1.2: every contraction is a product of at most 3n factors with eigenvalues in [-1, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.errors import NotRealisableError
from ...constructions.householder import (
    GHFactor,
    contraction_factors,
    orthogonal_factors,
    permutation_factors,
    product_of,
)
from ...constructions.matrices import Matrix, identity, matrix, product, rank, subtract
from ..factors.factorise import factorise
from ..spectra.norms import norm_at_most_one
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import supported
from ..verifying.parts import drawn_factors
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "G.P1.2",
    "Contractions, orthogonal maps, permutations and 0 as products of few factors",
    "supported",
    uses=("G.P1.1", "H.rank"),
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
    return supported(
        CLAIM,
        effort,
        count=effort.pick(40, 400),
        draw=drawn_matrix,
        broken=lambda g: (("contraction", "floats")[g.integers(2)], stretched(g)),
        check=factorisation_defect,
        tight=lambda case: 0 in (norm_at_most_one(case[1]).pivots or ()),
    )


def drawn_matrix(generator: np.random.Generator) -> tuple[str, Matrix]:
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


def stretched(generator: np.random.Generator) -> Matrix:
    """A matrix of norm 5/4 with rational singular values."""
    n = int(generator.integers(1, 5))
    sigma = [Fraction(5, 4), *(Fraction(int(x), 4) for x in generator.integers(0, 5, size=n - 1))]
    return singular(generator, sigma)


def singular(generator: np.random.Generator, sigma: Sequence[Fraction]) -> Matrix:
    """U diag(σ) V with random rational orthogonal U and V."""
    n = len(sigma)
    U, V = (
        product_of(drawn_factors(generator, n, [TWO] * int(generator.integers(1, n + 1))), n)
        for _ in range(2)
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
