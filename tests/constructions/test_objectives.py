"""What `construct` minimises when asked: each objective is at least as good in its own figure as every other one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata import InputError, check, construct
from mirrormata.constructions._construct import Request, choose_by_rule
from mirrormata.constructions._realisation import OBJECTIVES, Realisation, rank

SPECS = ["tomita:3", "even_pairs", "T3", "S4", "dyck1:3", "random:states=9,letters=2,seed=5", "mod:6"]


@pytest.mark.parametrize("spec", SPECS)
def test_each_objective_wins_in_its_own_figure(spec: str) -> None:
    found: dict[str, Realisation] = {name: construct(spec, objective=name) for name in OBJECTIVES}
    for name, best in found.items():
        assert check(best).verdict == "valid"
        for other in (*found.values(), construct(spec)):
            assert rank(best, name)[0] <= rank(other, name)[0], (name, best, other)


def test_the_size_is_that_of_the_file(tmp_path: Path) -> None:
    for spec in ("tomita:4", "S3"):
        found = construct(spec, objective="size")
        found.save(tmp_path / "one.json")
        assert found.certificate_bytes == (tmp_path / "one.json").stat().st_size


@pytest.mark.parametrize(
    ("spec", "request_", "rule"),
    [
        ("tomita:3", Request(), "least layers × work without"),
        (
            "boxes:5,4",
            Request(),
            "least layers × work without",
        ),  # one layer of quotients side by side, which won by its work
        ("even_pairs", Request(), "least layers × work without"),
        ("S4", Request(), "a single layer"),
        ("dyck1:3", Request(), "least layers × work without"),
        ("permreset:3", Request(), "least layers × work without"),
        ("tomita:3", Request(objective="layers"), "fewest layers"),
        ("tomita:3", Request(max_layers=5), "fewest layers"),
        ("tomita:3", Request(theorem="G.T4"), "fewest layers"),
        ("S3", Request(objective="dim"), "smallest key dimension"),
        ("tomita:3", Request(objective="size"), "smallest certificate"),
    ],
)
def test_the_choice_says_which_rule_decided(spec: str, request_: Request, rule: str) -> None:
    choice = choose_by_rule(spec, request_)
    assert choice.rule.startswith(rule)
    if spec == "boxes:5,4":
        assert choice.found.depth == 1


def test_unknown_objectives_are_refused() -> None:
    with pytest.raises(InputError, match="`objective` speed: it is layers, factors, dim, work or size"):
        construct("S3", objective="speed")


def test_on_the_command_line(call: Any) -> None:
    shown = json.loads(call("construct", "tomita:3", "--objective", "layers", "--json").out)
    assert shown["layers"] == 2
    assert shown["chosen_for"] == "fewest layers"
    fewest = json.loads(call("construct", "T3", "--objective", "factors", "--json").out)
    default = json.loads(call("construct", "T3", "--json").out)
    assert fewest["householders"] < default["householders"]
    plans = json.loads(call("plan", "tomita:3", "--objective", "work", "--json").out)["realisations"]
    works = [row["work"] for row in plans if row["norm"] == "at most 1"]
    assert works == sorted(works)
    assert "--objective speed" in call("construct", "S3", "--objective", "speed").error
