"""Which heads to take: fewest factors, then integers before other numbers, then the smallest dimension.

Heads stand side by side in one layer. A set of heads serves where their classes together determine the
automaton's state; the dearest head counts, so that a group which splits is cheaper in several heads.

Initial states with smaller orbits, for matrix heads of automata with fewer states than group elements.

Any vector will do whose stabiliser lies in that of the start state; a vector that some symmetries fix has a smaller
orbit, so fewer codes (the corners of a polygon for D_m on m points; axes of the icosahedron for A_5 on 5 points).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from ..algebra._householder import gh_factor
from ..algebra._matrices import Matrix, identity, kernel, product, subtract
from ..algebra.groups._actions import TransitiveAction, first_appearance
from ..algebra.groups._set_actions import SetAction
from ..automata._automaton import Indices
from ._candidates import HeadCandidate, Marks, cheapest
from ._representations import HeadPlan, MatrixPlan, SignedPermutationPlan


def join_partitions(first: Indices, second: Indices) -> Indices:
    """The common refinement of two partitions, classes numbered 0, 1, ..."""
    # a class is a pair of classes
    pairs = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    return np.asarray(np.unique(pairs, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def determines(classes: Indices, states: Indices) -> bool:
    """True where points of one class always lie over one state."""
    # joining the states splits no class
    return int(join_partitions(classes, states).max(initial=0)) == int(classes.max(initial=0))


def _common(candidates: Sequence[HeadCandidate], size: int) -> Indices:
    classes = np.zeros(size, dtype=np.int64)
    for candidate in candidates:
        classes = join_partitions(classes, candidate.classes)
    return classes


def select(candidates: Sequence[HeadCandidate], states: Indices) -> list[HeadCandidate]:
    """The cheapest sufficient set; empty if one state only; `ValueError` if all together do not suffice."""
    size = len(states)
    if determines(np.zeros(size, dtype=np.int64), states):
        return []
    pool = list(cheapest(candidates))
    # the fewest factors of the dearest head
    for price in sorted({c.cost for c in pool}):
        cheap = [c for c in pool if c.cost <= price]
        if determines(_common(cheap, size), states):
            pool = cheap
            break
    else:
        raise ValueError("these heads do not tell the states apart")
    # then integers, if they suffice
    integers = [c for c in pool if c.degree == 1]
    if determines(_common(integers, size), states):
        pool = integers
    # then the smallest dimension
    for dim in sorted({c.dim for c in pool}):
        small = [c for c in pool if c.dim <= dim]
        if determines(_common(small, size), states):
            pool = small
            break
    # one head alone, if there is one
    for candidate in pool:
        if determines(candidate.classes, states):
            return [candidate]
    return _few(pool, states)


def _few(pool: list[HeadCandidate], states: Indices) -> list[HeadCandidate]:
    """Greedily the head that splits most; then leave out what is not needed, and prefer small fields."""
    chosen: list[HeadCandidate] = []
    classes = np.zeros(len(states), dtype=np.int64)
    while not determines(classes, states):
        best = max(pool, key=lambda c: int(join_partitions(classes, c.classes).max()))
        chosen.append(best)
        classes = join_partitions(classes, best.classes)
    # a head is left out where the others suffice
    for candidate in list(chosen):
        rest = [c for c in chosen if c is not candidate]
        if determines(_common(rest, len(states)), states):
            chosen = rest
    # a head over a simpler field takes the place of a dearer one where it can
    for i in range(len(chosen)):
        for simpler in sorted(pool, key=lambda c: c.degree):
            if simpler.degree >= chosen[i].degree:
                break
            replaced = [*chosen[:i], simpler, *chosen[i + 1 :]]
            if determines(_common(replaced, len(states)), states):
                chosen = replaced
                break
    return chosen


def choose_marks(heads: Sequence[HeadCandidate], states: Indices) -> list[Marks]:
    """For each head the parts of its initial state: as few as determine the state together.

    One mark where one will do (a one-hot state that tracks a point), else the mark that splits most, repeatedly.
    """
    options = [(h, i) for h, head in enumerate(heads) for i in range(head.mark_count)]
    classes_of = {option: heads[option[0]].mark(option[1]) for option in options}
    # one mark for all, in the first head that has such a one
    for option in options:
        if determines(classes_of[option], states):
            return [(option[1],) if h == option[0] else () for h in range(len(heads))]
    classes = np.zeros(len(states), dtype=np.int64)
    chosen: list[list[int]] = [[] for _ in heads]
    while not determines(classes, states):
        best = max(options, key=lambda o: int(join_partitions(classes, classes_of[o]).max()))
        # no option splits anything more
        if int(join_partitions(classes, classes_of[best]).max()) == int(classes.max()):
            raise AssertionError("the marks of the chosen heads determine the state")
        chosen[best[0]].append(best[1])
        classes = join_partitions(classes, classes_of[best])
    return [tuple(sorted(marks)) for marks in chosen]


def fixed_initial_states(action: TransitiveAction, plan: HeadPlan) -> Iterator[SignedPermutationPlan]:
    """The plan with an initial state that the start state's whole stabiliser fixes, so that each state has one code; nothing where none is found.

    Args:
        action: the group's action.
        plan: a head that tells the states apart; there is nothing for others than signed permutations.
    """
    states = first_appearance(action.states)
    count = int(states.max()) + 1
    if not isinstance(plan, SignedPermutationPlan) or count == action.size:
        return
    n = plan.dim
    negative = plan.negative.astype(np.int64)
    # the ends of axis i are i and n + i
    ends = np.concatenate([plan.image + n * negative, plan.image + n * (1 - negative)], axis=1)
    if ends.size * count > MAX_PAIRS or len(plan.orbit().codes) == count:
        return
    pairs = SetAction(ends, action.quotient(states)).pairs
    members = {o: (pairs[0] == o).nonzero()[0] for o in np.unique(pairs[0]).tolist()}
    # of an orbit and that of the opposite ends one is marked; one that holds both ends of an axis must have the value 0
    orbits = [o for o, found in members.items() if o < pairs[0, found[0] - n]]
    for chosen in [*((o,) for o in orbits), tuple(orbits)]:
        rows = np.where(np.isin(pairs, chosen), pairs, -1)
        if len(np.unique(rows, axis=0)) == count:
            seed = [
                (e % n, v if e < n else -v)
                for v, o in enumerate(chosen, start=1)
                for e in members[o].tolist()
            ]
            yield SignedPermutationPlan(plan.image, plan.negative, (tuple(seed),))
            return


MAX_PAIRS = 5_000_000
"""Letters times states times ends of axes up to which initial states with one code a state are sought."""
MAX_LISTED = 500
MAX_SIGNED_DIM = 6


def smaller_initial_states(action: TransitiveAction, plan: HeadPlan) -> Iterator[MatrixPlan]:
    """The plan with other initial vectors: fixed by the start state's whole stabiliser, then by one element of it.

    The caller has to see which of them tell the states apart. Nothing for groups of more than 500 elements.
    """
    if isinstance(plan, SignedPermutationPlan) and plan.negative.any() and plan.dim <= MAX_SIGNED_DIM:
        plan = plan.as_matrices()
    if not isinstance(plan, MatrixPlan):
        return  # plain permutations: marks on points have been chosen already
    stabiliser = np.flatnonzero(action.states == action.states[0])
    if not action.regular or action.size > MAX_LISTED or len(stabiliser) == 1:
        return
    elements = _matrices(action, plan)
    # A_g - I for the elements that fix the start state
    moved = [subtract(elements[p], identity(plan.dim)) for p in stabiliser.tolist()]
    seen: set[Matrix] = set()
    # the vectors that all of them fix, then those that each fixes
    for equations in (reduce(lambda a, b: a + b, moved), *moved):
        fixed = kernel(equations)
        # a line of fixed vectors gives one direction; of a plane none would be canonical
        if len(fixed) != 1:
            continue
        entries = dict(gh_factor(1, enumerate(fixed[0])).vector)  # the canonical scale of a direction
        vector = tuple((entries.get(i, 0),) for i in range(plan.dim))
        if vector not in seen:
            seen.add(vector)
            yield MatrixPlan(plan.matrices, vector, plan.quotient)


def _matrices(action: TransitiveAction, plan: MatrixPlan) -> dict[int, Matrix]:
    """The matrix of every group element, along the spanning tree of its words."""
    elements = {0: identity(plan.dim)}
    # parents come before their children
    for points, parents, letters in action.levels:
        for point, parent, letter in zip(points.tolist(), parents.tolist(), letters.tolist(), strict=True):
            elements[point] = product(plan.matrices[letter], elements[parent])
    return elements
