"""What both scans accept besides their own shapes: floating tensors of one device, and packed sequences."""

from __future__ import annotations

import torch
from torch import Tensor

from ..backends import KernelInputError

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_tensors(tensors: dict[str, Tensor | None], device: torch.device) -> None:
    """Refuse tensors of another device or not of a floating dtype, all at once."""
    wrong = []
    for name, x in tensors.items():
        if x is None:
            continue
        if x.dtype not in FLOATS:
            wrong.append(f"{name} is {x.dtype}: cast it to float16, bfloat16, float32 or float64")
        if x.device != device:
            wrong.append(f"{name} is on {x.device}, others on {device}: move them to one device")
    if wrong:
        raise KernelInputError("; ".join(wrong))


def check_shape(name: str, x: Tensor, wanted: tuple[int, ...], meaning: str) -> None:
    """Refuse another shape than the one wanted."""
    if tuple(x.shape) != wanted:
        raise KernelInputError(f"{name} has shape {list(x.shape)}: it must be {meaning} = {list(wanted)}")


def check_packing(cu_seqlens: Tensor, batch: int, tokens: int, device: torch.device) -> int:
    """Number of packed sequences.  The values are read where that needs no waiting for a device."""
    if batch != 1:
        raise KernelInputError(f"cu_seqlens is given with B = {batch}: pack the sequences along T into B = 1")
    if cu_seqlens.dim() != 1 or cu_seqlens.numel() < 2 or cu_seqlens.dtype not in (torch.int32, torch.int64):
        raise KernelInputError("cu_seqlens must be [N+1] integers (int32 or int64), from 0 to T")
    if cu_seqlens.device != device:
        raise KernelInputError(
            f"cu_seqlens is on {cu_seqlens.device}, others on {device}: move them to one device"
        )
    if cu_seqlens.device.type == "cpu" and not torch.compiler.is_compiling():
        bounds: list[int] = cu_seqlens.tolist()
        if bounds[0] != 0 or bounds[-1] != tokens or bounds != sorted(bounds):
            raise KernelInputError(f"cu_seqlens must rise from 0 to T = {tokens} and never fall")
    return cu_seqlens.numel() - 1
