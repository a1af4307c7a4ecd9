"""A linear layer as a `Machine`: heads side by side, H ← A(x) H + B(x) in a rounding arithmetic, on rows of bits.

States are kept as the bits of a narrow type that holds all values of the format: bfloat16, float16, float32 or
float64. A zero is always +0: the sums of `per_step` and `per_op` depend on the sign of a zero only in the sign of a
zero, and so does no distance; so states that differ in it alone have the same future. A letter that only moves
entries, whose every row is one entry 1 or a constant, moves bits: rounding a value of the format changes nothing.

The answer is that of the nearest code, decided without any tolerance. Codes are float64 numbers (exact numbers rounded
once). The code nearest to a state has the least exact Frobenius distance, over all heads together; ties go to the first
row. Float64 arithmetic decides where it provably can: a state nearer to a row than half that row's distance to the rows
with other answers is read rightly; what is left is compared in rational numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ..arithmetic._arithmetic import PerOp, PerStep, Rounded
from ..arithmetic._exact_sum import exact_product_sum
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ..running._readout import HUGE, TINY, close_rows, nearest_exactly
from ..running._weights import MAX_ENTRIES, HeadWeights, dense_codes, head_weights
from ._answers import Answers
from ._state_search import NodeForm, Rows, guess_pairs

SAFE = 1 - 2.0**-20
"""Shrinks a margin by far more than the float64 errors of distances, which are below entries · 2^-52 of them."""
ENTRIES = 4_000_000
"""Differences, or entries of the matrices of rows, computed at once."""
DOUBTFUL = 256
"""States decoded at once until a wrong one is found."""
LISTED = 4
"""Answers with at most so many codes are compared with these alone."""


class CodeReader:
    """`codes` `[rows, entries]`; `answers` `[rows, 1]`, or `[rows, letters]` where the last letter matters."""

    def __init__(self, codes: Floats, answers: Indices) -> None:
        self.codes, self.answers = codes, answers
        self.by_letter = answers.shape[1] > 1
        self.margins = np.full(answers.shape, np.nan)
        self._norms = np.einsum("ce,ce->c", codes, codes)
        self._huge = bool((np.abs(codes) > HUGE).any())
        # + 0.0 makes -0 into +0, so that equal codes have equal bytes
        texts = np.ascontiguousarray(codes + 0.0).view(np.dtype((np.void, 8 * codes.shape[1])))
        self._distinct = len(np.unique(texts)) == len(codes)
        self._own = [_rows_of(column) for column in answers.T]

    def first_wrong(self, states: Floats, letters: Indices, expected: Indices) -> int:
        """The first place where the nearest code's answer is not the expected one, or -1.

        A state that is not finite is wrong.
        """
        doubtful: NDArray[np.bool_] = np.logical_not(np.isfinite(states).all(axis=1))
        good = np.flatnonzero(~doubtful)
        columns = letters if self.by_letter else np.zeros(len(states), dtype=np.int64)
        for column in np.unique(columns[good]).tolist() if self.by_letter else [0]:
            here = good[columns[good] == column] if self.by_letter else good
            # a state within the safe margin of a code with the expected answer needs no exact look
            doubtful[here] = ~self._surely(states[here], column, expected[here])
        left = np.flatnonzero(doubtful)
        for start in range(0, len(left), DOUBTFUL):
            part = left[start : start + DOUBTFUL]
            wrong = part[self.decode(states[part], columns[part]) != expected[part]]
            if wrong.size:
                return int(wrong[0])
        return -1

    def decode(self, states: Floats, letters: Indices) -> Indices:
        """The answers of the nearest codes `[batch]`; -1 for a state that is not finite."""
        found = np.full(len(states), -1, dtype=np.int64)
        size = max(ENTRIES // len(self.codes), 1)
        for start in range(0, len(states), size):
            part = states[start : start + size]
            finite = np.isfinite(part).all(axis=1)
            with np.errstate(all="ignore"):
                # |x|² is the same for all codes, so it is left out
                scores = part @ (-2 * self.codes.T) + self._norms  # |x - c|² - |x|²
                # all rows that float64 cannot tell from the nearest one
                close = close_rows(part, scores, float(self._norms.max()))
            row = close.argmax(axis=1)
            # the only close row is the nearest; of several the exact distances decide
            for i in np.flatnonzero(finite & (close.sum(axis=1) != 1)).tolist():
                rows = np.flatnonzero(close[i])
                row[i] = rows[nearest_exactly(part[i], self.codes[rows])]
            columns = letters[start : start + size] if self.by_letter else 0
            answers = self.answers[row, columns]
            found[start : start + size] = np.where(finite, answers, -1)
        return found

    def _surely(self, states: Floats, column: int, expected: Indices) -> NDArray[np.bool_]:
        """Where a state lies within the safe margin of a code with the expected answer."""
        own = self._own[column]
        if not len(states):
            return np.zeros(0, dtype=bool)
        # an answer with many codes: the row that seems nearest is tried, and sure only within its margin
        if own is None:
            size = max(ENTRIES // len(self.codes), 1)
            with np.errstate(all="ignore"):
                parts = [states[i : i + size] @ (-2 * self.codes.T) for i in range(0, len(states), size)]
                rows = np.concatenate([(p + self._norms).argmin(axis=1) for p in parts])
            right = self.answers[rows, column] == expected
            sure: NDArray[np.bool_] = right & self._within(states, rows, column)
            return sure
        possible = (expected >= 0) & (expected < len(own))
        candidates = own[np.where(possible, expected, 0)]
        sure = np.zeros(len(states), dtype=bool)
        # each column of the table has one more code for every answer, -1 for none
        for rows in candidates.T:
            sure |= possible & (rows >= 0) & self._within(states, np.maximum(rows, 0), column)
        return sure

    def _within(self, states: Floats, rows: Indices, column: int) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            difference = states - self.codes[rows]
            distance = np.sqrt(np.einsum("be,be->b", difference, difference))
        # a state that is a code has distance 0 to it, and more to all others if they are distinct
        sure: NDArray[np.bool_] = (difference == 0).all(axis=1) & self._distinct
        left = np.flatnonzero(~sure)
        needed = np.unique(rows[left][np.isnan(self.margins[rows[left], column])])
        if needed.size:
            self._find_margins(needed, column)
        sure[left] = distance[left] < self.margins[rows[left], column] * SAFE
        return sure

    def _find_margins(self, rows: Indices, column: int) -> None:
        answers = self.answers[:, column]
        size = max(ENTRIES // max(self.codes.size, 1), 1)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            with np.errstate(all="ignore"):
                squares = ((self.codes[part, None] - self.codes[None]) ** 2).sum(axis=2)
            # codes with the same answer do not limit the margin
            squares[answers[part, None] == answers[None]] = np.inf
            # |x - c| < |c - c′|/2 for each c′ with another answer: then c is nearer than all of them
            margins = np.sqrt(squares.min(axis=1)) / 2
            # distances that float64 cannot square without over- or underflow give no margin
            self.margins[part, column] = 0 if self._huge else np.where(margins > TINY, margins, 0)


def _rows_of(answers: Indices) -> Indices | None:
    """For each answer its rows, -1 behind fewer; None where one has too many."""
    known = np.flatnonzero(answers >= 0)
    if not known.size:
        return None
    counts = np.bincount(answers[known])
    if counts.max() > LISTED:
        return None
    table = np.full((len(counts), counts.max()), -1, dtype=np.int64)
    order = known[np.argsort(answers[known], kind="stable")]
    sorted_answers = answers[order]
    # each row's number among those of its answer
    first = np.searchsorted(sorted_answers, sorted_answers)
    table[sorted_answers, np.arange(len(order)) - first] = order
    return table


@dataclass(frozen=True, eq=False)
class LinearHead:
    """`weights` and `initial` `[dim, value_dim]`, all values of the arithmetic's format."""

    weights: HeadWeights
    initial: Floats

    @property
    def entries(self) -> int:
        """Entries of a state."""
        return self.weights.dim * self.weights.value_dim

    def moves(self, letter: int) -> tuple[Indices, Floats] | None:
        """Where the letter only moves entries: for each the entry that comes to it, -1 for a constant, and these."""
        w = self.weights
        values, columns = w.values[:, letter], w.columns[:, letter]
        filled = values != 0
        b = np.zeros((w.dim, w.value_dim)) if w.additive is None else w.additive[letter]
        # a row with two entries, or with one other than 1, computes
        if (filled.sum(axis=0) > 1).any() or (values[filled] != 1).any():
            return None
        # a row with an entry and a constant adds
        if (filled.any(axis=0) & (b != 0).any(axis=1)).any():
            return None
        # a row has one entry 1 at most, so the sum over its entries is that one's column
        source = np.where(filled.any(axis=0), (columns * filled).sum(axis=0), -1)
        # entry (i, j) comes from (source of i, j)
        place = source[:, None] * w.value_dim + np.arange(w.value_dim)
        return np.where(source[:, None] < 0, -1, place).ravel(), b.ravel()

    def matrix(self, letter: int) -> Floats:
        """The dense matrix `[dim, dim]`."""
        w = self.weights
        result = np.zeros((w.dim, w.dim))
        rows = np.arange(w.dim)
        # the k-th entries of all rows; rows with fewer have zeros there
        for values, columns in zip(w.values[:, letter], w.columns[:, letter], strict=True):
            result[rows, columns] += values
        return result

    def matrices(self, letters: Indices) -> tuple[Floats, Indices]:
        """Dense matrices `[n, dim, dim]`, and for each letter the place of its own; those of all letters are kept where they are few."""
        if self.all_matrices is not None:
            return self.all_matrices, letters
        used, place = np.unique(letters, return_inverse=True)
        return np.stack([self.matrix(x) for x in used.tolist()]), place

    @cached_property
    def all_matrices(self) -> Floats | None:
        """The dense matrices of all letters, None for too many entries."""
        w = self.weights
        return w.dense() if w.columns.shape[1] * w.dim**2 <= ENTRIES else None


