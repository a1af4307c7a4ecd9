"""The scan with diagonal-plus-rank-one transitions, `H_t = (diag(w_t) + u_t z_tᵀ) H_{t-1} + k_t v_tᵀ`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from .._backends import KernelInputError, choose_backend
from .._checking import check_choice, check_flags, check_packing, check_scale, check_shape, check_tensors
from ..delta._reference import arithmetic_of, tree_sum, without_tokens
from . import _torch_rank_one as in_torch
from ._rank_one_chunks import scan_chunks
from ._segments import count_segments, cut

MODES = ("auto", "recurrent", "chunk")
MAX_WIDTH = 256
CHUNK_WIDTH = 128
"""The most keys of chunks: with more their tiles are larger than a program's registers."""
LEAST_TOKENS = 32
"""Tokens from which `auto` takes chunks."""
SEGMENT = 32
"""Tokens between two kept states, from which the backward pass makes the states between them again."""


def rank_one_scan(
    q: Tensor | None,
    w: Tensor,
    u: Tensor,
    z: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    initial_state: Tensor | None = None,
    *,
    scale: float | None = None,
    output_final_state: bool = False,
    cu_seqlens: Tensor | None = None,
    mode: str = "auto",
    backend: str = "auto",
) -> tuple[Tensor | None, Tensor | None]:
    """Run `H_t = (diag(w_t) + u_t z_tᵀ) H_{t-1} + k_t v_tᵀ`, `o_t = scale q_tᵀ H_t` over all tokens.

    Differentiable once in every tensor by explicit formulas (`backend="reference"`: any number of times).  Token by token it takes
    T steps, one after another; in chunks of 16 tokens T/16, each some matrix products.

    Arithmetic of `recurrent`: float32, or float64 where an input is float64; of a token `s_j = Σ_i z_i H_ij`, then
    `H_ij = (w_i H_ij + u_i s_j) + k_i v_j`, then `o_j = scale Σ_i q_i H_ij`, every product and sum rounded, none fused.
    The reference sums over i by `tree_sum`; the other backends in an order of their own, which makes no
    difference to integers whose partial sums are within the format's consecutive integers.  The kernels take a scale that
    float32 does not hold into the queries, if they compute in float64.

    Arithmetic of `chunk`: the state is float32 from chunk to chunk, and so are the products of w, which are never divided, and all
    that is made of the tokens of a chunk alone.  Where the state meets a chunk's tokens, the matrix products round both to
    bfloat16 if v is bfloat16, and add up in float32; for other dtypes they are of float32, in three products of tf32.  The
    gradients round what is kept of states and chunks in the same way.

    Args:
        q: queries `[B,T,H,K]`, or None for no outputs (`o` is None).  K and V are 1 to 256.
        w: the diagonal, `[B,T,H,K]`; any real values here and in u and z, zero and negative included.
        u: `[B,T,H,K]`.  RWKV-7 has `u = -κ̂`, `z = a κ̂` (or the transpose's order); a Householder factor has w = 1,
            `u = -β k`, `z = k`.
        z: `[B,T,H,K]`.
        k: keys `[B,T,H,K]`; k and v are both None where nothing is added (V is then initial_state's).
        v: values `[B,T,H,V]`.
        initial_state: `[N,H,K,V]`, by default zero.  N is B, or the number of packed sequences.
        scale: factor of the outputs, finite, by default K^-1/2.
        output_final_state: whether to return the last states too.
        cu_seqlens: `[N+1]` integers (int32 or int64) that rise from 0 to T, the bounds of sequences packed along T; B must be 1.
        mode: `recurrent`, `chunk` (the kernels only, K to 128, and not for float64), or `auto`: the latter on the kernels if q, u, z,
            k and v are bfloat16, w bfloat16 or float32, K is at most 128 and T at least 32; else the former.
        backend: `triton`, `torch`, `reference`, or `auto`: `triton` for CUDA tensors where triton is installed, else
            `torch`.

    Returns:
        `(o, final_state)`: o `[B,T,H,V]` in v's dtype (q's without v), None without q; final_state `[N,H,K,V]` in float32
        (float64 where an input is float64), None unless `output_final_state` is set.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Source: RWKV-7, arXiv 2503.14456; Complex KDA, arXiv 2609.24797.

    Examples:
        The reflection along e_1 - e_2 swaps the two rows of the state:

        >>> import torch
        >>> z = torch.tensor([1.0, -1.0]).view(1, 1, 1, 2)
        >>> start = torch.tensor([3.0, 5.0]).view(1, 1, 2, 1)
        >>> _, state = rank_one_scan(None, torch.ones_like(z), -z, z, initial_state=start, output_final_state=True)
        >>> state.flatten().tolist()
        [5.0, 3.0]
    """
    check_flags(output_final_state=output_final_state)
    check_choice("mode", mode, MODES)
    sequences, V = _check_arguments(q, w, u, z, k, v, initial_state, cu_seqlens)
    chosen = choose_backend(backend, w.device)
    arithmetic = arithmetic_of(q, w, u, z, k, v, initial_state)
    B, T, H, K = w.shape
    scale = K**-0.5 if scale is None else check_scale(scale, arithmetic)
    state = (
        w.new_zeros(sequences, H, K, V, dtype=arithmetic)
        if initial_state is None
        else initial_state.to(arithmetic)
    )
    queries = torch.zeros_like(w) if q is None else q
    keys = torch.zeros_like(w) if k is None else k
    added = queries.new_zeros(B, T, H, V) if v is None else v
    if chosen == "triton" and arithmetic == torch.float64:
        queries, scale = _scale_queries(queries, scale)
    inputs = in_torch.Inputs(queries, w, u, z, keys, added)
    if _takes_chunks(mode, chosen, inputs, arithmetic):
        keep = torch.is_grad_enabled() and any(x.requires_grad for x in (*inputs, state))
        o, final, *_ = scan_chunks(*inputs, state, cu_seqlens, scale, keep)
    elif chosen == "reference":
        o, final = rank_one_reference(_widen(inputs, arithmetic), state, scale, cu_seqlens)
        o = o.to(added.dtype)
    else:
        keep = torch.is_grad_enabled() and any(x.requires_grad for x in (*inputs, state))
        o, final, _ = _scan(*inputs, state, cu_seqlens, scale, keep, chosen)
    return None if q is None else o, final if output_final_state else None


