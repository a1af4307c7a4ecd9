"""Every pair of widths that kernels are compiled for, in every mode, once on poisoned buffers.

Few programs and many have plans of their own, and so have gates and 16 bits.  A column that no program computes stays NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

from mirrormata.kernels.delta import _plan as shapes
from mirrormata.kernels.delta import _problem as problems
from mirrormata.kernels.delta import _triton_scan as scan
from mirrormata.kernels.delta._plan import KERNEL_WIDTHS, chunk_plan
from mirrormata.kernels.delta._problem import form_of
from mirrormata.tests.kernels.delta_product_cases import largest_error, problem
from mirrormata.tests.kernels.devices import on_triton
from mirrormata.tests.samples import sampled

PAIRS = [(K, V) for K in KERNEL_WIDTHS for V in KERNEL_WIDTHS]
BOUNDS = {torch.float16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}
pytestmark = [on_triton, pytest.mark.usefixtures("poisoned_buffers")]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    form_of.cache_clear()
    yield
    form_of.cache_clear()


def assert_right(
    mode: str,
    widths: tuple[int, int],
    dtype: torch.dtype,
    gated: bool,
    programs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of outputs, last states and gradients, with a plan for so many programs; `scan` with a chunk a segment."""
    K, V = widths

    def planned(K: int, V: int, dtype: torch.dtype, _programs: int, **options: Any) -> Any:
        return chunk_plan(K, V, dtype, programs, **options)

    monkeypatch.setattr(problems, "chunk_plan", planned)
    for module in (scan, shapes):
        monkeypatch.setattr(module, "segment_tokens", lambda _tokens, _heads, chunk: chunk)
    rows = chunk_plan(K, V, dtype, programs, gated=gated, phases=mode == "scan").rows
    tokens = rows + 3 if mode == "scan" else 17
    inputs = problem(1, tokens, gated=gated, K=K, V=V, B=1, H=1)
    error = largest_error(inputs, dtype, backend="triton", mode=mode)
    assert error < BOUNDS[dtype], (mode, widths, dtype, gated, programs, error)


@pytest.mark.parametrize("widths", [(128, 32), (128, 16)], ids=str)
def test_keys_much_wider_than_values(widths: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    for gated, programs in ((False, 8), (True, 4096)):
        assert_right("chunk", widths, torch.float16, gated, programs, monkeypatch)


@pytest.mark.parametrize("widths", [(16, 32), (16, 64), (32, 64)], ids=str)
def test_segments_of_keys_narrower_than_values(
    widths: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_right("scan", widths, torch.float16, False, 4096, monkeypatch)


def test_segments_of_256_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_right("scan", (256, 16), torch.float64, False, 8, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("widths", sampled([(pair,) for pair in PAIRS], 3), ids=str)
def test_every_pair_of_widths(widths: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert_right("recurrent", widths, torch.float32, True, 8, monkeypatch)
    for programs in (8, 4096):
        for gated in (False, True):
            assert_right("chunk", widths, torch.float16, gated, programs, monkeypatch)
    assert_right("chunk", widths, torch.float64, True, 8, monkeypatch)
    assert_right("scan", widths, torch.float16, False, 8, monkeypatch)
    assert_right("scan", widths, torch.float16, True, 4096, monkeypatch)
    assert_right("scan", widths, torch.float64, True, 8, monkeypatch)
