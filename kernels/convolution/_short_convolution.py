"""`short_convolution`: each channel with a few taps of its own, in torch or by Triton kernels that read the past in place."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._backends import KernelInputError, choose_backend
from .._checking import check_tensors

MOST_TAPS = 64
"""The most taps of the kernels, which are compiled for their number; with more the torch path runs."""


def short_convolution(
    x: Tensor, weight: Tensor, before: Tensor | None = None, *, backend: str = "auto"
) -> Tensor:
    """Causal convolution y_t = Σ_j w_j x_{t - (taps - 1) + j}, in which zeros or `before` precede x.

    The last tap applies to the current token. The result is differentiable in all three tensors.  The torch backend rounds products
    to the dtype of x, the kernels round only the sum.

    Args:
        x: `[S,B,T,C]`: seeds (models side by side), batch, tokens, channels; of a floating dtype.
        weight: `[S,C,taps]`, the taps (at least one) of each seed and channel, of a floating dtype.
        before: the inputs that precede x, `[S,B,taps-1,C]`, by default zero.
        backend: `triton`, `torch`, or `auto`: `triton` for CUDA tensors where triton is installed, else `torch`;
            `reference` runs as `torch`.  In float64, with more than 64 taps and
            while compiling it is always torch.

    Returns:
        y in x's shape and dtype.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Examples:
        >>> import torch
        >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 1, 4, 1)
        >>> short_convolution(x, torch.tensor([[[10.0, 1.0]]])).flatten().tolist()
        [1.0, 12.0, 23.0, 34.0]
    """
    check_tensors({"x": x, "weight": weight, "before": before}, optional="before")
    if x.dim() != 4 or weight.dim() != 3 or weight.shape[:2] != (x.shape[0], x.shape[3]):
        raise KernelInputError(
            f"x has shape {list(x.shape)}, weight {list(weight.shape)}: they must be [S, B, T, C] and [S, C, taps]"
        )
    seeds, batch, tokens, channels = x.shape
    taps = weight.shape[2]
    if taps < 1:
        raise KernelInputError(f"weight has shape {list(weight.shape)}: pass at least one tap, the present's")
    if before is not None and before.shape != (seeds, batch, taps - 1, channels):
        raise KernelInputError(
            f"before has shape {list(before.shape)}: it must be {[seeds, batch, taps - 1, channels]}, the inputs before x"
        )
    chosen = choose_backend(backend, x.device)
    narrow = x.dtype != torch.float64 and taps <= MOST_TAPS
    if chosen == "triton" and narrow and not torch.compiler.is_compiling():
        # what was before takes the place of the zeros in front, and its outputs are cut off
        rows = x if before is None else torch.cat([before.to(x.dtype), x], 2)
        y: Tensor = _Short.apply(rows, weight)  # type: ignore[no-untyped-call]
        return y[:, :, rows.shape[2] - tokens :]
    if before is None:
        before = x.new_zeros(seeds, batch, taps - 1, channels)
    padded = torch.cat([before.to(x.dtype), x], 2)
    # w_j x_{t - (taps - 1) + j}, where padded[t + j] is x_{t - (taps - 1) + j}
    products = [padded[:, :, j : j + tokens] * weight[:, None, None, :, j].to(x.dtype) for j in range(taps)]
    return torch.stack(products).sum(0)


class _Short(torch.autograd.Function):
    """The kernels; x and the weight are kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        from ._triton_short_convolution import short_rows_of

        x, weight = x.contiguous(), weight.contiguous()
        ctx.save_for_backward(x, weight)
        return short_rows_of(x, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        from ._triton_short_convolution import short_gradients

        x, weight = ctx.saved_tensors
        return short_gradients(x, weight, gradient.contiguous())
