"""Public implementations held to the exact words, by version: benchmarks/results/vectors_public.json.

    python -m mirrormata.benchmarks.vectors_public                 what runs on this machine: on a CPU, or on its GPU
    python -m mirrormata.benchmarks.vectors_public --only fla/     those whose names begin so
    python -m mirrormata.benchmarks.vectors_public --out FILE      into another file
    python -m mirrormata.benchmarks.vectors_public --merge FILE    results of another machine into this repository's file

A result replaces an earlier one of the same implementation, versions, formats and device. An implementation that is not installed is
left out and named. On a GPU those that need one run, and each runs in a process of its own, since a kernel that fails may take the
others with it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mirrormata import __version__
from mirrormata.benchmarks.machine import installed
from mirrormata.kernels.vectors._check import check_vectors
from mirrormata.kernels.vectors._families import all_words
from mirrormata.kernels.vectors._report import FAIL, NOT_RUN, PARTIAL, PASS
from mirrormata.kernels.vectors._runners import RUNNERS, Runner, find_runner

FILE = Path(__file__).parent / "results" / "vectors_public.json"
SECONDS = 1200
"""The most time that one implementation may take, compilation included."""
HEAD = ("implementation", "versions", "on", "formats", "words", "pass", "in part", "not run", "fails")


def results_of(runner: Runner, device: str, card: str) -> list[dict[str, Any]]:
    """The verdicts of an implementation, one result for each of its sets of formats."""
    function = runner.load()
    versions = {package: version_of(package) for package in runner.packages}
    found = []
    for contract in runner.contracts:
        report = check_vectors(
            function, runner.operator, contract=contract, framework=runner.framework, device=device
        )
        verdicts = report.as_dict()["verdicts"]
        for verdict in verdicts:
            verdict.pop("formats")
            verdict["failed"] = list(verdict["failed"])
        found.append(
            {
                "implementation": runner.name,
                "operator": runner.operator,
                "versions": versions,
                "on": card,
                "formats": asdict(contract),
                "described": contract.describe(),
                "verdicts": verdicts,
            }
        )
        print(f"{runner.name} [{contract.describe()}]: {report.headline()}", file=sys.stderr, flush=True)
    return found


def version_of(package: str) -> str:
    """The version of a distribution that is installed, or of this package."""
    return __version__ if package == "mirrormata" else installed(package) or "not installed"


def key_of(result: dict[str, Any]) -> str:
    """What a later result of the same has in common with an earlier one."""
    return json.dumps([result[name] for name in ("implementation", "versions", "on", "formats")])


def merge(path: Path, results: list[dict[str, Any]]) -> None:
    """Put results into a file, in the order of the implementations."""
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"results": []}
    known = {key_of(result): result for result in document["results"]}
    known |= {key_of(result): result for result in results}
    order = {runner.name: i for i, runner in enumerate(RUNNERS)}
    kept = sorted(known.values(), key=lambda r: (order.get(r["implementation"], len(order)), r["on"]))
    text = json.dumps({"words": len(all_words()), "results": kept}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def table_rows(path: Path = FILE) -> list[list[str]]:
    """A row for each result, for the page."""
    rows = []
    for result in json.loads(path.read_text(encoding="utf-8"))["results"]:
        kinds = (PASS, PARTIAL, FAIL, NOT_RUN)
        by = {kind: [v for v in result["verdicts"] if v["verdict"] == kind] for kind in kinds}
        fails = "; ".join(f"`{v['family']}`: {v['cause']}" for v in by[FAIL])
        rows.append(
            [
                f"`{result['implementation']}`",
                ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
                result["on"],
                result["described"],
                str(sum(v["total"] for v in result["verdicts"])),
                str(len(by[PASS])),
                str(len(by[PARTIAL])),
                str(len(by[NOT_RUN])),
                fails.replace("|", "\\|") or "none",
            ]
        )
    return rows


def main() -> None:
    """Run what this machine can, each implementation in a process of its own, and keep the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="implementations whose names begin so")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of results")
    parser.add_argument("--merge", type=Path, help="a file of results of another machine")
    parser.add_argument("--one", help="run one implementation, and print its results")
    given = parser.parse_args()
    if given.merge is not None:
        merge(given.out, json.loads(given.merge.read_text(encoding="utf-8"))["results"])
        return
    device, card = machine()
    if given.one is not None:
        runner = find_runner(given.one)
        assert runner is not None, given.one
        print(json.dumps(results_of(runner, device if runner.framework == "torch" else "cpu", card)))
        return
    for runner in RUNNERS:
        if not runner.name.startswith(given.only) or runner.on_gpu != (device == "cuda"):
            continue
        command = [sys.executable, "-P", "-m", "mirrormata.benchmarks.vectors_public", "--one", runner.name]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{runner.name}: left out: {type(error).__name__}", file=sys.stderr)
            continue
        merge(given.out, json.loads(done.stdout.splitlines()[-1]))


def machine() -> tuple[str, str]:
    """The device of torch's tensors, and its name."""
    try:
        import torch
    except ModuleNotFoundError:
        return "cpu", "CPU"
    return ("cuda", torch.cuda.get_device_name()) if torch.cuda.is_available() else ("cpu", "CPU")


if __name__ == "__main__":
    main()
