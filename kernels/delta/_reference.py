"""DeltaProduct as a plain recurrence: the meaning of the operator, in a fixed order of operations.

State `S [K, V]`, token t with `n_h` micro-steps (key, value, beta):

    S <- a_t S                                      if there is a gate
    repeat n_h times:
        s <- sum over K of (k * S)                  products, then `tree_sum`
        u <- beta * (v - s)
        S <- S + k uᵀ                               product, then sum
    o_t <- scale * (sum over K of (q_t * S))        products, then `tree_sum`, then the scale

Every operation is rounded to the arithmetic's format, so the result does not depend on device or vector width.
"""

from __future__ import annotations

import torch
from torch import Tensor


def tree_sum(x: Tensor) -> Tensor:
    """Sum over the last but one dimension by halving: padded with zeros to 2^m, entry i is added to entry i + 2^(m-1)."""
    size = x.shape[-2]
    # the power of two at or above the size; zeros added to it change no sum
    width = 1 << (size - 1).bit_length()
    if width > size:
        x = torch.cat([x, x.new_zeros(*x.shape[:-2], width - size, x.shape[-1])], dim=-2)
    while width > 1:
        width //= 2
        # invariant: the sum of x's entries over that dimension is the result, but for roundings
        x = x[..., :width, :] + x[..., width:, :]
    return x[..., 0, :]


def arithmetic_of(*tensors: Tensor | None) -> torch.dtype:
    """float64 if any tensor is float64, else float32: what states are held in."""
    wide = any(x is not None and x.dtype == torch.float64 for x in tensors)
    return torch.float64 if wide else torch.float32


def without_tokens(o: Tensor, state: Tensor, *inputs: Tensor | None) -> tuple[Tensor, Tensor]:
    """Outputs that have no entries, and the state that stays, both differentiable in inputs that have none either."""
    # the empty sum is 0 and ties the result to inputs that have no entries
    nothing = sum((x.sum() for x in inputs if x is not None), start=state.new_zeros(()))
    return o + nothing, state - nothing  # which leaves -0 as it is


def delta_product_recurrence(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor,
    *,
    householders: int,
    scale: float,
    keep_states: bool = False,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Outputs `[B,T,H,V]`, final state `[B,H,K,V]` and, if kept, every state `[B,T,H,K,V]`; T is 1 or more.

    All tensors have one dtype, and every operation is rounded to it.  Shapes: q `[B,T,H,K]`, k `[B,T·n_h,H,K]`,
    v `[B,T·n_h,H,V]`, beta `[B,T·n_h,H]`, a `[B,T,H]` or None, initial_state `[B,H,K,V]`.
    """
    S = initial_state
    outputs, states = [], []
    for t in range(q.shape[1]):
        if a is not None:
            S = a[:, t, :, None, None] * S
        for i in range(t * householders, (t + 1) * householders):
            # s = Sᵀ k, so u = beta (v - Sᵀ k) and S + k uᵀ = (I - beta k kᵀ) S + beta k vᵀ
            s = tree_sum(k[:, i, :, :, None] * S)
            u = beta[:, i, :, None] * (v[:, i] - s)
            S = S + k[:, i, :, :, None] * u[:, :, None, :]
        # o_t = scale Sᵀ q
        outputs.append(scale * tree_sum(q[:, t, :, :, None] * S))
        if keep_states:
            states.append(S)
    return torch.stack(outputs, 1), S, torch.stack(states, 1) if keep_states else None
