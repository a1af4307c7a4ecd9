"""DeltaProduct by chunks in phases, for wide heads: only the serial chain is serial, the rest is parallel over chunks.

    gate_products  a program a chunk, with gates only: c and d, which would hold up the chains
    prepare        a program a chunk: the inverses X and the scores Q Kᵀ ∘ D (see `_triton_chunk` for the letters)
    advance        a program a block of value columns: S0 -> S1 through all chunks, outputs; keeps e and the states for later
    retreat        a program a block of value columns: dS1 -> dS0 through all chunks; dV, and keeps the dS1
    gradients      a program a chunk: everything that needs only the chunk's e, dV, S0 and dS1

The last two, with that of the gates, are in `_triton_phases_backward`.  Value columns never meet in `advance` and `retreat`, so a
sequence and head fill several programs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from .._launching import Launcher, launcher
from ._plan import count_blocks, token_rows
from ._problem import Chunks, Form, Problem, place_chunks
from ._triton_blocks import (
    add_product,
    decay_chunk,
    invert_chunk,
    load_gate_products,
    load_gates,
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

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class Prepared(NamedTuple):
    """What the first phases find of each chunk, for the chains."""

    inverses: Tensor
    """X `[chunks,H,C,C]`, in q's dtype."""
    scores: Tensor
    """Q Kᵀ ∘ D on seen rows `[chunks,H,R,C]`, in q's dtype."""
    products: Tensor | None
    """Of gates, in the states' dtype `[chunks,H,3,C]`: c up to each row, d from each row to the chunk's end, c up to outputs."""


class Advanced(NamedTuple):
    """What `advance` fills; None where not asked for."""

    o: Tensor | None
    """`[B,T,H,V]`."""
    final: Tensor | None
    """Last states `[N,H,K,V]`.  Without o a summary `[N,H,K,V+K]`: what a zero state becomes, then what the identity becomes
    without values."""
    errors: Tensor | None
    """For the backward pass: e, laid out as v."""
    states: Tensor | None
    """For the backward pass: Sᵀ at each chunk's start `[chunks,H,V,K]`."""


@triton.jit
def gate_products(a, products, at, F: tl.constexpr):
    """The products of `Prepared`."""
    index = tl.program_id(0)
    h = tl.program_id(1)
    start, left = locate_chunk(at, index, F.TC, F.PACKED)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    gate, after, token_gate = load_gates(a + start * at.H + h, o_c, o_r, tl.minimum(left, F.TC), at.H, F)
    # `[chunks,H,3,C]`; of its third row R entries are used
    p = products + (tl.cast(index, tl.int64) * at.H + h) * 3 * F.C
    c, d, c_r = multiply_gates(gate, after, token_gate)
    tl.store(p + o_c, c)
    tl.store(p + F.C + o_c, d)
    tl.store(p + 2 * F.C + o_r, c_r)


