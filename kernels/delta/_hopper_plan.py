"""Which calls the Hopper kernels of DeltaProduct take, and their tiles: a fixed table.  Needs neither triton nor a GPU.

They are of mode `chunk`, on chips of compute capability 9.0.  All else, and every other
chip, runs on the kernels of `_triton_chunk` and `_triton_phases`, which compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch

from ._plan import next_power_of_two
from ._plan_check import SHARED_MEMORY

ROWS = 64
"""Rows of a chunk."""
COLUMNS = 64
"""Value columns of a program: the least that a product of a warp group has rows."""
VECTORS = 10
"""Vectors of a chunk's gates in memory, of which nine are read in advance (`_gluon_prepare`)."""
WIDTHS = (64, 128, 256)
"""Of keys and values."""
TRAINED = (64, 128)
"""Those of keys and values that have a backward pass here: the states of 256 keys leave too few registers."""
RETREAT_RING = 3, 2
"""Stages of the ring of chunks of the backward pass's chain, and its buffers of what it writes."""
SEGMENT = 16
"""The fewest chunks of a segment of a backward pass."""
MOST_SEGMENTS = 4
"""Of a backward pass: the gradients of the states of one are kept at a time."""
MOST_HOUSEHOLDERS = 4
"""With more the rows of zeros and the few tokens of a chunk cost more than is won."""
MOST_PAIRS = 2**31 // max(WIDTHS)
"""Chunks times heads: copies count the rows of their matrices with 32 bits."""


@dataclass(frozen=True)
class HopperPlan:
    """`steps`: rows of a token, n_h or the next power of two; `tokens` of a chunk; `stages` of the ring of chunks that are read;
    `buffers` for states and written values on their way to the outputs."""

    steps: int
    tokens: int
    stages: int
    buffers: int


@lru_cache(maxsize=1024)
def hopper_plan(
    K: int,
    V: int,
    dtype: torch.dtype,
    householders: int,
    *,
    gated: bool,
    tokens: int,
    pairs: int,
    save: bool = False,
) -> HopperPlan | None:
    """The plan for kernel widths K and V, so many tokens a sequence, sequences times heads `pairs`; None where it is not for them.

    With `save` a backward pass follows.
    """
    # a gate's 1/c is as small and as large as bfloat16 allows, not float16
    if dtype != torch.bfloat16 and (dtype != torch.float16 or gated):
        return None
    widths = TRAINED if save else WIDTHS
    if K not in widths or V not in widths or householders > MOST_HOUSEHOLDERS:
        return None
    steps = next_power_of_two(householders)
    in_chunk = ROWS // steps
    chunks = -(-tokens // in_chunk)
    # of a single chunk nothing is read ahead
    if chunks < 2 or chunks * pairs >= MOST_PAIRS:
        return None
    # the outputs are about a chunk behind, so that of three stages one is read ahead
    for stages, buffers in ((5, 2), (4, 2), (3, 2), (2, 2), (2, 1)):
        plan = HopperPlan(steps, in_chunk, stages, buffers)
        if count_shared(plan, K, gated=gated, save=save) <= SHARED_MEMORY:
            return plan
    return None


def count_shared(plan: HopperPlan, K: int, *, gated: bool, save: bool = False) -> int:
    """Bytes of shared memory of the second kernel."""
    # K and Q, V, B X, and vectors in float32: nine of gates, and beta
    vectors = (9 if gated else 0) + int(save)
    stage = 2 * (ROWS + plan.tokens) * K + 2 * ROWS * COLUMNS + 2 * ROWS * ROWS + 4 * ROWS * vectors
    # S0 and U
    buffer = 2 * COLUMNS * K + 2 * ROWS * COLUMNS
    # the scores and the outputs of a chunk; barriers and alignment
    return plan.stages * stage + plan.buffers * buffer + 2 * plan.tokens * (ROWS + COLUMNS) + 1024


def count_vectors(*, gated: bool, save: bool) -> int:
    """Vectors of a chunk in memory: of its gates, and for a backward pass its beta."""
    return (VECTORS if gated else 0) + int(save)


def split_chunks(chunks: int) -> list[tuple[int, int]]:
    """First chunk and number of chunks of each segment of a backward pass, the last one first."""
    # multiples of 16 are one case for the compiler
    each = -(-chunks // (MOST_SEGMENTS * SEGMENT)) * SEGMENT
    return [(begin, min(each, chunks - begin)) for begin in range(0, chunks, each)][::-1]


def count_shared_back(K: int, tokens: int, *, gated: bool) -> int:
    """Bytes of shared memory of the backward pass's chain."""
    stages, buffers = RETREAT_RING
    vectors = 10 if gated else 1
    # K and Q, dO, X and the scores, vectors
    stage = 2 * (ROWS + tokens) * K + 2 * tokens * COLUMNS + 2 * ROWS * (ROWS + tokens) + 4 * ROWS * vectors
    # dS1 and dV
    return stages * stage + buffers * (2 * COLUMNS * K + 2 * ROWS * COLUMNS) + 1024


def count_shared_gradients(K: int, V: int) -> int:
    """Bytes of shared memory of the backward pass's last kernel, of which two programs fit into a multiprocessor."""
    # K and V, dV and dO or Q and dQ, S0, X and E; two vectors, barriers and what the compiler takes for sums
    return 2 * (ROWS * (K + V + 2 * max(K, V)) + V * K + 2 * ROWS * ROWS) + 1024


def saved_shapes(
    batch: int, tokens: int, heads: int, K: int, V: int, plan: HopperPlan, *, gated: bool
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Shapes of what a forward pass saves: X of the chunks, their vectors, the states at their starts."""
    every = batch * -(-tokens // plan.tokens)
    vectors = count_vectors(gated=gated, save=True)
    return (every, heads, ROWS, ROWS), (every, heads, vectors, ROWS), (every, heads, V, K)
