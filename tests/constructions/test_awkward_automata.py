"""Automata that once were refused, took too long, or ended in an error of Python: each stands for a kind."""

from __future__ import annotations

import json
import random
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from mirrormata import Automaton, check, construct, random_words, run
from mirrormata.foundation._errors import LimitError


def large_group(points: int) -> Automaton:
    """The states of a cycle and a swap, whose group has points! elements."""
    rows = {
        str(i): {"cycle": str((i + 1) % points), "swap": str({0: 1, 1: 0}.get(i, i))} for i in range(points)
    }
    return Automaton.from_transitions(rows, start="0", name=f"symmetric group of {points} points")


def nilpotent(states: int) -> Automaton:
    """Both letters only lower the state."""
    draw = random.Random(1)
    rows = {str(i): {"a": str(max(i - 1, 0)), "b": str(draw.randrange(i) if i else 0)} for i in range(states)}
    return Automaton.from_transitions(
        rows, start=str(states - 1), accepting=["0"], name=f"nilpotent {states}"
    )


@pytest.mark.parametrize("asked", [{"max_householders": 1}, {"objective": "factors"}, {"objective": "work"}])
@pytest.mark.parametrize("points", [8, 20])
def test_a_group_too_large_to_list_has_a_certificate(points: int, asked: dict[str, Any]) -> None:
    """A block delay's certificate would list the group; own.blocks lists nothing."""
    found = construct(large_group(points), **asked)
    assert check(found).verdict == "valid"
    assert run(found, random_words(found, 4, 200, seed=0)).errors == 0


def test_the_error_about_a_large_group_names_what_works() -> None:
    with pytest.raises(LimitError, match=r"own\.blocks"):
        construct(large_group(8), theorem="DP.T1")


@pytest.mark.parametrize(("states", "seconds"), [(20, 3), (50, 15), (150, 60)])
def test_nilpotent_automata_are_quick(states: int, seconds: float) -> None:
    """Their congruences and chains of sets are many; the searches among them end after a stated work."""
    began = process_time()
    found = construct(nilpotent(states))
    assert check(found).verdict == "valid"
    assert process_time() - began < 3 * seconds  # busy machines count waiting for memory as work


def test_an_automaton_without_letters() -> None:
    automaton = Automaton.from_transitions({"q": {}}, start="q", name="no letters")
    for asked in ({}, {"max_householders": 1}, {"objective": "factors"}):
        assert construct(automaton, **asked).depth == 1


def test_a_name_forges_no_line(tmp_path: Path) -> None:
    document = construct("parity").certificate()
    document["labels"]["automaton"] = "S5)\nabout S5: the same names\n("
    path = tmp_path / "spoof.json"
    path.write_text(json.dumps(document))
    assert "\nabout" not in str(check(path).called)
    assert r"\nabout" in str(check(path).called)
