"""`short_convolution` and `selective_scan` on a GPU: the kernels and plain torch against float64, and against each other in time.

    python -m mirrormata.benchmarks.layer_kernels [--output FILE]

Times are milliseconds of forward and backward: medians, with the 20th and 80th percentile.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.machine import driver_version, installed, results_file
from mirrormata.kernels import selective_scan, short_convolution

Row = dict[str, Any]
CONVOLUTIONS = ((4, 256, 40, 128, 4), (4, 256, 39, 128, 4), (2, 64, 512, 256, 4))
"""S, B, T, C, taps."""
SELECTIVE = ((4, 256, 40, 128, 16), (1, 8, 2048, 512, 16))
"""S, B, T, C, N."""
BACKENDS = ("triton", "torch")


def convolution_inputs(shape: Sequence[int], device: str) -> list[Tensor]:
    """x in bfloat16, weights."""
    S, B, T, C, taps = shape
    return [torch.randn(S, B, T, C, device=device).bfloat16(), torch.randn(S, C, taps, device=device)]


def selective_inputs(shape: Sequence[int], device: str) -> list[Tensor]:
    """u, w and r in bfloat16, steps and rates in float32."""
    S, B, T, C, N = shape

    def normal(*size: int) -> Tensor:
        return torch.randn(size, device=device)

    steps, rates = 0.1 * normal(S, B, T, C).abs(), normal(S, C, N).abs()
    narrow = normal(S, B, T, C), normal(S, B, T, N), normal(S, B, T, N)
    u, w, r = (x.bfloat16() for x in narrow)
    return [u, steps, rates, w, r, normal(S, B, C, N)]


OPERATORS: dict[str, tuple[Callable[..., Any], Callable[..., list[Tensor]], tuple[tuple[int, ...], ...]]] = {
    "short_convolution": (short_convolution, convolution_inputs, CONVOLUTIONS),
    "selective_scan": (partial(selective_scan, signed=True), selective_inputs, SELECTIVE),
}


def both(operator: Callable[..., Any], leaves: list[Tensor], do: Tensor, backend: str) -> list[Tensor]:
    """Outputs and gradients."""
    found = operator(*leaves, backend=backend)
    y = found[0] if isinstance(found, tuple) else found
    return [y.detach(), *torch.autograd.grad(y, leaves, do.to(y.dtype))]


def compare(name: str, shape: tuple[int, ...], device: str, timed: Callable[[Callable[[], Any]], Any]) -> Row:
    """Relative errors of outputs and of each gradient against float64, and times, of both backends."""
    operator, inputs_of, _ = OPERATORS[name]
    leaves = [x.requires_grad_() for x in inputs_of(shape, device)]
    do = torch.randn_like(leaves[0])
    exact = both(operator, [x.detach().double().requires_grad_() for x in leaves], do.double(), "torch")
    row: Row = {"operator": name, "shape": list(shape)}
    for backend in BACKENDS:
        found = both(operator, leaves, do, backend)
        errors = [float((x.double() - y).norm() / y.norm()) for x, y in zip(found, exact, strict=True)]
        run = partial(both, operator, leaves, do, backend)
        row[backend] = {"errors": errors, "milliseconds": timed(run)}
    return row


def table_rows(document: Row) -> list[list[str]]:
    """A row for each shape: times of both backends, their ratio, and the largest error of each."""
    rows = []
    for row in document["rows"]:
        times = [row[backend]["milliseconds"] for backend in BACKENDS]
        errors = [f"{max(row[backend]['errors']):.1e}" for backend in BACKENDS]
        shown = [f"{middle:.2f} ({low:.2f} to {high:.2f})" for middle, low, high in times]
        ratio = f"{times[1][0] / times[0][0]:.1f}"
        shape = ", ".join(str(n) for n in row["shape"])
        rows.append([f"`{row['operator']}`", shape, *shown, ratio, *errors])
    return rows


def main() -> None:
    """All shapes, printed and written."""
    from mirrormata.benchmarks.kernel_timing import milliseconds

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/layer_kernels_CARD.json")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("layer_kernels: no CUDA device here")
    card = torch.cuda.get_device_name()
    versions = {name: installed(name) for name in ("torch", "triton")}
    report: Row = {"card": card, "driver": driver_version(), **versions, "rows": []}
    output = options.output or results_file("layer_kernels", card)
    for name, (_, _, shapes) in OPERATORS.items():
        for shape in shapes:
            report["rows"].append(compare(name, shape, "cuda", milliseconds))
            print(json.dumps(report["rows"][-1]), flush=True)
            output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
