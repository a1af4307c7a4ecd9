"""What `delta_product` accepts: every refusal is one line that names the argument and the fix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..backends import KernelInputError
from ..checking import (
    MOST_TOKENS,
    check_backend,
    check_choice,
    check_flags,
    check_packing,
    check_shape,
    check_tensors,
    check_whole,
)

MODES = ("auto", "recurrent", "chunk", "scan")
MAX_WIDTH = 256

_accepted: dict[tuple[Any, ...], int] = {}
MOST_ACCEPTED = 4096
"""Kinds of calls that are known to be good, with their numbers of sequences."""


def accepted_sequences(*arguments: Any) -> int:
    """`check_arguments`, once for calls that agree in all that it looks at, for it takes as much time as a launch."""
    if torch.compiler.is_compiling():
        return check_arguments(*arguments)
    try:
        # 1, 1.0 and True are equal, but only the first is accepted
        kind = (
            *(*arguments[8:], *map(type, arguments[8:])),
            *[None if x is None else (x.shape, x.dtype, x.device, x.layout) for x in arguments[:8]],
        )
        known = _accepted.get(kind)
    except (TypeError, AttributeError):  # sizes that are symbols have no hash; and not everything is a tensor
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
    output_final_state: bool,
    l2norm: bool,
) -> int:
    """Number of sequences, after every check that needs no values."""
    tensors = {"q": q, "k": k, "v": v, "beta": beta, "g": g, "a": a, "initial_state": initial_state}
    check_tensors(tensors, optional="g a initial_state")
    if q.dim() != 4:
        raise KernelInputError(f"q has shape {list(q.shape)}: it must be [B, T, H, K]")
    B, T, H, K = q.shape
    rows = T * check_whole("householders", householders)
    if v.dim() != 4:
        raise KernelInputError(f"v has shape {list(v.shape)}: it must be [B, T*householders, H, V]")
    V = v.shape[-1]
    check_shape("k", k, (B, rows, H, K), "[B, T*householders, H, K]")
    check_shape("v", v, (B, rows, H, V), "[B, T*householders, H, V]")
    check_shape("beta", beta, (B, rows, H), "[B, T*householders, H]")
    if not (1 <= K <= MAX_WIDTH and 1 <= V <= MAX_WIDTH):
        raise KernelInputError(f"K is {K} and V is {V}: each must be 1 to {MAX_WIDTH}; split wider heads")
    if rows > MOST_TOKENS:
        raise KernelInputError(f"q has {T} tokens of {householders} micro-steps: cut the sequence in two")
    if g is not None and a is not None:
        raise KernelInputError(
            "g and a are both given: pass the gate once, as its logarithm g or itself as a"
        )
    for name, gate in (("g", g), ("a", a)):
        if gate is not None:
            check_shape(name, gate, (B, T, H), "[B, T, H]")
    for name, x in (("k", k), ("v", v)):
        if x.dtype != q.dtype:
            raise KernelInputError(f"{name} is {x.dtype} but q is {q.dtype}: cast them to one dtype")
    # the values are read where the bounds are used: calls alike may differ in them
    N = B if cu_seqlens is None else check_packing(cu_seqlens, B, None, q.device)
    if initial_state is not None:
        check_shape("initial_state", initial_state, (N, H, K, V), "[N, H, K, V]")
    check_choice("mode", mode, MODES)
    check_backend(backend)
    if backend == "reference" and mode not in ("auto", "recurrent"):
        raise KernelInputError(
            f'mode="{mode}": the reference is recurrent; pass mode="auto" or backend="torch"'
        )
    if output_states not in (None, "all"):
        raise KernelInputError(f'output_states="{output_states}": use "all" or None')
    if output_states is not None and backend == "triton":
        raise KernelInputError('output_states="all": the kernels keep no states; pass backend="torch"')
    check_flags(output_final_state=output_final_state, l2norm=l2norm)
    return N
