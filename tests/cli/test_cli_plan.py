"""`plan`, and the options of `construct` that it brings, as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions import write_automaton
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.tests.theory.certified import CASES

PLAN_FIELDS = {
    "automaton",
    "states",
    "letters",
    "realisations",
    "chosen",
    "chosen_for",
    "lower_bounds",
    "left_out",
    "not_built",
    "notes",
}
OFFER_FIELDS = {
    "pareto", "theorem", "construction", "layers", "householders", "heads", "dim", "exactness", "integer_bound",
    "formats", "norm", "letter_factors", "layer_factors", "parameters", "work", "certificate_bytes", "horizons", "lower_bounds", "notes",
    "by_request",
}  # fmt: skip
BOUND_FIELDS = {"figure", "at_least", "reason", "kind", "hypotheses", "text"}


@pytest.mark.parametrize("spec", ["S5", "tomita:4", "mod:12", "mod:1", str(CASES / "microbug.txt")])
def test_plan_json(call: Any, spec: str) -> None:
    outcome = call("plan", spec, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    facts = outcome.json
    assert set(facts) == PLAN_FIELDS
    assert facts["realisations"]
    assert all(set(offer) == OFFER_FIELDS for offer in facts["realisations"])
    assert all(set(bound) == BOUND_FIELDS for bound in facts["lower_bounds"])


def test_plan_text(call: Any) -> None:
    outcome = call("plan", "S5", "--exactness", "integer")
    assert outcome.status == 0
    for text in (
        "S5: 5 constructions, 3 of which no other one beats. Chosen for a single layer, with the fewest factors: G.T3, one layer, 4 reflections a token, dimension 5.",
        "layers",
        "G.T3: permutations of 5 points",
        "(CK.S5)",
        "all dtypes",
    ):
        assert text in " ".join(outcome.out.split()), text  # however wide the terminal is
    assert "algebraic" not in outcome.out
    assert "lower bound: none is known" in call("plan", "flipflop").out
    assert "left out: " in call("plan", "tomita:3", "--max-image-sets", "3").out


def test_bounds_file(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    outcome = call("plan", "S5", "--max-layers", "1", "--bounds", str(path))
    assert (outcome.status, outcome.err) == (0, f"written: {path}\n")
    checked = call("check", str(path), "--json")
    assert (checked.status, checked.json["verdict"], checked.json["kind"]) == (0, "valid", "bound")
    document = json.loads(path.read_text())
    document["bounds"][1]["at_least"] += 1
    path.write_text(json.dumps(document))
    assert call("check", str(path)).status == 1
    none = tmp_path / "none.json"
    for options in ((), ("--json",)):
        refused = call("plan", "flipflop", "--bounds", str(none), *options)
        assert refused.status == 2
        assert refused.out == call("plan", "flipflop", *options).out  # the plan all the same
        assert (
            refused.err
            == f"error: flipflop: no lower bound is known, so {none} is not written: leave --bounds out\n"
        )
    assert not none.exists()


@pytest.mark.parametrize("command", ["plan", "construct"])
@pytest.mark.parametrize(
    ("spec", "layers", "factors", "theorem"), [("S5", "1", "3", "CK.S5"), ("mod:7", "1", "1", "H.rank")]
)
def test_impossible(call: Any, command: str, spec: str, layers: str, factors: str, theorem: str) -> None:
    error = call(command, spec, "--max-layers", layers, "--max-householders", factors, "--json").error
    assert error.startswith(
        f"{spec}: --max-layers {layers} and --max-householders {factors} are impossible under the hypotheses named: "
    )
    assert f"({theorem})" in error


@pytest.mark.parametrize("command", ["plan", "construct"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--max-layers", "0"), "--max-layers 0"),
        (("--max-dim", "0"), "--max-dim 0"),
        (("--max-householders", "-1"), "--max-householders -1"),
        (("--max-layers", "two"), "--max-layers"),
        (("--exactness", "exact"), "it is any or integer"),
        (("--coordinates", "many"), "it is few or one_hot"),
        (("--theorem", "G.T9"), "not a construction; there are G.T3"),
        (("--theorem", "G.T4", "--max-image-sets", "3"), "--max-image-sets"),
        (("--theorem", "G.T4", "--max-set-moves", "3"), "--max-set-moves"),
        (("--theorem", "G.T4", "--max-level-letters", "1"), "--max-level-letters"),
        (("--wirings", "printed"), "--wirings"),
    ],
)
def test_refusals(call: Any, command: str, options: tuple[str, ...], text: str) -> None:
    assert text in call(command, "tomita:3", *options).error


def test_bounds_of_construct(call: Any) -> None:
    facts = call("construct", "S5", "--max-householders", "2", "--json").json
    assert (facts["theorem"], facts["layers"], facts["householders"]) == ("DP.T1 + DP.L2", 3, 2)
    facts = call("construct", "mod:12", "--max-householders", "1", "--json").json
    assert (facts["theorem"], facts["layers"], facts["householders"]) == ("G.T6", 2, 1)
    facts = call("construct", "mod:12", "--max-householders", "1", "--exactness", "integer", "--json").json
    assert (facts["layers"], facts["householders"], facts["exactness"]) == (6, 1, "integer")
    facts = call("construct", "S5", "--max-layers", "1", "--max-dim", "5", "--json").json
    assert (facts["theorem"], facts["householders"], facts["dim"]) == ("G.T3", 4, 5)
    facts = call("construct", "T3", "--coordinates", "one_hot", "--json").json
    assert "one-hot" in facts["construction"]
    assert {b["reason"] for b in facts["lower_bounds"]} == {"H.openβ", "own.LMI"}
    assert {b["reason"] for b in call("plan", "T3", "--json").json["lower_bounds"]} >= {"H.rank", "PD.N-1"}


@pytest.mark.parametrize("spec", ["T3", "mod_arith:3", "tomita:3"])
def test_printed_wiring(call: Any, tmp_path: Path, spec: str) -> None:
    path = tmp_path / "printed.json"
    outcome = call("construct", spec, "--wiring", "printed", "-o", str(path), "--json")
    facts = outcome.json
    assert (outcome.status, facts["verdict"]) == (1, "refuted")
    assert facts["word"]
    assert facts["named"] != facts["right"]
    text = call("construct", spec, "--wiring", "printed")
    assert text.status == 1
    assert " ".join(facts["word"]) in text.out
    assert "Traceback" not in text.err
    checked = call("check", str(path), "--json")
    assert (checked.status, checked.json["verdict"]) == (1, "invalid")
    assert "the certificate is invalid" in call("run", str(path), "--random", "1").error


def test_printed_wiring_needs_levels(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for spec in ("S4", "flipflop", "mod:1"):
        assert call("construct", spec, "--wiring", "printed", "-o", str(path)).error
    assert not path.exists()
    assert "it is one of repaired, printed" in call("construct", "T3", "--wiring", "other").error


@pytest.mark.parametrize("options", [("--theorem", "G.T3"), ("--max-layers", "1"), ("--show",), ("--latex",)])
def test_printed_wiring_takes_no_other_options(call: Any, options: tuple[str, ...]) -> None:
    assert (
        "it can be combined only with --coordinates"
        in call("construct", "T3", "--wiring", "printed", *options).error
    )


def test_block_delay(call: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "delay.json")
    made = call("construct", "S5", "--max-householders", "1", "-o", path, "--json").json
    assert (made["layers"], made["householders"], made["exactness"], made["certificate"]) == (
        4,
        1,
        "algebraic",
        path,
    )
    checked = call("check", path, "--json")
    assert (checked.status, checked.json["verdict"], checked.json["kind"]) == (0, "valid", "delay")
    ran = call("run", path, "--random", "2", "--length", "300", "--json")
    assert (ran.status, ran.json["errors"], ran.json["tokens"]) == (0, 0, 600)
    for form in ("npz", "safetensors"):
        out = tmp_path / f"x.{form}"
        assert (
            "a certificate of kind delay holds no table" in call("export", form, path, "-o", str(out)).error
        )
        assert not out.exists()
    assert (
        "a block delay (kind delay) has no --dtype exact"
        in call("run", path, "--random", "1", "--dtype", "exact").error
    )
    assert "has no --start" in call("run", path, "--random", "1", "--start", "x").error
    other = call("inspect", "S5", "--start", "(0, 1, 2, 4, 3)", "--json").json["start"]
    assert "has no --start" in call("run", path, "--random", "1", "--start", other).error


@pytest.mark.parametrize("options", [("--latex",), ("--picture", "mirrors.svg")])
def test_no_pages_of_a_block_delay(call: Any, tmp_path: Path, options: tuple[str, ...]) -> None:
    if len(options) > 1:
        options = (options[0], str(tmp_path / options[1]))
    path = tmp_path / "delay.json"
    error = call("construct", "S5", "--max-householders", "2", "-o", str(path), *options).error
    assert "a block delay is a rule, not a table" in error
    assert not list(tmp_path.iterdir())


def test_integer_delay_runs_bit_by_bit(call: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "delay.json")
    facts = call(
        "construct", "S5", "--max-householders", "1", "--exactness", "integer", "-o", path, "--json"
    ).json
    assert (facts["layers"], facts["theorem"]) == (5, "DP.T1 + own.T2tight")
    assert "bf16" in facts["formats"]
    for dtype in ("bf16", "fp8_e5m2"):
        ran = call("run", path, "--random", "1", "--length", "5000", "--dtype", dtype, "--json")
        assert (ran.status, ran.json["errors"]) == (0, 0)


def test_json_is_all_there_is(call: Any) -> None:
    for arguments in (
        ("plan", "tomita:3", "--max-image-sets", "3"),
        ("plan", "mod:127"),
        ("construct", "T3"),
    ):
        outcome = call(*arguments, "--json")
        assert isinstance(outcome.json, dict)
        assert outcome.err == ""
    assert "leave --show and --latex out" in call("construct", "T3", "--json", "--show").error


def test_equal_states_are_offered_to_be_merged(call: Any, tmp_path: Path) -> None:
    """Two states with one behaviour: they are kept, as --track state says, and a note says how to merge them."""
    rows = {"a": {"x": "b"}, "b": {"x": "c"}, "c": {"x": "b"}}
    automaton = Automaton.from_transitions(rows, start="a", accepting=["b"], name="three")
    path = tmp_path / "three.json"
    write_automaton(automaton, path)
    for command in ("construct", "plan"):
        text = " ".join(call(command, str(path)).out.split())
        assert "no word tells 1 state of 3 from the others by the outputs" in text
        assert "--track output merges them, which leaves 2" in text
        assert "no word tells" not in call(command, str(path), "--track", "output").out
    assert call("plan", str(path), "--json").json["notes"]
    assert call("plan", str(path), "--track", "output", "--json").json["states"] == 2
    assert not call("plan", "tomita:3", "--json").json["notes"]
