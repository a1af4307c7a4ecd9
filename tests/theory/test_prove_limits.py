"""`max_seconds` is kept however slow a model is, and what rests on a saved search is said to rest on it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.cli import output
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import DisagreementError
from mirrormata.tests.theory.prove_models import turns
from mirrormata.tests.theory.test_prove_saved import forged
from mirrormata.theory.proofs._machine import machine_of
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.proofs._state_search import INTERRUPTED, StateSearch

PARITY = automaton_from_spec("parity")


class SlowTree:
    """Another state after every word, the right answer in it; each call takes its time."""

    one_by_one = True
    identity = "slow tree"

    def __init__(self, seconds: float, bits: int = 62) -> None:
        self.seconds, self.mask = seconds, 2**bits - 1

    def initial(self, sequences: int) -> list[Any]:
        return [np.ones(sequences, dtype=np.int64), np.zeros(sequences, dtype=np.int64)]

    def step(self, states: list[Any], letters: Any) -> list[Any]:
        time.sleep(self.seconds)
        n, q = states
        return [(2 * n + letters) & self.mask, (q + letters) % 2]

    def decode(self, states: list[Any], letters: Any) -> Any:
        return states[1]


def test_the_limit_is_kept(tmp_path: Path) -> None:
    began, path = time.monotonic(), tmp_path / "s.npz"
    found = prove(SlowTree(0.002), PARITY, max_seconds=2.0, resume=path)
    assert time.monotonic() - began < 6
    assert (found.verdict, found.resumed) == ("unknown", False)
    assert "`max_seconds` 2 reached" in found.reason
    assert found.correct_up_to is not None
    assert found.correct_up_to >= 4
    began = time.monotonic()
    again = prove(SlowTree(0.01), PARITY, max_seconds=0.5, resume=path)
    assert time.monotonic() - began < 5
    assert (again.verdict, again.correct_up_to) == ("unknown", 0)
    assert "saved states stepped again" in again.reason
    whole = prove(SlowTree(0.0), PARITY, max_states=5_000, resume=path)
    assert whole.resumed
    assert whole.correct_up_to is not None
    assert whole.correct_up_to > found.correct_up_to


def test_the_limit_is_kept_while_states_are_stepped_again() -> None:
    closed = SlowTree(0.0, bits=9)
    assert prove(closed, PARITY).verdict == "equivalent"
    closed.seconds = 0.0005
    slow = prove(closed, PARITY, max_seconds=60)
    began = time.monotonic()
    found = prove(closed, PARITY, max_seconds=0.6 * slow.seconds)
    assert found.verdict == "unknown"
    assert time.monotonic() - began < slow.seconds + 2


def test_a_false_length_is_said_to_be_that_of_the_file(tmp_path: Path) -> None:
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    model = turns(4, [0, 1, 2, 3])
    first = prove(model, mod4, "per_op:bf16", method="states", resume=path, max_states=3)
    assert not first.resumed
    assert "resume" not in str(first.rows())
    with np.load(path) as file:
        count, _, _, _, steps = file["place"].tolist()
    forged(path, place=[count, count - 1, count, count - 1, steps])
    found = prove(model, mod4, "per_op:bf16", method="states", resume=path, max_states=count)
    facts = found.to_json()
    assert (found.verdict, facts["correct_up_to"], facts["resumed"]) == ("unknown", count - 1, True)
    assert facts["reason"].endswith(", as the resume file says")
    assert dict(found.rows())["searched"].endswith("were answered rightly, as the resume file says")
    forged(path, place=[count, count, count, count - 1, steps])
    with pytest.raises(DisagreementError):
        prove(model, mod4, "per_op:bf16", method="states", resume=path)


def test_what_is_equivalent_rests_on_no_file(tmp_path: Path) -> None:
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    model = turns(4, [0, 1, 2, 3])
    prove(model, mod4, "per_op:bf16", method="states", resume=path, max_states=3)
    found = prove(model, mod4, "per_op:bf16", method="states", resume=path)
    assert (found.verdict, found.resumed) == ("equivalent", True)
    assert "resume file" not in str(found.rows())


def test_the_start_is_not_called_read_by_a_piece_that_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic

    mod4 = automaton_from_spec("mod:4")
    machine: Any = machine_of(turns(4, [0, 1, 2, 3]), mod4, parse_arithmetic("per_op:bf16"))
    plain = type(machine).first_wrong
    looked: list[int] = []

    def interrupted(self: Any, rows: Any, *read: Any) -> int:
        if search.start_is_read:
            looked.append(len(rows))
            raise KeyboardInterrupt
        return int(plain(self, rows, *read))

    monkeypatch.setattr(type(machine), "first_wrong", interrupted)
    search = StateSearch(machine, mod4)
    outcome = search.run(max_states=99)
    assert looked
    assert outcome.stopped == INTERRUPTED
    assert not search.start_is_read


def test_work_is_told_where_standard_error_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "REDIRECTED", 0.1)
    with output.show_work("proving") as work:
        work.tell("1,234 states")
        time.sleep(0.5)
        work(0.25)
        time.sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert "proving: 1,234 states, 0 s" in lines
    assert any(line.startswith("proving:  25% ") for line in lines)
