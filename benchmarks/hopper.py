"""`delta_product` on a Hopper GPU: the kernels of that chip beside the kernels of every chip, forward, and forward and backward.

    python -m mirrormata.benchmarks.hopper [--shapes NAME,NAME] [--output FILE]
    python -m mirrormata.benchmarks.hopper --words 1048576 [--output FILE]      words over S_5 alone, of so many tokens

Milliseconds of CUDA graphs, caches flushed: medians, with the 20th and 80th percentile; MiB that forward and backward take at
most beside the inputs; errors of outputs, and the largest of all gradients', against float64; wrong entries of outputs and last
states on words of integer swaps.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from mirrormata.benchmarks.kernel_peers_table import place
from mirrormata.benchmarks.machine import driver_version, installed, results_file
from mirrormata.kernels import delta_product, launch_counts, reset_launch_counts

Row = dict[str, Any]
SHAPES = {
    "lm": (4, 4096, 16, 128, 128, 1),
    "lm_nh2": (4, 4096, 16, 128, 128, 2),
    "lm_nh3": (4, 4096, 8, 128, 128, 3),
    "st128_nh4": (256, 128, 8, 128, 128, 4),
    "one_sequence": (1, 8192, 16, 64, 64, 1),
    "k64_v128": (4, 4096, 8, 64, 128, 1),
    "short_nh2": (32, 512, 4, 64, 64, 2),
    "wide": (2, 4096, 4, 256, 256, 1),
}
"""B, T, H, K, V, n_h."""
GATES = ("none", "weak", "strong")
"""None; exp(-0.1 u) for u uniform in [0, 1], where a chunk's products can be divided by; exp(-5 u), where most cannot."""
CHECKED = 512
"""Tokens of one sequence that are compared with float64."""
PASSES = ("forward", "forward and backward")


def draw_inputs(shape: tuple[int, ...], gate: str, device: str) -> tuple[list[Tensor], Tensor | None]:
    """Queries, keys, values and beta in bfloat16, and gates."""
    B, T, H, K, V, n_h = shape
    generator = torch.Generator(device).manual_seed(0)

    def normal(*size: int) -> Tensor:
        return torch.randn(size, device=device, generator=generator)

    q, k = (torch.nn.functional.normalize(normal(B, rows, H, K), dim=-1) for rows in (T, T * n_h))
    beta = 2 * torch.rand(B, T * n_h, H, device=device, generator=generator)
    inputs = [x.bfloat16() for x in (q, k, normal(B, T * n_h, H, V), beta)]
    if gate == "none":
        return inputs, None
    size = 0.1 if gate == "weak" else 5.0
    return inputs, torch.exp(-size * torch.rand(B, T, H, device=device, generator=generator))


def draw_swaps(shape: tuple[int, ...], device: str) -> tuple[list[Tensor], Tensor]:
    """Swaps of five states as keys e_i - e_j with beta 1, queries that tell all states; the identity as initial state."""
    B, T, H, K, V, n_h = shape
    generator = torch.Generator(device).manual_seed(1)
    size = B, T * n_h, H
    i = torch.randint(5, size, device=device, generator=generator)
    j = (i + torch.randint(1, 5, size, device=device, generator=generator)) % 5
    unit = torch.eye(K, device=device)
    q = torch.zeros(B, T, H, K, device=device)
    q[..., :5] = torch.arange(1.0, 6.0, device=device)
    inputs = q, unit[i] - unit[j], torch.zeros(*size, V, device=device), torch.ones(size, device=device)
    initial = torch.zeros(B, H, K, V, device=device)
    initial[:, :, range(5), range(5)] = 1.0
    return [x.bfloat16() for x in inputs], initial


def permute_states(keys: Tensor) -> Tensor:
    """The product of the swaps of one sequence and head, `[5,5]`: an oracle without arithmetic."""
    order = list(range(5))
    for key in keys[:, :5].tolist():
        i, j = key.index(1.0), key.index(-1.0)
        order[i], order[j] = order[j], order[i]
    found = torch.zeros(5, 5)
    found[range(5), order] = 1.0
    return found


