"""From rules for heads and read-outs to an `LRNN` of several layers: all reachable joint codes, breadth first.

A layer's letters carry labels: on the first layer the automaton's letters, below what `route` makes of a label and
the layer's new states. What the last layer names is found, not given: the automaton's own state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation._errors import LimitError, MirrormataError, NotRealisableError
from .._head import Head, image_of
from .._lrnn import LRNN, Layer, pad_rows
from .._realisation import Sparse, Transition
from ..automata._automaton import Automaton

MAX_JOINT = 200_000
MAX_CLOSED = 16
"""How many times as many codes a head may have as occur, once its transitions are closed."""
Label = Any
"""A layer's letter, as the rules name it: any hashable value."""
Route = Callable[[int, Label, tuple[Sparse, ...]], Label]
"""Of (layer, its letter's label, its heads' new states): the label of the next layer's letter."""


@dataclass(frozen=True)
class HeadRule:
    """One head: shape, initial state, and what a label does."""

    dim: int
    initial: Sparse
    transition: Callable[[Label], Transition]
    value_dim: int = 1


def assemble_layers(
    automaton: Automaton,
    layers: Sequence[Sequence[HeadRule]],
    route: Route,
    *,
    theorem: str,
    construction: str,
    notes: Sequence[str] = (),
    max_joint: int = MAX_JOINT,
) -> LRNN:
    """The LRNN of some rules; all of the automaton's states must be reachable.

    `LimitError` beyond `max_joint` joint states; `MirrormataError` (a defect) where the rules do not realise the
    automaton: two states with one joint code, or a read-out that the new codes do not tell.
    """
    search = _Search(automaton, layers, route, max_joint)
    rows = search.run()
    return LRNN(
        automaton,
        search.build_layers(),
        np.array(rows, dtype=np.int64),
        theorem,
        construction,
        tuple(notes),
    )


class _Head:
    """A head while it is explored: its codes, its distinct transitions, and which code they make of which."""

    def __init__(self, rule: HeadRule) -> None:
        self.rule = rule
        self.codes: dict[Sparse, int] = {rule.initial: 0}
        # equal transitions of different labels are one
        self.transitions: dict[Transition, int] = {}
        self.by_number: list[Transition] = []
        self.of_label: dict[Label, int] = {}
        self.images: dict[tuple[int, int], Sparse] = {}
        self.listed: list[Sparse] = []  # the codes by their numbers

    def action(self, label: Label) -> int:
        if label not in self.of_label:
            transition = self.rule.transition(label)
            if transition not in self.transitions:
                self.transitions[transition] = len(self.by_number)
                self.by_number.append(transition)
            self.of_label[label] = self.transitions[transition]
        return self.of_label[label]

    def step(self, code: int, label: Label) -> Sparse:
        key = self.action(label), code
        # each (transition, code) is computed once, in exact numbers
        if key not in self.images:
            if len(self.listed) < len(self.codes):
                self.listed = list(self.codes)
            # a head of this transition alone, so that no others are looked at
            value, transition = self.listed[code], self.by_number[key[0]]
            head = Head(
                self.rule.dim, self.rule.value_dim, (transition,), (value,), np.zeros((0, 1), dtype=np.int64)
            )
            self.images[key] = image_of(head, value, 0)
        return self.images[key]


