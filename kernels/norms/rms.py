"""`rms_normalise`: root-mean-square norms with a weight for each seed and head, in torch or by one Triton kernel."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from ..backends import choose_backend


def rms_normalise(
    x: Tensor, weight: Tensor, *, eps: float = 1e-6, dtype: torch.dtype | None = None, backend: str = "auto"
) -> Tensor:
    """w · x / sqrt(mean x² + eps) over the last dimension, in `dtype`, by default x's.

    x `[S,...,H,D]` with weight `[S,H,D]`, or x `[S,...,D]` with weight `[S,D]`. The mean is taken in float32 (float64 for
    float64, always in torch).

    Raises `KernelInputError` for an unknown backend and `BackendUnavailableError`.
    """
    chosen = choose_backend(backend, x.device)
    result = x.dtype if dtype is None else dtype
    if chosen == "triton" and x.dtype != torch.float64 and not torch.compiler.is_compiling():
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
