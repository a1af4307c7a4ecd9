"""A sample of the committed table of random automata, measured again: same figures, valid certificates, no wrong token."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mirrormata.benchmarks.random_automata import draw_automaton, measure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "random_automata.json"
MOST_LAYERS = {20: 12, 50: 20, 100: 33, 300: 100}
"""The median of the fewest layers stays below these, for any number of letters."""


@cache
def groups() -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return list(document["groups"])


@pytest.mark.parametrize(("states", "letters"), [(10, 2), (10, 10), (20, 4), (50, 2)])
def test_an_automaton_of_the_table_has_its_figures(states: int, letters: int) -> None:
    recorded = next(g for g in groups() if (g["states"], g["letters"]) == (states, letters))["rows"]
    seed = 3
    found = measure(draw_automaton(states, letters, seed), tokens=100)
    assert found["default"]["verdict"] == "valid"
    assert found["run"]["errors"] == 0
    own = next(row for row in recorded if row["seed"] == seed)
    assert found["fewest_layers"] == own["fewest_layers"]
    for name in ("theorem", "layers", "factors", "heads", "dim", "work", "certificate_bytes"):
        assert found["default"][name] == own["default"][name], name


def test_the_table_holds_what_the_page_says_of_it() -> None:
    for group in groups():
        rows = group["rows"]
        assert [row["seed"] for row in rows] == list(range(len(rows)))
        assert all(row["default"]["verdict"] == "valid" for row in rows)
        assert group["summary"]["errors"] == 0 == sum(row["run"]["errors"] for row in rows)
        if group["states"] in MOST_LAYERS:
            assert group["summary"]["fewest_layers"][1] <= MOST_LAYERS[group["states"]]
