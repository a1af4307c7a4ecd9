"""A model trained by FLA's own classes, read as a model of ours: the same checkpoint by FLA's kernels and by ours; writes JSON.

    python -m mirrormata.benchmarks.fla_models results/fla_models.json [--type delta_net] [--spec parity] [--steps 1000]

Needs `pip install 'mirrormata[fla]'` and no network. FLA trains in float32 weights with autocast to bfloat16, as its kernels need
it; words have no BOS, and each letter is answered with the token of the state. Of the checkpoint, all weights rounded to bfloat16
once: by how much the stream after each layer, and the logits, differ between FLA's kernels, ours, and ours in float64; and the
accuracy of FLA and of ours by length.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from mirrormata.benchmarks.machine import driver_version, hide_root, installed
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._labels import label_text
from mirrormata.foundation._files import write_text
from mirrormata.models._model import Model
from mirrormata.models.fla._conversion import import_model
from mirrormata.models.fla._task import FlaTask

CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "delta_net": ("DeltaNet", {"allow_neg_eigval": True, "use_short_conv": False}),
    "gated_deltaproduct": ("GatedDeltaProduct", {"allow_neg_eigval": True, "use_short_conv": False, "num_householder": 2, "use_output_gate": False, "expand_v": 1.0}),
    "gated_deltanet": ("GatedDeltaNet", {"allow_neg_eigval": True, "use_short_conv": False, "expand_v": 1.0}),
    "kda": ("KDA", {"allow_neg_eigval": True, "use_short_conv": False}),
    "gla": ("GLA", {"expand_k": 1.0}),
}  # fmt: skip
"""FLA's classes by model type, and the options with which they are trained."""
PACKAGES = ("torch", "triton", "fla-core", "flash-linear-attention", "transformers", "numpy")
DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


def measure(
    kind: str = "delta_net",
    spec: str = "parity",
    *,
    steps: int = 1000,
    batch: int = 256,
    train_length: int = 40,
    lengths: Sequence[int] = (40, 64, 128, 256),
    words: int = 256,
    width: int = 128,
    layers: int = 2,
    heads: int = 4,
    dtype: str = "bf16",
    device: str = "cuda",
) -> dict[str, Any]:
    """Train, read and compare; all figures, with card, driver and versions."""
    automaton = automaton_from_spec(spec)
    began = time.monotonic()
    theirs = _trained(kind, automaton, steps, batch, train_length, width, layers, heads, device)
    seconds = time.monotonic() - began
    task = _task(automaton, spec)
    with tempfile.TemporaryDirectory() as place:
        checkpoint = Path(place) / "fla"
        theirs.save_pretrained(checkpoint)
        write_text(checkpoint / "task.json", json.dumps(task.as_json()) + "\n")
        ours, _ = import_model(checkpoint, Path(place) / "model")
    given = np.random.default_rng(1).integers(len(automaton.letters), size=(words, max(lengths)))
    tokens = torch.from_numpy(given).to(device)
    wanted = np.stack([automaton.trace(word) for word in given])
    theirs, ours = theirs.to(DTYPES[dtype]).eval(), ours.to(device, DTYPES[dtype]).eval()
    exact = ours.select(0).double()
    with torch.no_grad():
        fla, mine, wide = _their_stream(theirs, tokens), _our_stream(ours, tokens), _our_stream(exact, tokens)
    rows = [
        {
            "after": f"layer {i + 1}" if i < layers else "logits",
            "largest": float(c.abs().max()),
            "FLA and ours": _apart(a, b),
            "FLA and float64": _apart(a, c),
            "ours and float64": _apart(b, c),
        }
        for i, (a, b, c) in enumerate(zip(fla, mine, wide, strict=True))
    ]
    first = len(automaton.letters)
    right = {
        "FLA": (fla[-1].argmax(-1).cpu().numpy() == first + wanted),
        "ours": (mine[-1].argmax(-1).cpu().numpy() == first + wanted),
    }
    return {
        "card": torch.cuda.get_device_name() if device == "cuda" else device,
        "driver": driver_version() if device == "cuda" else None,
        "versions": {name: installed(name) for name in PACKAGES},
        "model_type": kind, "family": ours.config.family, "spec": spec, "steps": steps, "batch": batch,
        "train_length": train_length, "words": words, "dtype": dtype, "seconds_of_training": round(seconds, 1),
        "differences": rows,
        "accuracy": {by: {str(T): float(found[:, :T].mean()) for T in lengths} for by, found in right.items()},
        "same_answers": float((fla[-1].argmax(-1) == mine[-1].argmax(-1)).float().mean()),
    }  # fmt: skip


