"""Chains of sets on the kernels of a GPU: words through `ChainModel` in float32 and bfloat16, and how many states are wrong.

python -m mirrormata.benchmarks.chain_models
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import numpy as np
import torch

from mirrormata import construct, random_words
from mirrormata.benchmarks.machine import driver_version, installed, results_file
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.models import ChainModel

CASES = [
    ("T4", "own.chain", 64, 2_000),
    ("tomita:4", "own.window", 64, 2_000),
    ("random:states=20,letters=4,seed=1", "own.lookback", 64, 2_000),
    ("random:states=12,letters=2,seed=1", "own.chain", 64, 2_000),
    ("random:states=20,letters=4,seed=1", "own.window", 64, 2_000),
    ("random:states=50,letters=4,seed=1", "own.window", 16, 2_000),
    ("random:states=100,letters=4,seed=1", "own.window", 8, 1_000),
]
"""SPEC, theorem, words, letters of each."""


def measure(form: ChainRNN, words: int, length: int, dtype: torch.dtype, mode: str) -> dict[str, Any]:
    """Random words with seed 0; the time is of the second call, the first one compiles."""
    letters = np.asarray(random_words(form.automaton, words, length, 0), dtype=np.int64)
    right = form.automaton.trace(letters)
    model = ChainModel(form, dtype=dtype, mode=mode).to("cuda")
    x = torch.from_numpy(letters).to("cuda")
    model(x)
    torch.cuda.synchronize()
    begun = perf_counter()
    named, _ = model(x)
    torch.cuda.synchronize()
    seconds = perf_counter() - begun
    return {
        "spec": form.automaton.name, "theorem": form.theorem, "layers": form.depth, "dim": form.dim,
        "tokens": words * length, "dtype": str(dtype).removeprefix("torch."), "mode": mode,
        "errors": int((named.cpu().numpy() != right).sum()), "seconds": round(seconds, 3),
    }  # fmt: skip


def main() -> int:
    """Measure all cases and write the results of this card."""
    if not torch.cuda.is_available():
        print("chain_models: a GPU is needed", file=sys.stderr)
        return 2
    rows = []
    for spec, theorem, words, length in CASES:
        form = construct(spec, theorem=theorem)
        assert isinstance(form, ChainRNN)
        for dtype in (torch.float32, torch.bfloat16):
            for mode in ("recurrent", "chunk"):
                rows.append(measure(form, words, length, dtype, mode))
                print(rows[-1], flush=True)
    card = torch.cuda.get_device_name()
    document = {
        "format": "mirrormata-chain-models/1", "card": card, "driver": driver_version(),
        "versions": {name: installed(name) for name in ("torch", "triton")}, "rows": rows,
    }  # fmt: skip
    results_file("chain_models", card).write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
