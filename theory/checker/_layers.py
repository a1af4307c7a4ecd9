"""Several layers of a certificate: heads, read-outs to the next layer's letter, and all joint codes followed.

A layer's letter leads each head by one of its transitions. The next layer's letter (below the last layer: the
automaton's state) depends on the letter and on the points of the heads that it reads, given as a table by their
points *before* the token. It is a read-out of the new codes all the same, as it has to be: under each letter the
new codes of the heads that are read tell their points before, or at least the next letter.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from ._budget import Budget
from ._exact import array, integer, need, record, sign
from ._head import Head, canonical, decode_rows

Situation = tuple[int, ...]


class Wired:
    """The layers, read and checked for form; the codes of each head are proved closed under its transitions."""

    def __init__(
        self, data: list[Any], letters: int, states: int, budget: Budget, cascade: bool = False
    ) -> None:
        self.cascade = cascade  # in a cascade each head that is read tells its point before
        self.layers: list[list[Head]] = []
        self.images: list[list[list[list[int]]]] = []  # layer, head, transition: the code after each code
        self.reads: list[list[list[int]]] = []  # layer, letter: the heads read
        self.next: list[list[list[Any]]] = []  # layer, letter: the next letter by their points
        for i, layer in enumerate(data):
            where = f"layers[{i}]"
            record(layer, {"heads", "reads", "next"}, where)
            need(array(layer["heads"], f"{where}.heads"), f"{where}.heads: empty")
            heads = [
                Head(h, letters, f"{where}.heads[{j}]", True, budget) for j, h in enumerate(layer["heads"])
            ]
            images = [head.images() for head in heads]
            self.layers.append(heads)
            self.images.append(images)
            self.reads.append(array(layer["reads"], f"{where}.reads", letters))
            self.next.append(array(layer["next"], f"{where}.next", letters))
            # for each head and transition: whether its new code tells the old point
            before = [
                [tells_point(image, head.points) for image in table]
                for head, table in zip(heads, images, strict=True)
            ]
            for x, (read, row) in enumerate(zip(self.reads[i], self.next[i], strict=True)):
                self.check_read(read, row, i, x, before)
            # below the last layer stands the automaton's state;
            # between layers letters are numbered as they appear
            targets = [y for row in self.next[i] for y in row if y is not None]
            if i == len(data) - 1:
                for y in targets:
                    integer(y, 0, states - 1, f"{where}.next")
            else:
                letters = canonical(targets, f"{where}.next")

    def check_read(self, read: Any, row: Any, i: int, x: int, before: list[list[bool]]) -> None:
        """One letter's read-out: heads in order, each of which tells its point before and matters."""
        where, heads = f"layers[{i}].reads[{x}]", self.layers[i]
        last = -1
        for h in array(read, where):
            # heads in ascending order, each once
            last = integer(h, last + 1, len(heads) - 1, where)
        sizes = [heads[h].points for h in read]
        size = 1
        for s in sizes:
            size *= s
        for y in array(row, f"layers[{i}].next[{x}]", size):
            need(y is None or type(y) is int, f"layers[{i}].next[{x}]: neither an integer nor null")
        silent = [h for h in read if not before[h][heads[h].actions[x]]]
        need(
            not silent or (not self.cascade and self.is_told(read, row, i, x, sizes)),
            f"{where}: head {silent[0] if silent else 0}'s new code does not tell the point before",
        )
        stride = size
        for s in sizes:
            stride //= s
            # entries of the row that differ in this head's point alone, others held fixed
            kinds = [
                {y for y in row[block + r : block + s * stride : stride] if y is not None}
                for block in range(0, size, s * stride)
                for r in range(stride)
            ]
            need(any(len(kind) > 1 for kind in kinds), f"{where}: a head is read in vain")

    def is_told(self, read: list[int], row: list[Any], i: int, x: int, sizes: list[int]) -> bool:
        """Whether points before that lead to the same new codes of all heads that are read have the same next letter."""
        moves = [self.images[i][h][self.layers[i][h].actions[x]] for h in read]
        told: dict[tuple[int, ...], int] = {}
        # the columns in their order, the last head varying fastest; without pairs points are codes
        for points, y in zip(product(*(range(size) for size in sizes)), row, strict=True):
            if y is not None:
                after = tuple(move[p] for move, p in zip(moves, points, strict=True))
                if told.setdefault(after, y) != y:
                    return False
        return True

    def column(self, i: int, x: int, points: list[int]) -> int:
        """Where a letter's row has the next letter, from the points before of all heads of the layer."""
        # mixed radix, the first head read counting most
        column = 0
        for h in self.reads[i][x]:
            column = column * self.layers[i][h].points + points[h]
        return column


