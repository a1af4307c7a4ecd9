"""DeltaProduct by chunks in one kernel, forward and backward: nothing but inputs and outputs passes through memory.

For many short sequences with small heads, where there is a program for each sequence and head.  The state is held
transposed, `[V, K]`, so that along the serial chain state -> P -> U -> state each product's left operand is the
accumulator of the one before.  With rows K, V, Q of a chunk, B = diag(beta), gate products D, c, d (see `_torch_chunk`):

    X = (I + tril(K Kᵀ ∘ D, -1) B)⁻¹,  e = X (V - c K S0)  the errors,  U = B e,  att = Q Kᵀ ∘ D on seen rows
    O = scale (c Q S0 + att U),         S1 = c_last S0 + (d K)ᵀ U

Backward, from S0 (kept by the forward pass, one a chunk), dS1 and dO:

    dU = scale attᵀ dO + d K dS1,  dV = Xᵀ B dU,  dS0 = c_last dS1 + scale (c Q)ᵀ dO - (c K)ᵀ dV
    M = tril(dV eᵀ, -1) ∘ D,       E = scale dO eᵀ ∘ D on seen rows
    h = Eᵀ Q - Mᵀ K + d e dS1ᵀ,    dbeta = rowsum(K ∘ h),  dK = B h - M B K - c dV S0ᵀ,  dQ = E B K + scale c dO S0ᵀ

In 16 bits, what is an operand of a product is rounded to the tensors' dtype right before it; sums, states, gates and beta stay
in float32.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from .._launching import Launcher, launcher
from ._plan import count_blocks
from ._problem import Form, Gradients, Problem, place_chunks
from ._triton_blocks import (
    ProductWeights,
    add_product,
    decay_chunk,
    differentiate_gates,
    invert_chunk,
    load_gates,
    load_gates_before,
    load_rows,
    locate_first_chunk,
    locate_program,
    locate_sequence,
    mask_rows,
    mask_seen,
    mask_tokens,
    multiply,
    multiply_gates,
    place_state,
    shape_chunks,
    store_rows,
)

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class FusedOutputs(NamedTuple):
    """What `chunk_forward` fills; None where not asked for."""

    o: Tensor
    """`[B,T,H,V]`."""
    final: Tensor | None
    """Last states `[N,H,K,V]`."""
    saved: Tensor | None
    """For the backward pass: Sᵀ at each chunk's start, `[chunks,H,V,K]`."""


