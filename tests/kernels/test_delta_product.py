"""DeltaProduct without triton: the recurrence, the torch chunks and scan, packing, gates, exactness."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.kernels import BackendUnavailableError, delta_product, l2_normalise, triton_available
from mirrormata.kernels.delta._reference import tree_sum
from mirrormata.tests.kernels.delta_product_cases import (
    assert_gradients_without_tokens,
    largest_error,
    problem,
    relative,
    results,
    swaps,
)
from mirrormata.tests.kernels.devices import DEVICE


def test_recurrence_is_the_product_of_its_matrices() -> None:
    inputs = problem(3, 5, gated=True, K=4, V=3, H=1, B=1)
    o, final, states = inputs.run(backend="reference", output_states="all")
    S = inputs.initial[0, 0].cpu().numpy()
    q, keys, values = (x.cpu().numpy() for x in (inputs.q, inputs.k, inputs.v))
    o, final, states = (x.cpu() for x in (o, final, states))
    for t in range(5):
        S = inputs.a[0, t, 0].item() * S  # type: ignore[index]
        for i in range(3 * t, 3 * t + 3):
            k, v, beta = keys[0, i, 0], values[0, i, 0], inputs.beta[0, i, 0].item()
            S = (np.eye(4) - beta * np.outer(k, k)) @ S + beta * np.outer(k, v)
        np.testing.assert_allclose(states[0, t, 0], S, atol=1e-12)
        np.testing.assert_allclose(o[0, t, 0], 4**-0.5 * q[0, t, 0] @ S, atol=1e-12)
    np.testing.assert_allclose(final[0, 0], S, atol=1e-12)


def test_tree_sum_halves() -> None:
    x = torch.tensor([1e8, 1.0, -1e8, 1.0, 3.0], dtype=torch.float32, device=DEVICE)[:, None]
    # padded to 8: (x0+x4, x1, x2, x3) -> (x0+x4+x2, x1+x3) -> all
    total = ((x[0] + x[4]) + x[2]) + (x[1] + x[3])
    assert torch.equal(tree_sum(x), total)
    assert tree_sum(x).item() != x.double().sum().item()


@pytest.mark.parametrize("n_h", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", ["chunk", "scan"])
@pytest.mark.parametrize("gated", [False, True])
def test_chunks_agree_with_the_recurrence(n_h: int, mode: str, gated: bool) -> None:
    for T in (1, 37, 70):
        inputs = problem(n_h, T, gated=gated, K=5, V=7)
        assert largest_error(inputs, torch.float64, backend="torch", mode=mode) < 1e-12
        got = inputs.run(backend="torch", mode=mode, output_states="all")[2]
        assert relative(got, inputs.run(backend="reference", output_states="all")[2]) < 1e-13


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
@pytest.mark.parametrize("beta", [1.3, 2.0])
@pytest.mark.parametrize("repeat", [False, True])
def test_float32_error_at_reflections(mode: str, beta: float, repeat: bool) -> None:
    inputs = problem(2, 70, beta=beta, repeat=repeat)
    assert largest_error(inputs, torch.float32, backend="torch", mode=mode) < 2e-5


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_packed_sequences_are_separate(mode: str) -> None:
    bounds = [0, 40, 40, 41, 150]
    inputs = problem(2, 150, gated=True, bounds=bounds).to(torch.float64)
    packed = results(inputs, backend="torch", mode=mode)
    for n, (start, end) in enumerate(itertools.pairwise(bounds)):
        alone = replace(
            inputs,
            q=inputs.q[:, start:end],
            k=inputs.k[:, 2 * start : 2 * end],
            v=inputs.v[:, 2 * start : 2 * end],
            beta=inputs.beta[:, 2 * start : 2 * end],
            a=inputs.a[:, start:end],  # type: ignore[index]
            initial=inputs.initial[n : n + 1],
            cu=None,
        )
        o, final = alone.run(backend="reference")
        assert end == start or relative(packed[0][:, start:end], o) < 1e-13
        assert relative(packed[1][n : n + 1], final) < 1e-13
    assert largest_error(inputs, torch.float64, backend="torch", mode=mode) < 1e-12


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
@pytest.mark.parametrize("cut", [1, 64, 99])
def test_a_sequence_may_be_cut_anywhere(mode: str, cut: int) -> None:
    x = problem(2, 100, gated=True)
    whole = x.run(backend="torch", mode=mode)
    assert x.a is not None
    first = replace(
        x, q=x.q[:, :cut], k=x.k[:, : 2 * cut], v=x.v[:, : 2 * cut], beta=x.beta[:, : 2 * cut], a=x.a[:, :cut]
    ).run(backend="torch", mode=mode)
    second = replace(
        x,
        q=x.q[:, cut:],
        k=x.k[:, 2 * cut :],
        v=x.v[:, 2 * cut :],
        beta=x.beta[:, 2 * cut :],
        a=x.a[:, cut:],
        initial=first[1],
    ).run(backend="torch", mode=mode)
    assert relative(torch.cat([first[0], second[0]], 1), whole[0]) < 1e-13
    assert relative(second[1], whole[1]) < 1e-13


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_gradients_by_finite_differences(mode: str) -> None:
    inputs = problem(2, 5, gated=True, K=3, V=2, B=1, H=1, seed=3).to(torch.float64)
    assert inputs.a is not None
    assert (inputs.a == 0).any()

    def run(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, k, v, beta, initial, a = tensors
        return replace(inputs, q=q, k=k, v=v, beta=beta, initial=initial, a=a).run(backend="torch", mode=mode)

    assert torch.autograd.gradcheck(run, inputs.tensors(), atol=1e-6)
    assert torch.autograd.gradgradcheck(run, inputs.tensors(), atol=1e-6)


def test_the_logarithmic_gate_is_the_same_gate() -> None:
    x = problem(2, 20, gated=True)
    assert x.a is not None
    a = x.a.abs() + 0.01
    options: dict[str, Any] = {"householders": 2, "output_final_state": True}
    one = delta_product(x.q, x.k, x.v, x.beta, a=a, **options)
    other = delta_product(x.q, x.k, x.v, x.beta, g=a.log(), **options)
    assert all(relative(p, r) < 1e-13 for p, r in zip(one, other, strict=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_integer_swaps_are_exact(dtype: torch.dtype, mode: str) -> None:
    inputs, states = swaps(300, 4, seed=1)
    axes = torch.eye(5, dtype=dtype, device=DEVICE).repeat(60, 1)[None, :, None]
    queries = replace(inputs.to(dtype), q=axes)
    o, final, all_states = queries.run(backend="torch", mode=mode, scale=1.0, output_states="all")
    assert torch.equal(final[0, 0].double().cpu(), torch.tensor(states[-1]).double())
    assert torch.equal(all_states[0, :, 0].double().cpu(), torch.tensor(states).double())
    rows = states[np.arange(300), np.arange(300) % 5]
    assert torch.equal(o[0, :, 0].double().cpu(), torch.tensor(rows).double())


def test_axis_reflections_with_beta_two_are_exact() -> None:
    inputs, _ = swaps(100, 2, seed=2)
    axis = torch.nn.functional.one_hot(torch.arange(200, device=DEVICE) % 5, 5).double()[None, :, None]
    inputs = replace(inputs, k=axis, beta=torch.full_like(inputs.beta, 2.0))
    for mode in ("chunk", "scan"):
        final = inputs.to(torch.bfloat16).run(backend="torch", mode=mode)[1]
        assert torch.equal(final, inputs.to(torch.float64).run(backend="reference")[1].float())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_normalised_keys(dtype: torch.dtype) -> None:
    x = torch.randn(4000, 33, generator=torch.Generator().manual_seed(0)).to(DEVICE, dtype)
    x[::3] *= 1e-3
    x[7] = 0
    unit = l2_normalise(x)
    assert torch.equal(unit[7], torch.zeros_like(unit[7]))
    norms = unit.double().norm(dim=-1)
    norms[7] = 1
    assert (norms - 1).abs().max() <= 2 * torch.finfo(dtype).eps
    leaf = x.float().requires_grad_()
    (gradient,) = torch.autograd.grad(l2_normalise(leaf).sum(), leaf)
    assert torch.isfinite(gradient).all()


def test_normalising_in_the_call_is_normalising_before() -> None:
    x = problem(1, 12)
    q, k = l2_normalise(x.q), l2_normalise(3 * x.k)
    one = delta_product(x.q, 3 * x.k, x.v, x.beta, l2norm=True)[0]
    assert torch.equal(one, delta_product(q, k, x.v, x.beta)[0])


def test_many_householders() -> None:
    assert largest_error(problem(70, 3, K=3, V=3), torch.float64, backend="torch", mode="chunk") < 1e-11


@pytest.mark.parametrize("bounds", [None, [0, 0, 0]], ids=["dense", "packed"])
@pytest.mark.parametrize(
    "how", [("reference", "recurrent"), ("torch", "recurrent"), ("torch", "chunk"), ("torch", "scan")]
)
def test_no_tokens(how: tuple[str, str], bounds: list[int] | None) -> None:
    x = problem(2, 0, gated=True, bounds=bounds).to(torch.float64)
    o, final, states = x.run(backend=how[0], mode=how[1], output_states="all")
    assert o.shape == (x.q.shape[0], 0, 2, 16)
    assert states.shape == (x.q.shape[0], 0, 2, 16, 16)
    assert torch.equal(final, x.initial)
    inputs = [y for y in x.tensors() if y is not x.initial]
    assert_gradients_without_tokens((o, states, final), inputs, x.initial)
    _, final = delta_product(
        x.q, x.k, x.v, x.beta, householders=2, output_final_state=True, mode=how[1], backend=how[0]
    )
    assert final.requires_grad


def test_autocast_casts_values_and_keeps_states() -> None:
    x = problem(1, 8).to(torch.float32)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        o, final = x.run()
    assert (o.dtype, final.dtype) == (torch.bfloat16, torch.float32)


def test_compiles_as_one_graph() -> None:
    x = problem(2, 9).to(torch.float32)
    compiled = torch.compile(
        lambda q, k, v, b: delta_product(q, k, v, b, householders=2)[0], backend="eager", fullgraph=True
    )
    o = compiled(x.q, x.k, x.v, x.beta)
    assert torch.equal(o, delta_product(x.q, x.k, x.v, x.beta, householders=2)[0])


def test_triton_where_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert not triton_available("cpu")
    x = torch.ones(1, 6, 1, 16)
    with pytest.raises(BackendUnavailableError, match='or pass backend="torch"'):
        delta_product(x, x, x, x[..., 0], backend="triton")


def test_import_loads_neither_torch_nor_triton_at_once() -> None:
    code = (
        "import sys, mirrormata.kernels as kernels\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "sys.modules['triton'] = None\n"
        "import torch\n"
        "x = torch.ones(1, 3, 1, 2)\n"
        "o, _ = kernels.delta_product(x, x, x, x[..., 0])\n"
        "assert o.shape == (1, 3, 1, 2)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=120)
