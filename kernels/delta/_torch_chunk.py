"""DeltaProduct by chunks, in plain torch operations: vectorised over batch, heads and chunks, differentiable, any device.

A chunk has rows i (micro-steps), S0 and S1 are the states at its start and end, B = diag(beta), and D[i,j] is the product
of the gates after row j up to row i (c_i from the chunk's start, d_j up to its end; all 1 without gates):

    L = tril(B K Kᵀ ∘ D, -1),   [U0 | W] = (I + L)⁻¹ B [V | c K]      forward substitution
    U = U0 - W S0,              S1 = c_last S0 + (d K)ᵀ U
    o_t = scale (c_t q_t S0 + sum over the rows j seen by t of D[t,j] (q_t·k_j) U_j)

Entries of (I + L)⁻¹ are at most beta_i ‖k_i‖ ‖k_j‖ while beta ‖k‖² is in [0, 2], and integers for integer keys and beta.
Products of gates are taken directly, never through logarithms, so that zero and negative gates are exact.

An infinity or NaN reaches its own token's and later outputs only: 0 times it is NaN, so where a product runs over rows that
its token has not seen, rows that are not finite are left out, and what has seen them becomes NaN afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Decay:
    """Products of gates inside chunks of R tokens; shapes after `[B,H,chunks]`."""

    from_start: Tensor
    """`[R]`: up to and with each token."""
    between: Tensor
    """`[R,R]`: after the column's token up to the row's; zero above the diagonal."""


def decay_chunk(a: Tensor) -> Decay:
    """Products of the gates a `[..., R]` of each chunk's tokens."""
    R = a.shape[-1]
    index = torch.arange(R, device=a.device)
    # column j multiplies downwards and begins with its first gate after row j: never c_i divided by c_j
    later = index[:, None] > index[None, :]
    # factor `[t,j]`: the gate of token t if t > j, else 1
    steps = torch.where(later, a[..., :, None], torch.ones((), dtype=a.dtype, device=a.device))
    seen = index[:, None] >= index[None, :]
    return Decay(torch.cumprod(a, -1), torch.where(seen, torch.cumprod(steps, -2), torch.zeros_like(steps)))


def prefix_states(transition: Tensor, addition: Tensor, initial: Tensor) -> tuple[Tensor, Tensor]:
    """States before each of n affine maps `S -> M_i S + C_i`, and after the last, in log2(n) parallel steps.

    transition `[...,n,K,K]`, addition `[...,n,K,V]`, initial `[...,K,V]`.
    """
    # the initial state goes into the first map, which leaves
    # nothing to multiply: its addition is the state after it
    first = addition[..., :1, :, :] + transition[..., :1, :, :] @ initial[..., None, :, :]
    addition = torch.cat([first, addition[..., 1:, :, :]], -3)
    n, reach = addition.shape[-3], 1
    # addition[i] and transition[i] are the maps from i - reach + 1 (at least 0) to i, one after another
    while reach < n:
        left, right = addition[..., :-reach, :, :], addition[..., reach:, :, :]
        later = transition[..., reach:, :, :]
        # (M, C) after (M', C') is (M M', M C' + C), each with the one `reach` before it
        addition = torch.cat([addition[..., :reach, :, :], right + later @ left], -3)
        transition = torch.cat([transition[..., :reach, :, :], later @ transition[..., :-reach, :, :]], -3)
        reach *= 2
    # before map i stands the state after map i - 1
    before = torch.cat([initial[..., None, :, :], addition[..., :-1, :, :]], -3)
    return before, addition[..., -1, :, :]


def chain_states(
    W: Tensor, U0: Tensor, Kd: Tensor, c_last: Tensor | None, initial: Tensor
) -> tuple[Tensor, Tensor]:
    """States before each chunk and after the last, one chunk after another."""
    S, before = initial, []
    for n in range(W.shape[2]):
        before.append(S)
        kept = S if c_last is None else c_last[:, :, n, None, None] * S
        # S1 = c_last S0 + (d K)ᵀ (U0 - W S0)
        S = kept + Kd[:, :, n].mT @ (U0[:, :, n] - W[:, :, n] @ S)
    return torch.stack(before, 2), S


def replace_non_finite(x: Tensor) -> tuple[Tensor, Tensor]:
    """x with zeros where it is not finite, and where it is not."""
    wrong = ~torch.isfinite(x)
    return x.masked_fill(wrong, 0.0), wrong


def solve_causally(L: Tensor, right: Tensor) -> Tensor:
    """(I + L)⁻¹ right for strictly lower L; NaN in rows behind one that is not finite, of its column or, in L, of all.

    A solver of its own may multiply zeros by later rows.
    """
    L, wrong_rows = replace_non_finite(L)
    solved: Tensor = _CausalSolution.apply(L, right, wrong_rows.any(-1, keepdim=True))  # type: ignore[no-untyped-call]
    return solved


class _CausalSolution(torch.autograd.Function):
    """Of what is solved nothing but the result, with its NaN, is kept for the gradients, besides L."""

    generate_vmap_rule = True

    @staticmethod
    def forward(L: Tensor, right: Tensor, wrong_rows: Tensor) -> Tensor:
        right, wrong = replace_non_finite(right)
        # forward substitution uses every earlier row, so all later ones of that column are wrong too
        wrong = (wrong | wrong_rows).cummax(-2).values
        unit = L + torch.eye(L.shape[-1], dtype=L.dtype, device=L.device)
        solved: Tensor = torch.linalg.solve_triangular(unit, right, upper=False, unitriangular=True)
        return solved.masked_fill_(wrong, torch.nan)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        L, solved = ctx.saved_tensors
        wrong = torch.isnan(solved)
        unit = L + torch.eye(L.shape[-1], dtype=L.dtype, device=L.device)
        # X = (I + L)⁻¹ R gives dR = (I + L)⁻ᵀ dX, dL = -dR Xᵀ
        back = torch.linalg.solve_triangular(
            unit.mT, gradient.masked_fill(wrong, torch.nan), upper=True, unitriangular=True
        )
        return -(back @ solved.masked_fill(wrong, 0.0).mT), back, None


