"""The selective scan on Triton kernels: a program holds the states of a block of channels and walks through the tokens.

    h <- a ⊙ h + Δ u wᵀ,  y = h r,  a = exp(-Δ λ), or 2 exp(-Δ λ) - 1 if signed

The backward pass takes segments from the last to the first: it computes a segment's states again from the one that was kept
before it, into a buffer, and then goes back through them.  Needs triton.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from ._segments import KEPT_EVERY

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class SelectiveInputs(NamedTuple):
    """What the scan reads, contiguous, or the gradients of it; letters as in `selective_scan`."""

    u: Tensor
    """`[S,B,T,C]`."""
    step: Tensor
    """Δ `[S,B,T,C]`."""
    rate: Tensor
    """λ `[S,C,N]`; of gradients `[S·B,C,N]`, parts of sums over B."""
    write: Tensor
    """w `[S,B,T,N]`; of gradients `[blocks,S·B,T,N]`, the part of each block of channels."""
    read: Tensor
    """r, as w."""
    initial: Tensor
    """`[S,B,C,N]`."""


class SelectiveOutputs(NamedTuple):
    """What the forward kernel fills."""

    y: Tensor
    """`[S,B,T,C]`."""
    final: Tensor
    """`[S,B,C,N]`."""
    kept: Tensor
    """`[S·B,segments,C,N]`: the state before each segment, where they are kept."""


class Sizes(NamedTuple):
    """Batch, tokens, channels, states of a channel, segments."""

    B: int
    T: int
    C: int
    N: int
    segments: int


@triton.jit
def selective_forward_kernel(
    x,
    out,
    z,
    SIGNED: tl.constexpr,
    KEEP: tl.constexpr,
    SEGMENT: tl.constexpr,
    BC: tl.constexpr,
    BN: tl.constexpr,
    WIDE: tl.constexpr,
):
    """`SelectiveOutputs` out from `SelectiveInputs` x of `Sizes` z; with KEEP the state before each segment."""
    C, N, T = z.C, z.N, z.T
    p, c, n, at, inside = _locate_program(C, N, BC, BN)
    # p is seed · B + row, so p // B is the seed, of whose channels and states the rates are
    rates = tl.load(x.rate + (p // z.B) * C * N + at, mask=inside, other=0.0).to(WIDE)
    h = tl.load(x.initial + p * C * N + at, mask=inside, other=0.0).to(WIDE)
    for t in range(T):
        if KEEP:
            begins = inside & (t % SEGMENT == 0)
            # `[S·B,segments,C,N]`
            tl.store(out.kept + (p * z.segments + t // SEGMENT) * C * N + at, h, mask=begins)
        delta, u, w, r = _load_token(x, p * T + t, c, n, C, N, t < T, WIDE)
        h = _advance_states(h, delta, u, w, rates, SIGNED)
        # y = h r
        tl.store(out.y + (p * T + t) * C + c, tl.sum(h * r[None, :], 1), mask=c < C)
    tl.store(out.final + p * C * N + at, h, mask=inside)


@triton.jit
def selective_backward_kernel(
    x,
    kept,
    dy,
    dfinal,
    d,
    again,
    z,
    rows,
    SIGNED: tl.constexpr,
    SEGMENT: tl.constexpr,
    BC: tl.constexpr,
    BN: tl.constexpr,
    WIDE: tl.constexpr,
):
    """All gradients d; again `[S·B,SEGMENT,C,N]` holds the states of a segment, rows is S·B·T."""
    C, N, T = z.C, z.N, z.T
    # p as in the forward kernel
    p, c, n, at, inside = _locate_program(C, N, BC, BN)
    rates = tl.load(x.rate + (p // z.B) * C * N + at, mask=inside, other=0.0).to(WIDE)
    dh = tl.load(dfinal + p * C * N + at, mask=inside, other=0.0).to(WIDE)
    of_rates = tl.zeros([BC, BN], WIDE)
    for back in range(z.segments):
        # the last segment first
        s = z.segments - 1 - back
        first = s * SEGMENT
        entered = tl.load(kept + (p * z.segments + s) * C * N + at, mask=inside, other=0.0).to(WIDE)
        # h_t of the segment's tokens again, in the forward pass's order of operations
        h = entered
        for i in range(SEGMENT):
            # past the last token steps are zero, which changes no state and no gradient
            delta, u, w, r = _load_token(x, p * T + first + i, c, n, C, N, first + i < T, WIDE)
            h = _advance_states(h, delta, u, w, rates, SIGNED)
            tl.store(again + (p * SEGMENT + i) * C * N + at, h, mask=inside)
        tl.debug_barrier()  # another thread may read what this one wrote
        for j in range(SEGMENT):
            i = SEGMENT - 1 - j
            used = first + i < T
            row = p * T + first + i
            delta, u, w, r = _load_token(x, row, c, n, C, N, used, WIDE)
            slope = tl.load(dy + row * C + c, mask=(c < C) & used, other=0.0).to(WIDE)
            place = again + (p * SEGMENT + i) * C * N + at
            # the states after the token and before it
            h = tl.load(place, mask=inside, other=0.0)
            before = tl.load(place - C * N, mask=inside & (i > 0), other=0.0)
            before = tl.where(i > 0, before, entered)
            # y = h r gives dh += dy rᵀ
            dh += slope[:, None] * r[None, :]
            # a = e, or 2 e - 1
            e = tl.exp(-delta[:, None] * rates)
            # of the exponent -Δ λ: dh ⊙ h_{t-1} ⊙ da, where da = e, or 2 e if signed
            of_exponent = dh * before * (2 * e if SIGNED else e)
            # of Δ u, which is written along w
            of_written = tl.sum(dh * w[None, :], 1)
            # du = Δ (dh w)
            tl.store(d.u + row * C + c, of_written * delta, mask=(c < C) & used)
            # dΔ = u (dh w) - sum over n of λ times the gradient of the exponent
            of_step = of_written * u - tl.sum(of_exponent * rates, 1)
            tl.store(d.step + row * C + c, of_step, mask=(c < C) & used)
            # `[blocks,S·B,T,N]`: w and r belong to all channels, of which this program has a block
            part = (tl.cast(tl.program_id(1), tl.int64) * rows + row) * N + n
            # dw = sum over c of dh Δ u, dr = sum over c of dy h
            tl.store(d.write + part, tl.sum(dh * (delta * u)[:, None], 0), mask=(n < N) & used)
            tl.store(d.read + part, tl.sum(slope[:, None] * h, 0), mask=(n < N) & used)
            # dλ = - sum over t of Δ times the gradient of the exponent
            of_rates -= of_exponent * delta[:, None]
            # dh_{t-1} = a_t ⊙ dh_t
            dh *= 2 * e - 1 if SIGNED else e
        # all have read the states before the next segment writes its own
        tl.debug_barrier()
    tl.store(d.rate + p * C * N + at, of_rates, mask=inside)
    tl.store(d.initial + p * C * N + at, dh, mask=inside)


@triton.jit
def _locate_program(C, N, BC: tl.constexpr, BN: tl.constexpr):
    """This program's sequence, channels, states, and where its entries of a state lie."""
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    n = tl.arange(0, BN)
    inside = (c < C)[:, None] & (n < N)[None, :]
    return tl.program_id(0).to(tl.int64), c, n, c[:, None] * N + n[None, :], inside


