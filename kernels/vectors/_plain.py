"""The gated delta rule in thirty lines of numpy: an implementation to read, to port, and to test with the words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def plain_delta_rule(
    q: Floats,
    k: Floats,
    v: Floats,
    beta: Floats,
    g: Floats | None = None,
    initial_state: Floats | None = None,
    cu_seqlens: NDArray[np.int64] | None = None,
    scale: float = 1.0,
    householders: int = 1,
) -> tuple[Floats, Floats]:
    """Run `S <- exp(g_t) S`, then n_h times `S <- S + beta k (v - kᵀ S)ᵀ`, then `o_t = scale Sᵀ q_t`, in numpy.

    Args:
        q: queries `[B,T,H,K]`.
        k: keys `[B,T·n_h,H,K]`.
        v: values `[B,T·n_h,H,V]`.
        beta: `[B,T·n_h,H]`.
        g: logarithms of the gates, `[B,T,H]`, or by channels `[B,T,H,K]`; None for gates of 1.
        initial_state: `[N,H,K,V]`, by default zero.
        cu_seqlens: bounds `[N+1]` of sequences packed along T.
        scale: factor of the outputs.
        householders: n_h.

    Returns:
        Outputs `[B,T,H,V]` in q's dtype and final states `[N,H,K,V]`.
    """
    B, T, H, K = q.shape
    rows = (
        [(b, 0, T) for b in range(B)] if cu_seqlens is None else [(0, i, j) for i, j in pairwise(cu_seqlens)]
    )
    shape = (len(rows), H, K, v.shape[3])
    S = np.zeros(shape, np.result_type(q, np.float32)) if initial_state is None else initial_state.copy()
    o = np.zeros((B, T, H, v.shape[3]), S.dtype)
    for n, (b, start, end) in enumerate(rows):
        for t in range(start, end):
            if g is not None:
                a = np.exp(g[b, t].astype(S.dtype))
                S[n] *= a.reshape(*a.shape, *[1] * (3 - a.ndim))
            for i in range(t * householders, (t + 1) * householders):
                error = v[b, i] - np.einsum("hkv,hk->hv", S[n], k[b, i])
                S[n] += k[b, i][:, :, None] * (beta[b, i][:, None] * error)[:, None, :]
            o[b, t] = scale * np.einsum("hkv,hk->hv", S[n], q[b, t])
    return o.astype(q.dtype), S
