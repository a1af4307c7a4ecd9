"""`LRNN`: the exact linear RNN as a table, layers of heads with the read-outs between them and the decoding; no floats."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import ClassVar

import numpy as np

from ..foundation._errors import InputError
from ._head import Head, bound_head, dense_matrix
from ._realisation import Realisation, Transition
from .algebra._cyclotomic import Number, enclosure, is_integer, sign, simplest
from .algebra._matrices import Matrix
from .automata._automaton import Automaton, Indices


@dataclass(frozen=True, eq=False)
class Layer:
    """Heads side by side that read the same letter, and a read-out that gives the letter of the next layer.

    In an LRNN of one layer, `reads` and `next_letter` are None, since `decode` takes their place.

    Attributes:
        heads: the heads.
        reads: int array `[letters, k]`, the heads on which the next letter depends, in ascending order and
            padded with -1.
        next_letter: int array `[letters, width]`, the letter of the next layer or, on the last layer, the automaton's
            state, as a function of the points of these heads *before* the token, with the last head varying fastest;
            -1 for combinations that do not occur. It is a function of (new codes, letter), which is how an LRNN computes it: where the
            new code of a head tells its point before, through `Head.point_before`, elsewhere through `after`.
    """

    heads: tuple[Head, ...]
    reads: Indices | None = None
    next_letter: Indices | None = None

    def column(self, letters: Indices, points: Sequence[Indices]) -> Indices:
        """The columns of `next_letter` for some letters and the points of each head before the token.

        Args:
            letters: indices of letters of the layer, `[...]`.
            points: for each head, its points before the token, `[...]`.
        """
        if self.reads is None:
            raise ValueError("an LRNN of one layer has no read-out to a next layer")
        column = np.zeros_like(letters)
        for k in range(self.reads.shape[1]):
            read = self.reads[letters, k]
            for h in range(len(self.heads)):
                here = read == h
                if here.any():
                    column = np.where(here, column * (self.sizes[h]) + points[h], column)
        return column

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of points of each head."""
        return tuple(head.points or len(head.codes) for head in self.heads)

    @cached_property
    def after(self) -> Indices | None:
        """The next letter as a function of the *new* codes of the heads that are read, int array `[letters, width]`.

        None where the new code of each head that is read tells its point before. The columns are as those of `next_letter`, with
        codes for points. -1 for combinations that do not occur.
        """
        if (
            self.reads is None
            or self.next_letter is None
            or any(head.points is not None for head in self.heads)
        ):
            return None
        letters = np.arange(len(self.reads))
        for h, head in enumerate(self.heads):
            loses = np.any(head.point_before == -2, axis=1)[head.action_of(letters)]
            if np.any(loses & np.any(self.reads == h, axis=1)):
                break
        else:
            return None
        table = np.full_like(self.next_letter, -1)
        for x in letters.tolist():
            read = [h for h in self.reads[x].tolist() if h >= 0]
            sizes = tuple(self.sizes[h] for h in read)
            before = (
                np.stack(np.unravel_index(np.arange(prod(sizes)), sizes)) if read else np.zeros((0, 1), int)
            )
            column = np.zeros(before.shape[1], dtype=np.int64)
            for h, points in zip(read, before, strict=True):
                head = self.heads[h]
                action = int(head.action_of(np.array(x)))
                column = column * self.sizes[h] + head.code_transitions[action, points]
            row = self.next_letter[x, : before.shape[1]]
            table[x, column[row >= 0]] = row[row >= 0]
        return table

    @property
    def read_out_tables(self) -> tuple[tuple[Indices, ...], Indices]:
        """The read-out as tables that are read in one way, whether or not a new code tells its head's point before.

        Returns:
            For each head a number for each transition and new code, int array `[transitions, codes]`, -1 or -2 where there is none; and
            the next letter `[letters, width]` as a function of the numbers of the heads that are read, with the columns of
            `next_letter`. The numbers are the points before, or, where `after` is needed, the new codes themselves.
        """
        if self.next_letter is None:
            raise ValueError("an LRNN of one layer has no read-out to a next layer")
        if self.after is None:
            return tuple(head.point_before for head in self.heads), self.next_letter
        shapes = [head.code_transitions.shape for head in self.heads]
        return tuple(np.tile(np.arange(codes), (count, 1)) for count, codes in shapes), self.after

    def read_out(self, letters: Indices, codes: Sequence[Indices]) -> Indices:
        """The next layer's letters (on the last layer states) `[...]`, from letters and each head's new codes `[...]`.

        The entry is -1 if the codes do not determine the letter.

        Args:
            letters: indices of letters of the layer, `[...]`.
            codes: for each head, its new codes, `[...]`.
        """
        if self.next_letter is None:
            raise ValueError("an LRNN of one layer has no read-out to a next layer")
        if self.after is not None:
            return np.asarray(self.after[letters, self.column(letters, codes)])
        before = [
            head.point_before[head.action_of(letters), code]
            for head, code in zip(self.heads, codes, strict=True)
        ]
        unread = [np.maximum(point, 0) for point in before]
        following = self.next_letter[letters, self.column(letters, unread)]
        for h, point in enumerate(before):
            read = (self.reads[letters] == h).any(axis=-1)  # type: ignore[index]
            following = np.where(read & (point < 0), -1, following)
        return following


