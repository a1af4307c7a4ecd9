"""The diagonal-plus-rank-one scan against its plain loop, integers, finite differences, and itself cut in two."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mirrormata.kernels._backends import KernelError, KernelInputError
from mirrormata.kernels.scans._rank_one import _scan, rank_one_scan
from mirrormata.kernels.scans._segments import cut

from .delta_product_cases import assert_gradients_without_tokens
from .devices import BACKENDS, DEVICE, on_triton
from .scan_checks import (
    assert_all_close,
    assert_autocast_changes_nothing,
    assert_compiles_as_one_graph,
    launches,
    poisoned_memory,
    results_and_gradients,
)

RAGGED = [0, 0, 5, 6, 11, 11]
F64 = torch.float64


@pytest.fixture(autouse=True)
def _poison(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("mirrormata.kernels.scans._rank_one.SEGMENT", 4)
    with poisoned_memory():
        yield


def random_inputs(
    seed: int,
    tokens: int,
    shape: tuple[int, int, int],
    *,
    bounds: list[int] | None = None,
    dtype: torch.dtype = F64,
) -> tuple[list[Tensor], Tensor | None]:
    """q, w, u, z, k, v and initial states, `diag(w) + u zᵀ` of norm about 1 with zeros and signs among w."""
    g = torch.Generator().manual_seed(seed)
    H, K, V = shape
    rows, N = (2, 2) if bounds is None else (1, len(bounds) - 1)
    q, w, u, z, k = (
        torch.randn(rows, tokens, H, K, generator=g, dtype=F64) / max(K, 2) ** 0.5 for _ in range(5)
    )
    w = w.clamp(-1, 1)
    w[:, ::3, :, 0], w[:, 1::3, :, 0] = 0.0, -1.0
    v = torch.randn(rows, tokens, H, V, generator=g, dtype=F64)
    state = torch.randn(N, H, K, V, generator=g, dtype=F64)
    cu = None if bounds is None else torch.tensor(bounds, device=DEVICE)
    return [x.to(DEVICE, dtype) for x in (q, w, u, z, k, v, state)], cu


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 17, 1)], ids=["3x5", "17x1"])
@pytest.mark.parametrize("bounds", [None, RAGGED], ids=["dense", "packed"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(F64, 1e-13), (torch.float32, 2e-6)], ids=["fp64", "fp32"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_and_gradients_are_the_loop_s(
    backend: str, dtype: torch.dtype, tolerance: float, bounds: list[int] | None, shape: tuple[int, int, int]
) -> None:
    inputs, cu = random_inputs(0, 11, shape, bounds=bounds, dtype=dtype)
    scan = partial(rank_one_scan, output_final_state=True, cu_seqlens=cu)
    wanted = results_and_gradients(partial(scan, backend="reference"), [x.double() for x in inputs])
    with launches(backend):
        found = results_and_gradients(partial(scan, backend=backend), inputs)
    assert_all_close(found, wanted, tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_blocks_of_values(backend: str) -> None:
    inputs, _ = random_inputs(1, 3, (1, 130, 37))
    scan = partial(rank_one_scan, output_final_state=True)
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    assert_all_close(results_and_gradients(partial(scan, backend=backend), inputs), wanted, 1e-13)


@on_triton
def test_float64_with_a_scale_that_float32_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled kernels are given numbers as float32, unlike those in the interpreter."""
    from mirrormata.kernels.scans import _triton_rank_one as launch

    monkeypatch.setattr(launch, "float", lambda x: torch.tensor(x).item(), raising=False)
    inputs, _ = random_inputs(6, 7, (1, 5, 3))
    scan = partial(rank_one_scan, output_final_state=True)
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    assert_all_close(results_and_gradients(partial(scan, backend="triton"), inputs), wanted, 1e-13)
    with pytest.raises(KernelError, match="a number that float32 does not hold"):
        launch.rank_one_forward(tuple(inputs[:6]), inputs[6], 0.1, cut(2, 7, 4), keep=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [None, [0, 2, 2, 5]], ids=["dense", "packed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_are_finite_differences(backend: str, bounds: list[int] | None) -> None:
    inputs, cu = random_inputs(2, 5, (1, 2, 3), bounds=bounds)
    inputs = [x.requires_grad_() for x in inputs]

    def scan(*x: Tensor) -> Any:
        return rank_one_scan(*x, output_final_state=True, cu_seqlens=cu, backend=backend)

    assert torch.autograd.gradcheck(scan, inputs, eps=1e-6, atol=1e-8, fast_mode=backend == "triton")


@pytest.mark.parametrize("backend", [*BACKENDS, "reference"])
def test_integers_have_the_bits_of_integer_arithmetic(backend: str) -> None:
    """Swaps, copies, sign flips and resets of keys: RWKV-7's and DeltaNet's exact transitions."""
    g = torch.Generator().manual_seed(3)
    T, K, V = 60, 4, 3
    w, u, z, k, v, q = (torch.zeros(1, T, 1, n, dtype=torch.int64) for n in (K, K, K, K, V, K))
    w += 1
    H = torch.arange(1, K * V + 1).reshape(K, V)
    start, states, outputs = H, [], []
    for t in range(T):
        i, j = torch.randperm(K, generator=g)[:2].tolist()
        match t % 4:
            case 0:  # swap
                u[0, t, 0, i], u[0, t, 0, j] = -1, 1
                z[0, t, 0, i], z[0, t, 0, j] = 1, -1
            case 1:  # row j becomes row i
                u[0, t, 0, j], z[0, t, 0, i], z[0, t, 0, j] = 1, 1, -1
            case 2:
                w[0, t, 0, i] = -1
            case _:
                w[0, t, 0, i], k[0, t, 0, i] = 0, 1
                v[0, t, 0] = torch.randint(-1000, 1000, (V,), generator=g)
        q[0, t, 0] = torch.randint(-9, 10, (K,), generator=g)
        A = torch.diag(w[0, t, 0]) + torch.outer(u[0, t, 0], z[0, t, 0])
        H = A @ H + torch.outer(k[0, t, 0], v[0, t, 0])
        states.append(H)
        outputs.append(q[0, t, 0] @ H)
    # the whole numbers are multiplied on the CPU, for torch has no such matrix products on a GPU
    inputs = [x.to(DEVICE, torch.float32) for x in (q, w, u, z, k, v)]
    scan: Any = partial(rank_one_scan, scale=1.0, output_final_state=True, backend=backend)
    o, final = scan(*inputs, start[None, None].to(DEVICE, torch.float32))
    assert torch.equal(o[0, :, 0].cpu(), torch.stack(outputs).float())
    assert torch.equal(final[0, 0].cpu(), states[-1].float())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sequence_may_be_cut_anywhere(backend: str) -> None:
    (*inputs, state), _ = random_inputs(4, 7, (1, 3, 2), dtype=torch.float32)
    scan: Any = partial(rank_one_scan, output_final_state=True, backend=backend)
    whole, final = scan(*inputs, state)
    for at in range(8):
        x, middle = scan(*(y[:, :at] for y in inputs), state)
        y, last = scan(*(y[:, at:] for y in inputs), middle)
        assert torch.equal(torch.cat([x, y], 1), whole)
        assert torch.equal(last, final)


@pytest.mark.parametrize("backend", BACKENDS)
def test_packed_sequences_know_nothing_of_each_other(backend: str) -> None:
    inputs, cu = random_inputs(5, 11, (1, 3, 2), bounds=RAGGED)
    inputs[5][0, 5:6] = float("nan")
    inputs = [x.requires_grad_() for x in inputs]
    o, final = rank_one_scan(*inputs, output_final_state=True, cu_seqlens=cu, backend=backend)
    clean = [0, 1, 3, 4]
    assert o is not None
    assert final is not None
    others = torch.cat([o[:, :5], o[:, 6:]], 1)
    gradients = torch.autograd.grad(others.sum() + final[clean].sum(), inputs)
    assert others.isfinite().all()
    assert final[clean].isfinite().all()
    for x in gradients[:-1]:
        assert torch.cat([x[:, :5], x[:, 6:]], 1).isfinite().all()
    assert gradients[-1][clean].isfinite().all()
    assert torch.equal(final[0], inputs[6][0])
    assert torch.equal(gradients[-1][0], torch.ones_like(final[0]))


@pytest.mark.parametrize("backend", [*BACKENDS, "reference"])
def test_outputs_and_what_is_added_are_optional(backend: str) -> None:
    (q, w, u, z, k, v, state), _ = random_inputs(6, 7, (1, 3, 2))
    o, final = rank_one_scan(None, w, u, z, initial_state=state, output_final_state=True, backend=backend)
    _, same = rank_one_scan(q, w, u, z, 0 * k, v, state, output_final_state=True, backend=backend)
    assert o is None
    assert final is not None
    assert same is not None
    assert torch.equal(final, same)
    assert rank_one_scan(q, w, u, z, k, v, state, backend=backend)[1] is None


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_no_tokens(backend: str) -> None:
    inputs, _ = random_inputs(7, 0, (1, 3, 2))
    inputs = [x.requires_grad_() for x in inputs]
    o, final = rank_one_scan(*inputs, output_final_state=True, backend=backend)
    assert o is not None
    assert final is not None
    assert o.shape == (2, 0, 1, 2)
    assert torch.equal(final, inputs[6])
    assert_gradients_without_tokens((o, final), inputs[:6], inputs[6])
    _, final = rank_one_scan(*inputs[:6], output_final_state=True, backend=backend)
    assert final is not None
    assert final.requires_grad


@settings(max_examples=30)
@given(st.data())
def test_random_shapes_in_torch(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=4))
    bounds = [sum(lengths[:i]) for i in range(len(lengths) + 1)] if data.draw(st.booleans()) else None
    shape = (data.draw(st.integers(1, 2)), data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5)))
    inputs, cu = random_inputs(data.draw(st.integers(0, 99)), sum(lengths), shape, bounds=bounds)
    scan = partial(rank_one_scan, output_final_state=True, cu_seqlens=cu)
    wanted = results_and_gradients(partial(scan, backend="reference"), inputs)
    assert_all_close(results_and_gradients(partial(scan, backend="torch"), inputs), wanted, 1e-12)


