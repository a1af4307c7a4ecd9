"""Exported checkpoints run by FLA itself on a GPU, beside our kernels on the same words; writes JSON.

    python -m mirrormata.benchmarks.fla_checkpoints results/fla_checkpoints.json

Needs `pip install 'mirrormata[fla]'`. For each task, dtype and mode of FLA (`chunk`, `fused_recurrent`): accuracy at each
length, the first wrong token, and the horizon that the export states (none in bf16 and fp16, where keys are exact and so is
a state in float32; FLA's chunk mode keeps parts of a chunk in the dtype, which no bound here covers).
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirrormata.constructions.construct import construct
from mirrormata.constructions.formats.label_text import label_text
from mirrormata.constructions.lrnn import LRNN
from mirrormata.models.constructed import from_construction
from mirrormata.models.fla_export import FlaCheckpoint, fla_checkpoint
from mirrormata.models.fla_folder import save_fla

TASKS = ("parity", "S3", "S5[transpositions]", "S5")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
LENGTHS = (64, 256, 1000, 4096, 16384)
WORDS = 16


def measure() -> dict[str, Any]:
    """All runs, with the device and versions."""
    fla, triton = import_module("fla"), import_module("triton")
    rows = []
    for name in TASKS:
        lrnn = construct(name, exactness="integer")
        checkpoint = fla_checkpoint(lrnn)
        automaton = lrnn.automaton
        words = np.random.default_rng(0).integers(len(automaton.letters), size=(WORDS, max(LENGTHS)))
        wanted = np.stack([automaton.trace(word) for word in words])
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "checkpoint"
            save_fla(folder, checkpoint)
            for dtype in DTYPES:
                horizon = checkpoint.horizon_fp32 if dtype == "fp32" else None
                for mode in ("chunk", "fused_recurrent"):
                    if mode == "chunk" and dtype == "fp32":
                        continue  # FLA's chunk mode does not take float32
                    wrong = _fla(lrnn, checkpoint, folder, words, dtype, mode) != wanted
                    rows.append(
                        {
                            "task": name,
                            "by": f"FLA {mode}",
                            "dtype": dtype,
                            "horizon": horizon,
                            **_summary(wrong),
                        }
                    )
                wrong = _ours(lrnn, words, dtype) != wanted
                rows.append(
                    {"task": name, "by": "mirrormata", "dtype": dtype, "horizon": None, **_summary(wrong)}
                )
                print(*rows[-3:], sep="\n", flush=True)
    return {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__,
        "fla": fla.__version__, "words": WORDS, "runs": rows,
    }  # fmt: skip


def _fla(lrnn: LRNN, checkpoint: FlaCheckpoint, folder: Path, words: Any, dtype: str, mode: str) -> Any:
    """States `[words, tokens]` that FLA's model answers with, -1 for another token."""
    import_module("fla.models")  # registers its classes
    model = (
        import_module("transformers")
        .AutoModelForCausalLM.from_pretrained(folder, dtype=DTYPES[dtype], attn_mode=mode)
        .cuda()
        .eval()
    )
    task = checkpoint.task
    tokens = np.concatenate([np.full((len(words), 1), task["bos"]), words], 1)
    with torch.no_grad():
        best = [
            model(torch.from_numpy(row[None]).cuda(), use_cache=False).logits[0, 1:].argmax(-1).cpu()
            for row in tokens
        ]
    states = [label_text(q) for q in lrnn.automaton.states]
    meaning = np.array([-1] * task["first_class"] + [states.index(q) for q in task["states"]])
    return meaning[torch.stack(best).numpy()]


def _ours(lrnn: LRNN, words: Any, dtype: str) -> Any:
    """States `[words, tokens]` of the constructed model on our kernels."""
    built = from_construction(lrnn)
    model = built.to("cuda", DTYPES[dtype]).eval()
    with torch.no_grad():
        best = [model(torch.from_numpy(row[None, None]).cuda())[0][0, 0].argmax(-1).cpu() for row in words]
    return np.array(built.config.meaning)[torch.stack(best).numpy()]


def _summary(wrong: Any) -> dict[str, Any]:
    """Accuracy of all tokens to each length, and the earliest wrong one, counted from 1; None for none."""
    found = np.flatnonzero(wrong.any(0))
    return {
        "accuracy": {str(T): 1 - float(wrong[:, :T].mean()) for T in LENGTHS},
        "first_error": int(found[0]) + 1 if len(found) else None,
    }


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="ShortConvolution is crucial")
    Path(sys.argv[1]).write_text(json.dumps(measure(), indent=1) + "\n")
