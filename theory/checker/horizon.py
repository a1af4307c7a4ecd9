"""Checks a certificate of kind `horizon`: the table, and for each dtype a length up to which rounding is harmless.

Standard library only; run it as `python3 -I horizon.py CERTIFICATE`. The arithmetic is `per_step`, nearest even:
Ã(x) and H̃_0 are the exact A(x) and H_0 rounded once, entry by entry, and H̃_t = rnd(Ã(x_t) H̃_{t-1}) with the
product-sum exact. With ‖A(x)‖ ≤ 1, which the table proves, E_t = ‖H̃_t - H_t‖ (Frobenius) obeys

    E_t ≤ (1 + δ) E_{t-1} + c,   δ = max ‖Ã(x) - A(x)‖,   c = δR + uY + ndη,   Y = (1 + δ)(R + m),

R the largest norm of a code, m half the least distance of two codes, u the unit roundoff and η half the spacing
of the subnormals. As (1 + δ)^t ≤ 1/(1 - tδ), E_t ≤ (E_0 + tc)/(1 - tδ), which is below m, so that the nearest code
is the right one, for all t with t(c + mδ) < m - E_0. The horizon is the largest such t. Here m is first made
smaller by a factor 1 - 2^-20, which covers the decoder's own float64 arithmetic on all heads together where
m²·2^30 > Σ nd(R + m)² (else the horizon is 0); heads that are exact in the dtype count as having no limit.
Bounds of irrational numbers are rounded outward to multiples of 2^-192 (squares) and 2^-96 (norms), so that there
is one right answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from .exact import Number, bounds, integer, need, record, run_alone
from .head import Head, Sparse
from .table import FORMATS, check_table

# precision in bits, exponent of the least normal number, largest finite number
FLOATS = {
    "fp64": (53, -1022, (2**53 - 1) * 2**971),
    "fp32": (24, -126, (2**24 - 1) * 2**104),
    "fp16": (11, -14, 65504),
    "bf16": (8, -126, (2**8 - 1) * 2**120),
    "fp8_e4m3": (4, -6, 448),
    "fp8_e5m2": (3, -14, 57344),
}
ARITHMETIC = "per_step, nearest even, weights and initial state rounded once"
GRID = 2**192


def grid(x: Number, up: bool) -> int:
    """x in units of 2^-192, rounded up or down; exact, by refining bounds until both ends agree."""
    bits = 256
    while True:
        low, high = (-((-end * GRID) // 1) if up else (end * GRID) // 1 for end in bounds(x, bits))
        if low == high:
            return int(low)
        bits *= 2


def norm_up(square: int) -> Fraction:
    """√(square / 2^192), rounded up to a multiple of 2^-96."""
    root = isqrt(square)
    return Fraction(root + (root * root < square), 2**96)


def rounded(x: Number, precision: int, least: int) -> Fraction:
    """x rounded once to the nearest number of a float format, ties to even; no overflow here."""
    bits = 128
    while True:
        ends = []
        for end in bounds(x, bits):
            exponent = least
            if end:
                size = abs(end)
                exponent = size.numerator.bit_length() - size.denominator.bit_length()
                exponent = max(exponent - (size < Fraction(2) ** exponent), least)
            unit = Fraction(2) ** (exponent - precision + 1)
            ends.append(round(end / unit) * unit)
        if ends[0] == ends[1]:
            return ends[0]
        bits *= 2


def squares(entries: Iterable[Number]) -> Number:
    """Σ x²."""
    total: Number = 0
    for x in entries:
        total = total + x * x
    return total


def rounding_errors(matrix: Sparse, precision: int, least: int) -> Number:
    """‖rnd(M) - M‖² in the Frobenius norm."""
    return squares(rounded(x, precision, least) - x for _, _, x in matrix)


def least_distance(head: Head, images: list[list[int]]) -> int | None:
    """The least ‖C - C′‖² of two codes, rounded down to the grid; None for a single code.

    Where all letters are reflections' products that permute the codes and reach them all, they are isometries of
    the set and the distances from the first code are all that occur.
    """
    reflections = all(
        t["gate"] == 1 and not t["additive"] and "matrix" not in t
        and all(v is w and beta * squares(x for _, _, x in v) == 2 for beta, v, w in t["factors"])
        for t in head.transitions
    )  # fmt: skip
    reached, queue = {0}, [0]
    for c in queue:
        fresh = [image[c] for image in images if image[c] not in reached]
        reached.update(fresh)
        queue.extend(dict.fromkeys(fresh))
    permuted = all(len(set(image)) == len(image) for image in images)
    firsts = [0] if reflections and permuted and len(reached) == len(head.codes) else range(len(head.codes))
    least = None
    for c in firsts:
        for other in range(c + 1, len(head.codes)):
            difference = {(i, j): x for i, j, x in head.codes[c]}
            for i, j, x in head.codes[other]:
                difference[i, j] = difference.get((i, j), 0) - x
            size = grid(squares(difference.values()), up=False)
            least = size if least is None else min(least, size)
    return least


def extent(head: Head, images: list[list[int]]) -> tuple[Fraction, Fraction]:
    """R, and m made smaller; m is 0 for a single code."""
    radius = norm_up(max(grid(squares(x for _, _, x in code), up=True) for code in head.codes))
    return radius, Fraction(isqrt(least_distance(head, images) or 0), 2**97) * (1 - Fraction(1, 2**20))


def head_horizon(
    head: Head, start: int, radius: Fraction, margin: Fraction, load: Fraction, dtype: str
) -> int | None:
    """The horizon of one head in one dtype; None where it has no limit. `load`: Σ nd(R + m)² over all heads.

    `start`: the code of H_0.
    """
    if len(head.codes) == 1 or (head.integer and head.bound <= FORMATS[dtype]):
        return None
    for t in head.transitions:
        need(
            "matrix" not in t and not t["additive"] and not head.copies,
            "a horizon is certified for products of factors only",
        )
    precision, least, largest = FLOATS[dtype]
    errors = [grid(rounding_errors(head.matrix(t), precision, least), up=True) for t in head.transitions]
    delta = norm_up(max(errors, default=0))
    first = norm_up(grid(rounding_errors(head.codes[start], precision, least), up=True))
    size = head.dim * head.value_dim
    reach = (1 + delta) * (radius + margin)
    step = delta * radius + reach / 2**precision + size * Fraction(2) ** (least - precision)
    if reach > largest or margin <= first or margin**2 * 2**30 <= load:
        return 0
    return int(-((first - margin) // (step + margin * delta))) - 1


def horizons(heads: list[Head], images: list[list[list[int]]], starts: list[int]) -> dict[str, int | None]:
    """For each dtype the least horizon of the heads; None where rounding never matters. `starts`: codes of H_0."""
    extents = [extent(head, image) for head, image in zip(heads, images, strict=True)]
    load = sum(
        (h.dim * h.value_dim * (r + m) ** 2 for h, (r, m) in zip(heads, extents, strict=True)), Fraction()
    )
    result: dict[str, int | None] = {}
    for dtype in FLOATS:
        limits = [
            head_horizon(h, start, r, m, load, dtype)
            for h, start, (r, m) in zip(heads, starts, extents, strict=True)
        ]
        finite = [limit for limit in limits if limit is not None]
        result[dtype] = min(finite) if finite else None
    return result


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    need(type(document) is dict and document.get("kind") == "horizon", "not a certificate of kind horizon")
    heads, images, facts = check_table(document, "horizon")
    said = record(document["horizon"], {"arithmetic", "lengths"}, "horizon")
    need(said["arithmetic"] == ARITHMETIC, f"horizon.arithmetic: it must be {ARITHMETIC!r}")
    lengths = record(said["lengths"], set(FLOATS), "horizon.lengths")
    right = horizons(heads, images, document["decode"][0][1:])
    for dtype, limit in right.items():
        need(
            limit is not None,
            f"horizon.lengths.{dtype}: rounding never matters; this is no horizon certificate",
        )
        integer(lengths[dtype], limit or 0, limit or 0, f"horizon.lengths.{dtype}")
    return f"{facts}; harmless rounding up to " + ", ".join(f"{n:,} ({dtype})" for dtype, n in right.items())


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
