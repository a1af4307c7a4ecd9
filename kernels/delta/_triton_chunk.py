"""DeltaProduct by chunks in one kernel, forward and backward: nothing but inputs and outputs passes through memory.

For many short sequences with small heads, where there is a program for each sequence and head.  The state is held
transposed, `[V, K]`, so that along the serial chain state -> P -> U -> state each product's left operand is the
accumulator of the one before.  With rows K, V, Q of a chunk, B = diag(beta), gate products D, c, d (see `torch_chunk`):

    X = (I + tril(K Kᵀ ∘ D, -1) B)⁻¹,  e = X (V - c K S0)  the errors,  U = B e,  att = Q Kᵀ ∘ D on seen rows
    O = scale (c Q S0 + att U),         S1 = c_last S0 + (d K)ᵀ U

Backward, from S0 (kept by the forward pass, one a chunk), dS1 and dO:

    dU = scale attᵀ dO + d K dS1,  dV = Xᵀ B dU,  dS0 = c_last dS1 + scale (c Q)ᵀ dO - (c K)ᵀ dV
    M = tril(dV eᵀ, -1) ∘ D,       E = scale dO eᵀ ∘ D on seen rows
    h = Eᵀ Q - Mᵀ K + d e dS1ᵀ,    dbeta = rowsum(K ∘ h),  dK = B h - M B K - c dV S0ᵀ,  dQ = E B K + scale c dO S0ᵀ

Launches of the fused chunk kernels, and the constants of all chunk kernels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import triton
import triton.language as tl
from torch import Tensor

from .._launching import Launcher, launcher, pointers
from ._plan import count_blocks, token_rows
from ._problem import Form, Gradients, Problem, place_chunks
from ._triton_blocks import (
    chunk_decay,
    chunk_gates,
    chunk_inverse,
    gate_gradient,
    load_rows,
    product,
    products_of,
    row_gates,
    sequence,
    store_rows,
)

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def chunk_forward(
    q,
    k,
    v,
    beta,
    a,
    o,
    initial,
    final,
    saved,
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
    IPREC: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
    INITIAL: tl.constexpr,
    FINAL: tl.constexpr,
    SAVE: tl.constexpr,
    PACKED: tl.constexpr,
):
    """Outputs o and final state; SAVE keeps Sᵀ at each chunk's start, `[chunks,H,V,K]`.

    A program for each (sequence, head, block of BV value columns).  EVEN: every chunk is full.
    """
    NV: tl.constexpr = V // BV
    TC: tl.constexpr = C // NH
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    start, length, chunk = sequence(cu, chunk_start, n, T, TC, PACKED)
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    DT = q.dtype.element_ty
    p_q = q + (start * H + h) * K + o_r[:, None] * H * K + o_k[None, :]
    p_o = o + (start * H + h) * V + o_r[:, None] * H * V + o_v[None, :]
    p_k = k + (start * NH * H + h) * K + o_c[:, None] * H * K + o_k[None, :]
    p_v = v + (start * NH * H + h) * V + o_c[None, :] * H * V + o_v[:, None]
    p_b = beta + start * NH * H + h + o_c * H
    p_a = a + start * H + h
    p_s = saved + (chunk * H + h) * V * K + o_v[:, None] * K + o_k[None, :]
    seen = o_c[None, :] < (o_r[:, None] + 1) * NH
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[None, :] * V + o_v[:, None]
    S = tl.zeros([BV, K], dtype=ACC)
    if INITIAL:
        S += tl.load(initial + at_state).to(ACC)
    # what is no operand of a product is loaded a chunk ahead here: the compiler does not do so
    bn = tl.load(p_b, mask=(o_c < TC * NH) & (o_c < length * NH), other=0.0)
    if GATED:
        gate_n, after_n, token_gate_n = chunk_gates(p_a, o_c, o_r, tl.minimum(length, TC), H, NH, ACC)
    for i in range(tl.cdiv(length, TC)):
        left = length - i * TC
        used = (o_c < TC * NH) & (o_c < left * NH)
        read = (o_r < TC) & (o_r < left)
        Kc = load_rows(p_k, used, EVEN)
        if EVEN:
            Vt = tl.load(p_v).to(ACC)
        else:
            Vt = tl.load(p_v, mask=used[None, :], other=0.0).to(ACC)
        Qc = load_rows(p_q, read, EVEN and R == TC)
        bt = bn.to(ACC)
        p_b += TC * NH * H
        bn = tl.load(p_b, mask=(o_c < TC * NH) & (o_c < (left - TC) * NH), other=0.0)
        att = tl.where(seen, product(Qc, tl.trans(Kc), tl.zeros([R, C], dtype=ACC), PREC), 0.0)
        if GATED:
            c, d, c_r = products_of(gate_n, after_n, token_gate_n)
            c_last = tl.sum(tl.where(o_c == C - 1, c, 0.0), 0)
            D, D_read = chunk_decay(gate_n, token_gate_n, o_r, o_c, NH)
            att *= D_read
            p_a += TC * H
            gate_n, after_n, token_gate_n = chunk_gates(p_a, o_c, o_r, tl.minimum(left - TC, TC), H, NH, ACC)
        else:
            D = 0.0
        X, _Xt = chunk_inverse(Kc, bt, D, C, GATED, IPREC, PREC, ACC)
        # the serial chain
        Sd = S.to(DT)
        KS = product(Sd, tl.trans(Kc), tl.zeros([BV, C], dtype=ACC), PREC)
        QS = product(Sd, tl.trans(Qc), tl.zeros([BV, R], dtype=ACC), PREC)
        if GATED:
            KS *= c[None, :]
            QS *= c_r[None, :]
        U = product((Vt - KS).to(DT), tl.trans(X.to(DT)), tl.zeros([BV, C], dtype=ACC), PREC) * bt[None, :]
        Ud = U.to(DT)
        out = product(Ud, tl.trans(att.to(DT)), QS, PREC) * scale
        if SAVE:
            tl.store(p_s, Sd)
        if GATED:
            S = product((U * d[None, :]).to(DT), Kc, S * c_last, PREC)
        else:
            S = product(Ud, Kc, S, PREC)
        store_rows(p_o, tl.trans(out), read, EVEN and R == TC)
        p_k += TC * NH * H * K
        p_v += TC * NH * H * V
        p_q += TC * H * K
        p_o += TC * H * V
        p_s += H * V * K
    if FINAL:
        tl.store(final + at_state, S)


@triton.jit
def chunk_backward(
    q,
    k,
    v,
    beta,
    a,
    do,
    saved,
    dfinal,
    dq,
    dk,
    dv,
    dbeta,
    da,
    dinitial,
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
    IPREC: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
    EVEN: tl.constexpr,
    GATED: tl.constexpr,
    DFINAL: tl.constexpr,
    DINITIAL: tl.constexpr,
    PACKED: tl.constexpr,
):
    """All gradients, last chunk first, from the states that the forward pass saved.  A program for each (sequence, head); C = 16."""
    TC: tl.constexpr = C // NH
    pid = tl.program_id(0)
    n = pid // H
    h = pid % H
    start, length, chunk = sequence(cu, chunk_start, n, T, TC, PACKED)
    NT = tl.cdiv(length, TC)
    o_k = tl.arange(0, K)
    o_v = tl.arange(0, V)
    o_c = tl.arange(0, C)
    o_r = tl.arange(0, R)
    DT = q.dtype.element_ty
    row = ((start + (NT - 1) * TC) * H + h) + o_r[:, None] * H
    micro = ((start + (NT - 1) * TC) * NH * H + h) + o_c[:, None] * H
    at_q = row * K + o_k[None, :]
    at_o = row * V + o_v[None, :]
    at_k = micro * K + o_k[None, :]
    at_v = micro * V + o_v[None, :]
    at_b = (start + (NT - 1) * TC) * NH * H + h + o_c * H
    p_a = a + (start + (NT - 1) * TC) * H + h
    p_da = da + (start + (NT - 1) * TC) * H + h
    p_s = saved + ((chunk + NT - 1) * H + h) * V * K + o_v[:, None] * K + o_k[None, :]
    low = o_c[:, None] > o_c[None, :]
    up = o_c[:, None] < o_c[None, :]
    seen = o_c[None, :] < (o_r[:, None] + 1) * NH
    seen_t = o_c[:, None] < (o_r[None, :] + 1) * NH
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[None, :] * V + o_v[:, None]
    dS = tl.zeros([V, K], dtype=ACC)
    if DFINAL:
        dS += tl.load(dfinal + at_state).to(ACC)
    # values and beta are no operands of products, so the compiler does not load them ahead
    last = (o_c < TC * NH) & (o_c < (length - tl.maximum(NT - 1, 0) * TC) * NH)  # none of an empty sequence
    Vn = tl.load(v + at_v, mask=last[:, None], other=0.0)
    bn = tl.load(beta + at_b, mask=last, other=0.0)
    for i in range(NT):
        left = length - (NT - 1 - i) * TC
        used = (o_c < TC * NH) & (o_c < left * NH)
        read = (o_r < TC) & (o_r < left)
        Kc = load_rows(k + at_k, used, EVEN)
        Vc = Vn
        Qc = load_rows(q + at_q, read, EVEN and R == TC)
        dO = load_rows(do + at_o, read, EVEN and R == TC)
        bt = bn.to(ACC)
        earlier = (o_c < TC * NH) & (i + 1 < NT)
        Vn = tl.load(v + at_v - TC * NH * H * V, mask=earlier[:, None], other=0.0)
        bn = tl.load(beta + at_b - TC * NH * H, mask=earlier, other=0.0)
        St = tl.load(p_s)
        att_t = tl.where(seen_t, product(Kc, tl.trans(Qc), tl.zeros([C, R], dtype=ACC), PREC), 0.0) * scale
        if GATED:
            tokens = tl.minimum(left, TC)
            gate, after, token_gate = chunk_gates(p_a, o_c, o_r, tokens, H, NH, ACC)
            c, d, c_r = products_of(gate, after, token_gate)
            c_last = tl.sum(tl.where(o_c == C - 1, c, 0.0), 0)
            D, Dr = chunk_decay(gate, token_gate, o_r, o_c, NH)
            att_t *= tl.trans(Dr)
        else:
            D = 0.0
        X, Xt = chunk_inverse(Kc, bt, D, C, GATED, IPREC, PREC, ACC)
        KS = product(St, tl.trans(Kc), tl.zeros([V, C], dtype=ACC), PREC)
        if GATED:
            KS *= c[None, :]
        Pt = (tl.trans(Vc).to(ACC) - KS).to(DT)
        e = product(X.to(DT), tl.trans(Pt), tl.zeros([C, V], dtype=ACC), PREC).to(DT)
        # the serial chain: dS -> dU -> dV -> dS, transposed
        Sd = dS.to(DT)
        KdS = product(Sd, tl.trans(Kc), tl.zeros([V, C], dtype=ACC), PREC)
        if GATED:
            KdS *= d[None, :]
        dUt = product(tl.trans(dO), tl.trans(att_t.to(DT)), KdS, PREC)
        dBUt = (dUt * bt[None, :]).to(DT)
        dVt = product(dBUt, tl.trans(Xt.to(DT)), tl.zeros([V, C], dtype=ACC), PREC)
        Qs = Qc.to(ACC) * scale
        if GATED:
            whole = tl.sum(tl.sum(dS * St.to(ACC), 1), 0)
            dS = product((dVt * -c[None, :]).to(DT), Kc, dS * c_last, PREC)
            dS = product(tl.trans(dO), (Qs * c_r[:, None]).to(DT), dS, PREC)
        else:
            dS = product((-dVt).to(DT), Kc, dS, PREC)
            dS = product(tl.trans(dO), Qs.to(DT), dS, PREC)
        # off the chain
        dV = product(Xt.to(DT), tl.trans(dBUt), tl.zeros([C, V], dtype=ACC), PREC).to(DT)
        M = tl.where(low, product(dV, tl.trans(e), tl.zeros([C, C], dtype=ACC), PREC), 0.0)
        Mt = tl.where(up, product(e, tl.trans(dV), tl.zeros([C, C], dtype=ACC), PREC), 0.0)
        E = tl.where(seen, product(dO, tl.trans(e), tl.zeros([R, C], dtype=ACC), PREC), 0.0) * scale
        Et = tl.where(seen_t, product(e, tl.trans(dO), tl.zeros([C, R], dtype=ACC), PREC), 0.0) * scale
        dQ = product(dO, St, tl.zeros([R, K], dtype=ACC), PREC) * scale
        dK = product(dV, St, tl.zeros([C, K], dtype=ACC), PREC)
        back = product(e, Sd, tl.zeros([C, K], dtype=ACC), PREC)
        if GATED:
            gate_rows = gate_gradient(
                -M * product(Kc, tl.trans(Kc), tl.zeros([C, C], dtype=ACC), PREC) * bt[None, :],
                E * product(Qc, tl.trans(Kc), tl.zeros([R, C], dtype=ACC), PREC) * bt[None, :],
                -tl.sum(Kc.to(ACC) * dK, 1),
                tl.sum(Qc.to(ACC) * dQ, 1),
                tl.sum(Kc.to(ACC) * back, 1) * bt,
                whole,
                D,
                Dr,
                d,
                row_gates(p_a, o_c - 1, tokens, H, NH, ACC),
                o_c,
                PREC,
                ACC,
            )
            tl.store(p_da + (o_c // NH) * H, gate_rows, mask=used & (o_c % NH == 0))
            M *= D
            Mt *= tl.trans(D)
            E *= Dr
            Et *= tl.trans(Dr)
            dQ *= c_r[:, None]
            dK *= c[:, None]
            back *= d[:, None]
        back = product(Et.to(DT), Qc, back, PREC)
        back = product((-Mt).to(DT), Kc, back, PREC)
        dK = product((M * bt[None, :]).to(DT), Kc, dK, PREC)
        dQ = product((E * bt[None, :]).to(DT), Kc, dQ, PREC)
        db = tl.sum(Kc.to(ACC) * back, 1)
        dK = back * bt[:, None] - dK
        store_rows(dq + at_q, dQ, read, EVEN and R == TC)
        store_rows(dk + at_k, dK, used, EVEN)
        store_rows(dv + at_v, dV, used, EVEN)
        tl.store(dbeta + at_b, db.to(dbeta.dtype.element_ty), mask=used)
        at_q -= TC * H * K
        at_o -= TC * H * V
        at_k -= TC * NH * H * K
        at_v -= TC * NH * H * V
        at_b -= TC * NH * H
        p_a -= TC * H
        p_da -= TC * H
        p_s -= H * V * K
    if DINITIAL:
        tl.store(dinitial + at_state, dS.to(dinitial.dtype.element_ty))


def even_chunks(form: Form) -> bool:
    """Whether every chunk is full, so that rows need no masks."""
    rows, n_h = form.plan.rows, form.householders
    tokens = rows // n_h
    return not form.packed and tokens * n_h == rows and form.tokens % tokens == 0


def chunk_constants(form: Form) -> dict[str, Any]:
    """What all chunk kernels are compiled for."""
    return {
        "NH": form.householders,
        "K": form.K,
        "V": form.V,
        "C": form.plan.rows,
        "R": token_rows(form.plan.rows, form.householders),
        "PREC": form.plan.precision,
        "ACC": form.arithmetic,
        "EVEN": even_chunks(form),
        "GATED": form.gated,
        "PACKED": form.packed,
    }


@lru_cache(maxsize=1024)
def _forward(form: Form, final: bool, save: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head."""
    launch = launcher(
        chunk_forward,
        form.plan.forward,
        **chunk_constants(form),
        BV=form.plan.forward.width,
        IPREC=form.plan.inverse_precision,
        INITIAL=form.initial,
        FINAL=final,
        SAVE=save,
    )
    return launch, count_blocks(form.V, form.plan.forward.width)


