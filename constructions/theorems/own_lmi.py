"""own.LMI, the simple exact cases: one layer with norm ≤ 1 for automata whose letters only move, drop or reset.

One vector a state: one-hot, except that one state, the sink, may stand at 0. A letter that moves states injectively
and sends the others to the sink is a partial permutation matrix; a letter that sends all states to one is A = 0 with
the state's vector added. Both are contractions, and all numbers are 0 and 1.

own.LMI on trees: states at the vertices of a tree, whose edges are orthonormal steps.

A state stands at the sum of the steps from the root to it. Where a letter sends each edge of the tree to an edge or
to one point, and no two edges to the same edge, it is a partial signed permutation A of the steps, with the root's
image added: norm at most 1, and all numbers are 0, 1 and -1. A path is a gridworld, a star partial injections with a
sink. In the steps, A is the letter's transition matrix on vectors of sum zero, whatever the tree: its rank(A - I)
factors, the fewest for A, are as many as there are states less cycles of the letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ...foundation._errors import NotRealisableError
from ...foundation._text import count_noun
from .._lrnn import LRNN
from .._realisation import Sparse, Transition, cost
from ..algebra._householder import GHFactor, gh_factor, permutation_factors
from ..algebra.groups._permutations import distinct_maps
from ..automata._automaton import Automaton, Indices
from ..heads._assembly import one_code_a_state
from ..heads._representations import signed_permutation_factors
from ._construction import Construction, Problem


def partial_injections(automaton: Automaton) -> LRNN | None:
    """Construct the one-layer LRNN of this kind with the fewest factors; None if a letter merges states other than into a sink.

    Each state is tried as the sink, and also no sink. The result is also None if not all states are reachable from the start.

    Args:
        automaton: the automaton to be realised.
    """
    if len(automaton.reachable()) < len(automaton.states):
        return None
    best: tuple[int, int] | None = None
    found: tuple[int | None, list[Transition]] | None = None
    size = len(automaton.states)
    for sink in (None, *(range(size) if size > 1 else ())):
        transitions = _transitions(automaton.transitions, sink)
        if transitions is not None:
            price = (
                max((len(t.factors) for t in transitions), default=0),
                size - (sink is not None),
            )
            if best is None or price < best:
                best, found = price, (sink, transitions)
    return None if found is None else _lrnn(automaton, *found)


def _transitions(table: Indices, sink: int | None) -> list[Transition] | None:
    """The letters' transitions on the coordinates of all states but the sink; None where a letter has no such form."""
    size = table.shape[1]
    kept = [q for q in range(size) if q != sink]
    place = {q: i for i, q in enumerate(kept)}
    transitions = []
    for image in table.tolist():
        if len(set(image)) == 1 and size > 1:
            target = place.get(image[0])
            additive: Sparse = () if target is None else ((target, 0, 1),)
            erased = tuple(gh_factor(1, {i: 1}) for i in range(len(kept)))
            transitions.append(Transition(factors=erased, additive=additive))
            continue
        moved = {place[q]: place[image[q]] for q in kept if image[q] != sink}
        if len(set(moved.values())) < len(moved) or (sink is not None and image[sink] != sink):
            return None
        transitions.append(Transition(factors=partial_permutation_factors(moved, len(kept))))
    return transitions


def partial_permutation_factors(moved: dict[int, int], n: int) -> tuple[GHFactor, ...]:
    """The matrix with e_i ↦ e_{moved[i]} and all other e_i ↦ 0, as rank(A - I) factors, which is least (H.rank).

    The injection falls into cycles and paths i → ... → j whose end j goes to 0: erase e_j, then close the path to
    a cycle, which costs as many factors as the path has points.
    """
    ends = [i for i in range(n) if i not in moved]
    closed = [moved.get(i, i) for i in range(n)]
    came_from = {j: i for i, j in moved.items()}
    for end in ends:
        first = end
        while first in came_from:
            first = came_from[first]
        closed[end] = first
    return (*(gh_factor(1, {end: 1}) for end in ends), *permutation_factors(closed))


