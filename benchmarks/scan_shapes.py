"""The scans and the short convolution at four large shapes: times, memory and errors of tile sizes that can be chosen, and of FLA.

Each row is one operator with one choice of sizes (`sizes`, patched into its module), or a peer.  `forward` and `both` (forward and
backward) are medians in milliseconds of replays of a CUDA graph, with a flushed cache; where a call cannot be captured, of the call itself.
`peak` is what both passes allocate, in GB; `errors` are those of a small slice against float64, relative to the norm: output,
then gradients in the order of the inputs.  What fails has `error`.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_timing import capture
from mirrormata.kernels import diagonal_scan, rank_one_scan, selective_scan, short_convolution

Row = dict[str, Any]
Sizes = dict[str, Any]
KERNELS = "mirrormata.kernels."
SHAPES: dict[str, tuple[int, ...]] = {
    "selective_scan": (1, 8, 2048, 512, 16),
    "short_convolution": (1, 16, 4096, 2048, 4),
    "diagonal_scan": (32, 2048, 1024),
    "rank_one_scan": (4, 4096, 16, 128),
}
"""S, B, T, C, N; S, B, T, C, taps; B, T, D; B, T, H, K = V."""
SLICES: dict[str, tuple[int, ...]] = {
    "selective_scan": (1, 2, 1024, 64, 16),
    "short_convolution": (1, 2, 512, 512, 4),
    "diagonal_scan": (16, 256, 1024),
    "rank_one_scan": (1, 256, 16, 128),
}
"""Multiples of 16 like the shapes, and cut in the same way, so that the same compiled kernels run."""


@dataclass(frozen=True)
class Case:
    """An operator, the sizes that are patched into modules below `mirrormata.kernels`, and options of the call."""

    operator: str
    sizes: Sizes = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    peer: str = ""

    @property
    def name(self) -> str:
        """For tables."""
        return self.peer or self.operator


def selective_cases() -> Iterator[Case]:
    """Plans of the selective scan."""
    module = "scans._triton_selective"
    plan = import_module(KERNELS + module).Plan
    yield Case("selective_scan")
    for every, back in ((8, 512), (4, 256), (4, 512), (8, 128)):
        yield Case("selective_scan", {module: {"KEPT_EVERY": every, "PLAN": plan(entries_back=back)}})
    for unroll in (2, 8):
        yield Case("selective_scan", {module: {"PLAN": plan(unroll=unroll)}})
    for wanted in (2048, 8192):
        yield Case("selective_scan", {module: {"PLAN": plan(wanted=wanted)}})
    yield Case("selective_scan", {module: {"PLAN": plan(entries=256)}})


def convolution_cases() -> Iterator[Case]:
    """Plans of the two kernels together."""
    module = "convolution._triton_short_convolution"
    plan = import_module(KERNELS + module).Plan
    yield Case("short_convolution")
    for rows, back, warps, programs in (
        (2, 1, 1, 2048),
        (4, 4, 1, 2048),
        (8, 2, 4, 2048),
        (4, 2, 4, 4096),
        (4, 2, 1, 8192),
    ):
        sizes = {"FORWARD": plan(rows, warps, programs), "BACKWARD": plan(back, warps, programs)}
        yield Case("short_convolution", {module: sizes})


def diagonal_cases() -> Iterator[Case]:
    """Modes, and how many steps are loaded together."""
    module = "scans._triton_diagonal"
    yield Case("diagonal_scan")
    yield Case("diagonal_scan", options={"mode": "parallel"})
    yield Case("diagonal_scan", options={"mode": "parallel", "segment": 1024})
    for unroll, block, warps in ((8, 256, 4), (16, 128, 4), (32, 128, 4), (16, 64, 2)):
        yield Case("diagonal_scan", {module: {"WHOLE_UNROLL": unroll, "WHOLE_BLOCK": block, "WARPS": warps}})


def rank_one_cases() -> Iterator[Case]:
    """Plans of the rank-one scan in chunks, and the scan token by token."""
    module = "scans._triton_rank_one_chunks"
    plan = import_module(KERNELS + module).Plan
    yield Case("rank_one_scan")
    for columns, warps, stages in ((32, 4, 2), (32, 2, 3), (64, 4, 2), (64, 4, 1), (128, 8, 2)):
        sizes = {"PLAN": plan(columns, warps, stages)}
        yield Case("rank_one_scan", {module: sizes})
    for block, some in ((16, 2), (64, 2), (32, 8), (32, 1)):
        yield Case("rank_one_scan", {module: {"PLAN": plan(block=block, some=some)}})
    yield Case("rank_one_scan", options={"mode": "recurrent"})
    wide = {"scans._triton_rank_one": {"BACKWARD": 4096}}
    yield Case("rank_one_scan", wide, options={"mode": "recurrent"})


def peer_cases() -> Iterator[Case]:
    """What flash-linear-attention has of these, where it is installed."""
    yield Case("short_convolution", peer="fla causal_conv1d")
    yield Case("diagonal_scan", peer="fla chunk_hgrn")
    yield Case("diagonal_scan", peer="fla fused_recurrent_hgrn")
    yield Case("rank_one_scan", peer="fla chunk_dplr_delta_rule")


CASES: tuple[Callable[[], Iterator[Case]], ...] = (
    selective_cases,
    convolution_cases,
    diagonal_cases,
    rank_one_cases,
)


def inputs_of(operator: str, shape: tuple[int, ...], device: str = "cuda") -> list[Tensor]:
    """Inputs in bfloat16; steps, rates, taps and initial states of the selective scan and the convolution in float32."""

    def normal(*size: int) -> Tensor:
        return torch.randn(size, device=device)

    def uniform(low: float, *size: int) -> Tensor:
        return torch.rand(size, device=device) * (1 - low) + low

    if operator == "selective_scan":
        S, B, T, C, N = shape
        step, rate = 0.1 * normal(S, B, T, C).abs(), normal(S, C, N).abs()
        u, w, r = (normal(*size).bfloat16() for size in ((S, B, T, C), (S, B, T, N), (S, B, T, N)))
        return [u, step, rate, w, r, normal(S, B, C, N)]
    if operator == "short_convolution":
        S, B, T, C, taps = shape
        return [normal(S, B, T, C).bfloat16(), normal(S, C, taps)]
    if operator == "diagonal_scan":
        return [uniform(-1.0, *shape).bfloat16(), normal(*shape).bfloat16()]
    w, z = uniform(0.8, *shape), torch.nn.functional.normalize(normal(*shape), dim=-1)
    given = normal(*shape), w, -w * z, z, normal(*shape), normal(*shape)
    return [x.bfloat16() for x in given]


OPERATORS: dict[str, Callable[..., Any]] = {
    "selective_scan": selective_scan,
    "short_convolution": short_convolution,
    "diagonal_scan": diagonal_scan,
    "rank_one_scan": rank_one_scan,
}


def call_of(case: Case) -> Callable[..., Tensor]:
    """The operator's output, of inputs as `inputs_of` makes them."""
    if case.peer:
        return peer_call(case.peer)
    operator = partial(OPERATORS[case.operator], **case.options)

    def call(*inputs: Tensor) -> Tensor:
        found = operator(*inputs)
        first: Tensor = found[0] if isinstance(found, tuple) else found
        return first

    return call


