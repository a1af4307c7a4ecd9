"""The rule of own.chain: what a token does to the sets of a chain, for many tokens at once.

A chain is X_1 ⊋ X_2 ⊋ ... ⊋ X_{L+1} = {q}; the sizes n_1 > ... > n_{L+1} = 1 are fixed, and q is the state. On letter a,
level by level from the top,

    a injective on X_i:   X'_{i+1} = a(X_{i+1})                                  the level permutes
    else:                 X'_{i+1} = a(X_i) and the least others of X'_i,         the level resets
                          n_{i+1} in all

Induction: a(X_i) ⊆ X'_i. If a is injective on X_i, then a(X_i) = X'_i, as both have n_i members, so a(X_{i+1}) is a proper
subset of X'_i of n_{i+1} members. Else |a(X_i)| ≤ n_{i+1} by the choice of the sizes, so there is room for the others,
and a(X_{i+1}) ⊆ a(X_i) ⊆ X'_{i+1}. Both times a(X_{i+1}) ⊆ X'_{i+1}, and in the end a(q) = q'.

With a window the top set is R, the states in which the last m letters can end, filled up with phantoms to s members.
Phantoms are numbered n, n + 1, ...; a letter takes them, in order, to the members of X'_i that are left, and only the
states among X_i count for injectivity. The induction then says a(R_i) ⊆ X'_i, R_i the states among X_i.

A set is a row of member numbers in ascending order, so that "the j-th member" has a meaning: level i holds the indicator of
X_{i+1} among the members of X_i, a vector of n_i zeros and ones, and a token is a permutation of its entries or a
reset to a given indicator.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..automata._automaton import Indices
from ._sizes import start_chain

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LevelLetters:
    """What some tokens do to one level whose set has p members.

    Attributes:
        permutes: which of them permute, bool array `[tokens]`.
        images: where the entries go, int array `[tokens, p]`: entry j of the old indicator becomes entry `images[j]` of
            the new one. The identity where the token resets.
        target: the indicator to which the others reset, bool array `[tokens, p]`.
    """

    permutes: Mask
    images: Indices
    target: Mask

    def apply(self, old: Mask) -> Mask:
        """The indicators after the tokens, `[tokens, p]`, by the rule alone.

        Args:
            old: the indicators before them, bool array `[tokens, p]`.
        """
        moved = np.empty_like(old)
        # entry j goes to images[j]
        np.put_along_axis(moved, self.images, old, axis=1)
        return np.where(self.permutes[:, None], moved, self.target)


def level_letters(transitions: Indices, x: Indices, old: Indices, new: Indices, size: int) -> LevelLetters:
    """What tokens do to the level below a set.

    Args:
        transitions: int array `[letters, states]`.
        x: the letters, int array `[tokens]`.
        old: X_i before each token, its members in ascending order, int array `[tokens, p]`.
        new: X_i after it, likewise.
        size: n_{i+1}, the size of the next set.
    """
    n = transitions.shape[1]
    tokens, p = old.shape
    rows = np.arange(tokens)[:, None]
    real = old < n  # the others are phantoms, which come last
    place = np.zeros((tokens, n + p), dtype=np.int64)  # of each member of X'_i
    place[rows, new] = np.arange(p)
    # the place of a(x) in X'_i; for phantoms any place, replaced below
    images = place[rows, transitions[x[:, None], np.minimum(old, n - 1)]]
    # entry p stands for the phantoms, which hit nothing
    hit = np.zeros((tokens, p + 1), dtype=bool)
    hit[rows, np.where(real, images, p)] = True
    hit = hit[:, :p]
    count = hit.sum(axis=1)
    # as many images as states: injective on R_i
    permutes: Mask = count == real.sum(axis=1)
    # how many members of X'_i up to here are not in a(R_i)
    missing = np.cumsum(~hit, axis=1)
    # a(X_i), and of the others as many of the least as there is room for
    target = hit | (missing <= (size - count)[:, None])
    if not real.all():
        left = np.argsort(hit, axis=1, kind="stable")  # first the places that are left, in ascending order
        number = np.maximum(
            np.arange(p) - real.sum(axis=1, keepdims=True), 0
        )  # of the phantom among its set's
        images = np.where(real, images, np.take_along_axis(left, number, axis=1))
    # a reset has the identity, which swaps nothing
    images = np.where(permutes[:, None], images, np.arange(p))
    return LevelLetters(permutes, images, target)


def members(sets: Indices, indicator: Mask) -> Indices:
    """The members of each set that an indicator names, `[tokens, ones]`.

    Args:
        sets: members in ascending order, int array `[tokens, p]`.
        indicator: equally many ones in each row, bool array `[tokens, p]`.
    """
    return sets[indicator].reshape(len(sets), -1)


def with_phantoms(states: Mask, size: int) -> Indices:
    """Sets of states filled up with phantoms, members in ascending order, `[sets, size]`.

    Args:
        states: bool array `[sets, n]`, at most `size` ones in a row.
        size: the number of members.
    """
    count, n = states.shape
    # phantoms n, n + 1, ... fill what is missing
    phantoms = np.arange(size) < (size - states.sum(axis=1))[:, None]
    return members(
        np.broadcast_to(np.arange(n + size), (count, n + size)), np.concatenate([states, phantoms], axis=1)
    )


def start_indicators(n: int, start: int, sizes: tuple[int, ...], *, phantoms: bool) -> list[Mask]:
    """The indicator of each level before the first token, `[n_i]` each.

    Args:
        n: number of states.
        start: the start state.
        sizes: n_1, ..., n_{L+1}.
        phantoms: X_1 is the start state and phantoms, as with a window, not the states 0, ..., n_1 - 1.
    """
    if phantoms:  # the start comes first, then the phantoms, and each set has its least members
        return [np.arange(above) < below for above, below in itertools.pairwise(sizes)]
    chain = start_chain(n, start, sizes)
    return [np.isin(above, below) for above, below in itertools.pairwise(chain)]


def split_permutations(images: Indices) -> tuple[Indices, Indices]:
    """Each permutation as two involutions, the first applied first; together they have p - #cycles swaps.

    A cycle c_0 → c_1 → ... → c_{r-1} → c_0 is c_k → c_{-k}, then c_k → c_{1-k}, indices modulo r.

    Args:
        images: int array `[permutations, p]`, entry j goes to `images[j]`.
    """
    p = images.shape[1]
    points = np.broadcast_to(np.arange(p), images.shape)
    # least of the next 2^s points of the cycle, doubled until it covers the cycle
    least, power = points.copy(), images
    for _ in range(max(p - 1, 1).bit_length()):
        least = np.minimum(least, np.take_along_axis(least, power, axis=1))
        power = np.take_along_axis(power, power, axis=1)
    back = np.empty_like(images)
    np.put_along_axis(back, images, points, axis=1)
    step = np.where(least == points, points, back)  # towards the least point of the cycle, where it stays
    # the distance from the least point, by doubling the same way
    rank = (least != points).astype(np.int64)
    for _ in range(max(p - 1, 1).bit_length()):
        rank += np.take_along_axis(rank, step, axis=1)
        step = np.take_along_axis(step, step, axis=1)
    order = np.argsort(least * p + rank, axis=1)  # cycle by cycle, each from its least point on
    # where each point stands in that order
    position = np.empty_like(order)
    np.put_along_axis(position, order, points, axis=1)
    first = np.take_along_axis(position, least, axis=1)
    # the point before the least one is the farthest from it
    length = np.take_along_axis(np.take_along_axis(rank, back, axis=1), least, axis=1) + 1

    def turned(k: Indices) -> Indices:
        return np.take_along_axis(order, first + k % length, axis=1)

    # c_k → c_{-k}, then c_k → c_{1-k}
    return turned(-rank), turned(1 - rank)