@triton.jit
def prepare(x, out, at, F: tl.constexpr):
    """Inverses and scores of `Prepared` out."""
    index = tl.program_id(0)
    h = tl.program_id(1)
    H = at.H
    start, left = locate_chunk(at, index, F.TC, F.PACKED)
    o_k = tl.arange(0, F.K)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    used = mask_rows(o_c, left, F)
    read = mask_tokens(o_r, left, F)
    # offsets of the micro-steps in beta `[B,T·n_h,H]`: ((start + token)·n_h + step)·H + h
    micro = start * F.NH * H + h + o_c * H
    Kc = load_rows(x.k + micro[:, None] * F.K + o_k[None, :], used, F.EVEN)
    Qc = load_rows(x.q + (start * H + h + o_r * H)[:, None] * F.K + o_k[None, :], read, F.EVEN_READ)
    bt = tl.load(x.beta + micro, mask=used, other=0.0).to(F.ACC)
    # att = Q Kᵀ ∘ D on seen rows
    att = tl.where(mask_seen(o_r[:, None], o_c[None, :], F.NH), multiply(Qc, tl.trans(Kc), F), 0.0)
    if F.GATED:
        tokens = tl.minimum(left, F.TC)
        gate, _after, token_gate = load_gates(x.a + start * H + h, o_c, o_r, tokens, H, F)
        D, D_r = decay_chunk(gate, token_gate, o_r, o_c, F.NH)
        att *= D_r
    else:
        D = 0.0  # not read without gates
    row = (tl.cast(index, tl.int64) * H + h) * F.R
    tl.store(
        out.scores + (row + o_r[:, None]) * F.C + o_c[None, :],
        att.to(out.scores.dtype.element_ty),
        mask=mask_seen_tiles(o_r, o_c, F.NH),  # tiles that no token sees are neither written nor read
    )
    X, _Xt = invert_chunk(Kc, bt, D, F)
    row = (tl.cast(index, tl.int64) * H + h) * F.C
    tl.store(
        out.inverses + (row + o_c[:, None]) * F.C + o_c[None, :],
        X.to(out.inverses.dtype.element_ty),
        mask=mask_lower_tiles(o_c),  # those above the diagonal are zero
    )


@triton.jit
def write_outputs(Sd, Ud, p_q, p_g, p_o, c_r, o_r, o_c, left, scale, F: tl.constexpr):
    """O = scale (c Q S0 + att U) from the state at the chunk's start and U, both transposed and in the tensors' dtype."""
    read = mask_tokens(o_r, left, F)
    Qc = load_rows(p_q, read, F.EVEN_READ)
    att = tl.load(p_g, mask=mask_seen_tiles(o_r, o_c, F.NH), other=0.0)
    # (Q S0)ᵀ = S0ᵀ Qᵀ
    o = multiply(Sd, tl.trans(Qc), F)
    if F.GATED:
        o *= c_r[None, :]
    # Oᵀ = scale ((c Q S0)ᵀ + Uᵀ attᵀ)
    o = add_product(Ud, tl.trans(att), o, F.PREC) * scale
    store_rows(p_o, tl.trans(o), read, F.EVEN_READ)


