"""G.P1.1: a product of factors with eigenvalues in [-1, 1] has norm at most 1."""

from __future__ import annotations

from collections.abc import Sequence

from ...constructions.algebra._householder import GHFactor, product_of
from .._verdict import Verdict
from ..spectra._norms import norm_at_most_one
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_random_cases, decide_values
from ._parts import decide_parts, draw_factors, eighths, figures, letter_matrices, summarise_cases, symbolic
from ._symbolic import norm_identity

CLAIM = Claim(
    "G.P1.1",
    "Products of factors with eigenvalues in [-1, 1] do not expand",
    "proved",
    formal=("Householder.product_non_expansive",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A product of generalized Householder factors with eigenvalues in [-1, 1] lengthens no vector.

    Statement: Let N be a product of k matrices I - β v vᵀ with 0 ≤ β‖v‖² ≤ 2. Then ‖N‖₂ ≤ 1.
    Direction: bound, attained by every reflection
    Hypotheses: Every factor has its eigenvalue 1 - β‖v‖² in [-1, 1].
    Arithmetic: exact
    Source: G, Proposition 1 (1)
    Method: Symbolic: ‖(I - βkkᵀ)z‖² = ‖z‖² - β(2 - β)(kᵀz)² for a unit key; so no factor lengthens z. Instances: random
        products, whose norm is decided by exact elimination with a certificate that is multiplied out; with one β‖v‖²
        outside [0, 2] the same check must find a vector that becomes longer.
    Example:
        >>> print(verify().line())
        proved: 2 of 2 parts, as claimed
    """
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(40, 600),
        draw=lambda g: draw_factors(g, 3, eighths(g, 0, 16, 3)),
        broken=lambda g: draw_factors(g, 3, [*eighths(g, 0, 16, 1), *eighths(g, 17, 24, 1)]),
        check=expansion,
        tight=lambda factors: any(f.eigenvalue == -1 for f in factors),
    )
    parts = {"the norm of one factor": symbolic([norm_identity()]), "random products": summarise_cases(found)}
    return decide_parts(CLAIM, parts, evidence={"products": figures(found)})


def expansion(factors: Sequence[GHFactor]) -> object:
    """A vector that the product on R³ lengthens, with ‖Nx‖² - ‖x‖²; None where there is none."""
    N = product_of(factors, 3)
    norm = norm_at_most_one(N)
    if not norm.replay(N):
        raise AssertionError("a norm whose certificate does not replay")
    return None if norm.holds else {"x": norm.witness, "excess": norm.excess}


def applies(subject: Subject) -> Verdict | None:
    """Is ‖A(x)‖ ≤ 1 for every letter of a model?"""
    letters = letter_matrices(subject)
    if letters is None:
        return None
    norms = [(name, norm_at_most_one(A, name=name)) for name, A in letters]
    larger = [
        {"letter": name, "x": norm.witness, "excess": norm.excess} for name, norm in norms if not norm.holds
    ]
    return decide_values(
        CLAIM,
        computed=f"{len(letters) - len(larger)} letters of norm at most 1",
        claimed=f"{len(letters)} letters of norm at most 1",
        witness=larger[:1],
    )
