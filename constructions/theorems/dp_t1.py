"""DP.T1 (ii), (iii): fewer factors per token and more layers, for group automata, by a delay of one block.

What is built, and how it acts: `BlockDelay`. Here its numbers are chosen: the points that the group permutes, those that
H_0 marks, the length of a block, and the counter of the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Literal

import numpy as np

from ...foundation._errors import InputError, LimitError, NotRealisableError
from ...foundation._text import count_noun
from .._conversions import AutomatonLike, as_automaton
from .._delay import BlockDelay
from ..algebra.groups._actions import transitive_action
from ..algebra.groups._permutations import cycle_counts, orbits
from ..automata._automaton import Automaton, Indices
from ..heads._candidates import MAX_DEGREE
from ._block_delay import choose_counter
from ._construction import Build, Construction, Problem
from ._small_degree import small_permutation_representation

CounterKind = Literal["auto", "ripple", "rotation", "two_layers", "cycles"]
COUNTERS: dict[str, str] = {
    "auto": "fewest layers, then integer",
    "ripple": "one scalar layer a bit, integer; the block is rounded up to a power of two",
    "rotation": "one layer, two reflections",
    "two_layers": "two layers, one reflection each",
    "cycles": "one layer, integer, a head for each prime power; the block may be longer than needed",
}


def block_delay(
    automaton: AutomatonLike,
    householders: int,
    *,
    counter: CounterKind | str = "auto",
    exactness: str = "any",
    max_group: int = 5_000,
    max_degree: int = MAX_DEGREE,
) -> BlockDelay:
    """Realise a group automaton with at most `householders` factors per token, in several layers (DP.T1 ii, iii).

    The block length is m = ⌈c/n_h⌉, where c is the largest n - #cycles over the group (n - #orbits if the group is not listed),
    or larger if the counter requires it.

    Args:
        automaton: a group automaton; unreachable states are dropped.
        householders: n_h, the largest number of factors per token, at least 1.
        counter: the kind of token counter, one of `COUNTERS`, or `auto`.
        exactness: `any`, or `integer` for bit-exact counters only.
        max_group: the largest order of a group whose elements are listed for a small number of points.
        max_degree: the largest degree of a counter's number field.

    Raises:
        InputError: one layer suffices (c ≤ n_h), or an argument is wrong.
        NotRealisableError: the automaton is not a group automaton, or no such counter exists.
    """
    automaton = as_automaton(automaton)
    _require_options(householders, counter, exactness)
    automaton = automaton.trim()
    if (merged := automaton.find_merged_pair()) is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: letter {automaton.letters[x]!r} merges states {automaton.states[p]!r} and "
            f"{automaton.states[q]!r}, so this is no group automaton, and block delay is for group automata"
        )
    group = _list_group(automaton, max_group)
    cost = group.cost
    least = -(-cost // householders)
    if least < 2:
        raise InputError(
            f"{automaton.name}: `householders` {householders}: no element needs more than {count_noun(cost, 'factor')}, so one layer "
            "suffices; leave block delay out"
        )
    chosen = choose_counter(counter, 2 * least, householders, exactness == "integer", max_degree)
    if chosen is None:
        raise NotRealisableError(
            f"{automaton.name}: no {counter.replace('two_layers', 'two-layer')} counter modulo {2 * least} or a little more has at most {householders} "
            f"factors a token, exactness {exactness} and a number field of degree at most {max_degree}; "
            "`counter` ripple always has"
        )
    return BlockDelay(
        automaton, group.points, group.marks, chosen.period // 2, householders, chosen, group.elements, group.states,
        (f"a product of letters needs at most {count_noun(cost, 'swap')} of {count_noun(group.points.shape[1], 'point')}, so blocks have at least {count_noun(least, 'token')}",),
    )  # fmt: skip


def _require_options(householders: int, counter: str, exactness: str) -> None:
    if not isinstance(householders, int) or isinstance(householders, bool) or householders < 1:
        raise InputError(f"`householders` {householders!r}: it is a number of factors, 1 or more")
    if counter not in COUNTERS:
        raise InputError(f"`counter` {counter}: not a counter; there are {', '.join(COUNTERS)}")
    if exactness not in ("any", "integer"):
        raise InputError(f"`exactness` {exactness}: it is any or integer")


@dataclass(frozen=True, eq=False)
class _Group:
    """Letters on few points, and, if the group is listed, its elements on them with the states they lead to."""

    start: int
    points: Indices
    elements: Indices | None = None
    states: Indices | None = None

    @cached_property
    def cost(self) -> int:
        """The most swaps that an element needs, n - #cycles, or n - #orbits where the group is not listed."""
        n = self.points.shape[1]
        if self.elements is None:
            return int(n - len(np.unique(orbits(self.points))))
        return int((n - cycle_counts(self.elements)).max())

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """Points whose images tell the state."""
        if self.elements is None or self.states is None:
            return (self.start,)
        return choose_marked_points(self.elements, self.states)


