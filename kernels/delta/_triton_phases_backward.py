"""The backward pass of the phases in `_triton_phases`: the chain in reverse, then everything that a chunk needs alone.

    retreat         a program a block of value columns: dS1 -> dS0 through all chunks; dV, and keeps the dS1
    gradients       a program a chunk: dQ, dK and dbeta from the chunk's e, dV, S0 and dS1
    gate_gradients  a program a chunk, with gates only: a kernel of its own, for it needs as many registers as all the rest

The formulas and letters are those of `_triton_chunk`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from .._launching import Launcher, launcher
from ._plan import count_blocks, gate_gradients_tile, gradient_blocks
from ._problem import Chunks, Form, Gradients, Problem
from ._triton_blocks import (
    ProductWeights,
    add_product,
    decay_chunk,
    differentiate_gates,
    load_gate_products,
    load_gates,
    load_gates_before,
    load_rows,
    locate_chunk,
    locate_first_chunk,
    locate_program,
    locate_sequence,
    mask_lower_tiles,
    mask_rows,
    mask_seen,
    mask_seen_tiles,
    mask_tokens,
    multiply,
    multiply_gates,
    place_state,
    shape_chunks,
    store_rows,
)
from ._triton_phases import Prepared, place_phases

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class Retreated(NamedTuple):
    """What `retreat` fills; None where not asked for, v and states together."""

    initial: Tensor | None
    """Gradients of the initial states `[N,H,K,V]`."""
    v: Tensor | None
    """Gradients of the values."""
    states: Tensor | None
    """dSᵀ at each chunk's end `[chunks,H,V,K]`."""


class Kept(NamedTuple):
    """What both passes kept of the chunks, for `gradients` and `gate_gradients`."""

    errors: Tensor
    """e, laid out as v."""
    states: Tensor
    """S0ᵀ, at each chunk's start `[chunks,H,V,K]`."""
    dv: Tensor
    """Gradients of the values."""
    dstates: Tensor
    """dS1ᵀ, at each chunk's end `[chunks,H,V,K]`."""


