"""What a benchmark ran on: the driver of the cards, and versions of packages."""

from __future__ import annotations

import subprocess
from importlib.metadata import PackageNotFoundError, version


def driver_version() -> str:
    """As nvidia-smi says, which has a line for each card."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.partition("\n")[0]


def installed(package: str) -> str | None:
    """Its version, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
