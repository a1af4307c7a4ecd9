"""Norms of rows, each in torch or by one Triton kernel.

`l2_normalise` divides vectors by their norms; `rms_normalise` divides by the root of the mean square and multiplies by a weight
for each seed and head.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .._backends import KernelInputError, choose_backend
from .._checking import FLOATS, check_flags, check_number, check_tensors, describe

MOST_ENTRIES = 65536
"""The most entries of a row that the kernels hold; longer ones are normalised in torch."""


def l2_normalise(x: Tensor, *, silu: bool = False, backend: str = "auto") -> Tensor:
    """Divide the vectors along the last dimension, or SiLU of them, by their norms; a zero vector stays zero.

    | ‖u‖ - 1 | is at most 2 ulp.  The norm is taken in the next wider format, with nothing added under the root, so
    reflections stay reflections.  The result is differentiable once.

    Args:
        x: `[...,D]`, float16, bfloat16, float32 or float64, with at least one dimension.
        silu: whether to apply SiLU, x σ(x), to the entries first.
        backend: `triton`, `torch`, or `auto`: `triton` for CUDA tensors where triton is installed, else `torch`;
            `reference` runs as `torch`.  With D above 65,536 and while compiling it is always torch.

    Returns:
        Unit vectors in x's shape and dtype.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Examples:
        >>> import torch
        >>> l2_normalise(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])
    """
    check_tensors({"x": x})
    check_flags(silu=silu)
    if x.dim() == 0:
        raise KernelInputError("x has shape []: pass vectors [..., D]")
    chosen = choose_backend(backend, x.device)
    if not x.numel():
        return x * 1
    if (
        chosen == "triton" and x.shape[-1] <= MOST_ENTRIES and not torch.compiler.is_compiling()
    ):  # a compiler fuses the torch form itself
        unit: Tensor = _Kernels.apply(x, silu)  # type: ignore[no-untyped-call]
    else:
        unit = _Torch.apply(F.silu(x) if silu else x)  # type: ignore[no-untyped-call]
    return unit


class _Kernels(torch.autograd.Function):
    """The kernels; x alone is kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, silu: bool) -> Tensor:
        from ._triton_norms import unit_rows_of

        x = x.contiguous()
        ctx.save_for_backward(x)
        ctx.silu = silu
        return unit_rows_of(x, None, silu)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        from ._triton_norms import unit_rows_of

        return unit_rows_of(ctx.saved_tensors[0], gradient.contiguous(), ctx.silu), None


class _Torch(torch.autograd.Function):
    """u = x / ‖x‖ and its gradient (g - u (u·g)) / ‖x‖, in the next wider format; x alone is kept.

    Narrow and wide operands in one operation are widened on the way, which saves a pass each.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # the next wider format, in which squares of the narrow one neither overflow nor vanish
        wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else torch.float64
        # first by the largest entry, so that squares lie in [0, 1] in float64 too
        largest = x.abs().amax(-1, keepdim=True).to(wide)
        largest = torch.where(largest > 0, largest, torch.ones_like(largest))
        unit = x / largest
        square = (unit * unit).sum(-1, keepdim=True)
        root = torch.sqrt(torch.where(square > 0, square, torch.ones_like(square)))
        ctx.save_for_backward(x, largest, root)
        return unit.div_(root).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        x, largest, root = ctx.saved_tensors
        # the unit vector again, from what was kept
        unit = (x / largest).div_(root)
        # u (u·g)
        along = unit.mul_((unit * gradient).sum(-1, keepdim=True))
        # (g - u (u·g)) / ‖x‖, where ‖x‖ = largest · root
        result: Tensor = (gradient - along).div_(root).div_(largest).to(x.dtype)
        return result


def rms_normalise(
    x: Tensor, weight: Tensor, *, eps: float = 1e-6, dtype: torch.dtype | None = None, backend: str = "auto"
) -> Tensor:
    """RMS normalisation: w · x / sqrt(mean x² + eps) over the last dimension.

    The mean is taken in float32 (float64 for float64, always in torch).  Differentiable in x and the weight.

    Args:
        x: `[S,...,H,D]`, or `[S,...,D]`: seeds (models side by side), any dimensions, heads, entries; of a floating dtype.
        weight: `[S,H,D]`, or `[S,D]`: the weights of each seed (and head), of a floating dtype.
        eps: added to the mean square, finite, at least 0.
        dtype: the dtype of the result: float16, bfloat16, float32 or float64, by default that of x.
        backend: `triton`, `torch`, or `auto`: `triton` for CUDA tensors where triton is installed, else `torch`;
            `reference` runs as `torch`.  With D above 65,536, in float64
            and while compiling it is always torch.

    Returns:
        The normed rows in x's shape, in `dtype`.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Examples:
        >>> import torch
        >>> rms_normalise(torch.tensor([[3.0, 4.0]]), torch.ones(1, 2), eps=0.0)
        tensor([[0.8485, 1.1314]])
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
    # weights `[S,H,D]` as `[S,1,…,1,H,D]`
    places = weight.shape[0], *(1,) * (x.ndim - weight.ndim), *weight.shape[1:]
    return (F.rms_norm(wide, (x.shape[-1],), eps=eps) * weight.view(places)).to(result)


class _RMS(torch.autograd.Function):
    """The kernels; x and the weight are kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        from ._triton_norms import rms_rows_of

        x, weight = x.contiguous(), weight.contiguous()
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        return rms_rows_of(x, weight, eps, dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        from ._triton_norms import rms_gradients

        x, weight = ctx.saved_tensors
        return *rms_gradients(x, weight, gradient.contiguous(), ctx.eps), None, None
