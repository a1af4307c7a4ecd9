"""Where the tests of the kernels make their tensors, and which backends run there.

In Triton's interpreter, as in continuous integration, that is the CPU; with TRITON_INTERPRET=0 on a machine with a GPU it is
the GPU, where the kernels are compiled.  Every tensor is sent there by name, and torch's default device stays the CPU, so that a
tensor that the operators themselves make in the wrong place is noticed.  Random numbers are drawn by generators of the CPU
and then sent, so that they are the same on both; the float64 results that others are compared with are computed where the
tensors are.
"""

from __future__ import annotations

import pytest
import torch

from mirrormata.kernels import triton_available
from mirrormata.kernels._backends import triton_installed, triton_interpreted

DEVICE = torch.device("cpu")
"""The device of the tests' tensors, with its number, as messages name it."""
if not triton_interpreted() and torch.cuda.is_available():
    DEVICE = torch.device("cuda", 0)

on_triton = pytest.mark.skipif(
    not triton_available(DEVICE), reason="needs triton, and TRITON_INTERPRET=1 or a GPU"
)
"""For tests of the kernels, interpreted or compiled."""
compiles = pytest.mark.skipif(not triton_installed(), reason="needs triton, whose compiler needs no GPU")
"""For tests that compile kernels in a process of their own."""
measures_spills = pytest.mark.skipif(
    DEVICE.type == "cuda",
    reason="the bounds on spilled bytes are for the assembler that comes with triton; with the one of a CUDA toolkit they differ",
)
"""For tests that hold registers and spilled bytes to bounds."""
BACKENDS = ["torch", pytest.param("triton", marks=on_triton)]
"""Backends as parameters of a test; one that cannot run is shown as skipped."""
RUNNING = ["torch", *(["triton"] if triton_available(DEVICE) else [])]
"""Backends that can run, for tests that go through them by themselves."""
on_one_thread = pytest.mark.skipif(
    DEVICE.type == "cuda",
    reason="watches one thread: on a GPU autograd's backward pass has a thread of its own",
)
"""For tests that count the calls of the thread that they run in."""


def skip_where_bounds_stay_unread(backend: str) -> None:
    """Skip a test of wrong bounds of packed sequences with the kernels on a GPU, which would run outside of the tensors."""
    if backend == "triton" and DEVICE.type == "cuda":
        pytest.skip("bounds on a GPU are not read, for that would wait for it: wrong ones are not refused")
