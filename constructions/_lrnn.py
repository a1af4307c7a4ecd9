"""The exact linear RNN: transitions made of GH factors, heads, layers, decoding; no floats.

Conventions (docs/conventions.md): H_i = A(x_i) H_{i-1} + B(x_i), H is `[dim, value_dim]`, A acts on the left,
and within a token the gate comes first, then the factors in their order, then the additive term.

All reachable states of a head at once, as sparse rows `row -> {column of all codes side by side: value}`.

A GH factor touches only the rows in the support of its vector, so that a letter made of thousands of swaps of
one-hot states costs as little as it should.

The largest integer that a run of an integer construction ever meets, whatever the order of its sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

import numpy as np

from ..foundation._errors import InputError
from ._realisation import Realisation, Sparse, Transition
from .algebra._cyclotomic import Number, conductor_of, enclosure, is_integer, sign, simplest
from .algebra._householder import GHFactor, product_of
from .algebra._matrices import Matrix, scale_matrix
from .automata._automaton import Automaton, Indices


@dataclass(frozen=True, eq=False)
class Head:
    """One head: its transitions, and every state H that it can reach.

    Attributes:
        dim, value_dim: the shape of H.
        transitions: the distinct transitions.
        codes: the distinct reachable H, sparse.
        code_transitions: int array `[transitions, codes]`, the code reached from each code.
        actions: int array `[letters of the layer]`, the transition of each letter; None where letter x has
            transition x.
        points: None, or n where the codes are all n² pairs (u, v) of n points, code u·n + v: u the current
            point and v the one before the last reset, so that a read-out still finds it (theory: the repaired
            wiring of G.T4).
    """

    dim: int
    value_dim: int
    transitions: tuple[Transition, ...]
    codes: tuple[Sparse, ...]
    code_transitions: Indices
    actions: Indices | None = None
    points: int | None = None

    @property
    def letters(self) -> int:
        """Number of letters of the layer."""
        return len(self.transitions) if self.actions is None else len(self.actions)

    def action_of(self, letters: Indices) -> Indices:
        """The transitions' indices of letters, of any shape.

        Args:
            letters: indices of letters of the layer, of any shape.
        """
        return letters if self.actions is None else self.actions[letters]

    @cached_property
    def point_of(self) -> Indices:
        """Int array `[codes]`: the current point of each code; without `points` the code itself."""
        return np.arange(len(self.codes)) // (self.points or 1)

    def first_code(self, point: int) -> int:
        """The code with which a run from a point begins: (u, u) where codes are pairs.

        Args:
            point: index of a point.
        """
        return point if self.points is None else point * self.points + point

    @cached_property
    def point_before(self) -> Indices:
        """What a read-out can tell from the new code: the point before, int array `[transitions, codes]`.

        -1 where the transition does not lead to the code, -2 where it leads there from several points.
        """
        before = np.full(self.code_transitions.shape, -1, dtype=np.int64)
        for row, images in zip(before, self.code_transitions, strict=True):
            row[images] = self.point_of
            row[images[row[images] != self.point_of]] = -2
        return before

    @property
    def householders(self) -> int | None:
        """Most factors of a letter; None where a letter is not a product of GH factors."""
        if any(t.matrix is not None for t in self.transitions):
            return None
        return max((len(t.factors) for t in self.transitions), default=0)

    @cached_property
    def numbers(self) -> frozenset[Number]:
        """Every number that occurs in a code or a transition."""
        numbers: set[Number] = {x for code in self.codes for _, _, x in code}
        for t in self.transitions:
            numbers.add(t.gate)
            numbers.update(x for _, _, x in (*t.additive, *(t.matrix or ())))
            for factor in t.factors:
                numbers.add(factor.beta)
                numbers.update(x for _, x in factor.vector)
        return frozenset(numbers)

    @cached_property
    def field(self) -> int:
        """N where the head's numbers lie in Q(2cos 2π/N); 1 for rationals."""
        return conductor_of(self.numbers)


