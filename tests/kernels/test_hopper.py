"""The kernels of DeltaProduct on Hopper: their formulas in plain torch, which calls they take, and the kernels on such a GPU.

Gluon has no interpreter.  The formulas run on the CPU as they stand in the files `_gluon_*.py`, in float64, against
the recurrence and autograd; that the kernels compile is tested in `test_kernel_compilation`.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.benchmarks.hopper import (
    GATES,
    PASSES,
    SHAPES,
    draw_swaps,
    long_words,
    measure,
    permute_states,
    table_rows,
)
from mirrormata.kernels import delta_product, launch_counts, reset_launch_counts
from mirrormata.kernels._backends import triton_installed
from mirrormata.kernels.delta._hopper_plan import (
    COLUMNS,
    MOST_HOUSEHOLDERS,
    MOST_SEGMENTS,
    ROWS,
    TRAINED,
    WIDTHS,
    count_shared,
    count_shared_back,
    count_shared_gradients,
    hopper_plan,
    saved_shapes,
    split_chunks,
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


def fill(x: Tensor, first: int, n_h: int) -> Tensor:
    """Rows of a chunk that begins at a token, those that are not there zero."""
    steps = 1 << (n_h - 1).bit_length()
    filled = x.new_zeros(ROWS // steps, steps, *x.shape[1:])
    some = x[first * n_h : (first + ROWS // steps) * n_h]
    filled[: len(some) // n_h, :n_h] = some.reshape(-1, n_h, *x.shape[1:])
    return filled.flatten(0, 1)


def gates_of(a: Tensor | None, first: int, count: int, steps: int) -> tuple[Tensor, Tensor]:
    """The gate before each row and before each token of a chunk, 1 where there is none."""
    token_gate = torch.ones(ROWS // steps, dtype=torch.float64)
    if a is not None:
        token_gate[:count] = a[first : first + count]
    gate = torch.ones(ROWS // steps, steps, dtype=torch.float64)
    gate[:, 0] = token_gate
    return gate.flatten(), token_gate


def run_formulas(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, a: Tensor | None, S: Tensor, n_h: int
) -> Tensor:
    """Outputs of one sequence and head without scale, by chunks of 64 rows whose tokens have a power of two of rows each."""
    steps = 1 << (n_h - 1).bit_length()
    tokens = ROWS // steps
    out, kinds = [], set()
    for first in range(0, len(q), tokens):
        Q = q[first : first + tokens]
        K, P, B = (fill(x, first, n_h) for x in (k, v, beta))
        (p, r, z, s, w), D, read, fast = vectors_of(*gates_of(a, first, len(Q), steps))
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


def multiply_products(gate: Tensor, skip: bool) -> Tensor:
    """Products of the gates from each place to each later one, start and end included; with `skip` without the one zero there is."""
    size = len(gate) + 1
    found = torch.zeros(size, size, dtype=torch.float64)
    for i, j in product(range(size), range(size)):
        between = gate[j:i]
        zeros = int((between == 0).sum())
        if i >= j and (not skip or zeros == 1):
            found[i, j] = between[between != 0].prod() if skip else between.prod()
    return found


def differentiate_formulas(
    inputs: list[Tensor], a: Tensor | None, S: Tensor, do: Tensor, dS: Tensor, n_h: int
) -> list[Tensor]:
    """Gradients of q, k, v, beta, the gates and the initial state of one sequence and head, as `run_formulas` has its outputs."""
    q, k, v, beta = inputs
    steps = 1 << (n_h - 1).bit_length()
    tokens = ROWS // steps
    starts, kept = range(0, len(q), tokens), []
    for first in starts:
        Q = torch.zeros(tokens, q.shape[1], dtype=torch.float64)
        Q[: len(q) - first] = q[first : first + tokens]
        dO = torch.zeros(tokens, do.shape[1], dtype=torch.float64)
        dO[: len(q) - first] = do[first : first + tokens]
        K, P, B = (fill(x, first, n_h) for x in (k, v, beta))
        gates = gates_of(a, first, min(tokens, len(q) - first), steps)
        vectors, D, read, _ = vectors_of(*gates)
        X = torch.linalg.inv(torch.eye(ROWS).to(K) + (K @ K.T * D * B).tril(-1)).tril()
        p, r, z, _, w = vectors
        e = X @ (p[:, None] * P - r[:, None] * (K @ S))
        kept.append((Q, K, B, dO, gates, vectors, D, read, X, e, S))
        S = w * S + K.T @ ((z * B)[:, None] * e)
    found: list[list[Tensor]] = [[] for _ in range(5)]
    for Q, K, B, dO, (gate, token_gate), (p, r, z, s, w), D, read, X, e, S0 in kept[::-1]:
        seen = torch.arange(ROWS) < (torch.arange(tokens)[:, None] + 1) * steps
        att = torch.where(seen, Q @ K.T * read, 0.0)
        dP = X.T @ (B[:, None] * (att.T @ dO + z[:, None] * (K @ dS)))
        M_raw, E_raw = (dP @ e.T).tril(-1), torch.where(seen, dO @ e.T, 0.0)
        M, E = M_raw * D.tril(), E_raw * torch.where(seen, read, 0.0)
        of_end, of_start, of_reads = (
            (K * (e @ dS.T)).sum(1),
            -(K * (dP @ S0.T)).sum(1),
            (Q * (dO @ S0.T)).sum(1),
        )
        whole = (S0 * dS).sum()
        h = E.T @ Q - M.T @ K + z[:, None] * (e @ dS.T)
        dbeta = (E.T * (K @ Q.T)).sum(1) - (M.T * (K @ K.T)).sum(1) + z * of_end
        dK = B[:, None] * h - M @ (B[:, None] * K) - r[:, None] * (dP @ S0.T)
        dQ = E @ (B[:, None] * K) + s[:, None] * (dO @ S0.T)
        # paths across the gate of each token, with their products, or without the zero among them
        da = torch.zeros(tokens, dtype=torch.float64)
        for t in range(tokens):
            row = t * steps
            if token_gate[t] != 0:
                rows, reads = -M * (K @ K.T) * B, E * (Q @ K.T) * B
                ends, begins, reading = z * B * of_end, r * of_start, s * of_reads
                total = w * whole
            else:
                of = multiply_products(gate, skip=True)
                # row i stands behind gate i, so at place i + 1
                late = (torch.arange(tokens) + 1) * steps
                rows = -M_raw * of[1:, 1:] * (K @ K.T) * B
                reads = E_raw * of[late][:, 1:] * (Q @ K.T) * B
                ends, begins = of[-1, 1:] * B * of_end, of[1:, 0] * of_start
                reading, total = of[late, 0] * of_reads, of[-1, 0] * whole
            crossing = rows[row:, :row].sum() + reads[t:, :row].sum() + ends[:row].sum()
            crossing = crossing + begins[row:].sum() + reading[t:].sum() + total
            da[t] = crossing if token_gate[t] == 0 else crossing / token_gate[t]
        dS = w * dS + Q.T @ (s[:, None] * dO) - K.T @ (r[:, None] * dP)
        there = [x.view(tokens, steps, -1)[:, :n_h].reshape(tokens * n_h, -1) for x in (dK, p[:, None] * dP)]
        there.append(dbeta.view(tokens, steps)[:, :n_h].flatten())
        for one, x in zip(found, (dQ, *there, da), strict=True):
            one.insert(0, x)
    counts = len(q), len(k), len(k), len(k), len(q)
    return [*(torch.cat(x)[:count] for x, count in zip(found, counts, strict=True)), dS]


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


@pytest.mark.parametrize("n_h", [1, 2, 3, 4])
@pytest.mark.parametrize("gate", ["none", "weak", "strong", "signed"])
def test_the_gradients_are_those_of_autograd(gate: str, n_h: int) -> None:
    inputs, a, S = draw(1, 100, 1, 8, 5, n_h, gate, torch.float64)
    g = torch.Generator().manual_seed(1)
    do, dS = (torch.randn(size, generator=g, dtype=torch.float64) for size in ((100, 5), (8, 5)))
    leaves = [x.cpu().requires_grad_() for x in (*inputs, a, S) if x is not None]
    q, k, v, beta, *gates, initial = leaves
    o, final = delta_product(
        *(q, k, v, beta),
        a=gates[0] if gates else None,
        initial_state=initial,
        householders=n_h,
        scale=1.0,
        output_final_state=True,
        backend="reference",
    )
    assert final is not None
    exact = torch.autograd.grad([o, final], leaves, [do[None, :, None], dS[None, None]])
    one = [x.detach()[0, :, 0] for x in (q, k, v, beta)]
    *found, dinitial = differentiate_formulas(
        one, gates[0].detach()[0, :, 0] if gates else None, S[0, 0].cpu(), do, dS, n_h
    )
    for x, y in zip((*found[: 4 + len(gates)], dinitial), exact, strict=True):
        torch.testing.assert_close(x, y[0, 0] if x is dinitial else y[0, :, 0], rtol=1e-8, atol=1e-8)


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


def test_every_plan_of_a_backward_pass_fits() -> None:
    for K, V, n_h, gated in product(TRAINED, TRAINED, range(1, MOST_HOUSEHOLDERS + 1), (False, True)):
        plan = hopper_plan(K, V, torch.bfloat16, n_h, gated=gated, tokens=4096, pairs=64, save=True)
        assert plan is not None, (K, V, n_h, gated)
        assert count_shared(plan, K, gated=gated, save=True) <= SHARED_MEMORY
        assert count_shared_back(K, plan.tokens, gated=gated) <= SHARED_MEMORY
        # two programs a multiprocessor, which has 228 KiB and keeps one for each
        assert count_shared_gradients(K, V) <= 113 * 1024
    assert hopper_plan(256, 64, torch.bfloat16, 1, gated=False, tokens=4096, pairs=64, save=True) is None


@pytest.mark.parametrize("chunks", [2, 16, 17, 63, 64, 65, 129, 1000])
def test_segments_are_all_chunks_once(chunks: int) -> None:
    segments = split_chunks(chunks)
    assert len(segments) <= MOST_SEGMENTS
    assert [i for begin, count in segments[::-1] for i in range(begin, begin + count)] == list(range(chunks))
    assert max(count for _, count in segments) == segments[-1][1]


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


@on_hopper
@pytest.mark.parametrize(
    ("B", "T", "H", "K", "V", "n_h"),
    [
        (2, 700, 3, 128, 128, 1),
        (2, 333, 2, 64, 64, 2),
        (1, 515, 3, 64, 128, 3),
        (1, 300, 2, 128, 64, 4),
        (40, 130, 7, 128, 128, 1),
        (1, 2100, 2, 128, 128, 2),
    ],
)
@pytest.mark.parametrize("gate", ["none", "weak", "strong", "signed"])
def test_the_gradients_are_right(B: int, T: int, H: int, K: int, V: int, n_h: int, gate: str) -> None:
    inputs, a, initial = draw(B, T, H, K, V, n_h, gate, torch.bfloat16)
    g = torch.Generator().manual_seed(1)
    do, dfinal = (torch.randn(size, generator=g).to(DEVICE) for size in ((B, T, H, V), (B, H, K, V)))
    do = do.bfloat16()

    def run(convert: Any, **options: Any) -> list[Tensor]:
        leaves = [convert(x).detach().requires_grad_() for x in (*inputs, a, initial) if x is not None]
        q, k, v, beta, *gates, first = leaves
        o, final = delta_product(
            *(q, k, v, beta),
            a=gates[0] if gates else None,
            initial_state=first,
            householders=n_h,
            output_final_state=True,
            mode="chunk",
            **options,
        )
        assert final is not None
        weights = [do.to(o.dtype), dfinal.to(final.dtype)]
        return [o.detach(), final.detach(), *torch.autograd.grad([o, final], leaves, weights)]

    exact = run(lambda x: x.double(), backend="torch")
    reset_launch_counts()
    found = run(lambda x: x)
    counts = launch_counts()
    assert counts["prepare_hopper"] == counts["advance_hopper"] == 1
    assert counts["retreat_hopper"] == counts["gradients_hopper"] >= 1
    for x, y, same in zip(found, exact, run(lambda x: x), strict=True):
        assert float((x.double() - y).norm() / y.norm()) < 0.015
        assert same_bits(x, same)


@on_hopper
@pytest.mark.parametrize("gate", ["none", "weak"])
def test_what_the_forward_pass_saves_is_what_fake_tensors_say(gate: str) -> None:
    from mirrormata.kernels.delta._operator import delta_product_forward

    inputs, a, _ = draw(2, 333, 2, 64, 128, 2, gate, torch.bfloat16)
    arguments = (*inputs, a, None, None, 2, 1.0, "chunk", False, True)
    found = delta_product_forward(*arguments)
    torch.library.opcheck(delta_product_forward, arguments, test_utils=("test_faketensor",))
    plan = hopper_plan(64, 128, torch.bfloat16, 2, gated=a is not None, tokens=333, pairs=4, save=True)
    assert plan is not None
    shapes = saved_shapes(2, 333, 2, 64, 128, plan, gated=a is not None)
    assert tuple(tuple(x.shape) for x in found[2:5]) == shapes


# The benchmark


@pytest.mark.skipif(not has_hopper() and DEVICE.type == "cuda", reason="on every chip's kernels elsewhere")
def test_the_long_words_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_hopper():  # the torch chunks in place of the kernels
        on_torch = partial(delta_product, backend="torch")
        monkeypatch.setattr("mirrormata.benchmarks.hopper.delta_product", on_torch)
    rows = long_words(70, DEVICE.type)
    assert len(rows) == 9
    assert all(row["outputs wrong"] == row["state wrong"] == 0 for row in rows)
    assert not has_hopper() or all("advance_hopper" in row["kernels"] for row in rows)


@pytest.mark.parametrize("gate", GATES)
def test_the_benchmark_measures_both(gate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "small", (1, 40, 1, 16, 16, 2))
    rows = measure("small", gate, DEVICE.type, lambda run: [1.0] * 3)
    assert [row["passes"] for row in rows] == list(PASSES)
    assert max(row[who]["error"] for row in rows for who in ("hopper", "phases")) < 0.01
    assert rows[0].get("wrong entries", 0) == 0
    for row, shown in zip(rows, table_rows({"rows": rows}), strict=True):
        assert shown[:4] == ["`small`", "1, 40, 1, 16, 16, 2", gate, row["passes"]]
