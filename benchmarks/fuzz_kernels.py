"""Random shapes of every operator on a GPU: the Triton kernels against float64, forward and backward, twice each, bit for bit.

    python -m mirrormata.benchmarks.fuzz_kernels [--operator NAME ...] [--shapes 1000] [--seed 0] [--workers 14]
                                                 [--minutes 9] [--variants 80] [--output FOLDER]

Buffers are filled with NaN before kernels write to them. What is drawn, and the errors allowed, are in `fuzz_operators`. Most of
the time goes into compiling, so shapes are drawn by variants of what kernels are compiled for: `--variants` of each operator, and as
many shapes of each as make `--shapes`. A worker process takes a variant at a time.

Each operator has a file FOLDER/NAME.json. Variants that are in it with this seed are not run again, so that a run can be
continued. Exit status 1 if anything was wrong, or if not everything could be run in time.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.fuzz_operators import GRADIENTS, OPERATORS, REFLECTIONS, Drawn, Operator
from mirrormata.benchmarks.machine import driver_version, installed

Row = dict[str, Any]
COARSEST = ("bfloat16", "float16", "float32", "float64")
SMALL = 0.2
"""Errors are relative to a tensor's norm, but at least to that of entries of this size, which inputs of size 1 make up."""
SLICES = 3.0
"""The error of each column, row, head, token … may be so many times that of the whole: one wrong among many is seen."""
MOVED = 16.0
"""An error may be so many times what the exact result moves by when each input is rounded once more."""
RANGE = 8.0
"""A result that comes as close as this to the dtype's largest number may be infinite: products on the way are larger."""
UNITS = {"bfloat16": 2.0**-9, "float16": 2.0**-12, "float32": 2.0**-25, "float64": 2.0**-54}
"""Half a unit in the last place, relative to the number, on average."""
TF32 = {"gradient of a", "gradient of g"}
"""Of `delta_product` in float32: their products are those of TF32, with 11 bits as float16 has (docs/kernels.md)."""
HOW = (
    "Relative errors: ‖x - y‖ / max(‖y‖, 0.2 √entries), of each result against float64 on the same rounded inputs (0.2 √(entries n) "
    "for a gradient of beta or of a gate, which sums n = V or n = K V products and may cancel to zero); and of each "
    f"slice along each dimension, of which {SLICES:g} times as much is allowed. Gradients: {GRADIENTS:g} times; beta = 2 in every "
    f"token, or keys normalised in their dtype: {REFLECTIONS:g} times. Where a result is ill conditioned, {MOVED:g} times as much as "
    "the float64 result moves by when every input is changed by half a unit in the last place of its dtype, at random, is allowed "
    "(for gradients of gates in float32 of TF32's), the larger of three draws; `conditioned` counts such cases. Entries of more than "
    f"half the dtype's largest number are left out, and infinite ones of a result that comes within {RANGE:g} times of it, since "
    "products on the way overflow first (float16; `left_out` counts the entries). Shapes are drawn by variants of what kernels are compiled for; those of one variant "
    "differ in all else (benchmarks/fuzz_operators.py). Buffers are poisoned with NaN; each case runs twice and must have the same bits."
)


@contextmanager
def poison_memory() -> Iterator[None]:
    """New tensors are full of NaN, so that an entry left unwritten shows."""
    before = torch.are_deterministic_algorithms_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operations that have no deterministic form
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)


def slice_errors(x: Tensor, y: Tensor, summed: int = 1) -> tuple[float, float]:
    """The relative error of the whole, and the largest of a slice along any dimension; infinite where x is not finite.

    `summed`: how many products of size 1 each entry of y is a sum of.
    """
    if x.shape != y.shape:
        return math.inf, math.inf
    if not x.numel():
        return 0.0, 0.0
    difference = (x.double() - y).square()
    whole = y.square().mean().clamp_min(SMALL**2 * summed)
    total = (difference.mean() / whole).sqrt()
    largest = total
    for dim in range(x.dim()):
        others = [i for i in range(x.dim()) if i != dim]
        each = difference.mean(others) if others else difference
        size = y.square().mean(others) if others else y.square()
        largest = torch.maximum(largest, (each / torch.maximum(size, whole)).sqrt().max())
    found = torch.stack([total, largest]).nan_to_num(nan=math.inf).tolist()
    return float(found[0]), float(found[1])


