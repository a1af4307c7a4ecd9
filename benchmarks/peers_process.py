"""Processes of `peers.py`: limited in time and memory, several for each case, and the medians of what they say."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

SECONDS, MEGABYTES, PROCESSES = 60, 4_000, 3
"""Seconds of the processor and megabytes for each process, its start among them; and processes of a case."""
PROBE = Path(__file__).parent / "peers_probe.py"
Parts = dict[str, dict[str, Any]]


def run_parts(command: Sequence[str], given: str, last_part: str) -> Parts:
    """The JSON lines that a command prints, by `part`; without the last one there is a part `stopped`, or what it says instead.

    Args:
        command: the program and its arguments.
        given: its standard input.
        last_part: the part that it says last.
    """

    limited = f'ulimit -t {SECONDS}; ulimit -v {MEGABYTES << 10}; exec "$@"'
    process = subprocess.Popen(
        ["sh", "-c", limited, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True,
    )  # fmt: skip
    late = False
    try:
        out, errors = process.communicate(given, timeout=10 * SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
        late = True
    parts: Parts = {}
    said = ""
    for line in out.splitlines():
        if line.startswith('{"part"') and line.endswith("}"):
            found = json.loads(line)
            parts[found.pop("part")] = found
        elif line.strip():
            said = line.strip()
    if late or process.returncode < 0:
        parts["stopped"] = {"because": f"{SECONDS} s"}
    elif not parts.keys() & {last_part, "missing", "refused"}:
        last = (errors.strip().splitlines() or [said or f"status {process.returncode}"])[-1]
        memory = any(word in (last + said).lower() for word in ("memory", "workspace"))
        parts["stopped"] = {"because": f"{MEGABYTES:,} MB" if memory else last[:200]}
    return parts


def run_probe(python: str, task: dict[str, Any], last_part: str) -> Parts:
    """What `peers_probe.py` says of a task.

    Args:
        python: the interpreter that has the tool.
        task: see `peers_probe.py`.
        last_part: the part that it says last.
    """
    return run_parts([python, "-P", str(PROBE)], json.dumps(task), last_part)


def run_several(run: Callable[[], Parts], otherwise: Callable[[], Parts] | None = None) -> list[Parts]:
    """What several processes say, one after the other; where the first is stopped, or cannot do it, it is the only one.

    Args:
        run: starts a process, and returns its parts.
        otherwise: starts a process without the part at which the first was stopped, if others came before; None for no such one.
    """
    first = run()
    if first.keys() & {"missing", "refused"}:
        return [first]
    if "stopped" in first:
        if otherwise is None or not any("seconds" in part for part in first.values()):
            return [first]
        run = otherwise
    return [first, *(run() for _ in range(PROCESSES - 1))]


def median_seconds(of: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The medians of `first` and `again` over processes, in seconds."""
    return {key: round(median(seconds[key] for seconds in of), 7) for key in ("first", "again")}
