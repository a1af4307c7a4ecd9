"""DP.T4: groups of isometries of Rⁿ take one layer with n factors; those of rotations of odd dimension one fewer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from ...constructions._construct import construct
from ...constructions.algebra._householder import orthogonal_factors, product_of
from ...constructions.algebra._matrices import Matrix, identity, matrix, scale_matrix
from ...constructions.theorems._rotations import icosahedral_rotations
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect, further
from ._symbolic import find_unproved, reflection_identities

CLAIM = Claim(
    "DP.T4",
    "Groups of isometries in one layer: Z_m, D_m, A_4, S_4, A_5 with two factors",
    "exhaustive",
    uses=("H.rank", "G.P1.2"),
    seconds=9,
    formal=("Permutations.isometry_automaton, for subgroups of O(n) and SO(n + 1)",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """A group of orthogonal n × n matrices takes one layer with n factors, and the finite rotation groups of R³ take two.

    Statement: A group isomorphic to a subgroup of O(n) is tracked by one layer whose letters are products of at most n
        reflections. In SO(n+1), n even, at most n are needed too, as the number of reflections is even there. So
        Z_m and D_m (symmetries of polygons), A_4 and S_4 (rotations of the cube) and A_5 (of the icosahedron) take
        two.
    Direction: sufficient
    Hypotheses: A finite group, its matrices exact.
    Arithmetic: exact, in Q(2cos 2π/N); integers for A_4 and S_4
    Source: DP, Theorem 4
    Method: Symbolic: products of reflections of the plane are rotations, and a key turned by half an angle turns by the
        angle. All elements of the rotation groups of cube and icosahedron are factorised; so are those with
        determinant -1, where three factors must turn up. The groups' layers are constructed and proved equal to their
        automata by the stand-alone checker. (Z_4 is left out: the choice falls on integers, G.T3.)
    Example:
        >>> print(verify().line())
        holds on 96 cases: no violation, as claimed
    """
    rotations = [*cube_rotations(), *icosahedral_rotations().values()]
    cyclic = [f"Z{m}" for m in range(3, effort.pick(9, 25)) if m != 4]
    dihedral = [f"dihedral:{m}" for m in range(3, effort.pick(7, 17))]
    cases: list[Matrix | str] = [*rotations, *cyclic, *dihedral, "A4", "S4", "A5"]
    broken: list[Matrix | str] = [scale_matrix(-1, R) for R in rotations]
    found = check_all_cases(
        CLAIM,
        cases=cases,
        check=wrong,
        of=f"the {len(rotations)} rotations of cube and icosahedron, and the layers of {cyclic[0]} to {cyclic[-1]}, "
        f"{dihedral[0]} to {dihedral[-1]}, A4, S4 and A5",
        broken=broken,
        assumptions=(
            "beyond R³: an orthogonal n × n matrix is n reflections at most (Cartan and Dieudonné)",
        ),
    )
    identities = reflection_identities()
    return further(
        found,
        {
            f"identities of reflections that sympy proves, of {len(identities)}": (
                len(identities) - len(find_unproved(identities)),
                len(identities),
            )
        },
    )


def wrong(case: Matrix | str) -> Any:
    """Of a rotation or of a group's name: what is wrong with its two factors; None where nothing is."""
    return layer_defect(case) if isinstance(case, str) else third_factor(case)


def cube_rotations() -> Iterator[Matrix]:
    """The 24 signed permutation matrices of determinant 1."""
    for image in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            A = matrix([[signs[j] * int(image[j] == i) for j in range(3)] for i in range(3)])
            (a, b, c), (d, e, f), (g, h, i) = A
            if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) == 1:
                yield A


def third_factor(A: Matrix) -> Any:
    """The matrix where two reflections do not make it; None where they do."""
    factors = orthogonal_factors(A)
    made = product_of(factors, 3) == A if factors else identity(3) == A
    return None if made and len(factors) <= 2 else {"matrix": A, "factors": len(factors)}


def layer_defect(name: str) -> str | None:
    """Why the group's layer is not one layer of at most two factors that follows it; None where it is."""
    lrnn = construct(name, theorem="DP.T4")
    if lrnn.depth != 1 or (lrnn.householders or 0) > 2:
        return f"{lrnn.depth} layers, {lrnn.householders} factors"
    return defect(lrnn)
