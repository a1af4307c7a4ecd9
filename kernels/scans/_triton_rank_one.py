"""The diagonal-plus-rank-one scan on Triton kernels: a program holds a block of value columns of one head's state.

The formulas are those of `_torch_rank_one`, without fused products and sums.  The order in which the sums over K
(and, for the gradients, over V) are taken is Triton's.  Needs triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .._backends import count_launch
from .._launching import check_grid, check_numbers, kernel_arithmetic, make_constants, on_device_of
from ._segments import Segments
from ._torch_rank_one import Inputs

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"


class ScanPlaces(NamedTuple):
    """Where kernels find sequences, kept states, and columns; the tables only of packed sequences."""

    cu: Tensor | None
    """`[N+1]`: bounds in tokens."""
    bounds: Tensor | None
    """`[N+1]`: bounds in segments."""
    tokens: int
    per_row: int
    """Segments of a row that is not packed."""
    length: int
    """Tokens of a segment."""
    H: int
    K: int
    V: int


class BlockShape(NamedTuple):
    """What the kernels are compiled for, each field a constant (`make_constants`)."""

    PACKED: Any
    ARITHMETIC: Any
    """float32 or float64."""
    BK: Any
    """Rows of a program's tile of the state, at least K."""
    BV: Any
    """Columns."""


class RankOneOutputs(NamedTuple):
    """What `rank_one_forward_kernel` fills."""

    o: Tensor
    final: Tensor
    """`[N,H,K,V]`."""
    checkpoints: Tensor
    """`[segments,H,K,V]`: the state before each segment, where they are kept."""


@triton.jit
def _load_row(pointer, row, lanes, width, used, F: tl.constexpr):
    return tl.load(pointer + row * width + lanes, mask=(lanes < width) & used, other=0.0).to(F.ARITHMETIC)


@triton.jit
def _load_step(x, row, keys, values, at, used, F: tl.constexpr):
    """w, u, z, k, v of a token and head; loops load them one token ahead, so that no step waits for memory."""
    wt = _load_row(x.w, row, keys, at.K, used, F)
    ut = _load_row(x.u, row, keys, at.K, used, F)
    zt = _load_row(x.z, row, keys, at.K, used, F)
    kt = _load_row(x.k, row, keys, at.K, used, F)
    vt = _load_row(x.v, row, values, at.V, used, F)
    return wt, ut, zt, kt, vt


@triton.jit
def _step(S, wt, ut, zt, kt, vt):
    """s = zᵀH, and the state after the token, H <- (diag(w) H + u sᵀ) + k vᵀ: every product and sum rounded."""
    # the sum over keys stays inside a program, since its tile has all K rows
    s = tl.sum(zt[:, None] * S, axis=0)
    return s, (wt[:, None] * S + ut[:, None] * s[None, :]) + kt[:, None] * vt[None, :]


@triton.jit
def _locate_program(at, F: tl.constexpr):
    """This program's sequence, head and block of values.  The grid has one dimension: CUDA limits the others to 65,535."""
    blocks = tl.cdiv(at.V, F.BV)
    pair = tl.program_id(0) // blocks
    return pair // at.H, pair % at.H, tl.program_id(0) % blocks


@triton.jit
def _locate_sequence(at, n, PACKED: tl.constexpr):
    """Of sequence n: its first token, its length, and where its kept states begin."""
    if PACKED:
        first = tl.cast(tl.load(at.cu + n), tl.int64)
        count = tl.cast(tl.load(at.cu + n + 1) - tl.load(at.cu + n), tl.int32)
        kept = tl.cast(tl.load(at.bounds + n), tl.int64)
    else:
        first = tl.cast(n, tl.int64) * at.tokens
        count = tl.cast(at.tokens, tl.int32)
        # not packed: `per_row` kept states in every row
        kept = tl.cast(n, tl.int64) * at.per_row
    return first, count, kept


