"""The diagonal scan in vectorised torch operations: the step runs on all segments at once.

    inside each segment, from zero:   decay <- a decay,  h <- a h + b
    between the segments:             enter <- decay enter + h      (the same scan, one level up)
    inside each segment, from enter:  h <- a h + b

Products are never divided or taken as logarithms, so a decay of 0 or -1 is as good as any other.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._segments import Segments, next_length


def multiply(a: Tensor, h: Tensor, pairs: bool) -> Tensor:
    """`a h`, of reals or of (re, im) pairs: each product rounded, then their sum."""
    if not pairs:
        return a * h
    (ar, ai), (hr, hi) = a.unbind(-1), h.unbind(-1)
    return torch.stack([ar * hr - ai * hi, ar * hi + ai * hr], -1)


def conjugate(a: Tensor, pairs: bool) -> Tensor:
    """The adjoint of multiplication by a."""
    return torch.stack([a[..., 0], -a[..., 1]], -1) if pairs else a


def diagonal_scan_segments(
    a: Tensor, b: Tensor, initial_state: Tensor, segments: Segments, *, backwards: bool, pairs: bool
) -> tuple[Tensor, Tensor]:
    """All states `[R,T,D(,2)]` and the last of each sequence `[N,D(,2)]`; one dtype throughout."""
    enter = _find_entering(a, b, initial_state, segments, backwards, pairs)
    h = torch.empty_like(b, memory_format=torch.contiguous_format)
    for which, tokens in segments.steps(backwards):
        # h <- a h + b in all segments that have this step; `enter` becomes the running state
        state = multiply(a[:, tokens], enter[:, which], pairs) + b[:, tokens]
        enter[:, which] = state
        h[:, tokens] = state
    # here `enter` holds the last state of each segment
    return h, _take_last(enter, segments, backwards)


def diagonal_scan_gradients(
    a: Tensor,
    h: Tensor,
    dh: Tensor,
    initial_state: Tensor,
    d_final: Tensor,
    segments: Segments,
    *,
    backwards: bool,
    pairs: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a, b and the initial state, by the scan in the other direction.

    db_t = dh_t + conj(a_{t+1}) db_{t+1},   da_t = db_t conj(h_{t-1}),   dh_0 = conj(a_1) db_1
    """
    one = (
        torch.ones_like(initial_state)
        if not pairs
        else initial_state.new_tensor([1.0, 0.0]).expand_as(initial_state)
    )
    # db_t = dh_t + conj(a_{t+1}) db_{t+1}: the scan in the other direction, with the decay of the neighbour
    # a_{t+1} in the order of the scan
    after = _take_neighbour(conjugate(a, pairs), one, segments, previous=backwards)
    db, _ = diagonal_scan_segments(after, dh, d_final, segments, backwards=not backwards, pairs=pairs)
    # h_{t-1} in the order of the scan, the initial state before its first token
    before = _take_neighbour(h, initial_state, segments, previous=not backwards)
    # da_t = db_t conj(h_{t-1})
    da = multiply(db, conjugate(before, pairs), pairs)
    # dh_0 = conj(a_1) db_1
    first = _take_end(multiply(conjugate(a, pairs), db, pairs), d_final, segments, last=backwards)
    return da, db, first


def _find_entering(
    a: Tensor, b: Tensor, initial_state: Tensor, segments: Segments, backwards: bool, pairs: bool
) -> Tensor:
    """The state that enters each segment, `[R,S,D(,2)]`."""
    if segments.whole:
        # one segment a sequence: the initial states themselves, in a copy that the scan overwrites
        return initial_state.unsqueeze(1 if segments.cu_seqlens is None else 0).clone()
    shape = (segments.rows, segments.per_row, *b.shape[2:])
    h, decay = b.new_zeros(shape), b.new_zeros(shape)
    # 1, or (1, 0) for pairs
    (decay[..., 0] if pairs else decay).fill_(1.0)
    for which, tokens in segments.steps(backwards):
        # h <- a h + b from zero, decay <- a decay from one
        h[:, which] = multiply(a[:, tokens], h[:, which], pairs) + b[:, tokens]
        decay[:, which] = multiply(a[:, tokens], decay[:, which], pairs)
    # enter <- decay enter + h: the same scan with a segment for a token
    above = segments.between(next_length(segments))
    leaving, _ = diagonal_scan_segments(decay, h, initial_state, above, backwards=backwards, pairs=pairs)
    # what the segment before leaves enters this one, and the initial state the first
    return _take_neighbour(leaving, initial_state, above, previous=not backwards)


def _take_neighbour(x: Tensor, edge: Tensor, segments: Segments, *, previous: bool) -> Tensor:
    """`x` of the token before (or after), and `edge [N,...]` at each sequence's first (or last) token."""
    if segments.cu_seqlens is None:
        edge = edge[:, None]
        # without tokens nothing is left of the edge
        return torch.cat([edge, x[:, :-1]] if previous else [x[:, 1:], edge], 1)[:, : x.shape[1]]
    moved = x.roll(1 if previous else -1, 1)
    cu = segments.cu_seqlens
    # empty sequences have no token whose neighbour could be set
    full = (cu[1:] > cu[:-1]).nonzero()[:, 0]
    moved[0, cu[full] if previous else cu[full + 1] - 1] = edge[full]
    return moved


def _take_end(x: Tensor, empty: Tensor, segments: Segments, *, last: bool) -> Tensor:
    """`x` at each sequence's first (or last) token, `[N,...]`; `empty` for a sequence without tokens."""
    if segments.cu_seqlens is None:
        return (x[:, -1 if last else 0] if x.shape[1] else empty).clone(memory_format=torch.contiguous_format)
    cu = segments.cu_seqlens
    full = (cu[1:] > cu[:-1]).nonzero()[:, 0]
    ends = empty.clone()
    ends[full] = x[0, cu[full + 1] - 1 if last else cu[full]]
    return ends


def _take_last(state: Tensor, segments: Segments, backwards: bool) -> Tensor:
    """The state of each sequence's last segment in the scan's direction, `[N,...]`."""
    if segments.cu_seqlens is None:
        # segments are numbered by their tokens, so a backward scan ends in the first
        return state[:, 0 if backwards else -1].clone()
    assert segments.bounds is not None
    # sequence n has the segments bounds[n] to bounds[n+1]
    return state[0, segments.bounds[:-1] if backwards else segments.bounds[1:] - 1]
