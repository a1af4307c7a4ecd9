"""What `fuzz_kernels` draws: random shapes and inputs of every operator, and float64 results by torch operations alone.

A *variant* fixes what kernels are compiled for: dtypes, widths that kernels have, gates, packing, whether sizes are 1 or multiples
of 16.  The shapes of a variant differ in everything else: users' widths below the kernels', tokens, batch, heads, bounds, values,
memory layout, and which inputs need gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from mirrormata.kernels import (
    delta_product,
    diagonal_scan,
    l2_normalise,
    launch_counts,
    rank_one_scan,
    reset_launch_counts,
    rms_normalise,
    selective_scan,
    short_convolution,
)
from mirrormata.kernels.delta._hopper_plan import ROWS, hopper_plan
from mirrormata.kernels.delta._plan import KERNEL_WIDTHS, chunk_plan, kernel_width, next_power_of_two
from mirrormata.kernels.scans._selective import selective_decays

Drawn = dict[str, Any]
Tensors = dict[str, Any]
NARROW = {"bfloat16": 1e-2, "float16": 1.5e-3, "float32": 1e-5, "float64": 1e-13}
CHUNKS = {"bfloat16": 4e-2, "float16": 8e-3, "float32": 5e-6, "float64": 1e-13}
"""Largest relative errors of outputs, by the coarsest dtype among the inputs; of gradients three times that.  Chunks multiply
rounded operands."""
GRADIENTS, REFLECTIONS = 3.0, 3.0
"""Factors for gradients, and for beta = 2 in every token, where nothing of an error decays."""


@dataclass(frozen=True)
class Operator:
    """How an operator is drawn and run; `exact` gives the same results in float64, by torch."""

    variant: Callable[[Random], Drawn]
    shape: Callable[[Random, Drawn], Drawn]
    inputs: Callable[[Drawn, torch.Generator], Tensors]
    kernels: Callable[[Drawn, Tensors], list[Tensor]]
    exact: Callable[[Drawn, Tensors], list[Tensor]]
    errors: dict[str, float]


def normal(generator: torch.Generator, *shape: int) -> Tensor:
    """On the CPU, so that a seed means the same everywhere."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def uniform(generator: torch.Generator, low: float, high: float, *shape: int) -> Tensor:
    """The same for numbers between low and high."""
    return low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64)


def some_dtype(random: Random, double: bool = True) -> str:
    """A dtype's name, 16 bits for more than half."""
    names = ["bfloat16", "bfloat16", "float16", "float16", "float32", "float64"]
    return random.choice(names if double else names[:-1])


