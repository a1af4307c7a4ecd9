"""DP.C1: the full symmetry group of the dodecahedron is A_5 × Z_2."""

from __future__ import annotations

from typing import Any

from ...constructions.algebra._matrices import Matrix, identity, is_orthogonal, product, scale_matrix
from ...constructions.library._groups import group_by_name
from ...constructions.theorems._rotations import icosahedral_rotations
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ._parts import decide_parts

CLAIM = Claim("DP.C1", "The full symmetry group of the dodecahedron is A_5 × Z_2", "proved", uses=("DP.T4",))
GENERATORS = ((1, 2, 3, 4, 0), (1, 0, 3, 2, 4))
"""Of A_5, as images of 0, …, 4."""


def verify(effort: Effort = QUICK) -> Verdict:
    """The isometries of a dodecahedron are its 60 rotations, a group A_5, and these times -I.

    Statement: The full isometry group of the regular dodecahedron (and icosahedron) is {±R : R one of its 60 rotations}, and
        (σ, ±1) ↦ ±R(σ) is an isomorphism from A_5 × Z_2. It has elements of order 10, and S_5 has none.
    Direction: tight, an isomorphism
    Hypotheses: The dodecahedron is symmetric about its centre, so every isometry of determinant -1 is -1 times a rotation.
    Arithmetic: exact, in Q(√5)
    Source: DP, Appendix C.1, repaired
    Method: The 120 matrices ±R are orthogonal and distinct, so -I is no R; R(στ) = R(σ)R(τ) for all σ and
        generating τ; the orders of all 120 matrices are counted by multiplication and compared with those of the listed
        groups A_5 × Z_2 and S_5.
    Example:
        >>> print(verify().line())
        proved: 5 of 5 parts, as claimed
    """
    rotations = icosahedral_rotations()
    full = [*rotations.values(), *(scale_matrix(-1, R) for R in rotations.values())]
    found = orders(full)
    doubled, symmetric = (list_orders(name) for name in ("A5_x_Z2", "S5"))
    parts = {
        "orthogonal matrices": next((R for R in full if not is_orthogonal(R)), None),
        "120 distinct matrices": None if len(set(full)) == 120 else len(set(full)),
        "a homomorphism": find_broken_product(rotations),
        "orders of A_5 × Z_2": None if found == doubled else found,
        "not those of S_5": None if found != symmetric and 10 in found and 10 not in symmetric else symmetric,
    }
    return decide_parts(CLAIM, parts, evidence={"orders": found, "orders in S_5": symmetric})


def find_broken_product(rotations: dict[tuple[int, ...], Matrix]) -> Any:
    """Permutations σ, τ, τ a generator, with R(στ) ≠ R(σ)R(τ), where (στ)(i) = σ(τ(i)); None where there are none."""
    for s, R in rotations.items():
        for t in GENERATORS:
            if rotations[tuple(s[i] for i in t)] != product(R, rotations[t]):
                return {"sigma": s, "tau": t}
    return None


def order(A: Matrix) -> int:
    """The least k ≥ 1 with Aᵏ = I."""
    power, k = A, 1
    while power != identity(len(A)):
        power, k = product(power, A), k + 1
    return k


def orders(elements: list[Matrix]) -> dict[int, int]:
    """How many elements have each order, by order."""
    found = [order(A) for A in elements]
    return {k: found.count(k) for k in sorted(set(found))}


def list_orders(name: str) -> dict[int, int]:
    """The same of a group of the library."""
    found = group_by_name(name).orders().tolist()
    return {k: found.count(k) for k in sorted(set(found))}
