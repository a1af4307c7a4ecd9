"""`FiniteGroup`: a listed finite group with labels, its multiplication table, and its word-problem automata.

Convention: `table[g, h]` is the product g·h, with permutations composed as functions, (g·h)(i) = g(h(i)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .automaton import Automaton, Indices, Label, object_array
from .errors import InputError

Product = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class FiniteGroup:
    """A group with all its elements listed.

    `elements`: distinct labels; for a permutation group the image tuples `(g(0), ..., g(n-1))` in
    lexicographic order. `table`: int array `[elements, elements]`, `table[g, h]` is g·h. `name`: as in the
    table of names. The identity is found from the table. Raises `InputError` if it has none.
    """

    name: str
    elements: tuple[Label, ...]
    table: Indices

    def __post_init__(self) -> None:
        n = len(self.elements)
        if self.table.shape != (n, n) or not len(self.identities()):
            raise InputError(f"{self.name}: not the multiplication table of a group")

    def identities(self) -> Indices:
        """Indices e with e·g = g for all g (exactly one in a group)."""
        return np.flatnonzero((self.table == np.arange(len(self.elements))).all(axis=1))

    @property
    def identity(self) -> int:
        """Index of the identity."""
        return int(self.identities()[0])

    @property
    def inverse(self) -> Indices:
        """Index of each element's inverse, int array `[elements]`."""
        return np.asarray(np.argmax(self.table == self.identity, axis=1), dtype=np.int64)

    def orders(self) -> Indices:
        """Order of each element, int array `[elements]`."""
        n = len(self.elements)
        orders = np.ones(n, dtype=np.int64)
        power = np.arange(n)
        while (running := power != self.identity).any():
            orders[running] += 1
            power = np.where(running, self.table[np.arange(n), power], power)
        return orders

    def word_problem(
        self, letters: Sequence[int] | None = None, product: Product = "left", name: str | None = None
    ) -> Automaton:
        """The automaton whose state is the running product, over the given elements (indices; default all).

        `left`: the state y becomes x·y on letter x (the papers' convention); `right`: it becomes y·x (that of the
        public word-problem generators). States are the elements, their own outputs; letters are elements too.
        States that the letters do not reach are dropped.
        """
        chosen = np.arange(len(self.elements)) if letters is None else np.asarray(letters, dtype=np.int64)
        table = self.table[chosen] if product == "left" else self.table[:, chosen].T
        return Automaton(
            self.elements,
            tuple(self.elements[x] for x in chosen),
            table,
            self.identity,
            object_array(self.elements),
            name or self.name,
        ).trimmed()
