"""Row keys and a vectorised hash table: which of the maps found so far is this one?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..automaton import Indices

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class RowKeys:
    """A 64-bit key of each row of small integers: `is_exact` where different rows always have different keys.

    Rows of `width` numbers below `values` are packed where they fit in 64 bits; else the key is a fixed
    pseudo-random form of their bytes (another one for each `seed`) and rows with equal keys must be compared.
    """

    def __init__(self, width: int, values: int, seed: int = 0) -> None:
        bits = max(1, (values - 1).bit_length())
        self.is_exact = bits * width <= 64
        if self.is_exact:
            self._weights = np.uint64(1) << (np.arange(width, dtype=np.uint64) * np.uint64(bits))
        else:
            generator = np.random.default_rng(seed)
            self._weights = generator.integers(0, 2**64, size=width, dtype=np.uint64) | np.uint64(1)

    def of(self, rows: NDArray[np.unsignedinteger]) -> Keys:
        """Keys `[rows]` of `rows` `[rows, width]`, all of one dtype."""
        if self.is_exact:
            keys: Keys = rows.astype(np.uint64) @ self._weights
            return keys
        lanes = 8 // rows.dtype.itemsize
        short = -rows.shape[1] % lanes
        padded = np.ascontiguousarray(np.pad(rows, ((0, 0), (0, short))) if short else rows)
        words = padded.view(np.uint64)
        # without this the upper lanes of a word would reach only the upper bits of the key
        words = (words ^ (words >> np.uint64(32))) * _GOLDEN
        words ^= words >> np.uint64(29)
        mixed: Keys = words @ self._weights[: words.shape[1]]
        return mixed


class KeyIndex:
    """An open-addressing hash table from distinct keys to 0, 1, 2, ... in the order in which they are added."""

    def __init__(self) -> None:
        self.count = 0
        self._keys: Keys = np.zeros(512, dtype=np.uint64)
        self._slots: Indices = np.full(1024, -1, dtype=np.int64)

    def find(self, keys: Keys) -> Indices:
        """Number of each key, -1 where it is not there."""
        slot = self._home(keys)
        found = self._slots[slot]
        open_ = np.flatnonzero(found >= 0)
        open_ = open_[self._keys[found[open_]] != keys[open_]]
        while open_.size:
            slot[open_] = (slot[open_] + 1) & (len(self._slots) - 1)
            found[open_] = self._slots[slot[open_]]
            open_ = open_[found[open_] >= 0]
            open_ = open_[self._keys[found[open_]] != keys[open_]]
        return found

    def add(self, keys: Keys) -> None:
        """Number further keys; they must be distinct and new."""
        first, self.count = self.count, self.count + len(keys)
        if self.count > len(self._keys):
            grown = np.zeros(max(2 * len(self._keys), self.count), dtype=np.uint64)
            grown[:first] = self._keys[:first]
            self._keys = grown
        self._keys[first : self.count] = keys
        if 2 * self.count > len(self._slots):
            self._slots = np.full(1 << (4 * self.count - 1).bit_length(), -1, dtype=np.int64)
            first = 0
        self._place(np.arange(first, self.count))

    def _home(self, keys: Keys) -> Indices:
        shift = np.uint64(64 - (len(self._slots) - 1).bit_length())
        return ((keys * _GOLDEN) >> shift).astype(np.int64)

    def _place(self, numbers: Indices) -> None:
        slot = self._home(self._keys[numbers])
        while numbers.size:
            free = self._slots[slot] < 0
            self._slots[slot[free]] = numbers[free]
            left = self._slots[slot] != numbers
            numbers, slot = numbers[left], (slot[left] + 1) & (len(self._slots) - 1)