def size(random: Random, kind: str, most: int) -> int:
    """A size of a kind that kernels are compiled anew for: `one`, `sixteen` (a multiple of 16), `other`."""
    if kind == "one" or most < 2:
        return 1
    if kind == "sixteen" and most >= 16:
        return 16 * random.randint(1, most // 16)
    drawn = random.randint(2, most)
    return drawn if drawn % 16 else drawn - 1


def kind(random: Random) -> str:
    """Of a size."""
    return random.choice(["one", "sixteen", "other", "other", "other"])


def bounds(random: Random, tokens: int, sequences: int) -> list[int]:
    """Of packed sequences, of which some may be empty."""
    inner = sorted(random.choice([0, tokens, random.randint(0, tokens)]) for _ in range(sequences - 1))
    return [0, *inner, tokens]


def packing(x: Drawn, device: torch.device) -> Tensor | None:
    """`cu_seqlens`, where sequences are packed."""
    dtype = getattr(torch, x.get("integers", "int64"))
    return torch.tensor(x["bounds"], dtype=dtype, device=device) if x["bounds"] else None


# delta_product


def delta_variant(mode: str) -> Callable[[Random], Drawn]:
    """Widths of kernels, factors, gates, packing and the like, for one mode."""

    def draw(random: Random) -> Drawn:
        long = mode == "auto" and random.random() < 0.15
        many = not long and random.random() < 0.25
        return {
            "mode": mode,
            "dtype": some_dtype(random),
            "widths": [random.choice(KERNEL_WIDTHS) for _ in "KV"],
            "householders": 1 if long else random.randint(1, 8),
            "gate": random.choice([None, "a", "g"]),
            "packed": random.random() < 0.4,
            "integers": random.choice(["int32", "int64"]),
            "initial": random.random() < 0.5,
            "final": random.random() < 0.5,
            "even": random.random() < 0.3,
            "heads": "sixteen" if many else "one" if long else kind(random),
            "many": many,
            "long": long,
            "l2norm": random.random() < 0.1,
        }

    return draw


def delta_shape(random: Random, x: Drawn) -> Drawn:
    """Sizes of one call, the tensors together at most some millions of numbers."""
    below = {w: ([0, *KERNEL_WIDTHS])[KERNEL_WIDTHS.index(w)] for w in KERNEL_WIDTHS}
    K, V = (random.randint(below[w] + 1, w) for w in x["widths"])
    n_h = x["householders"]
    heads = size(random, x["heads"], 32 if x["many"] else 5)
    sequences = -(-512 // heads) + random.randint(0, 3) if x["many"] else random.randint(1, 4)
    sequences = 1 if x["long"] else sequences
    most = min(2000 if x["mode"] == "scan" else 300, 2_000_000 // (sequences * heads * (K + V)))
    tokens = 16384 + random.randint(0, 500) if x["long"] else random.randint(1, max(1, most // n_h))
    rows = chunk_plan(
        *(kernel_width(K), kernel_width(V), getattr(torch, x["dtype"]), sequences * heads),
        householders=n_h,
        gated=x["gate"] is not None,
        phases=x["mode"] == "scan",
    ).rows
    if x["even"]:
        tokens = max(1, tokens // max(1, rows // n_h)) * max(1, rows // n_h)
    elif tokens % 16 == 0:  # for which kernels would be compiled anew
        tokens -= 1
    together = tokens * sequences if x["packed"] else tokens
    return {
        "K": K,
        "V": V,
        "tokens": together,
        "heads": heads,
        "batch": 1 if x["packed"] else sequences,
        "sequences": sequences,
        "bounds": bounds(random, together, sequences) if x["packed"] else None,
        "beta": None if x["long"] or x["l2norm"] else random.choice([None, None, 1.0, 2.0]),
        "scale": random.choice([None, 1.0, -0.3]),
    }


def delta_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """Unit keys, some zero; beta in [0, 2] or one number; gates with zeros and both signs, or logarithms."""
    B, T, H, K, V, n_h = (x[name] for name in ("batch", "tokens", "heads", "K", "V", "householders"))
    k = F.normalize(normal(generator, B, T * n_h, H, K), dim=-1)
    k[:, 5::7] = 0
    strength = uniform(generator, 0, 2, B, T * n_h, H)
    if x["beta"] is not None:
        strength = torch.full_like(strength, x["beta"])
    found = {"q": normal(generator, B, T, H, K), "k": k, "v": normal(generator, B, T * n_h, H, V)}
    found["beta"] = strength
    if x["gate"] == "a":
        found["a"] = uniform(generator, -1, 1, B, T, H)
        found["a"][:, 3::5] = 0
        found["a"][:, 1::4], found["a"][:, 2::6] = -1, 1
    elif x["gate"] == "g":
        found["g"] = -uniform(generator, 0, 1, B, T, H)
        found["g"][:, 4::9] = -30
    if x["initial"]:
        found["initial_state"] = normal(generator, x["sequences"], H, K, V)
    return found


def run_delta(backend: str) -> Callable[[Drawn, Tensors], list[Tensor]]:
    """Outputs, and final states where they are wanted."""

    def run(x: Drawn, tensors: Tensors) -> list[Tensor]:
        mode = x["mode"] if backend == "triton" else "chunk"
        o, final = delta_product(
            **tensors,
            householders=x["householders"],
            output_final_state=x["final"],
            scale=x["scale"],
            cu_seqlens=packing(x, tensors["q"].device),
            l2norm=x["l2norm"],
            mode=mode,
            backend=backend,
        )
        return [o] if final is None else [o, final]

    return run


# delta_product on Hopper

HOPPER_GATES = ("mixed", "weak", "strong", "signed", "ones")
"""As `delta_inputs` draws them; exp(-0.1 u) for u uniform in [0, 1]; exp(-8 u); weak ones that are negative or zero now and then; 1."""


def hopper_variant(random: Random) -> Drawn:
    """Of what the Gluon kernels take (`_hopper_plan`): their widths, up to four factors, no gates in float16, nothing packed."""
    dtype = random.choice(["bfloat16", "bfloat16", "float16"])
    return {
        "mode": "chunk",
        "dtype": dtype,
        "widths": [random.choice((*[64] * 4, *[128] * 4, 256)) for _ in "KV"],
        "householders": random.randint(1, 4),
        "edge": random.choice([-1, 0, 1, None]),
        "long": random.random() < 0.3,
        "gate": random.choice([None, "a", "a", "g"]) if dtype == "bfloat16" else None,
        "packed": False,
        "initial": random.random() < 0.5,
        "final": random.random() < 0.5,
        "heads": kind(random),
        "many": random.random() < 0.2,
        "l2norm": False,
    }


def hopper_shape(random: Random, x: Drawn) -> Drawn:
    """Two chunks of tokens or more, at and beside the end of one or inside; long ones have more than a segment has."""
    K, V = (random.choice([w, random.randint(max(33, w // 2 + 1), w)]) for w in x["widths"])
    heads = size(random, x["heads"], 16 if x["many"] else 5)
    sequences = -(-150 // heads) if x["many"] else random.randint(1, 4)
    chunk = ROWS // next_power_of_two(x["householders"])
    most = min(90, max(3, 2_000_000 // (sequences * heads * (K + V) * ROWS)))
    edge = random.randint(2, chunk - 2) if x["edge"] is None else x["edge"]
    edge -= edge > 0 and edge % 16 == 0
    least = 1 if edge > 0 else 2
    chunks = random.randint(17, most) if x["long"] and most > 17 else random.randint(least, min(8, most))
    # kernels would be compiled anew for a multiple of 16
    chunks -= (chunks + (edge > 0)) % 16 == 0
    return {
        "K": K,
        "V": V,
        "tokens": chunks * chunk + edge,
        "heads": heads,
        "batch": sequences,
        "sequences": sequences,
        "bounds": None,
        "beta": random.choice([None, None, 1.0, 2.0]),
        "scale": random.choice([None, 1.0, -0.3]),
        "gates": random.choice(HOPPER_GATES),
    }


def hopper_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """Those of `delta_inputs`, with gates of the kind that was drawn."""
    found = delta_inputs(x, generator)
    if x["gate"] is None or x["gates"] == "mixed":
        return found
    u = uniform(generator, 0, 1, x["batch"], x["tokens"], x["heads"])
    logarithms = {"weak": -0.1 * u, "strong": -8 * u}.get(x["gates"], -0.1 * u)
    if x["gates"] == "ones":
        logarithms = torch.zeros_like(u)
    if x["gate"] == "g":
        found["g"] = logarithms
        return found
    found["a"] = logarithms.exp()
    if x["gates"] == "signed":
        chance = uniform(generator, 0, 1, *u.shape)
        found["a"] = torch.where(chance < 0.2, -found["a"], found["a"])
        found["a"] = torch.where(chance > 0.97, 0.0, found["a"])
    return found


def run_hopper_twice(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """Results with a backward pass and without one, which are of different kernels; on Hopper these must be that chip's."""
    run = run_delta("triton")
    found = []
    for save in (True, False):
        reset_launch_counts()
        with torch.set_grad_enabled(save):
            found += run(x, tensors)
        ran = "advance_hopper" in launch_counts()
        if ran != expect_hopper(x, tensors, save):
            raise AssertionError(f"kernels of Hopper ran: {ran}, with a backward pass: {save}")
    return found


def expect_hopper(x: Drawn, tensors: Tensors, save: bool) -> bool:
    """Whether its kernels take the call on this GPU."""
    q = tensors["q"]
    if q.device.type != "cuda" or torch.cuda.get_device_capability(q.device) != (9, 0) or x["bounds"]:
        return False
    wide = kernel_width(x["K"]), kernel_width(x["V"])
    pairs = x["batch"] * x["heads"]
    how = {"gated": x["gate"] is not None, "tokens": x["tokens"], "pairs": pairs, "save": save}
    return hopper_plan(*wide, q.dtype, x["householders"], **how) is not None


def run_exact_twice(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """The results of `run_hopper_twice`, the second ones without gradients as well."""
    found = run_delta("torch")(x, tensors)
    return [*found, *(y.detach() for y in found)]


# the scans


def diagonal_variant(random: Random) -> Drawn:
    """Decays may have another dtype than the rest."""
    return {
        "dtype": some_dtype(random),
        "decays": some_dtype(random) if random.random() < 0.3 else None,
        "pairs": random.random() < 0.4,
        "reverse": random.random() < 0.4,
        "packed": random.random() < 0.4,
        "integers": random.choice(["int32", "int64"]),
        "mode": random.choice(["auto", "recurrent", "parallel"]),
        "segment": random.choice([None, None, 1, 7, 32]),
        "width": kind(random),
        "initial": random.random() < 0.5,
        "final": random.random() < 0.5,
    }


def diagonal_shape(random: Random, x: Drawn) -> Drawn:
    """Up to 3,000 tokens, more than a segment has."""
    sequences, width = random.randint(1, 5), size(random, x["width"], 300)
    tokens = random.randint(1, random.choice([40, 400, max(1, min(3000, 600_000 // width))]))
    return {
        "batch": 1 if x["packed"] else sequences,
        "sequences": sequences,
        "tokens": tokens,
        "channels": width,
        "bounds": bounds(random, tokens, sequences) if x["packed"] else None,
    }


def diagonal_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """Decays in [-1, 1], or of absolute value at most 1, with 0, 1 and -1 among them."""
    pair = (2,) if x["pairs"] else ()
    size = x["batch"], x["tokens"], x["channels"], *pair
    a = uniform(generator, -1, 1, *size) / (2**0.5 if pair else 1)
    for i, special in enumerate((0.0, 1.0, -1.0)):
        a[:, 1 + i :: 6] = special
    if pair:
        a[:, 2::3, :, 1] = 0.0
    found = {"a": a, "b": normal(generator, *size)}
    if x["initial"]:
        found["initial_state"] = normal(generator, x["sequences"], x["channels"], *pair)
    return found


def run_diagonal(backend: str) -> Callable[[Drawn, Tensors], list[Tensor]]:
    """States, and the last ones where they are wanted."""

    def run(x: Drawn, tensors: Tensors) -> list[Tensor]:
        names = ("reverse", "mode", "segment") if backend == "triton" else ("reverse",)
        h, final = diagonal_scan(
            **tensors,
            output_final_state=x["final"],
            cu_seqlens=packing(x, tensors["a"].device),
            backend=backend,
            **{name: x[name] for name in names},
        )
        return [h] if final is None else [h, final]

    return run


def rank_one_variant(random: Random) -> Drawn:
    """Widths up to 256, of which the kernels have powers of two."""
    return {
        "dtype": some_dtype(random),
        "widths": [random.choice((4, *KERNEL_WIDTHS)) for _ in "KV"],
        "packed": random.random() < 0.4,
        "integers": random.choice(["int32", "int64"]),
        "heads": kind(random),
        "added": random.random() < 0.8,
        "initial": random.random() < 0.6,
        "final": random.random() < 0.5,
    }


def rank_one_shape(random: Random, x: Drawn) -> Drawn:
    """Up to 100 tokens: float64 results need one step a token."""
    K, V = (random.randint(w // 2 + 1, w) for w in x["widths"])
    sequences, heads = random.randint(1, 3), size(random, x["heads"], 5)
    tokens = random.randint(1, max(1, min(100, 400_000 // (sequences * heads * (K + V)))))
    return {
        "K": K,
        "V": V,
        "batch": 1 if x["packed"] else sequences,
        "sequences": sequences,
        "tokens": tokens,
        "heads": heads,
        "bounds": bounds(random, tokens, sequences) if x["packed"] else None,
        "scale": random.choice([None, 1.0, -0.3]),
    }


def rank_one_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """`diag(w) + u zᵀ` of norm about 1, with zeros and signs among w."""
    B, T, H, K, V = (x[name] for name in ("batch", "tokens", "heads", "K", "V"))
    found = {name: normal(generator, B, T, H, K) / max(K, 2) ** 0.5 for name in "qwuz"}
    found["w"] = uniform(generator, -1, 1, B, T, H, K)
    found["w"][:, ::3, :, 0], found["w"][:, 1::3, :, 0] = 0.0, -1.0
    if x["added"]:
        found["k"], found["v"] = normal(generator, B, T, H, K) / K**0.5, normal(generator, B, T, H, V)
    if x["initial"] or not x["added"]:
        found["initial_state"] = normal(generator, x["sequences"], H, K, V)
    return found


def run_rank_one(backend: str) -> Callable[[Drawn, Tensors], list[Tensor]]:
    """Outputs, and final states where they are wanted."""

    def run(x: Drawn, tensors: Tensors) -> list[Tensor]:
        o, final = rank_one_scan(
            **tensors,
            scale=x["scale"],
            output_final_state=x["final"],
            cu_seqlens=packing(x, tensors["w"].device),
            backend=backend,
        )
        return [y for y in (o, final) if y is not None]

    return run


def selective_variant(random: Random) -> Drawn:
    """States of a channel are a constant of the kernels."""
    names = {"dtype": some_dtype(random), "signed": random.random() < 0.5}
    return {**names, "states": random.choice([1, 4, 16, 64]), "channels": kind(random)}


def selective_shape(random: Random, x: Drawn) -> Drawn:
    """Up to 80 tokens of up to 100 channels."""
    return {
        "seeds": random.randint(1, 3),
        "batch": random.randint(1, 3),
        "tokens": random.randint(1, 80),
        "C": size(random, x["channels"], 100),
        "N": random.randint(x["states"] // 2 + 1, x["states"]),
    }


def selective_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """Steps and rates of at least 0."""
    S, B, T, C, N = (x[name] for name in ("seeds", "batch", "tokens", "C", "N"))
    return {
        "u": normal(generator, S, B, T, C),
        "step": 0.3 * normal(generator, S, B, T, C).abs(),
        "rate": normal(generator, S, C, N).abs(),
        "write": normal(generator, S, B, T, N),
        "read": normal(generator, S, B, T, N),
        "initial_state": normal(generator, S, B, C, N),
    }


def exact_selective(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """All states written out, and a scan over them in torch."""
    u, step, rate, write, read, initial = tensors.values()
    a = selective_decays(step, rate, x["signed"])
    b = (step * u)[..., None] * write[..., None, :]
    a_flat, b_flat = (y.flatten(0, 1).flatten(2) for y in (a, b))
    start = initial.flatten(0, 1).flatten(1)
    h, final = diagonal_scan(a_flat, b_flat, start, output_final_state=True, backend="torch")
    assert final is not None
    return [torch.einsum("sbtcn,sbtn->sbtc", h.view(a.shape), read), final.view(initial.shape)]


# rows


def convolution_inputs(x: Drawn, generator: torch.Generator) -> Tensors:
    """With what stands before the sequence, or without."""
    S, B, T, C, taps = (x[name] for name in ("seeds", "batch", "tokens", "C", "taps"))
    found = {"x": normal(generator, S, B, T, C), "weight": normal(generator, S, C, taps)}
    if x["before"]:
        found["before"] = normal(generator, S, B, taps - 1, C)
    return found


def exact_convolution(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """torch's own convolution, a group for each seed and channel."""
    rows, weight = tensors["x"], tensors["weight"]
    S, B, T, C = rows.shape
    past = tensors.get("before", rows.new_zeros(S, B, x["taps"] - 1, C))
    padded = torch.cat([past, rows], 2).permute(1, 0, 3, 2).flatten(1, 2)
    y = F.conv1d(padded, weight.flatten(0, 1)[:, None], groups=S * C)
    return [y.view(B, S, C, T).permute(1, 0, 3, 2)]


def exact_rms(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """By the formula."""
    rows, weight = tensors["x"], tensors["weight"]
    places = weight.shape[0], *(1,) * (rows.dim() - weight.dim()), *weight.shape[1:]
    return [weight.view(places) * rows / (rows.square().mean(-1, keepdim=True) + x["eps"]).sqrt()]


def exact_l2(x: Drawn, tensors: Tensors) -> list[Tensor]:
    """By the formula; rows are not zero."""
    u = F.silu(tensors["x"]) if x["silu"] else tensors["x"]
    return [u / u.norm(dim=-1, keepdim=True)]


OPERATORS = {
    **{
        f"delta_product_{mode}": Operator(
            *(delta_variant(mode), delta_shape, delta_inputs, run_delta("triton"), run_delta("torch"), CHUNKS)
        )
        for mode in ("recurrent", "chunk", "scan", "auto")
    },
    "delta_product_hopper": Operator(
        *(hopper_variant, hopper_shape, hopper_inputs, run_hopper_twice, run_exact_twice, CHUNKS)
    ),
    "diagonal_scan": Operator(
        *(diagonal_variant, diagonal_shape, diagonal_inputs),
        *(run_diagonal("triton"), run_diagonal("torch"), NARROW),
    ),
    "rank_one_scan": Operator(
        *(rank_one_variant, rank_one_shape, rank_one_inputs),
        *(run_rank_one("triton"), run_rank_one("torch"), NARROW),
    ),
    "selective_scan": Operator(
        *(selective_variant, selective_shape, selective_inputs),
        *(
            lambda x, y: list(selective_scan(**y, signed=x["signed"], backend="triton")),
            exact_selective,
            NARROW,
        ),
    ),
    "short_convolution": Operator(
        lambda random: {
            "dtype": some_dtype(random, double=False),
            "taps": random.randint(1, 8),
            "before": random.random() < 0.4,
        },
        lambda random, _: {
            "seeds": random.randint(1, 4),
            "batch": random.randint(1, 5),
            "tokens": random.randint(1, random.choice([5, 300])),
            "C": random.randint(1, random.choice([5, 300])),
        },
        *(
            convolution_inputs,
            lambda _, y: [short_convolution(**y, backend="triton")],
            exact_convolution,
            NARROW,
        ),
    ),
    "rms_normalise": Operator(
        lambda random: {
            "dtype": some_dtype(random, double=False),
            "width": random.choice([1, 16, 64, 256, 1024]),
        },
        lambda random, x: {
            "D": random.randint(x["width"] // 2 + 1, x["width"]),
            "rows": [random.randint(1, 20) for _ in range(random.randint(1, 3))],
            "heads": random.choice([None, random.randint(1, 5)]),
            "seeds": random.randint(1, 3),
            "eps": random.choice([1e-6, 1e-2]),
        },
        lambda x, generator: {
            "x": normal(generator, x["seeds"], *x["rows"], *([x["heads"]] if x["heads"] else []), x["D"]),
            "weight": normal(generator, x["seeds"], *([x["heads"]] if x["heads"] else []), x["D"]),
        },
        *(lambda x, y: [rms_normalise(**y, eps=x["eps"], backend="triton")], exact_rms, NARROW),
    ),
    "l2_normalise": Operator(
        lambda random: {
            "dtype": some_dtype(random),
            "silu": random.random() < 0.5,
            "width": random.choice([2, 16, 64, 256, 1024]),
        },
        lambda random, x: {
            "D": random.randint(x["width"] // 2 + 1, x["width"]),
            "rows": [random.randint(1, 30) for _ in range(random.randint(1, 3))],
        },
        lambda x, generator: {"x": 1 + normal(generator, *x["rows"], x["D"])},
        *(lambda x, y: [l2_normalise(**y, silu=x["silu"], backend="triton")], exact_l2, NARROW),
    ),
}
