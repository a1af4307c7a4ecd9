"""What each choice within a chain of sets gains: windows, the token before, a quotient first, and bounded factors.

    python -m mirrormata.benchmarks.chain_choices -o FILE.json [--count 1000] [--models FOLDER] [--processes N]

Random automata as in `random_automata`, of 6 to 40 states with two or four letters in turn, and protocol models from a folder of `.dot` files. Every
choice is compared with own.chain on the same automaton, by the layers and by the work of its realisation with the least work; a choice
that the automaton does not admit is counted as such.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from mirrormata.benchmarks.machine import installed, processor_name
from mirrormata.benchmarks.random_automata import LIMITS, draw_automaton
from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions._like_letters import merge_like_letters
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.foundation._errors import LimitError, NotRealisableError

STATES, LETTERS = (6, 8, 10, 12, 15, 20, 25, 30, 35, 40), (2, 4)
CHOICES = {
    "own.window": "a window over the last letters first",
    "own.lookback": "the token before, without gates",
    "own.lookback, gates": "the token before, and resets by a gate",
    "own.serial": "a quotient first",
    "own.blocks": "blocks of tokens, with the fewest layers",
}
"""Each choice and what it is in words; own.chain is what they are compared with."""


def measure_choices(automaton: Automaton) -> dict[str, list[int] | None]:
    """Layers, factors and work of own.chain and of every choice; None where the automaton does not admit it.

    Args:
        automaton: the automaton, whose letters that act alike are merged first.
    """
    problem = Problem(merge_like_letters(automaton)[0], LIMITS)
    found: dict[str, list[int] | None] = {}
    for choice in ("own.chain", *CHOICES):
        theorem, _, gates = choice.partition(", ")
        try:
            forms = [
                form
                for form in realisations_of(problem, theorem)
                if not isinstance(form, ChainRNN) or form.gated == bool(gates)
            ]
        except (NotRealisableError, LimitError):
            forms = []
        key = (lambda f: (f.depth, f.work)) if choice == "own.blocks" else (lambda f: (f.work, f.depth))
        best = min(forms, key=key, default=None)
        found[choice] = None if best is None else [best.depth, best.householders or 0, best.work or 0]
    return found


def measure_seed(seed: int) -> dict[str, Any]:
    """The figures of one random automaton.

    Args:
        seed: which one, at least 0; states and letters follow from it.
    """
    states, letters = STATES[seed % len(STATES)], LETTERS[seed // len(STATES) % len(LETTERS)]
    return {
        "states": states,
        "letters": letters,
        "seed": seed,
        "by": measure_choices(draw_automaton(states, letters, seed)),
    }


def summarise_choices(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """For each choice: on how many automata it exists, on how many it has less work or fewer layers, and the median ratios.

    Args:
        rows: what `measure_seed` gives, or the like for files.
    """
    table: dict[str, Any] = {}
    for choice in CHOICES:
        pairs = [(row["by"][choice], row["by"]["own.chain"]) for row in rows if row["by"][choice]]
        if not pairs:
            table[choice] = {"admitted": 0, "of": len(rows)}
            continue
        table[choice] = {
            "admitted": len(pairs),
            "of": len(rows),
            "fewer_layers": sum(new[0] < old[0] for new, old in pairs),
            "less_work": sum(new[2] < old[2] for new, old in pairs),
            "layers_ratio": round(median(new[0] / old[0] for new, old in pairs), 3),
            "work_ratio": round(median(new[2] / old[2] for new, old in pairs), 3),
        }
    return table


HEAD = ("choice", "automata", "admitted", "fewer layers", "less work", "layers, ratio", "work, ratio")
"""The columns of `table_rows`; ratios to own.chain are medians over the automata that admit the choice."""


def table_rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    """One row a choice and group, for the page."""
    rows: list[tuple[str, ...]] = []
    for group, name in (("random", "random"), ("models", "protocol models")):
        for choice, what in CHOICES.items():
            found = document[group]["summary"][choice]
            some = bool(found["admitted"])
            rows.append(
                (
                    f"{what} ({choice.partition(',')[0]})", name, f"{found['admitted']} of {found['of']}",
                    str(found["fewer_layers"]) if some else "", str(found["less_work"]) if some else "",
                    f"{found['layers_ratio']:.2f}" if some else "", f"{found['work_ratio']:.2f}" if some else "",
                )
            )  # fmt: skip
    return rows


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="random automata; default 1000")
    parser.add_argument("--models", type=Path, help="folder of protocol models")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    models = []
    for path in sorted(given.models.glob("*.dot")) if given.models else []:
        automaton = automaton_from_spec(str(path))
        models.append({"model": path.stem, "states": len(automaton.states), "letters": len(automaton.letters),
                       "by": measure_choices(automaton)})  # fmt: skip
    with ProcessPoolExecutor(given.processes) as pool:
        rows = list(pool.map(measure_seed, range(given.count), chunksize=10))
    document: dict[str, Any] = {
        "format": "mirrormata-chain-choices/1",
        "processor": processor_name(),
        "versions": {name: installed(name) for name in ("mirrormata", "numpy")}
        | {"python": sys.version.split()[0]},
        "random": {"summary": summarise_choices(rows), "rows": rows},
        "models": {"summary": summarise_choices(models), "rows": models},
    }
    given.output.write_text(json.dumps(document) + "\n")
    print(json.dumps(document["random"]["summary"], indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