@triton.jit
def _load_token(x, row, c, n, C, N, used, WIDE: tl.constexpr):
    """Δ and u of the channels, w and r of the states; zero where the token is not used."""
    channels, states = (c < C) & used, (n < N) & used
    # step and u are `[S·B·T,C]`, w and r `[S·B·T,N]` in memory
    delta = tl.load(x.step + row * C + c, mask=channels, other=0.0).to(WIDE)
    u = tl.load(x.u + row * C + c, mask=channels, other=0.0).to(WIDE)
    w = tl.load(x.write + row * N + n, mask=states, other=0.0).to(WIDE)
    r = tl.load(x.read + row * N + n, mask=states, other=0.0).to(WIDE)
    return delta, u, w, r


@triton.jit
def _advance_states(h, delta, u, w, rates, SIGNED: tl.constexpr):
    """h <- a ⊙ h + Δ u wᵀ, a = exp(-Δ λ), or 2 exp(-Δ λ) - 1."""
    # Δ λ `[C,N]`, the step of the channel times the rate of its state
    e = tl.exp(-delta[:, None] * rates)
    return (2 * e - 1 if SIGNED else e) * h + (delta * u)[:, None] * w[None, :]


ENTRIES = 256
"""Entries of a program's states, which one warp holds: the walk is serial, so many small programs hide its delays."""


