"""What `construct` minimises when asked: each objective is at least as good in its own figure as every other one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata import InputError, check, construct
from mirrormata.constructions._construct import Request, choose, explain_choice
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


def test_the_choice_is_explained() -> None:
    for request, text in (
        (Request(), "least work"),
        (Request(objective="layers"), "fewest layers"),
        (Request(max_layers=5), "fewest layers"),
        (Request(theorem="G.T4"), "fewest layers"),
        (Request(objective="size"), "smallest certificate"),
    ):
        assert explain_choice(request, choose("tomita:3", request)).startswith(text)
    assert explain_choice(Request(), choose("S4", Request())).startswith("a single layer")
    with pytest.raises(InputError, match="`objective` speed: it is layers, factors, dim, work or size"):
        construct("S3", objective="speed")


def test_on_the_command_line(call: Any) -> None:
    shown = json.loads(call("construct", "tomita:3", "--objective", "layers", "--json").out)
    assert shown["layers"] == 4
    assert shown["chosen_for"] == "fewest layers"
    least = json.loads(call("construct", "tomita:3", "--json").out)
    assert least["work"] < shown["work"]
    plans = json.loads(call("plan", "tomita:3", "--objective", "work", "--json").out)["realisations"]
    works = [row["work"] for row in plans if row["norm"] == "at most 1"]
    assert works == sorted(works)
    assert "--objective speed" in call("construct", "S3", "--objective", "speed").error
