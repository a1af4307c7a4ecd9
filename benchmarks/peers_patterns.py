"""Patterns to minimal DFAs, here and by other libraries: the same language and as many states, and how long each takes."""

from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import Any

from mirrormata.benchmarks.named_automata import CHARACTERS, PATTERNS
from mirrormata.benchmarks.peers_process import Parts, median_seconds, run_probe, run_several

PEERS = ("automata-lib", "FAdo", "greenery", "pyformlang")
"""By the names under which pip installs them."""
Rows = dict[str, Any]
"""A DFA of `peers_probe.py`, which may be partial: `rows` (for each state its next states), `start`, `accepting`."""


def complete_states(of: Rows, characters: str) -> int:
    """How many states it has that can be reached over some characters, with a sink where a move is missing."""
    reached, partial = {of["start"]}, False
    waiting = [of["start"]]
    while waiting:
        row = of["rows"][waiting.pop()]
        for x in characters:
            if x not in row:
                partial = True
            elif row[x] not in reached:
                reached.add(row[x])
                waiting.append(row[x])
    return len(reached) + partial


def separating_word(one: Rows, other: Rows, characters: str) -> str | None:
    """A shortest word over some characters that exactly one of two DFAs accepts, or None: their languages are equal."""

    def step(of: Rows, state: int | None, x: str) -> int | None:
        found: int | None = None if state is None else of["rows"][state].get(x)
        return found

    accepting = set(one["accepting"]), set(other["accepting"])
    begin = (one["start"], other["start"])
    seen, waiting = {begin}, deque([(begin, "")])
    while waiting:
        (p, q), word = waiting.popleft()
        if (p in accepting[0]) != (q in accepting[1]):
            return word
        for x in characters:
            pair = step(one, p, x), step(other, q, x)
            if pair not in seen:
                seen.add(pair)
                waiting.append((pair, word + x))
    return None


def measure_pattern(python: str, name: str) -> dict[str, Any]:
    """What every tool makes of a pattern, compared with our automaton.

    Args:
        python: the interpreter that has the other libraries.
        name: one of `PATTERNS`.
    """
    row: dict[str, Any] = {"input": name, "pattern": PATTERNS[name], "tools": {}}
    ours: Rows | None = None
    for tool in ("mirrormata", *PEERS):
        runs = run_several(partial(_build, sys.executable if tool == "mirrormata" else python, tool, name))
        ours = ours or runs[0]["automaton"]["automaton"]
        row["tools"][tool] = _summary(ours, runs)
    return row


def _build(python: str, tool: str, name: str) -> Parts:
    task = {"tool": tool, "pattern": PATTERNS[name], "characters": CHARACTERS}
    return run_probe(python, task, "automaton")


def _summary(ours: Rows, runs: list[Parts]) -> dict[str, Any]:
    """What a tool made of a pattern, or why it made nothing."""
    parts = runs[0]
    found: dict[str, Any] = {key: parts[key] for key in ("input", "before minimising") if parts.get(key)}
    for reason in ("missing", "refused", "stopped"):
        if reason in parts:
            return found | {reason: parts[reason]["because"]}
    made = parts["automaton"]
    word = separating_word(ours, made["automaton"], CHARACTERS)
    times = [run["automaton"]["seconds"] for run in runs if "automaton" in run]
    return found | {
        "version": made["version"],
        "states": complete_states(made["automaton"], CHARACTERS),
        "separating_word": word,
        "seconds": median_seconds(times),
        "processes": len(times),
    }


HEAD = ("pattern", "states", "mirrormata", *PEERS)
"""The columns of `table_rows`."""


def table_rows(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """For each pattern the states of its minimal DFA and milliseconds, with ours as a share of the other's."""
    shown = []
    for row in rows:
        ours = row["tools"]["mirrormata"]
        cells = [_cell(row["tools"].get(tool, {"missing": None}), ours) for tool in PEERS]
        shown.append((row["input"], str(ours["states"]), f"{1000 * ours['seconds']['again']:.1f}", *cells))
    return shown


def _cell(found: dict[str, Any], ours: dict[str, Any]) -> str:
    for reason in ("missing", "refused", "stopped"):
        if reason in found:
            said = {"missing": "", "refused": "refused", "stopped": f"> {found[reason]}"}
            return said[reason]
    if found["separating_word"] is not None or found["states"] != ours["states"]:
        return "another automaton"
    seconds = found["seconds"]["again"]
    return f"{1000 * seconds:,.1f} ({ours['seconds']['again'] / seconds:.2g})"


def missing_tools(rows: list[dict[str, Any]]) -> list[str]:
    """The tools that the interpreter lacks."""
    return [tool for tool in PEERS if any("missing" in row["tools"].get(tool, {}) for row in rows)]
