"""G.T3remark.printed: k + 1 factors for a matrix of M_k are one too many."""

from __future__ import annotations

from itertools import permutations

from ...constructions.algebra._householder import permutation_factors, product_of
from ...constructions.algebra._matrices import identity, kernel, subtract
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness

CLAIM = Claim(
    "G.T3remark.printed",
    "k + 1 factors for a matrix of M_k",
    "refuted",
    uses=("G.T3remark",),
    repair="A matrix of M_k is, by definition, a product of k factors.",
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A token whose matrix lies in M_k takes k + 1 factors.

    Statement: A matrix that is a product of k generalized Householder factors is realised with k + 1 of them a token.
    Direction: tight
    Hypotheses: None.
    Arithmetic: exact
    Source: G, remark after Theorem 3
    Method: The first permutation of three points whose matrix needs k factors by its rank and is the product of k.
    Example:
        >>> print(verify().line())
        refuted: computed factors: 1, claimed factors: 2
    """
    images = (image for image in permutations(range(3)) if image != (0, 1, 2))
    image = next((image for image in images if replay_image(image)), None)
    k = None if image is None else len(permutation_factors(image))
    claimed = None if k is None else f"factors: {k + 1}"
    return refute_by_witness(CLAIM, image, replay_image, computed=f"factors: {k}", claimed=claimed)


def replay_image(image: tuple[int, ...]) -> bool:
    """Is the permutation's matrix a product of as many factors as its rank minus the identity says?"""
    factors, n = permutation_factors(image), len(image)
    A = product_of(factors, n)
    rank = n - len(kernel(subtract(A, identity(n))))
    return all(A[target][q] == 1 for q, target in enumerate(image)) and len(factors) == rank