def _task(automaton: Automaton, spec: str) -> FlaTask:
    """Letters are the first tokens, states the next ones."""
    first = len(automaton.letters)
    return FlaTask(
        {label_text(x): i for i, x in enumerate(automaton.letters)},
        {label_text(q): first + i for i, q in enumerate(automaton.states)},
        None,
        {"spec": spec},
    )


def _trained(
    kind: str,
    automaton: Automaton,
    steps: int,
    batch: int,
    length: int,
    width: int,
    layers: int,
    heads: int,
    device: str,
) -> Any:
    """FLA's own model after so many steps of AdamW on random words."""
    name, options = CLASSES[kind]
    sizes: dict[str, Any] = {"num_heads": heads}
    if kind not in ("delta_net", "gla"):
        sizes["head_dim"] = width // heads
    models = import_module("fla.models")
    torch.manual_seed(0)
    first = len(automaton.letters)
    config = getattr(models, f"{name}Config")(
        hidden_size=width, num_hidden_layers=layers, vocab_size=first + len(automaton.states), bos_token_id=None,
        eos_token_id=None, **sizes, **options,
    )  # fmt: skip
    model = getattr(models, f"{name}ForCausalLM")(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    draw = np.random.default_rng(0)
    for _ in range(steps):
        given = draw.integers(first, size=(batch, length))
        wanted = torch.from_numpy(np.stack([automaton.trace(word) for word in given]) + first).to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits = model(torch.from_numpy(given).to(device), use_cache=False).logits
        loss = F.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def _their_stream(model: Any, tokens: Tensor) -> list[Tensor]:
    """The stream after each layer, then the logits, by FLA."""
    seen: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda _, __, out: seen.append(out[0])) for block in model.model.layers
    ]
    logits = model(tokens, use_cache=False).logits
    for handle in handles:
        handle.remove()
    return [*(x.double() for x in seen), logits.double()]


def _our_stream(model: Model, tokens: Tensor) -> list[Tensor]:
    """The stream after each layer, then the logits, by our kernels."""
    seen: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda _, __, out: seen.append(out[0][0])) for block in model.blocks
    ]
    logits = model(tokens[None])[0][0]
    for handle in handles:
        handle.remove()
    return [*(x.double() for x in seen), logits.double()]


def _apart(a: Tensor, b: Tensor) -> dict[str, float]:
    """The largest difference, and the root mean square of all over that of b."""
    return {
        "largest": float((a - b).abs().max()),
        "relative": float((a - b).square().mean().sqrt() / b.square().mean().sqrt()),
    }


def main(arguments: Sequence[str]) -> None:
    """The command of the module's text."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--type", default="delta_net", choices=list(CLASSES))
    parser.add_argument("--spec", default="parity")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    hide_root()
    warnings.filterwarnings("ignore", message="ShortConvolution is crucial")
    found = measure(given.type, given.spec, steps=given.steps, device=given.device)
    given.output.write_text(json.dumps(found, indent=1) + "\n")
    for row in found["differences"]:
        print(f"{row['after']:10} of {row['largest']:.3g}: FLA and ours {row['FLA and ours']}")
    print(found["accuracy"], "same answers", found["same_answers"])


if __name__ == "__main__":
    main(sys.argv[1:])