@triton.jit
def retreat(x, prepared, do, dfinal, out, at, scale, F: tl.constexpr, BV: tl.constexpr):
    """`Retreated` out from `Inputs` x and what the first phases prepared."""
    SAVE: tl.constexpr = out.v is not None
    n, h, block = locate_program(at.H, F.V // BV)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    chunk = locate_first_chunk(at, n, F.TC, F.PACKED)
    NT = tl.cdiv(length, F.TC)
    o_k = tl.arange(0, F.K)
    o_v = block * BV + tl.arange(0, BV)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    DT = x.k.dtype.element_ty
    # first token of the last chunk, from which all pointers go back chunk by chunk
    token = start + (NT - 1) * F.TC
    p_q = x.q + (token * H + h) * F.K + o_r[:, None] * H * F.K + o_k[None, :]
    # dO transposed `[BV,R]`, so that dUᵀ = dOᵀ att
    p_do = do + (token * H + h) * F.V + o_r[None, :] * H * F.V + o_v[:, None]
    p_k = x.k + (token * F.NH * H + h) * F.K + o_c[:, None] * H * F.K + o_k[None, :]
    p_b = x.beta + token * F.NH * H + h + o_c * H
    if F.GATED:
        p_p = prepared.products + ((chunk + NT - 1) * H + h) * 3 * F.C
    p_x = prepared.inverses + ((chunk + NT - 1) * H + h) * F.C * F.C + o_c[:, None] * F.C + o_c[None, :]
    p_g = prepared.scores + ((chunk + NT - 1) * H + h) * F.R * F.C + o_r[:, None] * F.C + o_c[None, :]
    if SAVE:
        p_r = out.v + (token * F.NH * H + h) * F.V + o_c[:, None] * H * F.V + o_v[None, :]
        p_s = out.states + ((chunk + NT - 1) * H + h) * F.V * F.K + o_v[:, None] * F.K + o_k[None, :]
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], F.K, F.V)
    dS = tl.zeros([BV, F.K], dtype=F.ACC)
    if dfinal is not None:
        dS += tl.load(dfinal + at_state).to(F.ACC)
    # beta and products of gates are no operands of products, so the compiler does not load them ahead
    # tokens of the last chunk, which alone may not be full
    last = length - tl.maximum(NT - 1, 0) * F.TC
    bn = tl.load(p_b, mask=mask_rows(o_c, last, F), other=0.0)
    if F.GATED:
        products_n = load_gate_products(p_p, o_c, o_r, NT > 0)
    for i in range(NT):
        left = length - (NT - 1 - i) * F.TC
        used = mask_rows(o_c, left, F)
        read = mask_tokens(o_r, left, F)
        Kc = load_rows(p_k, used, F.EVEN)
        Qc = load_rows(p_q, read, F.EVEN_READ)
        if F.EVEN_READ:
            dOt = tl.load(p_do)
        else:
            dOt = tl.load(p_do, mask=read[None, :], other=0.0)
        bt = bn.to(F.ACC)
        p_b -= F.TC * F.NH * H
        # rows of the chunk before, which is full; none before the first
        earlier = tl.where(i + 1 < NT, F.TC, 0)
        bn = tl.load(p_b, mask=o_c < earlier * F.NH, other=0.0)
        X = tl.load(p_x, mask=mask_lower_tiles(o_c), other=0.0)
        att = tl.load(p_g, mask=mask_seen_tiles(o_r, o_c, F.NH), other=0.0)
        Sd = dS.to(DT)
        if SAVE:
            tl.store(p_s, Sd)
        # dU = scale attᵀ dO + d K dS1
        # dUᵀ = scale dOᵀ att
        dUt = multiply(dOt, att, F) * scale
        # scaled in float32, before Q is rounded to an operand again
        Qs = Qc.to(F.ACC) * scale
        if F.GATED:
            c, d, c_r, c_last = products_n
            p_p -= H * 3 * F.C
            products_n = load_gate_products(p_p, o_c, o_r, i + 1 < NT)
            Qs *= c_r[:, None]
            # + (d K dS1)ᵀ
            dUt += multiply(Sd, tl.trans(Kc), F) * d[None, :]
            dS *= c_last
        else:
            dUt = add_product(Sd, tl.trans(Kc), dUt, F.PREC)
        # dV = Xᵀ B dU
        # dVᵀ = (B dU)ᵀ X
        dVt = multiply((dUt * bt[None, :]).to(DT), X, F)
        if SAVE:
            store_rows(p_r, tl.trans(dVt), used, F.EVEN)
        if F.GATED:
            # the gradient dV is kept without c, which belongs to c K S0
            dVt *= c[None, :]
        # dS0 = c_last dS1 + scale (c Q)ᵀ dO - (c K)ᵀ dV
        # dS0ᵀ = c_last dS1ᵀ + dOᵀ (scale c Q) - (c dV)ᵀ K
        dS = add_product(dOt, Qs.to(DT), dS, F.PREC)
        dS = add_product((-dVt).to(DT), Kc, dS, F.PREC)
        p_q -= F.TC * H * F.K
        p_do -= F.TC * H * F.V
        p_k -= F.TC * F.NH * H * F.K
        p_x -= H * F.C * F.C
        p_g -= H * F.R * F.C
        if SAVE:
            p_r -= F.TC * F.NH * H * F.V
            p_s -= H * F.V * F.K
    if out.initial is not None:
        tl.store(out.initial + at_state, dS.to(out.initial.dtype.element_ty))


@triton.jit
def load_value_rows(kept, do, micro, row, o_v, used, read, F: tl.constexpr):
    """Blocks of value columns of e, dV and dO."""
    at_v = micro[:, None] * F.V + o_v[None, :]
    e = load_rows(kept.errors + at_v, used, F.EVEN)
    dV = load_rows(kept.dv + at_v, used, F.EVEN)
    dO = load_rows(do + row[:, None] * F.V + o_v[None, :], read, F.EVEN_READ)
    return e, dV, dO


