"""DP.T1 (ii), (iii): fewer factors per token and more layers, for group automata, by a delay of one block.

Time is cut into blocks of m tokens. The product of a block is a permutation of n points, at most m·n_h swaps; they
are applied, n_h a token, while the next block is read. Layers: a counter of t mod 2m; a ring buffer of the last 2m
tokens (key e_{t mod 2m}, β = 1: a projection, value the one-hot token); the last layer with its swaps. Decoding
multiplies the state by the swaps still to come and then by the tokens of the block read so far. Left product; an
empty slot of the buffer means the identity; the current token is written before the buffer is read.

Many permutations and vectors at once, for block delay: their swaps by rule, the points that tell them apart,
and which row of a table each is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..foundation._errors import LimitError
from ..foundation._text import count_noun
from ._realisation import Realisation, Transition
from .algebra._cyclotomic import Number, conductor_of, is_integer, simplest
from .algebra._householder import GHFactor, gh_factor, permutation_factors
from .automata._automaton import Automaton, Indices


def swap_table(images: Indices, width: int) -> Indices:
    """The swaps of `householder.permutation_factors` for each permutation `[perms, n]`: `[2, perms, width]`.

    Swap f of permutation p exchanges the points `[0, p, f]` and `[1, p, f]`; they are equal where there is none.
    `width` is at least the number of swaps, n - #cycles.
    """
    n = images.shape[1]
    points = np.arange(n)
    least = np.broadcast_to(points, images.shape).copy()
    power = images
    for _ in range(max(n - 1, 1).bit_length()):
        least = np.minimum(least, np.take_along_axis(least, power, axis=1))
        power = np.take_along_axis(power, power, axis=1)
    # a point's swap with the least point of its cycle comes when the walk from there reaches it
    order = np.where(least == points, n * n, least * n)
    current = least
    for step in range(1, n):
        current = np.take_along_axis(images, current, axis=1)
        order += np.where(current == points, step, 0) * (order % n == 0) * (least != points)
        if (current == least).all():
            break
    second = np.argsort(order, axis=1, kind="stable")[:, :width]
    swaps = np.zeros((2, len(images), width), dtype=np.int64)
    swaps[0, :, : second.shape[1]] = np.take_along_axis(least, second, axis=1)
    swaps[1, :, : second.shape[1]] = second
    return swaps


class RowIndex:
    """Finds integer rows `[..., n]` among the different rows of a table `[rows, n]`."""

    def __init__(self, table: Indices) -> None:
        self.table = table
        generator = np.random.default_rng(0)
        while True:
            self._weights = generator.integers(0, 2**63, size=table.shape[1], dtype=np.uint64)
            keys = self._keys(table)
            self._order = np.argsort(keys)
            self._sorted = keys[self._order]
            if (self._sorted[1:] != self._sorted[:-1]).all():
                return

    def find(self, rows: NDArray[Any]) -> Indices:
        """The index of each row; -1 where the table does not have it, exactly."""
        with np.errstate(invalid="ignore"):
            place = np.searchsorted(self._sorted, self._keys(rows.astype(np.int64)))
        found = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where((self.table[found] == rows).all(axis=-1), found, -1)

    def _keys(self, rows: Indices) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = rows.astype(np.uint64) @ self._weights
        return keys


Factors: TypeAlias = tuple[GHFactor, ...]
Vector: TypeAlias = tuple[Number, ...]


@dataclass(frozen=True)
class CounterHead:
    """One head with a vector for its state, `[dim, 1]`.

    `transitions`: the factors of each. `codes`: its states in the order of their first appearance from phase 0.
    `code_at`: index of the code at each phase.
    """

    dim: int
    transitions: tuple[Factors, ...]
    codes: tuple[Vector, ...]
    code_at: tuple[int, ...]

    @property
    def numbers(self) -> list[Number]:
        """Every stored number and every entry of a state."""
        factors = [f for factors in self.transitions for f in factors]
        weights = [x for f in factors for x in (f.beta, *(v for _, v in f.vector))]
        return [simplest(x) for x in (*weights, *(x for code in self.codes for x in code))]

    @cached_property
    def field(self) -> int:
        """N where the numbers lie in Q(2cos 2π/N); 1 for rationals."""
        return conductor_of(self.numbers)

    @property
    def bound(self) -> int:
        """Largest absolute value of any weight, entry, product or partial sum (integer heads only)."""
        bound = max(abs(cast("int", x)) for code in self.codes for x in code)
        for factors in self.transitions:
            for code in self.codes:
                x = list(cast("tuple[int, ...]", code))
                for factor in factors:
                    bound = max(bound, _apply(cast("Any", factor), x))
        return max(bound, 1)


@dataclass(frozen=True)
class CounterLayer:
    """Heads side by side. `reads`: index of the transition that leads to each phase, one for all heads."""

    reads: tuple[int, ...]
    heads: tuple[CounterHead, ...]


@dataclass(frozen=True)
class Counter:
    """Counts tokens modulo `period`; `kind` and `theorem` say how."""

    kind: str
    theorem: str
    period: int
    layers: tuple[CounterLayer, ...]

    @property
    def name(self) -> str:
        """What it is called in a sentence, such as `two-layer counter`."""
        return f"{self.kind.replace('two_layers', 'two-layer')} counter"

    @property
    def heads(self) -> list[CounterHead]:
        """All heads, layer by layer."""
        return [head for layer in self.layers for head in layer.heads]

    @property
    def householders(self) -> int:
        """Largest number of factors of a token in one head."""
        return max(len(factors) for head in self.heads for factors in head.transitions)

    @property
    def integer(self) -> bool:
        """True where every number is an integer."""
        return all(is_integer(x) for head in self.heads for x in head.numbers)


def counter_head(transitions: tuple[Factors, ...], start: Vector, reads: Sequence[int]) -> CounterHead:
    """The head that starts at a vector; its codes are found by walking once through all phases."""
    codes = {start: 0}
    code_at = [0]
    current = start
    for read in reads[1:]:
        for factor in transitions[read]:
            current = tuple(simplest(x) for (x,) in factor.apply([(x,) for x in current]))
        code_at.append(codes.setdefault(current, len(codes)))
    return CounterHead(len(start), transitions, tuple(codes), tuple(code_at))


def _apply(factor: Any, x: list[int]) -> int:
    """Apply a factor to an integer vector in place; the largest number met, whatever the order of the sum."""
    terms = [v * x[i] for i, v in factor.vector]
    positive, total = sum(t for t in terms if t > 0), sum(terms)
    sums = max(positive, positive - total, abs(total)) if len(terms) > 2 else abs(total)
    met = [factor.beta, sums, factor.beta * abs(total), *map(abs, terms)]
    for i, v in factor.vector:
        x[i] -= v * factor.beta * total
        met += [abs(v), factor.beta * abs(v), factor.beta * abs(v * total), abs(x[i])]
    return int(max(met))


@dataclass(frozen=True, eq=False, repr=False)
class BlockDelay(Realisation):
    """An exact linear RNN with block delay that realises the group automaton `automaton`.

    Attributes:
        automaton: the group automaton.
        points: each letter as a permutation of n points, `[letters, n]`.
        marks: the points at which H_0 has the values 1, 2, ...; at the others it is 0.
        block: m, the number of tokens of a block.
        budget: n_h, the largest number of factors per token.
        counter: the counter of tokens, which has the period 2m.
        elements: the images of all elements of the group, breadth first from the identity,
            `[elements, n]`; None if the group is not listed. The points are then the states, and the only
            mark is at the start state.
        element_states: the automaton's state to which each element leads from the start, `[elements]`; None if `elements` is None.
        notes: sentences about the alternatives that were compared and about bounds.
    """

    kind: ClassVar[str] = "delay"

    automaton: Automaton
    points: Indices
    marks: tuple[int, ...]
    block: int
    budget: int
    counter: Counter
    elements: Indices | None
    element_states: Indices | None
    notes: tuple[str, ...] = ()

    def for_letters(self, automaton: Automaton, kinds: Indices) -> BlockDelay:
        """The same delay for an automaton with further letters, each of which acts like one of this automaton.

        Args:
            automaton: the automaton with all letters and the same states.
            kinds: for each of its letters the index of the letter here that acts alike, int array `[letters]`.
        """
        return replace(self, automaton=automaton, points=self.points[kinds])

    @property
    def degree(self) -> int:
        """The number n of points."""
        return int(self.points.shape[1])

    @property
    def theorem(self) -> str:
        """The source of the construction."""
        return f"DP.T1 + {self.counter.theorem}"

    @property
    def construction(self) -> str:
        """A one-line description of the construction."""
        return (
            f"block delay: permutations of {count_noun(self.degree, 'point')} in blocks of {count_noun(self.block, 'token')}, "
            f"{self.counter.name} modulo {2 * self.block:,}, ring buffer of {count_noun(2 * self.block, 'token')}"
        )

    @property
    def depth(self) -> int:
        """The number of layers: those of the counter, the buffer, and the last layer."""
        return len(self.counter.layers) + 2

    @property
    def householders(self) -> int:
        """Largest number of factors of a token in one head."""
        return max(self.budget, self.counter.householders)

    @property
    def layer_factors(self) -> tuple[int, ...]:
        """Largest number of factors of a token in a head, layer by layer."""
        counters = [
            max(len(t) for head in layer.heads for t in head.transitions) for layer in self.counter.layers
        ]
        return (*counters, 1, self.budget)

    @property
    def heads(self) -> int:
        """Largest number of heads in a layer."""
        return max(len(layer.heads) for layer in self.counter.layers)

    @property
    def value_dim(self) -> int:
        """Largest value dimension of a head: the buffer holds one-hot tokens."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(self.degree, 2 * self.block, *(head.dim for head in self.counter.heads))

    @cached_property
    def exactness(self) -> str:
        """`integer`, or `algebraic` if the counter is algebraic."""
        return "integer" if self.counter.integer else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`.

        The buffer contains only 0 and 1. A swap computes only with H_i, H_j and H_i - H_j, which are at most the number of marks.
        """
        if self.exactness != "integer":
            return None
        return max(len(self.marks), *(head.bound for head in self.counter.heads))

    @property
    def work(self) -> int:
        """The sum over layers of factors × key dimension for the most expensive token."""
        counters = 0
        for layer in self.counter.layers:
            columns = [[head.dim * len(factors) for factors in head.transitions] for head in layer.heads]
            counters += max(sum(token) for token in zip(*columns, strict=True))
        return counters + 2 * self.block + self.budget * self.degree

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """The transitions of the counter, those that erase and write a row of the buffer, and a swap, as in the last layer."""
        counter = (
            Transition(factors)
            for layer in self.counter.layers
            for head in layer.heads
            for factors in head.transitions
        )
        buffer = Transition((gh_factor(1, {0: 1}),), additive=((0, 0, 1),))
        return (*counter, buffer, Transition((gh_factor(1, {0: 1, 1: -1}),)))

    @property
    def initial(self) -> Indices:
        """The initial state H_0 of the last layer, `[n]`."""
        values = np.zeros(self.degree, dtype=np.int64)
        values[list(self.marks)] = np.arange(1, len(self.marks) + 1)
        return values

    @cached_property
    def codes(self) -> tuple[Indices, Indices]:
        """The vectors g·H_0 `[codes, n]`, the initial one first, and the automaton's state of each `[codes]`."""
        if self.elements is None or self.element_states is None:
            order = np.roll(np.arange(self.degree), -self.marks[0])
            return np.eye(self.degree, dtype=np.int64)[order], order
        vectors = np.zeros_like(self.elements)
        for i, point in enumerate(self.marks):
            np.put_along_axis(vectors, self.elements[:, [point]], i + 1, axis=1)
        first = np.sort(np.unique(vectors, axis=0, return_index=True)[1])
        return vectors[first], self.element_states[first]

    def groups(self, image: Any) -> tuple[tuple[GHFactor, ...], ...]:
        """Write a permutation as m groups of at most n_h swaps each; the first group is applied first.

        Args:
            image: a permutation of the points, `[n]`, i ↦ `image[i]`.
        """
        factors = permutation_factors([int(i) for i in image])
        starts = range(0, self.block * self.budget, self.budget)
        return tuple(factors[at : at + self.budget] for at in starts)

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """The distinct transitions that a letter can cause in each head of each layer.

        Args:
            letter: label of a letter of the automaton.

        Returns:
            `transitions(letter)[i][h]`: the transitions of head h of layer i. Only those of the buffer, which writes the
            letter into the row of its phase, depend on the letter. Those of the counter and of the last layer (at most
            n_h swaps of the product of the previous block) depend on the states alone.

        Raises:
            InputError: the automaton has no such letter.
            LimitError: the group is not listed, so the swaps of its elements are unknown.
        """
        x = self.automaton.letter_index(letter)
        if self.elements is None:
            raise LimitError(
                f"{self.automaton.name}: the transition group is not listed, so the swaps of its elements are computed "
                "while a word is read: raise `max_group`"
            )
        found = [
            tuple(tuple(Transition(factors) for factors in head.transitions) for head in layer.heads)
            for layer in self.counter.layers
        ]
        buffer = tuple(
            Transition((gh_factor(1, {phase: 1}),), additive=((phase, x, 1),))
            for phase in range(2 * self.block)
        )
        groups = dict.fromkeys(group for image in self.elements.tolist() for group in self.groups(image))
        return (*found, (buffer,), (tuple(Transition(group) for group in groups),))