def make_nan_factor(wrong: Tensor) -> Tensor:
    """NaN there, 1 elsewhere: as a factor it changes no bits, and reaches gradients too.

    In 16 bits, since autograd keeps it; a product with a wider tensor is as wide as that.
    """
    return torch.ones((), dtype=torch.bfloat16, device=wrong.device).masked_fill(wrong, torch.nan)


def split_chunks(x: Tensor, rows: int, chunks: int, filling: float = 0.0) -> Tensor:
    """`[B,L,H,...]` to `[B,H,chunks,rows,...]`, filled up at the end."""
    x = x.transpose(1, 2)
    missing = rows * chunks - x.shape[2]
    if missing:
        x = torch.cat([x, x.new_full((*x.shape[:2], missing, *x.shape[3:]), filling)], 2)
    return x.reshape(*x.shape[:2], chunks, rows, *x.shape[3:])


def delta_product_chunks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    a: Tensor | None,
    initial_state: Tensor,
    *,
    householders: int,
    scale: float,
    parallel: bool = False,
    keep_states: bool = False,
    rows: int = 64,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """As `delta_product_recurrence`; `parallel` takes the states before the chunks by `prefix_states` (mode `scan`)."""
    batch, T, H, K = q.shape
    n_h, V = householders, v.shape[-1]
    # R tokens and C = R n_h micro-steps a chunk, never more tokens than there are
    R = min(max(1, rows // n_h), T)
    chunks, C = -(-T // R), R * n_h
    # rows filled up have k = v = beta = 0: they change no state
    Q, K_, V_ = split_chunks(q, R, chunks), split_chunks(k, C, chunks), split_chunks(v, C, chunks)
    b = split_chunks(beta, C, chunks)[..., None]
    # the token of each micro-step
    token = torch.arange(C, device=q.device) // n_h
    lower = torch.ones(C, C, dtype=torch.bool, device=q.device).tril(-1)
    # `[R,C]`: token t sees the micro-steps of all tokens up to itself
    seen = token[None, :] <= torch.arange(R, device=q.device)[:, None]

    # L = B K Kᵀ ∘ D, scores = Q Kᵀ ∘ D
    L, scores = b * (K_ @ K_.mT), Q @ K_.mT
    Kc, Kd, Qc, c_last = K_, K_, Q, None
    if a is not None:
        decay = decay_chunk(split_chunks(a, R, chunks, 1.0))  # tokens filled up have gate 1
        c_last = decay.from_start[..., -1]
        # D[i,j] of micro-steps is that of their tokens
        L = L * decay.between[..., token, :][..., :, token]
        scores = scores * decay.between[..., :, token]
        # c K, d K (d_j is the last row of D) and c Q
        Kc = K_ * decay.from_start[..., token, None]
        Kd = K_ * decay.between[..., -1, :][..., token, None]
        Qc = Q * decay.from_start[..., None]
    # [U0 | W] = (I + L)⁻¹ B [V | c K]
    right = b * torch.cat([V_, Kc], -1)
    solved = solve_causally(torch.where(lower, L, torch.zeros_like(L)), right)
    U0, W = solved[..., :V], solved[..., V:]
    if parallel:
        eye = torch.eye(K, dtype=q.dtype, device=q.device)
        kept = eye if c_last is None else c_last[..., None, None] * eye
        # S1 = (c_last - (d K)ᵀ W) S0 + (d K)ᵀ U0: an affine map for each chunk
        before, final = prefix_states(kept - Kd.mT @ W, Kd.mT @ U0, initial_state)
    else:
        before, final = chain_states(W, U0, Kd, c_last, initial_state)
    U = U0 - W @ before  # beta times the errors of each chunk, from its own start
    scores = torch.where(seen, scores, torch.zeros_like(scores))
    U, wrong = replace_non_finite(U)
    # a token's output sees all rows up to its last micro-step
    wrong = wrong.cummax(-2).values
    after_tokens = wrong[..., n_h - 1 :: n_h, :][..., :R, :]
    # o_t = scale (c_t q_t S0 + sum over seen rows of D[t,j] (q_t·k_j) U_j)
    o = scale * (Qc @ before + scores @ U) * make_nan_factor(after_tokens)
    o = o.reshape(batch, H, chunks * R, V)[:, :, :T].transpose(1, 2)
    if not keep_states:
        return o, final, None
    # `[R,C]`: D[t,j] on seen rows
    weight = seen.to(q.dtype) if a is None else torch.where(seen, decay.between[..., :, token], 0.0)
    # keys that are not finite have made their rows of U so
    # D[t,j] k_j, `[R,C,K]`, and S_t = c_t S0 + sum over j of D[t,j] k_j U_jᵀ
    keys = weight.expand(*U.shape[:3], R, C)[..., None] * replace_non_finite(K_)[0][..., None, :, :]
    written = keys.mT @ U[..., None, :, :] * make_nan_factor(after_tokens)[..., None, :]
    kept = (
        before[..., None, :, :] if a is None else decay.from_start[..., None, None] * before[..., None, :, :]
    )
    states = (kept + written).reshape(batch, H, chunks * R, K, V)[:, :, :T].transpose(1, 2)
    return o, final, states
