"""The gates' backward phase of `triton_phases`: a kernel of its own, for it needs as many registers as all the rest."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"
from __future__ import annotations

import triton
import triton.language as tl

from .triton_blocks import chunk_decay, chunk_gates, load_rows, product, row_gates
from .triton_gates import gate_gradient
from .triton_phases import chunk_place


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
