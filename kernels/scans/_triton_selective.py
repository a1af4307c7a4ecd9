"""The selective scan as Triton kernels: a program holds the states of a block of channels and walks through the tokens.

The backward pass takes segments from the last to the first: it computes a segment's states again from the one that was kept
before it, into a buffer, and then goes back through them.

Launches of the selective scan's kernels.  Needs triton.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from ._segments import KEPT_EVERY

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def selective_forward_kernel(
    u, step, rate, write, read, initial, y, final, kept, B, T, C, N, segments,
    SIGNED: tl.constexpr, KEEP: tl.constexpr, SEGMENT: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr,
    WIDE: tl.constexpr,
):  # fmt: skip
    """Outputs and last states; with KEEP the state before each segment."""
    p, c, n, at, inside = _place(C, N, BC, BN)
    rates = tl.load(rate + (p // B) * C * N + at, mask=inside, other=0.0).to(WIDE)
    h = tl.load(initial + p * C * N + at, mask=inside, other=0.0).to(WIDE)
    for t in range(T):
        if KEEP:
            begins = inside & (t % SEGMENT == 0)
            tl.store(kept + (p * segments + t // SEGMENT) * C * N + at, h, mask=begins)
        delta, x, w, r = _token(u, step, write, read, p * T + t, c, n, C, N, t < T, WIDE)
        e = tl.exp(-delta[:, None] * rates)
        h = (2 * e - 1 if SIGNED else e) * h + (delta * x)[:, None] * w[None, :]
        tl.store(y + (p * T + t) * C + c, tl.sum(h * r[None, :], 1), mask=c < C)
    tl.store(final + p * C * N + at, h, mask=inside)


@triton.jit
def selective_backward_kernel(
    u, step, rate, write, read, kept, dy, dfinal, du, dstep, drate, dwrite, dread, dinitial, again,
    B, T, C, N, segments, rows,
    SIGNED: tl.constexpr, SEGMENT: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """All gradients. `drate` `[S·B,C,N]` and, of each block of channels, `dwrite` and `dread` `[blocks,S·B,T,N]` are parts of sums."""
    p, c, n, at, inside = _place(C, N, BC, BN)
    rates = tl.load(rate + (p // B) * C * N + at, mask=inside, other=0.0).to(WIDE)
    dh = tl.load(dfinal + p * C * N + at, mask=inside, other=0.0).to(WIDE)
    of_rates = tl.zeros([BC, BN], WIDE)
    for back in range(segments):
        s = segments - 1 - back
        first = s * SEGMENT
        entered = tl.load(kept + (p * segments + s) * C * N + at, mask=inside, other=0.0).to(WIDE)
        h = entered
        for i in range(SEGMENT):
            # past the last token steps are zero, which changes no state and no gradient
            delta, x, w, r = _token(u, step, write, read, p * T + first + i, c, n, C, N, first + i < T, WIDE)
            e = tl.exp(-delta[:, None] * rates)
            h = (2 * e - 1 if SIGNED else e) * h + (delta * x)[:, None] * w[None, :]
            tl.store(again + (p * SEGMENT + i) * C * N + at, h, mask=inside)
        tl.debug_barrier()
        for j in range(SEGMENT):
            i = SEGMENT - 1 - j
            used = first + i < T
            row = p * T + first + i
            delta, x, w, r = _token(u, step, write, read, row, c, n, C, N, used, WIDE)
            slope = tl.load(dy + row * C + c, mask=(c < C) & used, other=0.0).to(WIDE)
            place = again + (p * SEGMENT + i) * C * N + at
            h = tl.load(place, mask=inside, other=0.0)
            before = tl.load(place - C * N, mask=inside & (i > 0), other=0.0)
            before = tl.where(i > 0, before, entered)
            dh += slope[:, None] * r[None, :]
            e = tl.exp(-delta[:, None] * rates)
            of_exponent = dh * before * (2 * e if SIGNED else e)
            of_written = tl.sum(dh * w[None, :], 1)
            tl.store(du + row * C + c, of_written * delta, mask=(c < C) & used)
            of_step = of_written * x - tl.sum(of_exponent * rates, 1)
            tl.store(dstep + row * C + c, of_step, mask=(c < C) & used)
            part = (tl.cast(tl.program_id(1), tl.int64) * rows + row) * N + n
            tl.store(dwrite + part, tl.sum(dh * (delta * x)[:, None], 0), mask=(n < N) & used)
            tl.store(dread + part, tl.sum(slope[:, None] * h, 0), mask=(n < N) & used)
            of_rates -= of_exponent * delta[:, None]
            dh *= 2 * e - 1 if SIGNED else e
        tl.debug_barrier()
    tl.store(drate + p * C * N + at, of_rates, mask=inside)
    tl.store(dinitial + p * C * N + at, dh, mask=inside)


@triton.jit
def _place(C, N, BC: tl.constexpr, BN: tl.constexpr):
    """This program's sequence, channels, states, and where its entries of a state lie."""
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    n = tl.arange(0, BN)
    inside = (c < C)[:, None] & (n < N)[None, :]
    return tl.program_id(0).to(tl.int64), c, n, c[:, None] * N + n[None, :], inside


