"""DP.T7.printed: the angles as printed do not follow the dihedral group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness

CLAIM = Claim(
    "DP.T7.printed",
    "The printed angles for D_m",
    "refuted",
    uses=("DP.T7",),
    repair="θ(s_i, 0) = -2iπ/m and θ(s_i, 1) = (2 + 2i)π/m change places, and what is computed is the right product.",
    formal=("Counting.printed_dihedral",),
)

Element = tuple[str, int]
"""("r", i) for the rotation r_i, ("s", i) for the reflection s_i."""


def verify(effort: Effort = QUICK) -> Verdict:
    """The two layers of DP.T7 with θ(s_i, 0) = (2 + 2i)π/m and θ(s_i, 1) = -2iπ/m compute the left product of D_m.

    Statement: As in DP.T7, with the angles of the reflections for the two parities the other way round, and for the left
        product y_t = x_t·y_{t-1}.
    Direction: sufficient
    Hypotheses: m ≥ 3.
    Arithmetic: exact: all directions are multiples of π/m, so they are integers modulo 2m
    Source: DP, Theorem 7 (i)
    Method: The direction of the state is followed as an integer modulo 2m. A shortest word of D_3 on which the printed
        angles name a wrong element, for the left product and for the right one; and the share of wrong steps on random
        words, also of the corrected angles, which must be 0 for the right product.
    Example:
        >>> print(verify().line())
        refuted: computed 36% to 53% of the steps wrong, claimed 0% of the steps wrong
    """
    sides, orders, length = ("left", "right"), range(3, 13), effort.pick(500, 6_000)
    generator = effort.generator()
    rates: dict[str, dict[str, float]] = {}
    for m in orders:
        word = [
            ("rs"[int(k)], int(i))
            for k, i in zip(generator.integers(0, 2, length), generator.integers(0, m, length), strict=True)
        ]
        for angles in ("printed", "corrected"):
            for side in sides:
                share = sum(a != b for a, b in steps(word, m, angles, side)) / length
                rates.setdefault(f"{angles}, {side} product", {})[str(m)] = round(share, 3)
    wrong = rates["printed, left product"].values()
    words = {side: shortest_wrong(3, side) for side in sides}
    sound = max(rates["corrected, right product"].values()) == 0
    return refute_by_witness(
        CLAIM,
        {"m": 3, "words": words} if sound and all(words.values()) else None,
        replay_witness,
        computed=f"{min(wrong):.0%} to {max(wrong):.0%} of the steps wrong",
        claimed="0% of the steps wrong",
        evidence={"wrong steps by m": rates, "steps": length, "seed": effort.seed},
    )


def mirror(x: Element, parity: int, angles: str) -> int:
    """θ(x, parity) as a multiple of π/m."""
    kind, i = x
    if kind == "r":
        return 1 - 2 * i if parity else 1 + 2 * i
    return 2 + 2 * i if (parity == 1) == (angles == "corrected") else -2 * i


def steps(word: Sequence[Element], m: int, angles: str, side: str) -> list[tuple[Element, Element]]:
    """After each letter: the element that the two layers name, and the product."""
    direction, parity, reflected, y, found = 0, 0, 0, ("r", 0), []
    for x in word:
        parity, reflected = parity ^ (x[0] == "r"), reflected ^ (x[0] == "s")
        direction = (mirror(x, parity, angles) - direction) % (2 * m)
        i = (direction // 2 if direction % 2 == 0 else (1 - direction) // 2) % m
        y = multiply_elements(x, y, m) if side == "left" else multiply_elements(y, x, m)
        found.append(((("s", -i % m) if reflected else ("r", i)), y))
    return found


def multiply_elements(x: Element, y: Element, m: int) -> Element:
    """r_i r_j = r_{i+j}, r_i s_j = s_{i+j}, s_i r_j = s_{i-j}, s_i s_j = r_{i-j}."""
    (a, i), (b, j) = x, y
    return ("r" if a == b else "s"), (i + j if a == "r" else i - j) % m


def shortest_wrong(m: int, side: str) -> list[Element] | None:
    """A shortest word on which the printed angles name a wrong element."""
    elements = [(kind, i) for kind in "rs" for i in range(m)]
    for length in (1, 2, 3):
        for word in product(elements, repeat=length):
            if any(a != b for a, b in steps(word, m, "printed", side)):
                return list(word)
    return None


def replay_witness(witness: dict[str, Any]) -> bool:
    """Is each word wrong with the printed angles?"""
    cases = witness["words"].items()
    return all(any(a != b for a, b in steps(word, witness["m"], "printed", side)) for side, word in cases)