def strided(x: Tensor, layout: int) -> Tensor:
    """x with another order of its numbers in memory."""
    return x if layout == 0 or x.dim() < 2 else x.transpose(0, -1).contiguous().transpose(0, -1)


def draw_case(operator: Operator, name: str, seed: int, variant: int, index: int) -> Drawn:
    """The variant and the shape of a case; the same whenever they are drawn."""
    fixed = operator.variant(Random(f"{seed} {name} {variant}"))
    random = Random(f"{seed} {name} {variant} {index}")
    return {**fixed, **operator.shape(random, fixed), "seed": random.randrange(2**31)}


def run_case(operator: Operator, x: Drawn, device: str) -> Row:
    """Errors of each result and gradient, and what is wrong, None if nothing is."""
    random, generator = Random(x["seed"]), torch.Generator().manual_seed(x["seed"])
    given = operator.inputs(x, generator)
    dtypes: dict[str, str] = {
        name: x["decays"] if name == "a" and x.get("decays") else x["dtype"] for name in given
    }
    if device == "cpu":  # where the interpreter does not round to bfloat16 but cuts off
        dtypes = {name: "float16" if dtype == "bfloat16" else dtype for name, dtype in dtypes.items()}
    wanted = {name for name in given if random.random() < 0.8} or {next(iter(given))}
    layouts = {name: int(random.random() < 0.2) for name in given}
    leaves = {name: y.to(device, getattr(torch, dtypes[name])) for name, y in given.items()}

    def results(tensors: dict[str, Tensor], exact: bool) -> list[Tensor]:
        tensors = {name: y.detach().requires_grad_(name in wanted) for name, y in tensors.items()}
        laid = {name: strided(y, layouts[name]) for name, y in tensors.items()}
        outputs = (operator.exact if exact else operator.kernels)(x, laid)
        into = torch.Generator().manual_seed(x["seed"] + 1)
        weights = [
            torch.randn(y.shape, generator=into, dtype=torch.float64).to(device, torch.bfloat16).to(y.dtype)
            for y in outputs
        ]
        asked = [tensors[name] for name in given if name in wanted]
        parts = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
        gradients = torch.autograd.grad(
            [y for y, _ in parts], asked, [w for _, w in parts], allow_unused=True, materialize_grads=True
        )
        return [y.detach() for y in (*outputs, *gradients)]

    with poison_memory():
        first, again = (results(leaves, exact=False) for _ in range(2))
    truth = results({name: y.double() for name, y in leaves.items()}, exact=True)
    outputs = len(truth) - len(wanted)
    names = [
        *[f"output {i}" for i in range(outputs)],
        *[f"gradient of {name}" for name in given if name in wanted],
    ]
    coarsest = next(name for name in COARSEST if name in dtypes.values())
    by_name = {"gradient of beta": x.get("V", 1), "gradient of a": x.get("K", 1) * x.get("V", 1)}
    by_name["gradient of g"] = by_name["gradient of a"]

    def summed(name: str) -> int:
        """How many products each entry of a result sums, where that can cancel to zero."""
        return int(by_name.get(name, 1)) if "mode" in x else 1

    moves: dict[str, list[tuple[float, float]]] = {}

    def moved(unit: str) -> list[tuple[float, float]]:
        """How far each exact result moves, whole and by slices, when inputs move by units in the last place."""
        if unit not in moves:
            each = []
            for draw in range(3):
                noise = torch.Generator().manual_seed(x["seed"] + 2 + draw)
                near = {}
                for name, y in leaves.items():
                    size = UNITS[unit] if unit == "float16" else UNITS[dtypes[name]]
                    signs = torch.randint(0, 2, y.shape, generator=noise).to(device) * 2 - 1
                    near[name] = y.double() * (1 + size * signs)
                each.append(
                    [
                        slice_errors(z, y, summed(name))
                        for name, z, y in zip(names, results(near, exact=True), truth, strict=True)
                    ]
                )
            moves[unit] = [
                (max(w for w, _ in draws), max(s for _, s in draws)) for draws in zip(*each, strict=True)
            ]
        return moves[unit]

    allowed = operator.errors[coarsest] * (REFLECTIONS if x.get("beta") == 2.0 or x.get("l2norm") else 1)
    errors: dict[str, float] = {}
    wrong, conditioned, left_out = [], False, 0
    for i, (name, found, same, y) in enumerate(zip(names, first, again, truth, strict=True)):
        edge = torch.finfo(found.dtype).max
        out = y.abs() > edge / 2
        if y.numel() and y.abs().max() > edge / RANGE:
            out |= ~found.isfinite()
        if out.any():
            left_out += int(out.sum())
            found, same, y = (z.masked_fill(out, 0) for z in (found, same, y))
        whole, largest = slice_errors(found, y, summed(name))
        most = allowed * (1 if i < outputs else GRADIENTS)
        if not (whole <= most and largest <= SLICES * most):
            unit = "float16" if coarsest == "float32" and name in TF32 and "mode" in x else coarsest
            by_whole, by_slice = moved(unit)[i]
            conditioned = True
            if not (whole <= max(most, MOVED * by_whole) and largest <= max(SLICES * most, MOVED * by_slice)):
                wrong.append(
                    f"{name}: error {whole:.2g}, of a slice {largest:.2g}, allowed {most:.2g}, moved by {by_whole:.2g}, "
                    f"{by_slice:.2g}"
                )
        else:
            errors[name] = whole
        if not torch.equal(*(z.contiguous().flatten().view(torch.uint8) for z in (found, same))):
            wrong.append(f"{name}: other bits in a second run")
    return {
        "dtype": coarsest,
        "errors": errors,
        "conditioned": conditioned,
        "left_out": left_out,
        "wrong": "; ".join(wrong) or None,
    }


