"""`compare` on every seed of trained models, not on chosen ones: `python -m mirrormata.benchmarks.compared_seeds SPEC FOLDER OUTPUT.json`.

FOLDER is that of a training, with a model folder for each seed. The results hold for each seed what its heads learned, how far it is
right, and how far after the heads that carry states have been replaced by the construction.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mirrormata import compare


def compare_seed(folder: Path, spec: str) -> dict[str, Any]:
    """What a seed's model learned.

    Args:
        folder: its model folder.
        spec: the SPEC of the automaton.

    Returns:
        Plain values: accuracies are those of words of up to 1,024 letters in float32.
    """
    found = compare(str(folder), spec).to_json()
    heads = [
        {
            "head": head["head"],
            "dim": head["subspace_dim"],
            "states_told_apart": head["states_told_apart"],
            "representation": (head["snapped"] or {}).get("representation"),
            "entries_moved": (head["snapped"] or {}).get("entries_moved"),
            "homomorphism_error": (head["representation"] or {}).get("homomorphism_error"),
        }
        for head in found["heads"]
        if head["carries_states"]
    ]
    replaced = {entry["replaced"]: entry for entry in found["causal"]}
    return {
        "seed": int(folder.name.partition("-")[2]),
        "arithmetic": found["arithmetic"],
        "sampling": found["sampling"],
        "tolerances": found["tolerances"],
        "accuracy": found["accuracy"],
        "first_failure": None if "none" not in replaced else replaced["none"]["first_failure"],
        "accuracy_replaced": None if "all" not in replaced else replaced["all"]["accuracy"],
        "first_failure_replaced": None if "all" not in replaced else replaced["all"]["first_failure"],
        "construction": (found["snap"] or {}).get("construction"),
        "reason": (found["snap"] or {}).get("reason"),
        "heads": heads,
    }


def main(spec: str, folder: str, output: str) -> None:
    """Compare all seeds, and write after each of them."""
    seeds: list[dict[str, Any]] = []
    for place in sorted(Path(folder).glob("seed-*"), key=lambda path: int(path.name.partition("-")[2])):
        seeds.append(compare_seed(place, spec))
        print(
            place.name,
            seeds[-1]["accuracy"],
            seeds[-1]["accuracy_replaced"],
            [h["representation"] for h in seeds[-1]["heads"]],
        )
        Path(output).write_text(json.dumps({"spec": spec, "seeds": seeds}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
