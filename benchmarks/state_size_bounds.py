"""How many numbers a state needs in automata of random maps, with one vector a state (PD.N-1 by words), and how many need two layers.

    python -m mirrormata.benchmarks.state_size_bounds --count 100 -o FILE

Each automaton has uniform maps and acceptance, all its states are reachable, and no two of them are equivalent. Counted are those for
which the search within its limits finds n - 1 words, n - 2, or fewer. own.LMI is asked up to `MOST_STATES` states.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from mirrormata.benchmarks.machine import installed
from mirrormata.benchmarks.random_automata import draw_automaton
from mirrormata.theory.planning._bounds import bounds
from mirrormata.theory.planning._gram_equations import MOST_STATES

SIZES = (*((n, 2) for n in (3, 4, 5, 6, 8, 10, 15, 20)), *((n, 4) for n in (3, 4, 5, 6, 8, 10, 20, 50)))
"""States and letters of each row; uniform maps of two letters seldom reach all of more states."""


def measure_row(states: int, letters: int, count: int) -> dict[str, Any]:
    """The counts of one row."""
    full, less, layers, seconds = 0, 0, 0, []
    for seed in range(count):
        automaton = draw_automaton(states, letters, seed)
        begun = process_time()
        found = {b.reason: b.at_least for b in bounds(automaton) if b.figure in ("state_size", "layers")}
        seconds.append(process_time() - begun)
        full += found.get("PD.N-1") == states - 1
        less += found.get("PD.N-1") == states - 2
        layers += "own.LMI" in found
    return {
        "states": states, "letters": letters, "automata": count, "n_minus_1": full, "n_minus_2": less,
        "two_layers": layers if states <= MOST_STATES else None, "seconds": round(median(seconds), 4),
    }  # fmt: skip


def table_rows(found: dict[str, Any]) -> list[list[str]]:
    """The rows of the table in the documentation."""

    def share(number: int | None, count: int) -> str:
        return "" if number is None else f"{100 * number / count:.1f}%"

    return [
        [
            str(row["states"]), str(row["letters"]), share(row["n_minus_1"], row["automata"]),
            share(row["n_minus_2"], row["automata"]),
            share(row["automata"] - row["n_minus_1"] - row["n_minus_2"], row["automata"]), share(row["two_layers"], row["automata"]),
        ]
        for row in found["rows"]
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="automata of each size")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    rows = []
    for states, letters in SIZES:
        rows.append(measure_row(states, letters, options.count))
        print(json.dumps(rows[-1]), file=sys.stderr)
    result = {"numpy": installed("numpy"), "count": options.count, "rows": rows}
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
