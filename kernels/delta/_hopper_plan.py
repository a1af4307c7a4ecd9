"""Which calls the two Hopper kernels of DeltaProduct take, and their tiles: a fixed table.  Needs neither triton nor a GPU.

They are forward passes without a backward pass, in mode `chunk`, on chips of compute capability 9.0.  All else, and every other
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
MOST_HOUSEHOLDERS = 4
"""With more the rows of zeros and the few tokens of a chunk cost more than is won."""
MOST_PAIRS = 2**31 // ROWS
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
    K: int, V: int, dtype: torch.dtype, householders: int, *, gated: bool, tokens: int, pairs: int
) -> HopperPlan | None:
    """The plan for kernel widths K and V, so many tokens a sequence, sequences times heads `pairs`; None where it is not for them."""
    # a gate's 1/c is as small and as large as bfloat16 allows, not float16
    if dtype != torch.bfloat16 and (dtype != torch.float16 or gated):
        return None
    if K not in WIDTHS or V not in WIDTHS or householders > MOST_HOUSEHOLDERS:
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
        if count_shared(plan, K, gated=gated) <= SHARED_MEMORY:
            return plan
    return None


def count_shared(plan: HopperPlan, K: int, *, gated: bool) -> int:
    """Bytes of shared memory of the second kernel."""
    # K and Q, V, B X, and nine vectors in float32
    stage = (
        2 * (ROWS + plan.tokens) * K + 2 * ROWS * COLUMNS + 2 * ROWS * ROWS + (9 * 4 * ROWS if gated else 0)
    )
    # S0 and U
    buffer = 2 * COLUMNS * K + 2 * ROWS * COLUMNS
    # the scores and the outputs of a chunk; barriers and alignment
    return plan.stages * stage + plan.buffers * buffer + 2 * plan.tokens * (ROWS + COLUMNS) + 1024