@triton.jit
def advance(x, prepared, initial, out, at, scale, F: tl.constexpr, BV: tl.constexpr):
    """`Advanced` out from `Inputs` x and what the first phases prepared; without `out.o` summaries."""
    SUMMARY: tl.constexpr = out.o is None
    SAVE: tl.constexpr = out.errors is not None
    # a summary has the V columns of C and the K columns of M
    WIDTH: tl.constexpr = F.V + F.K if SUMMARY else F.V
    n, h, block = locate_program(at.H, WIDTH // BV)
    H = at.H
    start, length = locate_sequence(at, n, F.PACKED)
    chunk = locate_first_chunk(at, n, F.TC, F.PACKED)
    o_k = tl.arange(0, F.K)
    o_v = block * BV + tl.arange(0, BV)
    o_c = tl.arange(0, F.C)
    o_r = tl.arange(0, F.R)
    DT = x.k.dtype.element_ty
    # K by rows `[C,K]`, V transposed `[BV,C]`, beta `[C]`
    p_k = x.k + (start * F.NH * H + h) * F.K + o_c[:, None] * H * F.K + o_k[None, :]
    p_v = x.v + (start * F.NH * H + h) * F.V + o_c[None, :] * H * F.V + o_v[:, None]
    p_b = x.beta + start * F.NH * H + h + o_c * H
    if F.GATED:
        # the three rows of products, the inverse `[C,C]` and
        # below the scores `[R,C]` of the sequence's first chunk
        p_p = prepared.products + (chunk * H + h) * 3 * F.C
    p_x = prepared.inverses + (chunk * H + h) * F.C * F.C + o_c[:, None] * F.C + o_c[None, :]
    # the state is `[K,WIDTH]` in memory and held transposed, `[BV,K]`
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], F.K, WIDTH)
    S = tl.zeros([BV, F.K], dtype=F.ACC)
    if SUMMARY:
        # a segment makes M S + C of a state S: the first V columns are C, from zero, the last K are M, from the identity
        # column V + k begins as the k-th unit vector
        S += tl.where(o_v[:, None] == o_k[None, :] + F.V, 1.0, 0.0)
    else:
        p_q = x.q + (start * H + h) * F.K + o_r[:, None] * H * F.K + o_k[None, :]
        p_o = out.o + (start * H + h) * F.V + o_r[:, None] * H * F.V + o_v[None, :]
        p_g = prepared.scores + (chunk * H + h) * F.R * F.C + o_r[:, None] * F.C + o_c[None, :]
    if SAVE:
        p_e = out.errors + (start * F.NH * H + h) * F.V + o_c[:, None] * H * F.V + o_v[None, :]
        p_s = out.states + (chunk * H + h) * F.V * F.K + o_v[:, None] * F.K + o_k[None, :]
    if initial is not None:
        S += tl.load(initial + at_state).to(F.ACC)
    # values and beta are no operands of products, so the compiler does not load them ahead; products of gates need not be
    following = mask_rows(o_c, length, F)
    # the columns of M run without values
    has_values = (o_v < F.V)[:, None]
    Vn = tl.load(p_v, mask=following[None, :] & has_values, other=0.0)
    bn = tl.load(p_b, mask=following, other=0.0)
    # c of the outputs, read only where there are gates
    c_r = tl.full([F.R], 1.0, dtype=F.ACC)
    for i in range(tl.cdiv(length, F.TC)):
        left = length - i * F.TC
        used = mask_rows(o_c, left, F)
        Kc = load_rows(p_k, used, F.EVEN)
        Vt = Vn.to(F.ACC)
        bt = bn.to(F.ACC)
        p_v += F.TC * F.NH * H * F.V
        p_b += F.TC * F.NH * H
        # the next chunk's rows; behind the last chunk there are none
        following = mask_rows(o_c, left - F.TC, F)
        Vn = tl.load(p_v, mask=following[None, :] & has_values, other=0.0)
        bn = tl.load(p_b, mask=following, other=0.0)
        X = tl.load(p_x, mask=mask_lower_tiles(o_c), other=0.0)
        # the state is rounded here, as an operand; it goes on unrounded
        Sd = S.to(DT)
        # (K S0)ᵀ = S0ᵀ Kᵀ
        KS = multiply(Sd, tl.trans(Kc), F)
        if F.GATED:
            c, d, c_r, c_last = load_gate_products(p_p, o_c, o_r, True)
            p_p += H * 3 * F.C
            KS *= c[None, :]
        # e = X (V - c K S0), U = B e
        # eᵀ = (V - c K S0)ᵀ Xᵀ
        e = multiply((Vt - KS).to(DT), tl.trans(X), F)
        U = e * bt[None, :]  # Uᵀ = eᵀ B
        Ud = U.to(DT)
        if SAVE:
            tl.store(p_s, Sd)  # S0ᵀ as the products use it
            store_rows(p_e, tl.trans(e.to(DT)), used, F.EVEN)
        if not SUMMARY and F.R < F.C:
            write_outputs(Sd, Ud, p_q, p_g, p_o, c_r, o_r, o_c, left, scale, F)
        # S1 = c_last S0 + (d K)ᵀ U
        if F.GATED:
            # S1ᵀ = c_last S0ᵀ + (d U)ᵀ K
            S = add_product((U * d[None, :]).to(DT), Kc, S * c_last, F.PREC)
        else:
            S = add_product(Ud, Kc, S, F.PREC)
        if not SUMMARY:
            # with as many tokens as rows the chain comes first: the outputs are much work that it need not wait for
            if F.R == F.C:
                write_outputs(Sd, Ud, p_q, p_g, p_o, c_r, o_r, o_c, left, scale, F)
            p_q += F.TC * H * F.K
            p_o += F.TC * H * F.V
            p_g += H * F.R * F.C
        if SAVE:
            p_e += F.TC * F.NH * H * F.V
            p_s += H * F.V * F.K
        p_k += F.TC * F.NH * H * F.K
        p_x += H * F.C * F.C
    if out.final is not None:
        tl.store(out.final + at_state, S)


