"""DeltaProduct token by token: float32 states in registers, any n_h, the arithmetic of `reference` but for the order of sums.

The recurrence cannot be run backward by undoing a step (it is singular at beta ‖k‖² = 1), so the backward pass keeps the
errors e = v - S'ᵀ k of the forward pass, S' the state after the gate, and runs

    values   in reverse, a program a block of value columns:  du = dSᵀ k,  de = beta du,  dS' = dS - k deᵀ
    keys     a program a block of key rows: forward, rebuilding S from e:  dq = scale S do, dk' = -S' de;
             then in reverse:  dk = dk' + dS u,  u = beta e;  da = ⟨dS', S before the token⟩

so no sum over blocks of the state is left.  For gates the forward run keeps every GROUP-th state and the reverse run
replays from it: a gate of zero has its gradient too, and nothing is divided.

Launches of the recurrent kernels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from .._launching import Launcher, launcher, pointers
from ._plan import count_blocks, recurrent_width
from ._problem import Form, Gradients, Problem, place_chunks

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def bounds(cu, n, T, PACKED: tl.constexpr):
    """First token and length of sequence n."""
    if PACKED:
        start = tl.cast(tl.load(cu + n), tl.int64)
        length = tl.cast(tl.load(cu + n + 1) - start, tl.int32)
    else:
        start = tl.cast(n, tl.int64) * T
        length = T
    return start, length


@triton.jit
def recurrent_forward(
    q,
    k,
    v,
    beta,
    a,
    o,
    errors,
    initial,
    final,
    cu,
    scale,
    T,
    H,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BV: tl.constexpr,
    ACC: tl.constexpr,
    GATED: tl.constexpr,
    INITIAL: tl.constexpr,
    FINAL: tl.constexpr,
    SAVE: tl.constexpr,
    PACKED: tl.constexpr,
):
    """Outputs and final states; SAVE keeps the errors e, laid out as v.  Rows are loaded one micro-step ahead."""
    NV: tl.constexpr = V // BV
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    start, length = bounds(cu, n, T, PACKED)
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    p_q = q + (start * H + h) * K + o_k
    p_o = o + (start * H + h) * V + o_v
    p_k = k + (start * NH * H + h) * K + o_k
    p_v = v + (start * NH * H + h) * V + o_v
    p_e = errors + (start * NH * H + h) * V + o_v
    p_b = beta + start * NH * H + h
    p_a = a + start * H + h
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[:, None] * V + o_v[None, :]
    S = tl.zeros([K, BV], dtype=ACC)
    if INITIAL:
        S += tl.load(initial + at_state).to(ACC)
    some = length > 0
    qn = tl.load(p_q, mask=some & (o_k < K), other=0.0).to(ACC)
    kn = tl.load(p_k, mask=some & (o_k < K), other=0.0).to(ACC)
    vn = tl.load(p_v, mask=some & (o_v < V), other=0.0).to(ACC)
    bn = tl.load(p_b, mask=some, other=0.0).to(ACC)
    for i in range(length * NH):
        qt = qn
        kt = kn
        vt = vn
        bt = bn
        more = tl.where(i + 1 < length * NH, 1, 0)
        last = (i % NH) == NH - 1
        if GATED and i % NH == 0:
            S *= tl.load(p_a).to(ACC)
            p_a += H
        p_k += more * (H * K)
        p_v += more * (H * V)
        p_b += more * H
        p_q += tl.where(last, more * (H * K), 0)
        qn = tl.load(p_q).to(ACC)
        kn = tl.load(p_k).to(ACC)
        vn = tl.load(p_v).to(ACC)
        bn = tl.load(p_b).to(ACC)
        e = vt - tl.sum(S * kt[:, None], 0)
        u = bt * e
        S += kt[:, None] * u[None, :]
        if SAVE:
            tl.store(p_e, e)
            p_e += H * V
        if last:
            tl.store(p_o, (tl.sum(S * qt[:, None], 0) * scale).to(o.dtype.element_ty))
            p_o += H * V
    if FINAL:
        tl.store(final + at_state, S)


@triton.jit
def recurrent_backward_values(
    q,
    k,
    beta,
    a,
    do,
    errors,
    derrors,
    dv,
    dbeta,
    dfinal,
    dinitial,
    cu,
    scale,
    T,
    H,
    rows,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BV: tl.constexpr,
    ACC: tl.constexpr,
    GATED: tl.constexpr,
    DFINAL: tl.constexpr,
    DINITIAL: tl.constexpr,
    SAME: tl.constexpr,
    PACKED: tl.constexpr,
):
    """de (laid out as v; SAME: dv is de), dv, dinitial and dbeta's part of each block `[V/BV, rows]`, rows = all micro-steps and heads."""
    NV: tl.constexpr = V // BV
    pid = tl.program_id(0)
    n = pid // NV // H
    h = pid // NV % H
    start, length = bounds(cu, n, T, PACKED)
    o_k = tl.arange(0, K)
    o_v = (pid % NV) * BV + tl.arange(0, BV)
    token = start + length - 1
    micro = (start + length) * NH - 1
    p_q = q + (token * H + h) * K + o_k
    p_do = do + (token * H + h) * V + o_v
    p_k = k + (micro * H + h) * K + o_k
    at_v = (micro * H + h) * V + o_v
    p_b = beta + micro * H + h
    p_db = dbeta + tl.cast(pid % NV, tl.int64) * rows + micro * H + h
    p_a = a + token * H + h
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[:, None] * V + o_v[None, :]
    dS = tl.zeros([K, BV], dtype=ACC)
    if DFINAL:
        dS += tl.load(dfinal + at_state).to(ACC)
    some = length > 0
    kn = tl.load(p_k, mask=some & (o_k < K), other=0.0).to(ACC)
    en = tl.load(errors + at_v, mask=some & (o_v < V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(ACC)
    qn = tl.load(p_q, mask=some & (o_k < K), other=0.0).to(ACC)
    on = tl.load(p_do, mask=some & (o_v < V), other=0.0).to(ACC)
    for i in range(length * NH):
        kt = kn
        et = en
        bt = bn
        qt = qn
        ot = on
        more = tl.where(i + 1 < length * NH, 1, 0)
        earlier = tl.where(i % NH == 0, tl.where(i + NH < length * NH, 1, 0), 0)
        p_q -= earlier * (H * K)
        p_do -= earlier * (H * V)
        p_k -= more * (H * K)
        p_b -= more * H
        kn = tl.load(p_k).to(ACC)
        bn = tl.load(p_b).to(ACC)
        en = tl.load(errors + (at_v - more * (H * V)))
        qn = tl.load(p_q).to(ACC)
        on = tl.load(p_do).to(ACC)
        if i % NH == 0:
            dS += (qt * scale)[:, None] * ot[None, :]
        du = tl.sum(dS * kt[:, None], 0)
        de = bt * du
        dS -= kt[:, None] * de[None, :]
        if not SAME:
            tl.store(derrors + at_v, de)
        tl.store(dv + at_v, de.to(dv.dtype.element_ty))
        tl.store(p_db, tl.sum(du * et, 0))
        at_v -= H * V
        p_db -= H
        if GATED and i % NH == NH - 1:
            dS *= tl.load(p_a).to(ACC)
            p_a -= H
    if DINITIAL:
        tl.store(dinitial + at_state, dS.to(dinitial.dtype.element_ty))


@triton.jit
def recurrent_backward_keys(
    q,
    k,
    beta,
    a,
    do,
    errors,
    derrors,
    initial,
    dfinal,
    dq,
    dk,
    partial,
    da,
    kept,
    cu,
    group_start,
    scale,
    T,
    H,
    rows,
    NH: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    ACC: tl.constexpr,
    GATED: tl.constexpr,
    INITIAL: tl.constexpr,
    DFINAL: tl.constexpr,
    PACKED: tl.constexpr,
):
    """dq, dk and the gates' part of each block `[K/BK, rows]`, rows = all tokens and heads.

    partial (laid out as k) and kept `[groups,H,V,K]` are scratch in ACC.  The state is held transposed, `[V,BK]`, since sums
    over the first dimension stay within a thread.
    """
    NK: tl.constexpr = K // BK
    pid = tl.program_id(0)
    n = pid // NK // H
    h = pid // NK % H
    start, length = bounds(cu, n, T, PACKED)
    if PACKED:
        group = tl.cast(tl.load(group_start + n), tl.int64)
    else:
        group = tl.cast(n, tl.int64) * tl.cdiv(T, GROUP)
    o_k = (pid % NK) * BK + tl.arange(0, BK)
    o_v = tl.arange(0, V)
    at_state = (tl.cast(n, tl.int64) * H + h) * K * V + o_k[None, :] * V + o_v[:, None]
    at_kept = o_v[:, None] * K + o_k[None, :]
    S = tl.zeros([V, BK], dtype=ACC)
    if INITIAL:
        S += tl.load(initial + at_state).to(ACC)
    some = length > 0
    micro = start * NH * H + h
    row = start * H + h
    p_k = k + micro * K + o_k
    p_p = partial + micro * K + o_k
    at_v = micro * V + o_v
    p_b = beta + micro
    p_do = do + row * V + o_v
    p_q = dq + row * K + o_k
    kn = tl.load(p_k, mask=some & (o_k < K), other=0.0).to(ACC)
    en = tl.load(errors + at_v, mask=some & (o_v < V), other=0.0)
    dn = tl.load(derrors + at_v, mask=some & (o_v < V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(ACC)
    on = tl.load(p_do, mask=some & (o_v < V), other=0.0).to(ACC)
    for i in range(length * NH):
        kt = kn
        ut = bn * en
        det = dn
        ot = on
        last = i % NH == NH - 1
        more = tl.where(i + 1 < length * NH, 1, 0)
        p_k += more * (H * K)
        at_v += more * (H * V)
        p_b += more * H
        p_do += tl.where(last, more * (H * V), 0)
        kn = tl.load(p_k).to(ACC)
        en = tl.load(errors + at_v)
        dn = tl.load(derrors + at_v)
        bn = tl.load(p_b).to(ACC)
        on = tl.load(p_do).to(ACC)
        if GATED and i % NH == 0:
            t = i // NH
            if t % GROUP == 0:
                tl.store(kept + ((group + t // GROUP) * H + h) * K * V + at_kept, S)
            S *= tl.load(a + (start + t) * H + h).to(ACC)
        tl.store(p_p, -tl.sum(S * det[:, None], 0))
        p_p += H * K
        S += ut[:, None] * kt[None, :]
        if last:
            tl.store(p_q, (tl.sum(S * ot[:, None], 0) * scale).to(dq.dtype.element_ty))
            p_q += H * K
    tl.debug_barrier()
    dS = tl.zeros([V, BK], dtype=ACC)
    if DFINAL:
        dS += tl.load(dfinal + at_state).to(ACC)
    micro = ((start + length) * NH - 1) * H + h
    row = (start + length - 1) * H + h
    at_k = micro * K + o_k
    at_v = micro * V + o_v
    p_d = dk + at_k
    p_b = beta + micro
    p_q = q + row * K + o_k
    p_do = do + row * V + o_v
    kn = tl.load(k + at_k, mask=some & (o_k < K), other=0.0).to(ACC)
    pn = tl.load(partial + at_k, mask=some & (o_k < K), other=0.0)
    en = tl.load(errors + at_v, mask=some & (o_v < V), other=0.0)
    dn = tl.load(derrors + at_v, mask=some & (o_v < V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(ACC)
    qn = tl.load(p_q, mask=some & (o_k < K), other=0.0).to(ACC)
    on = tl.load(p_do, mask=some & (o_v < V), other=0.0).to(ACC)
    for i in range(length * NH):
        kt = kn
        pt = pn
        ut = bn * en
        det = dn
        qt = qn
        ot = on
        more = tl.where(i + 1 < length * NH, 1, 0)
        earlier = tl.where(i % NH == 0, tl.where(i + NH < length * NH, 1, 0), 0)
        at_k -= more * (H * K)
        at_v -= more * (H * V)
        p_b -= more * H
        p_q -= earlier * (H * K)
        p_do -= earlier * (H * V)
        kn = tl.load(k + at_k).to(ACC)
        pn = tl.load(partial + at_k)
        en = tl.load(errors + at_v)
        dn = tl.load(derrors + at_v)
        bn = tl.load(p_b).to(ACC)
        qn = tl.load(p_q).to(ACC)
        on = tl.load(p_do).to(ACC)
        if i % NH == 0:
            dS += ot[:, None] * (qt * scale)[None, :]
        tl.store(p_d, (pt + tl.sum(dS * ut[:, None], 0)).to(dk.dtype.element_ty))
        p_d -= H * K
        dS -= det[:, None] * kt[None, :]
        if GATED and i % NH == NH - 1:
            t = length - 1 - i // NH
            row = (start + t) * H + h
            S = tl.load(kept + ((group + t // GROUP) * H + h) * K * V + at_kept)
            for s in range(t // GROUP * GROUP, t):
                S *= tl.load(a + (start + s) * H + h).to(ACC)
                for j in range(NH):
                    past = ((start + s) * NH + j) * H + h
                    kp = tl.load(k + past * K + o_k).to(ACC)
                    up = tl.load(beta + past).to(ACC) * tl.load(errors + past * V + o_v)
                    S += up[:, None] * kp[None, :]
            gate = tl.sum(tl.sum(dS * S, 1), 0)
            tl.store(da + tl.cast(pid % NK, tl.int64) * rows + row, gate)
            dS *= tl.load(a + row).to(ACC)


GROUP = 16
"""Tokens between the states that the gates' backward pass keeps."""


def _constants(form: Form) -> dict[str, Any]:
    return {
        "NH": form.householders,
        "K": form.K,
        "V": form.V,
        "ACC": form.arithmetic,
        "GATED": form.gated,
        "PACKED": form.packed,
    }


@lru_cache(maxsize=1024)
def _forward(form: Form, final: bool, save: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head, by blocks of the state's columns."""
    BV = recurrent_width(form.V, form.K, max(512, form.sequences * form.heads))
    constants = {"BV": BV, "INITIAL": form.initial, "FINAL": final, "SAVE": save}
    return launcher(recurrent_forward, Tile(BV, 1), **_constants(form), **constants), count_blocks(form.V, BV)


def run_recurrent(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, errors (the last two if asked for)."""
    x, form = problem, problem.form
    N, H, V, wide = form.sequences, form.heads, form.V, form.state_dtype
    o = x.outputs()
    last = x.new(N, H, form.K, V, dtype=wide) if final else None
    errors = x.new(*x.v.shape, dtype=wide) if save else None
    launch, blocks = _forward(form, final, save)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.v, x.beta, x.gates, o, *pointers(o, errors), x.initial, *pointers(o, last)),
        *(x.cu, x.scale, form.tokens, H),
    )
    return o, last, errors


@lru_cache(maxsize=1024)
def _backward(form: Form, dfinal: bool) -> tuple[Launcher, int, Launcher, int]:
    """For values and for keys, each with its programs for each sequence and head."""
    programs = form.sequences * form.heads
    BV, BK = recurrent_width(form.V, form.K, programs), recurrent_width(form.K, form.V, programs)
    common = {**_constants(form), "DFINAL": dfinal}
    values = launcher(
        recurrent_backward_values,
        Tile(BV, 1),
        **common,
        BV=BV,
        DINITIAL=form.initial,
        SAME=form.dtype == form.state_dtype,
    )
    keys = launcher(recurrent_backward_keys, Tile(BK, 1), **common, BK=BK, GROUP=GROUP, INITIAL=form.initial)
    return values, count_blocks(form.V, BV), keys, count_blocks(form.K, BK)


def recurrent_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, errors: Tensor) -> Gradients:
    """All gradients from the errors that `run_recurrent` kept."""
    x, form = problem, problem.form
    N, H, K, V, wide = form.sequences, form.heads, form.K, form.V, form.state_dtype
    values, value_blocks, keys, key_blocks = _backward(form, dfinal is not None)
    dq, dk, dv = launching.empty_like(x.q), launching.empty_like(x.k), launching.empty_like(x.v)
    dinitial = x.new(N, H, K, V, dtype=wide) if form.initial else None
    derrors = dv if form.dtype == wide else x.new(*errors.shape, dtype=wide)
    dbeta = x.new(value_blocks, x.beta.numel(), dtype=wide)
    values(
        (N * H * value_blocks,),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, dv, dbeta, dfinal, *pointers(do, dinitial)),
        *(x.cu, x.scale, form.tokens, H, x.beta.numel()),
    )
    partial = x.new(*x.k.shape, dtype=wide)
    groups, rows = place_chunks(x, GROUP), form.batch * form.tokens * H
    kept = x.new(groups.count, H, V, K, dtype=wide) if form.gated else None
    da = x.new(key_blocks, rows, dtype=wide) if form.gated else None
    keys(
        (N * H * key_blocks,),
        *(x.q, x.k, x.beta, x.gates, do, errors, derrors, x.initial, dfinal, dq, dk, partial),
        *(*pointers(do, da, kept), x.cu, groups.start, x.scale, form.tokens, H, rows),
    )
    return Gradients(
        *(dq, dk, dv, dbeta.sum(0).view_as(x.beta).to(x.beta.dtype)),
        a=None if da is None else da.sum(0).view_as(x.gates),
        initial=dinitial,
    )
