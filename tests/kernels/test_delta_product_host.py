"""The host's work for warm calls of `delta_product` on the Triton kernels: launches are right, and our code makes few calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

import triton.language as tl

import mirrormata.kernels
from mirrormata.kernels import (
    KernelError,
    KernelInputError,
    delta_product,
    launch_counts,
    reset_launch_counts,
)
from mirrormata.kernels._backends import Tile
from mirrormata.kernels._launching import Launcher, launcher
from mirrormata.kernels.delta import _triton_chunk as fused
from mirrormata.kernels.delta import _triton_phases as phases
from mirrormata.kernels.delta import _triton_phases_backward as phases_backward
from mirrormata.kernels.delta import _triton_recurrent as recurrent
from mirrormata.kernels.delta._problem import form_of
from mirrormata.tests.kernels.devices import DEVICE, on_one_thread, on_triton

KERNELS = str(Path(mirrormata.kernels.__file__).parent)


class Silent:
    """A kernel, compiled or not, that does nothing but note how it is launched."""

    __name__ = "silent"

    def __init__(self, arg_names: list[str]) -> None:
        self.arg_names = arg_names
        self.compilations: list[tuple[Any, ...]] = []
        self.launches: list[tuple[Any, ...]] = []

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., Silent]:
        def run(*arguments: Any, **options: Any) -> Silent:
            if options:
                self.compilations.append((grid, *arguments))
            else:
                self.launches.append((grid, *arguments))
            return self

        return run


@pytest.fixture
def _silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module, names in (
        (fused, ("chunk_forward", "chunk_backward")),
        (phases, ("prepare", "advance")),
        (phases_backward, ("retreat", "gradients")),
        (recurrent, ("recurrent_forward", "recurrent_backward_values", "recurrent_backward_keys")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, Silent(getattr(module, name).arg_names))
    form_of.cache_clear()
    yield
    form_of.cache_clear()  # of forms whose launchers are silent


def own_calls(run: Callable[[], None]) -> int:
    """Calls that the kernels' package makes, of Python or C functions: the same in every run."""
    count = 0

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call") and frame.f_code.co_filename.startswith(KERNELS)

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@on_triton
@on_one_thread
@pytest.mark.usefixtures("_silent")
@pytest.mark.parametrize(
    ("mode", "width", "dtype", "most_forward", "most_both"),
    [
        ("chunk", 32, torch.bfloat16, 55, 115),
        ("chunk", 128, torch.bfloat16, 85, 170),
        ("recurrent", 32, torch.float32, 55, 140),
    ],
)
def test_a_warm_call_takes_few_calls(
    mode: str, width: int, dtype: torch.dtype, most_forward: int, most_both: int
) -> None:
    q, k, v = (torch.ones(1, 64, 1, width, dtype=dtype, device=DEVICE, requires_grad=True) for _ in range(3))
    beta = torch.ones(1, 64, 1, dtype=dtype, device=DEVICE, requires_grad=True)
    do = torch.ones_like(q)

    def forward() -> None:
        with torch.no_grad():
            delta_product(q, k, v, beta, mode=mode, backend="triton")

    def both() -> None:
        torch.autograd.backward(delta_product(q, k, v, beta, mode=mode, backend="triton")[0], do)

    for run, most in ((forward, most_forward), (both, most_both)):
        run()
        reset_launch_counts()
        counts = own_calls(run), own_calls(run)
        assert launch_counts()["silent"] >= 2
        assert counts[0] == counts[1]
        assert counts[0] <= most, counts


class Elsewhere(torch.Tensor):
    """A tensor that says it is on another device."""

    def get_device(self) -> int:
        return 1


def test_a_compiled_kernel_is_kept_by_all_that_triton_compiles_anew_for() -> None:
    kernel = Silent(["x", "y", "n", "scale", "EVEN", "W"])
    launch = Launcher(kernel, Tile(16, 1), W=16, EVEN=True)
    x = torch.zeros(64, device=DEVICE)
    assert x.data_ptr() % 16 == 0
    base = (x, None, 5, 0.5)
    anew = [
        base,
        (x[1:], None, 5, 0.5),
        (x.half(), None, 5, 0.5),
        (x.as_subclass(Elsewhere), None, 5, 0.5),
        (x, x, 5, 0.5),
        (x, x[1:], 5, 0.5),
        (x, None, 1, 0.5),
        (x, None, 32, 0.5),
        (x, None, 2**31 + 1, 0.5),
        (x, None, 2**31, 0.5),
    ]
    for number, arguments in enumerate(anew, 1):
        for _ in range(2):
            launch((3,), *arguments)
        assert len(kernel.compilations) == number, arguments
    other = torch.ones(9, device=DEVICE)
    for arguments in (other, None, 7, 0.5), (x[4:], None, 2**30 + 1, -2.0), (x, None, 64, 0.5):
        launch((3, 2), *arguments)
        assert len(kernel.compilations) == len(anew)
        assert kernel.launches[-1] == ((3, 2, 1), *arguments, True, 16)


def test_a_launcher_belongs_to_a_kernel_a_tile_and_constants() -> None:
    one, other = Silent(["x", "W"]), Silent(["x", "W"])
    assert launcher(one, Tile(16, 1), W=1) is launcher(one, Tile(16, 1), W=1)
    different = [(one, Tile(16, 1)), (other, Tile(16, 1)), (one, Tile(16, 2)), (one, Tile(16, 1, 3))]
    different.append((one, Tile(16, 1, 2, 160)))
    every = {launcher(kernel, tile, W=value) for kernel, tile in different for value in (1, 2, True)}
    assert len(every) == 15


@pytest.mark.parametrize("grid", [(0,), (0, 4), (4, 0)])
def test_an_empty_grid_is_refused(grid: tuple[int, ...]) -> None:
    kernel = Silent(["x", "W"])
    reset_launch_counts()
    with pytest.raises(KernelError, match="silent has the empty grid"):
        Launcher(kernel, Tile(16, 1), W=16)(grid, torch.zeros(4, device=DEVICE))
    assert not kernel.compilations
    assert not launch_counts()


@pytest.mark.parametrize("grid", [(2**31,), (4, 65536), (4, 2, 65536)])
def test_a_grid_beyond_cuda_is_refused(grid: tuple[int, ...]) -> None:
    with pytest.raises(KernelInputError, match="split the batch or the heads"):
        Launcher(Silent(["x", "W"]), Tile(16, 1), W=16)(grid, torch.zeros(4, device=DEVICE))


def test_numbers_reach_float64_kernels_whole() -> None:
    """Triton passes them as float32, which the interpreter does not show."""
    kernel = Silent(["x", "scale", "ACC"])
    launch, x = Launcher(kernel, Tile(16, 1), ACC=tl.float64), torch.zeros(4, device=DEVICE)
    launch((1,), x, 0.25)
    for number in (0.1, 1e300):
        with pytest.raises(KernelError, match="a number that float32 does not hold"):
            launch((1,), x, number)
    Launcher(kernel, Tile(16, 1), ACC=tl.float32)((1,), x, 0.1)
    assert len(kernel.compilations) == 2


@on_triton
def test_a_second_derivative_is_refused() -> None:
    x = torch.rand(1, 3, 1, 16).to(DEVICE).requires_grad_()
    o = delta_product(x, x, x, x[..., 0], mode="recurrent", backend="triton")[0]
    (first,) = torch.autograd.grad((o * o).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        torch.autograd.backward(first.sum())
