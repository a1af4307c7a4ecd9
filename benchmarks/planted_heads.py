"""Heads of S_3 and S_5 planted into a byte model, and what training on text makes of them.

    python -m mirrormata.benchmarks.planted_heads SPEC FOLDER OUTPUT.json [TEXT]

The arms are trained at the same time, each in a process of its own.

A byte model is trained on the text (a file, a folder, or `package:FILE`; by default Python's standard library). The construction of SPEC is planted into it, and training goes on
in four arms, five seeds each: `random` (new heads, tokens and classes with random weights, a tenth of the words exercise the automaton),
`planted` (text alone), `planted, exercised` (a tenth), and `planted, read-out frozen` (text alone). At the start and every few steps the
models are kept, and of each: bits per byte of text; words of letters and questions up to sixteen times the training length; and what `prove`
says of the planted head, with the numbers of float32. An arm whose folder is there goes on where it stopped.

    python -m mirrormata.benchmarks.planted_heads --prove OUTPUT.json

A proof needs no GPU, and its certificate's check can take a minute. The heads are written into a folder `OUTPUT-heads` beside the results,
where `mirrormata prove` takes them too; this proves those of which the results have no verdict yet, one a processor core.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch

from mirrormata import construct, prove, train
from mirrormata.benchmarks.machine import driver_version, installed
from mirrormata.foundation._workers import worker_processes
from mirrormata.models import TaskSettings, evaluate, load_model, plant_heads, read_planted_head
from mirrormata.models._model import Model
from mirrormata.models.tasks._asked_in_text import PACKAGE, AskedInText
from mirrormata.models.training._experiment import experiment_from_dict

ARMS: dict[str, dict[str, Any]] = {
    "random": {"start": {"blank": True}, "task": {"share": 0.1}},
    "planted": {"task": {"share": 0.0}},
    "planted, exercised": {"task": {"share": 0.1}},
    "planted, read-out frozen": {"start": {"frozen": ["read_out"]}, "task": {"share": 0.0}},
}
SIZES: dict[str, Any] = {
    "model": {"width": 384, "layers": 6, "heads": 6, "head_dim": 64, "value_dim": 64, "mlp": 2.0},
    "train": {
        "steps": 3000, "batch": 16, "lengths": [512, 512], "lr": 1e-3, "precision": "bf16", "keep_every": 250, "warmup": 0.05, "clip": 1.0,
        "weight_decay": 0.01, "seeds": [0, 1, 2, 3, 4],
    },
    "device": "cuda",
    "words": 64,
    "length": 8192,
}  # fmt: skip
"""About 10 million parameters with two factors."""


def run(
    spec: str,
    folder: Path,
    output: Path,
    text: str = "",
    sizes: Mapping[str, Any] = SIZES,
    processes: int = len(ARMS),
) -> dict[str, Any]:
    """Train the host and all arms, look at every kept model, and write the results and the planted heads after each arm.

    Args:
        spec: the SPEC of a group's automaton.
        folder: for the trainings and the construction; made if it is not there.
        output: the JSON file.
        text: a file or folder of text, or `package:` and a file; empty for the standard library.
        sizes: as `SIZES`.
        processes: how many arms are trained at the same time; 1 for one after the other in this process.

    Returns:
        The results as plain values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    construction = construct(spec, exactness="integer")
    certificate = folder / "construction.json"
    construction.save(certificate)
    factors = construction.figures.householders
    train_settings = {**sizes["train"], "device": sizes["device"]}
    model = {**sizes["model"], "householders": factors, "key_activation": "none"}
    high = train_settings["lengths"][1]
    tests = {"lengths": [high], "words": 4}
    host_settings = {
        "task": {"spec": text if text.startswith(PACKAGE) else f"text:{text}" if text else "text"}, "model": model, "eval": tests,
        "train": {**train_settings, "seeds": train_settings["seeds"][:1], "keep_every": 0},
    }  # fmt: skip
    train(experiment_from_dict(host_settings, "host"), folder / "host")
    host_path = folder / "host" / f"seed-{train_settings['seeds'][0]}"
    host = load_model(host_path)[0]
    planted = plant_heads(host, construction)
    results: dict[str, Any] = {
        "spec": spec, "parameters": host.parameter_count, "parameters_planted": planted.model.parameter_count, "settings": host_settings,
        "machine": _describe_machine(sizes["device"]), "host": {"bits": _bits(host, _task(spec, text, 0.0), sizes)}, "arms": {},
    }  # fmt: skip
    arms = _Arms(str(host_path), str(certificate), folder, spec, text, sizes, heads_of(output))
    if processes == 1:
        for name in ARMS:
            results["arms"][name] = arms.run(name)
            output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        return results
    with worker_processes(processes) as workers:
        going = {name: workers.submit(arms.run, name) for name in ARMS}
        for name, rows in going.items():
            results["arms"][name] = rows.result()
            output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def prove_heads(output: Path, seconds: float = 20.0, processes: int | None = None) -> dict[str, Any]:
    """Prove every head of the results that has no verdict, and write the verdicts into them as they come.

    Args:
        output: the JSON file that `run` wrote, with its folder of heads.
        seconds: limit of one search; the check of what it found comes after it.
        processes: how many heads at once; None for one a processor core.

    Returns:
        The results as plain values.
    """
    results: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    rows = [row for arm in results["arms"].values() for row in arm if "verdict" not in row]
    with worker_processes(max(1, min(processes or os.cpu_count() or 1, len(rows)))) as workers:
        proofs = [
            workers.submit(_prove_head, heads_of(output) / row["head"], results["spec"], seconds)
            for row in rows
        ]
        for row, proof in zip(rows, proofs, strict=True):
            row.update(proof.result())
            print(row, flush=True)
            output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def heads_of(output: Path) -> Path:
    """The folder of the planted heads, beside the results."""
    return output.with_name(output.stem + "-heads")


