"""Compile the kernels for sm_90 without a GPU, with their registers and spills: which variants, and how."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.pop("TRITON_INTERPRET", None)

import torch
import triton
from triton.backends.compiler import GPUTarget

from mirrormata.kernels import delta_product_fused as fused
from mirrormata.kernels import delta_product_phases as phases
from mirrormata.kernels import delta_product_recurrent as recurrent
from mirrormata.kernels import delta_product_scan as scan
from mirrormata.kernels import launching
from mirrormata.kernels.delta_product_plan import Tile
from mirrormata.kernels.delta_product_problem import Gradients, Problem


@dataclass(frozen=True)
class Variant:
    """What a user's call fixes at compile time."""

    mode: str
    width: int
    householders: int
    dtype: str = "bfloat16"
    gated: bool = False
    packed: bool = False
    even: bool = True


@dataclass(frozen=True)
class Compiled:
    """One kernel's figures."""

    kernel: str
    registers: int
    spilled: int
    shared: int


SHIPPED = (
    Variant("chunk", 32, 1),
    Variant("chunk", 32, 4),
    Variant("chunk", 64, 1),
    Variant("chunk", 128, 1),
    Variant("chunk", 128, 2),
    Variant("recurrent", 32, 1, "float32"),
    Variant("recurrent", 128, 1, "float32"),
    Variant("recurrent", 64, 2, "float32", gated=True),
    Variant("chunk", 32, 1, gated=True),
    Variant("chunk", 128, 1, gated=True),
    Variant("chunk", 32, 3, packed=True, even=False),
    Variant("chunk", 128, 2, gated=True, packed=True, even=False),
    Variant("scan", 32, 4),
)
"""Each compiles three to ten kernels."""


class StandIn:
    """A driver that has a target and nothing else."""

    get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda _: 0)


def problem_of(variant: Variant) -> Problem:
    """A problem without data."""
    B, T, H, K, n_h = (
        (1 if variant.packed else 2),
        192 if variant.even else 190,
        2,
        variant.width,
        variant.householders,
    )
    dtype = getattr(torch, variant.dtype)

    def new(*shape: int, dtype: torch.dtype = dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    cu = new(4, dtype=torch.int64) if variant.packed else None
    gate = new(B, T, H, dtype=torch.float32) if variant.gated else None
    rows = T * n_h
    return Problem(
        new(B, T, H, K), new(B, rows, H, K), new(B, rows, H, K), new(B, rows, H), gate, None, cu, n_h, 0.125
    )


@contextlib.contextmanager
def collecting(compiled: list[Any]) -> Iterator[None]:
    """Launches compile only, and are collected."""
    before = launching.launch

    def compile_only(
        kernel: Any, grid: tuple[int, ...], tile: Tile, *arguments: Any, **constants: Any
    ) -> None:
        arguments = tuple(x.dtype if isinstance(x, torch.Tensor) else x for x in arguments)
        compiled.append(kernel.warmup(*arguments, grid=grid, **constants, **tile.options()))

    launching.launch = compile_only
    try:
        yield
    finally:
        launching.launch = before


def compile_variant(variant: Variant, plan: Any = None) -> list[Any]:
    """Compiled forward and backward kernels of a variant."""
    triton.runtime.driver.set_active(StandIn())
    compiled: list[Any] = []
    x = problem_of(variant)
    do = torch.empty_like(x.v[:, : x.tokens])
    with collecting(compiled):
        if variant.mode == "recurrent":
            _o, _last, errors = recurrent.run_recurrent(x, final=False, save=True)
            recurrent.recurrent_backward(x, do, None, errors)
        elif variant.mode == "scan":
            summaries, starts = scan.scan_forward(x, final=True, save=True)[2:]
            scan.scan_backward(x, do, None, [summaries, starts])
        else:
            plan = plan or fused.plan_for(x)
            if plan.fused:
                fused.fused_forward(x, plan, final=False, save=False)
                saved = fused.fused_forward(x, plan, final=False, save=True)[2]
                fused.fused_backward(x, plan, do, None, saved)
            else:
                chunks, inverses, scores = phases.phase_prepare(x, plan)
                phases.phase_advance(x, plan, chunks, inverses, scores, final=False, save=False)
                errors, states = phases.phase_advance(
                    x, plan, chunks, inverses, scores, final=False, save=True
                )[2:]
                out = Gradients.of(x)
                dstates = phases.phase_retreat(x, plan, chunks, inverses, scores, do, None, None, out.v)
                out = Gradients.of(x)
                phases.phase_gradients(x, plan, chunks, do, errors, states, dstates, out)
    return compiled


def figures(kernel: Any) -> Compiled:
    """Registers, spilled bytes and shared memory of a compiled kernel, as ptxas says."""
    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(kernel.asm["ptx"])
        file.flush()
        said = subprocess.run(
            [tools / "ptxas", "-v", "--gpu-name", "sm_90a", file.name, "-o", os.devnull],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
    registers = int(re.findall(r"Used (\d+) registers", said)[0])
    spilled = int(re.findall(r"(\d+) bytes spill stores", said)[0])
    return Compiled(kernel.metadata.name, registers, spilled, kernel.metadata.shared)


if __name__ == "__main__":
    for variant in SHIPPED:
        if sys.argv[1:] and variant.mode not in sys.argv[1:]:
            continue
        for compiled in compile_variant(variant):
            print(json.dumps({**asdict(variant), **asdict(figures(compiled))}), flush=True)
