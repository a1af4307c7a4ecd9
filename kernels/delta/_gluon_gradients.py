"""The fourth kernel of DeltaProduct on Hopper: all gradients that need one chunk alone, all chunks at once.  Gluon.

The letters are those of `_triton_chunk`, the vectors p, r, z, s, w those of `_gluon_prepare`.  With e = X (p V - r K S0) found
again, dP = dV / p and D between rows (1 where 1/c was taken, as it is in p and e then):

    M = tril(dP eᵀ, -1) ∘ D,     E = scale dO eᵀ ∘ (s, or D from rows to outputs) on seen rows
    h = Eᵀ Q - Mᵀ K + z e dS1ᵀ,  dK = B h - M B K - r dP S0ᵀ,  dQ = E B K + scale s dO S0ᵀ
    dbeta = rowsum(K ∘ h) = rowsum(Eᵀ ∘ K Qᵀ) - rowsum(Mᵀ ∘ K Kᵀ) + z rowsum(K ∘ e dS1ᵀ)

Tokens are columns throughout, so that a chunk may have few of them.

**Gates.** Each path from a row, or from the chunk's start, to a later row, to an output or to the chunk's end crosses the gates between
and has their product as a factor; d loss / d log a_t is the sum of the values of the paths that cross a_t:

    rows to rows       -(M ∘ K Kᵀ) B     rows to outputs     (E ∘ Q Kᵀ) B        rows to the end      z B rowsum(K ∘ e dS1ᵀ)
    start to rows      -r rowsum(K ∘ dP S0ᵀ)   start to outputs   scale s rowsum(Q ∘ dO S0ᵀ)   start to the end    w ⟨S0, dS1⟩

and da_t is that over a_t.  Only paths that cross are added, so a small gate's gradient is as good as a large one's.  A gate that counts
as zero (`_gluon_prepare`) has in its place the paths that cross one such gate, which is this one, with the products of their other gates.
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from ._gluon_prepare import READ, SMALLEST, add_two, multiply_between, place_rows

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

# Triton 3.6 has it under the first name
wait_for_warps = gl.thread_barrier if hasattr(gl, "thread_barrier") else gl.barrier


@gluon.jit
def multiply_around(size, mark, size_before, mark_before):
    """Products of the gates between, as `multiply_between` has them, without the one that counts as zero; 0 unless there is one."""
    # marks are signs times one more than the numbers of zeros
    one = gl.abs(mark) == gl.abs(mark_before) + 1.0
    sign = gl.where(mark * mark_before > 0.0, 1.0, -1.0)
    return gl.where(one, gl.exp2(gl.where(one, size - size_before, 0.0)) * sign, 0.0)


@gluon.jit
def multiply_from_start(size, mark):
    """`multiply_around` from the chunk's start."""
    return multiply_around(size, mark, size * 0.0, mark * 0.0 + 1.0)


