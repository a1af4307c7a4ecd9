"""The shipped variants compile for sm_90 without a GPU: how many, their registers and spills."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")

MOST_SPILLED = {
    "chunk_forward": 128,
    "chunk_backward": 704,
    "advance": 320,
    "retreat": 704,
    "gradients": 320,
    "gate_gradients": 64,
    "prepare": 192,
    "chain": 320,
}
"""Bytes a thread; other kernels spill nothing."""


def compiled(*arguments: str) -> list[dict[str, object]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    outcome = subprocess.run(
        [sys.executable, "-P", "-m", "mirrormata.tests.kernel_variants", *arguments],
        capture_output=True,
        text=True,
        timeout=1200,
        env=environment,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr[-2000:]
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def check(kernels: list[dict[str, object]]) -> None:
    for kernel in kernels:
        assert int(kernel["registers"]) <= 255, kernel  # type: ignore[call-overload]
        assert int(kernel["spilled"]) <= MOST_SPILLED.get(str(kernel["kernel"]), 0), kernel  # type: ignore[call-overload]
        assert int(kernel["shared"]) <= 227 * 1024, kernel  # type: ignore[call-overload]


def test_the_recurrent_kernels_compile() -> None:
    kernels = compiled("recurrent")
    assert {kernel["kernel"] for kernel in kernels} == {
        "recurrent_forward",
        "recurrent_backward_values",
        "recurrent_backward_keys",
    }
    check(kernels)


@pytest.mark.parametrize(("mode", "number"), [("rows", 6), ("selective", 4)])
def test_the_other_kernels_compile(mode: str, number: int) -> None:
    kernels = compiled(mode)
    assert len(kernels) == number
    check(kernels)


@pytest.mark.long
def test_all_shipped_variants_compile() -> None:
    kernels = compiled("chunk", "recurrent", "scan")
    assert 50 <= len(kernels) <= 60
    check(kernels)