@lru_cache(maxsize=1)  # a plan builds block delays of one automaton for many numbers of factors
def _list_group(automaton: Automaton, max_group: int) -> _Group:
    action = transitive_action(automaton, max_group)
    if not action.regular:
        return _Group(automaton.start, np.asarray(automaton.transitions, dtype=np.int64))
    points = small_permutation_representation(automaton, max_group)
    elements = np.empty((action.size, points.shape[1]), dtype=np.int64)
    elements[0] = np.arange(points.shape[1])
    for reached, parents, letters in action.levels:
        elements[reached] = np.take_along_axis(points[letters], elements[parents], axis=1)
    return _Group(automaton.start, points, elements, action.states)


def lists_group(problem: Problem) -> bool:
    """Whether the elements of the automaton's transition group are listed within the limits, as a block delay's certificate needs.

    Args:
        problem: a group automaton and limits.
    """
    return _list_group(problem.automaton, problem.limits.group).elements is not None


def choose_marked_points(elements: Indices, states: Indices) -> tuple[int, ...]:
    """Points whose images tell the state: the first single one that does, else all less those that are not needed."""

    def tell(chosen: list[int]) -> bool:
        classes = np.unique(elements[:, chosen], axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(classes, kind="stable")
        same = classes[order[1:]] == classes[order[:-1]]
        return not (same & (states[order[1:]] != states[order[:-1]])).any()

    n = elements.shape[1]
    for point in range(n):
        if tell([point]):
            return (point,)
    kept = list(range(n))
    for point in reversed(range(n)):
        rest = [p for p in kept if p != point]
        if tell(rest):
            kept = rest
    return tuple(kept)


def delays(problem: Problem, exactness: str) -> Sequence[Build]:
    """Block delay for 1, 2, 3, 4, 6, 8, 12, ... factors per token, where more of them make the blocks shorter.

    Beside each that is not integer the integer one of as many factors.
    """
    found = [_delay(1, "any", problem)]
    if not lists_group(problem):
        raise LimitError(
            f"{problem.automaton.name}: DP.T1: the transition group has more than {problem.limits.group:,} elements, all of which a "
            "certificate of block delay lists: raise `max_group`; `theorem` own.blocks lists none, but has more layers"
        )
    budget = 2
    while budget < 2 * found[0].block:
        try:
            delay = _delay(budget, "any", problem)
        except NotRealisableError:
            break
        if delay.block < found[-1].block:
            found.append(delay)
        budget += max(1, 2 ** (budget.bit_length() - 2))
    builds: list[Build] = []
    for delay in found:
        builds.append(partial(_return_delay, delay))
        if delay.exactness != "integer":
            builds.append(partial(_delay, delay.budget, "integer"))
    return builds


def _return_delay(delay: BlockDelay, _: Problem) -> BlockDelay:
    return delay


def _delay(budget: int, exactness: str, problem: Problem) -> BlockDelay:
    try:
        return block_delay(
            problem.automaton,
            budget,
            exactness=exactness,
            max_group=problem.limits.group,
            max_degree=problem.limits.degree,
        )
    except InputError:  # this many factors suffice in one layer
        raise NotRealisableError(
            f"{problem.automaton.name}: DP.T1: {count_noun(budget, 'factor')} a token do in one layer; leave "
            "`theorem` out"
        ) from None


CONSTRUCTION = Construction(
    source="DP.T1",
    title="block delay: groups with fewer factors a token in more layers",
    order=70,
    examples=("S5", "S4", "mod:12"),
    refusals={"T3": "block delay is for group automata", "parity": "in one layer"},
    forms=delays,
)
