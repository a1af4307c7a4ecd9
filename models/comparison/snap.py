"""Snap: the nearest exact representation to a learned head, among those that constructions offer; certified again.

Each head on offer for the transition group (permutations, signed permutations, rotations of the plane, the cube, the
icosahedron, their Galois conjugates and irreducible components) is carried onto the learned one by an orthogonal matrix; the
nearest is taken. Where none has the dimension of the learned subspace, several side by side whose characters add up to its
character are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.assembly import assemble
from ...constructions.automaton import Automaton, Indices
from ...constructions.candidates import HeadCandidate
from ...constructions.group_construct import head_candidates
from ...constructions.groups.transitive_action import transitive_action
from ...constructions.lrnn import LRNN
from ...constructions.selection import choose_marks, determines, joined
from ...theory.arithmetic.rounding import Floats
from ..learned.learned import LearnedHead
from .group import Representation
from .procrustes import align_letters
from .snap_offers import Offer, component_offers, conjugate_offers, offers_of, side_by_side, sums_of
from .states import ClassGeometry

MAX_SUMS = 8
"""Most combinations of them that are tried."""


@dataclass(frozen=True, eq=False)
class SnappedHead:
    """A learned head and the exact one beside it, in the coordinates of the learned subspace `basis` `[n, r]`.

    `parts`: the constructed heads. `letters` `[letters, r, r]`: Qᵀ C(x) Q, C the exact letters. `codes` `[states, r, d]`: the
    orbit of the learned class means' average, turned back. How far the learned head moved: `transitions_moved` largest
    spectral distance of a letter, `entries_moved` largest entry; `beta_moved` (None without factors): largest distance
    of a factor from what it is taken for, a reflection (β‖k‖² from 2) or nothing on U (`acting` from 0); `plane_moved`: largest angle, in radians, between the planes that A - I and C - I move; `codes_moved` largest distance of a class mean.
    """

    head: LearnedHead
    basis: Floats
    centre: Floats
    parts: tuple[HeadCandidate, ...]
    letters: Floats
    codes: Floats
    transitions_moved: float
    entries_moved: float
    beta_moved: float | None
    plane_moved: float
    codes_moved: float

    @property
    def name(self) -> str:
        """Of the constructed heads, in words."""
        return " + ".join(part.name for part in self.parts)

    def states(self) -> Floats:
        """H for each automaton state, `[states, n, d]`."""
        result: Floats = self.centre + self.basis @ self.codes
        return result

    def replacement(self, start: int) -> LearnedHead:
        """The snapped head in the learned one's place, from an automaton state: H = centre + basis · code."""
        A = self.basis @ self.letters @ self.basis.T
        B = self.centre - A @ self.centre
        return LearnedHead(f"{self.head.name}, snapped", A, B, self.states()[start], copies=self.head.copies)

    def to_json(self) -> dict[str, Any]:
        """How far it moved."""
        return {
            "representation": self.name,
            "theorem": " + ".join(dict.fromkeys(part.theorem for part in self.parts)),
            "transitions_moved": self.transitions_moved,
            "entries_moved": self.entries_moved,
            "beta_moved": self.beta_moved,
            "plane_moved": self.plane_moved,
            "codes_moved": self.codes_moved,
        }


@dataclass(frozen=True, eq=False)
class Snapped:
    """All heads that carry states. `lrnn`: an exact linear RNN of the constructed heads, None with the `reason`.

    `needed`: names of the learned heads that it is made of: one that tells all states apart alone, else all.
    """

    heads: tuple[SnappedHead, ...]
    lrnn: LRNN | None
    reason: str
    needed: tuple[str, ...] = ()


def snap(
    automaton: Automaton,
    heads: Sequence[tuple[LearnedHead, ClassGeometry, Representation]],
    *,
    max_degree: int = 40,
    max_group: int = 1_000,
    seed: int = 0,
) -> Snapped:
    """Snap the given heads of a group automaton, and construct the exact linear RNN of what they turn out to be.

    Heads whose letters carry extra signs (H.A5inv) are not on offer: their states' means are 0.
    """
    if not heads:
        return Snapped((), None, "no head carries states")
    action = transitive_action(automaton, max_group)
    candidates = [c for c in head_candidates(action, max_degree) if not c.lifted]
    table = heads[0][2].table
    wanted = [representation.multiplicities for _, _, representation in heads]
    degrees = [chi.degree for chi in table.irreducibles]
    most = max(
        max(geometry.rank, int(np.dot(degrees, m))) for (_, geometry, _), m in zip(heads, wanted, strict=True)
    )
    offers = offers_of(candidates, table, most)
    offers += conjugate_offers(offers, wanted, table)
    if action.regular:
        offers += component_offers(candidates, offers, wanted, table, action)
    found: list[SnappedHead] = []
    missing = []
    for head, geometry, representation in heads:
        best = _nearest(automaton, head, geometry, representation, offers, seed)
        if best is None:
            missing.append(f"{head.name} (dimension {geometry.rank})")
        else:
            found.append(best)
    full = {head.name for head, geometry, _ in heads if geometry.told_apart == len(automaton.states)}
    alone = [h for h in found if h.head.name in full]
    used = [min(alone, key=lambda h: h.transitions_moved)] if alone else found
    if missing and not alone:
        return Snapped(tuple(found), None, f"no representation on offer for {', '.join(missing)}")
    lrnn = _linear_rnn(automaton, [p for h in used for p in h.parts], action.states)
    return Snapped(
        tuple(found),
        lrnn,
        "" if lrnn else "the representations found do not tell all states apart",
        tuple(h.head.name for h in used),
    )


