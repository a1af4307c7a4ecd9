"""Levels of the holonomy cascade against |Q| - 1 and 2^|Q|: all small minimal automata over two letters, then samples.

python benchmarks/cascade_levels.py --output benchmarks/results/cascade_levels.json \
    --picture docs/images/cascade_levels.svg
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirrormata.benchmarks.cascade_levels_picture import draw_cascade_levels
from mirrormata.benchmarks.deep_automata import (
    climb,
    full_cascade,
    is_minimal_for_some_final_state,
    order_preserving_family,
    table_of_code,
)
from mirrormata.benchmarks.subduction_heights import levels_of_tables
from mirrormata.benchmarks.two_letter_automata import (
    canonical_tables,
    minimal_final_sets,
    random_minimal_tables,
    semiautomaton_codes,
)
from mirrormata.constructions.algebra.monoids._monoid import TransitionMonoid
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._holonomy import holonomy_of_maps
from mirrormata.foundation._errors import LimitError
from mirrormata.foundation._files import write_text

Document = dict[str, Any]
FORMAT = "mirrormata-cascade-levels/1"
SAMPLES = ((7, 5_000), (8, 3_000), (10, 1_000))
CLIMBS = ((5, 2), (6, 4), (7, 6), (8, 4))
CLIMB_STEPS = 3_000
FAMILY = range(3, 13)
MONOIDS_OF_SAMPLE = 300
MAX_MONOID = 20_000
_LISTED = 4


def census(states: int) -> Document:
    """All minimal complete automata with this many states over two letters, up to isomorphism.

    `semiautomata`: those without start and accepting states, up to the order of the letters too, that some start
    and accepting states make minimal; levels and monoid are theirs.
    """
    tables = canonical_tables(states)
    weights = minimal_final_sets(tables)
    codes, first, which = np.unique(semiautomaton_codes(tables), return_index=True, return_inverse=True)
    automata = np.bincount(which.reshape(-1), weights=weights).astype(np.int64)
    kept = automata > 0
    codes, chosen, automata = codes[kept], tables[first[kept]], automata[kept]
    levels = levels_of_tables(chosen)
    deepest = codes[levels == levels.max()]
    row = {
        "states": states,
        "kind": "all",
        "automata": int(automata.sum()),
        "semiautomata": len(chosen),
        "levels": _histogram(levels, automata),
        "semiautomata_by_levels": _histogram(levels, np.ones_like(levels)),
        **_summary(states, levels, automata),
        "deepest_count": len(deepest),
        "deepest": [table_of_code(int(code), states).tolist() for code in deepest[:_LISTED]],
    }
    if states <= 5:
        return row | {"monoids": _monoids(chosen, automata, None)}
    drawn = random_minimal_tables(states, MONOIDS_OF_SAMPLE, seed=states)
    return row | {"monoids": _monoids(drawn, np.ones(len(drawn), dtype=np.int64), states)}


def sample(states: int, count: int, seed: int) -> Document:
    """Uniform draws from the minimal automata with this many states over two letters."""
    tables = random_minimal_tables(states, count, seed)
    levels = np.array([holonomy_of_maps(table.astype(np.int64)).levels for table in tables])
    ones = np.ones(count, dtype=np.int64)
    deepest = tables[levels == levels.max()]
    return {
        "states": states,
        "kind": "sample",
        "seed": seed,
        "automata": count,
        "levels": _histogram(levels, ones),
        **_summary(states, levels, ones),
        "deepest_count": len(deepest),
        "deepest": deepest[:_LISTED].tolist(),
        "monoids": _monoids(tables[:MONOIDS_OF_SAMPLE], ones[:MONOIDS_OF_SAMPLE], seed),
    }


def _histogram(levels: NDArray[np.int64], weights: NDArray[np.int64]) -> dict[str, int]:
    return {str(level): int(weights[levels == level].sum()) for level in np.unique(levels)}


def _summary(states: int, levels: NDArray[np.int64], weights: NDArray[np.int64]) -> Document:
    return {
        "max": int(levels.max()),
        "mean": round(int((levels * weights).sum()) / int(weights.sum()), 4),
        "above_states_minus_1": int(weights[levels > states - 1].sum()),
    }


def _monoids(tables: NDArray[np.int8], weights: NDArray[np.int64], seed: int | None) -> Document:
    """Largest monoid listed and the share of aperiodic automata; those over the limit are counted apart."""
    size = [0] * len(tables)
    aperiodic = np.zeros(len(tables), dtype=np.int64)
    over = np.zeros(len(tables), dtype=np.int64)
    for i, table in enumerate(tables):
        n = table.shape[1]
        automaton = Automaton(tuple(range(n)), (0, 1), table.astype(np.int64), 0, np.zeros(n, dtype=object))
        try:
            monoid = TransitionMonoid.of(automaton, max_size=MAX_MONOID)
        except LimitError:
            over[i] = 1
        else:
            size[i], aperiodic[i] = monoid.size, monoid.is_aperiodic
    return {
        "of": "all" if seed is None else f"{len(tables)} draws, seed {seed}",
        "automata": int(weights.sum()),
        "largest": max(size),
        "over_limit": int((over * weights).sum()),
        "aperiodic": int((aperiodic * weights).sum()),
    }


def searched(states: int, walks: int) -> Document:
    """The most levels that random walks meet, each walk with its seed."""
    found = [climb(states, CLIMB_STEPS, seed) for seed in range(walks)]
    levels = [level for level, _ in found]
    best = levels.index(max(levels))
    return {
        "states": states, "seeds": list(range(walks)), "steps": CLIMB_STEPS, "levels": levels,
        "max": levels[best], "deepest": found[best][1].tolist(),
    }  # fmt: skip


def family(states: int) -> Document:
    """The order-preserving family with this many states; its tables are made by `order_preserving_family`."""
    maps = order_preserving_family(states)
    return {
        "states": states,
        "letters": len(maps),
        "levels": holonomy_of_maps(maps).levels,
        "bound": math.comb(states - 1, states // 2),
        "minimal": is_minimal_for_some_final_state(maps),
    }


def more_letters(table: Sequence[Sequence[int]]) -> Document:
    """A two-letter automaton as part of the cascade of all maps of its states; its emulation is proved."""
    maps = np.array(table, dtype=np.int64)
    built = full_cascade(maps)
    return {
        "table": table,
        "states": maps.shape[1],
        "levels": holonomy_of_maps(maps).levels,
        "levels_in_all_maps": len(built.levels),
        "degrees": list(built.degrees),
        "letters_of_levels": [len(level.reads) for level in built.levels],
    }


def measure(max_states: int, quick: bool = False) -> Document:
    """The whole document; `quick` leaves the samples and walks out."""
    rows = []
    for states in range(1, max_states + 1):
        rows.append(census(states))
        _say(rows[-1])
    document: Document = {
        "format": FORMAT,
        "letters": 2,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "limits": {"max_monoid": MAX_MONOID},
        "rows": rows,
        "more_letters": [more_letters(row["deepest"][0]) for row in rows if row["states"] > 1],
    }
    if quick:
        return document
    for states, count in SAMPLES:
        rows.append(sample(states, count, seed=states))
        _say(rows[-1])
    document["walks"] = [searched(states, walks) for states, walks in CLIMBS]
    document["more_letters"] += [
        more_letters(w["deepest"]) for w in document["walks"] if w["states"] > max_states
    ]
    document["family"] = [family(states) for states in FAMILY]
    return document


def _say(row: Document) -> None:
    over = row["monoids"]["over_limit"]
    print(
        f"{row['states']} states, {row['kind']}: {row['automata']:,} automata, at most {row['max']} levels"
        + (f"; {over:,} monoids over the limit of {MAX_MONOID:,}" if over else ""),
        file=sys.stderr,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write the figures and draw the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", required=True, help="the .json file for the figures")
    parser.add_argument("--picture", help="the .svg or .png file for the picture")
    parser.add_argument(
        "--max-states", type=int, choices=range(2, 7), default=6, help="list all automata up to here"
    )
    parser.add_argument("--quick", action="store_true", help="no samples, no search, no family")
    options = parser.parse_args(arguments)
    document = measure(options.max_states, options.quick)
    write_text(options.output, json.dumps(document, indent=1) + "\n")
    if options.picture:
        draw_cascade_levels(document, options.picture)


if __name__ == "__main__":
    main()
