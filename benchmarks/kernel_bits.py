"""The bits of `delta_product`'s kernels at the widths that models have: a digest of every result and gradient, to compare versions.

    python benchmarks/kernel_bits.py FILE.json [--device cuda]

It is run as a file, with the checkout that is asked in PYTHONPATH, so that one copy of it asks two checkouts; equal files are
equal bits.  `compare_versions` does the same for narrow heads and the other operators.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

SHAPES = ((32, 32), (64, 64), (128, 128), (128, 32), (16, 64), (256, 128))
"""Widths of keys and values."""
PLACES = ("mirrormata.kernels", "mirrormata.kernels.delta.front")


def find_operator() -> Any:
    """`delta_product` of the checkout, from the first place that has it."""
    for place in PLACES:
        try:
            return import_module(place).delta_product
        except (ImportError, AttributeError):
            continue
    raise SystemExit(f"no delta_product in {' or '.join(PLACES)}")


def digest(x: Tensor) -> str:
    """Dtype, shape and SHA-256 of the bytes."""
    data = x.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"{x.dtype} {list(x.shape)} {hashlib.sha256(data).hexdigest()}"


def draw_inputs(
    number: int, K: int, V: int, n_h: int, dtype: torch.dtype, gated: bool, packed: bool
) -> dict[str, Tensor]:
    """Unit keys, beta in [0, 2], gates in [-1, 1] with zeros, on the CPU, by the number of the case."""
    generator = torch.Generator().manual_seed(number)
    B, T, H = (1, 331, 2) if packed else (2, 192, 2)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def draw_unit(*shape: int) -> Tensor:
        return torch.nn.functional.normalize(draw(*shape), dim=-1)

    x = {"q": draw_unit(B, T, H, K), "k": draw_unit(B, T * n_h, H, K), "v": draw(B, T * n_h, H, V)}
    x["beta"] = 2 * torch.rand(B, T * n_h, H, generator=generator, dtype=torch.float64)
    if gated:
        x["a"] = 2 * torch.rand(B, T, H, generator=generator, dtype=torch.float64) - 1
        x["a"][:, ::7] = 0
    inputs = {name: y.to(dtype) for name, y in x.items()}
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    inputs["initial_state"] = draw(3 if packed else B, H, K, V).to(wide)
    if packed:
        inputs["cu_seqlens"] = torch.tensor([0, 100, 100, T])
    return inputs


def run_case(operator: Any, inputs: dict[str, Tensor], device: str, mode: str, n_h: int) -> dict[str, str]:
    """Digests of outputs, final states and the gradients of all inputs."""
    given = {name: x.to(device).requires_grad_(x.is_floating_point()) for name, x in inputs.items()}
    o, final = operator(**given, householders=n_h, mode=mode, output_final_state=True, backend="triton")
    wanted = {name: x for name, x in given.items() if x.requires_grad}
    weights = [torch.linspace(-1, 1, x.numel(), dtype=x.dtype, device=device).view_as(x) for x in (o, final)]
    gradients = torch.autograd.grad((o, final), list(wanted.values()), weights)
    found = {
        "o": o,
        "final_state": final,
        **{f"d{name}": x for name, x in zip(wanted, gradients, strict=True)},
    }
    return {name: digest(x) for name, x in found.items()}


def main() -> None:
    """Run all cases and write the digests."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=Path, metavar="FILE.json")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu with TRITON_INTERPRET=1; default cuda")
    parser.add_argument("--every", type=int, default=1, help="one case of so many; default all")
    options = parser.parse_args()
    operator = find_operator()
    modes = [("chunk", "bfloat16"), ("chunk", "float32"), ("scan", "float16"), ("recurrent", "float32")]
    modes += [("recurrent", "bfloat16"), ("chunk", "float64")]
    cases = list(product(SHAPES, modes, (1, 3), (False, True), (False, True)))
    found = {}
    for number, ((K, V), (mode, dtype), n_h, gated, packed) in enumerate(cases):
        if number % options.every == 0:
            inputs = draw_inputs(number, K, V, n_h, getattr(torch, dtype), gated, packed)
            name = f"{number} {K} {V} {mode} {dtype} n_h={n_h} gated={gated} packed={packed}"
            found[name] = run_case(operator, inputs, options.device, mode, n_h)
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{len(found)} cases, {hashlib.sha256(options.output.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