class LinearMachine:
    """Heads side by side; `reader` decodes the joint state, entries of all heads one after the other.

    Without a reader it can step, and nothing else.
    """

    def __init__(
        self,
        heads: Sequence[LinearHead],
        arithmetic: Rounded,
        reader: CodeReader | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.heads, self.arithmetic, self.reader, self.answers = tuple(heads), arithmetic, reader, answers
        self.carrier = _carrier(arithmetic)
        target = arithmetic.values
        self.overflows = isinstance(target, FloatFormat) and not target.saturating
        self.form = NodeForm(self.carrier.bits, sum(head.entries for head in heads))
        self.reads_letters = any(part is not None and part.by_letter for part in (reader, answers))
        letters = heads[0].weights.values.shape[1]
        self.moves = [self._joint_moves(x) for x in range(letters)]
        places = np.arange(self.form.entries)
        # idle: every entry comes from its own place
        self.idle = tuple(m is not None and np.array_equal(m[0], places) for m in self.moves)

    @cached_property
    def has_finite_weights(self) -> bool:
        """Whether no entry of A, B and H_0 became infinite when it was rounded."""
        stored = [x for h in self.heads for x in (h.weights.values, h.weights.additive, h.initial)]
        return all(bool(np.isfinite(x).all()) for x in stored if x is not None)

    def initial(self) -> Rows:
        """H_0 `[1, entries]`."""
        return self.carrier.encode(np.concatenate([head.initial.ravel() for head in self.heads])[None])

    def step(self, rows: Rows, letter: int) -> Rows:
        """A(x) H + B(x) for all rows."""
        moves = self.moves[letter]
        if moves is None:
            return self.carrier.encode(self.step_numbers(self.carrier.decode(rows), letter))
        source, constants = moves
        # constants are taken from anywhere and overwritten
        moved = rows.take(np.maximum(source, 0), axis=1)
        if (source < 0).any():
            moved[:, source < 0] = self.carrier.encode(constants[None])[:, source < 0]
        if self.overflows:
            # 0·inf is nan, which moving bits does not see
            odd = ~self.carrier.is_finite(rows).all(axis=1)
            if odd.any():
                moved[odd] = self.carrier.encode(self.step_numbers(self.carrier.decode(rows[odd]), letter))
        return moved

    def step_numbers(self, states: Floats, letter: int) -> Floats:
        """The same on float64 numbers `[batch, entries]`."""
        after, first = [], 0
        for head in self.heads:
            w = head.weights
            H = states[:, first : first + head.entries].reshape(-1, w.dim, w.value_dim)
            after.append(self._spread(H, self._head(head, H, letter)).reshape(len(states), -1))
            first += head.entries
        return np.concatenate(after, axis=1)

    def step_each(self, rows: Rows, letters: Indices) -> Rows:
        """The bits after a letter of its own for each row, int `[rows]`."""
        after, first = [], 0
        states = self.carrier.decode(rows)
        for head in self.heads:
            w = head.weights
            H = states[:, first : first + head.entries].reshape(-1, w.dim, w.value_dim)
            after.append(self._spread(H, self._head_each(head, H, letters)).reshape(len(states), -1))
            first += head.entries
        return self.carrier.encode(np.concatenate(after, axis=1))

    def guess(self, row: Rows, letter: int, length: int) -> Rows | None:
        """One head of two entries in a narrow format: plain float arithmetic (`guess_pairs`)."""
        target, head = self.arithmetic.values, self.heads[0]
        if not isinstance(self.arithmetic, PerStep) or self.arithmetic.mode != "rne":
            return None
        if not isinstance(target, FloatFormat) or target.precision > 24 or len(self.heads) > 1:
            return None
        if (head.weights.dim, head.weights.value_dim) != (2, 1):
            return None
        w = head.weights
        b = np.zeros(2) if w.additive is None else w.additive[letter].ravel()
        guesses = guess_pairs(head.matrix(letter), b, self.carrier.decode(row)[0], target, length)
        with np.errstate(all="ignore"):
            return self.carrier.encode(guesses)

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the nearest code does not give the right answer, or -1."""
        if self.reader is None or self.answers is None:
            raise ValueError("a machine without a reader gives no answers")
        states = self.carrier.decode(rows)
        return self.reader.first_wrong(states, letters, self.answers.right(letters, before, after))

    def _spread(self, H: Floats, after: Floats) -> Floats:
        """No entry is finite where the column had one that was not: each sums a product with it, and 0·inf is nan."""
        if self.overflows:
            odd = ~np.isfinite(H).all(axis=1, keepdims=True)
            if odd.any():
                # zeros of A are left out of the sums of `per_step`
                after = np.where(odd & np.isfinite(after), np.nan, after)
        return after

    def _head(self, head: LinearHead, H: Floats, letter: int) -> Floats:
        w = head.weights
        b = None if w.additive is None else w.additive[letter][None]
        if isinstance(self.arithmetic, PerOp):
            return self.arithmetic.affine(head.matrix(letter)[None], H, b)
        pairs = []
        # Σ_k a_ik H[column k of row i, ·], the sum left exact until it is rounded once
        for values, columns in zip(w.values[:, letter], w.columns[:, letter], strict=True):
            if values.any():
                pairs.append((values[None, :, None], H.take(columns, axis=1)))
        if not pairs:
            pairs = [(np.zeros((1, 1, 1)), np.zeros_like(H))]
        target = self.arithmetic.values
        if isinstance(target, FloatFormat) and self.arithmetic.mode == "rne":
            return exact_product_sum(pairs, target, b)
        return self.arithmetic.product_sum(pairs, b)

    def _head_each(self, head: LinearHead, H: Floats, letters: Indices) -> Floats:
        """`_head` with a letter of its own for each state."""
        w = head.weights
        if isinstance(self.arithmetic, PerOp):
            A, place = head.matrices(letters)
            after = np.empty_like(H)
            rows = max(1, ENTRIES // w.dim**2)
            for i in range(0, len(H), rows):
                part = slice(i, i + rows)
                added = None if w.additive is None else w.additive[letters[part]]
                after[part] = self.arithmetic.affine(A[place[part]], H[part], added)
            return after
        b = None if w.additive is None else w.additive[letters]
        # `[states, dim]` entries and columns of each state's letter, as in `_head`
        pairs = [
            (values[letters][:, :, None], np.take_along_axis(H, columns[letters][:, :, None], axis=1))
            for values, columns in zip(w.values, w.columns, strict=True)
        ]
        target = self.arithmetic.values
        if isinstance(target, FloatFormat) and self.arithmetic.mode == "rne":
            return exact_product_sum(pairs, target, b)
        return self.arithmetic.product_sum(pairs, b)

    def _joint_moves(self, letter: int) -> tuple[Indices, Floats] | None:
        sources, constants, first = [], [], 0
        for head in self.heads:
            moves = head.moves(letter)
            if moves is None:
                return None
            # entries of this head begin at `first` of the joint state
            sources.append(np.where(moves[0] < 0, -1, moves[0] + first))
            constants.append(moves[1])
            first += head.entries
        return np.concatenate(sources), np.concatenate(constants)


@dataclass(frozen=True)
class Carrier:
    """The narrow float type whose bits are kept: `kind` bf16, fp16, fp32 or fp64."""

    kind: str
    bits: np.dtype[np.unsignedinteger]

    def encode(self, states: Floats) -> Rows:
        """The bits of values of the format; -0 becomes +0."""
        positive: Any = states + 0.0  # -0 + 0 = +0
        with np.errstate(over="ignore"):
            if self.kind == "bf16":
                # a bfloat16 is the upper half of a float32; the lower half is zero for its values
                wide = np.ascontiguousarray(positive, dtype=np.float32).view(np.uint32)
                return (wide >> np.uint32(16)).astype(np.uint16)
            carried = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[self.kind]
            return np.ascontiguousarray(positive, dtype=carried).view(self.bits)

    def decode(self, rows: Rows) -> Floats:
        """The numbers as float64."""
        if self.kind == "bf16":
            return (rows.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
        carried = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[self.kind]
        return np.ascontiguousarray(rows).view(carried).astype(np.float64)

    def is_finite(self, rows: Rows) -> NDArray[np.bool_]:
        """Which are neither infinite nor nan: their exponent is not all ones."""
        ones = {"bf16": 0x7F80, "fp16": 0x7C00, "fp32": 0x7F80_0000, "fp64": 0x7FF0_0000_0000_0000}[self.kind]
        exponents = self.bits.type(ones)
        finite: NDArray[np.bool_] = (rows & exponents) != exponents
        return finite


def _carrier(arithmetic: Rounded) -> Carrier:
    target = arithmetic.values
    if isinstance(target, FloatFormat):
        largest = float(target.max_finite)
        # eight bits and bfloat16's exponents hold every value of such a format
        if target.precision <= 8 and target.min_exponent >= -126 and largest < 2.0**127:
            return Carrier("bf16", np.dtype(np.uint16))
        if target.name in ("bf16", "fp16"):
            return Carrier(target.name, np.dtype(np.uint16))
        if target.precision <= 24 and target.min_exponent >= -126:
            return Carrier("fp32", np.dtype(np.uint32))
    return Carrier("fp64", np.dtype(np.uint64))


def round_head(head: Head, code: int, arithmetic: Rounded) -> LinearHead:
    """A constructed head: its exact weights and initial code rounded once, as the arithmetic rounds, to its values."""
    target = arithmetic.values
    if isinstance(target, FloatFormat):
        weights = head_weights(head, target, arithmetic.mode)
        initial = dense_codes(_only(head, code), target, mode=arithmetic.mode)[0]
        return LinearHead(weights, initial)
    # of sets of values that are no floats, the weights must be float64 numbers first
    exact = head_weights(head, "fp64")
    initial = dense_codes(_only(head, code), "fp64")[0]
    if not exact.exact:
        raise InputError(
            f"arithmetic {arithmetic.name}: the weights are no float64 numbers, so they would be rounded twice"
        )
    rounded = HeadWeights(
        exact.dim, exact.value_dim, exact.columns, arithmetic.round(exact.values),
        None if exact.additive is None else arithmetic.round(exact.additive), False,
    )  # fmt: skip
    return LinearHead(rounded, arithmetic.round(initial))


def linear_machine(
    lrnn: LRNN, arithmetic: Rounded, answers: Answers, max_entries: int = MAX_ENTRIES
) -> LinearMachine:
    """A one-layer LRNN in `per_step` or `per_op`, read by the nearest joint code."""
    heads = lrnn.only_layer.heads
    start = lrnn.decode[0, 1:].tolist()
    rounded = [round_head(head, code, arithmetic) for head, code in zip(heads, start, strict=True)]
    return LinearMachine(rounded, arithmetic, code_reader(lrnn, answers, max_entries), answers)


def code_reader(lrnn: LRNN, answers: Answers, max_entries: int = MAX_ENTRIES) -> CodeReader:
    """The nearest joint code of a one-layer LRNN, codes rounded once to float64."""
    parts = [
        dense_codes(head, float_format("fp64"), max_entries)[lrnn.decode[:, h + 1]].reshape(
            len(lrnn.decode), -1
        )
        for h, head in enumerate(lrnn.only_layer.heads)
    ]
    return CodeReader(np.concatenate(parts, axis=1), answers.of_states(lrnn.decode[:, 0])[:, None])


def _only(head: Head, code: int) -> Head:
    return Head(head.dim, head.value_dim, (), (head.codes[code],), np.zeros((0, 1), dtype=np.int64))
