"""What the DeltaProduct kernels are given: the inputs, where chunks lie, the gradients to fill.  Needs triton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton.language as tl
from torch import Tensor

from . import launching


@dataclass(frozen=True)
class Problem:
    """Inputs that the kernels take: contiguous, of compiled widths; cu are bounds in tokens of packed sequences."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor | None
    initial: Tensor | None
    cu: Tensor | None
    householders: int
    scale: float

    @property
    def sequences(self) -> int:
        """Sequences, packed or not."""
        return self.q.shape[0] if self.cu is None else self.cu.numel() - 1

    @property
    def tokens(self) -> int:
        """Tokens of a row of the batch."""
        return self.q.shape[1]

    @property
    def heads(self) -> int:
        """Heads."""
        return self.q.shape[2]

    @property
    def widths(self) -> tuple[int, int]:
        """K and V."""
        return self.q.shape[3], self.v.shape[3]

    @property
    def gates(self) -> Tensor:
        """The gates, or any tensor where there are none: kernels then do not read it."""
        return self.beta if self.a is None else self.a

    @property
    def arithmetic(self) -> Any:
        """What kernels accumulate in."""
        return tl.float64 if self.q.dtype == torch.float64 else tl.float32

    @property
    def state_dtype(self) -> torch.dtype:
        """The same as a torch dtype."""
        return torch.float64 if self.q.dtype == torch.float64 else torch.float32


@dataclass(frozen=True)
class Chunks:
    """Where chunks of `tokens` tokens lie: their number (at most), each sequence's first, each chunk's sequence or -1."""

    tokens: int
    count: int
    start: Tensor | None
    sequence: Tensor | None


def place_chunks(problem: Problem, tokens: int) -> Chunks:
    """Chunk tables, made on the device without waiting for it: the count is an upper bound."""
    if problem.cu is None:
        return Chunks(tokens, problem.sequences * -(-problem.tokens // tokens), None, None)
    cu = problem.cu
    count = problem.tokens // tokens + problem.sequences
    each = (cu[1:] - cu[:-1] + (tokens - 1)).div(tokens, rounding_mode="floor")
    start = torch.cat([each.new_zeros(1), each.cumsum(0)])
    index = torch.arange(count, device=cu.device, dtype=start.dtype)
    sequence = torch.searchsorted(start, index, right=True) - 1
    sequence = torch.where(index < start[-1], sequence, -1)
    return Chunks(tokens, count, start.int(), sequence.int())


@dataclass(frozen=True)
class Gradients:
    """Gradients of the inputs; empty where there is no input."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor
    initial: Tensor

    @classmethod
    def of(cls, x: Problem) -> Gradients:
        """Buffers to fill; those of gates and initial state are in the states' dtype."""

        def buffer(y: Tensor | None, dtype: torch.dtype) -> Tensor:
            return launching.empty(*((0,) if y is None else y.shape), dtype=dtype, device=x.q.device)

        return cls(
            q=buffer(x.q, x.q.dtype),
            k=buffer(x.k, x.k.dtype),
            v=buffer(x.v, x.v.dtype),
            beta=buffer(x.beta, x.beta.dtype),
            a=buffer(x.a, x.state_dtype),
            initial=buffer(x.initial, x.state_dtype),
        )

    def all(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """In the order of the inputs."""
        return self.q, self.k, self.v, self.beta, self.a, self.initial
