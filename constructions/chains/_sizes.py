"""The sizes of the sets of a chain, and how many letters a window in front of it remembers.

A chain is X_1 ⊋ X_2 ⊋ ... ⊋ {q}, where q is the state, and every set has a fixed size (`_rule.py`). Fewer sizes mean fewer
layers, and two searches make them few:

- `plan_sizes`, where X_1 is the set of all states: the chains that can be reached are listed while they are few, and the
  next size is the largest number of states that a letter makes of a set by merging some. Below that each size is one less.
- `find_windows`, where X_1 is w(Q), the states in which the last m letters w can end: a size s will do if no image set
  w(Q) of more than s states can come back. An image is never larger than its set, so sets that come back along a cycle
  all have the same size, and the image sets can be listed from the largest size down, each size on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import LimitError
from ..automata._automaton import Indices

MAX_CHAINS = 2_000
"""Most chains that are listed at one level to find the next size."""
MAX_WINDOW_SETS = 20_000
"""Most image sets that are listed to find the length of a window."""
MAX_WINDOW_ENTRIES = 100_000_000
"""Most entries of these sets (sets × states)."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Window:
    """After the last `length` letters (those that move a state) at most `size` states are possible.

    Attributes:
        size: s, the most states, at least 1.
        length: m, the number of letters, at least 1.
    """

    size: int
    length: int


def moving_letters(transitions: Indices) -> Mask:
    """Which letters move a state, `[letters]`: a token of another one changes nothing, and a window leaves it out."""
    moves: Mask = (transitions != np.arange(transitions.shape[1])).any(axis=1)
    return moves


def find_windows(transitions: Indices, max_sets: int = MAX_WINDOW_SETS) -> list[Window]:
    """Every window that the listing of image sets finds, the largest size first.

    Args:
        transitions: int array `[letters, states]`.
        max_sets: the most image sets that are listed, at least 1.

    Returns:
        For each size s the least m such that |w(Q)| ≤ s for all words w of m letters. Nothing where a letter permutes the
        states, or where no letter moves one.

    Raises:
        LimitError: there are more image sets of some size, before any window was found.
    """
    n = transitions.shape[1]
    most = min(max_sets, max(1, MAX_WINDOW_ENTRIES // n))
    maps = np.unique(transitions[moving_letters(transitions)], axis=0)
    found: list[Window] = []
    if n < 2 or len(maps) == 0:
        return found
    # for each size the sets found so far, as packed bits, and the longest path of letters from Q to each
    waiting: dict[int, dict[bytes, int]] = {n: {_pack(np.ones((1, n), dtype=bool))[0]: 0}}
    listed, longest = 0, 0
    for size in range(n, 1, -1):
        paths = waiting.pop(size, {})
        within: dict[bytes, list[bytes]] = {}  # arrows between sets of this size
        below: dict[bytes, list[tuple[int, bytes]]] = {}
        frontier = list(paths)
        while frontier:
            listed += len(frontier)
            if listed > most:
                if not found:
                    raise LimitError(
                        f"more than {most:,} image sets before a window of letters was found: `theorem` own.chain needs none"
                    )
                return found
            fresh: dict[bytes, int] = {}
            for key in frontier:
                within[key], below[key] = [], []
            sets = _unpack(frontier, n)
            # the images of all sets of the frontier under one letter at once
            row, state = np.nonzero(sets)
            for letter in maps:
                images = np.zeros_like(sets)
                images[row, letter[state]] = True
                sizes = images.sum(axis=1).tolist()
                for key, image, image_size in zip(frontier, _pack(images), sizes, strict=True):
                    if image_size < size:
                        below[key].append((image_size, image))
                    else:
                        within[key].append(image)
                        if image not in paths:
                            fresh[image] = 0
            paths.update(fresh)
            frontier = list(fresh)
        # sets of this size that letters lead back to never become smaller, so no window reaches below
        order = _sort_by_arrows(within)
        if order is None:
            return found
        # in this order a set's paths are all known before it is left
        for key in order:
            length = paths[key]
            longest = max(longest, length)
            for image in within[key]:
                paths[image] = max(paths[image], length + 1)
            for image_size, image in below[key]:
                # single states are small enough for any window
                if image_size > 1:
                    reached = waiting.setdefault(image_size, {})
                    reached[image] = max(reached.get(image, 0), length + 1)
        # a word of longest + 1 letters leaves no set of this size or more
        found.append(Window(size - 1, longest + 1))
    return found


def _sort_by_arrows(arrows: dict[bytes, list[bytes]]) -> list[bytes] | None:
    """The sets in an order in which every arrow goes forward; None where there is a cycle."""
    incoming = dict.fromkeys(arrows, 0)
    for targets in arrows.values():
        for target in targets:
            incoming[target] += 1
    # Kahn's algorithm: a set without arrows left to it comes next
    order = [key for key, count in incoming.items() if count == 0]
    for key in order:
        for target in arrows[key]:
            incoming[target] -= 1
            if incoming[target] == 0:
                order.append(target)
    # what lies on a cycle, or behind one, never has no arrows left
    return order if len(order) == len(arrows) else None


def _pack(sets: Mask) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(sets, axis=1)]


def _unpack(keys: list[bytes], n: int) -> Mask:
    rows = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), -1)
    return np.unpackbits(rows, axis=1, count=n).astype(bool)


