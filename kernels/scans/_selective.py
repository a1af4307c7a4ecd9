"""`selective_scan`: the recurrence of a Mamba-like layer, several states a channel, none of them written out by the kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._backends import KernelInputError, choose_backend
from .._checking import check_flags, check_shape, check_tensors
from ..delta._reference import arithmetic_of
from ._diagonal import diagonal_scan

MOST_STATES = 1024
"""The most states of a channel, which one warp holds; with more the torch path runs."""


def selective_scan(
    u: Tensor,
    step: Tensor,
    rate: Tensor,
    write: Tensor,
    read: Tensor,
    initial_state: Tensor,
    *,
    signed: bool = False,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Run `h_t = a_t ⊙ h_{t-1} + Δ_t u_t w_tᵀ`, `y_t = h_t r_t`, with `a = exp(-Δ λ)`, or `2 exp(-Δ λ) - 1` if signed.

    S, B, T, C, N are seeds (models side by side), batch, tokens, channels, and states of a channel.  The kernels store the
    states only every few tokens and recompute the others; they are differentiable once, in all tensors.

    Args:
        u: inputs, `[S,B,T,C]`, in a floating dtype, as all tensors.
        step: Δ, `[S,B,T,C]`, at least 0.
        rate: λ of each seed, channel and state, `[S,C,N]`, at least 0.
        write: w, `[S,B,T,N]`, the weights with which an input is written into each state.
        read: r, `[S,B,T,N]`, the weights with which each state contributes to the output.
        initial_state: `[S,B,C,N]`.
        signed: whether decays are in (-1, 1] instead of (0, 1].
        backend: `triton`, `torch`, or `auto`: `triton` for CUDA tensors where triton is installed, else `torch`;
            `reference` runs as `torch`.  With N above 1024 it is always torch.

    Returns:
        `(y, final_state)`: `[S,B,T,C]` and `[S,B,C,N]`, in float32, or float64 where an input is.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix; or N is above 1024 with `backend="triton"`.
        BackendUnavailableError: the requested backend cannot run here.

    Source: Mamba, arXiv 2312.00752; the signed range, arXiv 2411.12537.

    Examples:
        Rates of 0 are decays of 1, so that two states add up the inputs:

        >>> import torch
        >>> ones, start = torch.ones(1, 1, 3, 1), torch.zeros(1, 1, 1, 2)
        >>> both = torch.ones(1, 1, 3, 2)
        >>> y, last = selective_scan(ones, ones, torch.zeros(1, 1, 2), both, both, start)
        >>> y.flatten().tolist(), last.flatten().tolist()
        ([2.0, 4.0, 6.0], [3.0, 3.0])
    """
    tensors = {"u": u, "step": step, "rate": rate, "write": write, "read": read}
    check_tensors({**tensors, "initial_state": initial_state})
    check_flags(signed=signed)
    if u.dim() != 4:
        raise KernelInputError(f"u has shape {list(u.shape)}: it must be [S, B, T, C]")
    if write.dim() != 4:
        raise KernelInputError(f"write has shape {list(write.shape)}: it must be [S, B, T, N]")
    seeds, batch, tokens, channels = u.shape
    states = write.shape[-1]
    shapes = {
        "step": (step, "[S, B, T, C]", (seeds, batch, tokens, channels)),
        "rate": (rate, "[S, C, N]", (seeds, channels, states)),
        "write": (write, "[S, B, T, N]", (seeds, batch, tokens, states)),
        "read": (read, "[S, B, T, N]", (seeds, batch, tokens, states)),
        "initial_state": (initial_state, "[S, B, C, N]", (seeds, batch, channels, states)),
    }
    for name, (x, meaning, shape) in shapes.items():
        check_shape(name, x, shape, meaning)
    inputs = u, step, rate, write, read, initial_state
    chosen = choose_backend(backend, u.device)
    if backend == "triton" and states > MOST_STATES:
        raise KernelInputError(
            f'write has N = {states}: the kernels hold up to {MOST_STATES} states a channel; pass backend="torch"'
        )
    if chosen == "triton" and not torch.compiler.is_compiling() and 0 < states <= MOST_STATES and u.numel():
        found: tuple[Tensor, Tensor] = _Selective.apply(signed, *inputs)  # type: ignore[no-untyped-call]
        return found
    wide = arithmetic_of(*inputs)
    u, step, rate, write, read, initial_state = (x.to(wide) for x in inputs)
    a = selective_decays(step, rate, signed)
    # h <- a ⊙ h + Δ u wᵀ is a diagonal scan over C·N channels
    b = (step * u)[..., None] * write[..., None, :]
    h, final = diagonal_scan(
        a.flatten(0, 1).flatten(2), b.flatten(0, 1).flatten(2), initial_state.flatten(0, 1).flatten(1),
        output_final_state=True,
    )  # fmt: skip
    assert final is not None
    # y = h r
    y = torch.einsum("sbtcn,sbtn->sbtc", h.view(a.shape), read)
    return y, final.view(initial_state.shape)


def selective_decays(step: Tensor, rate: Tensor, signed: bool) -> Tensor:
    """a `[S,B,T,C,N]` for steps `[S,B,T,C]` and rates `[S,C,N]`."""
    # exp(-Δ λ), `[S,B,T,C,N]`
    a = torch.exp(-step[..., None] * rate[:, None, None])
    return 2 * a - 1 if signed else a


class _Selective(torch.autograd.Function):
    """The kernels; the inputs are kept, and states every few tokens."""

    @staticmethod
    def forward(ctx: Any, signed: bool, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        from ._triton_selective import selective_forward

        inputs = tuple(x.contiguous() for x in inputs)
        y, final, kept = selective_forward(inputs, signed, arithmetic_of(*inputs), any(ctx.needs_input_grad))
        ctx.save_for_backward(*inputs, kept)
        ctx.signed = signed
        return y, final

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor, dfinal: Tensor) -> tuple[Any, ...]:
        from ._triton_selective import selective_backward

        *inputs, kept = ctx.saved_tensors
        found = selective_backward(tuple(inputs), kept, dy.contiguous(), dfinal.contiguous(), ctx.signed)
        return None, *(x.to(like.dtype) for x, like in zip(found, inputs, strict=True))
