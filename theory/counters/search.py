"""own.R3 and own.R4 as searches: which rounded recurrences count although their eigenvalues are real and in [0, 1].

`projections` finds the small two-factor counters on integer grids, `delta_keys` all one-factor counters of a small format.
How often random ones count: `rounding_counters_rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ..arithmetic.arithmetic import PerOp
from ..arithmetic.rounding import Floats
from ..arithmetic.value_sets import all_values, value_set


@dataclass(frozen=True)
class TwoProjections:
    """h ← nearest(P_second P_first h + B) on the integers low..high, without ties, from 0: ends in a cycle of `period`."""

    low: int
    high: int
    first: tuple[int, int]
    second: tuple[int, int]
    B: tuple[Fraction, Fraction]
    period: int

    @property
    def size(self) -> tuple[int, int, int]:
        """Number of grid values, largest entry of a direction, sum of the denominators of B: less is smaller."""
        entries = max(abs(x) for x in (*self.first, *self.second))
        return self.high - self.low + 1, entries, sum(b.denominator for b in self.B)


def projections(
    low: int, high: int, *, max_entry: int = 3, max_denominator: int = 7, period: int = 2
) -> tuple[list[TwoProjections], int]:
    """All such counters of a period within the bounds, smallest first, and how many systems were run.

    Directions: primitive, up to sign, entries up to `max_entry`. B: all fractions in [-2, 2] with a denominator up to
    `max_denominator`, the same for both entries of one system. Exact in integers. Systems that meet a tie are left out.
    """
    entries = range(-max_entry, max_entry + 1)
    directions = [(a, b) for a in entries for b in entries if gcd(a, b) == 1 and (a > 0 or (a, b) == (0, 1))]
    found: dict[tuple[Any, ...], TwoProjections] = {}
    systems = 0
    for v, w, d in product(directions, directions, range(1, max_denominator + 1)):
        numerators = np.array(list(product(range(-2 * d, 2 * d + 1), repeat=2)))
        scale = (v[0] ** 2 + v[1] ** 2) * (w[0] ** 2 + w[1] ** 2)
        A: NDArray[np.int64] = _off(w) @ _off(v) * d
        systems += len(numerators)
        periods, ties = _integer_cycles(A, numerators * scale, scale * d, low, high)
        for at in np.flatnonzero((periods == period) & ~ties):
            B = tuple(Fraction(int(x), d) for x in numerators[at])
            key = (v, w, B)
            found[key] = TwoProjections(low, high, v, w, (B[0], B[1]), period)
    return sorted(found.values(), key=lambda c: (c.size, c.first, c.second, c.B)), systems


@dataclass(frozen=True)
class DeltaCounter:
    """DeltaNet, β = 1, ‖key‖² ≤ 1, H_0 = 0: in the arithmetic it ends in a cycle of `period`."""

    arithmetic: str
    key: tuple[float, ...]
    value: float
    period: int


def delta_keys(
    format_name: str, n: int, *, order: str = "left", steps: int = 64, max_period: int = 12
) -> tuple[list[DeltaCounter], int]:
    """All counters of a small format, by ascending size of key and value, and how many systems were run.

    Signs: rounding to nearest even is symmetric, so keys with entries > 0 and values > 0 are all up to symmetry.
    """
    target = value_set(format_name)
    arithmetic = PerOp(target, order)
    values = all_values(target)
    positive = values[values > 0]
    keys = np.array([k for k in product(positive[positive <= 1], repeat=n) if sum(x * x for x in k) <= 1])
    found = []
    for v in positive:
        periods = delta_periods(arithmetic, keys, np.full(len(keys), v), steps, max_period)
        found += [
            DeltaCounter(arithmetic.name, tuple(keys[at].tolist()), float(v), int(periods[at]))
            for at in np.flatnonzero(periods > 1)
        ]
    return sorted(found, key=lambda c: (c.period, _bits(c.key), _bits((c.value,)), c.value, c.key)), len(
        keys
    ) * len(positive)


def delta_periods(arithmetic: PerOp, keys: Floats, values: Floats, steps: int, max_period: int) -> Indices:
    """Periods on 1^k from H_0 = 0 with β = 1 after `steps` steps: 1 to `max_period`, 0 if none of these; keys `[r, n]`."""
    one = np.ones(len(keys))
    h = np.zeros((*keys.shape, 1))
    for _ in range(steps):
        h = arithmetic.delta_rule(h, keys, one, values[:, None])
    kept, periods = h, np.zeros(len(keys), dtype=np.int64)
    for period in range(1, max_period + 1):
        h = arithmetic.delta_rule(h, keys, one, values[:, None])
        periods[(periods == 0) & (h == kept).all(axis=(1, 2))] = period
    return periods


def _off(v: tuple[int, int]) -> NDArray[np.int64]:
    """‖v‖² times the projection that erases v."""
    return np.array([[v[1] * v[1], -v[0] * v[1]], [-v[0] * v[1], v[0] * v[0]]], dtype=np.int64)


def _integer_cycles(
    A: NDArray[np.int64], B: NDArray[np.int64], scale: int, low: int, high: int
) -> tuple[Indices, NDArray[np.bool_]]:
    """Periods of h ← nearest((A h + B) / scale) from 0 for many B `[r, 2]`, and which meet a tie."""
    h = np.zeros_like(B)
    ties = np.zeros(len(B), dtype=bool)
    steps = (high - low + 1) ** 2
    periods, kept = np.zeros(len(B), dtype=np.int64), h
    for t in range(2 * steps):
        doubled = 2 * (h @ A.T + B)
        ties |= (doubled % (2 * scale) == scale).any(axis=1)
        h = np.clip((doubled + scale) // (2 * scale), low, high)
        if t == steps - 1:
            kept = h
        elif t >= steps:
            periods[(periods == 0) & (h == kept).all(axis=1)] = t - steps + 1
    return periods, ties


def _bits(numbers: tuple[float, ...]) -> int:
    """Significant bits of all numbers together."""
    numerators = [abs(Fraction(x).numerator) for x in numbers]
    return sum((x >> ((x & -x).bit_length() - 1)).bit_length() for x in numerators if x)
