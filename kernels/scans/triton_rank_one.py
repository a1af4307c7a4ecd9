"""Triton kernels of the diagonal-plus-rank-one scan: a program holds a block of value columns of one head's state.

The formulas are those of `torch_rank_one`, without fused products and sums.  The order in which the sums over K
(and, for the gradients, over V) are taken is Triton's.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment"
from __future__ import annotations

import triton
import triton.language as tl


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
