"""The DeltaProduct operator: one function in front of the recurrence, the torch chunks and the Triton kernels.

    delta_product        checks its arguments, and goes on
        in torch         to `_reference` (recurrent) or `_torch_chunk` (chunk, scan), packed sequences spread over the batch
        on the kernels   to `_operator`, and from there to the mode's file

Every refusal is one line that names the argument and the fix.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from .._backends import KernelInputError, choose_backend
from .._checking import (
    MOST_TOKENS,
    check_backend,
    check_choice,
    check_flags,
    check_gates,
    check_packing,
    check_scale,
    check_shape,
    check_tensors,
    check_whole,
    sequence_bounds,
)
from ..norms._normalise import l2_normalise
from ._reference import arithmetic_of, delta_product_recurrence, without_tokens
from ._torch_chunk import delta_product_chunks

MODES = ("auto", "recurrent", "chunk", "scan")
MAX_WIDTH = 256

_accepted: dict[tuple[Any, ...], int] = {}
MOST_ACCEPTED = 4096
"""Kinds of calls that are known to be good, with their numbers of sequences."""


def count_sequences(*arguments: Any) -> int:
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
    try:
        check_shape("k", k, (B, rows, H, K), "[B, T*householders, H, K]")
        check_shape("v", v, (B, rows, H, V), "[B, T*householders, H, V]")
        check_shape("beta", beta, (B, rows, H), "[B, T*householders, H]")
        for name, gate in (("g", g), ("a", a)):
            if gate is not None:
                check_shape(name, gate, (B, T, H), "[B, T, H]")
    except KernelInputError as error:
        given = {name: tuple(x.shape) for name, x in list(tensors.items())[:6] if x is not None}
        raise KernelInputError(f"{error}{suggest_shapes(given, int(householders))}") from None
    if not (1 <= K <= MAX_WIDTH and 1 <= V <= MAX_WIDTH):
        raise KernelInputError(f"K is {K} and V is {V}: each must be 1 to {MAX_WIDTH}; split wider heads")
    if rows > MOST_TOKENS:
        raise KernelInputError(f"q has {T} tokens of {householders} micro-steps: cut the sequence in two")
    if g is not None and a is not None:
        raise KernelInputError(
            "g and a are both given: pass the gate once, as its logarithm g or itself as a"
        )
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


def suggest_shapes(given: dict[str, tuple[int, ...]], householders: int) -> str:
    """What would make all shapes fit, as the end of a refusal: another number of micro-steps, or axes 1 and 2 swapped; else nothing."""
    counts = [householders]
    if given["q"][1] and len(given["k"]) == 4:
        # keys have n_h·T rows; with axes 1 and 2 swapped T is the other of the two
        counts += [given["k"][i] // given["q"][i] for i in (1, 2) if given["q"][i]]
    gates = tuple(name for name in ("g", "a") if name in given)
    swaps = [
        (),
        *((name,) for name in given),
        ("q", "k", "v"),
        ("q", "k", "v", "beta"),
        (*gates, "beta"),
        tuple(given),
    ]
    for n, swap in itertools.product(counts, swaps):
        shapes = {
            name: (x[0], x[2], x[1], *x[3:]) if name in swap and len(x) > 2 else x
            for name, x in given.items()
        }
        B, T, H, K = shapes["q"]
        rows = B, T * n, H
        wanted = {
            "q": (B, T, H, K),
            "k": (*rows, K),
            "v": (*rows, given["v"][-1]),
            "beta": rows,
            "g": (B, T, H),
            "a": (B, T, H),
        }
        if n < 1 or any(shapes[name] != wanted[name] for name in shapes):
            continue
        fixes = [f"householders={n}"] if n != householders else []
        if swap:
            every = ", ".join(swap[:-1]) + " and " * (len(swap) > 1) + swap[-1]
            others = (
                ", or of all others," if n == 1 and every in gates else ""
            )  # which of them is wrong shapes do not tell
            fixes.append(f"axes 1 and 2 of {every}{others} swapped (tokens come before heads)")
        return f"; all shapes fit with {' and '.join(fixes)}"
    return ""


def delta_product(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    g: Tensor | None = None,
    a: Tensor | None = None,
    *,
    householders: int = 1,
    initial_state: Tensor | None = None,
    output_final_state: bool = False,
    scale: float | None = None,
    cu_seqlens: Tensor | None = None,
    mode: str = "auto",
    backend: str = "auto",
    l2norm: bool = False,
    output_states: str | None = None,
) -> tuple[Any, ...]:
    """Run `S <- a_t S`, then n_h times `S <- (I - beta k kᵀ) S + beta k vᵀ`, then `o_t = scale q_tᵀ S`, over all tokens.

    B, T, H are batch, tokens and heads, n_h = householders, K and V the widths of keys and values, each 1 to 256.  Differentiable
    in every tensor.  An infinity or NaN reaches its token's and later outputs only; in the chunk kernels on a GPU, earlier
    ones of its chunk too.

    Args:
        q: queries `[B,T,H,K]`, float16, bfloat16, float32 or float64.
        k: keys `[B,T·n_h,H,K]` in q's dtype, the micro-steps of a token one after another.
        v: values `[B,T·n_h,H,V]` in q's dtype.
        beta: `[B,T·n_h,H]` in any floating dtype.  Stable while beta ‖k‖² is in [0, 2]; 2 reflects, 1 projects.
        g: natural logarithms of the gates, `[B,T,H]` in any floating dtype, at most 0.  None: no gates, or those of a.
        a: the gates themselves, `[B,T,H]`, in [-1, 1]; zero and negative are allowed.  Only one of g and a.  On the CPU,
            g above 0 is refused, and a with entries below -1 and none above 0, which looks like logarithms; on a GPU, where that would wait for it, and while a call is
            compiled, traced or mapped by `torch.vmap`, they are not looked at.
        householders: n_h, the micro-steps of a token, at least 1; 1 is DeltaNet.
        initial_state: `[N,H,K,V]`, by default zero.  N is B, or the number of packed sequences.
        output_final_state: whether to return the last states too.
        scale: factor of the outputs, finite, by default K^-1/2.
        cu_seqlens: `[N+1]` integers (int32 or int64) that rise from 0 to T, the bounds in tokens of sequences packed along T; B
            must be 1.  Bounds on a GPU are not checked, since reading them would wait for the GPU; they must be right.
        mode: `recurrent` (token by token), `chunk` (by chunks), `scan` (parallel in time, for few long sequences), or `auto`. That
            is, in torch, `chunk` for two tokens or more; on the kernels `chunk` for 16-bit inputs of 16 tokens or more, for
            few sequences of 16,384 or more `scan`, and `recurrent` for all others.
        backend: `triton`, `torch`, `reference`, or `auto`: `triton` for CUDA tensors where triton is installed, else
            `torch`.
        l2norm: whether to divide q and k by their norms first; a zero vector stays zero.
        output_states: `"all"` also returns the state after every token; not on the Triton backend.

    Returns:
        `(o, final_state)`, or `(o, final_state, states)` with `output_states="all"`: o `[B,T,H,V]` in q's dtype; final_state
        `[N,H,K,V]` in float32 (float64 for float64 input), None unless `output_final_state` is set; states `[B,T,H,K,V]`.

    Raises:
        KernelInputError: an argument is wrong; the message names it and the fix.
        BackendUnavailableError: the requested backend cannot run here.

    Source: DeltaProduct, arXiv 2502.10297; shapes and names as in flash-linear-attention.

    Examples:
        With beta = 1 and keys e_i - e_j each micro-step is a reflection that swaps entries i and j of the state:

        >>> import torch
        >>> swaps = torch.tensor([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])[None, :, None]
        >>> start = torch.tensor([1.0, 2.0, 3.0]).view(1, 1, 3, 1)
        >>> beta, nothing = torch.ones(1, 2, 1), torch.zeros(1, 2, 1, 1)
        >>> o, state = delta_product(swaps, swaps, nothing, beta, initial_state=start, output_final_state=True)
        >>> state.flatten().tolist()
        [2.0, 3.0, 1.0]
    """
    if isinstance(q, Tensor) and torch.is_autocast_enabled(q.device.type):
        cast = torch.get_autocast_dtype(q.device.type)
        q, k, v = (x.to(cast) if isinstance(x, Tensor) and x.is_floating_point() else x for x in (q, k, v))
    sequences = count_sequences(
        *(q, k, v, beta, g, a, initial_state, cu_seqlens),
        *(householders, mode, backend, output_states, output_final_state, l2norm),
    )
    householders = int(householders)
    if g is not None:
        check_gates("g", g)
    if a is not None:
        check_gates("a", a)
    chosen = choose_backend(
        backend if output_states is None else "torch" if backend == "auto" else backend, q.device
    )
    scale = q.shape[-1] ** -0.5 if scale is None else check_scale(scale, arithmetic_of(q))
    if l2norm:
        q, k = l2_normalise(q, backend=chosen), l2_normalise(k, backend=chosen)
    if g is not None:
        # from here on gates are multiplied as they are, and no logarithm is taken again
        a = g.to(arithmetic_of(q)).exp()
    if chosen == "triton":
        from ._operator import delta_product_triton

        return delta_product_triton(
            q, k, v, beta, a, initial_state, cu_seqlens, householders, scale, mode, output_final_state
        )
    arithmetic = arithmetic_of(q)
    if initial_state is None:
        initial_state = q.new_zeros(sequences, q.shape[2], q.shape[3], v.shape[3], dtype=arithmetic)
    # one token is a chunk of its own, for which the recurrence has less to do
    if chosen == "reference" or (mode == "auto" and q.shape[1] == 1):
        mode = "recurrent"
    o, final, states = _run_in_torch(
        [None if x is None else x.to(arithmetic) for x in (q, k, v, beta, a)],
        initial_state.to(arithmetic),
        householders,
        scale,
        cu_seqlens,
        mode,
        output_states is not None,
    )
    kept = final if output_final_state else None
    return (o.to(q.dtype), kept) if states is None else (o.to(q.dtype), kept, states)


def _run_in_torch(
    inputs: list[Tensor | None],
    initial_state: Tensor,
    householders: int,
    scale: float,
    cu_seqlens: Tensor | None,
    mode: str,
    keep_states: bool,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The recurrence or the chunks, packed sequences spread over the batch."""
    if cu_seqlens is None:
        return _run_mode(inputs, initial_state, householders, scale, mode, keep_states)
    bounds = sequence_bounds(cu_seqlens, inputs[0].shape[1], householders)  # type: ignore[union-attr]
    lengths = [end - start for start, end in itertools.pairwise(bounds)]
    spread = [
        # rows a token: 1 for q and gates, n_h for k, v and beta; gates are filled up with 1, all else with 0
        None if x is None else _spread_sequences(x, bounds, per, filling)
        for x, per, filling in zip(
            inputs, (1, householders, householders, householders, 1), (0.0, 0.0, 0.0, 0.0, 1.0), strict=True
        )
    ]
    o, final, states = _run_mode(spread, initial_state, householders, scale, mode, keep_states)
    together = [_join_sequences(x, lengths) for x in (o, states) if x is not None]
    return together[0], final, together[1] if keep_states else None


