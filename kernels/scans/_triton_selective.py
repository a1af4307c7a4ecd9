"""The selective scan on Triton kernels, parallel in time: segments of each sequence are walked through by programs of their own.

    h <- a ⊙ h + Δ u wᵀ,  y = h r,  a = exp(-Δ λ), or 2 exp(-Δ λ) - 1 if signed

    summaries   of each segment the product of its decays, and the state that it leaves when zero enters
    carries     enter <- product ⊙ enter + state, from segment to segment
    outputs     each segment again from the state that enters it; the state before every KEPT_EVERY-th token is kept

The gradient of the states runs the other way, `dh <- a ⊙ (dh + dy rᵀ)`, by the same three passes; the last one makes the states of
KEPT_EVERY tokens again, in registers, and goes back through them.  Sequences that fill the device by themselves are one segment.

Threads lie along the channels and hold all states of theirs, so that the sums over states stay in a thread; the gradients need sums
over channels too, and their tiles `[NR,CR,NL,CL]` divide both over the threads: a thread has NR · CR entries, and NL and CL threads
add up.  Needs triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from .._backends import Tile
from ._segments import KEPT_EVERY

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, assignment, operator"


class SelectiveInputs(NamedTuple):
    """What the scan reads, contiguous, or the gradients of it; letters as in `selective_scan`."""

    u: Tensor
    """`[S,B,T,C]`."""
    step: Tensor
    """Δ `[S,B,T,C]`."""
    rate: Tensor
    """λ `[S,C,N]`; of gradients `[S,B·segments,N,C]`, parts of sums."""
    write: Tensor
    """w `[S,B,T,N]`; of gradients `[blocks,S·B,T,N]`, the part of each block of channels."""
    read: Tensor
    """r, as w."""
    initial: Tensor
    """`[S,B,C,N]`."""


class SelectiveOutputs(NamedTuple):
    """What the forward kernel fills."""

    y: Tensor
    """`[S,B,T,C]`."""
    final: Tensor
    """`[S,B,C,N]`."""
    kept: Tensor
    """`[S·B,⌈T/KEPT_EVERY⌉,N,C]`: the state before every KEPT_EVERY-th token, where they are kept."""


class Sizes(NamedTuple):
    """Batch, tokens, channels, states of a channel, segments and their tokens, a multiple of KEPT_EVERY."""

    B: int
    T: int
    C: int
    N: int
    segments: int
    length: int


LOG2_E, LN_2 = tl.constexpr(1.4426950408889634), tl.constexpr(0.6931471805599453)


@triton.jit
def selective_summaries(
    x, dy, decays, states, z,
    BACK: tl.constexpr, SIGNED: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr, WIDE: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """`[S·B,segments,N,C]`: the product of decays, and what is left of zero; BACK: from the last token, of the gradient."""
    p, s, c, n, here, inside = _locate_program(z, BC, BN)
    rates = _load_rates(x.rate, p, z, c, n, inside, WIDE)
    h = tl.zeros([BN, BC], WIDE)
    product = h + 1.0
    steps = tl.zeros([BC], WIDE)
    first = s * z.length
    for i in range(0, z.length, UNROLL):
        loaded = ()  # all loads are under way before the first is used
        for j in tl.static_range(UNROLL):
            t = first + (z.length - 1 - i - j if BACK else i + j)
            row = p * z.T + t
            delta = _load_channels(x.step, row, c, z.C, t < z.T)
            # written are Δ u along w, or dy along r
            given = _load_channels(dy if BACK else x.u, row, c, z.C, t < z.T)
            along = _load_states(x.read if BACK else x.write, row, n, z.N, t < z.T)
            loaded = loaded + ((delta, given, along),)  # noqa: RUF005
        for j in tl.static_range(UNROLL):
            delta, given, along = loaded[j][0].to(WIDE), loaded[j][1].to(WIDE), loaded[j][2].to(WIDE)
            a = _decay(delta[None, :], rates, SIGNED, WIDE)
            if BACK:
                # dh <- a (dh + dy r)
                h = a * (h + given[None, :] * along[:, None])
            else:
                h = a * h + (delta * given)[None, :] * along[:, None]
            if SIGNED:
                product = product * a
            else:
                steps += delta
    if not SIGNED:
        # the product of exp(-Δ λ) is exp(-λ Σ Δ)
        product = _decay(steps[None, :], rates, SIGNED, WIDE)
    place = (p * z.segments + s) * z.C * z.N + here
    tl.store(states + place, h, mask=inside)
    tl.store(decays + place, product, mask=inside)


@triton.jit
def selective_carries(
    decays, states, edge, enter, z, BACK: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr
):
    """What enters each segment, `[S·B,segments,N,C]`; the first has the edge `[S,B,C,N]`, BACK the last."""
    p = tl.program_id(0).to(tl.int64)
    lane = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    size = z.C * z.N
    inside = lane < size
    # lanes are `[N,C]`, the edge is `[C,N]`
    h = tl.load(edge + p * size + lane % z.C * z.N + lane // z.C, mask=inside, other=0.0).to(
        decays.dtype.element_ty
    )
    for i in range(0, z.segments, UNROLL):
        loaded = ()
        for j in tl.static_range(UNROLL):
            s = z.segments - 1 - i - j if BACK else i + j
            place = (p * z.segments + s) * size + lane
            used = inside & (i + j < z.segments)
            decay = tl.load(decays + place, mask=used, other=1.0)
            state = tl.load(states + place, mask=used, other=0.0)
            loaded = loaded + ((place, used, decay, state),)  # noqa: RUF005
        for j in tl.static_range(UNROLL):
            place, used, decay, state = loaded[j]
            tl.store(enter + place, h, mask=used)
            h = decay * h + state


@triton.jit
def selective_outputs(
    x, enter, out, z,
    SIGNED: tl.constexpr, KEEP: tl.constexpr, EVERY: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr, WIDE: tl.constexpr,
    UNROLL: tl.constexpr,
):  # fmt: skip
    """`SelectiveOutputs` out from `SelectiveInputs` x; enter is None where segments are whole sequences."""
    p, s, c, n, here, inside = _locate_program(z, BC, BN)
    rates = _load_rates(x.rate, p, z, c, n, inside, WIDE)
    # states of the caller are `[C,N]`
    outside = p * z.C * z.N + tl.multiple_of(tl.max_contiguous(c[None, :] * z.N + n[:, None], [1, 2]), [1, 1])
    if enter is None:
        h = tl.load(x.initial + outside, mask=inside, other=0.0).to(WIDE)
    else:
        h = tl.load(enter + (p * z.segments + s) * z.C * z.N + here, mask=inside, other=0.0)
    first = s * z.length
    blocks = tl.cdiv(z.T, EVERY)
    for i in range(0, z.length, UNROLL):
        if KEEP and i % EVERY == 0:
            begins = inside & (first + i < z.T)
            tl.store(out.kept + (p * blocks + (first + i) // EVERY) * z.C * z.N + here, h, mask=begins)
        loaded = ()
        for j in tl.static_range(UNROLL):
            t = first + i + j
            row = p * z.T + t
            delta = _load_channels(x.step, row, c, z.C, t < z.T)
            u = _load_channels(x.u, row, c, z.C, t < z.T)
            w = _load_states(x.write, row, n, z.N, t < z.T)
            r = _load_states(x.read, row, n, z.N, t < z.T)
            loaded = loaded + ((delta, u, w, r),)  # noqa: RUF005
        for j in tl.static_range(UNROLL):
            t = first + i + j
            # past the last token steps are zero, which changes no state
            delta, u = loaded[j][0].to(WIDE), loaded[j][1].to(WIDE)
            w, r = loaded[j][2].to(WIDE), loaded[j][3].to(WIDE)
            h = _decay(delta[None, :], rates, SIGNED, WIDE) * h + (delta * u)[None, :] * w[:, None]
            # y = h r
            y = tl.sum(h * r[:, None], 0)
            tl.store(out.y + (p * z.T + t) * z.C + c, y, mask=(c < z.C) & (t < z.T))
    if s == z.segments - 1:
        tl.store(out.final + outside, h, mask=inside)


@triton.jit
def selective_gradients(
    x, kept, dy, enter, dfinal, d, z,
    SIGNED: tl.constexpr, EVERY: tl.constexpr,
    NR: tl.constexpr, CR: tl.constexpr, NL: tl.constexpr, CL: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """All gradients d; enter is None where segments are whole sequences, and dfinal is what enters."""
    p = (tl.program_id(0) // z.segments).to(tl.int64)
    s = tl.program_id(0) % z.segments
    C, N, T, block = z.C, z.N, z.T, tl.program_id(1).to(tl.int64)
    # channels `[CR,CL]` and states `[NR,NL]`
    c = tl.program_id(1) * (CR * CL) + tl.arange(0, CR)[:, None] * CL + tl.arange(0, CL)[None, :]
    n = tl.arange(0, NL)[None, :] * NR + tl.arange(0, NR)[:, None]
    inside = (n < N)[:, None, :, None] & (c < C)[None, :, None, :]
    here = tl.max_contiguous(n[:, None, :, None] * C + c[None, :, None, :], [1, 1, 2, 4])
    here = tl.multiple_of(here, [1, 1, 1, 1])
    turned = tl.max_contiguous(c[None, :, None, :] * N + n[:, None, :, None], [1, 1, 2, 4])
    turned = tl.multiple_of(turned, [1, 1, 1, 1])
    outside, place = p * C * N + turned, (p // z.B) * C * N + turned
    rates = _scale(tl.load(x.rate + place, mask=inside, other=0.0).to(WIDE), WIDE)
    if enter is None:
        dh = tl.load(dfinal + outside, mask=inside, other=0.0).to(WIDE)
    else:
        dh = tl.load(enter + (p * z.segments + s) * C * N + here, mask=inside, other=0.0)
    of_rates = tl.zeros([NR, CR, NL, CL], WIDE)
    all_rows = (tl.num_programs(0) // z.segments).to(tl.int64) * T
    for back in range(0, z.length, EVERY):
        first = s * z.length + z.length - EVERY - back
        if first < T:
            h = tl.load(
                kept + (p * tl.cdiv(T, EVERY) + first // EVERY) * C * N + here, mask=inside, other=0.0
            )
            states = (h,)
            for i in tl.static_range(EVERY):
                t = first + i
                row = p * T + t
                delta = _load_channels(x.step, row, c, C, t < T).to(WIDE)
                u = _load_channels(x.u, row, c, C, t < T).to(WIDE)
                w = _load_states(x.write, row, n, N, t < T).to(WIDE)
                a = _decay(delta[None, :, None, :], rates, SIGNED, WIDE)
                h = a * h + (delta * u)[None, :, None, :] * w[:, None, :, None]
                states = states + (h,)  # noqa: RUF005
            for j in tl.static_range(EVERY):
                t = first + EVERY - 1 - j
                row = p * T + t
                delta = _load_channels(x.step, row, c, C, t < T).to(WIDE)
                u = _load_channels(x.u, row, c, C, t < T).to(WIDE)
                slope = _load_channels(dy, row, c, C, t < T).to(WIDE)
                w = _load_states(x.write, row, n, N, t < T).to(WIDE)[:, None, :, None]
                r = _load_states(x.read, row, n, N, t < T).to(WIDE)[:, None, :, None]
                # the states after the token and before it
                h, before = states[EVERY - j], states[EVERY - 1 - j]
                wide_delta = delta[None, :, None, :]
                # y = h r gives dh += dy rᵀ
                dh += slope[None, :, None, :] * r
                # a = e, or 2 e - 1
                e = _decay(wide_delta, rates, False, WIDE)
                # of the exponent -Δ λ: dh ⊙ h_{t-1} ⊙ da, where da = e, or 2 e if signed
                of_exponent = dh * before * (2 * e if SIGNED else e)
                # of Δ u, which is written along w
                of_written = _sum_states(dh * w)
                written, used = (c < C) & (t < T), (n < N) & (t < T)
                # du = Δ (dh w)
                tl.store(d.u + row * C + c, (of_written * delta).to(d.u.dtype.element_ty), mask=written)
                # dΔ = u (dh w) - sum over n of λ times the gradient of the exponent
                of_step = of_written * u - _unscale(_sum_states(of_exponent * rates), WIDE)
                tl.store(d.step + row * C + c, of_step.to(d.step.dtype.element_ty), mask=written)
                # `[blocks,S·B,T,N]`: w and r belong to all channels, of which this program has a block
                part = (block * all_rows + row) * N + n
                # dw = sum over c of dh Δ u, dr = sum over c of dy h
                tl.store(d.write + part, _sum_channels(dh * (delta * u)[None, :, None, :]), mask=used)
                tl.store(d.read + part, _sum_channels(h * slope[None, :, None, :]), mask=used)
                # dλ = - sum over t of Δ times the gradient of the exponent
                of_rates -= of_exponent * wide_delta
                # dh_{t-1} = a_t ⊙ dh_t
                dh *= 2 * e - 1 if SIGNED else e
    tl.store(d.rate + (p * z.segments + s) * C * N + here, of_rates, mask=inside)
    if s == 0:
        tl.store(d.initial + outside, dh, mask=inside)


@triton.jit
def _locate_program(z, BC: tl.constexpr, BN: tl.constexpr):
    """This program's sequence and segment, its channels and states, and where these lie in states `[N,C]`.

    Here and wherever a tile's places are found, the compiler is told nothing of their alignment, and that the last dimension is
    the one along which they lie side by side.  Else it would give a thread several neighbours, and several threads the numbers
    that are to be added up in one.
    """
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    n = tl.arange(0, BN)
    inside = (n < z.N)[:, None] & (c < z.C)[None, :]
    p = (tl.program_id(0) // z.segments).to(tl.int64)
    here = tl.multiple_of(tl.max_contiguous(n[:, None] * z.C + c[None, :], [1, 2]), [1, 1])
    return p, tl.program_id(0) % z.segments, c, n, here, inside


@triton.jit
def _load_rates(rate, p, z, c, n, inside, WIDE: tl.constexpr):
    """λ `[N,C]`, scaled; p is seed · B + row, so p // B is the seed, of whose channels and states the rates are."""
    place = (p // z.B) * z.C * z.N + tl.multiple_of(
        tl.max_contiguous(c[None, :] * z.N + n[:, None], [1, 2]), [1, 1]
    )
    return _scale(tl.load(rate + place, mask=inside, other=0.0).to(WIDE), WIDE)


