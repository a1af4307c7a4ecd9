"""Pieces of the chunk kernels that live in registers: products, gate products, the unit triangular inverse.

Names inside the kernels: `NH` micro-steps a token, `C` rows of a chunk, of which `TC·NH` are used (`TC = C // NH` tokens),
`R` rows for tokens, a power of two that is at least 16.  Rows beyond the sequence have k = v = beta = 0 and gate 1, so they
change nothing.  `PREC` is `cast` (operands in the tensors' 16-bit dtype) or the input precision of a float32 product;
`ACC` the dtype of accumulators.

Gradients of the gates inside a chunk, without dividing by them: a gate of zero has its gradient too.

The gradient of a product of gates D[i,j], j < t <= i, in gate t is D[i,t] D[t-1,j].  So with weights W[i,j] = dloss/dD[i,j]
(and w_i for the products c_i from the chunk's start, which have j before the first row),

    da_t = sum over i >= t of D[i,t] ( sum over j < t of W[i,j] D[t-1,j]  +  w_i c_{t-1} ).
"""

from __future__ import annotations

import triton
import triton.language as tl

from .._backends import triton_interpreted

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


INTERPRETED = tl.constexpr(triton_interpreted())
"""There 16-bit operands are widened, which changes no product: the interpreter multiplies bfloat16's bits as whole numbers."""


@triton.jit
def sequence(cu, chunk_start, n, T, TC: tl.constexpr, PACKED: tl.constexpr):
    """First token, length and first chunk of sequence n."""
    if PACKED:
        start = tl.cast(tl.load(cu + n), tl.int64)
        length = tl.cast(tl.load(cu + n + 1) - start, tl.int32)
        chunk = tl.cast(tl.load(chunk_start + n), tl.int64)
    else:
        start = tl.cast(n, tl.int64) * T
        length = T
        chunk = tl.cast(n, tl.int64) * tl.cdiv(T, TC)
    return start, length, chunk


@triton.jit
def load_rows(pointers, used, EVEN: tl.constexpr):
    """Rows `[rows, width]`; unused ones are zero.  EVEN: all are used."""
    if EVEN:
        return tl.load(pointers)
    else:
        return tl.load(pointers, mask=used[:, None], other=0.0)


@triton.jit
def store_rows(pointers, x, used, EVEN: tl.constexpr):
    """Store the used rows, in the pointers' dtype."""
    x = x.to(pointers.dtype.element_ty)
    if EVEN:
        tl.store(pointers, x)
    else:
        tl.store(pointers, x, mask=used[:, None])


@triton.jit
def lower_tiles(o_c):
    """The 16x16 tiles `[C,C]` on and below the diagonal: the rest of an inverse is zero and not kept in memory."""
    return o_c[:, None] // 16 >= o_c[None, :] // 16


@triton.jit
def seen_tiles(o_r, o_c, NH: tl.constexpr):
    """For each token the tiles of 16 rows `[R,C]` that it sees at all."""
    return o_c[None, :] // 16 * 16 < (o_r[:, None] + 1) * NH


@triton.jit
def product(x, y, total, PREC: tl.constexpr):
    """total + x y."""
    if PREC == "cast":
        if INTERPRETED:
            return tl.dot(x.to(tl.float32), y.to(tl.float32), total)
        return tl.dot(x, y, total)
    else:
        return tl.dot(x, y, total, input_precision=PREC, out_dtype=total.dtype)


@triton.jit
def row_gates(a, row, tokens, H, NH: tl.constexpr, ACC: tl.constexpr):
    """Gate applied before micro-step `row` of the chunk: the token's before its first micro-step, else 1."""
    token = row // NH
    first = (row >= 0) & (row % NH == 0) & (token < tokens)
    return tl.load(a + token * H, mask=first, other=1.0).to(ACC)


@triton.jit
def chunk_gates(a, o_c, o_r, tokens, H, NH: tl.constexpr, ACC: tl.constexpr):
    """The gates of a chunk of so many tokens: before each row, before the row after it, and before each token."""
    gate = row_gates(a, o_c, tokens, H, NH, ACC)
    after = row_gates(a, o_c + 1, tokens, H, NH, ACC)
    return gate, after, row_gates(a, o_r * NH, tokens, H, NH, ACC)


@triton.jit
def products_of(gate, after, token_gate):
    """Products of a chunk's gates as `chunk_gates` gives them: c to each row, d from each row to the end, c to each output."""
    return tl.cumprod(gate, 0), tl.cumprod(after, 0, reverse=True), tl.cumprod(token_gate, 0)


@triton.jit
def load_products(products, o_c, o_r, some):
    """What `gate_products` keeps of a chunk: c and d of its rows, c of its outputs, the whole product; 1 without `some`."""
    C: tl.constexpr = o_c.shape[0]
    c = tl.load(products + o_c, mask=some & (o_c >= 0), other=1.0)
    d = tl.load(products + C + o_c, mask=some & (o_c >= 0), other=1.0)
    c_r = tl.load(products + 2 * C + o_r, mask=some & (o_r >= 0), other=1.0)
    return c, d, c_r, tl.load(products + C - 1, mask=some, other=1.0)


@triton.jit
def row_decay(gate, late, early):
    """`[late, early]` products of the gates of the rows after `early` up to `late`; zero where early is later.

    gate `[rows]` belongs to the rows `late`, which rise by one.  The products are direct, so a zero or a sign is exact.
    """
    steps = tl.where(late[:, None] > early[None, :], gate[:, None], 1.0)
    return tl.where(late[:, None] >= early[None, :], tl.cumprod(steps, 0), 0.0)