def long_words(tokens: int, device: str) -> list[Row]:
    """Wrong entries of all outputs and of the last state on a word over S_5, four swaps a token, and which kernels ran.

    Without gates, and with gates of 1 and -1 in turn at random, whose product is a sign of all entries.
    """
    from mirrormata.benchmarks.kernel_accuracy import swap_words

    inputs, outputs, state = swap_words(tokens, 0)
    generator = torch.Generator().manual_seed(3)
    signs = 1.0 - 2.0 * torch.randint(2, (1, tokens, 1), generator=generator)
    rows: list[Row] = []
    for K, V in ((64, 64), (128, 128), (64, 128)):
        wide = [torch.nn.functional.pad(x, (0, K - 5)) for x in inputs[:2]]
        wide += [torch.zeros(*inputs[2].shape[:3], V), inputs[3]]
        initial = torch.zeros(1, 1, K, V, device=device)
        initial[0, 0, range(5), range(5)] = 1.0
        for dtype, gates in ((torch.bfloat16, None), (torch.bfloat16, signs), (torch.float16, None)):
            sign = torch.ones(tokens) if gates is None else gates[0, :, 0].cumprod(0)
            x = [y.to(device, dtype) for y in wide]
            a = None if gates is None else gates.to(device)
            options: dict[str, Any] = {"householders": 4, "scale": 1.0, "output_final_state": True}
            q, k, v, beta = x
            reset_launch_counts()
            with torch.no_grad():
                o, final = delta_product(q, k, v, beta, a=a, initial_state=initial, mode="chunk", **options)
            assert final is not None
            row: Row = {"tokens": tokens, "K": K, "V": V, "dtype": str(dtype)[6:]}
            row["gates"] = "none" if a is None else "1 and -1"
            row["kernels"] = sorted(launch_counts())
            expected = torch.zeros(tokens, V)
            expected[:, :5] = outputs * sign[:, None]
            row["outputs wrong"] = int((o[0, :, 0].float().cpu() != expected).sum())
            expected = torch.zeros(K, V)
            expected[:5, :5] = state * sign[-1]
            row["state wrong"] = int((final[0, 0].cpu() != expected).sum())
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def call_both(inputs: list[Tensor], a: Tensor | None, do: Tensor, **options: Any) -> tuple[Tensor, ...]:
    """Outputs, and gradients of all inputs."""
    leaves = [x.detach().requires_grad_() for x in (*inputs, a) if x is not None]
    q, k, v, beta, *gates = leaves
    o, _ = delta_product(q, k, v, beta, a=gates[0] if gates else None, **options)
    return o.detach(), *torch.autograd.grad(o, leaves, do)


def find_errors(shape: tuple[int, ...], gate: str, device: str) -> list[float]:
    """Errors of the outputs, and the largest of the gradients', of one sequence's first tokens."""
    _, T, H, K, V, n_h = shape
    inputs, a = draw_inputs((1, min(T, CHECKED), H, K, V, n_h), gate, device)
    do = torch.randn(
        1, min(T, CHECKED), H, V, device=device, generator=torch.Generator(device).manual_seed(2)
    ).bfloat16()
    wide = [x.double() for x in inputs], None if a is None else a.double(), do.double()
    exact = call_both(*wide, householders=n_h, backend="torch")
    found = call_both(inputs, a, do, householders=n_h, mode="chunk")
    errors = [float((x - y).norm() / y.norm()) for x, y in zip(found, exact, strict=True)]
    return [errors[0], max(errors[1:])]


def peak_memory(run: Callable[[], Any]) -> int:
    """MiB of a GPU that a call takes at most beside what is there."""
    if not torch.cuda.is_available():
        return 0
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return round((torch.cuda.max_memory_allocated() - before) / 2**20)


