"""The diagonal-plus-rank-one scan on Triton kernels: block sizes, buffers, launches."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..backends import count_launch
from ..launching import check_grid, check_numbers, on_device_of
from .segments import Segments
from .torch_rank_one import Inputs
from .triton_rank_one import rank_one_backward_kernel, rank_one_forward_kernel

FORWARD, BACKWARD, PER_THREAD = 512, 2048, 16
"""Entries of a program's tile of the state, and of a thread's part of it in the backward pass."""


def blocks(K: int, V: int, dtype: torch.dtype, backward: bool) -> tuple[int, int, int]:
    """Rows and columns of a program's tile of the state, and its warps."""
    entries = (BACKWARD if backward else FORWARD) // (2 if dtype == torch.float64 else 1)
    rows = max(16, triton.next_power_of_2(K))
    columns = min(max(4, entries // rows), max(4, triton.next_power_of_2(V)))
    return rows, columns, min(8, max(1, rows * columns // (32 * PER_THREAD))) if backward else 1


def rank_one_forward(
    inputs: Inputs, initial_state: Tensor, scale: float, segments: Segments, keep: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As the torch function of that name; kept states `[S,H,K,V]` in the order of the segments."""
    inputs = _contiguous(inputs)
    initial_state = initial_state.contiguous()
    N, H, K, V = initial_state.shape
    o, final = torch.empty_like(inputs[5]), torch.empty_like(initial_state)
    # a packed table's unused end is never written
    new = initial_state.new_empty if segments.cu_seqlens is None else initial_state.new_zeros
    checkpoints = new((segments.count if keep else 0, H, K, V))
    rows, columns, warps = blocks(K, V, final.dtype, backward=False)
    if N * H:
        grid = (triton.cdiv(V, columns) * N * H,)
        check_grid("rank_one_forward_kernel", grid)
        if final.dtype == torch.float64:
            check_numbers("rank_one_forward_kernel", [scale])
        count_launch("rank_one_forward_kernel")
        with on_device_of(initial_state):
            rank_one_forward_kernel[grid](
                *inputs, initial_state, o, final, checkpoints, *_table(segments, o),
                segments.tokens, segments.per_row, segments.length, float(scale), H, K, V,
                PACKED=segments.cu_seqlens is not None, KEEP=keep,
                ARITHMETIC=_arithmetic(initial_state), BK=rows, BV=columns, num_warps=warps, enable_fp_fusion=False,
            )  # fmt: skip
    return o, final, checkpoints


def rank_one_backward(
    inputs: Inputs, checkpoints: Tensor, do: Tensor, d_final: Tensor, scale: float, segments: Segments
) -> tuple[Inputs, Tensor]:
    """As the torch function of that name."""
    inputs = _contiguous(inputs)
    do, d_final = do.contiguous(), d_final.contiguous()
    N, H, K, V = d_final.shape
    rows, columns, warps = blocks(K, V, d_final.dtype, backward=True)
    parts = triton.cdiv(V, columns)
    dv, d_initial = torch.empty_like(inputs[5]), torch.empty_like(d_final)
    partial = [d_final.new_empty(parts, *inputs[0].shape) for _ in range(5)]
    scratch = d_final.new_empty(parts * N * H * segments.length * rows * columns)
    if N * H:
        grid = (parts * N * H,)
        check_grid("rank_one_backward_kernel", grid)
        if d_final.dtype == torch.float64:
            check_numbers("rank_one_backward_kernel", [scale])
        count_launch("rank_one_backward_kernel")
        with on_device_of(d_final):
            rank_one_backward_kernel[grid](
                *inputs, checkpoints, do, d_final, *partial, dv, d_initial, scratch, *_table(segments, dv),
                segments.tokens, segments.rows * segments.tokens, segments.per_row, segments.length, float(scale), H, K, V,
                PACKED=segments.cu_seqlens is not None,
                ARITHMETIC=_arithmetic(d_final), BK=rows, BV=columns, num_warps=warps, enable_fp_fusion=False,
            )  # fmt: skip
    dq, dw, du, dz, dk = (x.sum(0).to(like.dtype) for x, like in zip(partial, inputs[:5], strict=True))
    return (dq, dw, du, dz, dk, dv), d_initial


def _contiguous(inputs: Inputs) -> Inputs:
    q, w, u, z, k, v = (x.contiguous() for x in inputs)
    return q, w, u, z, k, v


def _arithmetic(x: Tensor) -> tl.dtype:
    return tl.float64 if x.dtype == torch.float64 else tl.float32


def _table(segments: Segments, other: Tensor) -> tuple[Tensor, Tensor]:
    """Bounds of the packed sequences in tokens and in segments; any tensor where nothing is packed."""
    if segments.cu_seqlens is None or segments.bounds is None:
        return other, other
    return segments.cu_seqlens, segments.bounds