@triton.jit
def rank_one_forward_kernel(x, initial, out, at, scale, F: tl.constexpr, KEEP: tl.constexpr):
    """`RankOneOutputs` out from `Inputs` x; KEEP also writes the state before every length-th token."""
    n, head, block = _locate_program(at, F)
    H, K, V = at.H, at.K, at.V
    keys = tl.arange(0, F.BK)
    values = block * F.BV + tl.arange(0, F.BV)
    # a block of columns of a state `[K,V]`
    tile = keys[:, None] * V + values[None, :]
    inside = (keys < K)[:, None] & (values < V)[None, :]
    first, count, kept = _locate_sequence(at, n, F.PACKED)
    # states are `[N,H,K,V]`
    here = (tl.cast(n, tl.int64) * H + head) * K * V
    S = tl.load(initial + here + tile, mask=inside, other=0.0).to(F.ARITHMETIC)
    row = first * H + head
    next_q = _load_row(x.q, row, keys, K, count > 0, F)
    next_w, next_u, next_z, next_k, next_v = _load_step(x, row, keys, values, at, count > 0, F)
    for t in range(count):
        if KEEP and t % at.length == 0:
            # `[segments,H,K,V]`
            place = ((kept + t // at.length) * H + head) * K * V
            tl.store(out.checkpoints + place + tile, S, mask=inside)
        # columns behind V and rows behind K are loaded as zeros and stay zero
        qt, wt, ut, zt, kt, vt = next_q, next_w, next_u, next_z, next_k, next_v
        row = (first + t) * H + head
        next_q = _load_row(x.q, row + H, keys, K, t + 1 < count, F)
        next_w, next_u, next_z, next_k, next_v = _load_step(x, row + H, keys, values, at, t + 1 < count, F)
        _s, S = _step(S, wt, ut, zt, kt, vt)
        # o = scale qᵀH
        y = scale * tl.sum(qt[:, None] * S, axis=0)
        tl.store(out.o + row * V + values, y.to(out.o.dtype.element_ty), mask=values < V)
    tl.store(out.final + here + tile, S, mask=inside)


@triton.jit
def rank_one_backward_kernel(
    x, checkpoints, do, d_final, d, d_initial, scratch, at, all_tokens, scale, F: tl.constexpr
):
    """Gradients d; those of q, w, u, z, k are parts `[V/BV,T,H,K]`, one for each block of values, to be summed.

    A segment's states are made again from the one before it, into scratch, and then gone back through.
    """
    n, head, block = _locate_program(at, F)
    H, K, V, length = at.H, at.K, at.V, at.length
    keys = tl.arange(0, F.BK)
    values = block * F.BV + tl.arange(0, F.BV)
    block = tl.cast(block, tl.int64)
    tile = keys[:, None] * V + values[None, :]
    inside = (keys < K)[:, None] & (values < V)[None, :]
    first, count, kept = _locate_sequence(at, n, F.PACKED)
    here = (tl.cast(n, tl.int64) * H + head) * K * V
    program = tl.cast(tl.program_id(0), tl.int64)
    # scratch `[programs,length,BK,BV]`: the states of one segment, of this program alone
    own = program * length * (F.BK * F.BV) + keys[:, None] * F.BV + tl.arange(0, F.BV)[None, :]
    G = tl.load(d_final + here + tile, mask=inside, other=0.0).to(F.ARITHMETIC)
    # ⌈count / length⌉, gone through from the last to the first
    segments = (count + length - 1) // length
    for back in range(segments):
        i = segments - 1 - back
        start = i * length
        steps = tl.minimum(count - start, length)
        # the state before the segment, from which the loop below makes the others again
        S = tl.load(checkpoints + ((kept + i) * H + head) * K * V + tile, mask=inside, other=0.0)
        row = (first + start) * H + head
        next_w, next_u, next_z, next_k, next_v = _load_step(x, row, keys, values, at, steps > 0, F)
        for t in range(steps):
            # the state before token t
            tl.store(scratch + own + t * F.BK * F.BV, S)
            row = (first + start + t + 1) * H + head
            wt, ut, zt, kt, vt = next_w, next_u, next_z, next_k, next_v
            next_w, next_u, next_z, next_k, next_v = _load_step(x, row, keys, values, at, t + 1 < steps, F)
            _s, S = _step(S, wt, ut, zt, kt, vt)
        tl.debug_barrier()  # another thread may read what this one wrote
        row = (first + start + steps - 1) * H + head
        next_q = _load_row(x.q, row, keys, K, steps > 0, F)
        next_w, next_u, next_z, next_k, next_v = _load_step(x, row, keys, values, at, steps > 0, F)
        next_do = _load_row(do, row, values, V, steps > 0, F)
        for reverse in range(steps):
            t = steps - 1 - reverse
            row = (first + start + t) * H + head
            P = tl.load(scratch + own + t * F.BK * F.BV)  # the state before the token
            qt, wt, ut, zt, kt, vt, dot = next_q, next_w, next_u, next_z, next_k, next_v, next_do
            next_q = _load_row(x.q, row - H, keys, K, t > 0, F)
            next_w, next_u, next_z, next_k, next_v = _load_step(x, row - H, keys, values, at, t > 0, F)
            next_do = _load_row(do, row - H, values, V, t > 0, F)
            s, S = _step(P, wt, ut, zt, kt, vt)
            # G, the gradient of the state after the token: G <- G + scale q doᵀ; ds = Gᵀu
            G += scale * (qt[:, None] * dot[None, :])
            ds = tl.sum(ut[:, None] * G, axis=0)
            # dq = scale H do, dw = rowsum(G∘P), du = G s, dz = P ds, dk = G v, dv = Gᵀk
            # `[V/BV,T,H,K]` for all tokens: sums over values are sums over blocks of parts
            part = (block * all_tokens * H + row) * K + keys
            tl.store(d.q + part, scale * tl.sum(S * dot[None, :], axis=1), mask=keys < K)
            tl.store(d.w + part, tl.sum(G * P, axis=1), mask=keys < K)
            tl.store(d.u + part, tl.sum(G * s[None, :], axis=1), mask=keys < K)
            tl.store(d.z + part, tl.sum(P * ds[None, :], axis=1), mask=keys < K)
            tl.store(d.k + part, tl.sum(G * vt[None, :], axis=1), mask=keys < K)
            # dv needs a sum over keys alone, which is complete here
            dvt = tl.sum(kt[:, None] * G, axis=0)
            tl.store(d.v + row * V + values, dvt.to(d.v.dtype.element_ty), mask=values < V)
            # G <- diag(w) G + z dsᵀ
            G = wt[:, None] * G + zt[:, None] * ds[None, :]
        # all have read the scratch before the next segment writes it
        tl.debug_barrier()
    tl.store(d_initial + here + tile, G, mask=inside)


FORWARD, BACKWARD, PER_THREAD = 512, 2048, 16
"""Entries of a program's tile of the state, and of a thread's part of it in the backward pass."""


def choose_blocks(K: int, V: int, dtype: torch.dtype, backward: bool) -> tuple[int, int, int]:
    """Rows and columns of a program's tile of the state, and its warps."""
    # a float64 takes two registers, so a tile has half as many entries
    entries = (BACKWARD if backward else FORWARD) // (2 if dtype == torch.float64 else 1)
    rows = max(16, triton.next_power_of_2(K))
    # at least four columns, and not more than V fills
    columns = min(max(4, entries // rows), max(4, triton.next_power_of_2(V)))
    # 32 threads of PER_THREAD entries each to a warp
    return rows, columns, min(8, max(1, rows * columns // (32 * PER_THREAD))) if backward else 1


def rank_one_forward(
    inputs: Inputs, initial_state: Tensor, scale: float, segments: Segments, keep: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As the torch function of that name; kept states `[S,H,K,V]` in the order of the segments."""
    inputs = _contiguous(inputs)
    initial_state = initial_state.contiguous()
    N, H, K, V = initial_state.shape
    o, final = torch.empty_like(inputs.v), torch.empty_like(initial_state)
    # a packed table's unused end is never written
    new = initial_state.new_empty if segments.cu_seqlens is None else initial_state.new_zeros
    checkpoints = new((segments.count if keep else 0, H, K, V))
    rows, columns, warps = choose_blocks(K, V, final.dtype, backward=False)
    if N * H:
        grid = (triton.cdiv(V, columns) * N * H,)
        check_grid("rank_one_forward_kernel", grid)
        if final.dtype == torch.float64:
            check_numbers("rank_one_forward_kernel", [scale])
        count_launch("rank_one_forward_kernel")
        with on_device_of(initial_state):
            rank_one_forward_kernel[grid](
                *(inputs, initial_state, RankOneOutputs(o, final, checkpoints), _place(segments, H, K, V)),
                float(scale),
                F=_shape(segments, final, rows, columns),
                KEEP=keep,
                num_warps=warps,
                enable_fp_fusion=False,
            )
    return o, final, checkpoints


def rank_one_backward(
    inputs: Inputs, checkpoints: Tensor, do: Tensor, d_final: Tensor, scale: float, segments: Segments
) -> tuple[Inputs, Tensor]:
    """As the torch function of that name."""
    inputs = _contiguous(inputs)
    do, d_final = do.contiguous(), d_final.contiguous()
    N, H, K, V = d_final.shape
    rows, columns, warps = choose_blocks(K, V, d_final.dtype, backward=True)
    parts = triton.cdiv(V, columns)
    dv, d_initial = torch.empty_like(inputs.v), torch.empty_like(d_final)
    partial = [d_final.new_empty(parts, *inputs.q.shape) for _ in range(5)]
    # a state for each token of a segment and each program
    scratch = d_final.new_empty(parts * N * H * segments.length * rows * columns)
    if N * H:
        grid = (parts * N * H,)
        check_grid("rank_one_backward_kernel", grid)
        if d_final.dtype == torch.float64:
            check_numbers("rank_one_backward_kernel", [scale])
        count_launch("rank_one_backward_kernel")
        with on_device_of(d_final):
            rank_one_backward_kernel[grid](
                *(inputs, checkpoints, do, d_final, Inputs(*[*partial, dv]), d_initial, scratch),
                *(_place(segments, H, K, V), segments.rows * segments.tokens, float(scale)),
                F=_shape(segments, d_final, rows, columns),
                num_warps=warps,
                enable_fp_fusion=False,
            )
    # the parts of the blocks of values; dv has none
    dq, dw, du, dz, dk = (x.sum(0).to(like.dtype) for x, like in zip(partial, inputs[:5], strict=True))
    return Inputs(dq, dw, du, dz, dk, dv), d_initial


def _contiguous(inputs: Inputs) -> Inputs:
    return Inputs(*(x.contiguous() for x in inputs))


def _place(segments: Segments, H: int, K: int, V: int) -> ScanPlaces:
    tables = segments.cu_seqlens, segments.bounds
    return ScanPlaces(*tables, segments.tokens, segments.per_row, segments.length, H, K, V)


def _shape(segments: Segments, states: Tensor, rows: int, columns: int) -> BlockShape:
    packed, arithmetic = segments.cu_seqlens is not None, kernel_arithmetic(states.dtype)
    return BlockShape(*make_constants(packed, arithmetic, rows, columns))
