"""DeltaProduct on Hopper: the launches of the Gluon kernels, two of the forward pass and two of the backward pass.  Needs triton."""

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
from ._gluon_gradients import gradients_hopper
from ._gluon_prepare import prepare_hopper
from ._gluon_retreat import retreat_hopper
from ._hopper_plan import (
    COLUMNS,
    RETREAT_RING,
    ROWS,
    HopperPlan,
    count_vectors,
    hopper_plan,
    split_chunks,
)
from ._plan import count_blocks
from ._problem import Form, Gradients, Problem

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
    """What forward passes of a form share: `chunks` of a sequence, `items` of work of the second kernel, launchers, blocks.

    `vectors` of a chunk; `states`: blocks of the states at the chunks' starts, which a backward pass needs.
    """

    plan: HopperPlan
    chunks: int
    items: int
    vectors: int
    prepare: Launcher
    advance: Launcher
    q: Blocks
    k: Blocks
    v: Blocks
    o: Blocks
    written: Blocks
    states: Blocks | None


class HopperBackward(NamedTuple):
    """What backward passes of a form share; blocks `dv` and `do` of the chain's columns, the others of all of a head's."""

    retreat: Launcher
    gradients: Launcher
    q: Blocks
    k: Blocks
    v: Blocks
    o: Blocks
    dv: Blocks
    do: Blocks
    written: Blocks
    states: Blocks


@lru_cache(maxsize=1024)
def hopper_form(form: Form, save: bool = False) -> HopperForm | None:
    """What a form's forward pass needs here, with `save` one before a backward pass; None where the other kernels run it."""
    if form.mode != "chunk" or form.packed:
        return None
    sizes = form.K, form.V, form.dtype, form.householders
    pairs = form.batch * form.heads
    plan = hopper_plan(*sizes, gated=form.gated, tokens=form.tokens, pairs=pairs, save=save)
    if plan is None:
        return None
    B, T, H, K, V, n_h = form.batch, form.tokens, form.heads, form.K, form.V, form.householders
    dtype, chunks = form.dtype, -(-T // plan.tokens)
    vectors = count_vectors(gated=form.gated, save=save)
    shape = {"K": K, "C": ROWS, "STEPS": plan.steps, "VECTORS": vectors}
    ring = {"STAGES": plan.stages, "BUFFERS": plan.buffers, "GATED": form.gated}
    # tokens and micro-steps are dimensions of their own, so that what lies beyond them is read as zero
    of_rows, of_tokens = (1, plan.tokens, plan.steps), (1, plan.tokens)
    return HopperForm(
        plan,
        chunks,
        B * H * count_blocks(V, COLUMNS),
        vectors,
        launcher(prepare_hopper, Tile(K, 4, 1, 128), NH=n_h, SAVE=save, **shape),
        launcher(advance_hopper, Tile(COLUMNS, 4, 1, 168), V=V, BV=COLUMNS, **shape, **ring),
        Blocks.of((B, T, H * K), (*of_tokens, K), dtype),
        Blocks.of((B, T, n_h, H * K), (*of_rows, K), dtype),
        Blocks.of((B, T, n_h, H * V), (*of_rows, COLUMNS), dtype),
        Blocks.of((B, T, H * V), (*of_tokens, COLUMNS), dtype),
        Blocks.of((B * chunks * H * ROWS, ROWS), (ROWS, ROWS), dtype),
        Blocks.of((B * chunks * H * V, K), (COLUMNS, K), dtype) if save else None,
    )


@lru_cache(maxsize=1024)
def hopper_backward(form: Form) -> HopperBackward:
    """What a form's backward pass needs, where `hopper_form` has one with `save`."""
    found = hopper_form(form, True)
    assert found is not None
    B, T, H, K, V, n_h = form.batch, form.tokens, form.heads, form.K, form.V, form.householders
    plan, chunks, dtype = found.plan, found.chunks, form.dtype
    sizes = {"K": K, "V": V, "C": ROWS, "STEPS": plan.steps, "VECTORS": found.vectors, "GATED": form.gated}
    stages, buffers = RETREAT_RING
    of_rows, of_tokens = (1, plan.tokens, plan.steps), (1, plan.tokens)
    return HopperBackward(
        launcher(
            retreat_hopper, Tile(COLUMNS, 4, 1, 168), BV=COLUMNS, STAGES=stages, BUFFERS=buffers, **sizes
        ),
        launcher(gradients_hopper, Tile(K, 4, 1, 255), NH=n_h, **sizes),
        found.q,
        found.k,
        Blocks.of((B, T, n_h, H * V), (*of_rows, V), dtype),
        Blocks.of((B, T, H * V), (*of_tokens, V), dtype),
        found.v,
        found.o,
        found.written,
        Blocks.of((B * chunks * H * V, K), (V, K), dtype),
    )


@lru_cache(maxsize=64)
def multiprocessors(device: torch.device) -> int:
    """Of a Hopper chip; 0 of any other device."""
    # fake tensors can be on a GPU where there is none
    if device.type != "cuda" or triton_interpreted() or not torch.cuda.is_available():
        return 0
    if torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).multi_processor_count


