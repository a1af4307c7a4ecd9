"""Checks a certificate of kind `horizon`: the table, and for each dtype a length up to which rounding is harmless.

Standard library only; run it as `python3 -I horizon.py CERTIFICATE`. The arithmetic is `per_step`, nearest even:
Ã(x) and H̃_0 are the exact A(x) and H_0 rounded once, entry by entry, and H̃_t = rnd(Ã(x_t) H̃_{t-1}) with the
product-sum exact. A head whose integers the dtype holds rounds nothing and has no limit. For every other head, also one
with a single code, letters must be products of factors without copies, times a gate, and nothing may be added; so
‖A(x)‖ ≤ 1, which the table proves. Norms of matrices and states are Frobenius norms unless they are written ‖A‖.

*How far a state drifts.* For a head with states of n rows and d columns in a format of p significant bits let

- u = 2^-p, η = half the spacing of the subnormals: rounding y without overflow errs by at most u|y| + η,
- δ ≥ ‖Ã(x) - A(x)‖ for all letters, R ≥ ‖C‖ for all codes C, and m > 0 a bound chosen below,
- E_t = ‖H̃_t - H_t‖, H_t the exact state, which is a code.

As long as E_{t-1} ≤ m,

1. ‖H̃_{t-1}‖ ≤ R + m, so Ã H̃_{t-1} has at most the norm Y = (1 + δ)(R + m), hence no entry above it; where
   Y is at most the largest finite number nothing overflows, the entries of H_0 (at most R) and of A (at most 1) included.
2. Ã H̃ - A H = A(H̃ - H) + (Ã - A) H̃ has at most the norm E_{t-1} + δ(R + E_{t-1}).
3. Rounding adds at most uY + ndη. So E_t ≤ (1 + δ) E_{t-1} + c with c = δR + uY + ndη.
4. Hence E_t ≤ (1 + δ)^t E_0 + c((1 + δ)^t - 1)/δ ≤ (E_0 + tc)/(1 - tδ), since (1 + δ)^t ≤ 1/(1 - tδ) while tδ < 1.
5. That is below m if and only if t(c + mδ) < m - E_0. The horizon of the head is the largest such t: for it and all
   smaller t the premise E_{t-1} ≤ m holds by induction.

*Decoding.* With several codes, let μ be half the least distance of two, and m = μ(1 - 2^-20) or less. A state with
E_t < m has its own code nearest: the square of its distance to any other is larger by at least (2μ - E_t)² - E_t² =
4μ(μ - E_t) > 2^-18 μ². With one code any state decodes rightly that stays finite, and m = R. Joint codes are compared
by the sums of all heads' squares; there a joint code that differs in some head is farther off by 2^-18 μ² of that head.

*The decoder's own arithmetic* is float64: |c|² - 2⟨x, c⟩ for each joint code, in any order, fused or not, c rounded once.
Let K = Σ nd and S = Σ (R + m)² over all heads; x and c have norms R + m at most in each. There are 2K products, each
with at most two roundings of c, its own, and 2K - 1 additions, together of absolute value at most |c|² + 2|x||c| ≤ 3S.
So each score errs by at most 3S(2K + 2) 2^-53 (1 + 2^-20), plus less than 2^-500 for what underflows, as S ≤ 2^1000 is
demanded and m, a multiple of 2^-97 (1 - 2^-20), is no smaller than that. Where (K + 1) S < 2^30 m² it is below
2^-20 m², and two scores differ by more than twice that: the right one stays the least. No intermediate exceeds
2^1003, so none overflows. Where either condition fails the horizon is 0.

With several layers the same holds for each head's read-out: by induction on the tokens, and within one on the layers,
every layer reads the right letter. The horizon is the least over all heads. Bounds of irrational numbers are rounded
outward to multiples of 2^-192 (squares) and 2^-96 (norms), so that there is one right answer.
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

from ._exact import Number, bounds, integer, need, record
from ._head import Head
from ._labels import require_kind
from ._program import run_alone
from ._rows import Sparse
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
LARGEST_LOAD = 2**1000  # of (K + 1) S, so that no square of the decoder overflows float64


def grid(x: Number, up: bool) -> int:
    """x in units of 2^-192, rounded up or down; exact, by refining bounds until both ends agree."""
    bits = 256
    while True:
        # both ends in units of 2^-192; rounding up is rounding the negative down
        low, high = (-((-end * GRID) // 1) if up else (end * GRID) // 1 for end in bounds(x, bits))
        if low == high:
            return int(low)
        bits *= 2


def norm_up(square: int) -> Fraction:
    """√(square / 2^192), rounded up to a multiple of 2^-96."""
    root = isqrt(square)
    return Fraction(root + (root * root < square), 2**96)


def round_to_format(x: Number, precision: int, least: int) -> Fraction:
    """x rounded once to the nearest number of a float format, ties to even; no overflow here."""
    bits = 128
    while True:
        ends = []
        for end in bounds(x, bits):
            exponent = least
            if end:
                # 2^e ≤ |x| < 2^(e+1): the spacing of values there is 2^(e - p + 1), below the least normal that of it
                size = abs(end)
                exponent = size.numerator.bit_length() - size.denominator.bit_length()
                exponent = max(exponent - (size < Fraction(2) ** exponent), least)
            unit = Fraction(2) ** (exponent - precision + 1)
            # `round` takes ties to even multiples, as the format does
            ends.append(round(end / unit) * unit)
        # both ends round to one number, so x does too
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
    return squares(round_to_format(x, precision, least) - x for _, _, x in matrix)


def least_distance(head: Head, images: list[list[int]]) -> int | None:
    """The least ‖C - C′‖² of two codes, rounded down to the grid; None for a single code.

    Where all letters are reflections' products that permute the codes and reach them all, they are isometries of
    the set and the distances from the first code are all that occur.
    """
    reflections = all(
        t["gate"] == 1 and not t["additive"] and "matrix" not in t
        # v is w where the factor is no copy; β‖v‖² = 2 makes it a reflection
        and all(v is w and beta * squares(x for _, _, x in v) == 2 for beta, v, w in t["factors"])
        for t in head.transitions
    )  # fmt: skip
    reached, queue = {0}, [0]
    for c in queue:
        fresh = [image[c] for image in images if image[c] not in reached]
        reached.update(fresh)
        queue.extend(dict.fromkeys(fresh))
    permuted = all(len(set(image)) == len(image) for image in images)
    # an isometry that permutes the codes and reaches all takes any pair to one with the first code
    firsts = [0] if reflections and permuted and len(reached) == len(head.codes) else range(len(head.codes))
    head.spend(len(firsts) * len(head.codes) * max(len(code) for code in head.codes))
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
    """R, and m: half the least distance of two codes made smaller, or R for a single code."""
    # R bounds the norms of all codes, that of H_0 among them
    radius = norm_up(max(grid(squares(x for _, _, x in code), up=True) for code in head.codes))
    least = least_distance(head, images)
    # m = μ(1 - 2^-20) with 2μ = √(least / 2^192)
    return radius, radius if least is None else Fraction(isqrt(least), 2**97) * (1 - Fraction(1, 2**20))


def head_horizon(
    head: Head,
    matrices: list[Sparse],
    start: int,
    radius: Fraction,
    margin: Fraction,
    load: Fraction,
    dtype: str,
) -> int | None:
    """The horizon of one head in one dtype; None where nothing is rounded. `load`: (K + 1) S.

    `matrices`: A of each transition; `start`: the code of H_0.
    """
    # all integers met are numbers of the dtype, so nothing is ever rounded
    if head.integer and head.bound <= FORMATS[dtype]:
        return None
    for t in head.transitions:
        need(
            "matrix" not in t and not t["additive"] and not head.copies,
            f"{head.where}: a horizon is certified for products of factors only",
        )
    precision, least, largest = FLOATS[dtype]
    # δ² of each letter, then δ
    errors = [grid(rounding_errors(A, precision, least), up=True) for A in matrices]
    delta = norm_up(max(errors, default=0))
    # E_0: the initial state is a code, rounded once
    first = norm_up(grid(rounding_errors(head.codes[start], precision, least), up=True))
    size = head.dim * head.value_dim
    # Y, c and t of the text: Y = (1 + δ)(R + m), c = δR + uY + ndη, and t(c + mδ) < m - E_0
    reach = (1 + delta) * (radius + margin)
    step = delta * radius + reach / 2**precision + size * Fraction(2) ** (least - precision)
    # the decoder's sums do not decide where (K + 1) S ≥ 2^30 m²; a single code needs no decision
    drowned = len(head.codes) > 1 and margin**2 * 2**30 <= load
    # claim 1 (no overflow), E_0 < m, and the decoder's two conditions
    if reach > largest or margin <= first or drowned or load > LARGEST_LOAD:
        return 0
    # the largest t with t(c + mδ) < m - E_0, strictly: one less than the quotient rounded up
    return int(-((first - margin) // (step + margin * delta))) - 1


def horizons(heads: list[Head], images: list[list[list[int]]], starts: list[int]) -> dict[str, int | None]:
    """For each dtype the least horizon of the heads; None where rounding never matters. `starts`: codes of H_0."""
    extents = [extent(head, image) for head, image in zip(heads, images, strict=True)]
    entries = sum(head.dim * head.value_dim for head in heads)
    # K = Σ n d and S = Σ (R + m)² over all heads
    load = (entries + 1) * sum(((r + m) ** 2 for r, m in extents), Fraction())
    result: dict[str, int | None] = {}
    matrices = [[head.matrix(t) for t in head.transitions] for head in heads]
    for dtype in FLOATS:
        limits = [
            head_horizon(h, A, start, r, m, load, dtype)
            for h, A, start, (r, m) in zip(heads, matrices, starts, extents, strict=True)
        ]
        finite = [limit for limit in limits if limit is not None]
        result[dtype] = min(finite) if finite else None
    return result


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "horizon")
    heads, images, facts = check_table(document, "horizon")
    said = record(document["horizon"], {"arithmetic", "lengths"}, "horizon")
    need(said["arithmetic"] == ARITHMETIC, f"horizon.arithmetic: it must be {ARITHMETIC!r}")
    lengths = record(said["lengths"], set(FLOATS), "horizon.lengths")
    right = horizons(heads, images, document["decode"][0][1:])
    for dtype, limit in right.items():
        # where one dtype never rounds there is nothing to certify
        need(
            limit is not None,
            f"horizon.lengths.{dtype}: rounding never matters; this is no horizon certificate",
        )
        integer(lengths[dtype], limit or 0, limit or 0, f"horizon.lengths.{dtype}")
    return f"{facts}; harmless rounding up to " + ", ".join(f"{n:,} ({dtype})" for dtype, n in right.items())


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
