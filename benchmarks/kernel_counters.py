"""What each kernel of `delta_product` waits for: hardware counters, read by Nsight Compute.

    python -m mirrormata.benchmarks.kernel_counters [--scans] [--output FILE]

Runs each case once to compile, then under `ncu`, which must be installed and may need rights to read counters. Times
are those under the profiler, with its cold caches.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from mirrormata.benchmarks.machine import driver_version, installed, results_file

Row = dict[str, Any]


class Case(NamedTuple):
    """A shape of `kernels.SHAPES` or a scan, in bfloat16, a gate or none, and `forward` (without gradients) or `both`."""

    shape: str
    gate: str
    passes: str


CASES = (
    Case("st32", "", "forward"),
    Case("st32", "", "both"),
    Case("st32_nh4", "", "both"),
    Case("st128_nh4", "", "forward"),
    Case("st128_nh4", "", "both"),
    Case("st128_nh4", "a", "forward"),
    Case("st128_nh4", "a", "both"),
    Case("lm", "", "forward"),
)
SCANS = tuple(Case(operator, "", "both") for operator in ("rank_one_scan", "selective_scan", "diagonal_scan"))
"""The scans at the shapes of `scan_shapes.SHAPES`."""
KERNELS = "regex:^(chunk_|prepare|advance|retreat|gradients|gate_|run_|multiply_|differentiate_|selective_|segment_)"
_STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
WAITS = {
    "memory": "long_scoreboard",
    "shared memory": "short_scoreboard",
    "arithmetic": "wait",
    "other warps": "barrier",
    "busy units": "math_pipe_throttle",
}
"""Causes of waiting, and the profiler's names for them."""
METRICS = {
    "milliseconds": "gpu__time_duration.sum",
    "megabytes": "dram__bytes.sum",
    "bandwidth": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    **{name: _STALLED.format(stall) for name, stall in WAITS.items()},
}
"""Each figure, and the profiler's metric.

`bandwidth`: of the memory's. `warps`: resident ones of those that a multiprocessor can hold. `issue`: cycles in which a
scheduler issues an instruction. Each wait: warps that wait for it in such a cycle, on average, so the cycles that a warp waits
for each of its instructions.
"""
UNITS = {
    "ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3,
    "byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1.0, "Gbyte": 1e3,
    "%": 0.01, "register/thread": 1.0, "inst": 1.0, "": 1.0,
}  # fmt: skip
"""To milliseconds, megabytes and fractions."""


def launches(text: str, case: Case) -> list[Row]:
    """A row for each launch in the profiler's CSV (lines that begin with == are its remarks)."""
    lines = [line for line in text.splitlines() if line and not line.startswith("==")]
    found: dict[str, Row] = {}
    names = {metric: name for name, metric in METRICS.items()}
    for line in csv.DictReader(lines):
        if line["Metric Name"] not in names:
            continue
        name = names[line["Metric Name"]]
        row = found.setdefault(line["ID"], {**case._asdict(), "kernel": line["Kernel Name"]})
        value = float(line["Metric Value"].replace(",", "")) * UNITS[line["Metric Unit"]]
        row[name] = float(f"{value:.4g}")
    if not found:
        raise ValueError(f"no kernel of {case} was profiled: {text.strip()[:200]}")
    return list(found.values())


def run_once(case: Case) -> None:
    """The call that is profiled."""
    import torch

    from mirrormata.benchmarks.kernel_accuracy import random_inputs
    from mirrormata.benchmarks.kernels import SHAPES, functions, gates, passes
    from mirrormata.benchmarks.scan_shapes import run_scan

    if case in SCANS:
        run_scan(case.shape)
        return
    B, T, H, D, n_h = SHAPES[case.shape]
    leaves = [x.requires_grad_() for x in random_inputs(B, T, H, D, n_h, torch.bfloat16, 0)]
    leaves += gates(case.gate, leaves[0])
    forward, both = passes(functions(n_h, torch.bfloat16, case.gate)["ours"], leaves)
    (forward if case.passes == "forward" else both)()
    torch.cuda.synchronize()


def profiled(ncu: str, case: Case) -> list[Row]:
    """The counters of a case's launches."""
    command = [sys.executable, "-m", "mirrormata.benchmarks.kernel_counters", "--case", *case]
    subprocess.run(command, check=True)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "counters.csv"
        metrics = ",".join(METRICS.values())
        options = ["--clock-control", "none", "--csv", "--log-file", str(log)]
        subprocess.run([ncu, *options, "-k", KERNELS, "--metrics", metrics, *command], check=True)
        return launches(log.read_text(), case)


def table_rows(document: Row) -> list[list[str]]:
    """A row for each launch: time, bytes, shares of the card, and the two longest waits."""
    rows = []
    for row in document["rows"]:
        longest = sorted(WAITS, key=lambda name: -row[name])[:2]
        rows.append(
            [
                f"`{row['shape']}`" + (f", gate {row['gate']}" if row["gate"] else ""),
                "forward" if row["passes"] == "forward" else "forward and backward",
                f"`{row['kernel']}`",
                f"{row['milliseconds']:.3f}",
                f"{row['megabytes']:,.0f}",
                *(f"{row[name]:.0%}".replace("%", " %") for name in ("bandwidth", "warps", "issue")),
                f"{row['registers']:.0f}",
                ", ".join(f"{name} {row[name]:.1f}" for name in longest),
            ]
        )
    return rows


def main() -> None:
    """Profile all cases and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/kernel_counters_CARD.json")
    parser.add_argument("--scans", action="store_true", help="the scans instead, to scan_counters_CARD.json")
    parser.add_argument("--case", nargs=3, metavar=("SHAPE", "GATE", "PASSES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        run_once(Case(*options.case))
        return
    import torch

    if not torch.cuda.is_available():
        sys.exit("kernel_counters: no CUDA device here")
    ncu = shutil.which("ncu")
    if ncu is None:
        sys.exit("kernel_counters: Nsight Compute is needed: put its program ncu on the PATH")
    card = torch.cuda.get_device_name()
    versions = {name: installed(name) for name in ("torch", "triton")}
    rows = [row for case in (SCANS if options.scans else CASES) for row in profiled(ncu, case)]
    document = {"card": card, "driver": driver_version(), **versions, "rows": rows}
    output = options.output or results_file("scan_counters" if options.scans else "kernel_counters", card)
    output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for cells in table_rows(document):
        print("  ".join(cells))


if __name__ == "__main__":
    main()
