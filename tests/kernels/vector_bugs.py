"""Errors of public implementations, re-created from their reports as small functions of torch: each must be seen.

The functions are written from the recurrences and the usual chunk form (inverse, U and W), not with the code that makes the
words. A bug is the right function with one thing changed. `sees` names the families that must fail, `cause` what the verdict
of the first of them must say; the families that some bug fails alone are listed in `ALONE`. An error in one path only, such as
packed sequences, is one of the others that the function of a batch plants where the path is taken: `PATHS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from typing import Any

import torch
from torch import Tensor

Core = Callable[..., tuple[Tensor, Tensor]]
FP16_MAX = 65504.0
CHUNK = 64


def bf16(x: Tensor) -> Tensor:
    return x.bfloat16().to(x.dtype)


def fp16(x: Tensor) -> Tensor:
    return x.half().to(x.dtype)


def tf32(x: Tensor) -> Tensor:
    """To 11 bits, ties away from zero, as matrix units read float32."""
    bits = (x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF
    return bits.view(torch.float32)


def normalised(x: Tensor) -> Tensor:
    return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt()


def same(x: Tensor) -> Tensor:
    return x


def clamp(x: Tensor) -> Tensor:
    return x.clamp(-FP16_MAX, FP16_MAX)


def recurrent(
    q: Tensor, k: Tensor, v: Tensor, b: Tensor, a: Tensor, S: Tensor, n_h: int, bug: str = ""
) -> tuple[Tensor, Tensor]:
    """One head, token by token: q `[T,K]`, k `[R,K]`, v `[R,V]`, b `[R]`, gates a `[T,K]`; S `[K,V]`."""
    if bug == "initial state ignored":
        S = torch.zeros_like(S)
    if bug == "initial state to bf16":
        S = bf16(S)
    outputs, T = [], q.shape[0]
    for t in range(T):
        read_before = S
        decay = a[t, :, None]
        if bug == "gate along values":
            decay = a[t].repeat(S.shape[1])[None, : S.shape[1]]
        if bug == "gate of one channel":
            decay = a[t, 0]
        old = S
        if bug != "decay last":
            S = decay * S
        rows = list(range(t * n_h, (t + 1) * n_h))
        if bug == "micro-steps reversed":
            rows.reverse()
        for i in rows:
            if bug == "gate each micro-step" and i > t * n_h:
                S = decay * S
            beta = b[i]
            if bug == "beta to bf16":
                beta = bf16(beta)
            if bug == "beta to fp16":
                beta = fp16(beta)
            if bug == "beta clipped":
                beta = beta.clamp(max=1)
            if bug == "beta halved":
                beta = beta / 2
            if bug == "2 beta - 1":
                beta = 2 * beta - 1
            if bug == "k and v exchanged" and k.shape[1] == v.shape[1]:
                S = S + torch.outer(beta * (k[i] - S @ v[i]), v[i])
                continue
            reads = old if bug == "error before decay" else S
            u = beta * (v[i] - k[i] @ reads)
            if bug == "tail forgets" and t == T - 1 and t and T % CHUNK == 1:
                u = beta * v[i]
            if bug == "single token forgets":
                u = beta * v[i]
            S = S + torch.outer(k[i], u)
            if bug == "read after the first micro-step" and i == t * n_h:
                read_before = S
        if bug == "decay last":
            S = decay * S
        S = {"state to bf16": bf16, "state to fp16": fp16, "state clamped": clamp}.get(bug, same)(S)
        early = bug in ("read before write", "read after the first micro-step")
        outputs.append(q[t] @ (read_before if early else S))
        if bug == "state to bf16 after chunks" and t % CHUNK == CHUNK - 1:
            S = bf16(S)
    o = torch.stack(outputs) if outputs else q.new_zeros(0, S.shape[1])
    if bug == "last tokens dropped" and T > CHUNK and T % CHUNK:
        o[T - T % CHUNK :] = 0
    return o, S


def chunked(
    q: Tensor, k: Tensor, v: Tensor, b: Tensor, a: Tensor, S: Tensor, n_h: int, bug: str = ""
) -> tuple[Tensor, Tensor]:
    """One head by chunks: L = tril(B K K' o D), U = (I + L)^-1 B V, W = (I + L)^-1 B K; scalar gates, one micro-step."""
    assert n_h == 1
    outputs = []
    for first in range(0, q.shape[0], CHUNK):
        here = slice(first, first + CHUNK)
        Q, K, V, B = q[here], k[here], v[here], b[here]
        n = Q.shape[0]
        G = a[here, 0].log().cumsum(0)
        D = (G[:, None] - G[None, :]).tril().exp().tril()
        if bug == "mask with exp(+)":
            D = (G[None, :] - G[:, None]).tril().exp().tril()
        if bug == "gates as exp(G) exp(-G)":
            D = (G.exp()[:, None] * (-G).exp()[None, :]).tril()
        gram = K @ K.T
        if bug == "K K' to bf16":
            gram = bf16(gram)
        if bug == "K K' to fp16":
            gram = fp16(gram)
        L = (B[:, None] * gram * D).tril(-1)
        if bug == "gates outside the inverse":
            L = (B[:, None] * gram).tril(-1)
        A = invert(L, bug)
        U = A @ (B[:, None] * V)
        W = A @ ((B * G.exp())[:, None] * K)
        if bug == "decay in one factor only":
            plain = invert((B[:, None] * gram).tril(-1), "")
            U = plain @ (B[:, None] * V)
        entering = S
        if bug == "state to bf16 in products":
            entering = bf16(S)
        new = U - W @ entering
        if bug == "written values to bf16":
            new = bf16(new)
        scores = (Q @ K.T * D).tril(-1 if bug == "strict mask" else 0)
        if bug == "inclusive mask lost":
            scores = Q @ K.T
        o = G.exp()[:, None] * (Q @ entering) + scores @ new
        if bug == "fifth column lost":
            o[:, 4:] = 0
        outputs.append(o)
        S = G[-1].exp() * S + (K * (G[-1] - G).exp()[:, None]).T @ new
        if bug == "fifth column lost":
            S[:, 4:] = 0
        if bug == "gates dropped between chunks" and n == CHUNK:
            S = S / G[-1].exp()
    return torch.cat(outputs) if outputs else q.new_zeros(0, S.shape[1]), S


def invert(L: Tensor, bug: str) -> Tensor:
    """(I + L)^-1 by substitution, or in one of the ways that lose it."""
    n = L.shape[0]
    unit = torch.eye(n, dtype=L.dtype)
    if bug.startswith("doubling"):
        keep = fp16 if bug.endswith("fp16") else same
        X, P = unit - L, keep(L @ L)
        for _ in range(6):
            X, P = keep(X + X @ P), keep(P @ P)
        return X
    if bug == "first order inverse":
        return unit - L
    if bug == "blocks of the inverse left out":
        A = unit.clone()
        for i in range(0, n, 16):
            block = slice(i, i + 16)
            A[block, block] = torch.linalg.solve_triangular(
                unit[block, block] + L[block, block], unit[block, block], upper=False, unitriangular=True
            )
        return A
    A = torch.linalg.solve_triangular(unit + L, unit, upper=False, unitriangular=True)
    return {"inverse to bf16": bf16, "inverse to fp16": fp16, "inverse to tf32": tf32}.get(bug, same)(A)


def rwkv7(
    q: Tensor, k: Tensor, v: Tensor, u: Tensor, z: Tensor, a: Tensor, S: Tensor, bug: str = ""
) -> tuple[Tensor, Tensor]:
    """One head of `S <- diag(a) S + u (z'S)' + k v'`."""
    outputs = []
    if bug == "initial state ignored":
        S = torch.zeros_like(S)
    for t in range(q.shape[0]):
        before, decayed = S, a[t, :, None] * S
        reads = decayed if bug == "z reads after the decay" else S
        left, right = (z[t], u[t]) if bug == "u and z exchanged" else (u[t], z[t])
        S = decayed + torch.outer(left, right @ reads) + torch.outer(k[t], v[t])
        if bug == "state to bf16":
            S = bf16(S)
        if bug == "tokens from 64 on" and t >= CHUNK:
            S = before
        outputs.append(q[t] @ (before if bug == "rwkv7 read before write" else S))
    return (torch.stack(outputs) if outputs else q.new_zeros(0, S.shape[1])), S


def scalar(q: Tensor, k: Tensor, v: Tensor, a: Tensor, S: Tensor, bug: str = "") -> tuple[Tensor, Tensor]:
    """One head of `S <- a S + k v'`."""
    outputs: list[Tensor] = []
    for t in range(q.shape[0]):
        decay = a[t, :, None]
        if bug == "write is decayed":
            S = decay * (S + torch.outer(k[t], v[t]))
        else:
            S = decay * S
            S = S + torch.outer(k[t], v[t] - k[t] @ S if bug == "an error term" else v[t])
        if bug == "state to bf16":
            S = bf16(S)
        if bug == "tokens from 64 on" and t >= CHUNK:
            outputs.append(0 * outputs[0])
            continue
        outputs.append(q[t] @ S)
    return (torch.stack(outputs) if outputs else q.new_zeros(0, S.shape[1])), S


@dataclass(frozen=True)
class Place:
    """Where one head of one sequence is computed: how many tokens the call and the sequence have, which row it is, and what is given."""

    call: int
    tokens: int
    row: int
    packed: bool
    gated: bool


PATHS: dict[str, tuple[str, Callable[[Place], bool]]] = {
    "single token forgets": ("single token forgets", lambda here: here.call == 1),
    "state to bf16 in packed calls": ("state to bf16", lambda here: here.packed),
    "state to bf16 in calls of one token": ("state to bf16", lambda here: here.call == 1),
    "state to bf16 in later rows": ("state to bf16", lambda here: here.row > 0),
    "state to bf16 where gates are given": ("state to bf16", lambda here: here.gated),
    "beta to bf16 where gates are given": ("beta to bf16", lambda here: here.gated),
    "gate late in calls of one token": ("decay last", lambda here: here.call == 1),
    "later rows read before the write": ("rwkv7 read before write", lambda here: here.row > 0),
    "later rows are decayed behind": ("write is decayed", lambda here: here.row > 0),
    "initial state ignored beyond 64 tokens": (
        "initial state ignored",
        lambda here: here.tokens > CHUNK and not here.packed,
    ),
}
"""Errors of one path: what the function of a head does, and where."""


def whole(core: Core, bug: str = "", arithmetic: torch.dtype = torch.float32) -> Callable[..., Any]:
    """A function of a batch with the signature that is tested, from the function of a head."""
    special = core in (rwkv7, scalar)

    def function(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        beta: Tensor | None = None,
        g: Tensor | None = None,
        initial_state: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
        scale: float = 1.0,
        householders: int = 1,
        u: Tensor | None = None,
        z: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        B, T, H, K = q.shape
        V = v.shape[3]
        if T == 0 and bug == "no tokens refused":
            raise RuntimeError("T must be positive")
        bounds = [(b, 0, T) for b in range(B)]
        if cu_seqlens is not None:
            bounds = [(0, i, j) for i, j in pairwise(cu_seqlens.tolist())]
        states = torch.zeros(len(bounds), H, K, V, dtype=arithmetic)
        if initial_state is not None:
            given = initial_state
            if bug == "initial states reversed":
                given = given.flip(0)
            if bug in ("state read as [V, K]", "state as [V, K]") and K == V:
                given = given.transpose(-1, -2)
            states = given.to(arithmetic).clone()
        o = torch.zeros(B, T, H, V, dtype=arithmetic)
        ignored = bug == "scale ignored" or (bug == "scale ignored where gates are given" and g is not None)
        factor = K**-0.5 if ignored else scale
        factor *= {"scale applied twice": scale, "K^-1/2 as well as the scale": K**-0.5}.get(bug, 1)
        gates = torch.ones(B, T, H, K, dtype=arithmetic)
        if g is not None:
            logs = g.to(arithmetic)
            if bug == "log gates to bf16":
                logs = bf16(logs)
            if bug == "log gates to fp16":
                logs = fp16(logs)
            if bug == "logs read to base 2":
                logs = logs * log(2)
            if bug == "sign of logs reversed":
                logs = -logs
            if bug == "gates ignored":
                logs = torch.zeros_like(logs)
            gates = gates * (logs if logs.dim() == 4 else logs[..., None]).exp()
        if bug == "gates below 1/8 clamped":
            gates = gates.clamp(min=1 / 8)
        if bug == "gates of the first head":
            gates = gates[:, :, :1].expand(gates.shape)
        if bug == "gates ignored in packed calls" and cu_seqlens is not None:
            gates = torch.ones_like(gates)
        x = [t.to(arithmetic) for t in (q * factor, k, v)]
        if bug == "q and k normalised":
            x = [normalised(q.to(arithmetic)) * factor, normalised(x[1]), x[2]]
        if bug == "inputs to tf32" or (bug == "inputs to tf32 where gates are given" and g is not None):
            x = [tf32(t) for t in x]
        if bug == "inputs to bf16":
            x = [bf16(t) for t in x]
        for n, (b, i, j) in enumerate(bounds):
            for h in range(H):
                S = states[n, h]
                if bug in ("states carried over", "cu_seqlens ignored") and cu_seqlens is not None and n:
                    S = states[n - 1, h]
                head = 0 if bug == "beta of the first head" else h
                row = 0 if bug == "beta of the first row" else b
                if bug == "rows beyond the third as the third":
                    row = min(b, 2)
                place = Place(T, j - i, b, cu_seqlens is not None, g is not None)
                inner, taken = PATHS.get(bug, (bug, lambda here: True))
                inner = inner if taken(place) else ""
                tokens, rows = slice(i, j), slice(i * householders, j * householders)
                common = (x[0][b, tokens, h], x[1][b, rows, h], x[2][b, rows, h])
                if special:
                    more = (
                        ()
                        if u is None or z is None
                        else (u[b, tokens, h].to(arithmetic), z[b, tokens, h].to(arithmetic))
                    )
                    o[b, tokens, h], states[n, h] = core(*common, *more, gates[b, tokens, h], S, bug=inner)
                else:
                    assert beta is not None
                    betas = beta[row, rows, head].to(arithmetic)
                    if bug == "sigmoid of beta inside":
                        betas = betas.sigmoid()
                    if bug == "beta of the first micro-step":
                        betas = betas[::householders].repeat_interleave(householders)
                    o[b, tokens, h], states[n, h] = core(
                        *common, betas, gates[b, tokens, h], S, householders, bug=inner
                    )
        if bug == "columns beyond K":
            o[..., K:] = 0
            states[..., K:] = 0
        if bug == "columns beyond 32":
            o[..., 32:] = 0
        if bug == "cu_seqlens ignored" and cu_seqlens is not None:
            states = states[-1:].expand(states.shape).clone()
        if bug == "no tokens give zero" and T == 0:
            states = torch.zeros_like(states)
        if bug == "state in place" and initial_state is not None:
            states = initial_state.copy_(states)
        if bug in ("state returned as [V, K]", "state as [V, K]") and K == V:
            states = states.transpose(-1, -2)
        if bug == "final state to bf16":
            states = bf16(states)
        o = {"outputs to bf16": bf16, "outputs to fp16": fp16, "outputs clamped": clamp}.get(bug, same)(o)
        return o.to(q.dtype), states

    return function


@dataclass(frozen=True)
class Bug:
    """A re-created error: its name, where it was reported, the function of a head, what must be seen, the operator, what is planted.

    `passes` names families that are run too, and pass, where their words tell the cause from another one.
    """

    name: str
    source: str
    core: Core
    cause: str
    sees: tuple[str, ...]
    operator: str = "gated_delta_rule"
    known: bool = field(default=True)
    plants: str = ""
    passes: tuple[str, ...] = ()

    @property
    def planted(self) -> str:
        """What is planted; by default what the bug is called."""
        return self.plants or self.name


NARROW = "kept in a narrow format"
STRUCTURE = "the structure within a chunk"
RWKV = "as for the delta rule, in RWKV-7"
SCALAR = "as for the delta rule, in Mamba-2"
BUGS = (
    Bug("initial state ignored", "vllm-ascend#3309, fla#351", recurrent, "the initial state is ignored", ("initial-state",)),
    Bug("beta to bf16", "sglang#38975, vllm#53877", recurrent, "beta is rounded to bf16", ("beta-fine",)),
    Bug("beta to fp16", "the same in fp16", recurrent, "beta is rounded to fp16", ("beta-fine",)),
    Bug("beta clipped", "fla#832", recurrent, "beta is clipped at 1", ("beta-above-one",)),
    Bug("beta halved", "fla#832, mlx-lm#942: sigma without its factor 2", recurrent, "beta is halved", ("beta-above-one", "integers")),
    Bug("2 beta - 1", "fla#384, as a reviewer proposed", recurrent, STRUCTURE, ("integers", "beta-above-one"), known=False),
    Bug("decay last", "fla#885", recurrent, "after the write instead of before the error", ("gates",)),
    Bug("error before decay", "fla#885", recurrent, "of the state before its decay", ("gates",)),
    Bug("k and v exchanged", "fla#623", recurrent, STRUCTURE, ("integers",), known=False),
    Bug("tail forgets", "flash-linear-attention-npu#367", recurrent, "does not fill its chunk", ("tails",), known=False),
    Bug("last tokens dropped", "chunks that T does not fill", recurrent, "does not fill its chunk", ("tails",), known=False),
    Bug("single token forgets", "a decode path of its own", recurrent, "calls with one token", ("decode",), known=False),
    Bug("state to bf16", "ollama#15865, mlx-lm#997", recurrent, "the state is kept in bf16", ("state-fine", "initial-state")),
    Bug("state to fp16", "TensorRT-Model-Connect#725, llm-scaler#559", recurrent, "the state is kept in fp16", ("state-fine", "range")),
    Bug("state to bf16 after chunks", "attention-gym#464", recurrent, "rounded to bf16 where a chunk of 64", ("state-fine",)),
    Bug("state to bf16 in products", "chunk kernels on matrix units", chunked, "enters products rounded to bf16 where a chunk of 64", ("state-fine",)),
    Bug("final state to bf16", "mlx-swift-lm#224, tpu-inference#2482", recurrent, "final state is rounded to bf16", ("state-fine",)),
    Bug("state clamped", "a guard against overflow", recurrent, "clamped to ±65,504", ("range",)),
    Bug("outputs clamped", "a guard against overflow", recurrent, "clamped to ±65,504", ("range",)),
    Bug("outputs to fp16", "vllm#54308", recurrent, "outputs are rounded to fp16", ("outputs-fine", "range")),
    Bug("outputs to bf16", "a float32 path through bf16", recurrent, "outputs are rounded to bf16", ("outputs-fine",)),
    Bug("inputs to tf32", "matrix units on float32", recurrent, "rounded to tf32", ("inputs-fine",)),
    Bug("mask with exp(+)", "tilelang-ascend#1460", chunked, "where the gates are applied", ("gates",), known=False),
    Bug("decay in one factor only", "shainet#170", chunked, "where the gates are applied", ("gates",), known=False),
    Bug("gates outside the inverse", "shainet#170", chunked, "where the gates are applied", ("gates",), known=False),
    Bug("gates as exp(G) exp(-G)", "splitting the ratio of gates", chunked, "overflow", ("strong-gates",), known=False),
    Bug("gates dropped between chunks", "a missing factor", chunked, "where the gates are applied", ("gates",), known=False),
    Bug("gates ignored", "common", recurrent, "gates are ignored", ("gates",)),
    Bug("log gates to bf16", "gates in the dtype of the inputs", recurrent, "logarithms of gates are rounded to bf16", ("gates",)),
    Bug("log gates to fp16", "gates in the dtype of the inputs", recurrent, "logarithms of gates are rounded to fp16", ("gates",)),
    Bug("doubling in fp32", "fla#537, flashinfer#3720", chunked, STRUCTURE, ("integers",), known=False),
    Bug("doubling in fp16", "fla#537, flashinfer#3720", chunked, STRUCTURE, ("integers",), known=False),
    Bug("first order inverse", "a truncated series", chunked, STRUCTURE, ("integers",), known=False),
    Bug("blocks of the inverse left out", "sub-chunks that are not joined", chunked, STRUCTURE, ("integers",), known=False),
    Bug("inverse to bf16", "chunk kernels that cast A", chunked, NARROW, ("coefficients",), known=False),
    Bug("inverse to fp16", "chunk kernels that cast A", chunked, NARROW, ("coefficients",), known=False),
    Bug("inverse to tf32", "solve_tril in tf32", chunked, NARROW, ("coefficients",), known=False),
    Bug("K K' to bf16", "a product in the inputs' dtype", chunked, NARROW, ("coefficients",), known=False),
    Bug("K K' to fp16", "a product in the inputs' dtype", chunked, NARROW, ("coefficients",), known=False),
    Bug("written values to bf16", "V' in the inputs' dtype", chunked, "or what is written, are rounded", ("inputs-fine", "beta-fine"), known=False),
    Bug("strict mask", "common", chunked, "a mask without its diagonal", ("integers",)),
    Bug("inclusive mask lost", "common", chunked, STRUCTURE, ("integers",), known=False),
    Bug("read before write", "common", recurrent, "read before the token's write", ("integers",)),
    Bug("fifth column lost", "a tile of values narrower than V", chunked, STRUCTURE, ("integers",), known=False),
    Bug("initial state to bf16", "a cache in the inputs' dtype", recurrent, "initial state is rounded to bf16", ("initial-state",), passes=("state-fine",)),
    Bug("state read as [V, K]", "transposed layouts", recurrent, "read as [V, K]", ("initial-state",)),
    Bug("state returned as [V, K]", "transposed layouts", recurrent, "returned as [V, K]", ("integers",)),
    Bug("state as [V, K]", "transposed layouts on both sides", recurrent, "read and returned as [V, K]", ("initial-state",)),
    Bug("states carried over", "cu_seqlens ignored", recurrent, "carried over the bounds", ("packed",)),
    Bug("initial states reversed", "wrong index of a sequence", recurrent, "in reverse", ("packed",)),
    Bug("state in place", "llama.cpp#21681, tpu-inference#3412", recurrent, "changed in place", ("prefix",)),
    Bug("no tokens give zero", "an empty prompt after a cached one", recurrent, "zero is returned where there are no tokens", ("no-tokens",), passes=("initial-state",)),
    Bug("no tokens refused", "an empty prompt after a cached one", recurrent, "it raises an error", ("no-tokens",), known=False),
    Bug("beta of the first head", "fla#671: results that depend on the batch", recurrent, "first head are taken for all", ("heads",)),
    Bug("beta of the first row", "fla#671: results that depend on the batch", recurrent, "first row are taken for the whole", ("heads",)),
    Bug("scale ignored", "a scale that is not passed on", recurrent, "the scale is ignored", ("scale",)),
    Bug("scale applied twice", "a function within a function", recurrent, "the scale is applied twice", ("integers", "scale")),
    Bug("K^-1/2 as well as the scale", "a function within a function", recurrent, "K^-1/2 is applied as well", ("scale", "integers")),
    Bug("q and k normalised", "norms inside the kernel, on by default", recurrent, "queries and keys are normalised", ("integers", "coefficients")),
    Bug("sigmoid of beta inside", "logits in place of beta", recurrent, "beta goes through a sigmoid", ("integers", "beta-fine")),
    Bug("logs read to base 2", "exp2 without its factor", recurrent, "read to base 2", ("gates", "strong-gates")),
    Bug("sign of logs reversed", "gates as exp(-g)", recurrent, "the sign of the logarithms", ("gates",)),
    Bug("cu_seqlens ignored", "a parameter that is not passed on", recurrent, "cu_seqlens is ignored", ("packed",)),
    Bug("gate each micro-step", "DeltaProduct", recurrent, "at each micro-step", ("delta-product",), "delta_product"),
    Bug("micro-steps reversed", "DeltaProduct", recurrent, "the order of micro-steps", ("delta-product",), "delta_product", known=False),
    Bug("read after the first micro-step", "DeltaProduct", recurrent, "the order of micro-steps", ("delta-product",), "delta_product", known=False),
    Bug("gate along values", "KDA", recurrent, "values' axis", ("channel-gates",), "kda"),
    Bug("gate of one channel", "KDA", recurrent, "first channel", ("channel-gates",), "kda"),
    Bug("z reads after the decay", "AiDotNet#895", rwkv7, "z reads the state after its decay", ("rwkv7",), "rwkv7"),
    Bug("u and z exchanged", "AiDotNet#895", rwkv7, "which of u and z writes", ("rwkv7",), "rwkv7", known=False),
    Bug("rwkv7 read before write", "a read of RWKV-6", rwkv7, "read before", ("rwkv7",), "rwkv7"),
    Bug("an error term", "the delta rule in place of Mamba-2", scalar, "as the delta rule does", ("scalar-gate",), "scalar_gate"),
    Bug("write is decayed", "decay behind the write", scalar, "after the write", ("scalar-gate",), "scalar_gate"),
    Bug("rwkv7: scale ignored", RWKV, rwkv7, "the scale is ignored", ("scale", "fine-scales"), "rwkv7", plants="scale ignored"),
    Bug("rwkv7: inputs to bf16", RWKV, rwkv7, "queries, keys and values are rounded to bf16", ("inputs-fine",), "rwkv7", plants="inputs to bf16"),
    Bug("rwkv7: state to bf16", RWKV, rwkv7, "the state is kept in bf16", ("state-fine", "fine-packed"), "rwkv7", plants="state to bf16"),
    Bug("rwkv7: state in place", RWKV, rwkv7, "changed in place", ("prefix",), "rwkv7", plants="state in place"),
    Bug("rwkv7: states carried over", RWKV, rwkv7, "carried over the bounds", ("packed",), "rwkv7", plants="states carried over"),
    Bug("rwkv7: later rows read before the write", RWKV, rwkv7, "heads, or rows of the batch", ("heads", "fine-heads"), "rwkv7", known=False, plants="later rows read before the write"),
    Bug("rwkv7: tokens from 64 on", RWKV, rwkv7, "does not fill its chunk", ("tails", "fine-long"), "rwkv7", known=False, plants="tokens from 64 on"),
    Bug("rwkv7: no tokens give zero", RWKV, rwkv7, "zero is returned where there are no tokens", ("no-tokens",), "rwkv7", passes=("initial-state",), plants="no tokens give zero"),
    Bug("rwkv7: outputs to bf16", RWKV, rwkv7, "outputs are rounded to bf16", ("outputs-fine",), "rwkv7", plants="outputs to bf16"),
    Bug("scalar: scale ignored", SCALAR, scalar, "the scale is ignored", ("scale", "fine-scales"), "scalar_gate", plants="scale ignored"),
    Bug("scalar: inputs to bf16", SCALAR, scalar, "queries, keys and values are rounded to bf16", ("inputs-fine",), "scalar_gate", plants="inputs to bf16"),
    Bug("scalar: state to bf16", SCALAR, scalar, "the state is kept in bf16", ("state-fine", "fine-packed"), "scalar_gate", plants="state to bf16"),
    Bug("scalar: state in place", SCALAR, scalar, "changed in place", ("prefix",), "scalar_gate", plants="state in place"),
    Bug("scalar: states carried over", SCALAR, scalar, "carried over the bounds", ("packed",), "scalar_gate", plants="states carried over"),
    Bug("scalar: later rows are decayed behind", SCALAR, scalar, "gates of packed", ("gated-calls",), "scalar_gate", known=False, plants="later rows are decayed behind"),
    Bug("scalar: tokens from 64 on", SCALAR, scalar, "does not fill its chunk", ("tails", "fine-long"), "scalar_gate", known=False, plants="tokens from 64 on"),
    Bug("state to bf16 where gates are given", "a path of its own for gates", recurrent, "the state is kept in bf16", ("unit-gates", "fine-packed", "fine-decode")),
    Bug("beta to bf16 where gates are given", "a path of its own for gates", recurrent, "beta is rounded to bf16", ("unit-gates",)),
    Bug("inputs to tf32 where gates are given", "matrix units on float32", recurrent, "rounded to tf32", ("unit-gates",)),
    Bug("state to bf16 in packed calls", "a path of its own for cu_seqlens", recurrent, "the state is kept in bf16", ("fine-packed",)),
    Bug("state to bf16 in calls of one token", "a decode path of its own", recurrent, "rounded to bf16", ("fine-decode",)),
    Bug("state to bf16 in later rows", "fla#671: results that depend on the batch", recurrent, "rows and heads behind the first", ("fine-heads",), known=False),
    Bug("rows beyond the third as the third", "fla#671: results that depend on the batch", recurrent, "rows and heads behind the first", ("fine-heads",), known=False),
    Bug("gate late in calls of one token", "a decode path of its own", recurrent, "gates of packed sequences, of single tokens", ("gated-calls", "fine-decode"), known=False),
    Bug("gates of the first head", "gates broadcast over heads", recurrent, "of heads or of rows", ("gated-calls", "fine-heads"), known=False),
    Bug("gates ignored in packed calls", "gates that are not passed on", recurrent, "gates of packed sequences", ("gated-calls", "fine-packed"), known=False),
    Bug("gates below 1/8 clamped", "a guard against underflow", recurrent, "where the gates are applied", ("gates",), known=False),
    Bug("initial state ignored beyond 64 tokens", "a chunk path without it", recurrent, "the initial state is ignored", ("fine-long",)),
    Bug("columns beyond K", "a tile of values as wide as the keys", recurrent, "wider than keys", ("fine-widths",), known=False),
    Bug("columns beyond 32", "a tile of values narrower than V", recurrent, "wider than keys", ("fine-widths",), known=False),
    Bug("scale ignored where gates are given", "a path of its own for gates", recurrent, "the scale of the outputs with gates", ("fine-scales",), known=False),
    Bug("beta of the first micro-step", "DeltaProduct", recurrent, "which beta belongs to which micro-step", ("fine-steps",), "delta_product", known=False),
)  # fmt: skip
"""All of them; the list grows with reports."""

ALONE = {
    "integers": "fifth column lost",
    "tails": "tail forgets",
    "beta-above-one": "beta clipped",
    "beta-fine": "beta to bf16",
    "state-fine": "state to bf16 after chunks",
    "range": "state clamped",
    "outputs-fine": "outputs to bf16",
    "inputs-fine": "inputs to tf32",
    "coefficients": "K K' to bf16",
    "initial-state": "initial state to bf16",
    "packed": "states carried over",
    "decode": "single token forgets",
    "prefix": "state in place",
    "no-tokens": "no tokens give zero",
    "heads": "beta of the first head",
    "scale": "scale ignored",
    "gates": "log gates to fp16",
    "strong-gates": "gates as exp(G) exp(-G)",
    "delta-product": "gate each micro-step",
    "channel-gates": "gate along values",
    "rwkv7": "z reads after the decay",
    "scalar-gate": "write is decayed",
    "unit-gates": "inputs to tf32 where gates are given",
    "gated-calls": "gate late in calls of one token",
    "fine-packed": "state to bf16 in packed calls",
    "fine-decode": "state to bf16 in calls of one token",
    "fine-heads": "state to bf16 in later rows",
    "fine-long": "initial state ignored beyond 64 tokens",
    "fine-widths": "columns beyond K",
    "fine-scales": "scale ignored where gates are given",
    "fine-steps": "beta of the first micro-step",
}
"""For each family a bug that no other family sees; for a combined one, a bug that no family sees which is not combined."""
