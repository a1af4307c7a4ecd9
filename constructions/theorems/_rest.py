"""What is left of an automaton when the class of its state is known: a component that reads the letter and the class.

A partition that separates the states within classes labels each state. The component follows the label: the letter a in the
class c moves labels by a partial map, defined on the labels that occur in c. So any total map that extends it will do, and
the extensions are chosen such that the component takes one layer: permutations extend injective maps, resets constant ones,
partial injections with a sink those that merge into one label, steps along a tree those that move its edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ...foundation._errors import LimitError, NotRealisableError
from ...foundation._text import shorten_list
from .._lrnn import LRNN
from .._realisation import cost
from ..algebra._congruences import meet_partitions
from ..automata._automaton import Automaton, Indices
from ..automata._completing import object_array
from ._construction import Problem
from ._single_layer import single_layer
from .own_congruences import CongruenceSearch, follow_congruences
from .own_lmi import StepTrees

MAX_LABELS = 128
"""Most labels of a component."""
MAX_MAPS = 4_000
"""Most different maps of a component."""
MAX_TABLE = 50_000_000
"""Most entries of the table of all maps of a component: letters × classes × labels."""
MAX_SINKS = 32
"""Most labels that are tried as the one into which others are merged."""
MAX_TREES = 4
"""Most trees along which partial maps are extended."""
MAX_STEPS = 2_000
"""Most steps of the search for these trees."""
MAX_PARALLEL = 64
"""Most labels of a component for which quotients side by side are sought."""
MAX_PARALLEL_SEARCHES = 8
"""Most components for which they are sought."""
MAX_PARALLEL_CONGRUENCES = 16
"""Most congruences of such a component that are tried."""


@dataclass(frozen=True, eq=False)
class Component:
    """A component of a serial composition.

    Attributes:
        labels: its state for each state of the automaton, int array `[states]`.
        letters: its letter for each letter and state of the automaton, int array `[letters, states]`.
        made: a one-layer LRNN of the component.
        level: its layer, 1 or more: one below the lowest of the components whose states its letter depends on.
        maps: what its letters do to its states, int array `[letters of the component, labels]`.
    """

    labels: Indices
    letters: Indices
    made: LRNN
    level: int
    maps: Indices

    @property
    def size(self) -> int:
        """The number of its states."""
        return int(self.maps.shape[1])


class Components:
    """The search for components of an automaton, which remembers the one-layer LRNNs that it has found.

    Args:
        problem: the automaton and limits.
        exactness: `any`, or `integer` for integers only.
    """

    def __init__(self, problem: Problem, exactness: str) -> None:
        self.problem = problem
        self.exactness = exactness
        self.parallel_searches = 0
        self.work = 0
        self._made: dict[tuple[bytes, int, int], LRNN | None] = {}

    def quotient(self, congruence: Indices) -> Component | None:
        """The quotient by a congruence, which reads the letter alone, in the first layer; None where it has no layer.

        Args:
            congruence: int array `[states]`.
        """
        automaton = self.problem.automaton
        if int(congruence.max()) >= MAX_LABELS:
            return None
        first = np.unique(congruence, return_index=True)[1]
        maps = congruence[automaton.transitions[:, first]]
        self.work += maps.size * maps.shape[1]
        if self.work > self.problem.limits.components:
            return None
        made = self._in_one_layer(maps, int(congruence[automaton.start]), sides=False)
        if made is None:
            return None
        letters = np.repeat(np.arange(len(automaton.letters))[:, None], len(congruence), axis=1)
        return Component(congruence, letters, made, 1, maps)

    def rest(self, labels: Indices, above: Sequence[Component]) -> Component | None:
        """The component that follows labels, below others; None where no extension of its maps was found that takes one layer.

        Args:
            labels: int array `[states]`; with the states of the components above they have to determine the labels after each
                letter.
            above: the components whose states may be read.
        """
        transitions = self.problem.automaton.transitions
        if int(labels.max()) >= MAX_LABELS:
            return None
        kept = list(above)
        for component in reversed(above):
            fewer = [c for c in kept if c is not component]
            if partial_maps(transitions, labels, _keys(fewer, len(labels))) is not None:
                kept = fewer
        found = partial_maps(transitions, labels, _keys(kept, len(labels)))
        if found is None or len(found[0]) > MAX_MAPS:
            return None
        partial, letters = found
        self.work += partial.size * partial.shape[1]
        if self.work > self.problem.limits.components:
            return None
        start = int(labels[self.problem.automaton.start])
        offers = [
            (made, total)
            for total in extensions(partial)
            if (made := self._in_one_layer(total, start, sides=True)) is not None
        ]
        if not offers:
            return None
        made, total = min(offers, key=lambda offer: (offer[0].work or 0, cost(offer[0])))
        return Component(labels, letters, made, 1 + max((c.level for c in kept), default=0), total)

    def _in_one_layer(self, maps: Indices, start: int, sides: bool) -> LRNN | None:
        """The one-layer LRNN of maps `[letters, states]`; `sides`: its quotients side by side may be one."""
        key = (maps.tobytes(), len(maps), start)
        if key not in self._made:
            self._made[key] = self._realise(maps, start, sides)
        return self._made[key]

    def _realise(self, maps: Indices, start: int, sides: bool) -> LRNN | None:
        size = maps.shape[1]
        if size < 2:
            return None
        automaton = Automaton(
            tuple(range(size)), tuple(range(len(maps))), maps, start, object_array(range(size)),
            f"{self.problem.automaton.name}, {size} states",
        )  # fmt: skip
        problem = Problem(automaton, self.problem.limits, self.problem.coordinates)
        if len(automaton.reachable()) < size:
            return None
        made = single_layer(problem, self.exactness, one_column=True)
        if made is None and sides and size <= MAX_PARALLEL and self.parallel_searches < MAX_PARALLEL_SEARCHES:
            with suppress(NotRealisableError, LimitError):
                few = replace(
                    problem.limits, congruences=min(MAX_PARALLEL_CONGRUENCES, problem.limits.congruences)
                )
                search = CongruenceSearch(Problem(automaton, few, problem.coordinates), self.exactness)
                self.parallel_searches += 1
                made = follow_congruences(search, search.choose())
        return made


def _keys(components: Sequence[Component], states: int) -> Indices:
    keys = np.zeros(states, dtype=np.int64)
    for component in components:
        keys = meet_partitions(keys, component.labels)
    return keys


def partial_maps(transitions: Indices, labels: Indices, keys: Indices) -> tuple[Indices, Indices] | None:
    """What each letter does to the labels of the states with each key, or None where it is no map.

    Args:
        transitions: int array `[letters, states]`.
        labels: int array `[states]`.
        keys: int array `[states]`.

    Returns:
        The different partial maps, `[maps, labels]` with -1 for labels that do not occur, and for each letter and state the number of
        its map, `[letters, states]`.
    """
    letters = len(transitions)
    count, size = int(keys.max()) + 1, int(labels.max()) + 1
    if letters * count * size > MAX_TABLE:
        return None
    table = np.full((letters, count, size), -1, dtype=np.int64)
    after = labels[transitions]
    table[:, keys, labels] = after
    if (table[:, keys, labels] != after).any():
        return None
    flat = table.reshape(-1, size)
    _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    numbers = place[inverse.reshape(-1)].reshape(letters, count)
    return flat[first[order]], numbers[:, keys]


def extensions(partial: Indices) -> Iterator[Indices]:
    """Total maps that extend partial ones `[maps, labels]`, in several ways; each once.

    Args:
        partial: int array `[maps, labels]`, -1 where a map is not defined.
    """
    seen: set[bytes] = set()
    for total in _extensions(partial):
        if total is not None and total.tobytes() not in seen:
            seen.add(total.tobytes())
            yield total


def _extensions(partial: Indices) -> Iterator[Indices | None]:
    if (partial >= 0).all():
        yield partial
        return
    rows = partial.tolist()
    yield _all([_permute_or_reset(row, reset_points=False) for row in rows])
    yield _all([_permute_or_reset(row, reset_points=True) for row in rows])
    size = partial.shape[1]
    merged = {sink for row in rows for sink in _merged_labels(row)}
    for sink in sorted(merged)[:MAX_SINKS] if merged else ():
        yield _all([_inject_or_reset(row, sink) for row in rows])
    whole = partial[(partial >= 0).all(axis=1)]
    trees = [tuple(u * size + u + 1 for u in range(size - 1))]
    if len(whole):
        trees += islice(StepTrees(whole, MAX_STEPS).trees(), MAX_TREES)
    for edges in dict.fromkeys(trees):
        yield _all(_along_tree(rows, edges, size))


def _all(rows: Sequence[Sequence[int] | None]) -> Indices | None:
    found = [row for row in rows if row is not None]
    return np.array(found, dtype=np.int64) if len(found) == len(rows) else None


def _merged_labels(row: Sequence[int]) -> set[int]:
    defined = [image for image in row if image >= 0]
    return {image for image in defined if defined.count(image) > 1} if len(set(defined)) > 1 else set()


def _permute_or_reset(row: Sequence[int], reset_points: bool) -> list[int] | None:
    """A permutation, or the reset to the only image; `reset_points`: a map of one label is a reset, unless it fixes it."""
    images = [image for image in row if image >= 0]
    constant = len(set(images)) == 1
    moves = any(image not in (-1, label) for label, image in enumerate(row))
    if constant and (len(images) > 1 or (reset_points and moves)):
        return [images[0]] * len(row)
    return close_paths(row) if len(set(images)) == len(images) else None


def close_paths(row: Sequence[int]) -> list[int]:
    """The injective partial map as a permutation: the end of each path goes to its first label."""
    came_from = {image: label for label, image in enumerate(row) if image >= 0}
    closed = list(row)
    for label, image in enumerate(row):
        if image < 0:
            first = label
            while first in came_from:
                first = came_from[first]
            closed[label] = first
    return closed


def _inject_or_reset(row: Sequence[int], sink: int) -> list[int] | None:
    """A map that merges labels into the sink alone and fixes it, or the reset to the only image."""
    images = [image for image in row if image >= 0]
    if len(images) > 1 and len(set(images)) == 1 and images[0] != sink:
        return [images[0]] * len(row)
    moved = [image for image in images if image != sink]
    if len(set(moved)) < len(moved) or row[sink] not in (-1, sink):
        return None
    # of the labels other than the sink: those that go there end a path, those without an image close one
    came_from = {image: label for label, image in enumerate(row) if image not in (-1, sink)}
    closed = list(row)
    closed[sink] = sink
    for label, image in enumerate(row):
        if image < 0 and label != sink:
            first = label
            while first in came_from:
                first = came_from[first]
            closed[label] = first
    return closed


def _along_tree(rows: Sequence[Sequence[int]], edges: Sequence[int], size: int) -> list[list[int] | None]:
    """Each map after the retraction of the tree onto the labels on which it is defined, if these are connected in it.

    Edges outside then go to points, as a step along the tree may.
    """
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for edge in edges:
        u, v = divmod(edge, size)
        neighbours[u].append(v)
        neighbours[v].append(u)
    result: list[list[int] | None] = []
    for row in rows:
        defined = [label for label, image in enumerate(row) if image >= 0]
        inside = set(defined)
        met, queue = {defined[0]}, [defined[0]]
        for label in queue:
            fresh = [other for other in neighbours[label] if other in inside and other not in met]
            met.update(fresh)
            queue += fresh
        if met != inside:
            result.append(None)
            continue
        whole = list(row)
        for label in queue:  # then outwards
            for other in neighbours[label]:
                if other not in met:
                    met.add(other)
                    queue.append(other)
                    whole[other] = whole[label]
        result.append(whole)
    return result


def sizes_by_layer(components: Sequence[Component]) -> str:
    """The numbers of states of the components, layer by layer."""
    layers = sorted({c.level for c in components})
    parts = (shorten_list(c.size for c in components if c.level == level) for level in layers)
    return shorten_list(parts, "; ")
