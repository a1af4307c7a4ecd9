"""The diagonal-plus-rank-one scan in chunks of 16 tokens, whose work is matrix products, on Triton kernels.

Within a chunk that begins with the state P, with the running products D_t = w_1 ⊙ … ⊙ w_t and D_s^t = w_{s+1} ⊙ … ⊙ w_t, which are
multiplied up token by token and never divided, so that w may be zero or negative:

    H_t = diag(D_t) P + Σ_{s≤t} (u_s ⊙ D_s^t) σ_sᵀ + (k_s ⊙ D_s^t) v_sᵀ,      σ_t = H_{t-1}ᵀ z_t

    A^zu_ts = z_t · (u_s ⊙ D_s^{t-1}), s < t;   A^qu_ts = q_t · (u_s ⊙ D_s^t), s ≤ t;   A^zk, A^qk alike
    X = (1 - A^zu)⁻¹,  W = X A^zk,  Z = X (z_t ⊙ D_{t-1})_t,  Σ = Z P + W V
    Q = scale ((q_t ⊙ D_t)_t + A^qu Z),  M = scale (A^qu W + A^qk),  E = (u_s ⊙ D_s^16)_s,  R = (k_s ⊙ D_s^16)_s + Wᵀ E

    O = Q P + M V,   P <- diag(D_16) P + Eᵀ (Z P) + Rᵀ V                      with G the gradient of what the chunk leaves:
    dV = R G + Mᵀ dO,   G <- diag(D_16) G + Zᵀ (E G) + Qᵀ dO                  the same with Z and E, Q and R exchanged
    dQ = dO Pᵀ,  dR = V Gᵀ,  dE = (Z P) Gᵀ,  dZ = (E G) Pᵀ,  dM = dO Vᵀ,  dD_16 = rowsum(P ∘ G)

`prepare_chunks` makes Z, Q, E, R, M and D_16 of all chunks at the same time, `run_chunks` goes from chunk to chunk (in either direction),
`multiply_chunks` makes the second row of gradients and takes them back through the matrices, `differentiate_chunks` through the
running products.  Needs triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile, triton_interpreted
from ._segments import Segments
from ._torch_rank_one import Inputs

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment, operator"

CHUNK = 16
"""Tokens of a chunk: the least side of a matrix product."""
SMALL = 4 * CHUNK * CHUNK
"""Numbers of the matrices M, W, X and A^qu of a chunk and head, one after another."""


class Places(NamedTuple):
    """Where chunks lie; the tables only of packed sequences."""

    starts: Tensor | None
    ends: Tensor | None
    bounds: Tensor | None
    """`[N+1]`: the chunks of sequence n are bounds[n] to bounds[n+1]."""
    tokens: int
    per_row: int
    """Chunks of a row that is not packed."""
    H: int
    K: int
    V: int
    pairs: int
    """Chunks times heads."""


class Prepared(NamedTuple):
    """What is kept of chunks, `[chunks,H,...]`."""

    operands: Tensor
    """`[4,chunks,H,16,K]`: Z, Q, E, R."""
    decays: Tensor
    """`[chunks,H,K]`: D_16, in float32."""
    small: Tensor
    """`[chunks,H,SMALL]`, in float32."""


class Products(NamedTuple):
    """Gradients inside chunks."""

    operands: Tensor
    """`[4,chunks,H,16,K]`: of z_t ⊙ D_{t-1}, of q_t ⊙ D_t, of u_s ⊙ D_s^16, of k_s ⊙ D_s^16."""
    decays: Tensor
    """`[chunks,H,K]`: of D_16."""
    small: Tensor
    """`[chunks,H,SMALL]`: of A^zu, A^zk, A^qu, A^qk."""


@triton.jit
def prepare_chunks(
    x, out, at, scale, PACKED: tl.constexpr, KR: tl.constexpr, KL: tl.constexpr, C: tl.constexpr
):  # fmt: skip
    """`Prepared` out from `Inputs` x; keys are `[KR,KL]`, of which a thread has KR, and few threads add up."""
    pair = tl.program_id(0).to(tl.int64)
    head = pair % at.H
    start, count = _locate_chunk(pair // at.H, at, PACKED, C)
    r, column = tl.arange(0, C), tl.arange(0, C)[None, :]
    # as in the selective scan, the last dimension is that of the threads
    key = tl.arange(0, KR)[:, None] * KL + tl.arange(0, KL)[None, :]
    key = tl.multiple_of(tl.max_contiguous(key, [1, 2]), [1, 1])
    # tiles `[KR,C,KL]` of tokens s
    place = tl.max_contiguous(
        (((start + r) * at.H + head) * at.K)[None, :, None] + key[:, None, :], [1, 2, 4]
    )
    place = tl.multiple_of(place, [1, 1, 1])
    inside = (r < count)[None, :, None] & (key < at.K)[:, None, :]
    U = tl.load(x.u + place, mask=inside, other=0.0).to(tl.float32)
    N = tl.load(x.k + place, mask=inside, other=0.0).to(tl.float32)
    # D_{t-1} at token t
    D = tl.zeros([KR, C, KL], tl.float32) + 1.0
    # transposed, `[s,t]`
    uz, nz, uq, nq = (
        tl.zeros([C, C], tl.float32),
        tl.zeros([C, C], tl.float32),
        tl.zeros([C, C], tl.float32),
        tl.zeros([C, C], tl.float32),
    )
    for t in range(C):
        row = ((start + t) * at.H + head) * at.K + key
        used = (key < at.K) & (t < count)
        w = tl.load(x.w + row, mask=used, other=1.0).to(tl.float32)[:, None, :]
        z = tl.load(x.z + row, mask=used, other=0.0).to(tl.float32)[:, None, :]
        q = tl.load(x.q + row, mask=used, other=0.0).to(tl.float32)[:, None, :]
        # A^zu_ts = z_t · (u_s ⊙ D_s^{t-1}), s < t
        earlier = (r < t)[:, None] & (column == t)
        uz = tl.where(earlier, tl.sum(tl.sum(U * z, 0), 1)[:, None], uz)
        nz = tl.where(earlier, tl.sum(tl.sum(N * z, 0), 1)[:, None], nz)
        # u_s ⊙ D_s^t = u_s ⊙ D_s^{t-1} ⊙ w_t
        U = tl.where((r < t)[None, :, None], U * w, U)
        N = tl.where((r < t)[None, :, None], N * w, N)
        D = tl.where((r > t)[None, :, None], D * w, D)
        so_far = (r <= t)[:, None] & (column == t)
        uq = tl.where(so_far, tl.sum(tl.sum(U * q, 0), 1)[:, None], uq)
        nq = tl.where(so_far, tl.sum(tl.sum(N * q, 0), 1)[:, None], nq)
    # from here on tiles `[C,K]`
    keys = tl.arange(0, KR * KL)
    place = ((start + r) * at.H + head)[:, None] * at.K + keys[None, :]
    inside = (r < count)[:, None] & (keys < at.K)[None, :]
    E, ends, D = _flatten(U, C, KR, KL), _flatten(N, C, KR, KL), _flatten(D, C, KR, KL)
    w = tl.load(x.w + place, mask=inside, other=1.0).to(tl.float32)
    X = _invert(tl.trans(uz), C)
    W = _dot(X, tl.trans(nz))
    A = tl.trans(uq)
    square = out.small + pair * (4 * C * C) + r[:, None] * C + column
    tl.store(square, scale * (_dot(A, W) + tl.trans(nq)))
    tl.store(square + C * C, W)
    tl.store(square + 2 * C * C, X)
    tl.store(square + 3 * C * C, A)
    # Z = X (z_t ⊙ D_{t-1})_t, Q = scale ((q_t ⊙ D_t)_t + A^qu Z)
    Z = _dot(X, tl.load(x.z + place, mask=inside, other=0.0).to(tl.float32) * D)
    D *= w
    Q = scale * (tl.load(x.q + place, mask=inside, other=0.0).to(tl.float32) * D + _dot(A, Z))
    # R = (k_s ⊙ D_s^16)_s + Wᵀ E; a wide product last, since the compiler divides all of them among the warps as it does this one
    R = ends + _dot(tl.trans(W), E)
    kept = (pair * C + r)[:, None] * at.K + keys[None, :]
    inside = (keys < at.K)[None, :] & (r < C)[:, None]
    each = at.pairs * C * at.K
    element = out.operands.dtype.element_ty
    tl.store(out.operands + kept, Z.to(element), mask=inside)
    tl.store(out.operands + each + kept, Q.to(element), mask=inside)
    tl.store(out.operands + 2 * each + kept, E.to(element), mask=inside)
    tl.store(out.operands + 3 * each + kept, R.to(element), mask=inside)
    # the row of the last token is D_16
    last = tl.sum(tl.where((r == C - 1)[:, None], D, 0.0), 0)
    tl.store(out.decays + pair * at.K + keys, last, mask=keys < at.K)


@triton.jit
def run_chunks(
    prepared, given, edge, out, last, states, at,
    BACK: tl.constexpr, KEEP: tl.constexpr, PACKED: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
    OPERAND: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    """O from V, or BACK dV from dO; states `[chunks,H,V,K]` before each chunk (BACK: their gradients after it), last ones.

    The state is held transposed, so that it and what is made of it stay in registers from product to product.
    """
    blocks = tl.cdiv(at.V, BV)
    pair, v = tl.program_id(0) // blocks, tl.program_id(0) % blocks * BV + tl.arange(0, BV)
    n, head = (pair // at.H).to(tl.int64), pair % at.H
    keys, r = tl.arange(0, BK), tl.arange(0, C)
    inside = (v < at.V)[:, None] & (keys < at.K)[None, :]
    # states of the caller are `[N,H,K,V]`
    outside = (n * at.H + head) * at.K * at.V + keys[None, :] * at.V + v[:, None]
    S = tl.load(edge + outside, mask=inside, other=0.0).to(tl.float32)
    if PACKED:
        first = tl.load(at.bounds + n).to(tl.int64)
        chunks = (tl.load(at.bounds + n + 1) - first).to(tl.int32)
    else:
        first = n * at.per_row
        chunks = at.per_row
    each = at.pairs * C * at.K
    # Z, Q, E, R, or E, R, Z, Q
    reading = prepared.operands + (2 * each if BACK else 0)
    writing = prepared.operands + (0 if BACK else 2 * each)
    for i in range(chunks):
        j = first + (chunks - 1 - i if BACK else i)
        start, count = _locate_chunk(j, at, PACKED, C)
        at_pair = j * at.H + head
        row = ((start + r) * at.H + head)[:, None] * at.V + v[None, :]
        used = (r < count)[:, None] & (v < at.V)[None, :]
        x = tl.trans(tl.load(given + row, mask=used, other=0.0).to(OPERAND))
        place = (at_pair * C + r)[:, None] * at.K + keys[None, :]
        wide = (r < C)[:, None] & (keys < at.K)[None, :]
        Z = tl.load(reading + place, mask=wide, other=0.0).to(OPERAND)
        Q = tl.load(reading + each + place, mask=wide, other=0.0).to(OPERAND)
        E = tl.load(writing + place, mask=wide, other=0.0).to(OPERAND)
        R = tl.load(writing + each + place, mask=wide, other=0.0).to(OPERAND)
        decay = tl.load(prepared.decays + at_pair * at.K + keys, mask=keys < at.K, other=0.0)
        # Mᵀ, or M
        turned = r[:, None] * C + r[None, :] if BACK else r[:, None] + r[None, :] * C
        M = tl.load(prepared.small + at_pair * (4 * C * C) + turned).to(OPERAND)
        state = S.to(OPERAND)
        if KEEP:
            kept = at_pair * at.K * at.V + v[:, None] * at.K + keys[None, :]
            tl.store(states + kept, state.to(states.dtype.element_ty), mask=inside)
        # (Z P)ᵀ and Oᵀ = (Q P + M V)ᵀ, `[V,C]`
        seen = _multiply(state, tl.trans(Z), OPERAND).to(OPERAND)
        y = _multiply(state, tl.trans(Q), OPERAND) + _multiply(x, M, OPERAND)
        # Pᵀ <- Pᵀ diag(D_16) + (Z P)ᵀ E + Vᵀ R
        S = S * decay[None, :] + _multiply(seen, E, OPERAND) + _multiply(x, R, OPERAND)
        tl.store(out + row, tl.trans(y).to(out.dtype.element_ty), mask=used)
    tl.store(last + outside, S, mask=inside)


@triton.jit
def multiply_chunks(
    prepared, v, do, states, slopes, d, at, scale,
    PACKED: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr, OPERAND: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    """`Products` d from the states P and their gradients G, `[chunks,H,V,K]`."""
    pair = tl.program_id(0).to(tl.int64)
    head = pair % at.H
    start, count = _locate_chunk(pair // at.H, at, PACKED, C)
    r, keys = tl.arange(0, C), tl.arange(0, BK)
    wide = (r < C)[:, None] & (keys < at.K)[None, :]
    place = (pair * C + r)[:, None] * at.K + keys[None, :]
    each = at.pairs * C * at.K
    Z = tl.load(prepared.operands + place, mask=wide, other=0.0).to(OPERAND)
    E = tl.load(prepared.operands + 2 * each + place, mask=wide, other=0.0).to(OPERAND)
    dZ, dQ = tl.zeros([C, BK], tl.float32), tl.zeros([C, BK], tl.float32)
    dE, dR = tl.zeros([C, BK], tl.float32), tl.zeros([C, BK], tl.float32)
    dM, of_decays = tl.zeros([C, C], tl.float32), tl.zeros([BK], tl.float32)
    for begin in range(0, at.V, BV):
        columns = begin + tl.arange(0, BV)
        row = ((start + r) * at.H + head)[:, None] * at.V + columns[None, :]
        used = (r < count)[:, None] & (columns < at.V)[None, :]
        values = tl.load(v + row, mask=used, other=0.0).to(OPERAND)
        slope = tl.load(do + row, mask=used, other=0.0).to(OPERAND)
        here = pair * at.K * at.V + columns[:, None] * at.K + keys[None, :]
        inside = (columns < at.V)[:, None] & (keys < at.K)[None, :]
        P = tl.load(states + here, mask=inside, other=0.0).to(OPERAND)
        G = tl.load(slopes + here, mask=inside, other=0.0).to(OPERAND)
        # dQ = dO Pᵀ, dR = V Gᵀ, dM = dO Vᵀ
        dQ += _multiply(slope, P, OPERAND)
        dR += _multiply(values, G, OPERAND)
        dM += _multiply(slope, tl.trans(values), OPERAND)
        # dE = (Z P) Gᵀ, dZ = (E G) Pᵀ
        dE += _multiply(_multiply(Z, tl.trans(P), OPERAND).to(OPERAND), G, OPERAND)
        dZ += _multiply(_multiply(E, tl.trans(G), OPERAND).to(OPERAND), P, OPERAND)
        of_decays += tl.sum(P.to(tl.float32) * G.to(tl.float32), 0)
    i, j = r[:, None], r[None, :]
    square = prepared.small + pair * (4 * C * C) + i * C + j
    W, X, A = tl.load(square + C * C), tl.load(square + 2 * C * C), tl.load(square + 3 * C * C)
    # M = scale (A^qu W + A^qk), Q = scale ((q ⊙ D) + A^qu Z)
    dM = tl.where(j <= i, scale * dM, 0.0)
    dQ *= scale
    of_uq = _multiply(dQ.to(OPERAND), tl.trans(Z), OPERAND) + _dot(dM, tl.trans(W))
    # R = (k ⊙ D) + Wᵀ E, W = X A^zk
    dW = _dot(tl.trans(A), dM) + _multiply(E, tl.trans(dR.to(OPERAND)), OPERAND)
    of_nz = tl.where(j < i, _dot(tl.trans(X), dW), 0.0)
    # Z = X (z ⊙ D), X = (1 - A^zu)⁻¹
    dZ = _dot(tl.trans(X), dZ + _dot(tl.trans(A), dQ))
    of_uz = _multiply(dZ.to(OPERAND), tl.trans(Z), OPERAND) + _dot(of_nz, tl.trans(W))
    inner = d.small + pair * (4 * C * C) + i * C + j
    tl.store(inner, tl.where(j < i, of_uz, 0.0))
    tl.store(inner + C * C, of_nz)
    tl.store(inner + 2 * C * C, tl.where(j <= i, of_uq, 0.0))
    tl.store(inner + 3 * C * C, dM)
    element = d.operands.dtype.element_ty
    tl.store(d.operands + place, dZ.to(element), mask=wide)
    tl.store(d.operands + each + place, dQ.to(element), mask=wide)
    tl.store(d.operands + 3 * each + place, dR.to(element), mask=wide)
    tl.store(d.decays + pair * at.K + keys, of_decays, mask=keys < at.K)
    # a wide product last: as it does this one, the compiler divides all of them among the warps
    dE += _dot(W, dR)
    tl.store(d.operands + 2 * each + place, dE.to(element), mask=wide)


@triton.jit
def differentiate_chunks(
    x, given, d, at, PACKED: tl.constexpr, BK: tl.constexpr, SOME: tl.constexpr, C: tl.constexpr
):
    """Gradients d of q, w, u, z, k from `Products`; threads lie along the keys, and all sums over tokens are in a thread.

    Running products of SOME tokens are held at a time: they are multiplied up again from the chunk's beginning.
    """
    pair = tl.program_id(0).to(tl.int64)
    head = pair % at.H
    start, count = _locate_chunk(pair // at.H, at, PACKED, C)
    # each thread has one key of all tokens, as in the selective scan
    r, keys = tl.arange(0, C), tl.multiple_of(tl.arange(0, BK), [1])
    place = tl.max_contiguous(((start + r) * at.H + head)[:, None] * at.K + keys[None, :], [1, 2])
    place = tl.multiple_of(place, [1, 1])
    kept = tl.multiple_of(tl.max_contiguous((pair * C + r)[:, None] * at.K + keys[None, :], [1, 2]), [1, 1])
    inside = (r < count)[:, None] & (keys < at.K)[None, :]
    wide = (r < C)[:, None] & (keys < at.K)[None, :]
    each = at.pairs * C * at.K
    # the gradients of u_s ⊙ D_s^t, k_s ⊙ D_s^t and D_t, from the last token on
    dU = tl.load(given.operands + 2 * each + kept, mask=wide, other=0.0).to(tl.float32)
    dN = tl.load(given.operands + 3 * each + kept, mask=wide, other=0.0).to(tl.float32)
    dD = tl.load(given.decays + pair * at.K + keys, mask=keys < at.K, other=0.0)
    square = given.small + pair * (4 * C * C) + r
    for back in range(0, C, SOME):
        first = C - SOME - back
        U = tl.load(x.u + place, mask=inside, other=0.0).to(tl.float32)
        N = tl.load(x.k + place, mask=inside, other=0.0).to(tl.float32)
        D = tl.zeros([BK], tl.float32) + 1.0
        for t in range(first):
            w = _load_token(x.w, start, t, count, head, keys, at, 1.0)
            U, N = (
                tl.where((r < t)[:, None], U * w[None, :], U),
                tl.where((r < t)[:, None], N * w[None, :], N),
            )
            D *= w
        # before the token first + i
        before = ((U, N, D),)
        for i in tl.static_range(SOME):
            t = first + i
            w = _load_token(x.w, start, t, count, head, keys, at, 1.0)
            U, N = (
                tl.where((r < t)[:, None], U * w[None, :], U),
                tl.where((r < t)[:, None], N * w[None, :], N),
            )
            D *= w
            before = before + ((U, N, D),)  # noqa: RUF005
        for i in tl.static_range(SOME):
            t = first + SOME - 1 - i
            w = _load_token(x.w, start, t, count, head, keys, at, 1.0)
            z = _load_token(x.z, start, t, count, head, keys, at, 0.0)
            q = _load_token(x.q, start, t, count, head, keys, at, 0.0)
            inner = given.operands + (pair * C + t) * at.K + keys
            of_z = tl.load(inner, mask=keys < at.K, other=0.0).to(tl.float32)
            of_q = tl.load(inner + each, mask=keys < at.K, other=0.0).to(tl.float32)
            of_uz, of_nz = tl.load(square + t * C)[:, None], tl.load(square + C * C + t * C)[:, None]
            of_uq, of_nq = (
                tl.load(square + 2 * C * C + t * C)[:, None],
                tl.load(square + 3 * C * C + t * C)[:, None],
            )
            # A^qu_ts = q_t · (u_s ⊙ D_s^t)
            U, N, D = before[SOME - i]
            dq = tl.sum(of_uq * U + of_nq * N, 0) + of_q * D
            dU += of_uq * q[None, :]
            dN += of_nq * q[None, :]
            dD += of_q * q
            # u_s ⊙ D_s^t = u_s ⊙ D_s^{t-1} ⊙ w_t, s < t
            U, N, D = before[SOME - 1 - i]
            earlier = (r < t)[:, None]
            dw = tl.sum(tl.where(earlier, dU * U + dN * N, 0.0), 0) + dD * D
            dU, dN = tl.where(earlier, dU * w[None, :], dU), tl.where(earlier, dN * w[None, :], dN)
            dD *= w
            # A^zu_ts = z_t · (u_s ⊙ D_s^{t-1})
            dz = tl.sum(of_uz * U + of_nz * N, 0) + of_z * D
            dU += of_uz * z[None, :]
            dN += of_nz * z[None, :]
            dD += of_z * z
            row = ((start + t) * at.H + head) * at.K + keys
            used = (keys < at.K) & (t < count)
            tl.store(d.q + row, dq.to(d.q.dtype.element_ty), mask=used)
            tl.store(d.w + row, dw.to(d.w.dtype.element_ty), mask=used)
            tl.store(d.z + row, dz.to(d.z.dtype.element_ty), mask=used)
    tl.store(d.u + place, dU.to(d.u.dtype.element_ty), mask=inside)
    tl.store(d.k + place, dN.to(d.k.dtype.element_ty), mask=inside)


@triton.jit
def _locate_chunk(j, at, PACKED: tl.constexpr, C: tl.constexpr):
    """First token and number of tokens of a chunk; 0 in the unused end of a packed table."""
    if PACKED:
        start = tl.load(at.starts + j).to(tl.int64)
        count = tl.load(at.ends + j).to(tl.int64) - start
    else:
        begin = j // at.per_row * at.tokens
        start = begin + j % at.per_row * C
        count = tl.minimum(begin + at.tokens - start, C)
    return start, count


@triton.jit
def _load_token(pointer, start, t, count, head, keys, at, other: tl.constexpr):
    row = ((start + t) * at.H + head) * at.K
    return tl.load(pointer + row + keys, mask=(keys < at.K) & (t < count), other=other).to(tl.float32)


@triton.jit
def _flatten(x, C: tl.constexpr, KR: tl.constexpr, KL: tl.constexpr):
    """`[KR,C,KL]` as `[C,K]`."""
    return tl.reshape(tl.permute(x, (1, 0, 2)), [C, KR * KL])


@triton.jit
def _dot(a, b):
    """A product in float32, by three of tf32."""
    return tl.dot(a, b, input_precision="tf32x3")


@triton.jit
def _multiply(a, b, OPERAND: tl.constexpr):
    """A product of operands, added up in float32."""
    if OPERAND == tl.float32:  # noqa: SIM300
        y = tl.dot(a, b, input_precision="tf32x3")
    else:
        y = tl.dot(a, b)
    return y


@triton.jit
def _invert(A, C: tl.constexpr):
    """(1 - A)⁻¹ of a strictly lower triangular A: of blocks twice as large, `[[X, 0], [Y B X, Y]]` is that of `[[., 0], [B, .]]`."""
    i, j = tl.arange(0, C)[:, None], tl.arange(0, C)[None, :]
    X = tl.where(i == j, 1.0, 0.0)
    for half in tl.static_range(1, C):
        # 1, 2, 4, 8
        if half & (half - 1) == 0:
            below = (i // (2 * half) == j // (2 * half)) & (i % (2 * half) >= half) & (j % (2 * half) < half)
            X += _dot(_dot(X, tl.where(below, A, 0.0)), X)
    return X


class Plan(NamedTuple):
    """Sizes of tiles."""

    columns: int = 64
    """Columns of a program of `run_chunks`."""
    warps: int = 4
    """Its warps."""
    stages: int = 3
    """Chunks of it under way together."""
    block: int = 32
    """Columns at a time of `multiply_chunks`."""
    some: int = 4
    """Tokens of `differentiate_chunks` whose running products are held."""


PLAN = Plan()


def chunk_operand(dtype: torch.dtype) -> torch.dtype:
    """What the matrix products take, and what is kept for the backward pass: bfloat16, or float32 in three products of tf32."""
    # the interpreter has no bfloat16
    return torch.bfloat16 if dtype == torch.bfloat16 and not triton_interpreted() else torch.float32


def chunk_forward(
    inputs: Inputs, initial_state: Tensor, scale: float, segments: Segments, keep: bool
) -> tuple[Tensor, Tensor, Prepared, Tensor]:
    """Outputs, last states, what is prepared, and states before chunks, `[chunks,H,V,K]` (none unless kept)."""
    inputs, initial_state = Inputs(*(x.contiguous() for x in inputs)), initial_state.contiguous()
    _, H, K, V = initial_state.shape
    operand, device = chunk_operand(inputs.v.dtype), initial_state.device
    at = _place(segments, H, K, V)

    def new(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return launching.empty(*shape, dtype=dtype, device=device)

    chunks = segments.count
    prepared = Prepared(new(4, chunks, H, CHUNK, K, dtype=operand), new(chunks, H, K), new(chunks, H, SMALL))
    o, last = torch.empty_like(inputs.v), torch.empty_like(initial_state)
    states = new(chunks if keep else 0, H, V, K, dtype=operand)
    packed = segments.cu_seqlens is not None
    KL = 8
    tall = max(16, int(triton.next_power_of_2(K)))
    prepare = launching.launcher(
        *(prepare_chunks, Tile(CHUNK, warps=4, stages=1)), PACKED=packed, KR=tall // KL, KL=KL, C=CHUNK
    )
    if at.pairs:
        with launching.on_device_of(initial_state):
            prepare((at.pairs,), inputs, prepared, at, float(scale))
    _run(prepared, inputs.v, initial_state, o, last, states, segments, at, back=False, keep=keep)
    return o, last, prepared, states


def chunk_backward(
    inputs: Inputs,
    prepared: Prepared,
    states: Tensor,
    do: Tensor,
    d_last: Tensor,
    scale: float,
    segments: Segments,
) -> tuple[Inputs, Tensor]:
    """Gradients of q, w, u, z, k, v and of the initial state."""
    inputs = Inputs(*(x.contiguous() for x in inputs))
    do, d_last = do.contiguous(), d_last.contiguous()
    _, H, K, V = d_last.shape
    at = _place(segments, H, K, V)
    operand, packed = chunk_operand(inputs.v.dtype), segments.cu_seqlens is not None
    dv, d_initial, slopes = (torch.empty_like(x) for x in (inputs.v, d_last, states))
    _run(prepared, do, d_last, dv, d_initial, slopes, segments, at, back=True, keep=True)
    products = Products(*(torch.empty_like(x) for x in prepared))
    tall = max(16, int(triton.next_power_of_2(K)))
    block = min(PLAN.block, max(16, int(triton.next_power_of_2(V))))
    constants: dict[str, Any] = {"PACKED": packed, "BK": tall, "C": CHUNK}
    multiply = launching.launcher(
        *(multiply_chunks, Tile(block, warps=4 if operand == torch.bfloat16 else 8, stages=2)),
        **constants,
        BV=block,
        OPERAND=_as_triton(operand),
    )
    # a thread for each key
    differentiate = launching.launcher(
        *(differentiate_chunks, Tile(CHUNK, warps=max(1, tall // 32), stages=1)),
        **constants,
        SOME=PLAN.some,
    )
    if at.pairs:
        with launching.on_device_of(do):
            multiply((at.pairs,), prepared, inputs.v, do, states, slopes, products, at, float(scale))
    # as large as all inputs together
    del slopes
    d = Inputs(*[*(torch.empty_like(x) for x in inputs[:5]), dv])
    if at.pairs:
        with launching.on_device_of(do):
            differentiate((at.pairs,), inputs, products, d, at)
    return d, d_initial


def _run(
    prepared: Prepared,
    given: Tensor,
    edge: Tensor,
    out: Tensor,
    last: Tensor,
    states: Tensor,
    segments: Segments,
    at: Places,
    *,
    back: bool,
    keep: bool,
) -> None:
    operand = chunk_operand(given.dtype)
    tall = max(16, int(triton.next_power_of_2(at.K)))
    columns = min(PLAN.columns, max(16, int(triton.next_power_of_2(at.V))))
    launch = launching.launcher(
        *(run_chunks, Tile(columns, PLAN.warps, PLAN.stages)),
        BACK=back,
        KEEP=keep,
        PACKED=segments.cu_seqlens is not None,
        BK=tall,
        BV=columns,
        OPERAND=_as_triton(operand),
        C=CHUNK,
    )
    programs = segments.sequences * at.H * triton.cdiv(at.V, columns)
    if programs:
        with launching.on_device_of(edge):
            launch((programs,), prepared, given, edge, out, last, states, at)


def _as_triton(dtype: torch.dtype) -> tl.dtype:
    return tl.bfloat16 if dtype == torch.bfloat16 else tl.float32


def _place(segments: Segments, H: int, K: int, V: int) -> Places:
    tables = (segments.starts, segments.ends, segments.bounds)
    return Places(*tables, segments.tokens, segments.per_row, H, K, V, segments.count * H)
