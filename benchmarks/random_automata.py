"""How large an automaton of random maps becomes: layers, factors, work, certificate and seconds by construction.

    python -m mirrormata.benchmarks.random_automata --states 10,20,50 --letters 2,4,10 --count 20 --tokens 2000 -o FILE
    python -m mirrormata.benchmarks.random_automata --picture FILE.svg FILE

Each automaton has uniform maps and acceptance, and counts if all its states are reachable and no two of them are equivalent. It is
constructed by default, for the fewest layers, and by each of `own.window`, `own.chain` and, within the limits named in the result,
G.T4 and own.n-1; the certificate of the default is written and checked, and words are run where asked for. Times are processor
seconds of one thread. Groups that the results file holds already are kept, so an interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from mirrormata import check, construct, random_words, run
from mirrormata.benchmarks.machine import installed, processor_name
from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions.automata._automaton import Automaton, minimise
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.foundation._errors import LimitError, NotRealisableError

LIMITS = Limits(image_sets=20_000, level_letters=50_000)
MOST_STATES = {"G.T4": 60, "own.n-1": 10}
"""Beyond so many states a construction is not tried: its tables would not fit."""


def draw_automaton(states: int, letters: int, seed: int) -> Automaton:
    """A minimal automaton of uniform maps, all of whose states are reachable.

    It is the part of a larger random automaton that its start reaches, drawn again until that part is minimal and has so many states:
    given its size, it is uniform among the automata whose states are all reachable. Of n states of uniform maps with k letters about
    a share x is reached, x = 1 - exp(-kx).
    """
    generator = np.random.default_rng([states, letters, seed])
    share = 1.0
    for _ in range(100):
        share = 1 - np.exp(-letters * share)
    drawn = max(round(states / share), states)
    while True:
        transitions = generator.integers(0, drawn, (letters, drawn))
        accepting = generator.integers(0, 2, drawn).astype(bool).astype(object)
        found = Automaton(
            tuple(range(drawn)), tuple(f"x{i}" for i in range(letters)), transitions, 0, accepting,
            f"random {states} {letters} {seed}",
        ).trim()  # fmt: skip
        if len(found.states) == states and len(minimise(found).states) == states:
            return found


def figures_of(found: Realisation, seconds: float) -> dict[str, Any]:
    """The figures that are compared."""
    return {
        "theorem": found.theorem, "layers": found.depth, "factors": found.householders, "heads": found.heads,
        "dim": found.dim, "work": found.work, "seconds": round(seconds, 3),
    }  # fmt: skip


def measure(automaton: Automaton, tokens: int) -> dict[str, Any]:
    """One automaton by every construction; the default is certified, checked, and run on 64 words of `tokens` letters."""
    row: dict[str, Any] = {"by": {}}
    for theorem in ("own.window", "own.chain", "G.T4", "own.n-1"):
        if len(automaton.states) > MOST_STATES.get(theorem, 10**9):
            continue
        begun = process_time()
        try:
            found = min(realisations_of(Problem(automaton, LIMITS), theorem), key=lambda f: f.work or 0)
        except (NotRealisableError, LimitError):
            continue
        row["by"][theorem] = figures_of(found, process_time() - begun)
    row["fewest_layers"] = construct(automaton, objective="layers").depth
    begun = process_time()
    found = construct(automaton)
    built = process_time()
    certificate = json.dumps(found.certificate())
    verdict = check(json.loads(certificate)).verdict
    row["default"] = figures_of(found, built - begun) | {
        "certificate_bytes": len(certificate), "verdict": verdict, "seconds_in_all": round(process_time() - begun, 3),
    }  # fmt: skip
    if tokens:
        begun = process_time()
        report = run(found, random_words(automaton, 64, tokens, 0))
        row["run"] = {"tokens": report.tokens, "errors": report.errors, "dtype": report.dtype,
                      "seconds": round(process_time() - begun, 1)}  # fmt: skip
    row["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return row


def measure_seed(of: tuple[int, int, int, int]) -> dict[str, Any]:
    """The row of one automaton: its states, letters and seed, and the letters of a word.

    Args:
        of: states, letters, seed, tokens.
    """
    states, letters, seed, tokens = of
    return {"seed": seed} | measure(draw_automaton(states, letters, seed), tokens)


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Least, median and most of each figure by construction."""
    table: dict[str, Any] = {}
    for theorem in ("own.window", "own.chain", "G.T4", "own.n-1"):
        built = [row["by"][theorem] for row in rows if theorem in row["by"]]
        if built:
            spread = {
                key: _spread([b[key] for b in built]) for key in ("layers", "factors", "work", "seconds")
            }
            table[theorem] = {"built": len(built), "of": len(rows)} | spread
    default = [row["default"] for row in rows]
    keys = ("layers", "factors", "work", "certificate_bytes", "seconds_in_all")
    table["default"] = {key: _spread([d[key] for d in default]) for key in keys}
    table["fewest_layers"] = _spread([row["fewest_layers"] for row in rows])
    table["peak_memory_mb"] = max(row["peak_memory_mb"] for row in rows)
    table["valid"] = sum(d["verdict"] == "valid" for d in default)
    table["errors"] = sum(row["run"]["errors"] for row in rows if "run" in row)
    table["tokens"] = sum(row["run"]["tokens"] for row in rows if "run" in row)
    return table


