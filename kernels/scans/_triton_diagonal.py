"""The diagonal scan on Triton kernels: summaries of the segments, the scan between them, then all states.

A lane is one channel of one segment and walks through it step by step.  The order of operations is that of `_torch_diagonal`:
the same segments give the same bits in float32 and float64 (products and sums are not fused).  Adjoint kernels run the scan
of the gradients: the decay is the conjugate of the one of the step before, and is 1 at the first step.  Needs triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .._backends import count_launch
from .._launching import check_grid, kernel_arithmetic, make_constants, on_device_of
from ._segments import Segments, next_length

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"


class Cuts(NamedTuple):
    """Where segments lie, as kernels take it; the tables only of packed sequences."""

    starts: Tensor | None
    ends: Tensor | None
    sequence: Tensor | None
    cu: Tensor | None
    tokens: int
    per_row: int
    length: int
    direction: int
    """1, or -1 for a scan from the last token to the first."""
    D: int
    """Channels."""
    lanes: int
    """Segments times channels."""


class ScanShape(NamedTuple):
    """What the kernels are compiled for, each field a constant (`make_constants`)."""

    PACKED: Any
    ADJOINT: Any
    COMPLEX: Any
    """Whether numbers are pairs (re, im)."""
    ARITHMETIC: Any
    """float32 or float64."""
    BLOCK: Any
    """Lanes of a program."""
    UNROLL: Any
    """Steps whose loads are under way together."""


class Written(NamedTuple):
    """What `segment_states` fills."""

    h: Tensor
    """`[R,T,D(,2)]`: the state after each step (EXCLUSIVE: before it)."""
    last: Tensor
    """`[N,D(,2)]`: the last state of each sequence; ADJOINT: the gradient of the initial one."""
    da: Tensor | None
    """ADJOINT: the gradient of the decays."""


class Forward(NamedTuple):
    """What an adjoint scan reads of the forward one: its states and initial states."""

    h: Tensor
    initial: Tensor


@triton.jit
def _load(pointer, index, mask, F: tl.constexpr):
    if F.COMPLEX:
        # pairs (re, im) lie side by side
        re = tl.load(pointer + 2 * index, mask=mask, other=0.0).to(F.ARITHMETIC)
        im = tl.load(pointer + 2 * index + 1, mask=mask, other=0.0).to(F.ARITHMETIC)
    else:
        re = tl.load(pointer + index, mask=mask, other=0.0).to(F.ARITHMETIC)
        im = re  # a second number for the same code; nothing reads it
    return re, im


@triton.jit
def _store(pointer, index, re, im, mask, F: tl.constexpr):
    # states are rounded to the tensor's dtype as they are written; those that go on are not
    if F.COMPLEX:
        tl.store(pointer + 2 * index, re.to(pointer.dtype.element_ty), mask=mask)
        tl.store(pointer + 2 * index + 1, im.to(pointer.dtype.element_ty), mask=mask)
    else:
        tl.store(pointer + index, re.to(pointer.dtype.element_ty), mask=mask)


@triton.jit
def _multiply(ar, ai, hr, hi, COMPLEX: tl.constexpr):
    """a h, each product rounded, then their difference and sum: the launch forbids fused products and sums."""
    if COMPLEX:
        re = ar * hr - ai * hi
        im = ar * hi + ai * hr
    else:
        re = ar * hr
        im = re
    return re, im


@triton.jit
def _locate_segment(s, active, cuts, PACKED: tl.constexpr):
    """Of segment s: its sequence, whether it is used, first token and end, and the sequence's first token and end."""
    if PACKED:
        n = tl.load(cuts.sequence + s, mask=active, other=-1)
        used = active & (n >= 0)
        start = tl.load(cuts.starts + s, mask=used, other=0)
        end = tl.load(cuts.ends + s, mask=used, other=0)
        low = tl.load(cuts.cu + n, mask=used, other=0)
        high = tl.load(cuts.cu + n + 1, mask=used, other=0)
    else:
        n = tl.cast(s // cuts.per_row, tl.int64)
        # not packed: segments follow one another in every row, and the last one of a row may be shorter
        low = n * cuts.tokens
        high = low + cuts.tokens
        start = low + tl.cast(s % cuts.per_row, tl.int64) * cuts.length
        end = tl.minimum(start + cuts.length, high)
        used = active
    return n, used, start, end, low, high


@triton.jit
def _locate_lanes(cuts, F: tl.constexpr):
    """This program's lanes, which there are, their channels; what `_locate_segment` says; steps, and the first one's token."""
    # lane = segment · D + channel, so neighbouring lanes read neighbouring channels
    lane = tl.cast(tl.program_id(0), tl.int64) * F.BLOCK + tl.arange(0, F.BLOCK)
    active = lane < cuts.lanes
    d = lane % cuts.D
    n, used, start, end, low, high = _locate_segment(lane // cuts.D, active, cuts, F.PACKED)
    # lanes that no segment has take no step
    steps = tl.where(used, end - start, 0)
    # the segment's first token in the direction of the scan
    origin = tl.where(cuts.direction > 0, start, end - 1)
    return lane, active, d, n, used, start, end, low, high, steps, origin


@triton.jit
def _load_decay(a, p, back, d, D, low, high, mask, F: tl.constexpr):
    """The decay at token p; in an adjoint scan the conjugate of the one the scan met before, 1 at its first token."""
    if F.ADJOINT:
        # db_t = dh_t + conj(a_{t+1}) db_{t+1}
        # `back` points against the direction: the token that the scan met before p
        beside = p + back
        inside = (beside >= low) & (beside < high)
        re, im = _load(a, beside * D + d, mask & inside, F)
        re = tl.where(inside, re, 1.0)
        im = -im
    else:
        re, im = _load(a, p * D + d, mask, F)
    return re, im


@triton.jit
def segment_summaries(a, b, decays, states, cuts, F: tl.constexpr):
    """Of each segment: the product of its decays, and the state it leaves when zero enters."""
    D, direction = cuts.D, cuts.direction
    lane, active, d, _n, _used, _start, _end, low, high, steps, origin = _locate_lanes(cuts, F)
    # h begins at 0, the product of decays at 1
    hr = tl.zeros([F.BLOCK], F.ARITHMETIC)
    hi = tl.zeros([F.BLOCK], F.ARITHMETIC)
    pr = hr + 1.0
    pi = tl.zeros([F.BLOCK], F.ARITHMETIC)
    # all lanes of a program take as many steps as the longest of them; the others are masked
    for i in range(0, tl.max(steps), F.UNROLL):
        loaded = ()  # all loads are under way before the first is used
        for j in tl.static_range(F.UNROLL):
            mask = i + j < steps
            p = origin + (i + j) * direction
            ar, ai = _load_decay(a, p, -direction, d, D, low, high, mask, F)
            br, bi = _load(b, p * D + d, mask, F)
            loaded = loaded + ((ar, ai, br, bi),)  # noqa: RUF005
        for j in tl.static_range(F.UNROLL):
            mask = i + j < steps
            ar, ai, br, bi = loaded[j]
            # h <- a h + b, decay <- a decay
            xr, xi = _multiply(ar, ai, hr, hi, F.COMPLEX)
            hr = tl.where(mask, xr + br, hr)
            hi = tl.where(mask, xi + bi, hi)
            xr, xi = _multiply(ar, ai, pr, pi, F.COMPLEX)
            pr = tl.where(mask, xr, pr)
            pi = tl.where(mask, xi, pi)
    _store(states, lane, hr, hi, active, F)
    _store(decays, lane, pr, pi, active, F)


@triton.jit
def segment_states(a, b, enter, forward, out, cuts, F: tl.constexpr, EXCLUSIVE: tl.constexpr):
    """`Written` out from the state that enters each segment; ADJOINT reads `Forward` states."""
    D, direction = cuts.D, cuts.direction
    lane, _active, d, n, used, start, end, low, high, steps, origin = _locate_lanes(cuts, F)
    hr, hi = _load(enter, lane, used, F)  # `[R,S,D]`, so a lane is its own index
    for i in range(0, tl.max(steps), F.UNROLL):
        loaded = ()  # all loads are under way before the first is used
        for j in tl.static_range(F.UNROLL):
            mask = i + j < steps
            p = origin + (i + j) * direction
            ar, ai = _load_decay(a, p, -direction, d, D, low, high, mask, F)
            br, bi = _load(b, p * D + d, mask, F)
            if F.ADJOINT:
                # the forward scan's state before this step: its neighbour's, or the initial one at the edge
                beside = p + direction
                inside = (beside >= low) & (beside < high)
                fr, fi = _load(forward.h, beside * D + d, mask & inside, F)
                er, ei = _load(forward.initial, n * D + d, mask & (inside == 0), F)
                loaded = loaded + ((ar, ai, br, bi, tl.where(inside, fr, er), tl.where(inside, fi, ei)),)  # noqa: RUF005
            else:
                loaded = loaded + ((ar, ai, br, bi, br, bi),)  # noqa: RUF005
        for j in tl.static_range(F.UNROLL):
            mask = i + j < steps
            # a token's place in `[R,T,D]`
            at = (origin + (i + j) * direction) * D + d
            ar, ai, br, bi, fr, fi = loaded[j]
            if EXCLUSIVE:
                _store(out.h, at, hr, hi, mask, F)
            # h <- a h + b; ADJOINT: db_t = dh_t + conj(a_{t+1}) db_{t+1}
            xr, xi = _multiply(ar, ai, hr, hi, F.COMPLEX)
            hr = tl.where(mask, xr + br, hr)
            hi = tl.where(mask, xi + bi, hi)
            if not EXCLUSIVE:
                _store(out.h, at, hr, hi, mask, F)
            if F.ADJOINT:
                # da_t = db_t conj(h_{t-1})
                gr, gi = _multiply(fr, -fi, hr, hi, F.COMPLEX)
                _store(out.da, at, gr, gi, mask, F)
    # last states are those of the whole sequence, from the lane of its last segment in the direction
    if not EXCLUSIVE:
        # only an empty sequence has an empty segment
        ending = used & (tl.where(direction > 0, end - high, start - low) == 0)
        if F.ADJOINT:
            # dh_0 = conj(a_1) db_1
            filled = ending & (high > low)
            # where the adjoint scan ends the forward scan began: this is its a_1
            final = tl.where(direction > 0, high - 1, low)
            ar, ai = _load(a, final * D + d, filled, F)
            xr, xi = _multiply(ar, -ai, hr, hi, F.COMPLEX)
            hr = tl.where(filled, xr, hr)
            hi = tl.where(filled, xi, hi)
        _store(out.last, n * D + d, hr, hi, ending, F)


BLOCK, WARPS, UNROLL, WHOLE_BLOCK, WHOLE_UNROLL = 256, 4, 8, 128, 32
"""Lanes and warps of a program; steps whose loads are under way together, of segments and of whole sequences, whose lanes are
fewer: a lane of two threads' worth of 16-bit numbers needs about 16 steps to keep the memory busy."""


def diagonal_scan_segments(
    a: Tensor, b: Tensor, initial_state: Tensor, segments: Segments, *, backwards: bool, pairs: bool
) -> tuple[Tensor, Tensor]:
    """All states in b's dtype and the last of each sequence in the arithmetic's; as the torch function of that name."""
    a, b, initial_state = a.contiguous(), b.contiguous(), initial_state.contiguous()
    h, last = torch.empty_like(b), torch.empty_like(initial_state)
    enter = _find_entering(a, b, initial_state, segments, backwards=backwards, pairs=pairs, adjoint=False)
    _launch_states(a, b, enter, Written(h, last, None), segments, backwards=backwards, pairs=pairs)
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
    # gradients enter at the end where the forward scan left off
    enter = _find_entering(a, dh, d_final, segments, backwards=not backwards, pairs=pairs, adjoint=True)
    out, forward = Written(db, first, da), Forward(h, initial_state)
    _launch_states(a, dh, enter, out, segments, backwards=not backwards, pairs=pairs, forward=forward)
    return da, db, first


def _find_entering(
    a: Tensor, b: Tensor, initial: Tensor, segments: Segments, *, backwards: bool, pairs: bool, adjoint: bool
) -> Tensor:
    """The state that enters each segment, `[R,S,D(,2)]`; where segments are whole sequences, the initial ones."""
    if segments.whole:
        return initial
    shape = (segments.rows, segments.per_row, *initial.shape[1:])
    decays, states, enter = (initial.new_empty(shape) for _ in range(3))
    tensors = (a, b, decays, states)
    _launch(segment_summaries, tensors, segments, initial, backwards=backwards, adjoint=adjoint, pairs=pairs)
    # the same scan one level up, with a segment for a token: enter <- decay enter + h
    above = segments.between(next_length(segments))
    # the decays are already conjugate and in place, so the level above is an ordinary scan
    higher = _find_entering(decays, states, initial, above, backwards=backwards, pairs=pairs, adjoint=False)
    # EXCLUSIVE writes no last state
    out = Written(enter, initial, None)
    _launch_states(decays, states, higher, out, above, backwards=backwards, pairs=pairs, exclusive=True)
    return enter


def _launch_states(
    a: Tensor,
    b: Tensor,
    enter: Tensor,
    out: Written,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
    # whether the state before each token is written, that
    # is the one that enters each segment of the level below
    exclusive: bool = False,
    forward: Forward | None = None,
) -> None:
    adjoint, arguments = forward is not None, (a, b, enter, forward, out)
    options = {"backwards": backwards, "adjoint": adjoint, "pairs": pairs}
    _launch(segment_states, arguments, segments, out.last, **options, EXCLUSIVE=exclusive)


def _launch(
    kernel: Any,
    arguments: tuple[Any, ...],
    segments: Segments,
    like: Tensor,
    *,
    backwards: bool,
    adjoint: bool,
    pairs: bool,
    **flags: bool,
) -> None:
    D = like.shape[1]
    lanes = segments.count * D
    if lanes == 0:
        return
    packed = segments.cu_seqlens is not None
    tables = segments.starts, segments.ends, segments.sequence, segments.cu_seqlens
    sizes = segments.tokens, segments.per_row, segments.length
    cuts = Cuts(*tables, *sizes, -1 if backwards else 1, D, lanes)
    whole = segments.whole and like.dtype != torch.float64
    block, unroll = (WHOLE_BLOCK, WHOLE_UNROLL) if whole else (BLOCK, UNROLL)
    # tokens that are loaded ahead take registers: half of them where each takes more
    decays: Tensor = arguments[0]
    wide = whole and decays.element_size() > 2
    unroll = unroll // 2 if adjoint or pairs or wide else unroll
    grid = (triton.cdiv(lanes, block),)
    check_grid(kernel.fn.__name__, grid)
    count_launch(kernel.fn.__name__)
    arithmetic = kernel_arithmetic(like.dtype)
    shape = ScanShape(*make_constants(packed, adjoint, pairs, arithmetic, block, unroll))
    with on_device_of(like):
        # products and sums are not fused, so that bits are those of the torch path
        kernel[grid](*arguments, cuts, F=shape, **flags, num_warps=WARPS, enable_fp_fusion=False)
