"""Launching Triton kernels: the compiled kernels are kept, and buffers to fill come from one place.  Needs triton.

Kernels take their arguments in records, `NamedTuple`s of tensors and numbers such as `delta._problem.Inputs`, which Triton
takes apart itself: in the interpreter, in the compiler and in the call of a compiled kernel.  The compiled code is that of a
kernel with the same arguments one by one.  A tensor that is not there is None, which is a constant of the compiled kernel:
`if out.final is not None` costs nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import torch
import triton.language as tl
from torch import Tensor
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from ._backends import (
    KernelError,
    KernelInputError,
    Tile,
    count_launch,
    launches_nothing,
    triton_interpreted,
)


def empty(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A buffer that kernels fill; tests poison it."""
    return torch.empty(shape, dtype=dtype, device=device)


def empty_like(x: Tensor) -> Tensor:
    """A buffer with the shape and dtype of a contiguous tensor, for less of the host's time; tests poison it too."""
    return torch.empty_like(x)


def on_device_of(x: Tensor) -> AbstractContextManager[None]:
    """Where a kernel on this tensor must be launched: triton takes the current device, which may be another."""
    context: AbstractContextManager[None] = torch.cuda.device_of(x)  # type: ignore[no-untyped-call]
    return context


def kernel_arithmetic(dtype: torch.dtype) -> tl.dtype:
    """What kernels accumulate in for states or inputs of this dtype: float64 for float64, else float32."""
    return tl.float64 if dtype == torch.float64 else tl.float32


def make_constants(*values: Any) -> list[Any]:
    """Values for a record that a kernel is compiled for.

    For the compiler each is a constant of its own, or `[F.C, F.K]` would not be a shape; in the interpreter, where `i % F.NH` is
    plain Python, each stays what it is.
    """
    return list(values) if triton_interpreted() else [tl.constexpr(x) for x in values]


MOST_ROWS = 2**30
"""The most rows that kernels number with 32 bits."""
PROGRAMS = 2048
"""About how many programs add up the gradients of weights over rows: enough for every multiprocessor, few enough for their
partial sums to be small."""


def divide_rows(rows: int, groups: int, tall: int) -> tuple[int, int]:
    """Programs for the rows of each of `groups` weights, and rows of each program, a multiple of `tall`."""
    if rows > MOST_ROWS:
        raise KernelInputError(f"x has {rows} rows for each weight, more than {MOST_ROWS}: split the batch")
    share = tall * max(1, -(-rows * groups // (PROGRAMS * tall)))
    return -(-rows // share), share


MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
"""The most programs of a grid along each dimension, on CUDA."""


def check_grid(kernel: str, grid: tuple[int, ...]) -> None:
    """Refuse a grid on which nothing would run, so that results stayed what memory held, and one that CUDA cannot launch.

    A caller whose problem itself is empty launches nothing.
    """
    if min(grid) <= 0:
        raise KernelError(f"{kernel} has the empty grid {grid}: its results would never be written")
    if grid[0] > MOST_PROGRAMS[0] or (len(grid) > 1 and max(grid[1:]) > MOST_PROGRAMS[1]):
        most = MOST_PROGRAMS[: len(grid)]
        raise KernelInputError(f"{kernel} has the grid {grid}, beyond {most}: split the batch or the heads")


def fits_float32(number: float) -> bool:
    """Whether float32 holds it exactly: as float32 all of a kernel's arguments that are no whole numbers reach it."""
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False


def check_numbers(kernel: str, numbers: Iterable[float]) -> None:
    """Refuse for a kernel that computes in float64 a number that would reach it rounded."""
    if not all(map(fits_float32, numbers)):
        raise KernelError(f"{kernel} computes in float64 and is given a number that float32 does not hold")


def flatten(records: Iterable[Any]) -> list[Any]:
    """Arguments or constants one by one, those of records in their order."""
    # tuple is the base of a record's class; to ask `isinstance` would be a call for each argument of each launch
    return [x for record in records for x in (record if type(record).__base__ is tuple else (record,))]


class Launcher:
    """A kernel with its tile and constants.  Triton's own look-up takes longer than a small kernel runs, so that what it
    compiled is kept, by all that it compiles anew for beside those.
    """

    def __init__(self, function: Any, tile: Tile, **constants: Any) -> None:
        self.function, self.options, self.constants = function, tile.options(), constants
        # a compiled kernel is called with all parameters in their order, constants last
        self.last = [constants[name] for name in function.arg_names if name in constants]
        self.compiled: dict[Any, Any] = {}
        self.wide = any(x == tl.float64 for x in flatten(constants.values()))

    def __call__(self, grid: tuple[int, ...], *arguments: Any) -> None:
        """Launch on records, tensors (None where there is none), descriptors and numbers, the first on the current device."""
        name = self.function.__name__
        if not 0 < min(grid) <= max(grid) <= MOST_PROGRAMS[1]:
            check_grid(name, grid)
        flat = flatten(arguments)
        if self.wide:
            check_numbers(name, [x for x in flat if type(x) is float])
        if launches_nothing():
            return
        count_launch(name)
        # a compiled kernel is loaded on one device
        key = (
            (flat[0].base if type(flat[0]) is TensorDescriptor else flat[0]).get_device(),
            *[
                # of an integer: 1 becomes a constant, multiples of 16 promise alignment, from 2³¹ on it has 64 bits
                (x == 1, x % 16 == 0, x < 2**31)
                if type(x) is int
                # None becomes a constant; a float's value is never compiled in
                else type(x)
                if x is None or type(x) is float
                # of a tensor's descriptor: the type, and the blocks that are copied
                else (x.base.dtype, *x.block_shape)
                if type(x) is TensorDescriptor
                # of a tensor: the pointer's type, and whether wide loads from it are allowed
                else (x.dtype, x.data_ptr() % 16 == 0)
                for x in flat
            ],
        )
        compiled = self.compiled.get(key)
        if compiled is None:  # always so in the interpreter, which compiles nothing
            self.compiled[key] = self.function[grid](*arguments, **self.constants, **self.options)
        else:
            compiled[(*grid, 1, 1)[:3]](*arguments, *self.last)


launcher = lru_cache(maxsize=None, typed=True)(Launcher)
"""The one launcher of a kernel, a tile and constants."""
