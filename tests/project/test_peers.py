"""The benchmark beside other programs: its pieces, and what its committed results must say."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mirrormata.benchmarks import peers_patterns, peers_process, peers_semigroups
from mirrormata.benchmarks.named_automata import CHARACTERS, PATTERNS
from mirrormata.constructions import from_regex
from mirrormata.constructions.cascades._holonomy import holonomy_of_maps
from mirrormata.tests.project.documented_pages import ROOT

RESULTS: dict[str, Any] = json.loads((ROOT / "benchmarks/results/peers.json").read_text(encoding="utf-8"))
MOST_SETS = 2_000
"""Image sets of a semigroup whose skeleton is computed again here."""

DIFFERENT = {("C comment", "pyformlang"): "/*^*/"}
"""A word on which another tool's automaton differs from ours; there `[^*]` leaves out `^`."""

AFTER_A: dict[str, Any] = {"rows": [{"a": 1, "b": 0}, {"a": 1, "b": 0}], "start": 0, "accepting": [1]}


@pytest.mark.parametrize("name", PATTERNS)
def test_every_tool_that_ended_built_our_automaton(name: str) -> None:
    (row,) = (row for row in RESULTS["patterns"] if row["input"] == name)
    assert row["pattern"] == PATTERNS[name]
    states = len(from_regex(PATTERNS[name], CHARACTERS).states)
    assert row["tools"]["mirrormata"]["processes"] == RESULTS["processes"]
    assert "seconds" in row["tools"]["automata-lib"]
    assert "refused_as_written" in row["tools"]["FAdo"]["input"]
    for tool in ("mirrormata", *peers_patterns.PEERS):
        found = row["tools"][tool]
        if "seconds" in found:
            word = DIFFERENT.get((name, tool))
            assert (found["states"], found["separating_word"]) == (states, word), tool


def test_where_another_tool_differs_python_agrees_with_us() -> None:
    for (name, _), word in DIFFERENT.items():
        assert from_regex(PATTERNS[name], CHARACTERS).accepts(list(word)) is bool(
            re.fullmatch(PATTERNS[name], word)
        )


def test_sgpdec_has_our_skeletons() -> None:
    rows = RESULTS["semigroups"]
    given = list(peers_semigroups.semigroups())
    assert [(row["group"], row["input"]) for row in rows] == [(group, name) for group, name, _ in given]
    again = 0
    for row, (_, name, maps) in zip(rows, given, strict=True):
        theirs = row["SgpDec"]["skeleton"]
        assert row["equal"] is True, name
        permutes = any(
            sorted(of_letter) == list(range(row["points"]))
            for of_letter in maps
            if of_letter != sorted(of_letter)
        )
        assert ("refused" in row["ours"]["own.window"]) == permutes, name
        if theirs["sets"] <= MOST_SETS:
            found = holonomy_of_maps(peers_semigroups.as_table(maps))
            levels = [
                [[found.classes[c].degree, found.classes[c].order] for c in level]
                for level in found.by_depth()
            ]
            assert (found.levels, len(found.sets)) == (theirs["levels"], theirs["sets"]), name
            assert peers_semigroups.count_components(levels) == theirs["components"], name
            again += 1
    assert again >= len(rows) / 2


def test_another_language_and_a_missing_move_are_noticed() -> None:
    partial = {"rows": [{"a": 1}, {"a": 1}], "start": 0, "accepting": [1]}
    assert peers_patterns.separating_word(AFTER_A, AFTER_A, "ab") is None
    assert peers_patterns.separating_word(AFTER_A, partial, "ab") == "ba"
    assert peers_patterns.separating_word(AFTER_A, partial, "a") is None
    assert peers_patterns.separating_word(AFTER_A, AFTER_A | {"accepting": [0, 1]}, "ab") == ""
    assert peers_patterns.complete_states(AFTER_A, "ab") == 2
    assert peers_patterns.complete_states(partial, "ab") == 3
    unreached = AFTER_A | {"rows": [*AFTER_A["rows"], {"a": 0, "b": 2}]}
    assert peers_patterns.complete_states(unreached, "ab") == 2


