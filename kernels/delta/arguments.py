"""What `delta_product` accepts: every refusal is one line that names the argument and the mend."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from ..backends import KernelInputError

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MODES = ("auto", "recurrent", "chunk", "scan")
MAX_WIDTH = 256

_accepted: dict[tuple[Any, ...], int] = {}
MOST_ACCEPTED = 4096
"""Kinds of calls that are known to be good, with their numbers of sequences."""


def accepted_sequences(*arguments: Any) -> int:
    """`check_arguments`, once for calls that agree in all that it looks at, for it takes as much time as a launch."""
    if torch.compiler.is_compiling():
        return check_arguments(*arguments)
    kind = (*arguments[8:], *[None if x is None else (x.shape, x.dtype, x.device) for x in arguments[:8]])
    try:
        known = _accepted.get(kind)
    except TypeError:  # sizes that are symbols have no hash
        return check_arguments(*arguments)
    if known is None:
        known = check_arguments(*arguments)
        if len(_accepted) >= MOST_ACCEPTED:
            _accepted.clear()
        _accepted[kind] = known
    return known


def check_arguments(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    g: Tensor | None,
    a: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    householders: int,
    mode: str,
    backend: str,
    output_states: str | None,
) -> int:
    """Number of sequences, after every check that needs no values."""
    if q.dim() != 4:
        raise KernelInputError(f"q has shape {list(q.shape)}: it must be [B, T, H, K]")
    B, T, H, K = q.shape
    if householders < 1:
        raise KernelInputError(f"householders is {householders}: it must be at least 1")
    if v.dim() != 4:
        raise KernelInputError(f"v has shape {list(v.shape)}: it must be [B, T*householders, H, V]")
    V = v.shape[-1]
    rows = T * householders
    _shape("k", k, (B, rows, H, K), "[B, T*householders, H, K]")
    _shape("v", v, (B, rows, H, V), "[B, T*householders, H, V]")
    _shape("beta", beta, (B, rows, H), "[B, T*householders, H]")
    if not (1 <= K <= MAX_WIDTH and 1 <= V <= MAX_WIDTH):
        raise KernelInputError(f"K is {K} and V is {V}: each must be 1 to {MAX_WIDTH}; split wider heads")
    if g is not None and a is not None:
        raise KernelInputError(
            "g and a are both given: pass the gate once, as its logarithm g or itself as a"
        )
    for name, gate in (("g", g), ("a", a)):
        if gate is not None:
            _shape(name, gate, (B, T, H), "[B, T, H]")
    if q.dtype not in FLOATS:
        raise KernelInputError(f"q is {q.dtype}: cast it to float16, bfloat16, float32 or float64")
    for name, x in (("k", k), ("v", v)):
        if x.dtype != q.dtype:
            raise KernelInputError(f"{name} is {x.dtype} but q is {q.dtype}: cast them to one dtype")
    N = B
    if cu_seqlens is not None:
        N = _packed(cu_seqlens, B, q.device)
    if initial_state is not None:
        _shape("initial_state", initial_state, (N, H, K, V), "[N, H, K, V]")
    others = {"k": k, "v": v, "beta": beta, "g": g, "a": a, "initial_state": initial_state}
    for name, x in others.items():  # type: ignore[assignment]
        if x is None:
            continue
        if x.device != q.device:
            raise KernelInputError(f"{name} is on {x.device} but q is on {q.device}: move them to one device")
        if x.dtype not in FLOATS:
            raise KernelInputError(f"{name} is {x.dtype}: cast it to a floating dtype")
    if mode not in MODES:
        raise KernelInputError(f'mode="{mode}": use one of {", ".join(MODES)}')
    if backend == "reference" and mode not in ("auto", "recurrent"):
        raise KernelInputError(
            f'mode="{mode}": the reference is recurrent; pass mode="auto" or backend="torch"'
        )
    if output_states not in (None, "all"):
        raise KernelInputError(f'output_states="{output_states}": use "all" or None')
    if output_states is not None and backend == "triton":
        raise KernelInputError('output_states="all": the kernels keep no states; pass backend="torch"')
    return N


def _shape(name: str, x: Tensor, wanted: tuple[int, ...], meaning: str) -> None:
    if tuple(x.shape) != wanted:
        raise KernelInputError(f"{name} has shape {list(x.shape)}: it must be {meaning} = {list(wanted)}")


def _packed(cu_seqlens: Tensor, batch: int, device: torch.device) -> int:
    if batch != 1:
        raise KernelInputError(f"cu_seqlens is given with B = {batch}: pack the sequences along T into B = 1")
    if cu_seqlens.dim() != 1 or cu_seqlens.numel() < 2 or cu_seqlens.dtype not in (torch.int32, torch.int64):
        raise KernelInputError("cu_seqlens must be [N+1] integers (int32 or int64), from 0 to T")
    if cu_seqlens.device != device:
        raise KernelInputError(
            f"cu_seqlens is on {cu_seqlens.device} but q is on {device}: move them to one device"
        )
    return cu_seqlens.numel() - 1


def sequence_bounds(cu_seqlens: Tensor, tokens: int) -> list[int]:
    """The bounds as integers, checked: from 0 to the number of tokens, never decreasing."""
    bounds: list[int] = cu_seqlens.tolist()
    if bounds[0] != 0 or bounds[-1] != tokens or any(x > y for x, y in itertools.pairwise(bounds)):
        raise KernelInputError(f"cu_seqlens must rise from 0 to T = {tokens} and never fall")
    return bounds
