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
from unittest.mock import patch

os.environ.pop("TRITON_INTERPRET", None)

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor

from mirrormata.kernels._launching import Launcher
from mirrormata.kernels.convolution._triton_short_convolution import short_gradients, short_rows_of
from mirrormata.kernels.delta import _hopper
from mirrormata.kernels.delta._operator import run_backward, run_forward
from mirrormata.kernels.delta._problem import Problem
from mirrormata.kernels.norms._triton_norms import rms_gradients, rms_rows_of, unit_rows_of
from mirrormata.kernels.scans._segments import cut
from mirrormata.kernels.scans._torch_rank_one import Inputs as RankOneInputs
from mirrormata.kernels.scans._triton_rank_one_chunks import CHUNK, chunk_backward, chunk_forward
from mirrormata.kernels.scans._triton_selective import selective_backward, selective_forward


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
    values: int = 0
    """Width of the values; 0: that of the keys."""


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
"""Of `delta_product`; each compiles two to nine kernels."""
WIDTHS = (
    Variant("chunk", 128, 1, gated=True, values=32),
    Variant("chunk", 128, 2, values=16),
    Variant("scan", 16, 1, values=64),
    Variant("scan", 256, 1, "float32", values=16),
)
"""Keys much wider than values, or narrower: tiles must divide both, and all of a segment's map does not fit into memory."""
HOPPER = (
    Variant("hopper", 128, 1),
    Variant("hopper", 128, 1, gated=True, even=False),
    Variant("hopper", 128, 3, gated=True, values=64),
    Variant("hopper", 64, 2, "float16"),
    Variant("hopper", 256, 1, gated=True),
)
"""Forward passes on Hopper; each compiles two kernels."""
HOPPER_TRAINING = (
    Variant("hopper_training", 128, 1),
    Variant("hopper_training", 128, 1, gated=True, even=False),
    Variant("hopper_training", 128, 3, gated=True, values=64),
    Variant("hopper_training", 64, 2, "float16"),
)
"""Both passes on Hopper; each compiles four kernels."""
WIDE = (Variant("chunk", 256, 1), Variant("chunk", 256, 1, gated=True))
"""Chains of 256 keys."""
OTHERS = (
    Variant("rows", 128, 1),
    Variant("selective", 64, 1),
    Variant("rank_one", 128, 1),
    Variant("rank_one", 64, 1, packed=True),
    Variant("rank_one", 16, 1, dtype="float32"),
)
"""Norms and the short convolution; the selective scan; the rank-one scan in chunks."""


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
    rows, V = T * n_h, variant.values or K
    inputs = new(B, T, H, K), new(B, rows, H, K), new(B, rows, H, V), new(B, rows, H), gate, None, cu
    mode = "chunk" if variant.mode in ("hopper", "hopper_training") else variant.mode
    return Problem.of(n_h, 0.125, mode, *inputs)


def as_types(arguments: tuple[Any, ...]) -> list[Any]:
    """Arguments as a compilation takes them: a dtype for each tensor, in records too."""
    return [
        type(x)(*as_types(x))
        if isinstance(x, tuple)
        else MockTensor.wrap_dtype(x.dtype)
        if isinstance(x, torch.Tensor)
        else x
        for x in arguments
    ]


@contextlib.contextmanager
def collecting(compiled: list[Any]) -> Iterator[None]:
    """Launches compile only, and are collected."""
    before = Launcher.__call__

    def compile_only(launcher: Launcher, grid: tuple[int, ...], *arguments: Any) -> None:
        kernel = launcher.function.warmup(
            *as_types(arguments), grid=grid, **launcher.constants, **launcher.options
        )
        if kernel not in compiled:  # the same for calls alike
            compiled.append(kernel)

    Launcher.__call__ = compile_only  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Launcher.__call__ = before  # type: ignore[method-assign]


def compile_variant(variant: Variant) -> list[Any]:
    """Compiled forward and backward kernels of a variant."""
    triton.runtime.driver.set_active(StandIn())
    compiled: list[Any] = []
    x = problem_of(variant)
    with collecting(compiled):
        if variant.mode == "rows":
            weight = torch.ones_like(x.inputs.q[0, 0])[None]
            rms_rows_of(x.inputs.q, weight, 1e-6, x.inputs.q.dtype)
            rms_gradients(x.inputs.q, weight, x.inputs.q, 1e-6)
            unit_rows_of(x.inputs.k, None, True)
            unit_rows_of(x.inputs.k, x.inputs.k, True)
            taps = x.inputs.q.new_empty(x.inputs.q.shape[0], variant.width, 4)
            short_rows_of(x.inputs.q, taps)
            short_gradients(x.inputs.q, taps, x.inputs.q)
        elif variant.mode == "hopper":
            with patch.object(_hopper, "multiprocessors", lambda _: 132):
                _hopper.run_hopper(x, final=True)
        elif variant.mode == "hopper_training":
            with patch.object(_hopper, "multiprocessors", lambda _: 132):
                o, _last, *saved = _hopper.run_hopper(x, final=True, save=True)
                assert o is not None
                found = [y for y in saved if y is not None]
                _hopper.differentiate_hopper(x, torch.empty_like(o), None, found)
        elif variant.mode == "selective":
            u = x.inputs.q.new_empty(1, 2, 2048, variant.width)
            step, states = torch.empty_like(u, dtype=torch.float32), u.new_empty(1, 2, 2048, 16)
            rates, initial = (step.new_empty(1, *size, variant.width, 16) for size in ((), (2,)))
            given = u, step, rates, states, states, initial
            for signed in (False, True):
                y, final, kept = selective_forward(given, signed, torch.float32, keep=True)
                selective_backward(given, kept, y, final, signed)
        elif variant.mode == "rank_one":
            q, v = x.inputs.q, x.inputs.v
            segments = cut(v.shape[0], v.shape[1], CHUNK, x.cu)
            state = q.new_empty(segments.sequences, q.shape[2], q.shape[3], v.shape[3], dtype=torch.float32)
            inputs = RankOneInputs(q, q, q, q, q, v)
            o, final, prepared, kept = chunk_forward(inputs, state, 0.125, segments, keep=True)
            chunk_backward(inputs, prepared, kept, o, final, 0.125, segments)
        else:
            scan = variant.mode == "scan"
            # packed sequences and four factors differ in masks and constants, which saving passes have too
            if variant.mode == "chunk" and not variant.packed and variant.householders < 4:
                run_forward(x, final=False, save=False)
            o, _final, *saved = run_forward(x, final=scan, save=True)
            assert o is not None
            run_backward(x, torch.empty_like(o), None, [kept for kept in saved if kept is not None])
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
    chosen = [
        x for x in SHIPPED + HOPPER + HOPPER_TRAINING + OTHERS if not sys.argv[1:] or x.mode in sys.argv[1:]
    ]
    named: dict[tuple[str, ...], tuple[Variant, ...]] = {("widths",): WIDTHS, ("wide",): WIDE}
    for variant in named.get(tuple(sys.argv[1:]), chosen):
        for compiled in compile_variant(variant):
            print(json.dumps({**asdict(variant), **asdict(figures(compiled))}), flush=True)
