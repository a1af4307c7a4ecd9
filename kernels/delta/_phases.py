"""Launches of the chunk kernels in phases, and of the chain of segments.

Mode `scan`: parallel in time.  Sequences are cut into segments, a segment's affine map S -> M S + C is found for all at
once, the maps are chained, and then every segment runs from its own start.

    summaries   what each segment makes of a zero state (C) and, without values, of the identity (M)
    chain       the states before the segments, one small product a segment
    outputs     as packed sequences with those states
    backward    each segment's gradient of its start for no gradient at its end, chained with Mᵀ, then as packed sequences
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import torch
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from .._launching import Launcher, launcher, pointers
from ._plan import (
    chain_rows,
    chain_tile,
    count_blocks,
    gate_gradients_tile,
    gradient_blocks,
    segment_count,
    segment_tokens,
    token_rows,
)
from ._problem import Chunks, Form, Gradients, Problem, place_chunks
from ._triton_chunk import chunk_constants
from ._triton_phases import advance, chain, gate_products, prepare
from ._triton_phases_backward import gate_gradients, gradients, retreat


@lru_cache(maxsize=1024)
def _prepare(form: Form) -> Launcher:
    constants = chunk_constants(form)
    del constants["V"]
    return launcher(prepare, form.plan.prepare, **constants, IPREC=form.plan.inverse_precision)


@lru_cache(maxsize=1024)
def _products(form: Form) -> Launcher:
    names = ("NH", "C", "R", "ACC", "PACKED")
    constants = chunk_constants(form)
    return launcher(gate_products, Tile(form.plan.rows, 1, 1), **{name: constants[name] for name in names})


def phase_place(problem: Problem) -> Chunks:
    """Chunk tables, with the products of gates, or any tensor where there are none: kernels then do not read it."""
    x, form, C = problem, problem.form, problem.form.plan.rows
    chunks = place_chunks(x, C // form.householders)
    chunks.products = x.q
    if form.gated:
        chunks.products = x.new(chunks.count, form.heads, 3, C, dtype=form.state_dtype)
        _products(form)(
            (chunks.count, form.heads),
            *(x.gates, chunks.products, x.cu, chunks.start, chunks.sequence, form.tokens, form.heads),
        )
    return chunks


def phase_prepare(problem: Problem) -> tuple[Chunks, Tensor, Tensor]:
    """Chunk tables, inverses and scores."""
    x, form, C = problem, problem.form, problem.form.plan.rows
    chunks = phase_place(x)
    inverses = x.new(chunks.count, form.heads, C, C)
    scores = x.new(chunks.count, form.heads, token_rows(C, form.householders), C)
    _prepare(form)(
        (chunks.count, form.heads),
        *(x.q, x.k, x.beta, x.gates, inverses, scores, x.cu, chunks.start, chunks.sequence),
        *(form.tokens, form.heads),
    )
    return chunks, inverses, scores


@lru_cache(maxsize=1024)
def _advance(form: Form, initial: bool, final: bool, save: bool, summary: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head."""
    tile = form.plan.saving if save else form.plan.summary if summary else form.plan.forward
    launch = launcher(
        advance,
        tile,
        **chunk_constants(form),
        BV=tile.width,
        INITIAL=initial,
        FINAL=final,
        SAVE=save,
        SUMMARY=summary,
    )
    return launch, count_blocks(form.V + form.K if summary else form.V, tile.width)


def phase_advance(
    problem: Problem,
    chunks: Chunks,
    inverses: Tensor,
    scores: Tensor,
    *,
    final: bool,
    save: bool,
    summary: bool = False,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """Outputs (not of summaries), final states or summaries, errors, states at the chunks' starts."""
    x, form = problem, problem.form
    N, H, K, V = form.sequences, form.heads, form.K, form.V
    width = V + K if summary else V
    o = None if summary else x.outputs()
    last = x.new(N, H, K, width, dtype=form.state_dtype) if final else None
    errors = launching.empty_like(x.v) if save else None
    states = x.new(chunks.count, H, V, K) if save else None
    initial = None if summary else x.initial
    launch, blocks = _advance(form, initial is not None, final, save, summary)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.v, x.beta, chunks.products, inverses, scores, *pointers(x.q, o), initial),
        *pointers(x.q, last, errors, states),
        *(x.cu, chunks.start, x.scale, form.tokens, H),
    )
    return o, last, errors, states


