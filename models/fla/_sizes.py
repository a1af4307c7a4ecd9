"""The ranges of numbers in a configuration, and ratios of sizes that FLA's own expression turns into the sizes again."""

from __future__ import annotations

import math
from typing import Any, Final

from ...foundation._errors import InputError

LARGEST_SIZE: Final = 2**31 - 1
"""Largest whole number of a configuration."""
LARGEST_RATIO: Final = 10**6
"""Largest ratio of two sizes."""
MOST_LAYERS: Final = 10_000
"""Largest number of layers of a checkpoint that is read."""


def is_size(value: Any, most: int = LARGEST_SIZE) -> bool:
    """Whether a value is a whole number from 1 to `most`."""
    return type(value) is int and 1 <= value <= most


def is_ratio(value: Any) -> bool:
    """Whether a value is a number above 0 of at most `LARGEST_RATIO`."""
    return type(value) in (int, float) and 0 < value <= LARGEST_RATIO


def ratio_of(wanted: int, size: int) -> float:
    """A ratio for which FLA's `int(size * ratio)`, which truncates, is the wanted size.

    Args:
        wanted: the size that the product must be, at least 1.
        size: what FLA multiplies by the ratio, at least 1.

    Returns:
        `wanted / size` as a float, or the next float above it where the product falls below `wanted`.

    Raises:
        InputError: no such float is near.
    """
    ratio = wanted / size
    if int(size * ratio) < wanted:
        ratio = math.nextafter(ratio, math.inf)
    if int(size * ratio) != wanted:
        raise InputError(
            f"model: no ratio gives {wanted} of {size} in float64, as FLA computes it: choose sizes of which one divides the other"
        )
    return ratio
