"""Certified horizons: up to which length rounding provably cannot flip the decoding, for each dtype.

The bound and its proof stand in `theory/checker/horizon.py`. This file finds the same numbers on a way of its own,
through number fields and ball arithmetic, so that the two hold each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Any

from ..constructions.automaton import breadth_first
from ..constructions.certificate import certificate
from ..constructions.householder import product_of
from ..constructions.integer_bound import head_bound
from ..constructions.lrnn import INTEGER_RANGES, LRNN, Head, Sparse, Transition
from ..constructions.real_cyclotomic import Number, enclosure, is_integer
from .arithmetic.rounding import FORMATS, FloatFormat, round_number

ARITHMETIC = "per_step, nearest even, weights and initial state rounded once"
"""H̃_t = rnd(Ã(x) H̃_{t-1}): the product-sum exact, one rounding an entry; Ã(x) and H̃_0 rounded once."""

LARGEST_LOAD = 2**1000
"""Of (K + 1) S: above it squares in the decoder's float64 could overflow."""


def full_certificate(lrnn: LRNN) -> dict[str, Any]:
    """The certificate of a construction: of kind `table`, or `horizon` where it is not bit-exact.

    The latter has the table and beside it `horizon`: the arithmetic, and a length for each dtype. There is none
    for letters with additive terms or with matrices that are no products of factors.
    """
    document = certificate(lrnn)
    if not has_horizon(lrnn):
        return document
    return {**document, "kind": "horizon", "horizon": {"arithmetic": ARITHMETIC, "lengths": horizons(lrnn)}}


def has_horizon(lrnn: LRNN) -> bool:
    """True where a horizon is certified: not bit-exact everywhere, and products of GH factors alone."""
    return lrnn.exactness != "integer" and not any(_is_barred(head) for head in lrnn.all_heads)


def _is_barred(head: Head) -> bool:
    """True where the bound does not hold: letters that are not products of GH factors alone, unless bit-exact."""
    bound = _bound(head)
    if bound is not None and bound <= min(INTEGER_RANGES.values()):
        return False
    return any(
        t.additive or t.matrix is not None or any(f.mask is not None for f in t.factors)
        for t in head.transitions
    )


def horizons(lrnn: LRNN) -> dict[str, int | None]:
    """For each dtype the length up to which the nearest code is provably the right one; None for no limit."""
    starts = lrnn.decode[0, 1:].tolist()
    sized = [
        (head, head.codes[start], *extent(head), _bound(head))
        for head, start in zip(lrnn.all_heads, starts, strict=True)
    ]
    load = decoder_load([(head, R, m) for head, _, R, m, _ in sized])
    result: dict[str, int | None] = {}
    for dtype, fmt in FORMATS.items():
        limits = [
            head_horizon(head, initial, _weight_error(head, fmt), R, m, load, fmt)
            for head, initial, R, m, bound in sized
            if any(head.codes) and (bound is None or bound > INTEGER_RANGES[dtype])
        ]
        result[dtype] = min(limits, default=None)
    return result


def _bound(head: Head) -> int | None:
    return head_bound(head) if all(is_integer(x) for x in head.numbers) else None


def on_grid(x: Number, *, up: bool) -> int:
    """x in units of 2^-192, rounded up or down."""
    bits = 256
    while True:
        ends = [end * 2**192 for end in enclosure(x, bits)]
        low, high = (ceil(end) if up else floor(end) for end in ends)
        if low == high:
            return low
        bits *= 2


def norm_up(square: int) -> Fraction:
    """√(square / 2^192), rounded up."""
    root = isqrt(square)
    return Fraction(root + int(root * root < square), 2**96)


def squared_norm(entries: Iterable[Number]) -> Number:
    """Σ x²."""
    total: Number = 0
    for x in entries:
        total = total + x * x
    return total