@triton.jit
def _scale(rates, WIDE: tl.constexpr):
    """Rates for powers of two, which are what the device computes in float32; in float64 the factor would be rounded."""
    return rates if WIDE == tl.float64 else rates * LOG2_E  # noqa: SIM300


@triton.jit
def _unscale(x, WIDE: tl.constexpr):
    """A multiple of the scaled rates as one of the rates."""
    return x if WIDE == tl.float64 else x * LN_2  # noqa: SIM300


@triton.jit
def _decay(delta, rates, SIGNED: tl.constexpr, WIDE: tl.constexpr):
    """exp(-Δ λ), or 2 exp(-Δ λ) - 1, of scaled rates."""
    if WIDE == tl.float64:  # noqa: SIM300
        e = tl.exp(-delta * rates)
    else:
        e = tl.exp2(-delta * rates)
    return 2 * e - 1 if SIGNED else e


@triton.jit
def _load_channels(pointer, row, c, C, used):
    """A token's numbers of the channels, zero where it is not used; `[S·B·T,C]` in memory."""
    return tl.load(pointer + row * C + c, mask=(c < C) & used, other=0.0)


@triton.jit
def _load_states(pointer, row, n, N, used):
    """A token's numbers of the states; `[S·B·T,N]` in memory."""
    return tl.load(pointer + row * N + n, mask=(n < N) & used, other=0.0)


