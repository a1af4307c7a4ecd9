"""Norms on Triton kernels, each pass over memory once, forward and backward.

`unit_rows`: vectors divided by their norms, with SiLU before it on the way.  `rms_rows`: root-mean-square norms with a weight;
rows are `[S,N,H]`, weights `[S,H,D]`, and a program takes one weight and a range of N, so that it reads the weight once and
adds up its gradient in registers.  Needs triton.
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


@triton.jit
def unit_rows(x, u, rows, D, W: tl.constexpr, ROWS: tl.constexpr, SILU: tl.constexpr, WIDE: tl.constexpr):
    """u = y / ‖y‖ with y = x or SiLU(x), row by row; a zero row stays zero."""
    r, d, used = _place_entries(rows, D, W, ROWS)
    # vectors lie one after another, D entries each
    place = r[:, None] * D + d[None, :]
    y, _ = _activate(tl.load(x + place, mask=used, other=0.0).to(WIDE), SILU)
    unit, _ = _normalise(y)
    tl.store(u + place, unit.to(u.dtype.element_ty), mask=used)


@triton.jit
def unit_rows_backward(
    x, du, dx, rows, D, W: tl.constexpr, ROWS: tl.constexpr, SILU: tl.constexpr, WIDE: tl.constexpr
):
    """dy = (du - u (u·du)) / ‖y‖, times SiLU's derivative; only x is needed of the forward pass."""
    r, d, used = _place_entries(rows, D, W, ROWS)
    place = r[:, None] * D + d[None, :]
    y, slope = _activate(tl.load(x + place, mask=used, other=0.0).to(WIDE), SILU)
    g = tl.load(du + place, mask=used, other=0.0).to(WIDE)
    unit, norm = _normalise(y)
    # dy = (du - u (u·du)) / ‖y‖, rounded once when dx is stored
    dy = (g - unit * tl.sum(unit * g, 1)[:, None]) / norm[:, None]
    tl.store(dx + place, (dy * slope).to(dx.dtype.element_ty), mask=used)


@triton.jit
def _place_entries(rows, D, W: tl.constexpr, ROWS: tl.constexpr):
    """This program's rows, their columns, and which entries there are."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, W)
    # rows behind the last and columns behind D are loaded as zeros, which change no norm
    return r, d, (r[:, None] < rows) & (d[None, :] < D)


@triton.jit
def _activate(x, SILU: tl.constexpr):
    """The vector that is normalised, and its derivative in x."""
    if SILU:
        s = 1.0 / (1.0 + tl.exp(-x))
        # (x σ(x))' = σ(x) (1 + x (1 - σ(x)))
        return x * s, s * (1.0 + x * (1.0 - s))
    else:
        return x, tl.full(x.shape, 1.0, x.dtype)


@triton.jit
def _normalise(y):
    """y / ‖y‖ and ‖y‖, by the largest entry first, so that no square is too large or too small; 0 and 1 for zero."""
    # squares of y / max |y| lie in [0, 1] and their sum in [1, D]
    largest = tl.max(tl.abs(y), 1)
    largest = tl.where(largest > 0, largest, 1.0)
    unit = y / largest[:, None]
    square = tl.sum(unit * unit, 1)
    root = tl.sqrt(tl.where(square > 0, square, 1.0))
    return unit / root[:, None], largest * root


class RowSizes(NamedTuple):
    """Rows `[S,N,H]` of D entries, of which a program takes `share` of N."""

    N: int
    H: int
    D: int
    share: int


@triton.jit
def rms_rows(x, weight, y, z, eps, W: tl.constexpr, ROWS: tl.constexpr):
    """y = w · x / sqrt(mean x² + eps); rows in float32."""
    group, d, w = _load_weight(weight, z.D, W)
    # rows first to first + share - 1 of this weight, ROWS at a time
    first = tl.program_id(1) * z.share
    for n in range(first, tl.minimum(first + z.share, z.N), ROWS):
        place, used = _place_rows(group, n, z, d, ROWS)
        row = tl.load(x + place, mask=used, other=0.0).to(tl.float32)
        unit, _ = _scale_row(row, z.D, eps)
        tl.store(y + place, (unit * w[None, :]).to(y.dtype.element_ty), mask=used)


@triton.jit
def rms_rows_backward(x, weight, dy, dx, partial, z, eps, W: tl.constexpr, ROWS: tl.constexpr):
    """dx = (g - u mean(u·g)) / rms with g = w · dy and u = x / rms; `partial` `[S·H,programs,D]` adds up dy · u."""
    group, d, w = _load_weight(weight, z.D, W)
    first = tl.program_id(1) * z.share
    # sum over this program's rows of dy · u
    total = tl.zeros([W], tl.float32)
    for n in range(first, tl.minimum(first + z.share, z.N), ROWS):
        place, used = _place_rows(group, n, z, d, ROWS)
        row = tl.load(x + place, mask=used, other=0.0).to(tl.float32)
        slope = tl.load(dy + place, mask=used, other=0.0).to(tl.float32)
        unit, rate = _scale_row(row, z.D, eps)
        g = slope * w[None, :]
        # dx = (g - u mean(u·g)) / rms
        # mean over the D columns that there are; those behind them are zero
        along = tl.sum(g * unit, 1) / z.D
        tl.store(dx + place, ((g - unit * along[:, None]) * rate[:, None]).to(dx.dtype.element_ty), mask=used)
        total += tl.sum(slope * unit, 0)
    # `[S·H,programs,D]`
    out = (group * tl.num_programs(1) + tl.program_id(1)) * z.D + d
    tl.store(partial + out, total, mask=d < z.D)


@triton.jit
def _load_weight(weight, D, W: tl.constexpr):
    """This program's weight: its number s·H + h, its columns and entries."""
    group = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, W)
    return group, d, tl.load(weight + group * D + d, mask=d < D, other=0.0).to(tl.float32)


