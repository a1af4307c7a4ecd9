"""Level letters that act alike, on their own level and on all below, are made one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..automaton import Indices
from .automata import CascadeLevel, Table


def merged(levels: list[CascadeLevel]) -> tuple[list[CascadeLevel], Indices]:
    """The levels with like letters merged, from the last level up; and the new number of each first-level letter.

    A component is no longer read where all of its tiles lead to the same letter. Afterwards no two letters of a
    level have the same actions, the same component read and the same next letters.
    """
    result: list[CascadeLevel] = []
    below: Indices | None = None
    for level in reversed(levels):
        following = level.next_letter
        if below is not None:
            following = np.where(following < 0, -1, below[following]).astype(np.int32)
        reads, following = _unread(level.reads, following)
        keys = np.concatenate([level.action_of, reads[None], following.T])
        kept, below = _distinct_columns(keys)
        result.append(_restricted(level, reads, following, kept))
    assert below is not None
    return result[::-1], below


def _unread(reads: Table, following: Table) -> tuple[Table, Table]:
    constant = ((following == following[:, :1]) | (following < 0)).all(axis=1)
    following = following.copy()
    following[constant, 1:] = -1
    return np.where(constant, np.int32(-1), reads), following


def _distinct_columns(keys: NDArray[np.integer]) -> tuple[Indices, Indices]:
    """First occurrences of the distinct columns, in order, and for each column the number of its equal."""
    numbers = np.zeros(keys.shape[1], dtype=np.int64)
    for row in keys.astype(np.int64):
        combined = numbers * (int(row.max(initial=0)) + 2) + row + 1
        _, numbers = np.unique(combined, return_inverse=True)
        numbers = numbers.reshape(-1)
    _, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    renumbered = np.empty_like(order)
    renumbered[order] = np.arange(len(order))
    return first[order], renumbered[numbers.reshape(-1)]


def _restricted(level: CascadeLevel, reads: Table, following: Table, kept: Indices) -> CascadeLevel:
    actions, action_of = [], []
    for table, row in zip(level.actions, level.action_of[:, kept], strict=True):
        used, renumbered = np.unique(row, return_inverse=True)
        actions.append(table[used])
        action_of.append(renumbered.reshape(-1).astype(np.int32))
    following = following[kept]
    width = max(1, int((following >= 0).sum(axis=1).max(initial=1)))
    return replace(
        level,
        actions=tuple(actions),
        action_of=np.stack(action_of),
        reads=reads[kept],
        next_letter=following[:, :width],
    )