def run_variant(task: tuple[str, int, int, int, str]) -> Row:
    """All shapes of a variant: how many, the largest error by dtype and kind of result, and the cases that were wrong."""
    name, seed, variant, shapes, device = task
    operator, failures = OPERATORS[name], []
    largest: dict[str, float] = {}
    conditioned = left_out = 0
    for index in range(shapes):
        x: Drawn = {}
        try:
            x = draw_case(operator, name, seed, variant, index)
            row = run_case(operator, x, device)
            wrong = row["wrong"]
            conditioned += row["conditioned"]
            left_out += row["left_out"]
            for result, error in row["errors"].items():
                key = f"{row['dtype']} {result.split(' ')[0]}"
                largest[key] = max(largest.get(key, 0.0), error)
        except Exception as error:  # a case that raises is one of the findings
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(str(error).split())[:300]
            wrong = f"{type(error).__name__}: {said} ({Path(place.filename).name}:{place.lineno})"
        if wrong:
            failures.append({"variant": variant, "index": index, "case": x, "wrong": wrong})
    return {
        "variant": variant,
        "shapes": shapes,
        "conditioned": conditioned,
        "left_out": left_out,
        "largest": largest,
        "failures": failures,
    }


def prepare_worker() -> None:
    """Workers share the machine's cores."""
    torch.set_num_threads(1)