@triton.jit
def _sum_states(x):
    """Of `[NR,CR,NL,CL]` the sums over states, `[CR,CL]`: in each thread first."""
    return tl.sum(tl.sum(x, 0), 1)


@triton.jit
def _sum_channels(x):
    """The sums over channels, `[NR,NL]`."""
    return tl.sum(tl.sum(x, 1), 2)


class Plan(NamedTuple):
    """Sizes of tiles, and how sequences are cut."""

    entries: int = 512
    """Entries of a program's states for each warp, in the passes forward."""
    unroll: int = 4
    """Tokens whose loads are under way together; KEPT_EVERY is a multiple."""
    entries_back: int = 256
    """As entries, of the gradients."""
    enough: int = 1024
    """Warps that keep the device busy: with as many sequences are not cut."""
    wanted: int = 4096
    """Warps, if they are cut."""
    least: int = 32
    """The fewest tokens of a segment, a multiple of KEPT_EVERY."""


PLAN = Plan()
CHANNELS, CARRIED = 32, 128
"""The most channels of a program, one for each thread of a warp; states of a program that carries."""


def selective_forward(
    inputs: tuple[Tensor, ...], signed: bool, wide: torch.dtype, keep: bool
) -> SelectiveOutputs:
    """Outputs, last states, and every KEPT_EVERY-th state (none unless kept); inputs contiguous."""
    x = SelectiveInputs(*inputs)
    S, B, T, C = x.u.shape
    N, device = x.initial.shape[-1], x.u.device
    out = SelectiveOutputs(
        launching.empty(S, B, T, C, dtype=wide, device=device),
        launching.empty(S, B, C, N, dtype=wide, device=device),
        launching.empty(S * B if keep else 0, triton.cdiv(T, KEPT_EVERY), N, C, dtype=wide, device=device),
    )
    channels, states, warps = choose_block(C, N, PLAN.entries)
    z = _cut(x)
    enter = _find_entering(x, None, x.initial, z, signed, wide, back=False)
    launch = launching.launcher(
        *(selective_outputs, Tile(channels, warps, stages=1)),
        SIGNED=signed,
        KEEP=keep,
        EVERY=KEPT_EVERY,
        BC=channels,
        BN=states,
        WIDE=launching.kernel_arithmetic(wide),
        UNROLL=min(PLAN.unroll, KEPT_EVERY),
    )
    with launching.on_device_of(x.u):
        launch((S * B * z.segments, triton.cdiv(C, channels)), x, enter, out, z)
    return out


