"""DP.T8: RWKV-7 factors with c = 1 have unstable products: spectral radius (27 + √153)/32 at θ = π/6."""

from __future__ import annotations

from itertools import product
from typing import Any

from ...constructions.algebra._cyclotomic import real_cyclotomic_field
from ...constructions.algebra._householder import GHFactor, product_of
from ...constructions.algebra._matrices import Matrix
from .._verdict import Verdict
from ..spectra._eigenvalues import eigenvalue_report
from ..spectra._matrix import lift_to_one_field
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, decide_values
from ._parts import decide_parts, figures, letter_matrices, summarise_cases, symbolic
from ._symbolic import rwkv7_identities, rwkv7_radius

CLAIM = Claim(
    "DP.T8", "RWKV-7 with c = 1 has unstable products: (27 + √153)/32 at θ = π/6", "proved", uses=("DP.B6",)
)
MAX_PAIRS = 2_500
"""Of a user's model: the most products of two letters that are looked at."""


def verify(effort: Effort = QUICK) -> Verdict:
    """Two factors I - k(k⊙a)ᵀ of RWKV-7 with c = 1 can have a product with an eigenvalue above 1.

    Statement: Let k = (cos θ, sin θ), a = (0, 1), A = I - k(k⊙a)ᵀ, and A′ the same with k′ = (sin θ, cos θ) and a′ = (1, 0).
        For 0 < θ ≤ π/2 the spectral radius of A A′ exceeds 1 exactly if θ < π/4; at θ = π/6 it is
        (27 + √153)/32 ≈ 1.2303.
    Direction: tight in θ for this pair; it refutes stability of c = 1 in general
    Hypotheses: diag(w) = I, c = 1, ‖k‖ = 1, a in {0, 1}².
    Arithmetic: exact
    Source: DP, Theorem 8, with the angle corrected
    Method: Symbolic: trace, determinant, p(1) and p(-1) of the characteristic polynomial for every θ; its largest root at
        π/6. The library's masked factors are multiplied in Q(2cos 2π/48) at all multiples of π/24 to π/2, and the
        exact eigenvalues compared with the region; the region with its ends exchanged must go wrong.
    Example:
        >>> print(verify().line())
        proved: ρ at π/6: 3*sqrt(17)/32 + 27/32; 2 of 2 parts, as claimed
    """
    import sympy as sp

    angles = range(1, 13)
    found = check_all_cases(
        CLAIM,
        cases=[(k, k < 6) for k in angles],
        check=misprediction,
        of="θ = kπ/24, k = 1, …, 12",
        broken=[(k, k >= 6) for k in angles],
    )
    parts = {"for every θ": symbolic(rwkv7_identities()), "the library's factors": summarise_cases(found)}
    radius = (rwkv7_radius(sp.pi / 6), (27 + sp.sqrt(153)) / 32)
    return decide_parts(CLAIM, parts, values={"ρ at π/6:": radius}, evidence={"angles": figures(found)})


def pair_product(k: int, n: int = 48) -> Matrix:
    """A A′ at θ = 2πk/n: A′ is applied first."""
    field = real_cyclotomic_field(n)
    c, s = field.cos(k), field.sin(k)
    A = GHFactor(1, tuple((i, x) for i, x in ((0, c), (1, s)) if x), mask=(1,))
    swapped = GHFactor(1, tuple((i, x) for i, x in ((0, s), (1, c)) if x), mask=(0,))
    return product_of([swapped, A], 2)


def misprediction(case: tuple[int, bool]) -> Any:
    """The eigenvalues of A A′ at kπ/24 where the product is not as stable as predicted; None where it is."""
    k, unstable = case
    found = eigenvalue_report(pair_product(k))
    if found.within_disc is not unstable:
        return None
    return {"theta": f"{k}π/24", "eigenvalues": list(map(str, found.eigenvalues))}


def applies(subject: Subject) -> Verdict | None:
    """Are all letters of a model stable, and all products of two letters of a head?"""
    letters = letter_matrices(subject)
    if letters is None:
        return None
    seen, unstable = 0, []
    heads: dict[str, list[tuple[str, Any]]] = {}
    for name, A in letters:
        heads.setdefault(name.partition(",")[0] if "," in name else "", []).append((name, A))
    for members in heads.values():
        lifted = lift_to_one_field(A for _, A in members)
        words = [((name,), A) for (name, _), A in zip(members, lifted, strict=True)]
        pairs = [((x, y), B @ A) for ((x,), A), ((y,), B) in product(words, repeat=2)][:MAX_PAIRS]
        for word, A in [*words, *pairs]:
            seen += 1
            found = eigenvalue_report(A)
            if found.is_stable is False:
                unstable.append({"letters in order": word, "spectral radius": found.spectral_radius})
    return decide_values(
        CLAIM,
        computed=f"{seen - len(unstable)} stable products of one or two letters",
        claimed=f"{seen} stable products of one or two letters",
        witness=unstable[:1],
    )
