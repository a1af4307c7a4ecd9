"""DeltaProduct token by token: float32 states in registers, any n_h, the arithmetic of `_reference` but for the order of sums.

The recurrence cannot be run backward by undoing a step (it is singular at beta ‖k‖² = 1), so the backward pass keeps the
errors e = v - S'ᵀ k of the forward pass, S' the state after the gate, and runs

    values   in reverse, a program a block of value columns:  du = dSᵀ k,  de = beta du,  dS' = dS - k deᵀ
    keys     a program a block of key rows: forward, rebuilding S from e:  dq = scale S do, dk' = -S' de;
             then in reverse:  dk = dk' + dS u,  u = beta e;  da = ⟨dS', S before the token⟩

so no sum over blocks of the state is left.  For gates the forward run keeps every GROUP-th state and the reverse run
replays from it: a gate of zero has its gradient too, and nothing is divided.

In all loops the rows of the next micro-step are loaded before this one's are used: `kn` becomes `kt`.  At the last micro-step
the pointers stay where they are (`more` is 0), so that no load leaves the tensors and none needs a mask.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from .._launching import Launcher, launcher, make_constants
from ._plan import count_blocks, recurrent_width
from ._problem import Form, Gradients, Problem, place_chunks
from ._triton_blocks import locate_first_chunk, locate_program, locate_sequence, place_state

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class StepShape(NamedTuple):
    """What the recurrent kernels are compiled for, each field a constant (`make_constants`)."""

    NH: Any
    """Micro-steps of a token."""
    K: Any
    V: Any
    ACC: Any
    """The dtype of states and sums, float32 or float64."""
    GATED: Any
    PACKED: Any


class RecurrentOutputs(NamedTuple):
    """What `recurrent_forward` fills; None where not asked for."""

    o: Tensor
    """`[B,T,H,V]`."""
    final: Tensor | None
    """Last states `[N,H,K,V]`."""
    errors: Tensor | None
    """For the backward pass: e, laid out as v."""


class ValueGradients(NamedTuple):
    """What `recurrent_backward_values` fills."""

    errors: Tensor | None
    """de, laid out as v; None where dv, which is the same, has the states' format."""
    v: Tensor
    beta: Tensor
    """The part of each block of columns `[V/BV, rows]`, rows = all micro-steps and heads."""
    initial: Tensor | None


class KeyGradients(NamedTuple):
    """What `recurrent_backward_keys` fills."""

    q: Tensor
    k: Tensor
    a: Tensor | None
    """The part of each block of rows `[K/BK, rows]`, rows = all tokens and heads."""
    partial: Tensor
    """Scratch: dk' of the forward run, laid out as k."""
    kept: Tensor | None
    """Scratch: every GROUP-th state, transposed, `[groups,H,V,K]`."""


