"""Two-layer rules written out step by step, as independent oracles: each takes m and a word and yields the outputs.

They share no code with the constructions. The float rules insist on a decoding margin, so that a wrong rule cannot
pass by rounding: the directions among which they decode are π/m apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import cos, pi, sin

Plane = tuple[float, float]
Angle = Callable[[str, int, int, int], float]
"""θ(kind, index, p, m) in radians, kind "r" or "s"."""


def corner_swaps(m: int, c: int) -> list[tuple[int, int]]:
    """The disjoint swaps (j, c - j mod m), j < c - j mod m, that make the reflection j ↦ c - j of the m-gon."""
    return [(j, (c - j) % m) for j in range(m) if j < (c - j) % m]


def integer_two_layer_rule(m: int, word: Iterable[int]) -> Iterator[int]:
    """Sums mod m of letters 0, ..., m-1 (4.2, integer form): a parity, then m corners reflected by swaps."""
    parity = 0
    corners = [int(j == 0) for j in range(m)]
    for w in word:
        parity = 1 - parity
        for i, j in corner_swaps(m, -w if parity else w):
            corners[i], corners[j] = corners[j], corners[i]
        j = corners.index(1)
        yield -j % m if parity else j


def angular_two_layer_rule(m: int, word: Iterable[int]) -> Iterator[int]:
    """Sums mod m of letters 0, ..., m-1 (G.T6): a parity, then one reflection of the plane a letter."""
    parity = 0
    h = (1.0, 0.0)
    for w in word:
        parity = 1 - parity
        h = _reflect((1 - 2 * w) * pi / m if parity else (1 + 2 * w) * pi / m, h)
        yield _decode(m, h)


def dihedral_angle(kind: str, i: int, p: int, m: int) -> float:
    """The corrected angles of DP.T7 (4.3)."""
    if kind == "r":
        return (1 - 2 * i) * pi / m if p else (1 + 2 * i) * pi / m
    return (2 + 2 * i) * pi / m if p else -2 * i * pi / m


def printed_dihedral_angle(kind: str, i: int, p: int, m: int) -> float:
    """The angles of DP.T7 as printed: those of the reflections exchanged between p = 0 and p = 1."""
    return dihedral_angle(kind, i, p if kind == "r" else 1 - p, m)


def dihedral_two_layer_rule(m: int, word: Iterable[str], angle: Angle = dihedral_angle) -> Iterator[str]:
    """Right products of elements "r0", ..., "s0", ... of D_m (DP.T7): two parities, then one reflection a letter."""
    rotations = reflections = 0
    h = (1.0, 0.0)
    for letter in word:
        kind, i = letter[0], int(letter[1:])
        rotations ^= kind == "r"
        reflections ^= kind == "s"
        h = _reflect(angle(kind, i, rotations, m), h)
        found = _decode(m, h)
        yield f"s{(m - found) % m}" if reflections else f"r{found}"


def ripple_rule(m: int, word: Iterable[int]) -> Iterator[int]:
    """Sums mod m = 2^L of letters 0, ..., m-1 with L scalar ±1 layers (own.T2tight): a ripple-carry adder.

    Layer i holds bit i as a sign and flips it where the letter's bit plus the carry from below is odd; what it passes
    on is a function of its new state and its input. With letters 0 and 1 alone it is the ripple counter: a layer
    flips iff all lower bits carry.
    """
    layers = m.bit_length() - 1
    if m != 1 << layers:
        raise ValueError(f"{m} is not a power of two")
    signs = [1] * layers
    for w in word:
        carry = 0
        for i in range(layers):
            addend = (w >> i & 1) + carry
            signs[i] *= -1 if addend == 1 else 1
            bit = signs[i] < 0
            carry = int(addend == 2 or (addend == 1 and not bit))
        yield sum((s < 0) << i for i, s in enumerate(signs))


def _reflect(angle: float, h: Plane) -> Plane:
    """[[cos, sin], [sin, -cos]] h, as I - 2kkᵀ with the key k = (-sin α/2, cos α/2)."""
    k = (-sin(angle / 2), cos(angle / 2))
    s = 2 * (k[0] * h[0] + k[1] * h[1])
    return h[0] - s * k[0], h[1] - s * k[1]


def _decode(m: int, h: Plane) -> int:
    """The i with the largest max(c_iᵀh, d_iᵀh): d_i stands at the angle 2iπ/m, c_i at π/m - 2iπ/m."""
    scores = [
        max(
            cos(pi / m - 2 * i * pi / m) * h[0] + sin(pi / m - 2 * i * pi / m) * h[1],
            cos(2 * i * pi / m) * h[0] + sin(2 * i * pi / m) * h[1],
        )
        for i in range(m)
    ]
    best = max(scores)
    if best < 1 - 1e-9:
        raise ArithmeticError(f"the state {h} stands at no code: best score {best}")
    return scores.index(best)
