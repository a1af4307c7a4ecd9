"""What `delta_product` refuses, in one line, however often it is called; what it has accepted is remembered."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mirrormata.kernels import KernelInputError, delta_product, delta_product_arguments
from mirrormata.tests.delta_product_cases import problem


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"householders": 3}, "k has shape"),
        ({"householders": 0}, "householders is 0"),
        ({"mode": "fast"}, 'mode="fast"'),
        ({"backend": "cuda"}, 'backend="cuda"'),
        ({"g": torch.zeros(2, 6, 2), "a": torch.zeros(2, 6, 2)}, "g and a are both given"),
        ({"a": torch.zeros(2, 6)}, "a has shape"),
        ({"cu_seqlens": torch.tensor([0, 6])}, "cu_seqlens is given with B = 2"),
        ({"initial_state": torch.zeros(2, 2, 3, 3)}, "initial_state has shape"),
        ({"v": torch.zeros(2, 12, 2, 4)}, "v is torch.float32"),
        ({"k": torch.zeros(2, 12, 2, 4, dtype=torch.float64, device="meta")}, "k is on meta"),
        ({"beta": torch.zeros(2, 6, 2)}, "beta has shape"),
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
    monkeypatch.setattr(delta_product_arguments, "_accepted", {})
    monkeypatch.setattr(delta_product_arguments, "MOST_ACCEPTED", 2)
    for T, remembered in ((1, 1), (2, 2), (1, 2), (3, 1), (3, 1)):
        assert problem(1, T).run(backend="torch")[0].shape[1] == T
        assert len(delta_product_arguments._accepted) == remembered


def test_packed_bounds_must_fit() -> None:
    x = problem(1, 6, bounds=[0, 4, 3, 6])
    with pytest.raises(KernelInputError, match="cu_seqlens must rise from 0 to T = 6"):
        x.run(backend="torch")
