"""`FiniteGroup`: a listed finite group with labels, its product, and its word-problem automata.

Convention: `table[g, h]` is the product g·h, with permutations composed as functions, (g·h)(i) = g(h(i)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ....foundation._errors import InputError, LimitError
from ...automata._automaton import Automaton, Indices, Label
from ...automata._completing import object_array

Product = Literal["left", "right"]
PRODUCTS: tuple[Product, ...] = ("left", "right")
Law = Callable[[Indices, Indices], Indices]


@dataclass(frozen=True, eq=False)
class FiniteGroup:
    """A finite group given by its elements. The multiplication table is computed only when it is used.

    `InputError` is raised if a table is not a Latin square with an identity or a function has no identity. Associativity is not
    checked.

    Attributes:
        name: the name of the group, as in the library.
        elements: distinct labels; for a permutation group the image tuples `(g(0), ..., g(n-1))` in
            lexicographic order.
        law: the multiplication table, int array `[elements, elements]`, or a vectorised function that
            takes index arrays g and h of one shape to the indices of the products g·h.
        generators: indices of elements that generate the group, if they are known.
        images: for a permutation group the int array `[elements, points]`, `images[g, i]` = g(i); else None.
        max_table: the largest number of elements for which `table` is computed.
    """

    name: str
    elements: tuple[Label, ...]
    law: Indices | Law
    generators: tuple[int, ...] = ()
    images: Indices | None = None
    max_table: int = 6_000

    def __post_init__(self) -> None:
        n = len(self.elements)
        latin = True
        if not callable(self.law):
            latin = self.law.shape == (n, n) and all(
                (np.sort(rows, axis=1) == np.arange(n)).all() for rows in (self.law, self.law.T)
            )
        if not n or not latin or self._find_identity() is None:
            raise InputError(f"{self.name}: not the multiplication table of a group")

    def multiply(self, g: ArrayLike, h: ArrayLike) -> Indices:
        """Compute the indices of the products g·h.

        Args:
            g: indices of elements.
            h: indices of elements; g and h broadcast together.
        """
        left, right = np.broadcast_arrays(np.asarray(g, dtype=np.int64), np.asarray(h, dtype=np.int64))
        return self.law(left, right) if callable(self.law) else self.law[left, right]

    @cached_property
    def table(self) -> Indices:
        """The multiplication table, int array `[elements, elements]`; `LimitError` above `max_table` elements."""
        if not callable(self.law):
            return self.law
        n = len(self.elements)
        if n > self.max_table:
            raise LimitError(
                f"{self.name}: its multiplication table has {n:,}² entries; the limit is {self.max_table:,} elements"
            )
        everything = np.arange(n)
        return np.stack([self.multiply(g, everything) for g in range(n)])

    def _find_identity(self) -> int | None:
        """The first power p of element 0 with p·0 = 0, if it is neutral on both sides for every element."""
        everything = np.arange(len(self.elements))
        power = 0
        for _ in everything:
            following = int(self.multiply(power, 0))
            if following == 0:
                sides = (self.multiply(power, everything), self.multiply(everything, power))
                return power if all((side == everything).all() for side in sides) else None
            power = following
        return None

    @cached_property
    def identity(self) -> int:
        """Index of the identity."""
        found = self._find_identity()
        assert found is not None  # checked on construction
        return found

    @cached_property
    def _orders_and_inverses(self) -> tuple[Indices, Indices]:
        orders = np.ones(len(self.elements), dtype=np.int64)
        inverses = np.arange(len(self.elements))
        running = np.delete(inverses, self.identity)
        powers = running.copy()
        while running.size:
            following = self.multiply(running, powers)
            orders[running] += 1
            done = following == self.identity
            inverses[running[done]] = powers[done]
            running, powers = running[~done], following[~done]
        return orders, inverses

    @property
    def inverse(self) -> Indices:
        """Index of each element's inverse, int array `[elements]`."""
        return self._orders_and_inverses[1]

    def orders(self) -> Indices:
        """Order of each element, int array `[elements]`."""
        return self._orders_and_inverses[0]

    def word_problem(
        self, letters: Sequence[int] | None = None, product: Product = "left", name: str | None = None
    ) -> Automaton:
        """Make the automaton whose state is the running product of elements.

        With `left` the state y becomes x·y on letter x (the convention of the papers), with `right` it becomes y·x (the convention of
        the public word-problem generators). States and letters are elements of the group, and each state is its own output.
        Unreachable states are dropped. Only the rows of the letters are computed, never the whole table.

        Args:
            letters: indices of the elements that are letters; None for all.
            product: `left` or `right`, the side on which a letter is multiplied.
            name: name of the automaton; None for the group's.
        """
        everything = np.arange(len(self.elements))
        chosen = everything if letters is None else np.asarray(letters, dtype=np.int64)
        rows = np.empty((len(chosen), len(everything)), dtype=np.int64)
        for row, x in zip(rows, chosen, strict=True):
            row[:] = self.multiply(x, everything) if product == "left" else self.multiply(everything, x)
        return Automaton(
            self.elements,
            tuple(self.elements[x] for x in chosen),
            rows,
            self.identity,
            object_array(self.elements),
            name or self.name,
        ).trim()