@lru_cache(maxsize=1024)
def _retreat(form: Form, dfinal: bool, dinitial: bool, save: bool) -> tuple[Launcher, int]:
    """And its programs for each sequence and head."""
    tile = form.plan.backward
    launch = launcher(
        retreat,
        tile,
        **chunk_constants(form),
        BV=tile.width,
        DFINAL=dfinal,
        DINITIAL=dinitial,
        SAVE=save,
    )
    return launch, count_blocks(form.V, tile.width)


def phase_retreat(
    problem: Problem,
    chunks: Chunks,
    inverses: Tensor,
    scores: Tensor,
    do: Tensor,
    dfinal: Tensor | None,
    dinitial: Tensor | None,
    dv: Tensor | None,
) -> Tensor | None:
    """Fills dinitial and dv; with dv also the gradients of the states at the chunks' ends."""
    x, form = problem, problem.form
    N, H, K, V = form.sequences, form.heads, form.K, form.V
    dstates = None if dv is None else x.new(chunks.count, H, V, K)
    launch, blocks = _retreat(form, dfinal is not None, dinitial is not None, dv is not None)
    launch(
        (N * H * blocks,),
        *(x.q, x.k, x.beta, chunks.products, inverses, scores, do, dfinal, dinitial),
        *pointers(do, dv, dstates),
        *(x.cu, chunks.start, x.scale, form.tokens, H),
    )
    return dstates


@lru_cache(maxsize=1024)
def _gradients(form: Form) -> tuple[Launcher, Launcher]:
    """Of q, k and beta, and of the gates."""
    constants, plan = chunk_constants(form), form.plan
    BK, BV = gradient_blocks(plan, form.K, form.V)
    first = launcher(gradients, plan.gradients, **constants, BK=BK, BV=BV)
    del constants["GATED"]
    tile, BK = gate_gradients_tile(plan, form.K)
    return first, launcher(gate_gradients, tile, **constants, BK=BK, BV=BV)


def phase_gradients(
    problem: Problem,
    chunks: Chunks,
    do: Tensor,
    errors: Tensor,
    states: Tensor,
    dstates: Tensor,
    out: Gradients,
) -> None:
    """Fills the gradients of q, k, beta and the gates; that of v is filled already."""
    x, form = problem, problem.form
    grid = chunks.count, form.heads
    places = x.cu, chunks.start, chunks.sequence, x.scale, form.tokens, form.heads
    weights = x.new(*grid, 4, form.plan.rows, dtype=form.state_dtype) if form.gated else do
    first, second = _gradients(form)
    first(
        grid,
        *(x.q, x.k, x.beta, x.gates, do, errors, states, out.v, dstates, out.q, out.k, out.beta, weights),
        *places,
    )
    if form.gated:
        second(grid, *(x.q, x.k, x.beta, x.gates, do, errors, out.v, weights, out.a), *places)


def chain_segments(
    summaries: Tensor,
    additions: Tensor | None,
    initial: Tensor | None,
    first: Tensor,
    widths: tuple[int, int],
) -> tuple[Tensor, Tensor]:
    """States before each segment and after the last; with additions, gradients at each segment's end and at the start."""
    K, V = widths
    segments, H = summaries.shape[:2]
    N = first.numel() - 1
    states = launching.empty(segments, H, K, V, dtype=summaries.dtype, device=summaries.device)
    final = launching.empty(N, H, K, V, dtype=summaries.dtype, device=summaries.device)
    tile = chain_tile(K)
    launcher(
        chain,
        tile,
        K=K,
        V=V,
        BV=tile.width,
        BK=chain_rows(K, summaries.dtype),
        INITIAL=initial is not None,
        REVERSE=additions is not None,
        ACC=tl.float64 if summaries.dtype == torch.float64 else tl.float32,
    )((N * H * count_blocks(V, tile.width),), *(summaries, additions, initial, states, final, first, H))
    return states, final


