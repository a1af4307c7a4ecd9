"""Certified horizons: up to which length rounding provably cannot flip the decoding, for each dtype.

The bound and its proof stand in `theory/checker/horizon.py`. This file finds the same numbers on a way of its own,
through number fields and ball arithmetic, so that the two hold each other.

Horizons for β < 2: how long a construction is right when every β‖v‖² = 2 in it is only `size`, a little less.

A layer whose β is 2σ(z) stays below 2, and then states shrink (H.openβ). Let C be a code, A(x) the exact letters, which
permute the codes with ‖A(x)‖ ≤ 1, and Ã(x) those with the smaller β, ‖Ã(x)‖ ≤ 1 too. In exact numbers the distance of
the states obeys E_t ≤ E_{t-1} + c with c = max ‖(Ã(x) - A(x)) C‖, so decoding to the nearest code is right while tc < m, half
the least distance of two codes. In `per_step` of a dtype the bound of `horizon` holds, δ = max ‖rnd(Ã(x)) - A(x)‖.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Any, TypeAlias

from ..constructions._head import Head, bound_head
from ..constructions._lrnn import LRNN
from ..constructions._realisation import INTEGER_RANGES, Realisation, Sparse, Transition
from ..constructions.algebra._cyclotomic import Number, enclosure, is_integer, simplest
from ..constructions.algebra._householder import GHFactor, product_of
from ..constructions.algebra._matrices import Matrix, divide
from ..constructions.automata._automaton import breadth_first
from ..foundation._arguments import require_count, require_instance
from ..foundation._errors import InputError
from ._kinds import kind_of
from .arithmetic._rounding import FORMATS, FloatFormat, float_format, round_number

ARITHMETIC = "per_step, nearest even, weights and initial state rounded once"
"""H̃_t = rnd(Ã(x) H̃_{t-1}): the product-sum exact, one rounding an entry; Ã(x) and H̃_0 rounded once."""

LARGEST_LOAD = 2**1000
"""Of (K + 1) S: above it squares in the decoder's float64 could overflow."""


def full_certificate(found: Realisation, *, max_group: int = 5_000) -> dict[str, Any]:
    """Make the certificate of a realisation, with a certified length for each dtype in which its numbers are rounded.

    The certificate of an `LRNN` has the kind `table` or, if the LRNN is not bit-exact, the kind `horizon`. The latter also has an
    entry `horizon` with the arithmetic and a length for each dtype. There is no horizon if a letter has an additive term or a
    matrix that is not a product of factors. The certificate of a block delay has the kind `delay`.

    Args:
        found: a realisation, as `construct` returns it.
        max_group: the largest order of a group whose elements a certificate of kind `delay` lists.

    Raises:
        InputError: `found` is not a construction, two labels have the same text, or a Mealy machine's output cannot be told from
            the state after.
        LimitError: a number field or a group is larger than the limit.
    """
    require_instance("found", found, Realisation, "what `construct` returns")
    max_group = require_count("max_group", max_group, 1)
    return kind_of(found).complete(found, found.certificate(max_group=max_group))


def add_horizons(lrnn: LRNN, document: dict[str, Any]) -> dict[str, Any]:
    """A table's certificate, of kind `horizon` where the table is not bit-exact but has certified lengths."""
    if not has_horizon(lrnn):
        return document
    return {**document, "kind": "horizon", "horizon": {"arithmetic": ARITHMETIC, "lengths": horizons(lrnn)}}


def has_horizon(lrnn: LRNN) -> bool:
    """Whether a horizon can be certified: the LRNN is not bit-exact in all formats, and its letters are products of GH factors.

    Args:
        lrnn: the realisation.

    Raises:
        InputError: `lrnn` is something else.
    """
    require_instance("lrnn", lrnn, LRNN, "an LRNN, as `construct` returns it")
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
    """For each dtype, the length up to which the nearest code is provably the right one; None for no limit.

    Args:
        lrnn: the realisation.

    Raises:
        InputError: `lrnn` is something else.
    """
    require_instance("lrnn", lrnn, LRNN, "an LRNN, as `construct` returns it")
    starts = lrnn.decode[0, 1:].tolist()
    sized = [
        (head, _letters_entries(head), head.codes[start], *extent(head), _bound(head))
        for head, start in zip(lrnn.all_heads, starts, strict=True)
    ]
    load = decoder_load([(head, R, m) for head, _, _, R, m, _ in sized])
    result: dict[str, int | None] = {}
    for dtype, fmt in FORMATS.items():
        limits = [
            head_horizon(head, initial, _weight_error(letters, fmt), R, m, load, fmt)
            for head, letters, initial, R, m, bound in sized
            if any(head.codes) and (bound is None or bound > INTEGER_RANGES[dtype])
        ]
        result[dtype] = min(limits, default=None)
    return result


def _bound(head: Head) -> int | None:
    return bound_head(head) if all(is_integer(x) for x in head.numbers) else None


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


def square_norm(entries: Iterable[Number]) -> Number:
    """Σ x²."""
    total: Number = 0
    for x in entries:
        total = total + x * x
    return total