def _takes_chunks(mode: str, backend: str, inputs: in_torch.Inputs, arithmetic: torch.dtype) -> bool:
    """Whether the scan goes in chunks; refuses the mode where nothing has it."""
    if mode == "chunk":
        if backend != "triton":
            raise KernelInputError(
                f'mode="chunk" is not there with backend="{backend}": pass mode="recurrent", or tensors on a GPU'
            )
        if arithmetic == torch.float64:
            raise KernelInputError('mode="chunk" computes in float32: pass mode="recurrent" with float64')
        if inputs.w.shape[3] > CHUNK_WIDTH:
            raise KernelInputError(
                f'K is {inputs.w.shape[3]}: mode="chunk" takes up to {CHUNK_WIDTH} keys; pass mode="recurrent"'
            )
        return True
    narrow = all(x.dtype == torch.bfloat16 for x in (*inputs[:1], *inputs[2:]))
    return (
        mode == "auto"
        and backend == "triton"
        and arithmetic == torch.float32
        and narrow
        and inputs.w.dtype in (torch.bfloat16, torch.float32)
        and inputs.v.shape[1] >= LEAST_TOKENS
        and inputs.w.shape[3] <= CHUNK_WIDTH
    )


def _scale_queries(q: Tensor, scale: float) -> tuple[Tensor, float]:
    """Queries with the scale in them, and 1, where it would reach the kernels rounded to float32."""
    from .._launching import fits_float32

    return (q, scale) if fits_float32(scale) else (q.to(torch.float64) * scale, 1.0)


