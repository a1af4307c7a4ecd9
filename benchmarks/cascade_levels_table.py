"""The tables of `cascade_levels` for the documentation, from the committed figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results" / "cascade_levels.json"


def read_results() -> dict[str, Any]:
    """The committed document."""
    document: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document


def levels_table(document: dict[str, Any]) -> str:
    """One row for each number of states: levels, bounds and monoids of the two-letter automata."""
    rows = []
    for row in document["rows"]:
        automata, monoids = row["automata"], row["monoids"]
        known = monoids["automata"] - monoids["over_limit"]
        listed = "" if monoids["of"] == "all" else f" of {monoids['automata']:,} drawn"
        aperiodic = f"{monoids['aperiodic']:,}"
        if monoids["over_limit"]:
            aperiodic += f" (of {known:,} listed)"
        largest = (
            f"over {document['limits']['max_monoid']:,}"
            if monoids["over_limit"]
            else f"{monoids['largest']:,}"
        )
        rows.append([
            row["states"], f"{automata:,}" + ("" if row["kind"] == "all" else " drawn"), row["max"],
            f"{row['mean']:.2f}", max(row["states"] - 1, 0), f"{row['above_states_minus_1'] / automata:.1%}",
            f"{2 ** row['states']:,}", largest + listed, aperiodic + listed,
        ])  # fmt: skip
    head = [
        "states", "minimal automata", "most levels", "mean", "\\|Q\\| - 1", "above it", "2^\\|Q\\|",
        "largest monoid", "aperiodic",
    ]  # fmt: skip
    return _table(head, rows)


def histogram_table(document: dict[str, Any]) -> str:
    """How many automata have how many levels; one column for each number of states listed in full."""
    rows = [row for row in document["rows"] if row["kind"] == "all" and row["states"] > 1]
    most = max(row["max"] for row in rows)
    lines = [
        [level, *(f"{row['levels'][str(level)]:,}" if str(level) in row["levels"] else "" for row in rows)]
        for level in range(1, most + 1)
    ]
    return _table(["levels", *(f"{row['states']} states" for row in rows)], lines)


def family_table(document: dict[str, Any]) -> str:
    """The family of order-preserving maps."""
    rows = [
        [f["states"], f"{f['letters']:,}", f"{f['levels']:,}", f"{f['bound']:,}", f["states"] - 1, f"{2 ** f['states']:,}"]
        for f in document["family"]
    ]  # fmt: skip
    return _table(["states", "letters", "levels", "C(n-1, ⌊n/2⌋)", "n - 1", "2^n"], rows)


def more_letters_table(document: dict[str, Any]) -> str:
    """Deep automata as part of the cascade of all maps of their states."""
    rows = [
        [
            m["states"],
            m["levels"],
            m["levels_in_all_maps"],
            _listed(m["degrees"]),
            _listed(m["letters_of_levels"]),
        ]
        for m in document["more_letters"]
    ]
    head = ["states", "holonomy levels", "levels with all maps", "their states", "their letters"]
    return _table(head, rows)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---:"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)
