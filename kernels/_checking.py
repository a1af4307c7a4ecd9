"""What the operators accept: every refusal is a `KernelInputError` of one line that names the argument and the fix."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

from ._backends import BACKENDS, KernelInputError

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MOST_TOKENS = 2**31 - 1
"""The most tokens of a row, micro-steps counted one by one: kernels number them with 32 bits."""
ROUNDING = 2**-5
"""How far gates may lie outside of their range: what rounding in bfloat16 or a difference quotient at the range's end adds."""


def check_tensors(tensors: Mapping[str, Any], device: torch.device | None = None, optional: str = "") -> None:
    """Refuse what is no dense tensor of a floating dtype on the device, by default the first one's, all at once.

    None passes for the names in `optional`, which spaces separate.
    """
    wrong = []
    for name, x in tensors.items():
        if x is None and name in optional.split():
            continue
        if not isinstance(x, Tensor):
            wrong.append(f"{name} is {describe(x)}: pass a torch.Tensor")
            continue
        device = x.device if device is None else device
        if x.layout != torch.strided:
            wrong.append(f"{name} has layout {x.layout}: pass a dense tensor, as x.to_dense() makes it")
        elif x.dtype not in FLOATS:
            wrong.append(f"{name} is {x.dtype}: cast it to float16, bfloat16, float32 or float64")
        elif x.device != device:
            wrong.append(f"{name} is on {x.device}, others on {device}: move them to one device")
    if wrong:
        raise KernelInputError("; ".join(wrong))


def describe(x: Any) -> str:
    """A value that is no tensor, short and in one line."""
    if x is None:
        return "None"
    shown = repr(x).replace("\n", " ")
    return f"{type(x).__name__} {shown if len(shown) <= 40 else shown[:37] + '...'}"


def check_shape(name: str, x: Tensor, wanted: tuple[int, ...], meaning: str) -> None:
    """Refuse another shape than the one wanted."""
    if tuple(x.shape) != wanted:
        raise KernelInputError(f"{name} has shape {list(x.shape)}: it must be {meaning} = {list(wanted)}")


def check_choice(name: str, x: Any, choices: Sequence[str]) -> None:
    """Refuse what is none of the names."""
    if not isinstance(x, str) or x not in choices:
        raise KernelInputError(f'{name}="{x}": use one of {", ".join(choices)}')


def check_backend(x: Any) -> None:
    """Refuse what names no backend."""
    check_choice("backend", x, BACKENDS)


def check_flags(**flags: Any) -> None:
    """Refuse what is neither True nor False."""
    for name, x in flags.items():
        if not isinstance(x, bool):
            raise KernelInputError(f"{name} is {describe(x)}: pass True or False")


def check_whole(name: str, x: Any, least: int = 1) -> int:
    """A whole number, as int.  Refuses others, 2.0 and True among them, and those below the least."""
    if type(x) is not int and (isinstance(x, bool) or not isinstance(x, Integral)):
        raise KernelInputError(f"{name} is {describe(x)}: pass a whole number (int), at least {least}")
    if x < least:
        raise KernelInputError(f"{name} is {x}: it must be at least {least}")
    return int(x)


def check_number(name: str, x: Any, least: float | None = None, most: float | None = None) -> float:
    """A finite number, as float.  Refuses strings, tensors, NaN, infinities, and what is below the least or beyond ±most."""
    if type(x) is not float and (isinstance(x, bool) or not isinstance(x, Real)):
        raise KernelInputError(f"{name} is {describe(x)}: pass a number (float)")
    try:
        number = float(x)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise KernelInputError(f"{name} is {number}: it must be finite")
    if least is not None and number < least:
        raise KernelInputError(f"{name} is {number}: it must be at least {least}")
    if most is not None and abs(number) > most:
        raise KernelInputError(f"{name} is {number}: beyond ±{most:.3g} it is infinite in the arithmetic")
    return number


def check_scale(x: Any, arithmetic: torch.dtype) -> float:
    """The factor of outputs as float; refuses what is not finite in the arithmetic."""
    return check_number("scale", x, most=torch.finfo(arithmetic).max)


def check_packing(cu_seqlens: Any, batch: int, tokens: int | None, device: torch.device) -> int:
    """Number of packed sequences.  The values are read where that needs no waiting for a device, unless tokens is None."""
    if not isinstance(cu_seqlens, Tensor):
        raise KernelInputError(
            f"cu_seqlens is {describe(cu_seqlens)}: pass a torch.Tensor of int32 or int64, on the inputs' device"
        )
    if batch != 1:
        raise KernelInputError(f"cu_seqlens is given with B = {batch}: pack the sequences along T into B = 1")
    if cu_seqlens.dim() != 1 or cu_seqlens.numel() < 2 or cu_seqlens.dtype not in (torch.int32, torch.int64):
        raise KernelInputError("cu_seqlens must be [N+1] integers (int32 or int64), from 0 to T")
    if cu_seqlens.device != device:
        raise KernelInputError(
            f"cu_seqlens is on {cu_seqlens.device}, others on {device}: move them to one device"
        )
    if tokens is not None and device.type == "cpu" and not torch.compiler.is_compiling():
        sequence_bounds(cu_seqlens, tokens)
    return cu_seqlens.numel() - 1


def sequence_bounds(cu_seqlens: Tensor, tokens: int, micro_steps: int = 1) -> list[int]:
    """The bounds as integers, checked: from 0 to the number of tokens, never decreasing.

    `micro_steps` are those of a token, which bounds do not count: where they do, the refusal says so.
    """
    bounds: list[int] = cu_seqlens.tolist()
    if bounds[0] != 0 or bounds[-1] != tokens or any(x > y for x, y in itertools.pairwise(bounds)):
        fix = f": it counts tokens, not their {micro_steps} micro-steps each, so divide it by {micro_steps}"
        counted = micro_steps > 1 and bounds[-1] == tokens * micro_steps
        raise KernelInputError(
            f"cu_seqlens must rise from 0 to T = {tokens} and never fall{fix if counted else ''}"
        )
    return bounds


def check_gates(name: str, gates: Tensor) -> None:
    """Refuse logarithms `g` of gates that are above 0, and gates `a` that look like logarithms: some below -1, and none above 0.

    Values are looked at where that does not wait for a device: on the CPU, but not while a call is compiled, traced or mapped over
    by `torch.vmap`.  Gates `a` beyond 1 are allowed, since layers whose gates are the projection itself have such.  NaN and infinity pass, as
    for all inputs, and so does what rounding or a difference quotient may have added.
    """
    if gates.device.type != "cpu" or type(gates) not in (Tensor, torch.nn.Parameter) or not gates.numel():
        return
    if torch.compiler.is_compiling() or torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return
    try:
        low, high = (float(x) for x in gates.detach().aminmax())
    except RuntimeError:  # under vmap one number is many
        return
    # what is not finite is no mistake of this kind, and hides smaller ones
    if name == "g":
        if math.isfinite(high) and high > ROUNDING:
            raise KernelInputError(
                f"g has the value {high:.4g}: it must be at most 0, the natural logarithm of a gate; pass gates themselves as a"
            )
    elif math.isfinite(low) and low < -1 - ROUNDING and high <= 0:
        raise KernelInputError(
            f"a has the value {low:.4g}, and none above 0: these look like logarithms of gates; pass them as g"
        )
