"""`selective_scan`: both backends against a loop in float64, the kernels on poisoned buffers."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from mirrormata.kernels import KernelInputError, launch_counts, reset_launch_counts, selective_scan
from mirrormata.kernels.scans._segments import KEPT_EVERY
from mirrormata.tests.kernels.devices import BACKENDS, DEVICE, on_triton
from mirrormata.tests.kernels.scan_checks import assert_all_close, launches, results_and_gradients

pytestmark = pytest.mark.usefixtures("poisoned_buffers")
SHAPES = [(1, 2, 9, 5, 3), (2, 3, 16, 4, 16), (2, 1, 33, 20, 16), (1, 1, 1, 1, 1), (2, 1, 9, 130, 2)]
"""S, B, T, C, N."""


def inputs(shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> list[Tensor]:
    S, B, T, C, N = shape
    g = torch.Generator().manual_seed(sum(shape))

    def normal(*size: int) -> Tensor:
        return torch.randn(size, generator=g, dtype=torch.float64)

    step = normal(S, B, T, C).abs()
    step[:, :, ::5] = 0  # a token that does nothing
    found = [normal(S, B, T, C), step, normal(S, C, N).abs(), normal(S, B, T, N), normal(S, B, T, N)]
    return [x.to(DEVICE, dtype) for x in (*found, normal(S, B, C, N))]


def exact(
    u: Tensor, step: Tensor, rate: Tensor, write: Tensor, read: Tensor, h: Tensor, *, signed: bool
) -> tuple[Tensor, Tensor]:
    """The recurrence as it is written, by autograd."""
    outputs = []
    for t in range(u.shape[2]):
        a = torch.exp(-step[:, :, t, :, None] * rate[:, None])
        a = 2 * a - 1 if signed else a
        h = a * h + (step[:, :, t] * u[:, :, t])[..., None] * write[:, :, t, None, :]
        outputs.append((h * read[:, :, t, None, :]).sum(-1))
    return torch.stack(outputs, 2), h


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_outputs_and_gradients(shape: tuple[int, ...], backend: str, signed: bool) -> None:
    wanted = results_and_gradients(partial(exact, signed=signed), inputs(shape))
    for dtype, most in ((torch.float64, 1e-13), (torch.float32, 4e-6)):
        # on a GPU the torch form runs the diagonal scan's kernels
        with launches(backend, "selective"):
            found = results_and_gradients(
                partial(selective_scan, signed=signed, backend=backend), inputs(shape, dtype)
            )
        assert all(x.dtype == dtype for x in found)
        assert_all_close(found, wanted, most)


@on_triton
@pytest.mark.parametrize(
    ("shape", "plan"),
    [
        # segments of 8 tokens, the last one of five
        ((2, 1, 45, 5, 3), {"least": 8}),
        # states of a channel over several warps, one token at a time
        ((1, 1, 17, 3, 70), {"least": 16, "entries": 64, "entries_back": 64, "unroll": 1}),
        # as many channels as a warp has threads
        ((1, 2, 24, 67, 4), {"least": 8, "entries_back": 128, "unroll": 2}),
    ],
)
def test_segments_of_every_size(
    shape: tuple[int, ...], plan: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirrormata.kernels.scans import _triton_selective as launch

    monkeypatch.setattr(launch, "PLAN", launch.Plan(**plan))
    S, B, T, C, N = shape
    assert launch.choose_length(S * B, T, C, N) == plan["least"]
    reset_launch_counts()
    wanted = results_and_gradients(partial(exact, signed=True), inputs(shape))
    scan = partial(selective_scan, signed=True, backend="triton")
    assert_all_close(results_and_gradients(scan, inputs(shape)), wanted, 1e-13)
    assert launch_counts() == {
        **{f"selective_{name}": 2 for name in ("summaries", "carries")},
        **{f"selective_{name}": 1 for name in ("outputs", "gradients")},
    }


@on_triton
def test_sequences_that_fill_the_device_stay_whole() -> None:
    from mirrormata.kernels.scans._triton_selective import PLAN, choose_block, choose_length

    for rows, T, C, N in ((8, 2048, 512, 16), (64, 2048, 512, 16), (1, 70_000, 3, 5), (1024, 1, 40, 300)):
        length = choose_length(rows, T, C, N)
        assert length % KEPT_EVERY == 0
        warps = rows * -(-C // choose_block(C, N, PLAN.entries)[0])
        assert (length >= T) == (warps >= PLAN.enough or PLAN.least >= T)
        assert length >= min(T, PLAN.least)


@pytest.mark.parametrize("backend", BACKENDS)
def test_narrow_inputs_are_computed_in_float32(backend: str) -> None:
    u, step, rate, write, read, h = inputs((2, 2, 20, 6, 4), torch.float32)
    narrow = [u.bfloat16(), step, rate, write.bfloat16(), read.bfloat16(), h]
    found = results_and_gradients(partial(selective_scan, backend=backend), narrow)
    wanted = results_and_gradients(
        partial(exact, signed=False), [x.double() for x in (u.bfloat16(), *narrow[1:])]
    )
    assert [x.dtype for x in found[:4]] == [torch.float32, torch.float32, torch.bfloat16, torch.float32]
    assert_all_close(
        [x for x in found if x.dtype == torch.float32],
        [w for x, w in zip(found, wanted, strict=True) if x.dtype == torch.float32],
        4e-6,
    )
    assert_all_close(found, wanted, 4e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sequence_goes_on_at_any_cut(backend: str) -> None:
    u, step, rate, write, read, h = inputs((2, 2, 20, 6, 4), torch.float32)
    whole, last = selective_scan(u, step, rate, write, read, h, backend=backend)
    for cut in (1, 7, 16, 19):
        now, after = slice(None, cut), slice(cut, None)
        first, state = selective_scan(
            u[:, :, now], step[:, :, now], rate, write[:, :, now], read[:, :, now], h, backend=backend
        )
        second, final = selective_scan(
            u[:, :, after],
            step[:, :, after],
            rate,
            write[:, :, after],
            read[:, :, after],
            state,
            backend=backend,
        )
        torch.testing.assert_close(torch.cat([first, second], 2), whole)
        torch.testing.assert_close(final, last)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tokens_leave_the_state(backend: str) -> None:
    given = inputs((2, 3, 0, 5, 4))
    found = results_and_gradients(partial(selective_scan, backend=backend), given)
    assert found[0].shape == (2, 3, 0, 5)
    assert torch.equal(found[1], given[5])
    assert found[-1].shape == given[5].shape
    assert not found[4].any()  # of the rates


def test_wrong_shapes_are_named() -> None:
    u, step, rate, write, read, h = inputs((2, 3, 5, 6, 4))
    with pytest.raises(KernelInputError, match=r"u has shape \[3, 5, 6\]: it must be \[S, B, T, C\]"):
        selective_scan(u[0], step, rate, write, read, h)
    with pytest.raises(
        KernelInputError, match=r"rate has shape \[1, 6, 4\]: it must be \[S, C, N\] = \[2, 6, 4\]"
    ):
        selective_scan(u, step, rate[:1], write, read, h)
    with pytest.raises(KernelInputError, match="initial_state has shape"):
        selective_scan(u, step, rate, write, read, h[:, :1])
