"""Plans of `delta_product`'s kernels: every column is computed, no grid is empty, shared memory and registers suffice.

All widths, modes, dtypes and gates, by numbers alone; that the launches are those of the plans is seen on tensors without data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch

from mirrormata.kernels._backends import Tile
from mirrormata.kernels.delta import _plan_check as launches
from mirrormata.kernels.delta._plan import KERNEL_WIDTHS, chunk_plan, count_blocks
from mirrormata.kernels.delta._plan_check import KernelCall, PlannedLaunch, find_plan_errors, plan_launches

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
PROGRAMS = (1, 8, 511, 512, 4096)
"""Sequences times heads: fewer than 512 are few."""
WIDTHS = (1, 15, *KERNEL_WIDTHS, 17, 33, 65, 100, 129, 255)
"""Of a user, compiled and not."""


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_plan_has_an_error(dtype: torch.dtype) -> None:
    cases = product(WIDTHS, WIDTHS, ("chunk", "scan", "recurrent"), PROGRAMS, (1, 2, 3, 4, 5, 17))
    for K, V, mode, programs, householders in cases:
        for gated, gradients in product((False, True), repeat=2):
            call = KernelCall(
                *(K, V, dtype, programs),
                mode=mode,
                householders=householders,
                gated=gated,
                gradients=gradients,
            )
            found = find_plan_errors(call)
            assert not found, (K, V, mode, programs, householders, gated, gradients, found)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_auto_chooses_has_no_error(dtype: torch.dtype) -> None:
    for K, V, tokens, programs in product(KERNEL_WIDTHS, KERNEL_WIDTHS, (1, 16, 16384, 2**20), (1, 4, 1024)):
        assert not find_plan_errors(KernelCall(K, V, dtype, programs, tokens=tokens))


@pytest.mark.parametrize(
    ("width", "change", "said"),
    [
        # wider than V, where a backward pass follows
        ((128, 32), {"saving": Tile(64, 8, 2)}, "tiles of 64 columns do not cover 32 columns"),
        ((128, 16), {"backward": Tile(32, 4, 2)}, "tiles of 32 columns do not cover 16 columns"),
        ((128, 16), {"saving": Tile(32, 8, 2)}, "no program would run, on the grid (0,)"),
        # of a segment's V + K columns some would be left over
        ((16, 32), {"summary": Tile(32, 4)}, "tiles of 32 columns do not cover 48 columns"),
        ((32, 128), {"summary": Tile(64, 4)}, "tiles of 64 columns do not cover 160 columns"),
        ((128, 128), {"forward": Tile(128, 8, 4)}, "bytes of shared memory, more than 232448"),
        ((128, 128), {"forward": Tile(128, 1, 2)}, "512 registers of a thread for the state alone"),
        ((64, 64), {"gradient_values": 48}, "tiles of 48 columns do not cover 64 columns"),
    ],
)
def test_errors_are_found(
    width: tuple[int, int], change: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = KernelCall(*width, torch.bfloat16, 8, mode="scan", gated=True)
    assert not find_plan_errors(call)
    monkeypatch.setattr(launches, "chunk_plan", lambda *x, **y: replace(chunk_plan(*x, **y), **change))
    found = find_plan_errors(call)
    assert any(said in line for line in found), found
    assert all("\n" not in line for line in found)


def test_a_map_of_256_rows_does_not_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "chain_rows", lambda K, _dtype: K)
    for dtype, most in ((torch.bfloat16, 278_528), (torch.float64, 557_056)):
        (line,) = find_plan_errors(KernelCall(256, 64, dtype, 1, tokens=16384, mode="scan"))
        assert line.startswith("chain")
        assert f"up to {most} bytes" in line


def test_a_wider_recurrent_state_would_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "recurrent_width", lambda *_: 64)
    assert len(find_plan_errors(KernelCall(128, 128, torch.float32, 8))) == 3


def test_blocks_cover_their_columns() -> None:
    assert count_blocks(96, 32) == 3
    for columns, width in ((48, 32), (16, 32), (16, 0), (0, 16)):
        with pytest.raises(ValueError, match="do not cover"):
            count_blocks(columns, width)


Launch = tuple[str, tuple[tuple[str, int], ...], tuple[int, ...], tuple[int, ...]]
"""Kernel, options, grid, and the widths of its blocks."""


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Launch]]:
    """Launches as they are made, of which none runs."""
    pytest.importorskip("triton")
    from mirrormata.kernels._launching import Launcher
    from mirrormata.kernels.delta._problem import form_of

    made: list[Launch] = []

    def record(launcher: Launcher, grid: tuple[int, ...], *arguments: Any) -> None:
        name, constants = launcher.function.__name__, dict(launcher.constants)
        if "F" in constants:  # a record of constants, such as `ChunkShape`
            K, V = constants["F"].K, constants["F"].V
            constants |= {"K": getattr(K, "value", K), "V": getattr(V, "value", V)}
        names = (
            ("BK", "BV")
            if name in ("gradients", "gate_gradients")
            else ("BK",)
            if "keys" in name
            else ("BV",)
        )
        widths = tuple(constants[x] for x in names if x in constants)
        # for each block the columns are all there: those of the kernel's own constants
        columns = constants["K"] if "keys" in name else constants.get("V", 0)
        if "BV" in constants or "keys" in name:
            columns += constants["K"] if name == "advance" and arguments[3].o is None else 0
            assert columns % widths[-1] == 0
        made.append((name, tuple(launcher.options.items()), grid, widths))

    monkeypatch.setattr(Launcher, "__call__", record)
    form_of.cache_clear()
    yield made
    form_of.cache_clear()


def as_launch(planned: PlannedLaunch) -> Launch:
    """A planned launch as it is recorded."""
    name = planned.kernel
    if name in ("gradients", "gate_gradients"):
        widths = tuple(width for _, width in planned.loops)
    elif name in ("prepare", "gate_products", "chunk_backward"):
        widths = ()
    else:
        widths = (planned.tile.width,)
    return name, tuple(planned.tile.options().items()), planned.grid, widths


def without_grid(launch: Launch) -> Launch:
    """All but the grid."""
    name, options, _, widths = launch
    return name, options, (), widths


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)], ids=["a fourth", "all"])
@pytest.mark.parametrize("packed", [False, True], ids=["dense", "packed"])
@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_launches_are_the_planned_ones(mode: str, packed: bool, share: int, recorded: list[Launch]) -> None:
    """Of all widths and dtypes; a share of the eight combinations of the rest for each, other ones for the next."""
    from mirrormata.kernels.delta._operator import run_backward, run_forward
    from mirrormata.kernels.delta._problem import Problem

    def new(*shape: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    tokens, rest = 1024, list(product((8, 512), (1, 3), (False, True)))
    shapes = enumerate(product(KERNEL_WIDTHS, KERNEL_WIDTHS, DTYPES[1:]))
    cases = [(*shape, *others) for i, shape in shapes for others in rest[i % share :: share]]
    assert {case[3:] for case in cases} == set(rest)
    for K, V, dtype, heads, n_h, gated in cases:
        gate = new(1, tokens, heads, dtype=torch.float32) if gated else None
        inputs = [
            *(new(1, tokens, heads, K, dtype=dtype), new(1, tokens * n_h, heads, K, dtype=dtype)),
            *(
                new(1, tokens * n_h, heads, V, dtype=dtype),
                new(1, tokens * n_h, heads, dtype=dtype),
                gate,
                None,
            ),
        ]
        cu = new(2, dtype=torch.int64) if packed else None
        for gradients in (False, True):
            recorded.clear()
            problem = Problem.of(n_h, 0.25, mode, *inputs, cu)
            _, _, *saved = run_forward(problem, final=True, save=gradients)
            if gradients:
                do = new(1, tokens, heads, V, dtype=dtype)
                run_backward(problem, do, None, [x for x in saved if x is not None])
            planned = {
                as_launch(x)
                for x in plan_launches(
                    KernelCall(
                        *(K, V, dtype, heads),
                        tokens=tokens,
                        mode=mode,
                        householders=n_h,
                        gated=gated,
                        gradients=gradients,
                    )
                )
            }
            assert all(min(grid) > 0 for _, _, grid, _ in recorded)
            found = set(recorded)
            if packed:  # tables of chunks and segments have room for those that sequences begin
                found, planned = {without_grid(x) for x in found}, {without_grid(x) for x in planned}
            assert found == planned, (K, V, dtype, heads, n_h, gated, gradients)
