"""Can a DeltaNet layer with eigenvalues in [0, 1] be trained to count modulo 2 by its rounding errors (own.R4)?

    python -m mirrormata.benchmarks.trained_rounding_counter [--seeds 2048] [--steps 2000] [--output FILE]

One head, key dimension 2 or 3, value dimension 1, input 1^k: s = kᵀh, e = β(v - s), h ← h + k e, every operation
rounded to bf16 (straight through: the gradient ignores the rounding). β = σ(z); the key's entries are rounded toward
zero, so that β‖k‖² ≤ 1 for the stored numbers. A linear read-out is trained with it on the parity of k = 1, ..., 40.
The control is trained without any rounding and then run in bf16. Many seeds side by side on the CPU. A layer counts
if its states on 1^k end in a cycle of period 2, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mirrormata.theory.arithmetic._arithmetic import PerOp, parse_arithmetic
from mirrormata.theory.claims._counters import DeltaStepper
from mirrormata.theory.impossibility._orbits import orbit

TRAINED, TESTED = 40, 1000
SETTLING, LONGEST = 4096, 64
RANDOM = 200_000
RATES = (0.02, 0.2)
"""Learning rates of the recurrence and of the read-out, whose weights must grow until they see single ulps."""


@dataclass(frozen=True)
class Layers:
    """`key` `[layers, n]`, `beta`, `value` `[layers]`: values of bf16, held as float32."""

    key: Tensor
    beta: Tensor
    value: Tensor


def bf16(x: Tensor) -> Tensor:
    """Rounded to nearest even, straight through; exact, since float32 has 24 ≥ 2·8 + 2 bits."""
    return x + (x.detach().bfloat16().float() - x.detach())


def toward_zero(x: Tensor) -> Tensor:
    """Rounded to bf16 toward zero, straight through."""
    cut = (x.detach().contiguous().view(torch.int32) & -65536).view(torch.float32)
    return x + (cut - x.detach())


def step(h: Tensor, layers: Layers, rounded: bool) -> Tensor:
    """One token; sums over the key from the left, as in `per_op:bf16`."""
    r = bf16 if rounded else (lambda x: x)
    s = r(layers.key[:, 0] * h[:, 0])
    for i in range(1, h.shape[1]):
        s = r(s + r(layers.key[:, i] * h[:, i]))
    e = r(layers.beta * r(layers.value - s))
    return r(h + r(layers.key * e[:, None]))


class Trainable(torch.nn.Module):
    """Many layers with their read-outs, each from its own random draw."""

    def __init__(self, count: int, n: int, generator: torch.Generator) -> None:
        super().__init__()

        def uniform(*shape: int, low: float, high: float) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.rand(shape, generator=generator) * (high - low) + low)

        self.direction = torch.nn.Parameter(torch.randn(count, n, generator=generator))
        self.length = uniform(count, low=1.4, high=7.0)
        self.z = uniform(count, low=0.0, high=7.0)
        self.value = uniform(count, low=-32.0, high=32.0)
        self.weight = torch.nn.Parameter(torch.randn(count, n, generator=generator))
        self.bias = torch.nn.Parameter(torch.zeros(count))

    def layers(self, rounded: bool) -> Layers:
        """β = σ(z), ‖k‖ = σ(length); rounded to bf16 if asked for."""
        key = self.direction / self.direction.norm(dim=1, keepdim=True) * self.length.sigmoid()[:, None]
        if not rounded:
            return Layers(key, self.z.sigmoid(), self.value)
        return Layers(toward_zero(key), bf16(self.z.sigmoid()), bf16(self.value))

    def logits(self, rounded: bool, tokens: int) -> Tensor:
        """The read-out after each of 1, ..., `tokens` ones `[count, tokens]`; the read-out is not rounded."""
        layers = self.layers(rounded)
        h, outputs = torch.zeros_like(self.direction), []
        for _ in range(tokens):
            h = step(h, layers, rounded)
            outputs.append((h * self.weight).sum(1) + self.bias)
        return torch.stack(outputs, 1)


def train(count: int, n: int, steps: int, seed: int, *, rounded: bool, frozen: bool = False) -> Trainable:
    """Adam on the cross-entropy of parity; every layer has its own loss, so they do not see each other.

    `frozen`: only the read-out is trained.
    """
    model = Trainable(count, n, torch.Generator().manual_seed(seed))
    read_out = [model.weight, model.bias]
    recurrence = [model.direction, model.length, model.z, model.value]
    optimiser = torch.optim.Adam(
        [{"params": recurrence, "lr": 0.0 if frozen else RATES[0]}, {"params": read_out, "lr": RATES[1]}]
    )
    parity = (torch.arange(1, TRAINED + 1) % 2).float().expand(count, -1)
    for _ in range(steps):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            model.logits(rounded, TRAINED), parity, reduction="sum"
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return model


@torch.no_grad()
def periods(layers: Layers) -> list[int]:
    """The period of each layer's states on 1^k in bf16, exactly; 0 where it is over 64 or not reached in 4096 tokens."""
    h = torch.zeros_like(layers.key)
    for _ in range(SETTLING):
        h = step(h, layers, True)
    start, found = h, torch.zeros(len(h), dtype=torch.long)
    for p in range(1, LONGEST + 1):
        h = step(h, layers, True)
        found[(found == 0) & (h == start).all(1)] = p
    return found.tolist()