def segment_bounds(problem: Problem) -> tuple[Tensor, Tensor]:
    """Bounds in tokens of all segments (the last ones may be empty), and the first segment of each sequence."""
    form = problem.form
    B, T, N, chunk_tokens = form.batch, form.tokens, form.sequences, form.plan.rows // form.householders
    each = segment_tokens(B * T, form.heads, chunk_tokens)
    device = problem.q.device
    count = segment_count(B, T, N, form.heads, chunk_tokens, form.packed)
    if problem.cu is None:
        per = -(-T // each)
        inside = torch.clamp(torch.arange(per, device=device) * each, max=T)
        starts = (torch.arange(B, device=device)[:, None] * T + inside).reshape(-1)
        bounds = torch.cat([starts, starts.new_full((1,), B * T)])
        return bounds, torch.arange(B + 1, device=device, dtype=torch.int32) * per
    cu = problem.cu.long()
    pieces = (cu[1:] - cu[:-1] + (each - 1)).div(each, rounding_mode="floor")
    first = torch.cat([pieces.new_zeros(1), pieces.cumsum(0)])
    index = torch.arange(count, device=device)
    sequence = torch.clamp(torch.searchsorted(first, index, right=True) - 1, max=N - 1)
    starts = torch.minimum(cu[sequence] + (index - first[sequence]) * each, cu[sequence + 1])
    starts = torch.where(index < first[-1], starts, cu[-1])
    return torch.cat([starts, cu[-1:]]), first.int()


@lru_cache(maxsize=1024)
def _segmented(form: Form, segments: int, initial: bool) -> Form:
    tokens = form.batch * form.tokens
    return replace(form, batch=1, tokens=tokens, sequences=segments, initial=initial, packed=True)


def as_segments(problem: Problem, bounds: Tensor, initial: Tensor | None) -> Problem:
    """The segments as packed sequences, with the plan of the whole."""
    form = _segmented(problem.form, bounds.numel() - 1, initial is not None)
    inputs = (problem.q, problem.k, problem.v, problem.beta, problem.a)
    flat = [None if x is None else x.reshape(1, -1, *x.shape[2:]) for x in inputs]
    return Problem.formed(form, problem.scale, *flat, initial, bounds)


def scan_forward(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Outputs, final states, and for the backward pass the summaries and the states before the segments."""
    form = problem.form
    bounds, first = segment_bounds(problem)
    segments = as_segments(problem, bounds, None)
    tables = phase_prepare(segments)
    _, summaries, *_ = phase_advance(segments, *tables, final=True, save=False, summary=True)
    assert summaries is not None
    starts, last = chain_segments(summaries, None, problem.initial, first, (form.K, form.V))
    o, *_ = phase_advance(as_segments(problem, bounds, starts), *tables, final=False, save=False)
    assert o is not None
    kept = (summaries, starts) if save else (None, None)
    return o.view(form.batch, form.tokens, form.heads, form.V), last if final else None, *kept


def scan_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]) -> Gradients:
    """All gradients; inverses, errors and the chunks' states are computed again."""
    summaries, starts = saved[:2]
    bounds, first = segment_bounds(problem)
    segments = as_segments(problem, bounds, starts)
    do = do.reshape(1, -1, *do.shape[2:])
    tables = phase_prepare(segments)
    _, _, errors, states = phase_advance(segments, *tables, final=False, save=True)
    additions = launching.empty_like(starts)
    phase_retreat(segments, *tables, do, None, additions, None)
    ends, dinitial = chain_segments(summaries, additions, dfinal, first, (problem.form.K, problem.form.V))
    inner = Gradients.of(segments)
    dstates = phase_retreat(segments, *tables, do, ends, None, inner.v)
    assert errors is not None
    assert states is not None
    assert dstates is not None
    phase_gradients(segments, tables[0], do, errors, states, dstates, inner)
    return Gradients(
        q=inner.q.view_as(problem.q),
        k=inner.k.view_as(problem.k),
        v=inner.v.view_as(problem.v),
        beta=inner.beta.view_as(problem.beta),
        a=None if inner.a is None or problem.a is None else inner.a.view_as(problem.a),
        initial=None if problem.initial is None else dinitial,
    )
