"""What the letters of deeper layers are, in words; and what each layer makes of its letters.

The first layer's letters are the automaton's, named by their labels. Letter 5 of a deeper layer is named #5 and
explained by one way in which it arises, the one that needs fewest points: a letter of the automaton, and the points
at which heads of the layers above were before the token. Head 2 of layer 3 is named 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..automaton import Indices
from ..lrnn import LRNN, Head, Layer


@dataclass(frozen=True, eq=False)
class LayerLetters:
    """The letters of one layer, below the first with one way in which each arises.

    `labels`: the automaton's letters, None below the first layer. `count`: how many letters there are.
    `above`: the letters and the layer that they come from, None on the first layer. `source`: int array
    `[letters, 2]`, a letter of the layer above and a column of its `next_letter`. `ways`: int array `[letters]`,
    how many pairs of a letter above and points there are. `chained`: the way goes up to the automaton's letter.
    """

    number: int
    count: int
    labels: tuple[object, ...] | None
    above: tuple[LayerLetters, Layer] | None
    source: Indices
    ways: Indices
    chained: bool

    def name(self, letter: int) -> str:
        """The label on the first layer, `#5` below."""
        from .show import label_text

        return f"#{letter}" if self.labels is None else label_text(self.labels[letter])

    def origin(self, letter: int) -> tuple[str, str, list[tuple[str, int]]]:
        """The name of the letter that it comes from, ` of layer 2` unless that is the automaton's, heads and points."""
        if self.above is None:
            return self.name(letter), "", []
        letters, layer = self.above
        parent, column = self.source[letter].tolist()
        conditions: list[tuple[str, int]] = []
        base, where = letters.name(parent), f" of layer {letters.number}"
        if letters.above is None or self.chained:
            base, where, conditions = letters.origin(parent)
        read = heads_read(layer, parent)
        points = column_points(layer, read, column)
        own = [(f"{letters.number}.{h + 1}", p) for h, p in zip(read, points, strict=True)]
        return base, where, conditions + own

    def explanation(self, letter: int, written: Callable[[str], str] = str) -> str:
        """`letter a, head 1.1 at 0 (one of 3 ways)`, names as `written`."""
        base, where, conditions = self.origin(letter)
        others = f" (one of {self.ways[letter]} ways)" if self.ways[letter] > 1 else ""
        return (
            ", ".join([f"letter {written(base)}{where}", *(f"head {h} at {p}" for h, p in conditions)])
            + others
        )


def layer_letters(lrnn: LRNN) -> tuple[LayerLetters, ...]:
    """The letters of every layer of an LRNN of several layers."""
    automaton = lrnn.automaton
    n = len(automaton.letters)
    nothing = np.zeros((0, 2), dtype=np.int64)
    result = [LayerLetters(1, n, automaton.letters, None, nothing, np.ones(n, dtype=np.int64), True)]
    cost = np.zeros(n, dtype=np.int64)
    for number, layer in enumerate(lrnn.layers[:-1], start=2):
        assert layer.reads is not None
        assert layer.next_letter is not None
        rows, columns = np.nonzero(layer.next_letter >= 0)
        following = layer.next_letter[rows, columns]
        costs = cost[rows] + (layer.reads >= 0).sum(axis=1)[rows]
        order = np.argsort(costs, kind="stable")
        letters, first, ways = np.unique(following[order], return_index=True, return_counts=True)
        if not np.array_equal(letters, np.arange(len(letters))):
            raise ValueError(f"the letters of layer {number} are not numbered without gaps")
        chosen = order[first]
        cost = costs[chosen]
        source = np.stack([rows[chosen], columns[chosen]], axis=1)
        # without a covering the ways of two layers may exclude each other: only the last step is sure
        chained = lrnn.covering is not None
        above = (result[-1], layer)
        result.append(LayerLetters(number, len(letters), None, above, source, ways, chained))
    return tuple(result)


def heads_read(layer: Layer, letter: int) -> list[int]:
    """The heads on which the next letter depends."""
    assert layer.reads is not None
    return [h for h in layer.reads[letter].tolist() if h >= 0]


def column_points(layer: Layer, read: Sequence[int], column: int) -> tuple[int, ...]:
    """The points of the heads read, that a column of `next_letter` stands for."""
    points = []
    for h in reversed(read):
        column, point = divmod(column, layer.sizes[h])
        points.append(point)
    return tuple(reversed(points))


def read_out(layer: Layer, letter: int) -> list[tuple[tuple[int, ...], int]]:
    """The next letter (on the last layer the state) for the points of the heads read; what never occurs is left out."""
    assert layer.next_letter is not None
    read = heads_read(layer, letter)
    row = layer.next_letter[letter, : prod(layer.sizes[h] for h in read)].tolist()
    return [(column_points(layer, read, column), y) for column, y in enumerate(row) if y >= 0]


def distinct_transitions(head: Head) -> list[tuple[int, list[int]]]:
    """Each different transition once, by its index, with the layer's letters that have it."""
    place: dict[object, int] = {}
    result: list[tuple[int, list[int]]] = []
    for x, t in enumerate(head.action_of(np.arange(head.letters)).tolist()):
        k = place.setdefault(head.transitions[t], len(result))
        if k == len(result):
            result.append((t, []))
        result[k][1].append(x)
    return result


def point_map(head: Head, transition: int) -> Indices:
    """Int array `[points]`: the point to which a transition takes each point."""
    size = head.points or len(head.codes)
    starts = np.array([head.first_code(p) for p in range(size)], dtype=np.int64)
    return np.asarray(head.point_of[head.code_transitions[transition, starts]])


def map_kind(images: Indices) -> str:
    """`identity`, `permutation`, `reset` or `map`."""
    n = len(images)
    if np.array_equal(images, np.arange(n)):
        return "identity"
    if len(np.unique(images)) == n:
        return "permutation"
    return "reset" if bool((images == images[0]).all()) else "map"


def map_text(images: Indices, most: int = 30) -> str:
    """`permutation (0 1)`, `reset to 2`, `identity` or `map 0 → 1, 1 → 1`; cut after `most` points."""
    kind, row = map_kind(images), images.tolist()
    if kind == "identity":
        return "every point stays"
    if kind == "reset":
        return f"reset to {row[0]}"
    if kind == "map":
        parts = [f"{p} → {q}" for p, q in enumerate(row)]
        return "map " + ", ".join(parts[:most]) + (", ..." if len(parts) > most else "")
    seen = [False] * len(row)
    text, written = "permutation ", 0
    for first in range(len(row)):
        cycle = []
        point = first
        while not seen[point]:
            seen[point] = True
            cycle.append(point)
            point = row[point]
        if len(cycle) < 2:
            continue
        if written >= most:
            return text + "..."
        shown = cycle[: most - written]
        text += "(" + " ".join(map(str, shown)) + (" ..." if len(shown) < len(cycle) else "") + ")"
        written += len(shown)
    return text
