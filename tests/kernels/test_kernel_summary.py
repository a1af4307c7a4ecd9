"""The page of the kernels says all that peers do better, in words and figures that are those of the committed results."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mirrormata.benchmarks.hopper import table_rows as hopper_rows
from mirrormata.benchmarks.kernel_peers_table import ORDER, SHAPES, judged, place, table_rows
from mirrormata.benchmarks.kernel_summary import MEASURES, SCAN_PEERS, behind_rows, summary_rows
from mirrormata.tests.project.table_texts import ROOT, measured_results

PAGE = (ROOT / "docs/kernels.md").read_text(encoding="utf-8")
PEERS = measured_results("kernel_peers_nvidia_h200")
SCANS = measured_results("scan_shapes_nvidia_h200")
LIST = PAGE.partition("<!-- generated: kernel-behind -->")[2].partition("<!-- end -->")[0].splitlines()


def listed(*parts: str) -> bool:
    """Whether a row of the page's list has all of them."""
    return any(all(part in line for part in parts) for line in LIST)


def test_all_that_peers_do_better_is_listed() -> None:
    """From the results as they are, without the functions that make the list."""
    ours = {(row["shape"], row["gate"]): row for row in PEERS["rows"] if row["who"] == "ours"}
    found = 0
    for row in PEERS["rows"]:
        for passes, words in (("forward", " forward |"), ("both", " forward and backward |")):
            its, mine = row.get(passes) or {}, ours[row["shape"], row["gate"]].get(passes) or {}
            for measure in ("graph", "eager", "MiB"):
                values: list[Any] = [x.get(measure) for x in (its, mine)]
                if row["who"] == "ours" or None in values:
                    continue
                value, own = (x[0] if isinstance(x, list) else x for x in values)
                if value < own:
                    found += 1
                    figure = f"{value:,}" if measure == "MiB" else f"{value:.3f}"
                    gate = f"| {'yes' if row['gate'] else 'no'} |{words} {MEASURES[measure]} |"
                    assert listed(f"| `{row['shape']}` {gate}", f"{row['who']} {figure}"), (
                        row["shape"],
                        measure,
                    )
    assert found >= 20
    default = {x["operator"]: x for x in SCANS["shapes"] if not x["sizes"] and not x.get("options")}
    for who, operator in SCAN_PEERS.items():
        for measure in ("forward", "both", "peak"):
            if default[who][measure] < default[operator][measure]:
                found += 1
                assert listed(f"`{operator}`", f"{who} {default[who][measure]:.2f}"), (operator, measure)
    assert found >= 22


def test_every_peer_of_the_scans_is_known() -> None:
    assert {x["operator"] for x in SCANS["shapes"] if x["operator"].startswith("fla ")} == set(SCAN_PEERS)


def test_a_slower_or_larger_call_is_listed_and_others_are_not() -> None:
    def row(who: str, graph: float, MiB: int) -> dict[str, object]:
        return {
            "shape": "lm",
            "gate": False,
            "who": who,
            "forward": {"graph": [graph] * 3, "eager": [1.0] * 3, "MiB": MiB},
        }

    document = {"rows": [row("ours", 0.5, 100), row("A", 0.4, 100), row("B", 0.6, 50), row("C", 0.45, 200)]}
    scans = {"shapes": [
        {"operator": "rank_one_scan", "shape": [1, 2], "sizes": {}, "forward": 2.0, "both": 3.0, "peak": 1.0},
        {"operator": "rank_one_scan", "shape": [1, 2], "sizes": {"PLAN": "x"}, "forward": 0.1, "both": 0.1, "peak": 0.1},
        {"operator": "fla chunk_dplr_delta_rule", "shape": [1, 2], "sizes": {}, "forward": 1.0, "both": 4.0, "peak": 1.0},
    ]}  # fmt: skip
    assert [x[3:] for x in behind_rows(document, scans)] == [
        ["forward", "ms, graph", "0.500", "A 0.400, C 0.450", "0.80"],
        ["forward", "MiB", "100", "B 50", "0.50"],
        ["forward", "ms", "2.00", "fla chunk_dplr_delta_rule 1.00", "0.50"],
    ]
    summary = {(x[1], x[2]): x[3:] for x in summary_rows(document, scans)}
    assert summary["A", "forward"] == ["0.80 (0 of 1)", "1.00 (0 of 1)", "1.00 (0 of 1)"]
    assert summary["fla chunk_dplr_delta_rule", "forward and backward"] == [
        "1.33 (1 of 1)",
        "",
        "1.00 (0 of 1)",
    ]


def test_rows_are_in_one_order_of_shapes() -> None:
    assert set(SHAPES) <= set(ORDER)
    for rows in (table_rows(PEERS), judged(PEERS), hopper_rows(measured_results("hopper_nvidia_h200"))):
        places = [place(row[0].strip("`")) for row in rows]
        assert places == sorted(places)
        assert max(places) < len(ORDER)


def test_an_eager_target_says_what_it_is_by_graphs() -> None:
    (row,) = (x for x in judged(PEERS) if "eager" in x[3])
    eager, graph = re.findall(r"[\d.]+", row[4])
    for figure in (eager, graph):
        assert PAGE.count(figure) >= 3


@pytest.mark.parametrize("package", sorted({*PEERS["versions"]} - {"fla-core"}))
def test_versions_of_peers_are_those_of_the_results(package: str) -> None:
    """`fla-core` comes with flash-linear-attention."""
    version = PEERS["versions"][package]
    part = PAGE.partition("## Measure it again")[2]
    assert f"{package}=={version}" in part or f"{package} {version}" in part


def test_every_program_of_the_page_exists() -> None:
    names = re.findall(
        r"^\| `(?!python )([a-z_]+)[ `]", PAGE.partition("## Measure it again")[2], flags=re.MULTILINE
    )
    assert len(names) >= 11
    for name in names:
        text = (ROOT / f"benchmarks/{name}.py").read_text(encoding="utf-8")
        assert "__main__" in text, name
