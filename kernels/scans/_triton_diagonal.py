"""The diagonal scan as Triton kernels: a lane is one channel of one segment and walks through it step by step.

The order of operations is that of `torch_diagonal`: the same segments give the same bits in float32 and float64
(products and sums are not fused).  `adjoint` kernels run the scan of the gradients: the decay is the conjugate of the
one of the step before, and is 1 at the first step.

The diagonal scan on Triton kernels: summaries of the segments, the scan between them, then all states.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .._backends import count_launch
from .._launching import check_grid, on_device_of
from ._segments import Segments, next_length

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"


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


BLOCK, WARPS, UNROLL = 256, 4, 8


def diagonal_scan_segments(
    a: Tensor, b: Tensor, initial_state: Tensor, segments: Segments, *, backwards: bool, pairs: bool
) -> tuple[Tensor, Tensor]:
    """All states in b's dtype and the last of each sequence in the arithmetic's; as the torch function of that name."""
    a, b, initial_state = a.contiguous(), b.contiguous(), initial_state.contiguous()
    h, last = torch.empty_like(b), torch.empty_like(initial_state)
    enter = _entering(a, b, initial_state, segments, backwards=backwards, pairs=pairs, adjoint=False)
    _states(a, b, enter, h, last, segments, backwards=backwards, pairs=pairs)
    return h, last


def diagonal_scan_gradients(
    a: Tensor,
    h: Tensor,
    dh: Tensor,
    initial_state: Tensor,
    d_final: Tensor,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a, b and the initial state; as the torch function of that name."""
    a, h, dh = a.contiguous(), h.contiguous(), dh.contiguous()
    initial_state, d_final = initial_state.contiguous(), d_final.contiguous()
    da, db, first = torch.empty_like(a), torch.empty_like(dh), torch.empty_like(d_final)
    enter = _entering(a, dh, d_final, segments, backwards=not backwards, pairs=pairs, adjoint=True)
    adjoint = (h, initial_state, da)
    _states(a, dh, enter, db, first, segments, backwards=not backwards, pairs=pairs, adjoint=adjoint)
    return da, db, first


def _entering(
    a: Tensor, b: Tensor, initial: Tensor, segments: Segments, *, backwards: bool, pairs: bool, adjoint: bool
) -> Tensor:
    """The state that enters each segment, `[R,S,D(,2)]`; where segments are whole sequences, the initial ones."""
    if segments.whole:
        return initial
    shape = (segments.rows, segments.per_row, *initial.shape[1:])
    decays, states, enter = (initial.new_empty(shape) for _ in range(3))
    tensors = [a, b, decays, states]
    _launch(segment_summaries, tensors, segments, initial, backwards, ADJOINT=adjoint, COMPLEX=pairs)
    above = segments.between(next_length(segments))
    higher = _entering(decays, states, initial, above, backwards=backwards, pairs=pairs, adjoint=False)
    _states(decays, states, higher, enter, initial, above, backwards=backwards, pairs=pairs, exclusive=True)
    return enter


def _states(
    a: Tensor,
    b: Tensor,
    enter: Tensor,
    h: Tensor,
    last: Tensor,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
    exclusive: bool = False,
    adjoint: tuple[Tensor, Tensor, Tensor] | None = None,
) -> None:
    tensors = [a, b, enter, h, last, *(adjoint or (h, last, h))]
    flags = {"ADJOINT": adjoint is not None, "EXCLUSIVE": exclusive, "COMPLEX": pairs}
    _launch(segment_states, tensors, segments, last, backwards, **flags)


def _launch(
    kernel: Any, tensors: list[Tensor], segments: Segments, like: Tensor, backwards: bool, **flags: bool
) -> None:
    D = like.shape[1]
    lanes = segments.count * D
    if lanes == 0:
        return
    packed = segments.cu_seqlens is not None
    table = [segments.starts, segments.ends, segments.sequence, segments.cu_seqlens] if packed else [like] * 4
    grid = (triton.cdiv(lanes, BLOCK),)
    check_grid(kernel.fn.__name__, grid)
    count_launch(kernel.fn.__name__)
    unroll = UNROLL // 2 if flags["ADJOINT"] or flags["COMPLEX"] else UNROLL  # registers
    with on_device_of(like):
        kernel[grid](
            *tensors, *table, segments.tokens, segments.per_row, segments.length, -1 if backwards else 1, D, lanes,
            PACKED=packed, **flags, ARITHMETIC=tl.float64 if like.dtype == torch.float64 else tl.float32,
            BLOCK=BLOCK, UNROLL=unroll, num_warps=WARPS, enable_fp_fusion=False,
        )  # fmt: skip
