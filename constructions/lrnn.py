"""The exact linear RNN: transitions made of GH factors, heads, layers, decoding; no floats.

Conventions (docs/conventions.md): H_i = A(x_i) H_{i-1} + B(x_i), H is `[dim, value_dim]`, A acts on the left,
and within a token the gate comes first, then the factors in their order, then the additive term.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TypeAlias

import numpy as np

from .automaton import Automaton, Indices
from .householder import GHFactor
from .real_cyclotomic import Algebraic, Number, is_integer, simplest

Sparse: TypeAlias = tuple[tuple[int, int, Number], ...]
"""The non-zero entries `(row, column, value)` of a matrix, in lexicographic order of (row, column)."""

INTEGER_RANGES = {
    "fp64": 2**53,
    "fp32": 2**24,
    "fp16": 2**11,
    "bf16": 2**8,
    "fp8_e4m3": 2**4,
    "fp8_e5m2": 2**3,
}
"""For each dtype the largest n such that all integers from -n to n are exact in it."""


@dataclass(frozen=True)
class Transition:
    """What one letter does to one head: H ← C_k···C_1 (gate·H) + additive.

    `factors`: C_1, ..., C_k in the order applied. `gate`: a scalar in [-1, 1]. `additive`: B, sparse.
    `matrix`: a sparse A in place of factors, for maps that are not products of GH factors (norm may exceed 1).
    """

    factors: tuple[GHFactor, ...] = ()
    gate: Number = 1
    additive: Sparse = ()
    matrix: Sparse | None = None


@dataclass(frozen=True)
class Head:
    """One head: transitions by letter, and every state H that it can reach.

    `dim`, `value_dim`: shape of H. `codes`: the distinct reachable H, sparse.
    `code_transitions`: int array `[letters, codes]`, the code reached from each code.
    """

    dim: int
    value_dim: int
    transitions: tuple[Transition, ...]
    codes: tuple[Sparse, ...]
    code_transitions: Indices

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
        return max((x.field.conductor for x in self.numbers if isinstance(x, Algebraic)), default=1)


@dataclass(frozen=True)
class Layer:
    """Heads side by side; each reads the same letter."""

    heads: tuple[Head, ...]


@dataclass(frozen=True, eq=False)
class LRNN:
    """A linear RNN that realises `automaton`, exactly.

    `layers`: in the order they act. `decode`: int array `[codes, 1 + heads]` of the reachable joint states of the
    layer's heads, breadth first from the start; column 0 is the automaton's state, the others index each head's
    `codes`. `theorem`: the source of the construction; `construction`: one line of plain words.
    `notes`: what was compared, bounds.
    """

    automaton: Automaton
    layers: tuple[Layer, ...]
    decode: Indices
    theorem: str
    construction: str
    notes: tuple[str, ...] = ()

    @property
    def heads(self) -> int:
        """Most heads in a layer."""
        return max(len(layer.heads) for layer in self.layers)

    @property
    def dim(self) -> int:
        """Largest key dimension of a head."""
        return max(head.dim for layer in self.layers for head in layer.heads)

    @property
    def householders(self) -> int | None:
        """Most factors of a letter in one head; None where a letter is not a product of GH factors."""
        counts = [head.householders for layer in self.layers for head in layer.heads]
        return None if None in counts else max(c for c in counts if c is not None)

    @cached_property
    def exactness(self) -> str:
        """`integer` where every stored number and every state is an integer, else `algebraic`."""
        numbers = (x for layer in self.layers for head in layer.heads for x in head.numbers)
        return "integer" if all(is_integer(x) for x in numbers) else "algebraic"

    @cached_property
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`."""
        from .integer_bound import integer_bound

        return integer_bound(self) if self.exactness == "integer" else None

    @property
    def formats(self) -> tuple[str, ...]:
        """The dtypes in which the recurrence is bit-exact at any length."""
        bound = self.integer_bound
        return () if bound is None else tuple(d for d, reach in INTEGER_RANGES.items() if bound <= reach)

    def initial_code(self, state: int | None = None) -> int:
        """Row of `decode` at which a run from the given state (default: the start) begins."""
        if state is None or state == self.automaton.start:
            return 0
        rows = np.flatnonzero(self.decode[:, 0] == state)
        return int(rows[0])

    def summary(self) -> dict[str, object]:
        """The figures of `construct`, for JSON and for the certificate."""
        return {
            "layers": len(self.layers),
            "householders": self.householders,
            "heads": self.heads,
            "dim": self.dim,
            "exactness": self.exactness,
            "integer_bound": self.integer_bound,
            "formats": list(self.formats),
            "norm": "unbounded" if self.householders is None else "at most 1",
        }

    def _repr_html_(self) -> str:
        """The figures as a table, for notebooks."""
        rows = {"construction": self.construction, "theorem": self.theorem, **self.summary()}
        cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"


def sparse(rows: list[list[Number]] | tuple[tuple[Number, ...], ...]) -> Sparse:
    """The non-zero entries of a dense matrix."""
    return tuple(
        (i, j, simplest(x)) for i, row in enumerate(rows) for j, x in enumerate(row) if simplest(x) != 0
    )