def _run_mode(
    inputs: list[Tensor | None],
    initial_state: Tensor,
    householders: int,
    scale: float,
    mode: str,
    keep_states: bool,
) -> tuple[Tensor, Tensor, Tensor | None]:
    q, k, v, beta, a = inputs
    assert q is not None
    assert k is not None
    assert v is not None
    assert beta is not None
    if q.shape[1] == 0:
        o, final = without_tokens(v, initial_state, *inputs)
        # `[N,0,H,K,V]`
        return o, final, final[:, None][:, :0] if keep_states else None
    if mode == "recurrent":
        return delta_product_recurrence(
            q, k, v, beta, a, initial_state, householders=householders, scale=scale, keep_states=keep_states
        )
    return delta_product_chunks(
        q,
        k,
        v,
        beta,
        a,
        initial_state,
        householders=householders,
        scale=scale,
        keep_states=keep_states,
        parallel=mode == "scan",
    )


def _spread_sequences(x: Tensor, bounds: list[int], per: int, filling: float) -> Tensor:
    """Packed `[1,T·per,...]` to `[N,longest·per,...]`, filled up so that states do not change."""
    pieces = [x[0, start * per : end * per] for start, end in itertools.pairwise(bounds)]
    return torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True, padding_value=filling)


def _join_sequences(x: Tensor, lengths: list[int]) -> Tensor:
    """The inverse of `_spread_sequences` for one row per token."""
    return torch.cat([x[i, :length] for i, length in enumerate(lengths)])[None]
