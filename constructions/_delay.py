"""DP.T1 (ii), (iii): fewer factors a token and more layers, for group automata, by a delay of one block.

Time is cut into blocks of m tokens. The product of a block is a permutation of n points, at most m·n_h swaps; they
are applied, n_h a token, while the next block is read. Layers: a counter of t mod 2m; a ring buffer of the last 2m
tokens (key e_{t mod 2m}, β = 1: a projection, value the one-hot token); the last layer with its swaps. Decoding
multiplies the state by the swaps still to come and then by the tokens of the block read so far. Left product; an
empty slot of the buffer means the identity; the current token is written before the buffer is read.

Many permutations and vectors at once, for block delay: their swaps by rule, the points that tell them apart,
and which row of a table each is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..foundation._errors import InputError, NotRealisableError
from ._lrnn import INTEGER_RANGES
from .algebra._householder import GHFactor, permutation_factors
from .algebra.groups._actions import transitive_action
from .algebra.groups._permutations import cycle_counts, orbits
from .automata._automaton import Automaton, Indices
from .theorems._block_delay import Counter, choose_counter
from .theorems._rotations import MAX_DEGREE
from .theorems._small_degree import small_permutation_representation


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


def marked_points(elements: Indices, states: Indices) -> tuple[int, ...]:
    """Points whose images tell the state: the first single one that does, else all less those that are not needed."""

    def tell(chosen: list[int]) -> bool:
        classes = np.unique(elements[:, chosen], axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(classes, kind="stable")
        same = classes[order[1:]] == classes[order[:-1]]
        return not (same & (states[order[1:]] != states[order[:-1]])).any()

    n = elements.shape[1]
    for point in range(n):
        if tell([point]):
            return (point,)
    kept = list(range(n))
    for point in reversed(range(n)):
        rest = [p for p in kept if p != point]
        if tell(rest):
            kept = rest
    return tuple(kept)


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


CounterKind = Literal["auto", "ripple", "rotation", "two_layers", "cycles"]
COUNTERS: dict[str, str] = {
    "auto": "fewest layers, then integer",
    "ripple": "one scalar layer a bit, integer; the block is rounded up to a power of two",
    "rotation": "one layer, two reflections",
    "two_layers": "two layers, one reflection each",
    "cycles": "one layer, integer, a head for each prime power; the block may be longer than needed",
}


@dataclass(frozen=True, eq=False)
class BlockDelay:
    """A linear RNN with block delay that realises the group automaton `automaton`, exactly.

    `points`: each letter as a permutation of n points, `[letters, n]`. `marks`: the points that H_0 marks with
    1, 2, ...; the others are 0. `block`: m. `budget`: n_h, the most factors a token. `counter`: of period 2m.
    `elements`: the images of all elements of the group, breadth first from the identity by letters, `[elements, n]`,
    and `element_states` the automaton's state that each leads to from the start; None where the group is not
    listed: the points are then the states, and the one mark is the start.
    """

    automaton: Automaton
    points: Indices
    marks: tuple[int, ...]
    block: int
    budget: int
    counter: Counter
    elements: Indices | None
    element_states: Indices | None
    notes: tuple[str, ...] = ()

    @property
    def degree(self) -> int:
        """n, the number of points."""
        return int(self.points.shape[1])

    @property
    def theorem(self) -> str:
        """The source of the construction."""
        return f"DP.T1 + {self.counter.theorem}"

    @property
    def construction(self) -> str:
        """One line of plain words."""
        return (
            f"block delay: permutations of {self.degree} points in blocks of {self.block} tokens, "
            f"{self.counter.kind} counter modulo {2 * self.block}, ring buffer of {2 * self.block} tokens"
        )

    @property
    def layers(self) -> int:
        """The counter's layers, the buffer, the last layer."""
        return len(self.counter.layers) + 2

    @property
    def householders(self) -> int:
        """Most factors of a token in one head."""
        return max(self.budget, self.counter.householders)

    @property
    def layer_factors(self) -> tuple[int, ...]:
        """Most factors of a token in a head, layer by layer."""
        counters = [
            max(len(t) for head in layer.heads for t in head.transitions) for layer in self.counter.layers
        ]
        return (*counters, 1, self.budget)

    @property
    def heads(self) -> int:
        """Most heads in a layer."""
        return max(len(layer.heads) for layer in self.counter.layers)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(self.degree, 2 * self.block, *(head.dim for head in self.counter.heads))

    @cached_property
    def exactness(self) -> str:
        """`integer`, or `algebraic` where the counter is."""
        return "integer" if self.counter.integer else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`.

        The buffer holds 0 and 1. A swap meets H_i, H_j and H_i - H_j only, all at most the number of marks.
        """
        if self.exactness != "integer":
            return None
        return max(len(self.marks), *(head.bound for head in self.counter.heads))

    @property
    def formats(self) -> tuple[str, ...]:
        """The dtypes in which the recurrence is bit-exact at any length."""
        bound = self.integer_bound
        return () if bound is None else tuple(d for d, reach in INTEGER_RANGES.items() if bound <= reach)

    @property
    def initial(self) -> Indices:
        """H_0 of the last layer, `[n]`."""
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
        """The m groups, of at most n_h swaps each, whose product is a permutation; the first is applied first."""
        factors = permutation_factors([int(i) for i in image])
        starts = range(0, self.block * self.budget, self.budget)
        return tuple(factors[at : at + self.budget] for at in starts)

    def summary(self) -> dict[str, object]:
        """The figures of `construct`, for JSON and for the certificate."""
        return {
            "layers": self.layers,
            "householders": self.householders,
            "heads": self.heads,
            "dim": self.dim,
            "exactness": self.exactness,
            "integer_bound": self.integer_bound,
            "formats": list(self.formats),
            "norm": "at most 1",
        }

    def certificate(self, max_group: int = 5_000) -> dict[str, Any]:
        """The certificate of kind `delay`; see `delay_certificate`."""
        from .certificates._delay import delay_certificate

        return delay_certificate(self, max_group)

    def _repr_html_(self) -> str:
        """The figures as a table, for notebooks."""
        rows = {"construction": self.construction, "theorem": self.theorem, **self.summary()}
        cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"


def block_delay(
    automaton: Automaton | str,
    householders: int,
    *,
    counter: CounterKind | str = "auto",
    exactness: str = "any",
    max_group: int = 5_000,
    max_degree: int = MAX_DEGREE,
) -> BlockDelay:
    """A group automaton with at most `householders` factors a token, in several layers (DP.T1 ii, iii).

    m = ⌈c/n_h⌉ for the largest count c = n - #cycles over the group (n - #orbits where it is not listed), or more
    where the counter asks for it. `counter`: see `COUNTERS`. `exactness="integer"`: only bit-exact counters.
    `max_group`: largest group whose elements are listed for a small number of points. `max_degree`: largest degree
    of a counter's number field. Unreachable states are dropped.
    Raises `InputError` where one layer suffices (c ≤ n_h) and for options of the wrong form; `NotRealisableError`
    for an automaton that is no group automaton and where no such counter exists.
    """
    if isinstance(automaton, str):
        from ._spec import automaton_from_spec

        automaton = automaton_from_spec(automaton)
    _require_options(householders, counter, exactness)
    automaton = automaton.trimmed()
    if (merged := automaton.merged_pair()) is not None:
        x, p, q = merged
        raise NotRealisableError(
            f"{automaton.name}: letter {automaton.letters[x]!r} merges states {automaton.states[p]!r} and "
            f"{automaton.states[q]!r}, so this is no group automaton, and block delay is for group automata"
        )
    group = _listed(automaton, max_group)
    cost = group.cost
    least = -(-cost // householders)
    if least < 2:
        raise InputError(
            f"{automaton.name}: --householders {householders}: no element needs more than {cost} factors, so one layer "
            "suffices; leave block delay out"
        )
    chosen = choose_counter(counter, 2 * least, householders, exactness == "integer", max_degree)
    if chosen is None:
        raise NotRealisableError(
            f"{automaton.name}: no {counter} counter modulo {2 * least} or a little more has at most {householders} "
            f"factors a token, exactness {exactness} and a number field of degree at most {max_degree}; "
            "--counter ripple always has"
        )
    return BlockDelay(
        automaton, group.points, group.marks, chosen.period // 2, householders, chosen, group.elements, group.states,
        (f"a product of letters needs at most {cost} swaps of {group.points.shape[1]} points, so blocks have at least {least} tokens",),
    )  # fmt: skip


def _require_options(householders: int, counter: str, exactness: str) -> None:
    if not isinstance(householders, int) or isinstance(householders, bool) or householders < 1:
        raise InputError(f"--householders {householders!r}: it is a number of factors, 1 or more")
    if counter not in COUNTERS:
        raise InputError(f"--counter {counter}: not a counter; there are {', '.join(COUNTERS)}")
    if exactness not in ("any", "integer"):
        raise InputError(f"--exactness {exactness}: it is any or integer")


@dataclass(frozen=True, eq=False)
class _Group:
    """Letters on few points, and, if the group is listed, its elements on them with the states they lead to."""

    start: int
    points: Indices
    elements: Indices | None = None
    states: Indices | None = None

    @cached_property
    def cost(self) -> int:
        """The most swaps that an element needs, n - #cycles, or n - #orbits where the group is not listed."""
        n = self.points.shape[1]
        if self.elements is None:
            return int(n - len(np.unique(orbits(self.points))))
        return int((n - cycle_counts(self.elements)).max())

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """Points whose images tell the state."""
        if self.elements is None or self.states is None:
            return (self.start,)
        return marked_points(self.elements, self.states)


@lru_cache(maxsize=1)  # a plan builds block delays of one automaton for many numbers of factors
def _listed(automaton: Automaton, max_group: int) -> _Group:
    action = transitive_action(automaton, max_group)
    if not action.regular:
        return _Group(automaton.start, np.asarray(automaton.transitions, dtype=np.int64))
    points = small_permutation_representation(automaton, max_group)
    elements = np.empty((action.size, points.shape[1]), dtype=np.int64)
    elements[0] = np.arange(points.shape[1])
    for reached, parents, letters in action.levels:
        elements[reached] = np.take_along_axis(points[letters], elements[parents], axis=1)
    return _Group(automaton.start, points, elements, action.states)
