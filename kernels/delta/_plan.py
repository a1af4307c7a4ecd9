"""Which kernels and tile sizes a DeltaProduct problem gets: a fixed table, so that results do not depend on timing runs.

What follows from it is here too: the blocks of each kernel, the mode that `auto` means, the segments of mode `scan`, and the
shapes of the forward operator's results, for fake tensors.  Needs neither triton nor a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd

import torch
from torch import Tensor

from .._backends import Tile

KERNEL_WIDTHS = (16, 32, 64, 128, 256)
"""Widths of keys and values that kernels are compiled for; others are filled up with zeros."""


MAX_HOUSEHOLDERS = 16
"""More micro-steps a token than this are given to the chunk kernels as tokens of their own."""


@dataclass(frozen=True)
class Plan:
    """How the chunk modes run: fused (one kernel each way) or in phases, rows of a chunk, and the tiles.

    `saving` is the forward tile where a backward pass follows, `summary` that of mode `scan`'s segments, which have K columns
    more; `gradient_values` the value columns of the last phase.
    """

    fused: bool
    rows: int
    inverse_precision: str
    precision: str
    forward: Tile
    saving: Tile
    summary: Tile
    backward: Tile
    prepare: Tile
    gradients: Tile
    gradient_values: int


def kernel_width(width: int) -> int:
    """The smallest compiled width that holds this one."""
    return width if width in KERNEL_WIDTHS else next(w for w in KERNEL_WIDTHS if w >= width)


def next_power_of_two(number: int) -> int:
    """At least 1."""
    return 1 << max(0, number - 1).bit_length()


def token_rows(rows: int, householders: int) -> int:
    """Rows of a tile that holds a chunk's tokens: a power of two, at least 16."""
    return max(16, next_power_of_two(rows // householders))


@lru_cache(maxsize=256)
def chunk_plan(
    K: int,
    V: int,
    dtype: torch.dtype,
    programs: int,
    *,
    householders: int = 1,
    gated: bool = False,
    phases: bool = False,
) -> Plan:
    """Plan for kernel widths K and V and so many sequences times heads; `phases`: the kernels that `scan` is built from."""
    wide = max(K, V)
    # in 16 bits operands are `cast`; the inverse's are float16, whose range its bounded entries do not leave
    short = dtype in (torch.float16, torch.bfloat16)
    inverse, precision = ("fp16", "cast") if short else ("ieee", "ieee")
    # narrow heads: one warp holds a state and a chunk's tiles, so one kernel each way does all
    if wide <= 32 and not phases:
        forward = Tile(V, 1, 3, 160 if short and not gated else None)
        backward = Tile(V, 1, 3 if householders == 1 else 2)
        tiles = forward, forward, forward, backward, Tile(K, 1), Tile(V, 1)
        return Plan(True, 16, inverse, precision, *tiles, V)
    if not short:
        narrow = Tile(16, 4, 1)
        # forward, saving, summary and backward, then prepare and gradients
        tiles = narrow, narrow, narrow, narrow, Tile(K, 4, 1), narrow
        return Plan(False, 16, inverse, precision, *tiles, 16)
    if wide > 128:
        tile, width = Tile(min(V, 32), 4), min(K, V, 64)
        # blocks of 32 columns of 256 keys do not keep to registers: with one micro-step a token 1.2 KB of a thread are spilled, or
        # the compiler gives up, keeps 32 registers and spills 8 KB; 16 columns spill nothing
        forward = Tile(min(V, 16), 4) if K > 128 and householders == 1 else tile
        summary = narrow_tile(forward, V + K)
        tiles = forward, forward, summary, tile, Tile(K, 4, 1), Tile(width, 4, 1)
        return Plan(False, 32, inverse, precision, *tiles, width)
    few, warps, stages = programs < 512, 4 if wide > 32 else 2, 2 if wide <= 64 else 3
    prepare = Tile(K, 4, 1, None if wide <= 64 else 128)
    forward = Tile(min(V, 32 if few and (gated or wide <= 64) else 64), warps, stages)
    saving, backward = forward, Tile(min(V, 64), warps, stages)
    if wide > 64:
        saving = Tile(min(V, 64) if few else V, 4 if few and V < 64 else 8, 2 if few and gated else 3)
        if gated:
            backward = Tile(min(V, 32 if few else 64), 4, 2)
        elif householders == 1:
            forward = Tile(min(V, 64), 4, 4)
    # one stage: with two, triton 3.6 compiles this kernel wrongly for Hopper at K = 128 (dk off by several per cent)
    gradients = Tile(min(K, 32 if gated and few else 64), 4, 1)
    summary = narrow_tile(forward, V + K)
    return Plan(False, 64, inverse, precision, forward, saving, summary, backward, prepare, gradients, V)


def narrow_tile(tile: Tile, columns: int) -> Tile:
    """The tile, made narrower where it would not divide so many columns: those left over would never be computed."""
    return replace(tile, width=gcd(tile.width, columns))


def count_blocks(columns: int, width: int) -> int:
    """Programs for so many columns, `width` each.  Raises `ValueError` where that does not divide them."""
    if width < 1 or columns < width or columns % width:
        raise ValueError(f"tiles of {width} columns do not cover {columns} columns")
    return columns // width


def chain_rows(K: int, dtype: torch.dtype) -> int:
    """Rows of a segment's map that the chain of mode `scan` holds at a time: all but for K = 256, which shared memory cannot hold."""
    return K if K <= 128 else 32 if dtype == torch.float64 else 64


def chain_tile(K: int) -> Tile:
    """The tile of the chain of mode `scan`."""
    return Tile(16, 4 if K > 32 else 1, 2 if K <= 64 else 1)


def gradient_blocks(plan: Plan, K: int, V: int) -> tuple[int, int]:
    """Keys and values at a time of the phase that finds the gradients of q, k and beta."""
    return min(K, plan.gradients.width), min(V, plan.gradient_values)


def gate_gradients_tile(plan: Plan, K: int) -> tuple[Tile, int]:
    """The tile of the gates' phase, and its keys at a time."""
    # with 8 warps and 16 token rows products this wide have crashed on Hopper
    return Tile(plan.gradients.width, 4, 1), min(K, plan.gradient_values)


def recurrent_width(width: int, other: int, programs: int) -> int:
    """Columns (or rows) of the state that one warp of a recurrent kernel holds beside `other` rows (or columns)."""
    if other <= 32:
        return min(width, 32)
    return min(width, 16 if other <= 128 and programs >= 512 else 8)


def choose_mode(mode: str, dtype: torch.dtype, tokens: int, sequences_and_heads: int) -> str:
    """The mode that `auto` means: exact 32-bit recurrence for wide formats, chunks for 16 bits, scan for few long sequences."""
    if mode != "auto":
        return mode
    # the smallest chunk has 16 rows
    if tokens < 16:
        return "recurrent"
    # with fewer sequences and heads than tokens / 1024 there is little but time to run in parallel
    if tokens >= 16384 and sequences_and_heads * 1024 < tokens:
        return "scan" if dtype in (torch.float16, torch.bfloat16) else "recurrent"
    return "chunk" if dtype in (torch.float16, torch.bfloat16) else "recurrent"


def segment_tokens(tokens: int, heads: int, chunk_tokens: int) -> int:
    """Tokens of a segment in mode `scan`: about as many segments as fill a GPU, each of whole chunks, at least four."""
    # about 2,048 segments over all heads, and at most 256 of each head
    wanted = max(1, min(256, 2048 // max(1, heads)))
    # at least four chunks, for a segment costs a product in the chain
    chunks = max(4, -(-tokens // (wanted * chunk_tokens)))
    return chunks * chunk_tokens


def forward_shapes(
    q: Tensor, v: Tensor, cu_seqlens: Tensor | None, householders: int, mode: str, final: bool, save: bool
) -> tuple[Tensor, ...]:
    """Empty tensors shaped as the forward operator's results."""
    B, T, H, K = q.shape
    V = v.shape[3]
    N = B if cu_seqlens is None else cu_seqlens.shape[0] - 1
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32

    def new(*shape: int, dtype: torch.dtype = q.dtype) -> Tensor:
        return q.new_empty(shape, dtype=dtype)

    o = new(B, T, H, V)
    last = new(N, H, K, V, dtype=wide) if final else new(0)
    if not save:
        return o, last, new(0), new(0), new(0), new(0)
    if mode == "recurrent":
        return o, last, new(*v.shape, dtype=wide), new(0), new(0), new(0)  # the errors e, laid out as v
    # the rows of a chunk, and whether the plan is fused, depend on neither n_h nor gates
    plan = chunk_plan(K, V, q.dtype, N * H, phases=mode == "scan")
    tokens = plan.rows // householders

    def chunks(length: int) -> int:
        # as `place_chunks` counts them
        return B * -(-length // tokens) if cu_seqlens is None else T // tokens + N

    if plan.fused:
        return o, last, new(chunks(T), H, V, K), new(0), new(0), new(0)
    if mode == "scan":
        segments = segment_count(B, T, N, H, tokens, cu_seqlens is not None)
        summaries, starts = new(segments, H, K, V + K, dtype=wide), new(segments, H, K, V, dtype=wide)
        return o, last, summaries, starts, new(0), new(0)
    rows = token_rows(plan.rows, householders)
    count = chunks(T)
    # inverses, scores, errors and the states at the chunks' starts
    return (
        *(o, last, new(count, H, plan.rows, plan.rows), new(count, H, rows, plan.rows)),
        *(new(*v.shape), new(count, H, V, K)),
    )


def segment_count(B: int, T: int, N: int, H: int, tokens: int, packed: bool) -> int:
    """Segments of mode `scan`, at most."""
    each = segment_tokens(B * T, H, tokens)
    # each packed sequence may end in a segment that is not full
    return B * T // each + N if packed else B * -(-T // each)