@dataclass(frozen=True, eq=False)
class Layer:
    """Heads side by side, each reading the same letter; and the read-out to the next layer's letter.

    `reads` and `next_letter` are None in an LRNN of one layer, whose `decode` takes their place.

    Attributes:
        heads: the heads.
        reads: int array `[letters, k]`, the heads on which the next letter depends (ascending, then -1 for
            none).
        next_letter: int array `[letters, width]`, the next layer's letter, on the last layer the automaton's
            state, by the points of these heads *before* the token, the last head's running fastest; -1 where
            none occurs. It is a function of (new codes, letter) through `Head.point_before`, which is how an
            LRNN computes it.
    """

    heads: tuple[Head, ...]
    reads: Indices | None = None
    next_letter: Indices | None = None

    def column(self, letters: Indices, points: Sequence[Indices]) -> Indices:
        """Columns of `next_letter` for letters `[...]` and the points before, `[...]` for each head.

        Args:
            letters: indices of letters of the layer, `[...]`.
            points: for each head the points before the token, `[...]`.
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
        """Number of points of each head."""
        return tuple(head.points or len(head.codes) for head in self.heads)

    def read_out(self, letters: Indices, codes: Sequence[Indices]) -> Indices:
        """The next layer's letters (on the last layer states) `[...]`, from letters and each head's new codes `[...]`.

        -1 where the codes do not tell it.

        Args:
            letters: indices of letters of the layer, `[...]`.
            codes: for each head the new codes, `[...]`.
        """
        if self.next_letter is None:
            raise ValueError("an LRNN of one layer has no read-out to a next layer")
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
    """How joint states of a cascade stand for the automaton's states: chains of nodes from node 0 down.

    Attributes:
        nodes: for each node (layer, head, children): a joint state that is at the node goes on to the child
            of the point of that head. Below the last layer a node is (state,), and the chain ends there.
            Heads that a chain does not meet may be at any point.
    """

    nodes: tuple[tuple[int, int, tuple[int, ...]] | tuple[int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class LRNN(Realisation):
    """A linear RNN that realises `automaton`, exactly: a list of what every letter does in every layer.

    Attributes:
        automaton: the automaton that it follows.
        layers: in the order in which they act.
        decode: int array `[rows, 1 + heads of all layers]` of joint states; column 0 is the automaton's
            state, the others index each head's `codes`. Without a `covering` these are all reachable joint
            states, breadth first from the start; with one (cascades, whose joint states are too many to list)
            they are one for each automaton state, the start first, at which a run from that state begins.
        theorem: the source of the construction.
        construction: one line of plain words.
        notes: what was compared, bounds.
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
        """For each layer its heads' places in `all_heads`."""
        ends = np.cumsum([0, *(len(layer.heads) for layer in self.layers)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @property
    def is_layered(self) -> bool:
        """Is there a second layer? Then the last layer's read-out names the state, in one layer `decode` does."""
        return len(self.layers) > 1

    @property
    def only_layer(self) -> Layer:
        """The layer of an LRNN that has one; `InputError` for several."""
        if self.is_layered:
            raise InputError(
                f"{self.automaton.name}: this linear RNN has {self.depth} layers, and one of a single layer is needed"
            )
        return self.layers[0]

    @property
    def heads(self) -> int:
        """Most heads in a layer."""
        return max(len(layer.heads) for layer in self.layers)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(head.dim for head in self.all_heads)

    @property
    def householders(self) -> int | None:
        """Most factors of a letter in one head; None where a letter is not a product of GH factors."""
        counts = [head.householders for head in self.all_heads]
        return None if None in counts else max(c for c in counts if c is not None)

    @cached_property
    def exactness(self) -> str:
        """`integer` where every stored number and every state is an integer, else `algebraic`."""
        numbers = (x for head in self.all_heads for x in head.numbers)
        return "integer" if all(is_integer(x) for x in numbers) else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`."""
        return integer_bound(self) if self.exactness == "integer" else None

    @property
    def norm(self) -> str:
        """What is known of the letters' norms: `at most 1`, `at most √2 a factor`, `unbounded`."""
        if self.householders is None:
            return "unbounded"
        masked = any(
            f.mask is not None for head in self.all_heads for t in head.transitions for f in t.factors
        )
        return "at most √2 a factor" if masked else "at most 1"

    @property
    def contracts(self) -> bool:
        """Are all letters products of factors with β‖v‖² in [0, 2] and gates in [0, 1]?"""
        gates = (t.gate for head in self.all_heads for t in head.transitions)
        return self.norm == "at most 1" and all(sign(gate) >= 0 for gate in gates)

    @property
    def used_transitions(self) -> Iterable[Transition]:
        """All transitions of all heads."""
        return (t for head in self.all_heads for t in head.transitions)

    @property
    def largest_beta(self) -> Number:
        """The largest β‖v‖² of a factor; 0 where there is no factor."""
        factors = [f for head in self.all_heads for t in head.transitions for f in t.factors]
        sizes = [simplest(f.beta * f.norm_squared) for f in factors]
        return max(sizes, key=lambda x: enclosure(x, 64), default=0)

    @property
    def layer_factors(self) -> tuple[int, ...] | None:
        """Most factors of a letter in a head, layer by layer; None where a letter is no product of factors."""
        if self.householders is None:
            return None
        return tuple(max(head.householders or 0 for head in layer.heads) for layer in self.layers)

    @property
    def letter_factors(self) -> tuple[int, ...] | None:
        """In one layer the most factors of each letter in a head; None for several layers or without factors."""
        if self.is_layered or self.householders is None:
            return None
        columns = [_factor_counts(head) for head in self.layers[0].heads]
        return tuple(max(counts) for counts in zip(*columns, strict=True))

    @property
    def work(self) -> int | None:
        """Factors × key dimension of each layer's most expensive letter, summed; None without factors."""
        if self.householders is None:
            return None
        total = 0
        for layer in self.layers:
            columns = [[head.dim * count for count in _factor_counts(head)] for head in layer.heads]
            total += max((sum(letter) for letter in zip(*columns, strict=True)), default=0)
        return total

    @property
    def parameters(self) -> int:
        """Numbers that write all letters down: β and key of each factor, gates and added entries."""
        transitions = [(head.dim, t) for head in self.all_heads for t in head.transitions]
        written = sum(len(t.additive) + (t.gate != 1) + len(t.matrix or ()) for _, t in transitions)
        return written + sum(len(t.factors) * (1 + dim) for dim, t in transitions)

    @property
    def state_size(self) -> int | None:
        """Numbers of the state, where one layer has exactly one joint state for each automaton state; else None."""
        if self.is_layered or len(self.decode) != len(self.automaton.states):
            return None
        return sum(head.dim * head.value_dim for head in self.all_heads)

    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """What a letter can do: for each layer, for each of its heads, the different transitions.

        Args:
            letter: label of a letter of the automaton.

        Returns:
            `transitions(letter)[i][h]`: those of head h of layer i; one in the first layer, and in a deeper one those
            of all letters that the layers above can make of it.

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
        """The exact matrix A(x) of each letter x, gate included, one a head: `matrices[label][head][row][column]`.

        Raises:
            InputError: there are several layers, where a letter does not tell the matrices of the lower ones; see
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
        """Row of `decode` at which a run from the given state (default: the start) begins.

        Args:
            state: index of a state of the automaton; None: the start.
        """
        if state is None or state == self.automaton.start:
            return 0
        rows = np.flatnonzero(self.decode[:, 0] == state)
        return int(rows[0])


def as_table(found: Realisation) -> LRNN | None:
    """A realisation as the table of all its letters; None for a kind that computes them."""
    return found if isinstance(found, LRNN) else None


def table_of(found: Realisation, why: str) -> LRNN:
    """A realisation as the table of all its letters.

    Args:
        found: a realisation.
        why: the reason, which ends the message.

    Raises:
        InputError: its kind has no such table.
    """
    if isinstance(found, LRNN):
        return found
    raise found.no_table(why)


def _factor_counts(head: Head) -> list[int]:
    """The number of factors of each letter of the layer."""
    counts = np.array([len(t.factors) for t in head.transitions], dtype=np.int64)
    return list(counts.tolist() if head.actions is None else counts[head.actions].tolist())


def dense_matrix(transition: Transition, n: int) -> Matrix:
    """A of a letter, gate included, as a dense n × n matrix."""
    if transition.matrix is not None:
        return tuple(tuple(row) for row in to_dense(transition.matrix, n, n))
    A = product_of(transition.factors, n)
    return A if transition.gate == 1 else scale_matrix(transition.gate, A)


def to_sparse(rows: list[list[Number]] | tuple[tuple[Number, ...], ...]) -> Sparse:
    """The non-zero entries of a dense matrix."""
    return tuple(
        (i, j, simplest(x)) for i, row in enumerate(rows) for j, x in enumerate(row) if simplest(x) != 0
    )


def pad_rows(rows: Sequence[Sequence[int]]) -> Indices:
    """Rows of different lengths as an int array, -1 behind the shorter ones."""
    table = np.full((len(rows), max(1, *(len(row) for row in rows))), -1, dtype=np.int64)
    for r, row in enumerate(rows):
        table[r, : len(row)] = row
    return table


Rows: TypeAlias = list[dict[int, Number]]


def stack_codes(head: Head) -> Rows:
    """Codes side by side: entry (i, j) of code c stands in row i, column c·value_dim + j."""
    rows: Rows = [{} for _ in range(head.dim)]
    for c, code in enumerate(head.codes):
        for i, j, x in code:
            rows[i][c * head.value_dim + j] = x
    return rows


def apply_factor(rows: Rows, factor: GHFactor) -> None:
    """rows ← (I - β v vᵀ) rows, in place; v⊙a in place of the right v where the factor has a mask."""
    sums: dict[int, Number] = {}
    for i, v in factor.reading:
        for column, x in rows[i].items():
            sums[column] = sums.get(column, 0) + v * x
    for i, v in factor.vector:
        row, scale = rows[i], v * factor.beta
        for column, s in sums.items():
            x = row.get(column, 0) - scale * s
            if x == 0:
                row.pop(column, None)
            else:
                row[column] = x


def scale_rows(rows: Rows, gate: Number) -> Rows:
    """gate·rows, a copy."""
    if gate == 0:
        return [{} for _ in rows]
    return (
        [{c: gate * x for c, x in row.items()} for row in rows] if gate != 1 else [dict(row) for row in rows]
    )


def apply_transition(head: Head, transition: Transition, rows: Rows) -> Rows:
    """The rows after one letter; the given rows stay as they are.

    Heads over a number field form the matrix A first: far fewer products where codes outnumber dimensions.
    """
    matrix = transition.matrix
    if matrix is None and head.field > 1:
        unit: Rows = [{i: transition.gate} if transition.gate != 0 else {} for i in range(head.dim)]
        for factor in transition.factors:
            apply_factor(unit, factor)
        matrix = tuple((i, k, a) for i, row in enumerate(unit) for k, a in row.items())
    if matrix is not None:
        result: Rows = [{} for _ in range(head.dim)]
        for i, k, a in matrix:
            for column, x in rows[k].items():
                total = result[i].get(column, 0) + a * x
                if total == 0:
                    result[i].pop(column, None)
                else:
                    result[i][column] = total
    else:
        result = scale_rows(rows, transition.gate)
        for factor in transition.factors:
            apply_factor(result, factor)
    add_to_codes(result, transition.additive, len(head.codes), head.value_dim)
    return result


def image_of(head: Head, value: Sparse, transition: int) -> Sparse:
    """A(x) H + B(x) for any exact state H, by one transition's factors."""
    alone = replace(head, codes=(value,))
    return codes_of(
        apply_transition(alone, head.transitions[transition], stack_codes(alone)), 1, head.value_dim
    )[0]


def add_to_codes(rows: Rows, additive: Sparse, codes: int, value_dim: int) -> None:
    """Add the same sparse matrix to every code, in place."""
    for i, j, b in additive:
        for c in range(codes):
            column = c * value_dim + j
            x = rows[i].get(column, 0) + b
            if x == 0:
                rows[i].pop(column, None)
            else:
                rows[i][column] = x


def codes_of(rows: Rows, codes: int, value_dim: int) -> list[Sparse]:
    """Back from rows to one sparse matrix a code."""
    entries: list[list[tuple[int, int, Number]]] = [[] for _ in range(codes)]
    for i, row in enumerate(rows):
        for column, x in row.items():
            entries[column // value_dim].append((i, column % value_dim, x))
    return [tuple(sorted(code, key=_place)) for code in entries]


def _place(entry: tuple[int, int, Number]) -> tuple[int, int]:
    return entry[0], entry[1]


def to_dense(code: Sparse, dim: int, value_dim: int) -> Sequence[Sequence[Number]]:
    """A sparse matrix as dense rows."""
    rows: list[list[Number]] = [[0] * value_dim for _ in range(dim)]
    for i, j, x in code:
        rows[i][j] = x
    return rows


def integer_bound(lrnn: LRNN) -> int:
    """Largest absolute value of any weight, state entry, product or partial sum over the reachable states.

    Partial sums of any subset of the terms count: for each sum the larger of its positive and its negative part.
    States between the factors of a token count too. The recurrence is bit-exact, in any order of summation, in
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


def _largest(values: Collection[object]) -> int:
    numbers = cast("Collection[int]", values)
    return max(*numbers, -min(numbers)) if numbers else 0


def _sum_bound(terms: Sequence[tuple[object, object]]) -> tuple[int, int]:
    """For Σ weight·row: the largest partial sum of any subset, and the largest total."""
    totals: dict[int, int] = {}
    positive: dict[int, int] = {}
    bound = 0
    for weight, row in cast("Sequence[tuple[int, dict[int, int]]]", terms):
        bound = max(bound, abs(weight) * _largest(row.values()))
        for column, x in row.items():
            totals[column] = totals.get(column, 0) + weight * x
            if len(terms) > 2 and weight * x > 0:
                positive[column] = positive.get(column, 0) + weight * x
    total = _largest(totals.values())
    if len(terms) > 2:  # the negative terms add up to total - positive
        negative = [s - positive.get(c, 0) for c, s in totals.items()]
        bound = max(bound, _largest(positive.values()), _largest(negative))
    return max(bound, total), total


def bound_head(head: Head) -> int:
    """The bound of one integer head."""
    start = stack_codes(head)
    bound = max(_largest(row.values()) for row in start)
    for transition in head.transitions:
        bound = max(bound, _largest([transition.gate]), _largest([x for _, _, x in transition.additive]))
        if transition.matrix is not None:
            terms = defaultdict(list)
            for i, k, a in transition.matrix:
                terms[i].append((a, start[k]))
            sums = (_sum_bound(row)[0] for row in terms.values())
            bound = max(bound, _largest([a for _, _, a in transition.matrix]), *sums)
        rows = scale_rows(start, transition.gate)
        for factor in transition.factors:
            partial, total = _sum_bound([(v, rows[i]) for i, v in factor.reading])
            beta, v = _largest([factor.beta]), _largest([x for _, x in factor.vector])
            bound = max(bound, beta, v, beta * v, partial, beta * total, beta * total * v)
            apply_factor(rows, factor)
            bound = max(bound, *(_largest(rows[i].values()) for i, _ in factor.vector))
        if transition.additive:
            final = apply_transition(head, transition, start)
            bound = max(bound, *(_largest(row.values()) for row in final))
    return bound
