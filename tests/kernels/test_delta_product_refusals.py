"""What `delta_product` refuses, in one line, however often it is called; what it has accepted is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from mirrormata.kernels import KernelInputError, delta_product, l2_normalise
from mirrormata.kernels._checking import check_gates
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


def shaped(n: int, **change: torch.Tensor) -> dict[str, Any]:
    """Arguments with B = 2, T = 6, H = 3, K = 4, but for those that are changed."""
    q, k = zeros(2, 6, 3, 4), zeros(2, 6 * n, 3, 4)
    return {"q": q, "k": k, "v": k, "beta": k[..., 0], "householders": n, **change}


SWAPPED = "axes 1 and 2 of {} swapped (tokens come before heads)"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (shaped(2) | {"householders": 1}, "householders=2"),
        (shaped(1) | {"householders": 3}, "householders=1"),
        (shaped(2, q=zeros(2, 3, 6, 4)), SWAPPED.format("q")),
        (shaped(2, beta=zeros(2, 3, 12)), SWAPPED.format("beta")),
        (shaped(1, g=zeros(2, 3, 6)), SWAPPED.format("g, or of all others,")),
        (
            shaped(2, q=zeros(2, 3, 6, 4), k=zeros(2, 3, 12, 4), v=zeros(2, 3, 12, 4)),
            SWAPPED.format("q, k and v"),
        ),
        (
            shaped(2, q=zeros(2, 3, 6, 4), k=zeros(2, 3, 12, 4), v=zeros(2, 3, 12, 4)) | {"householders": 1},
            f"householders=2 and {SWAPPED.format('q, k and v')}",
        ),
    ],
)
def test_what_would_make_shapes_fit_is_said(arguments: dict[str, Any], hint: str) -> None:
    with pytest.raises(KernelInputError) as caught:
        delta_product(**arguments)
    assert str(caught.value).endswith(f"; all shapes fit with {hint}")


def test_nothing_is_said_where_nothing_would_fit() -> None:
    for change in ({"k": zeros(2, 7, 3, 4)}, {"g": zeros(2, 6)}, {"beta": zeros(2, 5, 2)}):
        with pytest.raises(KernelInputError) as caught:
            delta_product(**(shaped(1) | change))
        assert "fit" not in str(caught.value)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_bounds_in_micro_steps_are_told(backend: str) -> None:
    skip_where_bounds_stay_unread(backend)
    x = {name: y if name == "householders" else y[:1] for name, y in shaped(2).items()}
    for last, said in ((12, "tokens, not their 2 micro-steps each"), (11, "and never fall")):
        bounds = torch.tensor([0, 4, last], device=DEVICE)
        with pytest.raises(KernelInputError) as caught:
            delta_product(**x, cu_seqlens=bounds, backend=backend)
        assert said in str(caught.value)
        assert ("micro-steps" in str(caught.value)) == (last == 12)


WRONG_GATES = [
    ("g", 0.5, ": it must be at most 0"),
    ("a", -3.0, ", and none above 0: these look like logarithms"),
]


@pytest.mark.parametrize("backend", ["torch", "reference"])
@pytest.mark.parametrize(("name", "value", "said"), WRONG_GATES)
def test_gates_out_of_range_are_refused_on_the_cpu(name: str, value: float, said: str, backend: str) -> None:
    x = {key: y if key == "householders" else y.cpu() for key, y in shaped(1).items()}
    gates = torch.zeros(2, 6, 3)
    delta_product(**(x | {name: gates}), backend=backend)
    gates[1, 5, 2] = value  # in every call, also where one of the same shapes was accepted
    with pytest.raises(KernelInputError) as caught:
        delta_product(**(x | {name: gates}), backend=backend)
    assert str(caught.value).startswith(f"{name} has the value {value:.4g}{said}")


def test_gates_that_are_allowed_pass() -> None:
    x = {key: y if key == "householders" else y.cpu() for key, y in shaped(1).items()}
    for name, values in (
        ("g", (0.0, -torch.inf, torch.nan, 2.0**-8)),
        ("a", (-1.0, 0.0, 1.0, 1.5, torch.nan, torch.inf)),
    ):
        for value in values:
            delta_product(**(x | {name: torch.full((2, 6, 3), value)}))


def test_gates_are_not_looked_at_where_they_have_no_values() -> None:
    """While a call is compiled, mapped, or made with tensors without values; and on a device nothing waits for them."""
    q, a = torch.rand(5, 1, 4, 2, 3), -3 * torch.ones(5, 1, 4, 2)

    def run(a: torch.Tensor) -> torch.Tensor:
        o: torch.Tensor = delta_product(q[0], q[0], q[0], q[0, ..., 0], a=a, backend="torch")[0]
        return o

    with pytest.raises(KernelInputError):
        run(a[0])
    assert torch.vmap(run)(a).shape == q.shape
    compiled = torch.compile(run, fullgraph=True, backend="eager")
    assert compiled(a[0]).shape == q[0].shape
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
        assert run(mode.from_tensor(a[0])).shape == q[0].shape
    slopes = torch.func.grad(lambda a: run(a).sum())(a[0] / 4)
    assert slopes.shape == a[0].shape
    with pytest.raises(KernelInputError, match="a has the value -3"):
        torch.func.grad(lambda a: run(a).sum())(a[0])
    on_meta = torch.empty(1, 4, 2, device="meta")
    check_gates("a", on_meta)
