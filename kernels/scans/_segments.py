"""Sequences cut into segments: within a segment a scan runs step by step, and all segments run at the same time.

A dense batch `[B,T,...]` has the same cuts in every row.  Packed sequences `[1,T,...]` have a table, made without
waiting for the device: no segment crosses a sequence's bound, every sequence has at least one segment (an empty
sequence an empty one), and the table's unused end has sequence -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

KEPT_EVERY = 8
"""Tokens between two states of the selective scan that are kept for the backward pass, which holds so many in registers."""


SERIAL = 512
"""Up to so many segments are joined one after another; more are cut again, STEP at a time."""
STEP = 32
FULL = 2**14
"""Channels of all rows with which a scan token by token is as fast on a GPU as in segments.

A step takes about .1 µs however few the channels are; segments move 10 bytes a channel and token in 16 bits, since they read the
inputs twice, which for so many channels takes .1 µs too.
"""


@dataclass(frozen=True)
class Segments:
    """Cuts of `rows` rows of `tokens` tokens into segments of at most `length`."""

    rows: int
    tokens: int
    length: int
    per_row: int
    cu_seqlens: Tensor | None = None
    starts: Tensor | None = None
    ends: Tensor | None = None
    sequence: Tensor | None = None
    bounds: Tensor | None = None
    """Packed: `[N+1]`, the segments of sequence n are bounds[n] to bounds[n+1]."""

    @property
    def sequences(self) -> int:
        """N: the rows, or the packed sequences."""
        return self.rows if self.cu_seqlens is None else self.cu_seqlens.numel() - 1

    @property
    def count(self) -> int:
        """Segments in all, the unused end of a packed table included."""
        return self.rows * self.per_row

    @property
    def whole(self) -> bool:
        """Whether each sequence is one segment."""
        return self.length >= max(self.tokens, 1)

    def between(self, length: int) -> Segments:
        """The segments themselves as tokens, cut again: the next level of a scan."""
        return cut(self.rows, self.per_row, length, self.bounds)

    def steps(self, backwards: bool) -> Iterator[tuple[slice | Tensor, slice | Tensor]]:
        """For each step: which segments have it, and its tokens in them, as indices of dimension 1."""
        # never more steps than a segment or the sequence has tokens
        order = range(min(self.length, max(self.tokens, 0)))
        if self.cu_seqlens is None:
            for i in reversed(order) if backwards else order:
                # segment s has step i if s · length + i < tokens: ⌈(tokens - i) / length⌉ of them do
                yield slice(0, -(-(self.tokens - i) // self.length)), slice(i, None, self.length)
            return
        assert self.starts is not None
        assert self.ends is not None
        lengths = self.ends - self.starts
        longest = int(lengths.max()) if lengths.numel() else 0
        # step i exists in segments longer than i, counted from their end when the scan runs backwards
        for i in range(longest):
            which = (lengths > i).nonzero()[:, 0]
            yield which, (self.ends[which] - 1 - i if backwards else self.starts[which] + i)


def cut(rows: int, tokens: int, length: int, cu_seqlens: Tensor | None = None) -> Segments:
    """Cut every sequence, from its first token, into segments of `length` tokens, the last one shorter."""
    length = max(1, min(length, tokens))
    if cu_seqlens is None:
        return Segments(rows, tokens, length, max(1, -(-tokens // length)))
    cu = cu_seqlens.to(torch.int64)
    N = cu.numel() - 1
    if length >= tokens:  # one segment a sequence
        index = torch.arange(N, device=cu.device)
        return Segments(
            1, tokens, length, N, cu, cu[:-1], cu[1:], index, torch.arange(N + 1, device=cu.device)
        )
    # ⌈length of the sequence / length⌉, and one for an empty sequence
    parts = ((cu[1:] - cu[:-1] + length - 1) // length).clamp_min(1)
    bounds = torch.cat([cu.new_zeros(1), parts.cumsum(0)])
    # at most: Σ ⌈L_n / length⌉ ≤ T // length + N, so that no count has to come from the device
    count = tokens // length + N
    index = torch.arange(count, device=cu.device)
    # the sequence of a segment: the first whose bound lies behind its number
    sequence = torch.searchsorted(bounds[1:], index, right=True)
    used = sequence < N
    # the table's unused end points at the last sequence, and is masked below
    home = sequence.clamp_max(N - 1)
    starts = torch.where(used, cu[home] + (index - bounds[home]) * length, 0)
    ends = torch.where(used, torch.minimum(starts + length, cu[home + 1]), 0)
    return Segments(1, tokens, length, count, cu, starts, ends, torch.where(used, sequence, -1), bounds)


def count_segments(rows: int, tokens: int, length: int, sequences: int | None) -> int:
    """How many segments `cut` makes, the unused end of a table included; sequences are those packed, or None."""
    length = max(1, min(length, tokens))
    if sequences is None:
        return rows * max(1, -(-tokens // length))
    return sequences if length >= tokens else tokens // length + sequences


def segment_length(tokens: int, sequences: int, width: int, device: torch.device) -> int:
    """Length that keeps the device busy: enough segments for a GPU's threads, few Python steps elsewhere."""
    if device.type == "cuda":
        # tokens of all channels, divided by about the number of a GPU's threads
        wanted = tokens * sequences * width // 2**19
        return _power_of_two(min(max(wanted, 32), 256))
    # √T segments of √T tokens take the fewest steps one after another
    return _power_of_two(min(max(int(tokens**0.5), 16), 512))


def fills_device(sequences: int, width: int, device: torch.device) -> bool:
    """Whether the channels of all rows are enough for a GPU, so that segments would only read the inputs twice."""
    return device.type == "cuda" and sequences * width >= FULL


def next_length(segments: Segments) -> int:
    """Length of the cuts between the segments: all of them once they are few, or would not get much fewer."""
    count = segments.per_row
    sequences = 1 if segments.cu_seqlens is None else segments.sequences
    return count if count <= SERIAL or count // STEP + sequences > count // 4 else STEP


def _power_of_two(x: int) -> int:
    return 1 << (x - 1).bit_length()
