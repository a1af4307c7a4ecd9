"""own.row-gates: decays and gates of rows before a delta rule leave a token's eigenvalues real; products may grow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._verdict import Verdict
from ..spectra._eigenvalues import eigenvalue_report
from ..spectra._matrix import ExactMatrix, exact_matrix
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import decide_parts, figures, summarise_cases, symbolic
from ._symbolic import Identity, characteristic, rwkv7_radius

CLAIM = Claim(
    "own.row-gates",
    "Gated DeltaNet-2 and KDA: real eigenvalues in [0, 1], or in [-1, 1], and products of tokens that grow",
    "proved",
    uses=("G.P1.1", "DP.T8"),
)
KEY, GATE, DECAY = (Fraction(15, 17), Fraction(8, 17)), (Fraction(1, 16), Fraction(15, 16)), Fraction(15, 16)
"""A token of which the product with its mirror image grows, all gates and decays strictly between 0 and 1."""


class Token(NamedTuple):
    """What (I - k(b⊙k)ᵀ) diag(w) is made of; the key is `key` divided by its length."""

    key: tuple[int, ...]
    gate: tuple[Fraction, ...]
    decay: tuple[Fraction, ...]


def verify(effort: Effort = QUICK) -> Verdict:
    """One token's eigenvalues are real and at most 1; they are not negative while the gates of erasure are at most 1.

    Statement: Let A = (I - k(b⊙k)ᵀ) diag(w) with ‖k‖ = 1, w in [0, 1]ⁿ and b in [0, 2]ⁿ, as in Gated DeltaNet-2; b = β for
        all rows is KDA, and a number w besides it Gated DeltaNet. A has the characteristic polynomial of the symmetric matrix
        diag(w) - yyᵀ with y_i = √(w_i b_i) k_i. So its eigenvalues are real and in [-1, 1], and at most one is negative. If
        Σ b_i k_i² ≤ 1, such as for b in [0, 1]ⁿ, they are in [0, 1]; if it is above 1 and w > 0, one is negative. For b = β,
        no product of tokens expands. For other b it may, with all gates and decays strictly between 0 and 1: for
        k = (15/17, 8/17), b = (1/16, 15/16), w = 15/16 and the token with both coordinates exchanged, the product has an
        eigenvalue above 1.
    Direction: tight in Σ b_i k_i²; the witness refutes stability of Gated DeltaNet-2 in general
    Hypotheses: ‖k‖ = 1, w in [0, 1]ⁿ, b in [0, 2]ⁿ.
    Arithmetic: exact
    Source: own; the recurrence arXiv 2605.22791, KDA arXiv 2510.26692; the pair is that of DP, Theorem 8, with decays
    Method: Symbolic: det(λI - A) = ∏(λ - w_i) + Σ_i y_i² ∏_{j≠i}(λ - w_j) depends on w and y² alone, so it is that of the symmetric matrix;
        a matrix of rank one that is taken away moves one eigenvalue at most below 0, and none up. xᵀ(diag(w) - yyᵀ)x ≥ 0 for Σ b k² ≤ 1,
        and ≥ -‖x‖² for b ≤ 2, are the inequality of Cauchy and Schwarz, whose difference is a sum of squares; det A = ∏w_i (1 - Σ b k²). Identities in
        dimension 3. Random rational tokens with exact eigenvalues; with b up to 4 the same check must find violations. The pair in
        exact numbers: p(1) < 0 for its characteristic polynomial; for w = 1 and b = (0, 1), the spectral radius of DP.T8. For b = β, A is a factor with
        eigenvalues in [-1, 1] and a diagonal matrix, which do not expand (G.P1.1).
    Example:
        >>> print(verify().line())
        proved: p(1) of the pair: -44262059039/1401249857536; ρ without decays: 3*sqrt(17)/32 + 27/32; 4 of 4 parts, as claimed
    """
    import sympy as sp

    erased_once = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 800),
        draw=lambda g: draw_token(g, 0, 16),
        broken=lambda g: draw_token(g, 17, 32),
        check=lambda token: misplaced(token, 0),
        tight=lambda token: Fraction(1) in token.gate,
    )
    erased_twice = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 800),
        draw=lambda g: draw_token(g, 0, 32),
        broken=lambda g: draw_token(g, 48, 64),
        check=lambda token: misplaced(token, -1),
        tight=lambda token: Fraction(2) in token.gate,
    )
    parts = {
        "the eigenvalues of a symmetric matrix": symbolic(symmetric_identities()),
        "Cauchy and Schwarz": symbolic(square_identities()),
        "tokens with b up to 1": summarise_cases(erased_once),
        "tokens with b up to 2": summarise_cases(erased_twice),
    }
    values = {
        "p(1) of the pair:": (at_one(mirrored_pair()), Fraction(-44262059039, 1401249857536)),
        "ρ without decays:": (rwkv7_radius(sp.pi / 6), (27 + sp.sqrt(153)) / 32),
    }
    return decide_parts(
        CLAIM, parts, values=values, evidence={"once": figures(erased_once), "twice": figures(erased_twice)}
    )


def transition(
    key: Sequence[Fraction], gate: Sequence[Fraction], decay: Sequence[Fraction]
) -> list[list[Fraction]]:
    """(I - k(b⊙k)ᵀ) diag(w), entry by entry."""
    return [
        [(int(i == j) - key[i] * gate[j] * key[j]) * decay[j] for j in range(len(key))]
        for i in range(len(key))
    ]


def draw_token(generator: np.random.Generator, low: int, high: int) -> Token:
    """Three rows: gates from low/16 to high/16, decays from 1/16 to 1."""
    key = (0, 0, 0)
    while not any(key):
        key = tuple(generator.integers(-3, 4, size=3).tolist())
    gate = tuple(Fraction(int(x), 16) for x in generator.integers(low, high + 1, size=3))
    decay = tuple(Fraction(int(x), 16) for x in generator.integers(1, 17, size=3))
    return Token(key, gate, decay)


def matrix_of(token: Token) -> ExactMatrix:
    """A with the key divided by its length, which A has squared, so that it is rational."""
    square = sum(x * x for x in token.key)
    gate = [Fraction(b) / square for b in token.gate]
    return exact_matrix(transition([Fraction(x) for x in token.key], gate, token.decay))


def misplaced(token: Token, least: int) -> Any:
    """The token's eigenvalues where they are not in [least, 1], or several are negative, or the sign of Σ b k² - 1 says otherwise."""
    found = eigenvalue_report(matrix_of(token))
    square = sum(x * x for x in token.key)
    erased = sum(b * x * x for b, x in zip(token.gate, token.key, strict=True)) / square
    fine = found.in_zero_one if least == 0 else found.in_minus_one_one
    if fine and found.has_negative is (erased > 1):
        return None
    return {"token": str(token), "eigenvalues": list(map(str, found.eigenvalues))}