def peer_call(peer: str) -> Callable[..., Tensor]:
    """FLA's operator on the same inputs; decays become logarithms before, outside of the times."""
    if peer == "fla causal_conv1d":
        try:
            convolve = import_module("fla.modules.conv").causal_conv1d
        except ImportError:
            convolve = import_module("fla.modules.convolution").causal_conv1d
        return lambda x, weight: _first(convolve(x[0], weight[0].to(x.dtype), backend="triton"))[None]
    if peer == "fla chunk_dplr_delta_rule":
        scan = import_module("fla.ops.generalized_delta_rule").chunk_dplr_delta_rule
        return lambda q, w, u, z, k, v: _first(scan(q=q, k=k, v=v, a=z, b=u, gk=w))
    scan = getattr(import_module("fla.ops.hgrn"), peer.split()[1])
    return lambda a, b: _first(scan(b, a))


def _first(x: Any) -> Tensor:
    found: Tensor = x[0] if isinstance(x, tuple) else x
    return found


@contextmanager
def patched(sizes: Sizes) -> Iterator[None]:
    """Modules below `mirrormata.kernels` with other constants."""
    before = []
    try:
        for path, values in sizes.items():
            module = import_module(KERNELS + path)
            for name, value in values.items():
                before.append((module, name, getattr(module, name)))
                setattr(module, name, value)
        yield
    finally:
        for module, name, value in reversed(before):
            setattr(module, name, value)


