"""Times of calls on a GPU, and the rates of the card: copies and matrix products."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

Pass = Callable[[], Any]


def milliseconds(run: Pass, budget: int = 100) -> list[float]:
    """Median, 20 and 80 per cent quantile."""
    from triton.testing import do_bench

    median, low, high = do_bench(run, warmup=20, rep=budget, quantiles=[0.5, 0.2, 0.8])
    return [round(x, 4) for x in (median, low, high)]


def capture(run: Pass) -> Pass:
    """The call as a CUDA graph; a `RuntimeError` where it cannot be captured."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def captured(run: Pass) -> Pass | None:
    """The same, or None where it cannot be captured."""
    try:
        return capture(run)
    except RuntimeError:
        torch.cuda.synchronize()
        return None


def host(run: Pass) -> float:
    """Median milliseconds until the call returns, the device idle before it."""
    times = []
    for _ in range(30):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    torch.cuda.synchronize()
    return round(sorted(times)[15] * 1e3, 4)


def copy_rate() -> float:
    """Bytes read and written a second by a large copy."""
    x = torch.randn(1 << 28, device="cuda")
    y = torch.empty_like(x)
    return 8 * x.numel() / milliseconds(lambda: y.copy_(x))[0] * 1e3


def product_rate() -> float:
    """Operations a second of a large bfloat16 matrix product."""
    x, y = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return float(2 * 8192**3 / milliseconds(lambda: x @ y)[0] * 1e3)
