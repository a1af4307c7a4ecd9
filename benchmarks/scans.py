"""The scans on a GPU, timed and checked against float64: `python -m mirrormata.benchmarks.scans [FOLDER [PART ...]]`.

Writes `scans_<card>.json` into the folder, by default benchmarks/results.  Without parts it runs `shapes`: all four operators of
`scan_shapes` with several tile sizes, beside FLA, in about 90 seconds.  The other parts are `times_diagonal`, `times_rank_one`
(beside plain torch), `exactness`, `correctness` (every dtype and packing) and `sweep`; their times are medians in
milliseconds with the 20th and 80th percentile.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor

from mirrormata.benchmarks.scan_shapes import shape_times
from mirrormata.kernels.scans._diagonal import diagonal_scan
from mirrormata.kernels.scans._rank_one import rank_one_scan

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SHAPES = (
    (8, 65_536, 256, torch.float32),
    (8, 65_536, 256, torch.bfloat16),
    (1, 10_000_000, 16, torch.float32),
    (32, 2_048, 1_024, torch.bfloat16),
)


def milliseconds(run: Callable[..., Any], *arguments: Any, **options: Any) -> list[float]:
    """Median, 20th and 80th percentile."""
    run = partial(run, *arguments, **options)
    quantiles: list[float] = triton.testing.do_bench(run, warmup=20, rep=120, quantiles=[0.5, 0.2, 0.8])
    return [round(x, 4) for x in quantiles]


def passes(scan: Callable[..., Any], inputs: list[Tensor], **options: Any) -> dict[str, list[float]]:
    """Forward, and forward with backward."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    with torch.no_grad():
        weight = torch.randn_like(scan(*inputs, **options)[0])
        forward = milliseconds(scan, *inputs, **options)
    return {"forward": forward, "forward_backward": milliseconds(_both, scan, leaves, weight, options)}


def _both(scan: Callable[..., Any], leaves: list[Tensor], weight: Tensor, options: dict[str, Any]) -> None:
    torch.autograd.grad(scan(*leaves, **options)[0], leaves, weight)


def doubling(a: Tensor, b: Tensor) -> Tensor:
    """The plain associative scan: log2 T passes of Hillis and Steele."""
    a, b, step = a.float(), b.float(), 1
    while step < a.shape[1]:
        b = torch.cat([b[:, :step], a[:, step:] * b[:, :-step] + b[:, step:]], 1)
        a = torch.cat([a[:, :step], a[:, step:] * a[:, :-step]], 1)
        step *= 2
    return b


def loop(a: Tensor, b: Tensor, steps: int) -> Tensor:
    """So many steps of the plain recurrence, the states written."""
    h, out = b[:, 0].float(), torch.empty_like(b[:, :steps])
    for t in range(1, steps):
        h = a[:, t] * h + b[:, t]
        out[:, t] = h
    return out


def normal(*shape: int, dtype: torch.dtype) -> Tensor:
    """Normal numbers rounded to a dtype."""
    return torch.randn(shape, device="cuda").to(dtype)


def error(found: Tensor, wanted: Tensor) -> float:
    """Relative to the norm; NaN stays NaN."""
    return float((found.double() - wanted.double()).norm() / wanted.double().norm())


def compare(
    scan: Callable[..., Any], inputs: list[Tensor], names: str, cu: Tensor | None, **options: Any
) -> dict[str, float]:
    """Errors of outputs, final states and gradients against the float64 loop on the same stored numbers."""
    weights: list[Tensor] = []
    sides = []
    for backend in ("triton", "reference"):
        extra = options if backend == "triton" else {}
        leaves = [(x if backend == "triton" else x.double()).detach().requires_grad_() for x in inputs]
        outputs = scan(*leaves, output_final_state=True, cu_seqlens=cu, backend=backend, **extra)
        weights = weights or [torch.randn_like(x) for x in outputs]
        gradients = torch.autograd.grad(
            outputs, leaves, [w.to(x.dtype) for w, x in zip(weights, outputs, strict=True)]
        )
        sides.append([*outputs, *gradients])
    labels = ["o", "final", *("d" + x for x in names.split())]
    return {n: error(found, wanted) for n, found, wanted in zip(labels, *sides, strict=True)}


