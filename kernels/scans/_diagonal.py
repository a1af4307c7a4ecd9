"""The diagonal scan `h_t = a_t h_{t-1} + b_t` with decays in linear space, real or complex, parallel in time."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from .._backends import KernelInputError, choose_backend
from .._checking import check_choice, check_flags, check_packing, check_shape, check_tensors, check_whole
from ..delta._reference import arithmetic_of, without_tokens
from ._segments import cut, fills_device, segment_length

MODES = ("auto", "recurrent", "parallel")


def diagonal_scan(
    a: Tensor,
    b: Tensor,
    initial_state: Tensor | None = None,
    *,
    output_final_state: bool = False,
    reverse: bool = False,
    cu_seqlens: Tensor | None = None,
    mode: str = "auto",
    backend: str = "auto",
    segment: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Run `h_t = a_t h_{t-1} + b_t` over all tokens, parallel in time if that is faster.

    Differentiable once in a, b and initial_state, by explicit formulas that are scans themselves (`backend="reference"`: any
    number of times).

    Arithmetic: float32, or float64 where an input is float64.  `recurrent` rounds the product `a_t h_{t-1}` and then the
    sum with b_t; complex: `(re re' - im im') + b`, `(re im' + im re') + b`, every product, difference and sum rounded,
    none fused.  So its bits are those of the plain loop, on every backend, and a sequence may be cut anywhere.
    `parallel` does the same within a segment, from a state that products of decays have carried over the segments
    before; its bits depend on the segment's length only, and are those of integer arithmetic wherever a is in
    {-1, 0, 1}, b and the initial state are integers, and all partial sums are within the format's consecutive integers.
    h is rounded to b's dtype when it is written; the state that goes on is not.

    Args:
        a: decays, `[B,T,D]`, in [-1, 1]; 0 and negative ones are ordinary values (nothing is divided, no logarithms).
            `[B,T,D,2]`: complex, (re, im), acting as the 2×2 matrix [[re, -im], [im, re]]: a scaled rotation.
        b: the terms that are added, in the shape of a; its dtype may differ from a's (decays in float32, the rest in bfloat16).
        initial_state: `[N,D]` or `[N,D,2]`, by default zero.  N is B, or the number of packed sequences.
        output_final_state: whether to return the last states too.
        reverse: whether to run from the last token to the first, `h_t = a_t h_{t+1} + b_t`.
        cu_seqlens: `[N+1]` integers (int32 or int64) that rise from 0 to T, the bounds of sequences packed along T; B must be 1.
        mode: `recurrent` (token by token), `parallel` (segments at the same time), or `auto`: the latter for sequences of more
            than two segments, on a GPU if B·D is below 16,384 (with more channels the device is busy token by token too).
        backend: `triton`, `torch`, `reference`, or `auto`: `triton` for CUDA tensors where triton is installed, else
            `torch`.
        segment: number of tokens of a segment in the parallel mode, at least 1; by default it depends on the device, 16 to 512.

    Returns:
        `(h, final_state)`: h in b's shape and dtype; final_state in the shape of initial_state, in float32 (float64 where an
        input is float64), unrounded, None unless `output_final_state` is set.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Examples:
        >>> import torch
        >>> a = torch.tensor([1.0, -1.0, 0.0]).view(1, 3, 1)
        >>> h, last = diagonal_scan(a, torch.ones(1, 3, 1), output_final_state=True)
        >>> h.flatten().tolist(), last.tolist()
        ([1.0, 0.0, 1.0], [[1.0]])
    """
    check_flags(output_final_state=output_final_state, reverse=reverse)
    sequences = _check_arguments(a, b, initial_state, cu_seqlens, mode, segment)
    chosen = choose_backend(backend, a.device)
    pairs = a.dim() == 4
    arithmetic = arithmetic_of(a, b, initial_state)
    shape = (sequences, *b.shape[2:])
    state = b.new_zeros(shape, dtype=arithmetic) if initial_state is None else initial_state.to(arithmetic)
    if chosen == "reference":
        # all in the arithmetic's format; states are rounded to b's dtype at the end
        h, final = diagonal_scan_reference(a.to(arithmetic), b.to(arithmetic), state, cu_seqlens, reverse)
        return h.to(b.dtype), final if output_final_state else None
    tokens = b.shape[1]
    if mode == "recurrent":
        length = tokens  # one segment: nothing is joined
    elif segment is not None:
        length = int(segment)
    else:
        length = segment_length(tokens, b.shape[0], b.shape[2], b.device)
        # two segments are not worth the second pass, and channels that fill the device need no segments
        if mode == "auto" and (tokens <= 2 * length or fills_device(b.shape[0], b.shape[2], b.device)):
            length = tokens
    h, final = _scan(a, b, state, cu_seqlens, length, reverse, pairs, chosen)
    return h, final if output_final_state else None


