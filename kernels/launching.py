"""Launching Triton kernels: the compiled kernels are kept, and buffers to fill come from one place.  Needs triton."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .backends import count_launch
from .tiles import Tile


def empty(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A buffer that kernels fill; tests poison it."""
    return torch.empty(shape, dtype=dtype, device=device)


def empty_like(x: Tensor) -> Tensor:
    """The same with the shape and dtype of a contiguous tensor, for less of the host's time; tests poison it too."""
    return torch.empty_like(x)


def on_device_of(x: Tensor) -> AbstractContextManager[None]:
    """Where a kernel on this tensor must be launched: triton takes the current device, which may be another."""
    context: AbstractContextManager[None] = torch.cuda.device_of(x)  # type: ignore[no-untyped-call]
    return context


def pointers(other: Tensor, *buffers: Tensor | None) -> list[Tensor]:
    """Buffers as a kernel takes them: another tensor in place of one that is not asked for, which it does not touch then."""
    return [other if x is None else x for x in buffers]


PROGRAMS = 2048
"""Of kernels that add up gradients of weights over rows, about: enough for every multiprocessor, few enough for their partial
sums to be small."""


def divided(rows: int, groups: int, tall: int) -> tuple[int, int]:
    """Programs for the rows of each of `groups` weights, and rows of each program, a multiple of `tall`."""
    share = tall * max(1, -(-rows * groups // (PROGRAMS * tall)))
    return -(-rows // share), share


class Launcher:
    """A kernel with its tile and constants.  Triton's own look-up takes longer than a small kernel runs, so that what it
    compiled is kept, by all that it compiles anew for beside those.
    """

    def __init__(self, function: Any, tile: Tile, **constants: Any) -> None:
        self.function, self.options, self.constants = function, tile.options(), constants
        # a compiled kernel is called with all parameters in their order, constants last
        self.last = [constants[name] for name in function.arg_names if name in constants]
        self.compiled: dict[Any, Any] = {}

    def __call__(self, grid: tuple[int, ...], *arguments: Any) -> None:
        """Launch on tensors (None where there is none) and numbers, the first a tensor of the current device."""
        count_launch(self.function.__name__)
        if min(grid) <= 0:
            return
        # a compiled kernel is loaded on one device
        key = (
            arguments[0].get_device(),
            *[
                # of an integer: 1 becomes a constant, multiples of 16 promise alignment, from 2³¹ on it has 64 bits
                (x == 1, x % 16 == 0, x < 2**31)
                if type(x) is int
                # None becomes a constant; a float's value is never compiled in
                else type(x)
                if x is None or type(x) is float
                # of a tensor: the pointer's type, and whether wide loads from it are allowed
                else (x.dtype, x.data_ptr() % 16 == 0)
                for x in arguments
            ],
        )
        compiled = self.compiled.get(key)
        if compiled is None:  # always so in the interpreter, which compiles nothing
            self.compiled[key] = self.function[grid](*arguments, **self.constants, **self.options)
        else:
            compiled[(*grid, 1, 1)[:3]](*arguments, *self.last)


launcher = lru_cache(maxsize=None, typed=True)(Launcher)
"""The one launcher of a kernel, a tile and constants."""
