"""The diagonal scan as a torch operator: autocast, compilation, what it refuses, without triton, and its compiled kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.kernels._backends import BackendUnavailableError, KernelInputError
from mirrormata.kernels.scans._diagonal import _scan, _scan_backward, diagonal_scan

from .devices import BACKENDS, DEVICE, compiles
from .scan_checks import (
    assert_autocast_changes_nothing,
    assert_compiles_as_one_graph,
    diagonal_inputs,
    poisoned_memory,
)

RAGGED = [0, 0, 5, 6, 17, 23, 23]


@pytest.fixture(autouse=True)
def _poison() -> Any:
    with poisoned_memory():
        yield


def test_autocast_changes_nothing() -> None:
    inputs, _ = diagonal_inputs(11, 20, 4, dtype=torch.float32)
    scan = partial(diagonal_scan, output_final_state=True)
    assert_autocast_changes_nothing(scan, inputs)


@pytest.mark.parametrize("bounds", [None, RAGGED], ids=["dense", "packed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_operators_keep_torch_s_rules(backend: str, bounds: list[int] | None) -> None:
    (a, b, h), cu = diagonal_inputs(12, 23, 2, bounds=bounds)
    leaves = [x.requires_grad_() for x in (a, b, h)]
    tests = ("test_schema", "test_faketensor", "test_autograd_registration", "test_aot_dispatch_static")
    torch.library.opcheck(_scan, (*leaves, cu, 4, False, False, backend), test_utils=tests)
    plain = [x.detach() for x in (a, b, b, h, h)]
    torch.library.opcheck(_scan_backward, (*plain, cu, 4, False, False, backend), test_utils=tests[:2])


def test_compiled_as_one_graph() -> None:
    inputs, _ = diagonal_inputs(13, 40, 3)

    def scan(*x: Tensor) -> tuple[Tensor, Tensor | None]:
        return diagonal_scan(*x, output_final_state=True, mode="parallel", segment=8)

    assert_compiles_as_one_graph(scan, inputs)


X = torch.zeros(2, 4, 3, device=DEVICE)


def bounds_of(*numbers: float) -> Tensor:
    return torch.tensor(numbers, device=DEVICE)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X[0], X), {}, r"a has shape \[4, 3\]: it must be \[B, T, D\]"),
        ((X[..., None].expand(2, 4, 3, 3), X), {}, r"a has shape \[2, 4, 3, 3\]"),
        ((X, X[:, 1:]), {}, r"b has shape \[2, 3, 3\]"),
        ((X, X.long()), {}, "b is torch.int64: cast it"),
        (
            (X, X.long(), X[:, 0].int()),
            {},
            "b is torch.int64.*; initial_state is torch.int32",
        ),
        ((X, X, X[0, :3]), {}, r"initial_state has shape \[3, 3\]"),
        ((X, X), {"mode": "fast"}, 'mode="fast": use one of auto, recurrent, parallel'),
        ((X, X), {"backend": "cuda"}, 'backend="cuda": use one of'),
        ((X, X), {"segment": 0}, "segment is 0"),
        ((X, X), {"cu_seqlens": bounds_of(0, 4)}, "B = 2"),
        # the values of bounds are read on the CPU only
        ((X[:1].cpu(), X[:1].cpu()), {"cu_seqlens": torch.tensor([0, 5])}, "from 0 to T = 4"),
        ((X[:1].cpu(), X[:1].cpu()), {"cu_seqlens": torch.tensor([0, 3, 2, 4])}, "never fall"),
        ((X[:1], X[:1]), {"cu_seqlens": bounds_of(0.0, 4.0)}, "integers"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: tuple[Tensor, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(KernelInputError) as caught:
        diagonal_scan(*arguments, **options)
    assert re.search(message, str(caught.value))
    assert "\n" not in str(caught.value)


def in_a_fresh_process(code: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=120, env=environment)


def test_without_triton_all_but_triton_works() -> None:
    in_a_fresh_process(
        "import sys; sys.modules['triton'] = None\n"
        "import mirrormata.kernels as kernels\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "x = torch.rand(1, 70, 4, requires_grad=True)\n"
        "kernels.diagonal_scan(x, x)[0].sum().backward()\n"
        "y = torch.rand(1, 70, 2, 4, requires_grad=True)\n"
        "kernels.rank_one_scan(y, y, y, y, y, y)[0].sum().backward()\n"
        "try: kernels.diagonal_scan(x, x, backend='triton')\n"
        "except kernels.BackendUnavailableError as error: assert 'triton is not installed' in str(error)\n"
        "else: raise AssertionError\n"
    )
    assert issubclass(BackendUnavailableError, RuntimeError)


def compiled_for_hopper(which: str) -> list[dict[str, Any]]:
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    outcome = subprocess.run(
        [sys.executable, "-P", "-m", "mirrormata.tests.kernels.scan_variants", which],
        capture_output=True, text=True, timeout=600, env=environment, check=False,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr[-2000:]
    print(outcome.stdout)
    return [json.loads(line) for line in outcome.stdout.splitlines()]


@compiles
@pytest.mark.parametrize(
    ("which", "kernels"), [("quick", 8), pytest.param("long", 46, marks=pytest.mark.long)]
)
def test_kernels_compile_for_hopper(which: str, kernels: int) -> None:
    compiled = compiled_for_hopper(which)
    assert len(compiled) == kernels
    for figures in compiled:
        assert figures["registers"] <= 255
        assert figures["fused"] == 0
        # the assembler that comes with Triton spills nothing in float32; that of a CUDA toolkit has spilled four registers
        assert figures["spilled"] <= (16 if figures["dtype"] == "float32" else 64), figures