@triton.jit
def chunk_forward(x, initial, out, at, scale, F: tl.constexpr, BV: tl.constexpr):
    """`FusedOutputs` out from `Inputs` x and initial states.  A program for each (sequence, head, block of BV value columns)."""
    n, h, block = locate_program(at.H, F.V // BV)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    chunk = locate_first_chunk(at, n, F.TC, F.PACKED)
    o_k = tl.arange(0, F.K)
    o_v = block * BV + tl.arange(0, BV)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    DT = x.q.dtype.element_ty
    # Q and O tiles `[R,·]`: the rows of one head's tokens lie H·K, or H·V, apart
    p_q = x.q + (start * H + h) * F.K + o_r[:, None] * H * F.K + o_k[None, :]
    p_o = out.o + (start * H + h) * F.V + o_r[:, None] * H * F.V + o_v[None, :]
    # K by rows `[C,K]`, V transposed `[BV,C]`, beta `[C]`
    p_k = x.k + (start * F.NH * H + h) * F.K + o_c[:, None] * H * F.K + o_k[None, :]
    p_v = x.v + (start * F.NH * H + h) * F.V + o_c[None, :] * H * F.V + o_v[:, None]
    p_b = x.beta + start * F.NH * H + h + o_c * H
    if F.GATED:
        p_a = x.a + start * H + h
    if out.saved is not None:
        # Sᵀ `[BV,K]`, in memory `[chunks,H,V,K]`
        p_s = out.saved + (chunk * H + h) * F.V * F.K + o_v[:, None] * F.K + o_k[None, :]
    # states given and returned are `[K,V]` in memory, and are read and written transposed
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], F.K, F.V)
    S = tl.zeros([BV, F.K], dtype=F.ACC)
    if initial is not None:
        S += tl.load(initial + at_state).to(F.ACC)
    # what is no operand of a product is loaded a chunk ahead here: the compiler does not do so
    bn = tl.load(p_b, mask=mask_rows(o_c, length, F), other=0.0)
    if F.GATED:
        gate_n, after_n, token_gate_n = load_gates(p_a, o_c, o_r, tl.minimum(length, F.TC), H, F)
    for i in range(tl.cdiv(length, F.TC)):
        left = length - i * F.TC
        used = mask_rows(o_c, left, F)
        read = mask_tokens(o_r, left, F)
        Kc = load_rows(p_k, used, F.EVEN)
        if F.EVEN:
            Vt = tl.load(p_v).to(F.ACC)
        else:
            Vt = tl.load(p_v, mask=used[None, :], other=0.0).to(F.ACC)  # Vᵀ `[BV,C]`
        Qc = load_rows(p_q, read, F.EVEN_READ)
        bt = bn.to(F.ACC)
        p_b += F.TC * F.NH * H
        bn = tl.load(p_b, mask=mask_rows(o_c, left - F.TC, F), other=0.0)
        # att = Q Kᵀ ∘ D on seen rows
        att = tl.where(mask_seen(o_r[:, None], o_c[None, :], F.NH), multiply(Qc, tl.trans(Kc), F), 0.0)
        if F.GATED:
            c, d, c_r = multiply_gates(gate_n, after_n, token_gate_n)
            # the last entry of a tile can only be taken by a sum
            c_last = tl.sum(tl.where(o_c == F.C - 1, c, 0.0), 0)
            D, D_r = decay_chunk(gate_n, token_gate_n, o_r, o_c, F.NH)
            att *= D_r
            p_a += F.TC * H
            gate_n, after_n, token_gate_n = load_gates(p_a, o_c, o_r, tl.minimum(left - F.TC, F.TC), H, F)
        else:
            D = 0.0
        X, _Xt = invert_chunk(Kc, bt, D, F)
        # the serial chain, transposed.  The state is rounded here, as an operand; it goes on unrounded
        Sd = S.to(DT)
        # (K S0)ᵀ = S0ᵀ Kᵀ and (Q S0)ᵀ = S0ᵀ Qᵀ
        KS = multiply(Sd, tl.trans(Kc), F)
        QS = multiply(Sd, tl.trans(Qc), F)
        if F.GATED:
            # column i is row i of K S0, times c_i
            KS *= c[None, :]
            QS *= c_r[None, :]
        # e = X (V - c K S0), U = B e: beta comes last, in float32
        # Uᵀ = (V - c K S0)ᵀ Xᵀ B
        U = multiply((Vt - KS).to(DT), tl.trans(X.to(DT)), F) * bt[None, :]
        Ud = U.to(DT)
        # O = scale (c Q S0 + att U)
        # Oᵀ = scale ((c Q S0)ᵀ + Uᵀ attᵀ)
        o = add_product(Ud, tl.trans(att.to(DT)), QS, F.PREC) * scale
        if out.saved is not None:
            tl.store(p_s, Sd)  # S0ᵀ as the products have used it
        # S1 = c_last S0 + (d K)ᵀ U
        if F.GATED:
            # S1ᵀ = c_last S0ᵀ + (d U)ᵀ K: d may go to U, since
            # it belongs to the rows over which the product sums
            S = add_product((U * d[None, :]).to(DT), Kc, S * c_last, F.PREC)
        else:
            S = add_product(Ud, Kc, S, F.PREC)
        store_rows(p_o, tl.trans(o), read, F.EVEN_READ)
        p_k += F.TC * F.NH * H * F.K
        p_v += F.TC * F.NH * H * F.V
        p_q += F.TC * H * F.K
        p_o += F.TC * H * F.V
        if out.saved is not None:
            p_s += H * F.V * F.K
    if out.final is not None:
        tl.store(out.final + at_state, S)


