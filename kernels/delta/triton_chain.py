"""States before the segments of a sequence, from the segments' affine maps (mode `scan`)."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def chain(
    summaries,
    additions,
    initial,
    states,
    final,
    first,
    H,
    K: tl.constexpr,
    V: tl.constexpr,
    BV: tl.constexpr,
    BK: tl.constexpr,
    INITIAL: tl.constexpr,
    REVERSE: tl.constexpr,
    ACC: tl.constexpr,
):
    """States before each segment, from the segments' affine maps; REVERSE: gradients at each segment's end.

    summaries `[segments,H,K,V+K]`; initial, final `[N,H,K,V]`; states, additions `[segments,H,K,V]`; the segments of
    sequence n are first[n] up to first[n+1].  Forward S -> M S + C; in reverse dS -> Mᵀ dS + additions.  M is held in blocks
    of BK rows of the sum; where that is not all of K, the state's part for each block is read again from `states`.
    """
    NV: tl.constexpr = V // BV
    WIDTH: tl.constexpr = V + K
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    begin = tl.load(first + n)
    end = tl.load(first + n + 1)
    inside = o_k[None, :] * V + o_v[:, None]
    S = tl.zeros([BV, K], dtype=ACC)
    if INITIAL:
        S += tl.load(initial + (tl.cast(n, tl.int64) * H + h) * K * V + inside).to(ACC)
    for i in range(begin, end):
        segment = tl.cast(end - 1 - (i - begin) if REVERSE else i, tl.int64) * H + h
        tl.store(states + segment * K * V + inside, S)
        p_m = summaries + segment * K * WIDTH
        if REVERSE:
            added = tl.load(additions + segment * K * V + inside)
        else:
            added = tl.load(p_m + o_k[None, :] * WIDTH + o_v[:, None])
        if BK == K:
            S = segment_step(S, added, p_m, o_k, o_k, V, WIDTH, REVERSE, ACC)
        else:
            tl.debug_barrier()  # another thread may read what this one wrote
            S = added
            for block in range(K // BK):
                o_b = block * BK + tl.arange(0, BK)
                part = tl.load(states + segment * K * V + o_b[None, :] * V + o_v[:, None])
                S = segment_step(part, S, p_m, o_b, o_k, V, WIDTH, REVERSE, ACC)
    tl.store(final + (tl.cast(n, tl.int64) * H + h) * K * V + inside, S.to(final.dtype.element_ty))


@triton.jit
def segment_step(
    S, total, p_m, o_b, o_k, V: tl.constexpr, WIDTH: tl.constexpr, REVERSE: tl.constexpr, ACC: tl.constexpr
):
    """total + S M (REVERSE: Mᵀ), transposed as the state is, over the rows o_b of the sum."""
    if REVERSE:
        M = tl.load(p_m + o_b[:, None] * WIDTH + V + o_k[None, :])
    else:
        M = tl.load(p_m + o_k[None, :] * WIDTH + V + o_b[:, None])
    return tl.dot(S, M, total, input_precision="ieee", out_dtype=ACC)