def fused_forward(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, states at the chunks' starts (the last two if asked for)."""
    x, form = problem, problem.form
    N, H, K, V = form.sequences, form.heads, form.K, form.V
    chunks = place_chunks(x, form.plan.rows // form.householders)
    o = x.outputs()
    last = x.new(N, H, K, V, dtype=form.state_dtype) if final else None
    saved = x.new(chunks.count, H, V, K) if save else None
    launch, blocks = _forward(form, final, save)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.v, x.beta, x.gates, o, x.initial, *pointers(o, last, saved)),
        *(x.cu, chunks.start, x.scale, form.tokens, H),
    )
    return o, last, saved


@lru_cache(maxsize=1024)
def _backward(form: Form, dfinal: bool) -> Launcher:
    return launcher(
        chunk_backward,
        form.plan.backward,
        **chunk_constants(form),
        IPREC=form.plan.inverse_precision,
        DFINAL=dfinal,
        DINITIAL=form.initial,
    )


def fused_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: Tensor) -> Gradients:
    """All gradients from the states that `fused_forward` saved."""
    x, form, out = problem, problem.form, Gradients.of(problem)
    chunks = place_chunks(x, form.plan.rows // form.householders)
    _backward(form, dfinal is not None)(
        (form.sequences * form.heads,),
        *(x.q, x.k, x.v, x.beta, x.gates, do, saved, dfinal, *pointers(do, *out)),
        *(x.cu, chunks.start, x.scale, form.tokens, form.heads),
    )
    return out