def mirrored_pair() -> list[list[Fraction]]:
    """A A′, where A′ has the coordinates of the key and of the gates exchanged."""
    A = transition(KEY, GATE, (DECAY, DECAY))
    other = transition(KEY[::-1], GATE[::-1], (DECAY, DECAY))
    return [[sum((A[i][k] * other[k][j] for k in range(2)), Fraction(0)) for j in range(2)] for i in range(2)]


def at_one(A: Sequence[Sequence[Fraction]]) -> Fraction:
    """p(1) = 1 - tr A + det A of a 2 × 2 matrix; below 0, there is a real root above 1."""
    (a, b), (c, d) = A
    return 1 - (a + d) + (a * d - b * c)


def symmetric_identities() -> tuple[Identity, ...]:
    """In dimension 3, with w_i = p_i², b_i = r_i², y_i = p_i r_i k_i."""
    import sympy as sp

    p, r, k = (sp.symbols(f"{name}1:4", real=True) for name in "prk")
    lam = sp.Symbol("lambda")
    A = (sp.eye(3) - sp.Matrix(k) * sp.Matrix([b**2 * x for b, x in zip(r, k, strict=True)]).T) * sp.diag(
        *(x**2 for x in p)
    )
    y = sp.Matrix([x * b * z for x, b, z in zip(p, r, k, strict=True)])
    symmetric = sp.diag(*(x**2 for x in p)) - y * y.T
    erased = sum(b**2 * x**2 for b, x in zip(r, k, strict=True))
    return (
        Identity(
            "det(λI - A) = det(λI - diag(w) + yyᵀ)", characteristic(A, lam) - characteristic(symmetric, lam)
        ),
        Identity("det A = ∏w_i (1 - Σ b_i k_i²)", A.det() - sp.prod(x**2 for x in p) * (1 - erased)),
    )


def square_identities() -> tuple[Identity, ...]:
    """Σu² Σv² - (Σuv)² is a sum of squares, for the vectors of both bounds, in dimension 3."""
    import sympy as sp

    u, v = sp.symbols("u1:4", real=True), sp.symbols("v1:4", real=True)
    p = sp.Symbol("p", real=True)
    product = sum(x * y for x, y in zip(u, v, strict=True))
    squares = sum((u[i] * v[j] - u[j] * v[i]) ** 2 for i in range(3) for j in range(i))
    return (
        # u = r_i k_i, v = p_i x_i; and u = p_i r_i k_i / √(1 + p_i²), v = √(1 + p_i²) x_i
        Identity(
            "Σu² Σv² - (Σuv)² = Σ(u_i v_j - u_j v_i)²",
            sum(x**2 for x in u) * sum(x**2 for x in v) - product**2 - squares,
        ),
        # so with b ≤ 2 and w ≤ 1, Σ w b k²/(1 + w) ≤ Σ k² = 1
        Identity(
            "1/2 - w/(1 + w) = (1 - w)/(2 (1 + w)) for w = p²",
            sp.Rational(1, 2) - p**2 / (1 + p**2) - (1 - p**2) / (2 * (1 + p**2)),
        ),
    )
