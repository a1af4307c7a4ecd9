"""DeltaProduct as torch custom operators on the Triton kernels: known to autograd, `torch.compile` and fake tensors.  Needs triton.

DeltaProduct's kernels as an autograd function, without the dispatch of a custom operator.  Needs triton.

The forward and the backward pass of DeltaProduct's modes on the Triton kernels.  Needs triton.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._checking import sequence_bounds
from .._launching import fits_float32
from ._phases import (
    phase_advance,
    phase_gradients,
    phase_place,
    phase_prepare,
    phase_retreat,
    scan_backward,
    scan_forward,
)
from ._plan import MAX_HOUSEHOLDERS, choose_mode, forward_shapes, kernel_width
from ._problem import Gradients, Problem
from ._reference import arithmetic_of, without_tokens
from ._triton_chunk import fused_backward, fused_forward
from ._triton_recurrent import recurrent_backward, run_recurrent


def forward_pass(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor | None, ...]:
    """Outputs, final state, then one to four tensors for the backward pass; None where not asked for."""
    form = problem.form
    if form.mode == "recurrent":
        return run_recurrent(problem, final=final, save=save)
    if form.mode == "scan":
        return scan_forward(problem, final=final, save=save)
    if form.plan.fused:
        return fused_forward(problem, final=final, save=save)
    chunks, inverses, scores = phase_prepare(problem)
    o, last, errors, states = phase_advance(problem, chunks, inverses, scores, final=final, save=save)
    return (o, last, inverses, scores, errors, states) if save else (o, last)


def backward_pass(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]) -> Gradients:
    """Gradients of the inputs from what the forward pass saved."""
    form = problem.form
    do = do.contiguous()
    dfinal = None if dfinal is None else dfinal.contiguous()
    if form.mode == "recurrent":
        return recurrent_backward(problem, do, dfinal, saved[0])
    if form.mode == "scan":
        return scan_backward(problem, do, dfinal, saved)
    if form.plan.fused:
        return fused_backward(problem, do, dfinal, saved[0])
    inverses, scores, errors, states = saved
    out = Gradients.of(problem)
    chunks = phase_place(problem)
    dstates = phase_retreat(problem, chunks, inverses, scores, do, dfinal, out.initial, out.v)
    assert dstates is not None
    phase_gradients(problem, chunks, do, errors, states, dstates, out)
    return out


def given(do: Tensor | None, inputs: tuple[Any, ...]) -> Tensor:
    """The gradient of the outputs, zero where it is not there."""
    q, v = inputs[0], inputs[2]
    return q.new_zeros(*q.shape[:3], v.shape[3]) if do is None else do


def as_inputs(found: tuple[Tensor | None, ...], inputs: tuple[Any, ...]) -> tuple[Tensor | None, ...]:
    """Gradients of the first six inputs; those of gates and initial state are in the states' dtype until here."""
    *first, da, dinitial = found
    a, initial = inputs[4:6]
    return (
        *first,
        None if da is None or a is None else da.to(a.dtype),
        None if dinitial is None or initial is None else dinitial.to(initial.dtype),
    )


class Eager(torch.autograd.Function):
    """The operator's kernels as an autograd function."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor | None, Tensor | None]:
        """Outputs and final state."""
        *inputs, householders, scale, mode, last = arguments
        problem = Problem.of(householders, scale, mode, *inputs)
        o, final, *saved = forward_pass(problem, final=last, save=True)
        ctx.save_for_backward(*inputs, *saved)
        ctx.form, ctx.scale = problem.form, scale
        ctx.set_materialize_grads(False)
        return o, final

    @staticmethod
    def backward(ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
        """Gradients of the inputs."""
        # the decorator that refuses a second derivative takes time of the host's, and only a graph of this one needs it
        return (_once if torch.is_grad_enabled() else _eager_gradients)(ctx, do, dfinal)


def _eager_gradients(ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
    tensors = ctx.saved_tensors
    inputs = tensors[:7]
    problem = Problem.formed(ctx.form, ctx.scale, *inputs)
    found = backward_pass(problem, given(do, inputs), dfinal, tensors[7:])
    return *as_inputs(found, inputs), *[None] * 5


_once = once_differentiable(_eager_gradients)


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
