"""The diagonal-plus-rank-one scan in chunks as an operator of torch: shapes, and which tensors are kept for its gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._segments import count_segments, cut
from ._torch_rank_one import Inputs


@torch.library.custom_op("mirrormata::rank_one_chunks", mutates_args=())
def scan_chunks(
    q: Tensor,
    w: Tensor,
    u: Tensor,
    z: Tensor,
    k: Tensor,
    v: Tensor,
    state: Tensor,
    cu_seqlens: Tensor | None,
    scale: float,
    keep: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Outputs and last states; the rest is for the gradients, states only with `keep`."""
    from ._triton_rank_one_chunks import CHUNK, chunk_forward

    segments = cut(v.shape[0], v.shape[1], CHUNK, cu_seqlens)
    o, final, prepared, states = chunk_forward(Inputs(q, w, u, z, k, v), state, scale, segments, keep)
    return o, final, *prepared, states


@scan_chunks.register_fake
def _(*arguments: Any) -> tuple[Tensor, ...]:
    from ._triton_rank_one_chunks import CHUNK, SMALL, chunk_operand

    *_, v, state, cu_seqlens, _, keep = arguments
    _, H, K, V = state.shape
    chunks = count_segments(
        v.shape[0], v.shape[1], CHUNK, None if cu_seqlens is None else cu_seqlens.numel() - 1
    )
    operand = chunk_operand(v.dtype)
    return (
        v.new_empty(v.shape),
        state.new_empty(state.shape),
        state.new_empty(4, chunks, H, CHUNK, K, dtype=operand),
        state.new_empty(chunks, H, K),
        state.new_empty(chunks, H, SMALL),
        state.new_empty(chunks if keep else 0, H, V, K, dtype=operand),
    )


@torch.library.custom_op("mirrormata::rank_one_chunks_backward", mutates_args=())
def _scan_chunks_backward(
    q: Tensor,
    w: Tensor,
    u: Tensor,
    z: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens: Tensor | None,
    operands: Tensor,
    decays: Tensor,
    small: Tensor,
    states: Tensor,
    do: Tensor,
    d_final: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    from ._triton_rank_one_chunks import CHUNK, Prepared, chunk_backward

    segments = cut(v.shape[0], v.shape[1], CHUNK, cu_seqlens)
    kept = Prepared(operands, decays, small)
    gradients, d_state = chunk_backward(Inputs(q, w, u, z, k, v), kept, states, do, d_final, scale, segments)
    return *gradients, d_state


@_scan_chunks_backward.register_fake
def _(*arguments: Any) -> tuple[Tensor, ...]:
    # of q, w, u, z, k, v and the state
    return tuple(x.new_empty(x.shape) for x in (*arguments[:6], arguments[12]))


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, _, cu_seqlens, ctx.scale, _ = inputs
    ctx.save_for_backward(*tensors, cu_seqlens, *output[2:])


def _differentiate(ctx: Any, do: Tensor, d_final: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    gradients = _scan_chunks_backward(*ctx.saved_tensors, do, d_final, ctx.scale)
    # bounds, scale and what is kept have no gradient
    return *gradients, None, None, None


scan_chunks.register_autograd(_differentiate, setup_context=_keep_for_backward)