def selective_forward(
    inputs: tuple[Tensor, ...], signed: bool, wide: torch.dtype, keep: bool
) -> SelectiveOutputs:
    """Outputs, last states, and states before the segments (none unless kept); inputs contiguous."""
    x = SelectiveInputs(*inputs)
    S, B, T, C = x.u.shape
    N, device = x.initial.shape[-1], x.u.device
    segments = triton.cdiv(T, KEPT_EVERY)
    out = SelectiveOutputs(
        launching.empty(S, B, T, C, dtype=wide, device=device),
        launching.empty(S, B, C, N, dtype=wide, device=device),
        launching.empty(S * B if keep else 0, segments, C, N, dtype=wide, device=device),
    )
    channels, states = _choose_block(C, N)
    constants = {"BC": channels, "BN": states, "WIDE": launching.kernel_arithmetic(wide)}
    launch = launching.launcher(
        *(selective_forward_kernel, Tile(channels, warps=1, stages=1)),
        **constants,
        SIGNED=signed,
        KEEP=keep,
        SEGMENT=KEPT_EVERY,
    )
    with launching.on_device_of(x.u):
        launch((S * B, triton.cdiv(C, channels)), x, out, Sizes(B, T, C, N, segments))
    return out


def selective_backward(
    inputs: tuple[Tensor, ...], kept: Tensor, dy: Tensor, dfinal: Tensor, signed: bool
) -> SelectiveInputs:
    """Gradients of u, Δ, the rates, w, r and the initial states, in the arithmetic's dtype."""
    x = SelectiveInputs(*inputs)
    S, B, T, C = x.u.shape
    N, wide, device = x.initial.shape[-1], kept.dtype, dy.device
    channels, states = _choose_block(C, N)
    blocks = triton.cdiv(C, channels)
    d = SelectiveInputs(
        u=launching.empty(S, B, T, C, dtype=wide, device=device),
        step=launching.empty(S, B, T, C, dtype=wide, device=device),
        rate=launching.empty(S, B, C, N, dtype=wide, device=device),
        write=launching.empty(blocks, S, B, T, N, dtype=wide, device=device),
        read=launching.empty(blocks, S, B, T, N, dtype=wide, device=device),
        initial=launching.empty(S, B, C, N, dtype=wide, device=device),
    )
    # one segment's states at a time
    again = launching.empty(S * B, KEPT_EVERY, C, N, dtype=wide, device=device)
    constants = {"BC": channels, "BN": states, "WIDE": launching.kernel_arithmetic(wide)}
    launch = launching.launcher(
        *(selective_backward_kernel, Tile(channels, warps=1, stages=1)),
        **constants,
        SIGNED=signed,
        SEGMENT=KEPT_EVERY,
    )
    sizes = Sizes(B, T, C, N, triton.cdiv(T, KEPT_EVERY))
    with launching.on_device_of(dy):
        launch((S * B, blocks), x, kept, dy, dfinal, d, again, sizes, S * B * T)
    # rates are shared by the rows of the batch, w and r by the channels
    return d._replace(rate=d.rate.sum(1), write=d.write.sum(0), read=d.read.sum(0))


def _choose_block(C: int, N: int) -> tuple[int, int]:
    """Channels and states of a program."""
    # all states of a channel, and as many channels as fill a warp
    states = int(triton.next_power_of_2(N))
    return int(min(triton.next_power_of_2(C), max(1, ENTRIES // states))), states