def takes_hopper(problem: Problem, *, save: bool = False) -> bool:
    """Whether a problem runs here, with `save` before a backward pass."""
    x = problem.inputs
    if not multiprocessors(x.q.device) or hopper_form(problem.form, save) is None:
        return False
    # blocks are copied from multiples of 16 bytes; which kernels a backward pass has depends on its form alone
    return save or (x.q.data_ptr() | x.k.data_ptr() | x.v.data_ptr()) % 16 == 0


def align(x: Tensor) -> Tensor:
    """The tensor, or a copy where it does not begin at a multiple of 16 bytes."""
    return x.clone() if x.data_ptr() % 16 else x


def run_hopper(problem: Problem, *, final: bool, save: bool = False) -> tuple[Tensor | None, ...]:
    """Outputs, and final states if asked for, of a problem that `takes_hopper`.

    With `save` also X of the chunks `[B·chunks,H,C,C]`, their vectors, and the states at their starts `[B·chunks,H,V,K]`.
    """
    form, x = problem.form, problem.inputs
    found = hopper_form(form, save)
    assert found is not None
    T, H, chunks, items = form.tokens, form.heads, found.chunks, found.items
    every = form.batch * chunks
    written = problem.new(every, H, ROWS, ROWS)
    vectors = problem.new(every, H, found.vectors, ROWS, dtype=torch.float32) if found.vectors else None
    o = problem.new_outputs()
    last = problem.new_states() if final else None
    states = problem.new(every, H, form.V, form.K) if found.states else None
    k, inverses = found.k.describe(align(x.k)), found.written.describe(written)
    found.prepare((every, H), x.beta, k, inverses, x.a, vectors, T, H, chunks)
    q, v, outputs = found.q.describe(align(x.q)), found.v.describe(align(x.v)), found.o.describe(o)
    kept = found.states.describe(states) if found.states and states is not None else None
    programs = min(items, multiprocessors(x.q.device))
    ends = problem.initial, last
    found.advance(
        (programs,), q, k, v, inverses, vectors, *ends, outputs, kept, items, H, chunks, problem.scale
    )
    return (o, last, written, vectors, states) if save else (o, last)


def differentiate_hopper(
    problem: Problem, do: Tensor, dfinal: Tensor | None, saved: list[Tensor]
) -> Gradients:
    """All gradients from what `run_hopper` saved: segment after segment of the chunks, the last one first, so that the states'
    gradients of one segment at a time are kept."""
    form, x = problem.form, problem.inputs
    front, found = hopper_form(form, True), hopper_backward(form)
    assert front is not None
    B, H, K, V, chunks = form.batch, form.heads, form.K, form.V, front.chunks
    out = Gradients.of(problem)
    written, vectors, states = saved[:3]
    do = align(do)
    segments = split_chunks(chunks)
    # the segments before the last have the most chunks
    dstates = problem.new(B * max(count for _, count in segments), H, V, K)
    carry = problem.new_states() if len(segments) > 1 else None
    q, k, v, inverses = (
        blocks.describe(align(y))
        for blocks, y in ((found.q, x.q), (found.k, x.k), (found.v, x.v), (found.written, written))
    )
    kept, all_do, all_dv = found.states.describe(states), found.o.describe(do), found.v.describe(out.v)
    dq, dk = found.q.describe(out.q), found.k.describe(out.k)
    programs = min(front.items, multiprocessors(x.q.device))
    for begin, count in segments:
        rows = B * count * H * V, K
        part = found.states._replace(shape=[*rows])
        chain = part._replace(block=[COLUMNS, K])
        end = out.initial if begin == 0 else carry
        found.retreat(
            (programs,),
            *(q, k, found.do.describe(do), inverses, vectors, dfinal, end),
            *(found.dv.describe(out.v), chain.describe(dstates)),
            *(front.items, H, chunks, begin, count, problem.scale),
        )
        dfinal = carry
        found.gradients(
            (B * count, H),
            *(q, k, v, all_do, inverses, kept, states, all_dv, part.describe(dstates), dstates, vectors, x.a),
            *(dq, dk, out.beta, out.a, form.tokens, H, chunks, begin, count, problem.scale),
        )
    return out
