"""DeltaProduct against flash-linear-attention: one run, one card, the same inputs, both checked against float64.

    python -m mirrormata.benchmarks.kernels [--shapes st32,lm] [--no-peer] [--seconds 500] [--output FILE]

Times are medians (and 20 and 80 per cent quantiles) in milliseconds with the L2 cache flushed: `launched` through the public
function with autograd; `graph` the same call captured in a CUDA graph, which leaves out the host's share.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

Pass = Callable[[], Any]


def milliseconds(run: Pass, budget: int = 100) -> list[float]:
    """Median, 20 and 80 per cent quantile."""
    from triton.testing import do_bench

    median, low, high = do_bench(run, warmup=20, rep=budget, quantiles=[0.5, 0.2, 0.8])
    return [round(x, 4) for x in (median, low, high)]


def captured(run: Pass) -> Pass | None:
    """The call as a CUDA graph, or None where it cannot be captured."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    return graph.replay


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


def timed(function: Callable[..., Tensor], leaves: list[Tensor], *, graphs: bool) -> Row:
    """Times of both passes."""
    forward, both = passes(function, leaves)
    row: Row = {"forward": milliseconds(forward), "both": milliseconds(both)}
    if graphs:
        for name, run in (("forward graph", forward), ("both graph", both)):
            replay = captured(run)
            row[name] = None if replay is None else milliseconds(replay)
    return row


