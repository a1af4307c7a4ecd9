"""What a benchmark ran on: the processor, the driver of the cards, and versions of packages."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


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
