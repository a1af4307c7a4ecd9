"""Pieces that the DeltaProduct kernels share: where a program's work lies, products, products of gates, the triangular inverse.

Names inside the kernels.  `x`, `at`, `d` are the records `Inputs`, `Places`, `Gradients` of `_problem`, and `F` is the
`ChunkShape` that a kernel is compiled for.  A chunk has `C` rows, one a micro-step, of which `TC·NH` are used (`TC` tokens of
`NH` micro-steps), and `R` rows for tokens.  `o_c`, `o_r`, `o_k`, `o_v` number rows, token rows, keys and values; `p_…` are
pointers that move from chunk to chunk, `at_…` offsets.  Rows beyond the sequence have k = v = beta = 0 and gate 1, so they
change nothing.

Gates are never divided by, nor are logarithms taken: products of gates are multiplied out, so zero and negative gates are exact,
and a gate of zero has its gradient (`differentiate_gates`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import triton
import triton.language as tl

from .._backends import triton_interpreted
from .._launching import make_constants
from ._plan import token_rows
from ._problem import Form

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


class ChunkShape(NamedTuple):
    """What the chunk kernels are compiled for, each field a constant (`make_constants`)."""

    NH: Any
    """Micro-steps of a token."""
    K: Any
    V: Any
    C: Any
    """Rows of a chunk: 16, 32 or 64."""
    R: Any
    """Rows of a tile with one row a token: a power of two, at least 16, which products need."""
    TC: Any
    """Tokens of a chunk, `C // NH`."""
    ACC: Any
    """The dtype of accumulators and states, float32 or float64."""
    PREC: Any
    """Of products: `cast` (operands in the tensors' 16-bit dtype) or the input precision of a float32 product."""
    IPREC: Any
    """The same of the inverse: `fp16` or an input precision."""
    EVEN: Any
    """Whether every chunk is full, so that rows need no masks."""
    EVEN_READ: Any
    """Whether token rows need none either."""
    GATED: Any
    PACKED: Any


@lru_cache(maxsize=1024)
def shape_chunks(form: Form) -> ChunkShape:
    """What the chunk kernels of a form are compiled for."""
    plan, n_h = form.plan, form.householders
    C, R = plan.rows, token_rows(plan.rows, n_h)
    TC = C // n_h
    # no chunk has rows left over: n_h divides C, and every sequence consists of whole chunks
    even = not form.packed and TC * n_h == C and form.tokens % TC == 0
    precisions = plan.precision, plan.inverse_precision
    sizes = n_h, form.K, form.V, C, R, TC
    return ChunkShape(
        # token rows need no masks only where TC is itself a power of two of at least 16
        *make_constants(*sizes, form.arithmetic, *precisions, even, even and R == TC, form.gated, form.packed)
    )


INTERPRETED = tl.constexpr(triton_interpreted())
"""There 16-bit operands are widened, which changes no product: the interpreter multiplies bfloat16's bits as whole numbers."""


# Where a program's work lies


@triton.jit
def locate_program(H, BLOCKS: tl.constexpr):
    """This program's sequence, head and block of columns; the grid has one dimension, since CUDA limits the others to 65,535."""
    # pid = (n·H + h)·BLOCKS + block
    pid = tl.program_id(0)
    return pid // BLOCKS // H, pid // BLOCKS % H, pid % BLOCKS


@triton.jit
def locate_sequence(at, n, PACKED: tl.constexpr):
    """First token and length of sequence n."""
    if PACKED:
        # offsets are 64-bit from here on, since all tokens
        # together may have more than 2³¹ entries; a length has 32
        start = tl.cast(tl.load(at.cu + n), tl.int64)
        length = tl.cast(tl.load(at.cu + n + 1) - start, tl.int32)
    else:
        start = tl.cast(n, tl.int64) * at.T
        length = at.T
    return start, length


@triton.jit
def locate_first_chunk(at, n, TC: tl.constexpr, PACKED: tl.constexpr):
    """First chunk, of TC tokens, of sequence n."""
    if PACKED:
        return tl.cast(tl.load(at.first_chunk + n), tl.int64)
    else:
        return tl.cast(n, tl.int64) * tl.cdiv(at.T, TC)


@triton.jit
def locate_chunk(at, index, TC: tl.constexpr, PACKED: tl.constexpr):
    """First token of a chunk and how many tokens are left in its sequence; none for a chunk that no sequence has."""
    if PACKED:
        # n is -1 at the table's unused end: sequence 0 stands in
        # for it, so that the loads are valid, and `left` is 0
        n = tl.load(at.sequence + index)
        known = tl.maximum(n, 0)
        start = tl.cast(tl.load(at.cu + known), tl.int64)
        # the chunk is number index - first_chunk[n] of its sequence
        start += (index - tl.cast(tl.load(at.first_chunk + known), tl.int64)) * TC
        left = tl.where(n < 0, 0, tl.cast(tl.load(at.cu + known + 1) - start, tl.int32))
    else:
        # not packed: every sequence has equally many chunks, and they follow one another
        chunks = tl.cdiv(at.T, TC)
        start = tl.cast(index // chunks, tl.int64) * at.T + (index % chunks) * TC
        left = at.T - (index % chunks) * TC
    return start, left


@triton.jit
def place_state(n, h, H, o_k, o_v, K: tl.constexpr, V: tl.constexpr):
    """Offsets of entries (k, v) of sequence n's and head h's state in `[N,H,K,V]`; o_k and o_v lie along different dimensions."""
    # ((n H + h) K + k) V + v, in 64 bits
    return (tl.cast(n, tl.int64) * H + h) * K * V + o_k * V + o_v


@triton.jit
def mask_rows(o_c, left, F: tl.constexpr):
    """The rows of a chunk that are micro-steps, where so many tokens are left."""
    # rows TC·NH to C - 1 are left over where NH does not divide C
    return (o_c < F.TC * F.NH) & (o_c < left * F.NH)


@triton.jit
def mask_tokens(o_r, left, F: tl.constexpr):
    """The token rows of a chunk that are tokens, where so many are left."""
    return (o_r < F.TC) & (o_r < left)


@triton.jit
def mask_seen(o_r, o_c, NH: tl.constexpr):
    """The rows that a token's output sees: all up to its last micro-step.  o_r and o_c lie along different dimensions."""
    # token r has the rows r·NH to (r + 1)·NH - 1
    return o_c < (o_r + 1) * NH


@triton.jit
def mask_lower_tiles(o_c):
    """The 16x16 tiles `[C,C]` on and below the diagonal: the rest of an inverse is zero and not kept in memory."""
    return o_c[:, None] // 16 >= o_c[None, :] // 16


@triton.jit
def mask_seen_tiles(o_r, o_c, NH: tl.constexpr):
    """For each token the tiles of 16 rows `[R,C]` that it sees at all."""
    # the first row of column j's tile, j // 16 · 16, against the row after the token's last
    return o_c[None, :] // 16 * 16 < (o_r[:, None] + 1) * NH


@triton.jit
def load_rows(pointers, used, EVEN: tl.constexpr):
    """Rows `[rows, width]`; unused ones are zero.  EVEN: all are used."""
    if EVEN:
        return tl.load(pointers)
    else:
        return tl.load(pointers, mask=used[:, None], other=0.0)


@triton.jit
def store_rows(pointers, x, used, EVEN: tl.constexpr):
    """Store the used rows, rounded once, to the pointers' dtype."""
    x = x.to(pointers.dtype.element_ty)
    if EVEN:
        tl.store(pointers, x)
    else:
        tl.store(pointers, x, mask=used[:, None])


# Products


@triton.jit
def add_product(x, y, total, PREC: tl.constexpr):
    """total + x y."""
    if PREC == "cast":
        # 16-bit operands, products exact in float32; only their sum is rounded
        if INTERPRETED:
            return tl.dot(x.to(tl.float32), y.to(tl.float32), total)
        return tl.dot(x, y, total)
    else:
        # named, since a GPU would take float32 operands as tf32, eleven bits of each
        return tl.dot(x, y, total, input_precision=PREC, out_dtype=total.dtype)


@triton.jit
def multiply(x, y, F: tl.constexpr):
    """x y, in accumulators."""
    return add_product(x, y, tl.zeros([x.shape[0], y.shape[1]], dtype=F.ACC), F.PREC)


# Products of gates.  A token's gate stands before its first micro-step; before the others stands 1


@triton.jit
def load_gates_before(a, row, tokens, H, NH: tl.constexpr, ACC: tl.constexpr):
    """Gate applied before micro-step `row` of the chunk: the token's before its first micro-step, else 1."""
    # row -1 and the row after a chunk's last token occur too (`o_c - 1`, `o_c + 1`): both have gate 1
    token = row // NH
    first = (row >= 0) & (row % NH == 0) & (token < tokens)
    # gates are `[B,T,H]`, so those of one head lie H apart
    return tl.load(a + token * H, mask=first, other=1.0).to(ACC)


@triton.jit
def load_gates(a, o_c, o_r, tokens, H, F: tl.constexpr):
    """The gates of a chunk of so many tokens: before each row, before the row after it, and before each token."""
    gate = load_gates_before(a, o_c, tokens, H, F.NH, F.ACC)
    # `after[j]` is the gate before row j + 1, the first factor of d_j
    after = load_gates_before(a, o_c + 1, tokens, H, F.NH, F.ACC)
    return gate, after, load_gates_before(a, o_r * F.NH, tokens, H, F.NH, F.ACC)


@triton.jit
def multiply_gates(gate, after, token_gate):
    """Of gates as `load_gates` gives them: c up to each row, d from each row to the chunk's end, c_r up to each output."""
    # c_i = Π_{t <= i} gate_t from the left, d_j = Π_{t > j} gate_t from the right: never one divided by the other
    return tl.cumprod(gate, 0), tl.cumprod(after, 0, reverse=True), tl.cumprod(token_gate, 0)


@triton.jit
def load_gate_products(products, o_c, o_r, some):
    """What `gate_products` keeps of a chunk: c and d of its rows, c of its outputs, the whole product; 1 without `some`."""
    C: tl.constexpr = o_c.shape[0]
    # o_c >= 0 is always true and gives the mask its shape
    c = tl.load(products + o_c, mask=some & (o_c >= 0), other=1.0)
    d = tl.load(products + C + o_c, mask=some & (o_c >= 0), other=1.0)
    c_r = tl.load(products + 2 * C + o_r, mask=some & (o_r >= 0), other=1.0)
    # c of the last row is the product of all gates of the chunk
    return c, d, c_r, tl.load(products + C - 1, mask=some, other=1.0)


@triton.jit
def multiply_gates_between(gate, late, early):
    """`[late, early]` products of the gates of the rows after `early` up to `late`; zero where early is later.

    gate `[rows]` belongs to the rows `late`, which rise by one.  The products are direct, so a zero or a sign is exact.
    """
    # column j multiplies downwards and begins with its first gate after row j: above it the factors are 1
    steps = tl.where(late[:, None] > early[None, :], gate[:, None], 1.0)
    # on the diagonal the product is empty, 1
    return tl.where(late[:, None] >= early[None, :], tl.cumprod(steps, 0), 0.0)


@triton.jit
def decay_chunk(gate, token_gate, o_r, o_c, NH: tl.constexpr):
    """D: `multiply_gates_between` a chunk's rows `[C,C]`, and D_r: from rows to outputs `[R,C]`."""
    C: tl.constexpr = o_c.shape[0]
    R: tl.constexpr = o_r.shape[0]
    if R * NH == C:
        # only gates of tokens differ from 1, so the products between tokens `[R,R]`, each NH times, are all there are
        tokens = multiply_gates_between(token_gate, o_r, o_r)
        # D_r[r, j] = tokens[r, j // NH]: column j belongs to token j // NH
        read = tl.reshape(tl.broadcast_to(tokens[:, :, None], (R, R, NH)), (R, C))
        # D[i, j] = D_r[i // NH, j]: row i belongs to token i // NH
        rows = tl.reshape(tl.broadcast_to(read[:, None, :], (R, NH, C)), (C, C))
        # inside a token all factors are 1, above the diagonal as well, where D is 0
        rows = tl.where(o_c[:, None] >= o_c[None, :], rows, 0.0)
    else:
        # n_h does not divide C, or token rows stand empty: each product on its own
        read = multiply_gates_between(token_gate, o_r, o_c // NH)
        rows = multiply_gates_between(gate, o_c, o_c)
    return rows, read


class ProductWeights(NamedTuple):
    """Gradients of the loss in products of a chunk's gates: what `differentiate_gates` takes."""

    rows: Any
    """W `[C,C]`: in D between rows."""
    read: Any
    """`[R,C]`: in D from rows to outputs."""
    start: Any
    """w `[C]`: in c at the rows."""
    read_start: Any
    """`[R]`: in c at the outputs."""
    end: Any
    """`[C]`: in d."""
    whole: Any
    """In the product of all gates of the chunk."""


@triton.jit
def differentiate_gates(W, D, D_r, d, previous_gate, o_c, F: tl.constexpr):
    """Gradient `[C]` of the gate before each row (that of a token before its first micro-step is the token's), nothing divided.

    The gradient of a product of gates D[i,j], j < t <= i, in gate t is D[i,t] D[t-1,j]: the product without it, which a
    division by a gate of zero would not give.  So with weights W[i,j] = dloss/dD[i,j] (and w_i for the products c_i from the
    chunk's start, which have j before the first row),

        da_t = sum over i >= t of D[i,t] ( sum over j < t of W[i,j] D[t-1,j]  +  w_i c_{t-1} ).

    W: a `ProductWeights`; previous_gate `[C]`: the gate before row i - 1.
    """
    # these are sums of many terms that no rounding of inputs bounds, so 16-bit operands would not do
    IPREC: tl.constexpr = "tf32" if F.PREC == "cast" else F.PREC
    D_before = multiply_gates_between(previous_gate, o_c - 1, o_c)  # D[t-1,j]
    c_before = tl.cumprod(previous_gate, 0)  # c_{t-1}
    # sum over j < t of W[i,j] D[t-1,j], `[i,t]`
    between = tl.dot(
        W.rows,
        tl.trans(D_before),
        tl.zeros(W.rows.shape, dtype=F.ACC),
        input_precision=IPREC,
        out_dtype=F.ACC,
    )
    # sum over j < t of W_read[r,j] D[t-1,j], `[r,t]`
    read = tl.dot(
        W.read,
        tl.trans(D_before),
        tl.zeros(W.read.shape, dtype=F.ACC),
        input_precision=IPREC,
        out_dtype=F.ACC,
    )
    # D[i,t] is 0 where i < t, so the sum over all rows i is the sum over i >= t
    total = tl.sum(D * (between + W.start[:, None] * c_before[None, :]), 0)
    # the same for the products up to the outputs: D_r[r,t] is 0 where output r does not see row t
    total += tl.sum(D_r * (read + W.read_start[:, None] * c_before[None, :]), 0)
    # products up to the chunk's end: d_t times what stands before gate t in d_j, and in the whole product
    # `[t]`: sum over j < t of D[t-1,j] dloss/dd_j, and c_{t-1} times dloss in the product of all
    last = tl.sum(D_before * W.end[None, :], 1) + W.whole * c_before
    return total + d * last


# The inverse (I + L)⁻¹ of a unit lower triangular matrix


@triton.jit
def transpose(x):
    """The last two dimensions exchanged."""
    if len(x.shape) == 3:
        return tl.permute(x, (0, 2, 1))
    else:
        return tl.trans(x)


@triton.jit
def add_inverse_product(x, y, total, IPREC: tl.constexpr):
    """total + x y for factors of an inverse; `fp16` rounds them to 11 bits, three more than bfloat16, which their bound allows."""
    if IPREC == "fp16":
        return tl.dot(x.to(tl.float16), y.to(tl.float16), total)
    else:
        return tl.dot(x, y, total, input_precision=IPREC, out_dtype=total.dtype)


@triton.jit
def invert_blocks_of_16(L, Lt, IPREC: tl.constexpr, ACC: tl.constexpr):
    """(I + L)⁻¹ and its transpose for strictly lower 16x16 blocks `[16,16]` or `[n,16,16]`, Lt = Lᵀ.

    Blocks of 1, 2, 4, 8 rows are joined in pairs: X <- X - X (L between the two halves) X.  Every intermediate is an entry of
    a diagonal block's inverse, hence as bounded as the answer (doubling powers of L is not).  Both X and Xᵀ are kept, so that
    a right operand is always the transpose of an accumulator and needs no exchange between threads.
    """
    i = tl.arange(0, 16)
    # bit m of i xor j is the highest one where rows i and j lie in the two halves of one block of 2^(m+1) rows
    apart = i[:, None] ^ i[None, :]
    if len(L.shape) == 3:
        apart = apart[None]
    # blocks of 2 rows: [[1, 0], [l, 1]]⁻¹ = [[1, 0], [-l, 1]]
    # L is strictly lower, so only the entry below the diagonal of each pair is subtracted
    X = tl.where(apart == 0, 1.0, 0.0).to(ACC) - tl.where(apart == 1, L, 0.0)
    Xt = tl.where(apart == 0, 1.0, 0.0).to(ACC) - tl.where(apart == 1, Lt, 0.0)
    for level in tl.static_range(1, 4):
        # [[A, 0], [B, D]]⁻¹ = [[A⁻¹, 0], [-D⁻¹ B A⁻¹, D⁻¹]]: B is what lies between the halves, A⁻¹ and D⁻¹ are in X
        between = tl.where((apart >> level) == 1, -L, 0.0)
        # (between X)ᵀ from Xᵀ betweenᵀ
        half = add_inverse_product(Xt, transpose(between), tl.zeros(L.shape, dtype=ACC), IPREC)
        # X + X (between X), the right factor being the transpose of `half`
        joined = add_inverse_product(X, transpose(half), X, IPREC)
        # Xᵀ + (between X)ᵀ Xᵀ, the transpose of that
        Xt = add_inverse_product(half, transpose(X), Xt, IPREC)
        X = joined
    return X, Xt


@triton.jit
def take_diagonal_blocks(x, C: tl.constexpr):
    """The 16x16 diagonal blocks of x `[C,C]`, as `[C/16,16,16]`."""
    n = tl.arange(0, C // 16)
    same = (n[:, None] == n[None, :])[:, None, :, None]
    # x as [n, i, m, j], block row n and block column m: only m = n is left in the sum over m
    return tl.sum(tl.where(same, tl.reshape(x, (C // 16, 16, C // 16, 16)), 0.0), 2)


@triton.jit
def invert_unit_lower(L, Lt, C: tl.constexpr, IPREC: tl.constexpr, ACC: tl.constexpr):
    """(I + L)⁻¹ for strictly lower L `[C,C]`, C of 32 or more, Lt = Lᵀ: the 16x16 diagonal blocks, then joined in pairs."""
    blocks, _ = invert_blocks_of_16(take_diagonal_blocks(L, C), take_diagonal_blocks(Lt, C), IPREC, ACC)
    n = tl.arange(0, C // 16)
    same = (n[:, None] == n[None, :])[:, None, :, None]
    # the blocks [n, i, j] at [n, i, n, j], zero elsewhere
    X = tl.reshape(tl.where(same, blocks[:, :, None, :], 0.0), (C, C))
    i = tl.arange(0, C)
    apart = i[:, None] ^ i[None, :]
    # halves of 2^level rows
    for level in tl.static_range(4, 7):
        if (1 << level) < C:
            # as in the blocks: X <- X - X (L between the halves) X
            between = tl.where((apart >> level) == 1, -L, 0.0)
            # between X; Xᵀ is not kept here
            half = add_inverse_product(between, X, tl.zeros([C, C], dtype=ACC), IPREC)
            X = add_inverse_product(X, half, X, IPREC)
    return X


@triton.jit
def invert_chunk(Kc, bt, D, F: tl.constexpr):
    """X = (I + tril(K Kᵀ ∘ D, -1) diag(beta))⁻¹ and its transpose where C = 16 (else X twice)."""
    C: tl.constexpr = F.C
    i = tl.arange(0, C)
    G = multiply(Kc, tl.trans(Kc), F)
    if F.GATED:
        # symmetric, so that L and Lᵀ come from one product: no transpose has to pass between threads
        G = G * (D + tl.where(i[:, None] < i[None, :], tl.trans(D), 0.0))
    # L[i,j] = D[i,j] (k_i·k_j) beta_j, the beta of the column
    L = tl.where(i[:, None] > i[None, :], G * bt[None, :], 0.0)
    # Lᵀ[i,j] = L[j,i] has the beta of its row
    Lt = tl.where(i[:, None] < i[None, :], G * bt[:, None], 0.0)
    if C == 16:
        X, Xt = invert_blocks_of_16(L, Lt, F.IPREC, F.ACC)
    else:
        X = invert_unit_lower(L, Lt, C, F.IPREC, F.ACC)
        # callers with larger chunks do not use the transpose
        Xt = X
    return X, Xt
