"""The diagonal scan against its plain loop, integers, finite differences, and itself cut in two."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mirrormata.kernels._backends import triton_interpreted
from mirrormata.kernels.scans import _segments as scan_segments
from mirrormata.kernels.scans._diagonal import diagonal_scan

from .delta_product_cases import assert_gradients_without_tokens
from .devices import BACKENDS, DEVICE, on_triton
from .scan_checks import (
    assert_all_close,
    diagonal_inputs,
    launches,
    poisoned_memory,
    results_and_gradients,
)

RAGGED = [0, 0, 5, 6, 17, 23, 23]
F64 = torch.float64


@pytest.fixture(autouse=True)
def _poison() -> Any:
    with poisoned_memory():
        yield


@pytest.mark.parametrize(
    ("backend", "segment"),
    [
        *(("torch", segment) for segment in (None, 1, 4, 23, "recurrent")),
        *(pytest.param("triton", segment, marks=on_triton) for segment in (1, 4, "recurrent")),
    ],
)
@pytest.mark.parametrize("bounds", [None, RAGGED], ids=["dense", "packed"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
def test_outputs_and_gradients_are_the_loop_s(
    backend: str, pairs: bool, reverse: bool, bounds: list[int] | None, segment: int | str | None
) -> None:
    inputs, cu = diagonal_inputs(0, 23, 3, pairs=pairs, bounds=bounds)
    scan = partial(diagonal_scan, output_final_state=True, reverse=reverse, cu_seqlens=cu)
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    how: dict[str, Any] = (
        {"mode": "recurrent"} if segment == "recurrent" else {"mode": "parallel", "segment": segment}
    )
    with launches(backend):
        found = results_and_gradients(partial(scan, backend=backend, **how), inputs)
    assert_all_close(found, wanted, 1e-13)


@pytest.mark.parametrize("bounds", [None, [0, 30, 31, 150]], ids=["dense", "packed"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_segments_of_segments(
    backend: str, reverse: bool, bounds: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_segments, "SERIAL", 4)
    monkeypatch.setattr(scan_segments, "STEP", 8)
    inputs, cu = diagonal_inputs(1, 150, 2, bounds=bounds)
    inputs[0] = torch.where(
        inputs[0] == 0, 0.9, inputs[0]
    )  # what enters the first segment matters in the last
    scan = partial(diagonal_scan, output_final_state=True, reverse=reverse, cu_seqlens=cu)
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    found = results_and_gradients(partial(scan, backend=backend, mode="parallel", segment=2), inputs)
    assert_all_close(found, wanted, 1e-13)


@pytest.mark.parametrize("channels", [2**14 // 4, 2**14 // 4 - 1])
def test_auto_on_a_gpu_goes_token_by_token_where_channels_fill_it(
    channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def scan(a: Tensor, b: Tensor, state: Tensor, _: Any, length: int, *others: Any) -> tuple[Tensor, Tensor]:
        lengths.append(length)
        return b, state

    monkeypatch.setattr("mirrormata.kernels.scans._diagonal._scan", scan)
    gpu, a = torch.device("cuda"), torch.empty(4, 2048, channels, device="meta")
    for name in ("segment_length", "fills_device"):
        mine = getattr(scan_segments, name)
        # the tensors are nowhere; the device that the rule is asked about is a GPU
        monkeypatch.setattr(
            f"mirrormata.kernels.scans._diagonal.{name}", lambda *x, mine=mine: mine(*x[:-1], gpu)
        )
    diagonal_scan(a, a)
    diagonal_scan(a, a, mode="parallel")
    diagonal_scan(a, a, mode="recurrent")
    assert lengths == [2048 if 4 * channels >= 2**14 else 64, 64, 2048]


@pytest.mark.parametrize("bounds", [None, [0, 2, 2, 5]], ids=["dense", "packed"])
@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_are_finite_differences(backend: str, pairs: bool, bounds: list[int] | None) -> None:
    inputs, cu = diagonal_inputs(2, 5, 1, pairs=pairs, bounds=bounds)
    inputs = [x.requires_grad_() for x in inputs]

    def scan(a: Tensor, b: Tensor, h: Tensor) -> Any:
        return diagonal_scan(
            a, b, h, output_final_state=True, cu_seqlens=cu, mode="parallel", segment=2, backend=backend
        )

    assert torch.autograd.gradcheck(scan, inputs, eps=1e-6, atol=1e-8, fast_mode=backend == "triton")


@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_recurrent_has_the_bits_of_the_written_order(backend: str, pairs: bool) -> None:
    (a, b, h), _ = diagonal_inputs(3, 50, 7, pairs=pairs, dtype=torch.float32)
    found, final = diagonal_scan(a, b, h, output_final_state=True, mode="recurrent", backend=backend)
    assert final is not None
    for t in range(50):
        if pairs:
            (x, y), (hr, hi) = a[:, t].unbind(-1), h.unbind(-1)
            rr, ii, ri, ir = x * hr, y * hi, x * hi, y * hr
            h = torch.stack([rr - ii, ri + ir], -1) + b[:, t]
        else:
            product = a[:, t] * h
            h = product + b[:, t]
        assert torch.equal(found[:, t], h)
    assert torch.equal(final, h)
    a, b, h = diagonal_inputs(3, 50, 7, dtype=torch.float32)[0]
    fused = (a[:, 0].double() * h.double() + b[:, 0].double()).float()
    assert not torch.equal(fused, a[:, 0] * h + b[:, 0])  # the order can be seen in these numbers


@on_triton
@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
@pytest.mark.parametrize("bounds", [None, RAGGED], ids=["dense", "packed"])
def test_equal_segments_give_equal_bits_on_both_backends(pairs: bool, bounds: list[int] | None) -> None:
    inputs, cu = diagonal_inputs(4, 23, 5, pairs=pairs, bounds=bounds, dtype=torch.float32)
    scan = partial(diagonal_scan, output_final_state=True, mode="parallel", segment=4, cu_seqlens=cu)
    in_torch = results_and_gradients(partial(scan, backend="torch"), inputs)
    in_triton = results_and_gradients(partial(scan, backend="triton"), inputs)
    for x, y in zip(in_torch[:4], in_triton[:4], strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize(
    ("backend", "mode", "dtype"),
    [
        *(
            ("torch", mode, dtype)
            for mode in ("parallel", "recurrent")
            for dtype in (torch.float32, torch.float16, torch.bfloat16, F64)
        ),
        # the interpreter is slow, and rounds bfloat16 in its own way
        pytest.param("triton", "parallel", torch.float32, marks=on_triton),
    ],
)
def test_parity_of_many_tokens(
    backend: str, mode: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "triton" and triton_interpreted():
        monkeypatch.setattr("mirrormata.kernels.scans._triton_diagonal.BLOCK", 2048)
    tokens = 100_000 if mode == "parallel" or dtype == torch.float32 else 20_000
    ones = torch.randint(0, 2, (1, tokens, 1), generator=torch.Generator().manual_seed(5)).to(DEVICE)
    a = (1 - 2 * ones).to(dtype)
    h, final = diagonal_scan(
        a, torch.zeros_like(a), torch.ones(1, 1, device=DEVICE), output_final_state=True, mode=mode, segment=64,
        backend=backend,
    )  # fmt: skip
    assert torch.equal(h, (1 - 2 * (ones.cumsum(1) % 2)).to(dtype))
    assert final is not None
    assert float(final) == float(h[0, -1, 0])


@pytest.mark.parametrize("mode", ["parallel", "recurrent"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_have_the_bits_of_integer_arithmetic(backend: str, mode: str) -> None:
    g = torch.Generator().manual_seed(6)
    a = torch.randint(-1, 2, (2, 200, 3), generator=g)
    a = torch.where(torch.rand(a.shape, generator=g) < 0.9, a * a + (1 - a * a) * (1 - 2 * (a > 0).long()), a)
    b = torch.randint(-40_000, 40_001, a.shape, generator=g)
    assert {-1, 0, 1} == set(a.flatten().tolist())
    a, b = a.to(DEVICE), b.to(DEVICE)
    h, wanted = torch.zeros_like(a[:, 0]), []
    for t in range(200):
        h = a[:, t] * h + b[:, t]
        wanted.append(h)
    assert max(int(x.abs().max()) for x in wanted) < 2**24
    found, _ = diagonal_scan(a.float(), b.float(), mode=mode, segment=16, backend=backend)
    assert torch.equal(found, torch.stack(wanted, 1).float())


@pytest.mark.parametrize("backend", BACKENDS)
def test_rotations(backend: str) -> None:
    quarter = torch.tensor([0.0, 1.0], device=DEVICE).expand(1, 300, 1, 2)
    start = torch.tensor([[[3.0, 5.0]]], device=DEVICE)
    scan = partial(diagonal_scan, mode="parallel", segment=16, backend=backend)
    h, _ = scan(quarter, torch.zeros_like(quarter), start)
    x, y = 3.0, 5.0
    for t in range(300):
        x, y = -y, x
        assert h[0, t, 0].tolist() == [x, y]
    angle = torch.randn(1, 300, 4, dtype=F64, generator=torch.Generator().manual_seed(7))
    turns = torch.stack([angle.cos(), angle.sin()], -1).to(DEVICE)
    unit = torch.tensor([1.0, 0.0], dtype=F64, device=DEVICE).expand(1, 4, 2)
    h, _ = scan(turns, torch.zeros_like(turns), unit)
    total = angle.cumsum(1)
    assert float((h.cpu() - torch.stack([total.cos(), total.sin()], -1)).abs().max()) < 1e-12


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sequence_may_be_cut_anywhere(backend: str, reverse: bool) -> None:
    (a, b, h), _ = diagonal_inputs(8, 9, 3, dtype=torch.float32)
    scan = partial(diagonal_scan, output_final_state=True, reverse=reverse, mode="recurrent", backend=backend)
    whole, final = scan(a, b, h)
    assert final is not None
    for at in range(10):
        first, second = (slice(at, None), slice(0, at)) if reverse else (slice(0, at), slice(at, None))
        x, middle = scan(a[:, first], b[:, first], h)
        y, last = scan(a[:, second], b[:, second], middle)
        assert torch.equal(torch.cat([y, x] if reverse else [x, y], 1), whole)
        assert last is not None
        assert torch.equal(last, final)


@pytest.mark.parametrize("segment", [3, 100])
@pytest.mark.parametrize("backend", BACKENDS)
def test_packed_sequences_know_nothing_of_each_other(backend: str, segment: int) -> None:
    (a, b, h), cu = diagonal_inputs(9, 23, 2, bounds=RAGGED)
    b[0, 6:17] = float("nan")
    inputs = [a.requires_grad_(), b.requires_grad_(), h.requires_grad_()]
    states, final = diagonal_scan(
        *inputs, output_final_state=True, cu_seqlens=cu, mode="parallel", segment=segment, backend=backend
    )
    clean = [0, 1, 2, 4, 5]
    others = torch.cat([states[:, :6], states[:, 17:]], 1)
    assert final is not None
    da, _, dh = torch.autograd.grad(others.sum() + final[clean].sum(), inputs)
    for x in (others, final[clean], da[:, :6], da[:, 17:], dh[clean]):
        assert x.isfinite().all()
    assert torch.equal(final[0], h[0])
    assert torch.equal(dh[0], torch.ones_like(h[0]))
    assert states[:, 6:17].isnan().all()


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_no_tokens(backend: str) -> None:
    a = torch.zeros(2, 0, 3, device=DEVICE, requires_grad=True)
    h = torch.randn(2, 3).to(DEVICE).requires_grad_()
    states, final = diagonal_scan(a, a, h, output_final_state=True, backend=backend)
    assert states.shape == (2, 0, 3)
    assert final is not None
    assert torch.equal(final, h)
    assert_gradients_without_tokens((states, final), [a], h)


@settings(max_examples=40)
@given(st.data())
def test_random_shapes_in_torch(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=5))
    bounds = [sum(lengths[:i]) for i in range(len(lengths) + 1)] if data.draw(st.booleans()) else None
    inputs, cu = diagonal_inputs(data.draw(st.integers(0, 99)), sum(lengths), 2, bounds=bounds)
    scan = partial(diagonal_scan, output_final_state=True, cu_seqlens=cu, reverse=data.draw(st.booleans()))
    how = {"mode": "parallel", "segment": data.draw(st.integers(1, 50)), "backend": "torch"}
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    assert_all_close(results_and_gradients(partial(scan, **how), inputs), wanted, 1e-12)


def test_low_precision_is_rounded_at_the_output_only() -> None:
    (a, b, h), _ = diagonal_inputs(10, 60, 4, dtype=torch.bfloat16)
    for decay in (a, a.float()):
        states, final = diagonal_scan(decay, b, h, output_final_state=True, mode="recurrent", backend="torch")
        wide, last = diagonal_scan(
            decay.float(), b.float(), h.float(), output_final_state=True, mode="recurrent"
        )
        assert states.dtype == torch.bfloat16
        assert torch.equal(states, wide.to(torch.bfloat16))
        assert final is not None
        assert last is not None
        assert final.dtype == torch.float32
        assert torch.equal(final, last)
