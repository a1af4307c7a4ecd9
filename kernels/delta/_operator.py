"""DeltaProduct on the Triton kernels: from the function in front to the mode's launches, and what autograd knows of them.

    delta_product_triton   fills up widths, splits many micro-steps, and calls
    `_call`                the autograd function `Eager`, or the custom operators where `torch.compile` or another watches
    run_forward            the mode's forward pass: `_triton_recurrent`, `_triton_chunk`, `_triton_phases` or `_triton_scan`; on
                           Hopper `_hopper` in place of most phases
    run_backward           its gradients

Needs triton.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._checking import sequence_bounds
from .._launching import fits_float32
from ._hopper import differentiate_hopper, multiprocessors, run_hopper, takes_hopper
from ._hopper_plan import hopper_plan, saved_shapes
from ._plan import MAX_HOUSEHOLDERS, choose_mode, forward_shapes, kernel_width
from ._problem import Gradients, Problem
from ._reference import arithmetic_of, without_tokens
from ._triton_chunk import differentiate_fused, run_fused
from ._triton_phases import run_phases
from ._triton_phases_backward import differentiate_phases
from ._triton_recurrent import differentiate_recurrent, run_recurrent
from ._triton_scan import differentiate_scan, run_scan

# The passes


def run_forward(problem: Problem, *, final: bool, save: bool) -> tuple[Tensor | None, ...]:
    """Outputs, final state, then one to four tensors for the backward pass; None where not asked for."""
    form = problem.form
    if form.mode == "recurrent":
        return run_recurrent(problem, final=final, save=save)
    if form.mode == "scan":
        return run_scan(problem, final=final, save=save)
    if form.plan.fused:
        return run_fused(problem, final=final, save=save)
    if takes_hopper(problem, save=save):
        return run_hopper(problem, final=final, save=save)
    return run_phases(problem, final=final, save=save)


def run_backward(problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]) -> Gradients:
    """Gradients of the inputs from what the forward pass saved."""
    form = problem.form
    do = do.contiguous()
    dfinal = None if dfinal is None else dfinal.contiguous()
    if form.mode == "recurrent":
        return differentiate_recurrent(problem, do, dfinal, saved[0])
    if form.mode == "scan":
        return differentiate_scan(problem, do, dfinal, saved)
    if form.plan.fused:
        return differentiate_fused(problem, do, dfinal, saved[0])
    # what was saved says which kernels ran: those of Hopper save three tensors
    if len(saved) == 3 or saved[3].numel() == 0:
        return differentiate_hopper(problem, do, dfinal, saved)
    return differentiate_phases(problem, do, dfinal, saved)


# The function that `delta_product` calls


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
        sequence_bounds(cu_seqlens, T, householders)
    # kernels have no grid without programs, and outputs without entries still need gradients
    if T == 0 or B * H == 0:
        wide = arithmetic_of(q)
        state = q.new_zeros(N, H, K, V, dtype=wide) if initial_state is None else initial_state.to(wide)
        o, state = without_tokens(v[:, :T], state, q, k, v, beta, a)
        return o, state if output_final_state else None
    # a kernel takes scale as a float32, so a float64 that is none is multiplied in afterwards
    factor = None
    if q.dtype == torch.float64 and not fits_float32(scale):  # as kernels are given numbers
        scale, factor = 1.0, scale
    every = 1
    if mode != "recurrent" and householders > MAX_HOUSEHOLDERS:
        q, a, every = _split_tokens(q, a, householders)
        # bounds are in tokens, of which there are n_h times as many now
        cu_seqlens = None if cu_seqlens is None else cu_seqlens * every
        householders = 1
    # zero keys and values change no product, and the columns that they fill are cut off again
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
        # the query of a token stands at its last micro-step
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
    # gradients can be asked of q, k, v, beta, a and the initial state
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
        o, final, *_ = run_forward(problem, final=last, save=False)
    return o, final


def _split_tokens(q: Tensor, a: Tensor | None, householders: int) -> tuple[Tensor, Tensor | None, int]:
    """The same recurrence with one micro-step a token: gates before the first, queries at the last."""
    # zero queries at all micro-steps but the last; gates 1 before all but the first
    quiet = torch.zeros_like(q)[:, :, None].expand(-1, -1, householders - 1, -1, -1)
    q = torch.cat([quiet, q[:, :, None]], 2).flatten(1, 2)
    if a is not None:
        ones = torch.ones_like(a)[:, :, None].expand(-1, -1, householders - 1, -1)
        a = torch.cat([a[:, :, None], ones], 2).flatten(1, 2)
    return q, a, householders


# Autograd without the dispatch of a custom operator


def fill_gradient(do: Tensor | None, inputs: tuple[Any, ...]) -> Tensor:
    """The gradient of the outputs, zero where it is not there."""
    q, v = inputs[0], inputs[2]
    return q.new_zeros(*q.shape[:3], v.shape[3]) if do is None else do


def cast_gradients(found: tuple[Tensor | None, ...], inputs: tuple[Any, ...]) -> tuple[Tensor | None, ...]:
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
        o, final, *saved = run_forward(problem, final=last, save=True)
        ctx.save_for_backward(*inputs, *saved)
        ctx.form, ctx.scale = problem.form, scale
        ctx.set_materialize_grads(False)
        return o, final

    @staticmethod
    def backward(ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
        """Gradients of the inputs."""
        # the decorator that refuses a second derivative takes time of the host's, and only a graph of this one needs it
        return (_once if torch.is_grad_enabled() else _differentiate_eager)(ctx, do, dfinal)


def _differentiate_eager(ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
    tensors = ctx.saved_tensors
    inputs = tensors[:7]
    problem = Problem.formed(ctx.form, ctx.scale, *inputs)
    found = run_backward(problem, fill_gradient(do, inputs), dfinal, tensors[7:])
    # the last five arguments have no gradient: bounds, n_h, scale, mode and what is asked for
    return *cast_gradients(found, inputs), *[None] * 5


_once = once_differentiable(_differentiate_eager)


# Custom operators, known to autograd, `torch.compile` and fake tensors


def run_forward_flat(
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
    return _fill_to_six(q, *run_forward(problem, final=final, save=save))


def run_backward_flat(
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
    # an operator returns as many tensors as its schema says, so what is not there is empty
    return _fill_to_six(q, *run_backward(problem, do, dfinal, saved))


def _fill_to_six(
    q: Tensor,
    r0: Tensor | None,
    r1: Tensor | None,
    r2: Tensor | None = None,
    r3: Tensor | None = None,
    r4: Tensor | None = None,
    r5: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """As many results as the operators have, those that are not there empty, each a tensor of its own."""

    # an operator may not return one tensor twice
    def replace_none(x: Tensor | None) -> Tensor:
        return q.new_empty(0) if x is None else x

    first, second = (replace_none(r0), replace_none(r1)), (replace_none(r2), replace_none(r3))
    return *first, *second, replace_none(r4), replace_none(r5)


delta_product_forward = torch.library.custom_op(
    "mirrormata::delta_product", run_forward_flat, mutates_args=()
)
delta_product_backward = torch.library.custom_op(
    "mirrormata::delta_product_backward", run_backward_flat, mutates_args=()
)


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, ctx.householders, ctx.scale, ctx.mode, ctx.final, _ = inputs
    ctx.save_for_backward(*tensors, *output[2:])
    ctx.set_materialize_grads(False)


def _differentiate(ctx: Any, do: Tensor | None, dfinal: Tensor | None, *_: None) -> tuple[Any, ...]:
    tensors = ctx.saved_tensors
    inputs, saved = tensors[:7], list(tensors[7:])
    options = ctx.householders, ctx.scale, ctx.mode
    # without `final` the second output is an empty tensor, whose gradient means nothing
    dfinal = dfinal if ctx.final else None
    found = delta_product_backward(fill_gradient(do, inputs), dfinal, *inputs, saved, *options)
    # the bounds and the five options have no gradient
    return *cast_gradients(found, inputs), *[None] * 6


delta_product_forward.register_autograd(_differentiate, setup_context=_keep_for_backward)


@delta_product_forward.register_fake
def _(*arguments: Any) -> tuple[Tensor, ...]:
    q, _, v, _, a, _, cu_seqlens, householders, _, mode, final, save = arguments
    first = forward_shapes(q, v, cu_seqlens, householders, mode, final, save)
    if not (save and mode == "chunk" and cu_seqlens is None and multiprocessors(q.device)):
        return first
    B, T, H, K = q.shape
    # not its cache: sizes may be symbols
    plan = hopper_plan.__wrapped__(
        K, v.shape[3], q.dtype, householders, gated=a is not None, tokens=T, pairs=B * H, save=True
    )
    if plan is None:
        return first
    X, vectors, states = saved_shapes(B, T, H, K, v.shape[3], plan, gated=a is not None)
    kept = q.new_empty(X), q.new_empty(vectors, dtype=torch.float32), q.new_empty(states)
    return *first[:2], *kept, q.new_empty(0)


@delta_product_backward.register_fake
def _(*arguments: Any) -> tuple[Tensor, ...]:
    q, k, v, beta, a, initial_state = arguments[2:8]
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    optional = [q.new_empty(0) if x is None else q.new_empty(x.shape, dtype=wide) for x in (a, initial_state)]
    return *(torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v, beta)), *optional
