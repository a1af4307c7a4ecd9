"""`Steps`: the transitions of the tokens of one word in one layer, as factors, diagonals or matrices, all in float64.

Products of n tokens are A_n···A_1, and what is asked of them is their eigenvalues, and when their norm has shrunk below a bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automata._automaton import Indices
from ...theory.arithmetic._rounding import Floats

Complexes = NDArray[np.complex128]
MATRICES = 2_000_000
"""Entries of the matrices that are multiplied at once, about."""


@dataclass(frozen=True, eq=False)
class Steps(ABC):
    """The transitions of one layer for T tokens of a word, in all heads."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """The numbers of tokens and heads, and the dimension of a head."""

    @abstractmethod
    def apply(self, P: Floats, at: Indices, heads: slice) -> Floats:
        """A P for the tokens at some places.

        Args:
            P: a matrix for each place and head, `[places, heads, K, K]`.
            at: the places, int `[places]`.
            heads: the heads that `P` is about.

        Returns:
            Float `[places, heads, K, K]`.
        """

    @abstractmethod
    def without_signs(self) -> Steps | None:
        """The same transitions with every factor, or entry of a diagonal, clipped so that its eigenvalues are not negative; None if unknown."""

    @property
    def closed(self) -> bool:
        """Whether a single token's eigenvalues come from a matrix of at most four rows, so that all tokens can be looked at."""
        return False

    def eigenvalues(self, starts: Indices, tokens: int) -> Complexes:
        """The eigenvalues of the products of consecutive tokens.

        Args:
            starts: the places of their first tokens, int `[places]`.
            tokens: how many tokens each product has, at least 1.

        Returns:
            Complex `[places, heads, K or fewer]`: all of them but multiples of one that is there.
        """
        _, heads, K = self.shape
        found = []
        for part in _parts(heads, len(starts) * K * K):
            P = np.broadcast_to(np.eye(K), (len(starts), part.stop - part.start, K, K))
            for i in range(tokens):
                P = self.apply(P, starts + i, part)
            found.append(np.linalg.eigvals(P).astype(np.complex128))
        return np.concatenate(found, axis=1)

    def memory_lengths(self, starts: Indices, horizon: int, bounds: tuple[float, ...]) -> Indices:
        """How many tokens it takes until the spectral norm of the product of all tokens from a place on is below a bound.

        Args:
            starts: the places of the first tokens, int `[places]`.
            horizon: the largest number of tokens of a product, at least 1.
            bounds: the bounds, the largest first.

        Returns:
            Int `[bounds, places, heads]`; 0 where the norm stays at or above the bound.
        """
        _, heads, K = self.shape
        found = np.zeros((len(bounds), len(starts), heads), dtype=np.int64)
        for part in _parts(heads, len(starts) * K * K):
            found[:, :, part] = self._memory(starts, horizon, bounds, part)
        return found

    def _memory(self, starts: Indices, horizon: int, bounds: tuple[float, ...], part: slice) -> Indices:
        K, count = self.shape[2], part.stop - part.start
        found = np.zeros((len(bounds), len(starts), count), dtype=np.int64)
        P: Floats = np.broadcast_to(np.eye(K), (len(starts), count, K, K)).copy()
        # ‖P v‖ for a unit v is a lower bound of the norm, so singular values are needed only where it is below the bound
        v = np.full((len(starts), count, K), K**-0.5)
        level = np.zeros((len(starts), count), dtype=np.int64)
        limits = np.array([*bounds, -np.inf])
        for n in range(1, horizon + 1):
            P = self.apply(P, starts + n - 1, part)
            lower = np.linalg.norm((P @ v[..., None])[..., 0], axis=-1)
            doubtful = np.nonzero(lower < limits[level])
            if not len(doubtful[0]):
                continue
            _, sizes, rows = np.linalg.svd(P[doubtful])
            v[doubtful] = rows[:, 0]
            for i in range(len(bounds)):
                below = (level[doubtful] == i) & (sizes[:, 0] < bounds[i])
                places = tuple(axis[below] for axis in doubtful)
                found[i][places] = n
                level[places] = i + 1
            if (level == len(bounds)).all():
                break
        return found


