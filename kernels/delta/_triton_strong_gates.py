"""Chunks whose gates become too small to divide by, for the Hopper kernels: their vectors, B X and scores.

The letters are those of `_triton_chunk`, the vectors those of `_gluon_prepare`: here p = 1, r = c, z = d, and att' = Q Kᵀ ∘ D_r is
kept.  A product of gates is its sign, times 2 to a difference of sums of logarithms, or zero where a gate of zero lies between;
gates of 1 and -1 are exact.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ._triton_blocks import invert_unit_lower, load_gates, locate_chunk, mask_seen, multiply, multiply_gates

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def sum_gates(gate):
    """Up to each row: the sum of log2 |gate|, the number of zeros, the sign."""
    zero = gate == 0.0
    size = tl.cumsum(tl.log2(tl.where(zero, 1.0, tl.abs(gate))), 0)
    return size, tl.cumsum(tl.where(zero, 1, 0), 0), tl.cumprod(tl.where(gate < 0, -1.0, 1.0), 0)


@triton.jit
def strong_gates(
    x, written, vectors, strong, at, pairs, F: tl.constexpr, NH: tl.constexpr, VECTORS: tl.constexpr
):
    """Replace what `prepare_hopper` wrote of the chunks that it marked; programs go through the pairs of a chunk and a head.

    F.NH is the number of rows of a token, of which NH are micro-steps; strong `[pairs,R,C]`.
    """
    H = at.H
    for pair in range(tl.program_id(0), pairs, tl.num_programs(0)):
        p = vectors + tl.cast(pair, tl.int64) * VECTORS * F.C
        if tl.load(p + 5 * F.C) == 0.0:
            h = pair % H
            start, left = locate_chunk(at, pair // H, F.TC, F.PACKED)
            tokens = tl.minimum(left, F.TC)
            o_k = tl.arange(0, F.K)
            o_c = tl.arange(0, F.C)
            o_r = tl.arange(0, F.R)
            used = (o_c % F.NH < NH) & (o_c // F.NH < tokens)
            # ((start + token) NH + step) H + h
            micro = (start * NH + o_c // F.NH * NH + o_c % F.NH) * H + h
            Kc = tl.load(x.k + micro[:, None] * F.K + o_k[None, :], mask=used[:, None], other=0.0)
            p_q = x.q + ((start + o_r) * H + h)[:, None] * F.K + o_k[None, :]
            Qc = tl.load(p_q, mask=(o_r < tokens)[:, None], other=0.0)
            bt = tl.load(x.beta + micro, mask=used, other=0.0).to(F.ACC)
            gate, after, token_gate = load_gates(x.a + start * H + h, o_c, o_r, tokens, H, F)
            c, d, _c_r = multiply_gates(gate, after, token_gate)
            tl.store(p + o_c, tl.full([F.C], 1.0, dtype=F.ACC))
            tl.store(p + F.C + o_c, c)
            tl.store(p + 2 * F.C + o_c, d)
            size, zeros, sign = sum_gates(gate)
            size_r, zeros_r, sign_r = sum_gates(token_gate)
            # D_r on the rows that are seen, where the difference is of a later row and an earlier one
            seen = mask_seen(o_r[:, None], o_c[None, :], F.NH)
            between = tl.exp2(tl.where(seen, size_r[:, None] - size[None, :], 0.0))
            D = between * sign_r[:, None] * sign[None, :]
            D = tl.where(seen & (zeros_r[:, None] == zeros[None, :]), D, 0.0)
            att = multiply(Qc, tl.trans(Kc), F) * D
            row = tl.cast(pair, tl.int64) * F.R
            tl.store(strong + (row + o_r[:, None]) * F.C + o_c[None, :], att.to(strong.dtype.element_ty))
            # D between rows on both sides of the diagonal, for L and Lᵀ
            up = o_c[:, None] < o_c[None, :]
            low = o_c[:, None] > o_c[None, :]
            between = tl.exp2(tl.where(up, -1.0, 1.0) * (size[:, None] - size[None, :]))
            D = tl.where(zeros[:, None] == zeros[None, :], between * sign[:, None] * sign[None, :], 0.0)
            G = multiply(Kc, tl.trans(Kc), F) * D
            L = tl.where(low, G * bt[None, :], 0.0)
            Lt = tl.where(up, G * bt[:, None], 0.0)
            X = invert_unit_lower(L, Lt, F.C, F.IPREC, F.ACC) * bt[:, None]
            row = tl.cast(pair, tl.int64) * F.C
            tl.store(written + (row + o_c[:, None]) * F.C + o_c[None, :], X.to(written.dtype.element_ty))
