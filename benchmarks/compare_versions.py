"""Do two checkouts of mirrormata behave alike: the same figures, the same certificates byte for byte, the same kernels' bits?

    python -m mirrormata.benchmarks.compare_versions OLD NEW [--part PART ...] [--quick] [--only TEXT] [-o FILE.json]

Each checkout is spoken to in processes of its own, so that any file inside may move: by the command line, and by the operators'
public names (`compare_versions_probe.py`, which runs there).  Both checkouts get the input files of OLD.

Parts: `figures` (inspect, plan, run, spectrum, shown factors), `certificates` (construct and export: JSON, and files byte for byte),
`checkers` (verdicts on valid and corrupted certificates, by `check` and by the stand-alone files), `verdicts` (prove, compare, claims),
`kernels` (results and gradients of every operator, exported and trained weights; on a GPU too where there is one).

Left out: times, and the wording of refusals on standard error, unless `--messages`.  Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .compare_versions_cases import Chain, Command, chains

PARTS = ("figures", "certificates", "checkers", "verdicts", "kernels")


class Deliberate(NamedTuple):
    """A difference that is meant: regular expressions for what was run and for the place in its result, and the reason."""

    part: str
    what: str
    place: str
    reason: str


DELIBERATE: tuple[Deliberate, ...] = (
    Deliberate(
        "certificates",
        r": construct ",
        r"^json\.hypotheses$",
        "figures say what a model needs for them to hold",
    ),
    Deliberate(
        "certificates", r": export npz ", r"\.npz: format$", "every file that is written says its format"
    ),
    Deliberate(
        "certificates",
        r": export safetensors ",
        r"\.safetensors: mirrormata\.format$",
        "every file says its format",
    ),
)

PROBE = Path(__file__).parent / "compare_versions_probe.py"
PROCESS_LIMIT = 3600  # seconds, for machines that do other work beside

# ---------------------------------------------------------------- both checkouts


@dataclass(frozen=True)
class Job:
    """What one process does in a checkout: the function's name, its data, and what it needs in the environment."""

    kind: str
    data: dict[str, Any]
    interpreted: bool = False


def make_jobs(parts: tuple[str, ...], quick: bool, only: str, old: Path) -> list[Job]:
    """The longest first."""
    jobs: list[Job] = []
    library = ask_library(old) if not quick and set(parts) != {"kernels"} else []
    files = sorted(x.name for x in (old / "inputs/data/cases").glob("*"))
    for number, group in enumerate(chains(quick, library, files)):
        kept = [{"name": c.name, "commands": needed_commands(c, parts)} for c in group if only in c.name]
        kept = [c for c in kept if c["commands"]]
        if kept:
            jobs.append(Job("chains", {"number": number, "chains": kept}))
    if "kernels" in parts:
        jobs += kernel_jobs(quick)
    if "checkers" in parts:
        jobs.append(Job("checkers", {"corruptions": 4 if quick else 60}))
    for job in jobs:
        job.data["only"] = only
    return jobs


def kernel_jobs(quick: bool) -> list[Job]:
    """By backend the first and last case, and the most tokens; Triton's interpreter is slow."""
    if quick:
        backends = {"torch": (0, 12, 131), "reference": (0, 6, 31), "triton": (0, 2, 16)}
        jobs = [Job("kernels", {"backends": backends, "device": "cpu"}, interpreted=True)]
    else:
        jobs = [
            Job("kernels", {"backends": {"torch": (0, 150, 131), "reference": (0, 60, 67)}, "device": "cpu"}),
            Job("kernels", {"backends": {"triton": (0, 12, 17)}, "device": "cpu"}, interpreted=True),
            Job("kernels", {"backends": {"triton": (12, 24, 17)}, "device": "cpu"}, interpreted=True),
        ]
    if has_cuda():
        cases = (0, 10 if quick else 300, 131)
        jobs.append(Job("kernels", {"backends": {"triton": cases, "torch": cases}, "device": "cuda"}))
    return jobs


def needed_commands(chain: Chain, parts: tuple[str, ...]) -> list[Command]:
    """The commands of the parts asked for, and those that write what these read."""
    if not any(part in parts for part, _ in chain.commands):
        return []
    return [
        (part, argv)
        for part, argv in chain.commands
        if part in parts or argv[0] == "construct" or "model" in argv
    ]


