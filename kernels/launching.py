"""Launching Triton kernels: the compiled kernel is kept, and buffers to fill come from one place.  Needs triton."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .backends import count_launch, triton_interpreted
from .delta_product_plan import Tile


def empty(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A buffer that kernels fill; tests poison it."""
    return torch.empty(shape, dtype=dtype, device=device)


_INTERPRETED = triton_interpreted()
_compiled: dict[Any, tuple[Any, list[str]]] = {}


def _kinds(arguments: tuple[Any, ...]) -> list[Any]:
    """What triton compiles anew for: dtype and alignment of a tensor, 1 or a multiple of 16 of an integer."""
    return [
        (x.dtype, x.data_ptr() % 16 == 0)
        if isinstance(x, Tensor)
        else (x == 1, x % 16 == 0, x < 2**31)
        if isinstance(x, int)
        else type(x)
        for x in arguments
    ]


def launch(kernel: Any, grid: tuple[int, ...], tile: Tile, *arguments: Any, **constants: Any) -> None:
    """Launch, keeping the compiled kernel: triton's own look-up takes longer than a small kernel runs."""
    count_launch(kernel.__name__)
    if min(grid) <= 0:
        return
    if _INTERPRETED:
        kernel[grid](*arguments, **constants, **tile.options())
        return
    key = (id(kernel), tile, arguments[0].get_device(), *constants.values(), *_kinds(arguments))
    known = _compiled.get(key)
    if known is None:
        compiled = kernel[grid](*arguments, **constants, **tile.options())
        _compiled[key] = compiled, kernel.arg_names[len(arguments) :]
        return
    compiled, names = known
    compiled[(*grid, 1, 1)[:3]](*arguments, *(constants[name] for name in names))
