"""The first kernel of DeltaProduct on Hopper: what the serial chain needs of each chunk, all chunks at once.  Gluon.

The letters are those of `_triton_chunk`.  A chunk has `C` = 64 rows: `TC` tokens of `STEPS` rows, of which `NH` are micro-steps
and the others zero, so that `STEPS` is a power of two and the tensor memory accelerator fills up what is not there.

**Gates without matrices.**  Let c_i be the product of the chunk's gates up to row i.  Where no c_i is too small to divide by,
D_ij = c_i / c_j, and with U' = U / c the chunk with gates is one without, of values v_i / c_i:

    U' = B X (V / c - K S0),   O = scale c (Q S0 + att U'),   S1 = c_last (S0 + Kᵀ U').

Every sum is of terms that decay together, so nothing is lost: an error of U'_j reaches row i times c_i / c_j.  Gates of 1 and -1
are exact.  In general the second kernel computes, from vectors `[chunks,H,VECTORS,C]`,

    U = B X (p V - r K S0),   O = scale (s Q S0 + att' U),   S1 = w S0 + Kᵀ (z U),

where w = c_last and s is c at the outputs.  A chunk like this, marked in the last vector, has p = 1/c, r = 1, z = c_last and
att' = s att.  Any other has p = 1, r = c, z the products from each row to the chunk's end, and D in its X and its att': products
of gates are then their signs, times 2 to a difference of sums of logarithms, or zero where a gate of zero lies between.  The
vectors `size` and `mark` are those sums, and the signs times one more than the numbers of zeros, up to rows and up to outputs.
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    mma_v2,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

READ = gl.constexpr(9)
"""Vectors of a chunk that the outputs and the chain read: p, r, z, s, w, then size and mark of rows, size and mark of outputs."""
SMALLEST = gl.constexpr(2.0**-64)
"""No c below is divided by: beside it values of up to 2^60 stay within bfloat16."""


@gluon.jit
def multiply_two(x, y):
    """x y, for scans."""
    return x * y


@gluon.jit
def place_rows(rows, tokens, NH: gl.constexpr, STEPS: gl.constexpr):
    """Numbers of rows of a chunk among its micro-steps, and which rows are micro-steps of so many tokens."""
    token = rows // STEPS
    step = rows % STEPS
    return token * NH + step, (step < NH) & (token < tokens)


@gluon.jit
def add_two(x, y):
    """x + y, for scans."""
    return x + y


@gluon.jit
def load_gates(p_a, tokens, H, STEPS: gl.constexpr, C: gl.constexpr):
    """The gate before each row `[C]`, 1 before the rows after a token's first, and before each token `[C // STEPS]`."""
    # every warp holds the whole vector, so that nothing passes between warps
    lay: gl.constexpr = gl.BlockedLayout([2], [32], [gl.num_warps()], [0])
    o_c = gl.arange(0, C, lay)
    token = o_c // STEPS
    first = (o_c % STEPS == 0) & (token < tokens)
    gate = gl.load(p_a + token * H, mask=first, other=1.0).to(gl.float32)
    o_r = gl.arange(0, C // STEPS, lay)
    return gate, gl.load(p_a + o_r * H, mask=o_r < tokens, other=1.0).to(gl.float32)


@gluon.jit
def write_vectors(gate, token_gate, p_g, C: gl.constexpr):
    """The vectors of a chunk as if 1/c could be taken; whether it can."""
    lay: gl.constexpr = gate.type.layout
    o_c = gl.arange(0, C, lay)
    c = gl.associative_scan(gate, 0, multiply_two)
    size = gl.abs(c)
    # a comparison with a gate that is no number fails
    fast = (gl.min(size, 0) > SMALLEST) & (gl.max(size, 0) < 1 / SMALLEST)
    last = gl.sum(gl.where(o_c == C - 1, c, 0.0), 0)
    one = gl.full([C], 1.0, gl.float32, lay)
    gl.store(p_g + o_c, 1.0 / c)
    gl.store(p_g + C + o_c, one)
    gl.store(p_g + 2 * C + o_c, one * last)
    o_r = gl.arange(0, token_gate.shape[0], lay)
    gl.store(p_g + 3 * C + o_r, gl.associative_scan(token_gate, 0, multiply_two))
    gl.store(p_g + 4 * C + o_c, one * last)
    gl.store(p_g + READ * C + o_c, one * gl.where(fast, 1.0, 0.0))
    return fast


@gluon.jit
def sum_gates(gate):
    """Up to each row: the sum of log2 |gate| of gates that do not count as zero, and the sign times one more than the number of zeros."""
    # gates too small for a logarithm's sums count as zero: what they would leave of a product is less than any rounding
    zero = gl.abs(gate) < SMALLEST
    size = gl.associative_scan(gl.log2(gl.where(zero, 1.0, gl.abs(gate))), 0, add_two)
    zeros = gl.associative_scan(gl.where(zero, 1.0, 0.0), 0, add_two)
    return size, (1.0 + zeros) * gl.associative_scan(gl.where(gate < 0.0, -1.0, 1.0), 0, multiply_two)


@gluon.jit
def multiply_between(size, mark, size_before, mark_before):
    """Products of the gates after one row up to another, from what `sum_gates` says of both."""
    sign = gl.where(mark == mark_before, 1.0, gl.where(mark == -mark_before, -1.0, 0.0))
    return gl.exp2(size - size_before) * sign


@gluon.jit
def write_strong_vectors(
    gate, token_gate, p_a, tokens, H, p_g, lay2: gl.constexpr, STEPS: gl.constexpr, C: gl.constexpr
):
    """The vectors of a chunk whose 1/c cannot be taken; D `[C,C]` between rows, on both sides of the diagonal."""
    lay: gl.constexpr = gate.type.layout
    o_c = gl.arange(0, C, lay)
    o_r = gl.arange(0, token_gate.shape[0], lay)
    # z_j = Π_{t > j} gate_t
    token = (o_c + 1) // STEPS
    first = ((o_c + 1) % STEPS == 0) & (token < tokens)
    after = gl.load(p_a + token * H, mask=first, other=1.0).to(gl.float32)
    gl.store(p_g + o_c, gl.full([C], 1.0, gl.float32, lay))
    gl.store(p_g + C + o_c, gl.associative_scan(gate, 0, multiply_two))
    gl.store(p_g + 2 * C + o_c, gl.associative_scan(after, 0, multiply_two, reverse=True))
    size, mark = sum_gates(gate)
    size_r, mark_r = sum_gates(token_gate)
    gl.store(p_g + 5 * C + o_c, size)
    gl.store(p_g + 6 * C + o_c, mark)
    gl.store(p_g + 7 * C + o_r, size_r)
    gl.store(p_g + 8 * C + o_r, mark_r)
    # the difference of the later row's and the earlier one's
    size_i = gl.convert_layout(size, gl.SliceLayout(1, lay2))[:, None]
    size_j = gl.convert_layout(size, gl.SliceLayout(0, lay2))[None, :]
    mark_i = gl.convert_layout(mark, gl.SliceLayout(1, lay2))[:, None]
    mark_j = gl.convert_layout(mark, gl.SliceLayout(0, lay2))[None, :]
    up = gl.arange(0, C, gl.SliceLayout(1, lay2))[:, None] < gl.arange(0, C, gl.SliceLayout(0, lay2))[None, :]
    late, early = gl.where(up, size_j, size_i), gl.where(up, size_i, size_j)
    return multiply_between(late, mark_i, early, mark_j)


@gluon.jit
def add_block_product(x, y_t, total):
    """total + x y of 16x16 blocks; y is given transposed, so that as an operand it stays in the threads that hold it."""
    lay: gl.constexpr = total.type.layout
    a = gl.convert_layout(x.to(gl.float16), gl.DotOperandLayout(0, lay, 2))
    b = gl.convert_layout(gl.permute(y_t.to(gl.float16), (0, 2, 1)), gl.DotOperandLayout(1, lay, 2))
    return mma_v2(a, b, total)


@gluon.jit
def invert_hopper(G, p_b, tokens, H, xs, C: gl.constexpr, NH: gl.constexpr, STEPS: gl.constexpr):
    """X = (I + tril(G, -1) B)⁻¹ for G = K Kᵀ `[C,C]`, as `invert_unit_lower` does it; xs: shared memory `[C,C]` in float16."""
    lay: gl.constexpr = G.type.layout
    blocks: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [C // 16, 1, 1], [1, 16, 8])
    operand: gl.constexpr = gl.DotOperandLayout(0, lay, 2)
    N: gl.constexpr = C // 16
    along_rows: gl.constexpr = gl.SliceLayout(2, blocks)
    along_columns: gl.constexpr = gl.SliceLayout(1, blocks)
    i = gl.arange(0, 16, gl.SliceLayout(0, along_rows))
    j = gl.arange(0, 16, gl.SliceLayout(0, along_columns))
    # beta of the rows and of the columns of the blocks `[N,16]`
    n_i = gl.arange(0, N, gl.SliceLayout(1, along_rows))
    n_j = gl.arange(0, N, gl.SliceLayout(1, along_columns))
    at_i, used_i = place_rows(n_i[:, None] * 16 + i[None, :], tokens, NH, STEPS)
    at_j, used_j = place_rows(n_j[:, None] * 16 + j[None, :], tokens, NH, STEPS)
    b_i = gl.load(p_b + at_i * H, mask=used_i, other=0.0).to(gl.float32)
    b_j = gl.load(p_b + at_j * H, mask=used_j, other=0.0).to(gl.float32)
    # the diagonal blocks: of x as [n, i, m, j] those with m = n
    whole = gl.reshape(G, [N, 16, N, 16])
    lay4: gl.constexpr = whole.type.layout
    without_j: gl.constexpr = gl.SliceLayout(3, lay4)
    n = gl.arange(0, N, gl.SliceLayout(1, gl.SliceLayout(2, without_j)))[:, None][:, :, None][:, :, :, None]
    m = gl.arange(0, N, gl.SliceLayout(0, gl.SliceLayout(1, without_j)))[None, :][:, None, :][:, :, :, None]
    D = gl.convert_layout(gl.sum(gl.where(n == m, whole, 0.0), 2), blocks)
    row = i[None, :][:, :, None]
    column = j[None, :][:, None, :]
    # D is symmetric: L and Lᵀ differ in beta and in the side of the diagonal
    L = gl.where(row > column, D * b_j[:, None, :], 0.0)
    Lt = gl.where(row < column, D * b_i[:, :, None], 0.0)
    apart = row ^ column
    one = gl.where(apart == 0, 1.0, 0.0)
    X = one - gl.where(apart == 1, L, 0.0)
    Xt = one - gl.where(apart == 1, Lt, 0.0)
    zero = gl.zeros([N, 16, 16], gl.float32, blocks)
    for level in gl.static_range(1, 4):
        between = gl.where((apart >> level) == 1, -L, 0.0)
        # (between X)ᵀ = Xᵀ betweenᵀ, X + X (between X), Xᵀ + (between X)ᵀ Xᵀ
        half = add_block_product(Xt, between, zero)
        joined = add_block_product(X, half, X)
        if level < 3:
            Xt = add_block_product(half, X, Xt)
        X = joined
    # the blocks in their places `[C,C]`, then joined in pairs
    o_r = gl.arange(0, C, gl.SliceLayout(1, lay))
    o_c = gl.arange(0, C, gl.SliceLayout(0, lay))
    at_c, used_c = place_rows(o_c, tokens, NH, STEPS)
    L = G * gl.load(p_b + at_c * H, mask=used_c, other=0.0).to(gl.float32)[None, :]
    placed = gl.expand_dims(gl.convert_layout(X, gl.SliceLayout(2, lay4)), 2)
    X = gl.convert_layout(gl.reshape(gl.where(n == m, placed, 0.0), [C, C]), lay)
    zero = gl.zeros([C, C], gl.float32, lay)
    far = (o_r[:, None] // 16) ^ (o_c[None, :] // 16)
    lower = o_r[:, None] > o_c[None, :]
    for level in gl.static_range(0, 2):
        between = gl.where(lower & ((far >> level) == 1), -L, 0.0).to(gl.float16)
        Xh = X.to(gl.float16)
        xs.store(Xh)
        fence_async_shared()
        half = warpgroup_mma(gl.convert_layout(between, operand), xs, zero, use_acc=False, is_async=True)
        half = warpgroup_mma_wait(0, (half,))
        xs.store(half.to(gl.float16))
        fence_async_shared()
        X = warpgroup_mma(gl.convert_layout(Xh, operand), xs, X, is_async=True)
        X = warpgroup_mma_wait(0, (X,))
    return X


@gluon.jit
def prepare_hopper(
    beta,
    k,
    written,
    a,
    vectors,
    T,
    H,
    chunks,
    K: gl.constexpr,
    C: gl.constexpr,
    NH: gl.constexpr,
    STEPS: gl.constexpr,
    VECTORS: gl.constexpr,
    SAVE: gl.constexpr,
):
    """B X of each chunk into `written` `[B·chunks·H·C,C]`, and with gates a its vectors.

    SAVE: for a backward pass X, which B does not precede, and as the last vector beta.  beta `[B,T·NH,H]`; k and written are
    descriptors, k of `[B,T,NH,H·K]`; chunks: of a sequence, all of T tokens.
    """
    DT: gl.constexpr = k.dtype
    TC: gl.constexpr = C // STEPS
    index = gl.program_id(0)
    h = gl.program_id(1)
    b = index // chunks
    first = index % chunks * TC
    lay: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, C, 16])
    ks = gl.allocate_shared_memory(DT, k.block_type.shape, k.layout)
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    fence_async_shared()
    mbarrier.expect(ready, k.block_type.nbytes)
    tma.async_copy_global_to_shared(k, [b, first, 0, h * K], ready, ks)
    start = b.to(gl.int64) * T + first
    tokens = gl.minimum(T - first, TC)
    # ((start + token) NH + step) H + h
    p_b = beta + start * NH * H + h
    if vectors is not None:
        p_g = vectors + (index.to(gl.int64) * H + h) * VECTORS * C
    if SAVE:
        o_b = gl.arange(0, C, gl.BlockedLayout([1], [32], [gl.num_warps()], [0]))
        at_b, used_b = place_rows(o_b, tokens, NH, STEPS)
        b_vector = gl.load(p_b + at_b * H, mask=used_b, other=0.0).to(gl.float32)
        gl.store(p_g + (VECTORS - 1) * C + o_b, b_vector)
    if a is not None:
        gate, token_gate = load_gates(a + start * H + h, tokens, H, STEPS, C)
        fast = write_vectors(gate, token_gate, p_g, C)
    mbarrier.wait(ready, 0)
    Kc = ks.reshape([C, K])
    G = gl.zeros([C, C], gl.float32, lay)
    G = warpgroup_mma(Kc, Kc.permute((1, 0)), G, use_acc=False, is_async=True)
    G = warpgroup_mma_wait(0, (G,))
    if a is not None:  # noqa: SIM102
        # the condition before is known when compiling, this one is not
        if not fast:
            G *= write_strong_vectors(gate, token_gate, a + start * H + h, tokens, H, p_g, lay, STEPS, C)
    xs = gl.allocate_shared_memory(
        gl.float16, [C, C], gl.NVMMASharedLayout.get_default_for([C, C], gl.float16)
    )
    X = invert_hopper(G, p_b, tokens, H, xs, C, NH, STEPS)
    if not SAVE:
        at_r, used_r = place_rows(gl.arange(0, C, gl.SliceLayout(1, lay)), tokens, NH, STEPS)
        X = X * gl.load(p_b + at_r * H, mask=used_r, other=0.0).to(gl.float32)[:, None]
    out = xs._reinterpret(DT, [C, C], written.layout)
    out.store(X.to(DT))
    fence_async_shared()
    tma.async_copy_shared_to_global(written, [(index * H + h) * C, 0], out)
    tma.store_wait(0)
