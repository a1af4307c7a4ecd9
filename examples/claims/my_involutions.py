"""my.involutions: a template for a claim of your own. Its file is named after its ID: `my.involutions`, my_involutions.py.

`mirrormata verify my.involutions --path FOLDER` runs it, `mirrormata claims my.involutions --path FOLDER` explains
it. Only `CLAIM` and `verify` are needed; the docstring's parts stand in this order.
"""

from __future__ import annotations

import numpy as np

from mirrormata.constructions import permutation_factors
from mirrormata.theory import QUICK, Claim, Effort, Verdict, check_random_cases

CLAIM = Claim(
    "my.involutions",
    "An involution of n points takes at most n/2 swaps",
    expected="supported",
    uses=("H.rank",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A letter that undoes itself is cheap.

    Statement: A permutation σ of n points with σ∘σ = id is a product of at most n/2 swaps.
    Direction: bound
    Hypotheses: σ∘σ = id.
    Arithmetic: exact
    Source: ours
    Method: Random involutions of 4 to 12 points; random permutations, which break the hypothesis, must violate it.
    Example:
        >>> print(verify().line())
        supported by 50 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(50, 1_000),
        draw=involution,
        broken=lambda generator: generator.permutation(int(generator.integers(4, 13))).tolist(),
        check=too_many_swaps,
        tight=lambda image: all(image[q] != q for q in range(len(image))),
    )


def too_many_swaps(image: list[int]) -> str | None:
    """What violates the claim, or None."""
    swaps = len(permutation_factors(image))
    return f"{image} takes {swaps} swaps" if swaps > len(image) / 2 else None


def involution(generator: np.random.Generator) -> list[int]:
    """A random pairing of some of the points."""
    n = int(generator.integers(4, 13))
    image, points = list(range(n)), generator.permutation(n).tolist()
    for p, q in zip(points[0::2], points[1::2], strict=False):
        if generator.random() < 0.8:
            image[p], image[q] = q, p
    return image