def rank_one_reference(
    inputs: in_torch.Inputs, state: Tensor, scale: float, cu_seqlens: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The plain loop over q, w, u, z, k, v, differentiable by autograd; one dtype throughout, the arithmetic's."""
    q, w, u, z, k, v = inputs
    if cu_seqlens is not None:
        parts = [
            rank_one_reference(in_torch.Inputs(*(x[:, i:j] for x in inputs)), state[n : n + 1], scale)
            for n, (i, j) in enumerate(pairwise(cu_seqlens.tolist()))
        ]
        return torch.cat([o for o, _ in parts], 1), torch.cat([final for _, final in parts])
    outputs = []
    for t in range(v.shape[1]):
        qt, wt, ut, zt, kt = (x[:, t, :, :, None] for x in (q, w, u, z, k))
        s = tree_sum(zt * state)[..., None, :]
        state = (wt * state + ut * s) + kt * v[:, t, :, None, :]
        outputs.append(scale * tree_sum(qt * state))
    return (torch.stack(outputs, 1), state) if outputs else without_tokens(v, state, *inputs)


def _check_arguments(
    q: Tensor | None,
    w: Tensor,
    u: Tensor,
    z: Tensor,
    k: Tensor | None,
    v: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
) -> tuple[int, int]:
    tensors = {"q": q, "w": w, "u": u, "z": z, "k": k, "v": v, "initial_state": initial_state}
    check_tensors(tensors, optional="q k v initial_state")
    if w.dim() != 4:
        raise KernelInputError(f"w has shape {list(w.shape)}: it must be [B, T, H, K]")
    B, T, H, K = w.shape
    for name, x in (("q", q), ("u", u), ("z", z), ("k", k)):
        if x is not None:
            check_shape(name, x, (B, T, H, K), "[B, T, H, K]")
    if (k is None) != (v is None):
        raise KernelInputError("only one of k and v is given: pass both, or neither to add nothing")
    if v is not None and (v.dim() != 4 or tuple(v.shape[:3]) != (B, T, H)):
        raise KernelInputError(f"v has shape {list(v.shape)}: it must be [B, T, H, V] = {[B, T, H]} and V")
    if v is None and (initial_state is None or initial_state.dim() != 4):
        raise KernelInputError(
            "neither v nor initial_state [N, H, K, V] is given: one of them must say what V is"
        )
    V = int(v.shape[3] if v is not None else initial_state.shape[3])  # type: ignore[union-attr]
    if not (1 <= K <= MAX_WIDTH and 1 <= V <= MAX_WIDTH):
        raise KernelInputError(f"K is {K} and V is {V}: each must be 1 to {MAX_WIDTH}; split wider heads")
    N = B if cu_seqlens is None else check_packing(cu_seqlens, B, T, w.device)
    if initial_state is not None:
        check_shape("initial_state", initial_state, (N, H, K, V), "[N, H, K, V]")
    return N, V


@torch.library.custom_op("mirrormata::rank_one_scan", mutates_args=())
def _scan(
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
    backend: str,
) -> tuple[Tensor, Tensor, Tensor]:
    inputs = in_torch.Inputs(q, w, u, z, k, v)
    if backend == "triton":
        from ._triton_rank_one import rank_one_forward

        return rank_one_forward(inputs, state, scale, cut(v.shape[0], v.shape[1], SEGMENT, cu_seqlens), keep)
    # packed sequences become rows of a batch here, since torch has no loop for each
    wide, padding = _spread_rows(inputs, state.dtype, cu_seqlens)
    o, final, checkpoints = in_torch.rank_one_forward(wide, state, scale, SEGMENT, keep)
    if padding is None:
        return o.to(v.dtype), final, checkpoints
    return padding.together(o).to(v.dtype), final, state.new_empty(0)


@_scan.register_fake
def _(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    *_, v, state, cu_seqlens, _, keep, backend = arguments
    tokens, (N, H, K, V) = v.shape[1], state.shape
    if backend == "triton":
        packed = None if cu_seqlens is None else N
        count = count_segments(v.shape[0], tokens, SEGMENT, packed) if keep else 0
        # the kernels keep states `[segments,H,K,V]`, torch `[N,segments,H,K,V]`
        kept = state.new_empty(count, H, K, V)
    elif cu_seqlens is None:
        kept = state.new_empty(N, -(-tokens // SEGMENT) if keep else 0, H, K, V)
    else:
        kept = state.new_empty(0)
    return v.new_empty(v.shape), state.new_empty(state.shape), kept


@torch.library.custom_op("mirrormata::rank_one_scan_backward", mutates_args=())
def _scan_backward(
    q: Tensor,
    w: Tensor,
    u: Tensor,
    z: Tensor,
    k: Tensor,
    v: Tensor,
    state: Tensor,
    checkpoints: Tensor,
    do: Tensor,
    d_final: Tensor,
    cu_seqlens: Tensor | None,
    scale: float,
    backend: str,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    inputs = in_torch.Inputs(q, w, u, z, k, v)
    if backend == "triton":
        from ._triton_rank_one import rank_one_backward

        segments = cut(v.shape[0], v.shape[1], SEGMENT, cu_seqlens)
        gradients, d_state = rank_one_backward(inputs, checkpoints, do, d_final, scale, segments)
        return *gradients, d_state
    wide, padding = _spread_rows(inputs, state.dtype, cu_seqlens)
    do = do.to(state.dtype)
    if padding is not None:
        do = padding.spread(do, 0.0)
        # of packed sequences the forward pass kept no states, so it runs again
        checkpoints = in_torch.rank_one_forward(wide, state, scale, SEGMENT, keep=True)[2]
    gradients, d_state = in_torch.rank_one_backward(wide, checkpoints, do, d_final, scale, SEGMENT)
    dq, dw, du, dz, dk, dv = (
        (x if padding is None else padding.together(x)).to(like.dtype)
        for x, like in zip(gradients, inputs, strict=True)
    )
    return dq, dw, du, dz, dk, dv, d_state


@_scan_backward.register_fake
def _(*arguments: Any) -> tuple[Tensor, ...]:
    return tuple(x.new_empty(x.shape) for x in arguments[:7])  # of q, w, u, z, k, v and the state


def _widen(inputs: in_torch.Inputs, arithmetic: torch.dtype) -> in_torch.Inputs:
    return in_torch.Inputs(*(x.to(arithmetic) for x in inputs))


def _spread_rows(
    inputs: in_torch.Inputs, arithmetic: torch.dtype, cu_seqlens: Tensor | None
) -> tuple[in_torch.Inputs, in_torch.Padding | None]:
    """In the arithmetic's dtype, packed sequences a row each; tokens behind an end leave the state alone."""
    padding = None if cu_seqlens is None else in_torch.Padding(cu_seqlens, inputs[0].shape[1])
    # w = 1 and zeros elsewhere change no state
    filled = (
        x.to(arithmetic) if padding is None else padding.spread(x.to(arithmetic), filling)
        for x, filling in zip(inputs, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), strict=True)
    )
    return in_torch.Inputs(*filled), padding


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    *tensors, cu_seqlens, ctx.scale, _, ctx.backend = inputs
    ctx.save_for_backward(*tensors, output[2], cu_seqlens)


def _differentiate(ctx: Any, do: Tensor, d_final: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    *tensors, cu_seqlens = ctx.saved_tensors
    gradients = _scan_backward(*tensors, do, d_final, cu_seqlens, ctx.scale, ctx.backend)
    # bounds, scale, what is kept and the backend have no gradient
    return *gradients, None, None, None, None


_scan.register_autograd(_differentiate, setup_context=_keep_for_backward)