@lru_cache(maxsize=1024)
def _gate_products(form: Form) -> Launcher:
    return launcher(gate_products, Tile(form.plan.rows, 1, 1), F=shape_chunks(form))


def place_phases(problem: Problem) -> Chunks:
    """Chunk tables, with the products of gates."""
    x, form, C = problem, problem.form, problem.form.plan.rows
    chunks = place_chunks(x, C // form.householders)
    if form.gated:
        chunks.gate_products = x.new(chunks.count, form.heads, 3, C, dtype=form.state_dtype)
        grid = chunks.count, form.heads
        _gate_products(form)(grid, x.inputs.a, chunks.gate_products, chunks.places)
    return chunks


@lru_cache(maxsize=1024)
def _prepare(form: Form) -> Launcher:
    return launcher(prepare, form.plan.prepare, F=shape_chunks(form))


def prepare_chunks(problem: Problem) -> tuple[Chunks, Prepared]:
    """Chunk tables, and what the chains need of each chunk."""
    x, form, C = problem, problem.form, problem.form.plan.rows
    chunks = place_phases(x)
    prepared = Prepared(
        x.new(chunks.count, form.heads, C, C),
        x.new(chunks.count, form.heads, token_rows(C, form.householders), C),
        chunks.gate_products,
    )
    _prepare(form)((chunks.count, form.heads), x.inputs, prepared, chunks.places)
    return chunks, prepared


@lru_cache(maxsize=1024)
def _advance(form: Form, save: bool, summary: bool) -> tuple[Launcher, int]:
    """The launcher, and its programs for each sequence and head."""
    tile = form.plan.saving if save else form.plan.summary if summary else form.plan.forward
    launch = launcher(advance, tile, F=shape_chunks(form), BV=tile.width)
    return launch, count_blocks(form.V + form.K if summary else form.V, tile.width)


def advance_chunks(
    problem: Problem, chunks: Chunks, prepared: Prepared, *, final: bool, save: bool
) -> Advanced:
    """Outputs; final states, and errors with states at the chunks' starts, where asked for."""
    x, form = problem, problem.form
    out = Advanced(
        x.new_outputs(),
        x.new_states() if final else None,
        launching.empty_like(x.inputs.v) if save else None,
        x.new(chunks.count, form.heads, form.V, form.K) if save else None,
    )
    _launch_advance(x, chunks, prepared, x.initial, out)
    return out


def summarise_chunks(problem: Problem, chunks: Chunks, prepared: Prepared) -> Tensor:
    """Of each sequence the affine map of states that its tokens are, `[N,H,K,V+K]`."""
    x, form = problem, problem.form
    shape = form.sequences, form.heads, form.K, form.V + form.K
    summaries = x.new(*shape, dtype=form.state_dtype)
    _launch_advance(x, chunks, prepared, None, Advanced(None, summaries, None, None))
    return summaries


def _launch_advance(
    problem: Problem, chunks: Chunks, prepared: Prepared, initial: Tensor | None, out: Advanced
) -> None:
    x, form = problem, problem.form
    launch, blocks = _advance(form, out.errors is not None, out.o is None)
    grid = (form.sequences * form.heads * blocks,)
    launch(grid, x.inputs, prepared, initial, out, chunks.places, x.scale)


def run_phases(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor | None, ...]:
    """Outputs and final states; for the backward pass inverses, scores, errors and states at the chunks' starts."""
    chunks, prepared = prepare_chunks(problem)
    out = advance_chunks(problem, chunks, prepared, final=final, save=save)
    if not save:
        return out.o, out.final
    return out.o, out.final, prepared.inverses, prepared.scores, out.errors, out.states
