"""The Triton kernels, in the interpreter or on a GPU: outputs and all gradients against the float64 recurrence, on poisoned buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

from mirrormata.kernels import delta_product, launch_counts, reset_launch_counts
from mirrormata.kernels._launching import Launcher
from mirrormata.kernels.delta import _plan as shapes
from mirrormata.kernels.delta import _problem as problems
from mirrormata.kernels.delta import _triton_scan as scan
from mirrormata.kernels.delta._operator import delta_product_forward
from mirrormata.kernels.delta._plan import chunk_plan
from mirrormata.kernels.delta._problem import form_of
from mirrormata.tests.kernels.delta_product_cases import Inputs, largest_error, problem, relative, swaps
from mirrormata.tests.kernels.devices import DEVICE, on_triton

pytestmark = on_triton

KERNELS = {
    "recurrent": {"recurrent_forward", "recurrent_backward_values", "recurrent_backward_keys"},
    "chunk": {"chunk_forward", "chunk_backward"},
    "phases": {"prepare", "advance", "retreat", "gradients"},
    "scan": {"prepare", "advance", "chain", "retreat", "gradients"},
}


GATES = {"gate_products", "gate_gradients"}
"""With gates, in phases and by scan."""


@pytest.fixture(autouse=True)
def fresh(poisoned_buffers: None) -> Iterator[None]:
    """Buffers as NaN, no launches yet, and no forms kept from test to test."""
    reset_launch_counts()
    form_of.cache_clear()
    yield
    reset_launch_counts()
    form_of.cache_clear()  # of forms with the plans that `use` gives


def use(kind: str, monkeypatch: pytest.MonkeyPatch, segment: int = 1) -> str:
    """The mode that runs a family of kernels; `scan` with so many chunks a segment."""
    if kind == "scan":
        for module in (scan, shapes):
            monkeypatch.setattr(module, "segment_tokens", lambda _tokens, _heads, chunk: segment * chunk)
        monkeypatch.setattr(problems, "chunk_plan", lambda *x, **y: replace(chunk_plan(*x, **y), rows=16))
    if kind == "phases":

        def in_phases(*arguments: object, **options: object) -> object:
            plan = chunk_plan(*arguments, **(options | {"phases": True}))
            return replace(plan, rows=16)

        monkeypatch.setattr(problems, "chunk_plan", in_phases)
        return "chunk"
    return kind


def check(
    kind: str, inputs: Inputs, dtype: torch.dtype, bound: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = use(kind, monkeypatch)
    assert largest_error(inputs, dtype, backend="triton", mode=mode) < bound
    gates = GATES if kind in ("phases", "scan") and inputs.a is not None else set()
    assert set(launch_counts()) == KERNELS[kind] | gates


ALL = ["recurrent", "chunk", "phases", "scan"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("n_h", "T", "gated"), [(1, 19, True), (2, 9, False), (3, 7, True), (4, 6, False)])
def test_float64_to_rounding(
    kind: str, n_h: int, T: int, gated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(kind, problem(n_h, T, gated=gated, B=1), torch.float64, 1e-13, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("n_h", "gated"), [(1, False), (2, True)])
def test_float32(kind: str, n_h: int, gated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kind, problem(n_h, 18 // n_h, gated=gated, H=1), torch.float32, 2e-6, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float16, 4e-3), (torch.bfloat16, 6e-2)])
@pytest.mark.parametrize(("n_h", "gated"), [(1, False), (2, True)])
def test_16_bits(
    kind: str, n_h: int, gated: bool, dtype: torch.dtype, bound: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with bfloat16 the interpreter cuts off what it should round, so that errors add up
    check(kind, problem(n_h, 18 // n_h, gated=gated, H=1), dtype, bound, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
def test_packed_sequences_with_an_empty_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = problem(2, 14, gated=True, bounds=[0, 3, 3, 14], H=1)
    check(kind, inputs, torch.float64, 1e-13, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("repeat", [False, True])
def test_reflections_and_a_repeated_key(kind: str, repeat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = problem(1, 17, beta=2.0, repeat=repeat, B=1, H=1)
    check(kind, inputs, torch.float32, 2e-6, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
def test_widths_that_no_kernel_has(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kind, problem(1, 9, K=5, V=19, B=1, H=1), torch.float64, 1e-13, monkeypatch)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("width", [32, 5])
def test_float64_with_a_scale_that_float32_does_not_hold(
    kind: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled kernels are given numbers as float32, unlike those in the interpreter."""
    launch = Launcher.__call__

    def as_compiled(launcher: Launcher, grid: tuple[int, ...], *arguments: Any) -> None:
        rounded = [torch.tensor(x).item() if type(x) is float else x for x in arguments]
        launch(launcher, grid, *rounded)

    monkeypatch.setattr(Launcher, "__call__", as_compiled)
    check(kind, problem(1, 9, gated=True, K=width, V=3, B=1, H=1), torch.float64, 1e-13, monkeypatch)