def _lrnn(automaton: Automaton, sink: int | None, transitions: Sequence[Transition]) -> LRNN:
    kept = [q for q in range(len(automaton.states)) if q != sink]
    place = {q: i for i, q in enumerate(kept)}
    where = "" if sink is None else f", state {automaton.states[sink]!r} at 0"
    return one_code_a_state(
        automaton,
        len(kept),
        transitions,
        [() if q == sink else ((place[q], 0, 1),) for q in range(len(automaton.states))],
        theorem="own.LMI",
        construction=f"partial permutations and resets of {count_noun(len(kept), 'point')}{where}",
    )


MAX_STEPS = 20_000
MAX_TREES = 20


def tree_steps(
    automaton: Automaton, *, max_steps: int = MAX_STEPS, max_trees: int = MAX_TREES
) -> LRNN | None:
    """Construct a one-layer LRNN from a tree on the states, in one dimension fewer than states; None if no tree was found.

    All trees of an automaton need the same number of factors. Among the first `max_trees` trees and their roots, the one with the
    fewest negative steps is chosen (without any, the integer bound is 1, otherwise at most 2), then the one that adds the fewest
    numbers. The result is also None for a single state, and if not all states are reachable from the start, unless they are kept.

    Args:
        automaton: the automaton to be realised.
        max_steps: the limit of the search, see `StepTrees`, which also says whether None means that there is no tree.
        max_trees: the largest number of trees that are compared.
    """
    size = len(automaton.states)
    reachable = sorted(automaton.reachable())
    if size < 2 or (len(reachable) < size and not automaton.keeps_points):
        return None
    best: RootedTree | None = None
    least: tuple[int, int, int] | None = None
    for edges in islice(StepTrees(automaton.transitions, max_steps).trees(), max_trees):
        # a further seed may not stand at 0, so the root is a state that the start reaches
        for root in reachable:
            rooted = RootedTree.of(edges, root, size)
            price = rooted.price(automaton.transitions)
            if least is None or price < least:
                best, least = rooted, price
        if least is not None and least[0] == 0:
            break
    if best is None:
        return None
    return one_code_a_state(
        automaton,
        size - 1,
        [best.transition(row) for row in automaton.transitions],
        [tuple((k, 0, 1) for k in np.flatnonzero(code).tolist()) for code in best.codes()],
        theorem="own.LMI",
        construction=f"steps along a tree of {count_noun(size, 'state')}",
    )


