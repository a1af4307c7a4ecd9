"""The rank-one scan in chunks against the plain loop: its kernels, whose products are float32 in the interpreter."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from mirrormata.kernels import KernelInputError, launch_counts, rank_one_scan, reset_launch_counts
from mirrormata.kernels.scans._rank_one import LEAST_TOKENS
from mirrormata.kernels.scans._rank_one_chunks import scan_chunks

from .delta_product_cases import assert_gradients_without_tokens
from .devices import DEVICE, on_triton
from .scan_checks import assert_all_close, poisoned_memory, results_and_gradients
from .test_rank_one_scan import random_inputs

pytestmark = [on_triton, pytest.mark.usefixtures("poisoned_buffers")]
KERNELS = ("prepare_chunks", "run_chunks", "multiply_chunks", "differentiate_chunks")


@pytest.fixture(autouse=True)
def _poison() -> Any:
    with poisoned_memory():
        yield


@pytest.mark.parametrize(
    ("tokens", "shape", "bounds"),
    [
        (16, (1, 16, 16), None),
        (37, (2, 5, 3), None),
        (1, (1, 2, 1), None),
        # several blocks of columns, the last one not full; keys beyond a power of two
        (17, (1, 3, 130), None),
        (18, (1, 70, 20), None),
        # empty sequences, one of a token, one that ends with a chunk, one of several chunks
        (60, (1, 37, 20), [0, 0, 1, 17, 21, 60, 60]),
        (9, (2, 4, 4), [0, 4, 9]),
    ],
)
def test_outputs_and_gradients_are_the_loop_s(
    tokens: int, shape: tuple[int, int, int], bounds: list[int] | None
) -> None:
    """Zeros and negative numbers are among w, whose products are never divided."""
    inputs, cu = random_inputs(0, tokens, shape, bounds=bounds, dtype=torch.float32)
    inputs[1][:, 2::5] = 1.0
    scan = partial(rank_one_scan, output_final_state=True, cu_seqlens=cu, scale=0.3)
    wanted = results_and_gradients(partial(scan, backend="reference"), [x.double() for x in inputs])
    reset_launch_counts()
    found = results_and_gradients(partial(scan, backend="triton", mode="chunk"), inputs)
    assert launch_counts() == dict(zip(KERNELS, (1, 2, 1, 1), strict=True))
    # the compiled kernels have three products of tf32 in place of one of float32
    assert_all_close(found, wanted, 2e-6 if DEVICE.type == "cpu" else 2e-5)


def test_decays_that_float32_cannot_divide_by() -> None:
    """Products of w run below the least number of float32 within a chunk, and others grow."""
    inputs, _ = random_inputs(1, 40, (1, 4, 6), dtype=torch.float32)
    inputs[1][..., 0], inputs[1][..., 1], inputs[1][..., 2] = 1e-9, -1e-30, 1.5
    scan = partial(rank_one_scan, output_final_state=True)
    wanted = results_and_gradients(partial(scan, backend="reference"), [x.double() for x in inputs])
    found = results_and_gradients(partial(scan, backend="triton", mode="chunk"), inputs)
    assert_all_close(found, wanted, 2e-6 if DEVICE.type == "cpu" else 2e-5)


@pytest.mark.parametrize("some", [1, 2, 8, 16])
@pytest.mark.parametrize("columns", [16, 32])
def test_tiles_of_every_size(columns: int, some: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.kernels.scans import _triton_rank_one_chunks as launch

    monkeypatch.setattr(launch, "PLAN", launch.Plan(columns, columns // 16, block=16, some=some))
    inputs, _ = random_inputs(2, 20, (1, 7, 40), dtype=torch.float32)
    scan = partial(rank_one_scan, output_final_state=True)
    wanted = results_and_gradients(partial(scan, backend="reference"), [x.double() for x in inputs])
    found = results_and_gradients(partial(scan, backend="triton", mode="chunk"), inputs)
    assert_all_close(found, wanted, 2e-6 if DEVICE.type == "cpu" else 2e-5)


def test_a_sequence_goes_on_at_any_cut() -> None:
    (*inputs, state), _ = random_inputs(3, 40, (1, 3, 2), dtype=torch.float32)
    scan: Any = partial(rank_one_scan, output_final_state=True, mode="chunk", backend="triton")
    whole, final = scan(*inputs, state)
    for at in (0, 1, 16, 23, 40):
        x, middle = scan(*(y[:, :at] for y in inputs), state)
        y, last = scan(*(y[:, at:] for y in inputs), middle)
        torch.testing.assert_close(torch.cat([x, y], 1), whole, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(last, final, rtol=1e-5, atol=1e-5)


def test_no_tokens_and_nothing_added() -> None:
    scan: Any = partial(rank_one_scan, output_final_state=True, mode="chunk", backend="triton")
    inputs, _ = random_inputs(4, 0, (1, 3, 2), dtype=torch.float32)
    inputs = [x.requires_grad_() for x in inputs]
    o, final = scan(*inputs)
    assert torch.equal(final, inputs[6])
    assert_gradients_without_tokens((o, final), inputs[:6], inputs[6])
    (q, w, u, z, k, v, state), _ = random_inputs(5, 7, (1, 3, 2), dtype=torch.float32)
    o, final = scan(None, w, u, z, initial_state=state)
    assert o is None
    torch.testing.assert_close(final, scan(q, w, u, z, 0 * k, v, state)[1])


@pytest.mark.parametrize("bounds", [None, [0, 0, 5, 6, 20, 40, 40]], ids=["dense", "packed"])
def test_the_operator_keeps_torch_s_rules(bounds: list[int] | None) -> None:
    inputs, cu = random_inputs(6, 40 if bounds else 20, (1, 3, 2), bounds=bounds, dtype=torch.float32)
    leaves = [x.requires_grad_() for x in inputs]
    torch.library.opcheck(
        scan_chunks, (*leaves, cu, 0.5, True), test_utils=("test_schema", "test_faketensor")
    )


def test_auto_takes_chunks_of_bfloat16_only() -> None:
    scan: Any = rank_one_scan
    for dtype, tokens, wide_w, chunks in (
        (torch.bfloat16, LEAST_TOKENS, False, True),
        (torch.bfloat16, LEAST_TOKENS, True, True),
        (torch.bfloat16, LEAST_TOKENS - 1, False, False),
        (torch.float16, LEAST_TOKENS, False, False),
        (torch.float32, LEAST_TOKENS, False, False),
        (torch.float64, LEAST_TOKENS, False, False),
    ):
        inputs, _ = random_inputs(7, tokens, (1, 2, 2), dtype=dtype)
        inputs[1] = inputs[1].float() if wide_w else inputs[1]
        for mode in ("auto", "recurrent"):
            reset_launch_counts()
            scan(*inputs, mode=mode, backend="triton")
            assert ("run_chunks" in launch_counts()) == (chunks and mode == "auto"), (dtype, tokens, mode)


def test_wide_keys_go_token_by_token() -> None:
    (q, w, u, z, k, v, _), _ = random_inputs(8, LEAST_TOKENS, (1, 129, 1), dtype=torch.bfloat16)
    reset_launch_counts()
    rank_one_scan(q[:1], w[:1], u[:1], z[:1], k[:1], v[:1], backend="triton")
    assert set(launch_counts()) == {"rank_one_forward_kernel"}
    with pytest.raises(KernelInputError, match=r'K is 129: mode="chunk" takes up to 128 keys'):
        rank_one_scan(q, w, u, z, k, v, mode="chunk", backend="triton")


@pytest.mark.parametrize(
    ("options", "dtype", "message"),
    [
        ({"mode": "chunks"}, torch.float32, 'mode="chunks": use one of auto, recurrent, chunk'),
        ({"mode": "chunk", "backend": "torch"}, torch.float32, 'is not there with backend="torch"'),
        ({"mode": "chunk", "backend": "reference"}, torch.float32, 'is not there with backend="reference"'),
        ({"mode": "chunk", "backend": "triton"}, torch.float64, "computes in float32"),
    ],
)
def test_modes_that_are_not_there_are_refused(
    options: dict[str, Any], dtype: torch.dtype, message: str
) -> None:
    x = torch.zeros(1, 4, 1, 3, dtype=dtype, device=DEVICE)
    with pytest.raises(KernelInputError, match=message):
        rank_one_scan(x, x, x, x, x, x, **options)
