"""Holonomy skeletons and cascades of transformation semigroups, here and by SgpDec in GAP: the same levels and components, and seconds.

Beside them stand the layers of own.window and own.chain, which build no skeleton.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mirrormata.benchmarks.named_automata import CHARACTERS, PATTERNS
from mirrormata.benchmarks.peers_process import Parts, median_seconds, run_parts, run_probe, run_several
from mirrormata.benchmarks.random_automata import draw_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton, Indices

PROGRAM = Path(__file__).parent / "peers_semigroups.g"
NAMED = (
    "T3",
    "T4",
    "tomita:4",
    "tomita:7",
    "even_pairs",
    "mod_arith:5",
    "gridworld:5",
    "dyck:2,2",
    "boxes:3,2",
    "permreset:20",
)
RANDOM = (8, 10, 12, 15, 20)
"""States of random automata with two letters."""
Maps = list[list[int]]


def maps_of(automaton: Automaton) -> Maps:
    """The distinct maps of its letters, in the order in which they first occur."""
    rows = [tuple(row) for row in automaton.transitions.tolist()]
    return [list(row) for row in dict.fromkeys(rows)]


def as_table(maps: Maps) -> Indices:
    """The maps as an array `[maps, points]`."""
    return np.array(maps, dtype=np.int64)


def semigroups(only: Sequence[str] = ("named", "patterns", "random")) -> Iterator[tuple[str, str, Maps]]:
    """Group, name, and the maps on the points 0, ..., n - 1 that generate it.

    Args:
        only: the groups.
    """
    if "named" in only:
        yield from (("named", spec, maps_of(automaton_from_spec(spec))) for spec in NAMED)
    if "patterns" in only:
        for name, pattern in PATTERNS.items():
            yield "patterns", name, maps_of(automaton_from_spec(f"regex:{pattern}", alphabet=CHARACTERS))
    if "random" in only:
        for states in RANDOM:
            yield "random", f"random, {states} states", maps_of(draw_automaton(states, 2, 0))


def run_gap(gap: str, maps: Maps, last_part: str = "cascade") -> Parts:
    """What SgpDec says of a semigroup, its times in seconds.

    Args:
        gap: the command that starts GAP.
        maps: the maps that generate it.
        last_part: `cascade`, or `skeleton` for that alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "case.g"
        points = (as_table(maps) + 1).tolist()
        program.write_text(f'PEERS_MAPS := {points};;\nPEERS_LAST := "{last_part}";;\nRead("{PROGRAM}");\n')
        parts = run_parts([*shlex.split(gap), "-A", "-q", "-T", str(program)], "", last_part)
    for part in parts.values():
        times = part.pop("times", None)
        if times:  # milliseconds, and for the mean microseconds
            part["seconds"] = {"first": times["first"] / 1e3, "again": times["again"] / 1e6}
    return parts


def count_components(levels: list[list[list[int | None]]]) -> list[list[list[int | None]]]:
    """By level, every kind of component with its number: [tiles, order of its group, how many]."""
    return [
        [[*kind, count] for kind, count in sorted(Counter((c[0], c[1]) for c in level).items(), key=str)]
        for level in levels
    ]


def components_of_gap(skeleton: dict[str, Any]) -> list[list[list[int | None]]]:
    """Its components by level; sets of one point, which SgpDec also lists above the last level, have none."""
    return count_components(
        [
            [[tiles, order] for tiles, order in zip(*level, strict=True) if tiles]
            for level in zip(skeleton["tiles"], skeleton["orders"], strict=True)
        ]
    )


def measure_semigroup(gap: str | None, group: str, name: str, maps: Maps) -> dict[str, Any]:
    """What this package and SgpDec make of a semigroup.

    Args:
        gap: the command that starts GAP; None to leave SgpDec out.
        group: where the semigroup is from, see `semigroups`.
        name: its name.
        maps: the maps that generate it.
    """
    row: dict[str, Any] = {"group": group, "input": name, "points": len(maps[0]), "maps": len(maps)}
    task = {"tool": "mirrormata", "maps": maps}
    row["ours"] = _merge(run_several(partial(run_probe, sys.executable, task, "cascade")))
    if "skeleton" in row["ours"]:
        found = row["ours"]["skeleton"]
        found["components"] = count_components(found["components"])
    if gap is not None:
        row["SgpDec"] = _merge(
            run_several(partial(run_gap, gap, maps), partial(run_gap, gap, maps, "skeleton"))
        )
        if "skeleton" in row["SgpDec"]:
            found = row["SgpDec"]["skeleton"]
            found["levels"] = found.pop("depth") - 1  # a single point is a level there
            found["components"] = components_of_gap(found)
            del found["tiles"], found["orders"]
            row["equal"] = "skeleton" in row["ours"] and all(
                row["ours"]["skeleton"][key] == found[key] for key in ("levels", "sets", "components")
            )
    return row


def _merge(runs: list[Parts]) -> dict[str, Any]:
    """The parts of the first process, with the medians of the seconds of all."""
    merged: dict[str, Any] = {}
    for name, part in runs[0].items():
        seconds = [run[name]["seconds"] for run in runs if "seconds" in run.get(name, {})]
        merged[name] = part | (
            {"seconds": median_seconds(seconds), "processes": len(seconds)} if seconds else {}
        )
    return merged


def gap_is_there(gap: str) -> bool:
    """Whether the command's program exists."""
    words = shlex.split(gap)
    return bool(words) and shutil.which(words[0]) is not None


HEAD = (
    "semigroup", "points", "maps", "image sets", "levels", "own.window", "own.chain",
    "skeleton", "SgpDec's", "ratio", "cascade", "SgpDec's", "ratio",
)  # fmt: skip
"""The columns of `table_rows`."""


def table_rows(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """For each semigroup its size, its levels, the layers of chains, and milliseconds of both."""
    shown = []
    for row in rows:
        cells = [
            str(row["points"]),
            str(row["maps"]),
            *(_figure(row, "skeleton", key) for key in ("sets", "levels")),
        ]
        if row.get("equal") is False:
            cells[-1] += ", not SgpDec's"
        cells += [_figure(row, theorem, "layers") for theorem in ("own.window", "own.chain")]
        for part in ("skeleton", "cascade"):
            ours, theirs = (_seconds(row.get(tool, {}), part) for tool in ("ours", "SgpDec"))
            ratio = "" if isinstance(ours, str) or isinstance(theirs, str) else f"{ours / theirs:.2g}"
            cells += [x if isinstance(x, str) else f"{1000 * x:,.1f}" for x in (ours, theirs)]
            cells.append(ratio)
        shown.append((row["input"], *cells))
    return shown


def _figure(row: dict[str, Any], part: str, key: str) -> str:
    found = row["ours"].get(part, {})
    return f"{found[key]:,}" if key in found else "none"


def _seconds(made: dict[str, Any], part: str) -> float | str:
    """Seconds of a part, or why there are none."""
    if "seconds" in made.get(part, {}):
        found: float = made[part]["seconds"]["again"]
        return found
    return f"> {made['stopped']['because']}" if "stopped" in made else ""