class _Search:
    def __init__(
        self, automaton: Automaton, layers: Sequence[Sequence[HeadRule]], route: Route, max_joint: int
    ) -> None:
        self.automaton, self.route, self.max_joint = automaton, route, max_joint
        self.layers = [[_Head(rule) for rule in layer] for layer in layers]
        self.labels: list[dict[Label, int]] = [{} for _ in layers]
        for x in range(len(automaton.letters)):
            self.labels[0][x] = x
        # for each layer and label: what follows, by the codes before
        self.following: list[dict[Label, dict[tuple[int, ...], Label]]] = [{} for _ in layers]

    def run(self) -> list[list[int]]:
        """Rows `[state, codes of all heads]`, breadth first from the initial joint code."""
        first = (0,) * sum(len(layer) for layer in self.layers)
        seen = {first: self.automaton.start}
        queue = [first]
        # breadth first: all letters of the joint codes before this one have been followed
        for joint in queue:
            state = seen[joint]
            for x in range(len(self.automaton.letters)):
                target = int(self.automaton.transitions[x, state])
                after = self._step(joint, x, target)
                if after not in seen:
                    if len(seen) >= self.max_joint:
                        raise LimitError(
                            f"{self.automaton.name}: more than {self.max_joint:,} joint states; leave `theorem` out"
                        )
                    seen[after] = target
                    queue.append(after)
                elif seen[after] != target:
                    raise _defect(self.automaton, "two states have one joint code")
        return [[seen[joint], *joint] for joint in queue]

    def _step(self, joint: tuple[int, ...], x: int, target: int) -> tuple[int, ...]:
        label: Label = x
        after: list[int] = []
        last = len(self.layers) - 1
        for i, layer in enumerate(self.layers):
            # this layer's codes before the token
            codes = joint[len(after) : len(after) + len(layer)]
            states = tuple(head.step(c, label) for head, c in zip(layer, codes, strict=True))
            after.extend(
                head.codes.setdefault(H, len(head.codes)) for head, H in zip(layer, states, strict=True)
            )
            # the last layer names the state that the automaton reaches
            following = target if i == last else self.route(i, label, states)
            # what follows must depend on the label and the codes before alone
            known = self.following[i].setdefault(label, {}).setdefault(codes, following)
            if known != following:
                raise _defect(self.automaton, "the last layer does not tell the state")
            label = following
        return tuple(after)

    def build_layers(self) -> tuple[Layer, ...]:
        """The layers with letters numbered as the layer above first names them."""
        built = []
        names: list[Label] = list(range(len(self.automaton.letters)))
        for i, layer in enumerate(self.layers):
            heads = tuple(_number_transitions(head, names) for head in layer)
            tables = [self.following[i][name] for name in names]
            reads = [_find_needed_heads(table, len(layer)) for table in tables]
            rows: list[list[int]] = []
            numbers: dict[Label, int] = {}
            for table, read in zip(tables, reads, strict=True):
                sizes = [len(heads[h].codes) for h in read]
                row: list[Label | None] = [None] * int(np.prod(sizes, dtype=np.int64))
                for codes, following in table.items():
                    # mixed radix, the first head read counting most
                    column = 0
                    for h, size in zip(read, sizes, strict=True):
                        column = column * size + codes[h]
                    row[column] = following
                if i == len(self.layers) - 1:
                    rows.append([-1 if y is None else int(y) for y in row])
                else:
                    # letters of the next layer are numbered as they are first named; -1 never occurs
                    rows.append([-1 if y is None else numbers.setdefault(y, len(numbers)) for y in row])
            built.append(Layer(heads, pad_rows(reads), pad_rows(rows)))
            names = list(numbers)
        return tuple(built)


def _number_transitions(head: _Head, names: Sequence[Label]) -> Head:
    """The head with transitions numbered as the letters first have them.

    A transition also needs images at codes where it never occurs. Where such an image is no code yet it becomes one, after those
    that occur, until the codes are closed.
    """
    order = dict.fromkeys(head.of_label[name] for name in names)
    position = {t: k for k, t in enumerate(order)}
    distinct, codes = tuple(head.transitions), list(head.codes)
    transitions = tuple(distinct[t] for t in order)
    known = {(position[t], c): image for (t, c), image in head.images.items() if t in position}
    dim, width = head.rule.dim, head.rule.value_dim
    bare = Head(dim, width, transitions, tuple(codes), np.zeros((len(order), 0), dtype=np.int64))
    number = {code: c for c, code in enumerate(codes)}
    moves: list[list[int]] = []
    # grows on the way; the checker meets further codes in this order as well
    for c, code in enumerate(codes):
        if len(codes) > MAX_CLOSED * len(head.codes):
            raise NotRealisableError("a head has too many codes once its transitions are closed")
        moves.append([])
        for k in range(len(order)):
            image = known[k, c] if (k, c) in known else image_of(bare, code, k)
            if image not in number:
                number[image] = len(codes)
                codes.append(image)
            moves[c].append(number[image])
    table = np.array(moves, dtype=np.int64).T.reshape(len(order), len(codes))
    actions = np.array([position[head.of_label[name]] for name in names], dtype=np.int64)
    return Head(dim, width, transitions, tuple(codes), table, actions)


def _find_needed_heads(table: dict[tuple[int, ...], Label], heads: int) -> list[int]:
    """A least set of heads whose codes before tell what follows: each is dropped, the last first, if it can be."""
    read = list(range(heads))
    for h in reversed(range(heads)):
        rest = [k for k in read if k != h]
        found: dict[tuple[int, ...], Label] = {}
        # without head h what follows is still a function of the other codes
        if all(found.setdefault(tuple(c[k] for k in rest), y) == y for c, y in table.items()):
            read = rest
    return read


def _defect(automaton: Automaton, what: str) -> MirrormataError:
    return MirrormataError(f"{automaton.name}: a defect of this program, please report it: {what}")
