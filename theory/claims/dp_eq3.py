"""DP.eq3: the factors of a token multiply with their index rising to the left."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.algebra._householder import GHFactor
from ...constructions.algebra._matrices import Matrix, identity, matrix, product
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import draw_factors, eighths

CLAIM = Claim(
    "DP.eq3",
    "A token's transition is C_n···C_1, and B has the later factors on the left",
    "supported",
    seconds=3,
    formal=("Affine.token_is_affine",),
)
Case = tuple[list[GHFactor], list[Matrix], Matrix, str]
"""Factors with β and key, the values v_j as columns, H_0, and the order in which the factors are multiplied."""


def verify(effort: Effort = QUICK) -> Verdict:
    """Flattening the micro-steps of a token puts later factors on the left.

    Statement: Let a token do H ← (I - β_j k_j k_jᵀ) H + β_j k_j v_jᵀ for j = 1, …, m, one after the other, and let
        C_j = I - β_j k_j k_jᵀ. Together they do H ← A H + B with A = C_m···C_1 and B = Σ_j C_m···C_{j+1} β_j k_j v_jᵀ.
    Direction: tight, an equality
    Hypotheses: States are multiplied from the left.
    Arithmetic: exact
    Source: DP, equation 3, with the order of the product repaired
    Method: Random keys, values and states in rational numbers, against the micro-steps; with the product in the opposite
        order the same check must find other states.
    Example:
        >>> print(verify().line())
        supported by 40 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 1000),
        draw=lambda g: (*draw_token(g), "rising to the left"),
        broken=lambda g: (*draw_token(g), "rising to the right"),
        check=violation,
    )


def draw_token(generator: np.random.Generator) -> tuple[list[GHFactor], list[Matrix], Matrix]:
    """Two to four factors on R³, values in R², a state."""
    count = int(generator.integers(2, 5))
    factors = draw_factors(generator, 3, eighths(generator, 0, 16, count))
    values = [matrix(generator.integers(-4, 5, size=(1, 2)).tolist()) for _ in factors]
    return factors, values, matrix(generator.integers(-4, 5, size=(3, 2)).tolist())


def violation(case: Case) -> Any:
    """The state after the micro-steps and after A H + B, where they differ; None where they do not."""
    factors, values, start, order = case
    H = start
    for factor, v in zip(factors, values, strict=True):
        H = add_matrices(factor.apply(H), write_value(factor, v))
    A, B = flatten_token(factors, values, order)
    once = add_matrices(product(A, start), B)
    return None if once == H else {"factors": str(factors), "micro-steps": H, "at once": once}


def flatten_token(factors: list[GHFactor], values: list[Matrix], order: str) -> tuple[Matrix, Matrix]:
    """A = ∏ C_j and B = Σ_j (∏_{i > j} C_i) β_j k_j v_jᵀ of a token, the products in that order."""
    B = matrix([[Fraction(0)] * len(values[0][0]) for _ in range(3)])
    for j, (factor, v) in enumerate(zip(factors, values, strict=True), start=1):
        B = add_matrices(B, product(multiply_factors(factors[j:], order), write_value(factor, v)))
    return multiply_factors(factors, order), B


def multiply_factors(factors: list[GHFactor], order: str) -> Matrix:
    """The factors' matrices as they stand in the written product; I for none."""
    result = identity(3)
    for factor in factors if order == "rising to the right" else factors[::-1]:
        result = product(result, factor.matrix(3))
    return result


def write_value(factor: GHFactor, v: Matrix) -> Matrix:
    """β k vᵀ."""
    key = dict(factor.vector)
    return matrix([[factor.beta * key.get(i, 0) * x for x in v[0]] for i in range(3)])


def add_matrices(H: Matrix, B: Matrix) -> Matrix:
    """H + B."""
    return matrix([[a + b for a, b in zip(r, s, strict=True)] for r, s in zip(H, B, strict=True)])
