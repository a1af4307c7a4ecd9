"""G.P1.3: products of at most two factors with eigenvalues in [0, 1] have eigenvalues in [0, 1]; three do not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ...constructions.algebra._cyclotomic import Number, real_cyclotomic_field, sign
from ...constructions.algebra._householder import GHFactor, gh_factor, product_of
from .._verdict import Verdict
from ..spectra._eigenvalues import Spectrum, eigenvalue_report
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_random_cases, decide_values
from ._parts import decide_parts, draw_factors, eighths, figures, summarise_cases, symbolic
from ._symbolic import (
    equiangular_discriminant,
    equiangular_projections,
    nonnegative_pair_identities,
    norm_identity,
)

CLAIM = Claim(
    "G.P1.3",
    "Eigenvalues of few factors: in [0, 1] for two with eigenvalues in [0, 1], and not for three",
    "proved",
    uses=("G.P1.1", "DP.P1"),
)
NON_REAL_KEYS = ((1, -2), (1, 2), (1, 0))
NON_REAL_PRODUCT = ((Fraction(253, 1600), Fraction(27, 800)), (Fraction(-27, 200), Fraction(7, 100)))
NON_REAL_DISCRIMINANT = Fraction(-1071, 102400)


def verify(effort: Effort = QUICK) -> Verdict:
    """Where the eigenvalues of a product of k factors lie, and that k ≤ 2 is essential for [0, 1].

    Statement: If every factor of N has its eigenvalue in (-1, 1], each eigenvalue of N is 1 or has modulus below 1. If
        N has at most two factors, with eigenvalues in [0, 1], the eigenvalues of N lie in [0, 1]. For three factors this
        is false: -1/8 occurs in R², and non-real ones do in R², and in R³ with an imaginary part of 3 - 2√2.
    Direction: sufficient; tight in k
    Hypotheses: Real keys; 1 - β‖v‖² in (-1, 1], or in [0, 1] and k ≤ 2.
    Arithmetic: exact
    Source: G, Proposition 1 (3); that k ≤ 2 is essential is ours
    Method: Symbolic: a factor with β in (0, 2) shortens or fixes, so an eigenvector of modulus 1 is fixed by all. For two
        factors the discriminant, both ends of [0, 1] and the vertex of the characteristic polynomial are sums of
        products of numbers ≥ 0. Exact witnesses for k = 3. Instances with exact eigenvalues; with a third factor, or
        one eigenvalue below 0, the same check must find violations. That 3 - 2√2 is the largest for k = n = 3 is
        not checked: it is stationary among equal angles between the keys.
    Example:
        >>> print(verify().line())
        proved: least eigenvalue -1/8; imaginary part 3 - 2*sqrt(2); 6 of 6 parts, as claimed
    """
    import sympy as sp

    pairs = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 1500),
        draw=lambda g: draw_factors(g, 3, eighths(g, 0, 8, 2)),
        broken=lambda g: draw_factors(g, 2, eighths(g, 0, 8, 3) if g.integers(2) else eighths(g, 9, 16, 2)),
        check=outside_unit_interval,
        tight=lambda factors: any(f.eigenvalue == 0 for f in factors),
    )
    strict = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(30, 600),
        draw=lambda g: draw_factors(g, 3, eighths(g, 0, 15, 3)),
        broken=lambda g: draw_factors(g, 3, [Fraction(2)] * 3),
        check=on_circle_besides_one,
        tight=lambda factors: any(f.eigenvalue == Fraction(-7, 8) for f in factors),
    )
    parts = {
        "a factor with β in (0, 2) fixes or shortens": symbolic([norm_identity()]),
        "two factors: roots in [0, 1]": symbolic(nonnegative_pair_identities()),
        "three projections of space": symbolic(equiangular_projections()),
        "three factors of the plane": non_real_triple(),
        "random pairs": summarise_cases(pairs),
        "random strict products": summarise_cases(strict),
    }
    values = {
        "least eigenvalue": (least_of_three_projections(), Fraction(-1, 8)),
        "imaginary part": (imaginary_part(2 - sp.sqrt(2)), 3 - 2 * sp.sqrt(2)),
    }
    evidence = {"pairs": figures(pairs), "strict": figures(strict)}
    return decide_parts(CLAIM, parts, values=values, evidence=evidence)


def spectrum_of(factors: Sequence[GHFactor]) -> Spectrum:
    """Exact eigenvalues of the product, in the dimension of the keys."""
    n = 1 + max(i for f in factors for i, _ in f.vector)
    return eigenvalue_report(product_of(factors, max(n, 2)))


def outside_unit_interval(factors: Sequence[GHFactor]) -> Any:
    """The product's eigenvalues where they are not all in [0, 1]; None where they are."""
    found = spectrum_of(factors)
    return (
        None
        if found.in_zero_one
        else {"factors": str(factors), "eigenvalues": list(map(str, found.eigenvalues))}
    )


