"""A short causal convolution of each channel on Triton kernels: one pass over memory, and its gradients in another.

Rows are `[S,B·T]` of C channels, weights `[S,C,TAPS]`. A program takes a seed, a block of channels and a range of rows, some rows at
a time.  A tile `[ROWS,TP,W]` holds for each row the neighbours that its taps reach, which lie close by, in the cache; threads
lie along the channels, so that both sums, over taps and over rows, stay in a thread.  The gradients of x and of the weight are
made of the same tile:

    dx_t = Σ_j w_j dy_{t + (TAPS - 1) - j},   dw_j = Σ_t x_t dy_{t + (TAPS - 1) - j}

Needs triton.
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
def short_rows(x, weight, y, z, TAPS: tl.constexpr, TP: tl.constexpr, W: tl.constexpr, ROWS: tl.constexpr):
    """y_t = Σ_j w_j x_{t - (TAPS - 1) + j}, in float32 until it is stored."""
    N, T, C = z.N, z.T, z.C
    seed, c, first = _locate_program(C, z.share, W)
    j = tl.arange(0, TP)
    # tap j reads so many tokens back
    back = TAPS - 1 - j
    taps = _load_taps(weight, seed, C, c, j, TAPS)
    for n in range(first, tl.minimum(first + z.share, N), ROWS):
        r, t = _number_rows(n, T, ROWS)
        # further back lie zeros, not the sequence before
        used = (r < N)[:, None] & (t[:, None] >= back[None, :]) & (j < TAPS)[None, :]
        past = _load_tile(x, seed * N + r[:, None] - back[None, :], used, c, C)
        total = tl.sum(taps[None, :, :] * past, 1)
        place = (seed * N + r)[:, None] * C + c[None, :]
        tl.store(y + place, total.to(y.dtype.element_ty), mask=(r < N)[:, None] & (c < C)[None, :])


@triton.jit
def short_rows_backward(
    x, weight, dy, dx, partial, z,
    TAPS: tl.constexpr, TP: tl.constexpr, W: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """dx, and in `partial` `[S,programs,TAPS,C]` this program's part of the sums dw."""
    N, T, C = z.N, z.T, z.C
    seed, c, first = _locate_program(C, z.share, W)
    j = tl.arange(0, TP)
    ahead = TAPS - 1 - j
    taps = _load_taps(weight, seed, C, c, j, TAPS)
    of_taps = tl.zeros([TP, W], tl.float32)
    for n in range(first, tl.minimum(first + z.share, N), ROWS):
        r, t = _number_rows(n, T, ROWS)
        # the output `ahead` tokens later has read this token with tap j, if the sequence goes on so far
        used = (r < N)[:, None] & (t[:, None] + ahead[None, :] < T) & (j < TAPS)[None, :]
        slope = _load_tile(dy, seed * N + r[:, None] + ahead[None, :], used, c, C)
        place, inside = (seed * N + r)[:, None] * C + c[None, :], (r < N)[:, None] & (c < C)[None, :]
        here = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        # dx_t = Σ_j w_j dy_{t + (TAPS - 1) - j}
        total = tl.sum(taps[None, :, :] * slope, 1)
        tl.store(dx + place, total.to(dx.dtype.element_ty), mask=inside)
        # dw_j = Σ_t x_t dy_{t + (TAPS - 1) - j}
        of_taps += tl.sum(here[:, None, :] * slope, 0)
    # `[S,programs,TAPS,C]`
    out = ((seed * tl.num_programs(1) + tl.program_id(1)) * TAPS + j)[:, None] * C + c[None, :]
    tl.store(partial + out, of_taps, mask=(j < TAPS)[:, None] & (c < C)[None, :])


@triton.jit
def _locate_program(C, share, W: tl.constexpr):
    """This program's seed, channels and first row."""
    return (
        tl.program_id(0).to(tl.int64),
        tl.program_id(2) * W + tl.arange(0, W),
        tl.program_id(1) * share,
    )


