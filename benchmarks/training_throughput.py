"""Training in tokens a second: our model against the same model with flash-linear-attention's layers as its mixers.

    python -m mirrormata.benchmarks.training_throughput [--sizes word_problem,...] [--no-peer] [--output FILE]

Both start from the same weights and see the same batches with the same optimizer, clipping and autocast, by turns; a figure
is the median over rounds, with the slowest and the fastest. Before that their losses on the first batch are compared.
`ours` replays recorded steps, as `train` does; `not recorded` launches each kernel, as FLA's must be. `8 seeds` is ours with the same words divided among eight models, as `train` runs them. Without FLA only ours is measured.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mirrormata.benchmarks.kernel_peer import peer_version
from mirrormata.benchmarks.machine import driver_version, installed
from mirrormata.benchmarks.training_peer import peer_model
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models.training._optimizing import adamw, clip_by_seed, gradient_norms
from mirrormata.models.training._processes import device_of
from mirrormata.models.training._step_graphs import StepGraphs

Row = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """Shape of a model and its batches; `words` of `length` tokens a step; letters are also the classes."""

    width: int
    layers: int
    heads: int
    head_dim: int
    householders: int
    words: int
    length: int
    letters: int = 120
    seeds: int = 8

    def config(self) -> ModelConfig:
        """DeltaProduct with eigenvalues in [-1, 1], without convolution, gates or biases, which both have."""
        return ModelConfig(
            letters=self.letters, classes=self.letters, width=self.width, layers=self.layers, heads=self.heads,
            head_dim=self.head_dim, value_dim=self.head_dim, householders=self.householders,
        )  # fmt: skip


SIZES = {
    "word_problem": Size(128, 1, 12, 32, 2, 2048, 128),
    "word_problem_1": Size(128, 1, 12, 32, 1, 2048, 128),
    "word_problem_4": Size(128, 1, 12, 32, 4, 2048, 128),
    "language": Size(1024, 4, 8, 128, 2, 8, 4096, 256, 1),
}


class Training:
    """A model, its optimizer, and one step after another on batches that lie on the device; `graphs`: recorded, as `train` does."""

    def __init__(
        self, model: Model, batches: Sequence[tuple[Tensor, Tensor]], autocast: bool, *, graphs: bool = False
    ) -> None:
        self.model, self.autocast = model, autocast
        seeds = len(model.seeds)
        self.batches = [tuple(x.view(seeds, -1, x.shape[-1]) for x in batch) for batch in batches]
        device = batches[0][0].device
        self.optimizer = adamw(model, 1e-3, (0.9, 0.95), 0.1, capturable=graphs)
        self.graphs = StepGraphs(self.update, device) if graphs else None
        self.done = 0

    def losses(self, letters: Tensor, labels: Tensor) -> Tensor:
        """Means of a batch, of each seed, `[seeds]`."""
        with torch.autocast(letters.device.type, torch.bfloat16, enabled=self.autocast):
            logits, _ = self.model(letters)
        by_token = F.cross_entropy(logits.float().flatten(0, 2), labels.flatten(), reduction="none")
        return by_token.view(len(self.model.seeds), -1).mean(1)

    def loss(self) -> float:
        """Mean over the first batch."""
        with torch.no_grad():
            return float(self.losses(*self.batches[0]).mean())

    def update(self, letters: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        """One step on a batch."""
        self.optimizer.zero_grad(set_to_none=True)
        self.losses(letters, labels).sum().backward()  # type: ignore[no-untyped-call]
        seeds = len(self.model.seeds)
        if seeds == 1:
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        else:
            clip_by_seed(self.model, gradient_norms(self.model, seeds), 1.0)
        self.optimizer.step()
        return ()

    def seconds(self, steps: int) -> float:
        """Of one step, over so many, the device waited for."""
        device = self.batches[0][0].device
        with nullcontext() if self.graphs is None else self.graphs.stream():
            wait(device)
            began = time.perf_counter()
            for _ in range(steps):
                (self.graphs or self.update)(*self.batches[self.done % len(self.batches)])
                self.done += 1
            wait(device)
        return (time.perf_counter() - began) / steps


def wait(device: torch.device) -> None:
    """Until the device has done all it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def measured(
    size: Size, device: torch.device, *, peer: bool, rounds: int, steps: int, warm: int = 10
) -> list[Row]:
    """A row for each model; the first loss of ours and the peer's must agree, or the peer's row says that they do not."""
    made = torch.Generator().manual_seed(0)
    shape = (8, size.words, size.length + 1)
    words = torch.randint(size.letters, shape, generator=made).to(device)
    batches = [(x[:, :-1].contiguous(), x[:, 1:].contiguous()) for x in words]
    torch.set_float32_matmul_precision("high")  # for the read-out of all models
    autocast = device.type == "cuda"
    graphs = device.type == "cuda"
    ours = Model(size.config()).to(device)
    trainings = {"ours": Training(deepcopy(ours), batches, autocast, graphs=graphs)}
    if graphs:
        trainings["ours, not recorded"] = Training(deepcopy(ours), batches, autocast)
    if peer:
        trainings["FLA"] = Training(peer_model(ours, device), batches, autocast)
    if size.seeds > 1:
        many = Model(size.config(), range(size.seeds)).to(device)
        trainings[f"ours, {size.seeds} seeds"] = Training(many, batches, autocast, graphs=graphs)
    first = {name: training.loss() for name, training in trainings.items()}
    for training in trainings.values():
        training.seconds(warm)
    times: dict[str, list[float]] = {name: [] for name in trainings}
    for _ in range(rounds):
        for name, training in trainings.items():
            times[name].append(training.seconds(steps))
    tokens = size.words * size.length
    rows: list[Row] = []
    for name, training in trainings.items():
        last = training.loss()
        rows.append(
            {
                "model": name,
                "tokens_per_second": [round(tokens / x) for x in (median(times[name]), max(times[name]), min(times[name]))],
                "milliseconds_a_step": round(1e3 * median(times[name]), 3),
                "against_peer": median(times["FLA"]) / median(times[name]) if peer else None,
                "first_loss": first[name],
                "last_loss": last,
            }
        )  # fmt: skip
    if peer and abs(first["ours"] - first["FLA"]) > 1e-2:
        next(row for row in rows if row["model"] == "FLA")["different"] = (
            "its first loss is not ours: the models are not the same"
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a line for each model, write the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default=",".join(SIZES), help="some of " + ", ".join(SIZES))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20, help="in a round")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    names = options.sizes.split(",")
    if unknown := [name for name in names if name not in SIZES]:
        parser.error(f"--sizes: {unknown[0]!r} is none of {', '.join(SIZES)}")
    device = device_of(options.device)
    version = None if options.no_peer else peer_version()
    peer = version is not None and device.type == "cuda"
    if not peer and not options.no_peer:
        why = "is not installed" if version is None else "has no kernels for this device"
        print(f"flash-linear-attention {why}: only ours is measured", file=sys.stderr)
    document: Row = {
        "card": torch.cuda.get_device_name() if device.type == "cuda" else platform.machine(),
        "driver": driver_version() if device.type == "cuda" else None,
        "torch": torch.__version__,
        "triton": installed("triton"),
        "fla": version if peer else None,
        "precision": "bf16 autocast" if device.type == "cuda" else "fp32",
        "tokens_per_second": "median, slowest, fastest round",
        "rounds": options.rounds,
        "steps_a_round": options.steps,
        "sizes": {},
    }
    for name in names:
        rows = measured(SIZES[name], device, peer=peer, rounds=options.rounds, steps=options.steps)
        document["sizes"][name] = {**asdict(SIZES[name]), "rows": rows}
        for row in rows:
            against = "" if row["against_peer"] is None else f", {row['against_peer']:.2f} × FLA"
            mid, low, high = row["tokens_per_second"]
            print(f"{name:16} {row['model']:14} {mid:>12,} tokens/s ({low:,}-{high:,}){against}", flush=True)
        if options.output is not None:  # after each size, so that a stop loses none
            options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