@triton.jit
def chunk_backward(x, do, saved, dfinal, d_, at, scale, F: tl.constexpr):
    """`Gradients` d_, last chunk first, from the states that the forward pass saved.  A program for each (sequence, head); C = 16."""
    n, h, _block = locate_program(at.H, 1)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    chunk = locate_first_chunk(at, n, F.TC, F.PACKED)
    NT = tl.cdiv(length, F.TC)
    o_k = tl.arange(0, F.K)
    o_v = tl.arange(0, F.V)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    DT = x.q.dtype.element_ty
    # the tokens `[R,1]` and micro-steps `[C,1]` of the last chunk, counted with all heads
    row = ((start + (NT - 1) * F.TC) * H + h) + o_r[:, None] * H
    micro = ((start + (NT - 1) * F.TC) * F.NH * H + h) + o_c[:, None] * H
    at_q = row * F.K + o_k[None, :]
    at_o = row * F.V + o_v[None, :]
    at_k = micro * F.K + o_k[None, :]
    at_v = micro * F.V + o_v[None, :]
    at_b = (start + (NT - 1) * F.TC) * F.NH * H + h + o_c * H
    if F.GATED:
        p_a = x.a + (start + (NT - 1) * F.TC) * H + h
        p_da = d_.a + (start + (NT - 1) * F.TC) * H + h
    # S0ᵀ `[V,K]` of the last chunk
    p_s = saved + ((chunk + NT - 1) * H + h) * F.V * F.K + o_v[:, None] * F.K + o_k[None, :]
    low = o_c[:, None] > o_c[None, :]
    up = o_c[:, None] < o_c[None, :]
    seen = mask_seen(o_r[:, None], o_c[None, :], F.NH)
    # the same transposed, `[C,R]`
    seen_t = mask_seen(o_r[None, :], o_c[:, None], F.NH)
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], F.K, F.V)
    dS = tl.zeros([F.V, F.K], dtype=F.ACC)
    if dfinal is not None:
        dS += tl.load(dfinal + at_state).to(F.ACC)
    # values and beta are no operands of products, so the compiler does not load them ahead
    last = mask_rows(o_c, length - tl.maximum(NT - 1, 0) * F.TC, F)  # none of an empty sequence
    Vn = tl.load(x.v + at_v, mask=last[:, None], other=0.0)
    bn = tl.load(x.beta + at_b, mask=last, other=0.0)
    for i in range(NT):
        left = length - (NT - 1 - i) * F.TC
        used = mask_rows(o_c, left, F)
        read = mask_tokens(o_r, left, F)
        Kc = load_rows(x.k + at_k, used, F.EVEN)
        Vc = Vn
        Qc = load_rows(x.q + at_q, read, F.EVEN_READ)
        dO = load_rows(do + at_o, read, F.EVEN_READ)
        bt = bn.to(F.ACC)
        # all chunks but a sequence's last are full
        earlier = (o_c < F.TC * F.NH) & (i + 1 < NT)
        Vn = tl.load(x.v + at_v - F.TC * F.NH * H * F.V, mask=earlier[:, None], other=0.0)
        bn = tl.load(x.beta + at_b - F.TC * F.NH * H, mask=earlier, other=0.0)
        St = tl.load(p_s)
        # scale attᵀ, and the forward pass's errors again: e = X (V - c K S0)
        # K Qᵀ `[C,R]`
        att_t = tl.where(seen_t, multiply(Kc, tl.trans(Qc), F), 0.0) * scale
        if F.GATED:
            tokens = tl.minimum(left, F.TC)
            gate, after, token_gate = load_gates(p_a, o_c, o_r, tokens, H, F)
            c, d, c_r = multiply_gates(gate, after, token_gate)
            c_last = tl.sum(tl.where(o_c == F.C - 1, c, 0.0), 0)
            D, D_r = decay_chunk(gate, token_gate, o_r, o_c, F.NH)
            att_t *= tl.trans(D_r)  # D_r from rows to outputs, transposed as att is
        else:
            D = 0.0
        X, Xt = invert_chunk(Kc, bt, D, F)
        KS = multiply(St, tl.trans(Kc), F)  # (K S0)ᵀ = S0ᵀ Kᵀ
        if F.GATED:
            KS *= c[None, :]
        # (V - c K S0)ᵀ `[V,C]`
        Pt = (tl.trans(Vc).to(F.ACC) - KS).to(DT)
        # e = X (V - c K S0) by rows `[C,V]`
        e = multiply(X.to(DT), tl.trans(Pt), F).to(DT)
        # the serial chain: dS -> dU -> dV -> dS, transposed
        Sd = dS.to(DT)
        KdS = multiply(Sd, tl.trans(Kc), F)  # (K dS1)ᵀ = dS1ᵀ Kᵀ
        if F.GATED:
            KdS *= d[None, :]
        # dU = scale attᵀ dO + d K dS1, dV = Xᵀ B dU
        # dUᵀ = dOᵀ (scale att) + (d K dS1)ᵀ
        dUt = add_product(tl.trans(dO), tl.trans(att_t.to(DT)), KdS, F.PREC)
        dBUt = (dUt * bt[None, :]).to(DT)
        # dVᵀ = (B dU)ᵀ X
        dVt = multiply(dBUt, tl.trans(Xt.to(DT)), F)
        Qs = Qc.to(F.ACC) * scale
        # dS0 = c_last dS1 + scale (c Q)ᵀ dO - (c K)ᵀ dV
        if F.GATED:
            whole = tl.sum(tl.sum(dS * St.to(F.ACC), 1), 0)  # ⟨dS1, S0⟩, the gradient of c_last
            # dS0ᵀ = c_last dS1ᵀ - (c dV)ᵀ K + dOᵀ (scale c Q)
            dS = add_product((dVt * -c[None, :]).to(DT), Kc, dS * c_last, F.PREC)
            dS = add_product(tl.trans(dO), (Qs * c_r[:, None]).to(DT), dS, F.PREC)
        else:
            dS = add_product((-dVt).to(DT), Kc, dS, F.PREC)
            dS = add_product(tl.trans(dO), Qs.to(DT), dS, F.PREC)
        # off the chain: M = tril(dV eᵀ, -1) and E = scale dO eᵀ on seen rows, both with their transposes
        # dV = Xᵀ (B dU) by rows `[C,V]`: as a product, not as dVᵀ transposed between threads
        dV = multiply(Xt.to(DT), tl.trans(dBUt), F).to(DT)
        M = tl.where(low, multiply(dV, tl.trans(e), F), 0.0)
        Mt = tl.where(up, multiply(e, tl.trans(dV), F), 0.0)
        E = tl.where(seen, multiply(dO, tl.trans(e), F), 0.0) * scale
        Et = tl.where(seen_t, multiply(e, tl.trans(dO), F), 0.0) * scale
        dQ = multiply(dO, St, F) * scale  # scale dO S0ᵀ
        dK = multiply(dV, St, F)  # dV S0ᵀ
        back = multiply(e, Sd, F)  # e dS1ᵀ
        if F.GATED:
            # gradients in the products of gates: D in K Kᵀ ∘ D and in att, c before K S0 and Q S0, d before K dS1
            W = ProductWeights(
                -M * multiply(Kc, tl.trans(Kc), F) * bt[None, :],  # in D between rows: -(M ∘ K Kᵀ) B
                E * multiply(Qc, tl.trans(Kc), F) * bt[None, :],  # in D from rows to outputs: (E ∘ Q Kᵀ) B
                -tl.sum(Kc.to(F.ACC) * dK, 1),  # in c at rows: -rowsum(K ∘ dV S0ᵀ)
                tl.sum(Qc.to(F.ACC) * dQ, 1),  # in c at outputs: rowsum(Q ∘ scale dO S0ᵀ)
                tl.sum(Kc.to(F.ACC) * back, 1) * bt,  # in d: B rowsum(K ∘ e dS1ᵀ)
                whole,  # in c_last
            )
            # the gate before row t - 1, for c_{t-1} and D[t-1,j]
            previous = load_gates_before(p_a, o_c - 1, tokens, H, F.NH, F.ACC)
            gate_rows = differentiate_gates(W, D, D_r, d, previous, o_c, F)
            # only the gate before a token's first micro-step is an input
            tl.store(p_da + (o_c // F.NH) * H, gate_rows, mask=used & (o_c % F.NH == 0))
            # from here on with their products of gates: M and E with D, the products with states with c and d
            M *= D
            Mt *= tl.trans(D)
            E *= D_r
            Et *= tl.trans(D_r)
            dQ *= c_r[:, None]
            dK *= c[:, None]
            back *= d[:, None]
        # h = Eᵀ Q - Mᵀ K + d e dS1ᵀ
        back = add_product(Et.to(DT), Qc, back, F.PREC)
        back = add_product((-Mt).to(DT), Kc, back, F.PREC)
        # dbeta = rowsum(K ∘ h), dK = B h - (M B K + c dV S0ᵀ), dQ = E B K + scale c dO S0ᵀ
        # M B K + c dV S0ᵀ, which is subtracted below
        dK = add_product((M * bt[None, :]).to(DT), Kc, dK, F.PREC)
        dQ = add_product((E * bt[None, :]).to(DT), Kc, dQ, F.PREC)
        db = tl.sum(Kc.to(F.ACC) * back, 1)  # rowsum(K ∘ h)
        dK = back * bt[:, None] - dK
        store_rows(d_.q + at_q, dQ, read, F.EVEN_READ)
        store_rows(d_.k + at_k, dK, used, F.EVEN)
        store_rows(d_.v + at_v, dV, used, F.EVEN)
        tl.store(d_.beta + at_b, db.to(d_.beta.dtype.element_ty), mask=used)
        # the chunk before
        at_q -= F.TC * H * F.K
        at_o -= F.TC * H * F.V
        at_k -= F.TC * F.NH * H * F.K
        at_v -= F.TC * F.NH * H * F.V
        at_b -= F.TC * F.NH * H
        if F.GATED:
            p_a -= F.TC * H
            p_da -= F.TC * H
        p_s -= H * F.V * F.K
    if d_.initial is not None:
        tl.store(d_.initial + at_state, dS.to(d_.initial.dtype.element_ty))


@lru_cache(maxsize=1024)
def _forward(form: Form) -> tuple[Launcher, int]:
    """The launcher, and its programs for each sequence and head."""
    tile = form.plan.forward
    launch = launcher(chunk_forward, tile, F=shape_chunks(form), BV=tile.width)
    return launch, count_blocks(form.V, tile.width)


def run_fused(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, states at the chunks' starts (the last two if asked for)."""
    x, form = problem, problem.form
    chunks = place_chunks(x, form.plan.rows // form.householders)
    out = FusedOutputs(
        x.new_outputs(),
        x.new_states() if final else None,
        x.new(chunks.count, form.heads, form.V, form.K) if save else None,
    )
    launch, blocks = _forward(form)
    grid = (form.sequences * form.heads * blocks,)
    launch(grid, x.inputs, x.initial, out, chunks.places, x.scale)
    return out


@lru_cache(maxsize=1024)
def _backward(form: Form) -> Launcher:
    return launcher(chunk_backward, form.plan.backward, F=shape_chunks(form))


def differentiate_fused(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: Tensor) -> Gradients:
    """All gradients from the states that `run_fused` saved."""
    x, form, out = problem, problem.form, Gradients.of(problem)
    chunks = place_chunks(x, form.plan.rows // form.householders)
    grid = (form.sequences * form.heads,)
    _backward(form)(grid, x.inputs, do, saved, dfinal, out, chunks.places, x.scale)
    return out
