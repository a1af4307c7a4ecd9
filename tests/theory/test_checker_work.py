"""What a certificate of the kind `equivalent` may cost its checker, and what `prove` does where it costs more."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.tests.theory.hostile_certificates import (
    HOSTILE,
    chain_of,
    dense_table,
    outer_table,
    replay_of,
    table_of,
)
from mirrormata.tests.theory.prove_models import flip_flop
from mirrormata.theory.checker import _chains, _head, chain, equivalent, impossible, table
from mirrormata.theory.checker._arithmetic import Arithmetic
from mirrormata.theory.checker._budget import TOO_MUCH, Budget
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._regions import RELAXED
from mirrormata.theory.checker._stored import LISTED, Model
from mirrormata.theory.proofs._prove import prove

WORK = f"{TOO_MUCH}|more than 10,000 bits|is not an integer from"


def seconds(name: str, reasons: str = WORK) -> float:
    """How long the checker works on a hostile certificate until it refuses it."""
    document = HOSTILE[name]()
    assert len(json.dumps(document)) < 120_000
    began = time.process_time()
    with pytest.raises(Invalid, match=reasons):
        equivalent.check(document)
    return time.process_time() - began


@pytest.mark.parametrize("name", HOSTILE)
def test_work_is_counted_as_it_is_done(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sixtieth of the units it takes seconds."""
    monkeypatch.setattr(equivalent, "MAX_UNITS", 50_000_000)
    assert seconds(name) < 10


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_certificate_takes_a_minute_at_most(name: str) -> None:
    # the walk of many regions ends within the units, at a wrong answer, and that of a list of numbers at the number of states
    assert seconds(name, f"{WORK}|the code answers|there are more than 100,000$") < 100