def _rounding_error(entries: Iterable[Number], fmt: FloatFormat) -> int:
    """‖rnd(M) - M‖² on the grid, rounded up."""
    return on_grid(squared_norm(Fraction(round_number(x, fmt)) - x for x in entries), up=True)


def _least_distance(head: Head) -> int | None:
    """The least squared distance of two codes, rounded down; None for a single code.

    Letters that are products of reflections and permute all codes are isometries of the set; then the distances
    from the first code are all that occur.
    """
    count = len(head.codes)
    reflections = all(
        t.gate == 1
        and not t.additive
        and t.matrix is None
        and all(f.beta * f.norm_squared == 2 for f in t.factors)
        for t in head.transitions
    )
    permuted = all(len(set(row)) == count for row in head.code_transitions.tolist())
    one_orbit = len(breadth_first(head.code_transitions, 0)) == count
    firsts = range(1 if reflections and permuted and one_orbit else count)
    squares = [
        on_grid(squared_norm(difference(head.codes[c], head.codes[other]).values()), up=False)
        for c in firsts
        for other in range(c + 1, count)
    ]
    return min(squares, default=None)


def difference(first: Sparse, second: Sparse) -> dict[tuple[int, int], Number]:
    """The entries of first - second."""
    result: dict[tuple[int, int], Number] = {(i, j): x for i, j, x in first}
    for i, j, x in second:
        result[i, j] = result.get((i, j), 0) - x
    return result


def extent(head: Head) -> tuple[Fraction, Fraction]:
    """The largest norm of a code, and how far a state may drift from its own.

    That is half the least distance of two codes, less one part in 2^20. The states of a head with a single code all decode
    alike; theirs may drift by the norm of the code.
    """
    radius = norm_up(max(on_grid(squared_norm(x for _, _, x in code), up=True) for code in head.codes))
    if len(head.codes) == 1:
        return radius, radius
    return radius, Fraction(isqrt(_least_distance(head) or 0), 2**97) * (1 - Fraction(1, 2**20))


def decoder_load(sized: Sequence[tuple[Head, Fraction, Fraction]]) -> Fraction:
    """(K + 1) S: K entries of all heads' states, S the sum of the squares of the largest norms R + m that they may have.

    The decoder's float64 scores err by less than 3(2K + 2) S / 2^53.
    """
    entries = sum(head.dim * head.value_dim for head, _, _ in sized)
    return (entries + 1) * sum(((R + m) ** 2 for _, R, m in sized), Fraction(0))


def head_horizon(
    head: Head,
    initial: Sparse,
    delta: Fraction,
    radius: Fraction,
    margin: Fraction,
    load: Fraction,
    fmt: FloatFormat,
) -> int:
    """The horizon of one head whose stored matrices are within `delta` of the exact ones, in the Frobenius norm.

    `initial`: the exact H_0; `radius`, `margin`: of `extent`; `load`: of `decoder_load`, over all heads. 0 where a state or
    the decoder could overflow, or the decoder could err by as much as tells two codes apart.
    """
    size = head.dim * head.value_dim
    reach = (1 + delta) * (radius + margin)
    if reach > fmt.max_finite or load > LARGEST_LOAD:
        return 0
    first = norm_up(_rounding_error((x for _, _, x in initial), fmt))
    half_spacing = Fraction(2) ** (fmt.min_exponent - fmt.precision)
    step = delta * radius + reach / 2**fmt.precision + size * half_spacing
    if margin <= first or (len(head.codes) > 1 and margin**2 * 2**30 <= load):
        return 0
    steps: int = ceil((margin - first) / (step + margin * delta))
    return steps - 1


def _weight_error(head: Head, fmt: FloatFormat) -> Fraction:
    return norm_up(max((_rounding_error(_matrix_entries(head, t), fmt) for t in head.transitions), default=0))


def _matrix_entries(head: Head, t: Transition) -> list[Number]:
    return [t.gate * x for row in product_of(t.factors, head.dim) for x in row]
