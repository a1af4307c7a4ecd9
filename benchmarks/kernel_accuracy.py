"""Errors of the DeltaProduct kernels against float64, and exactness on words of swaps, on a GPU."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_peer import peer_chunk, peer_recurrent
from mirrormata.kernels import delta_product

Row = dict[str, Any]


def error(x: Tensor, y: Tensor) -> float:
    """‖x - y‖ / ‖y‖."""
    x, y = x.detach().double(), y.detach().double()
    return float((x - y).norm() / y.norm())


def random_inputs(
    B: int, T: int, H: int, D: int, n_h: int, dtype: torch.dtype, seed: int, beta: float | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q, unit keys, v, beta ~ U[0, 2] or fixed."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, device="cuda", generator=generator)

    k = torch.nn.functional.normalize(normal(B, T * n_h, H, D), dim=-1)
    strength = torch.rand(B, T * n_h, H, device="cuda", generator=generator) * 2
    if beta is not None:
        strength = torch.full_like(strength, beta)
    q, v = normal(B, T, H, D), normal(B, T * n_h, H, D)
    return q.to(dtype), k.to(dtype), v.to(dtype), strength.to(dtype)


def errors_by_length(peer: bool) -> list[Row]:
    """Output errors of every mode and dtype for T = 64 to 65,536, D = 64, n_h = 1."""
    rows = []
    for beta in (None, 2.0):
        for T in (64, 1024, 16384, 65536):
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                x = random_inputs(1, T, 2, 64, 1, dtype, T, beta)
                wanted = delta_product(*(y.double() for y in x), scale=0.125, mode="chunk", backend="torch")[
                    0
                ]
                row: Row = {"beta": "U[0,2]" if beta is None else "2", "T": T, "dtype": str(dtype)[6:]}
                for mode in ("recurrent", "chunk", "scan"):
                    row[mode] = error(delta_product(*x, scale=0.125, mode=mode)[0], wanted)
                if peer:
                    row["FLA recurrent"] = error(peer_recurrent(*x, 1, 0.125), wanted)
                if peer and dtype != torch.float32:
                    row["FLA chunk"] = error(peer_chunk(*x, None, 1, 0.125), wanted)
                rows.append(row)
    return rows


def gradient_errors() -> list[Row]:
    """Errors of dq, dk, dv, dbeta against float64, for the widths and n_h whose kernels compilers have got wrong."""
    rows = []
    for D, n_h, T, gated in product((32, 64, 128), (1, 2, 4), (301, 320), (False, True)):
        inputs = [*random_inputs(2, T, 2, D, n_h, torch.bfloat16, D + n_h)]
        generator = torch.Generator("cuda").manual_seed(7)
        do = torch.randn(2, T, 2, D, device="cuda", generator=generator).bfloat16()
        if gated:
            inputs.append(1 - 0.1 * torch.rand(2, T, 2, device="cuda", generator=generator))

        def gradients(
            dtype: torch.dtype, inputs: Any = inputs, do: Tensor = do, n_h: int = n_h, **how: Any
        ) -> Any:
            leaves = [y.to(dtype).detach().requires_grad_() for y in inputs]
            gate = leaves[4] if len(leaves) > 4 else None
            q, k, v, beta = leaves[:4]
            o = delta_product(q, k, v, beta, a=gate, householders=n_h, scale=0.125, **how)[0]
            return torch.autograd.grad(o, leaves, do.to(dtype))

        for dtype, mode in ((torch.bfloat16, "chunk"), (torch.float32, "recurrent")):
            rounded = [y.to(dtype) for y in inputs]
            wanted = gradients(torch.float64, rounded, backend="torch", mode="chunk")
            names = ("dq", "dk", "dv", "dbeta", "da")[: len(inputs)]
            row: Row = {"D": D, "n_h": n_h, "T": T, "gated": gated, "dtype": str(dtype)[6:], "mode": mode}
            for n, found, true in zip(names, gradients(dtype, mode=mode), wanted, strict=True):
                row[n] = error(found, true)
            rows.append(row)
    return rows


def swap_words(tokens: int, seed: int) -> tuple[tuple[Tensor, Tensor, Tensor, Tensor], Tensor, Tensor]:
    """A random word over S_5, four swaps a token with keys e_i - e_j, beta 1: inputs, true outputs, true last state.

    Queries are (1, 2, 3, 4, 5), so that an output tells the whole state.
    """
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.rand(tokens * 4, 5, generator=generator).argsort(1)[:, :2]
    k = torch.zeros(tokens * 4, 5)
    k.scatter_(1, pairs[:, :1], 1.0).scatter_(1, pairs[:, 1:], -1.0)
    rows, history = list(range(5)), []
    for step, (i, j) in enumerate(pairs.tolist()):
        rows[i], rows[j] = rows[j], rows[i]
        if step % 4 == 3:
            history.append(tuple(rows))
    columns = torch.tensor(history)
    outputs = torch.zeros(tokens, 5).scatter_(1, columns, torch.arange(1.0, 6.0).expand(tokens, 5))
    state = torch.nn.functional.one_hot(columns[-1], 5).float()
    q = torch.arange(1.0, 6.0).expand(1, tokens, 1, 5).contiguous()
    inputs = (q, k[None, :, None], torch.zeros(1, tokens * 4, 1, 5), torch.ones(1, tokens * 4, 1))
    return inputs, outputs, state


def exactness(tokens: int) -> list[Row]:
    """Wrong entries of the final state and of all outputs, in every mode and dtype."""
    inputs, outputs, state = swap_words(tokens, 0)
    outputs, state = outputs.cuda(), state.cuda()
    initial = torch.eye(5, device="cuda")[None, None]
    rows = []
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        x = [y.to("cuda", dtype) for y in inputs]
        for mode in ("recurrent", "chunk", "scan"):
            o, final = delta_product(
                *x, householders=4, initial_state=initial, output_final_state=True, scale=1.0, mode=mode
            )
            wrong = int((final[0, 0] != state).sum())
            rows.append(
                {
                    "tokens": tokens,
                    "dtype": str(dtype)[6:],
                    "mode": mode,
                    "wrong": wrong,
                    "outputs wrong": int((o[0, :, 0] != outputs).sum()),
                }
            )
    return rows
