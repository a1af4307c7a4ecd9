"""own.congruences: one layer whose heads follow quotients of the automaton, side by side.

A congruence is a partition of the states that every letter respects; a letter then acts on its classes. Where congruences
have the trivial meet, no two states are in the same class of each of them. So heads that follow the classes, each quotient
in one layer of its own, are one layer for the automaton, and their joint state names its state.

Quotients are followed by heads for groups, of permutations and resets (G.T4, one level), of own.LMI and of own.definite. Congruences
have the trivial meet if each minimal congruence is avoided by one of them: a set cover, in which a quotient costs its work
(factors × dimension over its heads) and one more for each head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import LimitError, NotRealisableError
from ...foundation._text import shorten_list
from .._lrnn import LRNN
from ..algebra._congruences import (
    grow_congruence,
    join_partitions,
    list_congruences,
    meet_partitions,
    merged_pair,
    minimal_congruences,
    permutation_congruence,
    quotient_automaton,
    reset_congruence,
)
from ..automata._automaton import Indices
from ..heads._assembly import lay_side_by_side
from ._construction import Construction, Problem, in_any_numbers_and_integers
from ._single_layer import single_layer

MAX_MINIMAL = 2_000
"""Most minimal congruences with which the search goes on."""
MAX_CLASSES = 128
"""Most classes of a congruence whose quotient is tried."""
MAX_CLOSING_STEPS = 500_000
"""Most steps of the closings of all pairs (pairs × letters × states) for which all congruences are listed."""
MAX_GROWN = 60
"""Most congruences for which one is sought that avoids what they merge."""
MAX_JOINED = 3_000_000
"""Most states of the joins with minimal congruences that these searches begin with (joins × states)."""
MAX_COVER_STEPS = 5_000
"""Most partial choices of the search for the best choice of congruences."""

Price = tuple[int, int]
"""Work with one more for each head, then the number of heads: smaller is better."""


class CongruenceSearch:
    """The search for congruences of an automaton that have the trivial meet and whose quotients take one layer each.

    Args:
        problem: the automaton and limits.
        exactness: `any`, or `integer` for integers only.

    Raises:
        NotRealisableError: the automaton has no two proper congruences of trivial meet, or its start does not reach all states.
        LimitError: there are too many pairs of states or minimal congruences.
    """

    def __init__(self, problem: Problem, exactness: str = "any") -> None:
        self.problem = problem
        self.exactness = exactness
        self.automaton = problem.automaton
        self.maps = problem.automaton.transitions
        name = f"{self.automaton.name}: own.congruences"
        if len(self.automaton.reachable()) < len(self.automaton.states):
            raise NotRealisableError(
                f"{name} needs every state to be reachable from the start; leave `theorem` out"
            )
        try:
            self.minimal = minimal_congruences(self.maps)
        except LimitError as error:
            raise LimitError(f"{name}: {error}") from None
        if len(self.minimal) < 2:
            raise NotRealisableError(
                f"{name}: no two proper congruences of its states have the trivial meet; leave `theorem` out"
            )
        if len(self.minimal) > MAX_MINIMAL:
            raise LimitError(
                f"{name}: {len(self.minimal):,} minimal congruences of its states; the limit is {MAX_MINIMAL:,}"
            )
        self.pairs = np.array([merged_pair(c) for c in self.minimal])
        self._quotients: dict[bytes, LRNN | None] = {}

    def quotient(self, congruence: Indices) -> LRNN | None:
        """The one-layer LRNN of a quotient with the least work; None where it has none."""
        key = congruence.tobytes()
        if key not in self._quotients:
            self._quotients[key] = self._realise(congruence)
        return self._quotients[key]

    def _realise(self, congruence: Indices) -> LRNN | None:
        if not 2 <= int(congruence.max()) + 1 <= min(MAX_CLASSES, len(congruence) - 1):
            return None
        quotient = quotient_automaton(self.automaton, congruence)
        return single_layer(Problem(quotient, self.problem.limits, self.problem.coordinates), self.exactness)

    def price(self, congruences: Sequence[Indices]) -> Price | None:
        """What the quotients cost together; None where one of them has no layer."""
        total = heads = 0
        for congruence in congruences:
            found = self.quotient(congruence)
            if found is None:
                return None
            total += (found.work or 0) + found.heads
            heads += found.heads
        return total, heads

    def avoided_by(self, congruence: Indices) -> NDArray[np.bool_]:
        """Which minimal congruences this one does not contain, `[minimal congruences]`."""
        ends = congruence[self.pairs]
        avoided: NDArray[np.bool_] = ends[:, 0] != ends[:, 1]
        return avoided

    def candidates(self) -> list[Indices]:
        """The congruences that are tried: all where they are few, and some that come out of the minimal ones."""
        natural = list(self._natural())
        few = max(4, min(MAX_GROWN, MAX_JOINED // (len(self.minimal) * self.maps.shape[1])))
        meets = [meet_partitions(a, b) for a, b in islice(combinations(natural[:few], 2), few)]
        merged = [~self.avoided_by(c) for c in (*natural[:few], *meets)]
        single = list(np.eye(len(self.minimal), dtype=bool)[:few])
        grown = [
            grow_congruence(self.maps, self.minimal, self.pairs[avoided])
            for avoided in (*merged, *single)
            if avoided.any()
        ]
        found = {c.tobytes(): c for c in (*natural, *grown, *self._all())}
        return list(found.values())[: self.problem.limits.congruences]

    def _natural(self) -> Iterator[Indices]:
        """The finest ones with resets or permutations alone, and joins of minimal ones that letters merge alike."""
        yield reset_congruence(self.maps)
        yield permutation_congruence(self.maps)
        kinds: dict[bytes, list[Indices]] = {}
        merges = self.maps[:, self.pairs[:, 0]] == self.maps[:, self.pairs[:, 1]]
        for kind, congruence in zip(merges.T, self.minimal, strict=True):
            kinds.setdefault(kind.tobytes(), []).append(congruence)
        if len(kinds) > MAX_GROWN:
            return
        joins = [reduce(join_partitions, alike) for alike in kinds.values()]
        yield from joins
        for i in range(len(joins) if len(joins) > 1 else 0):
            yield reduce(join_partitions, joins[:i] + joins[i + 1 :])

    def _all(self) -> list[Indices]:
        letters, size = self.maps.shape
        if letters * size * size * (size - 1) // 2 > MAX_CLOSING_STEPS:
            return []
        try:
            return list_congruences(self.maps, self.problem.limits.congruences)
        except LimitError:
            return []

    def choose(self) -> list[Indices]:
        """The cheapest congruences with the trivial meet that the search finds; `NotRealisableError` where there are none."""
        offered = [(price, c) for c in self.candidates() if (price := self.price([c])) is not None]
        offered.sort(key=lambda offer: offer[0])
        chosen = _cheapest_cover([price for price, _ in offered], [self.avoided_by(c) for _, c in offered])
        if chosen is None:
            raise NotRealisableError(
                f"{self.automaton.name}: own.congruences: no congruences of trivial meet were found whose quotients take one layer "
                "each; leave `theorem` out"
            )
        return self._merge([offered[i][1] for i in chosen])

    def _merge(self, chosen: list[Indices]) -> list[Indices]:
        """Take the meet of two instead of the two, as long as that is cheaper."""
        while True:
            for a, b in combinations(chosen, 2):
                apart, together = self.price([a, b]), self.price([meet_partitions(a, b)])
                if apart is not None and together is not None and together < apart:
                    chosen = [c for c in chosen if c is not a and c is not b] + [meet_partitions(a, b)]
                    break
            else:
                return chosen


def _cheapest_cover(prices: Sequence[Price], avoided: Sequence[NDArray[np.bool_]]) -> list[int] | None:
    """The cheapest sets that cover all elements together, by branching within a limit; None where all do not.

    The search takes first what a greedy choice takes, and branches on the element in the fewest sets.
    """
    if not len(avoided) or not np.logical_or.reduce(avoided).all():
        return None
    table = np.array(avoided)
    rarity = table.sum(axis=0)
    best = _greedy_cover(prices, table)
    least = _sum(prices, best)
    steps = 0

    def branch(chosen: list[int], spent: Price, covered: NDArray[np.bool_]) -> None:
        nonlocal best, least, steps
        steps += 1
        if covered.all():
            best, least = chosen, spent
            return
        element = int(np.argmin(np.where(covered, len(table) + 1, rarity)))
        for i in np.flatnonzero(table[:, element]).tolist():
            after = (spent[0] + prices[i][0], spent[1] + prices[i][1])
            if steps < MAX_COVER_STEPS and after < least:
                branch([*chosen, i], after, covered | table[i])

    branch([], (0, 0), np.zeros(table.shape[1], dtype=bool))
    return best


def _greedy_cover(prices: Sequence[Price], table: NDArray[np.bool_]) -> list[int]:
    """Repeatedly the set that covers an element for the least, the first among equals; then without those not needed."""
    chosen: list[int] = []
    covered = np.zeros(table.shape[1], dtype=bool)
    while not covered.all():
        fresh = (table & ~covered).sum(axis=1).tolist()
        useful = [i for i, count in enumerate(fresh) if count]
        # price / count as a comparison of whole numbers
        best = useful[0]
        for i in useful[1:]:
            if prices[i][0] * fresh[best] < prices[best][0] * fresh[i]:
                best = i
        chosen.append(best)
        covered |= table[best]
    for i in list(chosen):
        rest = [c for c in chosen if c != i]
        if rest and table[rest].any(axis=0).all():
            chosen = rest
    return chosen


def _sum(prices: Sequence[Price], chosen: Sequence[int]) -> Price:
    return sum(prices[i][0] for i in chosen), sum(prices[i][1] for i in chosen)


def _of(exactness: str) -> Callable[[Problem], LRNN]:
    def build(problem: Problem) -> LRNN:
        search = CongruenceSearch(problem, exactness)
        chosen = sorted(search.choose(), key=lambda c: -int(c.max()))
        return follow_congruences(search, chosen)

    return build


def follow_congruences(search: CongruenceSearch, chosen: Sequence[Indices]) -> LRNN:
    """The heads of the quotients side by side; `ValueError` where the meet of the congruences is not the trivial one.

    Args:
        search: the search, which has the quotients' layers.
        chosen: congruences whose quotients take one layer each.
    """
    quotients = [found for c in chosen if (found := search.quotient(c)) is not None]
    classes = shorten_list(len(q.automaton.states) for q in quotients)
    made = lay_side_by_side(
        search.automaton,
        quotients,
        theorem="own.congruences",
        construction=f"quotients of {classes} states side by side",
    )
    if made is None or len(quotients) < len(chosen):
        raise ValueError("the quotients do not tell the states apart, or one of them has no layer")
    return made


CONSTRUCTION = Construction(
    source="own.congruences",
    title="one layer of the quotients by congruences of trivial meet, side by side",
    order=45,
    examples=("boxes:3,2", "boxes:5,4", "mod:6"),
    refusals={"T3": "no two proper congruences", "even_pairs": "take one layer"},
    forms=in_any_numbers_and_integers(_of),
    for_group_automata=False,  # whose block systems G.T3 and the others search
)
