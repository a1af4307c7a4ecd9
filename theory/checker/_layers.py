"""Several layers of a certificate: heads, read-outs to the next layer's letter, and all joint codes followed.

A layer's letter leads each head by one of its transitions. The next layer's letter (below the last layer: the
automaton's state) depends on the letter and on the points of the heads that it reads, given as a table by their
points *before* the token. It is a read-out of the new codes all the same, as it has to be: under each letter the
new codes of the heads that are read tell their points before, or at least the next letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, product
from typing import Any

from ._budget import Budget
from ._exact import Invalid, array, integer, need, record, sign
from ._head import Head
from ._labels import canonical, count_noun

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
            self.check_reads(i, before)
            # below the last layer stands the automaton's state;
            # between layers letters are numbered as they appear
            targets = dict.fromkeys(chain.from_iterable(self.next[i]))
            targets.pop(None, None)
            if i == len(data) - 1:
                for y in targets:
                    integer(y, 0, states - 1, f"{where}.next")
            else:
                letters = canonical(list(targets), f"{where}.next")

    def check_reads(self, i: int, before: list[list[bool]]) -> None:
        """The read-out of each letter: heads in order, each of which tells its point before and matters."""
        heads, reads, rows = self.layers[i], self.reads[i], self.next[i]
        need(kinds_of(reads) <= {list}, f"layers[{i}].reads: an entry is not a list")
        need(kinds_of(rows) <= {list}, f"layers[{i}].next: an entry is not a list")
        need(kinds_of(chain.from_iterable(reads)) <= {int}, f"layers[{i}].reads: a head is not an integer")
        kinds = kinds_of(chain.from_iterable(rows))
        need(kinds <= {int, type(None)}, f"layers[{i}].next: an entry is neither an integer nor null")
        # the letters, by the heads that are read
        letters: dict[Situation, list[int]] = {}
        for x, read in enumerate(map(tuple, reads)):
            letters.setdefault(read, []).append(x)
        for read, those in letters.items():
            size, strides = self.shape(read, i, those[0])
            for x in those:
                if len(rows[x]) != size:
                    raise Invalid(f"layers[{i}].next[{x}]: {len(rows[x])} entries, not {size}")
            for h, (stride, points) in zip(read, strides, strict=True):
                actions = heads[h].actions
                for x in those:
                    if not before[h][actions[x]] and (
                        self.cascade or not self.is_told(read, rows[x], i, x, [p for _, p in strides])
                    ):
                        raise Invalid(
                            f"layers[{i}].reads[{x}]: head {h}'s new code does not tell the point before"
                        )
                    if not matters(rows[x], stride, points):
                        raise Invalid(f"layers[{i}].reads[{x}]: a head is read in vain")

    def shape(self, read: Situation, i: int, x: int) -> tuple[int, list[tuple[int, int]]]:
        """The length of a letter's row, and for each head read its stride and its points: mixed radix, the first head counting most."""
        last, size = -1, 1
        for h in read:
            # heads in ascending order, each once
            last = integer(h, last + 1, len(self.layers[i]) - 1, f"layers[{i}].reads[{x}]")
            size *= self.layers[i][h].points
        stride, strides = size, []
        for h in read:
            points = self.layers[i][h].points
            stride //= points
            strides.append((stride, points))
        return size, strides

    def is_told(self, read: Situation, row: list[Any], i: int, x: int, sizes: list[int]) -> bool:
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


def kinds_of(values: Iterable[Any]) -> set[type]:
    """The types of all values; no bool counts as an integer here."""
    return set(map(type, values))


def matters(row: list[Any], stride: int, points: int) -> bool:
    """Do two entries of a row differ where one head's point alone does? `stride` entries apart, of so many points."""
    if stride == 1 and len(row) == points:
        return len(set(row) - {None}) > 1
    return any(
        len(set(row[block + r : block + stride * points : stride]) - {None}) > 1
        for block in range(0, len(row), stride * points)
        for r in range(stride)
    )


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
    return f"{count_noun(len(wired.layers), 'layer')}, {count_noun(len(rows), 'joint code')}"


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


def decode_rows(data: Any, heads: list[Head], start: int, n: int) -> list[list[int]]:
    """The joint codes `[state, code of each head]`, every index in range and the first over the start state."""
    rows = array(data, "decode")
    for row in rows:
        array(row, "decode", 1 + len(heads))
        integer(row[0], 0, n - 1, "decode")
        for head, c in zip(heads, row[1:], strict=True):
            integer(c, 0, len(head.codes) - 1, "decode")
    need(rows and rows[0][0] == start, "decode: the first code is not the start's")
    return rows
