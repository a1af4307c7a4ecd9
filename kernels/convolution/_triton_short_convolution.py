"""A short causal convolution of each channel on Triton kernels: one pass over memory, and its gradients in another.

Rows are `[S,B·T]` of C channels, weights `[S,C,TAPS]`. A program takes a seed, a block of channels and a range of rows; rows
of the past and the future lie close by, in the cache.  Needs triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class Rows(NamedTuple):
    """N = B·T rows of C channels for each seed, of which a program takes `share`; rows r and r + 1 belong together within T."""

    N: int
    T: int
    C: int
    share: int


@triton.jit
def short_rows(x, weight, y, z, TAPS: tl.constexpr, W: tl.constexpr, ROWS: tl.constexpr):
    """y_t = Σ_j w_j x_{t - (TAPS - 1) + j}, in float32 until it is stored."""
    N, T, C = z.N, z.T, z.C
    seed, c, first = _locate_program(C, z.share, W)
    for n in range(first, tl.minimum(first + z.share, N), ROWS):
        place, r = _place_rows(seed, n, N, C, c, ROWS)
        total = tl.zeros([ROWS, W], tl.float32)
        for j in tl.static_range(TAPS):
            # tap j reads so many tokens back
            back = TAPS - 1 - j
            # r % T is the token's place in its sequence; further back lie zeros, not the sequence before
            used = (r < N) & (r % T >= back)
            # w_j x_{t - (TAPS - 1) + j}, where that token is of the same sequence
            total += _load_tap(weight, seed, C, c, j, TAPS) * _load(x, place - back * C, used, c, C)
        tl.store(y + place, total.to(y.dtype.element_ty), mask=(r < N)[:, None] & (c < C)[None, :])


@triton.jit
def short_rows_backward(
    x, weight, dy, dx, partial, z, TAPS: tl.constexpr, W: tl.constexpr, ROWS: tl.constexpr
):
    """dx_t = Σ_j w_j dy_{t + (TAPS - 1) - j}; `partial` `[S,programs,TAPS,C]` adds up dy_t x_{t - (TAPS - 1) + j}."""
    N, T, C = z.N, z.T, z.C
    seed, c, first = _locate_program(C, z.share, W)
    end = tl.minimum(first + z.share, N)
    for n in range(first, end, ROWS):
        place, r = _place_rows(seed, n, N, C, c, ROWS)
        total = tl.zeros([ROWS, W], tl.float32)
        for j in tl.static_range(TAPS):
            ahead = TAPS - 1 - j
            # the output `ahead` tokens later has read this token with tap j, if the sequence goes on so far
            used = (r < N) & (r % T < T - ahead)
            # w_j dy_{t + (TAPS - 1) - j}
            total += _load_tap(weight, seed, C, c, j, TAPS) * _load(dy, place + ahead * C, used, c, C)
        tl.store(dx + place, total.to(dx.dtype.element_ty), mask=(r < N)[:, None] & (c < C)[None, :])
    for j in tl.static_range(TAPS):
        back = TAPS - 1 - j
        # dw_j, the sum over this program's rows of dy_t x_{t - (TAPS - 1) + j}
        along = tl.zeros([W], tl.float32)
        for n in range(first, end, ROWS):
            place, r = _place_rows(seed, n, N, C, c, ROWS)
            used = (r < N) & (r % T >= back)
            along += tl.sum(_load(dy, place, used, c, C) * _load(x, place - back * C, used, c, C), 0)
        # `[S,programs,TAPS,C]`
        out = ((seed * tl.num_programs(1) + tl.program_id(1)) * TAPS + j) * C + c
        tl.store(partial + out, along, mask=c < C)


@triton.jit
def _locate_program(C, share, W: tl.constexpr):
    """This program's seed, channels and first row."""
    return (
        tl.program_id(0).to(tl.int64),
        tl.program_id(2) * W + tl.arange(0, W),
        tl.program_id(1) * share,
    )


@triton.jit
def _place_rows(seed, n, N, C, c, ROWS: tl.constexpr):
    """Where the rows n, ..., n + ROWS - 1 of a seed lie, and their numbers."""
    r = n + tl.arange(0, ROWS)
    # rows are `[S,N,C]`
    return (seed * N + r)[:, None] * C + c[None, :], r


@triton.jit
def _load(pointer, place, used, c, C):
    return tl.load(pointer + place, mask=used[:, None] & (c < C)[None, :], other=0.0).to(tl.float32)


@triton.jit
def _load_tap(weight, seed, C, c, j, TAPS: tl.constexpr):
    """The weights of a tap, `[1,W]`."""
    return tl.load(weight + (seed * C + c) * TAPS + j, mask=c < C, other=0.0).to(tl.float32)[None, :]


ENTRIES = 2048
"""Entries of a program's tile."""
CHANNELS = 128
"""The most channels of a program."""


def short_rows_of(x: Tensor, weight: Tensor) -> Tensor:
    """The convolution of x `[S,B,T,C]` with weights `[S,C,taps]`, both contiguous, zeros in front."""
    y = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        _launch(short_rows, (x, weight, y), x, weight)
    return y


def short_gradients(x: Tensor, weight: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of x and of the weight, given that of the result."""
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(weight)
    S, _, _, C = x.shape
    dx = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    partial = launching.empty(S, _divide_rows(x)[0], weight.shape[2], C, dtype=torch.float32, device=x.device)
    _launch(short_rows_backward, (x, weight, gradient, dx, partial), x, weight)
    # `[S,TAPS,C]` summed over programs, as weights `[S,C,TAPS]`
    return dx, partial.sum(1).transpose(1, 2).to(weight.dtype)


def _choose_width(C: int) -> int:
    return int(min(CHANNELS, triton.next_power_of_2(C)))


def _divide_rows(x: Tensor) -> tuple[int, int]:
    """Programs for the rows of each seed and block of channels, and rows of each."""
    S, B, T, C = x.shape
    return launching.divide_rows(B * T, S * triton.cdiv(C, _choose_width(C)), ENTRIES // _choose_width(C))


def _launch(kernel: Any, tensors: tuple[Tensor, ...], x: Tensor, weight: Tensor) -> None:
    S, B, T, C = x.shape
    width = _choose_width(C)
    programs, share = _divide_rows(x)
    tile = Tile(width, warps=4, stages=2)
    launch = launching.launcher(kernel, tile, TAPS=weight.shape[2], W=width, ROWS=ENTRIES // width)
    with launching.on_device_of(x):
        launch((S, programs, triton.cdiv(C, width)), *tensors, Rows(B * T, T, C, share))