@pytest.mark.parametrize("wide", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("phases", [False, True])
def test_every_float64_plan_has_chunks_of_16_rows(wide: int, phases: bool) -> None:
    """Larger ones are compiled wrongly on a GPU, see `test_longer_chunks`."""
    assert chunk_plan(wide, wide, torch.float64, 8, phases=phases).rows == 16


@pytest.mark.parametrize("kind", ["chunk", "phases"])
def test_half_precision(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kind, problem(1, 20, gated=True, B=1, H=1), torch.float16, 5e-3, monkeypatch)


@pytest.mark.parametrize(
    ("rows", "n_h", "gated"), [(32, 1, True), (64, 1, False), (32, 2, True), (64, 4, True)]
)
def test_longer_chunks(rows: int, n_h: int, gated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if DEVICE.type == "cuda" and rows > 32:
        pytest.skip(
            "compiled by Triton 3.6 for sm_90, float64 chunks of 64 rows are wrong; every float64 plan has 16"
        )
    use("phases", monkeypatch)
    monkeypatch.setattr(
        problems, "chunk_plan", lambda *x, **y: replace(chunk_plan(*x, **(y | {"phases": True})), rows=rows)
    )
    inputs = problem(n_h, rows // n_h + 9, gated=gated, beta=2.0, repeat=not gated, B=1, H=1)
    assert largest_error(inputs, torch.float64, backend="triton", mode="chunk") < 1e-12


def test_scan_over_many_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    use("scan", monkeypatch, segment=1)
    inputs = problem(2, 35, gated=True, bounds=[0, 20, 35], H=1)
    assert largest_error(inputs, torch.float64, backend="triton", mode="scan") < 1e-13
    assert set(launch_counts()) == KERNELS["scan"] | GATES


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_integer_swaps_are_exact(kind: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = use(kind, monkeypatch)
    inputs, states = swaps(14, 4, seed=3)
    queries = replace(inputs.to(dtype), q=torch.ones(1, 14, 1, 5, dtype=dtype, device=DEVICE))
    o, final = queries.run(backend="triton", mode=mode, scale=1.0)
    assert torch.equal(final[0, 0].double().cpu(), torch.tensor(states[-1]).double())
    assert torch.equal(o[0, :, 0].double().cpu(), torch.tensor(states.sum(1)).double())


@pytest.mark.parametrize("kind", ALL)
def test_integers_with_gates_of_zero_and_both_signs_are_exact(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = use(kind, monkeypatch)
    inputs, _states = swaps(21, 2, seed=4)
    generator = torch.Generator().manual_seed(5)
    signs = torch.randint(0, 2, (1, 21, 1), generator=generator) * 2.0 - 1
    signs[:, [4, 5, 17]] = 0
    inputs = replace(
        inputs,
        q=torch.randint(-2, 3, inputs.q.shape, generator=generator).to(inputs.q),
        v=torch.randint(-1, 2, inputs.v.shape, generator=generator).to(inputs.v),
        a=signs.to(inputs.q),
    )
    wanted = inputs.run(backend="reference", scale=1.0)
    assert 2 < float(wanted[1].abs().max()) < 2048
    for dtype in (torch.float16, torch.float32):
        found = inputs.to(dtype).run(backend="triton", mode=mode, scale=1.0)
        assert all(torch.equal(x.double(), y) for x, y in zip(found, wanted, strict=True))


@pytest.mark.parametrize("kind", ["chunk", "phases"])
def test_very_small_gates_in_half_precision(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = problem(1, 33, gated=True, B=1, H=1)
    sizes = torch.tensor([1e-30, -1e-4, 0.9999, 0.5, -1e-12, 0.99], device=DEVICE)
    # float32, as those made from logarithms are
    gates = sizes[torch.arange(33, device=DEVICE) % 6][None, :, None]
    mode = use(kind, monkeypatch)
    short = replace(x.to(torch.float16), a=gates)
    o = short.run(backend="triton", mode=mode)[0]
    assert relative(o, replace(short.to(torch.float64), a=gates.double()).run(backend="reference")[0]) < 2e-3


@pytest.mark.parametrize("kind", ALL)
def test_a_sequence_may_be_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mode, cut = use(kind, monkeypatch), 7
    x = problem(1, 18, B=1, H=1)
    whole = x.run(backend="triton", mode=mode)
    first = replace(x, q=x.q[:, :cut], k=x.k[:, :cut], v=x.v[:, :cut], beta=x.beta[:, :cut])
    o, state = first.run(backend="triton", mode=mode)
    second = replace(x, q=x.q[:, cut:], k=x.k[:, cut:], v=x.v[:, cut:], beta=x.beta[:, cut:], initial=state)
    rest, final = second.run(backend="triton", mode=mode)
    assert relative(torch.cat([o, rest], 1), whole[0]) < 1e-13
    assert relative(final, whole[1]) < 1e-13


def test_more_householders_than_a_chunk_has_rows() -> None:
    assert (
        largest_error(problem(17, 2, gated=True, B=1, H=1), torch.float64, backend="triton", mode="chunk")
        < 1e-13
    )


def test_gradcheck() -> None:
    inputs = problem(2, 4, gated=True, B=1, H=1, K=2, V=2, seed=3).to(torch.float64)
    for mode in ("recurrent", "chunk"):

        def run(*tensors: torch.Tensor, mode: str = mode) -> tuple[torch.Tensor, ...]:
            q, k, v, beta, initial, a = tensors
            return replace(inputs, q=q, k=k, v=v, beta=beta, initial=initial, a=a).run(
                backend="triton", mode=mode
            )

        assert torch.autograd.gradcheck(run, inputs.tensors(), atol=1e-6, fast_mode=True)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["phases", "scan"])
def test_gradcheck_of_phases(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = use(kind, monkeypatch)
    inputs = problem(2, 9, gated=True, B=1, H=1, K=2, V=2, seed=3).to(torch.float64)

    def run(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, k, v, beta, initial, a = tensors
        return replace(inputs, q=q, k=k, v=v, beta=beta, initial=initial, a=a).run(
            backend="triton", mode=mode
        )

    assert torch.autograd.gradcheck(run, inputs.tensors(), atol=1e-6, fast_mode=True)


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_the_operator_is_known_to_torch(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # poison would be compared
    x = problem(1, 5, B=1, H=1).to(torch.float32)
    arguments = (x.q, x.k, x.v, x.beta, None, x.initial, None, 1, 0.25, mode, True, False)
    torch.library.opcheck(
        delta_product_forward,
        arguments,
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )


def test_compiles_as_one_graph() -> None:
    x = problem(1, 5, B=1, H=1).to(torch.float32)

    def run(q: torch.Tensor) -> torch.Tensor:
        o: torch.Tensor = delta_product(q, x.k, x.v, x.beta, backend="triton", mode="chunk")[0]
        return o

    compiled = torch.compile(run, backend="aot_eager", fullgraph=True)
    (wanted,) = torch.autograd.grad(run(x.q).sum(), x.q)
    (got,) = torch.autograd.grad(compiled(x.q).sum(), x.q)
    assert torch.equal(got, wanted)