@triton.jit
def gradients(x, do, kept, d_, weights, at, scale, F: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """q, k and beta of `Gradients` d_ of a chunk, by blocks of BK keys and BV values.

    With gates also weights `[chunks,H,4,C]` for `gate_gradients`: of the products of gates from the chunk's start at rows
    and at outputs, of those up to its end, and (first entry of the last row) of the whole product.
    """
    index = tl.program_id(0)
    h = tl.program_id(1)
    H = at.H
    start, left = locate_chunk(at, index, F.TC, F.PACKED)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    b_k = tl.arange(0, BK)
    b_v = tl.arange(0, BV)
    DT = x.k.dtype.element_ty
    used = mask_rows(o_c, left, F)
    read = mask_tokens(o_r, left, F)
    # offsets of the tokens `[R]` and micro-steps `[C]`, in entries of a tensor that has one for each head
    row = start * H + h + o_r * H
    micro = start * F.NH * H + h + o_c * H
    # S0ᵀ and dS1ᵀ are `[chunks,H,V,K]`
    at_state = (tl.cast(index, tl.int64) * H + h) * F.V * F.K
    bt = tl.load(x.beta + micro, mask=used, other=0.0).to(F.ACC)
    # M = tril(dV eᵀ, -1) and E = scale dO eᵀ on seen rows, with their transposes, over all value columns
    # the first block of values; where it is the only one, e, dV and dO are not loaded again
    e, dV, dO = load_value_rows(kept, do, micro, row, b_v, used, read, F)
    M = multiply(dV, tl.trans(e), F)
    Mt = multiply(e, tl.trans(dV), F)
    E = multiply(dO, tl.trans(e), F)
    Et = multiply(e, tl.trans(dO), F)
    for i_v in range(1, F.V // BV):
        o_v = i_v * BV + b_v
        e, dV, dO = load_value_rows(kept, do, micro, row, o_v, used, read, F)
        M = add_product(dV, tl.trans(e), M, F.PREC)
        Mt = add_product(e, tl.trans(dV), Mt, F.PREC)
        E = add_product(dO, tl.trans(e), E, F.PREC)
        Et = add_product(e, tl.trans(dO), Et, F.PREC)
    # strictly below the diagonal, and -Mᵀ strictly above it
    M = tl.where(o_c[:, None] > o_c[None, :], M, 0.0)
    Mt = tl.where(o_c[:, None] < o_c[None, :], -Mt, 0.0)
    E = tl.where(mask_seen(o_r[:, None], o_c[None, :], F.NH), E, 0.0) * scale
    Et = tl.where(mask_seen(o_r[None, :], o_c[:, None], F.NH), Et, 0.0) * scale
    if F.GATED:
        tokens = tl.minimum(left, F.TC)
        gate, after, token_gate = load_gates(x.a + start * H + h, o_c, o_r, tokens, H, F)
        c, d, c_r = multiply_gates(gate, after, token_gate)
        D, D_r = decay_chunk(gate, token_gate, o_r, o_c, F.NH)
        M *= D
        Mt *= tl.trans(D)
        E *= D_r
        Et *= tl.trans(D_r)
        # gradients in c at rows, in d, in c at outputs, and in the product of all gates
        w_start = tl.zeros([F.C], dtype=F.ACC)
        w_end = tl.zeros([F.C], dtype=F.ACC)
        w_read = tl.zeros([F.R], dtype=F.ACC)
        w_whole = tl.zeros([BV], dtype=F.ACC)
    # operands from here on, rounded once: -M B, -Mᵀ, E B, Eᵀ
    MB = (M * -bt[None, :]).to(DT)
    Mt = Mt.to(DT)
    EB = (E * bt[None, :]).to(DT)
    Et = Et.to(DT)
    db = tl.zeros([F.C], dtype=F.ACC)
    for i_k in range(F.K // BK):
        o_k = i_k * BK + b_k
        Kc = load_rows(x.k + micro[:, None] * F.K + o_k[None, :], used, F.EVEN)
        Qc = load_rows(x.q + row[:, None] * F.K + o_k[None, :], read, F.EVEN_READ)
        dQ = tl.zeros([F.R, BK], dtype=F.ACC)
        dK = tl.zeros([F.C, BK], dtype=F.ACC)
        back = tl.zeros([F.C, BK], dtype=F.ACC)
        # dO S0ᵀ, dV S0ᵀ, e dS1ᵀ, over all value columns
        for i_v in range(F.V // BV):
            o_v = i_v * BV + b_v
            at_s = at_state + o_v[:, None] * F.K + o_k[None, :]
            # S0ᵀ and dS1ᵀ `[BV,BK]`
            St = tl.load(kept.states + at_s)
            dSt = tl.load(kept.dstates + at_s)
            if F.V > BV:
                e, dV, dO = load_value_rows(kept, do, micro, row, o_v, used, read, F)
            dQ = add_product(dO, St, dQ, F.PREC)
            dK = add_product(dV, St, dK, F.PREC)
            back = add_product(e, dSt, back, F.PREC)
            if F.GATED:
                w_whole += tl.sum(St.to(F.ACC) * dSt.to(F.ACC), 1)  # ⟨S0, dS1⟩ of each value column
        Kf = Kc.to(F.ACC)
        dQ *= scale
        if F.GATED:
            # gradients in the products c before K S0 and Q S0, and d before K dS1, before those go into the sums
            # c before K S0: -rowsum(K ∘ dV S0ᵀ)
            w_start -= tl.sum(Kf * dK, 1)
            # d before K dS1: B rowsum(K ∘ e dS1ᵀ)
            w_end += tl.sum(Kf * back, 1) * bt
            # c before Q S0: rowsum(Q ∘ scale dO S0ᵀ)
            w_read += tl.sum(Qc.to(F.ACC) * dQ, 1)
            dQ *= c_r[:, None]
            dK *= c[:, None]
            back *= d[:, None]
        # h = Eᵀ Q - Mᵀ K + d e dS1ᵀ, dQ = E B K + scale c dO S0ᵀ
        back = add_product(Et, Qc, back, F.PREC)  # + Eᵀ Q
        back = add_product(Mt, Kc, back, F.PREC)  # - Mᵀ K: the sign is in Mt
        dQ = add_product(EB, Kc, dQ, F.PREC)  # + E B K
        store_rows(d_.q + row[:, None] * F.K + o_k[None, :], dQ, read, F.EVEN_READ)
        # dbeta = rowsum(K ∘ h), dK = B h - M B K - c dV S0ᵀ
        db += tl.sum(Kf * back, 1)
        dK = add_product(MB, Kc, back * bt[:, None] - dK, F.PREC)  # `dK` held c dV S0ᵀ
        store_rows(d_.k + micro[:, None] * F.K + o_k[None, :], dK, used, F.EVEN)
    tl.store(d_.beta + micro, db.to(d_.beta.dtype.element_ty), mask=used)
    if F.GATED:
        # `[chunks,H,4,C]`: of its second row R entries are used, of its fourth the first
        p_w = weights + (tl.cast(index, tl.int64) * H + h) * 4 * F.C
        tl.store(p_w + o_c, w_start)
        tl.store(p_w + F.C + o_r, w_read)
        tl.store(p_w + 2 * F.C + o_c, w_end)
        tl.store(p_w + 3 * F.C, tl.sum(w_whole, 0))


@triton.jit
def gate_gradients(x, do, kept, da, weights, at, scale, F: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """da of a chunk, from the errors, dv and the weights of `gradients`; by blocks of BK keys and BV values."""
    index = tl.program_id(0)
    h = tl.program_id(1)
    H = at.H
    start, left = locate_chunk(at, index, F.TC, F.PACKED)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    used = mask_rows(o_c, left, F)
    read = mask_tokens(o_r, left, F)
    row = start * H + h + o_r * H
    micro = start * F.NH * H + h + o_c * H
    # dV eᵀ and dO eᵀ, over all value columns
    W = tl.zeros([F.C, F.C], dtype=F.ACC)
    W_read = tl.zeros([F.R, F.C], dtype=F.ACC)
    for i_v in range(F.V // BV):
        o_v = i_v * BV + tl.arange(0, BV)
        e, dV, dO = load_value_rows(kept, do, micro, row, o_v, used, read, F)
        W = add_product(dV, tl.trans(e), W, F.PREC)
        W_read = add_product(dO, tl.trans(e), W_read, F.PREC)
    # K Kᵀ and Q Kᵀ, over all keys
    G = tl.zeros([F.C, F.C], dtype=F.ACC)
    QK = tl.zeros([F.R, F.C], dtype=F.ACC)
    for i_k in range(F.K // BK):
        o_k = i_k * BK + tl.arange(0, BK)
        Kc = load_rows(x.k + micro[:, None] * F.K + o_k[None, :], used, F.EVEN)
        Qc = load_rows(x.q + row[:, None] * F.K + o_k[None, :], read, F.EVEN_READ)
        G = add_product(Kc, tl.trans(Kc), G, F.PREC)
        QK = add_product(Qc, tl.trans(Kc), QK, F.PREC)
    bt = tl.load(x.beta + micro, mask=used, other=0.0).to(F.ACC)
    # gradients in D: -(M ∘ K Kᵀ) B in the inverse, (E ∘ Q Kᵀ) B in the scores
    W = tl.where(o_c[:, None] > o_c[None, :], -W * G * bt[None, :], 0.0)
    seen = mask_seen(o_r[:, None], o_c[None, :], F.NH)
    W_read = tl.where(seen, W_read * QK * bt[None, :], 0.0) * scale
    tokens = tl.minimum(left, F.TC)
    p_a = x.a + start * H + h
    p_w = weights + (tl.cast(index, tl.int64) * H + h) * 4 * F.C
    gate, after, token_gate = load_gates(p_a, o_c, o_r, tokens, H, F)
    D, D_r = decay_chunk(gate, token_gate, o_r, o_c, F.NH)
    w_start, w_read = tl.load(p_w + o_c), tl.load(p_w + F.C + o_r)
    w_end, w_whole = tl.load(p_w + 2 * F.C + o_c), tl.load(p_w + 3 * F.C)
    # d_j, the product of the gates after row j
    d = tl.cumprod(after, 0, reverse=True)
    # the gate before row t - 1
    previous = load_gates_before(p_a, o_c - 1, tokens, H, F.NH, F.ACC)
    gate_rows = differentiate_gates(
        ProductWeights(W, W_read, w_start, w_read, w_end, w_whole), D, D_r, d, previous, o_c, F
    )
    # only the gate before a token's first micro-step is an input
    tl.store(da + start * H + h + (o_c // F.NH) * H, gate_rows, mask=used & (o_c % F.NH == 0))


@lru_cache(maxsize=1024)
def _retreat(form: Form) -> tuple[Launcher, int]:
    """The launcher, and its programs for each sequence and head."""
    tile = form.plan.backward
    launch = launcher(retreat, tile, F=shape_chunks(form), BV=tile.width)
    return launch, count_blocks(form.V, tile.width)


def retreat_chunks(
    problem: Problem,
    chunks: Chunks,
    prepared: Prepared,
    do: Tensor,
    dfinal: Tensor | None,
    *,
    dinitial: Tensor | None,
    dv: Tensor | None,
) -> Tensor | None:
    """Fills dinitial and dv; with dv also the gradients of the states at the chunks' ends."""
    x, form = problem, problem.form
    dstates = None if dv is None else x.new(chunks.count, form.heads, form.V, form.K)
    launch, blocks = _retreat(form)
    grid = (form.sequences * form.heads * blocks,)
    launch(grid, x.inputs, prepared, do, dfinal, Retreated(dinitial, dv, dstates), chunks.places, x.scale)
    return dstates


@lru_cache(maxsize=1024)
def _gradients(form: Form) -> tuple[Launcher, Launcher]:
    """The launchers for q, k and beta, and for the gates."""
    F, plan = shape_chunks(form), form.plan
    BK, BV = gradient_blocks(plan, form.K, form.V)
    first = launcher(gradients, plan.gradients, F=F, BK=BK, BV=BV)
    tile, BK = gate_gradients_tile(plan, form.K)
    return first, launcher(gate_gradients, tile, F=F, BK=BK, BV=BV)


def fill_gradients(problem: Problem, chunks: Chunks, do: Tensor, kept: Kept, out: Gradients) -> None:
    """Fills the gradients of q, k, beta and the gates; that of v is filled already."""
    x, form = problem, problem.form
    grid = chunks.count, form.heads
    weights = x.new(*grid, 4, form.plan.rows, dtype=form.state_dtype) if form.gated else None
    first, second = _gradients(form)
    first(grid, x.inputs, do, kept, out, weights, chunks.places, x.scale)
    if form.gated:
        second(grid, x.inputs, do, kept, out.a, weights, chunks.places, x.scale)


def differentiate_phases(
    problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]
) -> Gradients:
    """All gradients from what `run_phases` saved."""
    inverses, scores, errors, states = saved
    out = Gradients.of(problem)
    chunks = place_phases(problem)
    prepared = Prepared(inverses, scores, chunks.gate_products)
    dstates = retreat_chunks(problem, chunks, prepared, do, dfinal, dinitial=out.initial, dv=out.v)
    assert dstates is not None
    fill_gradients(problem, chunks, do, Kept(errors, states, out.v, dstates), out)
    return out
