"""Chains of sets by the command line, from the plan to the proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SPEC = "random:states=10,letters=2,seed=1"


def test_a_window_from_the_plan_to_the_proof(call: Any, tmp_path: Path) -> None:
    path, picture = str(tmp_path / "window.json"), tmp_path / "window.svg"
    listed = call("plan", SPEC, "--json")
    assert listed.status == 0
    assert "own.window" in listed.out
    made = call(
        "construct", SPEC, "--theorem", "own.window", "-o", path, "--picture", str(picture), "--json"
    ).json
    assert (made["theorem"], made["exactness"], made["certificate"]) == ("own.window", "integer", path)
    assert picture.read_text().startswith("<?xml")
    checked = call("check", path, "--for", SPEC, "--json")
    assert (checked.status, checked.json["verdict"], checked.json["kind"]) == (0, "valid", "chain")
    assert call("check", path, "--for", "parity").status == 1
    for dtype in ("bf16", "exact", "fp8_e4m3"):
        ran = call("run", path, "--random", "4", "--length", "300", "--dtype", dtype, "--json")
        assert (ran.status, ran.json["errors"], ran.json["tokens"]) == (0, 0, 1_200)
    assert call("run", path, "--word", "abba", "--sequential", "--json").json["errors"] == 0
    for arithmetic in ("exact", "per_step:bf16"):
        proved = call("prove", path, SPEC, "--arithmetic", arithmetic, "--json")
        assert (proved.status, proved.json["verdict"], proved.json["method"]) == (0, "equivalent", "chain")
    assert json.loads(Path(path).read_text())["kind"] == "chain"


@pytest.mark.parametrize(
    ("spec", "theorem"), [("T4", "own.chain"), ("tomita:4", "own.window"), ("T4", "own.lookback")]
)
def test_show_prints_layers_and_factors(call: Any, spec: str, theorem: str) -> None:
    shown = call("construct", spec, "--theorem", theorem, "--show")
    assert shown.status == 0
    assert "layer 1" in shown.out
    assert "keys" in shown.out
    some = call("construct", spec, "--theorem", theorem, "--show", "--max-letters", "1").out
    assert "more letter" in some
    assert len(some) < len(shown.out)
    assert "is a rule, not a table" in call("construct", spec, "--theorem", theorem, "--latex").error


def test_what_a_chain_does_not_have(call: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "chain.json")
    assert call("construct", "T3", "--theorem", "own.chain", "-o", path).status == 0
    for arguments in (
        ("export", "npz", path, "-o", str(tmp_path / "x.npz")),
        ("run", path, "--random", "1", "--picture", str(tmp_path / "x.svg")),
    ):
        found = call(*arguments)
        assert (found.status, found.err.count("\n")) == (2, 1), found
    assert [file.name for file in tmp_path.iterdir()] == ["chain.json"]
    assert "own.window: no number of letters" in call("construct", "T3", "--theorem", "own.window").error
    assert call(
        "construct", "T4", "--theorem", "own.chain", "--picture", "x.svg", "--max-drawn-dim", "3"
    ).error.endswith("--max-drawn-dim 4 draws it")


@pytest.mark.parametrize(
    ("spec", "theorem"), [("T3", "own.blocks"), ("tomita:4", "own.blocks"), ("tomita:7", "R7")]
)
def test_one_factor_a_token_from_the_construction_to_the_proof(
    call: Any, tmp_path: Path, spec: str, theorem: str
) -> None:
    path = str(tmp_path / "blocks.json")
    asked = ("--theorem", theorem, "--exactness", "integer", "--max-householders", "1")
    made = call("construct", spec, *asked, "-o", path, "--json").json
    assert (made["theorem"], made["householders"], made["exactness"]) == (theorem, 1, "integer")
    checked = call("check", path, "--for", spec, "--json")
    assert (checked.status, checked.json["verdict"], checked.json["kind"]) == (0, "valid", "blocks")
    for more in ((), ("--sequential",)):
        ran = call("run", path, "--random", "4", "--length", "300", "--dtype", "fp8_e4m3", *more, "--json")
        assert (ran.status, ran.json["errors"], ran.json["tokens"]) == (0, 0, 1_200)
    proved = call("prove", path, spec, "--json")
    assert (proved.status, proved.json["verdict"], proved.json["method"]) == (0, "equivalent", "blocks")
    shown, some = (call("construct", spec, *asked, "--show", *more) for more in ((), ("--max-letters", "1")))
    assert "ring buffer" in shown.out
    assert "more letter" in some.out
    for wrong in (("--dtype", "exact"), ("--start", "0"), ("--picture", str(tmp_path / "x.svg"))):
        found = call("run", path, "--random", "1", "--length", "9", *wrong)
        assert (found.status, found.err.count("\n")) == (2, 1), found
    assert "is a rule, not a table" in call("construct", spec, *asked, "--latex").error
    if theorem == "own.blocks":
        assert call("construct", spec, "--max-householders", "1", "--json").json["theorem"] == theorem
