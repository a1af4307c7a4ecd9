"""DeltaProduct beside its strongest peers: one run, one card, the same inputs, all checked against float64.

    python -m mirrormata.benchmarks.kernel_peers [--rows lm,lm_nh2] [--peers ours,FLA] [--seconds 500] [--output FILE]

Every peer has a process of its own (`kernel_peers_calls` has the calls), and they take turns, row by row, the most wanted row
first. Forward, and forward and backward where the peer has it: medians, with the 20th and 80th percentile, in milliseconds with
caches flushed, of CUDA graphs and of eager calls; MiB that a call takes at most beside its inputs; the error of outputs, and the
largest of the gradients', of the first sequence. A peer that is not installed, or refuses, has a row with its reason. Kernels are
compiled first, in parallel, and none beside a timing. A file of the same card and versions is continued.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_accuracy import error
from mirrormata.benchmarks.kernel_peers_calls import PACKAGES, PEERS, WITHOUT_WHEELS, Peer
from mirrormata.benchmarks.kernel_peers_table import ROWS, SHAPES, judged, row_key
from mirrormata.benchmarks.machine import driver_version, installed, results_file

Row = dict[str, Any]
COMPILING = 280.0
"""Seconds after which what is still compiled is ended."""
LONGEST = 120.0
"""Seconds that one peer may take for one row, tuning included."""
WORKERS = 16
"""Processes that compile at a time."""


def draw(shape: tuple[int, ...], gated: bool, device: str) -> tuple[list[Tensor], Tensor | None]:
    """Queries and unit keys, values and beta in [0, 2] in bfloat16, logarithms of gates in float32 of -0.1 to 0."""
    B, T, H, D, n_h = shape
    generator = torch.Generator(device).manual_seed(0)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, device=device, generator=generator)

    q, k = (torch.nn.functional.normalize(normal(B, rows, H, D), dim=-1) for rows in (T, T * n_h))
    beta = 2 * torch.rand(B, T * n_h, H, device=device, generator=generator)
    g = -0.1 * torch.rand(B, T, H, device=device, generator=generator)
    return [x.bfloat16() for x in (q, k, normal(B, T * n_h, H, D), beta)], g if gated else None


def draw_output_gradient(shape: tuple[int, ...], device: str) -> Tensor:
    """Of the outputs."""
    B, T, H, D, _ = shape
    return torch.randn(B, T, H, D, device=device, generator=torch.Generator(device).manual_seed(2)).bfloat16()


def exact_results(shape: tuple[int, ...], gated: bool, device: str) -> list[Tensor]:
    """Outputs and gradients of the first sequence in float64, kept in float32."""
    from mirrormata.kernels import delta_product

    tensors, g = draw(shape, gated, device)
    wide = [x[:1].double().requires_grad_() for x in (*tensors, g) if x is not None]
    do = draw_output_gradient(shape, device)[:1].double()
    q, k, v, beta, *rest = wide
    how: Row = {"householders": shape[4], "scale": shape[3] ** -0.5, "backend": "torch", "mode": "chunk"}
    o = delta_product(q, k, v, beta, rest[0] if rest else None, **how)[0]
    return [x.detach().float().cpu() for x in (o, *torch.autograd.grad(o, wide, do))]


def time_call(run: Callable[[], Any]) -> Row:
    """MiB at most, and times as a graph and eagerly; why there is no graph, where there is none."""
    from mirrormata.benchmarks.hopper import peak_memory
    from mirrormata.benchmarks.kernel_timing import capture, milliseconds

    found: Row = {"MiB": peak_memory(run), "eager": milliseconds(run)}
    try:
        found["graph"] = milliseconds(capture(run))
    except RuntimeError as failure:
        torch.cuda.synchronize()
        found["graph"], found["not captured"] = None, reason(failure)
    return found


def measure(peer: Peer, shape: tuple[int, ...], gated: bool, truth: list[Tensor] | None, device: str) -> Row:
    """Both passes of a peer at a shape; without `truth` each runs once, so that its kernels are compiled."""
    tensors, g = draw(shape, gated, device)
    run = peer.prepare(tensors, g, shape[4], shape[3] ** -0.5)
    leaves = [x.detach().requires_grad_() for x in (*tensors, g) if x is not None]
    do = draw_output_gradient(shape, device)

    def forward() -> Tensor:
        with torch.no_grad():
            return run(*leaves)

    def both() -> tuple[Tensor, ...]:
        return torch.autograd.grad(run(*leaves), leaves, do)

    row: Row = {}
    o = forward()
    if truth is not None:
        row["forward"] = {"error": error(o[:1].cpu(), truth[0]), **time_call(forward)}
    del o
    if not peer.backward:
        return row
    try:
        gradients = both()
        if truth is not None:
            pairs = zip(gradients, truth[1:], strict=True)
            largest = max(error(x[:1].cpu(), y) for x, y in pairs)
            row["both"] = {"error": largest, **time_call(both)}
    except Exception as failure:  # forward stands without it
        row["both"] = {"refused": reason(failure)}
    return row


def reason(failure: BaseException) -> str:
    """One line: what it says, else the line of code that raised it."""
    said = str(failure)
    if not said:
        frames = traceback.extract_tb(failure.__traceback__)
        said = (frames[-1].line or "") if frames else ""
    return " ".join(f"{type(failure).__name__}: {said}".split())[:240]


def serve(connection: Connection, who: str, device: str) -> None:
    """The process of a peer: a shape, gates or not, and a file of exact results each time, until it is told to end."""
    while True:
        task = connection.recv()
        if task is None:
            return
        name, gated, small, truth = task
        shape = SHAPES[name]
        if small:
            shape = min(shape[0], 2), min(shape[1], 256), *shape[2:]
        try:
            exact = None if truth is None else torch.load(truth)
            row = measure(PEERS[who], shape, gated, exact, device)
        except Exception as failure:  # a refusal is a result
            traceback.print_exc()
            row = {"refused": reason(failure)}
        if device == "cuda":
            torch.cuda.empty_cache()
        connection.send(row)


class Worker:
    """A peer's process, started anew when it has ended."""

    def __init__(self, who: str, device: str) -> None:
        """Nothing runs yet."""
        self.who, self.device = who, device
        self.process: Any = None

    def start(self) -> None:
        """With the peer's environment."""
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        added = {name: value for name, value in PEERS[self.who].environment.items() if name not in os.environ}
        os.environ.update(added)
        self.process = context.Process(target=serve, args=(other, self.who, self.device), daemon=True)
        self.process.start()
        other.close()
        for name in added:
            del os.environ[name]

    def ask(self, *task: Any) -> None:
        """Begin a task: name, gates, whether a small problem will do, file of exact results."""
        if self.process is None or not self.process.is_alive():
            self.start()
        self.connection.send(task)

    def answer(self, seconds: float) -> Row:
        """Its result; a process that ends or takes too long is one as well."""
        try:
            if self.connection.poll(max(0.0, seconds)):
                row: Row = self.connection.recv()
                return row
        except (EOFError, OSError):
            self.end()
            return {"refused": "its process ended"}
        self.end()
        return {"refused": f"not done in {seconds:.0f} s"}

    def end(self) -> None:
        """At once."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def compile_all(tasks: list[tuple[str, str, bool]], workers: dict[str, Worker], device: str) -> list[Worker]:
    """Compile what the tasks need, in parallel.

    FLA and ours keep their kernels in a cache on disk, and so any process will do, FLA's with small problems whose tuning is
    forgotten; the others compile in the processes that are timed. Returns the processes that will be timed and are ready.
    """
    end = time.monotonic() + COMPILING
    kept = {who: [task for task in tasks if task[0] == who] for who in workers if not on_disk(who)}
    waiting = [task for task in tasks if on_disk(task[0])]
    running: list[tuple[Worker, tuple[str, str, bool]]] = []
    for who, own in kept.items():
        if own:
            workers[who].ask(own[0][1], own[0][2], False, None)
            running.append((workers[who], own.pop(0)))
    while running or waiting:
        while waiting and len(running) < WORKERS:
            who, name, gated = waiting.pop(0)
            worker = Worker(who, device)
            worker.ask(name, gated, who != "ours", None)
            running.append((worker, (who, name, gated)))
        for worker, task in list(running):
            if not worker.connection.poll(0.02):
                continue
            worker.answer(1)
            running.remove((worker, task))
            print(f"compiled {task} {COMPILING - end + time.monotonic():.0f} s", file=sys.stderr, flush=True)
            more = kept.get(task[0])
            if more:
                worker.ask(more[0][1], more[0][2], False, None)
                running.append((worker, more.pop(0)))
            elif more is None:
                worker.end()
        if time.monotonic() > end:
            for worker, task in running:
                print(f"not compiled in time: {task}", file=sys.stderr, flush=True)
                worker.end()
            break
    return list(workers.values())


def on_disk(who: str) -> bool:
    """Whether a peer's compiled kernels outlive its process."""
    return who == "ours" or who.startswith("FLA")


