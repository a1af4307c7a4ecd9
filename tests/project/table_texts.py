"""What all generated tables share: their text, the folder of the repository, its settings, and measured results."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> str:
    """A Markdown table; the columns named in `right` are aligned to the right."""
    lines = [head, ["---:" if i in right else "---" for i in range(len(head))], *rows]
    return "\n" + "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines) + "\n"


def measured_results(name: str) -> dict[str, Any]:
    """A committed document of results."""
    document: dict[str, Any] = json.loads(
        (ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8")
    )
    return document
