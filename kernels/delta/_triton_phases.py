"""DeltaProduct by chunks in phases, for wide heads: only the serial chain is serial, the rest is parallel over chunks.

    prepare        a program a chunk: the inverses X and the scores Q Kᵀ ∘ D (see `triton_chunk` for the letters)
    gate_products  a program a chunk, with gates only: c and d, which would hold up the chains
    advance        a program a block of value columns: S0 -> S1 through all chunks, outputs; keeps e and the states for later
    retreat        a program a block of value columns: dS1 -> dS0 through all chunks; dV, and keeps the dS1
    gradients      a program a chunk: everything that needs only the chunk's e, dV, S0 and dS1

Value columns never meet in `advance` and `retreat`, so a sequence and head fill several programs.

States before the segments of a sequence, from the segments' affine maps (mode `scan`).
"""

from __future__ import annotations

import triton
import triton.language as tl

from ._triton_blocks import (
    chunk_decay,
    chunk_gates,
    chunk_inverse,
    load_products,
    load_rows,
    lower_tiles,
    product,
    products_of,
    seen_tiles,
    sequence,
    store_rows,
)

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def chunk_place(cu, chunk_start, chunk_sequence, index, T, TC: tl.constexpr, PACKED: tl.constexpr):
    """First token of a chunk and how many tokens are left in its sequence; none for a chunk that no sequence has."""
    if PACKED:
        n = tl.load(chunk_sequence + index)
        known = tl.maximum(n, 0)
        start = tl.cast(tl.load(cu + known), tl.int64)
        start += (index - tl.cast(tl.load(chunk_start + known), tl.int64)) * TC
        left = tl.where(n < 0, 0, tl.cast(tl.load(cu + known + 1) - start, tl.int32))
    else:
        chunks = tl.cdiv(T, TC)
        start = tl.cast(index // chunks, tl.int64) * T + (index % chunks) * TC
        left = T - (index % chunks) * TC
    return start, left


@triton.jit
def prepare(
    q,
    k,
    beta,
    a,
    inverses,
    scores,
    cu,
    chunk_start,
    chunk_sequence,
    T,
    H,
    NH: tl.constexpr,
    K: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
    IPREC: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
    PACKED: tl.constexpr,
):
    """inverses `[chunks,H,C,C]` and scores `[chunks,H,R,C]`, in q's dtype."""
    TC: tl.constexpr = C // NH
    index = tl.program_id(0)
    h = tl.program_id(1)
    start, left = chunk_place(cu, chunk_start, chunk_sequence, index, T, TC, PACKED)
    o_k = tl.arange(0, K)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    used = (o_c < TC * NH) & (o_c < left * NH)
    read = (o_r < TC) & (o_r < left)
    micro = start * NH * H + h + o_c * H
    Kc = load_rows(k + micro[:, None] * K + o_k[None, :], used, EVEN)
    Qc = load_rows(q + (start * H + h + o_r * H)[:, None] * K + o_k[None, :], read, EVEN and R == TC)
    bt = tl.load(beta + micro, mask=used, other=0.0).to(ACC)
    seen = o_c[None, :] < (o_r[:, None] + 1) * NH
    att = tl.where(seen, product(Qc, tl.trans(Kc), tl.zeros([R, C], dtype=ACC), PREC), 0.0)
    if GATED:
        tokens = tl.minimum(left, TC)
        p_a = a + start * H + h
        gate, _after, token_gate = chunk_gates(p_a, o_c, o_r, tokens, H, NH, ACC)
        D, D_read = chunk_decay(gate, token_gate, o_r, o_c, NH)
        att *= D_read
    else:
        D = 0.0
    at = (tl.cast(index, tl.int64) * H + h) * R
    tl.store(
        scores + (at + o_r[:, None]) * C + o_c[None, :],
        att.to(scores.dtype.element_ty),
        mask=seen_tiles(o_r, o_c, NH),
    )
    X, _Xt = chunk_inverse(Kc, bt, D, C, GATED, IPREC, PREC, ACC)
    at = (tl.cast(index, tl.int64) * H + h) * C
    tl.store(
        inverses + (at + o_c[:, None]) * C + o_c[None, :],
        X.to(inverses.dtype.element_ty),
        mask=lower_tiles(o_c),
    )


@triton.jit
def gate_products(
    a,
    products,
    cu,
    chunk_start,
    chunk_sequence,
    T,
    H,
    NH: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
    ACC: tl.constexpr,
    PACKED: tl.constexpr,
):
    """products `[chunks,H,3,C]`: of the gates from the chunk's start to each row, from each row to its end, to each output."""
    TC: tl.constexpr = C // NH
    index = tl.program_id(0)
    h = tl.program_id(1)
    start, left = chunk_place(cu, chunk_start, chunk_sequence, index, T, TC, PACKED)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    gate, after, token_gate = chunk_gates(a + start * H + h, o_c, o_r, tl.minimum(left, TC), H, NH, ACC)
    at = products + (tl.cast(index, tl.int64) * H + h) * 3 * C
    c, d, c_r = products_of(gate, after, token_gate)
    tl.store(at + o_c, c)
    tl.store(at + C + o_c, d)
    tl.store(at + 2 * C + o_r, c_r)


@triton.jit
def write_outputs(
    Sd,
    Ud,
    p_q,
    p_g,
    p_o,
    c_r,
    o_r,
    o_c,
    left,
    scale,
    NH: tl.constexpr,
    TC: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
):
    """Outputs of a chunk's tokens from the state at its start and U, both transposed and in the tensors' dtype; c_r `[R]`."""
    R: tl.constexpr = o_r.shape[0]
    read = (o_r < TC) & (o_r < left)
    Qc = load_rows(p_q, read, EVEN and R == TC)
    att = tl.load(p_g, mask=seen_tiles(o_r, o_c, NH), other=0.0)
    out = product(Sd, tl.trans(Qc), tl.zeros([Sd.shape[0], R], dtype=ACC), PREC)
    if GATED:
        out *= c_r[None, :]
    out = product(Ud, tl.trans(att), out, PREC) * scale
    store_rows(p_o, tl.trans(out), read, EVEN and R == TC)


@triton.jit
def advance(
    q,
    k,
    v,
    beta,
    products,
    inverses,
    scores,
    o,
    initial,
    final,
    errors,
    states,
    cu,
    chunk_start,
    scale,
    T,
    H,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
    BV: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
    INITIAL: tl.constexpr,
    FINAL: tl.constexpr,
    SAVE: tl.constexpr,
    SUMMARY: tl.constexpr,
    PACKED: tl.constexpr,
):
    """Outputs o, final states; SAVE keeps errors e (laid out as v) and Sᵀ at each chunk's start `[chunks,H,V,K]`.

    SUMMARY: no outputs; final `[N,H,K,V+K]` is what a zero state becomes, then what the identity becomes without values.
    """
    WIDTH: tl.constexpr = V + K if SUMMARY else V
    NV: tl.constexpr = WIDTH // BV
    TC: tl.constexpr = C // NH
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    start, length, chunk = sequence(cu, chunk_start, n, T, TC, PACKED)
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    DT = k.dtype.element_ty
    p_k = k + (start * NH * H + h) * K + o_c[:, None] * H * K + o_k[None, :]
    p_v = v + (start * NH * H + h) * V + o_c[None, :] * H * V + o_v[:, None]
    p_b = beta + start * NH * H + h + o_c * H
    p_p = products + (chunk * H + h) * 3 * C
    p_x = inverses + (chunk * H + h) * C * C + o_c[:, None] * C + o_c[None, :]
    at_state = (tl.cast(n, tl.int64) * H + h) * K * WIDTH + o_k[None, :] * WIDTH + o_v[:, None]
    S = tl.zeros([BV, K], dtype=ACC)
    if SUMMARY:
        S += tl.where(o_v[:, None] == o_k[None, :] + V, 1.0, 0.0)
    else:
        p_q = q + (start * H + h) * K + o_r[:, None] * H * K + o_k[None, :]
        p_o = o + (start * H + h) * V + o_r[:, None] * H * V + o_v[None, :]
        p_e = errors + (start * NH * H + h) * V + o_c[:, None] * H * V + o_v[None, :]
        p_g = scores + (chunk * H + h) * R * C + o_r[:, None] * C + o_c[None, :]
        p_s = states + (chunk * H + h) * V * K + o_v[:, None] * K + o_k[None, :]
    if INITIAL:
        S += tl.load(initial + at_state).to(ACC)
    # values and beta are no operands of products, so the compiler does not load them ahead; products of gates need not be
    following = (o_c < TC * NH) & (o_c < length * NH)
    has_values = (o_v < V)[:, None]
    Vn = tl.load(p_v, mask=following[None, :] & has_values, other=0.0)
    bn = tl.load(p_b, mask=following, other=0.0)
    c_r = tl.full([R], 1.0, dtype=ACC)
    for i in range(tl.cdiv(length, TC)):
        left = length - i * TC
        used = (o_c < TC * NH) & (o_c < left * NH)
        Kc = load_rows(p_k, used, EVEN)
        Vt = Vn.to(ACC)
        bt = bn.to(ACC)
        p_v += TC * NH * H * V
        p_b += TC * NH * H
        following = (o_c < TC * NH) & (o_c < (left - TC) * NH)
        Vn = tl.load(p_v, mask=following[None, :] & has_values, other=0.0)
        bn = tl.load(p_b, mask=following, other=0.0)
        X = tl.load(p_x, mask=lower_tiles(o_c), other=0.0)
        Sd = S.to(DT)
        KS = product(Sd, tl.trans(Kc), tl.zeros([BV, C], dtype=ACC), PREC)
        if GATED:
            c, d, c_r, c_last = load_products(p_p, o_c, o_r, True)
            p_p += H * 3 * C
            KS *= c[None, :]
        e = product((Vt - KS).to(DT), tl.trans(X), tl.zeros([BV, C], dtype=ACC), PREC)
        U = e * bt[None, :]
        Ud = U.to(DT)
        if SAVE:
            tl.store(p_s, Sd)
            store_rows(p_e, tl.trans(e.to(DT)), used, EVEN)
        if not SUMMARY and R < C:
            write_outputs(Sd, Ud, p_q, p_g, p_o, c_r, o_r, o_c, left, scale, NH, TC, PREC, ACC, EVEN, GATED)
        if GATED:
            S = product((U * d[None, :]).to(DT), Kc, S * c_last, PREC)
        else:
            S = product(Ud, Kc, S, PREC)
        if not SUMMARY:
            # with as many tokens as rows the chain comes first: the outputs are much work that it need not wait for
            if R == C:
                write_outputs(
                    Sd, Ud, p_q, p_g, p_o, c_r, o_r, o_c, left, scale, NH, TC, PREC, ACC, EVEN, GATED
                )
            p_q += TC * H * K
            p_o += TC * H * V
            p_e += TC * NH * H * V
            p_g += H * R * C
            p_s += H * V * K
        p_k += TC * NH * H * K
        p_x += H * C * C
    if FINAL:
        tl.store(final + at_state, S)


# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


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
