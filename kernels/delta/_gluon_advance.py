"""The second kernel of DeltaProduct on Hopper: the serial chain through all chunks, and the outputs.  Gluon.

A program has a block of 64 value columns of a sequence and head.  Its warps are specialised:

    read_chunks    one warp: K, Q, V, B X and the vectors of chunk after chunk into a ring of shared memory (bulk tensor copies)
    follow_chain   four warps: the state in registers, transposed `[BV,K]`; U = B X (p V - r K S0), S1 = w S0 + Kᵀ (z U)
    write_outputs  four warps, about a chunk behind: O = scale (s Q S0 + att' U)

The letters are those of `_triton_chunk`, the vectors those of `_gluon_prepare`.  Barriers, a ring of each:

    ready, empty   a stage of the ring is filled, and done with by both
    full, taken    S0 and U of a chunk are in shared memory for the outputs, and done with
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    async_copy,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from ._gluon_prepare import READ, multiply_between

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@gluon.jit
def locate_item(item, H, chunks, BLOCKS: gl.constexpr):
    """Sequence, head, block of value columns and first chunk of an item of work."""
    b = item // BLOCKS // H
    return b, item // BLOCKS % H, item % BLOCKS, b * chunks


@gluon.jit
def copy_vectors(
    p, gs, s, bar, C: gl.constexpr, VECTORS: gl.constexpr, READS: gl.constexpr, SAVE: gl.constexpr
):
    """Copy the vectors that are read of a chunk, the first ones and with SAVE the last, into a stage of the ring."""
    for row in gl.static_range(READS):
        if SAVE and row == READS - 1:
            async_copy.async_copy_global_to_shared(gs.index(s * READS + row), p + (VECTORS - 1) * C)
        else:
            async_copy.async_copy_global_to_shared(gs.index(s * READS + row), p + row * C)
    # the barrier then waits for each thread's copies too
    async_copy.mbarrier_arrive(bar, increment_count=True)


@gluon.jit
def read_chunks(
    q,
    k,
    v,
    written,
    vectors,
    qs,
    ks,
    vs,
    xs,
    gs,
    ready,
    empty,
    items,
    H,
    chunks,
    K: gl.constexpr,
    V: gl.constexpr,
    BV: gl.constexpr,
    C: gl.constexpr,
    TC: gl.constexpr,
    VECTORS: gl.constexpr,
    READS: gl.constexpr,
    SAVE: gl.constexpr,
):
    """Fill the ring, a stage a chunk."""
    STAGES: gl.constexpr = ks.type.shape[0]
    nbytes: gl.constexpr = (
        q.block_type.nbytes + k.block_type.nbytes + v.block_type.nbytes + written.block_type.nbytes
    )
    o_c = gl.arange(0, C, gl.BlockedLayout([2], [32], [1], [0]))
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, first = locate_item(item, H, chunks, V // BV)
        for i in range(chunks):
            s = (done + i) % STAGES
            pair = (first + i) * H + h
            mbarrier.wait(empty.index(s), (((done + i) // STAGES) & 1) ^ 1)
            bar = ready.index(s)
            if vectors is not None:
                p = vectors + pair.to(gl.int64) * VECTORS * C + o_c
                copy_vectors(p, gs, s, bar, C, VECTORS, READS, SAVE)
            mbarrier.expect(bar, nbytes)
            tma.async_copy_global_to_shared(k, [b, i * TC, 0, h * K], bar, ks.index(s))
            tma.async_copy_global_to_shared(written, [pair * C, 0], bar, xs.index(s))
            tma.async_copy_global_to_shared(v, [b, i * TC, 0, h * V + block * BV], bar, vs.index(s))
            tma.async_copy_global_to_shared(q, [b, i * TC, h * K], bar, qs.index(s))
        done += chunks


@gluon.jit
def follow_chain(
    ks,
    vs,
    xs,
    gs,
    ss,
    us,
    ready,
    empty,
    full,
    taken,
    initial,
    final,
    items,
    H,
    chunks,
    K: gl.constexpr,
    V: gl.constexpr,
    BV: gl.constexpr,
    C: gl.constexpr,
    READS: gl.constexpr,
    GATED: gl.constexpr,
    SAVE: gl.constexpr,
):
    """States from chunk to chunk: three products that wait for one another, and nothing else that they wait for."""
    STAGES: gl.constexpr = ks.type.shape[0]
    BUFFERS: gl.constexpr = ss.type.shape[0]
    DT: gl.constexpr = ks.dtype
    lay_s: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, K, 16])
    lay_c: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, C, 16])
    # left operands come from registers, as the accumulators lie
    operand: gl.constexpr = gl.DotOperandLayout(0, lay_c, 2)
    rows: gl.constexpr = gl.SliceLayout(0, lay_c)
    o_v = gl.arange(0, BV, gl.SliceLayout(1, lay_s))
    o_k = gl.arange(0, K, gl.SliceLayout(0, lay_s))
    zero = gl.zeros([BV, C], gl.float32, lay_c)
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, _first = locate_item(item, H, chunks, V // BV)
        # the state is `[K,V]` in memory
        at = (b.to(gl.int64) * H + h) * K * V + o_k[None, :] * V + (block * BV + o_v)[:, None]
        S = gl.zeros([BV, K], gl.float32, lay_s)
        if initial is not None:
            S += gl.load(initial + at).to(gl.float32)
        for i in range(chunks):
            s = (done + i) % STAGES
            m = (done + i) % BUFFERS
            Sd = S.to(DT)
            mbarrier.wait(ready.index(s), ((done + i) // STAGES) & 1)
            Kc = ks.index(s).reshape([C, K])
            # (K S0)ᵀ = S0ᵀ Kᵀ
            KS = warpgroup_mma(
                gl.convert_layout(Sd, operand), Kc.permute((1, 0)), zero, use_acc=False, is_async=True
            )
            if K > 128:
                # registers are short there: the rounded state is not kept for later
                mbarrier.wait(taken.index(m), (((done + i) // BUFFERS) & 1) ^ 1)
                ss.index(m).store(Sd)
            P = vs.index(s).reshape([C, BV]).permute((1, 0)).load(lay_c).to(gl.float32)
            if GATED:
                P = P * gs.index(s * READS).load(rows)[None, :]
                r = gs.index(s * READS + 1).load(rows)
            KS = warpgroup_mma_wait(0, (KS,))
            # p V - r K S0, transposed
            if GATED:
                P = P - KS * r[None, :]
            else:
                P = P - KS
            # Uᵀ = Pᵀ (B X)ᵀ
            U = warpgroup_mma(
                gl.convert_layout(P.to(DT), operand),
                xs.index(s).permute((1, 0)),
                zero,
                use_acc=False,
                is_async=True,
            )
            if K <= 128:
                mbarrier.wait(taken.index(m), (((done + i) // BUFFERS) & 1) ^ 1)
                ss.index(m).store(Sd)
            if GATED:
                S = S * gs.index(s * READS + 4).load(gl.SliceLayout(1, lay_s))[:, None]
                z = gs.index(s * READS + 2).load(rows)
            if SAVE:
                beta = gs.index(s * READS + READS - 1).load(rows)
            U = warpgroup_mma_wait(0, (U,))
            if SAVE:
                # `xs` held X alone
                U = U * beta[None, :]
            Ud = U.to(DT)
            if GATED:
                Uz = (U * z[None, :]).to(DT)
            else:
                Uz = Ud
            # S1ᵀ = w S0ᵀ + (z U)ᵀ K
            S = warpgroup_mma(gl.convert_layout(Uz, operand), Kc, S, is_async=True)
            us.index(m).permute((1, 0)).store(Ud)
            fence_async_shared()
            mbarrier.arrive(full.index(m), count=1)
            S = warpgroup_mma_wait(0, (S,))
            mbarrier.arrive(empty.index(s), count=1)
        if final is not None:
            gl.store(final + at, S)
        done += chunks


@gluon.jit
def write_outputs(
    o,
    states,
    vectors,
    qs,
    ks,
    gs,
    ss,
    us,
    att_s,
    os,
    ready,
    empty,
    full,
    taken,
    items,
    H,
    chunks,
    scale,
    V: gl.constexpr,
    BV: gl.constexpr,
    STEPS: gl.constexpr,
    VECTORS: gl.constexpr,
    READS: gl.constexpr,
    GATED: gl.constexpr,
):
    """Oᵀ = scale (s (Q S0)ᵀ + Uᵀ att'ᵀ), tokens as columns."""
    STAGES: gl.constexpr = ks.type.shape[0]
    BUFFERS: gl.constexpr = ss.type.shape[0]
    DT: gl.constexpr = ks.dtype
    K: gl.constexpr = ss.type.shape[2]
    C: gl.constexpr = us.type.shape[1]
    TC: gl.constexpr = C // STEPS
    lay: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, TC, 16])
    o_t = gl.arange(0, TC, gl.SliceLayout(0, lay))
    o_c = gl.arange(0, C, gl.SliceLayout(1, lay))
    # a token sees the rows up to its last micro-step
    seen = o_c[:, None] < (o_t[None, :] + 1) * STEPS
    zero_c = gl.zeros([C, TC], gl.float32, lay)
    zero_v = gl.zeros([BV, TC], gl.float32, lay)
    done = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        b, h, block, first = locate_item(item, H, chunks, V // BV)
        if GATED:
            # whether a chunk's 1/c was taken is read a chunk ahead
            p_fast = vectors + (first.to(gl.int64) * H + h) * VECTORS * C + READ * C
            following = gl.load(p_fast)
        for i in range(chunks):
            s = (done + i) % STAGES
            m = (done + i) % BUFFERS
            if GATED:
                fast = following
                following = gl.load(p_fast + gl.minimum(i + 1, chunks - 1).to(gl.int64) * H * VECTORS * C)
            mbarrier.wait(ready.index(s), ((done + i) // STAGES) & 1)
            Qt = qs.index(s).reshape([TC, K]).permute((1, 0))
            # attᵀ = K Qᵀ
            att = warpgroup_mma(ks.index(s).reshape([C, K]), Qt, zero_c, use_acc=False, is_async=True)
            mbarrier.wait(full.index(m), ((done + i) // BUFFERS) & 1)
            if states is not None:
                row = ((first + i) * H + h) * V + block * BV
                tma.async_copy_shared_to_global(states, [row, 0], ss.index(m))
            out = warpgroup_mma(ss.index(m), Qt, zero_v, use_acc=False, is_async=True)
            att = warpgroup_mma_wait(1, (att,))
            att = gl.where(seen, att, 0.0)
            if GATED:
                of_rows: gl.constexpr = gl.SliceLayout(1, lay)
                of_tokens: gl.constexpr = gl.SliceLayout(0, lay)
                at_tokens = gs.index(s * READS + 3).slice(0, TC, 0).load(of_tokens)[None, :]
                if fast == 0.0:
                    size_r = gs.index(s * READS + 7).slice(0, TC, 0).load(of_tokens)[None, :]
                    mark_r = gs.index(s * READS + 8).slice(0, TC, 0).load(of_tokens)[None, :]
                    mark = gs.index(s * READS + 6).load(of_rows)[:, None]
                    size = gs.index(s * READS + 5).load(of_rows)[:, None]
                    # rows that are not seen may be later ones
                    att = att * multiply_between(gl.where(seen, size_r, size), mark_r, size, mark)
                else:
                    att = att * at_tokens
            att_s.permute((1, 0)).store(att.to(DT))
            fence_async_shared()
            out = warpgroup_mma_wait(0, (out,))
            if GATED:
                out = out * at_tokens
            mbarrier.arrive(empty.index(s), count=1)
            out = warpgroup_mma(us.index(m).permute((1, 0)), att_s.permute((1, 0)), out, is_async=True)
            out = warpgroup_mma_wait(0, (out,))
            if states is None:
                mbarrier.arrive(taken.index(m), count=1)
            # the copies have left the buffers: of the chunk before, and of S0
            tma.store_wait(0)
            if states is not None:
                mbarrier.arrive(taken.index(m), count=1)
            os.reshape([TC, BV]).permute((1, 0)).store((out * scale).to(DT))
            fence_async_shared()
            tma.async_copy_shared_to_global(o, [b, i * TC, h * V + block * BV], os)
        done += chunks
    tma.store_wait(0)


@gluon.jit
def advance_hopper(
    q,
    k,
    v,
    written,
    vectors,
    initial,
    final,
    o,
    states,
    items,
    H,
    chunks,
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
    """Outputs o, the last states if `final` is there, and for a backward pass the states at the chunks' starts.

    q, k, v, o are descriptors of `[B,T,H·K]`, `[B,T,n_h,H·K]`, `[B,T,n_h,H·V]`, `[B,T,H·V]`, and states of Sᵀ
    `[B·chunks·H·V,K]`, or none; written and vectors are those of
    `_gluon_prepare`; initial and final `[B,H,K,V]`; chunks: of a sequence.  Programs go through `items` blocks of sequences
    and heads, each every so many.
    """
    DT: gl.constexpr = k.dtype
    TC: gl.constexpr = C // STEPS
    SAVE: gl.constexpr = states is not None
    READS: gl.constexpr = (READ if GATED else 0) + (1 if SAVE else 0)
    qs = gl.allocate_shared_memory(DT, [STAGES] + q.block_type.shape, q.layout)  # noqa: RUF005
    ks = gl.allocate_shared_memory(DT, [STAGES] + k.block_type.shape, k.layout)  # noqa: RUF005
    vs = gl.allocate_shared_memory(DT, [STAGES] + v.block_type.shape, v.layout)  # noqa: RUF005
    xs = gl.allocate_shared_memory(DT, [STAGES] + written.block_type.shape, written.layout)  # noqa: RUF005
    if READS > 0:
        gs = gl.allocate_shared_memory(gl.float32, [STAGES * READS, C], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    else:
        gs = xs  # not read
    ss = gl.allocate_shared_memory(DT, [BUFFERS, BV, K], gl.NVMMASharedLayout.get_default_for([BV, K], DT))
    us = gl.allocate_shared_memory(DT, [BUFFERS, C, BV], gl.NVMMASharedLayout.get_default_for([C, BV], DT))
    # transposed: of a right operand whose rows have fewer than 64 columns, products can read out of range
    att_s = gl.allocate_shared_memory(DT, [TC, C], gl.NVMMASharedLayout.get_default_for([TC, C], DT))
    os = gl.allocate_shared_memory(DT, o.block_type.shape, o.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    taken = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
        # the chain and the outputs
        mbarrier.init(empty.index(i), count=2)
    for i in gl.static_range(BUFFERS):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(taken.index(i), count=1)
    # registers of a thread: the chain has 256, the outputs 216, the reads 24, of 3 · 168
    # fmt: off
    gl.warp_specialize([
        (follow_chain, (ks, vs, xs, gs, ss, us, ready, empty, full, taken,
                        initial, final, items, H, chunks, K, V, BV, C, READS, GATED, SAVE)),
        (write_outputs, (o, states, vectors, qs, ks, gs, ss, us, att_s, os, ready, empty, full, taken,
                         items, H, chunks, scale, V, BV, STEPS, VECTORS, READS, GATED)),
        (read_chunks, (q, k, v, written, vectors, qs, ks, vs, xs, gs, ready, empty,
                       items, H, chunks, K, V, BV, C, TC, VECTORS, READS, SAVE)),
    ], [4, 1], [216, 24])
    # fmt: on
