"""Patterns to minimal DFAs beside other libraries, and holonomy skeletons and cascades beside SgpDec, on the same inputs in one run.

    python -m mirrormata.benchmarks.peers -o FILE.json [--peer-python PYTHON] [--gap COMMAND] [--only GROUP ...] [--processes N]
    python -m mirrormata.benchmarks.peers --table FILE.json

PYTHON is the interpreter that has automata-lib, FAdo, greenery and pyformlang, or some of them, by default this one. COMMAND starts
GAP with SgpDec among its packages, by default `gap`; it may have arguments, such as `gap -l "FOLDER;"` for another folder of packages. What is not
there is said in a line and left out. Every measurement has a process of its own with a limit of time and memory; a case has three,
of which the medians are written; cases are measured N side by side. Groups: dfas, named, patterns, random.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mirrormata.benchmarks import peers_patterns, peers_semigroups
from mirrormata.benchmarks.machine import installed, processor_name
from mirrormata.benchmarks.named_automata import PATTERNS
from mirrormata.benchmarks.peers_process import MEGABYTES, PROCESSES, SECONDS
from mirrormata.foundation._files import write_text

GROUPS = ("dfas", "named", "patterns", "random")
FORMAT = "mirrormata-peers/1"


def measure(given: argparse.Namespace) -> None:
    """Measure; each row is printed when it is done, and the document written; a line says what is missing.

    Args:
        given: the arguments of `main`.
    """
    there = peers_semigroups.gap_is_there(given.gap)
    groups = [group for group in given.only if group != "dfas"]
    if groups and not there:
        print(
            f"SgpDec: there is no program {given.gap!r}, so its columns are empty: install GAP, or name the command"
        )
    patterns: list[dict[str, Any]] = []
    semigroups: list[dict[str, Any]] = []
    with ThreadPoolExecutor(given.processes) as pool:
        names = PATTERNS if "dfas" in given.only else ()
        dfas = [pool.submit(peers_patterns.measure_pattern, given.peer_python, name) for name in names]
        gap = given.gap if there else None
        others = [
            pool.submit(peers_semigroups.measure_semigroup, gap, *case)
            for case in peers_semigroups.semigroups(groups)
        ]
        for future in (*dfas, *others):
            into, rows_of = (
                (patterns, peers_patterns.table_rows)
                if future in dfas
                else (semigroups, peers_semigroups.table_rows)
            )
            into.append(future.result())
            print(*rows_of(into[-1:])[0], sep=" | ", flush=True)
            if given.output:
                document = of_rows(patterns, semigroups, given.processes)
                write_text(given.output, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    for tool in peers_patterns.missing_tools(patterns):
        print(f"{tool}: {given.peer_python} does not have it, so its column is empty: pip install {tool}")
    if any("missing" in row.get("SgpDec", {}) for row in semigroups):
        print(
            f"SgpDec: {given.gap!r} cannot load it, so its columns are empty: put the package into GAP's folder pkg"
        )


def of_rows(
    patterns: list[dict[str, Any]], semigroups: list[dict[str, Any]], side_by_side: int
) -> dict[str, Any]:
    """The document that has these rows."""
    return {
        "format": FORMAT,
        "limits": {"seconds": SECONDS, "megabytes": MEGABYTES},
        "processes": PROCESSES,
        "side_by_side": side_by_side,
        "processor": processor_name(),
        "versions": versions(patterns, semigroups),
        "patterns": patterns,
        "semigroups": [
            row | {"SgpDec": {k: v for k, v in row["SgpDec"].items() if k != "versions"}}
            if "SgpDec" in row
            else row
            for row in semigroups
        ],
    }


def versions(patterns: list[dict[str, Any]], semigroups: list[dict[str, Any]]) -> dict[str, str | None]:
    """What was compared, and what it ran on."""
    found = {"python": sys.version.split()[0]} | {name: installed(name) for name in ("mirrormata", "numpy")}
    for row in patterns:
        found |= {tool: made["version"] for tool, made in row["tools"].items() if "version" in made}
    for row in semigroups:
        found |= row.get("SgpDec", {}).get("versions", {})
    return found


def main() -> int:
    """Measure and write, or print the tables of what was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--gap", default="gap", metavar="COMMAND")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="GROUP")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="cases measured side by side")
    parser.add_argument("--table", type=Path, metavar="FILE.json")
    given = parser.parse_args()
    if given.table:
        found = json.loads(given.table.read_text(encoding="utf-8"))
        for head, rows in (
            (peers_patterns.HEAD, peers_patterns.table_rows(found["patterns"])),
            (peers_semigroups.HEAD, peers_semigroups.table_rows(found["semigroups"])),
        ):
            for cells in (head, *rows):
                print(*cells, sep=" | ")
        return 0
    measure(given)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
