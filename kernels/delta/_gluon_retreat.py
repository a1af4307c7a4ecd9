"""The third kernel of DeltaProduct on Hopper: the chain of the states' gradients, from the last chunk to the first.  Gluon.

A program has a block of 64 value columns of a sequence and head.  Its warps are specialised:

    read_back       one warp: K, Q, dO, X and the vectors of chunk after chunk into a ring of shared memory
    score_chunks    four warps, a chunk or two ahead: attᵀ = scale (K Qᵀ ∘ D) on seen rows, and scale s Q in place of Q
    follow_back     four warps: dS in registers, transposed `[BV,K]`
    write_back      one warp: dV and dS1 of each chunk from shared memory into memory

The letters are those of `_triton_chunk`, the vectors p, r, z, s, w those of `_gluon_prepare`.  Of a chunk with
e = X (p V - r K S0), U = B e, O = scale (s Q S0 + att' U), S1 = w S0 + Kᵀ (z U), from dS1 and dO:

    dU = scale att'ᵀ dO + z K dS1,  dP = Xᵀ B dU,  dV = p dP,  dS0 = w dS1 + scale (s Q)ᵀ dO - Kᵀ (r dP)

Barriers, a ring of each:

    ready, empty   a stage of the ring is filled, and done with
    scored         its scores and its scaled Q are in shared memory
    full, taken    dV and dS1 of a chunk are in shared memory, and copied from there
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

from ._gluon_advance import copy_vectors, locate_item
from ._gluon_prepare import READ, multiply_between

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@gluon.jit
def read_back(
    q,
    k,
    do,
    inverses,
    vectors,
    qs,
    ks,
    ds,
    xs,
    gs,
    ready,
    empty,
    items,
    H,
    chunks,
    begin,
    count,
    K: gl.constexpr,
    V: gl.constexpr,
    BV: gl.constexpr,
    C: gl.constexpr,
    TC: gl.constexpr,
    VECTORS: gl.constexpr,
    READS: gl.constexpr,
):
    """Fill the ring, a stage a chunk."""
    STAGES: gl.constexpr = ks.type.shape[0]
    nbytes: gl.constexpr = (
        q.block_type.nbytes + k.block_type.nbytes + do.block_type.nbytes + inverses.block_type.nbytes
    )
    o_c = gl.arange(0, C, gl.BlockedLayout([2], [32], [1], [0]))
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, first = locate_item(item, H, chunks, V // BV)
        for n in range(count):
            i = begin + count - 1 - n
            s = (done + n) % STAGES
            pair = (first + i) * H + h
            mbarrier.wait(empty.index(s), (((done + n) // STAGES) & 1) ^ 1)
            bar = ready.index(s)
            p = vectors + pair.to(gl.int64) * VECTORS * C + o_c
            copy_vectors(p, gs, s, bar, C, VECTORS, READS, True)
            mbarrier.expect(bar, nbytes)
            tma.async_copy_global_to_shared(k, [b, i * TC, 0, h * K], bar, ks.index(s))
            tma.async_copy_global_to_shared(q, [b, i * TC, h * K], bar, qs.index(s))
            tma.async_copy_global_to_shared(do, [b, i * TC, h * V + block * BV], bar, ds.index(s))
            tma.async_copy_global_to_shared(inverses, [pair * C, 0], bar, xs.index(s))
        done += count


@gluon.jit
def score_chunks(
    vectors,
    qs,
    ks,
    gs,
    att_s,
    ready,
    scored,
    items,
    H,
    chunks,
    begin,
    count,
    scale,
    V: gl.constexpr,
    BV: gl.constexpr,
    STEPS: gl.constexpr,
    VECTORS: gl.constexpr,
    READS: gl.constexpr,
    GATED: gl.constexpr,
):
    """What the chain needs of the queries of each chunk."""
    STAGES: gl.constexpr = ks.type.shape[0]
    DT: gl.constexpr = ks.dtype
    C: gl.constexpr = att_s.type.shape[1]
    TC: gl.constexpr = C // STEPS
    K: gl.constexpr = ks.type.shape[4]
    lay: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, TC, 16])
    # rows of Q in pieces of 16 bytes
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [256 // K, K // 8], [4, 1], [1, 0])
    o_t = gl.arange(0, TC, gl.SliceLayout(0, lay))
    o_c = gl.arange(0, C, gl.SliceLayout(1, lay))
    seen = o_c[:, None] < (o_t[None, :] + 1) * STEPS
    zero = gl.zeros([C, TC], gl.float32, lay)
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        _b, h, _block, first = locate_item(item, H, chunks, V // BV)
        if GATED:
            # whether a chunk's 1/c was taken is read a chunk ahead
            following = gl.load(
                vectors + ((first + begin + count - 1).to(gl.int64) * H + h) * VECTORS * C + READ * C
            )
        for n in range(count):
            i = begin + count - 1 - n
            s = (done + n) % STAGES
            if GATED:
                fast = following
                pair = (first + gl.maximum(i - 1, begin)).to(gl.int64) * H + h
                following = gl.load(vectors + pair * VECTORS * C + READ * C)
            mbarrier.wait(ready.index(s), ((done + n) // STAGES) & 1)
            Qs = qs.index(s).reshape([TC, K])
            # attᵀ = K Qᵀ
            att = warpgroup_mma(
                ks.index(s).reshape([C, K]), Qs.permute((1, 0)), zero, use_acc=False, is_async=True
            )
            Q = Qs.load(wide).to(gl.float32) * scale
            if GATED:
                at_rows = gs.index(s * READS + 3).slice(0, TC, 0).load(gl.SliceLayout(1, wide))
                Q = Q * at_rows[:, None]
            att = warpgroup_mma_wait(0, (att,))
            att = gl.where(seen, att, 0.0) * scale
            if GATED:
                of_rows: gl.constexpr = gl.SliceLayout(1, lay)
                of_tokens: gl.constexpr = gl.SliceLayout(0, lay)
                if fast == 0.0:
                    size_r = gs.index(s * READS + 7).slice(0, TC, 0).load(of_tokens)[None, :]
                    mark_r = gs.index(s * READS + 8).slice(0, TC, 0).load(of_tokens)[None, :]
                    mark = gs.index(s * READS + 6).load(of_rows)[:, None]
                    size = gs.index(s * READS + 5).load(of_rows)[:, None]
                    # rows that are not seen may be later ones
                    att = att * multiply_between(gl.where(seen, size_r, size), mark_r, size, mark)
                else:
                    att = att * gs.index(s * READS + 3).slice(0, TC, 0).load(of_tokens)[None, :]
            att_s.index(s).store(att.to(DT))
            # the product has read Q
            Qs.store(Q.to(DT))
            fence_async_shared()
            mbarrier.arrive(scored.index(s), count=1)
        done += count


@gluon.jit
def follow_back(
    ks,
    qs,
    ds,
    xs,
    gs,
    att_s,
    ss,
    us,
    ready,
    empty,
    scored,
    full,
    taken,
    dfinal,
    dinitial,
    items,
    H,
    chunks,
    count,
    K: gl.constexpr,
    V: gl.constexpr,
    BV: gl.constexpr,
    C: gl.constexpr,
    STEPS: gl.constexpr,
    READS: gl.constexpr,
    GATED: gl.constexpr,
):
    """Gradients of states from chunk to chunk: three products that wait for one another."""
    STAGES: gl.constexpr = ks.type.shape[0]
    BUFFERS: gl.constexpr = ss.type.shape[0]
    DT: gl.constexpr = ks.dtype
    TC: gl.constexpr = C // STEPS
    lay_s: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, K, 16])
    lay_c: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, C, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, lay_c, 2)
    rows: gl.constexpr = gl.SliceLayout(0, lay_c)
    o_v = gl.arange(0, BV, gl.SliceLayout(1, lay_s))
    o_k = gl.arange(0, K, gl.SliceLayout(0, lay_s))
    zero = gl.zeros([BV, C], gl.float32, lay_c)
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, _first = locate_item(item, H, chunks, V // BV)
        at = (b.to(gl.int64) * H + h) * K * V + o_k[None, :] * V + (block * BV + o_v)[:, None]
        S = gl.zeros([BV, K], gl.float32, lay_s)
        if dfinal is not None:
            S += gl.load(dfinal + at).to(gl.float32)
        for n in range(count):
            s = (done + n) % STAGES
            m = (done + n) % BUFFERS
            Sd = S.to(DT)
            mbarrier.wait(ready.index(s), ((done + n) // STAGES) & 1)
            Kc = ks.index(s).reshape([C, K])
            # (K dS1)ᵀ = dS1ᵀ Kᵀ
            U = warpgroup_mma(
                gl.convert_layout(Sd, operand), Kc.permute((1, 0)), zero, use_acc=False, is_async=True
            )
            mbarrier.wait(scored.index(s), ((done + n) // STAGES) & 1)
            dOt = ds.index(s).reshape([TC, BV]).permute((1, 0))
            att = att_s.index(s).permute((1, 0))
            if GATED:
                S = S * gs.index(s * READS + 4).load(gl.SliceLayout(1, lay_s))[:, None]
                z = gs.index(s * READS + 2).load(rows)
                # dOᵀ (scale att')
                A = warpgroup_mma(dOt, att, zero, use_acc=False, is_async=True)
            else:
                U = warpgroup_mma(dOt, att, U, is_async=True)
            # w dS1ᵀ + dOᵀ (scale s Q)
            S = warpgroup_mma(dOt, qs.index(s).reshape([TC, K]), S, is_async=True)
            mbarrier.wait(taken.index(m), (((done + n) // BUFFERS) & 1) ^ 1)
            ss.index(m).store(Sd)
            beta = gs.index(s * READS + READS - 1).load(rows)
            if GATED:
                U, A = warpgroup_mma_wait(1, (U, A))
                U = U * z[None, :] + A
            else:
                U = warpgroup_mma_wait(1, (U,))
            # dPᵀ = (B dU)ᵀ X
            P = warpgroup_mma(
                gl.convert_layout((U * beta[None, :]).to(DT), operand),
                xs.index(s),
                zero,
                use_acc=False,
                is_async=True,
            )
            P, S = warpgroup_mma_wait(0, (P, S))
            if GATED:
                r = gs.index(s * READS + 1).load(rows)
                Pr = (P * -r[None, :]).to(DT)
            else:
                Pr = (-P).to(DT)
            # - (r dP)ᵀ K
            S = warpgroup_mma(gl.convert_layout(Pr, operand), Kc, S, is_async=True)
            if GATED:
                P = P * gs.index(s * READS).load(rows)[None, :]
            us.index(m).reshape([C, BV]).permute((1, 0)).store(P.to(DT))
            fence_async_shared()
            mbarrier.arrive(full.index(m), count=1)
            S = warpgroup_mma_wait(0, (S,))
            mbarrier.arrive(empty.index(s), count=1)
        if dinitial is not None:
            gl.store(dinitial + at, S)
        done += count


@gluon.jit
def write_back(
    dv,
    dstates,
    ss,
    us,
    full,
    taken,
    items,
    H,
    chunks,
    begin,
    count,
    V: gl.constexpr,
    BV: gl.constexpr,
    TC: gl.constexpr,
):
    """Copies of dV and dS1 of each chunk into memory."""
    BUFFERS: gl.constexpr = ss.type.shape[0]
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, _first = locate_item(item, H, chunks, V // BV)
        for n in range(count):
            i = count - 1 - n
            m = (done + n) % BUFFERS
            mbarrier.wait(full.index(m), ((done + n) // BUFFERS) & 1)
            tma.async_copy_shared_to_global(
                dstates, [((b * count + i) * H + h) * V + block * BV, 0], ss.index(m)
            )
            tma.async_copy_shared_to_global(dv, [b, (begin + i) * TC, 0, h * V + block * BV], us.index(m))
            tma.store_wait(0)
            mbarrier.arrive(taken.index(m), count=1)
        done += count


@gluon.jit
def retreat_hopper(
    q,
    k,
    do,
    inverses,
    vectors,
    dfinal,
    dinitial,
    dv,
    dstates,
    items,
    H,
    chunks,
    begin,
    count,
    scale,
    K: gl.constexpr,
    V: gl.constexpr,
    BV: gl.constexpr,
    C: gl.constexpr,
    STEPS: gl.constexpr,
    STAGES: gl.constexpr,
    BUFFERS: gl.constexpr,
    VECTORS: gl.constexpr,
    GATED: gl.constexpr,
):
    """dv and dstates of the chunks begin to begin + count - 1 of each sequence, and the gradient dinitial of the state before them.

    q, k, do, dv are descriptors of `[B,T,H·K]`, `[B,T,n_h,H·K]`, `[B,T,H·V]`, `[B,T,n_h,H·V]`, dstates of dS1ᵀ
    `[B·count·H·V,K]`; inverses X and vectors as `prepare_hopper` saves them; dfinal and dinitial `[B,H,K,V]`, or none.
    """
    DT: gl.constexpr = k.dtype
    TC: gl.constexpr = C // STEPS
    READS: gl.constexpr = (READ if GATED else 0) + 1
    qs = gl.allocate_shared_memory(DT, [STAGES] + q.block_type.shape, q.layout)  # noqa: RUF005
    ks = gl.allocate_shared_memory(DT, [STAGES] + k.block_type.shape, k.layout)  # noqa: RUF005
    ds = gl.allocate_shared_memory(DT, [STAGES] + do.block_type.shape, do.layout)  # noqa: RUF005
    xs = gl.allocate_shared_memory(DT, [STAGES] + inverses.block_type.shape, inverses.layout)  # noqa: RUF005
    gs = gl.allocate_shared_memory(gl.float32, [STAGES * READS, C], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    att_s = gl.allocate_shared_memory(DT, [STAGES, C, TC], gl.NVMMASharedLayout.get_default_for([C, TC], DT))
    ss = gl.allocate_shared_memory(DT, [BUFFERS] + dstates.block_type.shape, dstates.layout)  # noqa: RUF005
    us = gl.allocate_shared_memory(DT, [BUFFERS] + dv.block_type.shape, dv.layout)  # noqa: RUF005
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    scored = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    taken = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
        # the chain waits for the scores, so it is the last that reads
        mbarrier.init(empty.index(i), count=1)
        mbarrier.init(scored.index(i), count=1)
    for i in gl.static_range(BUFFERS):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(taken.index(i), count=1)
    # fmt: off
    gl.warp_specialize([
        (follow_back, (ks, qs, ds, xs, gs, att_s, ss, us, ready, empty, scored, full, taken,
                       dfinal, dinitial, items, H, chunks, count, K, V, BV, C, STEPS, READS, GATED)),
        (score_chunks, (vectors, qs, ks, gs, att_s, ready, scored,
                        items, H, chunks, begin, count, scale, V, BV, STEPS, VECTORS, READS, GATED)),
        (read_back, (q, k, do, inverses, vectors, qs, ks, ds, xs, gs, ready, empty,
                     items, H, chunks, begin, count, K, V, BV, C, TC, VECTORS, READS)),
        (write_back, (dv, dstates, ss, us, full, taken, items, H, chunks, begin, count, V, BV, TC)),
    ], [4, 1, 1], [216, 24, 24])
    # fmt: on
