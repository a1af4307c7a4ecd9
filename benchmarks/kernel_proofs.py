"""Proofs in which every step is the recurrent kernel: integer constructions on a GPU, and own.R4 replayed there.

    python -m mirrormata.benchmarks.kernel_proofs [--device cuda] [--output FILE]

Each model is searched breadth first in `kernel:recurrent:DTYPE` (`theory/proofs/_kernel_step.py`), states and letters one by
one, twice: the first time kernels are compiled. Besides: whole words in one call of the kernel against one call a
token; and own.R4, whose order of operations the kernel may have or not.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirrormata.benchmarks.machine import driver_version
from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions.algebra._householder import GHFactor
from mirrormata.theory.arithmetic._arithmetic import Kernel, PerOp, parse_arithmetic
from mirrormata.theory.arithmetic._rounding import Floats
from mirrormata.theory.claims._counters import delta_operations
from mirrormata.theory.proofs._kernel_step import KernelHead
from mirrormata.theory.proofs._prove import prove

INTEGER = {
    "S5": "one layer",
    "A5": "one layer",
    "mod:60": "one layer, three heads",
    "tomita:4": "cascade of three layers",
    "T3": "cascade of two layers",
    "mod_arith:5": "cascade of three layers",
    "S8[transpositions]": "one layer, for the speed",
}
SEARCHED = (
    ("mod:60 by rotations", "bf16"),
    ("mod:60 by rotations", "fp16"),
    ("S8[transpositions]", "bf16"),
)
"""Only these dtypes of the models that have many states."""
DTYPES = ("fp32", "bf16", "fp16")
RANDOM_LAYERS, SETTLING, LONGEST = 4096, 512, 64


def proof_row(spec: str, lrnn: LRNN, arithmetic: str) -> dict[str, Any]:
    """Both proofs: all states by the kernel, and every head's codes by the kernel with the joint codes by tables."""
    runs = [prove(lrnn, lrnn.automaton, arithmetic, method="states", max_states=200_000) for _ in range(2)]
    codes = prove(lrnn, lrnn.automaton, arithmetic, max_states=200_000)
    found, letters = runs[1], len(lrnn.automaton.letters)
    return {
        "model": spec,
        "construction": lrnn.construction,
        "arithmetic": found.arithmetic,
        "verdict": found.verdict,
        "states_explored": found.states_explored,
        "letters": letters,
        "steps": found.states_explored * letters if found.verdict == "equivalent" else None,
        "word_length": None if found.word is None else len(found.word),
        "answered": found.answered,
        "right": found.right,
        "seconds_first": round(runs[0].seconds, 3),
        "seconds": round(found.seconds, 3),
        "steps_per_second": round(found.states_explored * letters / found.seconds)
        if found.verdict == "equivalent"
        else None,
        "by_codes": {"verdict": codes.verdict, "method": codes.method, "seconds": round(codes.seconds, 3)},
    }


def whole_words(lrnn: LRNN, kernel: Kernel, tokens: int = 1000) -> dict[str, Any]:
    """64 random words in one call of the kernel, and in one call a token: are the last states equal, bit for bit?"""
    head = lrnn.all_heads[0]
    engine = KernelHead(head, kernel)
    words = np.random.default_rng(5).integers(0, len(head.transitions), (64, tokens))
    start = engine.initial(int(lrnn.decode[0, 1]), 64)
    H = start
    for t in range(tokens):
        H = engine.step(H, words[:, t])
    return {
        "construction": lrnn.construction,
        "arithmetic": kernel.name,
        "words": 64,
        "tokens": tokens,
        "bit_equal": bool(np.array_equal(engine.run(start, words), H)),
    }


def counting_head(keys: Floats, values: Floats) -> Head:
    """One DeltaNet transition a row: β = 1, the key `[rows, n]`, the value `[rows]`; H_0 = 0."""
    transitions = []
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        k = [Fraction(x) for x in key]
        factor = GHFactor(1, tuple((i, x) for i, x in enumerate(k) if x))
        additive = tuple((i, 0, x * Fraction(value)) for i, x in enumerate(k) if x)
        transitions.append(Transition((factor,), additive=additive))
    return Head(keys.shape[1], 1, tuple(transitions), ((),), np.zeros((len(keys), 1), dtype=np.int64))


def periods(engine: KernelHead) -> tuple[Floats, list[int]]:
    """States after 1^512 and the periods there, 0 for one over 64; one call of the kernel, then one a token."""
    rows = len(engine.head.transitions)
    x = np.arange(rows)
    H = engine.run(engine.initial(0, rows), np.repeat(x[:, None], SETTLING, axis=1))
    start, found = H, np.zeros(rows, dtype=np.int64)
    for p in range(1, LONGEST + 1):
        H = engine.step(H, x)
        found[(found == 0) & (start == H).all(axis=(1, 2))] = p
    return start.astype(np.float64), found.tolist()


