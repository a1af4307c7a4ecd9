"""Bounds on the numbers in a state, for one vector a state: words with two images (PD.N-1), and words of many ranks (own.ranks).

The proofs and the limits stand in `theory/checker/_one_vector.py`, which searches in the same order on its own.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ..checker._one_vector import PRIME, RANKED, SPANNED, SPLITTING

Word = tuple[int, ...]


def one_vector_bounds(maps: Indices, largest: int) -> list[tuple[str, int, dict[str, Any]]]:
    """The bounds on the size of the state beyond one that is known: reason, bound, evidence.

    Args:
        maps: the letters' maps, int array `[letters, states]`.
        largest: the largest bound that is known, 0 for none.
    """
    n = maps.shape[1]
    _, first = (
        np.unique(maps, axis=0, return_index=True) if len(maps) else (None, np.zeros(0, dtype=np.int64))
    )
    different = np.sort(first)
    found: list[tuple[str, int, dict[str, Any]]] = []
    words = find_splitting_words(maps, different) if largest < n - 1 else []
    if len(words) > max(largest, 1):
        largest = len(words)
        found.append(("PD.N-1", largest, {"words": [list(each) for each in words]}))
    if largest < n - 1:
        bound, word = most_ranks(maps, different)
        if bound > max(largest, 1):
            found.append(("own.ranks", bound, {"word": list(word)}))
    return found


def find_splitting_words(maps: Indices, different: Indices) -> list[Word]:
    """Words with two images, n - 1 at most, whose preimages are independent together with the vector of ones.

    Args:
        maps: the letters' maps, int array `[letters, states]`.
        different: the letters to use, one for each map.
    """
    letters, n = len(different), maps.shape[1]
    if n < 3 or n**3 * letters > SPANNED:
        return []
    echelon = _Echelon(n)
    words: list[Word] = []
    listed: list[tuple[Word, Indices]] = [((), np.arange(n))]
    seen = {listed[0][1].tobytes()}
    waiting = [(n, 0)]
    steps = 0
    while waiting:
        steps += 1
        if steps > 1 and steps * letters * n > SPLITTING:
            break
        word, image = listed[heappop(waiting)[1]]
        after = maps[different][:, image]
        for x, row in zip(different.tolist(), after, strict=True):
            if (key := row.tobytes()) in seen:
                continue
            seen.add(key)
            rank = len(np.unique(row))
            if rank == 2:
                words += _pull_back(echelon, maps, different, (*word, x), (row == row.min()).astype(np.int64))
                if len(words) == n - 1:
                    return words
            elif rank > 2:
                heappush(waiting, (rank, len(listed)))
                listed.append(((*word, x), row))
    return words


def _pull_back(
    echelon: _Echelon, maps: Indices, different: Indices, word: Word, inside: Indices
) -> list[Word]:
    """A word, and longer ones that end with it, as far as their preimages are new; breadth first."""
    found: list[Word] = []
    waiting = deque([(word, inside)])
    while waiting and not echelon.is_full:
        word, inside = waiting.popleft()
        if echelon.add(inside):
            found.append(word)
            waiting.extend(((x, *word), inside[maps[x]]) for x in different.tolist())
    return found


class _Echelon:
    """Independent vectors modulo a prime below 2^31, the vector of ones the first: products stay below 2^62."""

    def __init__(self, size: int) -> None:
        self.rows = np.zeros((0, size), dtype=np.int64)
        self.pivots: list[int] = []
        self.add(np.ones(size, dtype=np.int64))

    @property
    def is_full(self) -> bool:
        return len(self.pivots) == self.rows.shape[1]

    def add(self, vector: Indices) -> bool:
        """Whether a vector is independent of the others; then it is added."""
        for pivot, row in zip(self.pivots, self.rows, strict=True):
            if vector[pivot]:
                vector = (vector - vector[pivot] * row) % PRIME
        places = np.flatnonzero(vector)
        if not len(places):
            return False
        pivot = int(places[0])
        self.pivots.append(pivot)
        scaled = vector * pow(int(vector[pivot]), -1, PRIME) % PRIME
        self.rows = np.concatenate([self.rows, scaled[None]])
        return True


def most_ranks(maps: Indices, different: Indices) -> tuple[int, Word]:
    """The number of ranks below the first of the prefixes of a word, one more unless it is a reset, and the word.

    Args:
        maps: the letters' maps, int array `[letters, states]`.
        different: the letters to use, one for each map.
    """
    letters, n = len(different), maps.shape[1]
    listed: list[tuple[Word, Indices, int, int]] = [((), np.arange(n), n, 0)]
    seen = {listed[0][1].tobytes()}
    best, best_word = int(n > 1), Word()
    waiting = [(0, 0)]  # the most falls first, then the first found
    steps = 0
    while waiting:
        steps += 1
        if steps > 1 and steps * letters * n > RANKED:
            break
        word, image, rank, falls = listed[heappop(waiting)[1]]
        for x, row in zip(different.tolist(), maps[different][:, image], strict=True):
            if (key := row.tobytes()) in seen:
                continue
            seen.add(key)
            left = len(np.unique(row))
            now = falls + (left < rank)
            heappush(waiting, (-now, len(listed)))
            listed.append(((*word, x), row, left, now))
            if now + (left > 1) > best:
                best, best_word = now + (left > 1), (*word, x)
    return best, best_word
