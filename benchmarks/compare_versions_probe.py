"""What `compare_versions` runs inside one checkout: commands, checkers and operators; results and digests as JSON.

This file is copied beside a link `mirrormata -> CHECKOUT` and run there as a program, in a process of its own:

    python probe.py JOB.json RESULT.json

It imports nothing of the package but `mirrormata.cli.main` and the operators, for which `PLACES` lists older modules.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TIMES = {"seconds", "tokens_per_second"}
WRITES = {"-o", "--output", "--bounds", "--write", "--resume"}
COMPARED_FILES = {".json", ".npz", ".safetensors", ".dot", ".mata", ".att", ".txt"}
TIMED_FILES = {"result.json", "settings.json"}  # of a training: with seconds, and with the machine

# ---------------------------------------------------------------- commands


def run_command(argv: list[str]) -> dict[str, Any]:
    """Exit status, output and digests of written files of a command in this process, in the current folder."""
    main = importlib.import_module("mirrormata.cli").main
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(argv)
        except SystemExit as error:
            status = 0 if error.code is None else error.code
        except Exception as error:  # a traceback for the user: a result like any other
            status = f"raises {type(error).__name__}"
    text = out.getvalue()
    result: dict[str, Any] = {"status": status, "message": err.getvalue()}
    try:
        result["json"] = without_times(json.loads(text))
    except ValueError:
        result["text"] = text
    for option, value in itertools.pairwise(argv):
        if option in WRITES:
            result.setdefault("files", {}).update(digests(Path(value)))
    return result


def without_times(value: Any) -> Any:
    """JSON without the entries that hold times."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def digests(path: Path) -> dict[str, str]:
    """SHA-256 of a file, or of the files in a folder, by path."""
    found = [path] if path.is_file() else sorted(x for x in path.rglob("*") if x.is_file())
    kept = [x for x in found if x.suffix in COMPARED_FILES and x.name not in TIMED_FILES]
    return {str(x): hashlib.sha256(x.read_bytes()).hexdigest() for x in kept}