def own_r4_witness(dtype: str, device: str) -> dict[str, Any]:
    """The bf16 witness of own.R4 on the kernel: its first states, and its period there.

    The kernel rounds weights to bf16, but no operation: its states are float32. So this order of operations is not its own.
    """
    witness = delta_operations(2)
    stepper: Any = witness.stepper
    engine = KernelHead(counting_head(stepper.key, stepper.value[0]), Kernel("recurrent", dtype, device))
    H, states = engine.initial(0, 1), []
    for _ in range(4):
        states.append([str(Fraction(x)) for x in H.ravel().tolist()])
        H = engine.step(H, np.zeros(1, dtype=np.int64))
    expected = [[str(x) for x in point] for point in witness.states]
    return {
        "arithmetic": f"kernel:recurrent:{dtype}:{device}",
        "states": states,
        "states_per_op_bf16": expected,
        "same_states": states == expected,
        "period": periods(engine)[1][0],
        "period_per_op_bf16": witness.period,
    }


def own_r4_rates(n: int, device: str) -> dict[str, Any]:
    """Random fp32 DeltaNet layers, β = 1, ‖k‖ in [.8, .999]: how many count on the kernel, and in which `per_op` order."""
    rng = np.random.default_rng(40 + n)
    direction = rng.standard_normal((RANDOM_LAYERS, n))
    length = rng.uniform(0.8, 0.999, (RANDOM_LAYERS, 1))
    unit = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    keys: Floats = (unit * length).astype(np.float32).astype(np.float64)
    values: Floats = rng.uniform(-32, 32, RANDOM_LAYERS).astype(np.float32).astype(np.float64)
    head = counting_head(keys, values)
    engine = KernelHead(head, Kernel("recurrent", "fp32", device))
    state, found = periods(engine)
    reference = state if device == "cpu" else periods(KernelHead(head, Kernel("recurrent", "fp32")))[0]
    row: dict[str, Any] = {
        "arithmetic": f"kernel:recurrent:fp32:{device}",
        "key_dimension": n,
        "layers": RANDOM_LAYERS,
        "periods": {str(p): found.count(p) for p in sorted(set(found))},
        "same_states_as_on_the_cpu": int((reference == state).all(axis=(1, 2)).sum()),
    }
    for order in ("left", "fma"):
        arithmetic = parse_arithmetic(f"per_op:fp32:{order}")
        assert isinstance(arithmetic, PerOp)
        h = np.zeros((RANDOM_LAYERS, n, 1))
        for _ in range(SETTLING):
            h = arithmetic.delta_rule(h, keys, np.ones(RANDOM_LAYERS), values[:, None])
        row[f"same_states_as_per_op_{order}"] = int((h == state).all(axis=(1, 2)).sum())
    at = found.index(2)
    other = engine.step(state.astype(np.float32), np.arange(RANDOM_LAYERS))
    row["witness"] = {
        "key": [str(Fraction(x)) for x in keys[at].tolist()],
        "value": str(Fraction(values[at].item())),
        "cycle": [[str(Fraction(x)) for x in h[at].ravel().tolist()] for h in (state, other)],
    }
    return row


def about(device: str) -> dict[str, Any]:
    """Card, driver and versions."""
    facts: dict[str, Any] = {
        "device": device,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": version("triton"),
    }
    if device == "cuda":
        facts |= {
            "card": torch.cuda.get_device_name(),
            "driver": driver_version(),
            "cuda": torch.version.cuda,
        }
    return facts


def main() -> None:
    """Run, print a table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    device, began = options.device, time.monotonic()
    document: dict[str, Any] = {**about(device), "proofs": []}

    def write() -> None:
        if options.output:
            options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

    models = {spec: construct(spec, exactness="integer") for spec in INTEGER}
    models["mod:60 by rotations"] = construct("mod:60")
    for spec, lrnn in models.items():
        for dtype in DTYPES:
            if (spec, dtype) not in SEARCHED and spec in dict(SEARCHED):
                continue
            row = proof_row(spec, lrnn, f"kernel:recurrent:{dtype}:{device}")
            document["proofs"].append(row)
            print(
                f"{spec:20} {dtype} {row['verdict']:14} {row['states_explored']:>7,} states  "
                f"{row['seconds_first']:.2f} s, again {row['seconds']:.2f} s",
                flush=True,
            )
        write()
    document["whole_words"] = [
        whole_words(models[spec], Kernel("recurrent", dtype, device))
        for spec in ("S5", "mod:60 by rotations")
        for dtype in DTYPES
    ]
    write()
    document["own.R4"] = {
        "witness": [own_r4_witness(dtype, device) for dtype in ("bf16", "fp32")],
        "random_layers": [own_r4_rates(n, device) for n in (2, 3)],
    }
    document["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps([document["whole_words"], document["own.R4"]], indent=1))
    write()


if __name__ == "__main__":
    main()
