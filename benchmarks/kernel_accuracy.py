"""Errors of the DeltaProduct kernels against float64, and exactness on words of swaps, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_peer import peer_chunk
from mirrormata.kernels import delta_product

Row = dict[str, Any]


def error(x: Tensor, y: Tensor) -> float:
    """‖x - y‖ / ‖y‖."""
    return float((x.double() - y.double()).norm() / y.double().norm())


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
                modes = ("recurrent", "chunk", "scan") if dtype != torch.float32 else ("recurrent", "scan")
                row: Row = {"beta": "U[0,2]" if beta is None else "2", "T": T, "dtype": str(dtype)[6:]}
                for mode in modes:
                    row[mode] = error(delta_product(*x, scale=0.125, mode=mode)[0], wanted)
                if peer and dtype != torch.float32:
                    row["FLA chunk"] = error(peer_chunk(*x, None, 1, 0.125), wanted)
                rows.append(row)
    return rows


def gradient_errors() -> list[Row]:
    """Errors of dq, dk, dv, dbeta against float64, for the widths and n_h whose kernels compilers have got wrong."""
    rows = []
    for D in (32, 64, 128):
        for n_h in (1, 2, 4):
            x = random_inputs(2, 301, 2, D, n_h, torch.bfloat16, D + n_h)
            do = torch.randn(2, 301, 2, D, device="cuda", generator=torch.Generator("cuda").manual_seed(7))

            def gradients(dtype: torch.dtype, n_h: int = n_h, do: Tensor = do, x: Any = x, **how: Any) -> Any:
                leaves = [y.to(dtype).detach().requires_grad_() for y in x]
                o = delta_product(*leaves, householders=n_h, scale=0.125, **how)[0]
                return torch.autograd.grad(o, leaves, do.bfloat16().to(dtype))

            wanted = gradients(torch.float64, backend="torch", mode="chunk")
            for dtype, mode in ((torch.bfloat16, "chunk"), (torch.float32, "recurrent")):
                got = gradients(dtype, mode=mode)
                row: Row = {"D": D, "n_h": n_h, "dtype": str(dtype)[6:], "mode": mode}
                rows.append(
                    row
                    | {
                        n: error(p, r)
                        for n, p, r in zip(("dq", "dk", "dv", "dbeta"), got, wanted, strict=True)
                    }
                )
    return rows


def swap_words(tokens: int, seed: int) -> tuple[tuple[Tensor, Tensor, Tensor, Tensor], list[list[int]]]:
    """A random word over S_5, four swaps a token with keys e_i - e_j, beta 1; and the true state after it as a matrix."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.rand(tokens * 4, 5, generator=generator).argsort(1)[:, :2]
    k = torch.zeros(tokens * 4, 5)
    k.scatter_(1, pairs[:, :1], 1.0).scatter_(1, pairs[:, 1:], -1.0)
    rows = list(range(5))
    for i, j in pairs.tolist():
        rows[i], rows[j] = rows[j], rows[i]
    state = [[int(rows[i] == j) for j in range(5)] for i in range(5)]
    q = torch.ones(1, tokens, 1, 5)
    return (q, k[None, :, None], torch.zeros(1, tokens * 4, 1, 5), torch.ones(1, tokens * 4, 1)), state


def exactness(tokens: int) -> list[Row]:
    """Wrong entries of the final state, and outputs that are not 1 (each column of a permutation sums to 1)."""
    inputs, state = swap_words(tokens, 0)
    initial = torch.eye(5, device="cuda")[None, None]
    wanted = torch.tensor(state, device="cuda")
    rows = []
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        x = [y.to("cuda", dtype) for y in inputs]
        for mode in ("recurrent", "chunk", "scan"):
            o, final = delta_product(
                *x, householders=4, initial_state=initial, output_final_state=True, scale=1.0, mode=mode
            )
            wrong = int((final[0, 0] != wanted).sum())
            rows.append(
                {
                    "tokens": tokens,
                    "dtype": str(dtype)[6:],
                    "mode": mode,
                    "wrong": wrong,
                    "outputs wrong": int((o != 1).sum()),
                }
            )
    return rows


SECTIONS: dict[str, Callable[..., list[Row]]] = {"errors": errors_by_length, "gradients": gradient_errors}