def _parts(heads: int, entries: int) -> list[slice]:
    """Slices of the heads, so few at a time that their matrices have about `MATRICES` entries, of which each has `entries`."""
    some = max(1, MATRICES // max(entries, 1))
    return [slice(h, min(h + some, heads)) for h in range(0, heads, some)]


@dataclass(frozen=True, eq=False)
class FactorSteps(Steps):
    """Generalized Householder factors: A = (I - β_m k_m k_mᵀ)···(I - β_1 k_1 k_1ᵀ) g.

    Attributes:
        beta: `[tokens, n_h, heads]`.
        keys: `[tokens, n_h, heads, K]`.
        gate: `[tokens, heads]`.
    """

    beta: Floats
    keys: Floats
    gate: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of tokens and heads, and the dimension of a head."""
        return len(self.keys), self.keys.shape[2], self.keys.shape[3]

    @property
    def strength(self) -> Floats:
        """β‖k‖² of each factor, `[tokens, n_h, heads]`."""
        squares: Floats = np.einsum("tjhk,tjhk->tjh", self.keys, self.keys)
        return self.beta * squares

    @property
    def closed(self) -> bool:
        """Whether there are at most four factors: the other eigenvalues of a token are its gate."""
        return bool(self.keys.shape[1] <= 4)

    def apply(self, P: Floats, at: Indices, heads: slice) -> Floats:
        """The gate, then one factor after another; see `Steps.apply`."""
        P = P * self.gate[at, heads, None, None]
        for j in range(self.keys.shape[1]):
            k = self.keys[at, j, heads]
            weighted = k * self.beta[at, j, heads, None]
            P = P - weighted[..., :, None] * (k[..., None, :] @ P)
        return P

    def eigenvalues(self, starts: Indices, tokens: int) -> Complexes:
        """Those of I - W Kᵀ for few factors, and the product of the gates; see `Steps.eigenvalues`."""
        _, heads, K = self.shape
        factors = self.keys.shape[1]
        m = tokens * factors
        if m >= K:
            return super().eigenvalues(starts, tokens)
        at = starts[:, None] + np.arange(tokens)
        beta = self.beta[at].reshape(len(starts), m, heads).transpose(0, 2, 1)  # [places, heads, m]
        keys = self.keys[at].reshape(len(starts), m, heads, K).transpose(0, 2, 1, 3)
        gate = self.gate[at].prod(axis=1)[..., None]
        weighted = beta[..., None] * (keys @ keys.swapaxes(2, 3))
        # row j of W is β_j (k_j - Σ_{i<j} (k_j·k_i) W_i), so that the product is I - Kᵀ W, whose eigenvalues beside 1 are these
        small = np.linalg.solve(np.eye(m) + np.tril(weighted, -1), weighted)
        found = gate * np.linalg.eigvals(np.eye(m) - small)
        return np.concatenate([found, gate], axis=-1).astype(np.complex128)

    def without_signs(self) -> FactorSteps:
        """β‖k‖² at most 1, and gates of at least 0."""
        squares = np.einsum("tjhk,tjhk->tjh", self.keys, self.keys)
        with np.errstate(divide="ignore"):
            most = np.where(squares > 0, 1 / squares, 0.0)
        return FactorSteps(np.clip(self.beta, 0.0, most), self.keys, np.clip(self.gate, 0.0, None))

    def key_angles(self) -> tuple[Floats, Floats]:
        """Angles between the lines of consecutive keys in degrees, from 0 to 90, since k and -k are one factor.

        Returns:
            Between the last key of a token and the first of the next, `[tokens - 1, heads]`; and within tokens, `[tokens, n_h - 1, heads]`.
            Not a number where a key is 0.
        """
        sizes = np.linalg.norm(self.keys, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = self.keys / sizes[..., None]

        def angle(first: Any, second: Any) -> Floats:
            cosine = np.abs((first * second).sum(axis=-1))
            result: Floats = np.degrees(np.arccos(np.minimum(cosine, 1.0)))
            return result

        return angle(unit[:-1, -1], unit[1:, 0]), angle(unit[:, :-1], unit[:, 1:])


@dataclass(frozen=True, eq=False)
class DiagonalSteps(Steps):
    """Diagonal transitions.

    Attributes:
        entries: the diagonals, `[tokens, heads, K]`.
    """

    entries: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of tokens and heads, and the dimension of a head."""
        tokens, heads, K = self.entries.shape
        return tokens, heads, K

    @property
    def closed(self) -> bool:
        """The eigenvalues are the entries."""
        return True

    def apply(self, P: Floats, at: Indices, heads: slice) -> Floats:
        """Rows times entries; see `Steps.apply`."""
        return P * self.entries[at, heads, :, None]

    def eigenvalues(self, starts: Indices, tokens: int) -> Complexes:
        """Products of entries; see `Steps.eigenvalues`."""
        at = starts[:, None] + np.arange(tokens)
        result: Complexes = self.entries[at].prod(axis=1).astype(np.complex128)
        return result

    def _memory(self, starts: Indices, horizon: int, bounds: tuple[float, ...], part: slice) -> Indices:
        at = starts[:, None] + np.arange(horizon)
        sizes = np.abs(np.cumprod(self.entries[at, part], axis=1)).max(axis=-1)  # [places, horizon, heads]
        below = [sizes < bound for bound in bounds]
        return np.array([np.where(b.any(axis=1), b.argmax(axis=1) + 1, 0) for b in below])

    def without_signs(self) -> DiagonalSteps:
        """Entries of at least 0."""
        return DiagonalSteps(np.clip(self.entries, 0.0, None))


@dataclass(frozen=True, eq=False)
class MatrixSteps(Steps):
    """Any matrices.

    Attributes:
        matrices: `[tokens, heads, K, K]`.
    """

    matrices: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of tokens and heads, and the dimension of a head."""
        tokens, heads, K, _ = self.matrices.shape
        return tokens, heads, K

    def apply(self, P: Floats, at: Indices, heads: slice) -> Floats:
        """Matrix products; see `Steps.apply`."""
        result: Floats = self.matrices[at, heads] @ P
        return result

    def without_signs(self) -> Steps | None:
        """None: it is not known which part of a matrix makes its eigenvalues negative."""
        return None


def diagonals_of(matrices: Floats) -> Floats | None:
    """The diagonals of matrices `[..., K, K]`, if all are diagonal."""
    entries = np.diagonal(matrices, axis1=-2, axis2=-1)
    alone = np.count_nonzero(matrices) == np.count_nonzero(entries)
    return np.ascontiguousarray(entries) if alone else None