def has_cuda() -> bool:
    """Whether torch sees a GPU, asked in a process of its own."""
    if shutil.which("nvidia-smi") is None:
        return False
    asked = [sys.executable, "-c", "import torch; raise SystemExit(not torch.cuda.is_available())"]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def make_side(folder: Path, checkout: Path, inputs: Path) -> Path:
    """A folder with a link to the checkout, this program and the inputs."""
    folder.mkdir()
    (folder / "mirrormata").symlink_to(checkout.resolve(), target_is_directory=True)
    (folder / "inputs").symlink_to(inputs, target_is_directory=True)
    shutil.copy(PROBE, folder / "probe.py")
    return folder


def make_inputs(folder: Path, old: Path) -> Path:
    """The input files that both checkouts read: those of the old one, and a layer that only decays."""
    import numpy as np

    shutil.copytree(old / "tests" / "data", folder / "data")
    shutil.copytree(old / "examples" / "models", folder / "models")
    np.savez(
        folder / "decay.npz",
        A=np.array([[[1.0]], [[0.75]]]),
        B=np.zeros((2, 1, 1)),
        H0=np.ones((1, 1)),
        codes=np.array([[[1.0]], [[0.75]]]),
        decode=np.array([[0, 0], [1, 1]]),
    )
    return folder


