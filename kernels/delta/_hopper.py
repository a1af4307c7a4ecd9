"""DeltaProduct's forward pass on Hopper: the launches of the two Gluon kernels.  Needs triton."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from .._backends import Tile, triton_interpreted
from .._launching import Launcher, launcher
from ._gluon_advance import advance_hopper
from ._gluon_prepare import prepare_hopper
from ._hopper_plan import COLUMNS, ROWS, VECTORS, HopperPlan, hopper_plan
from ._plan import count_blocks
from ._problem import Form, Problem

ELEMENTS = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}
"""Of blocks that are copied."""


class Blocks(NamedTuple):
    """How a contiguous tensor is seen as blocks that are copied into shared memory, or out of it."""

    shape: list[int]
    strides: list[int]
    block: list[int]
    layout: Any

    @classmethod
    def of(cls, shape: tuple[int, ...], block: tuple[int, ...], dtype: torch.dtype) -> Blocks:
        """Blocks of a tensor of that shape, last dimensions first in memory."""
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        layout = gl.NVMMASharedLayout.get_default_for(list(block), ELEMENTS[dtype])
        return cls(list(shape), strides, list(block), layout)

    def describe(self, x: Tensor) -> TensorDescriptor:
        """A tensor with as many entries, that begins at a multiple of 16 bytes."""
        # without what `__post_init__` checks of each call, which holds for all of a form, and takes the host's time
        found = TensorDescriptor.__new__(TensorDescriptor)
        found.base, found.shape, found.strides, found.block_shape = x, self.shape, self.strides, self.block
        found.layout, found.padding = self.layout, "zero"
        return found


class HopperForm(NamedTuple):
    """What calls of a form share: `chunks` of a sequence, `items` of work of the second kernel, launchers, blocks."""

    plan: HopperPlan
    chunks: int
    items: int
    prepare: Launcher
    advance: Launcher
    q: Blocks
    k: Blocks
    v: Blocks
    o: Blocks
    written: Blocks


@lru_cache(maxsize=1024)
def hopper_form(form: Form) -> HopperForm | None:
    """What a form needs here; None where the other kernels run it."""
    if form.mode != "chunk" or form.packed:
        return None
    B, T, H, K, V, n_h, dtype = (
        form.batch,
        form.tokens,
        form.heads,
        form.K,
        form.V,
        form.householders,
        form.dtype,
    )
    plan = hopper_plan(K, V, dtype, n_h, gated=form.gated, tokens=T, pairs=B * H)
    if plan is None:
        return None
    chunks = -(-T // plan.tokens)
    sizes = {"K": K, "C": ROWS, "STEPS": plan.steps, "VECTORS": VECTORS}
    ring = {"STAGES": plan.stages, "BUFFERS": plan.buffers}
    # tokens and micro-steps are dimensions of their own, so that what lies beyond them is read as zero
    of_rows, of_tokens = (1, plan.tokens, plan.steps), (1, plan.tokens)
    return HopperForm(
        plan,
        chunks,
        B * H * count_blocks(V, COLUMNS),
        launcher(prepare_hopper, Tile(K, 4, 1, 128), NH=n_h, **sizes),
        launcher(advance_hopper, Tile(COLUMNS, 4, 1, 168), V=V, BV=COLUMNS, **sizes, **ring),
        Blocks.of((B, T, H * K), (*of_tokens, K), dtype),
        Blocks.of((B, T, n_h, H * K), (*of_rows, K), dtype),
        Blocks.of((B, T, n_h, H * V), (*of_rows, COLUMNS), dtype),
        Blocks.of((B, T, H * V), (*of_tokens, COLUMNS), dtype),
        Blocks.of((B * chunks * H * ROWS, ROWS), (ROWS, ROWS), dtype),
    )


@lru_cache(maxsize=64)
def multiprocessors(device: torch.device) -> int:
    """Of a Hopper chip; 0 of any other device."""
    if device.type != "cuda" or triton_interpreted() or torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).multi_processor_count


def takes_hopper(problem: Problem) -> bool:
    """Whether a problem runs here."""
    x = problem.inputs
    if not multiprocessors(x.q.device) or hopper_form(problem.form) is None:
        return False
    # blocks are copied from multiples of 16 bytes
    return (x.q.data_ptr() | x.k.data_ptr() | x.v.data_ptr()) % 16 == 0


def run_hopper(problem: Problem, *, final: bool) -> tuple[Tensor, Tensor | None]:
    """Outputs, and final states if asked for, of a problem that `takes_hopper`."""
    form, x = problem.form, problem.inputs
    found = hopper_form(form)
    assert found is not None
    T, H, chunks, items = form.tokens, form.heads, found.chunks, found.items
    pairs = form.batch * chunks * H
    written = problem.new(pairs, ROWS, ROWS)
    vectors = problem.new(pairs, VECTORS, ROWS, dtype=torch.float32) if form.gated else None
    o = problem.new_outputs()
    last = problem.new_states() if final else None
    k, inverses = found.k.describe(x.k), found.written.describe(written)
    found.prepare((form.batch * chunks, H), x.beta, k, inverses, x.a, vectors, T, H, chunks)
    q, v, outputs = found.q.describe(x.q), found.v.describe(x.v), found.o.describe(o)
    programs = min(items, multiprocessors(x.q.device))
    states = problem.initial, last
    found.advance((programs,), q, k, v, inverses, vectors, *states, outputs, items, H, chunks, problem.scale)
    return o, last
