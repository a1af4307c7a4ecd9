"""Exported checkpoints run by FLA itself on a GPU, beside our kernels on the same words; prints a table and writes JSON.

    python -m mirrormata.benchmarks.fla_checkpoints results/fla_checkpoints.json [--tasks parity S5] [--seconds 80]

Needs `pip install 'mirrormata[fla]'` and no network. For each task, dtype and mode of FLA (`chunk`, `fused_recurrent`): accuracy
to each length, the first wrong token, and what is known beforehand: `bound`, that all is right at any length (`none`: FLA's
chunk kernels keep parts of a chunk in the dtype, which no bound here covers), or up to about so many tokens, where FLA
norms keys in float32. A part that fails, or has no time left, says so in its row.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirrormata.benchmarks.machine import driver_version, installed
from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.automata._labels import label_text
from mirrormata.models._kinds import from_construction
from mirrormata.models.fla._export import FlaCheckpoint, fla_checkpoint
from mirrormata.models.fla._folder import save_fla

TASKS = ("parity", "S5")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
MODES = ("fused_recurrent", "chunk")
LENGTHS = (64, 256, 1000, 4096, 16384)
WORDS = 16
PACKAGES = ("torch", "triton", "fla-core", "flash-linear-attention", "transformers", "numpy")


def measure(
    tasks: Sequence[str] = TASKS,
    *,
    lengths: Sequence[int] = LENGTHS,
    words: int = WORDS,
    device: str = "cuda",
    seconds: float = 80.0,
    output: Path | None = None,
) -> dict[str, Any]:
    """All runs, with card, driver and versions, written to `output` after each; nothing new begins after `seconds`."""
    began = time.monotonic()
    rows: list[dict[str, Any]] = []
    found = {
        "card": torch.cuda.get_device_name() if device == "cuda" else device,
        "driver": driver_version() if device == "cuda" else None,
        "versions": {name: installed(name) for name in PACKAGES},
        "words": words, "lengths": list(lengths), "runs": rows,
    }  # fmt: skip
    for name in tasks:
        lrnn = construct(name, exactness="integer")
        assert isinstance(lrnn, LRNN)
        checkpoint, automaton = fla_checkpoint(lrnn), lrnn.automaton
        given = np.random.default_rng(0).integers(len(automaton.letters), size=(words, max(lengths)))
        wanted = np.stack([automaton.trace(word) for word in given])
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "checkpoint"
            save_fla(folder, checkpoint)
            for dtype, by in _parts():
                row: dict[str, Any] = {
                    "task": name, "by": by if by == "mirrormata" else f"FLA {by}", "dtype": dtype,
                    "model": checkpoint.config["model_type"], "bound": _bound(checkpoint, by, dtype),
                }  # fmt: skip
                if by == "mirrormata":
                    run = partial(_ours, lrnn, given, dtype, device)
                else:
                    run = partial(_fla, lrnn, checkpoint, folder, given, dtype, by, device)
                row |= _attempt(run, wanted, lengths, seconds - (time.monotonic() - began))
                rows.append(row)
                print(_line(row, lengths), flush=True)
                if output is not None:
                    output.write_text(json.dumps(found, indent=1) + "\n")
    return found


def _parts() -> list[tuple[str, str]]:
    """dtype and what runs; FLA's chunk kernels do not take float32."""
    parts = [(dtype, by) for dtype in DTYPES for by in ("mirrormata", *MODES)]
    return [part for part in parts if part != ("fp32", "chunk")]


def _bound(checkpoint: FlaCheckpoint, by: str, dtype: str) -> int | str:
    if by == "mirrormata":
        return "any length"
    if by == "chunk":
        return "none"
    safe = checkpoint.horizons[dtype]
    if safe is None and checkpoint.config["model_type"] == "gated_deltaproduct":  # norms keys in float32
        safe = checkpoint.horizons["fp32"]
    return "any length" if safe is None else safe


def _attempt(run: Callable[[], Any], wanted: Any, lengths: Sequence[int], left: float) -> dict[str, Any]:
    """Accuracy and first wrong token, or why there is none."""
    if left <= 0:
        return {"error": "not run: no time left"}
    began = time.monotonic()
    try:
        wrong = run() != wanted
    except Exception as error:  # a part may fail in any way; the others still count
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]}
    return {**_summary(wrong, lengths), "seconds": round(time.monotonic() - began, 1)}


def _fla(
    lrnn: LRNN, checkpoint: FlaCheckpoint, folder: Path, words: Any, dtype: str, mode: str, device: str
) -> Any:
    """States `[words, tokens]` that FLA's model answers with, -1 for another token; the time has its compilation in it."""
    import_module("fla.models")  # registers its classes
    automatic = import_module("transformers").AutoModelForCausalLM
    model, report = automatic.from_pretrained(
        folder, dtype=DTYPES[dtype], attn_mode=mode, local_files_only=True, output_loading_info=True
    )
    if report["missing_keys"] or report["unexpected_keys"] or report["mismatched_keys"]:
        raise RuntimeError(f"FLA's class does not fit the checkpoint: {report}")
    task = checkpoint.task
    tokens = np.concatenate([np.full((len(words), 1), task.bos), words], 1)
    with torch.no_grad():
        logits = model.to(device).eval()(torch.from_numpy(tokens).to(device), use_cache=False).logits
        best = logits[:, 1:].argmax(-1).cpu().numpy()
    states = {label_text(q): i for i, q in enumerate(lrnn.automaton.states)}
    numbers = np.array([states[text] for text in task.answers])
    meaning = task.meaning(checkpoint.config["vocab_size"])
    return np.where(meaning < 0, -1, numbers[meaning])[best]


def _ours(lrnn: LRNN, words: Any, dtype: str, device: str) -> Any:
    """States `[words, tokens]` of the constructed model on our kernels."""
    built = from_construction(lrnn)
    model = built.to(device, DTYPES[dtype]).eval()
    with torch.no_grad():
        best = model(torch.from_numpy(words[None]).to(device))[0][0].argmax(-1).cpu().numpy()
    return np.array(built.config.meaning)[best]


def _summary(wrong: Any, lengths: Sequence[int]) -> dict[str, Any]:
    """Accuracy of all tokens to each length, and the earliest wrong one, counted from 1; None for none."""
    found = np.flatnonzero(wrong.any(0))
    return {
        "accuracy": {str(T): 1 - float(wrong[:, :T].mean()) for T in lengths},
        "first_error": int(found[0]) + 1 if len(found) else None,
    }


def _line(row: dict[str, Any], lengths: Sequence[int]) -> str:
    """A row of the table."""
    head = f"{row['task']:8} {row['by']:20} {row['dtype']:5} bound {row['bound']!s:>10}  "
    if "error" in row:
        return f"{head}{row['error']}"
    accuracy = "  ".join(f"{T}: {row['accuracy'][str(T)]:.4%}" for T in lengths)
    first = "none" if row["first_error"] is None else f"token {row['first_error']:,}"
    return f"{head}{accuracy}  first error {first}  {row['seconds']} s"


def main(arguments: Sequence[str]) -> None:
    """The command of the module's text."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--seconds", type=float, default=80.0)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    warnings.filterwarnings("ignore", message="ShortConvolution is crucial")
    measure(given.tasks, seconds=given.seconds, device=given.device, output=given.output)


if __name__ == "__main__":
    main(sys.argv[1:])