def _rounding_error(entries: Iterable[Number], fmt: FloatFormat) -> int:
    """‖rnd(M) - M‖² on the grid, rounded up."""
    return on_grid(square_norm(Fraction(round_number(x, fmt)) - x for x in entries), up=True)


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
        on_grid(square_norm(difference(head.codes[c], head.codes[other]).values()), up=False)
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
    radius = norm_up(max(on_grid(square_norm(x for _, _, x in code), up=True) for code in head.codes))
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


def _weight_error(letters: list[list[Number]], fmt: FloatFormat) -> Fraction:
    return norm_up(max((_rounding_error(entries, fmt) for entries in letters), default=0))


def _letters_entries(head: Head) -> list[list[Number]]:
    """The entries of A(x) for each transition, without regard to what is no product of factors."""
    return [[t.gate * x for row in product_of(t.factors, head.dim) for x in row] for t in head.transitions]


Pairs: TypeAlias = list[tuple[Matrix, Matrix]]
"""A(x) and Ã(x) of each letter."""


def largest_beta(dtype: str) -> Fraction:
    """The largest number of the dtype below 2."""
    return 2 - Fraction(2, 2 ** float_format(dtype).precision)


def scale_betas(lrnn: LRNN, size: Fraction) -> LRNN:
    """The construction with `size` for every β‖v‖² = 2; codes and tables stay, as what is to be decoded.

    One layer of GH factors without gates or additive terms; `InputError` for others.
    """
    heads = tuple(
        replace(head, transitions=tuple(_scale_transition(lrnn, t, size) for t in head.transitions))
        for head in lrnn.only_layer.heads
    )
    return replace(lrnn, layers=(replace(lrnn.layers[0], heads=heads),))


def beta_horizons(lrnn: LRNN, size: Fraction) -> dict[str, int | None]:
    """Lengths up to which decoding is provably right: in `exact` numbers and per step in each dtype; None for no limit.

    Args:
        lrnn: a realisation given by a table, as `construct` returns it.
        size: β‖v‖² in place of 2, in (0, 2].
    """
    heads = list(zip(lrnn.only_layer.heads, scale_betas(lrnn, size).only_layer.heads, strict=True))
    starts = lrnn.decode[0, 1:].tolist()
    extents = [extent(head) for head, _ in heads]
    load = decoder_load([(h, R, m) for (h, _), (R, m) in zip(heads, extents, strict=True)])
    several = [len(head.codes) > 1 for head, _ in heads]
    letters = [list(zip(_matrices(head), _matrices(other), strict=True)) for head, other in heads]
    drifts = [_drift(head, pairs) for (head, _), pairs in zip(heads, letters, strict=True)]
    limits = [ceil(m / c) - 1 for c, (_, m), many in zip(drifts, extents, several, strict=True) if c and many]
    result: dict[str, int | None] = {"exact": min(limits, default=None)}
    for dtype, fmt in FORMATS.items():
        result[dtype] = min(
            (
                head_horizon(head, head.codes[start], _distance(pairs, dtype), R, m, load, fmt)
                for (head, _), pairs, start, (R, m) in zip(heads, letters, starts, extents, strict=True)
            ),
            default=None,
        )
    return result


def _scale_transition(lrnn: LRNN, t: Transition, size: Fraction) -> Transition:
    if t.gate != 1 or t.additive or t.matrix is not None or any(f.mask is not None for f in t.factors):
        raise InputError(
            f"{lrnn.automaton.name}: only letters that are products of GH factors have this horizon"
        )
    return replace(
        t,
        factors=tuple(
            GHFactor(simplest(divide(size, f.norm_squared)), f.vector) if f.beta * f.norm_squared == 2 else f
            for f in t.factors
        ),
    )


def _drift(head: Head, pairs: Pairs) -> Fraction:
    """max ‖(Ã(x) - A(x)) C‖, rounded up."""
    squares: set[Number] = set()
    for A, B in pairs:
        D = [[b - a for a, b in zip(row, near, strict=True)] for row, near in zip(A, B, strict=True)]
        columns = [[(i, row[k]) for i, row in enumerate(D) if row[k] != 0] for k in range(head.dim)]
        for code in head.codes:
            moved: dict[tuple[int, int], Number] = {}
            for k, j, x in code:
                for i, d in columns[k]:
                    moved[i, j] = moved.get((i, j), 0) + d * x
            squares.add(square_norm(moved.values()))
    return norm_up(max((on_grid(square, up=True) for square in squares), default=0))


def _distance(pairs: Pairs, dtype: str) -> Fraction:
    """max ‖rnd(Ã(x)) - A(x)‖, rounded up."""
    squares = (
        on_grid(
            square_norm(
                Fraction(round_number(b, dtype)) - a
                for row, near in zip(A, B, strict=True)
                for a, b in zip(row, near, strict=True)
            ),
            up=True,
        )
        for A, B in pairs
    )
    return norm_up(max(squares, default=0))


def _matrices(head: Head) -> list[Matrix]:
    return [product_of(t.factors, head.dim) for t in head.transitions]