def measure(name: str, gate: str, device: str, timed: Callable[[Callable[[], Any]], Any]) -> list[Row]:
    """Times and errors of both, a row for each kind of passes; `timed` takes a call."""
    from mirrormata.kernels.delta import _hopper

    shape = SHAPES[name]
    B, T, H, _, V, n_h = shape
    inputs, a = draw_inputs(shape, gate, device)
    do = torch.randn(B, T, H, V, device=device, generator=torch.Generator(device).manual_seed(2)).bfloat16()
    rows: list[Row] = [
        {"shape": name, "B T H K V n_h": list(shape), "gate": gate, "passes": passes} for passes in PASSES
    ]

    def forward() -> Tensor:
        with torch.no_grad():
            o: Tensor = delta_product(*inputs, a=a, householders=n_h, mode="chunk")[0]  # type: ignore[misc]
        return o

    def both() -> tuple[Tensor, ...]:
        return call_both(inputs, a, do, householders=n_h, mode="chunk")

    for who in ("hopper", "phases"):
        takes: Callable[..., bool] = _hopper.takes_hopper if who == "hopper" else lambda _, save=False: False
        with patch("mirrormata.kernels.delta._operator.takes_hopper", takes):
            errors = find_errors(shape, gate, device)
            both()
            for row, error, run in zip(rows, errors, (forward, both), strict=True):
                row[who] = {"error": error, "MiB": peak_memory(run), "milliseconds": timed(run)}
    if gate == "none":
        (q, k, v, beta), initial = draw_swaps(shape, device)
        options: dict[str, Any] = {"householders": n_h, "scale": 1.0, "output_final_state": True}
        with torch.no_grad():
            o, final = delta_product(q, k, v, beta, initial_state=initial, mode="chunk", **options)
        state = permute_states(k[0, :, 0])
        assert final is not None
        wrong = (final[0, 0, :5, :5].cpu() != state).sum() + (
            o[0, -1, 0, :5].cpu() != torch.arange(1.0, 6.0) @ state
        ).sum()
        rows[0]["wrong entries"] = int(wrong)
    return rows


def table_rows(document: Row) -> list[list[str]]:
    """A row for each shape, gate and kind of passes: times of both kernels, their ratio, memory and errors of both."""
    rows = []
    for row in sorted(document["rows"], key=lambda row: place(row["shape"])):
        times = [row[who]["milliseconds"] for who in ("hopper", "phases")]
        shown = [f"{middle:.3f} ({low:.3f} to {high:.3f})" for middle, low, high in times]
        memory = [f"{row[who]['MiB']:,}" for who in ("hopper", "phases")]
        errors = [f"{row[who]['error']:.1e}" for who in ("hopper", "phases")]
        shape = ", ".join(map(str, row["B T H K V n_h"]))
        ratio = f"{times[1][0] / times[0][0]:.1f}"
        rows.append([f"`{row['shape']}`", shape, row["gate"], row["passes"], *shown, ratio, *memory, *errors])
    return rows


def main() -> None:
    """All shapes and gates, printed and written."""
    from mirrormata.benchmarks.kernel_timing import captured, milliseconds
    from mirrormata.kernels.delta._hopper import multiprocessors

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default=",".join(SHAPES), help=f"some of {', '.join(SHAPES)}")
    parser.add_argument("--words", type=int, help="tokens of words over S_5, in place of all else")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/hopper[_words]_CARD.json")
    options = parser.parse_args()
    if not torch.cuda.is_available() or not multiprocessors(torch.device("cuda", 0)):
        sys.exit("hopper: no Hopper GPU here")
    card = torch.cuda.get_device_name()
    versions = {name: installed(name) for name in ("torch", "triton")}
    report: Row = {"card": card, "driver": driver_version(), **versions, "rows": []}
    output = options.output or results_file("hopper_words" if options.words else "hopper", card)
    if options.words:
        report["rows"] = long_words(options.words, "cuda")
        output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        return

    def timed(run: Callable[[], Any]) -> list[float]:
        graph = captured(run)
        assert graph is not None
        return milliseconds(graph)

    for name in options.shapes.split(","):
        for gate in GATES:
            for row in measure(name, gate, "cuda", timed):
                report["rows"].append(row)
                print(json.dumps(row), flush=True)
            output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