@triton.jit
def recurrent_forward(x, initial, out, at, scale, F: tl.constexpr, BV: tl.constexpr):
    """`RecurrentOutputs` out from `Inputs` x.  A program for each (sequence, head, block of BV value columns)."""
    n, h, block = locate_program(at.H, F.V // BV)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    o_k = tl.arange(0, F.K)
    o_v = block * BV + tl.arange(0, BV)
    # rows of one head lie H·K, or H·V, apart
    p_q = x.q + (start * H + h) * F.K + o_k
    p_o = out.o + (start * H + h) * F.V + o_v
    p_k = x.k + (start * F.NH * H + h) * F.K + o_k
    p_v = x.v + (start * F.NH * H + h) * F.V + o_v
    if out.errors is not None:
        p_e = out.errors + (start * F.NH * H + h) * F.V + o_v
    p_b = x.beta + start * F.NH * H + h
    if F.GATED:
        p_a = x.a + start * H + h
    at_state = place_state(n, h, H, o_k[:, None], o_v[None, :], F.K, F.V)
    S = tl.zeros([F.K, BV], dtype=F.ACC)
    if initial is not None:
        S += tl.load(initial + at_state).to(F.ACC)
    # an empty sequence may begin where the tensors end; o_k < K is always true and gives the mask its shape
    some = length > 0
    qn = tl.load(p_q, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    kn = tl.load(p_k, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    vn = tl.load(p_v, mask=some & (o_v < F.V), other=0.0).to(F.ACC)
    bn = tl.load(p_b, mask=some, other=0.0).to(F.ACC)
    for i in range(length * F.NH):
        qt = qn
        kt = kn
        vt = vn
        bt = bn
        more = tl.where(i + 1 < length * F.NH, 1, 0)
        # the token's last micro-step
        last = (i % F.NH) == F.NH - 1
        # S' = a S, before a token's first micro-step
        if F.GATED and i % F.NH == 0:
            S *= tl.load(p_a).to(F.ACC)
            p_a += H
        p_k += more * (H * F.K)
        p_v += more * (H * F.V)
        p_b += more * H
        # a query belongs to a token: its pointer moves on after the token's last micro-step
        p_q += tl.where(last, more * (H * F.K), 0)
        qn = tl.load(p_q).to(F.ACC)
        kn = tl.load(p_k).to(F.ACC)
        vn = tl.load(p_v).to(F.ACC)
        bn = tl.load(p_b).to(F.ACC)
        # e = v - S'ᵀ k, u = beta e, S = S' + k uᵀ: as in `_reference`, each rounded to the states' format
        e = vt - tl.sum(S * kt[:, None], 0)
        u = bt * e
        S += kt[:, None] * u[None, :]
        if out.errors is not None:
            tl.store(p_e, e)
            p_e += H * F.V
        # o = scale Sᵀ q, after a token's last micro-step
        if last:
            tl.store(p_o, (tl.sum(S * qt[:, None], 0) * scale).to(out.o.dtype.element_ty))
            p_o += H * F.V
    if out.final is not None:
        tl.store(out.final + at_state, S)


@triton.jit
def recurrent_backward_values(x, do, errors, dfinal, d, at, scale, rows, F: tl.constexpr, BV: tl.constexpr):
    """`ValueGradients` d from `Inputs` x and the errors; rows: all micro-steps and heads."""
    n, h, block = locate_program(at.H, F.V // BV)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    o_k = tl.arange(0, F.K)
    o_v = block * BV + tl.arange(0, BV)
    # the last token and micro-step, from which all pointers go back
    token = start + length - 1
    micro = (start + length) * F.NH - 1
    p_q = x.q + (token * H + h) * F.K + o_k
    p_do = do + (token * H + h) * F.V + o_v
    p_k = x.k + (micro * H + h) * F.K + o_k
    at_v = (micro * H + h) * F.V + o_v
    p_b = x.beta + micro * H + h
    # `[V/BV,rows]`: a sum over all value columns, of which this program has a block
    p_db = d.beta + tl.cast(block, tl.int64) * rows + micro * H + h
    if F.GATED:
        p_a = x.a + token * H + h
    at_state = place_state(n, h, H, o_k[:, None], o_v[None, :], F.K, F.V)
    dS = tl.zeros([F.K, BV], dtype=F.ACC)
    if dfinal is not None:
        dS += tl.load(dfinal + at_state).to(F.ACC)
    some = length > 0
    kn = tl.load(p_k, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    en = tl.load(errors + at_v, mask=some & (o_v < F.V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(F.ACC)
    qn = tl.load(p_q, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    on = tl.load(p_do, mask=some & (o_v < F.V), other=0.0).to(F.ACC)
    for i in range(length * F.NH):
        kt = kn
        et = en
        bt = bn
        qt = qn
        ot = on
        more = tl.where(i + 1 < length * F.NH, 1, 0)
        # queries belong to tokens, and i % NH is 0 at a token's last micro-step here
        earlier = tl.where(i % F.NH == 0, tl.where(i + F.NH < length * F.NH, 1, 0), 0)
        p_q -= earlier * (H * F.K)
        p_do -= earlier * (H * F.V)
        p_k -= more * (H * F.K)
        p_b -= more * H
        kn = tl.load(p_k).to(F.ACC)
        bn = tl.load(p_b).to(F.ACC)
        en = tl.load(errors + (at_v - more * (H * F.V)))
        qn = tl.load(p_q).to(F.ACC)
        on = tl.load(p_do).to(F.ACC)
        # o = scale Sᵀ q gives dS += scale q doᵀ
        if i % F.NH == 0:
            dS += (qt * scale)[:, None] * ot[None, :]
        # S = S' + k uᵀ, u = beta (v - S'ᵀ k): du = dSᵀ k, dv = de = beta du, dS' = dS - k deᵀ, dbeta = ⟨du, e⟩
        du = tl.sum(dS * kt[:, None], 0)
        de = bt * du
        dS -= kt[:, None] * de[None, :]
        if d.errors is not None:
            tl.store(d.errors + at_v, de)
        tl.store(d.v + at_v, de.to(d.v.dtype.element_ty))
        tl.store(p_db, tl.sum(du * et, 0))
        at_v -= H * F.V
        p_db -= H
        # the token's first micro-step, since i counts back: S' = a S gives dS = a dS'
        if F.GATED and i % F.NH == F.NH - 1:
            dS *= tl.load(p_a).to(F.ACC)
            p_a -= H
    if d.initial is not None:
        tl.store(d.initial + at_state, dS.to(d.initial.dtype.element_ty))


@triton.jit
def recurrent_backward_keys(
    x,
    initial,
    do,
    errors,
    derrors,
    dfinal,
    d,
    at,
    scale,
    rows,
    F: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    """`KeyGradients` d from `Inputs` x, the errors and their gradients; rows: all tokens and heads; chunks of `at`: groups.

    The state is held transposed, `[V,BK]`, since sums over the first dimension stay within a thread.
    """
    n, h, block = locate_program(at.H, F.K // BK)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    group = locate_first_chunk(at, n, GROUP, F.PACKED)
    o_k = block * BK + tl.arange(0, BK)
    o_v = tl.arange(0, F.V)
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], F.K, F.V)
    # the tile `[V,BK]` of a kept state `[V,K]`
    at_kept = o_v[:, None] * F.K + o_k[None, :]
    S = tl.zeros([F.V, BK], dtype=F.ACC)
    if initial is not None:
        S += tl.load(initial + at_state).to(F.ACC)
    some = length > 0
    micro = start * F.NH * H + h
    row = start * H + h
    p_k = x.k + micro * F.K + o_k
    p_p = d.partial + micro * F.K + o_k
    at_v = micro * F.V + o_v
    p_b = x.beta + micro
    p_do = do + row * F.V + o_v
    p_q = d.q + row * F.K + o_k
    kn = tl.load(p_k, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    en = tl.load(errors + at_v, mask=some & (o_v < F.V), other=0.0)
    dn = tl.load(derrors + at_v, mask=some & (o_v < F.V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(F.ACC)
    on = tl.load(p_do, mask=some & (o_v < F.V), other=0.0).to(F.ACC)
    for i in range(length * F.NH):
        kt = kn
        ut = bn * en  # u = beta e
        det = dn
        ot = on
        last = i % F.NH == F.NH - 1
        more = tl.where(i + 1 < length * F.NH, 1, 0)
        p_k += more * (H * F.K)
        at_v += more * (H * F.V)
        p_b += more * H
        p_do += tl.where(last, more * (H * F.V), 0)  # the next token's, after the last micro-step of this one
        kn = tl.load(p_k).to(F.ACC)
        en = tl.load(errors + at_v)
        dn = tl.load(derrors + at_v)
        bn = tl.load(p_b).to(F.ACC)
        on = tl.load(p_do).to(F.ACC)
        # S before the token's gate, which da needs, at every GROUP-th token
        if F.GATED and i % F.NH == 0:
            t = i // F.NH
            if t % GROUP == 0:
                tl.store(d.kept + ((group + t // GROUP) * H + h) * F.K * F.V + at_kept, S)
            S *= tl.load(x.a + (start + t) * H + h).to(F.ACC)
        # e = v - S'ᵀ k gives dk' = -S' de; then S = S' + k uᵀ again
        tl.store(p_p, -tl.sum(S * det[:, None], 0))
        p_p += H * F.K
        # S is held transposed, so k uᵀ is u kᵀ here
        S += ut[:, None] * kt[None, :]
        # o = scale Sᵀ q gives dq = scale S do
        if last:
            tl.store(p_q, (tl.sum(S * ot[:, None], 0) * scale).to(d.q.dtype.element_ty))
            p_q += H * F.K
    tl.debug_barrier()  # the reverse run reads dk' and states that other threads may have written
    # dS is held as S is, `[V,BK]`
    dS = tl.zeros([F.V, BK], dtype=F.ACC)
    if dfinal is not None:
        dS += tl.load(dfinal + at_state).to(F.ACC)
    micro = ((start + length) * F.NH - 1) * H + h
    row = (start + length - 1) * H + h
    at_k = micro * F.K + o_k
    at_v = micro * F.V + o_v
    p_d = d.k + at_k
    p_b = x.beta + micro
    p_q = x.q + row * F.K + o_k
    p_do = do + row * F.V + o_v
    kn = tl.load(x.k + at_k, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    pn = tl.load(d.partial + at_k, mask=some & (o_k < F.K), other=0.0)
    en = tl.load(errors + at_v, mask=some & (o_v < F.V), other=0.0)
    dn = tl.load(derrors + at_v, mask=some & (o_v < F.V), other=0.0)
    bn = tl.load(p_b, mask=some, other=0.0).to(F.ACC)
    qn = tl.load(p_q, mask=some & (o_k < F.K), other=0.0).to(F.ACC)
    on = tl.load(p_do, mask=some & (o_v < F.V), other=0.0).to(F.ACC)
    for i in range(length * F.NH):
        kt = kn
        pt = pn
        ut = bn * en  # u = beta e
        det = dn
        qt = qn
        ot = on
        more = tl.where(i + 1 < length * F.NH, 1, 0)
        earlier = tl.where(i % F.NH == 0, tl.where(i + F.NH < length * F.NH, 1, 0), 0)
        at_k -= more * (H * F.K)
        at_v -= more * (H * F.V)
        p_b -= more * H
        p_q -= earlier * (H * F.K)
        p_do -= earlier * (H * F.V)
        kn = tl.load(x.k + at_k).to(F.ACC)
        pn = tl.load(d.partial + at_k)
        en = tl.load(errors + at_v)
        dn = tl.load(derrors + at_v)
        bn = tl.load(p_b).to(F.ACC)
        qn = tl.load(p_q).to(F.ACC)
        on = tl.load(p_do).to(F.ACC)
        if i % F.NH == 0:
            # o = scale Sᵀ q gives dSᵀ += do (scale q)ᵀ
            dS += ot[:, None] * (qt * scale)[None, :]
        # S = S' + k uᵀ gives dk = dk' + dS u; then dS' = dS - k deᵀ
        # dS u sums over values, the first dimension
        tl.store(p_d, (pt + tl.sum(dS * ut[:, None], 0)).to(d.k.dtype.element_ty))
        p_d -= H * F.K
        dS -= det[:, None] * kt[None, :]
        if F.GATED and i % F.NH == F.NH - 1:
            # da = ⟨dS', S before the token⟩, with that S replayed from the state kept before its group: no division by a
            t = length - 1 - i // F.NH
            row = (start + t) * H + h
            S = tl.load(d.kept + ((group + t // GROUP) * H + h) * F.K * F.V + at_kept)
            # the group's tokens before t, at most GROUP - 1
            for s in range(t // GROUP * GROUP, t):
                S *= tl.load(x.a + (start + s) * H + h).to(F.ACC)  # S' = a S
                for j in range(F.NH):
                    past = ((start + s) * F.NH + j) * H + h
                    kp = tl.load(x.k + past * F.K + o_k).to(F.ACC)
                    up = tl.load(x.beta + past).to(F.ACC) * tl.load(errors + past * F.V + o_v)
                    S += up[:, None] * kp[None, :]  # S = S' + k uᵀ
            # the part of this block of keys
            gate = tl.sum(tl.sum(dS * S, 1), 0)
            tl.store(d.a + tl.cast(block, tl.int64) * rows + row, gate)
            # dS = a dS'
            dS *= tl.load(x.a + row).to(F.ACC)


GROUP = 16
"""Tokens between the states that the gates' backward pass keeps."""


@lru_cache(maxsize=1024)
def _shape(form: Form) -> StepShape:
    sizes = form.householders, form.K, form.V
    return StepShape(*make_constants(*sizes, form.arithmetic, form.gated, form.packed))


@lru_cache(maxsize=1024)
def _forward(form: Form) -> tuple[Launcher, int]:
    """The launcher, and its programs for each sequence and head, by blocks of the state's columns."""
    BV = recurrent_width(form.V, form.K, max(512, form.sequences * form.heads))
    return launcher(recurrent_forward, Tile(BV, 1), F=_shape(form), BV=BV), count_blocks(form.V, BV)


def run_recurrent(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Outputs, final states, errors (the last two if asked for)."""
    x, form = problem, problem.form
    errors = x.new(*x.inputs.v.shape, dtype=form.state_dtype) if save else None
    out = RecurrentOutputs(x.new_outputs(), x.new_states() if final else None, errors)
    launch, blocks = _forward(form)
    grid = (form.sequences * form.heads * blocks,)
    launch(grid, x.inputs, x.initial, out, x.without_chunks(), x.scale)
    return out


@lru_cache(maxsize=1024)
def _backward(form: Form) -> tuple[Launcher, int, Launcher, int]:
    """The launchers for values and for keys, each with its programs for each sequence and head."""
    programs, F = form.sequences * form.heads, _shape(form)
    BV, BK = recurrent_width(form.V, form.K, programs), recurrent_width(form.K, form.V, programs)
    values = launcher(recurrent_backward_values, Tile(BV, 1), F=F, BV=BV)
    keys = launcher(recurrent_backward_keys, Tile(BK, 1), F=F, BK=BK, GROUP=GROUP)
    return values, count_blocks(form.V, BV), keys, count_blocks(form.K, BK)


def differentiate_recurrent(problem: Problem, do: Tensor, dfinal: Tensor | None, errors: Tensor) -> Gradients:
    """All gradients from the errors that `run_recurrent` kept."""
    x, form, inputs = problem, problem.form, problem.inputs
    programs, H, wide = form.sequences * form.heads, form.heads, form.state_dtype
    values, value_blocks, keys, key_blocks = _backward(form)
    dq, dk, dv = map(launching.empty_like, (inputs.q, inputs.k, inputs.v))
    dinitial = x.new_states() if form.initial else None
    # where dv has the states' format it is de itself
    derrors = None if form.dtype == wide else x.new(*errors.shape, dtype=wide)
    micro_steps = inputs.beta.numel()
    of_values = ValueGradients(derrors, dv, x.new(value_blocks, micro_steps, dtype=wide), dinitial)
    values(
        (programs * value_blocks,),
        *(inputs, do, errors, dfinal, of_values, x.without_chunks(), x.scale, micro_steps),
    )
    # a group of tokens is placed as a chunk is
    groups, tokens = place_chunks(x, GROUP), form.batch * form.tokens * H
    of_keys = KeyGradients(
        q=dq,
        k=dk,
        a=x.new(key_blocks, tokens, dtype=wide) if form.gated else None,
        partial=x.new(*inputs.k.shape, dtype=wide),
        kept=x.new(groups.count, H, form.V, form.K, dtype=wide) if form.gated else None,
    )
    keys(
        (programs * key_blocks,),
        *(inputs, x.initial, do, errors, dv if derrors is None else derrors, dfinal, of_keys),
        *(groups.places, x.scale, tokens),
    )
    # every block of columns, or of rows, has given a part of the sum
    dbeta = of_values.beta.sum(0).view_as(inputs.beta).to(inputs.beta.dtype)
    da = None if of_keys.a is None or inputs.a is None else of_keys.a.sum(0).view_as(inputs.a)
    return Gradients(dq, dk, dv, dbeta, da, dinitial)