def _spread(values: list[Any]) -> list[Any]:
    return [min(values), median(values), max(values)]


HEAD = (
    "states", "letters", "layers", "fewest", "factors", "work", "certificate kB", "seconds", "MB", "wrong of tokens", "own.chain",
    "holonomy", "n - 1",
)  # fmt: skip
"""The columns of `table_rows`."""


def table_rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    """One row a group: medians of the default's figures, the layers with their range, the most memory, and the layers of others."""
    rows: list[tuple[str, ...]] = []
    for group in document["groups"]:
        found = group["summary"]
        default = found["default"]
        others = []
        for theorem in ("own.chain", "G.T4", "own.n-1"):
            part = found.get(theorem)
            count = (
                "" if part is None or part["built"] == part["of"] else f" ({part['built']} of {part['of']})"
            )
            others.append("" if part is None else f"{part['layers'][1]:g}{count}")
        low, middle, high = default["layers"]
        rows.append(
            (
                f"{group['states']:,}", str(group["letters"]), f"{middle:g} ({low} to {high})",
                f"{found['fewest_layers'][1]:g}", f"{default['factors'][1]:g}",
                f"{default['work'][1]:,.0f}", f"{default['certificate_bytes'][1] / 1000:.1f}", f"{default['seconds_in_all'][1]:.2f}",
                f"{found['peak_memory_mb']:,}", f"{found['errors']} of {found['tokens']:,}", *others,
            )
        )  # fmt: skip
    return rows


def draw_picture(results: dict[str, Any], path: Path) -> None:
    """Layers and work by the number of states, medians with the range, a panel each."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"] = "none"  # text stays text
    import matplotlib.pyplot as plt

    names = {
        "own.window": "own.window",
        "own.chain": "own.chain",
        "G.T4": "holonomy (G.T4)",
        "own.n-1": "own.n-1",
    }
    letters = sorted({group["letters"] for group in results["groups"]})
    figure, axes = plt.subplots(
        2, len(letters), figsize=(3.6 * len(letters), 6), sharex=True, sharey="row", squeeze=False
    )
    for column, k in enumerate(letters):
        groups = sorted((g for g in results["groups"] if g["letters"] == k), key=lambda g: g["states"])
        for theorem, label in names.items():
            have = [g for g in groups if theorem in g["summary"]]
            x = [g["states"] for g in have]
            for axis, key in zip(axes[:, column], ("layers", "work"), strict=True):
                low, middle, high = (
                    zip(*(g["summary"][theorem][key] for g in have), strict=True) if have else ((), (), ())
                )
                axis.plot(x, middle, marker="o", markersize=3, label=label)
                axis.fill_between(x, low, high, alpha=0.15)
        axes[0, column].set_title(f"{k} letters")
        axes[1, column].set_xlabel("states")
        for axis in axes[:, column]:
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.grid(alpha=0.25)
    axes[0, 0].set_ylabel("layers")
    axes[1, 0].set_ylabel("work: factors × key dimension")
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.suptitle("Random automata: median and range")
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    """Measure and write, or draw what was written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("results", nargs="?", type=Path, help="results to draw")
    parser.add_argument("--states", default="10,20,50")
    parser.add_argument("--letters", default="2,4,10")
    parser.add_argument("--count", type=int, default=20, help="automata of each kind")
    parser.add_argument("--tokens", type=int, default=0, help="letters of each of 64 words; 0: no run")
    parser.add_argument("--processes", type=int, default=1, help="automata measured side by side")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.picture:
        draw_picture(json.loads(given.results.read_text()), given.picture)
        return 0
    groups = _read_groups(given.output)
    done = {(g["states"], g["letters"]) for g in groups}
    sizes = [(n, k) for n in map(int, given.states.split(",")) for k in map(int, given.letters.split(","))]
    with ProcessPoolExecutor(given.processes, max_tasks_per_child=1) as pool:
        for n, k in sizes:
            if (n, k) in done:
                continue
            rows = list(pool.map(measure_seed, [(n, k, seed, given.tokens) for seed in range(given.count)]))
            summary = summarise(rows)
            groups.append(
                {
                    "states": n, "letters": k, "seeds": [0, given.count - 1], "side_by_side": given.processes,
                    "machine": machine(), "summary": summary, "rows": rows,
                }
            )  # fmt: skip
            print(n, k, json.dumps(summary), flush=True)
            if given.output:
                given.output.write_text(json.dumps(_document(groups), indent=1) + "\n")
    return 0


def machine() -> dict[str, Any]:
    """The processor and the versions that a group was measured with."""
    versions = {name: installed(name) for name in ("mirrormata", "numpy")}
    return {"processor": processor_name(), "python": sys.version.split()[0]} | versions


def _read_groups(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    groups: list[dict[str, Any]] = json.loads(path.read_text())["groups"]
    return groups


def _document(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": "mirrormata-random-automata/1",
        "arithmetic": "bf16 in runs; certificates are exact",
        "limits": {
            "image_sets": LIMITS.image_sets,
            "level_letters": LIMITS.level_letters,
            "states": MOST_STATES,
        },
        "groups": groups,
    }


if __name__ == "__main__":
    raise SystemExit(main())