MAX_LISTED = 20_000_000
"""Most states, over all sets of all chains that letters make at all levels, that are listed to find sizes."""
Set = tuple[int, ...]
Chain = tuple[Set, ...]


def plan_sizes(transitions: Indices, starts: Sequence[int], max_chains: int = MAX_CHAINS) -> tuple[int, ...]:
    """Sizes n = n_1 > n_2 > ... > 1 that suffice for a chain from all states.

    Args:
        transitions: int array `[letters, states]`.
        starts: the states from which runs begin.
        max_chains: the most chains that are listed at one level, at least 0; with 0 each size is one less than the one
            before.
    """
    n = transitions.shape[1]
    letters = [row.tolist() for row in np.unique(transitions, axis=0)]
    sizes = [n]
    whole: Chain = (tuple(range(n)),)
    moves: dict[Chain, list[Chain]] | None = {whole: [whole] * len(letters)} if max_chains else None
    left = MAX_LISTED
    while sizes[-1] > 1:
        # beyond the limit the size falls by one, which always suffices
        if moves is None:
            sizes.append(sizes[-1] - 1)
            continue
        # how many states letters make of the last sets; a letter that merges makes fewer than there are
        ranks = {len({row[x] for x in last}) for last in {chain[-1] for chain in moves} for row in letters}
        sizes.append(max(ranks - {sizes[-1]}, default=1))
        if sizes[-1] > 1:
            of_one = len(letters) * sum(sizes)  # a chain is hashed with all its sets
            moves = _extend_chains(moves, letters, starts, sizes, min(max_chains, left // of_one))
            left -= of_one * len(moves or ())
    return tuple(sizes)


def _extend_chains(
    moves: dict[Chain, list[Chain]],
    letters: list[list[int]],
    starts: Sequence[int],
    sizes: list[int],
    max_chains: int,
) -> dict[Chain, list[Chain]] | None:
    """The chains that are one set longer, with where each letter takes them; None if there are too many."""
    found: dict[Chain, list[Chain]] = {start_chain(sizes[0], start, sizes): [] for start in starts}
    queue = list(found)
    for chain in queue:  # which grows on the way
        # `upper` is X'_1, ..., X'_i, which is known from the shorter chain
        for row, upper in zip(letters, moves[chain[:-1]], strict=True):
            images = {row[x] for x in chain[-2]}
            # injective on X_i: X'_{i+1} = a(X_{i+1}); else a(X_i) and the least others of X'_i
            if len(images) == len(chain[-2]):
                last = tuple(sorted(row[x] for x in chain[-1]))
            else:
                last = pad_set(images, upper[-1], sizes[-1])
            after = (*upper, last)
            found[chain].append(after)
            if after not in found:
                if len(found) >= max_chains:
                    return None
                found[after] = []
                queue.append(after)
    return found


def pad_set(images: set[int], within: Set, size: int) -> Set:
    """The images and, of the other members of a set that holds them, the least, `size` in all."""
    rest = [x for x in within if x not in images]
    return tuple(sorted([*images, *rest[: size - len(images)]]))


def start_chain(n: int, start: int, sizes: list[int] | tuple[int, ...]) -> Chain:
    """The chain of sets of these sizes around a state: each holds it and the least others of the set before."""
    chain = [tuple(range(n))]
    for _, size in pairwise(sizes):
        chain.append(pad_set({start}, chain[-1], size))
    return tuple(chain)
