"""The nodes of a covering: read in their order, the states below each, and where the automaton's states begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._exact import array, integer, need
from ._labels import canonical
from ._layers import Wired

Node = tuple[int, int, list[int]]  # layer, head, children; a state q is (number of layers, q, [])


def read_nodes(data: Any, wired: Wired, n: int) -> list[Node]:
    """The nodes, numbered as they are first met from the top, each head and each state met."""
    depth = len(wired.layers)
    nodes: list[Node] = []
    for i, item in enumerate(array(data, "covering")):
        where = f"covering[{i}]"
        if len(array(item, where)) == 1:
            nodes.append((depth, integer(item[0], 0, n - 1, where), []))
            continue
        layer, h, children = array(item, where, 3)
        integer(layer, 0, depth - 1, where), integer(h, 0, len(wired.layers[layer]) - 1, where)
        nodes.append((layer, h, array(children, where, wired.layers[layer][h].points)))
    # node 0 first, then children in the order of their parents
    order = [0, *(child for _, _, children in nodes for child in children)]
    need(canonical(order, "covering") == len(nodes), "covering: a node is never met")
    for i, (layer, _, children) in enumerate(nodes):
        # so chains go down and end
        need(all(nodes[c][0] > layer for c in children), f"covering[{i}]: a child is not below it")
    need(len({(a, b, *c) for a, b, c in nodes}) == len(nodes), "covering: two nodes are equal")
    met = {(layer, h) for layer, h, _ in nodes}
    heads = {(i, h) for i, layer in enumerate(wired.layers) for h in range(len(layer))}
    need(met == heads | {(depth, q) for q in range(n)}, "covering: a head or a state is never met")
    return nodes


def members(states: int) -> Iterator[int]:
    """The states of a bit set."""
    while states:
        least = states & -states
        yield least.bit_length() - 1
        states ^= least


def states_below(nodes: list[Node], depth: int) -> list[int]:
    """For each node the states at the ends of its chains, as bit sets."""
    states = [0] * len(nodes)
    # children first, since they lie on lower layers
    for i in sorted(range(len(nodes)), key=lambda i: -nodes[i][0]):
        layer, q, children = nodes[i]
        states[i] = 0 if layer < depth else 1 << q
        for child in children:
            states[i] |= states[child]
    return states


def check_starts(data: Any, wired: Wired, nodes: list[Node], states: list[int], start: int, n: int) -> None:
    """One joint code for each state, the start's first: the least one over it, layer by layer and head by head."""
    order = [start, *(q for q in range(n) if q != start)]
    for r, (q, row) in enumerate(zip(order, array(data, "decode", n), strict=True)):
        points = [[0] * len(heads) for heads in wired.layers]
        current = 0
        # down from node 0, at each head to its first point whose child still has q below it
        while nodes[current][0] < len(wired.layers):
            layer, h, children = nodes[current]
            points[layer][h] = next(p for p, child in enumerate(children) if states[child] >> q & 1)
            current = children[points[layer][h]]
        # a head of pairs begins at (p, p)
        codes = [
            p * head.points + p if head.pairs else p
            for heads, of_layer in zip(wired.layers, points, strict=True)
            for head, p in zip(heads, of_layer, strict=True)
        ]
        for c in array(row, f"decode[{r}]"):
            integer(c, 0, 2**62, f"decode[{r}]")
        need(row == [q, *codes], f"decode[{r}]: the first joint code over state {q} is {codes}")
