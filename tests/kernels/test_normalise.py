"""`l2_normalise` and `rms_normalise`: the kernels and the torch forms against float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mirrormata.kernels import l2_normalise, launch_counts, reset_launch_counts, rms_normalise
from mirrormata.tests.kernels.devices import DEVICE, on_triton

pytestmark = [on_triton, pytest.mark.usefixtures("poisoned_buffers")]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def vectors(dtype: torch.dtype, width: int) -> Tensor:
    x = torch.randn(3, 41, width, generator=torch.Generator().manual_seed(width)).to(DEVICE, dtype)
    x[0, ::3] *= 1e-3
    x[1, 7] = 0
    return x


@pytest.mark.parametrize("silu", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 20, 32, 129])
def test_the_kernel(dtype: torch.dtype, width: int, silu: bool) -> None:
    x = vectors(dtype, width)
    reset_launch_counts()
    leaf = x.clone().requires_grad_()
    unit = l2_normalise(leaf, silu=silu, backend="triton")
    weights = torch.randn(x.shape, generator=torch.Generator().manual_seed(1)).to(x)
    (found,) = torch.autograd.grad(unit, leaf, weights)
    assert launch_counts() == {"unit_rows": 1, "unit_rows_backward": 1}
    exact = x.double().requires_grad_()
    y = F.silu(exact) if silu else exact
    norm = y.norm(dim=-1, keepdim=True)
    expected = y / torch.where(norm > 0, norm, 1)
    (gradient,) = torch.autograd.grad(expected, exact, weights.double())
    gradient[1, 7] = weights[1, 7].double() * (0.5 if silu else 1)  # what the norm 1 in place of 0 gives
    ulp = torch.finfo(dtype).eps
    assert (unit.double() - expected).abs().max() <= 2 * ulp
    assert torch.equal(unit[1, 7], torch.zeros_like(unit[1, 7]))
    largest = (
        weights.double().norm(dim=-1) / torch.where(norm > 0, norm, 1)[..., 0].detach()
    )  # before it is projected
    assert (found.double() - gradient).norm(dim=-1).le(4 * ulp * largest).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("silu", [False, True])
def test_kernel_and_torch_agree(dtype: torch.dtype, silu: bool) -> None:
    x = vectors(dtype, 32)
    found = [l2_normalise(x, silu=silu, backend=backend).double() for backend in ("triton", "torch")]
    assert (found[0] - found[1]).abs().max() <= (4 if silu else 1) * torch.finfo(dtype).eps


def test_a_view_and_nothing() -> None:
    x = vectors(torch.float32, 32).transpose(0, 1)
    assert torch.equal(l2_normalise(x, backend="triton"), l2_normalise(x.contiguous(), backend="triton"))
    assert l2_normalise(x[:0], backend="triton").shape == (0, 3, 32)


def test_very_large_and_very_small_vectors() -> None:
    x = torch.tensor([[3e38, 4e38 / 1.25], [3e-45, 0.0], [1e-30, -1e-30]], device=DEVICE)
    norms = l2_normalise(x, backend="triton").double().norm(dim=-1)
    assert (norms - 1).abs().max() <= 2 * torch.finfo(torch.float32).eps


def rms_case(dtype: torch.dtype, shape: tuple[int, ...], heads: bool) -> tuple[Tensor, Tensor, Tensor]:
    made = torch.Generator().manual_seed(len(shape))
    x = torch.randn(shape, generator=made).to(DEVICE, dtype)
    x[0, 0] = 0
    weight = torch.rand((shape[0], *shape[-2 if heads else -1 :]), generator=made) + 0.5
    return x, weight.to(DEVICE), torch.randn(shape, generator=made).to(DEVICE)


def rms_exactly(x: Tensor, weight: Tensor, dy: Tensor, heads: bool) -> tuple[Tensor, ...]:
    """By the formula, in float64."""
    wide, w = x.double().requires_grad_(), weight.double().requires_grad_()
    places = (w.shape[0], *(1,) * (x.ndim - w.ndim), *w.shape[1:])
    y = w.view(places) * wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    return y.detach(), *torch.autograd.grad(y, (wide, w), dy.double())


@pytest.mark.parametrize(
    ("shape", "heads"), [((2, 3, 70, 3, 20), True), ((3, 2, 65, 32), False), ((1, 1, 1, 1), False)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("backend", ["triton", "torch"])
def test_rms(dtype: torch.dtype, shape: tuple[int, ...], heads: bool, backend: str) -> None:
    x, weight, dy = rms_case(dtype, shape, heads)
    dy = dy.to(dtype)
    expected = rms_exactly(x, weight, dy, heads)
    leaf, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
    reset_launch_counts()
    y = rms_normalise(leaf, w, backend=backend)
    found = (y, *torch.autograd.grad(y, (leaf, w), dy))
    assert launch_counts() == ({"rms_rows": 1, "rms_rows_backward": 1} if backend == "triton" else {})
    assert [z.dtype for z in found] == [dtype, dtype, torch.float32]
    for ours, exact in zip(found, expected, strict=True):
        bound = (4e-6 if ours.dtype == torch.float32 else 1.6e-2) * exact.abs().max().clamp(min=1e-30)
        assert (ours.double() - exact).abs().max() <= bound


def test_rms_in_a_narrower_dtype() -> None:
    x, weight, _ = rms_case(torch.float32, (2, 3, 7, 32), False)
    narrow = [rms_normalise(x, weight, dtype=torch.bfloat16, backend=b) for b in ("triton", "torch")]
    assert narrow[0].dtype == torch.bfloat16
    whole = rms_exactly(x, weight, x, False)[0]
    for y, ulps in zip(narrow, (2, 1), strict=True):  # the interpreter cuts off where a GPU rounds
        assert (y.double() - whole).abs().max() <= ulps * 2**-8 * whole.abs().max()
