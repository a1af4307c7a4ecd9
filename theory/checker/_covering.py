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

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, compress, count, product
from math import prod
from operator import itemgetter
from typing import Any

from ._exact import Invalid, need
from ._head import Head
from ._labels import describe_cascade
from ._layers import Wired
from ._nodes import Node, check_starts, members, read_nodes, states_below
from ._rows import Sparse

Case = tuple[int, int, int]  # layer's letter, node P before, node T after
Kind = tuple[int, int, tuple[int, ...]]  # the head that P meets, the one that T meets (-1: none), those read
Cases = dict[tuple[int, Kind], list[Case]]  # by the automaton's letter x and the heads that matter
LARGEST_LABEL = 8
MAX_TRIED = 20_000_000  # points of heads tried, over all situations of a layer


def check_covering(data: Any, decode: Any, wired: Wired, delta: list[list[int]], start: int, n: int) -> str:
    """The proof above, and the initial joint states; `Invalid` where it fails."""
    nodes = read_nodes(data, wired, n)
    states = states_below(nodes, len(wired.layers))

    bits = [[1 << after for after in row] for row in delta]

    @cache
    def image(P: int, x: int) -> int:
        """The image of P's states under x, as a bit set."""
        return sum({bits[x][q] for q in listed(P)})

    @cache
    def listed(P: int) -> list[int]:
        return list(members(states[P]))

    # for each letter x; both chains begin at node 0
    current: list[set[Case]] = [{(x, 0, 0)} for x in range(len(delta))]
    count = 0
    for i, heads in enumerate(wired.layers):
        moves = [point_moves(head, table) for head, table in zip(heads, wired.images[i], strict=True)]
        count += sum(map(len, current))
        cases = cases_by_kind(i, wired, nodes, current)
        check_idle(i, heads, cases)
        check_moves(i, heads, moves, nodes, states, image, cases)
        current = below(i, wired, moves, nodes, cases, len(delta))
    # below the last layer every node is a state, since children lie below their parents
    for x, row in enumerate(delta):
        for said, P, T in current[x]:
            right = row[nodes[P][1]]
            need(nodes[T][1] == right, f"letter {x} takes state {nodes[P][1]} to {nodes[T][1]}, not {right}")
            need(said == right, f"letter {x} in state {nodes[P][1]}: the read-out says {said}, not {right}")
    check_starts(decode, wired, nodes, states, start, n)
    components = sum(len(heads) for heads in wired.layers)
    return describe_cascade(len(wired.layers), components, count)


def cases_by_kind(i: int, wired: Wired, nodes: list[Node], current: list[set[Case]]) -> Cases:
    """The situations of a layer, those together that have one letter x and depend on the same heads."""
    met_by = [h if layer == i else -1 for layer, h, _ in nodes]
    reads = list(map(tuple, wired.reads[i]))
    kinds: Cases = {}
    for x, cases in enumerate(current):
        for case in cases:
            letter, P, T = case
            kinds.setdefault((x, (met_by[P], met_by[T], reads[letter])), []).append(case)
    return kinds


def below(
    i: int, wired: Wired, moves: list[list[list[int]]], nodes: list[Node], kinds: Cases, letters: int
) -> list[set[Case]]:
    """For each letter x all situations on the next layer, each once."""
    heads, rows = wired.layers[i], wired.next[i]
    # where a chain goes on from each node: from one that is not on this layer, to itself
    ways = [children if layer == i else [P] for P, (layer, _, children) in enumerate(nodes)]
    # below node T, by its number and the transition: where the chain after goes from each old point
    landings: dict[tuple[int, int], list[int]] = {}
    made: dict[Kind, Choices] = {}
    found: list[set[Case]] = [set() for _ in range(letters)]
    tried = 0
    for (x, kind), cases in kinds.items():
        met, entered, _ = kind
        if kind not in made:
            made[kind] = Choices(i, heads, kind, MAX_TRIED - tried)
        choices = made[kind]
        tried += choices.count * len(cases)
        need(tried <= MAX_TRIED, f"layers[{i}]: more than {MAX_TRIED:,} points to try")
        following: list[Any] = list(each([rows[letter] for letter, _, _ in cases], choices.columns))
        if None in following:
            k, c = divmod(following.index(None), choices.count)
            raise Invalid(f"layers[{i}].next[{cases[k][0]}][{choices.columns[c]}]: it is null, but it occurs")
        # the chain before goes on by the old point
        old = each([ways[P] for _, P, _ in cases], choices.points[met])
        after = [ways[T] for _, _, T in cases]
        if entered >= 0:
            # the chain after goes on by the point that the letter makes of the old one
            taken = [(T, heads[entered].actions[letter]) for letter, _, T in cases]
            for T, transition in {*taken} - landings.keys():
                landings[T, transition] = [ways[T][p] for p in moves[entered][transition]]
            after = [landings[pair] for pair in taken]
        found[x].update(zip(following, old, each(after, choices.points[entered]), strict=True))
    return found


