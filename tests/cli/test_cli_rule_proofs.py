"""`prove -o` for constructions whose letters are computed: their own certificate is the proof; and where none can be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._realisation import all_kinds
from mirrormata.theory._realisations import HOLDS, list_kinds

RULES = (
    ("chain", "T3", ("--theorem", "own.chain")),
    ("chain", "tomita:4", ("--theorem", "own.window")),
    ("delay", "S4", ("--theorem", "DP.T1", "--exactness", "integer")),
    ("blocks", "tomita:4", ("--theorem", "own.blocks")),
    ("decay", "regex:(a|b)*a(a|b)", ("--theorem", "own.decay")),
)


@pytest.mark.parametrize(("kind", "spec", "options"), RULES)
@pytest.mark.parametrize("arithmetic", ["per_step:bf16", "exact"])
def test_the_certificate_of_a_rule_is_written(
    call: Any, tmp_path: Path, kind: str, spec: str, options: tuple[str, ...], arithmetic: str
) -> None:
    model, proof = tmp_path / "model.json", tmp_path / "proof.json"
    assert call("construct", spec, *options, "-o", str(model)).status == 0
    outcome = call("prove", str(model), spec, "--arithmetic", arithmetic, "-o", str(proof), "--json")
    if (kind, arithmetic) == ("decay", "exact"):  # right by rounding alone
        assert outcome.status in (1, 2)
        assert not proof.exists()
        return
    assert (outcome.status, outcome.json["verdict"], outcome.json["method"]) == (0, "equivalent", kind)
    assert outcome.err == ""
    document = json.loads(proof.read_text())
    assert document["kind"] == kind
    if arithmetic != "exact":
        assert "bf16" in document["summary"]["formats"]  # what the checker computes anew
    checked = call("check", str(proof), "--for", spec, "--json")
    assert (checked.status, checked.json["verdict"], checked.json["kind"]) == (0, "valid", kind)
    document["summary"]["formats"] = ["fp64"]
    proof.write_text(json.dumps(document))
    assert call("check", str(proof)).status == 1


def test_no_proof_on_a_kernel_has_a_certificate(call: Any, tmp_path: Path) -> None:
    """It is refused before the work, whatever the model is: a folder's own arithmetic is its kernel."""
    model, proof = tmp_path / "model.json", tmp_path / "proof.json"
    call("construct", "T3", "-o", str(model))
    folder = tmp_path / "folder"
    folder.mkdir()
    for given, arithmetic in (
        (model, ("--arithmetic", "kernel:recurrent:fp32")),
        (folder, ()),
        (folder, ("--arithmetic", "kernel:recurrent:fp64:cuda")),
    ):
        error = call("prove", str(given), "T3", *arithmetic, "-o", str(proof)).error
        assert error.startswith(
            f"{given}: --output is for a certificate, and the checker runs no kernel:recurrent"
        )
        assert error.endswith("leave --output out")
    assert not proof.exists()
    assert call("prove", str(model), "T3", "--arithmetic", "per_step:bf16", "-o", str(proof)).status == 0


def test_what_runs_is_named_where_a_certificate_has_no_construction(call: Any, tmp_path: Path) -> None:
    bounds = tmp_path / "bounds.json"
    call("plan", "T3", "--bounds", str(bounds), "--theorem", "own.chain")
    error = call("run", str(bounds), "--word", "swap").error
    assert error.endswith(f"holds lower bounds and no linear RNN; give one of kind {list_kinds()}")
    named = set(list_kinds().replace(" or ", ", ").split(", "))
    assert named == {k for record in all_kinds().values() for k in (record.kind, *record.reads)} - set(HOLDS)
    assert named >= {kind for kind, _, _ in RULES} | {"table", "horizon"}


def test_texts_of_one_thing_alone(call: Any, tmp_path: Path) -> None:
    """One state, one letter, one level: the nouns follow their numbers, in constructions and in what the checker says."""
    path = tmp_path / "model.json"
    for spec, options, said in (
        ("mod:1", (), "1 state, 2 letters, 1 code: equal on all words"),
        ("regex:a(aaa)*", (), " states, 1 letter, "),
        ("regex:(a|b)*a", ("--theorem", "own.chain"), "sizes 2 to 1 in 1 level: "),
        ("regex:(a|b)*a", ("--theorem", "own.window"), "after 1 letter at most 1 state"),
    ):
        assert call("construct", spec, *options, "-o", str(path)).status == 0
        checked = call("check", str(path)).out
        assert said in checked
        assert not [
            word
            for word in ("1 states", "1 letters", "1 codes", "1 levels", "1 chains")
            if f" {word}" in checked
        ]


def test_the_window_has_one_length(call: Any, tmp_path: Path) -> None:
    """`construct` and `check` say the same number of letters; the register may have one row more."""
    path = tmp_path / "window.json"
    for spec in ("random:states=12,letters=2,seed=4", "tomita:4"):
        made = call("construct", spec, "--theorem", "own.window", "-o", str(path), "--json").json
        document = json.loads(path.read_text())
        m = document["window"]
        register = document["summary"]["householders"] if spec == "tomita:4" else m + 1
        assert made["construction"].startswith(
            f"a window of {m} letters in a register of {register}, then a chain of sets"
        )
        assert f"after {m} letters at most " in call("check", str(path)).out
