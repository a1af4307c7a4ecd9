"""What theory says of rank(A - I) for the letters of a head that carries a representation: H.rank, and the swaps of G.T3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions.algebra.groups._actions import (
    MAX_TABLE,
    TransitiveAction,
    block_systems,
    first_appearance,
)
from ...constructions.algebra.groups._permutations import cycle_counts
from ...constructions.automata._automaton import Indices
from ._representations import Representation


@dataclass(frozen=True)
class PredictedRanks:
    """How many factors the letters of a head need by theory, for the representation that it carries.

    Attributes:
        representation: rank(ρ(x) - I) of each letter x, where ρ is the sum of the irreducible constituents that were found. By H.rank
            one head needs as many factors for the letter, and as many reflections suffice if ρ(x) is orthogonal.
        points: the fewest points that were found on which the group acts as the head does, transitively and with the same elements
            that do nothing; 0 where none was sought or the head has the trivial representation alone.
        swaps: n - #cycles of each letter on these n points, which is the number of swaps that G.T3 takes; empty if `points` is 0.
    """

    representation: tuple[int, ...]
    points: int
    swaps: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return {
            "representation": list(self.representation),
            "points": self.points,
            "swaps": list(self.swaps),
        }


def predict_ranks(found: Representation) -> PredictedRanks | None:
    """The ranks of A(x) - I that a representation asks for, and those of permutations of the fewest points.

    A group of more than `MAX_TABLE` elements is not searched for actions on few points, and among larger ones that search tries a sample of
    subgroups (`block_systems`).

    Args:
        found: what a head carries.

    Returns:
        The ranks of all letters; None if the head carries no representation, that is, if whole multiplicities of at least 0 do not
        add up to the dimension of the subspace.
    """
    degrees = sum(
        m * chi.degree for m, chi in zip(found.multiplicities, found.table.irreducibles, strict=True)
    )
    if not found.is_representation or min(found.multiplicities) < 0 or degrees != round(found.character[0]):
        return None
    group = found.table.group
    automaton = group.monoid.automaton
    letters = group.monoid.find(automaton.transitions).reshape(-1)
    character = sum(
        (m * chi.values[group.classes] for m, chi in zip(found.multiplicities, found.table.irreducibles, strict=True)),
        np.zeros(group.size, dtype=np.complex128),
    )  # fmt: skip
    ranks = []
    for g, order in zip(letters.tolist(), found.orders, strict=True):
        element, total = 0, 0.0
        for _ in range(order):
            total += float(character[element].real)
            element = int(group.table[element, g])
        # ⟨χ, 1⟩ on the powers of g is the dimension of what g leaves in its place
        ranks.append(round(float(character[0].real) - total / order))
    system = _fewest_points(group.table, np.abs(character - character[0]) < 1e-6, letters)
    if system is None:
        return PredictedRanks(tuple(ranks), 0, ())
    points = system.shape[1]
    return PredictedRanks(tuple(ranks), points, tuple((points - cycle_counts(system)).tolist()))


def _fewest_points(table: Indices, kernel: Any, letters: Indices) -> Indices | None:
    """The letters as permutations of the fewest points with this kernel, `[letters, points]`; None for the whole group as kernel."""
    members = np.flatnonzero(kernel)
    cosets = first_appearance(table[:, members].min(axis=1))
    size = int(cosets.max()) + 1
    if not 1 < size <= MAX_TABLE:
        return None
    first = np.unique(cosets, return_index=True)[1]
    action = TransitiveAction(cosets[table[first][:, letters].T], np.arange(size), regular=True)
    faithful = [s for s in block_systems(action) if len(np.unique(s.kernel_classes)) == size]
    fewest = min(faithful, key=lambda s: (s.count, s.cost))
    return fewest.letters