@pytest.mark.parametrize("method", ["states", "regions"])
def test_a_certificate_that_costs_too_much_is_none(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = automaton_from_spec("flipflop")
    asked = "auto" if method == "regions" else "states"
    before = prove(flip_flop(0.75), automaton, "per_step:bf16", method=asked)
    assert (before.method, before.checked) == (method, "certificate")
    assert before.certificate is not None
    monkeypatch.setattr(equivalent, "MAX_UNITS", 500)
    with pytest.raises(Invalid, match=f"{TOO_MUCH} 500 units of work"):
        equivalent.check(before.certificate)
    after = prove(flip_flop(0.75), automaton, "per_step:bf16", method=asked)
    assert (after.verdict, after.method, after.checked) == ("equivalent", "states", "re-stepped")
    assert TOO_MUCH in str(after.uncertified)


@pytest.mark.parametrize("method", ["states", "regions"])
def test_states_have_limited_room(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Different states count, each once, and where they are too many `prove` steps them again; regions keep none."""
    automaton = automaton_from_spec("flipflop")
    asked = "auto" if method == "regions" else "states"
    certificate = prove(flip_flop(0.75), automaton, "per_step:bf16", method=asked).certificate
    assert certificate is not None
    monkeypatch.setattr(equivalent, "MAX_KEPT", 1)
    if method == "regions":
        equivalent.check(certificate)
        return
    model = Model(certificate["model"], certificate["automaton"]["letters"], 3, Arithmetic("per_step:bf16"))
    states, kept = {model.initial}, 0
    while kept < len(states):
        kept = len(states)
        states |= {model.step(state, x) for state in states for x in range(model.letters)}
    kept *= len(model.initial)
    monkeypatch.setattr(equivalent, "MAX_KEPT", kept - 1)
    with pytest.raises(Invalid, match=f"{TOO_MUCH} {kept - 1:,} numbers of states to keep"):
        equivalent.check(certificate)
    after = prove(flip_flop(0.75), automaton, "per_step:bf16", method=asked)
    assert (after.verdict, after.checked) == ("equivalent", "re-stepped")
    assert "numbers of states to keep" in str(after.uncertified)
    monkeypatch.setattr(equivalent, "MAX_KEPT", kept)
    equivalent.check(certificate)


def test_a_list_of_values_costs_more_the_longer_it_is() -> None:
    """By the comparisons of a bisection, and by the size of its numbers."""
    document = {"heads": [{"A": [[[1]]], "B": [[[0]]], "H0": [[0]]}], "codes": [[0]], "decode": [[0]]}
    work, bits = [], []
    for count in (2, 4, 1_024):
        model = Model(document, 1, 1, Arithmetic(f"per_step:{','.join(map(str, range(count)))}"))
        work.append(model.work[0])
        bits.append(model.bits)
    assert work[1] - work[0] == LISTED
    assert work[2] - work[1] == 8 * LISTED
    assert bits[2] > bits[1]
    of_operations = Model(document, 1, 1, Arithmetic("per_op:0,1,2"))
    plain = Model(document, 1, 1, Arithmetic("per_op:int:0..2"))
    # product, sum and the sum with b
    assert of_operations.work[0] - plain.work[0] == 3 * LISTED * of_operations.arithmetic.listed[0]


def test_a_radius_counts_by_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is the radius of none of the balls that are looked at."""
    spent: list[tuple[int, int]] = []
    monkeypatch.setattr(Budget, "spend", lambda _, steps, bits=0: spent.append((steps, bits)))
    certificate = prove(flip_flop(0.75), automaton_from_spec("flipflop"), "per_step:bf16").certificate
    assert certificate is not None
    spent.clear()
    equivalent.check(certificate)
    letters = certificate["automaton"]["letters"]
    sizes = [bits for steps, bits in spent if steps % (RELAXED * letters) == 0 and bits]
    assert sizes
    assert sizes[-1] == certificate["equivalence"]["radius"].bit_length()


@pytest.mark.parametrize("letters", [0, 1])
def test_chains_are_listed_no_further_than_is_counted(letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is filled up and looked up counts, also where no letter moves a set."""
    monkeypatch.setattr(_chains, "MAX_LISTED", 500_000)
    began = time.process_time()
    with pytest.raises(Invalid, match="more than 500,000 members of sets to list"):
        chain.check(chain_of(120, letters))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("hostile", [dense_table(1_400), table_of(1, 10_007, [])])
def test_work_on_heads_is_counted_by_what_it_takes(hostile: Any) -> None:
    """Rational numbers cost more than integers, and minimal polynomials have long coefficients."""
    began = time.process_time()
    with pytest.raises(Invalid, match=TOO_MUCH):
        table.check(hostile)
    assert time.process_time() - began < 2


def test_products_have_limited_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_head, "MAX_KEPT", 9_999)
    with pytest.raises(Invalid, match="a product has more than 9,999 numbers"):
        table.check(outer_table(100))
    monkeypatch.setattr(_head, "MAX_KEPT", 10_000)
    with pytest.raises(Invalid, match="does not go to a code"):
        table.check(outer_table(100))


def test_states_of_a_replay_have_limited_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are kept, and their numbers may grow."""
    monkeypatch.setattr(impossible, "MAX_KEPT", 5_000_000)
    with pytest.raises(Invalid, match="the states of the replay have more than 5,000,000 bits"):
        impossible.check(replay_of(2_000))


def test_a_replay_keeps_the_numbers_that_are_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """One number that goes round a hundred places: 100 states of one number each, and not of a hundred."""
    document = replay_of(100)
    document["heads"][0] = {
        "start": [[0, 0, 1]],
        "weights": [[[[(i + 1) % 100, i, 1] for i in range(100)], []]],
    }
    document["heads"][0]["weights"][0][0].sort()
    monkeypatch.setattr(impossible, "MAX_KEPT", 101 * (3 * impossible.OBJECT + 3))
    with pytest.raises(Invalid, match="no two of the states are equal and separated"):
        impossible.check(document)
    monkeypatch.setattr(impossible, "MAX_KEPT", 101 * 3 * impossible.OBJECT)
    with pytest.raises(Invalid, match="the states of the replay have more than"):
        impossible.check(document)


def test_work_of_a_replay_grows_with_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers given are short, and the squares of their sums are not."""
    monkeypatch.setattr(impossible, "MAX_WORK", 3_500)
    with pytest.raises(Invalid, match="the replay takes more than 3,500 products"):
        impossible.check(replay_of(1_000))


def test_rounded_entries_are_counted_once_a_letter() -> None:
    """Not at each comparison of radii: the count is kept with the model."""
    certificate = prove(flip_flop(0.75), automaton_from_spec("flipflop"), "per_step:bf16").certificate
    assert certificate is not None
    letters = certificate["automaton"]["letters"]
    arithmetic = Arithmetic(certificate["equivalence"]["arithmetic"])
    model = Model(certificate["model"], letters, 3, arithmetic)
    assert len(model.rough) == letters
    assert model.rough is model.rough
