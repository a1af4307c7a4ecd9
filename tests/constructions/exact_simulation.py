"""An independent exact run of an `LRNN`: dense matrices multiplied out from the factors, nothing else reused.

H_t = A(x_t) H_{t-1} + B(x_t), A = C_k···C_1·gate, C = I - β v vᵀ; a state is decoded by looking its dense form up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Transition

Dense: TypeAlias = tuple[tuple[Any, ...], ...]


def multiplied(A: Dense, B: Dense) -> Dense:
    """A·B, by definition."""
    inner = range(len(B))
    return tuple(
        tuple(
            sum((row[k] * B[k][j] for k in inner if row[k] and B[k][j]), Fraction(0))
            for j in range(len(B[0]))
        )
        for row in A
    )


def unit(n: int) -> Dense:
    """The n × n identity."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(n)) for i in range(n))


def factor_matrix(beta: Any, vector: Sequence[tuple[int, Any]], n: int) -> Dense:
    """I - β v vᵀ, entry by entry."""
    v = [Fraction(0)] * n
    for i, x in vector:
        v[i] = x if not isinstance(x, int) else Fraction(x)
    return tuple(tuple(int(i == j) - beta * v[i] * v[j] for j in range(n)) for i in range(n))


def transition_matrix(transition: Transition, n: int) -> Dense:
    """A = C_k···C_1·gate, the first factor applied first."""
    if transition.matrix is not None:
        rows: list[list[Any]] = [[Fraction(0)] * n for _ in range(n)]
        for i, j, x in transition.matrix:
            rows[i][j] = x
        return tuple(tuple(row) for row in rows)
    A = tuple(tuple(transition.gate * x for x in row) for row in unit(n))
    for factor in transition.factors:
        A = multiplied(factor_matrix(factor.beta, factor.vector, n), A)
    return A


def dense_code(code: Sequence[tuple[int, int, Any]], head: Head) -> Dense:
    """A sparse code as dense rows."""
    rows: list[list[Any]] = [[Fraction(0)] * head.value_dim for _ in range(head.dim)]
    for i, j, x in code:
        rows[i][j] = x
    return tuple(tuple(row) for row in rows)


class Simulation:
    """A one-layer LRNN, run densely; `states(word)` decodes after each letter."""

    def __init__(self, lrnn: LRNN) -> None:
        (layer,) = lrnn.layers
        self.heads = layer.heads
        self.letters = [[transition_matrix(t, head.dim) for t in head.transitions] for head in self.heads]
        self.codes = [[dense_code(code, head) for code in head.codes] for head in self.heads]
        self.rows = lrnn.decode.tolist()
        lookups = [{code: c for c, code in enumerate(codes)} for codes in self.codes]
        assert all(len(found) == len(codes) for found, codes in zip(lookups, self.codes, strict=True))
        self.lookups = lookups
        self.joint = {tuple(row[1:]): r for r, row in enumerate(self.rows)}
        assert len(self.joint) == len(self.rows)

    def places(self, word: Sequence[int], start_row: int = 0) -> list[int]:
        """Rows of `decode` after each letter, from the code in the given row; `KeyError` off the codes."""
        H = [self.codes[h][c] for h, c in enumerate(self.rows[start_row][1:])]
        result = []
        for x in word:
            H = [multiplied(A[x], state) for A, state in zip(self.letters, H, strict=True)]
            for h, head in enumerate(self.heads):
                H[h] = _added(H[h], head.transitions[x].additive)
            place = tuple(lookup[state] for lookup, state in zip(self.lookups, H, strict=True))
            result.append(self.joint[place])
        return result

    def states(self, word: Sequence[int], start_row: int = 0) -> list[int]:
        """State indices after each letter."""
        return [self.rows[r][0] for r in self.places(word, start_row)]


def _added(H: Dense, additive: Sequence[tuple[int, int, Any]]) -> Dense:
    rows = [list(row) for row in H]
    for i, j, x in additive:
        rows[i][j] = rows[i][j] + x
    return tuple(tuple(row) for row in rows)
