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
    INITIAL: tl.constexpr,
    REVERSE: tl.constexpr,
    ACC: tl.constexpr,
):
    """States before each segment, from the segments' affine maps; REVERSE: gradients at each segment's end.

    summaries `[segments,H,K,V+K]`; initial, final `[N,H,K,V]`; states, additions `[segments,H,K,V]`; the segments of
    sequence n are first[n] up to first[n+1].  Forward S -> M S + C; in reverse dS -> Mᵀ dS + additions.
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
            M = tl.load(p_m + o_k[:, None] * WIDTH + V + o_k[None, :])
            added = tl.load(additions + segment * K * V + inside)
        else:
            M = tl.load(p_m + o_k[None, :] * WIDTH + V + o_k[:, None])
            added = tl.load(p_m + o_k[None, :] * WIDTH + o_v[:, None])
        S = tl.dot(S, M, added, input_precision="ieee", out_dtype=ACC)
    tl.store(final + (tl.cast(n, tl.int64) * H + h) * K * V + inside, S.to(final.dtype.element_ty))
