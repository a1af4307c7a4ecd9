"""Does a head carry a representation of the transition group, and which? Errors on its state-separating subspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions.matrices import identity, product
from ...theory.arithmetic.rounding import Floats
from ..learned.learned import LearnedHead
from .characters import CharacterTable, TransitionGroup


@dataclass(frozen=True, eq=False)
class Representation:
    """A head held against the group, A_g the product of g's shortest word's letters, U the subspace.

    `homomorphism_error`: max ‖(A_h A_g - A_gh) U‖₂ over all pairs, g first; `worst`: the words of g and h.
    `identity_error`: max ‖(A_x - I) U‖₂ over letters that change no state, None without any. `order_errors`: for each
    letter ‖(A_x^m - I) U‖₂, m its order. `invariance_error`: max ‖(I - UUᵀ) A_x U‖₂. `exact`: the matrices are exact
    numbers and multiply exactly as the group does, so the errors are 0 by proof and not by float64.
    `character` `[elements]`, of A_g on U, `class_spread`: its largest distance from its class mean; `multiplicities` of the
    irreducible characters, rounded, and `residual`: the largest distance from them.
    """

    homomorphism_error: float
    worst: tuple[str, str]
    identity_error: float | None
    orders: tuple[int, ...]
    order_errors: tuple[float, ...]
    invariance_error: float
    exact: bool
    character: Floats
    class_spread: float
    multiplicities: tuple[int, ...]
    residual: float
    table: CharacterTable

    @property
    def is_representation(self) -> bool:
        """Rounded multiplicities account for the whole trace of the identity."""
        return self.residual < 0.5

    @property
    def constituents(self) -> list[str]:
        """`χ4: degree 3, faithful, determinant 1`, with ×m where it occurs more than once."""
        return [
            chi.text + (f" ×{m}" if m != 1 else "")
            for chi, m in zip(self.table.irreducibles, self.multiplicities, strict=True)
            if m
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "homomorphism_error": self.homomorphism_error,
            "worst_words": list(self.worst),
            "identity_error": self.identity_error,
            "order_errors": list(self.order_errors),
            "letter_orders": list(self.orders),
            "invariance_error": self.invariance_error,
            "exact": self.exact,
            "class_spread": self.class_spread,
            "multiplicities": list(self.multiplicities),
            "multiplicity_residual": self.residual,
            "character_table_residual": self.table.residual,
            "constituents": self.constituents,
        }


def representation_of(head: LearnedHead, basis: Floats, table: CharacterTable) -> Representation:
    """Compare a head's letters, on the subspace `basis` `[n, r]`, with the group's."""
    group = table.group
    automaton = group.monoid.automaton
    exact = head.exact is not None and _multiplies(head, group)
    made = group.represented(head.A)
    worst, pair = (0.0, (0, 0)) if exact else _homomorphism_error(made, basis, group)
    neutral = [x for x, row in enumerate(automaton.transitions) if (row == np.arange(len(row))).all()]
    orders = [
        int(group.monoid.index_and_period[1][g]) for g in group.monoid.find(automaton.transitions).reshape(-1)
    ]
    moved = [(A @ basis - basis) if basis.size else np.zeros((1, 1)) for A in head.A]
    order_errors = [
        0.0 if exact else _norm(np.linalg.matrix_power(A, m) @ basis - basis)
        for A, m in zip(head.A, orders, strict=True)
    ]
    small = np.einsum("ni,xnm,mj->xij", basis, made, basis)
    character = np.einsum("xii->x", small)
    classes = group.classes
    means = np.bincount(classes, weights=character) / np.bincount(classes)
    found = table.multiplicities(character)
    rounded = np.rint(found.real)
    outside = [_norm(A @ basis - basis @ (basis.T @ A @ basis)) for A in head.A]
    return Representation(
        worst,
        (_word(group, pair[0]), _word(group, pair[1])),
        max((0.0 if exact else _norm(moved[x]) for x in neutral), default=None),
        tuple(orders),
        tuple(order_errors),
        max(outside, default=0.0),
        exact,
        character,
        float(np.abs(character - means[classes]).max()),
        tuple(int(m) for m in rounded),
        float(np.abs(found - rounded).max()),
        table,
    )


def _homomorphism_error(made: Floats, basis: Floats, group: TransitionGroup) -> tuple[float, tuple[int, int]]:
    """The largest spectral norm over pairs; only those whose Schatten 8-norm, never less, could still be larger."""
    worst, pair = 0.0, (0, 0)
    for g in range(group.size):
        D = made @ (made[g] @ basis) - made[group.table[g]] @ basis
        squares = D.swapaxes(1, 2) @ D
        sizes = ((squares @ squares) ** 2).sum(axis=(1, 2)) ** 0.125
        for h in np.argsort(-sizes).tolist():
            if sizes[h] <= worst:
                break
            if (norm := _norm(D[h])) > worst:
                worst, pair = norm, (g, h)
    return worst, pair


def _multiplies(head: LearnedHead, group: TransitionGroup) -> bool:
    """A(x) A_g = A_gx exactly for all letters and elements: then A is a representation."""
    assert head.exact is not None
    parents, last = group.monoid.generated.parents, group.monoid.generated.last_letters
    n = head.dim
    made = [identity(n)] * group.size
    for g in range(1, group.size):
        made[g] = product(head.exact[last[g]], made[parents[g]])
    return all(
        product(A, made[g]) == made[group.monoid.right[g, x]]
        for g in range(group.size)
        for x, A in enumerate(head.exact)
    )


def _norm(M: Floats) -> float:
    return float(np.linalg.norm(M, 2)) if M.size else 0.0


def _word(group: TransitionGroup, g: int) -> str:
    return " ".join(str(x) for x in group.monoid.word(g)) or "ε"
