"""Partitions that tell the states of each class of a congruence apart; they need not be congruences.

Under a congruence with classes C, a letter a sends each class into one class, C to aC. A partition that separates within
classes numbers the states of each class with different labels; what a letter does to the label then depends on the class
too. It does nothing where it keeps the labels, so the search gives a state and its image one label, as long as no two
states of a class get the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..automata._automaton import Indices
from ._congruences import grow_congruence, join_partitions, merged_pair, number_classes
from .groups._permutations import distinct_maps

MAX_TRANSPORTS = 500
"""Most pairs of a letter and a class whose labels are carried over."""


def separates(labels: Indices, classes: Indices) -> bool:
    """Whether no two states share both their label and their class, int arrays `[states]`."""
    both = labels * (int(classes.max()) + 1) + classes
    return len(np.unique(both)) == len(both)


def separations(transitions: Indices, classes: Indices, minimal: Sequence[Indices]) -> Iterator[Indices]:
    """Partitions that separate the states within the classes of a congruence, each once.

    Args:
        transitions: int array `[letters, states]`.
        classes: the congruence, int array `[states]`.
        minimal: the minimal congruences, of which those that the congruence contains are to be avoided.
    """
    seen: set[bytes] = set()
    for labels in _candidates(transitions, classes, minimal):
        numbered = number_classes(labels)
        if numbered.tobytes() not in seen and separates(numbered, classes):
            seen.add(numbered.tobytes())
            yield numbered


def _candidates(transitions: Indices, classes: Indices, minimal: Sequence[Indices]) -> Iterator[Indices]:
    pairs = np.array([merged_pair(c) for c in minimal], dtype=np.int64).reshape(-1, 2)
    inside = pairs[classes[pairs[:, 0]] == classes[pairs[:, 1]]]
    # a congruence that contains no minimal one inside the classes meets them in single states
    if len(inside):
        yield grow_congruence(transitions, minimal, inside)
    carried = _carry_over(transitions, classes)
    yield pack_labels(carried, classes)
    yield carried
    yield rank_within(classes)


def rank_within(classes: Indices) -> Indices:
    """The number of earlier states in each state's class."""
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    ranks = np.empty(len(classes), dtype=np.int64)
    ranks[order] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return ranks


def _carry_over(transitions: Indices, classes: Indices) -> Indices:
    """Labels that as many letters as possible keep where they lead to another class, large classes first."""
    maps = distinct_maps(transitions)
    labels = np.arange(len(classes))
    members = [np.flatnonzero(classes == c) for c in range(int(classes.max()) + 1)]
    order = sorted(range(len(members)), key=lambda c: -len(members[c]))
    tried = 0
    for c in order:
        for row in maps:
            states = members[c]
            images = row[states]
            if classes[images[0]] == c or len(np.unique(images)) < len(states):
                continue
            tried += 1
            if tried > MAX_TRANSPORTS:
                return number_classes(labels)
            alike = np.arange(len(classes))
            alike[images] = states
            joined = join_partitions(labels, alike)
            if separates(joined, classes):
                labels = joined
    return number_classes(labels)


def pack_labels(labels: Indices, classes: Indices) -> Indices:
    """Fewer labels: one label for several that occur in different classes, those in most classes first."""
    blocks = [np.flatnonzero(labels == b) for b in range(int(labels.max()) + 1)]
    packed = np.empty(len(labels), dtype=np.int64)
    taken: list[set[int]] = []
    for block in sorted(blocks, key=lambda block: -len(block)):
        here = set(classes[block].tolist())
        place = next((i for i, used in enumerate(taken) if not used & here), len(taken))
        if place == len(taken):
            taken.append(set())
        taken[place] |= here
        packed[block] = place
    return packed
