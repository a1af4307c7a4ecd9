"""How long the Python checkers and the checker that is proved in Coq take on the same certificates.

Processor seconds of whole programs, the least of several runs each, and those that Python takes to start:

    python benchmarks/formal_checker.py --output benchmarks/results/formal_checker.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mirrormata.benchmarks.machine import processor_name
from mirrormata.constructions._construct import construct
from mirrormata.foundation._files import write_text
from mirrormata.theory import checker
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory._proved_check import find_proved_checker
from mirrormata.theory.proofs._prove import prove

CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("S5", {}, ""),
    ("S6[transpositions]", {}, ""),
    ("S7[transpositions]", {}, ""),
    ("A6", {}, ""),
    ("mod:1000", {"exactness": "integer"}, ""),
    ("A5", {}, ""),
    ("A5[involutions]", {}, ""),
    ("A5_x_Z5", {}, ""),
    ("dihedral:60", {}, ""),
    ("mod:64", {"theorem": "own.T2tight"}, ""),
    ("S5", {"theorem": "DP.T1", "max_householders": 1}, ""),
    ("A7[generators]", {"theorem": "DP.T1", "max_householders": 1}, ""),
    ("random:states=20,letters=4,seed=1", {"theorem": "own.chain"}, ""),
    ("random:states=100,letters=4,seed=1", {"theorem": "own.chain"}, ""),
    ("mod:5", {}, "per_step:bf16"),
    ("mod:3", {}, "per_op:fp16:tree"),
)
"""The automata, how each is constructed, and for a proof with rounding its arithmetic."""


def document_of(spec: str, how: dict[str, Any], arithmetic: str) -> dict[str, Any]:
    """A certificate: of the construction alone, or of all its states with rounding."""
    made = construct(spec, **how)
    if arithmetic:
        proof = prove(made, made.automaton, arithmetic, method="states", max_states=40_000)
        if proof.certificate is None or "states" not in proof.certificate["equivalence"]:
            raise SystemExit(f"{spec} in {arithmetic}: no proof that lists the states: {proof.headline}")
        return proof.certificate
    document = full_certificate(made)
    if document["kind"] == "horizon":
        document = {k: v for k, v in document.items() if k != "horizon"} | {"kind": "table"}
    return document


def processor_seconds(command: list[str], runs: int) -> float:
    """The least processor time, user and system, of a program that must end with status 0."""
    seconds = []
    for _ in range(runs):
        process = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        _, status, usage = os.wait4(process, 0)
        if status:
            raise SystemExit(f"{' '.join(command)}: ended with status {status}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return round(min(seconds), 4)


def measure(runs: int) -> dict[str, Any]:
    """The times of all cases, in seconds."""
    program = find_proved_checker()
    if program is None:
        raise SystemExit("mirrormata-check is not built: run `make formal`")
    folder = Path(checker.__file__).parent
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for spec, how, arithmetic in CASES:
            document = document_of(spec, how, arithmetic)
            path = Path(place) / "certificate.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            checker_file = folder / f"{document['kind']}.py"
            summary = document.get("summary", {})
            rows.append(
                {
                    "automaton": spec,
                    "kind": document["kind"],
                    "theorem": how.get("theorem", ""),
                    "states": document["automaton"]["states"],
                    "letters": document["automaton"]["letters"],
                    "layers": summary.get("layers", 1),
                    "exactness": summary.get("exactness", arithmetic),
                    "bytes": path.stat().st_size,
                    "python": processor_seconds([sys.executable, "-I", str(checker_file), str(path)], runs),
                    "coq": processor_seconds([program, str(path)], runs),
                }
            )
        # the smallest certificate, on which the Python checker does little but start
        path.write_text(json.dumps(full_certificate(construct("parity"))), encoding="utf-8")
        start = processor_seconds([sys.executable, "-I", str(folder / "table.py"), str(path)], runs)
    return {"processor": processor_name(), "runs": runs, "python_start": start, "rows": rows}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args(arguments)
    write_text(given.output, json.dumps(measure(given.runs), indent=1) + "\n")


if __name__ == "__main__":
    main()
