"""What a benchmark ran on: the processor, the driver of the cards, and versions of packages."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def hide_root() -> None:
    """Take this repository's root out of the places where modules are looked for, to which `python -m` adds the current folder.

    Transformers asks whether there is a package `kernels`, and must not find the folder of that name.
    """
    root = Path(__file__).resolve().parents[1]
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != root]


def driver_version() -> str:
    """As nvidia-smi says, which has a line for each card."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.partition("\n")[0]


def results_file(what: str, card: str) -> Path:
    """Where a benchmark's results of this card are kept: benchmarks/results/WHAT_CARD.json."""
    return Path(__file__).parent / "results" / f"{what}_{'_'.join(card.lower().split())}.json"


def installed(package: str) -> str | None:
    """Its version, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor_name() -> str:
    """The processor's name as Linux has it, else what Python says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
