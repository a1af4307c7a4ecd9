"""Vectors divided by their norms in one pass over memory, forward and backward, with SiLU before it on the way."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def unit_rows(x, u, rows, D, W: tl.constexpr, ROWS: tl.constexpr, SILU: tl.constexpr, WIDE: tl.constexpr):
    """u = y / ‖y‖ with y = x or SiLU(x), row by row; a zero row stays zero."""
    r, d, used = _places(rows, D, W, ROWS)
    place = r[:, None] * D + d[None, :]
    y, _ = _activated(tl.load(x + place, mask=used, other=0.0).to(WIDE), SILU)
    unit, _ = _unit(y)
    tl.store(u + place, unit.to(u.dtype.element_ty), mask=used)


@triton.jit
def unit_rows_backward(
    x, du, dx, rows, D, W: tl.constexpr, ROWS: tl.constexpr, SILU: tl.constexpr, WIDE: tl.constexpr
):
    """dy = (du - u (u·du)) / ‖y‖, times SiLU's derivative; only x is needed of the forward pass."""
    r, d, used = _places(rows, D, W, ROWS)
    place = r[:, None] * D + d[None, :]
    y, slope = _activated(tl.load(x + place, mask=used, other=0.0).to(WIDE), SILU)
    g = tl.load(du + place, mask=used, other=0.0).to(WIDE)
    unit, norm = _unit(y)
    dy = (g - unit * tl.sum(unit * g, 1)[:, None]) / norm[:, None]
    tl.store(dx + place, (dy * slope).to(dx.dtype.element_ty), mask=used)


@triton.jit
def _places(rows, D, W: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, W)
    return r, d, (r[:, None] < rows) & (d[None, :] < D)


@triton.jit
def _activated(x, SILU: tl.constexpr):
    """The vector that is normalised, and its derivative in x."""
    if SILU:
        s = 1.0 / (1.0 + tl.exp(-x))
        return x * s, s * (1.0 + x * (1.0 - s))
    else:
        return x, tl.full(x.shape, 1.0, x.dtype)


@triton.jit
def _unit(y):
    """y / ‖y‖ and ‖y‖, by the largest entry first, so that no square is too large or too small; 0 and 1 for zero."""
    largest = tl.max(tl.abs(y), 1)
    largest = tl.where(largest > 0, largest, 1.0)
    unit = y / largest[:, None]
    square = tl.sum(unit * unit, 1)
    root = tl.sqrt(tl.where(square > 0, square, 1.0))
    return unit / root[:, None], largest * root
