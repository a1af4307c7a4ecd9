"""The profiler's CSV is read launch by launch, in its units, and the page's table says what a kernel waits for."""

from __future__ import annotations

import shutil
import sys

import pytest
import torch

from mirrormata.benchmarks.kernel_counters import METRICS, Case, launches, main, table_rows

CASE = Case("st32", "a", "both")
VALUES = {
    "milliseconds": ("ns", "66,112", 0.06611), "megabytes": ("Mbyte", "183.5", 183.5), "bandwidth": ("%", "57.73", 0.5773),
    "warps": ("%", "16.22", 0.1622), "issue": ("%", "39.04", 0.3904), "registers": ("register/thread", "160", 160.0),
    "memory": ("inst", "3.28", 3.28), "shared memory": ("inst", "0.37", 0.37), "arithmetic": ("inst", "1.17", 1.17),
    "other warps": ("inst", "0.04", 0.04), "busy units": ("inst", "0.24", 0.24),
}  # fmt: skip


def text(*kernels: str) -> str:
    """What the profiler writes for launches of these kernels."""
    head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    lines = [
        f'"{i}","{kernel}","{METRICS[name]}","{unit}","{value}"'
        for i, kernel in enumerate(kernels)
        for name, (unit, value, _) in VALUES.items()
    ]
    return "\n".join(
        ["==PROF== Connected to process 973", head, *lines, '"0","x","other__metric","byte","1"']
    )


def test_launches_are_read_in_their_units() -> None:
    rows = launches(text("chunk_forward", "chunk_forward"), CASE)
    figures = {name: value for name, (_, _, value) in VALUES.items()}
    assert (
        rows == [{"shape": "st32", "gate": "a", "passes": "both", "kernel": "chunk_forward", **figures}] * 2
    )


def test_a_row_names_the_longest_waits() -> None:
    [row] = table_rows({"rows": launches(text("retreat"), CASE)})
    assert row == [
        "`st32`, gate a", "forward and backward", "`retreat`", "0.066", "184", "58 %", "16 %", "39 %", "160",
        "memory 3.3, arithmetic 1.2",
    ]  # fmt: skip


def test_a_profile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no kernel of .*st32.* was profiled: ==ERROR== no rights"):
        launches("==ERROR== no rights\n", CASE)


def test_a_missing_profiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["kernel_counters"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(SystemExit, match="Nsight Compute is needed"):
        main()
