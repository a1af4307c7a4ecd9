"""DP.T4: groups of rotations and reflections of the plane and of space, two reflections a letter at most.

Cyclic groups turn the plane, dihedral groups are the symmetries of a polygon, the cube's are signed permutations of three
axes, and A_5 is the rotations of the icosahedron. The matrices: `_rotations.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..heads._candidates import HeadCandidate, HeadSearch
from ._construction import Construction
from ._rotations import dihedral_candidates, icosahedral_candidates, list_skipped_fields, rotation_candidates
from ._set_points import set_candidates
from .g_t3 import signed_candidates


def _candidates(search: HeadSearch, _: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    systems = search.systems
    return [
        *signed_candidates(systems, three_axes=True),
        *set_candidates(search, three_axes=True),
        *rotation_candidates(search),
        *dihedral_candidates(systems, search.max_degree),
        *icosahedral_candidates(systems),
    ]


CONSTRUCTION = Construction(
    source="DP.T4",
    title="rotations and reflections: cyclic, dihedral, tetrahedral, cube and icosahedron groups",
    order=20,
    examples=("A5[generators]", "mod:9", "dihedral:5", "A4"),
    refusals={"S5": "`theorem` DP.T4", "tomita:4": "no group automaton"},
    candidates=_candidates,
    left_out=list_skipped_fields,
)
