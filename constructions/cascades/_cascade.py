"""From an automaton, or the skeleton of its semigroup, to the cascade of permutation-reset automata (G.T4).

The letters of one level of the holonomy cascade, and what they do.

A level letter at height j is a triple (P, x, T): P the largest set of height at most j in the old chain, x the
input letter, T the set of height at most j in the new chain that takes P's place; P·x lies in T. Only the triples
that occur are listed, level by level, never the joint states nor the semigroup.

Level letters that act alike, on their own level and on all below, are made one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import LimitError, MirrormataError
from ..automata._automaton import Automaton, Indices
from ._automata import Cascade, CascadeLevel, Table
from ._emulation import prove_emulation
from ._holonomy import Holonomy, column_permutations, holonomy, holonomy_of_maps
from ._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES, advice


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
    # P·x
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
    # at height 1 the next sets are points, which the cascade names itself
    if height > 1:
        outgoing, next_letter = _number_triples(*following)
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
    # every pair of sets once
    pairs, inverse = np.unique(inner * count + outer, return_inverse=True)
    inner, outer = pairs // count, pairs % count
    columns = np.zeros(len(pairs), dtype=np.int64)
    degrees = skeleton.tile_offsets[outer + 1] - skeleton.tile_offsets[outer]
    # pairs for which no tile has been found yet
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
    # the permutation of columns: tile c of P goes, moved by x, to this tile of T
    permutations = column_permutations(sources, skeleton.tile(incoming.new[permutes][:, None], columns))
    distinct, which = np.unique(permutations, axis=0, return_inverse=True)
    # row 0 keeps, rows 1 to degree reset to a column, the others permute
    rows = np.concatenate([columns[None], np.repeat(columns[:, None], degree, axis=1), distinct])
    action = np.zeros(len(incoming), dtype=np.int64)
    action[resets] = 1 + chosen[resets]
    action[permutes] = 1 + degree + which.reshape(-1)
    if len(distinct):
        # a permutation that moves nothing is the identity
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
    # one column for each tile that can be read, else one in all
    degrees = np.where(reads_tile, offsets[incoming.old + 1] - offsets[incoming.old], 1)
    width = int(degrees.max(initial=1))
    columns = np.arange(width)
    there = columns < degrees[:, None]
    old = np.where(there, incoming.old[:, None], -1)
    expanded = there & reads_tile[:, None]
    row, column = np.nonzero(expanded)
    # P goes on by its tile where it has this height
    old[row, column] = skeleton.tile(incoming.old[row], column)
    letter = np.broadcast_to(incoming.letter[:, None], old.shape)
    fixed = incoming.new.copy()
    # T goes on by the tile that the reset chooses, by x applied to the old tile, or not at all
    fixed[resets] = skeleton.tile(incoming.new[resets], chosen[resets])
    new = np.where(permutes[:, None], skeleton.sets.moves[old, letter], fixed[:, None])
    return old, letter, new


def _number_triples(old: Indices, letter: Indices, new: Indices) -> tuple[LevelLetters, Table]:
    """The distinct triples, sorted, and the number of each, -1 where there is none."""
    sets, letters = int(max(old.max(initial=0), new.max(initial=0))) + 1, int(letter.max(initial=0)) + 1
    there = old >= 0
    # triples as numbers, sorted
    codes, inverse = np.unique(((old * letters + letter) * sets + new)[there], return_inverse=True)
    numbers = np.full(old.shape, -1, dtype=np.int32)
    numbers[there] = inverse.reshape(-1)
    rest = codes // sets
    return LevelLetters(rest // letters, rest % letters, codes % sets), numbers


def _points(skeleton: Holonomy, old: Indices, new: Indices) -> Table:
    return np.where(old >= 0, skeleton.points_of_singletons[new], -1).astype(np.int32)


def merge_letters(levels: list[CascadeLevel]) -> tuple[list[CascadeLevel], Indices]:
    """The levels with like letters merged, from the last level up; and the new number of each first-level letter.

    A component is no longer read where all of its tiles lead to the same letter. Afterwards no two letters of a
    level have the same actions, the same component read and the same next letters.
    """
    result: list[CascadeLevel] = []
    below: Indices | None = None
    for level in reversed(levels):
        following = level.next_letter
        if below is not None:
            # letters of the level below are merged already
            following = np.where(following < 0, -1, below[following]).astype(np.int32)
        reads, following = _unread(level.reads, following)
        # two letters are one if all of these agree
        keys = np.concatenate([level.action_of, reads[None], following.T])
        kept, below = _distinct_columns(keys)
        result.append(_restrict_level(level, reads, following, kept))
    assert below is not None
    return result[::-1], below


def _unread(reads: Table, following: Table) -> tuple[Table, Table]:
    # the same next letter whatever the tile, so the component need not be read
    constant = ((following == following[:, :1]) | (following < 0)).all(axis=1)
    following = following.copy()
    following[constant, 1:] = -1
    return np.where(constant, np.int32(-1), reads), following


def _distinct_columns(keys: NDArray[np.integer]) -> tuple[Indices, Indices]:
    """First occurrences of the distinct columns, in order, and for each column the number of its equal."""
    numbers = np.zeros(keys.shape[1], dtype=np.int64)
    for row in keys.astype(np.int64):
        # numbered pairs of what was distinct so far and this row
        combined = numbers * (int(row.max(initial=0)) + 2) + row + 1
        _, numbers = np.unique(combined, return_inverse=True)
        numbers = numbers.reshape(-1)
    _, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    renumbered = np.empty_like(order)
    renumbered[order] = np.arange(len(order))
    return first[order], renumbered[numbers.reshape(-1)]


def _restrict_level(level: CascadeLevel, reads: Table, following: Table, kept: Indices) -> CascadeLevel:
    actions, action_of = [], []
    for table, row in zip(level.actions, level.action_of[:, kept], strict=True):
        used, renumbered = np.unique(row, return_inverse=True)
        actions.append(table[used])
        action_of.append(renumbered.reshape(-1).astype(np.int32))
    following = following[kept]
    # reading fewer tiles makes the table narrower
    width = max(1, int((following >= 0).sum(axis=1).max(initial=1)))
    return replace(
        level,
        actions=tuple(actions),
        action_of=np.stack(action_of),
        reads=reads[kept],
        next_letter=following[:, :width],
    )


MAX_LEVEL_LETTERS = 500_000


def cascade(
    source: Automaton | Holonomy,
    *,
    max_image_sets: int = MAX_IMAGE_SETS,
    max_set_moves: int = MAX_SET_MOVES,
    max_level_letters: int = MAX_LEVEL_LETTERS,
    merge: bool = True,
    check: bool = True,
    inputs: int | None = None,
) -> Cascade:
    """Build the cascade of the holonomy decomposition, with one level for each height and one component for each class.

    Only the level letters that occur are built.

    Args:
        source: an automaton, or its holonomy decomposition (`holonomy`).
        max_image_sets: the largest number of image sets, at least 1.
        max_set_moves: the largest number of entries in the table of their images: image sets times letters.
        max_level_letters: the largest number of letters of a level before merging.
        merge: whether to merge level letters that act alike on their level and all levels below.
        check: whether to prove that the result is right in all joint states (`prove_emulation`) and begins at the right points.
        inputs: only the first so many letters of the skeleton are the cascade's; the others shape its levels
            only. None: all.

    Raises:
        LimitError: a level has more than `max_level_letters` letters before merging, or the decomposition is
            beyond its limits (`holonomy`).
    """
    maps = (source.maps if isinstance(source, Holonomy) else source.transitions)[:inputs]
    letters, letter_of = _distinct_letters(maps)
    name = "cascade" if isinstance(source, Holonomy) else source.name
    _require_few(name, len(letters), "level 1", max_level_letters)
    if isinstance(source, Holonomy):
        skeleton = source
    else:
        skeleton = holonomy(source, max_image_sets=max_image_sets, max_set_moves=max_set_moves)
    # at first P = T = the set of all points
    everything = np.zeros(len(letters), dtype=np.int64)
    incoming = LevelLetters(everything, letters, everything)
    levels: list[CascadeLevel] = []
    # heights fall from the top level down to 1
    for height, classes in zip(range(skeleton.levels, 0, -1), skeleton.by_height(), strict=True):
        _require_few(name, len(incoming), f"level {len(levels) + 1} of {skeleton.levels}", max_level_letters)
        level, incoming = level_of(skeleton, classes, height, incoming)
        levels.append(level)
    if merge and levels:
        levels, renumbered = merge_letters(levels)
        letter_of = renumbered[letter_of]
    built = Cascade(skeleton, tuple(levels), letter_of, first_chains(skeleton))
    if check:
        _require_emulation(built)
    return built


def cascade_of_all_maps(
    automaton: Automaton,
    *,
    max_image_sets: int = MAX_IMAGE_SETS,
    max_set_moves: int = MAX_SET_MOVES,
    max_level_letters: int = MAX_LEVEL_LETTERS,
) -> Cascade:
    """Build a cascade with n - 1 levels, of n, n - 1, ..., 2 points, for any automaton with n ≥ 2 states.

    It is the holonomy cascade of all maps of the states, which a cycle, a swap and a map that merges two states
    generate, restricted to the automaton's letters: all sets of one size are equivalent then, one level per size
    (Zeiger's coverings). It has 2^n - 1 image sets; limits as for `cascade`.

    Args:
        automaton: an automaton with at least two states.
        max_image_sets: the largest number of image sets, at least 1.
        max_set_moves: the largest number of entries in the table of their images: image sets times letters.
        max_level_letters: the largest number of letters of a level before merging.
    """
    n = len(automaton.states)
    if 2**n - 1 > max_image_sets:
        raise LimitError(
            f"{automaton.name}: all maps of {n} states have 2^{n} - 1 image sets; the limit is "
            f"`max_image_sets` {max_image_sets:,}: {advice(n)}"
        )
    points = np.arange(n)
    swap, merging = points.copy(), points.copy()
    swap[[0, 1]] = 1, 0
    merging[1] = 0
    # a cycle, a swap and a merging generate all maps; they shape the sets, but are no letters of the cascade
    maps = np.concatenate([automaton.transitions, np.roll(points, -1)[None], swap[None], merging[None]])
    skeleton = holonomy_of_maps(maps, max_image_sets=max_image_sets, max_set_moves=max_set_moves)
    return cascade(skeleton, max_level_letters=max_level_letters, inputs=len(automaton.transitions))


def _require_few(name: str, letters: int, level: str, limit: int) -> None:
    if letters > limit:
        raise LimitError(
            f"{name}: {letters:,} letters on {level} of the cascade; the limit is `max_level_letters` "
            f"{limit:,}, and levels below can have more: use `theorem` own.chain, which lists none"
        )


def _require_emulation(built: Cascade) -> None:
    covered = built.point_of(built.initial)
    wrong = np.flatnonzero(covered != np.arange(len(covered)))
    failure = f"the run from point {wrong[0]} begins at point {covered[wrong[0]]}" if wrong.size else None
    failure = failure or prove_emulation(built).failure
    if failure is not None:
        raise MirrormataError(f"cascade: a defect of this program, please report it: {failure}")


def _distinct_letters(maps: Indices) -> tuple[Indices, Indices]:
    """The first of each kind of equal letters, and for each letter the number of its kind."""
    numbers: dict[bytes, int] = {}
    letter_of = [numbers.setdefault(row.tobytes(), len(numbers)) for row in maps]
    kinds = np.array(letter_of, dtype=np.int64)
    return np.unique(kinds, return_index=True)[1].astype(np.int64), kinds


def first_chains(skeleton: Holonomy) -> Indices:
    """For each point a joint state `[points, components]`: first tiles that contain it, 0 where the chain is not."""
    classes = [c for level in skeleton.by_height() for c in level]
    column_of = {c: column for column, c in enumerate(classes)}
    states = np.zeros((skeleton.sets.points, len(classes)), dtype=np.int64)
    for point, singleton in enumerate(skeleton.sets.singletons.tolist()):
        # down from the set of all points, each time to the first tile that has the point
        current = 0
        while current != singleton:
            of_class = int(skeleton.class_of[current])
            tiles = skeleton.tile(np.array(current), np.arange(skeleton.classes[of_class].degree))
            tile = int(np.argmax(skeleton.sets.is_subset(singleton, tiles)))
            states[point, column_of[of_class]] = tile
            current = int(tiles[tile])
    return states