def _prove_head(path: Path, spec: str, seconds: float) -> dict[str, Any]:
    proof = prove(path, spec, "per_step:fp32", max_seconds=seconds)
    return {
        "verdict": proof.verdict,
        "right_up_to": None if proof.word is None else len(proof.word) - 1,
        "proof_states": proof.states_explored,
    }


def _describe_machine(device: str) -> dict[str, str | None]:
    on_card = device == "cuda"
    return {
        "card": torch.cuda.get_device_name() if on_card else device,
        "driver": driver_version() if on_card else None,
        "torch": torch.__version__,
        "triton": installed("triton"),
    }


def _task(spec: str, text: str, share: float) -> AskedInText:
    return AskedInText(TaskSettings(spec=f"asked_in_text:{spec}", text=text, share=share))


@dataclass(frozen=True)
class _Arms:
    """What all arms have in common.

    Attributes:
        host: the folder of the trained byte model.
        certificate: that of the construction.
        folder: for the trainings.
        spec: the SPEC of the automaton.
        text: as in `run`.
        sizes: as `SIZES`.
        heads: the folder for planted heads.
    """

    host: str
    certificate: str
    folder: Path
    spec: str
    text: str
    sizes: Mapping[str, Any]
    heads: Path

    def run(self, name: str) -> list[dict[str, Any]]:
        """Train an arm, and look at every kept model, step by step and seed by seed; the planted heads are written."""
        changes, train_settings = ARMS[name], {**self.sizes["train"], "device": self.sizes["device"]}
        place = self.folder / name.replace(", ", "-").replace(" ", "-")
        settings = {
            "task": {"spec": f"asked_in_text:{self.spec}", "text": self.text, **changes["task"]},
            "train": train_settings,
            "eval": {"lengths": [train_settings["lengths"][1]], "words": 4},
            "start": {"path": self.host, "plant": self.certificate, **changes.get("start", {})},
        }
        train(experiment_from_dict(settings, name), place)
        planted = plant_heads(load_model(Path(self.host))[0], construct(self.spec, exactness="integer"))
        self.heads.mkdir(exist_ok=True)
        task = _task(self.spec, self.text, 0.0)
        last = train_settings["steps"]
        steps = [*sorted(int(path.name) for path in (place / "steps").glob("*")), last]
        rows = []
        for step, seed in product(steps, train_settings["seeds"]):
            inside = place / "steps" / str(step) if step < last else place
            model = load_model(inside / f"seed-{seed}")[0]
            head = f"{place.name}-step{step}-seed{seed}.npz"
            read_planted_head(model, planted, 0).save(self.heads / head)
            rows.append({"step": step, "seed": seed, "head": head, **_look_at(model, task, self.sizes)})
            print(place.name, rows[-1], flush=True)
        return rows


def _look_at(model: Model, task: AskedInText, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Bits and tracking of one model, in float32."""
    bits = _bits(model, task, sizes)
    tested = evaluate(model.to(sizes["device"]), task, sizes["length"], words=sizes["words"], seed=0)
    lengths = [sizes["length"] >> i for i in range(5) if sizes["length"] >> i]
    return {
        "bits": bits,
        "accuracy": {str(n): tested.accuracy((1, n))[0] for n in sorted(lengths)},
        "exact": {str(n): tested.exact(n)[0] for n in sorted(lengths)},
    }


def _bits(model: Model, task: AskedInText, sizes: Mapping[str, Any]) -> float | None:
    """Bits per byte of the test text at the training length, in float32."""
    length = sizes["train"]["lengths"][1]
    matmul = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        tested = evaluate(model.to(sizes["device"]), task.text_task, length, words=sizes["words"], seed=0)
    finally:
        torch.set_float32_matmul_precision(matmul)
    return tested.bits_per_label((1, length))[0]


if __name__ == "__main__":
    if sys.argv[1] == "--prove":
        prove_heads(Path(sys.argv[2]))
    else:
        run(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), "".join(sys.argv[4:5]))