@triton.jit
def chunk_decay(gate, token_gate, o_r, o_c, NH: tl.constexpr):
    """`row_decay` between a chunk's rows `[C,C]`, and from rows to outputs `[R,C]`; only gates of tokens differ from 1."""
    C: tl.constexpr = o_c.shape[0]
    R: tl.constexpr = o_r.shape[0]
    if R * NH == C:
        tokens = row_decay(token_gate, o_r, o_r)
        read = tl.reshape(tl.broadcast_to(tokens[:, :, None], (R, R, NH)), (R, C))
        rows = tl.reshape(tl.broadcast_to(read[:, None, :], (R, NH, C)), (C, C))
        rows = tl.where(o_c[:, None] >= o_c[None, :], rows, 0.0)
    else:
        read = row_decay(token_gate, o_r, o_c // NH)
        rows = row_decay(gate, o_c, o_c)
    return rows, read


@triton.jit
def transposed(x):
    """The last two dimensions exchanged."""
    if len(x.shape) == 3:
        return tl.permute(x, (0, 2, 1))
    else:
        return tl.trans(x)


@triton.jit
def inverse_product(x, y, total, IPREC: tl.constexpr):
    """total + x y for factors of an inverse; `fp16` rounds them to 11 bits."""
    if IPREC == "fp16":
        return tl.dot(x.to(tl.float16), y.to(tl.float16), total)
    else:
        return tl.dot(x, y, total, input_precision=IPREC, out_dtype=total.dtype)


@triton.jit
def inverse_of_16(L, Lt, IPREC: tl.constexpr, ACC: tl.constexpr):
    """(I + L)⁻¹ and its transpose for strictly lower 16x16 blocks `[16,16]` or `[n,16,16]`, Lt = Lᵀ.

    Blocks of 1, 2, 4, 8 rows are joined in pairs: X <- X - X (L between the two halves) X.  Every intermediate is an entry of
    a diagonal block's inverse, hence as bounded as the answer (doubling powers of L is not).  Both X and Xᵀ are kept, so that
    a right operand is always the transpose of an accumulator and needs no exchange between threads.
    """
    i = tl.arange(0, 16)
    apart = i[:, None] ^ i[None, :]
    if len(L.shape) == 3:
        apart = apart[None]
    X = tl.where(apart == 0, 1.0, 0.0).to(ACC) - tl.where(apart == 1, L, 0.0)
    Xt = tl.where(apart == 0, 1.0, 0.0).to(ACC) - tl.where(apart == 1, Lt, 0.0)
    for level in tl.static_range(1, 4):
        between = tl.where((apart >> level) == 1, -L, 0.0)
        # (between X)ᵀ from Xᵀ betweenᵀ
        half = inverse_product(Xt, transposed(between), tl.zeros(L.shape, dtype=ACC), IPREC)
        joined = inverse_product(X, transposed(half), X, IPREC)
        Xt = inverse_product(half, transposed(X), Xt, IPREC)
        X = joined
    return X, Xt


@triton.jit
def diagonal_blocks(x, C: tl.constexpr):
    """The 16x16 diagonal blocks of x `[C,C]`, as `[C/16,16,16]`."""
    n = tl.arange(0, C // 16)
    same = (n[:, None] == n[None, :])[:, None, :, None]
    return tl.sum(tl.where(same, tl.reshape(x, (C // 16, 16, C // 16, 16)), 0.0), 2)


@triton.jit
def unit_lower_inverse(L, Lt, C: tl.constexpr, IPREC: tl.constexpr, ACC: tl.constexpr):
    """(I + L)⁻¹ for strictly lower L `[C,C]`, C of 32 or more, Lt = Lᵀ: the 16x16 diagonal blocks, then joined in pairs."""
    blocks, _ = inverse_of_16(diagonal_blocks(L, C), diagonal_blocks(Lt, C), IPREC, ACC)
    n = tl.arange(0, C // 16)
    same = (n[:, None] == n[None, :])[:, None, :, None]
    X = tl.reshape(tl.where(same, blocks[:, :, None, :], 0.0), (C, C))
    i = tl.arange(0, C)
    apart = i[:, None] ^ i[None, :]
    for level in tl.static_range(4, 7):
        if (1 << level) < C:
            between = tl.where((apart >> level) == 1, -L, 0.0)
            half = inverse_product(between, X, tl.zeros([C, C], dtype=ACC), IPREC)
            X = inverse_product(X, half, X, IPREC)
    return X


@triton.jit
def chunk_inverse(
    Kc,
    bt,
    D,
    C: tl.constexpr,
    GATED: tl.constexpr,
    IPREC: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
):
    """(I + tril(K Kᵀ ∘ D, -1) diag(beta))⁻¹ and its transpose where C = 16 (else the inverse twice)."""
    i = tl.arange(0, C)
    G = product(Kc, tl.trans(Kc), tl.zeros([C, C], dtype=ACC), PREC)
    if GATED:
        G = G * (D + tl.where(i[:, None] < i[None, :], tl.trans(D), 0.0))
    L = tl.where(i[:, None] > i[None, :], G * bt[None, :], 0.0)
    Lt = tl.where(i[:, None] < i[None, :], G * bt[:, None], 0.0)
    if C == 16:
        X, Xt = inverse_of_16(L, Lt, IPREC, ACC)
    else:
        X = unit_lower_inverse(L, Lt, C, IPREC, ACC)
        Xt = X
    return X, Xt


# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


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
