"""What `construct` minimises when asked: each objective is at least as good in its own figure as every other one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata import InputError, check, construct, plan
from mirrormata.constructions._construct import Request, choose_by_rule
from mirrormata.constructions._realisation import OBJECTIVES, Realisation, rank

SPECS = ["tomita:3", "even_pairs", "T3", "S4", "dyck1:3", "random:states=9,letters=2,seed=5", "mod:6"]


DATE = r"regex:\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
"""A pattern whose last 11 characters decide the state, and whose states after fewer are few."""


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
        ("tomita:3", Request(max_layers=5), "least layers × work"),
        ("tomita:3", Request(theorem="G.T4"), "the only one on offer by `theorem` G.T4"),
        ("S4", Request(max_dim=4), "fewest layers, then fewest factors"),
        (DATE, Request(theorem="own.window"), "least layers × work"),
        ("S3", Request(objective="dim"), "smallest key dimension"),
        ("tomita:3", Request(objective="size"), "smallest certificate"),
    ],
)
def test_the_choice_says_which_rule_decided(spec: str, request_: Request, rule: str) -> None:
    choice = choose_by_rule(spec, request_)
    assert choice.rule.startswith(rule)
    if spec == "boxes:5,4":
        assert choice.found.depth == 1


def test_a_bound_changes_only_what_is_on_offer() -> None:
    usual = construct(DATE)
    assert usual.depth == 2
    for request in (Request(max_layers=1), Request(objective="layers")):
        found = choose_by_rule(DATE, request).found
        assert (found.depth, found.theorem) == (1, "own.window")
        assert check(found).verdict == "valid"
    within = choose_by_rule(DATE, Request(max_layers=usual.depth, max_dim=usual.dim)).found
    assert within.work == usual.work


@pytest.mark.parametrize("spec", [*SPECS, "tomita:4"])
def test_a_plan_names_what_construct_takes(spec: str) -> None:
    made, found = plan(spec), construct(spec)
    assert made.chosen is not None
    assert rank(made.chosen.found, None) == rank(found, None)


def test_a_large_definite_automaton_needs_no_search() -> None:
    wide = "regex:(a|b)*a" + "(a|b)" * 14  # 32,768 states, 2^15 contents: beyond what a table lists
    assert construct("regex:(a|b)*a" + "(a|b)" * 9).theorem == "own.definite"
    found = construct(wide)
    assert (found.theorem, found.depth, found.dim) == ("own.window", 1, 15)


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
