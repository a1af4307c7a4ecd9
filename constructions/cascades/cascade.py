"""From an automaton, or the skeleton of its semigroup, to the cascade of permutation-reset automata (G.T4)."""

from __future__ import annotations

import numpy as np

from ..automaton import Automaton, Indices
from ..errors import LimitError, MirrormataError
from .automata import Cascade, CascadeLevel
from .emulation import check_emulation
from .holonomy import Holonomy, holonomy, holonomy_of_maps
from .image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from .letters import LevelLetters, level_of
from .merging import merged
from .proof import prove_emulation

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
    """The cascade of the holonomy decomposition: one level for each height, one component for each class.

    Only the level letters that occur are built, level by level; `merge` makes one of those that act alike from
    there down. `check` tests the result on the spot: step by step (`check_emulation`, on samples where the joint
    states are many) and by the proof for all joint states (`prove_emulation`). `LimitError` where a level has more
    than `max_level_letters` letters before merging, or the skeleton is beyond its limits (`holonomy`).
    `inputs`: only the first so many letters of the skeleton are the cascade's; the others shape its levels only.
    """
    maps = (source.maps if isinstance(source, Holonomy) else source.transitions)[:inputs]
    letters, letter_of = _distinct_letters(maps)
    name = "cascade" if isinstance(source, Holonomy) else source.name
    _require_few(name, len(letters), "level 1", max_level_letters)
    if isinstance(source, Holonomy):
        skeleton = source
    else:
        skeleton = holonomy(source, max_image_sets=max_image_sets, max_set_moves=max_set_moves)
    everything = np.zeros(len(letters), dtype=np.int64)
    incoming = LevelLetters(everything, letters, everything)
    levels: list[CascadeLevel] = []
    for height, classes in zip(range(skeleton.levels, 0, -1), skeleton.by_height(), strict=True):
        _require_few(name, len(incoming), f"level {len(levels) + 1} of {skeleton.levels}", max_level_letters)
        level, incoming = level_of(skeleton, classes, height, incoming)
        levels.append(level)
    if merge and levels:
        levels, renumbered = merged(levels)
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
    """A cascade with n - 1 levels, of n, n - 1, ..., 2 points, for any automaton with n ≥ 2 states.

    It is the holonomy cascade of all maps of the states, which a cycle, a swap and a map that merges two states
    generate, restricted to the automaton's letters: all sets of one size are equivalent then, one level a size
    (Zeiger's coverings). It has 2^n - 1 image sets; limits as for `cascade`.
    """
    n = len(automaton.states)
    if 2**n - 1 > max_image_sets:
        raise LimitError(
            f"{automaton.name}: all maps of {n} states have 2^{n} - 1 image sets; the limit is {max_image_sets:,}: "
            "raise --max-image-sets"
        )
    points = np.arange(n)
    swap, merging = points.copy(), points.copy()
    swap[[0, 1]] = 1, 0
    merging[1] = 0
    maps = np.concatenate([automaton.transitions, np.roll(points, -1)[None], swap[None], merging[None]])
    skeleton = holonomy_of_maps(maps, max_image_sets=max_image_sets, max_set_moves=max_set_moves)
    return cascade(skeleton, max_level_letters=max_level_letters, inputs=len(automaton.transitions))


def _require_few(name: str, letters: int, level: str, limit: int) -> None:
    if letters > limit:
        raise LimitError(
            f"{name}: {letters:,} letters on {level} of the cascade; the limit is {limit:,}: raise --max-level-letters"
        )


def _require_emulation(built: Cascade) -> None:
    failure = check_emulation(built).failure or prove_emulation(built).failure
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
        current = 0
        while current != singleton:
            of_class = int(skeleton.class_of[current])
            tiles = skeleton.tile(np.array(current), np.arange(skeleton.classes[of_class].degree))
            tile = int(np.argmax(skeleton.sets.is_subset(singleton, tiles)))
            states[point, column_of[of_class]] = tile
            current = int(tiles[tile])
    return states
