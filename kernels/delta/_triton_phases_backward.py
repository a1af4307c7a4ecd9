"""The backward phases of `triton_phases`.

The gates' backward phase of `triton_phases`: a kernel of its own, for it needs as many registers as all the rest.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ._triton_blocks import (
    chunk_decay,
    chunk_gates,
    gate_gradient,
    load_products,
    load_rows,
    lower_tiles,
    product,
    products_of,
    row_gates,
    seen_tiles,
    sequence,
    store_rows,
)
from ._triton_phases import chunk_place

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def retreat(
    q,
    k,
    beta,
    products,
    inverses,
    scores,
    do,
    dfinal,
    dinitial,
    dv,
    dstates,
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
    DFINAL: tl.constexpr,
    DINITIAL: tl.constexpr,
    SAVE: tl.constexpr,
    PACKED: tl.constexpr,
):
    """dinitial; SAVE keeps dv and dSᵀ at each chunk's end `[chunks,H,V,K]`."""
    NV: tl.constexpr = V // BV
    TC: tl.constexpr = C // NH
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    start, length, chunk = sequence(cu, chunk_start, n, T, TC, PACKED)
    NT = tl.cdiv(length, TC)
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    DT = k.dtype.element_ty
    token = start + (NT - 1) * TC
    p_q = q + (token * H + h) * K + o_r[:, None] * H * K + o_k[None, :]
    p_do = do + (token * H + h) * V + o_r[None, :] * H * V + o_v[:, None]
    p_k = k + (token * NH * H + h) * K + o_c[:, None] * H * K + o_k[None, :]
    p_r = dv + (token * NH * H + h) * V + o_c[:, None] * H * V + o_v[None, :]
    p_b = beta + token * NH * H + h + o_c * H
    p_p = products + ((chunk + NT - 1) * H + h) * 3 * C
    p_x = inverses + ((chunk + NT - 1) * H + h) * C * C + o_c[:, None] * C + o_c[None, :]
    p_g = scores + ((chunk + NT - 1) * H + h) * R * C + o_r[:, None] * C + o_c[None, :]
    p_s = dstates + ((chunk + NT - 1) * H + h) * V * K + o_v[:, None] * K + o_k[None, :]
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[None, :] * V + o_v[:, None]
    dS = tl.zeros([BV, K], dtype=ACC)
    if DFINAL:
        dS += tl.load(dfinal + at_state).to(ACC)
    # beta and products of gates are no operands of products, so the compiler does not load them ahead
    last = length - tl.maximum(NT - 1, 0) * TC
    bn = tl.load(p_b, mask=(o_c < TC * NH) & (o_c < last * NH), other=0.0)
    if GATED:
        products_n = load_products(p_p, o_c, o_r, NT > 0)
    for i in range(NT):
        left = length - (NT - 1 - i) * TC
        used = (o_c < TC * NH) & (o_c < left * NH)
        read = (o_r < TC) & (o_r < left)
        Kc = load_rows(p_k, used, EVEN)
        Qc = load_rows(p_q, read, EVEN and R == TC)
        if EVEN and R == TC:
            dOt = tl.load(p_do)
        else:
            dOt = tl.load(p_do, mask=read[None, :], other=0.0)
        bt = bn.to(ACC)
        p_b -= TC * NH * H
        earlier = tl.where(i + 1 < NT, TC, 0)
        bn = tl.load(p_b, mask=o_c < earlier * NH, other=0.0)
        X = tl.load(p_x, mask=lower_tiles(o_c), other=0.0)
        att = tl.load(p_g, mask=seen_tiles(o_r, o_c, NH), other=0.0)
        Sd = dS.to(DT)
        if SAVE:
            tl.store(p_s, Sd)
        dUt = product(dOt, att, tl.zeros([BV, C], dtype=ACC), PREC) * scale
        Qs = Qc.to(ACC) * scale
        if GATED:
            c, d, c_r, c_last = products_n
            p_p -= H * 3 * C
            products_n = load_products(p_p, o_c, o_r, i + 1 < NT)
            Qs *= c_r[:, None]
            dUt += product(Sd, tl.trans(Kc), tl.zeros([BV, C], dtype=ACC), PREC) * d[None, :]
            dS *= c_last
        else:
            dUt = product(Sd, tl.trans(Kc), dUt, PREC)
        dVt = product((dUt * bt[None, :]).to(DT), X, tl.zeros([BV, C], dtype=ACC), PREC)
        if SAVE:
            store_rows(p_r, tl.trans(dVt), used, EVEN)
        if GATED:
            dVt *= c[None, :]
        dS = product(dOt, Qs.to(DT), dS, PREC)
        dS = product((-dVt).to(DT), Kc, dS, PREC)
        p_q -= TC * H * K
        p_do -= TC * H * V
        p_k -= TC * NH * H * K
        p_r -= TC * NH * H * V
        p_x -= H * C * C
        p_g -= H * R * C
        p_s -= H * V * K
    if DINITIAL:
        tl.store(dinitial + at_state, dS.to(dinitial.dtype.element_ty))


