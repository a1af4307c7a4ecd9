"""DP.P1: the spectrum of products with equal, orthonormal, or two keys."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.algebra._householder import gh_factor, product_of
from .._verdict import Verdict
from ..spectra._eigenvalues import eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import decide_parts, eighths, figures, summarise_cases, symbolic
from ._symbolic import nonreal_pair, two_factor_identities

CLAIM = Claim(
    "DP.P1", "Equal keys, orthonormal keys, and where two factors have non-real eigenvalues", "proved"
)
Key = tuple[int, int]
Pair = tuple[Fraction, Key, Fraction, Key, bool]
"""β_1, v_1, β_2, v_2, with the sizes β of the unit keys, and whether non-real eigenvalues are predicted."""


def verify(effort: Effort = QUICK) -> Verdict:
    """What products of factors with related keys have for eigenvalues.

    Statement: (1) Factors with one key k multiply to one factor with 1 - β = ∏(1 - β_j). (2) With orthonormal keys the
        product is symmetric and has the eigenvalues 1 - β_j, and 1 elsewhere. (3) Two factors with unit keys,
        c = k_1ᵀk_2, 0 < |c| < 1, have a non-real pair of eigenvalues exactly if β_1, β_2 > 1 and
        (√(β_1-1) - √(β_2-1))² < β_1β_2c² < (√(β_1-1) + √(β_2-1))²; β_1 = β_2 = 2 is the rotation by twice the angle
        between the keys.
    Direction: tight; (3) is necessary and sufficient
    Hypotheses: Real unit keys and real β; for (3) no more than two factors.
    Arithmetic: exact
    Source: DP, Proposition 1; the region of (3) derived anew
    Method: Symbolic: each part is an identity that sympy reduces to 0; the region of (3) comes from factoring the
        discriminant of the characteristic polynomial. Instances compare the region with exact eigenvalues; a
        prediction from another key's angle must go wrong.
    Example:
        >>> print(verify().line())
        proved: 4 of 4 parts, as claimed
    """
    identities = two_factor_identities()
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(80, 3000),
        draw=draw_pair,
        broken=lambda g: (
            *draw_pair(g)[:4],
            draw_pair(g)[4],
        ),  # two draws: the prediction is that of other factors
        check=misprediction,
        tight=lambda pair: pair[4],
    )
    parts: dict[str, Any] = {
        name: symbolic([i for i in identities if i.text.startswith(name)]) for name in ("(1)", "(2)", "(3)")
    }
    parts["random pairs"] = summarise_cases(found)
    return decide_parts(
        CLAIM, parts, evidence={"identities": [i.text for i in identities], "pairs": figures(found)}
    )


def draw_pair(generator: np.random.Generator) -> Pair:
    """Two factors with sizes in eighths to 2 and integer keys, neither parallel nor orthogonal."""
    while True:
        v, w = ((int(a), int(b)) for a, b in generator.integers(-4, 5, size=(2, 2)))
        inner = v[0] * w[0] + v[1] * w[1]
        if inner and v[0] * w[1] != v[1] * w[0]:
            break
    beta_1, beta_2 = eighths(generator, 0, 16, 2)
    cosine_squared = Fraction(inner * inner, square_norm(v) * square_norm(w))
    return beta_1, v, beta_2, w, nonreal_pair(beta_1, beta_2, cosine_squared)


def square_norm(v: Key) -> int:
    """‖v‖²."""
    return v[0] ** 2 + v[1] ** 2


def misprediction(pair: Pair) -> Any:
    """The exact eigenvalues of C_2 C_1 where they are not as predicted; None where they are."""
    beta_1, v, beta_2, w, nonreal = pair
    factors = [
        gh_factor(beta_1 / square_norm(v), dict(enumerate(v))),
        gh_factor(beta_2 / square_norm(w), dict(enumerate(w))),
    ]
    found = eigenvalue_report(product_of(factors, 2))
    if found.is_real is not nonreal:
        return None
    return {"beta": [beta_1, beta_2], "keys": [v, w], "eigenvalues": list(map(str, found.eigenvalues))}
