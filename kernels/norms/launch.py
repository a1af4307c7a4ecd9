"""Launches of the normalising kernels.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import launching
from ..tiles import Tile
from .triton_l2 import unit_rows, unit_rows_backward
from .triton_rms import rms_rows, rms_rows_backward

ENTRIES = 2048
"""Of a program's tile."""


def unit_rows_of(x: Tensor, gradient: Tensor | None, silu: bool) -> Tensor:
    """Unit vectors of x's last dimension, contiguous; or, given their gradient, the gradient of x."""
    D = x.shape[-1]
    result = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return result
    rows = x.numel() // D
    width = triton.next_power_of_2(D)
    tall = max(1, ENTRIES // width)
    kernel, given = (
        (unit_rows, (x, result)) if gradient is None else (unit_rows_backward, (x, gradient, result))
    )
    narrow = x.dtype in (torch.float16, torch.bfloat16)
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
        _launch_rms(rms_rows, (x, weight, y), x, weight, eps, _divided(x, weight)[1])
    return y


def rms_gradients(x: Tensor, weight: Tensor, gradient: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Gradients of x and of the weight, given that of the normed rows."""
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(weight)
    dx = launching.empty(*x.shape, dtype=x.dtype, device=x.device)
    programs, share = _divided(x, weight)
    groups, D = weight.numel() // weight.shape[-1], weight.shape[-1]
    partial = launching.empty(groups, programs, D, dtype=torch.float32, device=x.device)
    _launch_rms(rms_rows_backward, (x, weight, gradient, dx, partial), x, weight, eps, share)
    return dx, partial.sum(1).view_as(weight).to(weight.dtype)


def _divided(x: Tensor, weight: Tensor) -> tuple[int, int]:
    """Programs for each weight, and rows of each."""
    each = x.numel() // weight.numel()
    groups = weight.numel() // weight.shape[-1]
    return launching.divided(each, groups, max(1, ENTRIES // triton.next_power_of_2(weight.shape[-1])))


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
        launch(grid, *tensors, N, H, D, eps, share)
