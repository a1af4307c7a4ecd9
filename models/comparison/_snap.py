"""Snap: the nearest exact representation to a learned head, among those that constructions offer; certified again.

Heads on offer for the transition group (permutations, signed permutations, rotations of the plane, the cube, the icosahedron,
their Galois conjugates and irreducible components) are taken as float letters on the span of their states' differences, and
carried onto the learned head by an orthogonal matrix; the nearest is taken. Where none has the dimension of the learned
subspace, several are put side by side whose characters add up to its character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._lrnn import LRNN
from ...constructions.algebra._cyclotomic import Number
from ...constructions.algebra.groups._actions import TransitiveAction, transitive_action
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.heads._assembly import assemble
from ...constructions.heads._candidates import HeadCandidate, conjugates, start_candidate_at
from ...constructions.heads._representations import HeadPlan, MatrixPlan, SignedPermutationPlan
from ...constructions.heads._selection import choose_marks, determines, join_partitions
from ...constructions.theorems._one_layer import head_candidates
from ...theory.arithmetic._rounding import Floats, round_number
from ..learned._learned import LearnedHead
from ._procrustes import align_letters
from ._representations import CharacterTable, Representation, TransitionGroup
from ._states import ClassGeometry

MAX_PARTS = 3
"""Most constructed heads side by side in one learned head."""
SPAN = 1e-9
"""Singular values of exact heads in float64 that count; those that are not 0 are far larger."""
INTEGER = 1e-6
"""How near a value of the character table is to a whole number that it is meant to be."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A constructed head in floats, on the span of the differences of its states."""

    candidate: HeadCandidate
    letters: Floats
    ranks: tuple[int, ...]
    multiplicities: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimension of the span."""
        return int(self.letters.shape[1])


def offers_of(candidates: Iterable[HeadCandidate], table: CharacterTable, most: int) -> list[Offer]:
    """The candidates, with all parts of their initial states, whose span has 1 to `most` dimensions."""
    found = []
    for candidate in candidates:
        plan = candidate.plan(tuple(range(candidate.mark_count)))
        U = _span(plan)
        if 0 < U.shape[1] <= most:
            letters = U.T @ _letters(plan) @ U
            found.append(Offer(candidate, letters, _ranks(letters), _multiplicities(letters, table)))
    return found


def conjugate_offers(
    offers: Sequence[Offer], wanted: Sequence[Sequence[int]], table: CharacterTable
) -> list[Offer]:
    """Conjugates of the offers, of characters that no offer has and that are parts of wanted ones (multiplicities)."""
    known = {o.multiplicities for o in offers}
    found = []
    for offer in offers:
        for candidate in conjugates(offer.candidate):
            plan = candidate.plan(tuple(range(candidate.mark_count)))
            of_whole = _multiplicities(_letters(plan), table)
            if of_whole in known or not any(all(np.less_equal(of_whole, w)) for w in wanted):
                continue
            known.add(of_whole)
            found += offers_of([candidate], table, plan.dim)
    return found


def component_offers(
    candidates: Iterable[HeadCandidate],
    offers: Sequence[Offer],
    wanted: Sequence[Sequence[int]],
    table: CharacterTable,
    action: TransitiveAction,
) -> list[Offer]:
    """Signed permutations started within one irreducible component: of characters of integers that no offer has alone.

    They must be part of a wanted character (multiplicities) and occur once in the candidate's. The columns of the initial
    state are Σ_g χ(g) C_g e_i, projections of unit vectors times |G| / χ(1), without common divisors.
    """
    known = {o.multiplicities for o in offers}
    missing: dict[int, Indices] = {}
    for i, chi in enumerate(table.irreducibles):
        alone = tuple(int(j == i) for j in range(len(table.irreducibles)))
        whole = np.rint(chi.values.real).astype(np.int64)
        if alone not in known and any(w[i] for w in wanted) and np.abs(chi.values - whole).max() <= INTEGER:
            missing[i] = whole[table.group.classes]
    found: dict[int, list[Offer]] = {}
    for candidate in candidates:
        if not missing:
            break
        plan = candidate.plan(tuple(range(candidate.mark_count)))
        if not isinstance(plan, SignedPermutationPlan):
            continue
        image, sign = _elements(plan, table.group)
        character = np.where(image == np.arange(plan.dim), sign, 0).sum(axis=1)
        for i in [i for i, values in missing.items() if values @ character == table.group.size]:
            projection = np.zeros((plan.dim, plan.dim), dtype=np.int64)
            np.add.at(projection, (np.arange(plan.dim), image), missing.pop(i)[:, None] * sign)
            degree = table.irreducibles[i].degree
            starts = _independent(projection // np.gcd.reduce(projection, axis=None), degree)
            component = start_candidate_at(candidate, action, starts, f"in a component of degree {degree}")
            found[i] = offers_of([component], table, degree)
    return [offer for i in sorted(found) for offer in found[i]]


def _elements(plan: SignedPermutationPlan, group: TransitionGroup) -> tuple[Indices, Indices]:
    """Where each element takes e_i, and its sign there, `[elements, dim]`."""
    image = np.tile(np.arange(plan.dim), (group.size, 1))
    sign = np.ones_like(image)
    parents, last = group.monoid.generated.parents, group.monoid.generated.last_letters
    for g in range(1, group.size):
        before = image[parents[g]]
        image[g] = plan.image[last[g], before]
        sign[g] = sign[parents[g]] * (1 - 2 * plan.negative[last[g], before])
    return image, sign


def _independent(rows: Indices, rank: int) -> list[list[int]]:
    """The first `rank` rows, of so many, that are linearly independent."""
    chosen: list[list[int]] = []
    for row in rows.tolist():
        if len(chosen) < rank and np.linalg.matrix_rank(np.array([*chosen, row])) > len(chosen):
            chosen.append(row)
    return chosen


def _ranks(letters: Floats) -> tuple[int, ...]:
    """rank(C - I) of each letter."""
    values = np.linalg.svd(letters - np.eye(letters.shape[1]), compute_uv=False)
    return tuple((values > SPAN).sum(axis=1).tolist())


def _multiplicities(letters: Floats, table: CharacterTable) -> tuple[int, ...]:
    character = np.einsum("gii->g", table.group.represent_elements(letters))
    return tuple(int(m) for m in np.rint(table.multiplicities(character).real))


def _span(plan: HeadPlan) -> Floats:
    """A basis of the differences of states, `[dim, rank]`, orthonormal."""
    orbit = plan.orbit().codes
    codes = np.zeros((len(orbit), plan.dim, plan.value_dim))
    for c, code in enumerate(orbit):
        for i, j, x in code:
            codes[c, i, j] = _float(x)
    differences = (codes - codes.mean(axis=0)).transpose(1, 0, 2).reshape(plan.dim, -1)
    U, s, _ = np.linalg.svd(differences, full_matrices=False)
    span: Floats = U[:, s > SPAN * max(s[0], 1e-300)]
    return span


def _letters(plan: HeadPlan) -> Floats:
    """`[letters, dim, dim]`."""
    if isinstance(plan, SignedPermutationPlan):
        C = np.zeros((*plan.image.shape, plan.dim))
        letters, entries = np.indices(plan.image.shape)
        C[letters, plan.image, entries] = 1 - 2 * plan.negative
        return C
    assert isinstance(plan, MatrixPlan)
    return np.array([[[_float(x) for x in row] for row in A] for A in plan.matrices])


@lru_cache(maxsize=4096)
def _float(x: Number) -> float:
    """The few numbers of a construction occur in all its letters and codes."""
    return round_number(x, "fp64")


def sums_of(offers: Sequence[Offer], wanted: Indices) -> Iterator[tuple[Offer, ...]]:
    """Offers, two to `MAX_PARTS`, whose characters add up, the cheaper ones first; none twice of one character."""
    distinct = list({o.multiplicities: o for o in reversed(offers)}.values())[::-1]

    def extend(first: int, left: Indices, chosen: tuple[Offer, ...]) -> Iterator[tuple[Offer, ...]]:
        if not left.any():
            yield chosen
            return
        if len(chosen) == MAX_PARTS:
            return
        for i in range(first, len(distinct)):
            rest = left - np.array(distinct[i].multiplicities)
            if (rest >= 0).all():
                yield from extend(i, rest, (*chosen, distinct[i]))

    yield from extend(0, wanted, ())


def join_blocks(parts: Sequence[Floats]) -> Floats:
    """Letters `[letters, n, n]` of several heads as blocks of one."""
    size = sum(p.shape[1] for p in parts)
    C, at = np.zeros((len(parts[0]), size, size)), 0
    for p in parts:
        end = at + p.shape[1]
        C[:, at:end, at:end] = p
        at = end
    return C


MAX_SUMS = 8
"""Most combinations of them that are tried."""


@dataclass(frozen=True, eq=False)
class SnappedHead:
    """A learned head and the nearest exact one, in the coordinates of the learned subspace.

    Attributes:
        head: the learned head.
        basis: an orthonormal basis of the subspace U, as columns, `[n, r]`.
        centre: mean of the class means, `[n, d]`.
        parts: the constructed heads.
        letters: Qᵀ C(x) Q, `[letters, r, r]`, C the exact letters.
        codes: the exact states, the orbit of the average of the learned class means, in these coordinates, `[states, r, d]`.
        transitions_moved: the largest spectral distance between a learned and an exact letter.
        entries_moved: the largest difference of an entry of a letter.
        beta_moved: largest distance of a factor from what it is taken for, a reflection (β‖k‖² from 2) or nothing on U
            (`acting` from 0); None without factors.
        plane_moved: largest angle, in radians, between the planes that A - I and C - I move.
        codes_moved: the largest distance of a class mean from its exact state.
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
        """A description of the constructed heads."""
        return " + ".join(part.name for part in self.parts)

    def states(self) -> Floats:
        """H for each automaton state.

        Returns:
            `[states, n, d]`.
        """
        result: Floats = self.centre + self.basis @ self.codes
        return result

    def replacement(self, start: int) -> LearnedHead:
        """The snapped head in the learned one's place: H = centre + basis · code.

        Args:
            start: the number of the automaton state that it starts in, from 0.

        Returns:
            The head, in the coordinates of the learned one.
        """
        A = self.basis @ self.letters @ self.basis.T
        B = self.centre - A @ self.centre
        return LearnedHead(f"{self.head.name}, snapped", A, B, self.states()[start], copies=self.head.copies)

    def to_json(self) -> dict[str, Any]:
        """Return the distances from the learned head.

        Returns:
            Its name, its theorem and the distances.
        """
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
    """The snapped heads and the exact linear RNN that they form.

    Attributes:
        heads: the snapped heads.
        lrnn: an exact linear RNN of the constructed heads; None if there is a `reason`.
        reason: why there is none; empty if there is one.
        needed: names of the learned heads of which it is made: one that tells all states apart alone, if there is one, or all.
    """

    heads: tuple[SnappedHead, ...]
    lrnn: LRNN | None
    reason: str
    needed: tuple[str, ...] = ()


