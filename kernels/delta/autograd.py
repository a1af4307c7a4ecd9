"""DeltaProduct's kernels as an autograd function, without the dispatch of a custom operator.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .passes import backward_pass, forward_pass
from .problem import Problem


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
