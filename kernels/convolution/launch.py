"""Launches of the short convolution's kernels.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor

from .. import launching
from ..tiles import Tile
from .triton_short import short_rows, short_rows_backward

ENTRIES = 2048
"""Of a program's tile."""
CHANNELS = 128
"""Most of a program."""


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
    partial = launching.empty(S, _divided(x)[0], weight.shape[2], C, dtype=torch.float32, device=x.device)
    _launch(short_rows_backward, (x, weight, gradient, dx, partial), x, weight)
    return dx, partial.sum(1).transpose(1, 2).to(weight.dtype)


def _width(C: int) -> int:
    return int(min(CHANNELS, triton.next_power_of_2(C)))


def _divided(x: Tensor) -> tuple[int, int]:
    """Programs for the rows of each seed and block of channels, and rows of each."""
    S, B, T, C = x.shape
    return launching.divided(B * T, S * triton.cdiv(C, _width(C)), ENTRIES // _width(C))


def _launch(kernel: Any, tensors: tuple[Tensor, ...], x: Tensor, weight: Tensor) -> None:
    S, B, T, C = x.shape
    width = _width(C)
    programs, share = _divided(x)
    tile = Tile(width, warps=4, stages=2)
    launch = launching.launcher(kernel, tile, TAPS=weight.shape[2], W=width, ROWS=ENTRIES // width)
    with launching.on_device_of(x):
        launch((S, programs, triton.cdiv(C, width)), *tensors, B * T, T, C, share)
