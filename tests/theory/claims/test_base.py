"""The base that claims stand on: sound as it is, and told of where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.theory.claims.claim_mutation import BROKEN
from mirrormata.theory.base import _base as base
from mirrormata.theory.base import bounds, impossibility
from mirrormata.theory.base._base import PARTS, Part, check_base, check_part
from mirrormata.theory.checker import _impossible_words as impossible_words
from mirrormata.theory.checker import _layers as layers
from mirrormata.theory.checker import _stored as stored
from mirrormata.theory.checker import impossible

Call = Callable[..., Outcome]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.id)
def test_it_is_sound(part: Part) -> None:
    outcome = check_part(part)
    assert outcome.sound, outcome.reason
    assert outcome.cases >= 200


def broken_cases() -> Iterator[tuple[str, str | None]]:
    yield "right", None
    yield "wrong", "4, not 5"
    yield "never reached", None


def test_the_first_case_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "cases", broken_cases)
    outcome = check_part(next(part for part in PARTS if part.module == "bounds"))
    assert (outcome.sound, outcome.cases, outcome.reason) == (False, 2, "wrong: 4, not 5")


def test_an_exception_and_no_case_at_all_are_not_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    part = next(part for part in PARTS if part.module == "bounds")
    monkeypatch.setattr(bounds, "cases", lambda: iter(()))
    assert check_part(part).reason == "there was no case"
    monkeypatch.setattr(bounds, "cases", lambda: iter([1 / 0 for _ in "x"]))
    assert check_part(part).reason == "after its cases: ZeroDivisionError: division by zero"


def test_fail_fast_leaves_out_what_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [part for part in PARTS if part.module in ("impossibility", "bounds")]
    monkeypatch.setattr(impossibility, "cases", broken_cases)
    monkeypatch.setattr(bounds, "cases", lambda: iter([("right", None)]))
    assert [o.sound for o in check_base(parts, jobs=1)] == [False, True]
    assert [o.sound for o in check_base(parts, jobs=1, fail_fast=True)] == [False]


def test_the_command_begins_with_the_base(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base.check_base, "__defaults__", (PARTS[4:5],))
    found = call("verify", "--base", "--jobs", "1")
    assert found.status == 0
    assert "base.bounds" in found.out
    rows = json.loads(call("verify", "--base", "--jobs", "1", "--json").out)
    assert [row["base"] for row in rows["base"]] == ["base.bounds"]
    assert rows["claims"] == []
    monkeypatch.setattr(bounds, "cases", broken_cases)
    found = call("verify", "--quick", "--fail-fast", "--jobs", "1")
    assert found.status == 1
    assert "the base does not hold" in found.out
    assert "wrong: 4, not 5" in found.out
    assert "claims" not in found.out.replace("no claim below", "")
    found = call("verify", "--base", "G.T4")
    assert found.status == 2
    assert "--base checks only the base" in found.err


@pytest.mark.parametrize(
    ("module", "name", "lazy"),
    [
        (layers, "tells_point", lambda image, points: True),
        (stored, "distance", lambda x, y: Fraction(0)),
        (impossible_words, "first_pair", lambda language, prefix, loop, states: (0, 1, [])),
    ],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_a_crippled_checker_is_noticed(
    module: object, name: str, lazy: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, lazy)
    if module is impossible_words:
        monkeypatch.setattr(impossible, name, lazy)
    of = "impossibility" if module is impossible_words else "certificates"
    outcome = check_part(next(part for part in PARTS if part.module == of))
    assert not outcome.sound
    assert outcome.reason is not None
    assert not any(f"{error}:" in outcome.reason for error in BROKEN), "it was not lazy, it did not run"
