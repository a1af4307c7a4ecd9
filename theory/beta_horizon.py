"""Horizons for β < 2: how long a construction is right when every β‖v‖² = 2 in it is only `size`, a little less.

A layer whose β is 2σ(z) stays below 2, and then states shrink (H.openβ). Let C be a code, A(x) the exact letters, which
permute the codes with ‖A(x)‖ ≤ 1, and Ã(x) those with the smaller β, ‖Ã(x)‖ ≤ 1 too. In exact numbers the distance of
the states obeys E_t ≤ E_{t-1} + c with c = max ‖(Ã(x) - A(x)) C‖, so decoding to the nearest code is right while tc < m, half
the least distance of two codes. In `per_step` of a dtype the bound of `horizon` holds, δ = max ‖rnd(Ã(x)) - A(x)‖.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np

from ..constructions.errors import InputError
from ..constructions.householder import GHFactor, product_of
from ..constructions.lrnn import LRNN, Head, Transition
from ..constructions.matrices import Matrix, divide
from ..constructions.real_cyclotomic import Number, simplest
from .arithmetic.rounding import FORMATS, float_format, round_number
from .horizon import decoder_load, extent, head_horizon, norm_up, on_grid, squared_norm
from .running.stepper import LRNNStepper, only_layer
from .running.words import random_words

Pairs: TypeAlias = list[tuple[Matrix, Matrix]]
"""A(x) and Ã(x) of each letter."""


def largest_beta(dtype: str) -> Fraction:
    """The largest number of the dtype below 2."""
    return 2 - Fraction(2, 2 ** float_format(dtype).precision)


def scaled(lrnn: LRNN, size: Fraction) -> LRNN:
    """The construction with `size` for every β‖v‖² = 2; codes and tables stay, as what is to be decoded.

    One layer of GH factors without gates or additive terms; `InputError` for others.
    """
    heads = tuple(
        replace(head, transitions=tuple(_scaled(lrnn, t, size) for t in head.transitions))
        for head in only_layer(lrnn)
    )
    return replace(lrnn, layers=(replace(lrnn.layers[0], heads=heads),))


def beta_horizons(lrnn: LRNN, size: Fraction) -> dict[str, int | None]:
    """Lengths up to which decoding is provably right: in `exact` numbers and per step in each dtype; None: no limit."""
    heads = list(zip(only_layer(lrnn), only_layer(scaled(lrnn, size)), strict=True))
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


def first_failure(
    lrnn: LRNN, size: Fraction, dtype: str, words: int, length: int, seed: int = 0
) -> int | None:
    """The first place where, of so many random words, one is decoded wrongly; None if all are right up to `length`."""
    stepper = LRNNStepper(scaled(lrnn, size), dtype)
    tokens, delta = random_words(lrnn, words, length, seed), lrnn.automaton.transitions
    states, q = stepper.initial(words), np.full(words, lrnn.automaton.start)
    for t in range(length):
        letters = tokens[:, t]
        states, q = stepper.step(states, letters), delta[letters, q]
        if (stepper.decode(states, letters) != q).any():
            return t + 1
    return None


def _scaled(lrnn: LRNN, t: Transition, size: Fraction) -> Transition:
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
            squares.add(squared_norm(moved.values()))
    return norm_up(max((on_grid(square, up=True) for square in squares), default=0))


def _distance(pairs: Pairs, dtype: str) -> Fraction:
    """max ‖rnd(Ã(x)) - A(x)‖, rounded up."""
    squares = (
        on_grid(
            squared_norm(
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
