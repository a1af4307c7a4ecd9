"""Mode `scan`: parallel in time.  Sequences are cut into segments, a segment's affine map S -> M S + C is found for all at
once, the maps are chained, and then every segment runs from its own start.

    summaries   what each segment makes of a zero state (C) and, without values, of the identity (M)
    chain       the states before the segments, one small product a segment
    outputs     as packed sequences with those states
    backward    each segment's gradient of its start for no gradient at its end, chained with Mᵀ, then as packed sequences
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from . import launching
from .delta_product_fused import plan_for
from .delta_product_phases import (
    chain_segments,
    phase_advance,
    phase_gradients,
    phase_prepare,
    phase_retreat,
)
from .delta_product_plan import segment_tokens
from .delta_product_problem import Gradients, Problem
from .delta_product_shapes import segment_count


def segment_bounds(problem: Problem, chunk_tokens: int) -> tuple[Tensor, Tensor]:
    """Bounds in tokens of all segments (the last ones may be empty), and the first segment of each sequence."""
    B, T, N = problem.q.shape[0], problem.tokens, problem.sequences
    each = segment_tokens(B * T, problem.heads, chunk_tokens)
    device = problem.q.device
    count = segment_count(B, T, N, problem.heads, chunk_tokens, problem.cu is not None)
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


def as_segments(problem: Problem, bounds: Tensor, initial: Tensor | None) -> Problem:
    """The segments as packed sequences."""

    def flat(x: Tensor) -> Tensor:
        return x.reshape(1, -1, *x.shape[2:])

    return replace(
        problem,
        q=flat(problem.q),
        k=flat(problem.k),
        v=flat(problem.v),
        beta=flat(problem.beta),
        a=None if problem.a is None else flat(problem.a),
        cu=bounds,
        initial=initial,
    )


def scan_forward(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Outputs, final states, and for the backward pass the summaries and the states before the segments."""
    plan = plan_for(problem, phases=True)
    bounds, first = segment_bounds(problem, plan.rows // problem.householders)
    segments = as_segments(problem, bounds, None)
    chunks, inverses, scores = phase_prepare(segments, plan)
    summaries = phase_advance(segments, plan, chunks, inverses, scores, final=True, save=False, summary=True)[
        1
    ]
    starts, last = chain_segments(summaries, None, problem.initial, first, problem.widths)
    o, *_ = phase_advance(
        replace(segments, initial=starts), plan, chunks, inverses, scores, final=False, save=False
    )
    kept = (summaries, starts) if save else (problem.q.new_empty(0), problem.q.new_empty(0))
    return o.view(*problem.q.shape[:3], -1), last if final else last.new_empty(0), *kept


def scan_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]) -> Gradients:
    """All gradients; inverses, errors and the chunks' states are computed again."""
    summaries, starts = saved[:2]
    plan = plan_for(problem, phases=True)
    bounds, first = segment_bounds(problem, plan.rows // problem.householders)
    segments = as_segments(problem, bounds, starts)
    do = do.reshape(1, -1, *do.shape[2:])
    chunks, inverses, scores = phase_prepare(segments, plan)
    errors, states = phase_advance(segments, plan, chunks, inverses, scores, final=False, save=True)[2:]
    additions = launching.empty(*starts.shape, dtype=starts.dtype, device=starts.device)
    phase_retreat(segments, plan, chunks, inverses, scores, do, None, additions, None)
    ends, dinitial = chain_segments(summaries, additions, dfinal, first, problem.widths)
    inner = Gradients.of(segments)
    dstates = phase_retreat(segments, plan, chunks, inverses, scores, do, ends, None, inner.v)
    phase_gradients(segments, plan, chunks, do, errors, states, dstates, inner)

    def shaped(x: Tensor, like: Tensor | None) -> Tensor:
        return x if like is None else x.view_as(like)

    return Gradients(
        q=shaped(inner.q, problem.q),
        k=shaped(inner.k, problem.k),
        v=shaped(inner.v, problem.v),
        beta=shaped(inner.beta, problem.beta),
        a=shaped(inner.a, problem.a),
        initial=dinitial.new_empty(0) if problem.initial is None else dinitial,
    )