@triton.jit
def _token(u, step, write, read, row, c, n, C, N, used, WIDE: tl.constexpr):
    """Δ and u of the channels, w and r of the states; zero where the token is not used."""
    channels, states = (c < C) & used, (n < N) & used
    delta = tl.load(step + row * C + c, mask=channels, other=0.0).to(WIDE)
    x = tl.load(u + row * C + c, mask=channels, other=0.0).to(WIDE)
    w = tl.load(write + row * N + n, mask=states, other=0.0).to(WIDE)
    r = tl.load(read + row * N + n, mask=states, other=0.0).to(WIDE)
    return delta, x, w, r


ENTRIES = 256
"""Of a program's states, which one warp holds: the walk is serial, so many small programs hide its delays."""


def selective_forward(
    inputs: tuple[Tensor, ...], signed: bool, wide: torch.dtype, keep: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs, last states, and states `[S·B,segments,C,N]` before the segments (none unless kept); inputs contiguous."""
    u, initial = inputs[0], inputs[5]
    S, B, T, C = u.shape
    N = initial.shape[-1]
    segments = triton.cdiv(T, KEPT_EVERY)
    y = launching.empty(S, B, T, C, dtype=wide, device=u.device)
    final = launching.empty(S, B, C, N, dtype=wide, device=u.device)
    kept = launching.empty(S * B if keep else 0, segments, C, N, dtype=wide, device=u.device)
    channels, states = _block(C, N)
    launch = launching.launcher(
        selective_forward_kernel, Tile(channels, warps=1, stages=1),
        SIGNED=signed, KEEP=keep, SEGMENT=KEPT_EVERY, BC=channels, BN=states, WIDE=_arithmetic(wide),
    )  # fmt: skip
    with launching.on_device_of(u):
        launch((S * B, triton.cdiv(C, channels)), *inputs, y, final, kept, B, T, C, N, segments)
    return y, final, kept


def selective_backward(
    inputs: tuple[Tensor, ...], kept: Tensor, dy: Tensor, dfinal: Tensor, signed: bool
) -> tuple[Tensor, ...]:
    """Gradients of u, Δ, the rates, w, r and the initial states, in the arithmetic's dtype."""
    *given, initial = inputs
    S, B, T, C = given[0].shape
    N = initial.shape[-1]
    wide, device = kept.dtype, dy.device
    channels, states = _block(C, N)
    blocks = triton.cdiv(C, channels)
    du, dstep = (launching.empty(S, B, T, C, dtype=wide, device=device) for _ in range(2))
    drate, dinitial = (launching.empty(S, B, C, N, dtype=wide, device=device) for _ in range(2))
    dwrite, dread = (launching.empty(blocks, S, B, T, N, dtype=wide, device=device) for _ in range(2))
    again = launching.empty(S * B, KEPT_EVERY, C, N, dtype=wide, device=device)
    launch = launching.launcher(
        selective_backward_kernel, Tile(channels, warps=1, stages=1),
        SIGNED=signed, SEGMENT=KEPT_EVERY, BC=channels, BN=states, WIDE=_arithmetic(wide),
    )  # fmt: skip
    with launching.on_device_of(dy):
        launch(
            (S * B, blocks), *given, kept, dy, dfinal, du, dstep, drate, dwrite, dread, dinitial, again,
            B, T, C, N, triton.cdiv(T, KEPT_EVERY), S * B * T,
        )  # fmt: skip
    return du, dstep, drate.sum(1), dwrite.sum(0), dread.sum(0), dinitial


def _block(C: int, N: int) -> tuple[int, int]:
    """Channels and states of a program."""
    states = int(triton.next_power_of_2(N))
    return int(min(triton.next_power_of_2(C), max(1, ENTRIES // states))), states


def _arithmetic(dtype: torch.dtype) -> tl.dtype:
    return tl.float64 if dtype == torch.float64 else tl.float32
