"""Random models held to the oracle: `python -m mirrormata.tests.fuzz --models 20000 --processes 2`, or `make fuzz`.

Each model comes from a seed of its own, `--seed` times a million plus its number, and `--model-seed` repeats one. Exit status
1 where something differs or ends in an error that is not one line. Files that show it go to `--folder`.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mirrormata.foundation._files import write_text
from mirrormata.foundation._interrupting import catch_signals, describe_interrupt, number_of
from mirrormata.foundation._workers import without_ctrl_c
from mirrormata.tests.fuzz.models import KINDS, Result, hold_model, write_temporary_files_to

STRIDE = 1_000_000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m mirrormata.tests.fuzz", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind of model")
    parser.add_argument("--model-seed", type=int, help="one model again")
    parser.add_argument(
        "--folder", type=Path, default=Path("fuzz-differences"), help="where models that differ go"
    )
    parser.add_argument("--output", type=Path, help="the counts as JSON")
    return parser.parse_args()


def results(seeds: Iterator[int], processes: int, only: str | None) -> Iterator[Result]:
    """Each model's, in the order of the seeds."""
    if processes == 1:
        yield from (hold_model(seed, only) for seed in seeds)
        return
    # one folder for the temporary files of all processes: those that are ended remove nothing
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with without_ctrl_c():
            pool = multiprocessing.get_context("spawn").Pool(processes, write_temporary_files_to, (folder,))
        with pool:
            yield from pool.imap(functools.partial(hold_model, only=only), seeds, chunksize=20)


class Tally:
    """What all models gave."""

    def __init__(self) -> None:
        self.models = 0
        self.kinds: dict[str, Counter[str]] = {}
        self.arithmetics: dict[str, Counter[str]] = {}
        self.compared: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.differences: list[dict[str, Any]] = []

    def add(self, result: Result) -> None:
        self.models += 1
        self.kinds.setdefault(result.kind, Counter())[result.verdict] += 1
        if result.arithmetic:
            self.arithmetics.setdefault(result.arithmetic, Counter())[result.verdict] += 1
        self.compared.update(result.compared)
        self.refused.update(result.refused)
        self.differences += [
            {
                "seed": result.seed,
                "kind": result.kind,
                "arithmetic": result.arithmetic,
                "planted": result.planted,
                "what": what,
            }
            for what in result.differences
        ]

    def to_json(self, seed: int, seconds: float) -> dict[str, Any]:
        differing = Counter(d["what"].split(":")[0] for d in self.differences)
        return {
            "format": "mirrormata-fuzz/1",
            "models": self.models,
            "seed": seed,
            "seconds": round(seconds, 1),
            "models_that_differ": len({d["seed"] for d in self.differences}),
            "exceptions": differing["exception"],
            "differences": dict(sorted(differing.items())),
            "kinds": {k: dict(sorted(v.items())) for k, v in sorted(self.kinds.items())},
            "arithmetics": {k: dict(sorted(v.items())) for k, v in sorted(self.arithmetics.items())},
            "compared": dict(sorted(self.compared.items())),
            "refused": dict(sorted(self.refused.items())),
            "first_differences": self.differences[:200],
        }


def _table(tally: Tally) -> Iterator[str]:
    verdicts = sorted({v for c in tally.kinds.values() for v in c})
    yield f"{'kind':14}" + "".join(f"{v:>16}" for v in verdicts) + f"{'differ':>10}"
    for kind, counts in sorted(tally.kinds.items()):
        differ = len({d["seed"] for d in tally.differences if d["kind"] == kind})
        yield f"{kind:14}" + "".join(f"{counts[v]:>16,}" for v in verdicts) + f"{differ:>10,}"


def main() -> int:
    arguments = _arguments()
    if arguments.model_seed is not None:
        result = hold_model(arguments.model_seed, arguments.only, arguments.folder)
        print(
            f"{result.kind} in {result.arithmetic or 'exact numbers'} {result.planted}: {result.verdict}, {result.compared}"
        )
        print("\n".join([*result.differences, *result.files]))
        return int(bool(result.differences))
    tally = Tally()
    try:
        with catch_signals(at_once_afterwards=True):
            return _hold_models(arguments, tally)
    except KeyboardInterrupt as stop:
        kept = f"{tally.models:,} models, {len(tally.differences):,} differences; nothing was written"
        print(describe_interrupt(stop, kept), file=sys.stderr)
        return 128 + number_of(stop)


def _hold_models(arguments: argparse.Namespace, tally: Tally) -> int:
    began = shown = time.monotonic()
    first = arguments.seed * STRIDE
    for result in results(iter(range(first, first + arguments.models)), arguments.processes, arguments.only):
        tally.add(result)
        if result.differences:
            files = hold_model(result.seed, arguments.only, arguments.folder).files
            print(
                f"{result.kind}, seed {result.seed}: {result.differences[0]} {' '.join(files)}",
                file=sys.stderr,
            )
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"{tally.models:,} models, {len(tally.differences):,} differences", file=sys.stderr)
    report = tally.to_json(arguments.seed, time.monotonic() - began)
    print("\n".join(_table(tally)))
    print(
        f"refused with one line: {sum(tally.refused.values()):,}; compared: {sum(tally.compared.values()):,}"
    )
    print(
        f"{tally.models:,} models in {report['seconds']:,} s: {report['models_that_differ']:,} differ, {report['exceptions']:,} exceptions"
    )
    if arguments.output:
        write_text(arguments.output, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return int(bool(tally.differences))


if __name__ == "__main__":
    sys.exit(main())
