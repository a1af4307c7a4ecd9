"""The exchange of automata with other tools: machines are told apart, and the committed results leave no difference unexplained."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from mirrormata.benchmarks.exchange import EXCHANGES, HEAD, UNEXPLAINED, read_and_compare, table_rows
from mirrormata.benchmarks.exchange_machines import SHAPES, Machine, draw_machine, find_difference
from mirrormata.tests.project.source_files import ROOT

ROWS: list[dict[str, Any]] = json.loads(
    (ROOT / "benchmarks/results/exchange.json").read_text(encoding="utf-8")
)["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['tool']} {row['format']}")
def test_every_difference_has_a_reason_and_every_machine_a_result(row: dict[str, Any]) -> None:
    written = row.get("written", {})
    differences = row["read"].get("different", 0) + written.get("different", 0) + written.get("not read", 0)
    assert sum(row["reasons"].values()) == differences
    assert UNEXPLAINED not in row["reasons"]
    assert sum(row["read"].values()) == row["machines"]
    assert not written or sum(written.values()) == row["machines"]
    assert (row["tool"], row["format"]) in EXCHANGES


def test_the_table_has_a_cell_for_each_head() -> None:
    assert all(len(cells) == len(HEAD) for cells in table_rows(ROWS))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_machine_differs_from_another_one_and_not_from_itself(kind: str) -> None:
    machine = draw_machine(random.Random(1), kind, "letters", "complete", plain_states=False)
    assert find_difference(machine, machine) is None
    other: Machine = json.loads(json.dumps(machine))
    if kind == "acceptor":
        other["accepting"] = [q for q in range(len(machine["states"])) if q not in machine["accepting"]]
    elif kind == "moore":
        other["outputs"][0] = "w"
    else:
        other["arcs"][0][3] = "w"
    assert find_difference(machine, other) is not None


def test_a_file_of_another_machine_is_different(tmp_path: Any) -> None:
    machine = draw_machine(random.Random(1), "acceptor", "letters", "all words", plain_states=False)
    path = tmp_path / "m.dot"
    path.write_text(
        "digraph { i [shape=point]; i -> p; p [shape=doublecircle]; p -> p [label=a]; p -> p [label=b] }"
    )
    assert read_and_compare(path, machine, None) == ("equal", "")
    path.write_text(
        "digraph { i [shape=point]; i -> p; p [shape=doublecircle]; p -> p [label=a]; p -> q [label=b] }"
    )
    found, message = read_and_compare(path, machine, None)
    assert found == "different"
    assert "the word ['b'] gives False, not True" in message
