"""What all parts of the probe share: programs are called, and machines are made of arcs.

A machine is that of `exchange_machines.py`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Machine = dict[str, Any]
Write = Callable[[Machine, Path], None]
Read = Callable[[Path, str], Machine]


def call(command: list[str], given: str = "") -> str:
    """What a program prints; an error with its last line if it fails."""
    made = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, encoding="utf-8", timeout=60
    )
    if made.returncode:
        raise RuntimeError((made.stderr.strip().splitlines() or [f"status {made.returncode}"])[-1][:200])
    return made.stdout


def machine_of_arcs(
    kind: str,
    start: list[Any],
    arcs: list[list[Any]],
    accepting: list[Any],
    outputs: dict[Any, Any] | None = None,
) -> Machine:
    """A machine whose states are named by what the tool calls them."""
    states = list(
        dict.fromkeys([*start, *(q for p, _, r, _ in arcs for q in (p, r)), *accepting, *(outputs or {})])
    )
    place = {q: i for i, q in enumerate(states)}
    return {
        "kind": kind,
        "states": [str(q) for q in states],
        "initial": [place[q] for q in start],
        "letters": list(dict.fromkeys(x for _, x, _, _ in arcs if x is not None)),
        "accepting": [place[q] for q in accepting],
        "outputs": [(outputs or {}).get(q) for q in states] if kind == "moore" else [],
        "arcs": [[place[p], x, place[r], output] for p, x, r, output in arcs],
    }