@triton.jit
def _place_rows(group, n, z, d, ROWS: tl.constexpr):
    """Where the rows n, ..., n + ROWS - 1 of a weight lie."""
    r = n + tl.arange(0, ROWS)
    # row ((s N + r) H + h) of `[S,N,H]`, group being s H + h
    row = ((group // z.H) * z.N + r) * z.H + group % z.H
    return row[:, None] * z.D + d[None, :], (r[:, None] < z.N) & (d[None, :] < z.D)


@triton.jit
def _scale_row(row, D, eps):
    """x / rms and 1 / rms."""
    # D, not the tile's width, divides the sum
    rate = 1.0 / tl.sqrt(tl.sum(row * row, 1) / D + eps)
    return row * rate[:, None], rate


ENTRIES = 2048
"""Entries of a program's tile."""


def unit_rows_of(x: Tensor, gradient: Tensor | None, silu: bool) -> Tensor:
    """Unit vectors of x's last dimension, contiguous; or, given their gradient, the gradient of x."""
    D = x.shape[-1]
    result = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return result
    rows = x.numel() // D
    width = triton.next_power_of_2(D)
    # as many rows as make a tile of ENTRIES
    tall = max(1, ENTRIES // width)
    kernel, given = (
        (unit_rows, (x, result)) if gradient is None else (unit_rows_backward, (x, gradient, result))
    )
    narrow = x.dtype in (torch.float16, torch.bfloat16)
    # squares and sums in the next wider format
    wide = tl.float32 if narrow else tl.float64
    tile = Tile(width, warps=4, stages=1)
    launch = launching.launcher(kernel, tile, W=width, ROWS=tall, SILU=silu, WIDE=wide)
    with launching.on_device_of(x):
        launch((triton.cdiv(rows, tall),), *given, rows, D)
    return result


def rms_rows_of(x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    """The normed rows of x `[S,...,H,D]` with weights `[S,H,D]`, or `[S,...,D]` with `[S,D]`."""
    y = launching.empty(*x.shape, dtype=dtype, device=x.device)
    if x.numel():
        _launch_rms(rms_rows, (x, weight, y), x, weight, eps, _divide_rows(x, weight)[1])
    return y


def rms_gradients(x: Tensor, weight: Tensor, gradient: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Gradients of x and of the weight, given that of the normed rows."""
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(weight)
    dx = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    programs, share = _divide_rows(x, weight)
    groups, D = weight.numel() // weight.shape[-1], weight.shape[-1]
    partial = launching.empty(groups, programs, D, dtype=torch.float32, device=x.device)
    _launch_rms(rms_rows_backward, (x, weight, gradient, dx, partial), x, weight, eps, share)
    # the parts of the programs that share a weight
    return dx, partial.sum(1).view_as(weight).to(weight.dtype)


def _divide_rows(x: Tensor, weight: Tensor) -> tuple[int, int]:
    """Programs for each weight, and rows of each."""
    # N, the rows that one weight scales
    each = x.numel() // weight.numel()
    groups = weight.numel() // weight.shape[-1]
    return launching.divide_rows(each, groups, max(1, ENTRIES // triton.next_power_of_2(weight.shape[-1])))


def _launch_rms(
    kernel: Any, tensors: tuple[Tensor, ...], x: Tensor, weight: Tensor, eps: float, share: int
) -> None:
    D = weight.shape[-1]
    H = weight.numel() // (weight.shape[0] * D)
    N = x.numel() // weight.numel()
    width = triton.next_power_of_2(D)
    grid = (weight.shape[0] * H, triton.cdiv(N, share))
    tall = max(1, ENTRIES // width)
    launch = launching.launcher(kernel, Tile(width, warps=4, stages=2), W=width, ROWS=tall)
    with launching.on_device_of(x):
        launch(grid, *tensors, RowSizes(N, H, D, share), eps)
