"""Gradients of the gates inside a chunk, without dividing by them: a gate of zero has its gradient too.

The gradient of a product of gates D[i,j], j < t <= i, in gate t is D[i,t] D[t-1,j].  So with weights W[i,j] = dloss/dD[i,j]
(and w_i for the products c_i from the chunk's start, which have j before the first row),

    da_t = sum over i >= t of D[i,t] ( sum over j < t of W[i,j] D[t-1,j]  +  w_i c_{t-1} ).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"
from __future__ import annotations

import triton
import triton.language as tl

from .triton_blocks import row_decay


@triton.jit
def gate_gradient(
    W,
    W_read,
    w_start,
    w_read_start,
    w_end,
    w_whole,
    D,
    D_read,
    d,
    previous_gate,
    o_c,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
):
    """Gradient `[C]` of the gate before each row (that of a token before its first micro-step is the token's).

    W `[C,C]`: of D between rows; W_read `[R,C]`: of D from rows to outputs; w_start `[C]`, w_read_start `[R]`: of c at rows
    and outputs; w_end `[C]`: of d; w_whole: of the whole chunk's product.  previous_gate `[C]`: the gate before row i - 1.
    """
    IPREC: tl.constexpr = "tf32" if PREC == "cast" else PREC
    D_before = row_decay(previous_gate, o_c - 1, o_c)
    c_before = tl.cumprod(previous_gate, 0)
    between = tl.dot(
        W, tl.trans(D_before), tl.zeros(W.shape, dtype=ACC), input_precision=IPREC, out_dtype=ACC
    )
    read = tl.dot(
        W_read, tl.trans(D_before), tl.zeros(W_read.shape, dtype=ACC), input_precision=IPREC, out_dtype=ACC
    )
    total = tl.sum(D * (between + w_start[:, None] * c_before[None, :]), 0)
    total += tl.sum(D_read * (read + w_read_start[:, None] * c_before[None, :]), 0)
    last = tl.sum(D_before * w_end[None, :], 1) + w_whole * c_before
    return total + d * last
