"""What the DeltaProduct kernels are given: the inputs, their form, where chunks lie, the gradients to fill.  Needs triton.

`Problem` is what a call hands down; `Inputs`, `Places` and `Gradients` are records that kernels take as they are, so that
they read `x.q` and `at.H`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

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
    def arithmetic(self) -> tl.dtype:
        """What kernels accumulate in."""
        return launching.kernel_arithmetic(self.dtype)

    @property
    def state_dtype(self) -> torch.dtype:
        """The arithmetic as a torch dtype: what states are kept in."""
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


class Inputs(NamedTuple):
    """What kernels read at the tokens, all contiguous, K and V compiled widths."""

    q: Tensor
    """`[B,T,H,K]`."""
    k: Tensor
    """`[B,T·n_h,H,K]`."""
    v: Tensor
    """`[B,T·n_h,H,V]`."""
    beta: Tensor
    """`[B,T·n_h,H]`."""
    a: Tensor | None
    """`[B,T,H]`, or no gates."""


class Places(NamedTuple):
    """Where kernels find sequences and chunks, tokens of packed sequences one after another; tables only of packed ones."""

    cu: Tensor | None
    """`[N+1]`: sequence n has the tokens cu[n] to cu[n+1]."""
    first_chunk: Tensor | None
    """`[N+1]`: sequence n has the chunks first_chunk[n] to first_chunk[n+1]."""
    sequence: Tensor | None
    """`[chunks]`: the sequence of each chunk, -1 for the unused end."""
    T: int
    """Tokens of a row of the batch: of each sequence that is not packed."""
    H: int
    """Heads."""


@dataclass(slots=True)
class Problem:
    """A call on the kernels: scale is the factor of outputs, initial `[N,H,K,V]`, cu the bounds of packed sequences."""

    form: Form
    scale: float
    inputs: Inputs
    initial: Tensor | None
    cu: Tensor | None

    @classmethod
    def of(cls, householders: int, scale: float, mode: str, *inputs: Tensor | None) -> Problem:
        """From q, k, v, beta, a, initial state and bounds."""
        q, _, v, _, a, initial, cu = inputs
        assert q is not None
        assert v is not None
        sequences = q.shape[0] if cu is None else cu.shape[0] - 1
        present = a is not None, initial is not None, cu is not None
        form = form_of(q.shape, v.shape[3], sequences, householders, q.dtype, *present, mode)
        return cls.formed(form, scale, *inputs)

    @classmethod
    def formed(cls, form: Form, scale: float, *inputs: Tensor | None) -> Problem:
        """As `of`, where the form is known."""
        q, k, v, beta, a, initial, cu = [x if x is None else x.contiguous() for x in inputs]
        return cls(form, scale, Inputs(q, k, v, beta, a), initial, cu)  # type: ignore[arg-type]

    def new(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """A buffer to fill, by default in q's dtype."""
        return launching.empty(*shape, dtype=dtype or self.form.dtype, device=self.inputs.q.device)

    def new_outputs(self) -> Tensor:
        """A buffer for the outputs `[B,T,H,V]`."""
        x = self.form
        return (
            launching.empty_like(self.inputs.q) if x.V == x.K else self.new(x.batch, x.tokens, x.heads, x.V)
        )

    def new_states(self) -> Tensor:
        """A buffer for states `[N,H,K,V]`, one a sequence."""
        x = self.form
        return self.new(x.sequences, x.heads, x.K, x.V, dtype=x.state_dtype)

    def without_chunks(self) -> Places:
        """Where sequences lie, for kernels that know no chunks."""
        return Places(self.cu, None, None, self.form.tokens, self.form.heads)


@dataclass(slots=True)
class Chunks:
    """Chunks of `tokens` tokens: their number (at most), and where they lie.

    `gate_products`: of each chunk, for gated problems in phases alone (`_triton_phases.gate_products`).
    """

    tokens: int
    count: int
    places: Places
    gate_products: Tensor | None = None


def place_chunks(problem: Problem, tokens: int) -> Chunks:
    """Chunk tables, made on the device without waiting for it: the count is an upper bound."""
    form, cu = problem.form, problem.cu
    if cu is None:
        count = form.batch * -(-form.tokens // tokens)  # ⌈T / tokens⌉ for each row of the batch
        return Chunks(tokens, count, Places(None, None, None, form.tokens, form.heads))
    # each sequence may end in a chunk that is not full, so the bound is Σ ⌈length / tokens⌉ ≤ T // tokens + N
    count = form.tokens // tokens + form.sequences
    # ⌈length / tokens⌉ of each sequence, and from there the number of its first chunk
    each = (cu[1:] - cu[:-1] + (tokens - 1)).div(tokens, rounding_mode="floor")
    start = torch.cat([each.new_zeros(1), each.cumsum(0)])
    index = torch.arange(count, device=cu.device, dtype=start.dtype)
    # the last sequence that begins at or before the chunk
    sequence = torch.searchsorted(start, index, right=True) - 1
    # behind the chunks that there are, the table is unused
    sequence = torch.where(index < start[-1], sequence, -1)
    return Chunks(tokens, count, Places(cu, start.int(), sequence.int(), form.tokens, form.heads))


class Gradients(NamedTuple):
    """Gradients of the inputs; None where there is no input.  Kernels take them to fill them."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor | None
    initial: Tensor | None

    @classmethod
    def of(cls, problem: Problem) -> Gradients:
        """Buffers to fill; those of gates and initial state are in the states' dtype."""
        like, wide, x = launching.empty_like, problem.form.state_dtype, problem.inputs
        return cls(
            *(like(x.q), like(x.k), like(x.v), like(x.beta)),
            # those of gates and initial states are rounded to the inputs' dtype when all is done
            *[None if y is None else problem.new(*y.shape, dtype=wide) for y in (x.a, problem.initial)],
        )
