"""DeltaProduct's forward pass on Hopper: the launches of the two Gluon kernels, and of the one for strong gates.  Needs triton."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from .._backends import Tile, triton_interpreted
from .._launching import Launcher, launcher, make_constants
from ._gluon_advance import advance_hopper
from ._gluon_prepare import prepare_hopper
from ._hopper_plan import COLUMNS, ROWS, VECTORS, HopperPlan, hopper_plan
from ._plan import count_blocks
from ._problem import Form, Places, Problem
from ._triton_blocks import ChunkShape
from ._triton_strong_gates import strong_gates

ELEMENTS = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}
"""Of blocks that are copied."""


class HopperLaunches(NamedTuple):
    """The launchers of a form, its plan, and programs of the second kernel for each sequence and head."""

    plan: HopperPlan
    prepare: Launcher
    strong: Launcher | None
    advance: Launcher
    blocks: int


@lru_cache(maxsize=1024)
def launches_of(form: Form) -> HopperLaunches | None:
    """What a form needs; None where the other kernels run it."""
    if form.mode != "chunk" or form.packed:
        return None
    pairs = form.sequences * form.heads
    sizes = form.K, form.V, form.dtype, form.householders
    plan = hopper_plan(*sizes, gated=form.gated, tokens=form.tokens, pairs=pairs)
    if plan is None:
        return None
    shared = dict(zip(("K", "C", "STEPS", "VECTORS"), (form.K, ROWS, plan.steps, VECTORS), strict=True))
    prepare = launcher(prepare_hopper, Tile(form.K, 4, 1, 128), NH=form.householders, **shared)
    strong = None
    if form.gated:
        # rows of zeros beside the micro-steps: as a shape it has `steps` micro-steps a token
        tokens = plan.tokens
        shape = ChunkShape(
            *make_constants(plan.steps, form.K, form.V, ROWS, tokens, tokens, form.arithmetic),
            *make_constants("cast", "fp16", False, False, True, False),
        )
        strong = launcher(strong_gates, Tile(form.K, 4, 1), F=shape, NH=form.householders, VECTORS=VECTORS)
    ring = {"STAGES": plan.stages, "BUFFERS": plan.buffers}
    advance = launcher(advance_hopper, Tile(COLUMNS, 4, 1, 168), V=form.V, BV=COLUMNS, **shared, **ring)
    return HopperLaunches(plan, prepare, strong, advance, count_blocks(form.V, COLUMNS))


@lru_cache(maxsize=64)
def multiprocessors(device: torch.device) -> int:
    """Of a Hopper chip; 0 of any other device."""
    if device.type != "cuda" or triton_interpreted() or torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).multi_processor_count


def takes_hopper(problem: Problem) -> bool:
    """Whether a problem runs here."""
    x = problem.inputs
    if not multiprocessors(x.q.device) or launches_of(problem.form) is None:
        return False
    # copies of blocks begin at multiples of 16 bytes
    return (x.q.data_ptr() | x.k.data_ptr() | x.v.data_ptr()) % 16 == 0


def describe(x: Tensor, *block: int) -> TensorDescriptor:
    """A tensor as blocks that are copied into shared memory, and out of it."""
    layout = gl.NVMMASharedLayout.get_default_for(list(block), ELEMENTS[x.dtype])
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block), layout)


def run_hopper(problem: Problem, *, final: bool) -> tuple[Tensor, Tensor | None]:
    """Outputs, and final states if asked for, of a problem that `takes_hopper`."""
    form, x = problem.form, problem.inputs
    found = launches_of(form)
    assert found is not None
    plan, tokens = found.plan, found.plan.tokens
    B, T, H, K, V = form.batch, form.tokens, form.heads, form.K, form.V
    chunks = -(-T // tokens)
    pairs = B * chunks * H
    written = problem.new(pairs * ROWS, ROWS)
    vectors = problem.new(pairs, VECTORS, ROWS, dtype=torch.float32) if form.gated else None
    strong = problem.new(pairs, tokens, ROWS) if form.gated else None
    o = problem.new_outputs()
    last = problem.new_states() if final else None
    # tokens and micro-steps are dimensions of their own, so that what lies beyond them is read as zero
    q = describe(x.q.view(B, T, H * K), 1, tokens, K)
    k = describe(x.k.view(B, T, form.householders, H * K), 1, tokens, plan.steps, K)
    v = describe(x.v.view(B, T, form.householders, H * V), 1, tokens, plan.steps, COLUMNS)
    inverses = describe(written, ROWS, ROWS)
    found.prepare((B * chunks, H), x.beta, k, inverses, x.a, vectors, T, H, chunks)
    processors = multiprocessors(x.q.device)
    if found.strong is not None:
        places = Places(None, None, None, T, H)
        programs = min(pairs, 8 * processors)
        found.strong((programs,), x, written, vectors, strong, places, pairs)
    items = form.sequences * H * found.blocks
    outputs = describe(o.view(B, T, H * V), 1, tokens, COLUMNS)
    programs = min(items, processors)
    rest = problem.initial, last, outputs, items, H, chunks, problem.scale
    found.advance((programs,), q, k, v, inverses, vectors, strong, *rest)
    return o, last