def _linear_rnn(automaton: Automaton, parts: Sequence[HeadCandidate], states: Indices) -> LRNN | None:
    used = list(dict.fromkeys(parts))
    classes = np.zeros(len(states), dtype=np.int64)
    for part in used:
        classes = joined(classes, part.classes)
    if not determines(classes, states):
        return None
    marked = [(part, m) for part, m in zip(used, choose_marks(used, states), strict=True) if m]
    return assemble(
        automaton,
        [part.plan(m) for part, m in marked],
        theorem=" + ".join(dict.fromkeys(part.theorem for part, _ in marked)),
        construction="; ".join(part.name for part, _ in marked),
    )


def _nearest(
    automaton: Automaton,
    head: LearnedHead,
    geometry: ClassGeometry,
    representation: Representation,
    offers: Sequence[Offer],
    seed: int,
) -> SnappedHead | None:
    U = geometry.basis
    A = U.T @ head.A @ U
    choices: list[tuple[Offer, ...]] = [(o,) for o in offers if o.rank == geometry.rank]
    sums = sums_of(offers, np.array(representation.multiplicities))
    choices += [parts for parts in islice(sums, MAX_SUMS) if len(parts) > 1]
    best: SnappedHead | None = None
    for parts in choices:
        C = side_by_side([p.letters for p in parts])
        alignment = align_letters(A, C, seed=seed)
        if best is not None and alignment.largest >= best.transitions_moved * (1 - 1e-6) - 1e-12:
            continue  # among equals the first, which is the cheapest
        Q = alignment.rotation
        R = C if np.array_equal(Q, np.eye(len(Q))) else Q.T @ C @ Q
        codes, moved = _codes(automaton, R, geometry, representation)
        ranks = [sum(p.ranks[x] for p in parts) for x in range(len(A))]
        best = SnappedHead(
            head, U, geometry.centre, tuple(p.candidate for p in parts), R, codes,
            alignment.largest, float(np.abs(A - R).max(initial=0.0)), _beta_moved(head, U),
            max((_angle(a, r, k) for a, r, k in zip(A, R, ranks, strict=True)), default=0.0), moved,
        )  # fmt: skip
    return best


def _codes(
    automaton: Automaton, R: Floats, geometry: ClassGeometry, representation: Representation
) -> tuple[Floats, float]:
    """Each state's code, R_g of the start's: the average over g of the means at g·q0, turned back by R_g."""
    group = representation.table.group
    made = group.represented(R)
    at = group.monoid.elements[:, automaton.start].astype(np.int64)
    learned = geometry.basis.T @ (geometry.means - geometry.centre)
    known = np.isin(at, geometry.seen)
    start = np.einsum("gji,gjd->gid", made[known], learned[at[known]]).mean(axis=0)
    codes = np.zeros_like(learned)
    codes[at] = made @ start
    gone = (codes - learned)[geometry.seen].reshape(len(geometry.seen), -1)
    return codes, float(np.sqrt((gone**2).sum(axis=1)).max(initial=0.0))


def acting(head: LearnedHead, basis: Floats) -> Floats:
    """β‖Uᵀk‖² of each factor, `[letters, n_h]`, U the basis; no columns without factors."""
    if head.factors is None:
        return np.zeros((len(head.A), 0))
    inside: Floats = head.factors.beta * ((head.factors.keys @ basis) ** 2).sum(axis=-1)
    return inside


def in_use(head: LearnedHead, basis: Floats) -> NDArray[np.bool_]:
    """Which factors are nearer to a reflection (β‖k‖² = 2) than to doing nothing on the subspace (`acting` 0).

    Two keys can share the only direction that a letter reflects in U, so a part of a key in U is enough.
    """
    if head.factors is None:
        return np.zeros((len(head.A), 0), dtype=bool)
    return np.abs(2 - head.factors.strength) < np.abs(acting(head, basis))


def _beta_moved(head: LearnedHead, basis: Floats) -> float | None:
    if head.factors is None:
        return None
    inside = np.abs(acting(head, basis))
    return float(np.minimum(inside, np.abs(2 - head.factors.strength)).max(initial=0.0))


def _angle(A: Floats, R: Floats, rank: int) -> float:
    """The largest principal angle between the images of A - I and R - I, the `rank` largest directions of each."""
    n = len(A)
    rank = min(rank, n)
    if rank in (0, n):
        return 0.0
    P, Q = (np.linalg.svd(M - np.eye(n))[0][:, :rank] for M in (A, R))
    return float(np.arcsin(min(1.0, float(np.linalg.norm(P - Q @ (Q.T @ P), 2)))))
