"""Intervals of a table: of a share of seeds by Wilson's formula, of a median by the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

LEVEL = 0.95
"""Coverage of all intervals."""
RESAMPLES = 10_000
"""Bootstrap samples of a median; drawn with a fixed seed, so a table is the same each time it is made."""


def wilson_interval(reached: int, total: int, level: float = LEVEL) -> tuple[float, float]:
    """The interval of Wilson for the probability that a seed succeeds.

    With z the quantile of the normal distribution and p = reached / total, its ends are
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    Args:
        reached: how many seeds succeeded, from 0 to `total`.
        total: how many seeds there are, at least 1.
        level: the coverage, between 0 and 1.

    Returns:
        Two probabilities from 0 to 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.

    Examples:
        >>> [round(x, 3) for x in wilson_interval(8, 8)]
        [0.676, 1.0]
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, spread = reached / total, z * z / total
    centre = share + spread / 2
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4)
    low, high = (centre - half) / (1 + spread), (centre + half) / (1 + spread)
    return max(0.0, low) if reached else 0.0, min(1.0, high) if reached < total else 1.0


def bootstrap_median(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The percentile interval of the median over resampled seeds.

    Args:
        values: one value for each seed, at least one; infinities are allowed.
        level: the coverage, between 0 and 1.

    Returns:
        The lower and the upper end; values of the sample, or means of two.

    Examples:
        >>> bootstrap_median([0.2, 0.9, 1.0, 1.0])
        (0.2, 1.0)
    """
    ordered = np.sort(np.array(values, dtype=float))
    n = len(ordered)
    places = np.sort(np.random.default_rng(0).integers(0, n, size=(RESAMPLES, n)), axis=1)
    # the mean of the two middle values, which for an odd n are one
    lower, upper = ordered[places[:, (n - 1) // 2]], ordered[places[:, n // 2]]
    medians = np.sort(np.where(lower == upper, lower, (lower + upper) / 2))
    tail = (1 - level) / 2
    low, high = (medians[round(share * (RESAMPLES - 1))] for share in (tail, 1 - tail))
    return float(low), float(high)