def run_both(call: Callable[..., Tensor], leaves: list[Tensor], slope: Tensor) -> list[Tensor]:
    """The output and all gradients."""
    y = call(*leaves)
    return [y.detach(), *torch.autograd.grad(y, leaves, slope.to(y.dtype))]


def leaves_of(case: Case, shape: tuple[int, ...]) -> tuple[list[Tensor], Tensor]:
    """Inputs with gradients, and the gradient of the output."""
    inputs = inputs_of(case.operator, shape)
    # v's shape, or that of b, x and u, is the output's
    slope = torch.randn_like(inputs[{"rank_one_scan": 5, "diagonal_scan": 1}.get(case.operator, 0)])
    if case.peer.endswith(("hgrn", "rule")):
        at = 0 if case.operator == "diagonal_scan" else 1
        inputs[at] = inputs[at].float().abs().clamp_min(1e-3).log().to(inputs[at].dtype)
    return [x.requires_grad_() for x in inputs], slope


def run_scan(operator: str) -> None:
    """Both passes of an operator at its shape, once, with the sizes that the product chooses.

    Args:
        operator: one of `SHAPES`.
    """
    case = Case(operator)
    leaves, slope = leaves_of(case, SHAPES[operator])
    run_both(call_of(case), leaves, slope)
    torch.cuda.synchronize()


def time_call(run: Callable[[], Any], budget: int = 40) -> tuple[float, str]:
    """Median milliseconds of replays of the call's graph, or of the call; and of which."""
    from triton.testing import do_bench

    how = "graph"
    try:
        replay: Callable[[], Any] = capture(run)
    except Exception:  # a peer may fail in ways of its own
        torch.cuda.synchronize()
        replay, how = run, "call"
    return round(float(do_bench(replay, warmup=10, rep=budget, return_mode="median")), 4), how


def errors_of(case: Case) -> list[float]:
    """Of a slice, against the plain loop or torch in float64 on the same stored numbers."""
    leaves, slope = leaves_of(case, SLICES[case.operator])
    found = run_both(call_of(case), leaves, slope)
    wide = [x.detach().double().requires_grad_() for x in leaves]
    backend = "torch" if case.operator in ("selective_scan", "short_convolution") else "reference"
    exact = run_both(call_of(Case(case.operator, options={"backend": backend})), wide, slope.double())
    return [float((x.double() - y).norm() / y.norm()) for x, y in zip(found, exact, strict=True)]


def measure(case: Case) -> Row:
    """One row; each part that fails says so and leaves the others."""
    row: Row = {"operator": case.name, "shape": list(SHAPES[case.operator])}
    row |= {"sizes": {k: str(v) for values in case.sizes.values() for k, v in values.items()}}
    row |= {"options": case.options} if case.options else {}
    try:
        with patched(case.sizes):
            leaves, slope = leaves_of(case, SHAPES[case.operator])
            call = call_of(case)
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated()
            run_both(call, leaves, slope)
            row["peak"] = round((torch.cuda.max_memory_allocated() - held) / 1e9, 3)
            with torch.no_grad():
                row["forward"], row["how"] = time_call(partial(call, *leaves))
            row["both"], row["how"] = time_call(partial(run_both, call, leaves, slope))
            if not case.peer:
                row["errors"] = [float(f"{x:.1e}") for x in errors_of(case)]
    except Exception as error:  # the text is the result
        row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        with suppress(Exception):
            torch.cuda.synchronize()
    return row


def compile_case(number: int) -> None:
    """Run a case once on its slice and its shape, for what it compiles."""
    case = all_cases()[number]
    with suppress(Exception), patched(case.sizes):
        for shape in (SLICES[case.operator], SHAPES[case.operator]):
            leaves, slope = leaves_of(case, shape)
            with torch.no_grad():
                call_of(case)(*leaves)
            run_both(call_of(case), leaves, slope)
        torch.cuda.synchronize()


def all_cases() -> list[Case]:
    """Ours, and the peers."""
    return [case for cases in (*CASES, peer_cases) for case in cases()]


def shape_times(workers: int = 12) -> Iterator[Row]:
    """All rows.  Other processes compile first, at the same time, into Triton's cache on disk."""
    cases = all_cases()
    order = [i for i, case in enumerate(cases) if not case.peer]
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        with suppress(Exception):
            list(pool.map(compile_case, order, timeout=60))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    for case in cases:
        yield measure(case)
