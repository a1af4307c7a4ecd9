"""What the tests of both scans share: poisoned memory, gradients of two implementations side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from mirrormata.kernels._backends import launch_counts, reset_launch_counts

from .devices import DEVICE


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """New tensors are filled with NaN, so that one element left unwritten shows.

    Torch fills them as a part of its deterministic algorithms; what has none on a GPU may run all the same.
    """
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert torch.empty(3, device=DEVICE).isnan().all()
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def launches(backend: str, prefix: str = "") -> Iterator[None]:
    """Kernels whose names begin so must run inside exactly if the backend is triton."""
    reset_launch_counts()
    yield
    ran = any(kernel.startswith(prefix) for kernel in launch_counts())
    assert ran == (backend == "triton"), launch_counts()


def diagonal_inputs(
    seed: int,
    tokens: int,
    width: int,
    *,
    pairs: bool = False,
    bounds: list[int] | None = None,
    dtype: torch.dtype = torch.float64,
) -> tuple[list[Tensor], Tensor | None]:
    """a with zeros, ones and minus ones among it, b, initial states; and the packing."""
    g = torch.Generator().manual_seed(seed)
    rows, N = (2, 2) if bounds is None else (1, len(bounds) - 1)
    pair = (2,) if pairs else ()
    a = torch.rand(rows, tokens, width, *pair, generator=g, dtype=torch.float64) * 2 - 1
    a = a / 2**0.5 if pairs else a
    for i, special in enumerate((0.0, 1.0, -1.0)):
        a[:, 1 + i :: 6] = special
    if pairs:
        a[:, 2::3, :, 1] = 0.0
    b = torch.randn(rows, tokens, width, *pair, generator=g, dtype=torch.float64)
    h = torch.randn(N, width, *pair, generator=g, dtype=torch.float64)
    cu = None if bounds is None else torch.tensor(bounds, device=DEVICE)
    return [x.to(DEVICE, dtype) for x in (a, b, h)], cu


def results_and_gradients(
    scan: Callable[..., tuple[Tensor | None, Tensor | None]], inputs: Sequence[Tensor], seed: int = 1
) -> list[Tensor]:
    """Outputs, final states and the gradients of a random linear function of both."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    outputs = [x for x in scan(*inputs) if x is not None]
    assert len(outputs) == 2
    generator = torch.Generator().manual_seed(seed)
    weights = [
        torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x) for x in outputs if x is not None
    ]
    gradients = torch.autograd.grad(outputs, inputs, weights, allow_unused=True, materialize_grads=True)
    return [x.detach() for x in outputs] + list(gradients)


def assert_autocast_changes_nothing(
    scan: Callable[..., tuple[Tensor | None, Tensor | None]], inputs: Sequence[Tensor]
) -> None:
    """The same bits under autocast to bfloat16."""
    plain = results_and_gradients(scan, inputs)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        cast = results_and_gradients(scan, inputs)
    for x, y in zip(plain, cast, strict=True):
        assert torch.equal(x, y)


def assert_compiles_as_one_graph(
    scan: Callable[..., tuple[Tensor | None, Tensor | None]], inputs: Sequence[Tensor]
) -> None:
    """And the compiled one gives the same."""
    compiled = torch.compile(scan, backend="aot_eager", fullgraph=True)
    assert_all_close(results_and_gradients(compiled, inputs), results_and_gradients(scan, inputs), 0.0)


def assert_all_close(found: Sequence[Tensor], wanted: Sequence[Tensor], tolerance: float) -> None:
    """Relative to each tensor's norm; NaN never passes."""
    assert len(found) == len(wanted)
    for i, (x, y) in enumerate(zip(found, wanted, strict=True)):
        assert x.shape == y.shape
        error = float((x.double() - y.double()).norm()) / max(float(y.double().norm()), 1e-300)
        assert error <= tolerance or (x.numel() == 0) or torch.equal(x, y.to(x.dtype)), (i, error)
