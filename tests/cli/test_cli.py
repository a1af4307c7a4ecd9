"""The command line as its user meets it: one JSON object or a table, one line for what is wrong, the right status."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.tests.theory.certified import CASES

INSPECT = (
    "states", "letters", "start", "kind", "monoid", "group", "aperiodic", "commutative", "solvable", "synchronising",
    "degree", "notes",
)  # fmt: skip
CONSTRUCT = (
    "states", "letters", "construction", "layers", "householders", "heads", "dim", "exactness", "integer_bound",
    "formats", "lower_bounds", "certificate",
)  # fmt: skip
RUN = ("tokens", "sequences", "errors", "first_error", "dtype", "order", "backend", "seconds")


def test_inspect_json(call: Any) -> None:
    found = call("inspect", "S4", "--json")
    assert (found.status, found.err) == (0, "")
    assert set(INSPECT) <= set(found.json)
    assert {key: found.json[key] for key in INSPECT[:11]} == {
        "states": 24, "letters": 24, "start": "(0, 1, 2, 3)", "kind": "moore", "monoid": 24, "group": True,
        "aperiodic": False, "commutative": False, "solvable": True, "synchronising": False, "degree": 4,
    }  # fmt: skip
    assert call("inspect", "flipflop", "--json").json["aperiodic"] is True


def test_construct_json(call: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    found = call("construct", "S5", "--json", "-o", path)
    assert (found.status, found.err) == (0, "")
    assert set(CONSTRUCT) <= set(found.json)
    assert {key: found.json[key] for key in ("states", "letters", "layers", "householders", "heads", "dim")} == {
        "states": 120, "letters": 120, "layers": 1, "householders": 4, "heads": 1, "dim": 5,
    }  # fmt: skip
    assert found.json["exactness"] == "integer"
    assert found.json["formats"] == ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    assert found.json["certificate"] == path
    assert call("check", path, "--json").json["verdict"] == "valid"
    assert call("construct", "mod:9", "--json").json["certificate"] is None


def test_check_json(call: Any, certificates: Path) -> None:
    good = call("check", str(certificates / "mod:9.json"), "--json")
    assert (good.status, good.err) == (0, "")
    assert good.json == {
        "verdict": "valid",
        "kind": "horizon",
        "reason": good.json["reason"],
        "checker": "python",
    }
    bad = call("check", str(certificates / "broken.json"), "--json")
    assert (bad.status, bad.err) == (1, "")
    assert bad.json == {
        "verdict": "invalid",
        "kind": "table",
        "reason": bad.json["reason"],
        "checker": "python",
    }
    assert bad.json["reason"]
    plain = call("check", str(certificates / "broken.json"))
    assert plain.status == 1
    assert plain.out == f"invalid: {bad.json['reason']}\n"


def test_run_json(call: Any, certificates: Path) -> None:
    found = call("run", str(certificates / "S4.json"), "--random", "4", "--length", "500", "--json")
    assert (found.status, found.err) == (0, "")
    assert set(RUN) <= set(found.json)
    assert (found.json["tokens"], found.json["sequences"], found.json["errors"]) == (2000, 4, 0)
    assert (found.json["first_error"], found.json["dtype"], found.json["horizon"]) == (None, "bf16", None)
    wrong = call("run", str(certificates / "mod:60.json"), "--random", "9", "--length", "900", "--json")
    assert wrong.status == 1
    assert wrong.json["errors"] > 0
    assert wrong.json["first_error"] > wrong.json["horizon"] == 8
    exact = call(
        "run",
        str(certificates / "mod:60.json"),
        "--random",
        "3",
        "--length",
        "90",
        "--dtype",
        "exact",
        "--json",
    )
    assert (exact.status, exact.json["dtype"], exact.json["horizon"]) == (0, "exact", None)
    aliased = call("run", str(certificates / "mod:60.json"), "--word", "1", "--dtype", "bfloat16", "--json")
    assert (aliased.json["dtype"], aliased.json["horizon"]) == ("bf16", 8)


def test_the_certified_horizon_is_that_of_the_start(call: Any, certificates: Path) -> None:
    path = str(certificates / "mod:60.json")
    assert call("run", path, "--word", "1", "--start", "0", "--json").json["horizon"] == 8
    assert call("run", path, "--word", "1", "--start", "7", "--json").json["horizon"] is None


def test_export_json(call: Any, certificates: Path, tmp_path: Path) -> None:
    for kind in ("npz", "safetensors"):
        path = tmp_path / f"w.{kind}"
        found = call("export", kind, str(certificates / "parity.json"), "-o", str(path), "--json")
        assert (found.status, found.err) == (0, "")
        assert found.json == {"certificate": str(certificates / "parity.json"), "written": str(path)}
        assert path.stat().st_size > 100
    assert np.load(tmp_path / "w.npz", allow_pickle=False)["A"].shape == (2, 1, 1)
    said = call("export", "npz", str(certificates / "parity.json"), "-o", str(tmp_path / "again.npz"))
    assert (said.status, said.out, said.err) == (0, "", f"written: {tmp_path / 'again.npz'}\n")


def test_library_json_is_one_list(call: Any) -> None:
    rows = call("inspect", "--library", "--json").json
    assert {"name", "states", "letters", "monoid"} <= set(rows[0])


@pytest.mark.parametrize(("arguments", "heading"), [((), "Automata:\n"), (("export",), "Commands:\n")])
def test_without_arguments_the_help_is_shown(arguments: tuple[str, ...], heading: str, call: Any) -> None:
    shown = call(*arguments)
    assert (shown.status, shown.out) == (2, "")
    assert shown.err.startswith("Usage: ")
    assert heading in shown.err
    helped = call(*arguments, "--help")
    assert helped.status == 0
    assert heading in helped.out


def test_version(call: Any) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", call("--version").out)


def test_words_of_letters_with_blanks(call: Any, certificates: Path) -> None:
    path = str(certificates / "S5.json")
    found = call("run", path, "--word", "(1, 2, 3, 4, 0)  (1, 0, 2, 3, 4) (0, 1, 2, 3, 4)", "--json").json
    assert (found["tokens"], found["errors"]) == (3, 0)
    assert call("run", path, "--word", "", "--json").json["tokens"] == 0
    assert call("run", path, "--word", "(1, 2, 3, 4, 0)(1, 0, 2, 3, 4)").status == 2


def test_a_monoid_over_the_limit_is_said_with_the_figure(call: Any) -> None:
    begun = time.monotonic()
    found = call("inspect", "T8", "--json")
    assert found.status == 0
    assert time.monotonic() - begun < 60
    assert found.json["monoid"] is None
    notes = " ".join(found.json["notes"])
    assert "1,000,000" in notes
    assert "`max_monoid`" in notes
    small = call("inspect", "T5", "--max-monoid", "100")
    assert small.status == 0
    assert "100" in small.out
    assert "--max-monoid" in small.out
    assert call("inspect", "T4", "--json").json["monoid"] == 256


def test_tomita_4_is_no_group_automaton_but_realised(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    error = call("construct", "tomita:4", "--theorem", "G.T3", "-o", str(path)).error
    assert error.startswith("tomita:4: letter '0' merges states '00' and 'sink'")
    assert "a cascade (G.T4) realises it" in error
    assert not list(tmp_path.iterdir())
    done = call("construct", "tomita:4", "--theorem", "G.A3", "-o", str(path), "--json")
    assert done.json["theorem"] == "G.A3"
    assert done.json["householders"] is None
    assert call("check", str(path)).status == 0


def test_start(call: Any, tmp_path: Path, certificates: Path) -> None:
    assert call("inspect", "mod:5", "--start", "3", "--json").json["start"] == "3"
    named = call("inspect", str(CASES / "no_start.dot"), "--start", "s1", "--json")
    assert named.json["start"] == "s1"
    path = str(tmp_path / "c.json")
    assert call("construct", str(CASES / "identity_only.txt"), "--start", "2", "-o", path).status == 0
    assert json.loads(Path(path).read_text())["automaton"]["start"] == 1
    for state in "123":
        assert (
            call("run", path, "--random", "2", "--length", "20", "--start", state, "--json").json["errors"]
            == 0
        )
        kept = str(certificates / "full_t3 G.A3.json")
        assert (
            call("run", kept, "--random", "2", "--length", "20", "--start", state, "--json").json["errors"]
            == 0
        )


def test_product_right(call: Any, tmp_path: Path) -> None:
    tables = {}
    for product in ("left", "right"):
        path = str(tmp_path / f"{product}.json")
        assert call("construct", "S3", "--product", product, "-o", path).status == 0
        assert call("check", path).status == 0
        document = json.loads(Path(path).read_text())
        tables[product] = np.array(document["automaton"]["transitions"])
    elements = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    for x, g in enumerate(elements):
        for y, h in enumerate(elements):
            assert elements[tables["left"][x, y]] == tuple(g[i] for i in h)
            assert elements[tables["right"][x, y]] == tuple(h[i] for i in g)


def test_pictures_and_files_are_written(call: Any, tmp_path: Path, certificates: Path) -> None:
    drawn, written, mirrors, margins = (
        str(tmp_path / name) for name in ("a.svg", "a.json", "m.svg", "r.svg")
    )
    said = call("inspect", "parity", "--draw", drawn, "--write", written)
    assert said.status == 0
    assert said.err == f"written: {drawn}\nwritten: {written}\n"
    assert call("construct", written).status == 0
    assert call("construct", "dihedral:5", "--picture", mirrors).status == 0
    assert (
        call(
            "run", str(certificates / "mod:9.json"), "--random", "2", "--length", "30", "--picture", margins
        ).status
        == 0
    )
    for path in (drawn, mirrors, margins):
        assert "<svg" in Path(path).read_text()


def test_show_and_latex(call: Any) -> None:
    assert "(1, 0, 2)" in call("construct", "S3", "--show").out
    assert call("construct", "S3", "--latex").out.startswith("\\documentclass")
    assert "--max-letters 0" in call("construct", "S3", "--show", "--max-letters", "0").error


def test_tables_are_readable(call: Any, certificates: Path) -> None:
    shown = call("construct", "S5").out
    assert re.search(r"householders +4\n", shown.replace(" \n", "\n")) or "householders" in shown
    assert "note:" in shown
    run = call("run", str(certificates / "mod:9.json"), "--random", "1", "--length", "30").out
    assert "certified horizon" in run
    assert "no error at least up to token 39 in bf16" in run
