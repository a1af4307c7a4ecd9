"""Every launch of a `delta_product` call, worked out from numbers alone, and what would be wrong with it: `find_plan_errors`.

The launches themselves stand beside the kernels; tests hold this list to them, and its shared memory to what the compiler says.
Needs neither triton nor a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from .._backends import Tile
from ._plan import (
    MAX_HOUSEHOLDERS,
    Plan,
    chain_rows,
    chain_tile,
    choose_mode,
    chunk_plan,
    count_blocks,
    gate_gradients_tile,
    gradient_blocks,
    kernel_width,
    recurrent_width,
    segment_tokens,
    token_rows,
)

SHARED_MEMORY = 232_448
"""Bytes that a program may ask for on sm_90: 227 KiB."""
STATE_REGISTERS = 128
"""Of a thread, 255 in all, that the state may take: operands and addresses need the others."""


@dataclass(frozen=True)
class PlannedLaunch:
    """One kernel of a call.

    `columns`: what the programs of a sequence and head share, `tile.width` each; `loops` names other widths that must be divided:
    (all, at a time).  `shared`: bytes of shared memory at most, `state`: registers of a thread for the state.
    """

    kernel: str
    tile: Tile
    columns: int
    loops: tuple[tuple[int, int], ...]
    grid: tuple[int, ...]
    shared: int
    state: int


@dataclass(frozen=True)
class KernelCall:
    """A `delta_product` call on the Triton kernels, by numbers alone.

    Args:
        K, V: widths of keys and values, 1 to 256, as a user has them.
        dtype: of queries, keys and values.
        sequences_and_heads: N·H.
        tokens: of each sequence, at least 1.
        mode: `recurrent`, `chunk`, `scan` or `auto`, as `delta_product` takes it.
        householders: micro-steps of a token, at least 1.
        gated: whether there is a gate.
        gradients: whether a backward pass follows.
    """

    K: int
    V: int
    dtype: torch.dtype
    sequences_and_heads: int
    tokens: int = 1024
    mode: str = "auto"
    householders: int = 1
    gated: bool = False
    gradients: bool = True

    @property
    def size(self) -> int:
        """Bytes of an entry of queries, keys and values."""
        return 8 if self.dtype == torch.float64 else 4 if self.dtype == torch.float32 else 2

    def prepared(self) -> KernelCall:
        """As the kernels get it: compiled widths, a mode that is chosen, micro-steps as tokens where there are too many."""
        mode = choose_mode(self.mode, self.dtype, self.tokens, self.sequences_and_heads)
        tokens, householders = self.tokens, self.householders
        # as `_split_tokens` does
        if mode != "recurrent" and householders > MAX_HOUSEHOLDERS:
            tokens, householders = tokens * householders, 1
        K, V = kernel_width(self.K), kernel_width(self.V)
        return replace(self, K=K, V=V, mode=mode, tokens=tokens, householders=householders)


def find_plan_errors(call: KernelCall, *, shared_memory: int = SHARED_MEMORY) -> list[str]:
    """What would go wrong when a call runs on the Triton kernels, a line each; an empty list if nothing would.

    Looks at every kernel of the call: whether its programs cover all columns and no grid is empty; whether loops over blocks
    cover their width; whether shared memory and the registers of the state suffice.

    Args:
        call: the call.
        shared_memory: bytes that a program may have.

    Returns:
        Lines that each name a kernel with its tile, and what is wrong.
    """
    errors = []
    for launch in plan_launches(call):
        name = f"{launch.kernel} {launch.tile}"
        for columns, width in ((launch.columns, launch.tile.width), *launch.loops):
            try:
                count_blocks(columns, width)
            except ValueError as error:
                errors.append(f"{name}: {error}")
        if min(launch.grid) < 1:
            errors.append(f"{name}: no program would run, on the grid {launch.grid}")
        if launch.shared > shared_memory:
            errors.append(f"{name}: up to {launch.shared} bytes of shared memory, more than {shared_memory}")
        if launch.state > STATE_REGISTERS:
            errors.append(f"{name}: {launch.state} registers of a thread for the state alone")
    return errors


def plan_launches(call: KernelCall) -> list[PlannedLaunch]:
    """The launches of a call in their order, each kind once."""
    call = call.prepared()
    if call.mode == "recurrent":
        return list(_plan_recurrent(call))
    plan = chunk_plan(
        *(call.K, call.V, call.dtype, call.sequences_and_heads),
        householders=call.householders,
        gated=call.gated,
        phases=call.mode == "scan",
    )
    return list(_plan_fused(call, plan) if plan.fused else _plan_phases(call, plan))


def _plan_recurrent(call: KernelCall) -> Iterator[PlannedLaunch]:
    """A state of K rows and BV columns (or BK rows and V columns) in one warp; vectors are exchanged between its threads."""
    K, V, size, programs = call.K, call.V, call.size, call.sequences_and_heads
    # states have at least 32 bits
    wide = max(size, 4)

    def launch(kernel: str, columns: int, other: int, width: int) -> PlannedLaunch:
        # at most: four vectors of each width, in the states' format
        shared = 4 * (other + width) * wide
        grid = (programs * (columns // width),)
        return PlannedLaunch(
            *(kernel, Tile(width, 1), columns, (), grid, shared), _count_registers(other, width, size, 1)
        )

    yield launch("recurrent_forward", V, K, recurrent_width(V, K, max(512, programs)))
    if call.gradients:
        yield launch("recurrent_backward_values", V, K, recurrent_width(V, K, programs))
        yield launch("recurrent_backward_keys", K, V, recurrent_width(K, V, programs))


def _plan_fused(call: KernelCall, plan: Plan) -> Iterator[PlannedLaunch]:
    """One kernel each way, whose tiles hold whole chunks."""
    K, V, size, programs = call.K, call.V, call.size, call.sequences_and_heads
    C, R = plan.rows, token_rows(plan.rows, call.householders)
    tile = plan.saving if call.gradients else plan.forward
    # keys, queries and values of a chunk
    rows = (C + R) * K + C * tile.width
    yield PlannedLaunch(
        *("chunk_forward", tile, V, ()),
        grid=(programs * (V // tile.width),),
        # a block's state or outputs, and two tiles `[C,C]`
        shared=_count_shared(rows, tile.stages, size, (tile.width * max(K, R), C * C, C * C)),
        state=_count_registers(tile.width, K, size, tile.warps),
    )
    if call.gradients:
        tile = plan.backward
        # K, Q, V and dO of a chunk, and the state at its start
        rows = (C + R) * (K + V) + K * V
        yield PlannedLaunch(
            *("chunk_backward", tile, V, ((V, V), (C, 16))),
            grid=(programs,),
            shared=_count_shared(rows, tile.stages, size, (V * K, max(K, V) * C, C * C, C * C)),
            state=_count_registers(V, K, size, tile.warps),
        )


def _plan_phases(call: KernelCall, plan: Plan) -> Iterator[PlannedLaunch]:
    """In phases, for `chunk` and for `scan`, whose segments take the place of sequences."""
    K, V, size, programs, tokens = call.K, call.V, call.size, call.sequences_and_heads, call.tokens
    C, R = plan.rows, token_rows(plan.rows, call.householders)
    in_chunk = C // call.householders
    scan = call.mode == "scan"
    # sequences are taken for heads here; the table of segments' chunks has room for one more in each segment
    segments = -(-tokens // segment_tokens(tokens, programs, in_chunk)) if scan else 0
    chunks = tokens // in_chunk + segments if scan else -(-tokens // in_chunk)
    starts = programs * segments if scan else programs
    over_chunks = (chunks, programs)

    def chain_of_states(kernel: str, tile: Tile, columns: int, outputs: bool, values: int) -> PlannedLaunch:
        # operands in the loop: keys, inverses, and for outputs queries and scores; `values`: rows of a block's columns
        operands = C * K + C * C + (R * K + R * C if outputs else 0) + values * tile.width
        return PlannedLaunch(
            *(kernel, tile, columns, ()),
            grid=(starts * (columns // tile.width),),
            # rows that change their layout are padded
            shared=_count_shared(operands, tile.stages, size, (tile.width * (max(K, C) + 8),)),
            state=_count_registers(tile.width, K, size, tile.warps),
        )

    if call.gated:
        yield PlannedLaunch("gate_products", Tile(C, 1, 1), C, (), over_chunks, 6 * C * max(size, 4), 0)
    yield PlannedLaunch(
        *("prepare", plan.prepare, K, ()),
        grid=over_chunks,
        shared=_count_shared((C + R) * K, plan.prepare.stages, size, (C * C, C * C)),
        state=0,
    )
    if scan:
        yield chain_of_states("advance", plan.summary, V + K, False, 0)
        yield _plan_chain(call)
    if not call.gradients or scan:
        yield chain_of_states("advance", plan.forward, V, True, 0)
    if not call.gradients:
        return
    yield chain_of_states("advance", plan.saving, V, True, 0)
    yield chain_of_states("retreat", plan.backward, V, True, R)
    BK, BV = gradient_blocks(plan, K, V)
    tile = plan.gradients
    # e, dV and dO by values; K and Q by keys; S0 and dS1; the operands -M B, -Mᵀ, E B and Eᵀ
    loaded = (2 * C + R) * BV + (C + R) * BK + 2 * BV * BK + 2 * (C + R) * C
    yield PlannedLaunch(
        *("gradients", tile, tile.width, ((K, BK), (V, BV))),
        grid=over_chunks,
        shared=_count_shared(loaded, tile.stages, size, (C * max(BK, C),)),
        state=0,
    )
    if call.gated:
        BK = gate_gradients_tile(plan, K)[1]
        # the same without states and operands
        loaded = (2 * C + R) * BV + (C + R) * BK
        yield PlannedLaunch(
            *("gate_gradients", gate_gradients_tile(plan, K)[0], tile.width, ((K, BK), (V, BV))),
            grid=over_chunks,
            shared=_count_shared(loaded, 1, size, (C * C, C * C, C * C)),
            state=0,
        )


def _plan_chain(call: KernelCall) -> PlannedLaunch:
    """A block of a segment's map, and the state's part for it, in the states' format."""
    K, V, programs = call.K, call.V, call.sequences_and_heads
    tile, rows, wide = chain_tile(K), chain_rows(K, call.dtype), max(call.size, 4)
    return PlannedLaunch(
        *("chain", tile, V, ((K, rows),)),
        grid=(programs * (V // tile.width),),
        # the map's rows for each stage, and the state's part for them
        shared=(rows * K * tile.stages + tile.width * rows) * wide,
        state=_count_registers(tile.width, K, wide, tile.warps),
    )


def _count_shared(operands: int, stages: int, size: int, results: tuple[int, ...]) -> int:
    """Bytes at most: all operands of products once for each stage of the pipeline, and results that change their layout."""
    return operands * stages * size + sum(results) * max(size, 4)


def _count_registers(rows: int, columns: int, size: int, warps: int) -> int:
    """32-bit registers of a thread for a state `[rows, columns]` in float32, or float64."""
    # 32 threads a warp; a float64 takes two registers
    return rows * columns * max(size, 4) // 4 // (32 * warps)
