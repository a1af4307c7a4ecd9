"""DeltaProduct as torch custom operators on the Triton kernels: known to autograd, `torch.compile` and fake tensors.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..checking import sequence_bounds
from ..launching import fits_float32
from ..reference import arithmetic_of, without_tokens
from .autograd import Eager, as_inputs, given
from .passes import backward_pass, forward_pass
from .plan import MAX_HOUSEHOLDERS, choose_mode, kernel_width
from .problem import Problem
from .shapes import forward_shapes


def delta_product_triton(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    householders: int,
    scale: float,
    mode: str,
    output_final_state: bool,
) -> tuple[Tensor, Tensor | None]:
    """Outputs and final state (None unless asked for), through the custom operator."""
    B, T, H, K = q.shape
    V = v.shape[3]
    N = B if cu_seqlens is None else cu_seqlens.numel() - 1
    mode = choose_mode(mode, q.dtype, T, N * H)
    if cu_seqlens is not None and cu_seqlens.device.type == "cpu" and not torch.compiler.is_compiling():
        sequence_bounds(cu_seqlens, T)
    if T == 0 or B * H == 0:
        wide = arithmetic_of(q)
        state = q.new_zeros(N, H, K, V, dtype=wide) if initial_state is None else initial_state.to(wide)
        o, state = without_tokens(v[:, :T], state, q, k, v, beta, a)
        return o, state if output_final_state else None
    factor = None
    if q.dtype == torch.float64 and not fits_float32(scale):  # as kernels are given numbers
        scale, factor = 1.0, scale
    every = 1
    if mode != "recurrent" and householders > MAX_HOUSEHOLDERS:
        q, a, every = _micro_steps_as_tokens(q, a, householders)
        cu_seqlens = None if cu_seqlens is None else cu_seqlens * every
        householders = 1
    wide_k, wide_v = kernel_width(K) - K, kernel_width(V) - V
    if wide_k:
        q, k = torch.nn.functional.pad(q, (0, wide_k)), torch.nn.functional.pad(k, (0, wide_k))
    if wide_v:
        v = torch.nn.functional.pad(v, (0, wide_v))
    if initial_state is not None and (wide_k or wide_v):
        initial_state = torch.nn.functional.pad(initial_state, (0, wide_v, 0, wide_k))
    o, final = _call(
        q, k, v, beta, a, initial_state, cu_seqlens, householders, scale, mode, output_final_state
    )
    if every > 1:
        o = o[:, every - 1 :: every]
    if wide_v:
        o = o[..., :V]
    if factor is not None:
        o = o * factor
    if not output_final_state:
        return o, None
    return o, final[:, :, :K, :V] if wide_k or wide_v else final


def _call(*arguments: Any) -> tuple[Tensor, Tensor]:
    """The operator; without its dispatch, which costs as much time as a small kernel, where nobody watches."""
    q = arguments[0]
    save = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in arguments[:6])
    if (
        torch.compiler.is_compiling()
        or type(q) not in (Tensor, torch.nn.Parameter)
        or torch._C._len_torch_dispatch_stack() > 0
    ):
        o, final, *_ = delta_product_forward(*arguments, save)
    elif q.is_cuda and q.get_device() != torch.cuda.current_device():
        with torch.cuda.device(q.device):
            return _call(*arguments)
    elif save:
        o, final = Eager.apply(*arguments)  # type: ignore[no-untyped-call]
    else:
        *inputs, householders, scale, mode, last = arguments
        problem = Problem.of(householders, scale, mode, *inputs)
        o, final, *_ = forward_pass(problem, final=last, save=False)
    return o, final


def _micro_steps_as_tokens(
    q: Tensor, a: Tensor | None, householders: int
) -> tuple[Tensor, Tensor | None, int]:
    """The same recurrence with one micro-step a token: gates before the first, queries at the last."""
    quiet = torch.zeros_like(q)[:, :, None].expand(-1, -1, householders - 1, -1, -1)
    q = torch.cat([quiet, q[:, :, None]], 2).flatten(1, 2)
    if a is not None:
        ones = torch.ones_like(a)[:, :, None].expand(-1, -1, householders - 1, -1)
        a = torch.cat([a[:, :, None], ones], 2).flatten(1, 2)
    return q, a, householders


def forward_kernels(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    householders: int,
    scale: float,
    mode: str,
    final: bool,
    save: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Outputs, final state, and four tensors for the backward pass, of which the mode uses some."""
    problem = Problem.of(householders, scale, mode, q, k, v, beta, a, initial_state, cu_seqlens)
    return _six(q, *forward_pass(problem, final=final, save=save))


def backward_kernels(
    do: Tensor,
    dfinal: Tensor | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    saved: list[Tensor],
    householders: int,
    scale: float,
    mode: str,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of q, k, v, beta, a and the initial state, empty for inputs that are not there."""
    problem = Problem.of(householders, scale, mode, q, k, v, beta, a, initial_state, cu_seqlens)
    return _six(q, *backward_pass(problem, do, dfinal, saved))


def _six(
    q: Tensor,
    r0: Tensor | None,
    r1: Tensor | None,
    r2: Tensor | None = None,
    r3: Tensor | None = None,
    r4: Tensor | None = None,
    r5: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """As many results as the operators have, those that are not there empty, each a tensor of its own."""

    def some(x: Tensor | None) -> Tensor:
        return q.new_empty(0) if x is None else x

    return some(r0), some(r1), some(r2), some(r3), some(r4), some(r5)


delta_product_forward = torch.library.custom_op("mirrormata::delta_product", forward_kernels, mutates_args=())
delta_product_backward = torch.library.custom_op(
    "mirrormata::delta_product_backward", backward_kernels, mutates_args=()
)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, ctx.householders, ctx.scale, ctx.mode, ctx.final, _ = inputs
    ctx.save_for_backward(*tensors, *output[2:])
    ctx.set_materialize_grads(False)


def _gradients(ctx: Any, do: Tensor | None, dfinal: Tensor | None, *_: None) -> tuple[Any, ...]:
    tensors = ctx.saved_tensors
    inputs, saved = tensors[:7], list(tensors[7:])
    options = ctx.householders, ctx.scale, ctx.mode
    dfinal = dfinal if ctx.final else None
    found = delta_product_backward(given(do, inputs), dfinal, *inputs, saved, *options)
    return *as_inputs(found, inputs), *[None] * 6


delta_product_forward.register_autograd(_gradients, setup_context=_remember)


@delta_product_forward.register_fake
def _(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    householders: int,
    scale: float,
    mode: str,
    final: bool,
    save: bool,
) -> tuple[Tensor, ...]:
    return forward_shapes(q, v, cu_seqlens, householders, mode, final, save)


@delta_product_backward.register_fake
def _(
    do: Tensor,
    dfinal: Tensor | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    saved: list[Tensor],
    householders: int,
    scale: float,
    mode: str,
) -> tuple[Tensor, ...]:
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    optional = [q.new_empty(0) if x is None else q.new_empty(x.shape, dtype=wide) for x in (a, initial_state)]
    return *(torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v, beta)), *optional