def each(rows: list[list[int]], places: list[int]) -> Iterator[int]:
    """The entries at these places of each row, one row after another."""
    if len(places) == 1:
        return map(itemgetter(places[0]), rows)
    return chain.from_iterable(map(itemgetter(*places), rows))


class Choices:
    """All choices of points of the heads that matter to situations of a kind: the point of each head, and the column that is read."""

    def __init__(self, i: int, heads: list[Head], kind: Kind, most: int) -> None:
        met, entered, read = kind
        matter = sorted({met, entered, *read} - {-1})
        sizes = [heads[h].points for h in matter]
        self.count = prod(sizes)
        need(self.count <= most, f"layers[{i}]: more than {MAX_TRIED:,} points to try")
        columns = zip(*product(*map(range, sizes)), strict=True)
        self.points = {h: list(points) for h, points in zip(matter, columns, strict=True)}
        # where no head is met there is one way on
        self.points[-1] = [0] * self.count
        # mixed radix as in `Wired.column`: the first head read counts most
        self.columns = self.points[-1]
        for h in read:
            self.columns = [
                c * heads[h].points + p for c, p in zip(self.columns, self.points[h], strict=True)
            ]


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
        taken, codes = {head.vectors[p] for p in written}, codes_in_order()
        for p in range(n):
            if p not in written:
                # what has been passed over is taken, and a free code goes to one point alone
                free = next(code for code in codes if code not in taken)
                need(head.vectors[p] == free, f"{head.where}.codes[{p}]: not the first that is free")
    return moves


def codes_in_order() -> Iterator[Sparse]:
    """0, e_0, 2e_0, ..., 8e_0, e_1, ..."""
    yield ()
    for row in count():
        yield from (((row, 0, value),) for value in range(1, LARGEST_LABEL + 1))


def check_idle(i: int, heads: list[Head], kinds: Cases) -> None:
    """Heads that the chain after a letter does not enter must keep their state: what they did would be idle."""
    # the layer's letters, by the head that T meets
    letters: dict[int, set[int]] = {}
    for (_, (_, entered, _)), cases in kinds.items():
        letters.setdefault(entered, set()).update(letter for letter, _, _ in cases)
    for h, head in enumerate(heads):
        # all but the identity, which has no factors, adds nothing and has gate 1
        acts = [
            bool(t["factors"] or t["additive"] or t["gate"] != 1 or "matrix" in t) for t in head.transitions
        ]
        acting = set(compress(range(len(head.actions)), map(acts.__getitem__, head.actions)))
        for entered, met in letters.items():
            if entered != h and not acting.isdisjoint(met):
                wrong = min(acting & met)
                raise Invalid(f"layers[{i}].heads[{h}].actions[{wrong}]: it must be the identity")


def check_moves(
    i: int,
    heads: list[Head],
    moves: list[list[list[int]]],
    nodes: list[Node],
    states: list[int],
    image: Callable[[int, int], int],
    kinds: Cases,
) -> None:
    """A letter that maps P's states onto T's permutes the head that T meets, any other resets it.

    A reset leads to the first child of T that holds the image of P's states: where children overlap, others would
    do as well.
    """
    # for each head and transition the points that it leads to
    points = [[set(move) for move in table] for table in moves]
    firsts: dict[tuple[int, int], int] = {}
    for (x, (_, h, _)), cases in kinds.items():
        if h < 0:
            continue
        actions = heads[h].actions
        # a letter for each transition of the head, image of P's states, and T
        told = {(actions[letter], image(P, x), T): letter for letter, P, T in cases}
        for (transition, after, T), letter in told.items():
            reached = points[h][transition]
            # T's states are all reached, so the points below T are exchanged
            if after == states[T]:
                if len(reached) < heads[h].points:
                    raise Invalid(f"layers[{i}].heads[{h}].actions[{letter}]: it must be a permutation")
                continue
            if (T, after) not in firsts:
                # the first child whose states include the image
                firsts[T, after] = next(
                    (p for p, child in enumerate(nodes[T][2]) if not after & ~states[child]), -1
                )
            first = firsts[T, after]
            if len(reached) > 1 or first not in reached:
                raise Invalid(
                    f"layers[{i}].heads[{h}].actions[{letter}]: it must be the reset to point {first}"
                )
