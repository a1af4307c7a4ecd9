"""`short_convolution`: the kernels and the torch form against a loop in float64."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.kernels import KernelInputError, launch_counts, reset_launch_counts, short_convolution
from mirrormata.kernels._backends import triton_installed
from mirrormata.tests.kernels.devices import BACKENDS, DEVICE, on_triton

pytestmark = pytest.mark.usefixtures("poisoned_buffers")
kernels: Any = None
if triton_installed():
    kernels = import_module("mirrormata.kernels.convolution._triton_short_convolution")


def random(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(DEVICE, dtype)


def exact(x: Tensor, weight: Tensor, before: Tensor | None = None) -> Tensor:
    """The sum as it is written, token by token and tap by tap."""
    taps = weight.shape[2]
    rows = []
    for t in range(x.shape[2]):
        y = torch.zeros_like(x[:, :, 0])
        for j in range(taps):
            past = t - (taps - 1) + j
            if past >= 0:
                y = y + weight[:, None, :, j] * x[:, :, past]
            elif before is not None:
                y = y + weight[:, None, :, j] * before[:, :, past]
        rows.append(y)
    return torch.stack(rows, 2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "shape",
    [
        *((1, 2, 9, 16, 4), (3, 2, 41, 20, 4), (2, 3, 2, 130, 4), (2, 1, 70, 1, 2), (1, 2, 1, 33, 3)),
        *((1, 3, 3, 300, 5), (1, 2, 70, 3, 64), (1, 9, 1, 8, 1), (2, 5, 7, 24, 17)),
    ],
)
def test_outputs_and_gradients(shape: tuple[int, ...], dtype: torch.dtype, backend: str) -> None:
    S, B, T, C, taps = shape
    x, weight, dy = random(S, B, T, C, dtype=dtype), random(S, C, taps), random(S, B, T, C, dtype=dtype)
    reset_launch_counts()
    leaves = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
    y = short_convolution(*leaves, backend=backend)
    found = torch.autograd.grad(y, leaves, dy)
    if backend == "triton":
        assert launch_counts() == {"short_rows": 1, "short_rows_backward": 1}
    wide = [leaf.detach().double().requires_grad_() for leaf in leaves]
    expected = exact(*wide)
    gradients = torch.autograd.grad(expected, wide, dy.double())
    assert y.dtype == found[0].dtype == dtype
    assert found[1].dtype == torch.float32
    # the kernels round once, torch each product and each gradient; sums of many taps add roundings of float32
    most = (1 if backend == "triton" else 4) * torch.finfo(dtype).eps * max(1, taps // 16)
    for mine, truth in zip((y, *found), (expected, *gradients), strict=True):
        assert (mine.double() - truth).norm() <= most * truth.norm() + 1e-12


@on_triton
@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("rows", [1, 2, 8])
def test_programs_share_sequences(rows: int, warps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few programs, each with several tiles and parts of several sequences."""
    for plan in ("FORWARD", "BACKWARD"):
        monkeypatch.setattr(kernels, plan, kernels.Plan(rows, warps, programs=6))
    monkeypatch.setattr(kernels, "WARP_BYTES", 64)
    monkeypatch.setattr(kernels, "LEAST", 8)
    leaves = [random(2, 3, 19, 40).requires_grad_(), random(2, 40, 3).requires_grad_()]
    dy = random(2, 3, 19, 40)
    y = short_convolution(*leaves, backend="triton")
    found = torch.autograd.grad(y, leaves, dy)
    wide = [leaf.detach().double().requires_grad_() for leaf in leaves]
    expected = exact(*wide)
    for mine, truth in zip(
        (y, *found), (expected, *torch.autograd.grad(expected, wide, dy.double())), strict=True
    ):
        torch.testing.assert_close(mine.double(), truth, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sequence_goes_on_at_any_cut(backend: str) -> None:
    x, weight = random(2, 3, 12, 8), random(2, 8, 4)
    whole = short_convolution(x, weight, backend=backend)
    torch.testing.assert_close(whole, exact(x, weight))
    for cut in range(12):
        before = torch.cat([x.new_zeros(2, 3, 3, 8), x[:, :, :cut]], 2)[:, :, cut:]
        rest = short_convolution(x[:, :, cut:], weight, before, backend=backend)
        torch.testing.assert_close(rest, whole[:, :, cut:])


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_stands_before_has_its_gradient(backend: str) -> None:
    leaves = [random(1, 2, 5, 4), random(1, 4, 4), random(1, 2, 3, 4) + 1]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    found = torch.autograd.grad(short_convolution(*leaves, backend=backend).square().sum(), leaves)
    for mine, truth in zip(found, torch.autograd.grad(exact(*leaves).square().sum(), leaves), strict=True):
        torch.testing.assert_close(mine, truth, rtol=1e-4, atol=1e-4)


@on_triton
def test_a_view_and_nothing() -> None:
    x, weight = random(2, 5, 3, 8), random(2, 8, 4)
    view = x.transpose(1, 2)
    found = short_convolution(view, weight, backend="triton")
    assert torch.equal(found, short_convolution(view.contiguous(), weight, backend="triton"))
    empty = x[:, :, :0].clone().requires_grad_()
    y = short_convolution(empty, weight, backend="triton")
    assert y.shape == (2, 5, 0, 8)
    assert torch.autograd.grad(y.sum(), empty)[0].shape == y.shape


def test_wrong_shapes_are_named() -> None:
    x = random(2, 3, 5, 8)
    with pytest.raises(KernelInputError, match=r"weight \[2, 7, 4\]: they must be \[S, B, T, C\]"):
        short_convolution(x, random(2, 7, 4))
    with pytest.raises(KernelInputError, match=r"before has shape \[2, 3, 2, 8\]: it must be \[2, 3, 3, 8\]"):
        short_convolution(x, random(2, 8, 4), random(2, 3, 2, 8))
