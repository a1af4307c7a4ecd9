"""DeltaProduct against flash-linear-attention: one run, one card, the same inputs, both checked against float64.

    python -m mirrormata.benchmarks.kernels [--parts plain,long] [--no-peer] [--seconds 500] [--output FILE]

Times are medians (and 20 and 80 per cent quantiles) in milliseconds with the L2 cache flushed: through the public function
with autograd; `graph` the same call captured in a CUDA graph, which leaves out the host's share; `host` the milliseconds
that the call keeps the host, nothing waited for.  An output of the same card and versions keeps the parts that are not run.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_accuracy import (
    Row,
    error,
    errors_by_length,
    exactness,
    gradient_errors,
    random_inputs,
)
from mirrormata.benchmarks.kernel_peer import compile_peer, peer_chunk, peer_recurrent, peer_version
from mirrormata.benchmarks.kernel_timing import Pass, captured, copy_rate, host, milliseconds, product_rate
from mirrormata.benchmarks.machine import driver_version, results_file
from mirrormata.kernels import delta_product

SCALE = 0.125
SHAPES = {
    "st32": (1024, 128, 4, 32, 1),
    "st32_nh4": (1024, 128, 4, 32, 4),
    "st128_nh4": (256, 128, 8, 128, 4),
    "lm": (4, 4096, 16, 128, 1),
    "lm_nh2": (4, 4096, 16, 128, 2),
}
"""B, T, H, D, n_h."""
TARGETS = {
    "st32": (12, 6),
    "st32_nh4": (9, 5),
    "st128_nh4": (3.5, 2.5),
    "lm": (2.5, 1.8),
    "lm_nh2": (2.5, 1.5),
}
LONG = (1, 1 << 20, 1, 32, 4)

CHECKS: dict[str, Callable[[bool], list[Row]]] = {
    "gradients": lambda _peer: gradient_errors(),
    "exactness": lambda _peer: exactness(1 << 20),
    "errors": errors_by_length,
}


def passes(function: Callable[..., Tensor], leaves: list[Tensor]) -> tuple[Pass, Pass]:
    """Forward without gradients, and forward and backward through autograd."""
    do = torch.randn_like(leaves[0])

    def forward() -> None:
        with torch.no_grad():
            function(*leaves)

    def both() -> None:
        for leaf in leaves:
            leaf.grad = None
        torch.autograd.backward(function(*leaves), do)

    return forward, both


def timed(function: Callable[..., Tensor], leaves: list[Tensor], graphs: tuple[str, ...]) -> Row:
    """Times of both passes; those named in `graphs` also as CUDA graphs. A backward pass that is refused says why."""
    row: Row = {}
    for name, run in zip(("forward", "both"), passes(function, leaves), strict=True):
        try:
            row[name] = milliseconds(run)
        except RuntimeError as failure:
            if name == "forward":
                raise
            row["backward refused"] = str(failure).splitlines()[0][:200]
            continue
        row[f"{name} host"] = host(run)
        if name in graphs:
            replay = captured(run)
            row[f"{name} graph"] = None if replay is None else milliseconds(replay)
    return row


def functions(n_h: int, dtype: torch.dtype, gate: str) -> dict[str, Callable[..., Tensor]]:
    """Ours and the peer's fastest mode for the dtype; the peer has no gates in linear space."""

    def ours(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, *gates: Tensor) -> Tensor:
        g, a = (gates[0] if gate == name else None for name in ("g", "a"))
        o: Tensor = delta_product(q, k, v, beta, g, a, householders=n_h, scale=SCALE)[0]
        return o

    def peer(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        if dtype == torch.float32:
            return peer_recurrent(q, k, v, beta, n_h, SCALE)
        return peer_chunk(q, k, v, beta, g, n_h, SCALE)

    return {"ours": ours} if gate == "a" else {"ours": ours, "FLA": peer}


def gates(gate: str, q: Tensor) -> list[Tensor]:
    """Gates near 1 in float32: their logarithms g, or a themselves."""
    g = -0.1 * torch.rand(q.shape[:3], device=q.device)
    return [] if not gate else [(g if gate == "g" else g.exp()).requires_grad_()]


def compare(name: str, dtype: torch.dtype, gate: str, peer: bool) -> Row:
    """Times and errors of ours and the peer's at one shape."""
    B, T, H, D, n_h = SHAPES.get(name, LONG)
    leaves = [x.requires_grad_() for x in random_inputs(B, T, H, D, n_h, dtype, 0)]
    leaves += gates(gate, leaves[0])
    row: Row = {"shape": name, "dtype": str(dtype)[6:], "gate": gate, "B T H D n_h": [B, T, H, D, n_h]}
    do = torch.randn_like(leaves[0])
    truth = [] if name == "long" else float64_results(leaves, do, n_h, gate)
    for who, function in functions(n_h, dtype, gate).items():
        if who == "FLA" and not peer:
            continue
        try:
            # of the peer's backward pass `kernel_peers` has a graph
            graphs = () if dtype == torch.float32 or name == "long" else ("forward", "both")
            row[who] = timed(function, leaves, graphs if who == "ours" else graphs[:1])
            o = function(*leaves)
            found = [o] if "both" not in row[who] else [o, *torch.autograd.grad(o, leaves, do)]
            row[who]["finite"] = all(bool(torch.isfinite(x).all()) for x in found)
            if truth:
                row[who]["error"] = error(found[0][:1], truth[0])
                row[who]["gradient errors"] = [
                    error(x[:1], y) for x, y in zip(found[1:], truth[1:], strict=False)
                ]
        except Exception as failure:
            row[who] = {"failed": f"{type(failure).__name__}: {failure}".splitlines()[0][:200]}
    return row


def float64_results(leaves: list[Tensor], do: Tensor, n_h: int, gate: str) -> list[Tensor]:
    """Outputs and gradients of the first sequence in float64."""
    wide = [x[:1].detach().double().requires_grad_() for x in leaves]
    g, a = (wide[4] if gate == name else None for name in ("g", "a"))
    how: Row = {"householders": n_h, "scale": SCALE, "backend": "torch", "mode": "chunk"}
    q, k, v, beta = wide[:4]
    o = delta_product(q, k, v, beta, g, a, **how)[0]
    return [o.detach(), *torch.autograd.grad(o, wide, do[:1].double())]


def forward_floor(name: str, rate: float, size: int = 2) -> float:
    """Milliseconds to read each input and write the output once."""
    B, T, H, D, n_h = SHAPES[name]
    return B * T * H * size * (2 * D + 2 * D * n_h + n_h) / rate * 1e3


def ratio(row: Row, which: str) -> float:
    """The peer's time over ours."""
    if not row.get("FLA", {}).get(which) or not row["ours"].get(which):
        return math.nan
    return float(row["FLA"][which][0] / row["ours"][which][0])


def table(rows: list[Row], rate: float) -> str:
    """One line a shape."""
    lines = []
    for row in rows:
        if "failed" in row["ours"]:
            lines.append(f"{row['shape']:10s} {row['dtype']} {row['ours']['failed']}")
            continue
        label = f"{row['shape']:10s} {row['dtype']:8s} {row['gate']:1s}"
        parts = [
            f"{which}: {row['ours'][which][0]:.3f} ({ratio(row, which):.2f}x)"
            for which in ("forward", "both", "forward graph", "both graph")
            if row["ours"].get(which)
        ]
        if row["shape"] in SHAPES and row["dtype"] == "bfloat16":
            parts.append(f"floor {forward_floor(row['shape'], rate):.3f}")
        errors = [
            f"{row[who]['error']:.1e}" for who in ("ours", "FLA") if row.get(who, {}).get("error") is not None
        ]
        errors += [" ".join(f"{x:.0e}" for x in row["ours"].get("gradient errors", []))]
        lines.append(f"{label} {'  '.join(parts)}  errors {' '.join(errors)}")
        if "failed" in row.get("FLA", {}):
            lines.append(f"           FLA: {row['FLA']['failed']}")
    return "\n".join(lines)


PARTS: dict[str, list[tuple[str, torch.dtype, str]]] = {
    "plain": [(name, torch.bfloat16, "") for name in SHAPES],
    "long": [("long", torch.bfloat16, "")],
    "float32": [(name, torch.float32, "") for name in SHAPES],
    "g": [(name, torch.bfloat16, "g") for name in SHAPES],
    "a": [(name, torch.bfloat16, "a") for name in SHAPES],
}
"""Everything that is timed: shape, dtype, gate; the most wanted first."""


def compile_one(part: str, index: int) -> None:
    """Run the peer once on a small problem with a job's constants, to compile its kernels."""
    name, dtype, gate = PARTS[part][index]
    B, T, H, D, n_h = SHAPES.get(name, LONG)
    leaves = [x.requires_grad_() for x in random_inputs(min(B, 2), min(T, 256), H, D, n_h, dtype, 0)]
    leaves += gates(gate, leaves[0])
    for run in passes(functions(n_h, dtype, gate)["FLA"], leaves):
        run()


def main() -> None:
    """Time everything that fits in the seconds given, print the table, write the JSON."""
    parser = argparse.ArgumentParser(
        description=f"{__doc__.splitlines()[0]} Needs one H200 (sm_90) for figures like the committed ones; other CUDA GPUs have files of their own."
    )
    parser.add_argument("--no-peer", action="store_true", help="ours only")
    parser.add_argument("--parts", default=",".join([*PARTS, *CHECKS]), help="by default all")
    parser.add_argument("--seconds", type=float, default=600.0, help="start nothing new after so long")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/kernels_CARD.json")
    parser.add_argument("--compile-peer", nargs=2, metavar=("PART", "INDEX"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile_peer is not None:
        compile_one(options.compile_peer[0], int(options.compile_peer[1]))
        return
    parts = options.parts.split(",")
    if not torch.cuda.is_available():
        sys.exit("kernels: no CUDA device here")
    begun = time.monotonic()
    peer = None if options.no_peer else peer_version()
    if peer is None:
        print("flash-linear-attention is not installed or not wanted: ours only", file=sys.stderr)
    card = torch.cuda.get_device_name()
    import triton

    report: Row = {
        "card": card,
        "driver": driver_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "triton": triton.__version__,
        "fla": peer,
        "copy bytes a second": copy_rate(),
        "bfloat16 operations a second": product_rate(),
        "targets": TARGETS,
    }
    output = options.output or results_file("kernels", card)
    if output.exists():
        before = json.loads(output.read_text())
        same = all(before[key] == report[key] for key in ("card", "driver", "torch", "triton"))
        report = {**before, **report, "times": before.get("times", {})} if same else report

    def keep(name: str, value: object) -> None:
        """What is known so far goes to the file, and how long it took to the terminal."""
        report[name] = value
        output.write_text(json.dumps(report, indent=1) + "\n")
        print(f"{name} at {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)

    def late() -> bool:
        return bool(time.monotonic() - begun > options.seconds)

    wanted = [(part, i) for part in PARTS if part in parts for i in range(len(PARTS[part]))]
    if peer is not None:
        compile_peer([(part, i) for part, i in wanted if part != "a"])
        print(f"peer compiled at {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    for part, i in wanted:
        if late():
            print(f"left out: {part} {PARTS[part][i][0]}", file=sys.stderr)
            continue
        row = compare(*PARTS[part][i], peer is not None)
        print(table([row], report["copy bytes a second"]), flush=True)
        done = report.get("times", {}).get(part, []) if i else []
        keep("times", {**report.get("times", {}), part: [*done, row]})
    for check, run in CHECKS.items():
        if check in parts and not late():
            keep(check, run(peer is not None))
            for row in report[check]:
                print(
                    check,
                    " ".join(f"{n}={x:.1e}" if isinstance(x, float) else f"{n}={x}" for n, x in row.items()),
                )


if __name__ == "__main__":
    main()
