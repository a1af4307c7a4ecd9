"""The image sets of a transformation semigroup: the set of all points and everything that words make of it.

A set is a bit mask (bit q = point q) and is known by its index: images first, in breadth-first order from the set
of all points (index 0), then the singletons that are no image. Letters act on the right: P·x = {q·x : q in P}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import LimitError
from ..automata._automaton import Indices

MAX_IMAGE_SETS = 200_000
MAX_SET_MOVES = 10_000_000

Bits = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class ImageSets:
    """The extended image sets I* (images and all singletons) with the action of the letters.

    Attributes:
        points: number of points n.
        masks: the sets as bit masks, bit q for point q.
        images: number of sets, from the first, that are images; the rest are singletons.
        moves: int array `[sets, letters]`, the index of the set P·x.
        sizes: int array `[sets]`, the number of points.
        bits: the masks as uint64 `[sets, words]`.
        singletons: int array `[points]`, the set {q}.
    """

    points: int
    masks: tuple[int, ...]
    images: int
    moves: Indices
    sizes: Indices
    bits: Bits
    singletons: Indices

    def __len__(self) -> int:
        return len(self.masks)

    def members(self, index: int) -> tuple[int, ...]:
        """The points of a set, ascending.

        Args:
            index: index of a set.
        """
        mask = self.masks[index]
        return tuple(q for q in range(self.points) if mask >> q & 1)

    def is_subset(self, inner: Indices | int, outer: Indices | int) -> NDArray[np.bool_]:
        """Decide elementwise whether set `inner` is a subset of set `outer`.

        Args:
            inner: indices of sets.
            outer: indices of sets; they broadcast with `inner`.
        """
        return np.asarray(((self.bits[inner] & ~self.bits[outer]) == 0).all(axis=-1))


def image_sets(
    maps: Indices, *, max_image_sets: int = MAX_IMAGE_SETS, max_set_moves: int = MAX_SET_MOVES
) -> ImageSets:
    """List all image sets of some maps breadth first, without listing the semigroup.

    Args:
        maps: the maps, int array `[letters, points]`.
        max_image_sets: the largest number of image sets, at least 1.
        max_set_moves: the largest number of entries in the table of their images: image sets times letters.

    Raises:
        LimitError: there are more than `max_image_sets` image sets, or the table of their moves has more than
            `max_set_moves` entries (sets times letters).
    """
    letters, n = maps.shape
    # table[q, x] is the set {q·x} as bits
    table = _bits([1 << q for q in range(n)], n)[maps.T]
    full = (1 << n) - 1
    masks, index = [full], {full: 0}
    moves: list[list[int]] = []
    # grows on the way: every set has all its images
    for mask in masks:
        if (len(moves) + 1) * letters > max_set_moves:
            raise LimitError(
                f"holonomy: {len(masks):,} image sets under {letters:,} letters and not done; the limit is "
                f"{max_set_moves:,} moves of sets by letters, as `max_set_moves` says: {advice(n)}"
            )
        moves.append(_indices(_images(mask, table), index, masks))
        if len(masks) > max_image_sets:
            raise LimitError(
                f"holonomy: {len(masks):,} image sets of the {n} points and not done; "
                f"the limit is `max_image_sets` {max_image_sets:,}: {advice(n)}"
            )
    images = len(masks)
    # singletons that are no images stand behind them
    singletons = _indices([1 << q for q in range(n)], index, masks)
    moves += [_indices(_images(mask, table), index, masks) for mask in masks[images:]]
    return ImageSets(
        points=n,
        masks=tuple(masks),
        images=images,
        moves=np.array(moves, dtype=np.int64).reshape(len(masks), letters),
        sizes=np.array([mask.bit_count() for mask in masks], dtype=np.int64),
        bits=_bits(masks, n),
        singletons=np.array(singletons, dtype=np.int64),
    )


FEW_POINTS = 20
"""Points whose sets are few enough that a raised limit is sure to be enough, at 2^20 of them."""


def advice(points: int) -> str:
    """What can work where a limit on image sets was reached: a higher one for few points, else a construction without such sets.

    Args:
        points: the number of points; there are at most 2^points sets.
    """
    if points <= FEW_POINTS:
        return (
            f"raise it (there are at most {2**points:,} sets), or use `theorem` own.chain, which lists none"
        )
    return f"there can be up to 2^{points}, so use `theorem` own.chain, which lists none"


def _indices(found: list[int], index: dict[int, int], masks: list[int]) -> list[int]:
    """The index of each set; new ones are appended to `masks` in their order."""
    for mask in dict.fromkeys(found):
        if mask not in index:
            index[mask] = len(masks)
            masks.append(mask)
    return [index[mask] for mask in found]


def _images(mask: int, table: Bits) -> list[int]:
    """The images of a set under every letter; `table`: the bits of q·x, `[points, letters, words]`."""
    n, _, words = table.shape
    octets = np.frombuffer(mask.to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
    points = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
    # P·x is the union of the points' images
    images = np.bitwise_or.reduce(table[points], axis=0)
    masks: list[int] = images[:, 0].tolist()
    for word in range(1, words):
        masks = [low | high << 64 * word for low, high in zip(masks, images[:, word].tolist(), strict=True)]
    return masks


def _bits(masks: list[int], n: int) -> Bits:
    width = 8 * ((n + 63) // 64)
    data = b"".join(mask.to_bytes(width, "little") for mask in masks)
    return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(len(masks), width // 8)
