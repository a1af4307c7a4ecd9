"""What `delta_product` refuses, in one line, however often it is called; what it has accepted is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from mirrormata.kernels import KernelInputError, delta_product, l2_normalise
from mirrormata.kernels.delta import _front as checks
from mirrormata.tests.kernels.delta_product_cases import problem
from mirrormata.tests.kernels.devices import BACKENDS, DEVICE, skip_where_bounds_stay_unread


def zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, device=DEVICE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"householders": 3}, "k has shape"),
        ({"householders": 0}, "householders is 0"),
        ({"mode": "fast"}, 'mode="fast"'),
        ({"backend": "cuda"}, 'backend="cuda"'),
        ({"g": zeros(2, 6, 2), "a": zeros(2, 6, 2)}, "g and a are both given"),
        ({"a": zeros(2, 6)}, "a has shape"),
        ({"cu_seqlens": torch.tensor([0, 6], device=DEVICE)}, "cu_seqlens is given with B = 2"),
        ({"initial_state": zeros(2, 2, 3, 3)}, "initial_state has shape"),
        ({"v": zeros(2, 12, 2, 4)}, "v is torch.float32"),
        ({"k": torch.zeros(2, 12, 2, 4, dtype=torch.float64, device="meta")}, "k is on meta"),
        ({"beta": zeros(2, 6, 2)}, "beta has shape"),
        ({"output_states": "last"}, 'output_states="last"'),
        ({"backend": "reference", "mode": "chunk"}, "the reference is recurrent"),
    ],
)
def test_refusals_are_one_line(change: dict[str, Any], said: str) -> None:
    x = problem(2, 6, K=4, V=4)
    arguments: dict[str, Any] = {"q": x.q, "k": x.k, "v": x.v, "beta": x.beta, "householders": 2}
    for _ in range(2):  # what has been accepted once is not checked again; a refusal is
        delta_product(**arguments)
        with pytest.raises(KernelInputError) as caught:
            delta_product(**(arguments | change))
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_accepted_calls_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_accepted", {})
    monkeypatch.setattr(checks, "MOST_ACCEPTED", 2)
    for T, remembered in ((1, 1), (2, 2), (1, 2), (3, 1), (3, 1)):
        assert problem(1, T).run(backend="torch")[0].shape[1] == T
        assert len(checks._accepted) == remembered


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_packed_bounds_must_fit(backend: str) -> None:
    skip_where_bounds_stay_unread(backend)
    for bounds in ([0, 4, 3, 6], [0, 7], [1, 6], [0, 5]):
        x = replace(problem(1, 6, bounds=[0, 6]), cu=torch.tensor(bounds, device=DEVICE))
        x = replace(x, initial=x.initial.new_zeros(len(bounds) - 1, *x.initial.shape[1:]))
        with pytest.raises(KernelInputError, match="cu_seqlens must rise from 0 to T = 6"):
            x.run(backend=backend)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_packed_bounds_must_be_on_the_device(backend: str) -> None:
    x = replace(problem(1, 6, bounds=[0, 6]), cu=torch.tensor([0, 6], device="meta"))
    with pytest.raises(KernelInputError, match=f"cu_seqlens is on meta, others on {DEVICE}"):
        x.run(backend=backend)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
@pytest.mark.parametrize("sizes", [(0, 5, 2), (2, 0, 2), (2, 5, 0)])
def test_nothing_in_is_nothing_out(sizes: tuple[int, int, int], backend: str) -> None:
    B, T, H = sizes
    q, k, v = (zeros(B, T * n, H, 4).double().requires_grad_() for n in (1, 2, 2))
    initial = torch.ones(B, H, 4, 4, device=DEVICE)
    o, final = delta_product(
        q, k, v, k[..., 0], householders=2, initial_state=initial, output_final_state=True, backend=backend
    )
    assert o.shape == (B, T, H, 4)
    assert final.dtype == o.dtype == torch.float64
    assert torch.equal(final, initial.double())
    torch.autograd.backward([o.sum(), final.sum()])
    assert all(x.grad is not None and x.grad.shape == x.shape for x in (q, k, v))


def test_whole_numbers_are_not_normalised() -> None:
    with pytest.raises(KernelInputError, match=r"x is torch.int64: cast it"):
        l2_normalise(torch.ones(2, 3, dtype=torch.int64, device=DEVICE))
