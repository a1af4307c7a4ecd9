"""Cascades in a certificate: every joint state stands for an automaton's state, and every letter keeps it so.

The joint states are all combinations of the heads' points, far too many to list. A covering says what they stand
for: from node 0 a chain goes down the layers, at a node of a head to the child of that head's point, and ends at a
state. Proof that a letter x takes each joint state over q to one over δ(q, x): follow from the top, layer by layer,
all situations (layer letter, node P of the chain before, node T of the chain after). Points of one layer do not
depend on those above, so at each layer all points of the heads that P, T and the read-out meet are tried: P goes on
by the old point, T by the new one, and the letter by the table. Below the last layer P is a state, T must be δ(P, x),
and so must be what the last read-out names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product, repeat
from math import prod
from typing import Any

from ._exact import Invalid, array, integer, need
from ._head import Head, Sparse
from ._labels import canonical, describe_cascade
from ._layers import Wired

Node = tuple[int, int, list[int]]  # layer, head, children; a state q is (number of layers, q, [])
Case = tuple[int, int, int, int]  # layer's letter, node P before, automaton's letter x, node T after
LARGEST_LABEL = 8
MAX_TRIED = 20_000_000  # points of heads tried, over all situations of a layer


def check_covering(data: Any, decode: Any, wired: Wired, delta: list[list[int]], start: int, n: int) -> str:
    """The proof above, and the initial joint states; `Invalid` where it fails."""
    nodes = read_nodes(data, wired, n)
    states = states_below(nodes, len(wired.layers))
    moves = [
        [point_moves(head, table) for head, table in zip(heads, images, strict=True)]
        for heads, images in zip(wired.layers, wired.images, strict=True)
    ]
    # both chains begin at node 0
    current = [(x, 0, x, 0) for x in range(len(delta))]
    count = 0
    for i, heads in enumerate(wired.layers):
        count += len(current)
        # T may skip this layer: -1 stands for no head
        entered = {(letter, nodes[T][1] if nodes[T][0] == i else -1) for letter, _, _, T in current}
        check_idle(i, heads, entered)
        check_moves(i, heads, moves[i], nodes, states, delta, current)
        current = below(i, wired, moves[i], nodes, current)
    # below the last layer every node is a state, since children lie below their parents
    for said, P, x, T in current:
        right = delta[x][nodes[P][1]]
        need(nodes[T][1] == right, f"letter {x} takes state {nodes[P][1]} to {nodes[T][1]}, not {right}")
        need(said == right, f"letter {x} in state {nodes[P][1]}: the read-out says {said}, not {right}")
    check_starts(decode, wired, nodes, states, start, n)
    components = sum(len(heads) for heads in wired.layers)
    return describe_cascade(len(wired.layers), components, count)


def below(
    i: int,
    wired: Wired,
    moves: list[list[list[int]]],
    nodes: list[Node],
    current: list[Case],
) -> list[Case]:
    """All situations on the next layer, each once."""
    heads, reads, rows = wired.layers[i], wired.reads[i], wired.next[i]
    # (P, x, T) by the letter that comes with it, which as a rule is one; further ones of a letter in `more`
    one: dict[int, tuple[int, int, int]] = {}
    more: set[Case] = set()
    # the head of this layer that each node meets, -1 for none
    met_by = [h if layer == i else -1 for layer, h, _ in nodes]
    children = [node[2] for node in nodes]
    # for the heads that matter and those of them that are read: see `Choices`
    made: dict[tuple[int, ...], Choices] = {}
    # below node T, by its number and the transition: where the chain after goes from each old point
    landings: dict[tuple[int, int], list[int]] = {}
    tried = 0
    for letter, P, x, T in current:
        met, entered, following = met_by[P], met_by[T], rows[letter]
        # the next situation depends on these heads alone
        key = (met, entered, *reads[letter])
        choices = made.get(key)
        if choices is None:
            choices = made[key] = Choices(i, heads, key, MAX_TRIED - tried)
        tried += choices.count
        # the chain before goes on by the old point, the chain after by the point that the letter makes of it
        old: Iterable[int] = children[P] if met >= 0 else repeat(P)
        new: Iterable[int] = repeat(T)
        if entered >= 0:
            transition = heads[entered].actions[letter]
            new = landings.get((T, transition), ())
            if not new:
                new = landings[T, transition] = [children[T][p] for p in moves[entered][transition]]
        if not choices.in_order:
            following = [following[c] for c in choices.columns]
            old = [children[P][p] for p in choices.points[met]] if met >= 0 else old
            new = [landings[T, transition][p] for p in choices.points[entered]] if entered >= 0 else new
        chains = list(zip(old, repeat(x, len(following)), new))  # noqa: B905 (what is repeated may have no end)
        if list(map(one.get, following)) == chains:
            continue
        for c, (y, chain) in enumerate(zip(following, chains, strict=True)):
            if y is None:
                raise Invalid(f"layers[{i}].next[{letter}][{choices.columns[c]}]: it is null, but it occurs")
            if one.setdefault(y, chain) != chain:
                more.add((y, *chain))
    need(tried <= MAX_TRIED, f"layers[{i}]: more than {MAX_TRIED:,} points to try")
    return [*((y, *chain) for y, chain in one.items()), *more]


class Choices:
    """All choices of points of the heads that matter to a situation: of each head its point, and the column that is read.

    `key`: the head that the chain before meets and the one that the chain after meets, -1 for none, then the heads read.
    """

    def __init__(self, i: int, heads: list[Head], key: tuple[int, ...], most: int) -> None:
        matter = sorted({*key} - {-1})
        sizes = [heads[h].points for h in matter]
        self.count = prod(sizes)
        need(self.count <= most, f"layers[{i}]: more than {MAX_TRIED:,} points to try")
        choices = list(product(*map(range, sizes)))
        self.points = dict(zip(matter, zip(*choices, strict=True), strict=True))
        # mixed radix as in `Wired.column`: the first head read counts most
        self.columns = [0] * self.count
        for h in key[2:]:
            self.columns = [
                c * heads[h].points + p for c, p in zip(self.columns, self.points[h], strict=True)
            ]
        # a single head that is read: then points and columns are 0, 1, 2, ...
        self.in_order = len(matter) == 1 and len(key) == 3


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


def point_moves(head: Head, images: list[list[int]]) -> list[list[int]]:
    """For each transition the point after each point; pairs (u, v) go to (σ(u), v) or to (c, u), and only so.

    A point that no transition leads to from another has a code that nothing would fix: it must be the first that
    is free among 0, e_0, 2e_0, ..., 8e_0, e_1, ..., unless all points are one-hot.
    """
    n = head.points
    moves = images
    # the code of (u, v) is u·n + v: the first point of the image of (u, 0)
    if head.pairs:
        moves = [[image[u * n] // n for u in range(n)] for image in images]
        for t, (image, move) in enumerate(zip(images, moves, strict=True)):
            kept = len(set(move)) == n
            right = [move[u] * n + (v if kept else u) for u in range(n) for v in range(n)]
            need(
                image == right and (kept or len(set(move)) == 1),
                f"{head.where}.transitions[{t}]: pairs (u, v) must go to (σ(u), v) or to (c, u)",
            )
    # points that some transition leads to from another one: their codes are fixed by it
    written = {after for move in moves for p, after in enumerate(move) if p != after}
    if any(code != ((p, 0, 1),) for p, code in enumerate(head.vectors)):
        taken = {head.vectors[p] for p in written}
        for p in range(n):
            if p not in written:
                need(
                    head.vectors[p] == first_free(taken),
                    f"{head.where}.codes[{p}]: not the first that is free",
                )
                taken.add(head.vectors[p])
    return moves


def first_free(taken: set[Sparse]) -> Sparse:
    """The first of 0, e_0, 2e_0, ..., 8e_0, e_1, ... that is not taken."""
    k = 0
    while True:
        # 0 first, then 8 multiples of each e_row
        row, value = divmod(k - 1, LARGEST_LABEL) if k else (0, -1)
        code: Sparse = ((row, 0, value + 1),) if k else ()
        if code not in taken:
            return code
        k += 1


def check_idle(i: int, heads: list[Head], entered: set[tuple[int, int]]) -> None:
    """Heads that the chain after a letter does not enter must keep their state: what they did would be idle."""
    for h, head in enumerate(heads):
        # the identity: no factors, nothing added, gate 1
        keeps = [
            not t["factors"] and not t["additive"] and t["gate"] == 1 and "matrix" not in t
            for t in head.transitions
        ]
        for letter, met in entered:
            if met != h and not keeps[head.actions[letter]]:
                raise Invalid(f"layers[{i}].heads[{h}].actions[{letter}]: it must be the identity")


def check_moves(
    i: int,
    heads: list[Head],
    moves: list[list[list[int]]],
    nodes: list[Node],
    states: list[int],
    delta: list[list[int]],
    current: list[Case],
) -> None:
    """A letter that maps P's states onto T's permutes the head that T meets, any other resets it.

    A reset leads to the first child of T that holds the image of P's states: where children overlap, others would
    do as well.
    """
    # for each head and transition: whether it is a permutation, and the one point that it leads to, -2 for several
    permutes = [[len(set(move)) == len(move) for move in table] for table in moves]
    target = [[move[0] if len(set(move)) == 1 else -2 for move in table] for table in moves]
    images: dict[tuple[int, int], int] = {}
    firsts: dict[tuple[int, int], int] = {}
    for letter, P, x, T in current:
        layer, h, children = nodes[T]
        if layer != i:
            continue
        image = images.get((P, x))
        if image is None:
            # the image of P's states under x, as a bit set
            image, row = 0, delta[x]
            for q in members(states[P]):
                image |= 1 << row[q]
            images[P, x] = image
        transition = heads[h].actions[letter]
        # T's states are all reached, so the points below T are exchanged
        if image == states[T]:
            if not permutes[h][transition]:
                raise Invalid(f"layers[{i}].heads[{h}].actions[{letter}]: it must be a permutation")
            continue
        first = firsts.get((T, image))
        if first is None:
            # the first child whose states include the image
            first = next((p for p, child in enumerate(children) if not image & ~states[child]), -1)
            firsts[T, image] = first
        if target[h][transition] != first:
            raise Invalid(f"layers[{i}].heads[{h}].actions[{letter}]: it must be the reset to point {first}")


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
