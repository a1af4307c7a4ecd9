"""DeltaProduct as torch custom operators on the Triton kernels: known to autograd, `torch.compile` and fake tensors.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import delta_product_fused as fused
from . import delta_product_phases as phases
from .delta_product_plan import choose_mode, kernel_width
from .delta_product_problem import Gradients, Problem, place_chunks
from .delta_product_recurrent import recurrent_backward, run_recurrent
from .delta_product_scan import scan_backward, scan_forward
from .delta_product_shapes import forward_shapes

MAX_HOUSEHOLDERS = 16
"""More micro-steps a token than this are given to the chunk kernels as tokens of their own."""


def delta_product_triton(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    householders: int,
    initial_state: Tensor | None,
    output_final_state: bool,
    scale: float,
    cu_seqlens: Tensor | None,
    mode: str,
) -> tuple[Tensor, Tensor]:
    """Outputs and final state (empty unless asked for), through the custom operator."""
    B, T, H, K = q.shape
    V = v.shape[3]
    N = B if cu_seqlens is None else cu_seqlens.numel() - 1
    mode = choose_mode(mode, q.dtype, T, N * H)
    if T == 0 or B * H == 0:
        state = q.new_zeros(N, H, K, V, dtype=torch.float32) if initial_state is None else initial_state
        return v.new_zeros(B, 0, H, V), state
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
    save = torch.is_grad_enabled() and any(
        x is not None and x.requires_grad for x in (q, k, v, beta, a, initial_state)
    )
    arguments = (
        q,
        k,
        v,
        beta,
        a,
        initial_state,
        cu_seqlens,
        householders,
        scale,
        mode,
        output_final_state,
        save,
    )
    o, final = _call(*arguments)
    if every > 1:
        o = o[:, every - 1 :: every]
    if wide_v:
        o = o[..., :V]
    if output_final_state and (wide_k or wide_v):
        final = final[:, :, :K, :V]
    return o, final


def _call(*arguments: Any) -> tuple[Tensor, Tensor]:
    """The operator; without its dispatch, which costs as much time as a small kernel, where nobody watches."""
    q = arguments[0]
    if (
        torch.compiler.is_compiling()
        or type(q) not in (Tensor, torch.nn.Parameter)
        or torch._C._len_torch_dispatch_stack() > 0
    ):
        o, final, *_ = delta_product_forward(*arguments)
    elif q.is_cuda and q.get_device() != torch.cuda.current_device():
        with torch.cuda.device(q.device):
            return _call(*arguments)
    elif arguments[-1]:
        o, final = Eager.apply(*arguments)  # type: ignore[no-untyped-call]
    else:
        o, final, *_ = forward_kernels(*arguments)
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


def _problem(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    householders: int,
    scale: float,
) -> Any:
    def whole(x: Tensor) -> Tensor:
        return x if x.is_contiguous() else x.contiguous()

    def present(x: Tensor | None) -> Tensor | None:
        return None if x is None else whole(x)

    return Problem(
        *(whole(q), whole(k), whole(v), whole(beta), present(a), present(initial_state), present(cu_seqlens)),
        householders=householders,
        scale=scale,
    )


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
    problem = _problem(q, k, v, beta, a, initial_state, cu_seqlens, householders, scale)

    def none() -> Tensor:
        return q.new_empty(0)

    if mode == "recurrent":
        return *run_recurrent(problem, final=final, save=save), none(), none(), none()
    if mode == "scan":
        return *scan_forward(problem, final=final, save=save), none(), none()
    plan = fused.plan_for(problem)
    if plan.fused:
        return *fused.fused_forward(problem, plan, final=final, save=save), none(), none(), none()
    chunks, inverses, scores = phases.phase_prepare(problem, plan)
    o, last, errors, states = phases.phase_advance(
        problem, plan, chunks, inverses, scores, final=final, save=save
    )
    if not save:
        return o, last, none(), none(), none(), none()
    return o, last, inverses, scores, errors, states


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
    problem = _problem(q, k, v, beta, a, initial_state, cu_seqlens, householders, scale)
    do = do.contiguous()
    dfinal = None if dfinal is None else dfinal.contiguous()
    if mode == "recurrent":
        return recurrent_backward(problem, do, dfinal, saved[0]).all()
    if mode == "scan":
        return scan_backward(problem, do, dfinal, saved).all()
    plan = fused.plan_for(problem)
    if plan.fused:
        return fused.fused_backward(problem, plan, do, dfinal, saved[0]).all()
    inverses, scores, errors, states = saved
    out = Gradients.of(problem)
    chunks = place_chunks(problem, plan.rows // householders)
    dinitial = None if initial_state is None else out.initial
    dstates = phases.phase_retreat(problem, plan, chunks, inverses, scores, do, dfinal, dinitial, out.v)
    phases.phase_gradients(problem, plan, chunks, do, errors, states, dstates, out)
    return out.all()


delta_product_forward = torch.library.custom_op("mirrormata::delta_product", forward_kernels, mutates_args=())
delta_product_backward = torch.library.custom_op(
    "mirrormata::delta_product_backward", backward_kernels, mutates_args=()
)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    q, k, v, beta, a, initial_state, cu_seqlens, householders, scale, mode, final, _ = inputs
    ctx.save_for_backward(q, k, v, beta, a, initial_state, cu_seqlens, *output[2:])
    ctx.constants = householders, scale, mode
    ctx.final = final
    ctx.set_materialize_grads(False)


def _gradients(backward: Any, ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
    q, k, v, beta, a, initial_state, cu_seqlens, *saved = ctx.saved_tensors
    if do is None:
        do = q.new_zeros(*q.shape[:3], v.shape[3])
    dfinal = dfinal if ctx.final else None
    *dx, da, dinitial = backward(
        do, dfinal, q, k, v, beta, a, initial_state, cu_seqlens, saved, *ctx.constants
    )
    return (
        *dx,
        None if a is None else da.to(a.dtype),
        None if initial_state is None else dinitial.to(initial_state.dtype),
        *[None] * 6,
    )


class Eager(torch.autograd.Function):
    """The operator's kernels as an autograd function."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, Tensor]:
        """Outputs and final state."""
        output = forward_kernels(*arguments)
        _remember(ctx, arguments, output)
        return output[0], output[1]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor | None, dfinal: Tensor | None) -> tuple[Any, ...]:
        """Gradients of the inputs."""
        return _gradients(backward_kernels, ctx, do, dfinal)


delta_product_forward.register_autograd(
    lambda ctx, do, dfinal, *_: _gradients(delta_product_backward, ctx, do, dfinal), setup_context=_remember
)


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
    optional = (q.new_empty(0 if x is None else x.shape, dtype=wide) for x in (a, initial_state))
    return *(torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v, beta)), *optional