class StepTrees:
    """The spanning trees whose edges the letters `[letters, states]` send to edges, injectively, or to points.

    An edge {u, v}, u < v, is the number u·n + v. `steps` counts levels of closures and edges tried; a search that
    would take more than `max_steps` ends, and `complete` is then False: there may be further trees.
    """

    def __init__(self, transitions: Indices, max_steps: int = MAX_STEPS) -> None:
        self.maps = distinct_maps(transitions)
        self.size = transitions.shape[1]
        self.max_steps = max_steps
        self.steps = 0
        self.complete = True
        self._dead = np.eye(self.size, dtype=bool)
        self._closures: dict[int, Indices] = {}

    def trees(self) -> Iterator[tuple[int, ...]]:
        """Each such tree once, as its edges, in a fixed order.

        With an edge a tree has all its images. Every tree has an edge that leaves a given component of those chosen
        so far; it is found where the first of these is tried, and the later ones do without it.
        """
        nothing = np.zeros(0, dtype=np.int64)
        stack = [self._extensions(nothing, frozenset())]
        while stack and self.complete:
            extension = next(stack[-1], None)
            if extension is None:
                stack.pop()
            elif len(extension[0]) == self.size - 1:
                yield tuple(extension[0].tolist())
            else:
                stack.append(self._extensions(*extension))

    def _extensions(
        self, chosen: Indices, excluded: frozenset[int]
    ) -> Iterator[tuple[Indices, frozenset[int]]]:
        """The chosen edges with the closure of one that leaves the component with the fewest of them to try."""
        labels = np.array(_components(chosen.tolist(), self.size), dtype=np.int64)
        leaving = (labels[:, None] != labels[None, :]) & ~self._dead
        banned = np.array(sorted(excluded), dtype=np.int64)
        leaving[banned // self.size, banned % self.size] = False
        leaving[banned % self.size, banned // self.size] = False
        counts = np.bincount(labels, weights=leaving.sum(axis=1), minlength=self.size)
        present = np.unique(labels)
        u, v = np.nonzero(leaving & (labels == present[np.argmin(counts[present])])[:, None])
        for edge in np.unique(np.minimum(u, v) * self.size + np.maximum(u, v)).tolist():
            if not self._step():
                return
            closure = self._closure(edge)
            if closure is None or not excluded.isdisjoint(closure.tolist()):
                continue
            union = np.union1d(chosen, closure)
            if self._fits(union):
                yield union, excluded
            excluded = excluded | {edge}

    def _closure(self, edge: int) -> Indices | None:
        """The edge with all its images under words; None where no tree contains these."""
        if self._dead[divmod(edge, self.size)]:
            return None
        if edge not in self._closures:
            closure = frontier = np.array([edge], dtype=np.int64)
            while len(frontier) and self._step():
                frontier = np.setdiff1d(self._images(frontier), [-1, *closure])
                closure = np.union1d(closure, frontier)
                if len(closure) >= self.size or self._dead[divmod(frontier, self.size)].any():
                    self._bury(edge)
                    return None
            if not self.complete:
                return None
            if not self._fits(closure):
                self._bury(edge)
                return None
            self._closures[edge] = closure
        return self._closures[edge]

    def _images(self, edges: Indices) -> Indices:
        """Where each letter sends each edge, `[letters, edges]`; -1 for a point."""
        u, v = self.maps[:, edges // self.size], self.maps[:, edges % self.size]
        return np.where(u == v, -1, np.minimum(u, v) * self.size + np.maximum(u, v))

    def _fits(self, edges: Indices) -> bool:
        """Without a cycle, and no letter sends two edges to one."""
        if len(edges) >= self.size or _components(edges.tolist(), self.size) is None:
            return False
        images = np.sort(self._images(edges), axis=1)
        return not ((images[:, 1:] == images[:, :-1]) & (images[:, 1:] >= 0)).any()

    def _bury(self, edge: int) -> None:
        u, v = divmod(edge, self.size)
        self._dead[u, v] = self._dead[v, u] = True

    def _step(self) -> bool:
        self.steps += 1
        self.complete = self.complete and self.steps <= self.max_steps
        return self.complete


def _components(edges: Sequence[int], size: int) -> list[int] | None:
    """Least state of each state's component; None where the edges close a cycle."""
    parent = list(range(size))

    def root_of(q: int) -> int:
        while parent[q] != q:
            parent[q] = parent[parent[q]]
            q = parent[q]
        return q

    for edge in edges:
        u, v = sorted((root_of(edge // size), root_of(edge % size)))
        if u == v:
            return None
        parent[v] = u
    return [root_of(q) for q in range(size)]


@dataclass(frozen=True, eq=False)
class RootedTree:
    """A tree with its edges directed away from a root: step k leads from `tails[k]` to `heads[k]`.

    Steps are numbered breadth first; `step_to[q]` is the step that leads to q, -1 for the root, and `depths[q]` the
    number of steps from the root to q.
    """

    root: int
    tails: Indices
    heads: Indices
    step_to: Indices
    depths: Indices

    @classmethod
    def of(cls, edges: Sequence[int], root: int, size: int) -> RootedTree:
        """From edges u·size + v."""
        neighbours: list[list[int]] = [[] for _ in range(size)]
        for edge in edges:
            u, v = divmod(edge, size)
            neighbours[u].append(v)
            neighbours[v].append(u)
        order, tails = [root], [-1]
        step_to = np.full(size, -1, dtype=np.int64)
        depths = np.zeros(size, dtype=np.int64)
        for k, q in enumerate(order):  # grows on the way
            for r in neighbours[q]:
                if r != tails[k]:
                    step_to[r], depths[r] = len(order) - 1, depths[q] + 1
                    order.append(r)
                    tails.append(q)
        return cls(root, np.array(tails[1:]), np.array(order[1:]), step_to, depths)

    def codes(self) -> Indices:
        """The steps from the root to each state, 0/1 `[states, steps]`."""
        codes = np.zeros((len(self.step_to), len(self.heads)), dtype=np.int64)
        for k, (tail, head) in enumerate(zip(self.tails.tolist(), self.heads.tolist(), strict=True)):
            codes[head] = codes[tail]
            codes[head, k] = 1
        return codes

    def images(self, maps: Indices) -> tuple[Indices, Indices]:
        """The step to which each map sends each step, and whether backwards: `[..., states]` to `[..., steps]`.

        -1 for a step that goes to a point.
        """
        tail, head = maps[..., self.tails], maps[..., self.heads]
        into_head, into_tail = self.step_to[head], self.step_to[tail]
        backwards = (into_tail >= 0) & (self.tails[into_tail] == head)
        return np.where(tail == head, -1, np.where(backwards, into_tail, into_head)), backwards

    def price(self, maps: Indices) -> tuple[int, int, int]:
        """Negative entries of the letters' A, entries of their B, entries of the codes."""
        negative = int(self.images(maps)[1].sum())
        return negative, int(self.depths[maps[:, self.root]].sum()), int(self.depths.sum())

    def transition(self, row: Indices) -> Transition:
        """A and B of one letter; B is the place of the root's image."""
        image, backwards = self.images(row)
        step, additive = int(self.step_to[row[self.root]]), []
        while step >= 0:
            additive.append((step, 0, 1))
            step = int(self.step_to[self.tails[step]])
        return Transition(
            factors=partial_signed_factors(image.tolist(), backwards.tolist()), additive=tuple(additive[::-1])
        )


def partial_signed_factors(image: Sequence[int], negative: Sequence[bool]) -> tuple[GHFactor, ...]:
    """The matrix with e_i ↦ ±e_{image[i]}, or 0 where that is -1: rank(A - I) factors, which is least (H.rank).

    The injection falls into cycles and paths i → ... → j whose end j goes to 0: erase e_j, then close the path to
    a cycle whose signs multiply to 1, which costs as many factors as the path has points.
    """
    closed, signs = list(image), [int(minus) for minus in negative]
    came_from = {j: i for i, j in enumerate(image) if j >= 0}
    ends = [i for i, j in enumerate(image) if j < 0]
    for end in ends:
        first, sign = end, 0
        while first in came_from:
            first = came_from[first]
            sign ^= signs[first]
        closed[end], signs[end] = first, sign
    return (*(gh_factor(1, {end: 1}) for end in ends), *signed_permutation_factors(closed, signs))


def moving_or_resetting(problem: Problem, max_steps: int = MAX_STEPS) -> LRNN:
    """The cheaper of the two forms; partial injections with a sink and no resets cost no more than any tree.

    Args:
        problem: the automaton to be realised.
        max_steps: the limit of the search for a tree, see `StepTrees`.

    Raises:
        NotRealisableError: neither was found.
    """
    automaton = problem.automaton
    simple = partial_injections(automaton)
    sink = simple is not None and simple.dim < len(automaton.states)
    if simple is not None and sink and not any(t.additive for t in simple.all_heads[0].transitions):
        return simple
    found = [f for f in (simple, tree_steps(automaton, max_steps=max_steps)) if f is not None]
    if not found:
        raise NotRealisableError(
            f"{automaton.name}: own.LMI: its letters do not only move, drop or reset states, nor move them "
            "along a tree; leave `theorem` out"
        )
    return min(found, key=cost)


CONSTRUCTION = Construction(
    source="own.LMI",
    title="one layer without a group: letters that move, drop or reset states, or move along a tree",
    order=40,
    examples=("dyck1:4", "flipflop", "gridworld:5", "permreset:3"),
    refusals={"T3": "own.LMI: its letters", "tomita:3": "own.LMI: its letters"},
    build=moving_or_resetting,
    for_group_automata=False,  # permutations of the states in one layer, which G.T3 has
)