def on_circle_besides_one(factors: Sequence[GHFactor]) -> Any:
    """The product's eigenvalues where one on or outside the unit circle is not 1; None where there is none."""
    found = spectrum_of(factors)
    fine = all(e.circle == "inside" or (e.circle == "on" and e.exact == 1) for e in found.eigenvalues)
    return None if fine else {"factors": str(factors), "eigenvalues": list(map(str, found.eigenvalues))}


def least_of_three_projections() -> Any:
    """Of the product of the projections along keys at 0°, 60°, 120°."""
    root = real_cyclotomic_field(12).twice_cos(1)  # √3
    keys: tuple[dict[int, Number], ...] = ({0: 1}, {0: 1, 1: root}, {0: 1, 1: -root})
    factors = [gh_factor(Fraction(1, 1 if len(key) == 1 else 4), key) for key in keys]
    return spectrum_of(factors).eigenvalues[-1].exact


def imaginary_part(c: Any) -> Any:
    """Of the non-real eigenvalues of three projections along keys with pairwise inner products c; c in (0, 1)."""
    import sympy as sp

    return sp.sqrtdenest(sp.sqrt(sp.expand(equiangular_discriminant(c) / -4)))


def non_real_triple() -> Any:
    """Keys (1, -2), (1, 2), (1, 0), β‖v‖² = 3/4 each: the product, its discriminant, and eigenvalues that are not real."""
    factors = [
        gh_factor(Fraction(3, 4) / sum(x * x for x in key), dict(enumerate(key))) for key in NON_REAL_KEYS
    ]
    N = product_of(factors, 2)
    (a, b), (c, d) = N
    discriminant = (a + d) * (a + d) - 4 * (a * d - b * c)
    fine = (
        N == NON_REAL_PRODUCT
        and discriminant == NON_REAL_DISCRIMINANT
        and spectrum_of(factors).is_real is False
    )
    return None if fine else {"product": N, "discriminant": discriminant}


def applies(subject: Subject) -> Verdict | None:
    """The eigenvalue range of a model's letters that have factors with eigenvalues in (-1, 1] only."""
    if subject.lrnn is None:
        return None
    covered, wrong = 0, []
    for i, layer in enumerate(subject.lrnn.layers):
        for head in layer.heads:
            for transition in head.transitions:
                factors = transition.factors
                if not factors or transition.matrix is not None or any(f.mask is not None for f in factors):
                    continue
                if not all(f.is_contraction() and sign(1 + f.eigenvalue) > 0 for f in factors):
                    continue
                covered += 1
                nonnegative = len(factors) <= 2 and all(sign(f.eigenvalue) >= 0 for f in factors)
                check = outside_unit_interval if nonnegative else on_circle_besides_one
                violation = check(factors)
                wrong += [] if violation is None else [{"layer": i, **violation}]
    if not covered:
        return None
    return decide_values(
        CLAIM,
        computed=f"{covered - len(wrong)} letters in range",
        claimed=f"{covered} letters in range",
        witness=wrong[:1],
    )