def snap(
    automaton: AutomatonLike,
    heads: Sequence[tuple[LearnedHead, ClassGeometry, Representation]],
    *,
    max_degree: int = 40,
    max_group: int = 1_000,
    seed: int = 0,
) -> Snapped:
    """Replace learned heads of a group automaton by the nearest exact ones, and construct an exact linear RNN from them.

    Heads whose letters carry extra signs (H.A5inv) are not candidates, since the means of their states are 0.

    Args:
        automaton: a group automaton, in which each letter permutes the states, in any form that `as_automaton` accepts.
        heads: each with its classes and its representation; those that carry states.
        max_degree: largest degree of the number fields of a construction, at least 1.
        max_group: the largest number of elements of the transition group.
        seed: the seed of the random starts of the alignments, at least 0.

    Returns:
        The exact heads, and the linear RNN that they make up.

    Raises:
        LimitError: the group has more than `max_group` elements.
    """
    if not heads:
        return Snapped((), None, "no head carries states")
    automaton = as_automaton(automaton)
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
        classes = join_partitions(classes, part.classes)
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
        C = join_blocks([p.letters for p in parts])
        alignment = align_letters(A, C, seed=seed)
        if best is not None and alignment.largest >= best.transitions_moved * (1 - 1e-6) - 1e-12:
            continue  # among equals the first, which is the cheapest
        Q = alignment.rotation
        R = C if np.array_equal(Q, np.eye(len(Q))) else Q.T @ C @ Q
        codes, moved = _codes(automaton, R, geometry, representation)
        ranks = [sum(p.ranks[x] for p in parts) for x in range(len(A))]
        best = SnappedHead(
            head, U, geometry.centre, tuple(p.candidate for p in parts), R, codes,
            alignment.largest, float(np.abs(A - R).max(initial=0.0)), _measure_beta_shift(head, U),
            max((_angle(a, r, k) for a, r, k in zip(A, R, ranks, strict=True)), default=0.0), moved,
        )  # fmt: skip
    return best


