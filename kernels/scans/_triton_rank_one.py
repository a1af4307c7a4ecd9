"""Triton kernels of the diagonal-plus-rank-one scan: a program holds a block of value columns of one head's state.

The formulas are those of `torch_rank_one`, without fused products and sums.  The order in which the sums over K
(and, for the gradients, over V) are taken is Triton's.

The diagonal-plus-rank-one scan on Triton kernels: block sizes, buffers, launches.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .._backends import count_launch
from .._launching import check_grid, check_numbers, on_device_of
from ._segments import Segments
from ._torch_rank_one import Inputs

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"


@triton.jit
def _row(pointer, row, lanes, width, ARITHMETIC: tl.constexpr):
    return tl.load(pointer + row * width + lanes, mask=lanes < width, other=0.0).to(ARITHMETIC)


@triton.jit
def _place(H, V, BV: tl.constexpr):
    """This program's sequence, head and block of values.  The grid has one dimension: CUDA limits the others to 65,535."""
    blocks = tl.cdiv(V, BV)
    pair = tl.program_id(0) // blocks
    return pair // H, pair % H, tl.program_id(0) % blocks


@triton.jit
def _sequence(cu, bounds, n, tokens, per_row, PACKED: tl.constexpr):
    """Of sequence n: its first token, its length, and where its kept states begin."""
    if PACKED:
        first = tl.cast(tl.load(cu + n), tl.int64)
        count = tl.cast(tl.load(cu + n + 1) - tl.load(cu + n), tl.int32)
        kept = tl.cast(tl.load(bounds + n), tl.int64)
    else:
        first = tl.cast(n, tl.int64) * tokens
        count = tl.cast(tokens, tl.int32)
        kept = tl.cast(n, tl.int64) * per_row
    return first, count, kept


@triton.jit
def rank_one_forward_kernel(
    q, w, u, z, k, v, initial, o, final, checkpoints, cu, bounds, tokens, per_row, length, scale, H, K, V,
    PACKED: tl.constexpr, KEEP: tl.constexpr, ARITHMETIC: tl.constexpr,
    BK: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """Outputs and the final state; KEEP also writes the state before every length-th token."""
    n, head, block = _place(H, V, BV)
    keys = tl.arange(0, BK)
    values = block * BV + tl.arange(0, BV)
    tile = keys[:, None] * V + values[None, :]
    inside = (keys < K)[:, None] & (values < V)[None, :]
    first, count, kept = _sequence(cu, bounds, n, tokens, per_row, PACKED)
    here = (tl.cast(n, tl.int64) * H + head) * K * V
    S = tl.load(initial + here + tile, mask=inside, other=0.0).to(ARITHMETIC)
    for t in range(count):
        if KEEP and t % length == 0:
            place = ((kept + t // length) * H + head) * K * V
            tl.store(checkpoints + place + tile, S, mask=inside)
        row = (first + t) * H + head
        qt = _row(q, row, keys, K, ARITHMETIC)
        wt = _row(w, row, keys, K, ARITHMETIC)
        ut = _row(u, row, keys, K, ARITHMETIC)
        zt = _row(z, row, keys, K, ARITHMETIC)
        kt = _row(k, row, keys, K, ARITHMETIC)
        vt = _row(v, row, values, V, ARITHMETIC)
        s = tl.sum(zt[:, None] * S, axis=0)
        S = (wt[:, None] * S + ut[:, None] * s[None, :]) + kt[:, None] * vt[None, :]
        y = scale * tl.sum(qt[:, None] * S, axis=0)
        tl.store(o + row * V + values, y.to(o.dtype.element_ty), mask=values < V)
    tl.store(final + here + tile, S, mask=inside)


@triton.jit
def rank_one_backward_kernel(
    q, w, u, z, k, v, checkpoints, do, d_final, dq, dw, du, dz, dk, dv, d_initial, scratch, cu, bounds,
    tokens, all_tokens, per_row, length, scale, H, K, V,
    PACKED: tl.constexpr, ARITHMETIC: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """Gradients; those of q, w, u, z, k are parts `[V/BV,T,H,K]`, one for each block of values, to be summed."""
    n, head, block = _place(H, V, BV)
    keys = tl.arange(0, BK)
    values = block * BV + tl.arange(0, BV)
    block = tl.cast(block, tl.int64)
    tile = keys[:, None] * V + values[None, :]
    inside = (keys < K)[:, None] & (values < V)[None, :]
    first, count, kept = _sequence(cu, bounds, n, tokens, per_row, PACKED)
    here = (tl.cast(n, tl.int64) * H + head) * K * V
    program = tl.cast(tl.program_id(0), tl.int64)
    own = program * length * (BK * BV) + keys[:, None] * BV + tl.arange(0, BV)[None, :]
    G = tl.load(d_final + here + tile, mask=inside, other=0.0).to(ARITHMETIC)
    segments = (count + length - 1) // length
    for back in range(segments):
        i = segments - 1 - back
        start = i * length
        steps = tl.minimum(count - start, length)
        S = tl.load(checkpoints + ((kept + i) * H + head) * K * V + tile, mask=inside, other=0.0)
        for t in range(steps):
            tl.store(scratch + own + t * BK * BV, S)
            row = (first + start + t) * H + head
            wt = _row(w, row, keys, K, ARITHMETIC)
            ut = _row(u, row, keys, K, ARITHMETIC)
            zt = _row(z, row, keys, K, ARITHMETIC)
            kt = _row(k, row, keys, K, ARITHMETIC)
            vt = _row(v, row, values, V, ARITHMETIC)
            s = tl.sum(zt[:, None] * S, axis=0)
            S = (wt[:, None] * S + ut[:, None] * s[None, :]) + kt[:, None] * vt[None, :]
        tl.debug_barrier()  # another thread may read what this one wrote
        for reverse in range(steps):
            t = steps - 1 - reverse
            row = (first + start + t) * H + head
            qt = _row(q, row, keys, K, ARITHMETIC)
            wt = _row(w, row, keys, K, ARITHMETIC)
            ut = _row(u, row, keys, K, ARITHMETIC)
            zt = _row(z, row, keys, K, ARITHMETIC)
            kt = _row(k, row, keys, K, ARITHMETIC)
            vt = _row(v, row, values, V, ARITHMETIC)
            dot = _row(do, row, values, V, ARITHMETIC)
            P = tl.load(scratch + own + t * BK * BV)
            s = tl.sum(zt[:, None] * P, axis=0)
            S = (wt[:, None] * P + ut[:, None] * s[None, :]) + kt[:, None] * vt[None, :]
            G += scale * (qt[:, None] * dot[None, :])
            ds = tl.sum(ut[:, None] * G, axis=0)
            part = (block * all_tokens * H + row) * K + keys
            tl.store(dq + part, scale * tl.sum(S * dot[None, :], axis=1), mask=keys < K)
            tl.store(dw + part, tl.sum(G * P, axis=1), mask=keys < K)
            tl.store(du + part, tl.sum(G * s[None, :], axis=1), mask=keys < K)
            tl.store(dz + part, tl.sum(P * ds[None, :], axis=1), mask=keys < K)
            tl.store(dk + part, tl.sum(G * vt[None, :], axis=1), mask=keys < K)
            dvt = tl.sum(kt[:, None] * G, axis=0)
            tl.store(dv + row * V + values, dvt.to(dv.dtype.element_ty), mask=values < V)
            G = wt[:, None] * G + zt[:, None] * ds[None, :]
        tl.debug_barrier()
    tl.store(d_initial + here + tile, G, mask=inside)


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
