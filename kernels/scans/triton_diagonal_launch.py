"""The diagonal scan on Triton kernels: summaries of the segments, the scan between them, then all states."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..backends import count_launch
from ..launching import check_grid, on_device_of
from .segments import Segments, next_length
from .triton_diagonal import segment_states, segment_summaries

BLOCK, WARPS, UNROLL = 256, 4, 8


def diagonal_scan_segments(
    a: Tensor, b: Tensor, initial_state: Tensor, segments: Segments, *, backwards: bool, pairs: bool
) -> tuple[Tensor, Tensor]:
    """All states in b's dtype and the last of each sequence in the arithmetic's; as the torch function of that name."""
    a, b, initial_state = a.contiguous(), b.contiguous(), initial_state.contiguous()
    h, last = torch.empty_like(b), torch.empty_like(initial_state)
    enter = _entering(a, b, initial_state, segments, backwards=backwards, pairs=pairs, adjoint=False)
    _states(a, b, enter, h, last, segments, backwards=backwards, pairs=pairs)
    return h, last


def diagonal_scan_gradients(
    a: Tensor,
    h: Tensor,
    dh: Tensor,
    initial_state: Tensor,
    d_final: Tensor,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a, b and the initial state; as the torch function of that name."""
    a, h, dh = a.contiguous(), h.contiguous(), dh.contiguous()
    initial_state, d_final = initial_state.contiguous(), d_final.contiguous()
    da, db, first = torch.empty_like(a), torch.empty_like(dh), torch.empty_like(d_final)
    enter = _entering(a, dh, d_final, segments, backwards=not backwards, pairs=pairs, adjoint=True)
    adjoint = (h, initial_state, da)
    _states(a, dh, enter, db, first, segments, backwards=not backwards, pairs=pairs, adjoint=adjoint)
    return da, db, first


def _entering(
    a: Tensor, b: Tensor, initial: Tensor, segments: Segments, *, backwards: bool, pairs: bool, adjoint: bool
) -> Tensor:
    """The state that enters each segment, `[R,S,D(,2)]`; where segments are whole sequences, the initial ones."""
    if segments.whole:
        return initial
    shape = (segments.rows, segments.per_row, *initial.shape[1:])
    decays, states, enter = (initial.new_empty(shape) for _ in range(3))
    tensors = [a, b, decays, states]
    _launch(segment_summaries, tensors, segments, initial, backwards, ADJOINT=adjoint, COMPLEX=pairs)
    above = segments.between(next_length(segments))
    higher = _entering(decays, states, initial, above, backwards=backwards, pairs=pairs, adjoint=False)
    _states(decays, states, higher, enter, initial, above, backwards=backwards, pairs=pairs, exclusive=True)
    return enter


def _states(
    a: Tensor,
    b: Tensor,
    enter: Tensor,
    h: Tensor,
    last: Tensor,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
    exclusive: bool = False,
    adjoint: tuple[Tensor, Tensor, Tensor] | None = None,
) -> None:
    tensors = [a, b, enter, h, last, *(adjoint or (h, last, h))]
    flags = {"ADJOINT": adjoint is not None, "EXCLUSIVE": exclusive, "COMPLEX": pairs}
    _launch(segment_states, tensors, segments, last, backwards, **flags)


def _launch(
    kernel: Any, tensors: list[Tensor], segments: Segments, like: Tensor, backwards: bool, **flags: bool
) -> None:
    D = like.shape[1]
    lanes = segments.count * D
    if lanes == 0:
        return
    packed = segments.cu_seqlens is not None
    table = [segments.starts, segments.ends, segments.sequence, segments.cu_seqlens] if packed else [like] * 4
    grid = (triton.cdiv(lanes, BLOCK),)
    check_grid(kernel.fn.__name__, grid)
    count_launch(kernel.fn.__name__)
    unroll = UNROLL // 2 if flags["ADJOINT"] or flags["COMPLEX"] else UNROLL  # registers
    with on_device_of(like):
        kernel[grid](
            *tensors, *table, segments.tokens, segments.per_row, segments.length, -1 if backwards else 1, D, lanes,
            PACKED=packed, **flags, ARITHMETIC=tl.float64 if like.dtype == torch.float64 else tl.float32,
            BLOCK=BLOCK, UNROLL=unroll, num_warps=WARPS, enable_fp_fusion=False,
        )  # fmt: skip