def _codes(
    automaton: Automaton, R: Floats, geometry: ClassGeometry, representation: Representation
) -> tuple[Floats, float]:
    """Each state's code, R_g of the start's: the average over g of the means at g·q0, turned back by R_g."""
    group = representation.table.group
    made = group.represent_elements(R)
    at = group.monoid.elements[:, automaton.start].astype(np.int64)
    learned = geometry.basis.T @ (geometry.means - geometry.centre)
    known = np.isin(at, geometry.seen)
    start = np.einsum("gji,gjd->gid", made[known], learned[at[known]]).mean(axis=0)
    codes = np.zeros_like(learned)
    codes[at] = made @ start
    gone = (codes - learned)[geometry.seen].reshape(len(geometry.seen), -1)
    return codes, float(np.sqrt((gone**2).sum(axis=1)).max(initial=0.0))


def measure_strengths_inside(head: LearnedHead, basis: Floats) -> Floats:
    """β‖Uᵀk‖² of each factor, `[letters, n_h]`, U the basis; no columns without factors."""
    if head.factors is None:
        return np.zeros((len(head.A), 0))
    inside: Floats = head.factors.beta * ((head.factors.keys @ basis) ** 2).sum(axis=-1)
    return inside


def find_factors_in_use(head: LearnedHead, basis: Floats) -> NDArray[np.bool_]:
    """Which factors are nearer to a reflection (β‖k‖² = 2) than to doing nothing on the subspace (a strength of 0 there).

    Two keys can share the only direction that a letter reflects in U, so a part of a key in U is enough.
    """
    if head.factors is None:
        return np.zeros((len(head.A), 0), dtype=bool)
    return np.abs(2 - head.factors.strength) < np.abs(measure_strengths_inside(head, basis))


def _measure_beta_shift(head: LearnedHead, basis: Floats) -> float | None:
    if head.factors is None:
        return None
    inside = np.abs(measure_strengths_inside(head, basis))
    return float(np.minimum(inside, np.abs(2 - head.factors.strength)).max(initial=0.0))


def _angle(A: Floats, R: Floats, rank: int) -> float:
    """The largest principal angle between the images of A - I and R - I, the `rank` largest directions of each."""
    n = len(A)
    rank = min(rank, n)
    if rank in (0, n):
        return 0.0
    P, Q = (np.linalg.svd(M - np.eye(n))[0][:, :rank] for M in (A, R))
    return float(np.arcsin(min(1.0, float(np.linalg.norm(P - Q @ (Q.T @ P), 2)))))
