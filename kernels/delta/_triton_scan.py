"""DeltaProduct in mode `scan`: parallel in time, for few long sequences.

Sequences are cut into segments, a segment's affine map S -> M S + C is found for all at once, the maps are chained, and then
every segment runs from its own start.

    summaries   what each segment makes of a zero state (C) and, without values, of the identity (M): `_triton_phases.advance`
    chain       the states before the segments, one small product a segment
    outputs     as packed sequences with those states
    backward    each segment's gradient of its start for no gradient at its end, chained with Mᵀ, then as packed sequences
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._launching import kernel_arithmetic, launcher
from ._plan import chain_rows, chain_tile, count_blocks, segment_count, segment_tokens
from ._problem import Form, Gradients, Problem
from ._triton_blocks import locate_program, place_state
from ._triton_phases import advance_chunks, prepare_chunks, summarise_chunks
from ._triton_phases_backward import Kept, fill_gradients, retreat_chunks

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class SegmentMaps(NamedTuple):
    """The segments' affine maps of states, as `chain` takes them."""

    summaries: Tensor
    """C, then M, of S -> M S + C: `[segments,H,K,V+K]`."""
    additions: Tensor | None
    """`[segments,H,K,V]`: the chain goes in reverse, by dS -> Mᵀ dS + additions."""
    first: Tensor
    """`[N+1]`: sequence n has the segments first[n] to first[n+1]."""


