"""The diagonal-plus-rank-one scan in vectorised torch operations: a loop over tokens, all batch rows and heads at once.

    forward    s = zᵀH,   H <- diag(w) H + u sᵀ + k vᵀ,   o = scale qᵀH
    backward   G <- G + scale q doᵀ  (the gradient of the state after the token; P is the state before it)
               dk = G v,  dv = Gᵀk,  dw = rowsum(G∘P),  du = G s,  ds = Gᵀu,  dz = P ds,  dq = scale H do
               G <- diag(w) G + z dsᵀ

States are kept at each segment's start; the backward pass makes the others again, one segment at a time.
All tensors have one dtype: q, w, u, z, k `[B,T,H,K]`, v `[B,T,H,V]`, states `[B,H,K,V]`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Inputs(NamedTuple):
    """What the scan reads at each token, or the gradients of it."""

    q: Tensor
    w: Tensor
    u: Tensor
    z: Tensor
    k: Tensor
    v: Tensor


def advance_state(state: Tensor, w: Tensor, u: Tensor, z: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The state after one token."""
    # z and H meet over keys, the last but one dimension of the state `[B,H,K,V]`
    # s = zᵀH, H <- (diag(w) H + u sᵀ) + k vᵀ, every product and sum rounded
    s = (z[..., None] * state).sum(-2, keepdim=True)
    return (w[..., None] * state + u[..., None] * s) + k[..., None] * v[..., None, :]


def rank_one_forward(
    inputs: Inputs, initial_state: Tensor, scale: float, length: int, keep: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs `[B,T,H,V]`, the last states, and with `keep` the states before tokens 0, length, … `[B,S,H,K,V]`."""
    q, v = inputs.q, inputs.v
    state, kept = initial_state, []
    o = torch.empty_like(v, memory_format=torch.contiguous_format)
    for start in range(0, v.shape[1], length):
        kept.append(state)
        # states[0] is before the segment, states[1:] after each of its tokens
        states = _states(inputs, state, start, min(start + length, v.shape[1]))
        state = states[-1]
        here = slice(start, start + len(states) - 1)
        # o = scale qᵀH for all tokens of the segment at once
        o[:, here] = scale * (q[:, here, :, :, None] * torch.stack(states[1:], 1)).sum(-2)
    checkpoints = torch.stack(kept, 1) if keep and kept else _no_states(initial_state, v.shape[0])
    return o, state.clone(), checkpoints


def rank_one_backward(
    inputs: Inputs, checkpoints: Tensor, do: Tensor, d_final: Tensor, scale: float, length: int
) -> tuple[Inputs, Tensor]:
    """Gradients of q, w, u, z, k, v and of the initial state."""
    q, w, u, z, k, v = inputs
    gradients = Inputs(*(torch.empty_like(x, memory_format=torch.contiguous_format) for x in inputs))
    G = d_final
    # the last segment first, its states made again from the one before it
    for i in reversed(range(-(-v.shape[1] // length))):
        start = i * length
        states = torch.stack(_states(inputs, checkpoints[:, i], start, min(start + length, v.shape[1])), 1)
        # P and H of each token
        before, after = states[:, :-1], states[:, 1:]
        here = slice(start, start + before.shape[1])
        adjoint = torch.empty_like(before)  # G of each token, before diag(w) and z act on it
        for t in reversed(range(before.shape[1])):
            x = start + t
            # G <- G + scale q doᵀ, then G <- diag(w) G + z dsᵀ with ds = Gᵀu
            G = G + scale * (q[:, x, :, :, None] * do[:, x, :, None, :])
            adjoint[:, t] = G
            ds = (u[:, x, :, :, None] * G).sum(-2, keepdim=True)
            G = w[:, x, :, :, None] * G + z[:, x, :, :, None] * ds
        # s = zᵀP and ds = Gᵀu, for all tokens of the segment at once
        s = (z[:, here, :, :, None] * before).sum(-2, keepdim=True)
        ds = (u[:, here, :, :, None] * adjoint).sum(-2, keepdim=True)
        dq, dw, du, dz, dk, dv = (g[:, here] for g in gradients)
        # dq = scale H do, dw = rowsum(G∘P), du = G s, dz = P ds, dk = G v, dv = Gᵀk
        dq.copy_(scale * (after * do[:, here, :, None, :]).sum(-1))
        dw.copy_((adjoint * before).sum(-1))
        du.copy_((adjoint * s).sum(-1))
        dz.copy_((before * ds).sum(-1))
        dk.copy_((adjoint * v[:, here, :, None, :]).sum(-1))
        dv.copy_((adjoint * k[:, here, :, :, None]).sum(-2))
    return gradients, G.clone()


def _states(inputs: Inputs, state: Tensor, start: int, end: int) -> list[Tensor]:
    """The states before token start and after each token up to end."""
    states = [state]
    for t in range(start, end):
        states.append(advance_state(states[-1], *(x[:, t] for x in inputs[1:])))
    return states


def _no_states(like: Tensor, rows: int) -> Tensor:
    return like.new_empty(rows, 0, *like.shape[1:])


class Padding:
    """Packed sequences `[1,T,...]` spread over rows `[N,longest,...]`, and back."""

    def __init__(self, cu_seqlens: Tensor, tokens: int) -> None:
        cu = cu_seqlens.to(torch.int64)
        lengths = cu[1:] - cu[:-1]
        place = torch.arange(int(lengths.max()), device=cu.device)
        self.inside = place < lengths[:, None]
        # places behind a sequence's end point anywhere; what stands there is replaced
        self.index = (cu[:-1, None] + place).clamp_max(max(tokens - 1, 0))

    def spread(self, x: Tensor, filling: float) -> Tensor:
        """Rows of the sequences, filled up behind their ends."""
        inside = self.inside.reshape(*self.inside.shape, *[1] * (x.dim() - 2))
        return torch.where(inside, x[0, self.index], filling)

    def together(self, x: Tensor) -> Tensor:
        """The rows' tokens one after another, `[1,T,...]`."""
        return x[self.inside][None]