def test_autocast_changes_nothing() -> None:
    inputs, _ = random_inputs(8, 10, (2, 4, 4), dtype=torch.float32)
    scan = partial(rank_one_scan, output_final_state=True)
    assert_autocast_changes_nothing(scan, inputs)


@pytest.mark.parametrize("bounds", [None, RAGGED], ids=["dense", "packed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_operator_keeps_torch_s_rules(backend: str, bounds: list[int] | None) -> None:
    inputs, cu = random_inputs(9, 11, (1, 3, 2), bounds=bounds)
    leaves = [x.requires_grad_() for x in inputs]
    tests = ("test_schema", "test_faketensor", "test_autograd_registration", "test_aot_dispatch_static")
    kept = tests if backend == "torch" else tests[:2]  # the interpreter is slow
    torch.library.opcheck(_scan, (*leaves, cu, 0.5, True, backend), test_utils=kept)


def test_compiled_as_one_graph() -> None:
    inputs, _ = random_inputs(10, 10, (1, 3, 2))

    def scan(*x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        return rank_one_scan(*x, output_final_state=True)

    assert_compiles_as_one_graph(scan, inputs)


X = torch.zeros(2, 4, 1, 3, device=DEVICE)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, X[0], X, X, X, X), {}, r"w has shape \[4, 1, 3\]"),
        (
            (X[..., :2], X, X, X, X, X),
            {},
            r"q has shape \[2, 4, 1, 2\]: it must be \[B, T, H, K\] = \[2, 4, 1, 3\]",
        ),
        ((X, X, X, X, X), {}, "only one of k and v"),
        ((X, X, X, X), {}, "neither v nor initial_state"),
        ((X, X, X, X, X, X[:, :2]), {}, r"v has shape \[2, 2, 1, 3\]"),
        ((X, X, X, X, X, X, X.view(4, 1, 2, 3)[:2]), {}, r"initial_state has shape"),
        ((X, X, X.int(), X, X, X), {}, "u is torch.int32: cast it"),
        ((X, X, X, X, X, X[..., :1].expand(2, 4, 1, 300)), {}, "V is 300: each must be 1 to 256"),
        ((X, X, X, X, X, X), {"backend": "gpu"}, 'backend="gpu": use one of'),
        ((X, X, X, X, X, X), {"cu_seqlens": torch.tensor([0, 4], device=DEVICE)}, "B = 2"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: tuple[Tensor, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(KernelInputError) as caught:
        rank_one_scan(*arguments, **options)
    assert re.search(message, str(caught.value))
    assert "\n" not in str(caught.value)