def functions(n_h: int, dtype: torch.dtype, gated: bool) -> dict[str, Callable[..., Tensor]]:
    """Ours and the peer's fastest mode for the dtype."""

    def ours(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        o: Tensor = delta_product(q, k, v, beta, g, householders=n_h, scale=SCALE)[0]
        return o

    def peer(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
        if dtype == torch.float32:
            return peer_recurrent(q, k, v, beta, n_h, SCALE)
        return peer_chunk(q, k, v, beta, g, n_h, SCALE)

    return {"ours": ours, "FLA": peer}


def gate(q: Tensor) -> Tensor:
    """Logarithms of gates near 1, float32."""
    return -0.1 * torch.rand(q.shape[:3], device=q.device)


def compare(name: str, dtype: torch.dtype, gated: bool, peer: bool) -> Row:
    """Times and errors of ours and the peer's at one shape."""
    B, T, H, D, n_h = SHAPES.get(name, LONG)
    leaves = [x.requires_grad_() for x in random_inputs(B, T, H, D, n_h, dtype, 0)]
    if gated:
        leaves.append(gate(leaves[0]).requires_grad_())
    row: Row = {"shape": name, "dtype": str(dtype)[6:], "gated": gated, "B T H D n_h": [B, T, H, D, n_h]}
    first = [x[:1].detach() for x in leaves]
    wide = [x.double() for x in first]
    how: Row = {
        "householders": n_h,
        "scale": SCALE,
        "backend": "torch",
        "mode": "scan" if name == "long" else "chunk",
    }
    wanted = None if name == "long" else delta_product(*wide, **how)[0]
    for who, function in functions(n_h, dtype, gated).items():
        if who == "FLA" and not peer:
            continue
        try:
            row[who] = timed(function, leaves, graphs=dtype != torch.float32 and name != "long")
            with torch.no_grad():
                o = function(*leaves)[:1]
            row[who]["error"] = None if wanted is None else error(o, wanted)
            if name == "long":
                row[who]["finite"] = bool(torch.isfinite(o).all())
        except Exception as failure:
            row[who] = {"failed": f"{type(failure).__name__}: {failure}".splitlines()[0][:200]}
    return row


def driver_version() -> str:
    """As nvidia-smi says."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def copy_rate() -> float:
    """Bytes read and written a second by a large copy."""
    x = torch.randn(1 << 28, device="cuda")
    y = torch.empty_like(x)
    return 8 * x.numel() / milliseconds(lambda: y.copy_(x))[0] * 1e3


def forward_floor(name: str, rate: float, size: int = 2) -> float:
    """Milliseconds to read each input and write the output once."""
    B, T, H, D, n_h = SHAPES[name]
    return B * T * H * size * (2 * D + 2 * D * n_h + n_h) / rate * 1e3


def ratio(row: Row, which: str) -> float:
    """The peer's time over ours."""
    if "FLA" not in row or not row["FLA"].get(which) or not row["ours"].get(which):
        return math.nan
    return float(row["FLA"][which][0] / row["ours"][which][0])


def table(rows: list[Row], rate: float) -> str:
    """One line a shape."""
    lines = []
    for row in rows:
        if "failed" in row["ours"]:
            lines.append(f"{row['shape']:10s} {row['dtype']} {row['ours']['failed']}")
            continue
        label = f"{row['shape']:10s} {row['dtype']:8s} {'gated' if row['gated'] else '     '}"
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
        lines.append(f"{label} {'  '.join(parts)}  errors {' '.join(errors)}")
    return "\n".join(lines)


def jobs() -> list[tuple[str, torch.dtype, bool]]:
    """Everything that is timed, the most wanted first."""
    plain = [(name, torch.bfloat16, False) for name in SHAPES]
    wide = [(name, torch.float32, False) for name in SHAPES]
    return [
        *plain,
        ("long", torch.bfloat16, False),
        ("st32", torch.bfloat16, True),
        ("lm", torch.bfloat16, True),
        *wide,
    ]


def compile_one(job: str) -> None:
    """Run the peer once on a small problem with a job's constants, to compile its kernels."""
    name, dtype, gated = jobs()[int(job)]
    B, T, H, D, n_h = SHAPES.get(name, LONG)
    leaves = [x.requires_grad_() for x in random_inputs(min(B, 2), min(T, 256), H, D, n_h, dtype, 0)]
    if gated:
        leaves.append(gate(leaves[0]).requires_grad_())
    for run in passes(functions(n_h, dtype, gated)["FLA"], leaves):
        run()


def main() -> None:
    """Time everything that fits in the seconds given, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-peer", action="store_true", help="ours only")
    parser.add_argument("--shapes", default=",".join([*SHAPES, "long"]), help="a part of the shapes")
    parser.add_argument("--seconds", type=float, default=600.0, help="start nothing new after so long")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/kernels_CARD.json")
    parser.add_argument("--compile-peer", metavar="JOB", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile_peer is not None:
        compile_one(options.compile_peer)
        return
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
        "targets": TARGETS,
    }
    output = options.output or Path(__file__).parent / "results" / f"kernels_{card.replace(' ', '_')}.json"

    def keep(name: str, value: object) -> None:
        """What is known so far goes to the file, and how long it took to the terminal."""
        report[name] = value
        output.write_text(json.dumps(report, indent=1) + "\n")
        print(f"{name} at {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)

    def late() -> bool:
        return bool(time.monotonic() - begun > options.seconds)

    wanted = [(i, job) for i, job in enumerate(jobs()) if job[0] in options.shapes.split(",")]
    keep("gradient errors", gradient_errors())
    if peer is not None:
        compile_peer([str(i) for i, job in wanted if job[1] != torch.float32 and not job[2]])
    for _, job in wanted:
        if late():
            keep("left out", [*report.get("left out", []), f"{job[0]} {str(job[1])[6:]} {job[2]}"])
            continue
        row = compare(*job, peer is not None)
        print(table([row], report["copy bytes a second"]), flush=True)
        keep("times", [*report.get("times", []), row])
    if not late():
        keep("exactness", exactness(1 << 20))
    if not late():
        keep("errors", errors_by_length(peer is not None))
    for section in ("gradient errors", "exactness", "errors"):
        for row in report.get(section, []):
            print(
                section,
                " ".join(f"{n}={x:.1e}" if isinstance(x, float) else f"{n}={x}" for n, x in row.items()),
            )
    print(table(report.get("times", []), report["copy bytes a second"]))


if __name__ == "__main__":
    main()