def run_chains(job: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Part, name and result of every command; a folder for each chain."""
    top = Path.cwd()
    for number, chain in enumerate(job["chains"]):
        folder = top / "work" / f"{job['number']}-{number}"
        folder.mkdir(parents=True)
        os.chdir(folder)
        for part, argv in chain["commands"]:
            before = time.process_time()
            result = run_command(argv)
            result["folder"], result["took"] = str(folder), time.process_time() - before
            yield part, f"{chain['name']}: {' '.join(argv)}", result
    os.chdir(top)


# ---------------------------------------------------------------- checkers


def run_checkers(job: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Verdicts on kept certificates of all kinds and on corrupted ones, by `check` and by the checkers that stand alone."""
    folder = Path("work/corrupted")
    folder.mkdir(parents=True)
    for path in sorted(Path("inputs/data").glob("certificates-*/*.json")):
        if job["only"] not in path.name:
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        cases = [document, *corrupted(document, job["corruptions"], path.name)]
        for i, case in enumerate(cases):
            file = folder / "case.json"
            file.write_text(json.dumps(case), encoding="utf-8")
            yield "checkers", f"{path.name}, change {i}: check", run_command(["check", str(file), "--json"])
            if i < 2:
                yield "checkers", f"{path.name}, change {i}: alone", run_alone(document["kind"], file)


def run_alone(kind: str, file: Path) -> dict[str, Any]:
    """A checker as a program of its own, in isolated mode."""
    root = Path("mirrormata").resolve()
    programs = [root / "theory" / "checker" / f"{kind}.py", *sorted(root.glob(f"*/**/checker/{kind}.py"))]
    program = next((x for x in programs if x.is_file()), None)
    if program is None:
        return {"status": "no checker found"}
    done = subprocess.run([sys.executable, "-I", program, file], check=False, capture_output=True, text=True)
    return {"status": done.returncode, "text": done.stdout, "message": done.stderr}


def corrupted(document: Any, many: int, seed: str) -> Iterator[Any]:
    """Copies with one leaf changed each, drawn by a seed; then one with an entry too many, one with one too few."""
    places = list(leaves(document))
    draw = random.Random(seed)
    for place in draw.sample(places, min(many, len(places))):
        copy = json.loads(json.dumps(document))
        at = copy
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = changed(at[place[-1]])
        yield copy
    yield document | {"extra": 1}
    for key in list(document)[:3]:
        yield {k: v for k, v in document.items() if k != key}


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all leaves."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, dict | list):
        yield place
    for key, item in items:
        yield from leaves(item, (*place, key))


def changed(leaf: Any) -> Any:
    """Another value of the same type."""
    if isinstance(leaf, bool) or leaf is None:
        return not leaf
    return leaf + 1 if isinstance(leaf, int | float) else f"{leaf}1"


# ---------------------------------------------------------------- kernels

PLACES = {
    "delta_product": ("kernels", "kernels.delta", "kernels.delta.front"),
    "diagonal_scan": ("kernels", "kernels.scans", "kernels.scans.diagonal"),
    "rank_one_scan": ("kernels", "kernels.scans", "kernels.scans.rank_one"),
    "selective_scan": ("kernels", "kernels.scans", "kernels.scans.selective"),
    "short_convolution": ("kernels", "kernels.convolution", "kernels.convolution.short"),
    "l2_normalise": ("kernels", "kernels.norms", "kernels.norms.l2"),
    "rms_normalise": ("kernels", "kernels.norms", "kernels.norms.rms"),
}
"""Where each operator may be, the public place first."""
REFERENCES = {"delta_product", "diagonal_scan", "rank_one_scan"}
"""Operators with a backend `reference`."""


def find_operator(name: str) -> Any:
    """The operator of this name, from the first place that has it; None if none has."""
    for place in PLACES[name]:
        with contextlib.suppress(ImportError, AttributeError):
            return getattr(importlib.import_module(f"mirrormata.{place}"), name)
    return None


def run_kernels(job: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Digests of results and gradients of each operator for drawn shapes, on one device and the backends named."""
    import torch

    torch.set_num_threads(1)
    found = {name: find_operator(name) for name in PLACES}
    for backend, (first, end, longest) in job["backends"].items():
        for number in range(first, end):
            for name, operator in found.items():
                if backend == "reference" and name not in REFERENCES:
                    continue
                draw = random.Random(f"{name} {number}")
                generator = torch.Generator().manual_seed(number)
                tensors, options, dtype = draw_call(name, draw, generator, longest)
                shapes = " ".join(f"{key}{list(x.shape)}" for key, x in tensors.items())
                what = f"{name} {number}: {job['device']} {backend} {dtype} {describe(options)} {shapes}"
                if job["only"] not in what:
                    continue
                if operator is None:
                    yield "kernels", what, {"status": "no such operator"}
                    continue
                if backend == "reference" and "mode" in options:
                    options["mode"] = "auto"
                if backend == "triton":
                    options.pop("output_states", None)
                before = time.process_time()
                result = run_operator(operator, tensors, options | {"backend": backend}, job["device"])
                yield "kernels", what, result | {"took": time.process_time() - before}


def describe(options: dict[str, Any]) -> str:
    """Options in words, tensors left out."""
    return " ".join(f"{key}={value}" for key, value in options.items() if not hasattr(value, "shape"))


def run_operator(
    operator: Any, tensors: dict[str, Any], options: dict[str, Any], device: str
) -> dict[str, Any]:
    """SHA-256 of each result and of each input's gradient, for fixed weights of the results."""
    import torch

    inputs = {key: x.to(device).requires_grad_(x.is_floating_point()) for key, x in tensors.items()}
    result: dict[str, Any] = {"status": 0}
    try:
        given = operator(**inputs, **options)
        results = [x for x in (given if isinstance(given, tuple) else (given,)) if x is not None]
        generator = torch.Generator().manual_seed(99)
        weights = [torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x) for x in results]
        result["bits"] = {f"result {i}": bits(x) for i, x in enumerate(results)}
        wanted = [key for key, x in inputs.items() if x.requires_grad]
        loss = sum((x * w).sum() for x, w in zip(results, weights, strict=True))
        gradients = torch.autograd.grad(loss, [inputs[key] for key in wanted], allow_unused=True)
        result["bits"] |= {f"gradient of {key}": bits(x) for key, x in zip(wanted, gradients, strict=True)}
    except Exception as error:  # a refusal is a result too
        result |= {"status": f"raises {type(error).__name__}", "message": str(error)}
    return result


def bits(x: Any) -> str:
    """Dtype, shape and a digest of a tensor's bytes."""
    if x is None:
        return "none"
    import torch

    data = x.detach().cpu().contiguous().reshape(-1)
    digest = hashlib.sha256(data.view(torch.uint8).numpy().tobytes()).hexdigest() if data.numel() else "empty"
    return f"{x.dtype} {list(x.shape)} {digest}"


def draw_call(
    name: str, draw: random.Random, generator: Any, longest: int
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Inputs and options of one call: odd lengths and widths, one dtype."""
    import torch

    dtype = getattr(torch, draw.choice(["float32", "float32", "bfloat16", "float64", "float16"]))
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    T = draw.choice([t for t in (1, 2, 3, 7, 16, 17, 31, 64, 67, 131) if t <= longest])
    B, H, C = draw.choice([1, 2, 3]), draw.choice([1, 2]), draw.choice([1, 3, 5, 8, 16, 17])
    K, V = draw.choice([1, 2, 3, 5, 8, 16, 17, 32]), draw.choice([1, 2, 4, 7, 16, 33])
    final = {"output_final_state": draw.random() < 0.8}
    cuts = sorted({0, T, draw.randint(0, T)}) if draw.random() < 0.2 and T > 1 else None

    def normal(*shape: int, kind: Any = dtype) -> Any:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(kind)

    def uniform(low: float, high: float, *shape: int, kind: Any = dtype) -> Any:
        return (low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64)).to(kind)

    def unit(*shape: int) -> Any:
        x = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (x / x.norm(dim=-1, keepdim=True)).to(dtype)

    if name == "delta_product":
        n = draw.choice([1, 1, 2, 3, 4])
        B = 1 if cuts else B
        N = len(cuts) - 1 if cuts else B
        tensors = {"q": unit(B, T, H, K), "k": unit(B, T * n, H, K), "v": normal(B, T * n, H, V)}
        tensors["beta"] = uniform(0, 2, B, T * n, H)
        gate = draw.choice(["", "", "g", "a"])
        if gate:
            tensors[gate] = uniform(-0.5, 0, B, T, H) if gate == "g" else uniform(-1, 1, B, T, H)
        if draw.random() < 0.5:
            tensors["initial_state"] = normal(N, H, K, V, kind=wide)
        if cuts:
            tensors["cu_seqlens"] = torch.tensor(cuts)
        options = {"householders": n, "mode": draw.choice(["auto", "recurrent", "chunk", "scan"]), **final}
        options |= {"scale": 0.7} if draw.random() < 0.2 else {}
        options |= {"l2norm": True} if draw.random() < 0.2 else {}
        options |= {"output_states": "all"} if draw.random() < 0.15 else {}
    elif name in ("diagonal_scan", "rank_one_scan"):
        B = 1 if cuts else B
        N = len(cuts) - 1 if cuts else B
        if name == "diagonal_scan":
            pairs = (2,) if draw.random() < 0.4 else ()
            low = -0.7 if pairs else -1.0
            tensors = {"a": uniform(low, 0.7, B, T, C, *pairs), "b": normal(B, T, C, *pairs)}
            state: tuple[int, ...] = (N, C, *pairs)
            options = {
                "reverse": draw.random() < 0.3,
                "mode": draw.choice(["auto", "recurrent", "parallel"]),
                **final,
            }
            options |= {"segment": draw.choice([1, 4, 16])} if draw.random() < 0.3 else {}
        else:
            tensors = {
                "q": unit(B, T, H, K),
                "w": unit(B, T, H, K),
                "u": unit(B, T, H, K),
                "z": uniform(-1, 1, B, T, H, K),
            }
            tensors |= {"k": unit(B, T, H, K), "v": normal(B, T, H, V)}
            state, options = (N, H, K, V), dict(final)
        if draw.random() < 0.5:
            tensors["initial_state"] = normal(*state, kind=wide)
        if cuts:
            tensors["cu_seqlens"] = torch.tensor(cuts)
    elif name == "selective_scan":
        n, S = draw.choice([1, 3, 4, 16]), draw.choice([1, 2])
        tensors = {"u": normal(S, B, T, C), "step": uniform(0, 1, S, B, T, C), "rate": uniform(0, 2, S, C, n)}
        tensors |= {
            "write": normal(S, B, T, n),
            "read": normal(S, B, T, n),
            "initial_state": normal(S, B, C, n),
        }
        options = {"signed": draw.random() < 0.5}
    elif name == "short_convolution":
        taps, S = draw.choice([1, 2, 3, 4, 5]), draw.choice([1, 2])
        tensors = {"x": normal(S, B, T, C), "weight": normal(S, C, taps)}
        tensors |= {"before": normal(S, B, taps - 1, C)} if draw.random() < 0.5 else {}
        options = {}
    elif name == "l2_normalise":
        tensors, options = {"x": normal(B, T, H, K)}, {"silu": draw.random() < 0.5}
    else:
        tensors = {"x": normal(B, T, H, K), "weight": normal(B, H, K)}
        options = {"eps": draw.choice([1e-6, 1e-3]), "dtype": draw.choice([None, torch.float32])}
    return tensors, options, str(dtype).removeprefix("torch.")


# ---------------------------------------------------------------- one process

INSIDE = {"chains": run_chains, "checkers": run_checkers, "kernels": run_kernels}


def main(job_file: str, result_file: str) -> None:
    """Run one job in a checkout's folder, write what came of it, a line for each result."""
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    package = importlib.import_module("mirrormata")
    if Path(package.__file__ or "").resolve().parent != Path("mirrormata").resolve():
        raise SystemExit(
            f"mirrormata is imported from {package.__file__}, not from {Path('mirrormata').resolve()}"
        )
    with Path(result_file).open("w", encoding="utf-8") as written:
        for record in INSIDE[job["kind"]](job["data"]):
            print(json.dumps(record), file=written, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