def tells_point(image: list[int], points: int) -> bool:
    """Does the new code tell the point before? Codes are one a point, or pairs in which the point is the first."""
    # codes a point: 1, or as many as points where codes are pairs
    share = len(image) // points
    seen: dict[int, int] = {}
    return all(seen.setdefault(after, c // share) == c // share for c, after in enumerate(image))


def check_joint(data: Any, wired: Wired, delta: list[list[int]], start: int, n: int) -> str:
    """All joint codes from the initial one, breadth first; each lies over one state, and the last read-out says so.

    Every entry of a read-out occurs, and every state and code is reached.
    """
    heads = [head for layer in wired.layers for head in layer]
    need(not any(head.pairs for head in heads), "pairs belong to a cascade, which has a covering")
    rows = decode_rows(data, heads, start, n)
    first = tuple(rows[0][1:])
    # H and -H do equally well, so seeds start with a positive number
    parts = [head.codes[c] for head, c in zip(heads, first, strict=True) if head.codes[c]]
    need(all(sign(part[0][2]) > 0 for part in parts), "decode[0]: it starts negative")
    seen: dict[Situation, int] = {first: start}
    order: list[Situation] = [first]
    occurs: set[tuple[int, int, int]] = set()
    # breadth first: all codes before `done` have had all letters, and their images are in `seen`
    for done, code in enumerate(order):
        need(done < len(rows), "decode: a code is missing")
        state = seen[code]
        need(rows[done] == [state, *code], f"decode[{done}]: the code reached here is {[state, *code]}")
        for x, row in enumerate(delta):
            # one step of all layers; the last read-out must name the state after x
            after, said = joint_step(wired, code, x, occurs)
            need(
                said == row[state],
                f"letter {x} at decode[{done}]: the read-out says {said}, not {row[state]}",
            )
            if after not in seen:
                seen[after] = row[state]
                order.append(after)
            need(seen[after] == row[state], f"letter {x} takes decode[{done}] over state {seen[after]}")
    need(len(order) == len(rows), "decode: a code is never reached")
    need({row[0] for row in rows} == set(range(n)), "decode: a state has no code")
    images = [image for layer in wired.images for image in layer]
    for h, (head, image) in enumerate(zip(heads, images, strict=True)):
        reached = canonical([row[h + 1] for row in rows], f"decode, head {h}")
        # after the codes that rows name come those that the head alone would reach, in the order in which it does
        for c in range(len(head.codes)):
            need(c < reached, f"{head.where}: a code is never reached")
            for move in image:
                need(move[c] <= reached, f"{head.where}: codes are not numbered as they are reached")
                reached = max(reached, move[c] + 1)
    # an entry of a read-out that no situation uses would prove nothing
    for i, table in enumerate(wired.next):
        for x, targets in enumerate(table):
            for c, y in enumerate(targets):
                need(
                    ((i, x, c) in occurs) == (y is not None),
                    f"layers[{i}].next[{x}][{c}]: null if it never occurs",
                )
    return f"{len(wired.layers)} layers, {len(rows)} joint codes"


def joint_step(
    wired: Wired, code: Situation, x: int, occurs: set[tuple[int, int, int]]
) -> tuple[Situation, Any]:
    """The joint code after a letter, and the state that the last read-out names."""
    after: list[int] = []
    for i, heads in enumerate(wired.layers):
        # this layer's part of the joint code; without pairs codes are points
        codes = code[len(after) : len(after) + len(heads)]
        column = wired.column(i, x, list(codes))
        occurs.add((i, x, column))
        for h, c in enumerate(codes):
            after.append(wired.images[i][h][heads[h].actions[x]][c])
        following = wired.next[i][x][column]
        need(following is not None, f"layers[{i}].next[{x}][{column}]: it is null, but it occurs")
        x = following
    return tuple(after), x
