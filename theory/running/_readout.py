"""Decoding of inexact states: the nearest code, and how far a state is from being decoded wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ..arithmetic._rounding import Floats
from ._weights import dense_codes, sparse_codes

DENSE_ENTRIES = 4_000_000
"""Codes are kept dense up to this many entries a head."""
BATCH_ENTRIES = 100_000
"""Distances computed at once."""


class Readout:
    """Nearest joint code, by the Frobenius distance over all heads together, computed in float64.

    `cost`: entries computed for one state. Ties go to the first row of `LRNN.decode`. The margin of a state that should decode to q is
    (distance to the nearest code of another state - distance to the nearest code of q) / 2: it is positive where
    the state is decoded rightly, and no perturbation of a norm below it can change that.
    """

    def __init__(self, lrnn: LRNN) -> None:
        heads = lrnn.layers[-1].heads
        self.rows = lrnn.decode[:, 1:]
        self.state_of_row: Indices = lrnn.decode[:, 0]
        self.codes = [HeadCodes(head) for head in heads]
        self.cost = len(self.rows) * max(codes.width for codes in self.codes)
        self.several_states = bool((self.state_of_row != self.state_of_row[0]).any())

    def nearest(self, states: Sequence[Floats]) -> Indices:
        """Row of `LRNN.decode` of the nearest joint code `[batch]`; -1 for a state that is not finite.

        `states`: one array `[batch, dim, value_dim]` a head.
        """
        batch = len(states[0])
        found = np.empty(batch, dtype=np.int64)
        for part in self._parts(batch):
            scores, finite = self._scores([H[part] for H in states])
            found[part] = np.where(finite, scores.argmin(axis=1), -1)
        return found

    def decode(self, states: Sequence[Floats]) -> Indices:
        """Automaton states `[batch]` of the nearest joint codes; -1 for a state that is not finite."""
        row = self.nearest(states)
        return np.where(row < 0, -1, self.state_of_row[row])

    def observe(self, states: Sequence[Floats], right: Indices) -> tuple[Indices, float]:
        """Decoded states `[batch]`, and the least margin over the batch when `right` are the states to be.

        The margin is inf where the automaton has one state, -inf where a state is not finite.
        """
        batch = len(states[0])
        decoded = np.empty(batch, dtype=np.int64)
        least = np.inf
        for part in self._parts(batch):
            here = [H[part] for H in states]
            scores, finite = self._scores(here)
            row = scores.argmin(axis=1)
            decoded[part] = np.where(finite, self.state_of_row[row], -1)
            if not finite.all():
                least = -np.inf
            if not self.several_states or least == -np.inf:
                continue
            # the rows of the right state; the nearest of them, and the nearest of all others
            own = self.state_of_row[None, :] == right[part, None]
            near = np.where(own, scores, np.inf).argmin(axis=1)
            scores[own] = np.inf
            other = scores.argmin(axis=1)
            with np.errstate(over="ignore", invalid="ignore"):
                # (distance to the nearest wrong code - distance to the nearest right one) / 2
                margins = (self._distance(here, other) - self._distance(here, near)) / 2
            margins[np.isnan(margins)] = -np.inf  # both distances overflow
            least = min(least, float(margins.min(initial=np.inf)))
        return decoded, least

    def row_margins(self, rows: Indices) -> Floats:
        """Margins of exact states: half the distance of each row's code to the nearest code of another state."""
        margins = np.full(len(rows), np.inf)
        if not self.several_states:
            return margins
        for part in self._parts(len(rows)):
            here = [codes.dense(self.rows[rows[part], h]) for h, codes in enumerate(self.codes)]
            scores, _ = self._scores(here)
            # not the codes of its own state
            scores[self.state_of_row[None, :] == self.state_of_row[rows[part], None]] = np.inf
            margins[part] = self._distance(here, scores.argmin(axis=1)) / 2
        return margins

    def row_norms(self, rows: Indices) -> Floats:
        """Frobenius norms, all heads together, of the codes of the given rows."""
        return np.sqrt(
            sum((codes.norms[self.rows[rows, h]] for h, codes in enumerate(self.codes)), np.zeros(len(rows)))
        )

    def _parts(self, batch: int) -> list[slice]:
        size = max(BATCH_ENTRIES // self.cost, 1)
        return [slice(start, start + size) for start in range(0, batch, size)]

    def _scores(self, states: Sequence[Floats]) -> tuple[Floats, NDArray[np.bool_]]:
        """Squared distances less |H|² `[batch, rows]`, up to rounding, and which states are finite."""
        total: Floats | None = None
        finite = np.ones(len(states[0]), dtype=bool)
        for h, (H, codes) in enumerate(zip(states, self.codes, strict=True)):
            X = H.reshape(len(H), -1)
            finite &= np.isfinite(X).all(axis=1)
            with np.errstate(all="ignore"):
                each = codes.scores(X)
                # a row's score is the sum of those of its heads' codes
                each = each if codes.is_row_order(self.rows[:, h]) else each[:, self.rows[:, h]]
                total = each if total is None else np.add(total, each, out=total)
        if total is None:
            raise AssertionError("an LRNN has at least one head")
        return total, finite

    def _distance(self, states: Sequence[Floats], rows: Indices) -> Floats:
        """Distances `[batch]` to the codes of one row each, without cancellation."""
        total = np.zeros(len(rows))
        for h, (H, codes) in enumerate(zip(states, self.codes, strict=True)):
            difference = H.reshape(len(H), -1) - codes.dense(self.rows[rows, h]).reshape(len(H), -1)
            total += np.einsum("bi,bi->b", difference, difference)
        return np.asarray(np.sqrt(total))


class HeadCodes:
    """The codes of one head in float64, dense or sparse by their number."""

    def __init__(self, head: Head) -> None:
        self.shape = (head.dim, head.value_dim)
        self._flat: Floats | None = None
        if len(head.codes) * head.dim * head.value_dim <= DENSE_ENTRIES:
            self._flat = dense_codes(head, "fp64").reshape(len(head.codes), -1)
            self.norms: Floats = np.einsum("ci,ci->c", self._flat, self._flat)
            self.width = 1
        else:
            self.places, self.values = sparse_codes(head, "fp64")
            self.norms = np.einsum("ci,ci->c", self.values, self.values)
            self.width = self.places.shape[1]

    def dense(self, indices: Indices) -> Floats:
        """The codes of the given indices `[len(indices), dim, value_dim]`."""
        if self._flat is not None:
            return self._flat[indices].reshape(-1, *self.shape)
        result = np.zeros((len(indices), self.shape[0] * self.shape[1]))
        # padded entries add 0 at place 0
        np.add.at(result, (np.arange(len(indices))[:, None], self.places[indices]), self.values[indices])
        return result.reshape(-1, *self.shape)

    def scores(self, X: Floats) -> Floats:
        """|c|² - 2⟨x, c⟩ for all x `[batch, entries]` and all codes."""
        if self._flat is not None:
            # |c|² - 2⟨x, c⟩, added below; |x|² is the same for all codes
            result: Floats = X @ (-2 * self._flat.T)
        else:
            # sparse codes: entry k of code c is values[c, k] at places[c, k]
            result = np.einsum("bck,ck->bc", X[:, self.places], -2 * self.values)
        result += self.norms
        return result

    def nearest(self, X: Floats) -> Indices:
        """The first of the codes at the least exact distance, for all x `[batch, entries]`; -1 for one that is not finite.

        So it depends on a state alone, and not on how many are read at once, as the last bits of `scores` do.
        """
        finite = np.isfinite(X).all(axis=1)
        with np.errstate(all="ignore"):
            close = close_rows(X, self.scores(X), float(self.norms.max()))
        row = close.argmax(axis=1)
        # more than one code is close, so exact distances decide
        for i in np.flatnonzero(finite & (close.sum(axis=1) != 1)).tolist():
            rows = np.flatnonzero(close[i])
            row[i] = rows[nearest_exactly(X[i], self.dense(rows).reshape(len(rows), -1))]
        return np.where(finite, row, -1)

    def is_row_order(self, indices: Indices) -> bool:
        """True where the given indices are all codes in their order."""
        return len(indices) == len(self.norms) and bool((indices == np.arange(len(indices))).all())


HUGE, TINY = 1e100, 1e-100
"""Codes and states beyond, and errors below, are left to rational numbers: squares could overflow or underflow."""


def close_rows(states: Floats, scores: Floats, largest: float) -> NDArray[np.bool_]:
    """Which codes may be nearest to each state `[batch, codes]`: one, where float64 arithmetic decides.

    `scores` `[batch, codes]`: |c|² - 2⟨x, c⟩ in float64; `largest`: the largest |c|². Each score's error is below
    (entries + 2) · 2^-53 · (|c|² + 2|x||c|). Where squares could overflow or underflow, all codes are named.
    """
    length, most = np.sqrt(np.einsum("be,be->b", states, states)), float(np.sqrt(largest))
    # more than the errors of two scores together
    gap = (states.shape[1] + 8) * 2.0**-51 * (largest + 2 * length * most)
    close: NDArray[np.bool_] = scores <= (scores.min(axis=1) + gap)[:, None]
    close[~((length < HUGE) & (gap > TINY) & (most < HUGE))] = True
    return close


def nearest_exactly(state: Floats, codes: Floats) -> int:
    """The first of the codes `[codes, entries]` at the least distance from a finite state `[entries]`, in rational numbers."""
    h = [Fraction(x) for x in state.tolist()]
    distances = [sum((a - Fraction(b)) ** 2 for a, b in zip(h, code, strict=True)) for code in codes.tolist()]
    return distances.index(min(distances))
