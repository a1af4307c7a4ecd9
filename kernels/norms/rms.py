"""`rms_normalise`: root-mean-square norms with a weight for each seed and head, in torch or by one Triton kernel."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from ..backends import KernelInputError, choose_backend
from ..checking import FLOATS, check_number, check_tensors, describe
from .l2 import MOST_ENTRIES


def rms_normalise(
    x: Tensor, weight: Tensor, *, eps: float = 1e-6, dtype: torch.dtype | None = None, backend: str = "auto"
) -> Tensor:
    """w · x / sqrt(mean x² + eps) over the last dimension, in `dtype`, by default x's.

    x `[S,...,H,D]` with weight `[S,H,D]`, or x `[S,...,D]` with weight `[S,D]`; eps at least 0. The mean is taken in float32
    (float64 for float64, always in torch).

    Raises `KernelInputError` naming the argument, and `BackendUnavailableError`.
    """
    check_tensors({"x": x, "weight": weight})
    ends = weight.dim() > 1 and x.dim() >= weight.dim() and x.shape[0] == weight.shape[0]
    if not ends or x.shape[x.dim() - weight.dim() + 1 :] != weight.shape[1:]:
        raise KernelInputError(
            f"x has shape {list(x.shape)}, weight {list(weight.shape)}: they must be [S, ..., H, D] and [S, H, D], or "
            "[S, ..., D] and [S, D]"
        )
    eps = check_number("eps", eps, least=0.0)
    if dtype is not None and dtype not in FLOATS:
        raise KernelInputError(f"dtype is {describe(dtype)}: use float16, bfloat16, float32 or float64")
    chosen = choose_backend(backend, x.device)
    result = x.dtype if dtype is None else dtype
    narrow = x.dtype != torch.float64 and x.shape[-1] <= MOST_ENTRIES
    if chosen == "triton" and narrow and not torch.compiler.is_compiling():
        y: Tensor = _RMS.apply(x, weight, eps, result)  # type: ignore[no-untyped-call]
        return y
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    places = weight.shape[0], *(1,) * (x.ndim - weight.ndim), *weight.shape[1:]
    return (F.rms_norm(wide, (x.shape[-1],), eps=eps) * weight.view(places)).to(result)


class _RMS(torch.autograd.Function):
    """The kernels; x and the weight are kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        from .launch import rms_rows_of

        x, weight = x.contiguous(), weight.contiguous()
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        return rms_rows_of(x, weight, eps, dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        from .launch import rms_gradients

        x, weight = ctx.saved_tensors
        return *rms_gradients(x, weight, gradient.contiguous(), ctx.eps), None, None