def shares(shapes: int, variants: int) -> list[int]:
    """Shapes of each variant."""
    variants = min(shapes, variants)
    return [shapes // variants + (i < shapes % variants) for i in range(variants)]


def report(name: str, rows: list[Row], options: argparse.Namespace, about: Row) -> Row:
    """What an operator's file says."""
    largest: dict[str, float] = {}
    for row in rows:
        for key, error in row["largest"].items():
            largest[key] = max(largest.get(key, 0.0), error)
    failures = [x for row in rows for x in row["failures"]]
    return {
        "operator": name,
        **about,
        "seed": options.seed,
        "how": HOW,
        "allowed": OPERATORS[name].errors,
        "shapes": sum(row["shapes"] for row in rows),
        "shapes_wanted": options.shapes,
        "variants": len(rows),
        "wrong": len(failures),
        "conditioned": sum(row["conditioned"] for row in rows),
        "left_out": sum(row["left_out"] for row in rows),
        "largest_errors": dict(sorted(largest.items())),
        "failures": failures,
        "rows": rows,
    }


def earlier_rows(file: Path, options: argparse.Namespace, about: Row) -> dict[int, Row]:
    """Rows of an earlier run on the same kind of machine with the same seed and numbers, by variant."""
    if not file.exists():
        return {}
    document = json.loads(file.read_text(encoding="utf-8"))
    same = {**about, "seed": options.seed, "shapes_wanted": options.shapes}
    if any(document.get(key) != value for key, value in same.items()):
        return {}
    sizes = shares(options.shapes, options.variants)
    rows = {row["variant"]: row for row in document["rows"]}
    return {v: row for v, row in rows.items() if v < len(sizes) and row["shapes"] == sizes[v]}


def main(arguments: list[str] | None = None) -> int:
    """All operators, printed and written; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operator", nargs="+", choices=list(OPERATORS), default=list(OPERATORS))
    parser.add_argument("--shapes", type=int, default=1000, help="of each operator")
    parser.add_argument("--variants", type=int, default=80, help="of what kernels are compiled for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=14, help="processes; 0: this one alone")
    parser.add_argument("--minutes", type=float, default=9, help="then write what there is and stop")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/fuzz_kernels_CARD")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("fuzz_kernels: no CUDA device here")
    card = torch.cuda.get_device_name() if options.device == "cuda" else options.device
    versions = {name: installed(name) for name in ("torch", "triton")}
    about: Row = {"card": card, "driver": driver_version() if options.device == "cuda" else None, **versions}
    folder = (
        options.output or Path(__file__).parent / "results" / f"fuzz_kernels_{'_'.join(card.lower().split())}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    done = {name: earlier_rows(folder / f"{name}.json", options, about) for name in options.operator}
    sizes = shares(options.shapes, options.variants)
    tasks = [
        (name, options.seed, variant, sizes[variant], options.device)
        for name in options.operator
        for variant in range(len(sizes))
        if variant not in done[name]
    ]
    end = time.monotonic() + 60 * options.minutes
    for name, row in run_tasks(tasks, options.workers, end):
        done[name][row["variant"]] = row
        for failure in row["failures"]:
            print(f"{name} {failure['variant']},{failure['index']}: {failure['wrong']}", flush=True)
        rows = [done[name][v] for v in sorted(done[name])]
        text = json.dumps(report(name, rows, options, about), indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    clean = True
    for name in options.operator:
        found = report(name, list(done[name].values()), options, about)
        clean = clean and found["wrong"] == 0 and found["shapes"] == options.shapes
        print(f"{name}: {found['shapes']} shapes of {options.shapes}, {found['wrong']} wrong", flush=True)
        print(f"    {found['largest_errors']}", flush=True)
    return 0 if clean else 1


def run_tasks(tasks: list[tuple[Any, ...]], workers: int, end: float) -> Iterator[tuple[str, Row]]:
    """Results of the tasks as they come, until the time is over."""
    if workers == 0:
        for task in tasks:
            if time.monotonic() < end:
                yield task[0], run_variant(task)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, initializer=prepare_worker) as pool:
        pending = [(task[0], pool.apply_async(run_variant, (task,))) for task in tasks]
        while pending and time.monotonic() < end:
            ready = [(name, x) for name, x in pending if x.ready()]
            pending = [(name, x) for name, x in pending if not x.ready()] if ready else pending
            for name, x in ready:
                yield name, x.get()
            if not ready:
                time.sleep(0.1)
        pool.terminate()


if __name__ == "__main__":
    sys.exit(main())
