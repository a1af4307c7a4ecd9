"""The factors of a block of letters in one level, as arrays: what `BlockRNN` spreads over the tokens of the next block.

A block's map permutes a level's entries, resets them, or, where copies are allowed, does either in part. It is written as steps, one
factor each, all with β = 1:

    swap i, j      v = e_i - e_j                     a reflection, norm 1
    erase i        v = e_i, and 0 or 1 is written    a projection, norm 1
    copy j to i    v = e_j - e_i, mask e_j           I - v (v⊙e_j)ᵀ, norm √2 (RWKV-7)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._delay import swap_table
from .._realisation import Transition
from ..algebra._householder import GHFactor, gh_factor
from ..algebra._swap_copy import swap_copy_word
from ..automata._automaton import Indices
from ._rule import LevelLetters, Mask

NOTHING, SWAP, ERASE, COPY = range(4)
"""What a step does; `NOTHING` fills rows up."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of several blocks in one level, in the order in which they are applied.

    Attributes:
        kind: `NOTHING`, `SWAP`, `ERASE` or `COPY`, int array `[blocks, width]`.
        source: the entry that is exchanged, erased or copied, int array `[blocks, width]`.
        target: the other entry of a swap or copy, equal to `source` for others, int array `[blocks, width]`.
        written: whether an erased entry becomes 1, bool array `[blocks, width]`.
    """

    kind: Indices
    source: Indices
    target: Indices
    written: Mask

    @property
    def width(self) -> int:
        """Steps of each block, those that do nothing included."""
        return int(self.kind.shape[1])

    def at(self, places: Indices) -> Steps:
        """Some steps of each block.

        Args:
            places: their numbers, int array `[blocks, chosen]`.
        """
        kind, source, target = (
            np.take_along_axis(part, places, axis=1) for part in (self.kind, self.source, self.target)
        )
        return Steps(kind, source, target, np.take_along_axis(self.written, places, axis=1))

    def transition(self, block: int, first: int, last: int) -> Transition:
        """The factors of some steps of one block, and what they write.

        Args:
            block: index of the block.
            first: number of the first step.
            last: number of the step behind the last one.
        """
        factors: list[GHFactor] = []
        # H ← C H + B: what a step writes goes through the later factors of the token, and these only exchange entries
        written: dict[int, bool] = {}
        for kind, i, j, writes in zip(
            *(
                part[block, first:last].tolist()
                for part in (self.kind, self.source, self.target, self.written)
            ),
            strict=True,
        ):
            if kind == SWAP:
                factors.append(gh_factor(1, {i: 1, j: -1}))
                written[i], written[j] = written.get(j, False), written.get(i, False)
            elif kind == ERASE:
                factors.append(gh_factor(1, {i: 1}))
                written[i] = writes
            elif kind == COPY:
                copy = gh_factor(1, {i: 1, j: -1})
                factors.append(GHFactor(copy.beta, copy.vector, (i,)))
        return Transition(tuple(factors), additive=tuple((i, 0, 1) for i in sorted(written) if written[i]))


def no_steps(blocks: int, width: int) -> tuple[Indices, Indices, Indices, Mask]:
    """The four arrays of `Steps`, to be filled: nothing is done.

    Args:
        blocks: number of blocks.
        width: number of steps.
    """
    zeros = [np.zeros((blocks, width), dtype=np.int64) for _ in range(3)]
    return zeros[0], zeros[1], zeros[2], np.zeros((blocks, width), dtype=bool)


def level_steps(acts: LevelLetters, second_half: bool, width: int) -> Steps:
    """The steps of blocks that permute a level of a chain or reset it.

    A permutation is its swaps, cycle by cycle. A reset erases p entries, writes the new indicator there, and, with a second
    half, which is the one erased, exchanges the halves.

    Args:
        acts: what the blocks do to the level's p entries.
        second_half: whether the state has p more entries, which keep the indicator from before a reset.
        width: number of steps, at least p - 1 where no block resets, else p, or 2p with a second half.
    """
    blocks, p = acts.images.shape
    kind, source, target, written = no_steps(blocks, width)
    first, second = swap_table(acts.images, min(p, width))
    count = first.shape[1]
    source[:, :count], target[:, :count] = first, second
    # a reset has the identity here, whose steps do nothing
    kind[:, :count] = np.where(first != second, SWAP, NOTHING)
    resets = np.flatnonzero(~acts.permutes)[:, None]
    if len(resets):
        entries = np.arange(p)
        erased = entries + p if second_half else entries
        kind[resets, entries] = ERASE
        source[resets, entries] = target[resets, entries] = erased
        written[resets, entries] = acts.target[resets[:, 0]]
        if second_half:
            kind[resets, entries + p] = SWAP
            source[resets, entries + p], target[resets, entries + p] = entries, erased
    # steps that do nothing name entry 0
    source[kind == NOTHING] = target[kind == NOTHING] = 0
    return Steps(kind, source, target, written)


def copy_steps(maps: Indices, width: int) -> Steps:
    """The steps of blocks that act on one-hot states by swaps and copies (DP.T6).

    Args:
        maps: the map of each block, int array `[blocks, n]`.
        width: number of steps, at least n - 1.
    """
    distinct, which = np.unique(maps, axis=0, return_inverse=True)
    kind, source, target, written = no_steps(len(distinct), width)
    for row, image in enumerate(distinct.tolist()):
        for f, step in enumerate(swap_copy_word(image)):
            kind[row, f] = COPY if step.copies else SWAP
            source[row, f], target[row, f] = step.source, step.target
    which = which.reshape(-1)
    return Steps(kind[which], source[which], target[which], written[which])


def compose_letters(transitions: Indices, words: Indices) -> Indices:
    """The map of each word, its first letter applied first, int array `[words, n]`.

    Args:
        transitions: int array `[letters, n]`.
        words: int array `[words, length]`; -1 stands for the identity.
    """
    n = transitions.shape[1]
    table = np.concatenate([transitions, np.arange(n)[None]])  # letter -1 is the identity
    maps: Indices = np.broadcast_to(np.arange(n), (len(words), n))
    for letter in words.T:
        maps = table[letter[:, None], maps]
    return maps


def list_maps(transitions: Indices, limit: int) -> Indices | None:
    """The maps of all words, that of the empty word first, int array `[maps, n]`; None if there are more than `limit`.

    Args:
        transitions: int array `[letters, n]`.
        limit: the most maps, at least 1.
    """
    n = transitions.shape[1]
    letters = np.unique(transitions, axis=0)
    found: list[NDArray[np.int64]] = [np.arange(n)]
    seen = {found[0].tobytes()}
    for image in found:  # which grows on the way
        for row in letters:
            after = np.ascontiguousarray(row[image])
            if after.tobytes() not in seen:
                if len(found) >= limit:
                    return None
                seen.add(after.tobytes())
                found.append(after)
    return np.array(found)


def block_words(transitions: Indices, length: int, tail: int, limit: int) -> Indices | None:
    """Words of `length` letters, one for each map together with the last `tail` letters; None if there are more than `limit`.

    Args:
        transitions: int array `[letters, n]`.
        length: number of letters, at least 1.
        tail: number of last letters that count.
        limit: the most words, at least 1.
    """
    words: Sequence[tuple[int, ...]] = [()]
    for _ in range(length):
        longer: dict[tuple[bytes, tuple[int, ...]], tuple[int, ...]] = {}
        for word in words:
            for x in range(len(transitions)):
                after = (*word, x)
                image = compose_letters(transitions, np.array([after]))
                longer.setdefault((image.tobytes(), after[max(len(after) - tail, 0) :]), after)
                if len(longer) > limit:
                    return None
        words = list(longer.values())
    return np.array(words, dtype=np.int64).reshape(len(words), length)
