"""Launches of the selective scan's kernels.  Needs triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import launching
from ..tiles import Tile
from .selective import KEPT_EVERY
from .triton_selective import selective_backward_kernel, selective_forward_kernel

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
