"""Constructed heads on offer for snapping: their letters in floats on the span of their states' differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.candidates import HeadCandidate
from ...constructions.components import started_at
from ...constructions.conjugates import conjugates
from ...constructions.groups.transitive_action import TransitiveAction
from ...constructions.head_plan import HeadPlan, MatrixPlan, SignedPermutationPlan
from ...constructions.real_cyclotomic import Number
from ...theory.arithmetic.rounding import Floats, round_number
from .characters import CharacterTable, TransitionGroup

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
            component = started_at(candidate, action, starts, f"in a component of degree {degree}")
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
    character = np.einsum("gii->g", table.group.represented(letters))
    return tuple(int(m) for m in np.rint(table.multiplicities(character).real))


def _span(plan: HeadPlan) -> Floats:
    """Of the differences of states, `[dim, rank]`, orthonormal."""
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


def side_by_side(parts: Sequence[Floats]) -> Floats:
    """Letters `[letters, n, n]` of several heads as blocks of one."""
    size = sum(p.shape[1] for p in parts)
    C, at = np.zeros((len(parts[0]), size, size)), 0
    for p in parts:
        end = at + p.shape[1]
        C[:, at:end, at:end] = p
        at = end
    return C
