"""The compositional proof: every head maps its codes to codes, bit for bit, and the code tables are right.

First, in the arithmetic, each transition of each head is applied to each code: linear in transitions times codes,
however many joint states there are. If every image is the code that the exact table names, the states are codes
after every word, by induction. Then only the tables are left: their joint codes are searched breadth first, or,
where a covering stands for them, the checker of table certificates proves the covering.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ..arithmetic._arithmetic import Rounded
from ..arithmetic._rounding import Floats
from ..running._weights import MAX_ENTRIES, dense_codes
from ._answers import Answers
from ._linear import LinearHead, LinearMachine, round_head
from ._state_search import NodeForm, Rows

ENTRIES = 2_000_000
"""State entries computed at once."""


def codes_are_closed(lrnn: LRNN, arithmetic: Rounded) -> bool:
    """True where every head maps each of its codes to the code of its table, bit for bit, by every transition.

    The codes must be values of the format as they are, and the arithmetic's own step is what is run. False also
    where the codes are too many to be listed densely.
    """
    return all(_is_closed(head, arithmetic) for head in lrnn.all_heads)


def _is_closed(head: Head, arithmetic: Rounded) -> bool:
    if len(head.codes) * head.dim * head.value_dim > MAX_ENTRIES:
        return False
    # codes as float64 must be the exact ones, and values of
    # the format, or closed bits would prove nothing about them
    codes = dense_codes(head, "fp64").reshape(len(head.codes), -1)
    exact = codes_are_exact(head, codes)
    if not exact or not np.array_equal(arithmetic.round(codes), codes):
        return False
    machine = _head_machine(round_head(head, 0, arithmetic), arithmetic)
    bits = machine.carrier.encode(codes)
    size = max(ENTRIES // bits.shape[1], 1)
    # one transition for all codes at once; its images must be those of the exact table, bit for bit
    for t, images in enumerate(head.code_transitions):
        for start in range(0, len(bits), size):
            part = slice(start, start + size)
            if not np.array_equal(machine.step(bits[part], t), bits[images[part]]):
                return False
    return True


def codes_are_exact(head: Head, codes: Floats) -> bool:
    """True where the float64 codes are the exact ones: they have 53 bits or fewer."""
    from fractions import Fraction

    from ...constructions.algebra._cyclotomic import Algebraic

    numbers = {x for code in head.codes for _, _, x in code}
    return all(not isinstance(x, Algebraic) and Fraction(float(x)) == x for x in numbers) and bool(
        np.isfinite(codes).all()
    )


def _head_machine(head: LinearHead, arithmetic: Rounded) -> LinearMachine:
    """The head alone, without a decoder."""
    return LinearMachine([head], arithmetic)


class CodeMachine:
    """An LRNN by its code tables: a state is one code a head, of all layers."""

    def __init__(self, lrnn: LRNN, answers: Answers) -> None:
        self.lrnn, self.answers = lrnn, answers
        self.form = NodeForm(np.dtype(np.uint32), len(lrnn.all_heads))
        self.layered = lrnn.is_layered
        self.reads_letters = self.layered or answers.by_letter
        self.idle = (False,) * len(answers.automaton.letters)
        if not self.layered:
            self._rows = _RowIndex(lrnn.decode[:, 1:])

    def initial(self) -> Rows:
        """The first row of the decoding."""
        return self.lrnn.decode[:1, 1:].astype(np.uint32)

    def step(self, rows: Rows, letter: int) -> Rows:
        """The joint codes after a letter, layer by layer."""
        after = np.empty_like(rows)
        letters = np.full(len(rows), letter, dtype=np.int64)
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            # -1 stands for a letter that no read-out gives; 0 takes
            # its place in the tables, and the result is -1 again
            known = np.maximum(letters, 0)
            codes: list[Indices] = []
            for h in range(columns.start, columns.stop):
                head = self.lrnn.all_heads[h]
                codes.append(head.code_transitions[head.action_of(known), rows[:, h].astype(np.int64)])
                after[:, h] = codes[-1]
            # read-outs are by the new codes, as they are when the model runs
            if self.layered and columns.stop < rows.shape[1]:
                letters = np.where(letters < 0, -1, layer.read_out(known, codes))
        return after

    def guess(self, row: Rows, letter: int, length: int) -> Rows | None:
        """It cannot."""
        return None

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the codes name something else, or -1."""
        named = self._name_states(rows.astype(np.int64), letters)
        wrong = np.flatnonzero(self.answers.of_states(named) != self.answers.right(letters, before, after))
        return int(wrong[0]) if wrong.size else -1

    def _name_states(self, rows: Indices, letters: Indices) -> Indices:
        # the joint code's row in the table of one layer
        if not self.layered:
            found = self._rows.find(rows)
            return np.where(found < 0, -1, self.lrnn.decode[found, 0])
        # the letter goes down the layers; the last read-out is the automaton's state
        for layer, columns in zip(self.lrnn.layers, self.lrnn.columns, strict=True):
            codes: Sequence[NDArray[np.int64]] = [rows[:, h] for h in range(columns.start, columns.stop)]
            letters = np.where(letters < 0, -1, layer.read_out(np.maximum(letters, 0), codes))
        return letters


class _RowIndex:
    """Finds rows of small integers among given ones."""

    def __init__(self, rows: Indices) -> None:
        self._width = rows.shape[1]
        self._texts = _texts(rows)
        # rows as texts, sorted, each found by bisection
        self._order = np.argsort(self._texts, kind="stable")
        self._sorted = self._texts[self._order]

    def find(self, rows: Indices) -> Indices:
        """Places of the rows; -1 for none."""
        wanted = _texts(rows)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


def _texts(rows: Indices) -> NDArray[Any]:
    # big-endian, so that texts and numbers have one order
    wide = np.ascontiguousarray(rows.astype(">u4"))
    if wide.shape[1] == 1:
        return wide[:, 0].astype(np.int64)
    return wide.view(np.dtype((np.void, 4 * wide.shape[1]))).ravel()