def diagonal_scan_reference(
    a: Tensor, b: Tensor, initial_state: Tensor, cu_seqlens: Tensor | None = None, reverse: bool = False
) -> tuple[Tensor, Tensor]:
    """The plain loop, differentiable by autograd; all tensors in one dtype, the arithmetic's."""
    from ._torch_diagonal import multiply

    if cu_seqlens is not None:
        bounds = cu_seqlens.tolist()
        parts = [
            diagonal_scan_reference(a[:, i:j], b[:, i:j], initial_state[n : n + 1], None, reverse)
            for n, (i, j) in enumerate(pairwise(bounds))
        ]
        return torch.cat([h for h, _ in parts], 1), torch.cat([final for _, final in parts])
    state, states = initial_state, []
    order = range(b.shape[1])
    for t in reversed(order) if reverse else order:
        # h <- a h + b
        state = multiply(a[:, t], state, a.dim() == 4) + b[:, t]
        states.append(state)
    if not states:
        return without_tokens(b, state, a, b)
    # states stand at their tokens, in whichever order they were found
    return torch.stack(states[::-1] if reverse else states, 1), state


def _check_arguments(
    a: Tensor,
    b: Tensor,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    mode: str,
    segment: int | None,
) -> int:
    check_tensors({"a": a, "b": b, "initial_state": initial_state}, optional="initial_state")
    if a.dim() not in (3, 4) or (a.dim() == 4 and a.shape[-1] != 2):
        raise KernelInputError(
            f"a has shape {list(a.shape)}: it must be [B, T, D], or [B, T, D, 2] for complex decays"
        )
    check_shape("b", b, tuple(a.shape), "the shape of a")
    check_choice("mode", mode, MODES)
    if segment is not None:
        check_whole("segment", segment)
    N = a.shape[0] if cu_seqlens is None else check_packing(cu_seqlens, a.shape[0], a.shape[1], a.device)
    if initial_state is not None:
        check_shape("initial_state", initial_state, (N, *a.shape[2:]), "[N, D] or [N, D, 2]")
    return N


def _choose_implementation(backend: str) -> ModuleType:
    if backend == "triton":
        from . import _triton_diagonal

        return _triton_diagonal
    from . import _torch_diagonal

    return _torch_diagonal


@torch.library.custom_op("mirrormata::diagonal_scan", mutates_args=())
def _scan(
    a: Tensor,
    b: Tensor,
    state: Tensor,
    cu_seqlens: Tensor | None,
    length: int,
    reverse: bool,
    pairs: bool,
    backend: str,
) -> tuple[Tensor, Tensor]:
    segments = cut(b.shape[0], b.shape[1], length, cu_seqlens)
    # kernels widen as they load
    wide = (a, b) if backend == "triton" else (a.to(state.dtype), b.to(state.dtype))
    h, final = _choose_implementation(backend).diagonal_scan_segments(
        *wide, state, segments, backwards=reverse, pairs=pairs
    )
    return h.to(b.dtype), final


@_scan.register_fake
def _(*arguments: Any) -> tuple[Tensor, Tensor]:
    _, b, state, *_ = arguments
    return torch.empty_like(b, memory_format=torch.contiguous_format), torch.empty_like(
        state, memory_format=torch.contiguous_format
    )


@torch.library.custom_op("mirrormata::diagonal_scan_backward", mutates_args=())
def _scan_backward(
    a: Tensor,
    h: Tensor,
    dh: Tensor,
    state: Tensor,
    d_final: Tensor,
    cu_seqlens: Tensor | None,
    length: int,
    reverse: bool,
    pairs: bool,
    backend: str,
) -> tuple[Tensor, Tensor, Tensor]:
    segments = cut(h.shape[0], h.shape[1], length, cu_seqlens)
    wide = (a, h, dh) if backend == "triton" else (x.to(state.dtype) for x in (a, h, dh))
    da, db, first = _choose_implementation(backend).diagonal_scan_gradients(
        *wide, state, d_final, segments, backwards=reverse, pairs=pairs
    )
    return da.to(a.dtype), db.to(h.dtype), first


@_scan_backward.register_fake
def _(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    a, h, _, state, *_ = arguments
    da, db, first = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (a, h, state))
    return da, db, first


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    a, _, state, cu_seqlens, *ctx.options = inputs
    ctx.save_for_backward(a, output[0], state, cu_seqlens)


def _differentiate(ctx: Any, dh: Tensor, d_final: Tensor) -> tuple[Tensor | None, ...]:
    a, h, state, cu_seqlens = ctx.saved_tensors
    da, db, d_state = _scan_backward(a, h, dh, state, d_final, cu_seqlens, *ctx.options)
    return da, db, d_state, None, None, None, None, None


_scan.register_autograd(_differentiate, setup_context=_keep_for_backward)
