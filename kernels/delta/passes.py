"""The forward and the backward pass of DeltaProduct's modes on the Triton kernels.  Needs triton."""

from __future__ import annotations

from torch import Tensor

from .fused import fused_backward, fused_forward
from .phases import phase_advance, phase_gradients, phase_place, phase_prepare, phase_retreat
from .problem import Gradients, Problem
from .recurrent import recurrent_backward, run_recurrent
from .scan import scan_backward, scan_forward


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