@triton.jit
def chain(
    maps,
    initial,
    states,
    final,
    H,
    K: tl.constexpr,
    V: tl.constexpr,
    BV: tl.constexpr,
    BK: tl.constexpr,
    ACC: tl.constexpr,
):
    """States before each segment `[segments,H,K,V]`, from `SegmentMaps`; with additions gradients at each segment's end.

    initial, final `[N,H,K,V]`.  M is held in blocks of BK rows of the sum; where that is not all of K, the state's part for
    each block is read again from `states`.
    """
    REVERSE: tl.constexpr = maps.additions is not None
    WIDTH: tl.constexpr = V + K
    n, h, block = locate_program(H, V // BV)
    o_k = tl.arange(0, K)
    o_v = block * BV + tl.arange(0, BV)
    begin = tl.load(maps.first + n)
    end = tl.load(maps.first + n + 1)
    # a state `[K,V]` in memory, held transposed `[BV,K]`
    inside = o_k[None, :] * V + o_v[:, None]
    at_state = place_state(n, h, H, o_k[None, :], o_v[:, None], K, V)
    S = tl.zeros([BV, K], dtype=ACC)
    if initial is not None:
        S += tl.load(initial + at_state).to(ACC)
    for i in range(begin, end):
        # (segment, head) of the tables `[segments,H,…]`, in reverse the last segment first
        segment = tl.cast(end - 1 - (i - begin) if REVERSE else i, tl.int64) * H + h
        tl.store(states + segment * K * V + inside, S)
        p_m = maps.summaries + segment * K * WIDTH
        # S <- M S + C, or dS <- Mᵀ dS + additions, beginning with what is added
        if REVERSE:
            added = tl.load(maps.additions + segment * K * V + inside)
        else:
            # row k of a summary has the V entries of C, then the K of M
            added = tl.load(p_m + o_k[None, :] * WIDTH + o_v[:, None])
        if BK == K:
            # transposed: Sᵀ Mᵀ + Cᵀ, in reverse dSᵀ M + additionsᵀ
            S = add_map(S, added, p_m, o_k, o_k, V, WIDTH, REVERSE, ACC)
        else:
            tl.debug_barrier()  # another thread may read what this one wrote
            S = added
            for rows in range(K // BK):
                o_b = rows * BK + tl.arange(0, BK)
                # the columns o_b of Sᵀ, as stored above
                part = tl.load(states + segment * K * V + o_b[None, :] * V + o_v[:, None])
                S = add_map(part, S, p_m, o_b, o_k, V, WIDTH, REVERSE, ACC)
    tl.store(final + at_state, S.to(final.dtype.element_ty))


@triton.jit
def add_map(
    S, total, p_m, o_b, o_k, V: tl.constexpr, WIDTH: tl.constexpr, REVERSE: tl.constexpr, ACC: tl.constexpr
):
    """total + M S (REVERSE: Mᵀ S) over the rows o_b of the sum; S, total and with them M transposed: Sᵀ Mᵀ."""
    if REVERSE:
        # dSᵀ M, from M[b,k]
        M = tl.load(p_m + o_b[:, None] * WIDTH + V + o_k[None, :])
    else:
        # Sᵀ Mᵀ, from M[k,b]
        M = tl.load(p_m + o_k[None, :] * WIDTH + V + o_b[:, None])
    # unrounded operands: an error of a map would be carried through all segments behind it
    return tl.dot(S, M, total, input_precision="ieee", out_dtype=ACC)


def chain_segments(maps: SegmentMaps, initial: Tensor | None, K: int, V: int) -> tuple[Tensor, Tensor]:
    """States before each segment and after the last; with additions, gradients at each segment's end and at the start."""
    like = maps.summaries
    segments, H = like.shape[:2]
    N = maps.first.numel() - 1
    states = launching.empty(segments, H, K, V, dtype=like.dtype, device=like.device)
    final = launching.empty(N, H, K, V, dtype=like.dtype, device=like.device)
    tile, rows = chain_tile(K), chain_rows(K, like.dtype)
    launch = launcher(chain, tile, K=K, V=V, BV=tile.width, BK=rows, ACC=kernel_arithmetic(like.dtype))
    launch((N * H * count_blocks(V, tile.width),), maps, initial, states, final, H)
    return states, final


def segment_bounds(problem: Problem) -> tuple[Tensor, Tensor]:
    """Bounds in tokens of all segments (the last ones may be empty), and the first segment of each sequence."""
    form = problem.form
    B, T, N, chunk_tokens = form.batch, form.tokens, form.sequences, form.plan.rows // form.householders
    each = segment_tokens(B * T, form.heads, chunk_tokens)
    device = problem.inputs.q.device
    count = segment_count(B, T, N, form.heads, chunk_tokens, form.packed)
    if problem.cu is None:
        # every row of the batch is cut alike; a segment ends where the next one starts
        per = -(-T // each)
        inside = torch.clamp(torch.arange(per, device=device) * each, max=T)
        starts = (torch.arange(B, device=device)[:, None] * T + inside).reshape(-1)
        bounds = torch.cat([starts, starts.new_full((1,), B * T)])
        return bounds, torch.arange(B + 1, device=device, dtype=torch.int32) * per
    # ⌈length / each⌉ segments of each sequence; `first` adds them up
    cu = problem.cu.long()
    pieces = (cu[1:] - cu[:-1] + (each - 1)).div(each, rounding_mode="floor")
    first = torch.cat([pieces.new_zeros(1), pieces.cumsum(0)])
    index = torch.arange(count, device=device)
    sequence = torch.clamp(torch.searchsorted(first, index, right=True) - 1, max=N - 1)
    # no segment crosses the sequence's end
    starts = torch.minimum(cu[sequence] + (index - first[sequence]) * each, cu[sequence + 1])
    # the table's unused end: empty segments behind the last token
    starts = torch.where(index < first[-1], starts, cu[-1])
    return torch.cat([starts, cu[-1:]]), first.int()


@lru_cache(maxsize=1024)
def _segmented(form: Form, segments: int, initial: bool) -> Form:
    tokens = form.batch * form.tokens
    # all segments are packed sequences of one row
    return replace(form, batch=1, tokens=tokens, sequences=segments, initial=initial, packed=True)


def pack_segments(problem: Problem, bounds: Tensor, initial: Tensor | None) -> Problem:
    """The segments as packed sequences, with the plan of the whole."""
    form = _segmented(problem.form, bounds.numel() - 1, initial is not None)
    flat = [None if x is None else x.reshape(1, -1, *x.shape[2:]) for x in problem.inputs]
    return Problem.formed(form, problem.scale, *flat, initial, bounds)


def run_scan(
    problem: Problem, *, final: bool, save: bool
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Outputs, final states, and for the backward pass the summaries and the states before the segments."""
    form = problem.form
    bounds, first = segment_bounds(problem)
    segments = pack_segments(problem, bounds, None)
    # inverses and scores do not depend on states, so both runs share them
    chunks, prepared = prepare_chunks(segments)
    summaries = summarise_chunks(segments, chunks, prepared)
    starts, last = chain_segments(SegmentMaps(summaries, None, first), problem.initial, form.K, form.V)
    # the same tokens once more, each segment from its own start
    started = pack_segments(problem, bounds, starts)
    o = advance_chunks(started, chunks, prepared, final=False, save=False).o
    assert o is not None
    kept = (summaries, starts) if save else (None, None)
    return o.view(form.batch, form.tokens, form.heads, form.V), last if final else None, *kept


def differentiate_scan(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]) -> Gradients:
    """All gradients; inverses, errors and the chunks' states are computed again."""
    summaries, starts = saved[:2]
    bounds, first = segment_bounds(problem)
    segments = pack_segments(problem, bounds, starts)
    do = do.reshape(1, -1, *do.shape[2:])
    chunks, prepared = prepare_chunks(segments)
    _, _, errors, states = advance_chunks(segments, chunks, prepared, final=False, save=True)
    # a segment's gradient of its start is Mᵀ (that of its end) + what its own outputs add, found with none at its end
    additions = launching.empty_like(starts)
    retreat_chunks(segments, chunks, prepared, do, None, dinitial=additions, dv=None)
    maps = SegmentMaps(summaries, additions, first)
    ends, dinitial = chain_segments(maps, dfinal, problem.form.K, problem.form.V)
    inner = Gradients.of(segments)
    dstates = retreat_chunks(segments, chunks, prepared, do, ends, dinitial=None, dv=inner.v)
    assert errors is not None
    assert states is not None
    assert dstates is not None
    fill_gradients(segments, chunks, do, Kept(errors, states, inner.v, dstates), inner)
    x = problem.inputs
    return Gradients(
        q=inner.q.view_as(x.q),
        k=inner.k.view_as(x.k),
        v=inner.v.view_as(x.v),
        beta=inner.beta.view_as(x.beta),
        a=None if inner.a is None or x.a is None else inner.a.view_as(x.a),
        initial=None if problem.initial is None else dinitial,
    )
