"""CK.1: every orthogonal diagonal-plus-rank-one matrix is one reflection after a choice of signs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np

from ...constructions.householder import product_of
from ...constructions.matrices import Matrix, is_orthogonal, matrix
from ...constructions.matrices import product as product_of_matrices
from ..factors.diagonal_rank_one import (
    is_diagonal_plus_rank_one,
    proof_identities,
    reflection_and_signs,
    written_out,
)
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import exhaustive, proved, supported
from ..verifying.parts import drawn_factors, figures, letter_matrices, proved_in_parts, sampled, symbolic
from ..verifying.subject import Subject
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "CK.1", "Orthogonal diagonal-plus-rank-one matrices are a reflection times signs", "proved", seconds=6
)
TWO = Fraction(2)
MAX_DIM = 64
"""Of a user's letters: larger matrices are passed over."""


def verify(effort: Effort = QUICK) -> Verdict:
    """An orthogonal matrix D + u vᵀ, D diagonal, is (I - 2kkᵀ)·diag(±1) with a unit key k.

    Statement: Let A = D + u vᵀ be orthogonal, D diagonal and real. Then A = (I - 2kkᵀ) S with ‖k‖ = 1 and S diagonal
        with entries ±1. Conversely every such product is of that form.
    Direction: tight, necessary and sufficient
    Hypotheses: Real numbers.
    Arithmetic: exact
    Source: CK, Proposition 1; the proof is ours, in the text of `theory.diagonal_rank_one`
    Method: The proof goes by the size of the common support of u and v; its algebra is reduced to 0 by sympy, for three
        rows, which is all it needs at any size. All signed permutations, and random orthogonal matrices of up to three
        reflections with signs: whether D + u vᵀ exists, decided from the entries off the diagonal, must agree with
        whether the product form is found; the form is multiplied out. A matrix that is not of the form must show up
        where a second reflection is added.
    Example:
        >>> print(verify().line())
        proved: 3 of 3 parts, as claimed
    """
    signed = [A for n in range(1, effort.pick(4, 5)) for A in signed_permutations(n)]
    every = exhaustive(
        CLAIM, cases=signed, check=disagreement, of=f"signed permutations of up to {len(signed[-1])} axes"
    )
    random = supported(
        CLAIM,
        effort,
        count=effort.pick(60, 1500),
        draw=lambda g: drawn_orthogonal(g, 1),
        broken=lambda g: drawn_orthogonal(g, 2),
        check=missing_form,
        tight=lambda A: all(x != 0 for row in A for x in row),
    )
    both = exhaustive(
        CLAIM,
        cases=[drawn_orthogonal(effort.generator(2 + k), 1 + k % 3) for k in range(effort.pick(60, 600))],
        check=disagreement,
        of="random orthogonal matrices",
    )
    parts = {
        "the algebra of the proof": symbolic(proof_identities()),
        "both sides agree": sampled(every) or sampled(both),
        "one reflection with signs": sampled(random),
    }
    return proved_in_parts(CLAIM, parts, evidence={"signed": figures(every), "random": figures(random)})


def signed_permutations(n: int) -> Iterator[Matrix]:
    """All 2ⁿ n! of them."""
    for image in permutations(range(n)):
        for signs in product((1, -1), repeat=n):
            yield matrix([[signs[j] * int(image[j] == i) for j in range(n)] for i in range(n)])


def drawn_orthogonal(generator: np.random.Generator, reflections: int) -> Matrix:
    """A product of that many rational reflections, with signs, in 3 to 5 dimensions."""
    n = int(generator.integers(3, 6))
    A = product_of(drawn_factors(generator, n, [TWO] * reflections), n)
    signs = generator.choice([-1, 1], size=n).tolist()
    return product_of_matrices(A, matrix([[signs[i] if i == j else 0 for j in range(n)] for i in range(n)]))


def missing_form(A: Matrix) -> Any:
    """The orthogonal matrix where it has no such form, or where the form is another matrix; None otherwise."""
    found = reflection_and_signs(A)
    return None if found is not None and written_out(*found) == A else {"matrix": A, "form": str(found)}


def disagreement(A: Matrix) -> Any:
    """Where D + u vᵀ exists and the form does not, or the other way round; None where they agree."""
    return None if is_diagonal_plus_rank_one(A) == (missing_form(A) is None) else {"matrix": A}


def applies(subject: Subject) -> Verdict | None:
    """The form of each letter of a model that is orthogonal and diagonal plus rank one."""
    covered, wrong = 0, []
    for name, A in letter_matrices(subject) or []:
        if A.n > MAX_DIM:
            continue
        dense = A.dense()
        if is_orthogonal(dense) and is_diagonal_plus_rank_one(dense):
            covered += 1
            violation = missing_form(dense)
            wrong += [] if violation is None else [{"letter": name, **violation}]
    if not covered:
        return None
    return proved(
        CLAIM,
        computed=f"{covered - len(wrong)} letters are a reflection with signs",
        claimed=f"{covered} letters are a reflection with signs",
        witness=wrong[:1],
    )
