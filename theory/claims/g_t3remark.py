"""G.T3remark: a matrix of M_k is k factors."""

from __future__ import annotations

from itertools import permutations

from ...constructions.algebra._householder import permutation_factors, product_of
from ...constructions.algebra._matrices import identity, kernel, subtract
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases

CLAIM = Claim(
    "G.T3remark",
    "k factors, no more, for a matrix of M_k",
    "exhaustive",
    uses=("G.T3", "H.rank"),
    formal=("Permutations.permutation_needs",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A token whose matrix is a product of k generalized Householder factors takes k factors, or k micro-steps.

    Statement: A permutation matrix A of n coordinates with c cycles lies in M_k with k = n - c, is a product of exactly
        k factors, and of no fewer, since rank(A - I) = k; the identity is the empty product.
    Direction: tight
    Hypotheses: None.
    Arithmetic: exact, integers
    Source: G, remark after Theorem 3
    Method: All permutations of up to five points (six with full effort): the product of the swaps is compared with the
        permutation matrix and their number with the rank. With a swap left out the same check must find a difference.
    Example:
        >>> print(verify().line())
        holds on 152 cases: no violation, as claimed
    """
    most = effort.pick(5, 6)
    images = [image for n in range(2, most + 1) for image in permutations(range(n))]
    return check_all_cases(
        CLAIM,
        cases=((image, permutation_factors(image)) for image in images),
        check=violation,
        of=f"permutations of 2 to {most} points",
        broken=((image, permutation_factors(image)[1:]) for image in images[1:]),
    )


def violation(case: tuple[tuple[int, ...], tuple]) -> str | None:  # type: ignore[type-arg]
    """Another product, or another number of factors than the rank."""
    image, factors = case
    n = len(image)
    A = product_of(factors, n)
    if any(A[target][q] != 1 for q, target in enumerate(image)):
        return f"{image}: the product of {len(factors)} swaps is another matrix"
    rank = n - len(kernel(subtract(A, identity(n))))
    return None if rank == len(factors) else f"{image}: {len(factors)} factors, rank {rank}"