def packing(packed: bool, tokens: int) -> tuple[Tensor | None, int, int]:
    """Bounds with an empty sequence and one of one token; rows; sequences."""
    if not packed:
        return None, 2, 2
    return torch.tensor([0, 0, 1, tokens // 3, tokens - 50, tokens], device="cuda"), 1, 5


def correctness() -> Iterator[dict[str, Any]]:
    """Every dtype of both scans against float64."""
    kinds = [(d, p) for d in DTYPES for p in (False, True) if not p or d in (torch.float32, torch.bfloat16)]
    for (dtype, packed), pairs, mode in product(kinds, (False, True), ("recurrent", "parallel")):
        T, D, pair = 1_000, 24, (2,) if pairs else ()
        cu, rows, N = packing(packed, T)
        a = (torch.rand(rows, T, D, *pair, device="cuda") * 2 - 1) / (1.5 if pairs else 1)
        a[:, 3::50], a[:, 25::50] = 0, (0 if pairs else -1)
        inputs = [a.to(dtype), normal(rows, T, D, *pair, dtype=dtype), normal(N, D, *pair, dtype=dtype)]
        extra = {"segment": 64} if mode == "parallel" else {}
        errors = compare(diagonal_scan, inputs, "a b h", cu, mode=mode, **extra)
        row = {"scan": "diagonal", "dtype": str(dtype)[6:], "pairs": pairs, "packed": packed, "mode": mode}
        yield {**row, "errors": errors}
    widths = ((16, 16), (37, 50), (64, 64), (128, 128), (256, 64))
    cases = [(torch.float32, False, width) for width in widths] + [(d, p, (64, 64)) for d, p in kinds if d != torch.float32 or p]  # fmt: skip
    for dtype, packed, (K, V) in cases:
        T, H = 150, 2
        cu, rows, N = packing(packed, T)
        w = torch.rand(rows, T, H, K, device="cuda") * 2 - 1
        z = torch.nn.functional.normalize(torch.randn(rows, T, H, K, device="cuda"), dim=-1)
        inputs = [normal(rows, T, H, K, dtype=dtype), w.to(dtype), (-w * z).to(dtype), z.to(dtype)]
        inputs += [normal(*shape, dtype=dtype) for shape in ((rows, T, H, K), (rows, T, H, V), (N, H, K, V))]
        errors = compare(rank_one_scan, inputs, "q w u z k v h", cu)
        yield {
            "scan": "rank_one",
            "dtype": str(dtype)[6:],
            "packed": packed,
            "K": K,
            "V": V,
            "errors": errors,
        }


def exactness() -> Iterator[dict[str, Any]]:
    """Signs of a million tokens, and the bits of torch on the CPU."""
    for dtype, mode in product(DTYPES, ("recurrent", "parallel")):
        ones = torch.randint(0, 2, (1, 1_000_000, 4), device="cuda")
        a = (1 - 2 * ones).to(dtype)
        h, _ = diagonal_scan(a, torch.zeros_like(a), torch.ones(1, 4, device="cuda"), mode=mode)
        wrong = int((h != (1 - 2 * (ones.cumsum(1) % 2)).to(dtype)).sum())
        yield {"check": "parity", "dtype": str(dtype)[6:], "mode": mode, "tokens": 1_000_000, "wrong": wrong}
    for shape, segment in product(((1, 500, 64), (1, 500, 64, 2)), (500, 32)):
        a, b = torch.rand(shape) * 1.4 - 0.7, torch.randn(shape)
        cpu = diagonal_scan(a, b, mode="parallel", segment=segment)[0]
        gpu = diagonal_scan(a.cuda(), b.cuda(), mode="parallel", segment=segment)[0].cpu()
        yield {"check": "bits of the CPU's", "segment": segment, "pairs": len(shape) == 4, "wrong": int((cpu != gpu).sum())}  # fmt: skip


def decays_and_inputs(B: int, T: int, D: int, dtype: torch.dtype) -> list[Tensor]:
    """a uniform in [-1, 1], b normal."""
    return [(torch.rand(B, T, D, device="cuda") * 2 - 1).to(dtype), normal(B, T, D, dtype=dtype)]


def diagonal_times() -> Iterator[dict[str, Any]]:
    """Ours beside the doubling scan and the loop."""
    for B, T, D, dtype in SHAPES:
        inputs = decays_and_inputs(B, T, D, dtype)
        row: dict[str, Any] = {"scan": "diagonal", "B": B, "T": T, "D": D, "dtype": str(dtype)[6:]}
        row["floor_bytes"] = 3 * inputs[0].numel() * inputs[0].element_size()
        row["ours"] = passes(diagonal_scan, inputs)
        if T <= 65_536:
            row["ours_recurrent"] = {"forward": milliseconds(diagonal_scan, *inputs, mode="recurrent")}
        row["doubling"] = {"forward": milliseconds(doubling, *inputs)}
        steps = 1_000
        row["loop_extrapolated"] = {"forward": [x * T / steps for x in milliseconds(loop, *inputs, steps)]}
        found, wanted = diagonal_scan(*inputs)[0][:, -1000:], doubling(*inputs)[:, -1000:]
        row["error_against_doubling"] = error(found, wanted)
        yield row


RANK_ONE_SHAPES = (
    (8, 2_048, 16, 64, torch.bfloat16),
    (8, 2_048, 16, 64, torch.float32),
    (4, 4_096, 16, 128, torch.bfloat16),
)


def rank_one_inputs(B: int, T: int, H: int, K: int, dtype: torch.dtype) -> list[Tensor]:
    """Decays in [0.8, 1], `u = -w z` with unit z."""
    w = torch.rand(B, T, H, K, device="cuda") * 0.2 + 0.8
    z = torch.nn.functional.normalize(torch.randn(B, T, H, K, device="cuda"), dim=-1)
    q, k, v = (torch.randn_like(w) for _ in range(3))
    return [x.to(dtype) for x in (q, w, -w * z, z, k, v)]


def rank_one_times() -> Iterator[dict[str, Any]]:
    """Ours beside the vectorised torch loop."""
    for B, T, H, K, dtype in RANK_ONE_SHAPES:
        inputs = rank_one_inputs(B, T, H, K, dtype)
        row: dict[str, Any] = {"scan": "rank_one", "B": B, "T": T, "H": H, "K": K, "dtype": str(dtype)[6:]}
        row["floor_bytes"] = 7 * inputs[0].numel() * inputs[0].element_size()
        row["ours"] = passes(rank_one_scan, inputs)
        short = milliseconds(rank_one_scan, *(x[:, :64] for x in inputs), backend="torch")
        row["torch_extrapolated"] = {"forward": [x * T / 64 for x in short]}
        yield row


def sweep() -> Iterator[dict[str, Any]]:
    """Tiles of the rank-one scan's backward pass; block sizes, unrolling and segment lengths of the diagonal scan."""
    tiles: Any = import_module("mirrormata.kernels.scans._triton_rank_one")
    before = tiles.BACKWARD, tiles.PER_THREAD
    for shape in RANK_ONE_SHAPES:
        for tiles.BACKWARD, tiles.PER_THREAD in ((2048, 16), (2048, 8), (1024, 16), (1024, 8), (512, 16)):
            times = passes(rank_one_scan, rank_one_inputs(*shape))
            yield {"shape": str(shape), "tile": tiles.BACKWARD, "per_thread": tiles.PER_THREAD, **times}
    tiles.BACKWARD, tiles.PER_THREAD = before
    launch: Any = import_module("mirrormata.kernels.scans._triton_diagonal")
    kept = launch.BLOCK, launch.WARPS, launch.UNROLL
    for B, T, D, dtype in SHAPES[:3]:
        inputs = decays_and_inputs(B, T, D, dtype)
        for (block, warps), unroll, segment in product(((128, 4), (256, 4)), (8, 16), (64, 256)):
            launch.BLOCK, launch.WARPS, launch.UNROLL = block, warps, unroll
            row = {"B": B, "T": T, "D": D, "dtype": str(dtype)[6:], "block": block, "warps": warps}
            times = passes(diagonal_scan, inputs, segment=segment)
            yield {**row, "unroll": unroll, "segment": segment, **times}
    launch.BLOCK, launch.WARPS, launch.UNROLL = kept


PARTS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "shapes": shape_times,
    "times_diagonal": diagonal_times,
    "times_rank_one": rank_one_times,
    "exactness": exactness,
    "correctness": correctness,
    "sweep": sweep,
}


def main(folder: Path, parts: list[str]) -> None:
    """Run the parts; every row is printed as it comes."""
    card = torch.cuda.get_device_name()
    x = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    copied = 2 * x.numel() / milliseconds(torch.empty_like(x).copy_, x)[0] / 1e9
    del x
    report: dict[str, Any] = {"card": card, "torch": torch.__version__, "triton": triton.__version__}
    report["copy_TB_per_s"] = round(copied, 3)
    launch: Any = import_module("mirrormata.kernels.scans._triton_diagonal")
    report["diagonal_configuration"] = {"block": launch.BLOCK, "warps": launch.WARPS, "unroll": launch.UNROLL}
    print(report, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"scans_{re.sub('[^a-z0-9]+', '_', card.lower())}.json"
    for name in parts:
        report[name] = []
        for row in PARTS[name]():
            report[name].append(row)
            print(json.dumps(row), flush=True)
            path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    if unknown := set(sys.argv[2:]) - set(PARTS):
        sys.exit(f"scans: no part {', '.join(sorted(unknown))}: use {', '.join(PARTS)}")
    main(
        Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "results",
        sys.argv[2:] or ["shapes"],
    )
