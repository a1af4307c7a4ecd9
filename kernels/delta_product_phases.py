"""Launches of the chunk kernels in phases, and of the chain of segments."""

from __future__ import annotations

import torch
import triton.language as tl
from torch import Tensor

from . import launching
from .delta_product_fused import chunk_constants
from .delta_product_plan import Plan, Tile, token_rows
from .delta_product_problem import Chunks, Gradients, Problem, place_chunks
from .triton_chain import chain
from .triton_phases import advance, prepare
from .triton_phases_backward import gradients, retreat
from .triton_phases_gates import gate_gradients


def phase_prepare(problem: Problem, plan: Plan) -> tuple[Chunks, Tensor, Tensor]:
    """Chunk tables, inverses and scores."""
    x, (_K, _V) = problem, problem.widths
    chunks = place_chunks(x, plan.rows // x.householders)
    device, H, C = x.q.device, x.heads, plan.rows
    inverses = launching.empty(chunks.count, H, C, C, dtype=x.q.dtype, device=device)
    scores = launching.empty(
        chunks.count, H, token_rows(C, x.householders), C, dtype=x.q.dtype, device=device
    )
    constants = chunk_constants(x, plan)
    del constants["V"]
    launching.launch(
        prepare,
        (chunks.count, H),
        plan.prepare,
        *(x.q, x.k, x.beta, x.gates, inverses, scores, x.cu, chunks.start, chunks.sequence, x.tokens, H),
        **constants,
        IPREC=plan.inverse_precision,
    )
    return chunks, inverses, scores


def phase_advance(
    problem: Problem,
    plan: Plan,
    chunks: Chunks,
    inverses: Tensor,
    scores: Tensor,
    *,
    final: bool,
    save: bool,
    summary: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Outputs, final states (or summaries), errors, states at the chunks' starts."""
    x, (K, V) = problem, problem.widths
    device, H = x.q.device, x.heads
    width = V + K if summary else V
    tile = plan.saving if save else plan.forward
    o = launching.empty(*((0,) if summary else (*x.q.shape[:3], V)), dtype=x.q.dtype, device=device)
    last = launching.empty(
        *((x.sequences, H, K, width) if final else (0,)), dtype=x.state_dtype, device=device
    )
    errors = launching.empty(*(x.v.shape if save else (0,)), dtype=x.q.dtype, device=device)
    states = launching.empty(*((chunks.count, H, V, K) if save else (0,)), dtype=x.q.dtype, device=device)
    initial = None if summary else x.initial
    launching.launch(
        advance,
        (x.sequences * H * (width // tile.width),),
        tile,
        *(x.q, x.k, x.v, x.beta, x.gates, inverses, scores, o, initial, last, errors, states),
        *(x.cu, chunks.start, x.scale, x.tokens, H),
        **chunk_constants(x, plan),
        BV=tile.width,
        INITIAL=initial is not None,
        FINAL=final,
        SAVE=save,
        SUMMARY=summary,
    )
    return o, last, errors, states


def phase_retreat(
    problem: Problem,
    plan: Plan,
    chunks: Chunks,
    inverses: Tensor,
    scores: Tensor,
    do: Tensor,
    dfinal: Tensor | None,
    dinitial: Tensor | None,
    dv: Tensor | None,
) -> Tensor:
    """Fills dinitial and dv; with dv also the gradients of the states at the chunks' ends."""
    x, (K, V) = problem, problem.widths
    save = dv is not None
    dstates = launching.empty(
        *((chunks.count, x.heads, V, K) if save else (0,)), dtype=x.q.dtype, device=x.q.device
    )
    launching.launch(
        retreat,
        (x.sequences * x.heads * (V // plan.backward.width),),
        plan.backward,
        *(
            x.q,
            x.k,
            x.beta,
            x.gates,
            inverses,
            scores,
            do,
            dfinal,
            dinitial,
            dstates if dv is None else dv,
            dstates,
        ),
        *(x.cu, chunks.start, x.scale, x.tokens, x.heads),
        **chunk_constants(x, plan),
        BV=plan.backward.width,
        DFINAL=dfinal is not None,
        DINITIAL=dinitial is not None,
        SAVE=save,
    )
    return dstates


def phase_gradients(
    problem: Problem,
    plan: Plan,
    chunks: Chunks,
    do: Tensor,
    errors: Tensor,
    states: Tensor,
    dstates: Tensor,
    out: Gradients,
) -> None:
    """Fills the gradients of q, k, beta and the gates; that of v is filled already."""
    x = problem
    K, V = x.widths
    gated = x.a is not None
    weights = launching.empty(
        *((chunks.count, x.heads, 4, plan.rows) if gated else (0,)), dtype=x.state_dtype, device=x.q.device
    )
    places = x.cu, chunks.start, chunks.sequence, x.scale, x.tokens, x.heads
    constants = chunk_constants(x, plan)
    launching.launch(
        gradients,
        (chunks.count, x.heads),
        plan.gradients,
        *(x.q, x.k, x.beta, x.gates, do, errors, states, out.v, dstates, out.q, out.k, out.beta, weights),
        *places,
        **constants,
        BK=min(K, plan.gradients.width),
        BV=min(V, plan.gradient_values),
    )
    if not gated:
        return
    del constants["GATED"]
    launching.launch(
        gate_gradients,
        (chunks.count, x.heads),
        Tile(
            plan.gradients.width, 4, 1
        ),  # with 8 warps and 16 token rows products this wide have crashed on Hopper
        *(x.q, x.k, x.beta, x.gates, do, errors, out.v, weights, out.a),
        *places,
        **constants,
        BK=min(K, plan.gradient_values),
        BV=min(V, plan.gradient_values),
    )


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
    tile = Tile(16, 4 if K > 32 else 1, 2 if K <= 64 else 1)
    launching.launch(
        chain,
        (N * H * (V // tile.width),),
        tile,
        *(summaries, additions, initial, states, final, first, H),
        K=K,
        V=V,
        BV=tile.width,
        INITIAL=initial is not None,
        REVERSE=additions is not None,
        ACC=tl.float64 if summaries.dtype == torch.float64 else tl.float32,
    )
    return states, final
