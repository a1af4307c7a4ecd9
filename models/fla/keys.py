"""Unit keys that FLA's SiLU and L2 norm compute exactly: mirrors as ±1/2, written columns as integers over a power of 2.

A key e_i - e_j has the length √2, which no binary format holds. So a coordinate i that takes part in swaps is stored
twice, as u_i = e_{2i} + e_{2i+1}: the mirror (u_i - u_j)/2 has the length 1 and entries ±1/2, and exchanges u_i and u_j.
A column to be written gets further coordinates that complete the sum of its squares to a power of 4; nothing reads them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch.nn import functional as F

from ...constructions.errors import InputError
from ...theory.arithmetic.rounding import Floats

SCALE = 32
"""SiLU(x) = x in float32 from x = 32, and 1e-6 is nothing beside the squares: keys without a sign are scaled by it."""
LEAST = -0.25
"""Of SiLU's images, for entries of different sizes: a little above its minimum."""
LARGEST = 256
"""Whole numbers to this one are exact in bf16."""
_FORMATS = (torch.bfloat16, torch.float16)


def silu_preimage(y: float) -> float:
    """The x with x·σ(x) = y, by bisection in float64; y >= -.278, and x beyond SiLU's minimum at -1.278."""
    low, high = (-1.278, 0.0) if y < 0 else (0.0, y + 2)
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return middle
        if middle / (1 + np.exp(-middle)) < y:
            low = middle
        else:
            high = middle


@cache
def silu_pair() -> tuple[float, float]:
    """x > 0 > z with SiLU(x) = -SiLU(z) in float32 to its last bits, and exactly in bf16 and fp16 after rounding x and z.

    SiLU is nowhere below -.2785. Among the z of 8 bits near that minimum, the one whose images lie furthest from where
    a rounding changes, so that an exponential with an error of some last bits does no harm.
    """
    best, found = 0.0, None
    for step in range(128, 225):
        z = -step / 128
        x = silu_preimage(float(z / -(1 + np.exp(-z))))
        margins = []
        for dtype in _FORMATS:
            images = [float(F.silu(torch.tensor(y, dtype=dtype).double())) for y in (x, z)]
            rounded = [abs(float(torch.tensor(y, dtype=dtype))) for y in images]
            ulp = 2.0 ** (-2 - (7 if dtype == torch.bfloat16 else 10))
            equal = rounded[0] == rounded[1]
            margins += [(0.5 - abs(abs(y) - r) / ulp) * equal for y, r in zip(images, rounded, strict=True)]
        if min(margins) > best:
            best, found = min(margins), (x, z)
    assert found is not None
    return found


def key_input(key: Floats) -> Floats:
    """What is projected so that SiLU and the norm give ±key/‖key‖: `[K]` to `[K]`.

    Keys of one size get just that in bf16 and fp16; others what SiLU makes of float32 numbers, the sign chosen so that the
    negative entries, which SiLU keeps small, are the smaller ones.
    """
    if (key >= 0).all():
        return np.array([y if y == 0 or y >= SCALE else silu_preimage(y) for y in (key * SCALE).tolist()])
    if len(set(np.abs(key[key != 0]))) == 1:
        x, z = silu_pair()
        return np.where(key > 0, x, np.where(key < 0, z, 0.0))
    key = key if key.max() >= -key.min() else -key
    return np.array([silu_preimage(y) if y else 0.0 for y in (key * LEAST / key.min()).tolist()])


def key_length(key: Floats) -> float:
    """‖·‖² of what SiLU makes of `key_input`, beside which the norm's ε stands."""
    x = key_input(key)
    with np.errstate(over="ignore"):
        return float(((x / (1 + np.exp(-x))) ** 2).sum())


def completed(column: Floats, where: int, name: str) -> Floats:
    """The integers `[n]` >= 0 with as many further ones as make the sum of squares a power of 4.

    `where`: the coordinate of the first of those. `InputError` for entries beyond `LARGEST`.
    """
    total, power = round(float(column @ column)), 1
    while power < total:
        power *= 4
    further = four_squares(power - total)
    if max(*column, *further, 0) > LARGEST:
        raise InputError(f"{name}: its initial state has entries beyond {LARGEST}, which bf16 does not hold")
    return np.concatenate([column, np.zeros(where - len(column)), np.array(further, dtype=np.float64)])


def four_squares(n: int) -> tuple[int, ...]:
    """Positive integers, at most four, whose squares add up to n (Lagrange); the fewest."""
    for count in range(5):
        if (found := _squares(n, count, int(n**0.5) + 1)) is not None:
            return found
    raise AssertionError(n)


def _squares(n: int, count: int, largest: int) -> tuple[int, ...] | None:
    if count == 0:
        return () if n == 0 else None
    for first in range(min(largest, int(n**0.5) + 1), 0, -1):
        if first * first <= n and (rest := _squares(n - first * first, count - 1, first)) is not None:
            return (first, *rest)
    return None
