"""Compile the scans' kernels for sm_90 without a GPU, through their own launches, with registers and spills."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.pop("TRITON_INTERPRET", None)

import torch
import triton
from torch import Tensor

from mirrormata.kernels.scans._segments import Segments, cut
from mirrormata.tests.kernels.kernel_variants import StandIn, as_types

diagonal: Any = import_module("mirrormata.kernels.scans._triton_diagonal")
rank_one: Any = import_module("mirrormata.kernels.scans._triton_rank_one")


@dataclass(frozen=True)
class Variant:
    """What a user's call fixes at compile time; `width` is the key dimension of the rank-one scan."""

    scan: str
    dtype: str = "float32"
    packed: bool = False
    pairs: bool = False
    width: int = 0


QUICK = (
    Variant("diagonal"),
    Variant("rank_one", width=64),
)
LONG = (
    Variant("diagonal", packed=True, pairs=True),
    Variant("diagonal", "bfloat16"),
    Variant("diagonal", "float64"),
    Variant("diagonal", packed=True),
    Variant("diagonal", pairs=True),
    Variant("rank_one", "bfloat16", width=64),
    Variant("rank_one", "float64", width=64),
    Variant("rank_one", packed=True, width=64),
    *(Variant("rank_one", width=width) for width in (16, 32, 128, 256)),
)
"""With QUICK, all that are shipped: five kernels of a diagonal variant, three of a rank-one variant."""


class CompileOnly:
    """In a kernel's place: its launch compiles, and is collected."""

    def __init__(self, kernel: Any, compiled: dict[str, Any]) -> None:
        self.kernel, self.fn, self.compiled = kernel, kernel.fn, compiled

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        def launch(*arguments: Any, **constants: Any) -> None:
            result = self.kernel.warmup(*as_types(arguments), grid=grid, **constants)
            shape = {name: x.value for name, x in constants["F"]._asdict().items()}
            flags = [k.lower() for k in ("ADJOINT", "EXCLUSIVE", "KEEP") if (shape | constants).get(k)]
            self.compiled[" ".join([self.fn.__name__, *flags])] = result

        return launch


def compile_variant(variant: Variant) -> dict[str, Any]:
    """The kernels of the forward and the backward pass by name."""
    triton.runtime.driver.set_active(StandIn())
    compiled: dict[str, Any] = {}
    dtype = getattr(torch, variant.dtype)
    state_dtype = torch.float64 if dtype == torch.float64 else torch.float32

    def new(*shape: int, dtype: torch.dtype = dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    rows, N = (1, 3) if variant.packed else (2, 2)
    segments = cut(rows, 1024, 32, new(4, dtype=torch.int64) if variant.packed else None)
    if variant.scan == "diagonal":
        diagonal_kernels(variant, new, rows, N, state_dtype, segments, compiled)
    else:
        rank_one_kernels(variant, new, rows, N, state_dtype, segments, compiled)
    return compiled


def diagonal_kernels(
    variant: Variant,
    new: Any,
    rows: int,
    N: int,
    state_dtype: torch.dtype,
    segments: Segments,
    compiled: dict[str, Any],
) -> None:
    pair = (2,) if variant.pairs else ()
    x, state = new(rows, 1024, 64, *pair), new(N, 64, *pair, dtype=state_dtype)
    kernels = diagonal.segment_states, diagonal.segment_summaries
    diagonal.segment_states, diagonal.segment_summaries = (CompileOnly(k, compiled) for k in kernels)
    try:
        diagonal.diagonal_scan_segments(x, x, state, segments, backwards=False, pairs=variant.pairs)
        diagonal.diagonal_scan_gradients(
            x, x, x, state, state, segments, backwards=False, pairs=variant.pairs
        )
    finally:
        diagonal.segment_states, diagonal.segment_summaries = kernels


def rank_one_kernels(
    variant: Variant,
    new: Any,
    rows: int,
    N: int,
    state_dtype: torch.dtype,
    segments: Segments,
    compiled: dict[str, Any],
) -> None:
    x = new(rows, 1024, 2, variant.width)
    state = new(N, 2, variant.width, variant.width, dtype=state_dtype)
    kernels = rank_one.rank_one_forward_kernel, rank_one.rank_one_backward_kernel
    rank_one.rank_one_forward_kernel, rank_one.rank_one_backward_kernel = (
        CompileOnly(k, compiled) for k in kernels
    )
    inputs = rank_one.Inputs(x, x, x, x, x, x)
    try:
        rank_one.rank_one_forward(inputs, state, 1.0, segments, keep=False)
        _, _, kept = rank_one.rank_one_forward(inputs, state, 1.0, segments, keep=True)
        rank_one.rank_one_backward(inputs, kept, x, state, 1.0, segments)
    finally:
        rank_one.rank_one_forward_kernel, rank_one.rank_one_backward_kernel = kernels


def figures(kernel: Any) -> dict[str, int]:
    """Registers a thread and spilled bytes, as ptxas says; fused products and sums (or the leave to fuse them); warps."""
    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(kernel.asm["ptx"])
        file.flush()
        said = subprocess.run(
            [tools / "ptxas", "-v", "--gpu-name", "sm_90a", file.name, "-o", os.devnull],
            capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
    registers = int(re.findall(r"Used (\d+) registers", said)[0])
    spilled = int(re.findall(r"(\d+) bytes spill stores", said)[0])
    fused = kernel.asm["ptx"].count("fma.rn.f") + int(kernel.metadata.enable_fp_fusion)
    return {"registers": registers, "spilled": spilled, "fused": fused, "warps": kernel.metadata.num_warps}


if __name__ == "__main__":
    for variant in {"quick": QUICK, "long": LONG}[sys.argv[1]]:
        for name, kernel in compile_variant(variant).items():
            print(json.dumps({**asdict(variant), "kernel": name, **figures(kernel)}), flush=True)
