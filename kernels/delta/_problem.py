"""What the DeltaProduct kernels are given: the inputs, their form, where chunks lie, the gradients to fill.  Needs triton."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
import triton.language as tl
from torch import Tensor

from .. import _launching as launching
from ._plan import Plan, chunk_plan


@dataclass(frozen=True, eq=False)
class Form:
    """What calls alike share: sizes, formats, plan.  There is one object for all of them, so that what follows from it is
    found once and kept by it.

    `tokens`: of a row of the batch; `sequences`: packed or not; `dtype`: of queries, keys and values.
    """

    batch: int
    tokens: int
    heads: int
    K: int
    V: int
    sequences: int
    householders: int
    dtype: torch.dtype
    gated: bool
    initial: bool
    packed: bool
    mode: str
    plan: Plan

    @property
    def arithmetic(self) -> Any:
        """What kernels accumulate in."""
        return tl.float64 if self.dtype == torch.float64 else tl.float32

    @property
    def state_dtype(self) -> torch.dtype:
        """The same as a torch dtype."""
        return torch.float64 if self.dtype == torch.float64 else torch.float32


@lru_cache(maxsize=1024)
def form_of(
    q: tuple[int, ...],
    V: int,
    sequences: int,
    householders: int,
    dtype: torch.dtype,
    gated: bool,
    initial: bool,
    packed: bool,
    mode: str,
) -> Form:
    """The form of queries of shape q and the rest; mode is `recurrent`, `chunk` or `scan`."""
    batch, tokens, heads, K = q
    plan = chunk_plan(
        K, V, dtype, sequences * heads, householders=householders, gated=gated, phases=mode == "scan"
    )
    return Form(
        *(batch, tokens, heads, K, V, sequences, householders, dtype, gated, initial, packed, mode, plan)
    )


@dataclass(slots=True)
class Problem:
    """Inputs that the kernels take: contiguous, of compiled widths; cu are bounds in tokens of packed sequences."""

    form: Form
    scale: float
    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor | None
    initial: Tensor | None
    cu: Tensor | None

    @classmethod
    def of(cls, householders: int, scale: float, mode: str, *inputs: Tensor | None) -> Problem:
        """The inputs in the order of the fields."""
        q, _, v, _, a, initial, cu = inputs
        assert q is not None
        assert v is not None
        sequences = q.shape[0] if cu is None else cu.shape[0] - 1
        given = a is not None, initial is not None, cu is not None
        form = form_of(q.shape, v.shape[3], sequences, householders, q.dtype, *given, mode)
        return cls.formed(form, scale, *inputs)

    @classmethod
    def formed(cls, form: Form, scale: float, *inputs: Tensor | None) -> Problem:
        """The same where the form is known."""
        return cls(form, scale, *[x if x is None else x.contiguous() for x in inputs])  # type: ignore[arg-type]

    @property
    def gates(self) -> Tensor:
        """The gates, or any tensor where there are none: kernels then do not read it."""
        return self.beta if self.a is None else self.a

    def new(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """A buffer to fill, by default in q's dtype."""
        return launching.empty(*shape, dtype=dtype or self.form.dtype, device=self.q.device)

    def outputs(self) -> Tensor:
        """A buffer for the outputs."""
        x = self.form
        return launching.empty_like(self.q) if x.V == x.K else self.new(x.batch, x.tokens, x.heads, x.V)


@dataclass(slots=True)
class Chunks:
    """Where chunks of `tokens` tokens lie: their number (at most), each sequence's first, each chunk's sequence or -1.

    `products`: of each chunk's gates; only the kernels in phases take them from here.
    """

    tokens: int
    count: int
    start: Tensor | None
    sequence: Tensor | None
    products: Tensor | None = None


def place_chunks(problem: Problem, tokens: int) -> Chunks:
    """Chunk tables, made on the device without waiting for it: the count is an upper bound."""
    form, cu = problem.form, problem.cu
    if cu is None:
        return Chunks(tokens, form.batch * -(-form.tokens // tokens), None, None)
    count = form.tokens // tokens + form.sequences
    each = (cu[1:] - cu[:-1] + (tokens - 1)).div(tokens, rounding_mode="floor")
    start = torch.cat([each.new_zeros(1), each.cumsum(0)])
    index = torch.arange(count, device=cu.device, dtype=start.dtype)
    sequence = torch.searchsorted(start, index, right=True) - 1
    sequence = torch.where(index < start[-1], sequence, -1)
    return Chunks(tokens, count, start.int(), sequence.int())


class Gradients(NamedTuple):
    """Gradients of the inputs; None where there is no input."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor | None
    initial: Tensor | None

    @classmethod
    def of(cls, x: Problem) -> Gradients:
        """Buffers to fill; those of gates and initial state are in the states' dtype."""
        like, wide = launching.empty_like, x.form.state_dtype
        return cls(
            *(like(x.q), like(x.k), like(x.v), like(x.beta)),
            *[None if y is None else x.new(*y.shape, dtype=wide) for y in (x.a, x.initial)],
        )
