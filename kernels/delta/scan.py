"""Mode `scan`: parallel in time.  Sequences are cut into segments, a segment's affine map S -> M S + C is found for all at
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
from torch import Tensor

from .. import launching
from .phases import (
    chain_segments,
    phase_advance,
    phase_gradients,
    phase_prepare,
    phase_retreat,
)
from .plan import segment_tokens
from .problem import Form, Gradients, Problem
from .shapes import segment_count


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