def environment(side: Path, interpreted: bool = False) -> dict[str, str]:
    """One thread, a fixed width of the terminal, and the side's link before an installed package."""
    given = {
        "PYTHONPATH": str(side),
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }
    given |= {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONIOENCODING": "utf-8"}
    return {**os.environ, **given, "TRITON_INTERPRET": "1" if interpreted else "0"}


def ask_library(side: Path) -> list[str]:
    """The examples of all named automata."""
    code = "import sys; from mirrormata.cli import main; main(sys.argv[1:])"
    asked = [sys.executable, "-c", code, "inspect", "--library", "--json"]
    done = subprocess.run(asked, check=False, cwd=side, env=environment(side), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"inspect --library fails in the old checkout: {done.stderr.strip()}")
    return [row["example"] for row in json.loads(done.stdout)]


Results = dict[tuple[str, str], dict[str, Any]]


def run_job(side: Path, number: int, job: Job) -> tuple[Results, str]:
    """The results of a job in a checkout by part and name, and why there are no more of them, or nothing."""
    asked, answer = side / f"job-{number}.json", side / f"result-{number}.jsonl"
    asked.write_text(json.dumps({"kind": job.kind, "data": job.data}), encoding="utf-8")
    ended = ""
    try:
        done = subprocess.run(
            [sys.executable, str(side / "probe.py"), str(asked), str(answer)],
            check=False,
            cwd=side,
            env=environment(side, job.interpreted),
            capture_output=True,
            text=True,
            timeout=PROCESS_LIMIT,
        )
        if done.returncode:
            ended = (
                f"exit status {done.returncode}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
            )
    except subprocess.TimeoutExpired:
        ended = f"stopped after {PROCESS_LIMIT} seconds"
    lines = answer.read_text(encoding="utf-8").split("\n")[:-1] if answer.is_file() else []
    return {(part, what): result for part, what, result in map(json.loads, lines)}, ended


class Difference(NamedTuple):
    """Where two results differ; `old` and `new` are shortened."""

    part: str
    what: str
    place: str
    old: str
    new: str


@dataclass
class Report:
    """What was compared, by part: results, those that both checkouts refuse, files and tensors; and what differs."""

    compared: dict[str, Counter[str]]
    differences: list[Difference]
    deliberate: list[tuple[Difference, str]]
    seconds: dict[str, float]


def places_that_differ(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every leaf that is not the same, by its place; types count, so 1 is not 1.0, and NaN is NaN."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from places_that_differ(old.get(key, "missing"), new.get(key, "missing"), f"{place}.{key}")
        if list(old) != list(new) and set(old) == set(new):
            yield f"{place}: order of the entries", ", ".join(old), ", ".join(new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (x, y) in enumerate(zip(old, new, strict=True)):
            yield from places_that_differ(x, y, f"{place}[{i}]")
    elif type(old) is not type(new) or repr(old) != repr(new):
        yield place, old, new


def compare_results(part: str, what: str, old: Any, new: Any, messages: bool) -> Iterator[Difference]:
    """The differences of two results of the same command or call."""
    left_out = {"folder", "took"} if messages else {"folder", "took", "message"}
    first, second = ({k: v for k, v in x.items() if k not in left_out} for x in (old, new))
    if first["status"] != second["status"]:  # what follows from it needs no lines of its own
        yield Difference(
            part,
            what,
            "exit status",
            *(shortened(f"{x['status']} {x.get('message', '')}".strip()) for x in (old, new)),
        )
        return
    for place, x, y in places_that_differ(first, second):
        detail = place.removeprefix(".")
        name = detail.removeprefix("files.")
        if detail.startswith("files.") and name.endswith(".json"):
            x, y, inner = inside_json(Path(old["folder"]) / name, Path(new["folder"]) / name, x, y)
            detail += inner
        elif detail.startswith("files.") and name.endswith((".npz", ".safetensors")):
            detail += inside_arrays(Path(old["folder"]) / name, Path(new["folder"]) / name)
        yield Difference(part, what, detail, shortened(x), shortened(y))


def inside_json(old: Path, new: Path, x: Any, y: Any) -> tuple[Any, Any, str]:
    """The first place at which two JSON files differ, for a file whose bytes do."""
    if not (old.is_file() and new.is_file()):
        return x, y, ""
    first, second = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    found = next(places_that_differ(first, second), None)
    return (x, y, ": bytes, not values") if found is None else (found[1], found[2], found[0])


def inside_arrays(old: Path, new: Path) -> str:
    """Which arrays and which entries of the metadata differ in two files of arrays whose bytes do."""
    if not (old.is_file() and new.is_file()):
        return ""
    first, second = (parts_of_arrays(path) for path in (old, new))
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    return ": " + (", ".join(names) or "bytes, not arrays")


def parts_of_arrays(path: Path) -> dict[str, Any]:
    """The arrays of an .npz, or the tensors and metadata of a .safetensors file, each as what can be compared."""
    if path.suffix == ".npz":
        import numpy as np

        with np.load(path, allow_pickle=False) as arrays:
            return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    about = json.loads(header.pop("__metadata__", {}).get("mirrormata", "{}"))
    tensors = {
        name: (t["dtype"], t["shape"], data[start + t["data_offsets"][0] : start + t["data_offsets"][1]])
        for name, t in header.items()
    }
    return tensors | {f"mirrormata.{key}": value for key, value in about.items()}


def shortened(value: Any) -> str:
    """A value in one line."""
    text = re.sub(r"\s+", " ", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    text = re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", text)  # the beginning of a digest
    return text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"


def compare_versions(
    old: Path,
    new: Path,
    parts: tuple[str, ...] = PARTS,
    *,
    quick: bool = False,
    only: str = "",
    jobs: int = 2,
    messages: bool = False,
) -> Report:
    """Run the same in both checkouts and compare all results.

    Args:
        old: folder of the checkout that is taken as right; the input files come from it.
        new: folder of the checkout that is compared with it.
        parts: which of `PARTS`.
        quick: a small part of everything, in less than a minute.
        only: run only what has this text in its name.
        jobs: how many processes at the same time, at least 1.
        messages: also compare standard error word by word.

    Returns:
        The report; the checkouts are alike where `report.differences` is empty.
    """
    report = Report({part: Counter() for part in parts}, [], [], {})
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        make_inputs(inputs, old)
        sides = [make_side(Path(folder) / name, path, inputs) for name, path in (("old", old), ("new", new))]
        todo = make_jobs(parts, quick, only, sides[0])
        with ThreadPoolExecutor(jobs) as pool:
            runs = [[pool.submit(run_job, side, i, job) for side in sides] for i, job in enumerate(todo)]
            for job, (first, second) in zip(todo, runs, strict=True):
                compare_job(report, job, parts, first.result(), second.result(), messages)
    return report


def compare_job(
    report: Report,
    job: Job,
    parts: tuple[str, ...],
    first_run: tuple[Results, str],
    second_run: tuple[Results, str],
    messages: bool,
) -> None:
    """Add to the report what one process found in each checkout."""
    (first, ended), (second, other) = first_run, second_run
    found: list[Difference] = []
    if ended or other:
        texts = [f"{len(x)} results, {why or 'through'}" for x, why in (first_run, second_run)]
        found.append(Difference("-", f"process of {job.kind}", "", *texts))
    for key in [*first, *(key for key in second if key not in first)]:
        part, what = key
        if part not in parts:
            continue
        x, y = first.get(key), second.get(key)
        if x is None or y is None:
            found.append(
                Difference(
                    part, what, "", "missing" if x is None else "run", "missing" if y is None else "run"
                )
            )
            continue
        report.seconds[f"{part} {what}"] = x.get("took", 0.0)
        count = report.compared[part]
        count["results"] += 1
        count["refused"] += x["status"] not in (0, 1)
        count["files"] += len(x.get("files", {}))
        count["tensors"] += len(x.get("bits", {}))
        found += compare_results(part, what, x, y, messages)
        if part != "kernels" and str(x["status"]).startswith("raises"):
            found.append(Difference(part, what, "status", f"{x['status']}: a traceback", str(y["status"])))
    for difference in found:
        reason = next((d.reason for d in DELIBERATE if is_deliberate(d, difference)), None)
        if reason is None:
            report.differences.append(difference)
        else:
            report.deliberate.append((difference, reason))


def is_deliberate(meant: Deliberate, found: Difference) -> bool:
    """Whether a row of the table is about this difference."""
    return meant.part == found.part and bool(
        re.search(meant.what, found.what) and re.search(meant.place, found.place)
    )


def print_report(report: Report) -> None:
    """What was compared, then each difference in a line."""
    print(f"{'part':<14}{'results':>9}{'refused':>9}{'files':>9}{'tensors':>9}{'differ':>9}")
    for part, count in report.compared.items():
        differ = len({d.what for d in report.differences if d.part == part})
        columns = (count["results"], count["refused"], count["files"], count["tensors"], differ)
        print(f"{part:<14}" + "".join(f"{n:>9,}" for n in columns))
    for difference, reason in report.deliberate:
        print(f"deliberate: {difference.part}: {difference.what}: {difference.place} ({reason})")
    for d in report.differences:
        print(f"differs: {d.part}: {d.what}: {d.place}: {d.old} | {d.new}")
    print("alike" if not report.differences else f"{len(report.differences)} differences")


def main(arguments: list[str] | None = None) -> None:
    """The program; exit status 1 if anything differs or nothing was compared."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, metavar="OLD", help="checkout that is taken as right")
    parser.add_argument("new", type=Path, metavar="NEW", help="checkout that is compared with it")
    parser.add_argument("--part", action="append", choices=PARTS, help="can be repeated; default all")
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--only", default="", metavar="TEXT", help="only what has this text in its name")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time; default 2")
    parser.add_argument("--messages", action="store_true", help="compare standard error too")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="write counts and differences")
    options = parser.parse_args(given)
    for path in (options.old, options.new):
        if not (path / "__init__.py").is_file():
            parser.error(f"{path} has no __init__.py: give the root of a checkout")
    parts = tuple(part for part in PARTS if part in options.part) if options.part else PARTS
    begun = time.perf_counter()
    report = compare_versions(
        *(options.old, options.new, parts),
        quick=options.quick,
        only=options.only,
        jobs=options.jobs,
        messages=options.messages,
    )
    print_report(report)
    print(f"{time.perf_counter() - begun:.0f} s")
    if options.output is not None:
        written = {
            "compared": report.compared,
            "differences": [d._asdict() for d in report.differences],
            "deliberate": [d._asdict() | {"reason": reason} for d, reason in report.deliberate],
            "slowest": dict(sorted(report.seconds.items(), key=lambda item: -item[1])[:20]),
        }
        options.output.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    raise SystemExit(
        bool(report.differences) or not any(count["results"] for count in report.compared.values())
    )


if __name__ == "__main__":
    main()
