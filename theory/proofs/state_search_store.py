"""What a state search has seen: nodes in the order found, each with the node and letter that it was found from.

A node is a row of 64-bit words: the state's bits, and the automaton's state in the last 32 bits. Rows are found
again through a 64-bit hash and then compared word by word, so a collision is noticed; the hash is then changed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.monoids.index import KeyIndex

Words = NDArray[np.uint64]
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class NodeForm:
    """How states `[nodes, entries]` of a narrow unsigned type and automaton states lie in rows of words."""

    def __init__(self, dtype: np.dtype[np.unsignedinteger], entries: int) -> None:
        self.dtype, self.entries = dtype, entries
        self.width = (entries * dtype.itemsize + 4 + 7) // 8

    def packed(self, rows: NDArray[np.unsignedinteger], states: Indices) -> Words:
        """Nodes `[nodes, width]`; unused bits are zero."""
        words = np.zeros((len(rows), self.width), dtype=np.uint64)
        words.view(self.dtype)[:, : self.entries] = rows
        words.view(np.uint32)[:, -1] = states
        return words

    def rows(self, words: Words) -> NDArray[np.unsignedinteger]:
        """The states' bits `[nodes, entries]`."""
        return words.view(self.dtype)[:, : self.entries]

    def states(self, words: Words) -> Indices:
        """The automaton's states `[nodes]`."""
        return words.view(np.uint32)[:, -1].astype(np.int64)


class NodeStore:
    """Nodes by number; `parents` and `letters` tell how each was first found (-1 for the first)."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self._words: Words = np.zeros((1024, width), dtype=np.uint64)
        self._parents = np.zeros(1024, dtype=np.int32)
        self._letters = np.zeros(1024, dtype=np.int32)
        self._seed = np.uint64(0)
        self._index = KeyIndex()

    @property
    def words(self) -> Words:
        """The nodes `[count, width]`."""
        return self._words[: self.count]

    @property
    def parents(self) -> NDArray[np.int32]:
        """The node from which each was found."""
        return self._parents[: self.count]

    @property
    def letters(self) -> NDArray[np.int32]:
        """The letter by which each was found."""
        return self._letters[: self.count]

    def add(self, words: Words, parents: NDArray[np.int32], letters: NDArray[np.int32]) -> Indices:
        """Numbers the rows that are new, each once, in their order; gives their places among the given rows."""
        while (places := self._new(words)) is None:
            self._rehash()
        first, self.count = self.count, self.count + len(places)
        if self.count > len(self._words):
            size = max(2 * len(self._words), self.count)
            self._words = _grown(self._words, first, size)
            self._parents = _grown(self._parents, first, size)
            self._letters = _grown(self._letters, first, size)
        self._words[first : self.count] = words[places]
        self._parents[first : self.count] = parents[places]
        self._letters[first : self.count] = letters[places]
        return places

    def word(self, node: int) -> tuple[int, ...]:
        """The letters by which a node was found."""
        word: list[int] = []
        while self._parents[node] >= 0:
            word.append(int(self._letters[node]))
            node = int(self._parents[node])
        return tuple(reversed(word))

    def _new(self, words: Words) -> Indices | None:
        """Places of the first row of each new kind; None where two different rows have one hash."""
        keys = self._hash(words)
        found = self._index.find(keys)
        known = np.flatnonzero(found >= 0)
        if (self._words[found[known]] != words[known]).any():
            return None
        unknown = np.flatnonzero(found < 0)
        if not unknown.size:
            return unknown
        places: Indices = unknown
        ordered = np.sort(keys[unknown])
        if (ordered[1:] == ordered[:-1]).any():
            _, first, inverse = np.unique(keys[unknown], return_index=True, return_inverse=True)
            if (words[unknown] != words[unknown[first[inverse]]]).any():
                return None
            places = unknown[np.sort(first)]
        self._index.add(keys[places])
        return places

    def _hash(self, words: Words) -> Words:
        hashes = np.full(len(words), self._seed, dtype=np.uint64)
        for column in words.T:
            hashes ^= column
            for shift, factor in zip((30, 27), _MIX, strict=True):
                hashes ^= hashes >> np.uint64(shift)
                hashes *= factor
            hashes ^= hashes >> np.uint64(31)
        return hashes

    def _rehash(self) -> None:
        """Another hash function, for all nodes (never met but by construction)."""
        self._seed += np.uint64(0x9E3779B97F4A7C15)
        self._index = KeyIndex()
        keys = self._hash(self.words)
        if len(np.unique(keys)) < len(keys):
            self._rehash()
        else:
            self._index.add(keys)


def _grown(array: NDArray, count: int, size: int) -> NDArray:  # type: ignore[type-arg]
    result = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    result[:count] = array[:count]
    return result