@gluon.jit
def sum_rows(x, xs):
    """The sum of the rows of an accumulator, in few registers: each warp has it once.

    xs: shared memory for four rows in float32, of which the compiler would take more than is left.
    """
    M: gl.constexpr = x.shape[0]
    N: gl.constexpr = x.shape[1]
    # each warp has 16 of every 64 rows
    each = gl.sum(gl.sum(gl.reshape(x, [M // 64, 4, 16, N]), 2), 0)
    parts = xs._reinterpret(gl.float32, [4, N], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    parts.store(each)
    whole = gl.sum(parts.load(gl.BlockedLayout([4, 1], [1, 32], [1, 4], [1, 0])), 0)
    return gl.convert_layout(whole, gl.BlockedLayout([2], [32], [4], [0]))


@gluon.jit
def add_behind(W, xs, total, STEPS: gl.constexpr, OF_ROWS: gl.constexpr):
    """total + for each row and token the sum of W over the ends at or behind the token's gate, later rows or tokens.

    xs: shared memory for a matrix from ends to tokens, in bfloat16.
    """
    N: gl.constexpr = W.shape[1]
    TC: gl.constexpr = total.shape[1]
    lay: gl.constexpr = total.type.layout
    operand: gl.constexpr = gl.DotOperandLayout(0, lay, 2)
    pieces: gl.constexpr = gl.BlockedLayout([1, 8], [256 // N, N // 8], [4, 1], [1, 0])
    token = gl.arange(0, TC, gl.SliceLayout(1, pieces))
    end = gl.arange(0, N, gl.SliceLayout(0, pieces))
    if OF_ROWS:
        end = end // STEPS
    # transposed: of a right operand whose rows have fewer than 64 columns, products can read out of range
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([TC, N], gl.bfloat16)
    behind_t = xs._reinterpret(gl.bfloat16, [TC, N], shared)
    behind_t.store(gl.where(end[None, :] >= token[:, None], 1.0, 0.0).to(gl.bfloat16))
    fence_async_shared()
    behind = behind_t.permute((1, 0))
    # in two pieces of 8 bits: sums may cancel
    high = W.to(gl.bfloat16)
    low = (W - high.to(gl.float32)).to(gl.bfloat16)
    total = warpgroup_mma(gl.convert_layout(high, operand), behind, total, is_async=True)
    total = warpgroup_mma(gl.convert_layout(low, operand), behind, total, is_async=True)
    return warpgroup_mma_wait(0, (total,))


@gluon.jit
def sum_parts(before, after, xs, STEPS: gl.constexpr):
    """For each token the sum of `before` `[C,TC]` over rows before its gate and of `after` over rows behind it."""
    lay: gl.constexpr = before.type.layout
    row = gl.arange(0, before.shape[0], gl.SliceLayout(1, lay)) // STEPS
    token = gl.arange(0, before.shape[1], gl.SliceLayout(0, lay))
    return sum_rows(gl.where(row[:, None] < token[None, :], before, after), xs)


@gluon.jit
def sum_crossing(of_rows, of_reads, xs, STEPS: gl.constexpr):
    """For each token the sum over the paths from row to row `[C,C]` and from row to token `[C,TC]` that cross its gate."""
    lay: gl.constexpr = of_reads.type.layout
    total = gl.zeros(of_reads.shape, gl.float32, lay)
    if STEPS == 1:
        total = add_behind(gl.convert_layout(of_rows, lay) + of_reads, xs, total, STEPS, False)
    else:
        total = add_behind(of_rows, xs, total, STEPS, True)
        total = add_behind(of_reads, xs, total, STEPS, False)
    return sum_parts(total, 0.0, xs, STEPS)


@gluon.jit
def sum_later(x):
    """Sums of a vector from each entry on."""
    return gl.associative_scan(x, 0, add_two, reverse=True)


@gluon.jit
def multiply_entries(p_x, p_y, V: gl.constexpr, K: gl.constexpr):
    """⟨x, y⟩ of matrices `[V,K]` in memory."""
    lay: gl.constexpr = gl.BlockedLayout([1, 8], [256 // K, K // 8], [4, 1], [1, 0])
    at = (
        gl.arange(0, 32, gl.SliceLayout(1, lay))[:, None] * K
        + gl.arange(0, K, gl.SliceLayout(0, lay))[None, :]
    )
    total = gl.zeros([32, K], gl.float32, lay)
    for i in gl.static_range(V // 32):
        part = gl.load(p_x + at + i * 32 * K).to(gl.float32)
        total += part * gl.load(p_y + at + i * 32 * K).to(gl.float32)
    return gl.sum(gl.sum(total, 1), 0)


@gluon.jit
def gradients_hopper(
    q,
    k,
    v,
    do,
    inverses,
    states,
    p_states,
    dv,
    dstates,
    p_dstates,
    vectors,
    a,
    dq,
    dk,
    dbeta,
    da,
    T,
    H,
    chunks,
    begin,
    count,
    scale,
    K: gl.constexpr,
    V: gl.constexpr,
    C: gl.constexpr,
    NH: gl.constexpr,
    STEPS: gl.constexpr,
    VECTORS: gl.constexpr,
    GATED: gl.constexpr,
):
    """dq, dk, dbeta and da of the chunks begin to begin + count - 1 of each sequence.

    q, k, v, do, dv, dq, dk are descriptors as those of the other kernels, with all columns of a head, states and dstates of
    S0ᵀ `[B·chunks·H·V,K]` and dS1ᵀ `[B·count·H·V,K]`, and p_states
    and p_dstates the tensors themselves; dbeta `[B,T·NH,H]`, da `[B,T,H]`.
    """
    DT: gl.constexpr = k.dtype
    TC: gl.constexpr = C // STEPS
    index = gl.program_id(0)
    h = gl.program_id(1)
    b = index // count
    i = begin + index % count
    first = i * TC
    pair = (b * chunks + i) * H + h
    lay_v: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, V, 16])
    lay_k: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, K, 16])
    lay_c: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, C, 16])
    lay_t: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, TC, 16])
    vector: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    # shared memory: half of a multiprocessor's.  Q comes where dV was, dQ where dO was, dS1 where S0 was, M where X was
    ks = gl.allocate_shared_memory(DT, k.block_type.shape, k.layout)
    vs = gl.allocate_shared_memory(DT, v.block_type.shape, v.layout)
    WIDE: gl.constexpr = max(K, V)
    two = gl.allocate_shared_memory(DT, [2, C, WIDE], gl.NVMMASharedLayout.get_default_for([C, WIDE], DT))
    ss = gl.allocate_shared_memory(DT, states.block_type.shape, states.layout)
    xs = gl.allocate_shared_memory(DT, inverses.block_type.shape, inverses.layout)
    bars = gl.allocate_shared_memory(gl.int64, [5, 1], mbarrier.MBarrierLayout())
    dvs = two.index(0)._reinterpret(DT, dv.block_type.shape, dv.layout)
    dos = two.index(1)._reinterpret(DT, do.block_type.shape, do.layout)
    qs = two.index(0)._reinterpret(DT, q.block_type.shape, q.layout)
    dqs = two.index(1)._reinterpret(DT, q.block_type.shape, q.layout)
    ets = gl.allocate_shared_memory(DT, [TC, C], gl.NVMMASharedLayout.get_default_for([TC, C], DT))
    es = ets.permute((1, 0))
    for n in gl.static_range(5):
        mbarrier.init(bars.index(n), count=1)
    fence_async_shared()
    mbarrier.expect(bars.index(0), k.block_type.nbytes + states.block_type.nbytes)
    tma.async_copy_global_to_shared(k, [b, first, 0, h * K], bars.index(0), ks)
    tma.async_copy_global_to_shared(states, [pair * V, 0], bars.index(0), ss)
    mbarrier.expect(bars.index(1), v.block_type.nbytes + inverses.block_type.nbytes)
    tma.async_copy_global_to_shared(v, [b, first, 0, h * V], bars.index(1), vs)
    tma.async_copy_global_to_shared(inverses, [pair * C, 0], bars.index(1), xs)
    mbarrier.expect(bars.index(2), dv.block_type.nbytes + do.block_type.nbytes)
    tma.async_copy_global_to_shared(dv, [b, first, 0, h * V], bars.index(2), dvs)
    tma.async_copy_global_to_shared(do, [b, first, h * V], bars.index(2), dos)
    Kc, Vc = ks.reshape([C, K]), vs.reshape([C, V])
    dVc, dOc = dvs.reshape([C, V]), dos.reshape([TC, V])
    o_c = gl.arange(0, C, gl.SliceLayout(1, lay_c))
    o_j = gl.arange(0, C, gl.SliceLayout(0, lay_c))
    o_i = gl.arange(0, C, gl.SliceLayout(1, lay_t))
    o_t = gl.arange(0, TC, gl.SliceLayout(0, lay_t))
    o_a = gl.arange(0, TC, vector)
    p_g = vectors + pair.to(gl.int64) * VECTORS * C
    row = ((b * count + index % count) * H + h) * V
    o_e = gl.arange(0, C, gl.SliceLayout(1, lay_v))
    # vectors along rows, two registers each, and in shared memory those along columns: 1/p and s
    beta_e = gl.load(p_g + (VECTORS - 1) * C + o_e)
    beta_i = gl.convert_layout(beta_e, gl.SliceLayout(1, lay_t))[:, None]
    if GATED:
        fast = gl.load(p_g + READ * C)
        p_e, r_e, z_e = gl.load(p_g + o_e), gl.load(p_g + C + o_e), gl.load(p_g + 2 * C + o_e)
        w = gl.load(p_g + 4 * C)
        gs = gl.allocate_shared_memory(gl.float32, [2, C], gl.SwizzledSharedLayout(1, 1, 1, [0]))
        o_g = gl.arange(0, C, vector)
        gs.index(0).store(1.0 / gl.load(p_g + o_g))
        gs.index(1).store(gl.load(p_g + 3 * C + o_g))
        # before registers are short; what is copied from there later is then in the L2 cache
        whole = multiply_entries(p_states + pair.to(gl.int64) * V * K, p_dstates + row.to(gl.int64) * K, V, K)

    # e = X (p V - r K S0)
    mbarrier.wait(bars.index(0), 0)
    zero_v = gl.zeros([C, V], gl.float32, lay_v)
    P = warpgroup_mma(Kc, ss.permute((1, 0)), zero_v, use_acc=False, is_async=True)
    mbarrier.wait(bars.index(1), 0)
    P = warpgroup_mma_wait(0, (P,))
    if GATED:
        P = Vc.load(lay_v).to(gl.float32) * p_e[:, None] - P * r_e[:, None]
    else:
        P = Vc.load(lay_v).to(gl.float32) - P
    Vc.store(P.to(DT))
    fence_async_shared()
    e = warpgroup_mma(xs, Vc, zero_v, use_acc=False, is_async=True)
    e = warpgroup_mma_wait(0, (e,))
    Vc.store(e.to(DT))
    fence_async_shared()

    # -Mᵀ, and B times it as an operand
    mbarrier.wait(bars.index(2), 0)
    zero_c = gl.zeros([C, C], gl.float32, lay_c)
    Mt = warpgroup_mma(Vc, dVc.permute((1, 0)), zero_c, use_acc=False, is_async=True)
    G = warpgroup_mma(Kc, Kc.permute((1, 0)), zero_c, use_acc=False, is_async=True)
    Et = warpgroup_mma(
        Vc, dOc.permute((1, 0)), gl.zeros([C, TC], gl.float32, lay_t), use_acc=False, is_async=True
    )
    Mt, G = warpgroup_mma_wait(1, (Mt, G))
    up = o_c[:, None] < o_j[None, :]
    Mt = gl.where(up, -Mt, 0.0)
    beta_c = gl.convert_layout(beta_e, gl.SliceLayout(1, lay_c))[:, None]
    if GATED:
        crossing1 = gl.zeros([TC], gl.float32, vector)
        if fast == 0.0:
            size_c, mark_c = gl.load(p_g + 5 * C + o_c)[:, None], gl.load(p_g + 6 * C + o_c)[:, None]
            size_j, mark_j = gl.load(p_g + 5 * C + o_j)[None, :], gl.load(p_g + 6 * C + o_j)[None, :]
            late, early = gl.where(up, size_j, size_c), gl.where(up, size_c, size_j)
            of_rows = Mt * G * beta_c * multiply_around(late, mark_j, early, mark_c)
            around = add_behind(of_rows, xs, gl.zeros([C, TC], gl.float32, lay_t), STEPS, True)
            crossing1 = sum_parts(around, 0.0, xs, STEPS)
            Mt = Mt * multiply_between(late, mark_j, early, mark_c)
        else:
            Mt = Mt * gs.index(0).load(gl.SliceLayout(0, lay_c))[None, :]
    db = gl.convert_layout(gl.sum(G * Mt, 1), gl.SliceLayout(1, lay_k))
    xs.store((Mt * beta_c).to(DT))
    # Eᵀ, and B times it as an operand
    Et = warpgroup_mma_wait(0, (Et,))
    seen = o_i[:, None] < (o_t[None, :] + 1) * STEPS
    Et = gl.where(seen, Et, 0.0) * scale
    if GATED:
        if fast == 0.0:
            # kept without D, which comes to it in two ways
            kept = Et.to(DT)
            size_i, mark_i = gl.load(p_g + 5 * C + o_i)[:, None], gl.load(p_g + 6 * C + o_i)[:, None]
            size_t, mark_t = gl.load(p_g + 7 * C + o_t)[None, :], gl.load(p_g + 8 * C + o_t)[None, :]
            Et = Et * multiply_between(gl.where(seen, size_t, size_i), mark_t, size_i, mark_i)
        else:
            Et = Et * gs.index(1).slice(0, TC, 0).load(gl.SliceLayout(0, lay_t))[None, :]
            kept = Et.to(DT)
    else:
        kept = Et.to(DT)
    es.store((Et * beta_i).to(DT))
    fence_async_shared()

    # dV S0ᵀ, and dO S0ᵀ with tokens as columns
    dK = warpgroup_mma(dVc, ss, gl.zeros([C, K], gl.float32, lay_k), use_acc=False, is_async=True)
    dQ = warpgroup_mma(
        ss.permute((1, 0)),
        dOc.permute((1, 0)),
        gl.zeros([K, TC], gl.float32, lay_t),
        use_acc=False,
        is_async=True,
    )
    dK, dQ = warpgroup_mma_wait(0, (dK, dQ))
    # all warps' products have read S0, dV and dO
    wait_for_warps()
    mbarrier.expect(bars.index(4), q.block_type.nbytes)
    tma.async_copy_global_to_shared(q, [b, first, h * K], bars.index(4), qs)
    mbarrier.expect(bars.index(3), dstates.block_type.nbytes)
    tma.async_copy_global_to_shared(dstates, [row, 0], bars.index(3), ss)
    o_l = gl.arange(0, C, gl.SliceLayout(1, lay_k))
    beta_l = gl.convert_layout(beta_e, gl.SliceLayout(1, lay_k))
    if GATED:
        # r / p is c, in both kinds of chunks
        c_l = gl.convert_layout(r_e / p_e, gl.SliceLayout(1, lay_k))
        of_start = -gl.sum(Kc.load(lay_k).to(gl.float32) * dK, 1)
        dK = dK * -c_l[:, None]
    else:
        dK = -dK
    # - Mᵀ K under B, and - M B K
    dK = warpgroup_mma(xs, Kc, dK, is_async=True)
    dK = warpgroup_mma(xs.permute((1, 0)), Kc, dK, is_async=True)

    # dQᵀ = scale s S0 dOᵀ + Kᵀ B Eᵀ
    dQ = dQ * scale
    Qc = qs.reshape([TC, K])
    if GATED:
        mbarrier.wait(bars.index(4), 0)
        to_reads = sum_rows(Qc.permute((1, 0)).load(lay_t).to(gl.float32) * dQ, two.index(1))
        dQ = dQ * gs.index(1).slice(0, TC, 0).load(gl.SliceLayout(0, lay_t))[None, :]
    dQ = warpgroup_mma(Kc.permute((1, 0)), es, dQ, is_async=True)
    dQ, dK = warpgroup_mma_wait(0, (dQ, dK))
    dqs.reshape([TC, K]).permute((1, 0)).store(dQ.to(DT))
    fence_async_shared()
    tma.async_copy_shared_to_global(dq, [b, first, h * K], dqs)

    # dK = B h - M B K - c dV S0ᵀ, and K Qᵀ and K Kᵀ for what follows
    if not GATED:
        mbarrier.wait(bars.index(4), 0)
    KQ = warpgroup_mma(
        Kc, Qc.permute((1, 0)), gl.zeros([C, TC], gl.float32, lay_t), use_acc=False, is_async=True
    )
    if GATED:
        G = warpgroup_mma(Kc, Kc.permute((1, 0)), zero_c, use_acc=False, is_async=True)
        KQ, G = warpgroup_mma_wait(0, (KQ, G))
        G = G * xs.load(lay_c).to(gl.float32)
        KQ = KQ * kept.to(gl.float32)
        if fast == 0.0:
            size_i, mark_i = gl.load(p_g + 5 * C + o_i)[:, None], gl.load(p_g + 6 * C + o_i)[:, None]
            size_t, mark_t = gl.load(p_g + 7 * C + o_t)[None, :], gl.load(p_g + 8 * C + o_t)[None, :]
            late = gl.where(seen, size_t, size_i)
            of_reads = KQ * beta_i * multiply_around(late, mark_t, size_i, mark_i)
            around = add_behind(of_reads, xs, gl.zeros([C, TC], gl.float32, lay_t), STEPS, False)
            crossing1 += sum_parts(around, 0.0, xs, STEPS)
            KQ = KQ * multiply_between(late, mark_t, size_i, mark_i)
        crossing = sum_crossing(G, KQ * beta_i, xs, STEPS)
    else:
        KQ = warpgroup_mma_wait(0, (KQ,)) * kept.to(gl.float32)
    db += gl.convert_layout(gl.sum(KQ, 1), gl.SliceLayout(1, lay_k))
    dK = warpgroup_mma(es, Qc, dK, is_async=True)
    mbarrier.wait(bars.index(3), 0)
    y = warpgroup_mma(Vc, ss, gl.zeros([C, K], gl.float32, lay_k), use_acc=False, is_async=True)
    dK, y = warpgroup_mma_wait(0, (dK, y))
    to_end = gl.sum(Kc.load(lay_k).to(gl.float32) * y, 1)
    if GATED:
        z_l = gl.convert_layout(z_e, gl.SliceLayout(1, lay_k))
        db += to_end * z_l
        dK += y * (beta_l * z_l)[:, None]
    else:
        db += to_end
        dK += y * beta_l[:, None]
    at_b, used_b = place_rows(o_l, gl.minimum(T - first, TC), NH, STEPS)
    p_b = dbeta + (b.to(gl.int64) * T + first) * NH * H + h
    gl.store(p_b + at_b * H, db.to(dbeta.dtype.element_ty), mask=used_b)
    Kc.store(dK.to(DT))
    fence_async_shared()
    tma.async_copy_shared_to_global(dk, [b, first, 0, h * K], ks)
    if GATED:
        to_end = gl.convert_layout(to_end * beta_l, gl.SliceLayout(1, lay_t))[:, None]
        of_start = gl.convert_layout(of_start, gl.SliceLayout(1, lay_t))[:, None]
        z_i = gl.convert_layout(z_e, gl.SliceLayout(1, lay_t))[:, None]
        c_i = gl.convert_layout(r_e / p_e, gl.SliceLayout(1, lay_t))[:, None]
        every = gl.zeros([C, TC], gl.float32, lay_t)
        crossing += sum_parts(every + to_end * z_i, every + of_start * c_i, xs, STEPS) + whole * w
        crossing += sum_later(to_reads * gs.index(1).slice(0, TC, 0).load(vector))
        at_a = (b.to(gl.int64) * T + first + o_a) * H + h
        there = first + o_a < T
        gate = gl.load(a + at_a, mask=there, other=1.0).to(gl.float32)
        small = gl.abs(gate) < SMALLEST
        crossing = crossing / gl.where(small, 1.0, gate)
        if fast == 0.0:
            size_i, mark_i = gl.load(p_g + 5 * C + o_i)[:, None], gl.load(p_g + 6 * C + o_i)[:, None]
            size_e, mark_e = gl.load(p_g + 6 * C - 1), gl.load(p_g + 7 * C - 1)
            c1 = multiply_from_start(size_i, mark_i)
            d1 = multiply_around(size_e, mark_e, size_i, mark_i)
            crossing1 += sum_parts(every + to_end * d1, every + of_start * c1, xs, STEPS)
            size_a, mark_a = gl.load(p_g + 7 * C + o_a), gl.load(p_g + 8 * C + o_a)
            crossing1 += sum_later(to_reads * multiply_from_start(size_a, mark_a))
            crossing1 += whole * multiply_from_start(size_e, mark_e)
            crossing = gl.where(small, crossing1, crossing)
        gl.store(da + at_a, crossing, mask=there)
    tma.store_wait(0)
