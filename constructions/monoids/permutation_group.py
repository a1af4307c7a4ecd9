"""The transition group of an automaton whose letters permute the states: order and solvability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..automaton import Automaton, Indices
from ..errors import LimitError, NotRealisableError
from ..groups.permutations import (
    alternating_kind,
    cycle_lengths,
    distinct_maps,
    orbits,
    restricted,
)
from .base import determining_points
from .blocks import generates_solvable
from .solvable import list_group

if TYPE_CHECKING:
    from sympy.combinatorics import PermutationGroup

MAX_SCHREIER_SIMS_POINTS = 64
MAX_LISTED_ORDER = 1_000_000

_LISTING_BYTES = 1 << 28


def permutation_group(automaton: Automaton) -> PermutationGroup:
    """The transition group as a sympy `PermutationGroup` on the state indices, one generator per letter.

    `NotRealisableError` names a letter that merges two states.
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    _require_group(automaton)
    n = len(automaton.states)
    rows = distinct_maps(automaton.transitions)
    generators = [Permutation(row.tolist(), size=n) for row in rows] or [Permutation(n - 1)]
    return PermutationGroup(generators)


def group_order(
    automaton: Automaton,
    *,
    max_order: int = MAX_LISTED_ORDER,
    max_points: int = MAX_SCHREIER_SIMS_POINTS,
) -> int | None:
    """Exact order of the transition group, or None where the limits leave it unknown.

    By the first that applies: one generator (the lcm of its cycle lengths); one point determines an element (the
    size of its orbit); the alternating group is inside (`alternating_kind`); Schreier–Sims up to `max_points`
    points (sympy: seconds at the limit, growing with the fourth power); listing up to `max_order` elements.
    """
    _require_group(automaton)
    maps, base = _faithful_points(automaton)
    if len(maps) == 1:
        return math.lcm(*cycle_lengths(maps[0]))
    if len(base) == 1:
        least = orbits(maps)
        return int((least == least[base[0]]).sum())
    kind = alternating_kind(maps)
    if kind is not None:
        order = math.factorial(maps.shape[1])
        return order if kind == "symmetric" else order // 2
    if maps.shape[1] <= max_points:
        return _schreier_sims_order(maps)
    try:
        return list_group(maps, max_order=max_order, max_bytes=_LISTING_BYTES).size
    except LimitError:
        return None


def is_solvable(automaton: Automaton, *, max_order: int = MAX_LISTED_ORDER) -> bool | None:
    """Whether the transition group is solvable; None where the limits leave it open (`generates_solvable`)."""
    _require_group(automaton)
    return generates_solvable(distinct_maps(automaton.transitions), max_order=max_order)


def _require_group(automaton: Automaton) -> None:
    merged = automaton.merged_pair()
    if merged is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: the transition monoid is not a group: letter {automaton.letters[x]!r} "
            f"merges states {automaton.states[p]!r} and {automaton.states[q]!r}"
        )


def _faithful_points(automaton: Automaton) -> tuple[Indices, Indices]:
    """The generators on the orbits of the determining points alone, and those points in the new numbering."""
    maps = distinct_maps(automaton.transitions)
    base = determining_points(maps, automaton.start)
    least = orbits(maps)
    kept = np.flatnonzero(np.isin(least, least[base]))
    return distinct_maps(restricted(maps, kept)), np.searchsorted(kept, base)


def _schreier_sims_order(maps: Indices) -> int:
    from sympy.combinatorics import Permutation, PermutationGroup

    permutations = [Permutation(row.tolist()) for row in maps]
    chosen = permutations[:3]
    group = PermutationGroup(chosen)
    for permutation in permutations[3:]:
        if not group.contains(permutation):
            chosen = [*chosen, permutation]
            group = PermutationGroup(chosen)
    return int(group.order())