def eigenvalues_in_unit_interval(layers: Layers) -> list[bool]:
    """Whether 0 ≤ β‖k‖² ≤ 1 for the stored numbers, in rational arithmetic."""
    rows = zip(layers.key.tolist(), layers.beta.tolist(), strict=True)
    return [0 <= Fraction(b) * sum(Fraction(x) ** 2 for x in k) <= 1 for k, b in rows]


def replayed(layers: Layers, at: int) -> int:
    """The period of one layer by `orbit` in `per_op:bf16`, the package's own arithmetic."""
    arithmetic = parse_arithmetic("per_op:bf16")
    assert isinstance(arithmetic, PerOp)
    key = layers.key[at].tolist()
    stepper = DeltaStepper(key, layers.beta[at].item(), layers.value[at].item(), [0] * len(key), arithmetic)
    return orbit(stepper, [0]).period


@torch.no_grad()
def accuracy(model: Trainable, rounded: bool) -> tuple[list[float], list[float]]:
    """Share of right answers of each layer on the trained lengths, and on the longer ones up to 1000."""
    right = (model.logits(rounded, TESTED) > 0) == (torch.arange(1, TESTED + 1) % 2 == 1)
    parts = right[:, :TRAINED], right[:, TRAINED:]
    return tuple(part.float().mean(1).tolist() for part in parts)  # type: ignore[return-value]


def summary(layers: Layers) -> dict[str, Any]:
    """How many layers end in which period; every period 2 with eigenvalues in [0, 1] is replayed by `orbit`."""
    found, inside = periods(layers), eigenvalues_in_unit_interval(layers)
    counters = [i for i, p in enumerate(found) if p == 2 and inside[i]]
    checked = counters[:200]
    assert all(replayed(layers, i) == 2 for i in checked)
    return {
        "layers": len(found),
        "eigenvalues_in_unit_interval": sum(inside),
        "periods": {str(p): c for p, c in sorted(Counter(found).items())},
        "counters": len(counters),
        "replayed": len(checked),
    }


def experiment(n: int, seeds: int, steps: int, seed: int) -> dict[str, Any]:
    """Random layers, layers trained in bf16, and the control."""
    torch.manual_seed(seed)
    start = Trainable(RANDOM, n, torch.Generator().manual_seed(seed + 1))
    with torch.no_grad():
        result: dict[str, Any] = {"key_dimension": n, "random": summary(start.layers(True))}
    for name, rounded, frozen in (
        ("trained_in_bf16", True, False),
        ("only_the_read_out_trained", True, True),
        ("trained_without_rounding", False, False),
    ):
        began = time.monotonic()
        model = train(seeds, n, steps, seed, rounded=rounded, frozen=frozen)
        with torch.no_grad():
            layers = Layers(*(x.detach() for x in vars(model.layers(True)).values()))
        short, long = accuracy(model, rounded)
        found, inside = periods(layers), eigenvalues_in_unit_interval(layers)
        solved = [i for i in range(seeds) if short[i] == 1 and long[i] == 1]
        result[name] = {
            **summary(layers),
            "right_on_longer_lengths": sum(x == 1 for x in long),
            "right_on_all_lengths": len(solved),
            "right_on_all_lengths_and_counters": sum(found[i] == 2 and inside[i] for i in solved),
            "mean_accuracy_trained_lengths": round(float(np.mean(short)), 4),
            "mean_accuracy_longer": round(float(np.mean(long)), 4),
            "best_accuracy_longer": max(long),
            "examples": [
                {
                    "key": layers.key[i].tolist(),
                    "beta": layers.beta[i].item(),
                    "value": layers.value[i].item(),
                }
                for i in solved[:3]
            ],
            "seconds": round(time.monotonic() - began, 1),
        }
    return result


def main() -> None:
    """Run and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    document = {
        "arithmetic": "per_op:bf16",
        "trained_lengths": TRAINED,
        "tested_to": TESTED,
        "steps": options.steps,
        "optimiser": f"Adam, lr {RATES[0]} (recurrence), {RATES[1]} (read-out)",
        "torch": torch.__version__,
        "runs": [experiment(n, options.seeds, options.steps, 2024 + n) for n in (2, 3)],
    }
    text = json.dumps(document, indent=1) + "\n"
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
