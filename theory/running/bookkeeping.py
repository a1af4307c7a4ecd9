"""Where a run should be: joint codes and automaton states along words, by integer tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.errors import InputError
from ...constructions.lrnn import LRNN

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
        offsets = np.ascontiguousarray(letters.T).astype(np.int64) * table.shape[1]
        by_token = np.empty((length, sequences), dtype=np.int64)
        for offset, after in zip(offsets, by_token, strict=True):
            offset += current
            current = flat.take(offset, out=after, mode="clip")
        points[:] = by_token.T
        return points
    images: list[Any] = table.tolist() if table.size <= LISTED else [memoryview(image) for image in table]
    for s in range(sequences):
        point = int(current[s])
        track = []
        for image in map(images.__getitem__, letters[s].tolist()):
            point = image[point]
            track.append(point)
        points[s] = track
    return points