def test_a_cell_of_the_table_says_what_happened() -> None:
    seconds = {"first": 0.02, "again": 0.002}
    ours: dict[str, Any] = {"states": 2, "separating_word": None, "seconds": seconds}
    tools: dict[str, Any] = {
        "mirrormata": ours,
        "automata-lib": ours | {"seconds": {"again": 0.004}},
        "FAdo": {"refused": "why"},
        "greenery": ours | {"separating_word": "ba"},
        "pyformlang": {"stopped": "60 s"},
    }
    (cells,) = peers_patterns.table_rows([{"input": "x", "tools": tools}])
    assert cells == ("x", "2", "2.0", "4.0 (0.5)", "refused", "another automaton", "> 60 s")
    tools |= {"automata-lib": ours | {"states": 3}, "FAdo": {"missing": "FAdo is not installed"}}
    assert peers_patterns.table_rows([{"input": "x", "tools": tools}])[0][3:5] == ("another automaton", "")


def test_the_probe_times_this_package_and_automata_lib() -> None:
    pytest.importorskip("automata")
    task = {"pattern": "a+[^b]?", "characters": "abc"}
    ours, theirs = (
        peers_process.run_probe(sys.executable, {"tool": tool, **task}, "automaton")["automaton"]
        for tool in ("mirrormata", "automata-lib")
    )
    assert peers_patterns.separating_word(ours["automaton"], theirs["automaton"], "abc") is None
    assert peers_patterns.complete_states(theirs["automaton"], "abc") == 4
    assert min(ours["seconds"]["again"], theirs["seconds"]["again"]) > 0


def test_a_missing_library_and_a_refused_pattern_are_said() -> None:
    task = json.dumps({"tool": "automata-lib", "pattern": "a", "characters": "a"})
    bare = [sys.executable, "-I", "-S", str(peers_process.PROBE)]
    found = peers_process.run_parts(bare, task, "automaton")
    assert found == {"missing": {"because": "automata-lib is not installed"}}
    task = json.dumps({"tool": "mirrormata", "pattern": "(a", "characters": "a"})
    found = peers_process.run_parts([sys.executable, "-P", str(peers_process.PROBE)], task, "automaton")
    assert found["refused"]["because"].startswith("InputError: ")


def test_a_process_is_stopped_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_process, "SECONDS", 1)
    loop = 'print(\'{"part": "begun"}\', flush=True)\nwhile True: pass'
    found = peers_process.run_parts([sys.executable, "-c", loop], "", "done")
    assert found == {"begun": {}, "stopped": {"because": "1 s"}}
    monkeypatch.setattr(peers_process, "MEGABYTES", 200)
    found = peers_process.run_parts([sys.executable, "-c", "x = bytes(10**9)"], "", "done")
    assert found == {"stopped": {"because": "200 MB"}}
    found = peers_process.run_parts([sys.executable, "-c", "print('Error, no method')"], "", "done")
    assert found == {"stopped": {"because": "Error, no method"}}


def test_answers_of_gap_are_read(tmp_path: Path) -> None:
    """A shell script in GAP's place, since it need not be here: times in seconds, components by level, no empty ones."""
    answer = (
        '{"part": "skeleton", "times": {"first": 10, "again": 5666}, "depth": 3, "sets": 7, '
        '"tiles": [ [ 3 ], [ 2, 0, 2 ] ], "orders": [ [ 6 ], [ 2, 1, 2 ] ]}'
    )
    program = tmp_path / "gap"
    program.write_text(f"#!/bin/sh\necho '{answer}'\necho 'Error, it ended'\n")
    program.chmod(0o755)
    found = peers_semigroups.run_gap(str(program), [[1, 0]])
    assert found["skeleton"]["seconds"] == {"first": 0.01, "again": 0.005666}
    assert peers_semigroups.components_of_gap(found["skeleton"]) == [[[3, 6, 1]], [[2, 2, 2]]]
    assert found["stopped"] == {"because": "Error, it ended"}


def test_sgpdec_itself() -> None:
    gap = "gap"
    if shutil.which(gap) is None or "skeleton" not in peers_semigroups.run_gap(gap, [[1, 0]]):
        pytest.skip("there is no GAP with SgpDec")
    found = peers_semigroups.run_gap(gap, [[1, 2, 0, 0], [0, 0, 1, 3]])
    assert peers_semigroups.components_of_gap(found["skeleton"]) == [
        [[2, 1, 1]], [[2, 1, 1]], [[2, 1, 1], [3, 3, 1]], [[2, 2, 1]],
    ]  # fmt: skip
    assert found["cascade"]["sizes"] == [2, 2, 5, 2]
