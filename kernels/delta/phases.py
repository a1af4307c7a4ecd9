"""Launches of the chunk kernels in phases, and of the chain of segments."""

from __future__ import annotations

from functools import lru_cache

import torch
import triton.language as tl
from torch import Tensor

from .. import launching
from ..launching import Launcher, launcher, pointers
from ..tiles import Tile
from .fused import chunk_constants
from .plan import chain_rows, chain_tile, count_blocks, gate_gradients_tile, gradient_blocks, token_rows
from .problem import Chunks, Form, Gradients, Problem, place_chunks
from .triton_chain import chain
from .triton_phases import advance, gate_products, prepare
from .triton_phases_backward import gradients, retreat
from .triton_phases_gates import gate_gradients


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
