"""The tables of `kernels`, from its results: times beside the peer's, and errors against float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mirrormata.benchmarks.kernel_costs import least_bytes, operations

RESULTS = Path(__file__).parent / "results" / "kernels_nvidia_h200.json"
PASSES = (("forward", False), ("both", True))
ERRORS = ("recurrent", "chunk", "scan", "FLA recurrent", "FLA chunk")


def results() -> dict[str, Any]:
    """The committed document."""
    document: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document


def time_rows(document: dict[str, Any]) -> list[list[str]]:
    """A row for each shape and pass: milliseconds of ours and of the peer, their ratio, and what bounds ours."""
    rows = []
    for row in document["times"]["plain"]:
        shape = row["B T H D n_h"]
        for name, backward in PASSES:
            ours, peer = row["ours"][name], row["FLA"][name]
            moved = least_bytes(*shape, backward=backward) / document["copy bytes a second"] * 1e3
            computed = operations(*shape, backward=backward) / document["bfloat16 operations a second"] * 1e3
            rows.append(
                [
                    f"`{row['shape']}`",
                    ", ".join(map(str, shape)),
                    "forward" if name == "forward" else "forward and backward",
                    f"{ours[0]:.3f} ({ours[1]:.3f} to {ours[2]:.3f})",
                    f"{peer[0]:.3f} ({peer[1]:.3f} to {peer[2]:.3f})",
                    f"{peer[0] / ours[0]:.1f}",
                    f"{row['ours'][f'{name} graph'][0]:.3f}",
                    "" if backward else f"{row['FLA'][f'{name} graph'][0]:.3f}",
                    f"{row['ours'][f'{name} host']:.3f}",
                    f"{moved:.3f}",
                    f"{computed:.3f}",
                ]
            )
    return rows


def further_rows(document: dict[str, Any]) -> list[list[str]]:
    """The same of other dtypes, of gates, and of one long sequence, without the bounds; a row for what was not run too."""
    shapes = {row["shape"]: row["B T H D n_h"] for part in document["times"].values() for row in part}
    every = [name for name in shapes if name != "long"]
    rows = []
    for part, kind in (("long", "one sequence"), ("float32", "float32"), ("g", "gate g"), ("a", "gate a")):
        found = {row["shape"]: row for row in document["times"].get(part, [])}
        for shape in ["long"] if part == "long" else every:
            for name, words in (("forward", "forward"), ("both", "forward and backward")):
                ours, peer = (found.get(shape, {}).get(who, {}).get(name) for who in ("ours", "FLA"))
                figures = [
                    "not run" if ours is None else f"{ours[0]:.3f}",
                    "" if peer is None else f"{peer[0]:.3f}",
                    "" if peer is None or ours is None else f"{peer[0] / ours[0]:.1f}",
                ]
                rows.append([kind, f"`{shape}`", ", ".join(map(str, shapes[shape])), words, *figures])
    return rows


def error_rows(document: dict[str, Any]) -> list[list[str]]:
    """A row for each β, length and dtype: the relative error of every mode's outputs, and of the peer's."""
    return [
        [
            "U[0, 2]" if row["beta"] == "U[0,2]" else row["beta"],
            f"{row['T']:,}",
            row["dtype"],
            *(f"{row[mode]:.1e}" if mode in row else "" for mode in ERRORS),
        ]
        for row in document["errors"]
    ]
