"""Running an integer LRNN fast: many blocks of the word side by side, each state compared bit for bit.

The first state of every block is guessed, from the automaton's bookkeeping, and every guess is verified: the state
computed at the end of a block must equal, bit for bit, the one with which the next block began. When all states
agree with the expected codes, then by induction on the blocks they are the states of the run token by token from
H_0. When one does not, nothing of that chunk counts and it is run again one token after another.

Where a run should be: joint codes and automaton states along words, by integer tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions._realisation import INTEGER_RANGES
from ...constructions.algebra._cyclotomic import simplest
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ..arithmetic._rounding import FloatFormat, snap_to_grid
from ._weights import HeadWeights, dense_codes, sparse_codes

DENSE_CODES = 16_000_000
"""Tables of codes are dense up to this many entries."""
LANE_ENTRIES = 20_000
"""State entries of all blocks together that are computed at once: about what stays in the second-level cache."""
SHORTEST_BLOCK = 64


def carrier(heads: Sequence[Head], weights: Sequence[HeadWeights], fmt: FloatFormat) -> np.dtype[Any] | None:
    """A numpy type in which each product-sum of the run is exact; None where the blocks are not to be used.

    Needs: no weight was changed by rounding, all codes are integers, and Σ_j |A_ij|·max|H| + |B_i| stays within the
    integers of the type, over all rows and letters.
    """
    bound = 0.0
    for head, w in zip(heads, weights, strict=True):
        numbers = {simplest(x) for code in head.codes for _, _, x in code}
        if not w.exact or not all(isinstance(x, int) for x in numbers):
            return None
        largest = max((abs(x) for x in numbers if isinstance(x, int)), default=0)
        added = 0.0 if w.additive is None else float(np.abs(w.additive).max(initial=0.0))
        # Σ_j |A_ij| max|H| + |B_i|, over all rows and letters
        bound = max(bound, float(np.abs(w.values).sum(axis=0).max(initial=0.0)) * largest + added)
        # a code that the format does not hold is rounded, and then nothing is exact
        if largest > INTEGER_RANGES[fmt.name]:
            return None
    # float32 has every integer that can occur, and takes half the memory
    if fmt.name != "fp64" and bound <= INTEGER_RANGES["fp32"]:
        return np.dtype(np.float32)
    return np.dtype(np.float64) if bound <= INTEGER_RANGES["fp64"] else None


class BlockRun:
    """Runs lanes side by side and compares every state with the code of its expected row of `LRNN.decode`."""

    def __init__(
        self, lrnn: LRNN, weights: Sequence[HeadWeights], fmt: FloatFormat, number: np.dtype[Any]
    ) -> None:
        self.entries = sum(head.dim * head.value_dim for head in lrnn.layers[0].heads)
        self._heads = [
            HeadRun(head, w, fmt, number, lrnn.decode[:, h + 1])
            for h, (head, w) in enumerate(zip(lrnn.layers[0].heads, weights, strict=True))
        ]

    def block_length(self, sequences: int, length: int, block: int | None) -> int:
        """Tokens a block, for a chunk `[sequences, length]`."""
        return block_length(self.entries, sequences, length, block)

    def agrees(self, letters: NDArray[Any], before: Indices, expected: Indices, block: int) -> bool:
        """True where every state of a chunk equals, bit for bit, the code of its expected row.

        `letters`, `expected`: `[sequences, T]`; `before` `[sequences]`: the rows whose codes the chunk starts from.
        """
        return all(
            head.agrees(*lanes)
            for lanes in lanes_of(letters, before, expected, block)
            for head in self._heads
        )


def block_length(entries: int, sequences: int, length: int, block: int | None) -> int:
    """Tokens a block, for a chunk `[sequences, length]` of states with so many entries; `block` if it is given."""
    if block is not None:
        return max(min(block, length), 1)
    # so many lanes fill the cache; a block is what is left of the length for each of them
    lanes = max(LANE_ENTRIES // entries, 1)
    return min(max(length * sequences // lanes, SHORTEST_BLOCK), max(length, 1))


def lanes_of(
    letters: NDArray[Any], before: Indices, expected: Indices, block: int
) -> Iterator[tuple[Indices, Indices, Indices]]:
    """A chunk `[sequences, T]` as lanes side by side: letters `[block, lanes]`, first codes, expected codes."""
    length = letters.shape[1]
    whole = length - length % block
    # whole blocks, then the tokens that are left as one short block
    for start, stop, size in [(0, whole, block), (whole, length, length - whole)]:
        if stop == start:
            continue
        first = before if start == 0 else expected[:, start - 1]
        part = expected[:, start:stop]
        # the expected code before each block: `first`, then the last code of the block that precedes it
        lasts = part[:, size - 1 :: size]
        starts = np.concatenate([first[:, None], lasts[:, :-1]], axis=1).reshape(-1)
        yield _by_token(letters[:, start:stop], size), starts, _by_token(part, size)


class HeadRun:
    """One head on many lanes; states are `[lanes, dim, value_dim]`, expected codes are given through `code_of_row`."""

    def __init__(
        self, head: Head, weights: HeadWeights, fmt: FloatFormat, number: np.dtype[Any], code_of_row: Indices
    ) -> None:
        self.shape = (head.dim, head.value_dim)
        self.fmt = fmt if fmt.precision < 24 else None  # fp32 and fp64: storing the exact sum is the rounding
        self.number = number
        self.columns = weights.columns
        self.values = weights.values.astype(number)
        self.unit = bool((weights.values == 1).all())
        self.additive = None if weights.additive is None else weights.additive.astype(number)
        self.code_of_row = code_of_row
        self.codes: NDArray[Any] | None = None
        if len(head.codes) * head.dim * head.value_dim <= DENSE_CODES:
            self.codes = dense_codes(head, fmt).astype(number)[code_of_row]
        else:
            self.places, self.entries = sparse_codes(head, fmt)

    def expected_codes(self, rows: Indices) -> NDArray[Any]:
        """The codes of rows of `LRNN.decode` `[lanes, dim, value_dim]`."""
        if self.codes is not None:
            return self.codes.take(rows, axis=0)
        codes = self.code_of_row[rows]
        flat = np.zeros((len(rows), self.shape[0] * self.shape[1]), dtype=self.number)
        lanes = np.arange(len(rows))[:, None]
        np.add.at(flat, (lanes, self.places[codes]), self.entries[codes].astype(self.number))
        return flat.reshape(-1, *self.shape)

    def agrees(self, letters: Indices, starts: Indices, rows: Indices) -> bool:
        """True where every state equals, bit for bit, the code of its row; letters and rows are `[block, lanes]`."""
        H = self.expected_codes(starts)
        # where the rows of each lane begin in the flat states
        base = (np.arange(len(starts)) * self.shape[0])[:, None]
        for x, row in zip(letters, rows, strict=True):
            H = self.step(H, x, base)
            if (self.expected_codes(row) != H).any():
                return False
        return True

    def step(self, H: NDArray[Any], x: Indices, base: Indices) -> NDArray[Any]:
        """rnd(Ã(x) H + B̃(x)) for all lanes; the sums are exact in the carrier type."""
        flat = H.reshape(-1) if self.shape[1] == 1 else H.reshape(-1, self.shape[1])
        result: NDArray[Any] | None = None
        for columns, values in zip(self.columns, self.values, strict=True):
            # row of H that the k-th entry of each row meets, lane by lane
            place = columns.take(x, axis=0)
            place += base
            term = flat.take(place, axis=0).reshape(H.shape)
            if not self.unit:
                # if all values are 1 the product is the term itself
                term *= values.take(x, axis=0)[:, :, None]
            result = term if result is None else np.add(result, term, out=result)
        if result is None:
            raise AssertionError("a row has at least one entry, if only a padded one")
        if self.additive is not None:
            result += self.additive.take(x, axis=0)
        return result if self.fmt is None else snap_to_grid(result, self.fmt)


def _by_token(table: NDArray[Any], block: int) -> Indices:
    """`[sequences, blocks·block]` to `[block, sequences·blocks]`: what all blocks read at the same time."""
    return np.ascontiguousarray(table.reshape(-1, block).T).astype(np.int64, copy=False)


SIDE_BY_SIDE = 40
"""From this many sequences on, numpy's loop over tokens beats Python's over sequences and tokens."""
LISTED = 1_000_000
"""Tables up to this many entries are read as lists, which is fastest."""


def joint_transitions(lrnn: LRNN) -> Indices:
    """For each letter and row of `LRNN.decode` the row reached `[letters, rows]`, by `Head.code_transitions`.

    Raises `InputError` where a row's image is no row, or lies over another state than the automaton's next one:
    such an LRNN does not realise its automaton.
    """
    rows, automaton = lrnn.decode, lrnn.automaton
    images = [head.code_transitions[:, rows[:, h + 1]] for h, head in enumerate(lrnn.layers[-1].heads)]
    keys = _keys([rows[:, h + 1] for h in range(len(images))], lrnn)
    # joint codes as numbers, sorted, and the images looked up among them
    order = np.argsort(keys, kind="stable")
    wanted = _keys(images, lrnn)
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(rows) - 1)
    table: Indices = order[place]
    if not np.array_equal(keys[table], wanted):
        x, r = (int(i) for i in np.argwhere(keys[table] != wanted)[0])
        raise InputError(
            f"{automaton.name}: the LRNN's codes are not closed: letter {automaton.letters[x]!r} leads from row {r} of "
            "its decoding to a joint code that is not listed"
        )
    differ = rows[table, 0] != automaton.transitions[:, rows[:, 0]]
    if differ.any():
        x, r = (int(i) for i in np.argwhere(differ)[0])
        raise InputError(
            f"{automaton.name}: the LRNN's decoding disagrees with the automaton: letter {automaton.letters[x]!r} in "
            f"state {automaton.states[rows[r, 0]]!r}"
        )
    return table


def _keys(columns: list[Indices], lrnn: LRNN) -> NDArray[Any]:
    """One number for each joint code."""
    key: NDArray[Any] = columns[0]
    size = 1
    for head in lrnn.layers[-1].heads:
        size *= len(head.codes)
    # numbers beyond 62 bits are Python's
    if size > 2**62:
        key = key.astype(object)
    for column, head in zip(columns[1:], lrnn.layers[-1].heads[1:], strict=True):
        key = key * len(head.codes) + column
    return key


def follow(table: Indices, letters: NDArray[Any], current: Indices) -> Indices:
    """Points after each letter `[sequences, T]`; `table[x, p]` is the point after p, `current` those at the start."""
    sequences, length = letters.shape
    points = np.empty((sequences, length), dtype=np.int64)
    table = np.ascontiguousarray(table, dtype=np.int64)
    if sequences >= SIDE_BY_SIDE:
        flat = table.reshape(-1)
        # the entry of (letter, point) in the flat table is letter · points + point
        offsets = np.ascontiguousarray(letters.T).astype(np.int64) * table.shape[1]
        by_token = np.empty((length, sequences), dtype=np.int64)
        for offset, after in zip(offsets, by_token, strict=True):
            offset += current
            current = flat.take(offset, out=after, mode="clip")
        points[:] = by_token.T
        return points
    # few sequences: a list for each letter, read one point after another
    images: list[Any] = table.tolist() if table.size <= LISTED else [memoryview(image) for image in table]
    for s in range(sequences):
        point = int(current[s])
        track = []
        for image in map(images.__getitem__, letters[s].tolist()):
            point = image[point]
            track.append(point)
        points[s] = track
    return points