@triton.jit
def value_rows(
    errors, dv, do, micro, row, o_v, used, read, V: tl.constexpr, EVEN: tl.constexpr, EVEN_READ: tl.constexpr
):
    """Blocks of value columns of e, dV and dO."""
    at_v = micro[:, None] * V + o_v[None, :]
    e = load_rows(errors + at_v, used, EVEN)
    dV = load_rows(dv + at_v, used, EVEN)
    dO = load_rows(do + row[:, None] * V + o_v[None, :], read, EVEN_READ)
    return e, dV, dO


@triton.jit
def gradients(
    q,
    k,
    beta,
    a,
    do,
    errors,
    states,
    dv,
    dstates,
    dq,
    dk,
    dbeta,
    weights,
    cu,
    chunk_start,
    chunk_sequence,
    scale,
    T,
    H,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
    PACKED: tl.constexpr,
):
    """dq, dk, dbeta of a chunk, by blocks of BK keys and BV values.

    With gates also weights `[chunks,H,4,C]` for `gate_gradients`: of the products of gates from the chunk's start at rows
    and at outputs, of those up to its end, and (first entry of the last row) of the whole product.
    """
    TC: tl.constexpr = C // NH
    index = tl.program_id(0)
    h = tl.program_id(1)
    start, left = chunk_place(cu, chunk_start, chunk_sequence, index, T, TC, PACKED)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    b_k = tl.arange(0, BK)
    b_v = tl.arange(0, BV)
    DT = k.dtype.element_ty
    used = (o_c < TC * NH) & (o_c < left * NH)
    read = (o_r < TC) & (o_r < left)
    row = start * H + h + o_r * H
    micro = start * NH * H + h + o_c * H
    at_state = (tl.cast(index, tl.int64) * H + h) * V * K
    bt = tl.load(beta + micro, mask=used, other=0.0).to(ACC)
    e, dV, dO = value_rows(errors, dv, do, micro, row, b_v, used, read, V, EVEN, EVEN and R == TC)
    M = product(dV, tl.trans(e), tl.zeros([C, C], dtype=ACC), PREC)
    Mt = product(e, tl.trans(dV), tl.zeros([C, C], dtype=ACC), PREC)
    E = product(dO, tl.trans(e), tl.zeros([R, C], dtype=ACC), PREC)
    Et = product(e, tl.trans(dO), tl.zeros([C, R], dtype=ACC), PREC)
    for i_v in range(1, V // BV):
        o_v = i_v * BV + b_v
        e, dV, dO = value_rows(errors, dv, do, micro, row, o_v, used, read, V, EVEN, EVEN and R == TC)
        M = product(dV, tl.trans(e), M, PREC)
        Mt = product(e, tl.trans(dV), Mt, PREC)
        E = product(dO, tl.trans(e), E, PREC)
        Et = product(e, tl.trans(dO), Et, PREC)
    M = tl.where(o_c[:, None] > o_c[None, :], M, 0.0)
    Mt = tl.where(o_c[:, None] < o_c[None, :], -Mt, 0.0)
    E = tl.where(o_c[None, :] < (o_r[:, None] + 1) * NH, E, 0.0) * scale
    Et = tl.where(o_c[:, None] < (o_r[None, :] + 1) * NH, Et, 0.0) * scale
    if GATED:
        tokens = tl.minimum(left, TC)
        p_a = a + start * H + h
        gate, after, token_gate = chunk_gates(p_a, o_c, o_r, tokens, H, NH, ACC)
        c, d, c_r = products_of(gate, after, token_gate)
        D, Dr = chunk_decay(gate, token_gate, o_r, o_c, NH)
        M *= D
        Mt *= tl.trans(D)
        E *= Dr
        Et *= tl.trans(Dr)
        w_start = tl.zeros([C], dtype=ACC)
        w_end = tl.zeros([C], dtype=ACC)
        w_read = tl.zeros([R], dtype=ACC)
        w_whole = tl.zeros([BV], dtype=ACC)
    MB = (M * -bt[None, :]).to(DT)
    Mt = Mt.to(DT)
    EB = (E * bt[None, :]).to(DT)
    Et = Et.to(DT)
    db = tl.zeros([C], dtype=ACC)
    for i_k in range(K // BK):
        o_k = i_k * BK + b_k
        Kc = load_rows(k + micro[:, None] * K + o_k[None, :], used, EVEN)
        Qc = load_rows(q + row[:, None] * K + o_k[None, :], read, EVEN and R == TC)
        dQ = tl.zeros([R, BK], dtype=ACC)
        dK = tl.zeros([C, BK], dtype=ACC)
        back = tl.zeros([C, BK], dtype=ACC)
        for i_v in range(V // BV):
            o_v = i_v * BV + b_v
            at_s = at_state + o_v[:, None] * K + o_k[None, :]
            St = tl.load(states + at_s)
            dSt = tl.load(dstates + at_s)
            if V > BV:
                e, dV, dO = value_rows(errors, dv, do, micro, row, o_v, used, read, V, EVEN, EVEN and R == TC)
            dQ = product(dO, St, dQ, PREC)
            dK = product(dV, St, dK, PREC)
            back = product(e, dSt, back, PREC)
            if GATED:
                w_whole += tl.sum(St.to(ACC) * dSt.to(ACC), 1)
        Kf = Kc.to(ACC)
        dQ *= scale
        if GATED:
            w_start -= tl.sum(Kf * dK, 1)
            w_end += tl.sum(Kf * back, 1) * bt
            w_read += tl.sum(Qc.to(ACC) * dQ, 1)
            dQ *= c_r[:, None]
            dK *= c[:, None]
            back *= d[:, None]
        back = product(Et, Qc, back, PREC)
        back = product(Mt, Kc, back, PREC)
        dQ = product(EB, Kc, dQ, PREC)
        store_rows(dq + row[:, None] * K + o_k[None, :], dQ, read, EVEN and R == TC)
        db += tl.sum(Kf * back, 1)
        dK = product(MB, Kc, back * bt[:, None] - dK, PREC)
        store_rows(dk + micro[:, None] * K + o_k[None, :], dK, used, EVEN)
    tl.store(dbeta + micro, db.to(dbeta.dtype.element_ty), mask=used)
    if GATED:
        p_w = weights + (tl.cast(index, tl.int64) * H + h) * 4 * C
        tl.store(p_w + o_c, w_start)
        tl.store(p_w + C + o_r, w_read)
        tl.store(p_w + 2 * C + o_c, w_end)
        tl.store(p_w + 3 * C, tl.sum(w_whole, 0))


# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def gate_gradients(
    q,
    k,
    beta,
    a,
    do,
    errors,
    dv,
    weights,
    da,
    cu,
    chunk_start,
    chunk_sequence,
    scale,
    T,
    H,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    PACKED: tl.constexpr,
):
    """da of a chunk, from the errors, dv and the weights of `gradients`; by blocks of BK keys and BV values."""
    TC: tl.constexpr = C // NH
    index = tl.program_id(0)
    h = tl.program_id(1)
    start, left = chunk_place(cu, chunk_start, chunk_sequence, index, T, TC, PACKED)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    used = (o_c < TC * NH) & (o_c < left * NH)
    read = (o_r < TC) & (o_r < left)
    row = start * H + h + o_r * H
    micro = start * NH * H + h + o_c * H
    W = tl.zeros([C, C], dtype=ACC)
    W_read = tl.zeros([R, C], dtype=ACC)
    for i_v in range(V // BV):
        o_v = i_v * BV + tl.arange(0, BV)
        e = load_rows(errors + micro[:, None] * V + o_v[None, :], used, EVEN)
        dV = load_rows(dv + micro[:, None] * V + o_v[None, :], used, EVEN)
        dO = load_rows(do + row[:, None] * V + o_v[None, :], read, EVEN and R == TC)
        W = product(dV, tl.trans(e), W, PREC)
        W_read = product(dO, tl.trans(e), W_read, PREC)
    G = tl.zeros([C, C], dtype=ACC)
    QK = tl.zeros([R, C], dtype=ACC)
    for i_k in range(K // BK):
        o_k = i_k * BK + tl.arange(0, BK)
        Kc = load_rows(k + micro[:, None] * K + o_k[None, :], used, EVEN)
        Qc = load_rows(q + row[:, None] * K + o_k[None, :], read, EVEN and R == TC)
        G = product(Kc, tl.trans(Kc), G, PREC)
        QK = product(Qc, tl.trans(Kc), QK, PREC)
    bt = tl.load(beta + micro, mask=used, other=0.0).to(ACC)
    W = tl.where(o_c[:, None] > o_c[None, :], -W * G * bt[None, :], 0.0)
    W_read = tl.where(o_c[None, :] < (o_r[:, None] + 1) * NH, W_read * QK * bt[None, :], 0.0) * scale
    tokens = tl.minimum(left, TC)
    p_a = a + start * H + h
    p_w = weights + (tl.cast(index, tl.int64) * H + h) * 4 * C
    gate, after, token_gate = chunk_gates(p_a, o_c, o_r, tokens, H, NH, ACC)
    D, Dr = chunk_decay(gate, token_gate, o_r, o_c, NH)
    gate_rows = gate_gradient(
        W,
        W_read,
        tl.load(p_w + o_c),
        tl.load(p_w + C + o_r),
        tl.load(p_w + 2 * C + o_c),
        tl.load(p_w + 3 * C),
        D,
        Dr,
        tl.cumprod(after, 0, reverse=True),
        row_gates(p_a, o_c - 1, tokens, H, NH, ACC),
        o_c,
        PREC,
        ACC,
    )
    tl.store(da + start * H + h + (o_c // NH) * H, gate_rows, mask=used & (o_c % NH == 0))
