"""H.rank and CK.S5 by exact counting: how many factors orthogonal maps need, and which planes few factors can turn.

rank(C_k···C_1 - I) ≤ k, since C_k···C_1 - I is a sum of k matrices of rank 1. For permutations n - #cycles is the rank and
that many swaps do. A plane that is turned, not by a half turn, costs rank 2, so three factors turn one plane at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np

from ...constructions.groups.permutations import cycle_lengths
from ...constructions.householder import GHFactor, gh_factor, permutation_factors, product_of
from ...constructions.matrices import divide
from ..spectra.eigenvalues import Spectrum
from ..spectra.matrix import ExactMatrix, exact_matrix


def swaps_needed(image: Sequence[int]) -> int:
    """n - #cycles of a permutation, fixed points counted as cycles."""
    return len(image) - len(cycle_lengths(np.array(image)))


def fewer_than_displaced(n: int) -> int:
    """How many of the n! permutations need fewer swaps than the number of points that they move, less one."""
    return sum(
        swaps_needed(image) < sum(i != x for i, x in enumerate(image)) - 1 for image in permutations(range(n))
    )


def is_attained(image: Sequence[int], needed: int, gate: Fraction | int = 1) -> bool:
    """Is rank(gate·P - I) = needed, by elimination over Q, and P the product of so many swaps? P e_i = e_{image[i]}."""
    n = len(image)
    factors = list(permutation_factors(image))
    P = tuple(tuple(int(image[j] == i) for j in range(n)) for i in range(n))
    rank = gated(factors, n, gate).minus_identity().flint().rank()
    return rank == needed == len(factors) and product_of(factors, n) == P


def random_factors(draw: np.random.Generator, n: int, k: int, *, reflections: bool = False) -> list[GHFactor]:
    """k factors with small integer keys, β‖v‖² in eighths up to 2, or all 2."""
    found: list[GHFactor] = []
    while len(found) < k:
        v = draw.integers(-3, 4, size=n).tolist()
        if any(v):
            size = Fraction(2) if reflections else Fraction(int(draw.integers(1, 17)), 8)
            found.append(gh_factor(divide(size, sum(x * x for x in v)), dict(enumerate(v))))
    return found


def random_ranks(n: int, k: int, instances: int, seed: int, *, gate: Fraction | int = 1) -> Iterator[int]:
    """rank(g C_k···C_1 - I) of random products; a gate g ≠ 1 is outside H.rank."""
    draw = np.random.default_rng(seed)
    for _ in range(instances):
        yield gated(random_factors(draw, n, k), n, gate).reflection_rank()


def gated(factors: Sequence[GHFactor], n: int, gate: Fraction | int) -> ExactMatrix:
    """g C_k···C_1."""
    return exact_matrix([[gate * x for x in row] for row in product_of(factors, n)])


def turned_planes(spectrum: Spectrum) -> int:
    """Pairs of non-real eigenvalues on the unit circle, with multiplicity. Raises `ValueError` where undecided."""
    if not spectrum.is_decided:
        raise ValueError("an eigenvalue is not decided")
    return sum(e.multiplicity for e in spectrum.eigenvalues if e.kind != "real" and e.circle == "on") // 2
