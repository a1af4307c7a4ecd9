"""The diagonal scan as Triton kernels: a lane is one channel of one segment and walks through it step by step.

The order of operations is that of `torch_diagonal`: the same segments give the same bits in float32 and float64
(products and sums are not fused).  `adjoint` kernels run the scan of the gradients: the decay is the conjugate of the
one of the step before, and is 1 at the first step.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _load(pointer, index, mask, COMPLEX: tl.constexpr, ARITHMETIC: tl.constexpr):
    if COMPLEX:
        re = tl.load(pointer + 2 * index, mask=mask, other=0.0).to(ARITHMETIC)
        im = tl.load(pointer + 2 * index + 1, mask=mask, other=0.0).to(ARITHMETIC)
    else:
        re = tl.load(pointer + index, mask=mask, other=0.0).to(ARITHMETIC)
        im = re
    return re, im


@triton.jit
def _store(pointer, index, re, im, mask, COMPLEX: tl.constexpr):
    if COMPLEX:
        tl.store(pointer + 2 * index, re.to(pointer.dtype.element_ty), mask=mask)
        tl.store(pointer + 2 * index + 1, im.to(pointer.dtype.element_ty), mask=mask)
    else:
        tl.store(pointer + index, re.to(pointer.dtype.element_ty), mask=mask)


@triton.jit
def _times(ar, ai, hr, hi, COMPLEX: tl.constexpr):
    if COMPLEX:
        re = ar * hr - ai * hi
        im = ar * hi + ai * hr
    else:
        re = ar * hr
        im = re
    return re, im


@triton.jit
def _cuts(s, active, starts, ends, sequence, cu, tokens, per_row, length, PACKED: tl.constexpr):
    """Of segment s: first token, end, sequence, and the sequence's first token and end."""
    if PACKED:
        n = tl.load(sequence + s, mask=active, other=-1)
        used = active & (n >= 0)
        start = tl.load(starts + s, mask=used, other=0)
        end = tl.load(ends + s, mask=used, other=0)
        low = tl.load(cu + n, mask=used, other=0)
        high = tl.load(cu + n + 1, mask=used, other=0)
    else:
        n = tl.cast(s // per_row, tl.int64)
        low = n * tokens
        high = low + tokens
        start = low + tl.cast(s % per_row, tl.int64) * length
        end = tl.minimum(start + length, high)
        used = active
    return n, used, start, end, low, high


@triton.jit
def _decay(
    a, p, back, d, D, low, high, mask, ADJOINT: tl.constexpr, COMPLEX: tl.constexpr, ARITHMETIC: tl.constexpr
):
    """The decay at token p; in an adjoint scan the conjugate of the one the scan met before, 1 at its first token."""
    if ADJOINT:
        beside = p + back
        inside = (beside >= low) & (beside < high)
        re, im = _load(a, beside * D + d, mask & inside, COMPLEX, ARITHMETIC)
        re = tl.where(inside, re, 1.0)
        im = -im
    else:
        re, im = _load(a, p * D + d, mask, COMPLEX, ARITHMETIC)
    return re, im


@triton.jit
def segment_summaries(
    a, b, decays, states, starts, ends, sequence, cu, tokens, per_row, length, direction, D, lanes,
    PACKED: tl.constexpr, ADJOINT: tl.constexpr, COMPLEX: tl.constexpr,
    ARITHMETIC: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Of each segment: the product of its decays, and the state it leaves when zero enters."""
    lane = tl.cast(tl.program_id(0), tl.int64) * BLOCK + tl.arange(0, BLOCK)
    active = lane < lanes
    d = lane % D
    _, used, start, end, low, high = _cuts(
        lane // D, active, starts, ends, sequence, cu, tokens, per_row, length, PACKED
    )
    steps = tl.where(used, end - start, 0)
    origin = tl.where(direction > 0, start, end - 1)
    hr = tl.zeros([BLOCK], ARITHMETIC)
    hi = tl.zeros([BLOCK], ARITHMETIC)
    pr = hr + 1.0
    pi = tl.zeros([BLOCK], ARITHMETIC)
    for i in range(0, tl.max(steps), UNROLL):
        loaded = ()  # all loads are under way before the first is used
        for j in tl.static_range(UNROLL):
            mask = i + j < steps
            p = origin + (i + j) * direction
            ar, ai = _decay(a, p, -direction, d, D, low, high, mask, ADJOINT, COMPLEX, ARITHMETIC)
            br, bi = _load(b, p * D + d, mask, COMPLEX, ARITHMETIC)
            loaded = loaded + ((ar, ai, br, bi),)  # noqa: RUF005
        for j in tl.static_range(UNROLL):
            mask = i + j < steps
            ar, ai, br, bi = loaded[j]
            xr, xi = _times(ar, ai, hr, hi, COMPLEX)
            hr = tl.where(mask, xr + br, hr)
            hi = tl.where(mask, xi + bi, hi)
            xr, xi = _times(ar, ai, pr, pi, COMPLEX)
            pr = tl.where(mask, xr, pr)
            pi = tl.where(mask, xi, pi)
    _store(states, lane, hr, hi, active, COMPLEX)
    _store(decays, lane, pr, pi, active, COMPLEX)


@triton.jit
def segment_states(
    a, b, enter, h, last, h_forward, h_initial, da, starts, ends, sequence, cu,
    tokens, per_row, length, direction, D, lanes,
    PACKED: tl.constexpr, ADJOINT: tl.constexpr, EXCLUSIVE: tl.constexpr, COMPLEX: tl.constexpr,
    ARITHMETIC: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """All states from the one that enters each segment, and the last of each sequence.

    EXCLUSIVE writes the state before each step instead.  ADJOINT also writes the gradient of the decay, and as the last
    state the gradient of the initial one.
    """
    lane = tl.cast(tl.program_id(0), tl.int64) * BLOCK + tl.arange(0, BLOCK)
    active = lane < lanes
    d = lane % D
    n, used, start, end, low, high = _cuts(
        lane // D, active, starts, ends, sequence, cu, tokens, per_row, length, PACKED
    )
    steps = tl.where(used, end - start, 0)
    origin = tl.where(direction > 0, start, end - 1)
    hr, hi = _load(enter, lane, used, COMPLEX, ARITHMETIC)
    for i in range(0, tl.max(steps), UNROLL):
        loaded = ()  # all loads are under way before the first is used
        for j in tl.static_range(UNROLL):
            mask = i + j < steps
            p = origin + (i + j) * direction
            ar, ai = _decay(a, p, -direction, d, D, low, high, mask, ADJOINT, COMPLEX, ARITHMETIC)
            br, bi = _load(b, p * D + d, mask, COMPLEX, ARITHMETIC)
            if ADJOINT:
                beside = p + direction
                inside = (beside >= low) & (beside < high)
                fr, fi = _load(h_forward, beside * D + d, mask & inside, COMPLEX, ARITHMETIC)
                er, ei = _load(h_initial, n * D + d, mask & (inside == 0), COMPLEX, ARITHMETIC)
                loaded = loaded + ((ar, ai, br, bi, tl.where(inside, fr, er), tl.where(inside, fi, ei)),)  # noqa: RUF005
            else:
                loaded = loaded + ((ar, ai, br, bi, br, bi),)  # noqa: RUF005
        for j in tl.static_range(UNROLL):
            mask = i + j < steps
            at = (origin + (i + j) * direction) * D + d
            ar, ai, br, bi, fr, fi = loaded[j]
            if EXCLUSIVE:
                _store(h, at, hr, hi, mask, COMPLEX)
            xr, xi = _times(ar, ai, hr, hi, COMPLEX)
            hr = tl.where(mask, xr + br, hr)
            hi = tl.where(mask, xi + bi, hi)
            if not EXCLUSIVE:
                _store(h, at, hr, hi, mask, COMPLEX)
            if ADJOINT:
                gr, gi = _times(fr, -fi, hr, hi, COMPLEX)
                _store(da, at, gr, gi, mask, COMPLEX)
    if not EXCLUSIVE:
        # only an empty sequence has an empty segment
        ending = used & (tl.where(direction > 0, end - high, start - low) == 0)
        if ADJOINT:
            filled = ending & (high > low)
            final = tl.where(direction > 0, high - 1, low)
            ar, ai = _load(a, final * D + d, filled, COMPLEX, ARITHMETIC)
            xr, xi = _times(ar, -ai, hr, hi, COMPLEX)
            hr = tl.where(filled, xr, hr)
            hi = tl.where(filled, xi, hi)
        _store(last, n * D + d, hr, hi, ending, COMPLEX)
