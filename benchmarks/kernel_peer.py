"""flash-linear-attention's operators on the same inputs, if it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

os.environ.setdefault("FLA_CACHE_RESULTS", "0")  # its autotuning is to happen in the run that reports it

import torch
from torch import Tensor


def peer_version() -> str | None:
    """The installed version, or None."""
    if find_spec("fla") is None:
        return None
    try:
        return version("fla-core")
    except PackageNotFoundError:
        return "unknown"


def peer_chunk(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None, n_h: int, scale: float
) -> Tensor:
    """FLA's chunk mode."""
    if n_h == 1:
        if g is None:
            o: Tensor = import_module("fla.ops.delta_rule").chunk_delta_rule(q, k, v, beta, scale=scale)[0]
        else:
            o = import_module("fla.ops.gated_delta_rule").chunk_gated_delta_rule(
                q, k, v, g, beta, scale=scale
            )[0]
        return o
    product = import_module("fla.ops.gated_delta_product").chunk_gated_delta_product
    many: Tensor = product(q, k, v, g, beta, num_householder=n_h, scale=scale)[0]
    return many


def peer_recurrent(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, n_h: int, scale: float) -> Tensor:
    """FLA's recurrent mode; n_h micro-steps as tokens, queries at the last."""
    if n_h > 1:
        B, T, H, K = q.shape
        q = torch.cat([q.new_zeros(B, T, n_h - 1, H, K), q[:, :, None]], 2).reshape(B, T * n_h, H, K)
    rule = import_module("fla.ops.delta_rule").fused_recurrent_delta_rule
    o: Tensor = rule(q, k, v, beta, scale=scale)[0]
    return o[:, n_h - 1 :: n_h]


def compile_peer(jobs: list[tuple[str, int]]) -> None:
    """Fill the compiler's cache in parallel processes, one a job of `kernels --compile-peer`, so that tuning is quick."""
    command = [sys.executable, "-m", "mirrormata.benchmarks.kernels", "--compile-peer"]
    running = [
        subprocess.Popen([*command, part, str(index)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for part, index in jobs
    ]
    for process in running:
        process.wait()
