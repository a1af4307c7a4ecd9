"""Root-mean-square norms with a weight in one pass over memory, forward and backward.

Rows are `[S,N,H]`; weights `[S,H,D]`. A program takes one weight and a range of N, so that it reads the weight once and adds
up its gradient in registers.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def rms_rows(x, weight, y, N, H, D, eps, share, W: tl.constexpr, ROWS: tl.constexpr):
    """y = w · x / sqrt(mean x² + eps); rows in float32."""
    group, d, w = _weight(weight, H, D, W)
    first = tl.program_id(1) * share
    for n in range(first, tl.minimum(first + share, N), ROWS):
        place, used = _rows(group, n, N, H, D, d, ROWS)
        row = tl.load(x + place, mask=used, other=0.0).to(tl.float32)
        unit, _ = _scaled(row, D, eps)
        tl.store(y + place, (unit * w[None, :]).to(y.dtype.element_ty), mask=used)


@triton.jit
def rms_rows_backward(x, weight, dy, dx, partial, N, H, D, eps, share, W: tl.constexpr, ROWS: tl.constexpr):
    """dx = (g - u mean(u·g)) / rms with g = w · dy and u = x / rms; `partial` `[S·H,programs,D]` adds up dy · u."""
    group, d, w = _weight(weight, H, D, W)
    first = tl.program_id(1) * share
    total = tl.zeros([W], tl.float32)
    for n in range(first, tl.minimum(first + share, N), ROWS):
        place, used = _rows(group, n, N, H, D, d, ROWS)
        row = tl.load(x + place, mask=used, other=0.0).to(tl.float32)
        slope = tl.load(dy + place, mask=used, other=0.0).to(tl.float32)
        unit, rate = _scaled(row, D, eps)
        g = slope * w[None, :]
        along = tl.sum(g * unit, 1) / D
        tl.store(dx + place, ((g - unit * along[:, None]) * rate[:, None]).to(dx.dtype.element_ty), mask=used)
        total += tl.sum(slope * unit, 0)
    out = (group * tl.num_programs(1) + tl.program_id(1)) * D + d
    tl.store(partial + out, total, mask=d < D)


@triton.jit
def _weight(weight, H, D, W: tl.constexpr):
    """This program's weight: its number s·H + h, its columns and entries."""
    group = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, W)
    return group, d, tl.load(weight + group * D + d, mask=d < D, other=0.0).to(tl.float32)


@triton.jit
def _rows(group, n, N, H, D, d, ROWS: tl.constexpr):
    """Where the rows n, ..., n + ROWS - 1 of a weight lie."""
    r = n + tl.arange(0, ROWS)
    row = ((group // H) * N + r) * H + group % H
    return row[:, None] * D + d[None, :], (r[:, None] < N) & (d[None, :] < D)


@triton.jit
def _scaled(row, D, eps):
    """x / rms and 1 / rms."""
    rate = 1.0 / tl.sqrt(tl.sum(row * row, 1) / D + eps)
    return row * rate[:, None], rate
