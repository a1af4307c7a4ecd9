"""The letters of one level of the holonomy cascade, and what they do.

A level letter at height j is a triple (P, x, T): P the largest set of height at most j in the old chain, x the
input letter, T the set of height at most j in the new chain that takes P's place; P·x lies in T. Only the triples
that occur are listed, level by level, never the joint states nor the semigroup.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..automaton import Indices
from .automata import CascadeLevel, Table
from .holonomy import Holonomy, column_permutations


@dataclass(frozen=True, eq=False)
class LevelLetters:
    """Triples (P, x, T), int arrays `[letters]`: set indices `old`, input letters `letter`, set indices `new`."""

    old: Indices
    letter: Indices
    new: Indices

    def __len__(self) -> int:
        return len(self.letter)


def level_of(
    skeleton: Holonomy, classes: tuple[int, ...], height: int, incoming: LevelLetters
) -> tuple[CascadeLevel, LevelLetters]:
    """The level at a height for the letters that reach it, and the letters that reach the next level.

    With h the height: (a) h(T) < j: all components keep. (b) h(P) < j = h(T): the component of T is reset to T's
    first tile that contains P·x. (c) h(P) = h(T) = j: if P·x = T the component is permuted, else it is reset as in
    (b). The new P is the old tile where h(P) = j, the new T the new tile where h(T) = j.
    """
    sets, heights = skeleton.sets, skeleton.height_of
    moved = sets.moves[incoming.old, incoming.letter]
    reads_tile = heights[incoming.old] == height
    acts = heights[incoming.new] == height
    permutes = acts & reads_tile & (moved == incoming.new)
    resets = acts & ~permutes
    if height == 1:
        reads_tile &= permutes  # else the new point is already known: T, or the tile that the reset chooses
    chosen = np.zeros(len(incoming), dtype=np.int64)
    chosen[resets] = _first_tiles(skeleton, moved[resets], incoming.new[resets])
    actions, action_of = [], []
    for index in classes:
        here = acts & (skeleton.class_of[incoming.new] == index)
        table, row = _actions(skeleton, index, incoming, chosen, here & permutes, here & resets)
        actions.append(table)
        action_of.append(row)
    following = _following(skeleton, incoming, reads_tile, resets, permutes, chosen)
    if height > 1:
        outgoing, next_letter = _numbered(*following)
    else:
        outgoing = LevelLetters(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        next_letter = _points(skeleton, following[0], following[2])
    place = np.full(len(skeleton.classes) + 1, -1, dtype=np.int32)
    place[list(classes)] = np.arange(len(classes))
    level = CascadeLevel(
        classes=classes,
        degrees=tuple(skeleton.classes[index].degree for index in classes),
        actions=tuple(actions),
        action_of=np.stack(action_of),
        reads=np.where(reads_tile, place[skeleton.class_of[incoming.old]], np.int32(-1)),
        next_letter=next_letter,
    )
    return level, outgoing


def _first_tiles(skeleton: Holonomy, inner: Indices, outer: Indices) -> Indices:
    """For pairs of sets, `inner` a proper subset of `outer`: the column of the first tile that contains it."""
    count = len(skeleton.sets)
    pairs, inverse = np.unique(inner * count + outer, return_inverse=True)
    inner, outer = pairs // count, pairs % count
    columns = np.zeros(len(pairs), dtype=np.int64)
    degrees = skeleton.tile_offsets[outer + 1] - skeleton.tile_offsets[outer]
    open_pairs = np.arange(len(pairs))
    for column in range(int(degrees.max(initial=0))):
        open_pairs = open_pairs[degrees[open_pairs] > column]
        tiles = skeleton.tile(outer[open_pairs], column)
        inside = skeleton.sets.is_subset(inner[open_pairs], tiles)
        columns[open_pairs[inside]] = column
        open_pairs = open_pairs[~inside]
    result: Indices = columns[inverse.reshape(-1)]
    return result


def _actions(
    skeleton: Holonomy,
    index: int,
    incoming: LevelLetters,
    chosen: Indices,
    permutes: Indices,
    resets: Indices,
) -> tuple[Table, Table]:
    """The distinct actions of one component `[actions, tiles]`, and each letter's `[letters]`."""
    degree = skeleton.classes[index].degree
    columns = np.arange(degree)
    sources = skeleton.sets.moves[
        skeleton.tile(incoming.old[permutes][:, None], columns), incoming.letter[permutes][:, None]
    ]
    permutations = column_permutations(sources, skeleton.tile(incoming.new[permutes][:, None], columns))
    distinct, which = np.unique(permutations, axis=0, return_inverse=True)
    rows = np.concatenate([columns[None], np.repeat(columns[:, None], degree, axis=1), distinct])
    action = np.zeros(len(incoming), dtype=np.int64)
    action[resets] = 1 + chosen[resets]
    action[permutes] = 1 + degree + which.reshape(-1)
    if len(distinct):
        trivial = np.flatnonzero((distinct == columns).all(axis=1))
        action[np.isin(action, 1 + degree + trivial)] = 0
    used, renumbered = np.unique(action, return_inverse=True)
    return rows[used].astype(np.int32), renumbered.reshape(-1).astype(np.int32)


def _following(
    skeleton: Holonomy,
    incoming: LevelLetters,
    reads_tile: Indices,
    resets: Indices,
    permutes: Indices,
    chosen: Indices,
) -> tuple[Indices, Indices, Indices]:
    """The next triples (P, x, T), `[letters, width]` each, for every old tile; P is -1 where there is no such tile."""
    offsets = skeleton.tile_offsets
    degrees = np.where(reads_tile, offsets[incoming.old + 1] - offsets[incoming.old], 1)
    width = int(degrees.max(initial=1))
    columns = np.arange(width)
    there = columns < degrees[:, None]
    old = np.where(there, incoming.old[:, None], -1)
    expanded = there & reads_tile[:, None]
    row, column = np.nonzero(expanded)
    old[row, column] = skeleton.tile(incoming.old[row], column)
    letter = np.broadcast_to(incoming.letter[:, None], old.shape)
    fixed = incoming.new.copy()
    fixed[resets] = skeleton.tile(incoming.new[resets], chosen[resets])
    new = np.where(permutes[:, None], skeleton.sets.moves[old, letter], fixed[:, None])
    return old, letter, new


def _numbered(old: Indices, letter: Indices, new: Indices) -> tuple[LevelLetters, Table]:
    """The distinct triples, sorted, and the number of each, -1 where there is none."""
    sets, letters = int(max(old.max(initial=0), new.max(initial=0))) + 1, int(letter.max(initial=0)) + 1
    there = old >= 0
    codes, inverse = np.unique(((old * letters + letter) * sets + new)[there], return_inverse=True)
    numbers = np.full(old.shape, -1, dtype=np.int32)
    numbers[there] = inverse.reshape(-1)
    rest = codes // sets
    return LevelLetters(rest // letters, rest % letters, codes % sets), numbers


def _points(skeleton: Holonomy, old: Indices, new: Indices) -> Table:
    return np.where(old >= 0, skeleton.points_of_singletons[new], -1).astype(np.int32)