def constants(task: tuple[str, str, bool]) -> tuple[Any, ...]:
    """What FLA's kernels are compiled for."""
    who, name, gated = task
    return who, gated, *(SHAPES[name][2:] if who.startswith("FLA") else (name,))


def main(arguments: list[str] | None = None) -> None:
    """All rows, printed and written."""
    from mirrormata.benchmarks.kernel_timing import copy_rate

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = list(dict.fromkeys(name for name, _ in ROWS))
    parser.add_argument("--rows", default=",".join(known), help=f"some of {', '.join(known)}")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"some of {', '.join(PEERS)}")
    parser.add_argument("--seconds", type=float, default=550.0, help="start nothing new after so long")
    parser.add_argument("--again", action="store_true", help="measure anew what the file has")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/kernel_peers_CARD.json")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        sys.exit("kernel_peers: no CUDA device here")
    begun = time.monotonic()
    card = torch.cuda.get_device_name()
    about: Row = {
        "card": card,
        "driver": driver_version(),
        "versions": {name: installed(name) for name in PACKAGES},
        "not measured": {name: installed(name) or "no wheel on PyPI" for name in WITHOUT_WHEELS},
    }
    output = options.output or results_file("kernel_peers", card)
    report: Row = {**about, "runs": 0, "rows": []}
    if output.exists():
        before = json.loads(output.read_text(encoding="utf-8"))
        report = before if all(before.get(key) == value for key, value in about.items()) else report
    report["runs"] += 1
    report.setdefault("copy bytes a second", copy_rate())
    known_rows = {row_key(row): row for row in report["rows"]}
    whos = [who for who in PEERS if who in options.peers.split(",")]
    wanted: list[tuple[str, str, bool]] = []
    for name, gated in ROWS:
        for who in whos if name in options.rows.split(",") else []:
            only = PEERS[who].only
            done = known_rows.get((name, gated, who))
            finished = done is not None and "refused" not in done and not options.again
            if (only is None or only(SHAPES[name], gated)) and not finished:
                wanted.append((who, name, gated))
    workers = {who: Worker(who, "cuda") for who in whos}
    compile_all(list({constants(task): task for task in reversed(wanted)}.values())[::-1], workers, "cuda")
    print(f"compiled at {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        truth, of = Path(folder) / "exact.pt", ("", False)
        for who, name, gated in wanted:
            if time.monotonic() - begun > options.seconds:
                print(f"left out: {who} {name} {gated}", file=sys.stderr, flush=True)
                continue
            if of != (name, gated):
                torch.save(exact_results(SHAPES[name], gated, "cuda"), truth)
                torch.cuda.empty_cache()
                of = name, gated
            workers[who].ask(name, gated, False, str(truth))
            found = workers[who].answer(LONGEST)
            row: Row = {"shape": name, "B T H D n_h": list(SHAPES[name]), "gate": gated, "who": who}
            row |= {"run": report["runs"], **found}
            known_rows[row_key(row)] = row
            report["rows"] = sorted(known_rows.values(), key=place)
            output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
            print(f"{time.monotonic() - begun:.0f} s {json.dumps(row)}", flush=True)
    for worker in workers.values():
        worker.end()
    for target in judged(report):
        print(*target, sep=" | ", flush=True)


def place(row: Row) -> tuple[int, int]:
    """Of a row in the file: shapes and gates as wanted, then peers."""
    return ROWS.index((row["shape"], row["gate"])), list(PEERS).index(row["who"])


if __name__ == "__main__":
    main()
