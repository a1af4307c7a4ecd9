"""The two kernels of DeltaProduct on Hopper: their formulas in plain torch, which calls they take, and the kernels on such a GPU.

Gluon has no interpreter.  The formulas run on the CPU as they stand in `_gluon_prepare` and `_gluon_advance`, in float64, against
the recurrence; that the kernels compile is tested in `test_kernel_compilation`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.benchmarks.hopper_forward import (
    GATES,
    SHAPES,
    draw_swaps,
    measure,
    permute_states,
    table_rows,
)
from mirrormata.kernels import delta_product, launch_counts, reset_launch_counts
from mirrormata.kernels._backends import triton_installed
from mirrormata.kernels.delta._hopper_plan import (
    COLUMNS,
    MOST_HOUSEHOLDERS,
    ROWS,
    WIDTHS,
    count_shared,
    hopper_plan,
)
from mirrormata.kernels.delta._plan_check import SHARED_MEMORY
from mirrormata.tests.kernels.devices import DEVICE

pytestmark = pytest.mark.skipif(not triton_installed(), reason="needs triton")


def has_hopper() -> bool:
    if DEVICE.type != "cuda" or not triton_installed():
        return False
    from mirrormata.kernels.delta._hopper import multiprocessors

    return multiprocessors(DEVICE) > 0


on_hopper = pytest.mark.skipif(not has_hopper(), reason="needs a GPU of compute capability 9.0")


def draw(
    B: int, T: int, H: int, K: int, V: int, n_h: int, gate: str, dtype: torch.dtype, seed: int = 0
) -> tuple[list[Tensor], Tensor | None, Tensor]:
    """Inputs, gates and an initial state; gates `signed` are zero or negative now and then."""
    g = torch.Generator().manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(size, generator=g, dtype=torch.float64)

    q, k = (torch.nn.functional.normalize(normal(B, rows, H, K), dim=-1) for rows in (T, T * n_h))
    beta = 2 * torch.rand(B, T * n_h, H, generator=g, dtype=torch.float64)
    inputs = [x.to(DEVICE, dtype) for x in (q, k, normal(B, T * n_h, H, V), beta)]
    u = torch.rand(B, T, H, generator=g, dtype=torch.float64)
    a = {"none": None, "weak": torch.exp(-0.1 * u), "strong": torch.exp(-8 * u)}.get(gate)
    if gate == "signed":
        signs = torch.where(torch.rand(B, T, H, generator=g) < 0.2, -1.0, 1.0)
        a = torch.where(torch.rand(B, T, H, generator=g) < 0.03, 0.0, torch.exp(-0.1 * u) * signs)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    return inputs, None if a is None else a.to(DEVICE, wide), normal(B, H, K, V).to(DEVICE, wide)


# The formulas


def vectors_of(gate: Tensor, token_gate: Tensor) -> tuple[list[Tensor], Tensor, Tensor, bool]:
    """p, r, z, s, w of a chunk, D between rows and from rows to outputs (both 1 where 1/c is taken), and whether it is."""
    c, s = gate.cumprod(0), token_gate.cumprod(0)
    w, ones = c[-1], torch.ones_like(gate)
    steps = len(gate) // len(token_gate)
    if c.abs().min() > 2.0**-64 and c.abs().max() < 2.0**64:
        return [1 / c, ones, w * ones, s, w], torch.ones(len(c), len(c)), s[:, None].expand(-1, len(c)), True

    def sums(x: Tensor) -> tuple[Tensor, Tensor]:
        zero = x == 0
        size = torch.where(zero, 1.0, x.abs()).log2().cumsum(0)
        return size, (1 + zero.cumsum(0)) * torch.where(x < 0, -1.0, 1.0).cumprod(0)

    def between(late: tuple[Tensor, Tensor], early: tuple[Tensor, Tensor]) -> Tensor:
        sign = (late[1] == early[1]).double() - (late[1] == -early[1]).double()
        return (late[0] - early[0]).exp2() * sign

    rows, tokens = sums(gate), sums(token_gate)
    D = between((rows[0][:, None], rows[1][:, None]), (rows[0], rows[1])).tril()
    seen = torch.arange(len(gate)) < (torch.arange(len(token_gate))[:, None] + 1) * steps
    read = between((tokens[0][:, None], tokens[1][:, None]), (rows[0], rows[1])).where(seen, torch.zeros(()))
    z = torch.stack([gate[i + 1 :].prod() for i in range(len(gate))])
    return [ones, c, z, s, w], D, read, False


def run_formulas(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, a: Tensor | None, S: Tensor, n_h: int
) -> Tensor:
    """Outputs of one sequence and head without scale, by chunks of 64 rows whose tokens have a power of two of rows each."""
    steps = 1 << (n_h - 1).bit_length()
    tokens = ROWS // steps
    out, kinds = [], set()

    def fill(x: Tensor, first: int) -> Tensor:
        """Rows of a chunk, those that are not there zero."""
        filled = x.new_zeros(tokens, steps, *x.shape[1:])
        some = x[first * n_h : (first + tokens) * n_h]
        filled[: len(some) // n_h, :n_h] = some.reshape(-1, n_h, *x.shape[1:])
        return filled.flatten(0, 1)

    for first in range(0, len(q), tokens):
        Q, K, P, B = q[first : first + tokens], fill(k, first), fill(v, first), fill(beta, first)
        token_gate = q.new_ones(tokens)
        if a is not None:
            token_gate[: len(Q)] = a[first : first + tokens]
        gate = q.new_ones(tokens, steps)
        gate[:, 0] = token_gate
        (p, r, z, s, w), D, read, fast = vectors_of(gate.flatten(), token_gate)
        kinds.add(fast)
        lower = (K @ K.T * D * B).tril(-1)
        # exactly zero above the diagonal, as in the kernel: values there may be larger by 2^64
        X = torch.linalg.solve_triangular(lower, torch.eye(ROWS).to(K), upper=False, unitriangular=True)
        written = B[:, None] * X
        U = written @ (p[:, None] * P - r[:, None] * (K @ S))
        seen = torch.arange(ROWS) < (torch.arange(len(Q))[:, None] + 1) * steps
        att = torch.where(seen, Q @ K.T * read[: len(Q)], torch.zeros(()))
        out.append(s[: len(Q), None] * (Q @ S) + att @ U)
        S = w * S + K.T @ (z[:, None] * U)
    # what the test means to try: the last chunk is short and may be either
    assert kinds == {True} if a is None or a.min() > 0.5 else False in kinds
    return torch.cat(out)


@pytest.mark.parametrize("n_h", [1, 2, 3, 4])
@pytest.mark.parametrize("gate", ["none", "weak", "strong", "signed"])
def test_the_formulas_are_those_of_the_recurrence(gate: str, n_h: int) -> None:
    inputs, a, S = draw(1, 100, 1, 8, 5, n_h, gate, torch.float64)
    options: dict[str, Any] = {
        "householders": n_h,
        "scale": 1.0,
        "a": a,
        "initial_state": S,
        "backend": "reference",
    }
    exact, _ = delta_product(*inputs, **options)
    q, k, v, beta = (x[0, :, 0].cpu() for x in inputs)
    found = run_formulas(q, k, v, beta, None if a is None else a[0, :, 0].cpu(), S[0, 0].cpu(), n_h)
    torch.testing.assert_close(found, exact[0, :, 0].cpu(), rtol=1e-9, atol=1e-9)


# The plan


def test_every_plan_fits() -> None:
    for K, V, n_h, gated in product(WIDTHS, WIDTHS, range(1, MOST_HOUSEHOLDERS + 1), (False, True)):
        plan = hopper_plan(K, V, torch.bfloat16, n_h, gated=gated, tokens=4096, pairs=64)
        assert plan is not None, (K, V, n_h, gated)
        assert count_shared(plan, K, gated=gated) <= SHARED_MEMORY
        assert plan.steps * plan.tokens == ROWS
        assert n_h <= plan.steps < 2 * n_h
        assert plan.stages >= 2
        assert V % COLUMNS == 0


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": torch.float32},
        {"dtype": torch.float64},
        {"dtype": torch.float16, "gated": True},
        {"K": 32},
        {"V": 16},
        {"householders": 5},
        {"tokens": 64},
        {"pairs": 2**30},
    ],
    ids=str,
)
def test_other_calls_have_no_plan(change: dict[str, Any]) -> None:
    call: dict[str, Any] = {"K": 128, "V": 128, "dtype": torch.bfloat16, "householders": 1}
    call |= {"gated": False, "tokens": 4096, "pairs": 64}
    assert hopper_plan(**call) is not None
    assert hopper_plan(**(call | change)) is None


def test_other_devices_are_left_alone() -> None:
    from mirrormata.kernels.delta import _hopper
    from mirrormata.kernels.delta._problem import Problem

    inputs, a, _ = draw(1, 200, 1, 64, 64, 1, "weak", torch.bfloat16)
    problem = Problem.of(
        1, 1.0, "chunk", *[x.cpu() for x in inputs], None if a is None else a.cpu(), None, None
    )
    assert _hopper.hopper_form(problem.form) is not None
    assert not _hopper.takes_hopper(problem)


# The kernels


def same_bits(x: Tensor, y: Tensor) -> bool:
    return bool(torch.equal(x.view(torch.uint8), y.view(torch.uint8)))


@on_hopper
@pytest.mark.parametrize(
    ("B", "T", "H", "K", "V", "n_h"),
    [
        (2, 700, 3, 128, 128, 1),
        (2, 333, 2, 64, 64, 2),
        (1, 515, 3, 64, 128, 3),
        (1, 300, 2, 128, 64, 4),
        (2, 200, 2, 256, 256, 1),
        (40, 130, 7, 128, 128, 1),
    ],
)
@pytest.mark.parametrize("gate", ["none", "weak", "strong", "signed"])
def test_the_kernels_are_right(B: int, T: int, H: int, K: int, V: int, n_h: int, gate: str) -> None:
    inputs, a, initial = draw(B, T, H, K, V, n_h, gate, torch.bfloat16)
    wide = [x.double() for x in inputs]
    options: dict[str, Any] = {"householders": n_h, "output_final_state": True, "mode": "chunk"}
    double = {"a": None if a is None else a.double(), "initial_state": initial.double(), "backend": "torch"}
    exact = delta_product(*wide, **(options | double))
    options |= {"a": a, "initial_state": initial}
    with torch.no_grad():
        reset_launch_counts()
        found = delta_product(*inputs, **options)
        assert launch_counts() == {"prepare_hopper": 1, "advance_hopper": 1}
        again = delta_product(*inputs, **options)
    for x, y, same in zip(found, exact, again, strict=True):
        assert x is not None
        assert y is not None
        assert same is not None
        assert float((x.double() - y).norm() / y.norm()) < 0.01
        assert same_bits(x, same)


@on_hopper
@pytest.mark.parametrize("n_h", [1, 2, 3, 4])
def test_integer_swaps_are_exact(n_h: int) -> None:
    (q, k, v, beta), initial = draw_swaps((2, 2000, 2, 128, 64, n_h), DEVICE.type)
    options: dict[str, Any] = {"householders": n_h, "scale": 1.0, "output_final_state": True, "mode": "chunk"}
    with torch.no_grad():
        o, final = delta_product(q, k, v, beta, initial_state=initial, **options)
    assert final is not None
    for b, h in product(range(2), range(2)):
        state = permute_states(k[b, :, h])
        assert torch.equal(final[b, h, :5, :5].cpu(), state)
        assert torch.equal(o[b, -1, h, :5].float().cpu(), torch.arange(1.0, 6.0) @ state)


@on_hopper
@pytest.mark.parametrize(("n_h", "tokens"), [(1, 64), (3, 16)])
def test_what_is_no_number_stays_in_later_chunks(n_h: int, tokens: int) -> None:
    inputs, _, _ = draw(2, 300, 2, 128, 128, n_h, "none", torch.bfloat16)
    with torch.no_grad():
        before, _ = delta_product(*inputs, householders=n_h, mode="chunk")
        for x in inputs[1:3]:
            x[0, 150 * n_h] = torch.nan
        after, _ = delta_product(*inputs, householders=n_h, mode="chunk")
    first = 150 // tokens * tokens
    assert torch.equal(before[0, :first], after[0, :first])
    assert torch.equal(before[1], after[1])
    assert after[0, 150:].isnan().any()


@on_hopper
def test_unaligned_inputs_take_the_other_kernels() -> None:
    inputs, _, _ = draw(1, 200, 2, 128, 128, 1, "none", torch.bfloat16)
    shifted = [x.new_empty(x.numel() + 1)[1:].view(x.shape).copy_(x) for x in inputs]
    with torch.no_grad():
        reset_launch_counts()
        o, _ = delta_product(*shifted, mode="chunk")
        assert "advance_hopper" not in launch_counts()
        exact, _ = delta_product(*(x.double() for x in inputs), mode="chunk", backend="torch")
    assert float((o.double() - exact).norm() / exact.norm()) < 0.01


# The benchmark


@pytest.mark.parametrize("gate", GATES)
def test_the_benchmark_measures_both(gate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "small", (1, 40, 1, 16, 16, 2))
    row = measure("small", gate, DEVICE.type, lambda run: [float(run().shape[1])] * 3)
    assert row["hopper"]["milliseconds"] == row["phases"]["milliseconds"] == [40.0] * 3
    assert max(row[who]["error"] for who in ("hopper", "phases")) < 0.01
    assert row.get("wrong entries", 0) == 0
    (shown,) = table_rows({"rows": [row]})
    assert shown[0] == "`small`"
    assert shown[2] == gate
