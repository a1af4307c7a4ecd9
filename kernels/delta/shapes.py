"""Shapes of the forward operator's results, for fake tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from .plan import chunk_plan, segment_tokens, token_rows


def forward_shapes(
    q: Tensor, v: Tensor, cu_seqlens: Tensor | None, householders: int, mode: str, final: bool, save: bool
) -> tuple[Tensor, ...]:
    """Empty tensors shaped as the forward operator's results."""
    B, T, H, K = q.shape
    V = v.shape[3]
    N = B if cu_seqlens is None else cu_seqlens.shape[0] - 1
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32

    def new(*shape: int, dtype: torch.dtype = q.dtype) -> Tensor:
        return q.new_empty(shape, dtype=dtype)

    o = new(B, T, H, V)
    last = new(N, H, K, V, dtype=wide) if final else new(0)
    if not save:
        return o, last, new(0), new(0), new(0), new(0)
    if mode == "recurrent":
        return o, last, new(*v.shape, dtype=wide), new(0), new(0), new(0)
    plan = chunk_plan(K, V, q.dtype, N * H, phases=mode == "scan")
    tokens = plan.rows // householders

    def chunks(length: int) -> int:
        return B * -(-length // tokens) if cu_seqlens is None else T // tokens + N

    if plan.fused:
        return o, last, new(chunks(T), H, V, K), new(0), new(0), new(0)
    if mode == "scan":
        segments = segment_count(B, T, N, H, tokens, cu_seqlens is not None)
        summaries, starts = new(segments, H, K, V + K, dtype=wide), new(segments, H, K, V, dtype=wide)
        return o, last, summaries, starts, new(0), new(0)
    rows = token_rows(plan.rows, householders)
    count = chunks(T)
    return (
        *(o, last, new(count, H, plan.rows, plan.rows), new(count, H, rows, plan.rows)),
        *(new(*v.shape), new(count, H, V, K)),
    )


def segment_count(B: int, T: int, N: int, H: int, tokens: int, packed: bool) -> int:
    """Segments of mode `scan`, at most."""
    each = segment_tokens(B * T, H, tokens)
    return B * T // each + N if packed else B * -(-T // each)