def selective_backward(
    inputs: tuple[Tensor, ...], kept: Tensor, dy: Tensor, dfinal: Tensor, signed: bool
) -> SelectiveInputs:
    """Gradients of u, Δ, the rates, w, r and the initial states; of u and Δ in their dtypes, else in the arithmetic's."""
    x = SelectiveInputs(*inputs)
    S, B, T, C = x.u.shape
    N, wide, device = x.initial.shape[-1], kept.dtype, dy.device
    z = _cut(x)
    channels, states, warps = choose_block(C, N, PLAN.entries_back)
    blocks = triton.cdiv(C, channels)
    d = SelectiveInputs(
        u=launching.empty_like(x.u),
        step=launching.empty_like(x.step),
        rate=launching.empty(S, B * z.segments, N, C, dtype=wide, device=device),
        write=launching.empty(blocks, S, B, T, N, dtype=wide, device=device),
        read=launching.empty(blocks, S, B, T, N, dtype=wide, device=device),
        initial=launching.empty(S, B, C, N, dtype=wide, device=device),
    )
    enter = _find_entering(x, dy, dfinal, z, signed, wide, back=True)
    # four threads for the states, unless there are few channels
    NL = min(states, max(4, 32 // channels))
    CL = min(channels, max(1, 32 // NL))
    launch = launching.launcher(
        *(selective_gradients, Tile(channels, warps, stages=1)),
        SIGNED=signed,
        EVERY=KEPT_EVERY,
        NR=states // NL,
        CR=channels // CL,
        NL=NL,
        CL=CL,
        WIDE=launching.kernel_arithmetic(wide),
    )
    with launching.on_device_of(dy):
        launch((S * B * z.segments, blocks), x, kept, dy, enter, dfinal, d, z)
    # rates are shared by the rows of the batch and by segments, w and r by the channels
    return d._replace(rate=d.rate.sum(1).transpose(1, 2), write=d.write.sum(0), read=d.read.sum(0))


def _find_entering(
    x: SelectiveInputs,
    dy: Tensor | None,
    edge: Tensor,
    z: Sizes,
    signed: bool,
    wide: torch.dtype,
    *,
    back: bool,
) -> Tensor | None:
    """The states, or back from dy their gradients, that enter segments, `[S·B,segments,N,C]`; None for whole sequences."""
    if z.segments == 1:
        return None
    rows, C, N = x.u.shape[0] * z.B, z.C, z.N
    decays, states, enter = (
        launching.empty(rows, z.segments, N, C, dtype=wide, device=edge.device) for _ in range(3)
    )
    channels, tall, warps = choose_block(C, N, PLAN.entries)
    options: dict[str, Any] = {"BACK": back, "UNROLL": min(PLAN.unroll, KEPT_EVERY)}
    constants = {"SIGNED": signed, "BC": channels, "BN": tall, "WIDE": launching.kernel_arithmetic(wide)}
    summarise = launching.launcher(
        selective_summaries, Tile(channels, warps, stages=1), **options, **constants
    )
    carry = launching.launcher(
        selective_carries, Tile(CARRIED, warps=4, stages=1), BACK=back, BLOCK=CARRIED, UNROLL=8
    )
    with launching.on_device_of(edge):
        summarise((rows * z.segments, triton.cdiv(C, channels)), x, dy, decays, states, z)
        carry((rows, triton.cdiv(C * N, CARRIED)), decays, states, edge, enter, z)
    return enter


def choose_block(C: int, N: int, entries: int) -> tuple[int, int, int]:
    """Channels and states of a program, and its warps: all states of as many channels as a warp has threads, if they fit."""
    states = int(triton.next_power_of_2(N))
    channels = int(min(triton.next_power_of_2(C), CHANNELS, max(1, entries // states)))
    return channels, states, max(1, min(8, channels * states // entries))


def choose_length(rows: int, T: int, C: int, N: int) -> int:
    """Tokens of a segment, a multiple of KEPT_EVERY; at least T where rows and channels fill the device by themselves."""
    warps = rows * triton.cdiv(C, choose_block(C, N, PLAN.entries)[0])
    parts = 1 if warps >= PLAN.enough else max(1, PLAN.wanted // warps)
    length = min(T, max(PLAN.least, triton.cdiv(T, parts)))
    return int(triton.cdiv(length, KEPT_EVERY)) * KEPT_EVERY


def _cut(x: SelectiveInputs) -> Sizes:
    S, B, T, C = x.u.shape
    N = x.initial.shape[-1]
    length = choose_length(S * B, T, C, N)
    return Sizes(B, T, C, N, int(triton.cdiv(T, length)), length)