@triton.jit
def _number_rows(n, T, ROWS: tl.constexpr):
    """The rows n, ..., n + ROWS - 1 of a seed, and their tokens' places in their sequences; ROWS is at most T."""
    i = tl.arange(0, ROWS)
    t = n % T + i
    return n + i, tl.where(t >= T, t - T, t)


@triton.jit
def _load_tile(pointer, rows, used, c, C):
    """Rows `[ROWS,TP]` of the channels, zero where they are not used."""
    place, mask = rows[:, :, None] * C + c[None, None, :], used[:, :, None] & (c < C)[None, None, :]
    return tl.load(pointer + place, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def _load_taps(weight, seed, C, c, j, TAPS: tl.constexpr):
    """The weights `[TP,W]` of the channels, zero behind the last tap."""
    place = ((seed * C + c) * TAPS)[None, :] + j[:, None]
    return tl.load(weight + place, mask=(j < TAPS)[:, None] & (c < C)[None, :], other=0.0).to(tl.float32)


class Plan(NamedTuple):
    """How a kernel takes its rows."""

    rows: int
    """The most rows of a tile."""
    warps: int
    programs: int
    """About how many programs there are."""


FORWARD = Plan(rows=4, warps=1, programs=4096)
BACKWARD = Plan(rows=4, warps=1, programs=2048)
WARP_BYTES = 512
"""Of a row for a warp at most: 16 bytes for each thread, which is what it loads at once."""
ENTRIES = 4096
"""The most entries of a tile `[ROWS,TP,W]` for each warp."""
LEAST = 32
"""The fewest rows of a program, if there are so many: its sums are as large as two rows of each tap."""


def short_rows_of(x: Tensor, weight: Tensor) -> Tensor:
    """The convolution of x `[S,B,T,C]` with weights `[S,C,taps]`, both contiguous, zeros in front."""
    y = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        _launch(short_rows, FORWARD, (x, weight, y), x, weight)
    return y


def short_gradients(x: Tensor, weight: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of x and of the weight, given that of the result."""
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(weight)
    S, _, _, C = x.shape
    taps = weight.shape[2]
    dx = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    programs = _divide_rows(BACKWARD, x, taps)[0]
    partial = launching.empty(S, programs, taps, C, dtype=torch.float32, device=x.device)
    _launch(short_rows_backward, BACKWARD, (x, weight, gradient, dx, partial), x, weight)
    # `[S,TAPS,C]` summed over programs, as weights `[S,C,TAPS]`
    return dx, partial.sum(1).transpose(1, 2).to(weight.dtype)


def _choose_tile(plan: Plan, x: Tensor, taps: int) -> tuple[int, int, int]:
    """Taps, channels and rows of a tile, powers of two."""
    _, _, T, C = x.shape
    TP = int(triton.next_power_of_2(taps))
    W = min(int(triton.next_power_of_2(C)), plan.warps * min(WARP_BYTES // x.element_size(), ENTRIES // TP))
    # a tile reaches at most from a sequence into the next
    rows = min(plan.rows, max(1, plan.warps * ENTRIES // (TP * W)), 1 << (T.bit_length() - 1))
    return TP, W, rows


def _divide_rows(plan: Plan, x: Tensor, taps: int) -> tuple[int, int]:
    """Programs for the rows of each seed and block of channels, and rows of each, a multiple of a tile's."""
    S, B, T, C = x.shape
    _, W, rows = _choose_tile(plan, x, taps)
    groups = S * triton.cdiv(C, W) * launching.PROGRAMS // plan.programs
    return launching.divide_rows(B * T, max(1, groups), max(rows, LEAST // rows * rows))


def _launch(kernel: Any, plan: Plan, tensors: tuple[Tensor, ...], x: Tensor, weight: Tensor) -> None:
    S, B, T, C = x.shape
    taps = weight.shape[2]
    TP, W, rows = _choose_tile(plan, x, taps)
    programs, share = _divide_rows(plan, x, taps)
    launch = launching.launcher(kernel, Tile(W, plan.warps, stages=2), TAPS=taps, TP=TP, W=W, ROWS=rows)
    with launching.on_device_of(x):
        launch((S, programs, triton.cdiv(C, W)), *tensors, Rows(B * T, T, C, share))
