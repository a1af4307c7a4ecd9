"""Results of sweeps as they are committed: `python -m mirrormata.benchmarks.sweep_results SWEEP.toml FOLDER`.

Writes `sweep_<name of the file>_<card>.json` into benchmarks/results: all cells, the caption and the table. Without arguments it makes the
captions and tables of all committed results again, from their cells, as it must after a change of what a table shows.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirrormata.models.sweeps._run import SweepFolder
from mirrormata.models.sweeps._sweep import Sweep, SweepCell, read_sweep
from mirrormata.models.sweeps._table import sweep_json

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class StoredResults(SweepFolder):
    """The results of a file that is committed, by the key of their cell.

    Attributes:
        stored: a result for each cell that was run.
    """

    stored: dict[str, dict[str, Any]]

    def result(self, cell: SweepCell) -> dict[str, Any] | None:
        """The result of a cell; None for one that was not run."""
        return self.stored.get(cell.key)

    def claimant(self, cell: SweepCell) -> str | None:
        """None: nothing is being trained."""
        return None


def stored_results(document: dict[str, Any]) -> tuple[Sweep, StoredResults]:
    """The sweep of a committed file and its results.

    Args:
        document: the file's content.
    """
    sweep = read_sweep(ROOT / document["sweep"])
    cells = [cell for row in document["rows"] for cell in (*row["cells"], *row.get("trials", []))]
    found = {cell["key"]: cell for cell in cells if cell["status"] != "not run"}
    return sweep, StoredResults(RESULTS, found)


def rebuild(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the caption and the table that its cells give today."""
    sweep, found = stored_results(document)
    again = sweep_json(sweep, found)
    return {
        **document,
        **{key: again[key] for key in ("name", "caption", "reading", "measure", "good", "table")},
    }


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Write a file of results, a line for each cell."""
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")
    print(path.name)


def collect(sweep_file: Path, folder: Path, driver: str, triton: str) -> dict[str, Any]:
    """The results of a sweep's folder as a document.

    Args:
        sweep_file: the sweep.
        folder: the results that `mirrormata sweep` wrote.
        driver: the version of the card's driver, or `not read`.
        triton: the version of Triton.

    Returns:
        The document; the card and the versions are those of its cells, which must have the same.
    """
    found = sweep_json(read_sweep(sweep_file), SweepFolder(folder))
    done = [
        cell for row in found["rows"] for cell in (*row["cells"], *row.get("trials", [])) if "machine" in cell
    ]
    machines = {(cell["machine"]["device"], cell["machine"]["torch"]) for cell in done}
    if len(machines) != 1:
        sys.exit(f"{folder}: cells of several machines: {sorted(machines)}")
    [(card, torch)] = machines
    sweep = sweep_file.resolve().relative_to(ROOT).as_posix()
    return {"card": card, "driver": driver, "torch": torch, "triton": triton, "sweep": sweep, **found}


def main(arguments: list[str]) -> None:
    """Write one file, or all of them again."""
    if not arguments:
        for path in sorted(RESULTS.glob("sweep_*.json")):
            write_document(path, rebuild(json.loads(path.read_text(encoding="utf-8"))))
        return
    sweep_file, folder, driver, triton = arguments
    document = collect(Path(sweep_file), Path(folder), driver, triton)
    card = document["card"].lower().replace(" ", "_")
    write_document(RESULTS / f"sweep_{Path(sweep_file).stem}_{card}.json", document)


if __name__ == "__main__":
    main(sys.argv[1:])