@dataclass(frozen=True, eq=False)
class Covering:
    """Which state of the automaton each joint state of a cascade stands for, as chains of nodes that begin at node 0.

    Attributes:
        nodes: for each node a tuple (layer, head, children): from this node, a joint state goes to the child that
            belongs to the point of that head. A node below the last layer is (state,), and the chain ends there.
            Heads that a chain does not meet may be at any point.
    """

    nodes: tuple[tuple[int, int, tuple[int, ...]] | tuple[int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class LRNN(Realisation):
    """An exact linear RNN that realises `automaton`, given as a table of what every letter does in every layer.

    Attributes:
        automaton: the automaton that it follows.
        layers: the layers, in the order in which they act.
        decode: int array `[rows, 1 + heads of all layers]` of joint states; column 0 is the automaton's
            state, the others index each head's `codes`. Without a `covering` these are all reachable joint
            states, breadth first from the start; with one (cascades, whose joint states are too many to list)
            they are one for each automaton state, the start first, at which a run from that state begins.
        theorem: the source of the construction.
        construction: a one-line description of the construction.
        notes: sentences about the alternatives that were compared and about bounds.
        covering: how joint states of a cascade stand for states; None where `decode` lists all joint states.
    """

    kind: ClassVar[str] = "table"

    automaton: Automaton
    layers: tuple[Layer, ...]
    decode: Indices
    theorem: str
    construction: str
    notes: tuple[str, ...] = ()
    covering: Covering | None = None

    @cached_property
    def all_heads(self) -> tuple[Head, ...]:
        """The heads of all layers, in the order of the columns of `decode`."""
        return tuple(head for layer in self.layers for head in layer.heads)

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """For each layer, the places of its heads in `all_heads`."""
        ends = np.cumsum([0, *(len(layer.heads) for layer in self.layers)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @property
    def is_layered(self) -> bool:
        """Whether there are several layers. Then the last layer's read-out gives the state; with one layer `decode` does."""
        return len(self.layers) > 1

    @property
    def only_layer(self) -> Layer:
        """The only layer of an LRNN; `InputError` if there are several."""
        if self.is_layered:
            raise InputError(
                f"{self.automaton.name}: this linear RNN has {self.depth} layers, and one of a single layer is needed"
            )
        return self.layers[0]

    @property
    def heads(self) -> int:
        """Largest number of heads in a layer."""
        return max(len(layer.heads) for layer in self.layers)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(head.dim for head in self.all_heads)

    @property
    def value_dim(self) -> int:
        """Largest value dimension of a head: the columns of its state."""
        return max(head.value_dim for head in self.all_heads)

    @property
    def householders(self) -> int | None:
        """Largest number of factors of a letter in one head; None where a letter is not a product of GH factors."""
        counts = [head.householders for head in self.all_heads]
        return None if None in counts else max(c for c in counts if c is not None)

    @cached_property
    def exactness(self) -> str:
        """`integer` if all stored numbers and all states consist of integers, otherwise `algebraic`."""
        numbers = (x for head in self.all_heads for x in head.numbers)
        return "integer" if all(is_integer(x) for x in numbers) else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`."""
        return integer_bound(self) if self.exactness == "integer" else None

    @property
    def norm(self) -> str:
        """What is known about the norms of the letters: `at most 1`, `at most √2 a factor` or `unbounded`."""
        if self.householders is None:
            return "unbounded"
        masked = any(
            f.mask is not None for head in self.all_heads for t in head.transitions for f in t.factors
        )
        return "at most √2 a factor" if masked else "at most 1"

    @property
    def contracts(self) -> bool:
        """Whether all letters are products of factors with β‖v‖² in [0, 2] and gates in [0, 1]."""
        gates = (t.gate for head in self.all_heads for t in head.transitions)
        return self.norm == "at most 1" and all(sign(gate) >= 0 for gate in gates)

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """All transitions of all heads."""
        return (t for head in self.all_heads for t in head.transitions)

    @property
    def largest_beta(self) -> Number:
        """The largest β‖v‖² of a factor; 0 if there is no factor."""
        factors = [f for head in self.all_heads for t in head.transitions for f in t.factors]
        sizes = [simplest(f.beta * f.norm_squared) for f in factors]
        return max(sizes, key=lambda x: enclosure(x, 64), default=0)

    @property
    def layer_factors(self) -> tuple[int, ...] | None:
        """Largest number of factors of a letter in a head, layer by layer; None where a letter is not a product of factors."""
        if self.householders is None:
            return None
        return tuple(max(head.householders or 0 for head in layer.heads) for layer in self.layers)

    @property
    def letter_factors(self) -> tuple[int, ...] | None:
        """For one layer, the largest number of factors of each letter in a head; None for several layers or without factors."""
        if self.is_layered or self.householders is None:
            return None
        columns = [_factor_counts(head) for head in self.layers[0].heads]
        return tuple(max(counts) for counts in zip(*columns, strict=True))

    @cached_property
    def work(self) -> int | None:
        """The sum over layers of factors × key dimension for the most expensive letter; None without factors."""
        if self.householders is None:
            return None
        total = 0
        for layer in self.layers:
            columns = [[head.dim * count for count in _factor_counts(head)] for head in layer.heads]
            total += max((sum(letter) for letter in zip(*columns, strict=True)), default=0)
        return total

    @property
    def parameters(self) -> int:
        """The number of parameters that describe all letters: β and key of each factor, gates and added entries."""
        transitions = [(head.dim, t) for head in self.all_heads for t in head.transitions]
        written = sum(len(t.additive) + (t.gate != 1) + len(t.matrix or ()) for _, t in transitions)
        return written + sum(len(t.factors) * (1 + dim) for dim, t in transitions)

    @property
    def state_size(self) -> int | None:
        """Number of entries of the state, if one layer has exactly one joint state for each automaton state; otherwise None."""
        if self.is_layered or len(self.decode) != len(self.automaton.states):
            return None
        return sum(head.dim * head.value_dim for head in self.all_heads)

    def for_letters(self, automaton: Automaton, kinds: Indices) -> LRNN:
        """The same table for an automaton with further letters, each of which acts like one of this automaton.

        Args:
            automaton: the automaton with all letters and the same states.
            kinds: for each of its letters the index of the letter here that acts alike, int array `[letters]`.
        """
        first, *rest = self.layers
        layer = Layer(
            tuple(head.for_letters(kinds) for head in first.heads),
            None if first.reads is None else first.reads[kinds],
            None if first.next_letter is None else first.next_letter[kinds],
        )
        return replace(self, automaton=automaton, layers=(layer, *rest))

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """The distinct transitions that a letter can cause in each head of each layer.

        Args:
            letter: label of a letter of the automaton.

        Returns:
            `transitions(letter)[i][h]`: the transitions of head h of layer i. In the first layer there is one; in a deeper
            layer there is one for each letter that the layers above can make of this letter.

        Raises:
            InputError: the automaton has no such letter.
        """
        letters = np.array([self.automaton.letter_index(letter)])
        found = []
        for layer in self.layers:
            actions = [dict.fromkeys(head.action_of(letters).tolist()) for head in layer.heads]
            found.append(
                tuple(
                    tuple(head.transitions[t] for t in chosen)
                    for head, chosen in zip(layer.heads, actions, strict=True)
                )
            )
            if layer.next_letter is not None:
                following = np.unique(layer.next_letter[letters])
                letters = following[following >= 0]
        return tuple(found)

    @property
    def matrices(self) -> dict[Hashable, tuple[Matrix, ...]]:
        """The exact matrix A(x) of each letter x in each head, gate included: `matrices[label][head][row][column]`.

        Raises:
            InputError: there are several layers; the matrices of deeper layers do not depend on the letter alone, see
                `transitions`.
        """
        heads = self.only_layer.heads
        return {
            label: tuple(
                dense_matrix(head.transitions[int(head.action_of(np.array(x)))], head.dim) for head in heads
            )
            for x, label in enumerate(self.automaton.letters)
        }

    def initial_code(self, state: int | None = None) -> int:
        """The row of `decode` at which a run from a given state begins.

        Args:
            state: index of a state of the automaton; None for the start.
        """
        if state is None or state == self.automaton.start:
            return 0
        rows = np.flatnonzero(self.decode[:, 0] == state)
        return int(rows[0])


def as_table(found: Realisation) -> LRNN | None:
    """A realisation as the table of all its letters; None for a kind that computes them."""
    return found if isinstance(found, LRNN) else None


def table_of(found: Realisation, why: str) -> LRNN:
    """Return a realisation that is a table of all its letters; refuse any other kind.

    Args:
        found: a realisation.
        why: the reason or advice with which the message ends.

    Raises:
        InputError: this kind of realisation has no such table.
    """
    if isinstance(found, LRNN):
        return found
    raise found.no_table(why)


def _factor_counts(head: Head) -> list[int]:
    """The number of factors of each letter of the layer."""
    counts = np.array([len(t.factors) for t in head.transitions], dtype=np.int64)
    return list(counts.tolist() if head.actions is None else counts[head.actions].tolist())


def pad_rows(rows: Sequence[Sequence[int]]) -> Indices:
    """Rows of different lengths as an int array, -1 behind the shorter ones."""
    table = np.full((len(rows), max(1, *(len(row) for row in rows))), -1, dtype=np.int64)
    for r, row in enumerate(rows):
        table[r, : len(row)] = row
    return table


def integer_bound(lrnn: LRNN) -> int:
    """Compute the largest absolute value of any weight, state entry, product or partial sum over the reachable states.

    Partial sums over any subset of the terms are included: each sum contributes the larger of its positive and its negative
    part. States between the factors of a token are included too. The recurrence is bit-exact, in any order of summation, in
    every format whose consecutive integers reach this bound. Only for `exactness == "integer"`.

    Args:
        lrnn: a realisation with `exactness == "integer"`.

    Examples:
        >>> from mirrormata import construct
        >>> from mirrormata.constructions import integer_bound
        >>> integer_bound(construct("S3"))
        3
    """
    return max(bound_head(head) for head in lrnn.all_heads)
