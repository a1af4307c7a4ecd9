"""Tables for people and for programs: no blanks at the ends of lines, no colours and nothing folded where no terminal reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .command_line import Outcome

Call = Callable[..., Outcome]

COMMANDS = (
    ("inspect", "S4"),
    ("inspect", "--library"),
    ("construct", "S5"),
    ("construct", "T3", "--wiring", "printed"),
    ("construct", "S3", "--show"),
    ("plan", "mod:3"),
    ("plan", "mod:3", "--details"),
    ("plan", "S3", "--fit", "layers=1,n_h=2,head_dim=8,value_dim=8,range=[-1,1],gated=no,conv=0"),
    ("check", "S3"),
    ("run", "mod:5", "--random", "2", "--length", "9"),
    ("prove", "S3", "S3"),
    ("spectrum", "S3"),
    ("claims",),
    ("claims", "CK.S5", "G.T3"),
    ("verify", "DP.T8", "--quick", "--jobs", "1"),
    ("compare", "S3", "S3", "--words", "2", "--length", "4", "--fit", "4"),
)


@pytest.mark.parametrize("columns", [None, "60"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_ends_in_blanks(
    arguments: tuple[str, ...], columns: str | None, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    done = call(*arguments)
    assert done.out
    assert "\x1b" not in done.out
    assert not [line for line in done.out.splitlines() if line != line.rstrip()]


def test_nothing_is_folded_where_no_terminal_reads(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = call("construct", "S5").out.splitlines()
    facts = dict(line.split(maxsplit=1) for line in whole[1:])
    assert facts["lower_bounds"].startswith("householders ≥ 4, reached: optimal (CK.S5)")
    assert facts["lower_bounds"].endswith("exact")
    monkeypatch.setenv("COLUMNS", "60")
    folded = call("construct", "S5").out.splitlines()
    assert len(folded) > len(whole)
    assert max(len(line) for line in folded if not line.startswith("note: ")) <= 60


def test_both_ways_to_give_words_are_named(call: Call) -> None:
    assert call("run", "parity", "--random", "4", "--word", "01").error == (
        "run: --word and --random are both given: leave one of them out"
    )


def test_a_certificate_in_place_of_an_automaton_says_what_takes_it(call: Call, tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    call("construct", "parity", "-o", path)
    assert (
        "an automaton is wanted: `mirrormata check` and `mirrormata run` take it"
        in call("construct", path).error
    )


def test_a_start_state_is_named_by_its_text(call: Call) -> None:
    assert call("run", "gridworld:4", "--word", "left", "--start", "3", "--json").json["state"] == "2"
    assert (
        "'zz' is not a state; the states are '', '0', '00', 'sink'"
        in call("run", "tomita:4", "--word", "0", "--start", "zz").err
    )
